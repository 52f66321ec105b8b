//! The table of all fields.

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::markup::{Frame, Shown, code, framed};
use super::page::version;
use super::{Book, Pages};
use crate::compare::change::Level;
use crate::meaning::list::Mark;
use crate::meaning::report::FieldReport;
use crate::render::summary;
use crate::render::wrap::cut;

/// Columns of a default that are shown.
const LONGEST: usize = 60;

const HEADINGS: &[&str] = &["Field", "Flag", "Type", "Default", "Unit", "Scope", "Ends in", "Dead", "Rewritten"];

pub(super) fn index(book: &Book<'_>, pages: &Pages<'_>) -> String {
    let report = book.report;
    let worst: Option<FxHashMap<&str, Level>> = book.since.map(|diff| {
        let mut worst: FxHashMap<&str, Level> = FxHashMap::default();
        for change in &diff.changes {
            let level = worst.entry(change.field.as_str()).or_insert(change.level);
            *level = (*level).max(change.level);
        }
        worst
    });
    let heading = format!("Arguments of {} {}", report.source.package, version(book));
    let content = html! {
        h1 { (Shown(&heading)) }
        p class="lead" {
            (report.fields.len()) " fields, what each means, and the lines of source that show it. "
            span class="dim" { "~ is inferred: a step rests on a name or a join. ? is told by the help text alone." }
        }
        @if let Some(diff) = book.since {
            p { (diff.changes.len()) " changes since " (Shown(summary::source(&diff.old))) ": "
                a href="changes.html" { "what changed" } "." }
        }
        div id="search" role="search" hidden {
            label for="q" { "Search" }
            input id="q" type="search" autocomplete="off" spellcheck="false" aria-describedby="count";
            p id="count" role="status" {}
        }
        table role="table" {
            caption class="unseen" { "Every field, with its meaning in short" }
            thead role="rowgroup" { tr role="row" {
                @for heading in HEADINGS { th role="columnheader" scope="col" { (heading) } }
                @if worst.is_some() { th role="columnheader" scope="col" { "Changed" } }
            } }
            tbody role="rowgroup" {
                @for field in &report.fields {
                    (row(field, pages, worst.as_ref().map(|worst| worst.get(field.field.as_str()).copied())))
                }
            }
        }
        p id="none" class="dim" hidden { "No argument has all these words." }
    };
    let links = html! {
        a href="index.html" aria-current="page" { "All arguments" }
        @if book.since.is_some() { " " a href="changes.html" { "Changes" } }
    };
    framed(&Frame { title: &heading, top: "", has_script: true, class: "index" }, &links, &content)
}

fn row(field: &FieldReport, pages: &Pages<'_>, changed: Option<Option<Level>>) -> Markup {
    let definition = &field.definition;
    let marks = Mark::of(field);
    let mark = |mark: Mark| html! { @if marks.contains(&mark) { (mark.words()) } };
    let cell = |heading: &str, content: Markup| html! { td role="cell" data-heading=(heading) { (content) } };
    let short = |text: &Option<String>| html! { @if let Some(text) = text { (code(&cut(text, LONGEST))) } };
    html! {
        tr role="row" data-help=[definition.help.as_deref().map(Shown)] {
            th role="rowheader" scope="row" {
                @match pages.path_of(&field.field) {
                    Some(page) => a href=(page) { (code(&field.field)) },
                    None => (code(&field.field)),
                }
                @if marks.contains(&Mark::Deprecated) { " " span class="tag" { "deprecated" } }
            }
            (cell("Flag", html! { @for flag in &definition.flags { (code(flag)) " " } }))
            (cell("Type", short(&definition.type_)))
            (cell("Default", short(&definition.default)))
            (cell("Unit", html! { (Shown(summary::unit(&field.unit))) }))
            (cell("Scope", html! { (Shown(summary::scope(&field.scope))) }))
            (cell("Ends in", html! { (Shown(summary::ends_in(&field.sinks).join(", "))) }))
            (cell("Dead", mark(Mark::Dead)))
            (cell("Rewritten", mark(Mark::Rewritten)))
            @if let Some(level) = changed {
                (cell("Changed", html! { @if let Some(level) = level { (level.as_str()) } }))
            }
        }
    }
}
