//! How changes are judged: what the configuration says of levels and allowances, and which level makes a run fail.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::config::Config;
use super::exit::Exit;
use crate::compare::change::{Diff, Level};
use crate::compare::snapshot::Snapshot;
use crate::compare::usage::Usage;

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
            let text = |file: &PathBuf| std::fs::read(file).with_context(|| format!("reading the launch file {}", file.display()));
            let texts = self.launch.iter().map(|file| Ok(String::from_utf8_lossy(&text(file)?).into_owned()));
            let texts = texts.collect::<anyhow::Result<Vec<String>>>()?;
            let usage = Usage::of(&texts, [old, new], self.defaults);
            diff.changes.retain(|change| usage.keeps(change));
        }
        Ok(Config::load(self.config.as_deref())?.judged(diff))
    }

    pub fn exit(&self, diff: &Diff) -> Exit {
        let fails = |level: Level| diff.changes.iter().any(|change| change.level >= level);
        if self.fail_on.level().is_some_and(fails) { Exit::Findings } else { Exit::Clean }
    }
}
