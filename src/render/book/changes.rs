//! What changed since another source: all of it on a page, and of one field on its own.

use maud::{Markup, html};

use super::Pages;
use super::markup::{Frame, Shown, code, framed, grade};
use crate::compare::change::{Change, Diff, Level, Side};
use crate::meaning::report::{FieldReport, Grade};
use crate::render::diff::{shown, title};
use crate::render::summary;
use crate::render::wrap::cut;

/// Columns of a value that are shown.
const LONGEST: usize = 300;

const HEADINGS: &[(Level, &str, &str)] = &[
    (Level::Breaking, "Breaking", "A command line that worked fails."),
    (Level::Behaviour, "Behaviour", "The same command line does something else."),
    (Level::Cosmetic, "Cosmetic", "The same command line does the same."),
];

pub(super) fn changes(diff: &Diff, pages: &Pages<'_>) -> String {
    let heading = title(diff);
    let content = html! {
        h1 { "What changed" }
        p class="lead" { (Shown(&heading)) }
        @if diff.changes.is_empty() { p { "Nothing changed." } }
        @for (level, heading, meaning) in HEADINGS {
            @let changes: Vec<&Change> = diff.changes.iter().filter(|change| change.level == *level).collect();
            @if !changes.is_empty() {
                section {
                    h2 { (heading) " " span class="dim" { (changes.len()) } }
                    p class="dim" { (meaning) }
                    ul class="claims" {
                        @for change in changes {
                            li {
                                p {
                                    @match pages.path_of(&change.field) {
                                        Some(page) => a href=(page) { (code(name(change))) },
                                        None => (code(name(change))),
                                    }
                                    " " (told(change))
                                }
                                (sides(change))
                            }
                        }
                    }
                }
            }
        }
    };
    let links = html! {
        a href="index.html" { "All arguments" } " " a href="changes.html" aria-current="page" { "Changes" }
    };
    framed(&Frame { title: &heading, top: "", has_script: false, class: "changes" }, &links, &content)
}

/// What changed in one field; where nothing did, that.
pub(super) fn of_field(diff: &Diff, field: &FieldReport, pages: &Pages<'_>) -> Markup {
    let about = |change: &&Change| change.about().any(|name| name == field.field);
    let changes: Vec<&Change> = diff.changes.iter().filter(about).collect();
    html! {
        section id="changed" aria-labelledby="changed-h" {
            h2 id="changed-h" { "Changed since " (Shown(summary::source(&diff.old))) }
            @if changes.is_empty() { p class="dim" { "Nothing." } } @else {
                ul class="claims" {
                    @for change in changes {
                        li {
                            p {
                                span class={ "level " (change.level.as_str()) } { (change.level.as_str()) } " "
                                (told(change))
                                @if change.field != field.field {
                                    @if let Some(page) = pages.of_field(&change.field) {
                                        " " a href=(page) { (code(&change.field)) }
                                    }
                                }
                            }
                            (sides(change))
                        }
                    }
                }
            }
        }
    }
}

fn name(change: &Change) -> &str {
    change.flag.as_deref().unwrap_or(&change.field)
}

fn told(change: &Change) -> Markup {
    let doubt = (change.grade < Grade::Proved).then_some(change.grade);
    html! { code class="term" { (change.code.as_str()) } " " (Shown(cut(&change.message, LONGEST))) (grade(doubt)) }
}

fn sides(change: &Change) -> Markup {
    let side = |words: &str, value: Option<String>, at: Option<&Side>| {
        html! {
            @if value.is_some() || at.is_some() {
                div {
                    dt { (words) }
                    dd {
                        @if let Some(value) = &value { (code(&cut(value, LONGEST))) " " }
                        @if let Some(at) = at { span class="dim" { (Shown(&at.path)) ":" (at.line) } }
                    }
                }
            }
        }
    };
    html! {
        dl class="sides" {
            (side("before", shown(&change.before), change.old.as_ref()))
            (side("after", shown(&change.after), change.new.as_ref()))
        }
    }
}
