//! `argtrace snapshot [SOURCE]`: the meanings as a file, to compare with later.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Options;
use super::compared::{self, Comparing, FromFile};
use super::console::Console;
use super::exit::{Exit, UsageError};
use super::output::{Format, write_whole};
use crate::compare;
use crate::render::json::json;

/// The usual name of a baseline.
pub const BASELINE: &str = "argtrace.lock.json";

/// Write the meanings of all arguments as a small file that `check` and `diff` compare with
#[derive(Args, Debug)]
#[command(override_usage = "argtrace snapshot [OPTIONS] [SOURCE]")]
pub struct SnapshotCommand {
    /// What SOURCE is for a report [default: the SGLang of this folder, else of the active Python environment]
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// Accept what changed: write the baseline again
    #[arg(long)]
    pub update: bool,

    /// The baseline to write again
    #[arg(long, value_name = "FILE", default_value = BASELINE, requires = "update")]
    pub baseline: PathBuf,
}

impl SnapshotCommand {
    /// # Errors
    /// If the source cannot be read, or the file cannot be written.
    pub fn run(&self, options: &Options, comparing: &dyn Comparing, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let side = compared::open(comparing, self.source.as_deref(), console)?;
        let snapshot = compared::snapshot(&*side, None, console);
        if !self.update {
            options.output.deliver(console, &[(Format::Json, &|_| Ok(json(&snapshot)?))])?;
            return Ok(Exit::Clean);
        }
        let before = known(&self.baseline)?;
        let changes = compare::diff(&before, &snapshot, None).changes.len();
        write_whole(&self.baseline, &json(&snapshot)?)?;
        console.remark(&format!("accepted {changes} changes in {}", self.baseline.display()));
        Ok(Exit::Clean)
    }
}

/// The baseline that is written again.
fn known(file: &Path) -> anyhow::Result<compare::snapshot::Snapshot> {
    if !file.is_file() {
        let hint = format!("make it first: argtrace snapshot SOURCE -o {}", file.display());
        return Err(UsageError::new(format!("there is no baseline {}", file.display()), hint).into());
    }
    Ok(FromFile::open(&file.display().to_string())?.into_snapshot())
}
