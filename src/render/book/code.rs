//! The code that a claim points to, with line numbers.

use std::collections::hash_map::Entry;

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::markup::Shown;
use crate::meaning::report::{FieldReport, Report};
use crate::render::claims::{At, claims};
use crate::render::wrap::cut;

/// The lines of the files that evidence points to.
#[derive(Default)]
pub struct Code(FxHashMap<String, Vec<String>>);

/// Lines shown before and after the one that is meant.
const AROUND: u32 = 1;
/// Columns of a line that are shown.
const LONGEST: usize = 160;
/// Columns of a tab.
const TAB: &str = "    ";

impl Code {
    /// The code of the places in a report; `read` gives the text of a file.
    pub fn of(report: &Report, read: impl Fn(&str) -> Option<String>) -> Code {
        let mut files: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for place in report.fields.iter().flat_map(places) {
            if let Entry::Vacant(entry) = files.entry(place.path) {
                let text = read(entry.key()).unwrap_or_default();
                entry.insert(text.split('\n').map(|line| line.trim_end().replace('\t', TAB)).collect());
            }
        }
        Code(files)
    }

    /// The line and those around it, with their numbers.
    fn around(&self, at: &At) -> Vec<(u32, &str)> {
        let lines = self.0.get(&at.path).map_or(&[][..], Vec::as_slice);
        let numbers = at.line.saturating_sub(AROUND).max(1)..=at.line.saturating_add(AROUND);
        let line = |number: u32| Some((number, lines.get(number as usize - 1)?.as_str()));
        let found: Vec<(u32, &str)> = numbers.filter_map(line).collect();
        let meant = |(number, text): &(u32, &str)| *number == at.line || !text.is_empty();
        found.into_iter().filter(meant).collect()
    }
}

fn places(field: &FieldReport) -> Vec<At> {
    claims(field, true).into_iter().flat_map(|claim| claim.places).collect()
}

/// The place as text, and the code there where the tree has it.
pub(super) fn evidence(code: &Code, at: &At) -> Markup {
    let lines = code.around(at);
    let indent = lines.iter().filter(|(_, text)| !text.is_empty());
    let indent = indent.map(|(_, text)| text.len() - text.trim_start_matches(' ').len()).min().unwrap_or(0);
    html! {
        figure {
            figcaption { (Shown(&at.path)) ":" (at.line) }
            @if !lines.is_empty() {
                pre { code {
                    @for (number, text) in lines {
                        @let shown = cut(text.get(indent..).unwrap_or_default(), LONGEST);
                        @if number == at.line {
                            mark { span class="n" { (number) } " " (Shown(shown)) "\n" }
                        } @else {
                            span class="n" { (number) } " " (Shown(shown)) "\n"
                        }
                    }
                } }
            }
        }
    }
}
