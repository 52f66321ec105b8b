//! Where is the value bounded without an error: `min(value, cap)`, `if value > cap: field = cap`, a list cut at a limit?
//!
//! A `min` of the value with a quantity of one request uses the value as a limit and does not bound it; such a bound
//! counts only where it is a constant, or where the server starts.

use super::super::accesses::written_text;
use super::super::conditions;
use super::super::facts::Facts;
use super::super::report::Grade;
use super::carried::Carriers;
use super::outcome;
use super::tripped::{Test, at_start};
use super::{Found, cut};
use crate::flow::access::{Access, Written};
use crate::flow::graph::{Kind, Op, Slot};
use crate::flow::guards;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;

/// What is bounded must still be the value: each dilution, and each place it was kept in, makes that less so.
const MAX_AWAY: u32 = 2;
/// A list is cut where its own elements are compared.
const MAX_COST: u32 = 3;
const MAX_STORES: u32 = 3;

pub fn find(facts: &Facts, tests: &[Test]) -> Vec<Found> {
    let mut out = bounds(facts);
    out.extend(filters(facts));
    for write in facts.writes() {
        out.extend(own_rewrite(facts, tests, write));
        out.extend(warned_rewrite(facts, tests, write));
    }
    out
}

/// `max(1, value)`, `min(value, cap)`.
fn bounds(facts: &Facts) -> Vec<Found> {
    let mut out = Vec::new();
    let mut carriers = Carriers::new(facts);
    for id in facts.trace.ids() {
        for arrival in &facts.trace.state(id).arrivals {
            let Some((file, Op::Call { name, at })) = arrival.op else { continue };
            let Some((_, words)) = BOUNDS.iter().find(|(n, _)| name == *n) else { continue };
            let from = facts.trace.state(arrival.from);
            let Slot::Expr(value) = from.node.slot else { continue };
            let is_value = from.node.kind == Kind::Value && from.node.path.is_empty() && from.cost <= MAX_AWAY;
            let Some(bound) = is_value.then(|| bound_of(facts, file, at, value)).flatten() else { continue };
            if carriers.to(arrival.from, value).is_some_and(|c| c.amount && from.cost + c.stores <= MAX_AWAY) {
                let text = facts.shared.text(bound);
                let line = facts.shared.ir(file).place(bound.expr).line;
                let grade = facts.grade_of(arrival.from);
                let condition = cut(format!("{words} {text}"));
                out.push(Found { kind: "clamp", file, line, condition, message: None, grade });
            }
        }
    }
    out
}

const BOUNDS: [(&str, &str); 2] = [("max", "at least"), ("min", "at most")];

/// What bounds the value in a call, if something does and the result matters.
fn bound_of(facts: &Facts, file: FileId, call: ExprId, value: ExprRef) -> Option<ExprRef> {
    let ir = facts.shared.ir(file);
    let Expr::Call { args, .. } = ir.expr(call) else { return None };
    if args.iter().any(|a| a.kind == ArgKind::Star) {
        return None;
    }
    let others = args.iter().filter(|a| a.kind == ArgKind::Positional && !ir.contains(a.value, value.expr));
    let bound = ExprRef { file, expr: others.map(|a| a.value).next()? };
    let is_constant = facts.shared.program().constant(bound).is_some();
    let reads_own = facts.reads().any(|r| r.at.file == file && ir.contains(bound.expr, r.at.expr));
    (!reads_own && (is_constant || at_start(facts, ExprRef { file, expr: call }))).then_some(bound)
}

/// `[n for n in values if n <= cap]`.
pub fn filters(facts: &Facts) -> Vec<Found> {
    let mut out = Vec::new();
    let mut carriers = Carriers::new(facts);
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        let (Slot::Expr(at), true) = (state.node.slot, state.node.kind == Kind::Value) else { continue };
        if state.cost > MAX_COST {
            continue;
        }
        let ir = facts.shared.ir(at.file);
        let Parent::Expr(test) = ir.exprs[at.expr.index()].parent else { continue };
        let (Parent::Expr(comp), Expr::Compare { rest, .. }) = (ir.exprs[test.index()].parent, ir.expr(test)) else {
            continue;
        };
        let Expr::Comp(comp) = ir.expr(comp) else { continue };
        let same = match (ir.expr(comp.element), ir.expr(at.expr)) {
            (Expr::Name(a), Expr::Name(b)) => a == b,
            _ => false,
        };
        if same
            && rest.iter().all(|(op, _)| op.is_ordered())
            && comp.clauses.iter().any(|c| c.ifs.contains(&test))
            && carriers.to(id, at).is_some_and(|c| c.stores <= MAX_STORES)
        {
            let condition =
                cut(format!("only those kept for which {}", facts.shared.text(ExprRef { file: at.file, expr: test })));
            let (file, line) = (at.file, ir.place(at.expr).line);
            out.push(Found { kind: "clamp", file, line, condition, message: None, grade: facts.grade_of(id) });
        }
    }
    out
}

/// `if field > cap: field = cap`: a write that a comparison of the value leads to.
fn own_rewrite(facts: &Facts, tests: &[Test], write: &Access) -> Option<Found> {
    let Some(Written::Value(value)) = write.write else { return None };
    let (file, ir) = (write.at.file, facts.shared.ir(write.at.file));
    let guard = guards::of_expr(ir, write.at.expr).into_iter().rev().find(|g| {
        let test = tests.iter().find(|t| t.at == ExprRef { file, expr: g.test });
        !g.early_exit && test.is_some_and(|t| t.cost == 0 && compares(ir, t.leaf.expr))
    })?;
    let test = facts.shared.guard_text(file, &guard);
    let condition = cut(format!("{test}: becomes {}", written_text(facts, write)));
    let line = ir.place(value).line;
    let grade = if write.sure { Grade::Proved } else { Grade::Inferred };
    Some(Found { kind: "clamp", file, line, condition, message: None, grade })
}

/// Is the value compared with a quantity, rather than asked whether it is given?
fn compares(ir: &FileIr, leaf: ExprId) -> bool {
    let Parent::Expr(up) = ir.exprs[leaf.index()].parent else { return false };
    let Expr::Compare { left, rest } = ir.expr(up) else { return false };
    let others = std::iter::once(*left).chain(rest.iter().map(|(_, e)| *e)).filter(|e| *e != leaf);
    let plain = others.into_iter().all(|e| !matches!(ir.expr(e), Expr::None | Expr::Str(_)));
    plain && rest.iter().all(|(op, _)| op.is_ordered() || *op == CmpOp::Ne)
}

/// A given value that is replaced with a warning beside the write.
fn warned_rewrite(facts: &Facts, tests: &[Test], write: &Access) -> Option<Found> {
    let shared = facts.shared;
    let (file, ir) = (write.at.file, shared.ir(write.at.file));
    let stmt = ir.stmt_of(write.at.expr)?;
    let block = guards::siblings(ir, stmt);
    let warning = outcome::of_block(shared, file, block)?;
    if warning.effect != outcome::Effect::Warns || super::super::findings::fills_unset(facts, write) {
        return None;
    }
    let guard = guards::of_stmt(ir, stmt).into_iter().rev().find(|g| !g.early_exit)?;
    // A test of the value itself has said so already.
    if tests.iter().any(|t| t.at == ExprRef { file, expr: guard.test }) {
        return None;
    }
    let to = written_text(facts, write);
    let room = super::MAX_CONDITION.saturating_sub(to.chars().count());
    let around = super::nearest_of(&conditions::nearest_guards(facts.shared, file, stmt), room);
    let condition = cut(format!("{around}: becomes {to}"));
    let line = ir.place(guard.test).line;
    let grade = if write.sure { Grade::Proved } else { Grade::Inferred };
    let spoken = outcome::messages(shared, file, block).find(|m| m.contains(&to) || m.contains(facts.field().as_str()));
    Some(Found { kind: "warn", file, line, condition, message: spoken.or(warning.message), grade })
}
