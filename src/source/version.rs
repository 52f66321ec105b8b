//! Reads the version of a package from the texts that stand beside and in it.
//!
//! Never guesses: a text that is no version by PEP 440 is passed over, and a tree that says none has none.

use std::str::FromStr;

use pep440_rs::Version;

use super::requirement::normalise;

/// The version of `package`, where `read` gives a text by its path from the folder that holds the package, and
/// `siblings` are the names in that folder.
///
/// Installation metadata comes first. `_version.py` comes last, since in a checkout it dates from the last build.
pub(super) fn find(package: &str, siblings: &[String], read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    from_dist_info(package, siblings, read)
        .or_else(|| from_code(&read(&format!("{package}/version.py"))?))
        .or_else(|| from_code(&read(&format!("{package}/__init__.py"))?))
        .or_else(|| from_metadata(package, &read("PKG-INFO")?))
        .or_else(|| from_pyproject(&read("pyproject.toml")?))
        .or_else(|| from_code(&read(&format!("{package}/_version.py"))?))
}

/// Whether `name` is the folder in which an installer records `package`.
pub(super) fn is_dist_info(name: &str, package: &str) -> bool {
    name.strip_suffix(".dist-info")
        .and_then(|stem| stem.split_once('-'))
        .is_some_and(|(project, _)| normalise(project) == normalise(package))
}

/// `text` if PEP 440 takes it for a version.
pub(super) fn checked(text: &str) -> Option<String> {
    let text = text.trim();
    Version::from_str(text).is_ok().then(|| text.to_owned())
}

fn from_dist_info(package: &str, siblings: &[String], read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut found = siblings
        .iter()
        .filter(|name| is_dist_info(name, package))
        .filter_map(|name| from_metadata(package, &read(&format!("{name}/METADATA"))?));
    let first = found.next()?;
    // Two records mean a damaged installation, in which either may be the stale one.
    found.all(|other| other == first).then_some(first)
}

fn from_metadata(package: &str, text: &str) -> Option<String> {
    let header = |name: &str| {
        text.lines().take_while(|line| !line.is_empty()).find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    };
    let project = header("Name")?;
    (normalise(project.trim()) == normalise(package)).then(|| checked(header("Version")?)).flatten()
}

/// `__version__ = "0.4.6"` or `__version__ = version = '0.5.9'`, at the outermost level only.
fn from_code(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let value = line.strip_prefix("__version__")?.rsplit_once('=')?.1.trim();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        checked(value[1..].split(quote).next()?)
    })
}

fn from_pyproject(text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).ok()?;
    checked(table.get("project")?.get("version")?.as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_gives_only_outermost_literals() {
        assert_eq!(from_code("__version__ = \"0.4.6\"\n").as_deref(), Some("0.4.6"));
        assert_eq!(from_code("__version__: str\n__version__ = version = '0.5.9'\n").as_deref(), Some("0.5.9"));
        assert_eq!(from_code("try:\n    __version__ = '0.0.0.dev0'\n"), None);
        assert_eq!(from_code("__version__ = '\u{1b}[31m'\n"), None);
    }

    #[test]
    fn metadata_stops_at_the_body_and_checks_the_name() {
        let text = "Metadata-Version: 2.4\nName: SG.lang\nVersion: 1.0\n\nVersion: 2.0\n";
        assert_eq!(from_metadata("sg-lang", text).as_deref(), Some("1.0"));
        assert_eq!(from_metadata("other", text), None);
    }
}
