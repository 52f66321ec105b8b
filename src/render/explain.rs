//! Writes what codes mean, for a terminal.

use anstyle::Style;

use super::wrap::{Span, lay};

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// One code.
pub struct Explanation {
    pub code: &'static str,
    /// What it is a code of: `change`, `finding`.
    pub of: &'static str,
    pub level: &'static str,
    pub title: &'static str,
    pub text: &'static str,
    pub example: &'static str,
    /// What to write into the configuration.
    pub allow: Option<String>,
}

/// All that is known of some codes.
pub fn told(explanations: &[&Explanation], width: usize) -> String {
    let mut out = String::new();
    for (i, explanation) in explanations.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let heading = [
            Span::new(explanation.code, STRONG),
            Span::new(format!("  {}, at most {}", explanation.of, explanation.level), FAINT),
        ];
        lay(&mut out, &[], 2, &heading, width);
        for (label, text) in [("what", explanation.title), ("why", explanation.text), ("example", explanation.example)]
        {
            let first = [Span::new(format!("  {label:9}"), FAINT)];
            lay(&mut out, &first, 11, &[Span::new(text, PLAIN)], width);
        }
        for (n, line) in explanation.allow.iter().flat_map(|allow| allow.lines()).enumerate() {
            let label = if n == 0 { "allow" } else { "" };
            out.push_str(&format!("  {label:9}{line}\n"));
        }
    }
    out
}

/// A line for each code.
pub fn listed(explanations: &[Explanation], width: usize) -> String {
    let widest = explanations.iter().map(|e| e.code.len()).max().unwrap_or(0);
    let mut out = String::new();
    for explanation in explanations {
        let first = [Span::new(format!("{:widest$}  ", explanation.code), STRONG)];
        let line = [
            Span::new(format!("{:8} {:9} ", explanation.of, explanation.level), FAINT),
            Span::new(explanation.title, PLAIN),
        ];
        lay(&mut out, &first, widest + 2, &line, width);
    }
    out
}
