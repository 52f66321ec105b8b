//! What a comparison of the value with another quantity decides: a timeout, an allocation, how much work is taken on.

use super::{Found, memory};
use crate::flow::guards;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Facts;
use crate::meaning::sinks::calls;
use crate::program::resolve::Binding;
use crate::program::types::Type;
use crate::program::{ExprRef, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

/// How diluted a value may be that is a bound in a `min()` or a difference.
const MAX_COST_OF_BOUND: u32 = 1;
/// How far a value may have come that is a threshold in code that computes.
const MAX_STEPS_TO_CHOICE: u32 = 8;

pub fn found(facts: &Facts, at: ExprRef, cost: u32, distance: u32) -> Vec<Found> {
    let ir = facts.shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return Vec::new() };
    let whole = ExprRef { file: at.file, expr: up };
    match ir.expr(up) {
        Expr::Compare { rest, .. } if is_ordered(rest) => {
            let near = cost <= MAX_COST_OF_BOUND && distance <= MAX_STEPS_TO_CHOICE;
            comparison(facts, whole, rest, near)
        }
        Expr::Call { func, args } if cost <= MAX_COST_OF_BOUND && args.len() > 1 => {
            let bounds = matches!(ir.expr(*func), Expr::Name(n) if *n == "min");
            let literal = args.iter().any(|a| is_fixed(facts, ExprRef { file: at.file, expr: a.value }));
            let counts = bounds && !literal && schedules(facts, whole);
            counts.then(|| Found::new("scheduling-limit", at)).into_iter().collect()
        }
        Expr::Bin { op: BinOp::Sub, left, right } if cost <= MAX_COST_OF_BOUND && *left == at.expr => {
            let length =
                matches!(ir.expr(*right), Expr::Call { func, .. } if last_name(ir, *func).is_some_and(|n| n == "len"));
            (length && schedules(facts, whole)).then(|| Found::new("scheduling-limit", at)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Is the value compared with a difference of clock readings? Then it is a time in seconds.
pub fn is_time_limit(facts: &Facts, at: ExprRef) -> bool {
    let ir = facts.shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return false };
    match ir.expr(up) {
        Expr::Compare { rest, .. } if is_ordered(rest) => reads_clock(facts, ExprRef { file: at.file, expr: up }, 3),
        _ => false,
    }
}

fn comparison(facts: &Facts, whole: ExprRef, rest: &[(CmpOp, ExprId)], near: bool) -> Vec<Found> {
    // The line of the operator, where a comparison takes several.
    let place = rest.first().map_or(whole, |(_, right)| ExprRef { file: whole.file, expr: *right });
    if reads_clock(facts, whole, 3) {
        return vec![Found::new("timeout", place)];
    }
    let allocations = gated_allocations(facts, whole);
    if !allocations.is_empty() {
        return allocations;
    }
    if steers(facts, whole) {
        let computes = facts.shared.program().profile.computes(&facts.shared.program().file(whole.file).path);
        // Code that computes compares shapes all the time; only the field itself is a threshold there.
        return match computes {
            true => {
                (near && runs_code(facts, whole)).then(|| Found::guessed("kernel-choice", place)).into_iter().collect()
            }
            false => vec![Found::new("scheduling-limit", place)],
        };
    }
    Vec::new()
}

fn is_ordered(rest: &[(CmpOp, ExprId)]) -> bool {
    rest.iter().any(|(op, _)| matches!(op, CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge))
}

fn is_literal(ir: &FileIr, e: ExprId) -> bool {
    matches!(ir.expr(e), Expr::Int(_) | Expr::Float(_) | Expr::None)
}

/// A literal, or a constant of a module; a name in capitals is one by convention.
fn is_fixed(facts: &Facts, at: ExprRef) -> bool {
    let ir = facts.shared.ir(at.file);
    let in_capitals = || matches!(ir.expr(at.expr), Expr::Name(n) if n.len() > 1 && !n.chars().any(char::is_lowercase));
    is_literal(ir, at.expr) || in_capitals() || facts.shared.program().constant(at).is_some()
}

/// Is the expression computed from a reading of the clock?
fn reads_clock(facts: &Facts, at: ExprRef, hops: u32) -> bool {
    let shared = facts.shared;
    let program = shared.program();
    let ir = program.ir(at.file);
    let sub = |expr: ExprId, hops| reads_clock(facts, ExprRef { file: at.file, expr }, hops);
    match ir.expr(at.expr) {
        Expr::Call { func, args } => {
            args.is_empty()
                && last_name(ir, *func).is_some_and(|n| program.profile.clocks.iter().any(|c| n == c.as_str()))
        }
        Expr::Name(_) if hops > 0 => {
            let Binding::Local(scope, defs) = program.binding(at) else { return false };
            let defuse = program.defuse(at.file, scope);
            defs.iter().take(4).any(|def| match defuse.defs.get(def.0 as usize).map(|d| d.site) {
                Some(DefSite::Target(target)) => assigned_value(ir, target).is_some_and(|v| sub(v, hops - 1)),
                _ => false,
            })
        }
        Expr::Attr { base, attr, .. } if hops > 0 => {
            let types = shared.graph.types.of(ExprRef { file: at.file, expr: *base });
            types.iter().take(2).any(|typed| match typed.ty {
                Type::Instance(class) => program.mro(class).iter().any(|c| {
                    let stores = program.self_stores(*c, *attr).into_iter().take(6);
                    let mut values = stores.filter_map(|store| assigned_value(program.ir(c.file), store));
                    values.any(|v| reads_clock(facts, ExprRef { file: c.file, expr: v }, hops - 1))
                }),
                _ => false,
            })
        }
        Expr::Bin { op: BinOp::Add | BinOp::Sub, left, right } => sub(*left, hops) || sub(*right, hops),
        Expr::Compare { left, rest } => sub(*left, hops) || rest.iter().any(|(_, e)| sub(*e, hops)),
        _ => false,
    }
}

/// The allocations that happen only while the comparison lets them: those after `if used >= limit: break`.
fn gated_allocations(facts: &Facts, compare: ExprRef) -> Vec<Found> {
    let ir = facts.shared.ir(compare.file);
    let Parent::Stmt(stmt) = ir.exprs[compare.expr.index()].parent else { return Vec::new() };
    let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return Vec::new() };
    let [(_, body)] = &arms[..] else { return Vec::new() };
    if !orelse.is_empty() || !guards::leaves(ir, body) {
        return Vec::new();
    }
    let node = ir.stmt(stmt);
    let siblings: &[StmtId] = match node.parent {
        Some((up, arm)) => guards::block(&ir.stmt(up).kind, arm),
        None => match node.scope {
            Scope::Func(f) => &ir.func(f).body,
            _ => &[],
        },
    };
    let after = siblings.iter().skip(node.index as usize + 1);
    let mut out = Vec::new();
    for later in after {
        for call in super::gates::calls_in(facts, compare.file, ir.stmt(*later).span.into(), node.scope) {
            let allocates = calls::rule_of_call(facts, call).is_some_and(|r| r.kind == "allocation");
            let Expr::Call { args, .. } = ir.expr(call.expr) else { continue };
            let placed =
                args.iter().any(|a| matches!(a.kind, ArgKind::Keyword(k) if k == "device" || k == "pin_memory"));
            if allocates && placed {
                out.extend(memory::found(facts, call));
            }
        }
    }
    out
}

/// Does the code run where work is taken on, and not while something is set up?
fn schedules(facts: &Facts, at: ExprRef) -> bool {
    let shared = facts.shared;
    let profile = &shared.program().profile;
    let running = shared.processes.running_at(at);
    let takes_work = running.kinds.iter().any(|k| profile.is_ranked(k) || k == "tokenizer");
    takes_work && !profile.computes(&shared.program().file(at.file).path) && !sets_up(facts, at)
}

fn sets_up(facts: &Facts, at: ExprRef) -> bool {
    facts.shared.processes.function_around(at).is_some_and(|f| {
        let name = facts.shared.program().func(f).name;
        name == "__init__" || name.starts_with("init") || name.starts_with("_init")
    })
}

/// Does the arm of the test call or answer something, or is the comparison itself the answer?
fn runs_code(facts: &Facts, compare: ExprRef) -> bool {
    let ir = facts.shared.ir(compare.file);
    let Some(stmt) = ir.stmt_of(compare.expr) else { return false };
    let node = ir.stmt(stmt);
    let Stmt::If { arms, .. } = &node.kind else { return true };
    let Some((_, body)) = arms.iter().find(|(t, _)| ir.contains(*t, compare.expr)) else { return false };
    body.iter().any(|s| {
        let inner = ir.stmt(*s);
        matches!(inner.kind, Stmt::Return(_))
            || !super::gates::calls_in(facts, compare.file, inner.span.into(), node.scope).is_empty()
    })
}

/// Does the outcome of a comparison steer work: a loop goes on, a function gives up early, a batch is closed?
fn steers(facts: &Facts, compare: ExprRef) -> bool {
    let shared = facts.shared;
    let ir = shared.ir(compare.file);
    let running = shared.processes.running_at(compare);
    if !running.kinds.iter().any(|k| shared.program().profile.is_ranked(k) || k == "tokenizer") {
        return false;
    }
    // Comparisons with a literal ask whether a feature is on.
    if let Expr::Compare { left, rest } = ir.expr(compare.expr)
        && (is_literal(ir, *left) || rest.iter().any(|(_, e)| is_literal(ir, *e)))
    {
        return false;
    }
    let Some(stmt) = ir.stmt_of(compare.expr) else { return false };
    let init = sets_up(facts, compare);
    match &ir.stmt(stmt).kind {
        Stmt::If { arms, .. } => {
            let Some((_, body)) = arms.iter().find(|(t, _)| ir.contains(*t, compare.expr)) else { return false };
            let raises = body.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_)));
            !raises && !init
        }
        Stmt::While { .. } => true,
        Stmt::Return(_) => !init,
        _ => false,
    }
}
