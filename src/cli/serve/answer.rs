//! What an answer says: the document, remarks beside it, and what was cut.

use anstream::adapter::strip_str;

use crate::cli::Options;
use crate::cli::console::Console;
use crate::cli::exit::Exit;

/// Bytes of a document in an answer.
pub const MAX_BYTES: usize = 200_000;

/// Texts in the order in which they are to be read.
#[derive(Debug)]
pub struct Answer(pub Vec<String>);

/// What a command writes, for a reader that is no terminal. `narrower` says how to ask for less.
///
/// # Errors
/// Those of the command.
pub fn of_command(
    options: &Options,
    narrower: &str,
    command: impl FnOnce(&mut Console<'_>) -> anyhow::Result<Exit>,
) -> anyhow::Result<Answer> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    command(&mut Console::new(&mut out, &mut err, options, None))?;
    let plain = |bytes: &[u8]| strip_str(&String::from_utf8_lossy(bytes)).to_string();
    let (document, cut) = bounded(plain(&out), narrower);
    let remarks = Some(plain(&err)).filter(|remarks| !remarks.is_empty());
    Ok(Answer(cut.into_iter().chain([document]).chain(remarks).collect()))
}

/// At most [`MAX_BYTES`], in whole lines where it has lines, and what to tell if there was more.
fn bounded(mut document: String, narrower: &str) -> (String, Option<String>) {
    if document.len() <= MAX_BYTES {
        return (document, None);
    }
    let all = document.len();
    let end = document.floor_char_boundary(MAX_BYTES);
    let line = document[..end].rfind('\n').map_or(end, |at| at + 1);
    document.truncate(line);
    (document, Some(format!("This answer is cut: {line} of {all} bytes follow. To get it whole, {narrower}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_document_ends_with_a_line_and_says_so() {
        let line = format!("{}\n", "é".repeat(40));
        let (document, cut) = bounded(line.repeat(10_000), "ask for less");
        assert!(document.len() <= MAX_BYTES && document.ends_with("é\n"));
        assert!(cut.is_some_and(|cut| cut.ends_with("of 810000 bytes follow. To get it whole, ask for less.")));
        let (document, cut) = bounded("é".repeat(MAX_BYTES), "");
        assert!(document.len() <= MAX_BYTES && cut.is_some());
        assert_eq!(bounded(line.clone(), ""), (line, None));
    }
}
