//! `argtrace schema NAME`: the JSON Schema of a document.

use clap::{Args, ValueEnum};
use schemars::{Schema, schema_for};

use super::Options;
use super::console::Console;
use super::exit::Exit;
use super::output::Format;
use crate::compare::change::Diff;
use crate::compare::history::History;
use crate::compare::snapshot::Snapshot;
use crate::docs::drift::Drift;
use crate::launch::document::{Audit, Budget};
use crate::meaning::list::FieldList;
use crate::meaning::report::Report;
use crate::render::brief::Brief;
use crate::render::docs::Document as Docs;
use crate::render::json::json;

/// Print the JSON Schema of a document
#[derive(Args, Debug)]
pub struct SchemaCommand {
    /// The document
    name: Document,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Document {
    // What `argtrace FIELD... --format json` writes.
    Report,
    // What `argtrace FIELD... --format json --brief` writes.
    Brief,
    // What `argtrace fields --format json` writes.
    Fields,
    // What `argtrace docs --format json` writes.
    Docs,
    // What `argtrace docs --against FILE --format json` writes.
    Drift,
    // What `argtrace diff --format json` writes.
    Diff,
    // What `argtrace snapshot` writes.
    Snapshot,
    // What `argtrace history --format json` writes.
    History,
    // What `argtrace audit --format json` writes.
    Audit,
    // What `argtrace budget --format json` writes.
    Budget,
}

impl Document {
    fn schema(self) -> Schema {
        match self {
            Document::Report => schema_for!(Report),
            Document::Brief => schema_for!(Brief<'static>),
            Document::Fields => schema_for!(FieldList),
            Document::Docs => schema_for!(Docs),
            Document::Drift => schema_for!(Drift),
            Document::Diff => schema_for!(Diff),
            Document::Snapshot => schema_for!(Snapshot),
            Document::History => schema_for!(History),
            Document::Audit => schema_for!(Audit),
            Document::Budget => schema_for!(Budget),
        }
    }
}

impl SchemaCommand {
    /// # Errors
    /// If the output cannot be written.
    pub fn run(&self, options: &Options, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let schema = self.name.schema();
        options.output.deliver(console, &[(Format::Json, &|_| Ok(json(&schema)?))])?;
        Ok(Exit::Clean)
    }
}
