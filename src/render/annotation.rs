//! One workflow command of GitHub's runner: `::error file=…,line=…,title=…::message`.
//!
//! What the message holds is escaped as the runner asks for it, so that text from the tree stays text.

use super::untrusted::inert;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Notice,
}

/// A line with its newline. `at` is a file of the repository and a line in it.
pub fn annotation(severity: Severity, at: Option<(&str, u32)>, title: &str, message: &str) -> String {
    let command = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Notice => "notice",
    };
    let place = at.map_or_else(String::new, |(file, line)| format!("file={},line={line},", property(file)));
    format!("::{command} {place}title={}::{}\n", property(title), data(message))
}

/// The text of a message: lines stay lines.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| inert(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    inert(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_command() {
        let line = annotation(Severity::Error, Some(("a,b.sh", 3)), "x: y", "100%\n::error::\u{1b}[31m");
        assert_eq!(line, "::error file=a%2Cb.sh,line=3,title=x%3A y::100%25%0A::error::\\x1b[31m\n");
    }
}
