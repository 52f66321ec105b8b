//! Writes a report as GitHub Markdown, to be pasted into a ticket or a pull request.
//!
//! Text from the tree stands in code spans, where it can neither format nor link nor mention anyone; sentences that may
//! quote the tree are escaped. The output holds no HTML.

use super::claims::{At, Claim, Piece, Sentence, claims};
use super::grades;
use super::outline::outline;
use super::summary;
use super::untrusted::{inert, without_log_commands};
use crate::meaning::report::{FieldReport, Grade, Report};

/// How many nodes of a flow are listed where not everything is asked for.
const NODES: usize = 12;

/// With `all`, every read, write, node and constraint.
pub fn markdown(report: &Report, all: bool) -> String {
    let mut out = prose(&summary::source(&report.source)) + "\n";
    for field in &report.fields {
        headline(&mut out, field);
        out.push_str("| claim | | grade | evidence |\n| --- | --- | --- | --- |\n");
        for claim in claims(field, all) {
            row(&mut out, &claim, all);
        }
        if all {
            places(&mut out, field);
        }
        flow(&mut out, field, all);
    }
    without_log_commands(out)
}

fn headline(out: &mut String, field: &FieldReport) {
    let definition = &field.definition;
    let names = if definition.flags.is_empty() { std::slice::from_ref(&field.field) } else { &definition.flags };
    let names: Vec<String> = names.iter().map(|name| code(name)).collect();
    out.push_str(&format!("\n### {}", names.join(", ")));
    if let Some(type_) = &definition.type_ {
        out.push_str(&format!(" {}", code(type_)));
    }
    match &definition.default {
        Some(default) => out.push_str(&format!(", default {}\n\n", code(default))),
        None => out.push_str(", required\n\n"),
    }
}

fn row(out: &mut String, claim: &Claim, all: bool) {
    let grade = claim.grade.map_or("", grades::word);
    let cells = [claim.label, &sentence(&claim.says), grade, &evidence(&claim.places, all)].map(cell);
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

pub(super) fn sentence(says: &Sentence) -> String {
    says.0.iter().map(piece).collect::<String>().trim().to_owned()
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Plain(words) => prose(words),
        Piece::Code(text) | Piece::Term(text) => code(text),
        Piece::Prose(text) => prose(text),
    }
}

fn evidence(places: &[At], all: bool) -> String {
    let shown = if all { places.len() } else { places.len().min(2) };
    let mut listed: Vec<String> =
        places[..shown].iter().map(|place| code(&format!("{}:{}", place.path, place.line))).collect();
    if shown < places.len() {
        listed.push(format!("{} more", places.len() - shown));
    }
    listed.join(", ")
}

fn places(out: &mut String, field: &FieldReport) {
    let reads = field.reads.as_deref().unwrap_or_default();
    if !reads.is_empty() {
        out.push_str("\n| read at | in | code | if |\n| --- | --- | --- | --- |\n");
    }
    for read in reads {
        place(out, &read.path, read.line, [&read.function, &read.code], &read.guard);
    }
    let writes = field.writes.as_deref().unwrap_or_default();
    if !writes.is_empty() {
        out.push_str("\n| written at | in | code | if |\n| --- | --- | --- | --- |\n");
    }
    for write in writes {
        place(out, &write.path, write.line, [&write.function, &write.code], &write.guard);
    }
}

fn place(out: &mut String, path: &str, line: u32, [function, text]: [&str; 2], guard: &[String]) {
    let guard: Vec<String> = guard.iter().map(|condition| code(condition)).collect();
    let cells = [code(&format!("{path}:{line}")), code(function), code(text), guard.join(" and ")];
    out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
}

fn flow(out: &mut String, field: &FieldReport, all: bool) {
    let Some(flow) = field.flow.as_ref().filter(|flow| !flow.nodes.is_empty()) else {
        return;
    };
    let outline = outline(flow, (!all).then_some(NODES));
    out.push_str("\nFlow:\n\n");
    for step in &outline.steps {
        let node = step.node;
        let at = code(&format!("{}:{}", node.path, node.line));
        out.push_str(&format!("{:indent$}- {at} {}", "", code(&node.code), indent = 2 * step.depth));
        if !step.transforms.is_empty() {
            out.push_str(&format!(" after {}", code(&step.transforms.join("  "))));
        }
        if step.grade != Grade::Proved {
            out.push_str(&format!(" ({})", grades::word(step.grade)));
        }
        out.push('\n');
    }
    if outline.hidden > 0 {
        out.push_str(&format!("\n{} more nodes of {} are left out.\n", outline.hidden, flow.nodes.len()));
    }
}

/// A code span that holds the text as it is: fenced by more backticks than it contains in a row.
pub(super) fn code(text: &str) -> String {
    let text = inert(text.trim());
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Markdown strips one space on either side, so that a span can begin or end with a backtick.
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Characters that Markdown or GitHub act on, and what shows the same and does nothing.
const ACTIVE: &[(char, &str)] = &[
    ('&', "&amp;"),
    ('<', "&lt;"),
    ('>', "&gt;"),
    ('@', "`@`"),
    ('\\', "\\\\"),
    ('`', "\\`"),
    ('*', "\\*"),
    ('_', "\\_"),
    ('~', "\\~"),
    ('[', "\\["),
    (']', "\\]"),
    ('|', "\\|"),
    ('#', "\\#"),
    ('!', "\\!"),
    ('$', "\\$"),
];

/// A sentence in which nothing formats, links or mentions.
pub(super) fn prose(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in inert(text).chars() {
        match ACTIVE.iter().find(|(active, _)| *active == c) {
            Some((_, shown)) => escaped.push_str(shown),
            None => escaped.push(c),
        }
    }
    // GitHub links bare addresses.
    escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
}

/// Finished Markdown as a table cell: tables split at pipes even inside code spans.
pub(super) fn cell(markdown: &str) -> String {
    let mut cell = String::with_capacity(markdown.len());
    let mut backslashes = 0;
    for c in markdown.chars() {
        if c == '|' && backslashes % 2 == 0 {
            cell.push('\\');
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        cell.push(c);
    }
    cell
}
