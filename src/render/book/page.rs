//! The page of one field.

use maud::{Markup, PreEscaped, html};

use super::changes::of_field;
use super::markup::{Frame, Shown, code, framed};
use super::said::{FINDINGS, PARTS, part};
use super::{Book, Pages};
use crate::meaning::report::{FieldReport, Grade};
use crate::render::claims::claims;
use crate::render::grades;
use crate::render::graph::{Detail, drawing, picture};
use crate::render::outline::outline;
use crate::render::summary;

/// Steps of the flow that are listed beside the picture.
const STEPS: usize = 24;

pub(super) fn page(book: &Book<'_>, pages: &Pages<'_>, at: usize) -> String {
    let fields = &book.report.fields;
    let field = &fields[at];
    let said = claims(field, true);
    let beside = |at: Option<usize>| at.and_then(|at| fields.get(at)).map(|field| field.field.as_str());
    let links = html! {
        a href="../index.html" { "All arguments" }
        @if book.since.is_some() { " " a href="../changes.html" { "Changes" } }
        span class="beside" {
            @for (rel, words, other) in [("prev", "Previous: ", beside(at.checked_sub(1))), ("next", "Next: ", beside(at.checked_add(1)))] {
                @if let Some(other) = other {
                    @if let Some(page) = pages.of_field(other) { " " a rel=(rel) href=(page) { (words) (code(other)) } }
                }
            }
        }
    };
    let content = html! {
        (heading(field))
        (at_a_glance(field))
        (part(&FINDINGS, &said, book, pages))
        @if let Some(diff) = book.since { (of_field(diff, field, pages)) }
        (flow(field))
        @for each in PARTS { (part(each, &said, book, pages)) }
    };
    let title = format!("{} · {} {}", field.field, book.report.source.package, version(book));
    framed(&Frame { title: &title, top: "../", has_script: false, class: "field" }, &links, &content)
}

pub(super) fn version<'a>(book: &'a Book<'_>) -> &'a str {
    book.report.source.version.as_deref().unwrap_or("of unknown version")
}

fn heading(field: &FieldReport) -> Markup {
    let definition = &field.definition;
    html! {
        h1 {
            @if definition.flags.is_empty() { (code(&field.field)) }
            @for (i, flag) in definition.flags.iter().enumerate() {
                @if i > 0 { span class="dim" { ", " } }
                (code(flag))
            }
        }
        p class="lead" {
            (code(&field.field)) " of " (code(&definition.class))
            @if let Some(section) = &definition.section { ", section " q { (Shown(section)) } }
        }
        @if let Some(text) = &definition.deprecated { p class="deprecated" { strong { "Deprecated. " } (Shown(text)) } }
        @if let Some(help) = &definition.help {
            blockquote aria-label="What --help says" { p { (Shown(help)) } }
        } @else {
            p class="dim" { "No help text." }
        }
    }
}

fn at_a_glance(field: &FieldReport) -> Markup {
    let definition = &field.definition;
    let scope = summary::scope(&field.scope);
    let total = field.scope.total.as_deref();
    let ends: Vec<String> = summary::ends_in(&field.sinks);
    html! {
        dl class="glance" {
            (fact("Type", definition.type_.as_deref().map(code)))
            (fact("Default", Some(definition.default.as_deref().map_or_else(|| html! { "none: required" }, code))))
            (fact("Unit", Some(html! { (Shown(summary::unit(&field.unit))) })))
            (fact("Scope", (!scope.is_empty()).then(|| html! { (Shown(&scope)) })))
            (fact("In all", total.map(code)))
            (fact("Ends in", (!ends.is_empty()).then(|| html! { (Shown(ends.join(", "))) })))
        }
    }
}

fn fact(name: &str, said: Option<Markup>) -> Markup {
    html! { @if let Some(said) = said { div { dt { (name) } dd { (said) } } } }
}

/// The picture, and the same as a list for whoever cannot see it.
fn flow(field: &FieldReport) -> Markup {
    let Some(flow) = field.flow.as_ref().filter(|flow| !flow.nodes.is_empty()) else { return html! {} };
    let listed = outline(flow, Some(STEPS));
    let level = |depth: usize| depth.min(8);
    html! {
        section id="flow" aria-labelledby="flow-h" {
            h2 id="flow-h" { "The way of the value" }
            div class="picture" tabindex="0" role="region" aria-label="Picture, scrolls sideways" {
                (PreEscaped(drawing(&picture(field, Detail::default()))))
            }
            details {
                summary { "The same as a list" }
                ol class="steps" {
                    @for step in &listed.steps {
                        li class={ "d" (level(step.depth)) } {
                            @if !step.transforms.is_empty() {
                                span class="dim" { "after " } (code(&step.transforms.join("  "))) " "
                            }
                            (code(&step.node.code))
                            " " span class="dim" { (Shown(&step.node.path)) ":" (step.node.line) }
                            @if step.grade != Grade::Proved { span class="dim" { " (" (grades::word(step.grade)) ")" } }
                        }
                    }
                }
                @if listed.hidden > 0 { p class="dim" { (listed.hidden) " more steps are left out." } }
            }
        }
    }
}
