//! Writes a document as JSON: pretty, in the order of its types, with a newline at the end.
//!
//! It never changes what a parser reads; only characters that would steer a terminal are written as `\u` escapes.

use serde::Serialize;

use super::untrusted::inert_json;

/// # Errors
/// If the document cannot be serialised, which no document of this crate causes.
pub fn json(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = inert_json(&serde_json::to_string_pretty(document)?).into_owned();
    text.push('\n');
    Ok(text)
}

/// The same in one line.
///
/// # Errors
/// As [`json`].
pub fn compact(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = inert_json(&serde_json::to_string(document)?).into_owned();
    text.push('\n');
    Ok(text)
}
