//! The picture for Mermaid, which GitHub draws, the boxes of a file in a subgraph.

use super::picture::{Kind, Picture, by_file};
use crate::meaning::report::Grade;
use crate::render::untrusted::inert;

pub fn mermaid(picture: &Picture) -> String {
    let mut out = String::from("flowchart LR\n");
    for (n, (path, boxes)) in by_file(picture).into_iter().enumerate() {
        let indent = if path.is_empty() { "  " } else { "    " };
        if !path.is_empty() {
            out.push_str(&format!("  subgraph f{n}[\"{}\"]\n", text(path)));
        }
        for i in boxes {
            let drawn = &picture.boxes[i];
            let title = if drawn.kind == Kind::Sink { format!("ends in {}", drawn.title) } else { drawn.title.clone() };
            let lines: Vec<String> = std::iter::once(&title).chain(&drawn.lines).map(|line| text(line)).collect();
            let [open, close] = match drawn.kind {
                Kind::Flag => ["([", "])"],
                Kind::Sink => ["[[", "]]"],
                Kind::Read | Kind::Step => ["[", "]"],
            };
            out.push_str(&format!("{indent}n{i}{open}\"{}\"{close}\n", lines.join("<br/>")));
        }
        if !path.is_empty() {
            out.push_str("  end\n");
        }
    }
    for link in &picture.links {
        let arrow = match (link.spawn, link.grade < Grade::Proved) {
            (true, _) => "==>",
            (false, true) => "-.->",
            (false, false) => "-->",
        };
        let label = if link.label.is_empty() { String::new() } else { format!("|\"{}\"|", text(&link.label)) };
        out.push_str(&format!("  n{} {arrow}{label} n{}\n", link.from, link.to));
    }
    out
}

/// Text that Mermaid shows as it is: what it acts on is written as an entity.
fn text(text: &str) -> String {
    let mut out = String::new();
    for c in inert(text).chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, ' ' | '_' | '.' | ':' | '/' | '-' | '=' | ',' | '+' | '…') => {
                out.push(c)
            }
            c => out.push_str(&format!("#{};", u32::from(c))),
        }
    }
    out
}
