//! Finds the package when no source is named: around the current folder, else in the active Python environment.
//!
//! Never runs Python: an environment is known by its folders.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::locate::{Located, locate_tree};
use super::requirement::normalise;
use super::{Options, SourceError};

/// The folder of the package that a person means who names none.
pub(super) fn current(options: &Options) -> Result<PathBuf, SourceError> {
    let folder = env::current_dir().map_err(|error| SourceError::io("cannot tell the current folder", ".", error))?;
    let around = folder.ancestors().find_map(|ancestor| locate_tree(ancestor, options));
    if let Some(located) = around {
        return Ok(located.package_dir);
    }
    let sites = active_sites();
    match sites.iter().find_map(|site| installed_in(site, options)) {
        Some(located) => Ok(located.package_dir),
        None => {
            Err(SourceError::NothingCurrent { folder, looked: describe(&sites), package: options.package.to_owned() })
        }
    }
}

/// The package installed in a site-packages folder, in it or, if editable, where its record points.
pub(super) fn installed_in(site: &Path, options: &Options) -> Option<Located> {
    locate_tree(site, options).or_else(|| {
        let folder = editable_folder(site, options.package)?;
        locate_tree(&folder, options)
    })
}

/// The site-packages and dist-packages folders under a prefix, those of the newest Python first.
pub(super) fn site_folders(prefix: &Path) -> Vec<PathBuf> {
    let mut sites = Vec::new();
    for lib in ["lib", "lib64"] {
        let mut pythons: Vec<(u32, PathBuf)> = fs::read_dir(prefix.join(lib))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let minor = python_minor(entry.file_name().to_str()?)?;
                Some((minor, entry.path()))
            })
            .collect();
        pythons.sort_by(|a, b| b.cmp(a));
        for (_, python) in pythons {
            sites.push(python.join("site-packages"));
            sites.push(python.join("dist-packages"));
        }
    }
    sites.push(prefix.join("Lib").join("site-packages"));
    sites.retain(|site| site.is_dir());
    sites
}

/// The minor version in `python3.11`; the highest for Debian's shared `python3`.
fn python_minor(name: &str) -> Option<u32> {
    match name.strip_prefix("python3")? {
        "" => Some(u32::MAX),
        minor => minor.strip_prefix('.')?.parse().ok(),
    }
}

fn active_sites() -> Vec<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(prefix) = variable(name) {
            return site_folders(Path::new(&prefix));
        }
    }
    let mut prefixes = Vec::new();
    if let Some(home) = variable("HOME") {
        prefixes.push(Path::new(&home).join(".local"));
    }
    let programs = variable("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    if let Some(python) = programs.iter().map(|folder| folder.join("python3")).find(|python| python.is_file()) {
        let real = fs::canonicalize(&python).unwrap_or_else(|_| python.clone());
        for program in [python, real] {
            prefixes.extend(program.parent().and_then(Path::parent).map(Path::to_path_buf));
        }
        // Debian's system Python installs here whatever its own prefix is.
        prefixes.push(PathBuf::from("/usr/local"));
    }
    let mut sites: Vec<PathBuf> = Vec::new();
    for site in prefixes.iter().flat_map(|prefix| site_folders(prefix)) {
        if !sites.contains(&site) {
            sites.push(site);
        }
    }
    sites
}

/// Where an editable installation's code is, by the `direct_url.json` (PEP 610) that pip leaves in its dist-info.
fn editable_folder(site: &Path, package: &str) -> Option<PathBuf> {
    let wanted = normalise(package);
    for entry in fs::read_dir(site).ok()?.flatten() {
        let name = entry.file_name();
        let Some((project, _)) =
            name.to_str().and_then(|name| name.strip_suffix(".dist-info")).and_then(|stem| stem.split_once('-'))
        else {
            continue;
        };
        if normalise(project) != wanted {
            continue;
        }
        let Ok(text) = fs::read(entry.path().join("direct_url.json")) else {
            continue;
        };
        let Ok(record) = serde_json::from_slice::<Value>(&text) else {
            continue;
        };
        let path = record
            .get("url")
            .and_then(Value::as_str)
            .and_then(|url| url.strip_prefix("file://"))
            .and_then(percent_decoded);
        if path.is_some() {
            return path.map(PathBuf::from);
        }
    }
    None
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

fn describe(sites: &[PathBuf]) -> String {
    if sites.is_empty() {
        return "none is active".to_owned();
    }
    let sites: Vec<String> = sites.iter().map(|site| site.display().to_string()).collect();
    format!("looked in {}", sites.join(", "))
}
