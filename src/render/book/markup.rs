//! What all pages share: the frame, text from the tree, sentences, grades.

use maud::{DOCTYPE, Markup, Render, html};

use super::Pages;
use crate::meaning::report::Grade;
use crate::render::claims::{Piece, Sentence};
use crate::render::grades;
use crate::render::html::escaped;

/// Nothing but the site's own files: no script or style in a page, no request to elsewhere, no form, no other base.
const POLICY: &str =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

/// Text that may come from the tree: shown, never markup.
pub(super) struct Shown<T>(pub T);

impl<T: AsRef<str>> Render for Shown<T> {
    fn render_to(&self, out: &mut String) {
        out.push_str(&escaped(self.0.as_ref()));
    }
}

pub(super) struct Frame<'a> {
    pub title: &'a str,
    /// The way from the page to the site's top: empty or `../`.
    pub top: &'a str,
    pub has_script: bool,
    /// What the page is about, for its styles.
    pub class: &'a str,
}

pub(super) fn framed(frame: &Frame<'_>, links: &Markup, content: &Markup) -> String {
    let file = |name: &str| format!("{}{name}", frame.top);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content="argtrace";
                title { (Shown(frame.title)) }
                link rel="icon" type="image/svg+xml" href=(file("icon.svg"));
                link rel="stylesheet" href=(file("book.css"));
                @if frame.has_script { script src=(file("book.js")) defer {} }
            }
            body class=(frame.class) {
                a class="skip" href="#content" { "Skip to the content" }
                header { nav aria-label="Site" { (links) } }
                main id="content" tabindex="-1" { (content) }
                footer { p { "Read from the source by argtrace. Nothing here was run." } }
            }
        }
    };
    page.into_string() + "\n"
}

pub(super) fn code(text: &str) -> Markup {
    html! { @if !text.trim().is_empty() { code { (Shown(text.trim())) } } }
}

/// A claim's words; a field that has a page leads there.
pub(super) fn sentence(says: &Sentence, pages: &Pages<'_>) -> Markup {
    html! {
        @for piece in &says.0 {
            @match piece {
                Piece::Plain(text) | Piece::Prose(text) => (Shown(text)),
                Piece::Term(text) => code class="term" { (Shown(text)) },
                Piece::Code(text) => {
                    @match pages.of_field(text) {
                        Some(page) => a href=(page) { (code(text)) },
                        None => (code(text)),
                    }
                }
            }
        }
    }
}

pub(super) fn grade(grade: Option<Grade>) -> Markup {
    html! { @if let Some(grade) = grade { " " span class={ "grade " (grades::word(grade)) } { (grades::word(grade)) } } }
}
