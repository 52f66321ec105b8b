//! Turns a requirement `name==version` into a wheel in the cache folder, fetching it once.
//!
//! Never installs or runs what it fetches, and never shows pip a text that is not a name and a version. Two processes at
//! once are safe: each fetches into a folder of its own, and the finished wheel is renamed into place.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pep440_rs::Version;

use super::{Options, SourceError, cache_folder, pip, wheel};

/// One project at one exact version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) name: String,
    pub(super) version: Version,
}

impl Requirement {
    /// Takes a name (PEP 508) and a version (PEP 440) with `==` between them, and nothing else.
    pub(super) fn parse(spec: &str, options: &Options) -> Result<Requirement, SourceError> {
        let refuse = |reason: &str| SourceError::BadRequirement {
            spec: spec.to_owned(),
            reason: reason.to_owned(),
            package: options.package.to_owned(),
        };
        let (name, version) = spec.split_once("==").ok_or_else(|| refuse("a range of versions is not one source"))?;
        let name = name.trim();
        if name.contains('[') {
            return Err(refuse("extras do not change the source, leave them out"));
        }
        if !is_project_name(name) {
            return Err(refuse("the part before `==` is not a project's name"));
        }
        let version = Version::from_str(version.trim()).map_err(|_| refuse("the part after `==` is not a version"))?;
        Ok(Requirement { name: name.to_owned(), version })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=={}", self.name, self.version)
    }
}

/// An end of a range of versions; nothing if the text is empty.
pub(super) fn bound(text: &str, options: &Options) -> Result<Option<Version>, SourceError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    Version::from_str(text).map(Some).map_err(|_| SourceError::BadRequirement {
        spec: text.to_owned(),
        reason: "it is not a version".to_owned(),
        package: options.package.to_owned(),
    })
}

/// Whether `spec`, which is no path, is meant as a requirement, be it well formed or not.
pub(super) fn looks_like_requirement(spec: &str) -> bool {
    !spec.contains(['/', '\\']) && spec.contains(['=', '<', '>', '~', '!'])
}

/// A project's name in the form in which names are compared (PEP 503).
pub(super) fn normalise(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if matches!(c, '-' | '_' | '.') { '-' } else { c.to_ascii_lowercase() };
        if c != '-' || !out.ends_with('-') {
            out.push(c);
        }
    }
    out
}

/// What the file name of a wheel says: `sglang-0.5.9-py3-none-any.whl`.
#[derive(Debug)]
pub(super) struct WheelName {
    name: String,
    pub(super) version: Version,
}

impl WheelName {
    pub(super) fn of(path: &Path) -> Option<WheelName> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".whl")?;
        let parts: Vec<&str> = stem.split('-').collect();
        match parts[..] {
            [name, version, _, _, _] | [name, version, _, _, _, _] => {
                Some(WheelName { name: normalise(name), version: Version::from_str(version).ok()? })
            }
            _ => None,
        }
    }

    fn matches(&self, requirement: &Requirement) -> bool {
        self.name == normalise(&requirement.name) && self.version == requirement.version
    }
}

/// The wheel of a requirement, from the cache, else fetched into it.
pub(super) fn wheel(requirement: &Requirement, options: &Options) -> Result<PathBuf, SourceError> {
    let wheels = cache_folder(options)?.join("wheels");
    if let Some(wheel) = find_wheel(&wheels, requirement) {
        return Ok(wheel);
    }
    if options.offline || is_set("ARGTRACE_OFFLINE") {
        return Err(SourceError::Offline { requirement: requirement.to_string(), cache: wheels });
    }
    fetch(requirement, &wheels, options)
}

pub(super) fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

fn find_wheel(folder: &Path, requirement: &Requirement) -> Option<PathBuf> {
    fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| WheelName::of(path).is_some_and(|name| name.matches(requirement)))
        .filter(|path| path.is_file())
        // Several builds of one version hold the same code; which is taken must not hang on the folder's order.
        .min()
}

fn fetch(requirement: &Requirement, wheels: &Path, options: &Options) -> Result<PathBuf, SourceError> {
    let not_writable =
        |error| SourceError::CacheNotWritable { requirement: requirement.to_string(), cache: wheels.to_owned(), error };
    fs::create_dir_all(wheels).map_err(not_writable)?;
    // Absolute, since pip runs in a folder of its own.
    let wheels = fs::canonicalize(wheels).map_err(not_writable)?;
    let folder = tempfile::Builder::new().prefix(".fetch-").tempdir_in(&wheels).map_err(not_writable)?;
    if let Some(progress) = options.progress {
        progress(&format!("fetching {requirement} with pip"));
    }
    let program = pip::download(requirement, folder.path(), options)?;
    let Some(fetched) = find_wheel(folder.path(), requirement) else {
        return Err(SourceError::PipFailed {
            requirement: requirement.to_string(),
            program,
            detail: "it reported success but left no wheel of that version".to_owned(),
        });
    };
    wheel::open_zip(&fetched)?;
    let kept = wheels.join(fetched.file_name().unwrap_or_default());
    fs::rename(&fetched, &kept).map_err(not_writable)?;
    Ok(kept)
}

fn is_project_name(name: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    edge(name.chars().next())
        && edge(name.chars().next_back())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_and_a_version_are_taken() {
        let options = Options::of("sglang", "srt/server_args.py");
        let parse = |spec: &str| Requirement::parse(spec, &options).map(|r| r.to_string());
        assert_eq!(parse("sglang==0.5.9post1").ok().as_deref(), Some("sglang==0.5.9.post1"));
        assert_eq!(parse("SGLang == v1.0").ok().as_deref(), Some("SGLang==1.0"));
        for bad in [
            "sglang>=0.5",
            "sglang==",
            "==0.5",
            "sglang===0.5",
            "sglang==0.5.*",
            "--index-url==1",
            "sglang[all]==0.5.9",
            "sglang==0.5.9; python_version<'3'",
            "sglang==0.5.9 --pre",
            "sglang==0.5,<1",
            "a b==1",
            "sglang==0.5.9\n-r x",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn wheel_names_compare_by_their_normal_form() {
        let wheel = WheelName::of(Path::new("x/My_Pkg-1.0-py3-none-any.whl"));
        let options = Options::of("sglang", "srt/server_args.py");
        let requirement = Requirement::parse("my.pkg==1.0.0", &options);
        assert!(wheel.is_some_and(|w| requirement.is_ok_and(|r| w.matches(&r))));
        assert!(WheelName::of(Path::new("sglang.whl")).is_none());
    }
}
