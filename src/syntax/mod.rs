//! Parses Python and lowers it to a compact form that keeps every expression.
//!
//! It reads one file at a time: names are not resolved here, and nothing in a file can make it fail.

pub mod defuse;
pub mod ir;
mod lines;
pub mod lower;
mod nesting;
