//! How a grade is shown: as a mark before the claim, as a word, and in the legend under a text.

use anstyle::Style;

use super::wrap::{Span, lay};
use crate::meaning::report::Grade;

/// What stands before a claim that is not proved, and what that means.
const MARKS: &[(Grade, &str, &str)] = &[
    (Grade::Inferred, "~", "inferred: a step rests on a name, a heuristic or a join"),
    (Grade::Documented, "?", "documented: only the help text says so"),
];

const FAINT: Style = Style::new().dimmed();

/// Empty for what needs none.
pub fn mark(grade: Grade) -> &'static str {
    MARKS.iter().find(|(marked, ..)| *marked == grade).map_or("", |(_, mark, _)| mark)
}

pub fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Proved => "proved",
        Grade::Inferred => "inferred",
        Grade::Documented => "documented",
        Grade::Unknown => "unknown",
    }
}

/// Explains the marks of the grades that are shown; nothing if none has a mark.
pub fn legend(out: &mut String, shown: &[Grade], width: usize) {
    let told: Vec<String> = MARKS
        .iter()
        .filter(|(grade, ..)| shown.contains(grade))
        .map(|(_, mark, meaning)| format!("{mark} {meaning}"))
        .collect();
    if !told.is_empty() {
        out.push('\n');
        lay(out, &[], 2, &[Span::new(told.join("; "), FAINT)], width);
    }
}
