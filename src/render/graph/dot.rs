//! The picture for Graphviz, the boxes of a file in a cluster.

use super::picture::{Box, Kind, Picture, by_file};
use crate::meaning::report::Grade;
use crate::render::untrusted::inert;

pub fn dot(picture: &Picture) -> String {
    let mut out = format!(
        "digraph {} {{\n  rankdir=LR; node [shape=box, fontname=monospace]; edge [fontname=monospace];\n  label={}; labelloc=t;\n",
        quoted(&picture.title),
        quoted(&[picture.title.as_str(), &picture.caption].join("\n"))
    );
    for (n, (path, boxes)) in by_file(picture).into_iter().enumerate() {
        let nodes = boxes.into_iter().map(|i| node(i, &picture.boxes[i]));
        match path.is_empty() {
            true => out.extend(nodes.map(|node| format!("  {node}"))),
            false => {
                out.push_str(&format!("  subgraph cluster_{n} {{\n    label={};\n", quoted(path)));
                out.extend(nodes.map(|node| format!("    {node}")));
                out.push_str("  }\n");
            }
        }
    }
    for link in &picture.links {
        let mut attributes = vec![format!("label={}", quoted(&link.label))];
        if link.grade < Grade::Proved {
            attributes.push(String::from("style=dashed"));
        }
        if link.spawn {
            attributes.push(String::from("penwidth=2.5"));
        }
        out.push_str(&format!("  n{} -> n{} [{}];\n", link.from, link.to, attributes.join(", ")));
    }
    out.push_str("}\n");
    out
}

fn node(i: usize, drawn: &Box) -> String {
    let title = if drawn.kind == Kind::Sink { format!("ends in {}", drawn.title) } else { drawn.title.clone() };
    let lines: Vec<&str> = std::iter::once(title.as_str()).chain(drawn.lines.iter().map(String::as_str)).collect();
    let color = match drawn.kind {
        Kind::Flag => ", color=blue",
        Kind::Read => ", color=darkgreen",
        Kind::Step => "",
        Kind::Sink => ", color=darkorange3",
    };
    format!("n{i} [label={}{color}];\n", quoted(&lines.join("\n")))
}

/// A text in quotes, its lines ended to the left.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| inert(line).replace('\\', "\\\\").replace('"', "\\\""));
    let lines: Vec<String> = lines.collect();
    format!("\"{}{}\"", lines.join("\\l"), if lines.len() > 1 { "\\l" } else { "" })
}
