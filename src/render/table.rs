//! Lays rows of cells out as a table for a terminal, or for a pipe.
//!
//! On a terminal a table keeps to the columns there are: cells wrap, those of the first column last. Elsewhere a row is
//! a line however long it gets, so that it can be searched. Cells are made inert here; nothing else is done to them.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

use unicode_width::UnicodeWidthStr;

use super::untrusted::inert;

/// A rule under the header and nothing else.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Columns between two cells.
const PADDING: u16 = 2;

/// A table of at least this many rows is as wide as its usual cells; the others wrap.
const MANY: usize = 20;

/// `width` is that of the terminal, `None` where there is none. A cell may hold several lines where it is.
pub fn table<const N: usize>(header: [&str; N], rows: &[[String; N]], width: Option<usize>) -> String {
    let mut table = Table::new();
    table.force_no_tty().set_header(header);
    for row in rows {
        table.add_row(row.each_ref().map(|cell| cell.lines().map(inert).collect::<Vec<_>>().join("\n")));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, PADDING));
    }
    match width {
        Some(width) => fit(&mut table, header, rows, width),
        None => {
            table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table.trim_fmt() + "\n"
}

fn fit<const N: usize>(table: &mut Table, header: [&str; N], rows: &[[String; N]], width: usize) {
    table.load_style(RULED).set_content_arrangement(ContentArrangement::Dynamic).set_width(narrowed(width));
    let usual = usual_widths(header, rows).map(|usual| narrowed(usual).saturating_add(PADDING));
    // Half a name or path is of no use, so the first column gives way last.
    let widest = table.column_max_content_widths().first().copied().unwrap_or(0).saturating_add(PADDING);
    for (i, (column, usual)) in table.column_iter_mut().zip(usual).enumerate() {
        if i == 0 && usize::from(widest) <= width / 2 {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(widest)));
        } else if rows.len() >= MANY {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(usual)));
        }
    }
}

/// For each column the width that its header and all but one of forty cells keep to.
fn usual_widths<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|i| {
        let mut widths: Vec<usize> = rows.iter().map(|row| cell_width(&row[i])).collect();
        widths.sort_unstable();
        let usual = widths.get(widths.len().saturating_sub(1) * 39 / 40).copied().unwrap_or(0);
        usual.max(header[i].width())
    })
}

/// The columns that a table needs whose cells wrap at the widths given.
pub fn least_width<const N: usize>(header: [&str; N], rows: &[[String; N]], wrapped: [usize; N]) -> usize {
    let usual = usual_widths(header, rows);
    (0..N).map(|i| usual[i].min(wrapped[i]) + usize::from(PADDING)).sum()
}

fn cell_width(cell: &str) -> usize {
    cell.lines().map(|line| inert(line).width()).max().unwrap_or(0)
}

fn narrowed(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}
