//! Lays rows of cells out as a table for a terminal, or for a pipe.
//!
//! On a terminal a table keeps to the columns there are: cells wrap, those of the first column last. Elsewhere a row is
//! a line however long it gets, so that it can be searched. Cells are made inert here; nothing else is done to them.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

use super::untrusted::inert;

/// A rule under the header and nothing else.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Columns between two cells.
const PADDING: usize = 2;

/// `width` is that of the terminal, `None` where there is none. A cell may hold several lines where it is.
pub fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>, width: Option<usize>) -> String {
    let mut table = Table::new();
    table.force_no_tty().set_header(header);
    for row in &rows {
        table.add_row(row.each_ref().map(|cell| cell.lines().map(inert).collect::<Vec<_>>().join("\n")));
    }
    match width {
        Some(width) => fit(&mut table, &rows, width),
        None => {
            table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
            for column in table.column_iter_mut() {
                column.set_padding((0, PADDING as u16));
            }
        }
    }
    table.trim_fmt() + "\n"
}

fn fit<const N: usize>(table: &mut Table, rows: &[[String; N]], width: usize) {
    table
        .load_style(RULED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    let usual: Vec<usize> = (0..N).map(|i| usual_width(rows, i)).collect();
    // Half a name or path is of no use, so the first column gives way last.
    let widest = table.column_max_content_widths().first().copied().map_or(0, usize::from) + PADDING;
    for (i, column) in table.column_iter_mut().enumerate() {
        let constraint = match i {
            0 if widest <= width / 2 => Some(ColumnConstraint::Absolute(fixed(widest))),
            // Few long cells wrap, so that all others have room.
            _ if rows.len() >= MANY => Some(ColumnConstraint::UpperBoundary(fixed(usual[i] + PADDING))),
            _ => None,
        };
        if let Some(constraint) = constraint {
            column.set_constraint(constraint);
        }
    }
}

/// In a table of so many rows a column is as wide as its usual cells.
const MANY: usize = 20;

/// The width that nineteen of twenty cells keep to.
fn usual_width<const N: usize>(rows: &[[String; N]], column: usize) -> usize {
    use unicode_width::UnicodeWidthStr;
    let mut widths: Vec<usize> =
        rows.iter().map(|row| row[column].lines().map(|line| inert(line).width()).max().unwrap_or(0)).collect();
    widths.sort_unstable();
    widths.get((widths.len() * 19 / 20).min(widths.len().saturating_sub(1))).copied().unwrap_or(0)
}

fn fixed(width: usize) -> Width {
    Width::Fixed(u16::try_from(width).unwrap_or(u16::MAX))
}
