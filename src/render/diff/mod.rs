//! Writes what changed between two releases, in every format.
//!
//! Text and Markdown are for people: by field, the worst first. Annotations and SARIF are for machines that show them
//! beside a launch or a pull request. All say the same changes; a format for people may fold the cosmetic ones.

mod github;
pub mod history;
mod markdown;
mod sarif;
mod text;

pub use github::github;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

use serde_json::Value;

use super::summary;
use crate::compare::change::{Change, Diff, Level, Side};

/// `old -> new`.
pub(super) fn title(diff: &Diff) -> String {
    format!("{} -> {}", summary::source(&diff.old), summary::source(&diff.new))
}

/// `2 breaking, 5 behaviour, 30 cosmetic`.
fn counts(diff: &Diff) -> String {
    let count = |level: Level| diff.changes.iter().filter(|c| c.level == level).count();
    let said: Vec<String> =
        Level::ALL.iter().filter(|l| count(**l) > 0).map(|l| format!("{} {}", count(*l), l.as_str())).collect();
    if said.is_empty() { String::from("no change") } else { said.join(", ") }
}

/// The changes by field: the field with the worst change first, and of one field in the order of the document.
fn by_field(diff: &Diff, all: bool) -> Vec<(&str, Vec<&Change>)> {
    let mut out: Vec<(&str, Vec<&Change>)> = Vec::new();
    for change in diff.changes.iter().filter(|c| all || c.level > Level::Cosmetic) {
        match out.iter_mut().find(|(field, _)| *field == change.field) {
            Some((_, changes)) => changes.push(change),
            None => out.push((&change.field, vec![change])),
        }
    }
    out
}

/// A side's value as text; nothing for what was not there.
pub(super) fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            Some(items.iter().map(|i| shown(i).unwrap_or_else(|| String::from("None"))).collect::<Vec<_>>().join(", "))
        }
        Value::Bool(true) => Some(String::from("True")),
        Value::Bool(false) => Some(String::from("False")),
        other => Some(other.to_string()),
    }
}

fn place(side: &Side) -> String {
    format!("{}:{}", side.path, side.line)
}
