//! `argtrace FIELD... [SOURCE]`: what fields mean. The command that is meant where none is named.

use clap::Args;

use super::Options;
use super::console::{Console, USUAL_WIDTH};
use super::exit::{Exit, UsageError};
use super::operands::Operands;
use super::output::Format;
use super::session::Backend;
use crate::render::brief::brief;
use crate::render::json::{compact, json};
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

    /// With --format json: under 2 kB a field, the claims as sentences, each with its best evidence
    #[arg(long)]
    pub brief: bool,
}

impl ReportCommand {
    /// # Errors
    /// If the source cannot be read, a field is unknown, or the output cannot be written.
    pub fn run(&self, options: &Options, backend: &dyn Backend, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let asked = Operands::of(&self.operands, backend)?.open(backend, console)?;
        let (session, fields) = (asked.session, asked.fields);
        let report = console.while_counting("following field", fields.len(), |begin| session.report(&fields, begin));
        console.remarks(&session.notes());

        if self.brief && !options.output.writes_only(Format::Json) {
            return Err(UsageError::new("--brief is a form of JSON", "add --format json").into());
        }
        let all = options.verbose;
        let layout = |width: Option<usize>| Layout { width: width.unwrap_or(USUAL_WIDTH), all };
        options.output.deliver(
            console,
            &[
                (Format::Text, &|width| Ok(text(&report, layout(width)))),
                (Format::Json, &|_| Ok(if self.brief { compact(&brief(&report))? } else { json(&report)? })),
                (Format::Markdown, &|_| Ok(markdown(&report, all))),
            ],
        )?;
        Ok(Exit::Clean)
    }
}
