//! The report document: what is said of each field, as plain data (`argtrace/report/1`).
//!
//! It holds claims only, never how they were found. Lists are sorted before they get here, and nothing depends on time
//! or on the machine, so the same code gives the same bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const SCHEMA: &str = "argtrace/report/1";

/// What a unit can be, in the order of sizes, times, things that are counted, shares, texts.
pub const UNITS: &[&str] = &[
    "bytes",
    "KB",
    "KiB",
    "MB",
    "MiB",
    "GB",
    "GiB",
    "s",
    "ms",
    "us",
    "tokens",
    "pages",
    "requests",
    "sequences",
    "passes",
    "steps",
    "layers",
    "ranks",
    "gpus",
    "nodes",
    "count",
    "fraction",
    "ratio",
    "percent",
    "port",
    "path",
    "url",
    "host",
    "name",
    "enum",
    "bool",
    "json",
    "none",
];

/// Where a value can end.
pub const SINK_KINDS: &[&str] = &[
    "host-memory",
    "device-memory",
    "network",
    "timeout",
    "process-count",
    "thread-count",
    "file",
    "env-var",
    "kernel-choice",
    "scheduling-limit",
    "collective",
    "log",
    "metric",
    "model-load",
    "subprocess-arg",
    "validation-only",
    "none",
];

/// The whole document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub schema: String,
    pub source: SourceInfo,
    pub fields: Vec<FieldReport>,
}

/// What was read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SourceInfo {
    pub package: String,
    /// `null` where the tree does not say.
    pub version: Option<String>,
    /// `checkout`, `package`, `wheel`, `sdist`, `requirement` or `revision`.
    pub kind: String,
}

/// How sure a claim is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Nothing in the source tells.
    #[default]
    Unknown,
    /// Only the help text says so.
    Documented,
    /// A step rests on a name, a heuristic or a join that merges objects.
    Inferred,
    /// Every step of the flow is resolved.
    Proved,
}

/// A place in the tree and the code there. `path` starts at the package's name; lines and columns count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub path: String,
    pub line: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// One field of the root configuration class.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FieldReport {
    pub field: String,
    pub definition: Definition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Vec<Read>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<Write>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    pub unit: Unit,
    pub scope: Scope,
    pub sinks: Vec<Sink>,
    pub precedence: Vec<Precedence>,
    pub active_when: Vec<ActiveWhen>,
    pub constraints: Vec<Constraint>,
    pub findings: Vec<Finding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// How the field is declared and what the command line offers for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Definition {
    pub path: String,
    /// The line of the name token.
    pub line: u32,
    /// The class that declares it.
    pub class: String,
    /// Where the accessors publish it (`exec.moe`), in releases that have namespaces.
    pub namespace: Option<String>,
    #[serde(rename = "type")]
    pub type_: Option<String>,
    /// Source text, quotes included; `null` where the field has no default.
    pub default: Option<String>,
    /// All spellings.
    pub flags: Vec<String>,
    /// The file that registers the flag, and the line of the `add_argument` call; `null` if the flag is derived from the declaration.
    pub cli_path: Option<String>,
    pub cli_line: Option<u32>,
    /// Where argparse's default differs from the class default.
    pub cli_default: Option<String>,
    pub cli_type: Option<String>,
    pub choices: Vec<serde_json::Value>,
    /// Plugins can add choices at run time, or some are computed then.
    pub extensible: bool,
    pub help: Option<String>,
    pub section: Option<String>,
    /// The text of the deprecation, where the flag is deprecated.
    pub deprecated: Option<String>,
}

/// Whether a read sees the operator's input or the value after the argument class's own resolution.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sees {
    Raw,
    #[default]
    Resolved,
}

/// One place where the field's value is read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Read {
    pub path: String,
    pub line: u32,
    pub column: u32,
    /// `Class.method` or `function`.
    pub function: String,
    pub code: String,
    /// The conditions in this function under which the read is reached, outermost first.
    pub guard: Vec<String>,
    pub sees: Sees,
    pub grade: Grade,
}

/// One place where the field is rewritten after parsing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Write {
    pub path: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    pub code: String,
    pub guard: Vec<String>,
    /// The value written, as source text.
    pub to: String,
    /// The condition, as text; `null` if it always happens.
    pub when: Option<String>,
    pub grade: Grade,
}

/// The way of the value through the program.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    pub nodes: Vec<FlowNode>,
    pub edges: Vec<FlowEdge>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FlowNode {
    pub id: u32,
    pub path: String,
    pub line: u32,
    pub function: String,
    pub code: String,
    /// `read`, `write`, `pass`, `store`, `compute`, `compare`, `return`, `call`, `carrier` (how the record got to the read),
    /// `gate` (a condition of another field), `sink`.
    pub role: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FlowEdge {
    pub from: u32,
    pub to: u32,
    /// `local`, `argument`, `return`, `attribute`, `global`, `key`, `spawn`, `select`, `gate`.
    pub kind: String,
    /// What happens to the value on the way (`* 1e9`, `// size_per_token`, `int()`), if anything.
    pub transform: Option<String>,
    pub grade: Grade,
}

/// What one unit of the value is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// `null` if unknown.
    #[schemars(schema_with = "unit_schema")]
    pub name: Option<String>,
    /// Bytes per unit, for sizes.
    pub bytes: Option<u64>,
    pub grade: Grade,
    pub evidence: Vec<Place>,
}

/// Who holds the value, how often, and what it is shared out over.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    pub processes: Vec<String>,
    /// Rank axes along which separate processes each hold the whole value.
    pub per: Vec<String>,
    pub divided_by: Vec<String>,
    pub divided_when: Vec<DividedWhen>,
    /// How many processes hold it, as an expression over fields (`pp_size * tp_size`).
    pub count: Option<String>,
    /// The total over them, as a formula with its unit (`hicache_size * dp_size * pp_size * tp_size GB`).
    pub total: Option<String>,
    /// How many pools in one process take the whole value; `null` where that is not a question.
    pub pools: Option<u32>,
    pub grade: Grade,
    pub evidence: Vec<Place>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DividedWhen {
    pub by: String,
    /// `null` if always.
    pub condition: Option<String>,
    pub fields: Vec<String>,
    pub path: String,
    pub line: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sink {
    #[schemars(extend("enum" = SINK_KINDS))]
    pub kind: String,
    pub path: String,
    pub line: u32,
    pub code: String,
    pub grade: Grade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Precedence {
    /// `overrides`, `overridden_by`, `default_from`, `implies` or `disables`.
    pub relation: String,
    pub other: String,
    /// `field`, `env`, `model`, `request` or `runtime-api`.
    pub other_kind: String,
    pub when: Option<String>,
    pub path: String,
    pub line: u32,
    pub grade: Grade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActiveWhen {
    /// The fields in the condition.
    pub field: Vec<String>,
    pub condition: String,
    /// Entries with the same letter are alternatives.
    pub any_of: Option<String>,
    pub path: String,
    pub line: u32,
    pub grade: Grade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Constraint {
    /// `assert`, `raise`, `choices`, `clamp` or `warn`.
    pub kind: String,
    pub condition: String,
    pub message: Option<String>,
    pub path: String,
    pub line: u32,
    pub grade: Grade,
}

/// Something that a reader of `--help` alone would get wrong.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub code: String,
    /// `warning` or `note`.
    pub level: String,
    pub message: String,
    pub path: String,
    pub line: u32,
}

/// What could not be followed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub unresolved: Vec<Unresolved>,
    /// Hops that were followed.
    pub hops: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unresolved {
    pub path: String,
    pub line: u32,
    pub code: String,
    pub why: String,
}

/// A word of [`UNITS`], or `null`.
fn unit_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let words = UNITS.iter().map(|unit| Some(*unit)).chain([None]);
    schemars::json_schema!({ "type": ["string", "null"], "enum": words.collect::<Vec<_>>() })
}
