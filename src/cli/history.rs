//! `argtrace history FIELD SOURCE...`: when the meaning of one argument changed.

use clap::Args;

use super::Options;
use super::compared::{self, Comparing};
use super::console::{Console, USUAL_WIDTH};
use super::exit::{Exit, UsageError};
use super::output::Format;
use super::selection::Selection;
use crate::compare::history::History;
use crate::compare::snapshot::Snapshot;
use crate::render::diff::history::{markdown, text};
use crate::render::json::json;
use crate::render::text::Layout;

/// Say when the meaning of an argument changed, release by release
#[derive(Args, Debug)]
#[command(override_usage = "argtrace history [OPTIONS] FIELD SOURCE...\n       argtrace history [OPTIONS] FIELD --releases 0.5.3..0.5.12")]
pub struct HistoryCommand {
    /// One field, by name or flag
    #[arg(value_name = "FIELD")]
    pub field: String,

    /// The sources in order, the oldest first: what SOURCE is for a report, or snapshot files
    #[arg(value_name = "SOURCE", required_unless_present = "releases")]
    pub sources: Vec<String>,

    /// All releases between two, both included; one end may be left out
    #[arg(long, value_name = "FROM..TO", conflicts_with = "sources")]
    pub releases: Option<String>,
}

impl HistoryCommand {
    /// # Errors
    /// If a source cannot be read, no release knows the field, or the output cannot be written.
    pub fn run(&self, options: &Options, comparing: &dyn Comparing, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let sources = self.sources(comparing, console)?;
        let mut history: Option<History> = None;
        let mut before: Option<(Snapshot, Snapshot)> = None;
        let mut unknown = None;
        for source in &sources {
            let side = compared::open(comparing, Some(source), console)?;
            let declared = side.declared().clone();
            if history.is_none() {
                match meant(&declared, &self.field, &side.source()) {
                    Ok(field) => history = Some(History::of(&field)),
                    // A field that came later.
                    Err(error) => unknown = Some(error),
                }
            }
            let names = history.as_mut().map(|h| h.names_in(before.as_ref().map(|(d, _)| d), &declared)).unwrap_or_default();
            let snapshot = compared::snapshot(&*side, Some(&names), console);
            match &mut history {
                Some(history) => history.add(before.as_ref().map(|(_, s)| s), &snapshot),
                None => {}
            }
            before = Some((declared, snapshot));
        }
        let history = match (history, unknown) {
            (Some(history), _) => history,
            (None, Some(error)) => return Err(error.into()),
            (None, None) => return Err(UsageError::new("no source is named", "name at least two").into()),
        };
        let layout = |width: Option<usize>| Layout { width: width.unwrap_or(USUAL_WIDTH), all: options.verbose };
        options.output.deliver(
            console,
            &[
                (Format::Text, &|width| Ok(text(&history, layout(width)))),
                (Format::Json, &|_| Ok(json(&history)?)),
                (Format::Markdown, &|_| Ok(markdown(&history))),
            ],
        )?;
        Ok(Exit::Clean)
    }

    fn sources(&self, comparing: &dyn Comparing, console: &Console<'_>) -> anyhow::Result<Vec<String>> {
        let Some(range) = &self.releases else { return Ok(self.sources.clone()) };
        let (from, to) = range.split_once("..").ok_or_else(|| {
            UsageError::new(format!("`{range}` is no range of releases"), "write FROM..TO, as in 0.5.3..0.5.12")
        })?;
        console.while_showing("asking for the releases", |say| comparing.releases(from, to, say))
    }
}

/// The one field that a name or a flag means.
fn meant(declared: &Snapshot, pattern: &str, source: &str) -> Result<String, UsageError> {
    let names = declared.fields.iter().map(|m| m.field.clone()).collect();
    let flags = declared.fields.iter().flat_map(|m| m.flags.iter().map(|f| (f.clone(), m.field.clone()))).collect();
    let mut found = Selection::new(names, flags).fields(pattern, source)?;
    match (found.pop(), found.is_empty()) {
        (Some(field), true) => Ok(field),
        _ => Err(UsageError::new(format!("`{pattern}` means several fields"), "a history is of one")),
    }
}
