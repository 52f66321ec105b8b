//! Which tests of statements does the value decide, and what happens where one of them goes the wrong way?
//!
//! A test is decided by the value if the value, or a number or truth value computed from it, is one of its leaves. A
//! leaf that many other quantities went into, that is counted up to the value, or that an attribute shared by unrelated
//! objects brought there says nothing of the field and does not count.

use super::super::facts::Facts;
use super::super::report::Grade;
use super::asked::Asked;
use super::carried::{Carried, Carriers};
use super::outcome::{self, Effect, Outcome};
use super::{Found, cut, under_guards};
use crate::flow::graph::Kind;
use crate::flow::guards;
use crate::flow::trace::StateId;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// Leaves that were diluted further are other quantities; see `flow::trace`.
const MAX_COST: u32 = 5;
/// The value is the field's own, perhaps scaled.
const NEAR_COST: u32 = 1;
/// A value that was kept in more places than this is one of many that end there.
const MAX_STORES: u32 = 4;
const NEAR_STORES: u32 = 2;
/// Below this, every step counts as the value's own for the grade.
const SURE_COST: u32 = 3;

/// The test of an `if` or `assert` that the value decides.
pub struct Test {
    pub at: ExprRef,
    pub stmt: StmtId,
    /// The leaf that has the value, and its state.
    pub leaf: ExprRef,
    pub state: StateId,
    pub cost: u32,
    pub grade: Grade,
    pub carried: Carried,
    /// Code that runs while the server starts, where an operator's choices are checked.
    pub at_start: bool,
}

impl Test {
    /// Is the leaf the field's value, not one that was mixed from several?
    pub fn is_near(&self) -> bool {
        self.cost <= NEAR_COST
    }
}

/// Every test that the value decides, nearest first; of several leaves the nearest.
pub fn tests(facts: &Facts) -> Vec<Test> {
    let mut out: Vec<Test> = Vec::new();
    let mut known: FxHashSet<ExprRef> = FxHashSet::default();
    let mut carriers = Carriers::new(facts);
    for (state, leaf) in facts.reached() {
        let found = facts.trace.state(state);
        if found.cost > MAX_COST {
            break;
        }
        // A container that holds the value somewhere is not the value.
        if !found.node.path.is_empty() || found.node.kind == Kind::Object {
            continue;
        }
        let Some((test, stmt)) = test_around(facts, leaf) else { continue };
        let at = ExprRef { file: leaf.file, expr: test };
        if known.contains(&at) {
            continue;
        }
        let at_start = at_start(facts, leaf);
        let (max_cost, max_stores) = if at_start { (MAX_COST, MAX_STORES) } else { (NEAR_COST, NEAR_STORES) };
        let Some(carried) = carriers.to(state, at).filter(|c| c.stores <= max_stores) else { continue };
        if found.cost > max_cost || (!carried.untouched && is_asked_for_none(facts, leaf)) {
            continue;
        }
        known.insert(at);
        let grade = if found.cost > SURE_COST { Grade::Inferred } else { facts.grade_of(state) };
        out.push(Test { at, stmt, leaf, state, cost: found.cost, grade, carried, at_start });
    }
    out
}

/// The test of a statement that an expression is a part of.
fn test_around(facts: &Facts, leaf: ExprRef) -> Option<(ExprId, StmtId)> {
    let ir = facts.shared.ir(leaf.file);
    let test = whole_test(facts, leaf)?;
    let Parent::Stmt(stmt) = ir.exprs[test.index()].parent else { return None };
    let is_test = match &ir.stmt(stmt).kind {
        Stmt::If { arms, .. } => arms.iter().any(|(t, _)| *t == test),
        Stmt::Assert { test: t, .. } => *t == test,
        _ => false,
    };
    is_test.then_some((test, stmt))
}

/// The widest expression that asks something of a leaf, through comparisons, arithmetic and one call that leaves the tree.
pub fn whole_test(facts: &Facts, leaf: ExprRef) -> Option<ExprId> {
    let ir = facts.shared.ir(leaf.file);
    let mut at = leaf.expr;
    let mut calls = 0;
    loop {
        let Parent::Expr(up) = ir.exprs[at.index()].parent else { return Some(at) };
        match ir.expr(up) {
            Expr::Compare { .. } | Expr::Bool { .. } | Expr::Unary { .. } | Expr::Bin { .. } => at = up,
            Expr::Tuple(_) | Expr::List(_) | Expr::Set(_) if is_searched(ir, up) => at = up,
            Expr::Call { func, .. } if calls == 0 && *func != at => {
                let call = ExprRef { file: leaf.file, expr: up };
                if !facts.shared.graph.types.callees(call).is_empty() {
                    return None;
                }
                (at, calls) = (up, 1);
            }
            Expr::Attr { .. } if calls == 0 => match ir.exprs[up.index()].parent {
                Parent::Expr(call) if matches!(ir.expr(call), Expr::Call { func, .. } if *func == up) => {
                    (at, calls) = (call, 1);
                }
                _ => return None,
            },
            _ => return Some(at),
        }
    }
}

/// `leaf is None`: of a number that was computed that is no question about the value.
fn is_asked_for_none(facts: &Facts, leaf: ExprRef) -> bool {
    let ir = facts.shared.ir(leaf.file);
    let Parent::Expr(up) = ir.exprs[leaf.expr.index()].parent else { return false };
    matches!(ir.expr(up), Expr::Compare { rest, .. } if rest.iter().all(|(op, _)| matches!(op, CmpOp::Is | CmpOp::IsNot)))
}

/// `x in [a, b]`
fn is_searched(ir: &FileIr, list: ExprId) -> bool {
    let Parent::Expr(up) = ir.exprs[list.index()].parent else { return false };
    matches!(ir.expr(up), Expr::Compare { rest, .. }
        if rest.iter().any(|(op, e)| *e == list && matches!(op, CmpOp::In | CmpOp::NotIn)))
}

/// Does the code run while the server starts? What reads the field itself most often does.
pub fn at_start(facts: &Facts, at: ExprRef) -> bool {
    let shared = facts.shared;
    let func = shared.processes.function_around(at);
    let reads_here = || facts.reads().any(|r| r.at.file == at.file && shared.processes.function_around(r.at) == func);
    reads_here() || func.is_some_and(|f| shared.startup.starts(f))
}

pub fn find(facts: &Facts, tests: &[Test]) -> Vec<Found> {
    let speaks = |test: &Test, found: &Found| test.at_start || found.message.as_deref().is_some_and(has_words);
    let of = |test| of_test(facts, test).into_iter().filter(move |f| speaks(test, f));
    tests.iter().flat_map(of).collect()
}

/// Is a message written for people? Checks in running code that say nothing are invariants of the code.
pub fn has_words(message: &str) -> bool {
    let outside = message.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    outside.flat_map(str::split_whitespace).filter(|w| w.chars().any(char::is_alphabetic)).count() >= 2
}

fn of_test(facts: &Facts, test: &Test) -> Vec<Found> {
    let shared = facts.shared;
    let file = test.at.file;
    let ir = shared.ir(file);
    // A read of the field shows itself, and so does the item of a table; what was computed before is shown by the whole
    // test.
    let is_read = facts.trace.starts.contains(&test.state);
    let in_table = Asked::in_table(facts, test.state, test.at, test.leaf).filter(|a| a.at.file == file);
    let line = match &in_table {
        Some(asked) => ir.place(asked.at.expr).line,
        None if is_read => ir.place(test.leaf.expr).line,
        None => ir.span(test.at.expr).line,
    };
    let found = |kind: &'static str, line: u32, condition: &str, message: Option<String>| Found {
        kind,
        file,
        line,
        condition: under_guards(facts, file, test.stmt, kind, condition),
        message,
        grade: test.grade,
    };
    let text = match &in_table {
        Some(asked) => asked.condition(facts, test.at, test.leaf),
        None => shared.text(test.at),
    };
    let mut out = Vec::new();
    match &ir.stmt(test.stmt).kind {
        Stmt::Assert { message, .. } => {
            let message = message.and_then(|m| outcome::text_of(shared, ExprRef { file, expr: m }));
            out.push(found("assert", line, &text, message));
        }
        Stmt::If { arms, orelse } => {
            let Some((_, block)) = arms.iter().find(|(t, _)| *t == test.at.expr) else { return out };
            match outcome::of_block(shared, file, block) {
                Some(Outcome { effect: Effect::Fails, message, .. }) => out.push(found("raise", line, &text, message)),
                Some(Outcome { effect: Effect::Warns, message, .. }) if test.is_near() => {
                    out.push(found("warn", line, &text, message));
                }
                _ => {}
            }
            let mut tests: Vec<ExprId> = arms.iter().map(|(t, _)| *t).collect();
            let last = match orelse.is_empty() {
                false => outcome::of_block(shared, file, orelse),
                true => falls_to(facts, test, &mut tests),
            };
            let chooses = test.at_start || test.carried.untouched;
            if let Some(Outcome { effect: Effect::Fails, line, message }) = last.filter(|_| chooses) {
                out.push(found("raise", line, &none_of(facts, file, &tests), message));
            }
        }
        _ => {}
    }
    out
}

/// What follows a run of `if …: return`, where it is an error.
fn falls_to(facts: &Facts, test: &Test, tests: &mut Vec<ExprId>) -> Option<Outcome> {
    let shared = facts.shared;
    let ir = shared.ir(test.at.file);
    let leaves = |stmt: StmtId| match &ir.stmt(stmt).kind {
        Stmt::If { arms, orelse } if orelse.is_empty() && arms.iter().all(|(_, b)| guards::leaves(ir, b)) => Some(arms),
        _ => None,
    };
    let arms = leaves(test.stmt)?;
    if arms.iter().any(|(_, b)| outcome::of_block(shared, test.at.file, b).is_some_and(|o| o.effect == Effect::Fails)) {
        return None;
    }
    for next in guards::siblings(ir, test.stmt).iter().skip(ir.stmt(test.stmt).index as usize + 1) {
        match leaves(*next) {
            Some(arms) => tests.extend(arms.iter().map(|(t, _)| *t)),
            None => return outcome::of_stmt(shared, test.at.file, *next).filter(|o| o.effect == Effect::Fails),
        }
    }
    None
}

/// None of these tests holds, as text.
pub fn none_of(facts: &Facts, file: FileId, tests: &[ExprId]) -> String {
    let texts: Vec<String> = tests.iter().map(|t| facts.shared.text(ExprRef { file, expr: *t })).collect();
    match &texts[..] {
        [one] => format!("not ({one})"),
        _ => cut(format!("none of: {}", texts.join("; "))),
    }
}
