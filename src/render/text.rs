//! Writes a report for a terminal: for each field one screen, all of it with [`Layout::all`].
//!
//! A claim is one line: a label, a mark if it is not proved, a sentence, and the places that prove it. Styles are
//! always written; who prints the text strips them where they are not wanted.

use anstyle::{AnsiColor, Style};

use super::claims::{At, Claim, Piece, claims};
use super::grades;
use super::outline::{Step, outline};
use super::summary;
use super::table::table;
use super::untrusted::{inert, without_log_commands};
use super::wrap::{Span, cut, lay};
use crate::meaning::report::{FieldReport, Grade, Report, Sees};

/// How the text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Every read, write, node and constraint, and all evidence.
    pub all: bool,
}

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const CODE: Style = AnsiColor::Cyan.on_default();
const DOUBT: Style = AnsiColor::Yellow.on_default();
const TERM: Style = STRONG;

const LABEL: usize = 13;
/// Where the sentences begin: two columns, the label, and the mark with its space.
const INDENT: usize = 2 + LABEL + 2;
/// How many nodes of a flow fit a screen.
const NODES: usize = 12;

pub fn text(report: &Report, layout: Layout) -> String {
    let mut out = String::new();
    lay(&mut out, &[], 0, &[Span::new(inert(&summary::source(&report.source)), FAINT)], layout.width);
    if report.fields.len() > 1 {
        out.push('\n');
        out.push_str(&overview(&report.fields, layout));
    }
    let mut grades = Vec::new();
    for field in &report.fields {
        out.push('\n');
        headline(&mut out, field, layout);
        let claims = claims(field, layout.all);
        grades.extend(claims.iter().filter_map(|claim| claim.grade));
        let mut label = "";
        for claim in &claims {
            line(&mut out, claim, claim.label != label, layout);
            label = claim.label;
        }
        if layout.all {
            places(&mut out, field, layout);
        }
        flow(&mut out, field, layout, &mut grades);
    }
    grades::legend(&mut out, &grades, layout.width);
    without_log_commands(out)
}

fn headline(out: &mut String, field: &FieldReport, layout: Layout) {
    let definition = &field.definition;
    let name =
        if definition.flags.is_empty() { format!("{} (no flag)", field.field) } else { definition.flags.join(", ") };
    let mut spans = vec![Span::new(inert(&name), STRONG)];
    if let Some(type_) = &definition.type_ {
        spans.push(Span::new("  ", PLAIN));
        spans.push(Span::new(inert(type_), CODE));
    }
    match &definition.default {
        Some(default) => {
            spans.push(Span::new(" = ", PLAIN));
            spans.push(Span::new(inert(default), CODE));
        }
        None => spans.push(Span::new("  required", PLAIN)),
    }
    lay(out, &[], 4, &spans, layout.width);
}

fn line(out: &mut String, claim: &Claim, labelled: bool, layout: Layout) {
    let label = if labelled { claim.label } else { "" };
    let mark = claim.grade.map_or("", grades::mark);
    let first =
        [Span::new(format!("  {label:LABEL$}"), FAINT), Span::new(format!("{mark:1}"), DOUBT), Span::new(" ", PLAIN)];
    let mut spans: Vec<Span> = claim.says.0.iter().map(piece).collect();
    spans.extend(evidence(&claim.places, layout));
    lay(out, &first, INDENT, &spans, layout.width);
}

fn piece(piece: &Piece) -> Span {
    let (text, style) = match piece {
        Piece::Plain(text) | Piece::Prose(text) => (text, PLAIN),
        Piece::Code(text) => (text, CODE),
        Piece::Term(text) => (text, TERM),
    };
    Span::new(inert(text), style)
}

fn evidence(places: &[At], layout: Layout) -> Vec<Span> {
    let shown = if layout.all { places.len() } else { places.len().min(2) };
    let mut spans = Vec::new();
    for place in &places[..shown] {
        spans.push(Span::whole(format!("  {}:{}", inert(&place.path), place.line), FAINT));
    }
    if shown < places.len() {
        spans.push(Span::new(format!(" (+{})", places.len() - shown), FAINT));
    }
    spans
}

fn flow(out: &mut String, field: &FieldReport, layout: Layout, grades: &mut Vec<Grade>) {
    let Some(flow) = field.flow.as_ref().filter(|flow| !flow.nodes.is_empty()) else {
        return;
    };
    let outline = outline(flow, (!layout.all).then_some(NODES));
    heading(out, "flow", false);
    for step in &outline.steps {
        grades.push(step.grade);
        step_line(out, step, layout);
    }
    let reads = field.reads.as_ref().map_or(0, Vec::len);
    if outline.hidden > 0 {
        let rest =
            format!("… {} of {} nodes left out ({reads} reads in all), -v shows all", outline.hidden, flow.nodes.len());
        lay(out, &[Span::new("    ", PLAIN)], 4, &[Span::new(rest, FAINT)], layout.width);
    }
}

fn step_line(out: &mut String, step: &Step<'_>, layout: Layout) {
    let node = step.node;
    let mut notes = Vec::new();
    if !step.transforms.is_empty() {
        notes.push(Span::new(format!("[{}]", inert(&step.transforms.join("  "))), STRONG));
    }
    if layout.all {
        notes.push(Span::new(format!("{} in {}", inert(&node.role), inert(&node.function)), PLAIN));
    } else if node.role == "sink" {
        notes.push(Span::new("sink", PLAIN));
    }
    let arrow = if step.root { "" } else { "→ " };
    let spot = Spot { path: &node.path, line: node.line, code: &node.code, grade: step.grade };
    spot_line(out, 4 + 2 * step.depth.min(6), arrow, &spot, notes, layout);
}

/// A place and the code there.
struct Spot<'a> {
    path: &'a str,
    line: u32,
    code: &'a str,
    grade: Grade,
}

/// `place  code  notes`, with the code on a line of its own where all does not fit.
fn spot_line(out: &mut String, indent: usize, arrow: &str, spot: &Spot<'_>, notes: Vec<Span>, layout: Layout) {
    let lead = Span::new(format!("{:indent$}{arrow}", ""), FAINT);
    let doubt = Span::new(grades::mark(spot.grade), DOUBT);
    let place = Span::whole(format!("{}:{}", inert(spot.path), spot.line), FAINT);
    let code = inert(spot.code.trim());
    let columns: usize = [&lead, &doubt, &place].into_iter().map(Span::width).sum();
    let columns = columns + notes.iter().map(|note| 2 + note.width()).sum::<usize>();
    let beside = columns + 2 + Span::new(code.as_ref(), CODE).width() <= layout.width;
    let hang = indent + 4;
    let mut spans = vec![place];
    if beside {
        spans.push(Span::new("  ", PLAIN));
        spans.push(Span::new(code.as_ref(), CODE));
    }
    for note in notes {
        spans.push(Span::new("  ", PLAIN));
        spans.push(note);
    }
    lay(out, &[lead, doubt], hang, &spans, layout.width);
    if !beside && !code.is_empty() {
        let code = if layout.all { code.into_owned() } else { cut(&code, layout.width.saturating_sub(hang)) };
        lay(out, &[Span::new(format!("{:hang$}", ""), PLAIN)], hang, &[Span::new(code, CODE)], layout.width);
    }
}

/// All reads and rewrites.
fn places(out: &mut String, field: &FieldReport, layout: Layout) {
    let reads = field.reads.as_deref().unwrap_or_default();
    heading(out, "reads", reads.is_empty());
    for read in reads {
        let sees = match read.sees {
            Sees::Raw => ", sees what was given",
            Sees::Resolved => "",
        };
        let spot = Spot { path: &read.path, line: read.line, code: &read.code, grade: read.grade };
        spot_line(out, 4, "", &spot, vec![whereabouts(&read.function, &read.guard, sees)], layout);
    }
    let writes = field.writes.as_deref().unwrap_or_default();
    heading(out, "rewrites", writes.is_empty());
    for write in writes {
        let spot = Spot { path: &write.path, line: write.line, code: &write.code, grade: write.grade };
        spot_line(out, 4, "", &spot, vec![whereabouts(&write.function, &write.guard, "")], layout);
    }
}

fn heading(out: &mut String, heading: &str, nothing_under_it: bool) {
    if !nothing_under_it {
        lay(out, &[Span::new(format!("  {heading}"), FAINT)], 2, &[], usize::MAX);
    }
}

fn whereabouts(function: &str, guard: &[String], more: &str) -> Span {
    let condition = if guard.is_empty() { String::new() } else { format!(" if {}", guard.join(" and ")) };
    Span::new(inert(&format!("in {function}{more}{condition}")), PLAIN)
}

fn overview(fields: &[FieldReport], layout: Layout) -> String {
    let rows = fields.iter().map(|field| {
        let default = field.definition.default.clone().unwrap_or_default();
        let ends_in = summary::ends_in(&field.sinks).join(", ");
        let findings = field.findings.len().to_string();
        [field.field.clone(), default, summary::unit(&field.unit), summary::scope(&field.scope), ends_in, findings]
    });
    let rows: Vec<_> = rows.collect();
    table(["field", "default", "unit", "scope", "ends in", "findings"], &rows, Some(layout.width))
}
