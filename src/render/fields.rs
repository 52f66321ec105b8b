//! Writes the list of fields: a table for a terminal, a line a field for a pipe, Markdown and CSV.
//!
//! A row says what [`FieldEntry`] holds in few words, the same in every format. What a spreadsheet would take for a
//! formula, Markdown for markup or a terminal for a command is shown as text.

use super::grades;
use super::markdown::{cell, code, prose};
use super::summary;
use super::table::table;
use super::untrusted::{inert, without_log_commands};
use super::wrap::cut;
use crate::meaning::findings::table::DEAD_FIELD;
use crate::meaning::list::{FieldEntry, FieldList};
use crate::meaning::report::Grade;

/// Types and defaults are source text of any length; more of it than this is not shown in a table.
const SOURCE_TEXT: usize = 40;
/// The same where columns are few.
const SOURCE_TEXT_ON_TERMINAL: usize = 24;

/// `declared` is the number of fields in the tree; `width` that of the terminal, if there is one.
pub fn text(list: &FieldList, declared: usize, width: Option<usize>) -> String {
    let mut out = inert(&title(list, declared)).into_owned();
    out.push_str("\n\n");
    if !list.fields.is_empty() {
        out.push_str(&match width {
            Some(_) => {
                let rows = list.fields.iter().map(|entry| {
                    let [type_, default] = source_text(entry, SOURCE_TEXT_ON_TERMINAL);
                    let [unit, scope, ends_in, marks] = said(entry);
                    [named(entry), type_, default, unit, scope, ends_in, marks]
                });
                table(["field", "type", "default", "unit", "scope", "ends in", "marks"], rows.collect(), width)
            }
            None => {
                let rows = list.fields.iter().map(|entry| {
                    let [type_, default] = source_text(entry, SOURCE_TEXT);
                    let [unit, scope, ends_in, marks] = said(entry);
                    [
                        entry.field.clone(),
                        entry.definition.flags.join(", "),
                        type_,
                        default,
                        unit,
                        scope,
                        ends_in,
                        marks,
                    ]
                });
                let header = ["field", "flags", "type", "default", "unit", "scope", "ends in", "marks"];
                table(header, rows.collect(), width)
            }
        });
        let shown: Vec<Grade> = list.fields.iter().flat_map(grades_of).collect();
        grades::legend(&mut out, &shown, width.unwrap_or(usize::MAX));
    }
    without_log_commands(out)
}

/// One table, flags and source text in code spans.
pub fn markdown(list: &FieldList, declared: usize) -> String {
    let mut out = format!("{}\n", prose(&title(list, declared)));
    if !list.fields.is_empty() {
        out.push_str("\n| field | flags | type | default | unit | scope | ends in | marks |\n");
        out.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    }
    for entry in &list.fields {
        let definition = &entry.definition;
        let codes = |texts: &[String]| texts.iter().map(|text| code(text)).collect::<Vec<_>>().join(", ");
        let optional = |text: &Option<String>| text.as_deref().map_or_else(String::new, code);
        let [unit, scope, ends_in, marks] = said(entry).map(|words| prose(&words));
        let cells = [
            code(&entry.field),
            codes(&definition.flags),
            optional(&definition.type_),
            optional(&definition.default),
            unit,
            scope,
            ends_in,
            marks,
        ];
        out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
    }
    without_log_commands(out)
}

const CSV_HEADER: [&str; 17] = [
    "field",
    "flags",
    "type",
    "default",
    "section",
    "unit",
    "unit_grade",
    "processes",
    "per",
    "divided_by",
    "total",
    "scope_grade",
    "ends_in",
    "marks",
    "findings",
    "path",
    "line",
];

/// Comma-separated (RFC 4180), a list in a cell separated by semicolons.
pub fn csv(list: &FieldList) -> String {
    let mut out = CSV_HEADER.join(",") + "\n";
    for entry in &list.fields {
        let definition = &entry.definition;
        let codes: Vec<&str> = entry.findings.iter().map(|finding| finding.code.as_str()).collect();
        let marks: Vec<&str> = entry.marks.iter().map(|mark| mark.words()).collect();
        let cells = [
            entry.field.clone(),
            definition.flags.join("; "),
            definition.type_.clone().unwrap_or_default(),
            definition.default.clone().unwrap_or_default(),
            definition.section.clone().unwrap_or_default(),
            entry.unit.name.clone().unwrap_or_default(),
            grades::word(entry.unit.grade).to_owned(),
            entry.scope.processes.join("; "),
            entry.scope.per.join("; "),
            entry.scope.divided_by.join("; "),
            entry.scope.total.clone().unwrap_or_default(),
            grades::word(entry.scope.grade).to_owned(),
            summary::ends_in(&entry.sinks).join("; "),
            marks.join("; "),
            codes.join("; "),
            definition.path.clone(),
            definition.line.to_string(),
        ];
        out.push_str(&cells.map(|text| csv_cell(&text)).join(","));
        out.push('\n');
    }
    without_log_commands(out)
}

fn title(list: &FieldList, declared: usize) -> String {
    let source = summary::source(&list.source);
    match list.fields.len() {
        all if all == declared => format!("{source}: {all} fields"),
        some => format!("{source}: {some} of {declared} fields"),
    }
}

/// The field, and its flags where they are not what its name says.
fn named(entry: &FieldEntry) -> String {
    let flags = &entry.definition.flags;
    match flags.as_slice() {
        [] => format!("{}\n  no flag", entry.field),
        [one] if *one == format!("--{}", entry.field.replace('_', "-")) => entry.field.clone(),
        flags => format!("{}\n  {}", entry.field, flags.join("\n  ")),
    }
}

/// Type and default.
fn source_text(entry: &FieldEntry, width: usize) -> [String; 2] {
    let definition = &entry.definition;
    [&definition.type_, &definition.default].map(|text| cut(text.as_deref().unwrap_or_default(), width))
}

/// Unit, scope, sinks, marks.
fn said(entry: &FieldEntry) -> [String; 4] {
    let sinks = summary::ends_in(&entry.sinks).join(", ");
    [summary::unit(&entry.unit), summary::scope(&entry.scope), sinks, marks(entry)]
}

/// The marks, and the warnings that no mark stands for.
fn marks(entry: &FieldEntry) -> String {
    let marks = entry.marks.iter().map(|mark| mark.words());
    let warnings =
        entry.findings.iter().filter(|finding| finding.level == "warning" && finding.code != DEAD_FIELD.code);
    let mut told: Vec<&str> = Vec::new();
    for words in marks.chain(warnings.map(|finding| finding.code.as_str())) {
        if !told.contains(&words) {
            told.push(words);
        }
    }
    told.join(", ")
}

fn grades_of(entry: &FieldEntry) -> impl Iterator<Item = Grade> {
    let sinks = summary::kinds(&entry.sinks).into_iter().map(|(_, grade)| grade);
    [entry.unit.grade, entry.scope.grade].into_iter().chain(sinks)
}

/// What makes a spreadsheet evaluate a cell, at its beginning.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '＝', '＠'];

/// A cell that is only text, whatever opens it: a formula is led in by an apostrophe (a number is none).
fn csv_cell(text: &str) -> String {
    let text = inert(text);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let lead = if text.trim_start().starts_with(FORMULA) && !is_number { "'" } else { "" };
    if text.contains(['"', ',', ';', '\n', '\r']) || text.starts_with(' ') {
        format!("\"{lead}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{lead}{text}")
    }
}
