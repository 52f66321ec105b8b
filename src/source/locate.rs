//! Finds which folder, in or around a given one, is the package.
//!
//! Looks at names only: never lists the package and never reads a file of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Options, environment};

/// The folder of a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Located {
    /// The package itself, without symbolic links.
    pub(super) package_dir: PathBuf,
    /// The root of the checkout that the package is developed in, from which ignore rules count.
    pub(super) checkout_root: Option<PathBuf>,
}

/// The package that `given` is, holds, or has installed.
pub(super) fn locate(given: &Path, options: &Options) -> Option<Located> {
    locate_tree(given, options).or_else(|| {
        let mut sites = environment::site_folders(given);
        sites.push(given.to_owned());
        sites.iter().find_map(|site| environment::installed_in(site, options))
    })
}

/// The package that `given` is or holds, as a checkout, its `python/` folder, a site-packages folder or itself.
pub(super) fn locate_tree(given: &Path, options: &Options) -> Option<Located> {
    let given = fs::canonicalize(given).ok()?;
    if given.join(options.marker).is_file() {
        return Some(located(given));
    }
    let inner = ["python", "", "src"]
        .iter()
        .map(|holder| given.join(holder).join(options.package))
        .find(|folder| is_package(folder, options));
    if let Some(inner) = inner {
        return fs::canonicalize(inner).ok().map(located);
    }
    let named = given.file_name().is_some_and(|name| name == options.package);
    (named && is_package(&given, options)).then(|| located(given))
}

fn is_package(folder: &Path, options: &Options) -> bool {
    // The marker's own folder is enough, so that a release that renamed the marker is still found.
    let marker_folder = Path::new(options.marker).components().next();
    folder.join("__init__.py").is_file() || marker_folder.is_some_and(|first| folder.join(first).is_dir())
}

fn located(package_dir: PathBuf) -> Located {
    let checkout_root = checkout_root(&package_dir);
    Located { package_dir, checkout_root }
}

fn checkout_root(package_dir: &Path) -> Option<PathBuf> {
    let holder = package_dir.parent()?;
    let nested = ["python", "src"].iter().any(|name| holder.file_name().is_some_and(|holder| holder == *name));
    let root = match holder.parent() {
        Some(parent) if nested => parent,
        _ => holder,
    };
    let developed = ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|name| holder.join(name).is_file());
    (developed || root.join(".git").exists()).then(|| root.to_owned())
}
