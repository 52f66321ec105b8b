//! `argtrace audit [SOURCE] -- COMMAND...`: what a launch command means, and what is wrong with it.

use std::io;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::Options;
use super::console::{Console, USUAL_WIDTH};
use super::exit::{Exit, UsageError};
use super::launching::{self, Assignment};
use super::output::Format;
use super::session::{Launching, Opened, Session};
use super::suggest::{did_you_mean, nearest};
use crate::launch::audit::{self, Question};
use crate::launch::document::{Audit, Level};
use crate::launch::files::{self, Command};
use crate::render::audit::{github, markdown, sarif, text};
use crate::render::json::json;
use crate::render::text::Layout;

/// Say what a launch command means, and what is wrong with it
#[derive(Args, Debug)]
#[command(
    override_usage = "argtrace audit [OPTIONS] [SOURCE] -- COMMAND...\n       argtrace audit [OPTIONS] [SOURCE] --file FILE"
)]
pub struct AuditCommand {
    /// What SOURCE is for a report: the release that the command is for
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// The command as it is typed, or its flags alone
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,

    /// A shell script, Dockerfile, compose file, Kubernetes manifest or the server's own configuration; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub file: Option<String>,

    /// A server argument in addition to the command's; may be repeated
    #[arg(long = "set", value_name = "FIELD=VALUE", action = clap::ArgAction::Append)]
    pub sets: Vec<Assignment>,

    /// Something known of the machine or the model, such as host_memory=449GB; may be repeated
    #[arg(long = "fact", value_name = "NAME=VALUE", action = clap::ArgAction::Append)]
    pub facts: Vec<Assignment>,

    /// The lowest level of a finding that makes the exit code 1
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    pub fail_on: FailOn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    #[default]
    Warning,
    Note,
    Never,
}

impl FailOn {
    pub fn fails(self, level: Level) -> bool {
        match self {
            FailOn::Error => level >= Level::Error,
            FailOn::Warning => level >= Level::Warning,
            FailOn::Note => true,
            FailOn::Never => false,
        }
    }
}

impl AuditCommand {
    /// # Errors
    /// If there is no server command, a file or the source cannot be read, a name is unknown, or the output cannot be
    /// written.
    pub fn run(&self, options: &Options, launching: &dyn Launching, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        if self.command.is_empty() && self.file.is_none() {
            let hint = "write it after `--`, or name a file with --file";
            return Err(UsageError::new("no launch command is given", hint).into());
        }
        let opened = launching::open(launching, self.source.as_deref(), console)?;
        self.known_facts(&opened)?;
        let commands = self.commands(launching, &opened, console)?;
        let sets = launching::sets(&opened, &self.sets)?;
        let read = |path: &str| launching.read(path).map_err(|error| format!("{error:#}"));
        let audit = self.audit(&opened, &commands, &sets, &read, options, console)?;
        console.remarks(&opened.notes());
        deliver(&audit, options, console)?;
        let fails = audit.launches.iter().flat_map(|l| &l.findings).any(|f| self.fail_on.fails(f.level));
        Ok(if fails { Exit::Findings } else { Exit::Clean })
    }

    fn audit(
        &self,
        opened: &Opened,
        commands: &[Command],
        sets: &[(String, String)],
        read: &dyn Fn(&str) -> Result<String, String>,
        options: &Options,
        console: &Console<'_>,
    ) -> anyhow::Result<Audit> {
        let analysis = opened.analysis().with_context(|| format!("reading {}", opened.source()))?;
        let facts = launching::pairs(&self.facts);
        let shown = "following what the command sets";
        Ok(console.while_showing(shown, |say| {
            let reports = |fields: &[String]| opened.bearing(fields, &|field| say(&format!("following {field}")));
            let question = Question { analysis, reports: &reports, read, facts: &facts, sets, all: options.verbose };
            audit::audit(&question, commands, self.file.as_deref())
        }))
    }

    fn known_facts(&self, opened: &Opened) -> Result<(), UsageError> {
        let known = opened.profile().launch.fact_names();
        let Some(unknown) = self.facts.iter().find(|fact| !known.contains(&fact.name.as_str())) else { return Ok(()) };
        let near = nearest(&unknown.name, known.iter().map(|name| (*name, *name)));
        let hint = did_you_mean(&near).unwrap_or_else(|| format!("facts are {}", known.join(", ")));
        Err(UsageError::new(format!("there is no fact `{}`", unknown.name), hint))
    }

    /// The server commands that are asked about.
    fn commands(
        &self,
        launching: &dyn Launching,
        opened: &Opened,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Vec<Command>> {
        let programs = &opened.profile().launch.programs;
        let shown = programs.first().map(|p| p.join(" ")).unwrap_or_default();
        let Some(file) = &self.file else {
            let command = files::of_arguments(&self.command, programs).ok_or_else(|| {
                let hint = format!("one that starts the server holds `{shown}`; its flags alone are taken too");
                UsageError::new("the words after `--` hold no server command", hint)
            })?;
            return Ok(vec![command]);
        };
        let source = match file.as_str() {
            "-" => launching::read(io::stdin().lock()),
            _ => launching.read(file),
        };
        let source = source.with_context(|| format!("reading {file}"))?;
        let found = files::commands(file, &source, programs);
        let notes = found.notes.iter().map(|(line, what)| format!("{file}:{line}: {what}"));
        console.remarks(&notes.collect::<Vec<_>>());
        if found.commands.is_empty() {
            let hint = format!("a command that starts the server holds `{shown}`");
            return Err(UsageError::new(format!("there is no server command in {file}"), hint).into());
        }
        Ok(found.commands)
    }
}

fn deliver(audit: &Audit, options: &Options, console: &mut Console<'_>) -> anyhow::Result<()> {
    let layout = |width: Option<usize>| Layout { width: width.unwrap_or(USUAL_WIDTH), all: options.verbose };
    options.output.deliver(
        console,
        &[
            (Format::Text, &|width| Ok(text(audit, layout(width)))),
            (Format::Json, &|_| Ok(json(audit)?)),
            (Format::Markdown, &|_| Ok(markdown(audit))),
            (Format::Sarif, &|_| Ok(json(&sarif(audit))?)),
            (Format::Github, &|_| Ok(github(audit))),
        ],
    )
}
