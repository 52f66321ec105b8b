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

use super::facts::Facts;
use super::report::{ActiveWhen, Constraint, Grade};
use crate::flow::guards::{self, Guard};
use crate::program::{ExprRef, FileId, FuncRef};
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
pub const MAX_CONDITION: usize = 240;

/// How many early exits before a statement a condition shows, nearest first.
const NEAREST: usize = 2;

/// How many levels of callers, and how many calls of a function, a condition takes in.
const MAX_LEVELS: u32 = 3;
const MAX_CALLS: usize = 3;

/// The tests around a statement, outer first, after the nearest of those that ask arguments and leave the function before it.
pub fn nearest_guards(facts: &Facts, file: FileId, stmt: StmtId) -> Vec<String> {
    let ir = facts.shared.ir(file);
    let before: Vec<Guard> = guards::of_stmt(ir, stmt).into_iter().filter(|g| g.early_exit && returns(ir, g)).collect();
    let asks = |g: &&Guard| {
        let origins = facts.shared.origins.of(ExprRef { file, expr: g.test });
        origins.iter().any(|o| o.hops <= 1)
    };
    let before: Vec<&Guard> = before.iter().filter(asks).collect();
    let nearest = before.iter().skip(before.len().saturating_sub(NEAREST));
    let mut out: Vec<String> = nearest.map(|g| facts.shared.guard_text(file, g)).collect();
    out.extend(tests_around(facts, file, stmt));
    out
}

/// The tests around a statement, outer first.
pub fn tests_around(facts: &Facts, file: FileId, stmt: StmtId) -> Vec<String> {
    let ir = facts.shared.ir(file);
    let around: Vec<Guard> = guards::of_stmt(ir, stmt).into_iter().filter(|g| !g.early_exit).collect();
    // `elif x == 2`: that x is not 1 needs no words.
    let says = |g: &&Guard| g.holds || !around.iter().any(|o| o.holds && asks_the_same(facts, file, o.test, g.test));
    around.iter().filter(says).map(|g| facts.shared.guard_text(file, g)).collect()
}

/// Do two tests compare the same thing, as arms of one statement?
fn asks_the_same(facts: &Facts, file: FileId, a: ExprId, b: ExprId) -> bool {
    let ir = facts.shared.ir(file);
    match (ir.expr(a), ir.expr(b)) {
        (Expr::Compare { left: a_left, .. }, Expr::Compare { left: b_left, .. }) => {
            let text = |expr| facts.shared.text(ExprRef { file, expr });
            ir.exprs[a.index()].parent == ir.exprs[b.index()].parent && text(*a_left) == text(*b_left)
        }
        _ => false,
    }
}

/// Does the statement of the test end the function without an error?
fn returns(ir: &FileIr, guard: &Guard) -> bool {
    let Parent::Stmt(stmt) = ir.exprs[guard.test.index()].parent else { return false };
    let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return false };
    let block = if guard.holds { Some(orelse) } else { arms.iter().find(|(t, _)| *t == guard.test).map(|(_, b)| b) };
    block.and_then(|b| b.last()).is_some_and(|s| matches!(ir.stmt(*s).kind, Stmt::Return(_)))
}

/// The condition with the tests around the statement that checks it.
fn under_guards(facts: &Facts, file: FileId, stmt: StmtId, kind: &str, condition: &str) -> String {
    let mut texts = called_under(facts, file, stmt);
    texts.extend(nearest_guards(facts, file, stmt));
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

/// What a step of resolution stands under where it is called, and the models that it is registered for.
fn called_under(facts: &Facts, file: FileId, stmt: StmtId) -> Vec<String> {
    match facts.shared.ir(file).stmt(stmt).scope {
        Scope::Func(func) => under_calls(facts, FuncRef { file, func }, 0),
        _ => Vec::new(),
    }
}

fn under_calls(facts: &Facts, func: FuncRef, level: u32) -> Vec<String> {
    let program = facts.shared.program();
    if level >= MAX_LEVELS || !facts.shared.startup.resolves(func) {
        return Vec::new();
    }
    let providers: Vec<&str> = program.profile.resolution.providers.iter().map(String::as_str).collect();
    if let Some(registered) = program.decorator(func, &providers) {
        return vec![facts.shared.text(registered)];
    }
    let calls = calls_of(facts, func);
    let mut ways: Vec<Vec<String>> = calls.iter().map(|call| around_call(facts, *call, level)).collect();
    ways.dedup();
    match &mut ways[..] {
        [] => Vec::new(),
        [only] => std::mem::take(only),
        several if several.iter().any(Vec::is_empty) => Vec::new(),
        several => {
            let several: Vec<String> = several.iter().map(|way| format!("({})", all_of(way))).collect();
            vec![several.join(" or ")]
        }
    }
}

fn around_call(facts: &Facts, call: ExprRef, level: u32) -> Vec<String> {
    let ir = facts.shared.ir(call.file);
    let mut out = match ir.scope_of(call.expr) {
        Scope::Func(func) => under_calls(facts, FuncRef { file: call.file, func }, level + 1),
        _ => Vec::new(),
    };
    out.extend(ir.stmt_of(call.expr).map(|stmt| nearest_guards(facts, call.file, stmt)).unwrap_or_default());
    out
}

/// The calls of a function that is called at few places.
fn calls_of(facts: &Facts, func: FuncRef) -> Vec<ExprRef> {
    let program = facts.shared.program();
    if program.files_with(program.func(func).name).len() > MANY_FILES {
        return Vec::new();
    }
    let callers = facts.shared.graph.types.callers(func);
    if callers.len() > MAX_CALLS { Vec::new() } else { callers.iter().map(|site| site.call).collect() }
}

/// The call of a function that is called at one place.
pub fn only_call(facts: &Facts, func: FuncRef) -> Option<ExprRef> {
    match calls_of(facts, func)[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Functions with names as common as this are asked no callers.
const MANY_FILES: usize = 40;

/// All of these conditions hold, as text.
pub fn all_of(texts: &[String]) -> String {
    match texts {
        [one] => one.clone(),
        _ => texts.iter().map(|t| conjunct(t)).collect::<Vec<_>>().join(" and "),
    }
}

/// In brackets, if it binds less than `and` does.
fn conjunct(text: &str) -> String {
    let mut depth = 0i32;
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ' ') if depth == 0 => {
                let rest = &text[i..];
                if [" or ", " if ", " := "].iter().any(|op| rest.starts_with(op)) {
                    return format!("({text})");
                }
            }
            _ => {}
        }
    }
    text.to_owned()
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
