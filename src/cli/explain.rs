//! `argtrace explain CODE`: what a code means, why it matters, and how to allow it.

use clap::Args;

use super::Options;
use super::console::{Console, USUAL_WIDTH};
use super::exit::{Exit, UsageError};
use super::output::Format;
use super::suggest::{did_you_mean, nearest};
use crate::compare::codes::CODES as CHANGES;
use crate::docs::codes::CODES as DRIFT;
use crate::launch::findings::table::CODES as LAUNCH;
use crate::meaning::findings::table::CODES as FINDINGS;
use crate::render::explain::{Explanation, listed, told};

/// Say what a code means, why it matters, and how to allow it
#[derive(Args, Debug)]
pub struct ExplainCommand {
    /// A code, such as `default-changed`
    #[arg(value_name = "CODE", required_unless_present = "list")]
    pub code: Option<String>,

    /// All codes, a line each
    #[arg(long, conflicts_with = "code")]
    pub list: bool,
}

impl ExplainCommand {
    /// # Errors
    /// If there is no such code, or the output cannot be written.
    pub fn run(&self, options: &Options, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let all = explanations();
        let Some(code) = &self.code else {
            options
                .output
                .deliver(console, &[(Format::Text, &|width| Ok(listed(&all, width.unwrap_or(USUAL_WIDTH))))])?;
            return Ok(Exit::Clean);
        };
        let meant: Vec<&Explanation> = all.iter().filter(|e| e.code == code).collect();
        if meant.is_empty() {
            let near = nearest(code, all.iter().map(|e| (e.code, e.code)));
            let hint = did_you_mean(&near).unwrap_or_else(|| String::from("argtrace explain --list shows all codes"));
            return Err(UsageError::new(format!("there is no code `{code}`"), hint).into());
        }
        options.output.deliver(console, &[(Format::Text, &|width| Ok(told(&meant, width.unwrap_or(USUAL_WIDTH))))])?;
        Ok(Exit::Clean)
    }
}

/// Every code that a document can hold.
pub fn explanations() -> Vec<Explanation> {
    let changes = CHANGES.iter().map(|entry| Explanation {
        code: entry.name,
        of: "change",
        level: entry.level.as_str(),
        title: entry.title,
        text: entry.why,
        example: entry.example,
        allow: Some(entry.allowance()),
    });
    let findings = FINDINGS.iter().map(|code| Explanation {
        code: code.code,
        of: "finding",
        level: code.level,
        title: code.title,
        text: code.explanation,
        example: code.example,
        allow: None,
    });
    let launch = LAUNCH.iter().map(|code| Explanation {
        code: code.code,
        of: "launch",
        level: code.level.as_str(),
        title: code.title,
        text: code.explanation,
        example: code.example,
        allow: None,
    });
    let drift = DRIFT.iter().map(|code| Explanation {
        code: code.code,
        of: "docs",
        level: code.level.as_str(),
        title: code.title,
        text: code.explanation,
        example: code.example,
        allow: None,
    });
    changes.chain(findings).chain(launch).chain(drift).collect()
}
