//! Reads a gzipped tar archive that holds the package, once, into memory.
//!
//! Never unpacks to disk, and never inflates more than [`MAX_INFLATED`] nor keeps more than [`MAX_KEPT`].

use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::btree_map;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::archive::{self, Entry, MAX_METADATA, OVER_FILE, Use, safe_name, use_of};
use super::notes::Notes;
use super::{Kind, MAX_ENTRIES, MAX_FILE, Opened, Options, SourceError, Store};

/// The most bytes that an archive is inflated to.
const MAX_INFLATED: u64 = 2 << 30;
/// The most bytes of its files that are kept.
const MAX_KEPT: u64 = 512 << 20;
/// The most bytes that the headers of one entry may take; a tar reader holds those in memory.
const MAX_HEADER: u64 = 1 << 20;

pub(super) fn open(path: &Path, options: &Options) -> Result<Opened, SourceError> {
    let file = File::open(path).map_err(|error| SourceError::io("cannot open the archive", path, error))?;
    let mut notes = Notes::default();
    let kept = read_all(file, options.package, &mut notes).map_err(|error| {
        let (path, reason) = (path.to_owned(), error.to_string());
        match error.kind() {
            io::ErrorKind::FileTooLarge => SourceError::ArchiveTooLarge { path, reason },
            _ => SourceError::BrokenArchive { path, reason },
        }
    })?;
    let mut bytes: Vec<Vec<u8>> = Vec::with_capacity(kept.len());
    let mut entries = Vec::with_capacity(kept.len());
    for (name, content) in kept {
        entries.push(Entry { name, size: content.len() as u64, handle: bytes.len() });
        bytes.push(content);
    }
    let read = |entry: &Entry<usize>| bytes.get(entry.handle).cloned();
    let Some(contents) = archive::contents(entries, options, &mut notes, &read) else {
        return Err(SourceError::NoPackageInArchive {
            path: path.to_owned(),
            package: options.package.to_owned(),
            marker: options.marker.to_owned(),
        });
    };
    if contents.files.is_empty() {
        return Err(SourceError::NoPython { path: path.to_owned(), package: options.package.to_owned() });
    }
    let mut take = |handle: usize| bytes.get_mut(handle).map(std::mem::take).unwrap_or_default();
    let store = contents.handles.into_iter().map(&mut take).collect();
    Ok(Opened {
        kind: Kind::Sdist,
        version: contents.version,
        files: contents.files,
        notes,
        store: Store::Memory(store),
    })
}

/// The files that can be of use, by name. A name that occurs twice stands for its last entry, as for an unpacker.
fn read_all(file: File, package: &str, notes: &mut Notes) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let step = Rc::new(Cell::new(0));
    let mut archive = tar::Archive::new(Metered {
        inner: MultiGzDecoder::new(BufReader::new(file)),
        left: MAX_INFLATED,
        step: Rc::clone(&step),
    });
    let mut entries = archive.entries()?;
    let mut kept = BTreeMap::new();
    let mut kept_bytes = 0;
    let mut unread = 0;
    for count in 0.. {
        step.set(MAX_HEADER.saturating_add(unread));
        let Some(entry) = entries.next() else {
            break;
        };
        let mut entry = entry?;
        if count >= MAX_ENTRIES {
            notes.cut(format_args!("only the first {MAX_ENTRIES} entries are looked at"));
            break;
        }
        step.set(u64::MAX);
        if let Some(name) = wanted(&entry, package, notes) {
            let limit = match use_of(&name) {
                Use::Metadata => MAX_METADATA,
                _ => MAX_FILE,
            };
            if entry.size() > limit {
                notes.skipped(&name, OVER_FILE);
            } else {
                let mut content = Vec::with_capacity(entry.size() as usize);
                entry.read_to_end(&mut content)?;
                kept_bytes += content.len() as u64;
                if kept_bytes > MAX_KEPT {
                    return Err(too_large("it holds more than 512 MiB of Python"));
                }
                match kept.entry(name) {
                    btree_map::Entry::Vacant(place) => {
                        place.insert(content);
                    }
                    btree_map::Entry::Occupied(mut place) => {
                        notes.push(format_args!(
                            "{} is in the archive more than once, of which the last is read",
                            place.key()
                        ));
                        place.insert(content);
                    }
                }
            }
        }
        // What is left of an entry must not count as the next one's headers. The holes of a sparse file are not in the
        // archive: to read them would take as long as its author likes.
        if entry.header().entry_type().is_gnu_sparse() {
            unread = entry.header().entry_size()?;
        } else {
            io::copy(&mut entry, &mut io::sink())?;
            unread = 0;
        }
    }
    Ok(kept)
}

/// The name of an entry that can be of use.
fn wanted<R: Read>(entry: &tar::Entry<R>, package: &str, notes: &mut Notes) -> Option<String> {
    let raw = entry.path_bytes();
    let name = match safe_name(&raw) {
        Ok(name) => name,
        Err(why) => {
            notes.skipped(String::from_utf8_lossy(&raw), why);
            return None;
        }
    };
    let useful = match use_of(name) {
        Use::Python => name.split('/').any(|part| part == package),
        // Metadata of the package stands at most below `NAME-VERSION/python/`.
        Use::Metadata => name.split('/').count() <= 4,
        Use::Nothing => false,
    };
    let kind = entry.header().entry_type();
    if !useful || kind.is_dir() {
        return None;
    }
    if !kind.is_file() {
        notes.skipped(name, "it is a link or a special file");
        return None;
    }
    Some(name.to_owned())
}

fn too_large(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

/// A reader that fails once more has been read than is allowed, in all or since `step` was last set.
struct Metered<R> {
    inner: R,
    left: u64,
    step: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let size = self.inner.read(out)?;
        let read = size as u64;
        self.left = self.left.checked_sub(read).ok_or_else(|| too_large("it inflates to more than 2 GiB"))?;
        let step = self.step.get().checked_sub(read);
        self.step.set(step.ok_or_else(|| too_large("an entry's headers are larger than 1 MiB"))?);
        Ok(size)
    }
}
