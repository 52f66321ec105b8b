//! Writes the list of fields: a table for a terminal, a line a field for a pipe, Markdown and CSV.
//!
//! A row says what [`FieldEntry`] holds in few words, the same in every format. What a spreadsheet would take for a
//! formula, Markdown for markup or a terminal for a command is shown as text.

use anstyle::{AnsiColor, Style};

use super::grades;
use super::markdown::{cell, code, prose};
use super::summary;
use super::table::{least_width, table};
use super::untrusted::{inert, without_log_commands};
use super::wrap::{Span, cut, lay};
use crate::meaning::findings::table::DEAD_FIELD;
use crate::meaning::list::{FieldEntry, FieldList};
use crate::meaning::report::Grade;

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const CODE: Style = AnsiColor::Cyan.on_default();
const DOUBT: Style = AnsiColor::Yellow.on_default();

/// `declared` is the number of fields in the tree; `width` that of the terminal, if there is one.
pub fn text(list: &FieldList, declared: usize, width: Option<usize>) -> String {
    let mut out = inert(&title(list, declared)).into_owned() + "\n";
    if !list.fields.is_empty() {
        out.push('\n');
        match width {
            Some(width) => on_terminal(&mut out, &list.fields, width),
            None => out.push_str(&lines(&list.fields)),
        }
        let shown: Vec<Grade> = list.fields.iter().flat_map(grades_of).collect();
        grades::legend(&mut out, &shown, width.unwrap_or(usize::MAX));
    }
    without_log_commands(out)
}

/// A line a field, in columns.
fn lines(fields: &[FieldEntry]) -> String {
    const LONGEST: usize = 40;
    let row = |entry: &FieldEntry| {
        let [type_, default] = source_text(entry).map(|text| cut(&text, LONGEST));
        let [unit, scope, ends_in, marks] = said(entry);
        [entry.field.clone(), entry.definition.flags.join(", "), type_, default, unit, scope, ends_in, marks]
    };
    let rows: Vec<_> = fields.iter().map(row).collect();
    table(["field", "flags", "type", "default", "unit", "scope", "ends in", "marks"], &rows, None)
}

const HEADER: [&str; 7] = ["field", "type", "default", "unit", "scope", "ends in", "marks"];
/// Narrower cells than these cannot be read.
const LEAST: [usize; 7] = [usize::MAX, 14, 12, 10, 18, 19, 14];

/// A table where its columns are wide enough to be read, else a paragraph a field.
fn on_terminal(out: &mut String, fields: &[FieldEntry], width: usize) {
    const LONGEST: [usize; 2] = [24, 16];
    let row = |entry: &FieldEntry| {
        let [type_, default] = source_text(entry);
        let [unit, scope, ends_in, marks] = said(entry);
        let name =
            format!("{}\n{}", entry.field, other_flags(entry).map(|flag| format!("  {flag}\n")).collect::<String>());
        [name, cut(&type_, LONGEST[0]), cut(&default, LONGEST[1]), unit, scope, ends_in, marks]
    };
    let rows: Vec<_> = fields.iter().map(row).collect();
    if least_width(HEADER, &rows, LEAST) <= width {
        out.push_str(&table(HEADER, &rows, Some(width)));
        return;
    }
    for entry in fields {
        paragraph(out, entry, width);
    }
}

/// The declaration, and under it what is said of it.
fn paragraph(out: &mut String, entry: &FieldEntry, width: usize) {
    let span = |text: &str, style| Span::new(inert(text).into_owned(), style);
    let [type_, default] = source_text(entry);
    let mut declared = vec![span(&entry.field, STRONG)];
    declared.extend(other_flags(entry).map(|flag| span(&format!("  {flag}"), STRONG)));
    declared.push(span(&format!("  {type_}"), CODE));
    if !default.is_empty() {
        declared.extend([span(" = ", PLAIN), span(&default, CODE)]);
    }
    lay(out, &[], 4, &declared, width);
    let [unit, scope, ends_in, marks] = said(entry);
    let parts = [unit, scope, ends_in].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    let said = [span(&parts, PLAIN), span(&format!("  {marks}"), DOUBT)];
    lay(out, &[Span::new("    ", PLAIN)], 4, &said, width);
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

/// The flags, where they are not the name with dashes.
fn other_flags(entry: &FieldEntry) -> impl Iterator<Item = &str> {
    let plain = format!("--{}", entry.field.replace('_', "-"));
    let flags = entry.definition.flags.as_slice();
    let none: &[&str] = if flags.is_empty() { &["(no flag)"] } else { &[] };
    let other = if matches!(flags, [one] if *one == plain) { &[] } else { flags };
    none.iter().copied().chain(other.iter().map(String::as_str))
}

/// Type and default.
fn source_text(entry: &FieldEntry) -> [String; 2] {
    let definition = &entry.definition;
    [&definition.type_, &definition.default].map(|text| text.clone().unwrap_or_default())
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
pub(super) fn csv_cell(text: &str) -> String {
    let text = inert(text);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let lead = if text.trim_start().starts_with(FORMULA) && !is_number { "'" } else { "" };
    if text.contains(['"', ',', ';', '\n', '\r']) || text.starts_with(' ') {
        format!("\"{lead}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{lead}{text}")
    }
}
