//! Gives the program a name for its own code and data, so that what an older one stored is never taken for its own.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let mut files = Vec::new();
    for folder in ["src", "queries"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    files.push(PathBuf::from("Cargo.toml"));
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(&file).unwrap_or_default().hash(&mut hasher);
    }
    println!("cargo::rustc-env=ARGTRACE_BUILD={:016x}", hasher.finish());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
