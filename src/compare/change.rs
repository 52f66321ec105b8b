//! The document that says what changed (`argtrace/diff/1`), as plain data.
//!
//! A change is a value: a code of the [table](super::codes), the field, both sides, and a fingerprint that stays the same
//! as long as the change does, wherever the code moves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::codes::Code;
use super::snapshot::Spot;
use crate::meaning::report::{Grade, SourceInfo};

pub const SCHEMA: &str = "argtrace/diff/1";

/// The whole document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    pub schema: String,
    pub old: SourceInfo,
    pub new: SourceInfo,
    /// The worst first, then by field.
    pub changes: Vec<Change>,
}

/// How much a change matters to whoever upgrades.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The same command line does the same.
    Cosmetic,
    /// The same command line does something else.
    Behaviour,
    /// A command line that worked fails.
    Breaking,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Breaking, Level::Behaviour, Level::Cosmetic];

    pub fn as_str(self) -> &'static str {
        match self {
            Level::Cosmetic => "cosmetic",
            Level::Behaviour => "behaviour",
            Level::Breaking => "breaking",
        }
    }
}

/// One place, or none where one side has nothing to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    pub path: String,
    pub line: u32,
}

impl From<&Spot> for Side {
    fn from(spot: &Spot) -> Side {
        Side { path: spot.path.clone(), line: spot.line }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub code: Code,
    pub field: String,
    /// Other arguments that the same change is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// The spelling that the change is about, else the usual one.
    pub flag: Option<String>,
    pub level: Level,
    /// JSON values for defaults, choices and divisors, text for conditions; `null` where there was nothing.
    pub before: Value,
    pub after: Value,
    pub message: String,
    pub old: Option<Side>,
    pub new: Option<Side>,
    pub grade: Grade,
    pub fingerprint: String,
}

impl Change {
    pub fn new(code: Code, field: &str, level: Level, message: impl Into<String>) -> Change {
        Change {
            code,
            field: field.to_owned(),
            fields: Vec::new(),
            flag: None,
            level,
            before: Value::Null,
            after: Value::Null,
            message: message.into(),
            old: None,
            new: None,
            grade: Grade::Proved,
            fingerprint: String::new(),
        }
    }

    pub fn with(mut self, fields: impl IntoIterator<Item = String>) -> Change {
        for field in fields {
            if field != self.field && !self.fields.contains(&field) {
                self.fields.push(field);
            }
        }
        self
    }

    pub fn flag(mut self, flag: Option<&str>) -> Change {
        self.flag = flag.map(str::to_owned);
        self
    }

    pub fn values(mut self, before: impl Into<Value>, after: impl Into<Value>) -> Change {
        (self.before, self.after) = (before.into(), after.into());
        self
    }

    pub fn places(mut self, old: Option<&Spot>, new: Option<&Spot>) -> Change {
        (self.old, self.new) = (old.map(Side::from), new.map(Side::from));
        self
    }

    pub fn grade(mut self, grade: Grade) -> Change {
        self.grade = grade;
        self
    }

    /// Every argument that the change is about.
    pub fn about(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.field.as_str()).chain(self.fields.iter().map(String::as_str))
    }

    /// Sixteen hex digits of what the change says, its places and level left out.
    pub fn sealed(mut self) -> Change {
        let parts = [
            self.code.as_str().to_owned(),
            self.field.clone(),
            self.flag.clone().unwrap_or_default(),
            self.before.to_string(),
            self.after.to_string(),
        ];
        self.fingerprint = fingerprint(&parts);
        self
    }
}

/// Sixteen hex digits of some texts.
pub fn fingerprint(parts: &[String]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    // FNV-1a: short, and the same on every machine and in every version.
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}
