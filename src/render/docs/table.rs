//! The table of arguments before it has a format, and as a document of its own (`argtrace/docs/1`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::{Column, Said};
use crate::meaning::list::FieldEntry;
use crate::meaning::report::SourceInfo;
use crate::render::claims::Sentence;

const SCHEMA: &str = "argtrace/docs/1";
/// What fields without a section stand under.
const REST: &str = "Other arguments";

/// What is shown, and how.
pub struct Table<'t> {
    pub source: &'t SourceInfo,
    /// In the order of declaration.
    pub entries: Vec<&'t FieldEntry>,
    pub columns: Vec<Column>,
    /// The level of the sections' headings; 0 leaves them out.
    pub level: u8,
    /// It is a page of its own, with a title.
    pub titled: bool,
}

pub(super) struct Row<'t> {
    pub entry: &'t FieldEntry,
    /// One for each column, a sentence a line.
    pub cells: Vec<Vec<Sentence>>,
}

impl<'t> Table<'t> {
    /// The rows under the source's own headings, in the order in which these are first met.
    pub(super) fn sections(&self) -> Vec<(&'t str, Vec<Row<'t>>)> {
        let mut sections: Vec<(&str, Vec<Row<'t>>)> = Vec::new();
        for entry in &self.entries {
            let said = Said::of_entry(entry);
            let row = Row { entry, cells: self.columns.iter().map(|column| column.cell(&said)).collect() };
            let heading = entry.definition.section.as_deref().unwrap_or(REST);
            match sections.iter_mut().find(|(known, _)| *known == heading) {
                Some((_, rows)) => rows.push(row),
                None => sections.push((heading, vec![row])),
            }
        }
        sections
    }
}

/// The tables as data, every cell as text.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    pub schema: String,
    pub source: SourceInfo,
    pub columns: Vec<String>,
    pub sections: Vec<DocumentSection>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DocumentSection {
    pub heading: String,
    pub rows: Vec<DocumentRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DocumentRow {
    pub field: String,
    /// One for each column, its lines.
    pub cells: Vec<Vec<String>>,
}

pub fn document(table: &Table<'_>) -> Document {
    let texts = |cell: &Vec<Sentence>| cell.iter().map(Sentence::text).collect();
    let row =
        |row: &Row<'_>| DocumentRow { field: row.entry.field.clone(), cells: row.cells.iter().map(texts).collect() };
    let sections = table.sections();
    let section = |(heading, rows): &(&str, Vec<Row<'_>>)| DocumentSection {
        heading: (*heading).to_owned(),
        rows: rows.iter().map(row).collect(),
    };
    Document {
        schema: SCHEMA.to_owned(),
        source: table.source.clone(),
        columns: table.columns.iter().map(|column| column.name().to_owned()).collect(),
        sections: sections.iter().map(section).collect(),
    }
}
