//! Is a reason against the value put aside, and made an error later?
//!
//! `reasons.append("…")` under a test of the value, `return "…"`, a table of rules `(value > 0, "…")`, a list of what is
//! in use: the error is raised where somebody looks whether there is any. From each test that the value decides, what the
//! test puts aside is followed to a statement that fails if it is there. That it fails hangs on more than this test, so
//! these are never proved.

use super::super::facts::Facts;
use super::super::report::Grade;
use super::asked::{Asked, is_there, words};
use super::carried::Carriers;
use super::outcome::{self, Effect, Outcome};
use super::tripped::whole_test;
use super::{Found, cut, under_guards};
use crate::flow::graph::{Kind, Node, Op, Proj, Slot};
use crate::flow::guards;
use crate::flow::trace::{StateId, Trace};
use crate::program::ExprRef;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// Leaves that were diluted further are other quantities.
const MAX_COST: u32 = 5;
const MAX_STORES: u32 = 2;
/// What is put aside is looked at near by.
const MAX_STATES: usize = 200;
/// How often a list of reasons is made into another.
const MAX_LISTS: u32 = 3;

pub fn find(facts: &Facts) -> Vec<Found> {
    let mut out = Vec::new();
    let mut known: FxHashSet<ExprRef> = FxHashSet::default();
    let mut carriers = Carriers::new(facts);
    for (id, leaf) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST {
            break;
        }
        if !state.node.path.is_empty() || state.node.kind == Kind::Object {
            continue;
        }
        let Some(test) = Test::around(facts, leaf) else { continue };
        if !known.contains(&test.at) && carriers.to(id, test.at).is_some_and(|c| c.stores <= MAX_STORES) {
            known.insert(test.at);
            let asked = Asked::on_way(facts, id, test.at, leaf);
            let reasons = test.put_aside(facts, asked.is_row());
            let first = reasons.into_iter().find_map(|r| Some((r, raised(facts, r, 0)?)));
            out.extend(first.map(|(reason, error)| found(facts, &test, &asked, reason, error)));
        }
    }
    out
}

/// A test that can put something aside.
struct Test {
    at: ExprRef,
    leaf: ExprRef,
}

impl Test {
    fn around(facts: &Facts, leaf: ExprRef) -> Option<Test> {
        let ir = facts.shared.ir(leaf.file);
        if matches!(ir.expr(leaf.expr), Expr::Bool { .. } | Expr::Unary { .. } | Expr::Compare { .. }) {
            return None;
        }
        let whole = whole_test(facts, leaf)?;
        let chooses = match ir.exprs[whole.index()].parent {
            Parent::Stmt(stmt) => matches!(ir.stmt(stmt).kind, Stmt::If { .. }),
            Parent::Expr(up) => matches!(ir.expr(up), Expr::Comp(_) | Expr::IfExp { .. }),
            _ => false,
        };
        chooses.then_some(Test { at: ExprRef { file: leaf.file, expr: whole }, leaf })
    }

    /// What is there if the test holds, for somebody to look at later. Names count where a table gives them their texts.
    fn put_aside(&self, facts: &Facts, names: bool) -> Vec<ExprRef> {
        let (file, whole) = (self.at.file, self.at.expr);
        let ir = facts.shared.ir(file);
        let texts = match ir.exprs[whole.index()].parent {
            Parent::Expr(up) => match ir.expr(up) {
                Expr::Comp(comp) if comp.clauses.iter().any(|c| c.ifs.contains(&whole)) => {
                    return vec![ExprRef { file, expr: up }];
                }
                Expr::IfExp { test, body, .. } if *test == whole => vec![*body],
                _ => Vec::new(),
            },
            Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
                Stmt::If { arms, .. } => {
                    let block = arms.iter().find(|(t, _)| *t == whole).map_or(&[][..], |(_, block)| block);
                    block.iter().flat_map(|s| handed_on(ir, *s)).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let texts = texts.into_iter().map(|expr| ExprRef { file, expr });
        let is_reason = |at: &ExprRef| match ir.expr(at.expr) {
            Expr::Name(_) => names,
            Expr::Str(_) | Expr::FString(_) | Expr::Bin { .. } => words(facts, *at).is_some(),
            _ => false,
        };
        texts.filter(is_reason).collect()
    }
}

/// What a statement hands on: a returned value, an element of a list, a value under a name.
fn handed_on(ir: &FileIr, stmt: StmtId) -> Vec<ExprId> {
    let given = match &ir.stmt(stmt).kind {
        Stmt::Return(Some(value)) | Stmt::Assign { value, .. } | Stmt::AugAssign { op: BinOp::Add, value, .. } => {
            *value
        }
        Stmt::Expr(call) => match ir.expr(*call) {
            Expr::Call { func, args } => match (ir.expr(*func), &args[..]) {
                (Expr::Attr { attr, .. }, [arg]) if PUTS.contains(&attr.as_str()) => arg.value,
                _ => return Vec::new(),
            },
            Expr::Yield { value: Some(value), .. } => *value,
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    match ir.expr(given) {
        Expr::List(items) | Expr::Tuple(items) => items.to_vec(),
        _ => vec![given],
    }
}

const PUTS: [&str; 3] = ["append", "add", "extend"];

/// The error that is raised if a reason is there.
fn raised(facts: &Facts, reason: ExprRef, lists: u32) -> Option<Outcome> {
    let trace = Trace::bounded(facts.shared.graph, &[(reason, Kind::Value)], MAX_STATES);
    let mut ways: Vec<StateId> = trace.ids().collect();
    ways.sort_by_key(|id| trace.state(*id).distance);
    ways.into_iter().find_map(|id| {
        let Node { slot: Slot::Expr(at), path, kind: Kind::Value } = trace.state(id).node else { return None };
        if !matches!(path.first(), None | Some(Proj::Elem | Proj::Index(_))) || !stays_a_reason(&trace, id) {
            return None;
        }
        failure_at(facts, at).or_else(|| {
            let list = iterated_in(facts.shared.ir(at.file), at.expr).filter(|_| lists < MAX_LISTS)?;
            let list = ExprRef { file: at.file, expr: list };
            let error = raised(facts, list, lists + 1)?;
            Some(Outcome { message: words(facts, list).or(error.message), ..error })
        })
    })
}

/// Is something there on arrival just where the reason is? Not so of a number made from it.
fn stays_a_reason(trace: &Trace, id: StateId) -> bool {
    trace.way_to(id).windows(2).all(|pair| {
        let arrival = trace.state(pair[1]).arrivals.iter().find(|a| a.from == pair[0]);
        match arrival.and_then(|a| a.op) {
            None => true,
            Some((_, Op::Call { name, .. })) => KEEPS.contains(&name.as_str()),
            Some((_, Op::Binary { op, .. })) => matches!(op, BinOp::Add | BinOp::Sub | BinOp::BitOr | BinOp::BitAnd),
            Some((_, Op::Iterate | Op::Element | Op::Format)) => true,
            Some((_, Op::Method { name, .. })) => matches!(name.as_str(), "join" | "format"),
            Some(_) => false,
        }
    })
}

/// Calls whose result holds something where their argument does.
const KEEPS: [&str; 7] = ["sorted", "list", "tuple", "set", "next", "join", "str"];

/// The error of a statement that fails where something is there: `if reasons: raise …`, `assert not reasons`.
fn failure_at(facts: &Facts, at: ExprRef) -> Option<Outcome> {
    let ir = facts.shared.ir(at.file);
    let around = ir.stmt_of(at.expr)?;
    let (arms, orelse) = match &ir.stmt(around).kind {
        Stmt::If { arms, orelse } => (arms, orelse),
        Stmt::Assert { test, .. } => {
            let fails = whole_test(facts, at)? == *test && !is_there(ir, *test, at.expr)?;
            return fails.then(|| Outcome { effect: Effect::Fails, line: ir.span(*test).line, message: None });
        }
        _ => return None,
    };
    let test = whole_test(facts, at)?;
    let (_, block) = arms.iter().find(|(t, _)| *t == test)?;
    let follows = match is_there(ir, test, at.expr)? {
        true => &block[..],
        false if orelse.is_empty() && guards::leaves(ir, block) => {
            guards::siblings(ir, around).get(ir.stmt(around).index as usize + 1..)?
        }
        false => &orelse[..],
    };
    outcome::of_block(facts.shared, at.file, follows).filter(|o| o.effect == Effect::Fails)
}

/// The comprehension that has an element for each of these.
fn iterated_in(ir: &FileIr, at: ExprId) -> Option<ExprId> {
    let Parent::Expr(up) = ir.exprs[at.index()].parent else { return None };
    matches!(ir.expr(up), Expr::Comp(comp) if comp.clauses.iter().any(|c| c.iter == at)).then_some(up)
}

fn found(facts: &Facts, test: &Test, asked: &Asked, reason: ExprRef, error: Outcome) -> Found {
    let shared = facts.shared;
    let (file, ir) = (asked.at.file, shared.ir(asked.at.file));
    let message = asked.beside(facts).or_else(|| words(facts, reason)).or(error.message);
    let condition = asked.condition(facts, test.at, test.leaf);
    let condition = match ir.stmt_of(asked.at.expr) {
        Some(stmt) => under_guards(facts, file, stmt, "raise", &condition),
        None => cut(condition),
    };
    let line = ir.place(if asked.at == test.at { test.leaf.expr } else { asked.at.expr }).line;
    Found { kind: "raise", file, line, condition, message, grade: Grade::Inferred }
}
