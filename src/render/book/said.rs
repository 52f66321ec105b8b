//! The claims on a field, in parts with a heading each.

use maud::{Markup, html};

use super::code::{Code, evidence};
use super::markup::{grade, sentence};
use super::{Book, Pages};
use crate::render::claims::{At, Claim};

/// Heading, an identifier for links, the labels of the claims under it.
pub(super) const FINDINGS: Part = ("What --help does not say", "findings", &["not in help"]);
pub(super) const PARTS: &[Part] = &[
    ("Unit", "unit", &["unit"]),
    ("Scope", "scope", &["scope", "divided by"]),
    ("Precedence", "precedence", &["precedence"]),
    ("Active when", "active", &["active when"]),
    ("Constraints", "constraints", &["constraint"]),
    ("Rewritten after parsing", "rewritten", &["rewritten"]),
    ("Where it ends", "sinks", &["ends in"]),
    ("Declared", "declared", &["field", "deprecated", "choices"]),
    ("Not followed", "coverage", &["not followed"]),
];

pub(super) type Part = (&'static str, &'static str, &'static [&'static str]);

/// Claims of a part that are open, and those that are shown at all.
const OPEN: usize = 8;
const MOST: usize = 40;
/// Places of a claim that are open, and those whose code is shown at all.
const PLACES_OPEN: usize = 2;
const PLACES_MOST: usize = 8;

/// Nothing where there is no such claim.
pub(super) fn part((heading, id, labels): &Part, claims: &[Claim], book: &Book<'_>, pages: &Pages<'_>) -> Markup {
    let said: Vec<&Claim> = claims.iter().filter(|claim| labels.contains(&claim.label)).collect();
    let (open, folded) = said.split_at(said.len().min(OPEN));
    let (folded, rest) = folded.split_at(folded.len().min(MOST - OPEN));
    html! {
        @if !said.is_empty() {
            section id=(id) aria-labelledby={ (id) "-h" } {
                h2 id={ (id) "-h" } { (heading) }
                (listed(open, labels[0], book, pages))
                @if !folded.is_empty() {
                    details {
                        summary { (folded.len() + rest.len()) " more" }
                        (listed(folded, labels[0], book, pages))
                        @if !rest.is_empty() {
                            p class="dim" { (rest.len()) " are left out here; a report with -v shows them." }
                        }
                    }
                }
            }
        }
    }
}

fn listed(claims: &[&Claim], usual: &str, book: &Book<'_>, pages: &Pages<'_>) -> Markup {
    html! {
        ul class="claims" {
            @for claim in claims {
                li {
                    p {
                        @if claim.label != usual { span class="label" { (claim.label) } " " }
                        (sentence(&claim.says, pages)) (grade(claim.grade))
                    }
                    (places(&claim.places, book.code))
                }
            }
        }
    }
}

fn places(places: &[At], code: &Code) -> Markup {
    let (open, folded) = places.split_at(places.len().min(PLACES_OPEN));
    let (shown, named) = folded.split_at(folded.len().min(PLACES_MOST - PLACES_OPEN));
    html! {
        @for at in open { (evidence(code, at)) }
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) @if folded.len() == 1 { " more place" } @else { " more places" } }
                @for at in shown { (evidence(code, at)) }
                @if !named.is_empty() { p class="dim" { "and " (named.len()) " more, which a report lists" } }
            }
        }
    }
}
