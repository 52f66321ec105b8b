//! How changes are judged: what the configuration says of levels and allowances, and which level makes a run fail.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::config::Config;
use super::exit::{Exit, UsageError};
use super::launching::read_file;
use crate::compare::change::{Diff, Level};
use crate::compare::snapshot::Snapshot;
use crate::compare::usage::{Given, Usage};
use crate::launch::command::token::Token;
use crate::launch::{files, yaml};
use crate::program::profile::Profile;

#[derive(Args, Clone, Debug, Default)]
pub struct JudgingOptions {
    /// The lowest level of a change that makes the exit code 1
    #[arg(long, value_name = "LEVEL", default_value = "behaviour")]
    pub fail_on: FailOn,

    /// Only changes of what the launch commands in FILE use: a script, a Dockerfile, a manifest; may be repeated
    #[arg(long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub launch: Vec<PathBuf>,

    /// With --launch, also changes of what arguments do that are not given
    #[arg(long, requires = "launch")]
    pub defaults: bool,

    /// Levels and an allow-list [default: argtrace.toml of the current folder, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Breaking,
    #[default]
    Behaviour,
    Cosmetic,
    Never,
}

impl FailOn {
    fn level(self) -> Option<Level> {
        match self {
            FailOn::Breaking => Some(Level::Breaking),
            FailOn::Behaviour => Some(Level::Behaviour),
            FailOn::Cosmetic => Some(Level::Cosmetic),
            FailOn::Never => None,
        }
    }
}

impl JudgingOptions {
    /// The changes that matter to the launch, with their levels as configured, those that are allowed left out.
    ///
    /// # Errors
    /// If the configuration or a launch file cannot be read.
    pub fn judged(&self, mut diff: Diff, old: &Snapshot, new: &Snapshot) -> anyhow::Result<Diff> {
        if !self.launch.is_empty() {
            let profile = Profile::builtin().context("reading the built-in profile")?;
            let mut given = Vec::new();
            for file in &self.launch {
                given.extend(given_in(file, &profile.launch.programs)?);
            }
            let usage = Usage::of(&given, [old, new], self.defaults);
            diff.changes.retain(|change| usage.keeps(change));
        }
        Ok(Config::load(self.config.as_deref())?.judged(diff))
    }

    pub fn exit(&self, diff: &Diff) -> Exit {
        let fails = |level: Level| diff.changes.iter().any(|change| change.level >= level);
        if self.fail_on.level().is_some_and(fails) { Exit::Findings } else { Exit::Clean }
    }
}

/// What the server commands in a file give, or the server's own configuration in it.
fn given_in(file: &Path, programs: &[Vec<String>]) -> anyhow::Result<Vec<Given>> {
    let shown = file.display().to_string();
    let source = read_file(&shown).with_context(|| format!("reading the launch file {shown}"))?;
    let found = files::commands(&shown, &source, programs);
    if found.commands.is_empty() {
        let program = programs.first().map(|p| p.join(" ")).unwrap_or_default();
        let hint = format!("a command that starts the server holds `{program}`");
        return Err(UsageError::new(format!("there is no server command in {shown}"), hint).into());
    }
    let mut given = Vec::new();
    for command in &found.commands {
        if command.is_config {
            let documents = yaml::documents(&source).unwrap_or_default();
            let keys = documents.iter().flat_map(|d| d.entries()).filter_map(|(key, _)| key.text());
            given.extend(keys.map(|key| Given::Key(key.replace('-', "_"))));
        }
        let flags = command.argv.iter().filter(|word| word.text.starts_with("--"));
        let name = |word: &Token| word.text.split('=').next().unwrap_or_default().to_owned();
        given.extend(flags.map(name).filter(|flag| flag.len() > 2).map(Given::Flag));
    }
    Ok(given)
}
