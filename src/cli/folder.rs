//! Writes a folder of files, whole or not at all.
//!
//! The files are written beside the folder and put in its place in one step, so that no reader finds some of the old and
//! some of the new. What the folder held is replaced, and so it may hold nothing that this program did not put there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::exit::UsageError;

/// Checks that the folder can be replaced: it is not there yet, empty, or holds nothing at its top but `ours`, and a page
/// that says where it comes from.
///
/// # Errors
/// If it holds something else, is a file, or cannot be read.
pub fn claim(folder: &Path, ours: &[&str]) -> anyhow::Result<()> {
    let doing = || format!("writing the folder {}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(UsageError::new(format!("{}: it is a file", doing()), "name a folder").into());
        }
        Err(error) => return Err(anyhow::Error::new(error).context(doing())),
    };
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        names.push(entry.with_context(doing)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let refused = |what: String| {
        let hint = "name a new folder, an empty one, or one that was written so before";
        Err(UsageError::new(format!("{}: {what}", doing()), hint).into())
    };
    if let Some(other) = names.iter().find(|name| !ours.contains(&name.as_str())) {
        return refused(format!("it holds {other}, which would be lost"));
    }
    let is_ours = fs::read_to_string(folder.join(INDEX)).is_ok_and(|text| text.contains(GENERATOR));
    if !names.is_empty() && !is_ours {
        return refused(String::from("it is not empty, and not of this program"));
    }
    Ok(())
}

const INDEX: &str = "index.html";
const GENERATOR: &str = "<meta name=\"generator\" content=\"argtrace\">";

/// Puts the files (path in the folder, text) in the folder's place.
///
/// # Errors
/// As [`claim`], or if something cannot be written; the folder is then as it was.
pub fn write_whole(folder: &Path, ours: &[&str], files: &[(String, String)]) -> anyhow::Result<()> {
    claim(folder, ours)?;
    let doing = || format!("writing the folder {}", folder.display());
    // A link is followed, not replaced.
    let target = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).with_context(doing)?;
    let beside = tempfile::Builder::new().prefix(".argtrace-").tempdir_in(parent).with_context(doing)?;
    let [new, old] = ["new", "old"].map(|name| beside.path().join(name));
    written(&new, files).with_context(doing)?;
    let existed = target.exists();
    if existed {
        fs::set_permissions(&new, fs::metadata(&target).with_context(doing)?.permissions()).with_context(doing)?;
        fs::rename(&target, &old).with_context(doing)?;
    }
    if let Err(error) = fs::rename(&new, &target) {
        if existed {
            fs::rename(&old, &target).with_context(doing)?;
        }
        return Err(anyhow::Error::new(error).context(doing()));
    }
    Ok(())
}

fn written(folder: &Path, files: &[(String, String)]) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    for (name, text) in files {
        let file: PathBuf = name.split('/').fold(folder.to_path_buf(), |path, part| path.join(part));
        if let Some(above) = file.parent() {
            fs::create_dir_all(above)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}
