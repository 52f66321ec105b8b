//! Lays styled words into lines of a given width.
//!
//! It breaks at spaces, and inside a word only where the word alone is wider than a line. It knows nothing of what the
//! words say, and makes none of them inert: that is done before.

use std::fmt::Write;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A run of text in one style.
pub struct Span {
    pub text: String,
    pub style: Style,
    /// It is never broken, even where it is wider than a line: half a path is of no use.
    pub whole: bool,
}

impl Span {
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, whole: false }
    }

    pub fn whole(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, whole: true }
    }

    /// The columns it takes.
    pub fn width(&self) -> usize {
        self.text.width()
    }
}

/// Appends `spans` and a newline to `out`. The first line begins with `first` as it stands, the others with `indent`
/// spaces; a line is at most `width` columns wide, a whole span apart.
pub fn lay(out: &mut String, first: &[Span], indent: usize, spans: &[Span], width: usize) {
    let room = width.saturating_sub(indent).max(MIN_ROOM);
    let mut line = Line { out, style: Style::new(), column: 0 };
    for span in first {
        line.push(&span.text, span.style);
    }
    let mut fresh = true;
    for word in words(spans, room) {
        if !fresh && line.column + word.space + word.width > indent + room {
            line.end();
            line.spaces(indent);
            fresh = true;
        }
        let style = word.parts.first().map_or(line.style, |part| part.style);
        if style != line.style {
            line.wear(Style::new());
        }
        if !fresh {
            line.spaces(word.space);
        }
        for part in &word.parts {
            line.push(&part.text, part.style);
        }
        fresh = false;
    }
    line.end();
}

/// A line that is being written.
struct Line<'a> {
    out: &'a mut String,
    /// What is switched on; neighbours in one style are not switched off between.
    style: Style,
    column: usize,
}

impl Line<'_> {
    fn push(&mut self, text: &str, style: Style) {
        self.wear(style);
        self.out.push_str(text);
        self.column += text.width();
    }

    fn spaces(&mut self, n: usize) {
        self.out.extend(std::iter::repeat_n(' ', n));
        self.column += n;
    }

    fn wear(&mut self, style: Style) {
        if style != self.style {
            // Writing to a String cannot fail.
            let _ = write!(self.out, "{:#}{style}", self.style);
            self.style = style;
        }
    }

    fn end(&mut self) {
        self.wear(Style::new());
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
        self.column = 0;
    }
}

/// The text, cut to `width` columns with an ellipsis where it is longer.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut column = 1;
    for c in text.chars() {
        column += c.width().unwrap_or(0);
        if column > width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// However narrow the terminal, so much is written beside the indentation.
const MIN_ROOM: usize = 20;

/// What is not broken: text without spaces, perhaps in several styles.
#[derive(Default)]
struct Word {
    /// Spaces before it.
    space: usize,
    parts: Vec<Span>,
    width: usize,
}

fn words(spans: &[Span], room: usize) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word::default();
    for span in spans {
        let mut part = String::new();
        let mut columns = 0;
        for c in span.text.chars() {
            let wide = c.width().unwrap_or(0);
            let full = !span.whole && word.width + columns + wide > room;
            if c == ' ' || full {
                take(&mut word, &mut part, &mut columns, span.style);
                if !word.parts.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            if c == ' ' {
                word.space += 1;
            } else {
                part.push(c);
                columns += wide;
            }
        }
        take(&mut word, &mut part, &mut columns, span.style);
    }
    if !word.parts.is_empty() {
        words.push(word);
    }
    words
}

fn take(word: &mut Word, part: &mut String, columns: &mut usize, style: Style) {
    if !part.is_empty() {
        word.width += std::mem::take(columns);
        word.parts.push(Span::new(std::mem::take(part), style));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn laid(text: &str, width: usize) -> String {
        let mut out = String::new();
        lay(&mut out, &[Span::new("> ", Style::new())], 2, &[Span::new(text, Style::new())], width);
        out
    }

    #[test]
    fn breaks_at_spaces_and_hangs() {
        assert_eq!(laid("aaaa bbbb cccc dddd eeee", 22), "> aaaa bbbb cccc dddd\n  eeee\n");
    }

    #[test]
    fn spans_that_touch_stay_together() {
        let spans = [Span::new("aaaaaaaaaaaaaa bbbbb", Style::new()), Span::new(",", Style::new().bold())];
        let mut out = String::new();
        lay(&mut out, &[], 0, &spans, 20);
        assert_eq!(anstream::adapter::strip_str(&out).to_string(), "aaaaaaaaaaaaaa\nbbbbb,\n");
    }

    #[test]
    fn cuts_with_an_ellipsis() {
        assert_eq!((cut("abcdef", 6).as_str(), cut("abcdefg", 6).as_str()), ("abcdef", "abcde…"));
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_character_lost(text in "[a-z中 ]{0,120}", width in 24usize..60) {
            let out = laid(&text, width);
            prop_assert!(out.lines().all(|line| line.width() <= width));
            let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace() && *c != '>').collect::<String>();
            prop_assert_eq!(letters(&out), letters(&text));
        }
    }
}
