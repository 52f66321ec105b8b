//! What the value can trip: asserts, errors, choices, clamps and warnings.
//!
//! A constraint is a check that the value itself reaches (`tripped`, `malformed`), perhaps by way of a reason that is put
//! aside (`reasons`), one that stands under a test of it (`guarded`), one that decides whether the code that takes it runs
//! at all (`arms`, `gates`), or a bound put on it (`clamps`, `choices`). The condition of an assert is what must hold; that of an error or warning is what trips it.
//! A check on another quantity that the value was merely mixed into is left out.

mod arms;
mod asked;
pub mod carried;
mod choices;
mod clamps;
mod derived;
mod gates;
mod guarded;
mod malformed;
pub mod outcome;
mod reasons;
pub mod tripped;

use super::conditions;
use super::facts::Facts;
use super::report::{ActiveWhen, Constraint, Grade};
use super::wording::all_of;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;

pub fn claim(facts: &Facts, active_when: &[ActiveWhen]) -> Vec<Constraint> {
    let tests = tripped::tests(facts);
    let mut found = choices::find(facts);
    found.extend(tripped::find(facts, &tests));
    found.extend(reasons::find(facts));
    found.extend(malformed::find(facts));
    found.extend(clamps::find(facts, &tests));
    found.extend(guarded::find(facts, &tests));
    found.extend(arms::find(facts));
    found.extend(derived::find(facts));
    found.extend(gates::find(facts, active_when));
    // The nearest reason for a place is the one that was found first.
    let mut out: Vec<Constraint> = Vec::new();
    for found in found {
        let path = &facts.shared.program().file(found.file).path;
        if !out.iter().any(|c| c.path == *path && c.line == found.line && c.kind == found.kind) {
            out.push(Constraint {
                kind: found.kind.to_owned(),
                condition: found.condition,
                message: found.message,
                path: path.clone(),
                line: found.line,
                grade: match conditions::is_whole(facts.shared, found.file, found.line) {
                    true => found.grade,
                    false => found.grade.min(Grade::Inferred),
                },
            });
        }
    }
    out.sort_by(|a, b| (&a.path, a.line, &a.kind).cmp(&(&b.path, b.line, &b.kind)));
    out
}

/// One constraint, not yet as the report has it.
pub struct Found {
    kind: &'static str,
    file: FileId,
    line: u32,
    condition: String,
    message: Option<String>,
    grade: Grade,
}

/// Longer conditions are cut; the place has the whole.
pub const MAX_CONDITION: usize = 240;

/// The condition with the tests around the statement that checks it.
fn under_guards(facts: &Facts, file: FileId, stmt: StmtId, kind: &str, condition: &str) -> String {
    let mut texts = conditions::called_under(facts.shared, file, stmt);
    texts.extend(conditions::nearest_guards(facts.shared, file, stmt));
    cut(match (texts.is_empty(), kind) {
        (true, _) => condition.to_owned(),
        (false, "assert") => {
            let room = MAX_CONDITION.saturating_sub(condition.chars().count());
            format!("{condition}, when {}", nearest_of(&texts, room))
        }
        (false, _) => {
            texts.push(condition.to_owned());
            nearest_of(&texts, MAX_CONDITION)
        }
    })
}

/// All of these, outer first, as far as there is room; what is left out leaves a mark.
pub fn nearest_of(texts: &[String], room: usize) -> String {
    let fits = |from: &usize| all_of(&texts[*from..]).chars().count() <= room;
    match (0..texts.len()).find(fits).unwrap_or(texts.len().saturating_sub(1)) {
        0 => all_of(texts),
        from => format!("… and {}", all_of(&texts[from..])),
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_CONDITION) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Does the code belong to the record's own resolution: one of its methods, or a step that is kept beside it?
fn in_record(facts: &Facts, at: ExprRef) -> bool {
    let shared = facts.shared;
    shared.processes.function_around(at).is_some_and(|f| shared.startup.resolves(f))
}
