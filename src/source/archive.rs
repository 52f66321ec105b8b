//! Says what the names in an archive mean: its format, which entries may be taken, and where the package is.
//!
//! Opens nothing. Never lets a name through that points out of the archive.

use std::path::Path;

use super::notes::Notes;
use super::{MAX_FILE, MAX_TOTAL, Options, SourceFile, version};

/// The most bytes of a metadata file (`METADATA`, `pyproject.toml`) that are read.
pub(super) const MAX_METADATA: u64 = 4 << 20;

pub(super) const OVER_FILE: &str = "it is larger than 16 MiB";
pub(super) const OVER_TOTAL: &str = "the tree would hold more than 2 GiB";

/// How an archive is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Zip,
    TarGz,
}

impl Format {
    /// By the end of the file's name.
    pub(super) fn of(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |end: &str| name.len() > end.len() && name.ends_with(end);
        if ends(".whl") || ends(".zip") {
            Some(Format::Zip)
        } else if ends(".tar.gz") || ends(".tgz") {
            Some(Format::TarGz)
        } else {
            None
        }
    }
}

/// The name of an entry, without a leading `./`, or why it must not be taken.
pub(super) fn safe_name(raw: &[u8]) -> Result<&str, &'static str> {
    let name = std::str::from_utf8(raw).map_err(|_| "its name is not UTF-8")?;
    let name = name.strip_prefix("./").unwrap_or(name);
    if name.starts_with('/') || name.get(1..2) == Some(":") {
        return Err("its path is absolute");
    }
    if name.contains('\\') {
        return Err("its path has a backslash");
    }
    if name.chars().any(char::is_control) {
        return Err("its name has control characters");
    }
    let parts = name.strip_suffix('/').unwrap_or(name);
    if parts.split('/').any(|part| part == "..") {
        return Err("its path leads out of the archive");
    }
    if parts.split('/').any(|part| part.is_empty() || part == ".") && !parts.is_empty() {
        return Err("its path is not in its shortest form");
    }
    Ok(name)
}

/// What an entry is good for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Python,
    Metadata,
    Nothing,
}

pub(super) fn use_of(name: &str) -> Use {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.ends_with(".py") {
        Use::Python
    } else if matches!(last, "METADATA" | "PKG-INFO" | "pyproject.toml") {
        Use::Metadata
    } else {
        Use::Nothing
    }
}

/// An entry that may be taken. `T` is what its bytes are got by.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) handle: T,
}

/// The files of the package, in order, each with its handle, and the package's version.
pub(super) struct Contents<T> {
    pub(super) files: Vec<SourceFile>,
    pub(super) handles: Vec<T>,
    pub(super) version: Option<String>,
    /// Whether installation metadata stands beside the package, as in a wheel.
    pub(super) built: bool,
}

/// Picks the package out of the entries of an archive; nothing if it is not there.
pub(super) fn contents<T: Clone>(
    mut entries: Vec<Entry<T>>,
    options: &Options,
    notes: &mut Notes,
    read: &dyn Fn(&Entry<T>) -> Option<Vec<u8>>,
) -> Option<Contents<T>> {
    let prefix = package_prefix(entries.iter().map(|entry| entry.name.as_str()), options)?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let holder = |name: &str| name.strip_prefix(prefix.as_str()).map(str::to_owned);
    let mut siblings: Vec<String> =
        entries.iter().filter_map(|entry| Some(holder(&entry.name)?.split_once('/')?.0.to_owned())).collect();
    siblings.dedup();
    let text = |path: &str| {
        let name = format!("{prefix}{path}");
        let place = entries.binary_search_by(|entry| entry.name.as_str().cmp(&name)).ok()?;
        let bytes = read(entries.get(place)?)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let version = version::find(options.package, &siblings, &text);
    let built = siblings.iter().any(|name| version::is_dist_info(name, options.package));

    let inside = format!("{}/", options.package);
    let mut total = 0;
    let (mut files, mut handles) = (Vec::new(), Vec::new());
    for entry in &entries {
        let Some(path) = holder(&entry.name).filter(|path| path.starts_with(&inside)) else {
            continue;
        };
        if use_of(&path) != Use::Python {
            continue;
        }
        if entry.size > MAX_FILE {
            notes.skipped(&entry.name, OVER_FILE);
        } else if entry.size > MAX_TOTAL - total {
            notes.skipped(&entry.name, OVER_TOTAL);
        } else {
            total += entry.size;
            files.push(SourceFile { path });
            handles.push(entry.handle.clone());
        }
    }
    Some(Contents { files, handles, version, built })
}

/// What stands before the package's name in the paths of an archive: nothing in a wheel, `sglang-0.5.9/` or
/// `sglang-main/python/` in a source archive. The shallowest place that looks like the package wins.
fn package_prefix<'n>(names: impl Iterator<Item = &'n str>, options: &Options) -> Option<String> {
    let marker_folder = options.marker.split('/').next().unwrap_or(options.marker);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let mut start = 0;
        for (depth, part) in name.split('/').enumerate() {
            let end = start + part.len() + 1;
            let inside = name.get(end..).unwrap_or("");
            let shown =
                inside == "__init__.py" || inside.strip_prefix(marker_folder).is_some_and(|rest| rest.starts_with('/'));
            if part == options.package && shown {
                let found = (depth, &name[..start]);
                best = Some(best.map_or(found, |best| best.min(found)));
            }
            start = end;
        }
    }
    best.map(|(_, prefix)| prefix.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_refused() {
        for bad in ["/etc/x.py", "../x.py", "a/../x.py", "C:/x.py", "a\\x.py", "a//x.py", "a\n.py"] {
            assert!(safe_name(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(safe_name(b"\xff.py").is_err());
        assert_eq!(safe_name(b"./a/b.py"), Ok("a/b.py"));
        assert_eq!(safe_name(b"a/"), Ok("a/"));
    }

    #[test]
    fn the_shallowest_package_wins() {
        let options = Options::of("sglang", "srt/server_args.py");
        let prefix = |names: &[&str]| package_prefix(names.iter().copied(), &options);
        assert_eq!(prefix(&["sglang/srt/a.py"]).as_deref(), Some(""));
        assert_eq!(
            prefix(&["sglang/python/sglang/__init__.py", "sglang/README.md"]).as_deref(),
            Some("sglang/python/")
        );
        assert_eq!(prefix(&["x/a/b/sglang/__init__.py", "x/python/sglang/srt/a.py"]).as_deref(), Some("x/python/"));
        assert_eq!(prefix(&["other/__init__.py"]), None);
    }
}
