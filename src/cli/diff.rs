//! `argtrace diff OLD NEW [FIELD...]`: what changed between two sources.

use clap::Args;

use super::Options;
use super::compared::{self, Comparable, Comparing};
use super::console::{Console, USUAL_WIDTH};
use super::exit::Exit;
use super::judging::JudgingOptions;
use super::output::Format;
use super::selection::Selection;
use crate::compare::change::Diff;
use crate::compare::snapshot::Snapshot;
use crate::compare::{self, renames};
use crate::render::diff::{github, markdown, sarif, text};
use crate::render::json::json;
use crate::render::text::Layout;

/// Say what changed in the meaning of arguments between two sources
#[derive(Args, Debug)]
#[command(override_usage = "argtrace diff [OPTIONS] OLD NEW [FIELD...]")]
pub struct DiffCommand {
    /// The source to compare with: what SOURCE is for a report, or a snapshot file
    #[arg(value_name = "OLD")]
    pub old: String,

    /// The source that is compared
    #[arg(value_name = "NEW")]
    pub new: String,

    /// Only changes that are about these fields, by name, flag or glob [default: all]
    #[arg(value_name = "FIELD")]
    pub fields: Vec<String>,

    #[command(flatten)]
    pub judging: JudgingOptions,
}

impl DiffCommand {
    /// # Errors
    /// If a source or the configuration cannot be read, a field is unknown, or the output cannot be written.
    pub fn run(&self, options: &Options, comparing: &dyn Comparing, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let old = compared::open(comparing, Some(&self.old), console)?;
        let new = compared::open(comparing, Some(&self.new), console)?;
        let diff = between(&*old, &*new, &self.fields, console)?;
        let diff = self.judging.judged(diff, old.declared(), new.declared())?;
        deliver(&diff, options, console)?;
        Ok(self.judging.exit(&diff))
    }
}

/// What changed between two sides, or in the fields that `patterns` mean in either.
///
/// # Errors
/// If a pattern means no field.
pub fn between(
    old: &dyn Comparable,
    new: &dyn Comparable,
    patterns: &[String],
    console: &mut Console<'_>,
) -> anyhow::Result<Diff> {
    if patterns.is_empty() {
        let before = compared::snapshot(old, None, console);
        let after = compared::snapshot(new, None, console);
        return Ok(compare::diff(&before, &after, None));
    }
    let fields = meant(old, new, patterns)?;
    let of = |side: &dyn Comparable| {
        fields.iter().filter(|f| side.declared().field(f).is_some()).cloned().collect::<Vec<_>>()
    };
    let before = compared::snapshot(old, Some(&of(old)), console);
    let after = compared::snapshot(new, Some(&of(new)), console);
    Ok(compare::diff(&before, &after, Some(&fields)))
}

/// The fields that patterns mean on either side, under both names where one was renamed.
fn meant(old: &dyn Comparable, new: &dyn Comparable, patterns: &[String]) -> anyhow::Result<Vec<String>> {
    let selection = |snapshot: &Snapshot| {
        let names = snapshot.fields.iter().map(|m| m.field.clone()).collect();
        let retired = snapshot.retired_flags.iter().map(|r| (r.flag.clone(), r.field.clone()));
        let flags = snapshot.fields.iter().flat_map(|m| m.flags.iter().map(|f| (f.clone(), m.field.clone())));
        Selection::new(names, flags.chain(retired).collect())
    };
    let (before, after) = (selection(old.declared()), selection(new.declared()));
    let mut fields: Vec<String> = Vec::new();
    for pattern in patterns {
        let found = match (after.fields(pattern, &new.source()), before.fields(pattern, &old.source())) {
            (Ok(after), Ok(before)) => [after, before].concat(),
            (Ok(found), Err(_)) | (Err(_), Ok(found)) => found,
            (Err(unknown), Err(_)) => return Err(unknown.into()),
        };
        fields.extend(found);
    }
    for rename in renames::find(old.declared(), new.declared()) {
        if fields.contains(&rename.from) || fields.contains(&rename.to) {
            fields.extend([rename.from, rename.to]);
        }
    }
    fields.sort();
    fields.dedup();
    Ok(fields)
}

/// Writes a comparison in the formats that were asked for.
///
/// # Errors
/// If a format is none of these, or the output cannot be written.
pub fn deliver(diff: &Diff, options: &Options, console: &mut Console<'_>) -> anyhow::Result<()> {
    let layout = |width: Option<usize>| Layout { width: width.unwrap_or(USUAL_WIDTH), all: options.verbose };
    options.output.deliver(
        console,
        &[
            (Format::Text, &|width| Ok(text(diff, layout(width)))),
            (Format::Json, &|_| Ok(json(diff)?)),
            (Format::Markdown, &|_| Ok(markdown(diff))),
            (Format::Github, &|_| Ok(github(diff))),
            (Format::Sarif, &|_| Ok(json(&sarif(diff))?)),
        ],
    )
}
