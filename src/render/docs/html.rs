//! HTML: tables to stand in another page, or a page of their own.

use super::table::Table;
use super::title;
use crate::render::html::{escaped, sentence};

pub fn html(table: &Table<'_>) -> String {
    let mut out = String::new();
    if table.titled {
        let title = escaped(&title(table));
        out.push_str(&format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<h1>{title}</h1>\n"
        ));
    }
    for (heading, rows) in table.sections() {
        if table.level > 0 {
            out.push_str(&format!("<h{level}>{}</h{level}>\n", escaped(heading), level = table.level));
        }
        let headings =
            table.columns.iter().map(|column| format!("<th scope=\"col\">{}</th>", escaped(column.heading())));
        out.push_str(&format!("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n", headings.collect::<String>()));
        for row in rows {
            let cells = row.cells.iter().map(|lines| {
                let lines: Vec<String> = lines.iter().map(sentence).collect();
                format!("<td>{}</td>", lines.join("<br>"))
            });
            out.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
        }
        out.push_str("</tbody>\n</table>\n");
    }
    if table.titled {
        out.push_str("</html>\n");
    }
    out
}
