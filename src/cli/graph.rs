//! `argtrace graph FIELD [SOURCE]`: a field's flow as a picture.

use clap::Args;

use super::Options;
use super::console::Console;
use super::exit::{Exit, UsageError};
use super::operands::Operands;
use super::output::Format;
use super::session::Backend;
use crate::render::graph::{Detail, dot, mermaid, picture, svg};

const EXAMPLES: &str = "\
Examples:
  argtrace graph hicache_size ~/sglang -o flow.svg
  argtrace graph hicache_size sglang==0.5.9 --depth 3 --format mermaid    for a ticket
  argtrace graph hicache_size ~/sglang --full --format dot | dot -Tpdf > flow.pdf";

/// Draw a field's flow: the functions that handle its value, from the flag to where it ends
#[derive(Args, Debug, Default)]
#[command(override_usage = "argtrace graph [OPTIONS] FIELD [SOURCE]", after_help = EXAMPLES)]
pub struct GraphCommand {
    /// One field, by name or flag, and the SOURCE, as for a report
    #[arg(value_name = "FIELD", required = true, num_args = 1..)]
    pub operands: Vec<String>,

    /// Only what is so many functions away from the flag
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub depth: Option<u16>,

    /// Every place by itself, and nothing left out
    #[arg(long)]
    pub full: bool,
}

impl GraphCommand {
    /// # Errors
    /// If the source cannot be read, not exactly one field is named, or the output cannot be written.
    pub fn run(&self, options: &Options, backend: &dyn Backend, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let asked = Operands::of(&self.operands, backend)?.open(backend, console)?;
        if asked.fields.len() != 1 {
            let what = format!("a picture is of one field, and {} are named", asked.fields.len());
            return Err(UsageError::new(what, format!("such as {}", asked.fields.first().map_or("", |f| f))).into());
        }
        let (session, fields) = (asked.session, asked.fields);
        let report = console.while_counting("following field", fields.len(), |begin| session.report(&fields, begin));
        console.remarks(&session.notes());
        let detail = Detail { full: self.full, depth: self.depth.map(usize::from) };
        let Some(picture) = report.fields.first().map(|field| picture(field, detail)) else {
            return Err(UsageError::new("the source says nothing of the field", "see argtrace fields").into());
        };
        options.output.deliver(
            console,
            &[
                (Format::Svg, &|_| Ok(svg(&picture))),
                (Format::Dot, &|_| Ok(dot(&picture))),
                (Format::Mermaid, &|_| Ok(mermaid(&picture))),
            ],
        )?;
        Ok(Exit::Clean)
    }
}
