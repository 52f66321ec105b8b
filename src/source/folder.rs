//! Lists and reads a package that lies unpacked in a folder.
//!
//! Never leaves the folder: a link is followed only to a file inside it, and a link to a folder never, so that loops
//! cannot arise. Never opens what is not a regular file.

use std::fs::{self, File, FileType};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::locate::{Located, locate};
use super::notes::Notes;
use super::{
    Kind, MAX_ENTRIES, MAX_FILE, MAX_TOTAL, Opened, Options, SourceError, SourceFile, Store, archive, version,
};

/// The package's folder. A file's place in it follows from its path.
#[derive(Debug)]
pub(super) struct FolderStore {
    package_dir: PathBuf,
}

impl FolderStore {
    /// The bytes of the file that is named `path` from the package on.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, SourceError> {
        let inside = path.split_once('/').map_or(path, |(_, inside)| inside);
        let file = self.package_dir.join(inside);
        read_bounded(&file, MAX_FILE)
    }
}

pub(super) fn open(given: &Path, options: &Options) -> Result<Opened, SourceError> {
    let Some(located) = locate(given, options) else {
        return Err(nothing_in(given, options));
    };
    let mut notes = Notes::default();
    let mut files = list(&located, options.package, true, &mut notes);
    if files.is_empty() && located.checkout_root.is_some() {
        // A tree unpacked where everything is ignored (a build folder, a virtual environment) is still meant.
        files = list(&located, options.package, false, &mut notes);
        if !files.is_empty() {
            notes.push("the ignore rules leave no file of the package, so they are not followed");
        }
    }
    if files.is_empty() {
        return Err(SourceError::NoPython { path: located.package_dir, package: options.package.to_owned() });
    }
    files.sort_unstable();
    Ok(Opened {
        kind: match located.checkout_root {
            Some(_) => Kind::Checkout,
            None => Kind::Package,
        },
        version: folder_version(&located.package_dir, options.package),
        files,
        notes,
        store: Store::Folder(FolderStore { package_dir: located.package_dir }),
    })
}

fn nothing_in(given: &Path, options: &Options) -> SourceError {
    match fs::read_dir(given).map(|mut entries| entries.next().is_none()) {
        Ok(true) => SourceError::EmptyFolder { path: given.to_owned(), package: options.package.to_owned() },
        Ok(false) => SourceError::NoPackage {
            path: given.to_owned(),
            package: options.package.to_owned(),
            marker: options.marker.to_owned(),
        },
        Err(error) => SourceError::io("cannot list the folder", given, error),
    }
}

/// One thing met on the walk: a place and what it is, or why the walk could not look.
type Met = Result<(PathBuf, Option<FileType>), String>;

fn list(located: &Located, package: &str, ignoring: bool, notes: &mut Notes) -> Vec<SourceFile> {
    let root = &located.package_dir;
    let mut files = Vec::new();
    let mut total = 0;
    for (count, met) in walk(located, ignoring).enumerate() {
        if count >= MAX_ENTRIES {
            notes.cut(format_args!("stopped after {MAX_ENTRIES} entries in {}", root.display()));
            break;
        }
        let (path, file_type) = match met {
            Ok(met) => met,
            Err(why) => {
                notes.cut(format_args!("could not look at everything: {why}"));
                continue;
            }
        };
        let Ok(inside) = path.strip_prefix(root) else {
            continue;
        };
        let size = match python_file(&path, file_type, root) {
            Ok(Some(size)) => size,
            Ok(None) => continue,
            Err(why) => {
                notes.skipped(path.display(), why);
                continue;
            }
        };
        let Some(inside) = slashed(inside) else {
            notes.skipped(path.display(), "its name is not UTF-8 or has control characters");
            continue;
        };
        if size > MAX_TOTAL - total {
            notes.skipped(path.display(), archive::OVER_TOTAL);
            continue;
        }
        total += size;
        files.push(SourceFile { path: format!("{package}/{inside}") });
    }
    files
}

/// Everything in the package: by ignore rules in a checkout, without any in an installed package.
fn walk(located: &Located, ignoring: bool) -> Box<dyn Iterator<Item = Met>> {
    let package_dir = located.package_dir.clone();
    match &located.checkout_root {
        Some(root) if ignoring => {
            let walk = ignore::WalkBuilder::new(root)
                .standard_filters(false)
                .git_ignore(true)
                .require_git(false)
                .filter_entry(move |entry| {
                    entry.path().starts_with(&package_dir) || package_dir.starts_with(entry.path())
                })
                .build();
            Box::new(walk.map(|entry| {
                let entry = entry.map_err(|error| error.to_string())?;
                let file_type = entry.file_type();
                Ok((entry.into_path(), file_type))
            }))
        }
        _ => Box::new(walkdir::WalkDir::new(package_dir).into_iter().map(|entry| {
            let entry = entry.map_err(|error| error.to_string())?;
            let file_type = entry.file_type();
            Ok((entry.into_path(), Some(file_type)))
        })),
    }
}

/// The size of a Python file of the tree at `root`; nothing if it is something else; an error if it is one that must not
/// be read.
fn python_file(path: &Path, file_type: Option<FileType>, root: &Path) -> Result<Option<u64>, &'static str> {
    let Some(file_type) = file_type else {
        return Ok(None);
    };
    let python = path.extension().is_some_and(|extension| extension == "py");
    if file_type.is_dir() || (!python && !file_type.is_symlink()) {
        return Ok(None);
    }
    let Ok(metadata) = path.metadata() else {
        return if python { Err("it cannot be looked at, or is a link to nothing") } else { Ok(None) };
    };
    if file_type.is_symlink() {
        if metadata.is_dir() {
            return Err("it is a link to a folder");
        }
        if !python {
            return Ok(None);
        }
        if !fs::canonicalize(path).is_ok_and(|target| target.starts_with(root)) {
            return Err("it is a link out of the tree");
        }
    }
    if !metadata.is_file() {
        return Err("it is not a regular file");
    }
    if metadata.len() > MAX_FILE {
        return Err(archive::OVER_FILE);
    }
    Ok(Some(metadata.len()))
}

/// `path` with `/` between its parts.
fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let joined = parts?.join("/");
    (!joined.chars().any(char::is_control)).then_some(joined)
}

fn folder_version(package_dir: &Path, package: &str) -> Option<String> {
    let holder = package_dir.parent()?;
    // Through `package_dir`, which need not be called as the package is.
    let place = |path: &str| match path.strip_prefix(package).and_then(|p| p.strip_prefix('/')) {
        Some(inside) => package_dir.join(inside),
        None => holder.join(path),
    };
    let read = |path: &str| {
        let bytes = read_bounded(&place(path), archive::MAX_METADATA).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    version::find(package, &dist_infos(holder, package), &read)
}

fn dist_infos(holder: &Path, package: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(holder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| version::is_dist_info(name, package))
        .collect();
    names.sort_unstable();
    names
}

fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, SourceError> {
    let failed = |error| SourceError::io("cannot read", path, error);
    let metadata = path.metadata().map_err(failed)?;
    if !metadata.is_file() {
        // Opening a pipe would wait for a writer.
        return Err(SourceError::NotASource { path: path.to_owned() });
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize + 1);
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if read as u64 > limit {
        return Err(SourceError::FileTooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}
