//! Under which heading does a class body declare a field?
//!
//! Headings are comments: a banner (a title between rules), or, in a class without banners, a comment that follows an
//! empty line. It never reads words into them; a comment on one field is no heading.

use crate::syntax::ir::*;

/// The heading over a line of the class, shortened to its title.
pub fn of(ir: &FileIr, class: &Class, line: u32) -> Option<String> {
    let inside: Vec<&(u32, String)> =
        ir.comments.iter().filter(|(at, _)| *at >= class.span.line && *at <= class.span.end_line).collect();
    let has_banners = inside.iter().any(|(_, text)| is_rule(text));
    let mut heading = None;
    let adjacent = |i: usize| match (i.checked_sub(1).and_then(|j| inside.get(j)), inside.get(i)) {
        (Some((before, _)), Some((at, _))) => before + 1 == *at,
        _ => false,
    };
    for (i, (at, text)) in inside.iter().enumerate().filter(|(_, (at, _))| *at < line) {
        let opens = match has_banners {
            // The line after the rule that opens a banner, not after the one that closes it.
            true => {
                adjacent(i)
                    && !adjacent(i - 1)
                    && !is_rule(text)
                    && inside.get(i - 1).is_some_and(|(_, above)| is_rule(above))
            }
            false => !adjacent(i) && stands_apart(ir, class, *at),
        };
        if opens && over_a_field(ir, class, *at) {
            heading = Some(title(text));
        }
    }
    heading.filter(|t| !t.is_empty())
}

/// The comment lines directly over a line, as one text.
pub fn comment_above(ir: &FileIr, line: u32) -> Option<String> {
    let mut lines = Vec::new();
    let mut at = line.checked_sub(1)?;
    while let Ok(i) = ir.comments.binary_search_by_key(&at, |(l, _)| *l) {
        let Some((_, text)) = ir.comments.get(i) else { break };
        lines.push(text.as_str());
        at = at.saturating_sub(1);
    }
    lines.reverse();
    let text = lines.join(" ");
    (!text.is_empty()).then_some(text)
}

fn is_rule(text: &str) -> bool {
    text.len() >= 5 && text.chars().all(|c| matches!(c, '-' | '=' | '#' | '*'))
}

/// Is the line over this comment empty, or the head of the class?
fn stands_apart(ir: &FileIr, class: &Class, line: u32) -> bool {
    let before = class.body.iter().map(|s| ir.stmt(*s).span).rfind(|s| s.line < line);
    before.is_none_or(|s| s.end_line + 1 < line)
}

/// A heading of fields; a comment over other statements of the class is none.
fn over_a_field(ir: &FileIr, class: &Class, line: u32) -> bool {
    let next = class.body.iter().map(|s| ir.stmt(*s)).find(|s| s.span.line > line);
    next.is_some_and(|s| matches!(s.kind, Stmt::AnnAssign { .. }))
}

fn title(text: &str) -> String {
    let text = text.split_once(": ").map_or(text, |(head, _)| head);
    text.trim_matches(|c: char| matches!(c, '-' | '=' | '#' | '*') || c.is_whitespace())
        .trim_end_matches('.')
        .to_owned()
}
