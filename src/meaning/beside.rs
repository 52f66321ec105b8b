//! What the comparison of trees needs beside the claims of a report, as plain data.
//!
//! It is no part of any document: the claims say what is so, this says how it stands in the code.

use super::report::{Grade, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All fields of a tree.
#[derive(Clone, Debug)]
pub struct Meanings {
    pub report: Report,
    /// One for each field of the report.
    pub beside: Vec<Beside>,
    pub retired_flags: Vec<RetiredFlag>,
}

/// Of one field.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    pub uses: Vec<Use>,
    /// The conditions of each rewrite in its function, where failing one ends the launch left out.
    pub rewritten_when: Vec<Vec<String>>,
    /// What stands around rewrites and checks, by place.
    pub around: BTreeMap<(String, u32), Around>,
}

/// What stands around a place.
#[derive(Clone, Debug)]
pub struct Around {
    pub function: Function,
    /// The conditions of the statement in its function, where failing one ends the launch left out.
    pub when: Vec<String>,
}

/// What the code asks of the value, or makes of it, with the field's name in place of the value's.
#[derive(Clone, Debug)]
pub struct Use {
    pub what: String,
    pub path: String,
    pub line: u32,
    pub function: String,
    pub grade: Grade,
}

/// The function around a rewrite or a check.
#[derive(Clone, Debug)]
pub struct Function {
    /// `Class.method` or `function`.
    pub name: String,
    pub stage: Stage,
    /// The ways in which it is called: `None` where not all are known, none where one has no condition.
    pub calls: Option<Vec<Call>>,
}

/// One way in which a function is called.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// What must hold together.
    pub when: Vec<String>,
    /// Parameters that are constants there.
    pub with: Vec<(String, String)>,
}

/// When a function runs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// While the argument class works out its values: every launch meets it.
    #[default]
    Resolution,
    /// While a process starts.
    Start,
    /// While the server runs.
    Running,
    /// In the code of one model or kernel, which a launch may not use at all.
    Kernel,
}

/// A flag that is taken and sets no field.
#[derive(Clone, Debug)]
pub struct RetiredFlag {
    pub flag: String,
    pub text: String,
    /// Giving it ends the launch.
    pub fails: bool,
    pub path: String,
    pub line: u32,
}
