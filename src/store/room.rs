//! Keeps the store small: which tree goes when there are too many.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// All answers together; a release takes a few megabytes.
const MAX_BYTES: u64 = 512 << 20;
/// The time of last use is told this exactly, to spare writes.
const TOUCHED_ENOUGH: Duration = Duration::from_secs(3600);

/// Where the answers are, in a cache folder.
pub fn folder_of(cache: &Path) -> PathBuf {
    cache.join("meanings")
}

/// Notes that an answer was used.
pub fn touch(file: &File) {
    let now = SystemTime::now();
    let fresh = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age < TOUCHED_ENOUGH);
    if !file.metadata().and_then(|m| m.modified()).is_ok_and(fresh) {
        // A store that cannot be written to needs no order of dropping.
        let _ = file.set_modified(now);
    }
}

/// How many bytes the answers in a cache folder take.
///
/// # Errors
/// If the folder is there and cannot be read.
pub fn size(cache: &Path) -> io::Result<u64> {
    Ok(trees(&folder_of(cache))?.iter().map(|tree| tree.bytes).sum())
}

/// Drops all answers in a cache folder.
///
/// # Errors
/// If one cannot be removed.
pub fn clear(cache: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder_of(cache)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Drops what was used least lately, all but `keep`, until the rest is small enough.
pub fn make(root: &Path, keep: &Path) {
    let Ok(mut trees) = trees(root) else { return };
    let mut bytes: u64 = trees.iter().map(|tree| tree.bytes).sum();
    trees.sort_by_key(|tree| tree.used);
    for tree in trees.iter().filter(|tree| tree.folder != keep) {
        if bytes <= MAX_BYTES {
            return;
        }
        if fs::remove_dir_all(&tree.folder).is_ok() {
            bytes -= tree.bytes;
        }
    }
}

struct Tree {
    folder: PathBuf,
    bytes: u64,
    used: Option<SystemTime>,
}

fn trees(root: &Path) -> io::Result<Vec<Tree>> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut out = Vec::new();
    for entry in entries {
        let folder = entry?.path();
        let Ok(files) = fs::read_dir(&folder) else { continue };
        let files: Vec<fs::Metadata> = files.flatten().filter_map(|file| file.metadata().ok()).collect();
        let bytes = files.iter().map(fs::Metadata::len).sum();
        let used = files.iter().filter_map(|file| file.modified().ok()).max();
        out.push(Tree { folder, bytes, used });
    }
    Ok(out)
}
