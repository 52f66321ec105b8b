//! What can go wrong with a source, said so that a person knows what to do next.
//!
//! Never a panic, and never a bare "not found": each message names the action, the file and the way out.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a source could not be opened or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    #[error(
        "cannot open `{spec}`: there is no such file or folder. A source is a checkout, a package or site-packages \
         folder, a .whl, .tar.gz or .zip file, a revision `REPO@REV`, or a requirement such as `{package}==VERSION`"
    )]
    NotFound { spec: String, package: String },

    #[error(
        "no {package} tree at {}: expected a folder `{package}/` with `{marker}`, a checkout with `python/{package}`, \
         a site-packages folder or a virtual environment that has {package} installed. Check the path, or name a \
         release as `{package}==VERSION`", path.display()
    )]
    NoPackage { path: PathBuf, package: String, marker: String },

    #[error(
        "{} is an empty folder: expected a checkout or a package folder of {package}. Check the path, or name a \
         release as `{package}==VERSION`", path.display()
    )]
    EmptyFolder { path: PathBuf, package: String },

    #[error(
        "the archive {} holds no package `{package}` (looked for `{package}/{marker}` and `{package}/__init__.py` in \
         it). Check that it is a wheel or source archive of {package}", path.display()
    )]
    NoPackageInArchive { path: PathBuf, package: String, marker: String },

    #[error(
        "{} holds `{package}` but not one readable .py file of it: the installation is broken or was stripped. \
         Reinstall it, or name a release as `{package}==VERSION`", path.display()
    )]
    NoPython { path: PathBuf, package: String },

    #[error(
        "cannot read {} as a source: it is not a folder, nor a regular file that ends in .whl, .zip, .tar.gz or .tgz. \
         Unpack it and name the folder", path.display()
    )]
    NotASource { path: PathBuf },

    #[error(
        "{} is no git repository ({reason}). Name a folder with a repository before the `@`, or a source without a \
         revision", path.display()
    )]
    NoRepository { path: PathBuf, reason: String },

    #[error(
        "cannot read the revision `{revision}` of {}: {reason}. {}", path.display(), fetch_it(*shallow)
    )]
    NoRevision { path: PathBuf, revision: String, reason: String, shallow: bool },

    #[error("cannot read the archive {}: {reason}. Fetch the file again", path.display())]
    BrokenArchive { path: PathBuf, reason: String },

    #[error("cannot read the archive {}: {reason}. Unpack it and name the folder", path.display())]
    ArchiveTooLarge { path: PathBuf, reason: String },

    #[error("cannot read `{file}` of {}: {reason}. Fetch or install the source again", tree.display())]
    BrokenFile { tree: PathBuf, file: String, reason: String },

    #[error("cannot read {}: it has grown over {limit} bytes since it was listed. Run again", path.display())]
    FileTooLarge { path: PathBuf, limit: u64 },

    #[error("there is no file {index} in this tree of {files} files")]
    NoSuchFile { index: usize, files: usize },

    #[error("{doing} {}: {error}. Check that it exists and that you may read it", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        error: io::Error,
    },

    #[error(
        "no {package} found from {} upwards nor in the active Python environment ({looked}). Name a source: a path, \
         or a release such as `{package}==VERSION`", folder.display()
    )]
    NothingCurrent { folder: PathBuf, looked: String, package: String },

    #[error(
        "cannot take `{spec}` as a requirement: {reason}. Write one name and one exact version, as in \
         `{package}==VERSION`"
    )]
    BadRequirement { spec: String, reason: String, package: String },

    #[error(
        "{requirement} is not in the cache {} and argtrace is offline. Run once without `--offline` and \
         ARGTRACE_OFFLINE, or name a wheel file", cache.display()
    )]
    Offline { requirement: String, cache: PathBuf },

    #[error("there is no release of {package} between these two versions: `pip index versions {package}` lists all")]
    NoReleases { package: String },

    #[error(
        "cannot fetch {requirement}: found no pip (tried {tried}). Install pip, set ARGTRACE_PIP to one, or download \
         the wheel yourself and name the file"
    )]
    NoPip { requirement: String, tried: String },

    #[error(
        "cannot fetch {requirement}: pip did not reach the package index ({detail}). Check the network or pip's proxy \
         and index settings, or download the wheel yourself and name the file"
    )]
    NoNetwork { requirement: String, detail: String },

    #[error("cannot fetch {requirement}: the package index has no such version as a wheel. {}", available(nearest))]
    NoSuchVersion {
        requirement: String,
        /// Available versions around the one that was asked for, oldest first.
        nearest: Vec<String>,
    },

    #[error(
        "cannot fetch {requirement}: `{program}` failed: {detail}. Run `{program} download --no-deps {requirement}` to \
         see why, or download the wheel yourself and name the file"
    )]
    PipFailed { requirement: String, program: String, detail: String },

    #[error("cannot keep {requirement} in the cache folder {}: {error}. Set ARGTRACE_CACHE_DIR to a folder that you may write", cache.display())]
    CacheNotWritable {
        requirement: String,
        cache: PathBuf,
        #[source]
        error: io::Error,
    },

    #[error("found no cache folder, since there is no home folder. Set ARGTRACE_CACHE_DIR")]
    NoCacheFolder,
}

impl SourceError {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>, error: io::Error) -> SourceError {
        SourceError::Io { doing, path: path.into(), error }
    }
}

fn fetch_it(shallow: bool) -> &'static str {
    if shallow {
        "The repository is a shallow clone: fetch the revision with `git fetch --depth 1 origin REVISION`"
    } else {
        "Check the name with `git log`, or fetch it"
    }
}

fn available(nearest: &[String]) -> String {
    if nearest.is_empty() {
        "It offers none of this package: check the name".to_owned()
    } else {
        format!("The nearest that it has: {}", nearest.join(", "))
    }
}
