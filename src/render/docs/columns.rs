//! The columns that a table of arguments can have, and what of a field's claims each holds.

use crate::meaning::list::FieldEntry;
use crate::meaning::report::{FieldReport, Grade};
use crate::render::claims::{Claim, Piece, Sentence, claims};
use crate::render::grades;
use crate::render::wrap::cut;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Argument,
    Description,
    Default,
    Options,
    Unit,
    Scope,
    Precedence,
    ActiveWhen,
    NotInHelp,
}

/// Column, name on the command line, heading.
const COLUMNS: &[(Column, &str, &str)] = &[
    (Column::Argument, "argument", "Argument"),
    (Column::Description, "description", "Description"),
    (Column::Default, "default", "Defaults"),
    (Column::Options, "options", "Options"),
    (Column::Unit, "unit", "Unit"),
    (Column::Scope, "scope", "Scope"),
    (Column::Precedence, "precedence", "Precedence"),
    (Column::ActiveWhen, "active-when", "Active when"),
    (Column::NotInHelp, "not-in-help", "Not in --help"),
];

/// How many sentences of one kind a cell holds.
const SHOWN: usize = 6;

impl Column {
    /// Those of a table that asks for none.
    pub fn usual() -> Vec<Column> {
        COLUMNS.iter().map(|(column, ..)| *column).filter(|column| *column != Column::ActiveWhen).collect()
    }

    pub fn names() -> Vec<&'static str> {
        COLUMNS.iter().map(|(_, name, _)| *name).collect()
    }

    pub fn named(name: &str) -> Option<Column> {
        COLUMNS.iter().find(|(_, known, _)| *known == name).map(|(column, ..)| *column)
    }

    pub fn name(self) -> &'static str {
        COLUMNS.iter().find(|(column, ..)| *column == self).map_or("", |(_, name, _)| name)
    }

    pub fn heading(self) -> &'static str {
        COLUMNS.iter().find(|(column, ..)| *column == self).map_or("", |(.., heading)| heading)
    }

    /// The cell, a sentence a line.
    pub(super) fn cell(self, said: &Said<'_>) -> Vec<Sentence> {
        match self {
            Column::Argument => argument(said.entry),
            Column::Description => description(said.entry),
            Column::Default => default(said.entry),
            Column::Options => options(said.entry),
            Column::Unit => said.unit(),
            Column::Scope => said.of(&["scope", "divided by"]),
            Column::Precedence => said.of(&["precedence"]),
            Column::ActiveWhen => said.of(&["active when"]),
            Column::NotInHelp => said.of(&["not in help"]),
        }
    }
}

/// A field with its claims in words.
pub(super) struct Said<'e> {
    entry: &'e FieldEntry,
    claims: Vec<Claim>,
}

impl<'e> Said<'e> {
    pub fn of_entry(entry: &'e FieldEntry) -> Said<'e> {
        Said { entry, claims: claims(&report(entry), true) }
    }

    /// Truth values and choices have their type, not a unit.
    fn unit(&self) -> Vec<Sentence> {
        match self.entry.unit.name.as_deref() {
            Some("bool" | "enum" | "none") => Vec::new(),
            _ => self.of(&["unit"]),
        }
    }

    /// The claims with these labels; one that cannot be told leaves the cell empty, and so does one that denies.
    fn of(&self, labels: &[&str]) -> Vec<Sentence> {
        let told = |claim: &&Claim| {
            let denies = claim.label == "divided by" && self.entry.scope.divided_by.is_empty();
            labels.contains(&claim.label) && claim.grade != Some(Grade::Unknown) && !denies
        };
        let wanted: Vec<&Claim> = self.claims.iter().filter(told).collect();
        let rest = wanted.len().saturating_sub(SHOWN);
        let shown = if rest > 1 { SHOWN } else { wanted.len() };
        let mut cell: Vec<Sentence> = wanted.iter().take(shown).map(|claim| graded(claim)).collect();
        if rest > 1 {
            cell.push(Sentence::plain(format!("… {rest} more")));
        }
        cell
    }
}

/// The sentence as a cell holds it: what is less than proved says so.
fn graded(claim: &Claim) -> Sentence {
    let says = match claim.label {
        "divided by" => Sentence::plain("divided by "),
        _ => Sentence::default(),
    };
    let says = Sentence(says.0.into_iter().chain(claim.says.0.iter().map(short)).collect());
    match claim.grade {
        Some(grade @ (Grade::Inferred | Grade::Documented)) => says.and(format!(" ({})", grades::word(grade))),
        _ => says,
    }
}

/// The longest condition that a cell can hold and still be read.
const LONGEST: usize = 120;

fn short(piece: &Piece) -> Piece {
    match piece {
        Piece::Code(text) => Piece::Code(cut(text, LONGEST)),
        piece => piece.clone(),
    }
}

/// The entry as a report without places on the way, which is what an entry is.
fn report(entry: &FieldEntry) -> FieldReport {
    let entry = entry.clone();
    FieldReport {
        field: entry.field,
        definition: entry.definition,
        unit: entry.unit,
        scope: entry.scope,
        sinks: entry.sinks,
        precedence: entry.precedence,
        active_when: entry.active_when,
        constraints: entry.constraints,
        findings: entry.findings,
        ..FieldReport::default()
    }
}

fn argument(entry: &FieldEntry) -> Vec<Sentence> {
    let flags = entry.definition.flags.iter().map(|flag| Sentence::default().code(flag)).collect::<Vec<_>>();
    match flags.is_empty() {
        true => vec![Sentence::default().code(&entry.field).and(" (no flag)")],
        false => flags,
    }
}

/// The help text in one line.
fn description(entry: &FieldEntry) -> Vec<Sentence> {
    let help = entry.definition.help.iter().chain(&entry.definition.deprecated).take(1);
    help.map(|help| Sentence::prose(help.split_whitespace().collect::<Vec<_>>().join(" "))).collect()
}

fn default(entry: &FieldEntry) -> Vec<Sentence> {
    let definition = &entry.definition;
    match definition.cli_default.as_ref().or(definition.default.as_ref()) {
        Some(text) => vec![Sentence::default().code(unquoted(text))],
        None => vec![Sentence::plain("required")],
    }
}

/// A plain text without its quotes, as it is typed.
pub(super) fn unquoted(text: &str) -> &str {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = quote.and_then(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inner.filter(|inner| !inner.is_empty() && !inner.contains(['"', '\'', '\\'])).unwrap_or(text)
}

fn options(entry: &FieldEntry) -> Vec<Sentence> {
    let definition = &entry.definition;
    let choices = definition.choices.iter().map(|value| match value.as_str() {
        Some(text) => text.to_owned(),
        None if value.is_null() => String::from("None"),
        None => value.to_string(),
    });
    let choices: Vec<String> = choices.collect();
    let type_ = definition.cli_type.as_ref().or(definition.type_.as_ref());
    let mut says = Vec::new();
    if !choices.is_empty() {
        says.push(Sentence::default().codes(&choices, ", "));
    } else if let Some(type_) = type_ {
        says.push(Sentence::plain("Type: ").code(type_));
    }
    if definition.extensible {
        says.push(Sentence::plain("more can be added at run time"));
    }
    says
}
