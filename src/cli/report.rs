//! `argtrace FIELD... [SOURCE]`: what fields mean. The command that is meant where none is named.

use clap::Args;

use super::Options;
use super::console::Console;
use super::exit::{Exit, UsageError};
use super::output::Format;
use super::selection::Selection;
use super::session::Backend;
use crate::render::json::json;
use crate::render::markdown::markdown;
use crate::render::text::{Layout, text};

/// Say what fields mean (the default command)
#[derive(Args, Debug)]
#[command(override_usage = "argtrace [report] [OPTIONS] FIELD... [SOURCE]")]
pub struct ReportCommand {
    /// Field names, flags, aliases or globs; the last one that looks like a source is the SOURCE: a checkout, a
    /// package folder, a wheel or sdist, REPO@REV, or sglang==VERSION [default: the SGLang of this folder, else of the
    /// active Python environment]
    #[arg(value_name = "FIELD", required = true, num_args = 1..)]
    pub operands: Vec<String>,
}

const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Markdown];

impl ReportCommand {
    /// # Errors
    /// If the source cannot be read, a field is unknown, or the output cannot be written.
    pub fn run(&self, options: &Options, backend: &dyn Backend, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let (patterns, source) = split(&self.operands, backend)?;
        let shown = source.map_or_else(|| "looking for SGLang".to_owned(), |source| format!("reading {source}"));
        let session = console.while_showing(&shown, |say| backend.open(source, say))?;
        if source.is_none() {
            console.remark(&format!("reading {}", session.source()));
        }
        let selection = Selection::new(session.field_names(), session.aliases());
        let fields = selection.fields(&patterns, &session.source())?;
        let report = console.while_showing("following the flow", |_| session.report(&fields));
        console.remarks(&session.notes());

        options.output.deliver(console, FORMATS, |format, width| {
            Ok(match format {
                Format::Text => text(&report, Layout { width, all: options.verbose }),
                Format::Json => json(&report)?,
                Format::Markdown => markdown(&report, options.verbose),
            })
        })?;
        Ok(Exit::Clean)
    }
}

/// The operands that are fields, and the one that is the source.
fn split<'a>(operands: &'a [String], backend: &dyn Backend) -> anyhow::Result<(Vec<&'a str>, Option<&'a str>)> {
    let at = operands.iter().rposition(|operand| !operand.starts_with('-') && backend.looks_like_source(operand));
    let others = operands.iter().enumerate().filter(|(i, _)| Some(*i) != at);
    let patterns: Vec<&str> = others.map(|(_, operand)| operand.as_str()).collect();
    let source = at.map(|at| operands[at].as_str());
    if let (true, Some(source)) = (patterns.is_empty(), source) {
        let what = format!("no field is named, only the source {source}");
        return Err(UsageError::new(what, format!("name one, or all of them: argtrace '*' {source}")).into());
    }
    Ok((patterns, source))
}
