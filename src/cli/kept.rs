//! Snapshots that were made before, in the cache folder.
//!
//! The key is the content of the tree and the program that made the snapshot, so a stale one is never found. A cache that
//! cannot be read or written is no error: the work is done again.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::PathBuf;

use crate::compare::snapshot::Snapshot;
use crate::source::{self, Tree};

/// Where the snapshot of one tree is kept; nowhere, if there is no cache.
pub struct Kept {
    file: Option<PathBuf>,
}

impl Kept {
    pub fn nowhere() -> Kept {
        Kept { file: None }
    }

    pub fn of(tree: &Tree, options: &source::Options) -> Kept {
        let folder = source::cache_folder(options).ok().map(|folder| folder.join("snapshots"));
        let file = folder.and_then(|folder| Some(folder.join(format!("{}.json", key(tree)?))));
        Kept { file }
    }

    pub fn get(&self) -> Option<Snapshot> {
        serde_json::from_slice(&fs::read(self.file.as_ref()?).ok()?).ok()
    }

    pub fn put(&self, snapshot: &Snapshot) {
        let write = |file: &PathBuf| {
            let folder = file.parent()?;
            fs::create_dir_all(folder).ok()?;
            let mut temporary = tempfile::Builder::new().prefix(".snapshot-").tempfile_in(folder).ok()?;
            temporary.write_all(&serde_json::to_vec(snapshot).ok()?).ok()?;
            temporary.persist(file).ok()
        };
        let _ = self.file.as_ref().and_then(write);
    }
}

/// Names the content and the maker; `None` if a file cannot be read.
fn key(tree: &Tree) -> Option<String> {
    // Two halves, of which one hash makes each: a chance hit of both does not happen.
    let mut halves = [DefaultHasher::new(), DefaultHasher::new()];
    for (i, hasher) in halves.iter_mut().enumerate() {
        (i, env!("CARGO_PKG_VERSION")).hash(hasher);
        maker().hash(hasher);
    }
    for (i, file) in tree.files().iter().enumerate() {
        let bytes = tree.read(i).ok()?;
        for hasher in &mut halves {
            (&file.path, &bytes).hash(hasher);
        }
    }
    Some(halves.map(|hasher| format!("{:016x}", hasher.finish())).concat())
}

/// The program: builds of one version can differ.
fn maker() -> Option<(u64, std::time::SystemTime)> {
    let found = fs::metadata(std::env::current_exe().ok()?).ok()?;
    Some((found.len(), found.modified().ok()?))
}
