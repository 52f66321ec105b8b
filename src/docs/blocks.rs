//! The generated blocks of a text: what stands between two markers, each on a line of its own.
//!
//! ```text
//! <!-- argtrace:begin --section "Hierarchical cache" -->
//! <!-- argtrace:end -->
//! ```
//!
//! A marker inside a fenced code block is an example, and left alone.

use std::ops::Range;

const BEGIN: &str = "<!-- argtrace:begin";
const END: &str = "<!-- argtrace:end";
const CLOSE: &str = "-->";

/// A block, with its options as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of the begin marker, from 1.
    pub line: usize,
    pub options: String,
    /// Between the markers' lines, in bytes.
    content: Range<usize>,
}

/// A marker that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadMarker {
    pub line: usize,
    pub what: String,
}

/// In the order of the text.
///
/// # Errors
/// If a block has no end or no beginning, stands in another one, or a marker is not closed on its line.
pub fn blocks(text: &str) -> Result<Vec<Block>, BadMarker> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    let mut fence: Option<Fence> = None;
    let mut at = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let bad = |what: &str| Err(BadMarker { line: i + 1, what: what.to_owned() });
        let trimmed = line.trim();
        let after = at + line.len();
        // What was generated may hold anything that looks like a fence.
        if open.is_none() && Fence::toggle(&mut fence, line) {
            at = after;
            continue;
        }
        if let Some(rest) = trimmed.strip_prefix(BEGIN).filter(|rest| rest.is_empty() || rest.starts_with([' ', '-'])) {
            let Some(options) = rest.strip_suffix(CLOSE) else { return bad("the marker is not closed by -->") };
            if let Some(open) = &open {
                return bad(&format!("a block begins in the one of line {}", open.line));
            }
            open = Some(Block { line: i + 1, options: options.trim().to_owned(), content: after..after });
        } else if trimmed.starts_with(END) && trimmed.ends_with(CLOSE) {
            let Some(mut block) = open.take() else { return bad("a block ends that did not begin") };
            block.content.end = at;
            found.push(block);
        }
        at = after;
    }
    match open {
        Some(block) => Err(BadMarker { line: block.line, what: String::from("the block has no end") }),
        None => Ok(found),
    }
}

/// The text with other contents, in the order of the blocks; lines end as those of the text do.
pub fn replaced<'b>(text: &str, contents: impl IntoIterator<Item = (&'b Block, String)>) -> String {
    let windows = text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (block, content) in contents {
        out.push_str(text.get(at..block.content.start).unwrap_or_default());
        out.push_str(&if windows { content.replace('\n', "\r\n") } else { content });
        at = block.content.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// An open code fence: its character, and how many of them.
struct Fence(char, usize);

impl Fence {
    /// Opens or closes a fence; is the line inside one, or one itself?
    fn toggle(fence: &mut Option<Fence>, line: &str) -> bool {
        let indented = line.len() - line.trim_start_matches(' ').len() > 3;
        let line = line.trim();
        let first = line.chars().next().filter(|c| matches!(c, '`' | '~') && !indented);
        let length = first.map_or(0, |first| line.chars().take_while(|c| *c == first).count());
        match fence {
            Some(Fence(open, least)) => {
                if first == Some(*open) && length >= *least && line.chars().count() == length {
                    *fence = None;
                }
                true
            }
            None => {
                if let Some(first) = first.filter(|_| length >= 3) {
                    *fence = Some(Fence(first, length));
                }
                fence.is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_and_replaced() {
        let text = "a\n<!-- argtrace:begin --fields 'x y' -->\nold\n<!-- argtrace:end -->\nb\n```\n<!-- argtrace:begin -->\n```\n<!-- argtrace:begin-->\n<!-- argtrace:end -->";
        let found = blocks(text).unwrap();
        assert_eq!(
            found.iter().map(|b| (b.line, b.options.as_str())).collect::<Vec<_>>(),
            [(2, "--fields 'x y'"), (9, "")]
        );
        let new = replaced(text, found.iter().zip(["NEW\n".to_owned(), "2\n".to_owned()]));
        assert_eq!(new, text.replace("old", "NEW").replace("n-->\n<", "n-->\n2\n<"));
        assert_eq!(blocks(&new).unwrap().len(), 2);
    }

    #[test]
    fn lines_end_as_those_of_the_text() {
        let text = "<!-- argtrace:begin -->\r\n<!-- argtrace:end -->\r\n";
        let found = blocks(text).unwrap();
        assert_eq!(replaced(text, found.iter().map(|b| (b, "x\n".to_owned()))), text.replacen("\r\n", "\r\nx\r\n", 1));
    }

    #[test]
    fn a_marker_without_its_other_is_refused() {
        let line = |text: &str| blocks(text).unwrap_err().line;
        assert_eq!(line("\n<!-- argtrace:begin -->\n"), 2);
        assert_eq!(line("<!-- argtrace:end -->"), 1);
        assert_eq!(line("<!-- argtrace:begin -->\n<!-- argtrace:begin -->\n"), 2);
        assert_eq!(line("<!-- argtrace:begin\n-->"), 1);
    }
}
