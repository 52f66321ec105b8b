//! The list of fields: each field's claims without the places on its way, as plain data (`argtrace/fields/1`).
//!
//! An entry is the field's report less `reads`, `writes`, `flow` and `coverage`; what these would warn of is kept as
//! marks. Nothing is claimed here that the report does not hold.

use super::findings::table;
use super::report::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const SCHEMA: &str = "argtrace/fields/1";

/// The whole document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FieldList {
    pub schema: String,
    pub source: SourceInfo,
    pub fields: Vec<FieldEntry>,
}

/// What is said of one field.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FieldEntry {
    pub field: String,
    pub definition: Definition,
    pub unit: Unit,
    pub scope: Scope,
    pub sinks: Vec<Sink>,
    pub precedence: Vec<Precedence>,
    pub active_when: Vec<ActiveWhen>,
    pub constraints: Vec<Constraint>,
    pub findings: Vec<Finding>,
    pub marks: Vec<Mark>,
}

/// What a reader of the list should know before he trusts a flag.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Nothing reads the field.
    Dead,
    /// The source says that its flag is to be replaced or will go away.
    Deprecated,
    /// Code writes it after parsing, if only to fill in what was left unset.
    Rewritten,
    /// Some read of it, or some step of its value, could not be followed: what is said may not be all.
    NotFollowed,
}

impl Mark {
    pub fn words(self) -> &'static str {
        match self {
            Mark::Dead => "dead",
            Mark::Deprecated => "deprecated",
            Mark::Rewritten => "rewritten",
            Mark::NotFollowed => "not followed",
        }
    }

    pub fn of(report: &FieldReport) -> Vec<Mark> {
        let is_dead = report.findings.iter().any(|finding| finding.code == table::DEAD_FIELD.code);
        let is_rewritten = report.writes.as_ref().is_some_and(|writes| !writes.is_empty());
        let not_followed = report.coverage.as_ref().is_some_and(|coverage| !coverage.unresolved.is_empty());
        let held = [
            (Mark::Dead, is_dead),
            (Mark::Deprecated, report.definition.deprecated.is_some()),
            (Mark::Rewritten, is_rewritten),
            (Mark::NotFollowed, not_followed),
        ];
        held.into_iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).collect()
    }
}

impl From<FieldReport> for FieldEntry {
    fn from(report: FieldReport) -> Self {
        FieldEntry {
            marks: Mark::of(&report),
            field: report.field,
            definition: report.definition,
            unit: report.unit,
            scope: report.scope,
            sinks: report.sinks,
            precedence: report.precedence,
            active_when: report.active_when,
            constraints: report.constraints,
            findings: report.findings,
        }
    }
}
