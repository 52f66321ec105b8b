//! How changes are judged: what the configuration says of levels and allowances, and which level makes a run fail.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::config::Config;
use super::exit::Exit;
use crate::compare::change::{Diff, Level};

#[derive(Args, Clone, Debug, Default)]
pub struct JudgingOptions {
    /// The lowest level of a change that makes the exit code 1
    #[arg(long, value_name = "LEVEL", default_value = "behaviour")]
    pub fail_on: FailOn,

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
    /// The changes with their levels as configured, those that are allowed left out.
    ///
    /// # Errors
    /// If the configuration cannot be read.
    pub fn judged(&self, diff: Diff) -> anyhow::Result<Diff> {
        Ok(Config::load(self.config.as_deref())?.judged(diff))
    }

    pub fn exit(&self, diff: &Diff) -> Exit {
        let fails = |level: Level| diff.changes.iter().any(|change| change.level >= level);
        if self.fail_on.level().is_some_and(fails) { Exit::Findings } else { Exit::Clean }
    }
}
