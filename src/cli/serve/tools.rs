//! What can be asked of a server: each tool is the arguments of a command, typed and described.

use std::sync::Arc;

use rmcp::handler::server::common::schema_for_type;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{self, Answer};
use super::sources::Call;
use crate::cli::audit::{AuditCommand, FailOn};
use crate::cli::budget::BudgetCommand;
use crate::cli::console::Console;
use crate::cli::diff::DiffCommand;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::fields::FieldsCommand;
use crate::cli::filter::FilterOptions;
use crate::cli::judging::JudgingOptions;
use crate::cli::launching::Assignment;
use crate::cli::output::{Format, OutputOptions};
use crate::cli::report::ReportCommand;
use crate::cli::suggest::{did_you_mean, nearest};
use crate::cli::{ColorWhen, Options};

/// Bytes of the arguments of one call, as JSON.
const MAX_ARGUMENTS: usize = 64 << 10;

/// Something that can be asked.
trait Question: DeserializeOwned + JsonSchema + 'static {
    const NAME: &str;
    const ABOUT: &str;
    /// How to ask for less.
    const NARROWER: &str;
    /// The format of the answer.
    fn format(&self) -> Format;
    /// Is everything to be shown?
    fn full(&self) -> bool {
        false
    }
    fn ask(self, options: &Options, call: &Call, console: &mut Console<'_>) -> anyhow::Result<Exit>;
}

pub struct Tool {
    pub name: &'static str,
    pub about: &'static str,
    pub arguments: fn() -> Arc<JsonObject>,
    pub ask: fn(JsonObject, &Call) -> anyhow::Result<Answer>,
}

pub const ALL: &[Tool] = &[tool::<Report>(), tool::<Fields>(), tool::<Diff>(), tool::<Audit>(), tool::<Budget>()];

const fn tool<Q: Question>() -> Tool {
    Tool { name: Q::NAME, about: Q::ABOUT, arguments: schema_for_type::<Q>, ask: ask::<Q> }
}

fn ask<Q: Question>(arguments: JsonObject, call: &Call) -> anyhow::Result<Answer> {
    let question: Q = read(arguments)?;
    let output = OutputOptions { format: Some(question.format()), outputs: Vec::new() };
    let options = Options { output, color: ColorWhen::Never, verbose: question.full(), ..Options::default() };
    answer::of_command(&options, Q::NARROWER, |console| question.ask(&options, call, console))
}

fn read<Q: Question>(arguments: JsonObject) -> Result<Q, UsageError> {
    let size = serde_json::to_string(&arguments).map_or(0, |text| text.len());
    if size > MAX_ARGUMENTS {
        let hint = format!("at most {MAX_ARGUMENTS} are taken");
        return Err(UsageError::new(format!("the arguments of {} have {size} bytes", Q::NAME), hint));
    }
    let schema = schema_for_type::<Q>();
    let known: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    if let Some(unknown) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
        let near = nearest(unknown, known.iter().map(|name| (*name, *name)));
        let hint = did_you_mean(&near).unwrap_or_else(|| format!("there are: {}", known.join(", ")));
        return Err(UsageError::new(format!("{} has no argument `{unknown}`", Q::NAME), hint));
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let hint = format!("the schema of {} says what each argument is", Q::NAME);
        UsageError::new(format!("the arguments of {} do not fit: {error}", Q::NAME), hint)
    })
}

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "report")]
struct Report {
    /// Field names, flags (`--tp`) or globs (`hicache_*`).
    fields: Vec<String>,
    /// One of the server's sources; the first if left out.
    source: Option<String>,
    /// Everything with all its evidence, instead of the claims with the best evidence for each.
    #[serde(default)]
    full: bool,
}

impl Question for Report {
    const NAME: &str = "report";
    const ABOUT: &str = "What server arguments really mean, each claim with the line of source that proves it: unit, \
        which process holds it, what rewrites it, when it is active, constraints, where it ends.";
    const NARROWER: &str = "name fewer fields, or leave `full` out";

    fn format(&self) -> Format {
        Format::Json
    }

    fn full(&self) -> bool {
        self.full
    }

    fn ask(mut self, options: &Options, call: &Call, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        if self.fields.is_empty() {
            return Err(UsageError::new("no field is named", "the tool `fields` lists all").into());
        }
        self.fields.push(call.sources.name(self.source.as_deref())?);
        ReportCommand { operands: self.fields, brief: !self.full }.run(options, call, console)
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "fields")]
struct Fields {
    /// Only these, by name, flag or glob; all if left out.
    #[serde(default)]
    fields: Vec<String>,
    /// Only those declared under one of these headings, or one that a glob matches.
    #[serde(default)]
    section: Vec<String>,
    /// Only those that end in one of these kinds of sink, such as `host-memory` or `timeout`.
    #[serde(default)]
    sink: Vec<String>,
    /// Only those in one of these units, such as `GB`, `tokens` or `unknown`.
    #[serde(default)]
    unit: Vec<String>,
    /// Only those that nothing reads.
    #[serde(default)]
    dead: bool,
    /// Only those of which each rank holds the whole value.
    #[serde(default)]
    per_rank: bool,
    /// One of the server's sources; the first if left out.
    source: Option<String>,
    /// A JSON document with everything, instead of one line of CSV a field.
    #[serde(default)]
    full: bool,
}

impl Question for Fields {
    const NAME: &str = "fields";
    const ABOUT: &str = "The server arguments, a line each: flag, default, unit, which process holds it, where it ends. \
        Filters narrow each other.";
    const NARROWER: &str = "give `fields` or a filter, or leave `full` out";

    fn format(&self) -> Format {
        if self.full { Format::Json } else { Format::Csv }
    }

    fn full(&self) -> bool {
        self.full
    }

    fn ask(mut self, options: &Options, call: &Call, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        self.fields.push(call.sources.name(self.source.as_deref())?);
        let Fields { section, sink, unit, dead, per_rank, .. } = self;
        let filter = FilterOptions { section, dead, sink, per_rank, unit };
        FieldsCommand { operands: self.fields, filter }.run(options, call, console)
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "diff")]
struct Diff {
    /// The source to compare with, one of the server's.
    old: String,
    /// The source that is compared, one of the server's.
    new: String,
    /// Only changes that are about these, by name, flag or glob; all if left out.
    #[serde(default)]
    fields: Vec<String>,
    /// A JSON document with everything, instead of the text that people read.
    #[serde(default)]
    full: bool,
}

impl Question for Diff {
    const NAME: &str = "diff";
    const ABOUT: &str = "What changed in the meaning of server arguments between two sources: renamed, removed, another \
        default, unit, rewrite, constraint, each with its level.";
    const NARROWER: &str = "name fields, or leave `full` out";

    fn format(&self) -> Format {
        if self.full { Format::Json } else { Format::Text }
    }

    fn full(&self) -> bool {
        self.full
    }

    fn ask(self, options: &Options, call: &Call, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let Diff { old, new, fields, .. } = self;
        DiffCommand { old, new, fields, judging: JudgingOptions::default() }.run(options, call, console)
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "audit")]
struct Audit {
    /// The launch command as it is typed in a shell, or its flags alone.
    command: String,
    /// Server arguments in addition to the command's, each as `FIELD=VALUE`.
    #[serde(default)]
    set: Vec<String>,
    /// What is known of the machine or the model, each as `NAME=VALUE`, such as `host_memory=449GB`.
    #[serde(default)]
    fact: Vec<String>,
    /// One of the server's sources: the release that the command is for; the first if left out.
    source: Option<String>,
    /// A JSON document with everything, instead of the text that people read.
    #[serde(default)]
    full: bool,
}

impl Question for Audit {
    const NAME: &str = "audit";
    const ABOUT: &str = "What a launch command of the server means, and what is wrong with it. No file that it names is \
        read.";
    const NARROWER: &str = "leave `full` out";

    fn format(&self) -> Format {
        if self.full { Format::Json } else { Format::Text }
    }

    fn full(&self) -> bool {
        self.full
    }

    fn ask(self, options: &Options, call: &Call, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let command = AuditCommand {
            source: Some(call.sources.name(self.source.as_deref())?),
            command: vec![self.command],
            file: None,
            sets: assignments("set", &self.set)?,
            facts: assignments("fact", &self.fact)?,
            fail_on: FailOn::Never,
        };
        command.run(options, call, console)
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(title = "budget")]
struct Budget {
    /// A field that ends in memory, by name or flag.
    field: String,
    /// The memory of one machine with its unit, such as `449GB` or `512GiB`.
    host_memory: String,
    /// What the rest of the machine needs, with its unit.
    reserve: Option<String>,
    /// What is to stay free, with its unit.
    margin: Option<String>,
    /// A value to check, in the field's own unit or with one.
    value: Option<String>,
    /// Server arguments of the launch, each as `FIELD=VALUE`, such as `tp_size=8`.
    #[serde(default)]
    set: Vec<String>,
    /// One of the server's sources; the first if left out.
    source: Option<String>,
}

impl Question for Budget {
    const NAME: &str = "budget";
    const ABOUT: &str = "The largest value of a memory argument that a machine can bear, or what a value costs, with the \
        sum written out.";
    const NARROWER: &str = "ask about one field";

    fn format(&self) -> Format {
        Format::Json
    }

    fn ask(self, options: &Options, call: &Call, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let source = call.sources.name(self.source.as_deref())?;
        let none = || String::from("0GB");
        let command = BudgetCommand {
            operands: [self.field, source].into_iter().chain(self.value).collect(),
            host_memory: self.host_memory,
            reserve: self.reserve.unwrap_or_else(none),
            margin: self.margin.unwrap_or_else(none),
            sets: assignments("set", &self.set)?,
        };
        command.run(options, call, console)
    }
}

fn assignments(of: &str, texts: &[String]) -> Result<Vec<Assignment>, UsageError> {
    let parsed = |text: &String| {
        text.parse().map_err(|how: String| UsageError::new(format!("`{text}` in `{of}` sets nothing"), how))
    };
    texts.iter().map(parsed).collect()
}
