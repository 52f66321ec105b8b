//! Writes documentation: tables of arguments, and where tables that people keep contradict the source.

mod columns;
mod csv;
pub mod drift;
mod html;
mod markdown;
mod table;

pub use columns::Column;
pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use table::{Document, Table, document};

/// Tells nothing of where the source came from, so that the same code gives the same page.
fn title(table: &Table<'_>) -> String {
    let version = table.source.version.as_deref().unwrap_or("of unknown version");
    format!("Server arguments of {} {version}", table.source.package)
}
