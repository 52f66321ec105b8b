//! Which tests of statements does the value decide, and what happens where one of them goes the wrong way?
//!
//! A test is decided by the value if the value, or a number or truth value computed from it, is one of its leaves. A
//! leaf that many other quantities went into says nothing of the field and does not count.

use super::super::facts::Facts;
use super::super::report::Grade;
use super::outcome::{self, Effect, Outcome};
use super::{Found, cut, under_guards};
use crate::flow::graph::{Kind, Op, Slot};
use crate::flow::guards;
use crate::flow::trace::StateId;
use crate::program::ExprRef;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// Leaves that were diluted further are other quantities; see `flow::trace`.
const MAX_COST: u32 = 5;
/// The value is the field's own, perhaps scaled.
const NEAR_COST: u32 = 1;

/// The test of an `if` or `assert` that the value decides.
pub struct Test {
    pub at: ExprRef,
    pub stmt: StmtId,
    /// The leaf that has the value, and its state.
    pub leaf: ExprRef,
    pub state: StateId,
    pub cost: u32,
    pub grade: Grade,
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
    for (id, at) in facts.reached() {
        let ir = facts.shared.ir(at.file);
        let Parent::Stmt(stmt) = ir.exprs[at.expr.index()].parent else { continue };
        let is_test = match &ir.stmt(stmt).kind {
            Stmt::If { arms, .. } => arms.iter().any(|(t, _)| *t == at.expr),
            Stmt::Assert { test, .. } => *test == at.expr,
            _ => false,
        };
        if !is_test || known.contains(&at) {
            continue;
        }
        if let Some((state, leaf)) = nearest_leaf(facts, at, id) {
            let cost = facts.trace.state(state).cost;
            if cost <= MAX_COST {
                known.insert(at);
                let grade = if cost > NEAR_COST + 2 { Grade::Inferred } else { facts.grade_of(state) };
                out.push(Test { at, stmt, leaf, state, cost, grade });
            }
        }
    }
    out.sort_by_key(|t| (t.cost, t.at));
    out
}

/// The part of a test that has the value, before it was compared.
fn nearest_leaf(facts: &Facts, test: ExprRef, id: StateId) -> Option<(StateId, ExprRef)> {
    let ir = facts.shared.ir(test.file);
    let inside = |from: StateId| match facts.trace.state(from).node.slot {
        Slot::Expr(at) => (at.file == test.file && ir.contains(test.expr, at.expr)).then_some(at),
        _ => None,
    };
    let mut best: Option<(u32, StateId, ExprRef)> = None;
    let mut stack = vec![id];
    let mut seen = FxHashSet::default();
    while let Some(here) = stack.pop() {
        if !seen.insert(here) || seen.len() > 200 {
            continue;
        }
        let state = facts.trace.state(here);
        let Some(at) = inside(here) else { continue };
        let comes_in = state.arrivals.is_empty()
            || facts.trace.starts.contains(&here)
            || state.arrivals.iter().any(|a| inside(a.from).is_none());
        // A container that holds the value somewhere is not the value.
        if comes_in && state.node.path.is_empty() && state.node.kind != Kind::Object {
            let key = (state.cost, here, at);
            if best.is_none_or(|b| (key.0, key.1) < (b.0, b.1)) {
                best = Some(key);
            }
        }
        for arrival in &state.arrivals {
            // What is looked up by the value, or formatted from it, is something else.
            let same = !matches!(arrival.op, Some((_, Op::Select { .. } | Op::Format)));
            if same && inside(arrival.from).is_some() {
                stack.push(arrival.from);
            }
        }
    }
    best.map(|(_, state, at)| (state, at))
}

pub fn find(facts: &Facts, tests: &[Test]) -> Vec<Found> {
    tests.iter().flat_map(|test| of_test(facts, test)).collect()
}

fn of_test(facts: &Facts, test: &Test) -> Vec<Found> {
    let shared = facts.shared;
    let file = test.at.file;
    let ir = shared.ir(file);
    let line = ir.place(test.leaf.expr).line;
    let found = |kind: &'static str, line: u32, condition: &str, message: Option<String>| Found {
        kind,
        file,
        line,
        condition: under_guards(facts, file, test.stmt, kind, condition),
        message,
        grade: test.grade,
    };
    let text = shared.text(test.at);
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
            if let Some(Outcome { effect: Effect::Fails, line, message }) = last {
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
pub fn none_of(facts: &Facts, file: crate::program::FileId, tests: &[ExprId]) -> String {
    let texts: Vec<String> = tests.iter().map(|t| facts.shared.text(ExprRef { file, expr: *t })).collect();
    match &texts[..] {
        [one] => format!("not ({one})"),
        _ => cut(format!("none of: {}", texts.join("; "))),
    }
}
