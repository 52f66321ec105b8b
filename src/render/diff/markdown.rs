//! For a pull request comment: the counts, a table of what matters, the rest folded.

use super::{counts, place, shown, title};
use crate::compare::change::{Change, Diff, Level, Side};
use crate::meaning::report::Grade;
use crate::render::markdown::{cell, code, prose};
use crate::render::untrusted::without_log_commands;

/// Longer tables are folded.
const UNFOLDED: usize = 12;
/// Text in a cell is cut to so many characters.
const LONGEST: usize = 300;

const HEADINGS: &[(Level, &str)] = &[
    (Level::Breaking, "Breaking: a command line that worked fails"),
    (Level::Behaviour, "Behaviour: the same command line does something else"),
    (Level::Cosmetic, "Cosmetic"),
];

pub fn markdown(diff: &Diff) -> String {
    let mut out = format!("### {}\n\n**{}**\n", prose(&title(diff)), counts(diff));
    for (level, heading) in HEADINGS {
        let changes: Vec<&Change> = diff.changes.iter().filter(|c| c.level == *level).collect();
        if !changes.is_empty() {
            section(&mut out, *level, heading, &changes);
        }
    }
    without_log_commands(out)
}

fn section(out: &mut String, level: Level, heading: &str, changes: &[&Change]) {
    let folded = level == Level::Cosmetic || changes.len() > UNFOLDED;
    if folded {
        out.push_str(&format!("\n<details>\n<summary>{heading} ({})</summary>\n", changes.len()));
    } else {
        out.push_str(&format!("\n#### {heading}\n"));
    }
    out.push_str("\n| argument | change | before | after |\n| --- | --- | --- | --- |\n");
    for change in changes {
        let name = change.flag.as_deref().unwrap_or(&change.field);
        let doubt = if change.grade < Grade::Proved { " (inferred)" } else { "" };
        let says = format!("{}: {}{doubt}", code(change.code.as_str()), prose(&cut(&change.message)));
        let cells = [
            code(name),
            says,
            side(shown(&change.before), change.old.as_ref()),
            side(shown(&change.after), change.new.as_ref()),
        ];
        out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
    }
    if folded {
        out.push_str("\n</details>\n");
    }
}

fn side(value: Option<String>, at: Option<&Side>) -> String {
    let value = value.map(|v| code(&cut(&v)));
    let at = at.map(|at| code(&place(at)));
    value.into_iter().chain(at).collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
