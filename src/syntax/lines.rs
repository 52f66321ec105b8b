//! On which line and in which column does a byte stand?

use super::ir::{ByteRange, Span};
use serde::{Deserialize, Serialize};

/// Where the lines of a text start, and which bytes are not the first of their character.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Lines {
    starts: Box<[u32]>,
    inner: Box<[u32]>,
}

impl Lines {
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let after = memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1);
        let inner = match text.is_ascii() {
            true => Box::default(),
            false => (0..bytes.len()).filter(|at| !text.is_char_boundary(*at)).map(|at| at as u32).collect(),
        };
        Lines { starts: std::iter::once(0).chain(after).collect(), inner }
    }

    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line of a byte, from 1.
    pub fn line(&self, at: u32) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }

    /// The first byte of a line.
    pub fn start(&self, line: u32) -> Option<u32> {
        self.starts.get(line.checked_sub(1)? as usize).copied()
    }

    /// Where a piece of the text stands; columns are in characters.
    pub fn span(&self, range: ByteRange) -> Span {
        let ByteRange { start, end } = range;
        let line = self.line(start);
        let first = self.start(line).unwrap_or(0);
        let inner_before = |at: u32| self.inner.partition_point(|inner| *inner < at) as u32;
        let inner = if self.inner.is_empty() { 0 } else { inner_before(start) - inner_before(first) };
        Span { line, column: start - first - inner + 1, end_line: self.line(end), start, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a = 'é∀' + b\nc = '𝄞' + d\n";
        let lines = Lines::of(text);
        let place = |what: &str| {
            let start = text.find(what).expect("it is there") as u32;
            let span = lines.span(ByteRange { start, end: start + 1 });
            (span.line, span.column, span.end_line)
        };
        assert_eq!(place("a"), (1, 1, 1));
        assert_eq!(place("b"), (1, 12, 1));
        assert_eq!(place("d"), (2, 11, 2));
        assert_eq!(lines.count(), 3);
    }
}
