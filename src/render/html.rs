//! Text from the tree as HTML: shown, never markup.

use super::claims::{Piece, Sentence};
use super::untrusted::inert;

/// Safe as the content of an element and as the value of a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in inert(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn code(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("<code>{}</code>", escaped(text)),
    }
}

pub(super) fn sentence(says: &Sentence) -> String {
    let pieces = says.0.iter().map(|piece| match piece {
        Piece::Plain(text) | Piece::Prose(text) => escaped(text),
        Piece::Code(text) | Piece::Term(text) => code(text),
    });
    pieces.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(escaped("<b a='1' c=\"2\">&amp;\n"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;\\n");
    }
}
