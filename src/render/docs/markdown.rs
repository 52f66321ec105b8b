//! GitHub Markdown, in the shape of the pages that projects keep by hand.

use super::table::Table;
use super::title;
use crate::render::markdown::{cell, prose, sentence};
use crate::render::untrusted::without_log_commands;

pub fn markdown(table: &Table<'_>) -> String {
    let mut parts = Vec::new();
    if table.titled {
        parts.push(format!("# {}\n", prose(&title(table))));
    }
    let headings: Vec<&str> = table.columns.iter().map(|column| column.heading()).collect();
    for (heading, rows) in table.sections() {
        if table.level > 0 {
            parts.push(format!("{} {}\n", "#".repeat(usize::from(table.level)), prose(heading)));
        }
        let mut out = format!("| {} |\n|{}\n", headings.join(" | "), " --- |".repeat(headings.len()));
        for row in rows {
            let cells = row.cells.iter().map(|lines| {
                let lines: Vec<String> = lines.iter().map(|says| cell(&sentence(says))).collect();
                lines.join("<br>")
            });
            out.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
        }
        parts.push(out);
    }
    without_log_commands(parts.join("\n"))
}
