//! When the meaning of one argument changed, release by release (`argtrace/history/1`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::renames;
use super::snapshot::Snapshot;
use crate::meaning::report::SourceInfo;

pub const SCHEMA: &str = "argtrace/history/1";

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    pub schema: String,
    /// The argument as it was asked for, and every other name that it has or had.
    pub fields: Vec<String>,
    /// All that was compared, in order.
    pub sources: Vec<SourceInfo>,
    /// Those that differ from the one before.
    pub changed: Vec<Row>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    pub source: SourceInfo,
    pub changes: Vec<Change>,
}

impl History {
    pub fn of(field: &str) -> History {
        History { schema: SCHEMA.to_owned(), fields: vec![field.to_owned()], sources: Vec::new(), changed: Vec::new() }
    }

    /// The names that the argument has in a release: it may have been renamed since the one before.
    pub fn names_in(&mut self, before: Option<&Snapshot>, declared: &Snapshot) -> Vec<String> {
        for rename in before.map(|before| renames::find(before, declared)).unwrap_or_default() {
            if self.fields.contains(&rename.from) && !self.fields.contains(&rename.to) {
                self.fields.push(rename.to);
            }
        }
        self.fields.iter().filter(|name| declared.field(name).is_some()).cloned().collect()
    }

    /// Adds a release and what changed in it.
    pub fn add(&mut self, before: Option<&Snapshot>, snapshot: &Snapshot) {
        self.sources.push(snapshot.source.clone());
        let Some(before) = before else { return };
        let changes = super::diff(before, snapshot, Some(&self.fields)).changes;
        if !changes.is_empty() {
            self.changed.push(Row { source: snapshot.source.clone(), changes });
        }
    }
}
