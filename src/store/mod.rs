//! Keeps what was found about a tree, so that the same question about the same code is answered at once.
//!
//! A tree goes by the hash of all its texts and of argtrace's own code and data: the same key means the same
//! answers, whatever the source was called, and nothing ever has to be thrown away as stale. Each answer is a file of its
//! own, put in place whole, so processes can share a store without locks, and one that is killed leaves nothing behind
//! that counts. An answer that does not match its checksum is none. Whatever goes wrong here, the answer is worked out
//! instead: a store is never the reason for an error.

mod room;

use crate::program::FileSet;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub use room::{clear, size};

/// Starts every file of a store; the number goes up when the layout changes.
const MAGIC: &[u8; 8] = b"argtrac2";
const HASH_BYTES: usize = 32;
/// No answer is larger, packed or not; a file that says otherwise was made to hurt.
const MAX_PACKED: u64 = 64 << 20;
const MAX_UNPACKED: u64 = 1 << 30;

/// What a tree is known by.
pub struct TreeKey(String);

impl TreeKey {
    pub fn of(set: &Texts) -> TreeKey {
        let hashes: Vec<[u8; HASH_BYTES]> = set.files.par_iter().map(|(_, text)| hash_of(text)).collect();
        let mut all = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            all.update(&(part.len() as u64).to_le_bytes());
            all.update(part);
        };
        add(env!("ARGTRACE_BUILD").as_bytes());
        for ((path, _), hash) in set.files.iter().zip(&hashes) {
            add(path.as_bytes());
            add(hash);
        }
        TreeKey(all.finalize().to_hex().to_string())
    }
}

fn hash_of(text: &Result<Vec<u8>, String>) -> [u8; HASH_BYTES] {
    let mut hasher = blake3::Hasher::new();
    match text {
        Ok(text) => hasher.update(b"+").update(text),
        Err(why) => hasher.update(b"-").update(why.as_bytes()),
    };
    *hasher.finalize().as_bytes()
}

/// The texts of a tree, each read once.
pub struct Texts {
    files: Vec<(String, Result<Vec<u8>, String>)>,
}

impl Texts {
    /// Reads the files that `wanted` asks for.
    pub fn read(set: &dyn FileSet, wanted: impl Fn(&str) -> bool) -> Texts {
        let paths: Vec<(usize, String)> = set.paths().into_iter().enumerate().filter(|(_, p)| wanted(p)).collect();
        Texts { files: paths.into_par_iter().map(|(i, path)| (path, set.read(i))).collect() }
    }

    /// The text of one file; what is no UTF-8 in it is marked as such.
    pub fn text(&self, path: &str) -> Option<String> {
        let (_, text) = self.files.iter().find(|(known, _)| known == path)?;
        Some(String::from_utf8_lossy(text.as_ref().ok()?).into_owned())
    }
}

impl FileSet for Texts {
    fn paths(&self) -> Vec<String> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        match self.files.get(index) {
            Some((_, text)) => text.clone(),
            None => Err("there is no such file".to_owned()),
        }
    }
}

/// The answers about one tree.
pub struct Store {
    root: PathBuf,
    folder: PathBuf,
    tree: String,
}

impl Store {
    /// The store of a tree in a cache folder. Nothing is created until something is kept.
    pub fn of(cache: &Path, key: &TreeKey) -> Store {
        let root = room::folder_of(cache);
        Store { folder: root.join(&key.0), tree: key.0.clone(), root }
    }

    /// The answer to a question, if there is one that is whole.
    pub fn get<T: DeserializeOwned>(&self, question: &str) -> Option<T> {
        let mut file = File::open(self.path_of(question)).ok()?;
        if file.metadata().ok()?.len() > MAX_PACKED {
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let rest = bytes.strip_prefix(MAGIC.as_slice())?;
        let (sum, packed) = rest.split_at_checked(HASH_BYTES)?;
        if self.sum_of(question, packed).as_bytes() != sum {
            return None;
        }
        room::touch(&file);
        let mut text = Vec::new();
        flate2::read::DeflateDecoder::new(packed).take(MAX_UNPACKED).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps an answer, if that can be done.
    pub fn keep<T: Serialize>(&self, question: &str, answer: &T) {
        // Without room, rights or a folder the next run works it out again.
        let _ = self.try_keep(question, answer);
    }

    fn try_keep<T: Serialize>(&self, question: &str, answer: &T) -> std::io::Result<()> {
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        serde_json::to_writer(&mut packer, answer)?;
        let packed = packer.finish()?;
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(self.sum_of(question, &packed).as_bytes())?;
        file.write_all(&packed)?;
        file.persist(self.path_of(question)).map_err(|e| e.error)?;
        Ok(())
    }

    /// Of the answer and of what it answers: one that was moved to another name is none.
    fn sum_of(&self, question: &str, packed: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for part in [self.tree.as_bytes(), question.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update(packed).finalize()
    }

    /// Drops the trees that were not asked about for the longest time, until the store is small enough.
    pub fn make_room(&self) {
        room::make(&self.root, &self.folder);
    }

    /// Names come from the tree, so none becomes part of a path.
    fn path_of(&self, question: &str) -> PathBuf {
        self.folder.join(blake3::hash(question.as_bytes()).to_hex().as_str())
    }
}
