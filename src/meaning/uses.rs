//! What the code asks of a field's value, or makes of it, in words that do not hang on where it stands: `cache_size * 1e9`,
//! `policy == "eager"`, `open(log_path)`.
//!
//! The value is followed as long as it is only passed on; the expression that then tests it, computes with it or hands it
//! to code outside the tree is the use, with the field's name in place of whatever the value is called there. It serves
//! the comparison of trees, in which names of locals mean nothing.

use super::beside::Use;
use super::facts::Facts;
use super::report::Grade;
use crate::flow::graph::{Kind, Slot};
use crate::flow::trace::StateId;
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Longer expressions are no small fact.
const MAX_TEXT: usize = 300;
/// So many uses of one field are kept, the nearest first.
const MAX_USES: usize = 400;
/// Functions that make a number of numbers; what is done with the result is part of the use.
const ARITHMETIC: &[&str] = &["int", "float", "round", "abs", "max", "min", "sum", "ceil", "floor", "divmod", "pow"];

pub fn of(facts: &Facts) -> Vec<Use> {
    let shared = facts.shared;
    let mut seen = FxHashSet::default();
    let mut out = Vec::new();
    for (state, at) in passed_on(facts) {
        let ir = shared.ir(at.file);
        let Some(found) = use_of(facts, ir, at) else { continue };
        let Some(what) = text(facts, &found, at) else { continue };
        let place = ir.place(at.expr);
        if out.len() < MAX_USES && seen.insert((what.clone(), at.file, place.line)) {
            let unsure = facts.grade_of(state) != Grade::Proved;
            out.push(Use {
                what,
                path: shared.program().file(at.file).path.clone(),
                line: place.line,
                function: shared.function_name(at),
                grade: if unsure { Grade::Inferred } else { Grade::Proved },
            });
        }
    }
    out
}

/// The expressions that hold the value itself, nothing done to it, nearest first.
fn passed_on(facts: &Facts) -> Vec<(StateId, ExprRef)> {
    let trace = &facts.trace;
    let mut next: Vec<Vec<StateId>> = vec![Vec::new(); trace.states.len()];
    for id in trace.ids() {
        for arrival in trace.state(id).arrivals.iter().filter(|a| a.op.is_none()) {
            if let Some(ways) = next.get_mut(arrival.from.0 as usize) {
                ways.push(id);
            }
        }
    }
    let mut seen: FxHashSet<StateId> = trace.starts.iter().copied().collect();
    let mut queue: VecDeque<StateId> = trace.starts.iter().copied().collect();
    let mut out = Vec::new();
    while let Some(id) = queue.pop_front() {
        let node = trace.state(id).node;
        if node.kind != Kind::Value {
            continue;
        }
        if let (Slot::Expr(at), true) = (node.slot, node.path.is_empty()) {
            out.push((id, at));
        }
        for to in next.get(id.0 as usize).into_iter().flatten() {
            if seen.insert(*to) {
                queue.push_back(*to);
            }
        }
    }
    out
}

/// A use: an expression, or an argument of a call that leaves the tree.
enum Found {
    Expression(ExprId),
    Argument { call: ExprId, value: ExprId },
}

fn use_of(facts: &Facts, ir: &FileIr, start: ExprRef) -> Option<Found> {
    let mut at = start.expr;
    let mut computed = false;
    let whole = |at: ExprId, computed: bool| computed.then_some(Found::Expression(at));
    while let Parent::Expr(up) = ir.exprs.get(at.index())?.parent {
        match ir.expr(up) {
            Expr::Bin { .. } | Expr::Unary { op: UnaryOp::Neg, .. } => computed = true,
            Expr::Compare { .. } => return Some(Found::Expression(chosen_by(ir, up))),
            Expr::IfExp { test, .. } if *test == at => {
                let choice = chosen_by(ir, at);
                return (choice != at || computed).then_some(Found::Expression(choice));
            }
            // `value.method(…)`
            Expr::Attr { base, .. } if *base == at => {
                let Parent::Expr(call) = ir.exprs.get(up.index())?.parent else { return whole(at, computed) };
                match ir.expr(call) {
                    Expr::Call { func, .. } if *func == up => return Some(Found::Expression(call)),
                    _ => return whole(at, computed),
                }
            }
            Expr::Call { func, args } if args.iter().any(|a| a.value == at) => {
                let name = last_name(ir, *func)?;
                if ARITHMETIC.contains(&name.as_str()) {
                    computed |= args.len() > 1;
                } else {
                    let callee = dotted_name(ir, *func).unwrap_or_else(|| name.to_string());
                    return match leaves(facts, ExprRef { file: start.file, expr: up }, &callee) {
                        true => Some(Found::Argument { call: up, value: at }),
                        false => whole(at, computed),
                    };
                }
            }
            _ => return whole(at, computed),
        }
        at = up;
    }
    whole(at, computed)
}

/// `1 if test else 2` around a test says more than the test.
fn chosen_by(ir: &FileIr, test: ExprId) -> ExprId {
    let Some(Parent::Expr(up)) = ir.exprs.get(test.index()).map(|node| node.parent) else { return test };
    let constant = |e: ExprId| matches!(ir.expr(e), Expr::Int(_) | Expr::Float(_) | Expr::Str(_));
    match ir.expr(up) {
        Expr::IfExp { test: of, body, orelse } if *of == test && constant(*body) && constant(*orelse) => up,
        _ => test,
    }
}

/// Does the call lead out of the tree, to something that does more than tell of the value?
fn leaves(facts: &Facts, call: ExprRef, name: &str) -> bool {
    let shared = facts.shared;
    let checks = &shared.program().profile.checks;
    let last = name.rsplit('.').next().unwrap_or(name);
    let only_tells = checks.logs(name) || checks.warns(name) || ONLY_LOOK.contains(&last);
    let capital = last.starts_with(char::is_uppercase);
    !only_tells && !capital && shared.graph.types.callees(call).is_empty()
}

/// What looks at a value and does nothing with it.
const ONLY_LOOK: &[&str] =
    &["isinstance", "len", "str", "repr", "bool", "print", "getattr", "hasattr", "setattr", "append", "format", "type"];

fn text(facts: &Facts, found: &Found, value: ExprRef) -> Option<String> {
    let shared = facts.shared;
    let field = facts.field();
    let ir = shared.ir(value.file);
    match *found {
        Found::Expression(whole) => {
            let (outer, inner) = (ir.range(whole), ir.range(value.expr));
            let program = shared.program();
            let head = program.text(value.file, ByteRange { end: inner.start, ..outer });
            let tail = program.text(value.file, ByteRange { start: inner.end, ..outer });
            (head.len() + tail.len() <= MAX_TEXT).then(|| format!("{head} {field} {tail}").trim().to_owned())
        }
        Found::Argument { call, value: argument } => {
            let Expr::Call { func, .. } = ir.expr(call) else { return None };
            let inner = text(facts, &Found::Expression(argument), value)?;
            Some(format!("{}({inner})", last_name(ir, *func)?))
        }
    }
}
