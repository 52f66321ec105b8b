//! What the process ends with, and how an error is told.
//!
//! Errors go to stderr in one form. Nothing here ends the process.

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;

use super::console::Console;

/// The three exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing was found, or nothing was looked for.
    Clean = 0,
    /// Findings at or over the level that was asked for.
    Findings = 1,
    /// Bad usage, unreadable input, or a bug.
    Unusable = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// A request that cannot be met as it stands, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct UsageError {
    what: String,
    hint: String,
}

impl UsageError {
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }

    /// With more of a hint.
    pub fn hinting(self, more: &str) -> Self {
        Self { hint: format!("{}; {more}", self.hint), ..self }
    }
}

/// Tells an error, if there is one. A reader that closed the pipe has what it wanted.
pub fn told(result: anyhow::Result<Exit>, console: &mut Console<'_>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => Exit::Clean,
        Err(error) => {
            let hint = error.downcast_ref::<UsageError>().map(|usage| usage.hint.as_str());
            console.error(&format!("{error:#}"), hint);
            Exit::Unusable
        }
    }
}

/// An error and what to do next, for a reader that is no terminal.
pub fn in_full(error: &anyhow::Error) -> String {
    match error.downcast_ref::<UsageError>() {
        Some(usage) => format!("{error:#}; {}", usage.hint),
        None => format!("{error:#}"),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// clap's answer to a command line that it did not take: help and version are answers, all else is bad usage.
pub fn refused(refusal: &clap::Error) -> Exit {
    // If nobody reads the answer there is nobody to tell.
    let _ = refusal.print();
    match refusal.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Clean,
        _ => Exit::Unusable,
    }
}
