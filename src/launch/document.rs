//! The documents `argtrace/audit/1` and `argtrace/budget/1`, as plain data and the source of their published schemas.

use crate::meaning::report::SourceInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub const AUDIT_SCHEMA: &str = "argtrace/audit/1";
pub const BUDGET_SCHEMA: &str = "argtrace/budget/1";

/// What launch commands mean.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    pub schema: String,
    pub source: SourceInfo,
    /// One for each server command that was found.
    pub launches: Vec<Launch>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Launch {
    pub origin: Origin,
    /// The whole command, secrets hidden.
    pub command: Vec<String>,
    /// Variables that it sets for the server; `null` for a value that only a run knows.
    pub environment: BTreeMap<String, Option<String>>,
    pub arguments: Vec<Argument>,
    pub findings: Vec<Finding>,
}

/// Where a command stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// `null` for a command that was given as such.
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// How a field came to be set.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    Exact,
    Alias,
    Abbreviation,
    Config,
    /// Not given; the code fills it.
    Resolved,
}

/// An argument that was given, or that the code fills.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Argument {
    /// As typed, without its value.
    pub flag: Option<String>,
    pub field: Option<String>,
    pub via: Via,
    /// What the parser made of it.
    pub given: serde_json::Value,
    /// At the end of the record's own resolution in the launcher; `null` if `when` says on what it hangs.
    pub effective: serde_json::Value,
    pub when: Option<String>,
    /// The rank axes along which separate processes each hold it whole, for amounts of memory.
    pub per: Vec<String>,
    /// The sum over the processes on one machine, with its unit.
    pub total: Option<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub code: String,
    pub level: Level,
    pub flag: Option<String>,
    pub field: Option<String>,
    /// Every field that has a part in it.
    pub fields: Vec<String>,
    pub effective: serde_json::Value,
    pub when: Option<String>,
    pub total: Option<String>,
    pub message: String,
    /// The test or assignment in the source that decides.
    pub path: Option<String>,
    pub line: Option<u32>,
}

/// The largest safe value of a field for a machine, or what a value costs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    pub schema: String,
    pub source: SourceInfo,
    pub field: String,
    /// What the value is counted in.
    pub unit: String,
    /// With the numbers put in.
    pub formula: String,
    pub holders: Holders,
    /// How many times one process allocates it; `null` where that hangs on the model.
    pub pools: Option<u32>,
    pub available: String,
    pub reserve: String,
    pub margin: String,
    /// The largest legal value, in `unit`.
    pub largest: serde_json::Value,
    /// The value that was asked about.
    pub value: Option<serde_json::Value>,
    /// Of `value`, else of `largest`, over the processes on one machine.
    pub total: String,
    /// Does `value` fit?
    pub fits: Option<bool>,
    pub checks: Vec<BudgetCheck>,
}

/// How many processes on one machine hold the value, and why.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Holders {
    pub count: i64,
    /// Over all machines.
    pub everywhere: i64,
    pub processes: Vec<String>,
    pub axes: Vec<Axis>,
    pub why: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    pub axis: String,
    pub field: String,
    pub size: i64,
}

/// A check that the code makes when it starts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BudgetCheck {
    pub kind: String,
    pub condition: String,
    pub message: Option<String>,
    pub path: String,
    pub line: u32,
    /// Would the value trip it? `null` if that hangs on more than is known here.
    pub trips: Option<bool>,
}
