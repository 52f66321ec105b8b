//! What the commands about launches share: values that are set beside the command, and opening a source for them.

use std::fs::File;
use std::io::Read;
use std::str::FromStr;
use std::sync::Arc;

use super::console::Console;
use super::exit::UsageError;
use super::selection::Selection;
use super::session::{Launching, Opened, Session};
use crate::launch::files;

/// `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: String,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self { name: name.to_owned(), value: value.to_owned() }),
            _ => Err(String::from("it is written NAME=VALUE")),
        }
    }
}

pub fn pairs(assignments: &[Assignment]) -> Vec<(String, String)> {
    assignments.iter().map(|a| (a.name.clone(), a.value.clone())).collect()
}

/// Opens a source while a terminal shows it.
///
/// # Errors
/// If there is no such source, or it cannot be read.
pub fn open(launching: &dyn Launching, source: Option<&str>, console: &mut Console<'_>) -> anyhow::Result<Arc<Opened>> {
    let shown = source.map_or_else(|| "looking for SGLang".to_owned(), |source| format!("reading {source}"));
    let opened = console.while_showing(&shown, |say| launching.whole(source, say))?;
    if source.is_none() {
        console.remark(&format!("reading {}", opened.source()));
    }
    Ok(opened)
}

/// Server arguments that are set beside the command, each under the name of its field.
///
/// # Errors
/// If a name means no field, or several.
pub fn sets(opened: &Opened, assignments: &[Assignment]) -> Result<Vec<(String, String)>, UsageError> {
    let selection = Selection::new(opened.field_names(), opened.aliases());
    let named = |assignment: &Assignment| Ok((one(&selection, &assignment.name, opened)?, assignment.value.clone()));
    assignments.iter().map(named).collect()
}

/// The one field that a name, flag or alias means.
///
/// # Errors
/// If it means none, or several.
pub fn one(selection: &Selection, name: &str, opened: &Opened) -> Result<String, UsageError> {
    match selection.fields(name, &opened.source())?.as_slice() {
        [field] => Ok(field.clone()),
        _ => Err(UsageError::new(format!("`{name}` means several fields"), "name one of them")),
    }
}

/// The text of a file that holds launch commands.
pub fn read_file(path: &str) -> anyhow::Result<String> {
    read(File::open(path)?)
}

/// All of a text that is not too large; what is no UTF-8 is replaced.
pub fn read(from: impl Read) -> anyhow::Result<String> {
    let limit = files::MAX_BYTES as u64;
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        anyhow::bail!("it is larger than {} MiB", limit >> 20);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
