//! Turns documents into text, Markdown, HTML, pictures, CSV and JSON.
//!
//! It never reads a file, prints or decides what is true: the document comes in finished, a `String` goes out. Text from
//! the tree that was read is untrusted, and every such string passes through [`untrusted`] on its way out.

mod annotation;
pub mod audit;
pub mod book;
pub mod brief;
pub mod budget;
mod claims;
pub mod diff;
pub mod docs;
pub mod explain;
pub mod fields;
mod grades;
pub mod graph;
mod html;
pub mod json;
pub mod markdown;
mod outline;
mod sarif;
mod summary;
mod table;
pub mod text;
pub mod untrusted;
mod wrap;
