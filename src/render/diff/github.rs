//! Workflow commands that a GitHub runner shows as annotations of the run.
//!
//! The lines are of SGLang's tree, not of the repository that the workflow runs in, so they stand in the message.

use super::{place, shown};
use crate::compare::change::{Change, Diff, Level};
use crate::render::annotation::{Severity, annotation};

const SEVERITIES: &[(Level, Severity)] =
    &[(Level::Breaking, Severity::Error), (Level::Behaviour, Severity::Warning), (Level::Cosmetic, Severity::Notice)];

pub fn github(diff: &Diff) -> String {
    diff.changes.iter().map(of_change).collect()
}

fn of_change(change: &Change) -> String {
    let severity = SEVERITIES.iter().find(|(level, _)| *level == change.level).map_or(Severity::Notice, |(_, s)| *s);
    let name = change.flag.as_deref().unwrap_or(&change.field);
    let mut message = change.message.clone();
    let sides = [("before", &change.before, &change.old), ("after", &change.after, &change.new)];
    for (label, value, at) in sides {
        let said: Vec<String> =
            shown(value).into_iter().chain(at.as_ref().map(|at| format!("({})", place(at)))).collect();
        if !said.is_empty() {
            message.push_str(&format!("\n{label}: {}", said.join(" ")));
        }
    }
    annotation(severity, None, &format!("{name}: {}", change.code.as_str()), &message)
}
