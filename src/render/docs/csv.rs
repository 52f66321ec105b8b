//! Comma-separated, a row an argument, with its section and field before what was asked for.

use super::table::Table;
use crate::render::claims::Sentence;
use crate::render::fields::csv_cell;
use crate::render::untrusted::without_log_commands;

pub fn csv(table: &Table<'_>) -> String {
    let names = ["section", "field"].into_iter().chain(table.columns.iter().map(|column| column.name()));
    let mut out = names.collect::<Vec<_>>().join(",") + "\n";
    for (heading, rows) in table.sections() {
        for row in rows {
            let cells = row.cells.iter().map(|lines| lines.iter().map(Sentence::text).collect::<Vec<_>>().join("; "));
            let cells = [heading.to_owned(), row.entry.field.clone()].into_iter().chain(cells);
            out.push_str(&cells.map(|text| csv_cell(&text)).collect::<Vec<_>>().join(","));
            out.push('\n');
        }
    }
    without_log_commands(out)
}
