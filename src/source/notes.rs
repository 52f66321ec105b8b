//! Gathers what was left out while a tree is listed.
//!
//! Never grows without bound: a hostile archive can give a reason per entry. Never holds a control character, since notes
//! end up on a terminal.

use std::fmt::Display;

const MAX_NOTES: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Notes {
    notes: Vec<String>,
    more: usize,
    /// Does a note say that something of the package is missing from the list?
    left_out: bool,
}

impl Notes {
    /// Notes that `name` was skipped, and why.
    pub(super) fn skipped(&mut self, name: impl Display, why: impl Display) {
        self.cut(format_args!("skipped {name}: {why}"));
    }

    /// Notes that not everything was looked at.
    pub(super) fn cut(&mut self, note: impl Display) {
        self.left_out = true;
        self.push(note);
    }

    pub(super) fn is_left_out(&self) -> bool {
        self.left_out
    }

    /// Notes what is worth saying though nothing is missing.
    pub(super) fn push(&mut self, note: impl Display) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(printable(&note.to_string()));
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_vec(mut self) -> Vec<String> {
        if self.more > 0 {
            self.notes.push(format!("and {} more such notes", self.more));
        }
        self.notes
    }
}

/// `text` with its control characters escaped.
pub(super) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
