//! Opens a source of code and yields its Python files.
//!
//! This is the only stage, beside `cli`, that touches the file system or starts a program. It never imports, builds or
//! runs what it reads, and never unpacks an archive to disk.
//!
//! A [`Tree`] is a sorted list of files, each named from the package on (`sglang/srt/server_args.py`), and a way to read
//! one. Folders, wheels, sdists and requirements give the same list for the same code, so nothing after this stage knows
//! which it was. What cannot be taken (a name with `..`, a link out of the tree, a file over [`MAX_FILE`]) is left out
//! and said in [`Tree::notes`]; only a tree that cannot be used at all is an error.

mod archive;
mod cache;
mod environment;
mod error;
mod folder;
mod git;
mod locate;
mod notes;
mod pip;
mod requirement;
mod sdist;
mod shared_file;
mod version;
mod wheel;

use std::fmt;
use std::path::{Path, PathBuf};

pub use cache::{cache_folder, usual_folder};
pub use error::SourceError;

use archive::Format;
use pep440_rs::Version;
use notes::Notes;
use requirement::Requirement;

/// The largest Python file that is read, in bytes. SGLang's largest is a quarter of a megabyte.
pub const MAX_FILE: u64 = 16 << 20;
/// The most bytes of Python that one tree may hold.
pub const MAX_TOTAL: u64 = 2 << 30;
/// The most entries of a folder or an archive that are looked at.
pub const MAX_ENTRIES: usize = 1_000_000;

/// One Python file of the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Starts at the package's name (`sglang/srt/server_args.py`), `/` on every platform.
    pub path: String,
}

/// What a tree was opened from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder that the package is developed in: beside it stands a `pyproject.toml` or the like.
    Checkout,
    /// An installed or unpacked package.
    Package,
    /// A wheel file.
    Wheel,
    /// A source archive.
    Sdist,
    /// `name==version`, got through pip.
    Requirement,
    /// A revision of a git repository.
    Revision,
}

impl Kind {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Checkout => "checkout",
            Kind::Package => "package",
            Kind::Wheel => "wheel",
            Kind::Sdist => "sdist",
            Kind::Requirement => "requirement",
            Kind::Revision => "revision",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How to open a source.
pub struct Options<'a> {
    /// The name of the package to look for, which is data of a project's profile.
    pub package: &'a str,
    /// A file that the package is known by, relative to it; data of the profile too.
    pub marker: &'a str,
    /// Where fetched wheels are kept; else `ARGTRACE_CACHE_DIR`, else the platform's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// Never start pip. `ARGTRACE_OFFLINE=1` does the same.
    pub offline: bool,
    /// The pip to use; else `ARGTRACE_PIP`, else `pip`, `python3 -m pip`, `python -m pip`.
    pub pip: Option<String>,
    /// Told of anything that takes seconds.
    pub progress: Option<&'a dyn Fn(&str)>,
}

impl<'a> Options<'a> {
    /// For a package and the file that it is known by.
    pub fn of(package: &'a str, marker: &'a str) -> Self {
        Options { package, marker, cache_dir: None, offline: false, pip: None, progress: None }
    }
}

/// The Python files of one package, ready to be read from any thread.
#[derive(Debug)]
pub struct Tree {
    package: String,
    version: Option<String>,
    kind: Kind,
    display: String,
    files: Vec<SourceFile>,
    notes: Vec<String>,
    store: Store,
}

/// Where the bytes of a tree's files are. Each store holds its files in the order of [`Tree::files`].
#[derive(Debug)]
enum Store {
    Folder(folder::FolderStore),
    Wheel(wheel::WheelStore),
    Memory(Vec<Vec<u8>>),
    Git(git::GitStore),
}

/// What opening a place yields, before it has a name.
struct Opened {
    kind: Kind,
    version: Option<String>,
    files: Vec<SourceFile>,
    notes: Notes,
    store: Store,
}

impl Tree {
    /// The package's name, with which every path starts.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The package's version, if the tree says it.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// What the tree was opened from.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The package's `.py` files, sorted by path.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The bytes of the file at `index` of [`Tree::files`].
    ///
    /// # Errors
    /// If the file has gone, has grown over [`MAX_FILE`], or is damaged.
    pub fn read(&self, index: usize) -> Result<Vec<u8>, SourceError> {
        let file = self.files.get(index).ok_or(SourceError::NoSuchFile { index, files: self.files.len() })?;
        match &self.store {
            Store::Folder(store) => store.read(&file.path),
            Store::Wheel(store) => store.read(index, &file.path),
            Store::Git(store) => store.read(index, &file.path),
            Store::Memory(contents) => Ok(contents.get(index).cloned().unwrap_or_default()),
        }
    }

    /// How to name the tree to a person.
    pub fn display(&self) -> String {
        self.display.clone()
    }

    /// What was left out, each naming the file.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn new(display: String, opened: Opened, options: &Options) -> Tree {
        Tree {
            package: options.package.to_owned(),
            version: opened.version,
            kind: opened.kind,
            display,
            files: opened.files,
            notes: opened.notes.into_vec(),
            store: opened.store,
        }
    }
}

/// Opens the source that a person named: a path that exists, else a revision of a repository, else a requirement.
///
/// # Errors
/// If there is no such source, it does not hold the package, or it cannot be read or fetched.
pub fn open(spec: &str, options: &Options) -> Result<Tree, SourceError> {
    let path = Path::new(spec);
    if let Ok(metadata) = path.metadata() {
        let opened = if metadata.is_dir() {
            folder::open(path, options)?
        } else {
            open_archive(path, metadata.is_file(), options)?
        };
        return Ok(Tree::new(spec.to_owned(), opened, options));
    }
    if let Some((repository, revision)) = git::split(spec) {
        return Ok(Tree::new(spec.to_owned(), git::open(repository, revision, options)?, options));
    }
    if !requirement::looks_like_requirement(spec) {
        return Err(SourceError::NotFound { spec: spec.to_owned(), package: options.package.to_owned() });
    }
    let requirement = Requirement::parse(spec, options)?;
    let wheel = requirement::wheel(&requirement, options)?;
    let mut opened = wheel::open(&wheel, options)?;
    opened.kind = Kind::Requirement;
    Ok(Tree::new(requirement.to_string(), opened, options))
}

/// The releases of the package from one version to another, both included, as requirements, oldest first. An empty text is
/// an open end.
///
/// # Errors
/// If a text is no version, pip cannot be run, or there is no release between the two.
pub fn releases(from: &str, to: &str, options: &Options) -> Result<Vec<String>, SourceError> {
    let bounds = [from, to].map(|text| requirement::bound(text, options));
    let [from, to] = bounds;
    let (from, to) = (from?, to?);
    if let Some(progress) = options.progress {
        progress(&format!("asking pip for the releases of {}", options.package));
    }
    let all = pip::versions(options)?;
    let named = |v: &Version| Some(v) == from.as_ref() || Some(v) == to.as_ref();
    let inside = |v: &&Version| {
        from.as_ref().is_none_or(|from| from <= v) && to.as_ref().is_none_or(|to| *v <= to) && (!v.any_prerelease() || named(v))
    };
    let found: Vec<String> = all.iter().filter(inside).map(|v| format!("{}=={v}", options.package)).collect();
    if found.is_empty() { Err(SourceError::NoReleases { package: options.package.to_owned() }) } else { Ok(found) }
}

/// Opens the package of the current folder, else of the active Python environment.
///
/// # Errors
/// If neither holds the package, or it cannot be read.
pub fn open_current(options: &Options) -> Result<Tree, SourceError> {
    let path = environment::current(options)?;
    let opened = folder::open(&path, options)?;
    Ok(Tree::new(path.display().to_string(), opened, options))
}

/// What an argument can be, where both names of things in a program and sources are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// A source by its form, whether it exists or not: a path, the name of an archive, a revision, a requirement.
    Source,
    /// A bare word that is also a folder with the package in it.
    Package,
    /// A bare word that is also a file or folder, with no package in it.
    Path,
    /// A bare word that names nothing here.
    Word,
}

/// What an argument can be. Looks at names only; nothing is opened.
pub fn naming(arg: &str, options: &Options) -> Naming {
    let path = Path::new(arg);
    let by_form = arg == "."
        || arg == ".."
        || arg.contains('/')
        || arg.contains("==")
        || (cfg!(windows) && arg.contains('\\'))
        || git::split(arg).is_some()
        || Format::of(path).is_some();
    match path.metadata() {
        _ if by_form => Naming::Source,
        Err(_) => Naming::Word,
        // What no name in a program looks like can only be the path.
        Ok(_) if !arg.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') => Naming::Source,
        Ok(found) if found.is_dir() && locate::locate(path, options).is_some() => Naming::Package,
        Ok(_) => Naming::Path,
    }
}

fn open_archive(path: &Path, regular: bool, options: &Options) -> Result<Opened, SourceError> {
    match Format::of(path) {
        Some(Format::Zip) if regular => wheel::open(path, options),
        Some(Format::TarGz) if regular => sdist::open(path, options),
        _ => Err(SourceError::NotASource { path: path.to_owned() }),
    }
}
