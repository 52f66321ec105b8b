//! Draws a field's flow: from the flag through the functions that handle the value to where it ends.
//!
//! [`picture`] chooses what is shown and groups it, [`layout`] gives each box its place, and a writer for each format
//! turns it into text. No edge is ever invented: a box is shown with a whole way to it, or not at all.

mod dot;
mod layout;
mod mermaid;
mod picture;
mod svg;

pub use dot::dot;
pub use mermaid::mermaid;
pub use picture::{Detail, Picture, picture};
pub use svg::svg;
pub(super) use svg::{STYLE, drawing};
