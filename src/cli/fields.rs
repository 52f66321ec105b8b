//! `argtrace fields [FIELD...] [SOURCE]`: every field in a line.

use clap::Args;

use super::Options;
use super::console::Console;
use super::exit::Exit;
use super::filter::FilterOptions;
use super::operands::Operands;
use super::output::Format;
use super::session::Backend;
use crate::render::fields::{csv, markdown, text};
use crate::render::json::json;

/// List all fields, a line each: what each is, who holds it, where it ends
#[derive(Args, Debug)]
#[command(override_usage = "argtrace fields [OPTIONS] [FIELD...] [SOURCE]")]
pub struct FieldsCommand {
    /// Only these fields, by name, flag or glob [default: all]; the last operand that looks like a source is the SOURCE,
    /// as for a report
    #[arg(value_name = "FIELD", num_args = 0..)]
    pub operands: Vec<String>,

    #[command(flatten)]
    pub filter: FilterOptions,
}

impl FieldsCommand {
    /// # Errors
    /// If the source cannot be read, a field or a value of a filter is unknown, or the output cannot be written.
    pub fn run(&self, options: &Options, backend: &dyn Backend, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let asked = Operands::of(&self.operands, backend)?.or_all().open(backend, console)?;
        let session = asked.session;
        let sections = session.sections();
        let mut headings: Vec<&str> = Vec::new();
        for heading in sections.iter().filter_map(|(_, section)| section.as_deref()) {
            if !headings.contains(&heading) {
                headings.push(heading);
            }
        }
        let filter = self.filter.among(&headings)?;
        let of_section = |field: &String| {
            let section = sections.iter().find(|(name, _)| name == field).and_then(|(_, section)| section.as_deref());
            filter.takes_section(section)
        };
        let fields: Vec<String> = asked.fields.into_iter().filter(of_section).collect();

        let mut list = console.while_counting("following field", fields.len(), |begin| session.list(&fields, begin));
        list.fields.retain(|entry| filter.takes(entry));
        console.remarks(&session.notes());
        options.output.deliver(
            console,
            &[
                (Format::Text, &|width| Ok(text(&list, sections.len(), width))),
                (Format::Json, &|_| Ok(json(&list)?)),
                (Format::Markdown, &|_| Ok(markdown(&list, sections.len()))),
                (Format::Csv, &|_| Ok(csv(&list))),
            ],
        )?;
        Ok(Exit::Clean)
    }
}
