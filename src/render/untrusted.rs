//! Makes text from the tree inert: what it holds is shown, never obeyed.
//!
//! The tree is untrusted. A help text may hold escape sequences that retitle a terminal, a bidi override that shows code
//! in another order than it runs, or a line that a CI log takes for a command. Here such characters become visible
//! escapes. This module never judges, drops or shortens what it is given, and what has passed through it once passes
//! through again unchanged.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that steer a terminal, a log or a reader's eye rather than show something: controls (C0, DEL, C1), soft
/// hyphen, bidi marks and overrides (the Trojan Source attack, CVE-2021-42574), zero-width and invisible operators,
/// line and paragraph separators, byte order mark, annotations and tags.
const STEERING: &[(char, char)] = &[
    ('\u{0}', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The openings of commands that Azure and GitHub runners obey wherever they stand in a line of a log.
const LOG_COMMANDS: &[&str] = &["##[", "##vso["];

fn steers(c: char) -> bool {
    STEERING.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// One line of harmless text that shows everything `text` holds.
pub fn inert(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) && !LOG_COMMANDS.iter().any(|c| text.contains(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c.is_ascii() && steers(c) => push(&mut shown, format_args!("\\x{:02x}", u32::from(c))),
            c if steers(c) => push(&mut shown, format_args!("\\u{{{:x}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    for command in LOG_COMMANDS {
        shown = shown.replace(command, &format!("#\\x23{}", &command[2..]));
    }
    Cow::Owned(shown)
}

/// The same for a finished JSON text: steering characters can stand only inside its strings, where a `\u` escape is the
/// same character to whoever parses it.
pub fn inert_json(json: &str) -> Cow<'_, str> {
    let in_a_string = |c: char| steers(c) && !matches!(c, '\n' | '\r' | '\t');
    if !json.contains(in_a_string) && !LOG_COMMANDS.iter().any(|c| json.contains(c)) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if in_a_string(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                push(&mut escaped, format_args!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    for command in LOG_COMMANDS {
        escaped = escaped.replace(command, &format!("#\\u0023{}", &command[2..]));
    }
    Cow::Owned(escaped)
}

/// A finished text in which no line begins with `::`, which a GitHub runner takes for a command (`::error file=...`).
/// Styles that this program put before it are no protection: they are stripped when the output is piped.
pub fn without_log_commands(text: String) -> String {
    if !text.lines().any(is_log_command) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        if is_log_command(line) {
            let at = line.find("::").unwrap_or(0);
            safe.push_str(&line[..at]);
            safe.push('\\');
            safe.push_str(&line[at..]);
        } else {
            safe.push_str(line);
        }
    }
    safe
}

fn is_log_command(line: &str) -> bool {
    let mut rest = line.trim_start();
    while let Some(style) = rest.strip_prefix("\u{1b}[") {
        match style.split_once('m') {
            Some((_, after)) => rest = after.trim_start(),
            None => break,
        }
    }
    rest.starts_with("::")
}

fn push(text: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(piece);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(inert("int(host_size * 1e9) # 中文"), Cow::Borrowed(_)));
    }

    #[test]
    fn escapes_are_shown() {
        assert_eq!(inert("a\x1b[31m\u{202e}b\n\u{9b}2J"), "a\\x1b[31m\\u{202e}b\\n\\u{9b}2J");
    }

    #[test]
    fn commands_of_a_log_are_broken() {
        assert_eq!(inert("x ##vso[task.x]##[error]"), "x #\\x23vso[task.x]#\\x23[error]");
        assert_eq!(without_log_commands("a\n  \x1b[1m::error::x\nb::c\n".into()), "a\n  \x1b[1m\\::error::x\nb::c\n");
    }

    #[test]
    fn json_stays_the_same_document() {
        let value = serde_json::json!({"a\u{202e}": "\u{1b}\u{9b}\u{7f}\u{e0041}##[x]"});
        let json = serde_json::to_string_pretty(&value).unwrap();
        let safe = inert_json(&json);
        assert!(!safe.contains(|c| steers(c) && c != '\n') && !safe.contains("##["));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }

    proptest! {
        #[test]
        fn nothing_steers_afterwards(text in any::<String>()) {
            let once = inert(&text).into_owned();
            prop_assert!(!once.contains(steers));
            prop_assert_eq!(inert(&once).into_owned(), once.clone());
        }
    }
}
