//! One argument of a command, which may not be known in whole.
//!
//! What a shell would put in at run time, and nobody can know here, stands between two marks from Unicode's private use
//! area. A token with a mark is never taken for a value; it is shown as it was written.

/// Around the source text of what is not known.
const OPEN: char = '\u{f0000}';
const CLOSE: char = '\u{f0001}';

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Token {
    pub text: String,
    /// The line that it stands on, in a file.
    pub line: Option<u32>,
}

impl Token {
    pub fn new(text: impl Into<String>) -> Token {
        Token { text: text.into(), line: None }
    }

    pub fn at(text: impl Into<String>, line: u32) -> Token {
        Token { text: text.into(), line: Some(line) }
    }

    /// Is a part of it not known?
    pub fn is_open(&self) -> bool {
        is_open(&self.text)
    }

    /// As it was written.
    pub fn shown(&self) -> String {
        shown(&self.text)
    }
}

/// The text that stands for something not known, with its source.
pub fn unknown(source: &str) -> String {
    format!("{OPEN}{}{CLOSE}", source.replace([OPEN, CLOSE], ""))
}

pub fn is_open(text: &str) -> bool {
    text.contains(OPEN)
}

pub fn shown(text: &str) -> String {
    text.replace([OPEN, CLOSE], "")
}

/// The source of the first part that is not known.
pub fn source_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(OPEN)?;
    Some(rest.split_once(CLOSE).map_or(rest, |(inner, _)| inner))
}

/// Text from outside cannot forge a mark.
pub fn without_marks(text: &str) -> String {
    text.replace([OPEN, CLOSE], "\u{fffd}")
}
