//! `argtrace check [SOURCE]`: what changed since the baseline.

use std::path::PathBuf;

use clap::Args;

use super::Options;
use super::compared::{self, Comparable, Comparing, FromFile};
use super::console::Console;
use super::diff;
use super::exit::{Exit, UsageError};
use super::judging::JudgingOptions;
use super::snapshot::BASELINE;

/// Compare a source with the baseline that `snapshot` wrote
#[derive(Args, Debug)]
#[command(override_usage = "argtrace check [OPTIONS] [SOURCE]")]
pub struct CheckCommand {
    /// What SOURCE is for a report [default: the SGLang of this folder, else of the active Python environment]
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// The baseline
    #[arg(long, value_name = "FILE", default_value = BASELINE)]
    pub baseline: PathBuf,

    #[command(flatten)]
    pub judging: JudgingOptions,
}

impl CheckCommand {
    /// # Errors
    /// If the baseline, the source or the configuration cannot be read, or the output cannot be written.
    pub fn run(&self, options: &Options, comparing: &dyn Comparing, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let baseline = self.baseline.display().to_string();
        if !self.baseline.is_file() {
            let hint = format!("make it first: argtrace snapshot SOURCE -o {baseline}");
            return Err(UsageError::new(format!("there is no baseline {baseline}"), hint).into());
        }
        let old = FromFile::open(&baseline)?;
        let new = compared::open(comparing, self.source.as_deref(), console)?;
        let diff = diff::between(&old, &*new, &[], console)?;
        let diff = self.judging.judged(diff, old.declared(), new.declared())?;
        diff::deliver(&diff, options, console)?;
        Ok(self.judging.exit(&diff))
    }
}
