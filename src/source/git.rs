//! Reads a revision of a git repository from its object store: no checkout, no git program, no network.
//!
//! `REPO@REV` is a folder and whatever `git rev-parse` takes for a commit or a tree. Full, shallow and bare repositories
//! will do, and a work tree's own files are not looked at. The configuration of the user and of the system is not read.

use std::path::{Path, PathBuf};

use gix::objs::tree::EntryKind;
use gix::{ObjectId, ThreadSafeRepository};

use super::archive::{self, Entry, MAX_METADATA, Use, safe_name, use_of};
use super::notes::Notes;
use super::{Kind, MAX_ENTRIES, MAX_FILE, Opened, Options, SourceError, Store};

/// Folders nested deeper than this hold no package.
const MAX_DEPTH: usize = 64;

/// Where the bytes of the files are.
pub(super) struct GitStore {
    repository: ThreadSafeRepository,
    path: PathBuf,
    blobs: Vec<ObjectId>,
}

impl std::fmt::Debug for GitStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitStore").field("path", &self.path).field("blobs", &self.blobs.len()).finish()
    }
}

impl GitStore {
    pub(super) fn read(&self, index: usize, file: &str) -> Result<Vec<u8>, SourceError> {
        let broken = |reason: String| SourceError::BrokenFile { tree: self.path.clone(), file: file.to_owned(), reason };
        let id = *self.blobs.get(index).ok_or_else(|| broken("it is not in the revision".to_owned()))?;
        blob(&self.repository.to_thread_local(), id, MAX_FILE).map_err(broken)
    }
}

/// The repository and the revision, if the part before an `@` is a folder.
pub(super) fn split(spec: &str) -> Option<(&Path, &str)> {
    let at = spec.match_indices('@').map(|(i, _)| i).find(|i| *i > 0 && Path::new(&spec[..*i]).is_dir())?;
    let revision = &spec[at + 1..];
    (!revision.is_empty()).then(|| (Path::new(&spec[..at]), revision))
}

pub(super) fn open(path: &Path, revision: &str, options: &Options) -> Result<Opened, SourceError> {
    let repository = ThreadSafeRepository::discover_opts(path, Default::default(), isolated()).map_err(|error| {
        SourceError::NoRepository { path: path.to_owned(), reason: error.to_string() }
    })?;
    let local = repository.to_thread_local();
    let unknown = |reason: String| SourceError::NoRevision {
        path: path.to_owned(),
        revision: revision.to_owned(),
        reason,
        shallow: local.is_shallow().unwrap_or(false),
    };
    let id = local.rev_parse_single(revision).map_err(|error| unknown(error.to_string()))?;
    let tree = id.object().map_err(|error| unknown(error.to_string()))?;
    let tree = tree.peel_to_tree().map_err(|error| unknown(error.to_string()))?;

    let mut notes = Notes::default();
    let entries = entries(&local, tree.id, &mut notes).map_err(unknown)?;
    let read = |entry: &Entry<ObjectId>| blob(&local, entry.handle, MAX_METADATA).ok();
    let whole = PathBuf::from(format!("{}@{revision}", path.display()));
    let Some(contents) = archive::contents(entries, options, &mut notes, &read) else {
        return Err(SourceError::NoPackageInArchive {
            path: whole,
            package: options.package.to_owned(),
            marker: options.marker.to_owned(),
        });
    };
    if contents.files.is_empty() {
        return Err(SourceError::NoPython { path: whole, package: options.package.to_owned() });
    }
    Ok(Opened {
        kind: Kind::Revision,
        version: contents.version,
        files: contents.files,
        notes,
        store: Store::Git(GitStore { repository, path: whole, blobs: contents.handles }),
    })
}

/// Nothing but the repository itself is read, whoever owns it: no program is started and nothing is written.
fn isolated() -> gix::sec::trust::Mapping<gix::open::Options> {
    let options = gix::open::Options::isolated;
    gix::sec::trust::Mapping { full: options(), reduced: options() }
}

/// The files that can be of use.
fn entries(
    repository: &gix::Repository,
    root: ObjectId,
    notes: &mut Notes,
) -> Result<Vec<Entry<ObjectId>>, String> {
    let mut out = Vec::new();
    let mut open = vec![(String::new(), root, 0)];
    let mut seen = 0;
    while let Some((folder, id, depth)) = open.pop() {
        let tree = repository.find_tree(id).map_err(|error| error.to_string())?;
        for entry in tree.iter() {
            let entry = entry.map_err(|error| error.to_string())?;
            seen += 1;
            if seen > MAX_ENTRIES {
                notes.push(format_args!("only the first {MAX_ENTRIES} entries are looked at"));
                return Ok(out);
            }
            let raw = [folder.as_bytes(), entry.filename().as_ref()].concat();
            let name = match safe_name(&raw) {
                Ok(name) => name.to_owned(),
                Err(why) => {
                    notes.skipped(String::from_utf8_lossy(&raw), why);
                    continue;
                }
            };
            match entry.mode().kind() {
                EntryKind::Tree if depth < MAX_DEPTH => open.push((format!("{name}/"), entry.object_id(), depth + 1)),
                EntryKind::Tree => notes.skipped(name, "it is nested too deep"),
                _ if use_of(&name) == Use::Nothing => {}
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    let id = entry.object_id();
                    let size = repository.find_header(id).map_err(|error| missing(&name, &error.to_string()))?.size();
                    out.push(Entry { name, size, handle: id });
                }
                EntryKind::Link => notes.skipped(name, "it is a link"),
                EntryKind::Commit => notes.skipped(name, "it is a submodule"),
            }
        }
    }
    Ok(out)
}

/// A partial clone has the names of files that it does not have.
fn missing(name: &str, why: &str) -> String {
    format!("`{name}` is not in the object store ({why})")
}

fn blob(repository: &gix::Repository, id: ObjectId, limit: u64) -> Result<Vec<u8>, String> {
    let size = repository.find_header(id).map_err(|error| error.to_string())?.size();
    if size > limit {
        return Err(format!("it is larger than {limit} bytes"));
    }
    let mut object = repository.find_object(id).map_err(|error| error.to_string())?;
    Ok(std::mem::take(&mut object.data))
}
