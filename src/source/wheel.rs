//! Reads a wheel, or another zip archive that holds the package, in place.
//!
//! Never unpacks to disk, never inflates an entry beyond the size that it declares, and never trusts a declared size
//! over the limits.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use zip::{CompressionMethod, ZipArchive};

use super::archive::{self, Entry, MAX_METADATA, Use, safe_name, use_of};
use super::notes::{Notes, printable};
use super::requirement::WheelName;
use super::shared_file::SharedFile;
use super::{Kind, MAX_ENTRIES, MAX_FILE, Opened, Options, SourceError, Store};

/// The largest archive that is opened: the memory that its directory takes grows with its size.
const MAX_ARCHIVE: u64 = 512 << 20;
/// The most bytes of an archive's directory that are read. That of SGLang 0.5.23 takes less than one megabyte.
const MAX_DIRECTORY: u64 = 256 << 20;

/// An open archive, and which of its entries each file of the tree is.
#[derive(Debug)]
pub(super) struct WheelStore {
    path: PathBuf,
    archive: ZipArchive<SharedFile>,
    entries: Vec<usize>,
}

impl WheelStore {
    pub(super) fn read(&self, index: usize, file: &str) -> Result<Vec<u8>, SourceError> {
        let broken = |reason| SourceError::BrokenFile { tree: self.path.clone(), file: file.to_owned(), reason };
        let entry = self.entries.get(index);
        let entry = *entry.ok_or_else(|| broken("it is not in the archive".to_owned()))?;
        inflate(&self.archive, entry, MAX_FILE).map_err(broken)
    }
}

pub(super) fn open(path: &Path, options: &Options) -> Result<Opened, SourceError> {
    let archive = open_zip(path)?;
    let mut notes = Notes::default();
    let entries =
        entries(&archive, &mut notes).map_err(|reason| SourceError::BrokenArchive { path: path.to_owned(), reason })?;
    let read = |entry: &Entry<usize>| inflate(&archive, entry.handle, MAX_METADATA).ok();
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
    let name = WheelName::of(path);
    Ok(Opened {
        kind: if contents.built || name.is_some() { Kind::Wheel } else { Kind::Sdist },
        version: contents.version.or_else(|| name.map(|name| name.version.to_string())),
        files: contents.files,
        notes,
        store: Store::Wheel(WheelStore { path: path.to_owned(), archive, entries: contents.handles }),
    })
}

/// Opens a zip archive far enough to know that it is one.
pub(super) fn open_zip(path: &Path) -> Result<ZipArchive<SharedFile>, SourceError> {
    let file = File::open(path)
        .and_then(SharedFile::new)
        .map_err(|error| SourceError::io("cannot open the archive", path, error))?;
    if file.len() > MAX_ARCHIVE {
        return Err(SourceError::ArchiveTooLarge {
            path: path.to_owned(),
            reason: format!("it is larger than {} MiB", MAX_ARCHIVE >> 20),
        });
    }
    let archive = ZipArchive::new(file.bounded(MAX_DIRECTORY))
        .map_err(|error| SourceError::BrokenArchive { path: path.to_owned(), reason: error.to_string() })?;
    Ok(archive)
}

/// The entries that can be of use. A name that occurs twice stands for its last entry, as for an installer.
fn entries(archive: &ZipArchive<SharedFile>, notes: &mut Notes) -> Result<Vec<Entry<usize>>, String> {
    if archive.has_duplicate_names() {
        notes.push("the archive has several entries of one name, of which the last is read");
    }
    if archive.len() > MAX_ENTRIES {
        notes.cut(format_args!("only the first {MAX_ENTRIES} of {} entries are looked at", archive.len()));
    }
    let mut entries = Vec::new();
    for index in 0..archive.len().min(MAX_ENTRIES) {
        let entry = archive.by_index_data(index).map_err(|error| error.to_string())?;
        let raw = entry.name_raw();
        let name = match safe_name(raw) {
            Ok(name) => name,
            Err(why) => {
                notes.skipped(String::from_utf8_lossy(raw), why);
                continue;
            }
        };
        if use_of(name) == Use::Nothing || entry.is_dir() {
            continue;
        }
        if entry.is_symlink() {
            notes.skipped(name, "it is a link");
        } else if entry.encrypted() {
            notes.skipped(name, "it is encrypted");
        } else if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            notes.skipped(name, "it is packed by a method that wheels do not use");
        } else {
            entries.push(Entry { name: name.to_owned(), size: entry.size(), handle: index });
        }
    }
    Ok(entries)
}

/// The bytes of an entry; the archive checks them against their checksum.
fn inflate(archive: &ZipArchive<SharedFile>, entry: usize, limit: u64) -> Result<Vec<u8>, String> {
    // The clone shares the directory and the open file, and has its own position.
    let mut archive = archive.clone();
    let file = archive.by_index(entry).map_err(|error| printable(&error.to_string()))?;
    let size = file.size();
    if size > limit {
        return Err(format!("it is larger than {limit} bytes"));
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(size + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 != size {
        return Err(format!("it declares {size} bytes and holds another number"));
    }
    Ok(bytes)
}
