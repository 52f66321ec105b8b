//! What the value can trip: asserts, errors, choices, clamps and warnings.
//!
//! A constraint is a check that the value itself reaches (`tripped`, `malformed`), one that stands under a test of it
//! (`guarded`), one that decides whether the code that takes it runs at all (`arms`, `gates`), or a bound put on it
//! (`clamps`, `choices`). The condition of an assert is what must hold; that of an error or warning is what trips it.
//! A check on another quantity that the value was merely mixed into is left out.

mod arms;
mod carried;
mod choices;
mod clamps;
mod derived;
mod gates;
mod guarded;
mod malformed;
pub mod outcome;
pub mod tripped;

use super::facts::Facts;
use super::report::{ActiveWhen, Constraint, Grade};
use crate::flow::guards::{self, Guard};
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;

pub fn claim(facts: &Facts, active_when: &[ActiveWhen]) -> Vec<Constraint> {
    let tests = tripped::tests(facts);
    let mut found = choices::find(facts);
    found.extend(tripped::find(facts, &tests));
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
                grade: found.grade,
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
const MAX_CONDITION: usize = 240;

/// The nearest tests around a statement, outer first.
fn nearest_guards(facts: &Facts, file: FileId, stmt: StmtId) -> Vec<String> {
    const NEAREST: usize = 2;
    let ir = facts.shared.ir(file);
    let around: Vec<Guard> = guards::of_stmt(ir, stmt).into_iter().filter(|g| !g.early_exit).collect();
    let nearest = around.iter().skip(around.len().saturating_sub(NEAREST));
    nearest.map(|g| facts.shared.guard_text(file, g)).collect()
}

/// The condition with the nearest tests around the statement that checks it.
fn under_guards(facts: &Facts, file: FileId, stmt: StmtId, kind: &str, condition: &str) -> String {
    let mut texts = nearest_guards(facts, file, stmt);
    cut(match (texts.is_empty(), kind) {
        (true, _) => condition.to_owned(),
        (false, "assert") => format!("{condition}, when {}", texts.join(" and ")),
        (false, _) => {
            texts.push(condition.to_owned());
            texts.join(" and ")
        }
    })
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_CONDITION) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Does the code run in a method of the record itself?
fn in_record(facts: &Facts, at: ExprRef) -> bool {
    let shared = facts.shared;
    let class = shared.processes.function_around(at).and_then(|f| shared.program().method_class(f));
    class.is_some_and(|c| shared.graph.is_record_class(c))
}
