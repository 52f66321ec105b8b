//! What a test of the value alone lets happen: `if value: start_metrics()`, `if value == "a": kernel_a() else: …`.
//!
//! The test must be the value, its negation, its equality with something, or one of several that must all hold. What is
//! gated is a known call in the arm or one level down in a small function of the tree; else, where the process computes,
//! the choice between the arms.

use super::{Found, calls, memory};
use crate::flow::graph::{Kind, Node, Slot};
use crate::flow::guards;
use crate::flow::origin::assigned_value;
use crate::flow::trace::{State, Trace};
use crate::meaning::facts::Facts;
use crate::program::profile::Shape;
use crate::program::types::Type;
use crate::program::{ExprRef, FileId, FuncRef};
use crate::syntax::ir::*;

/// Kinds that a call can be gated into; a log counts only where the value itself is formatted.
const GATED: [&str; 9] = [
    "metric",
    "network",
    "file",
    "env-var",
    "model-load",
    "collective",
    "subprocess-arg",
    "process-count",
    "thread-count",
];
/// Kinds that count one level down, where a call is less telling.
const GATED_BELOW: [&str; 3] = ["metric", "thread-count", "process-count"];
/// A shape is given to what makes memory within a few steps.
const MAX_STATES_OF_SHAPE: usize = 80;
/// Functions with more text than this (in bytes) do more than what the test is about.
const MAX_BODY: u32 = 6_000;
/// How diluted the answer to a test of a number may be.
const MAX_COST_OF_SWITCH: u32 = 3;
/// How many statements after an early exit are its doing.
const MAX_AFTER_EXIT: usize = 4;

/// A number compared with a literal is a switch: `if value == 1: connect(here) else: connect(there)`.
pub fn switched(facts: &Facts, at: ExprRef, kind: Kind, cost: u32) -> Vec<Found> {
    let ir = facts.shared.ir(at.file);
    if kind != Kind::Predicate || cost > MAX_COST_OF_SWITCH || !asks_for_number(ir, at.expr) {
        return Vec::new();
    }
    let Some(gate) = Gate::around(ir, at.expr) else { return Vec::new() };
    let scope = ir.scope_of(at.expr);
    let calls = gate.ranges.iter().flat_map(|range| calls_in(facts, at.file, *range, scope));
    let known = calls.filter_map(|call| gated_kind(facts, call)).filter(|f| !super::MEMORY.contains(&f.kind.as_str()));
    known.map(|f| Found { guessed: true, ..f }).collect()
}

pub fn found(facts: &Facts, shape: Shape, at: ExprRef, kind: Kind) -> Vec<Found> {
    let ir = facts.shared.ir(at.file);
    if kind == Kind::Object || !is_plain_test(ir, at.expr) {
        return Vec::new();
    }
    let Some(gate) = Gate::around(ir, at.expr) else { return Vec::new() };
    let in_record = facts.shared.processes.function_around(at).is_some_and(|f| {
        let program = facts.shared.program();
        program.method_class(f).is_some_and(|class| facts.shared.graph.is_record_class(class))
    });
    let scope = ir.scope_of(at.expr);
    let mut out = Vec::new();
    for range in &gate.ranges {
        for call in calls_in(facts, at.file, *range, scope) {
            out.extend(gated_kind(facts, call));
            if !in_record {
                out.extend(below(facts, call));
            }
        }
        out.extend(stores_in(facts, at.file, *range, scope));
        if gate.arms > 1 && names_literal(ir, at.expr) {
            out.extend(shapes_in(facts, at.file, *range, scope));
        }
    }
    if in_record {
        out.retain(|f| f.kind == "env-var");
    } else if !shape.text || asks_which(facts, ir, at.expr) {
        out.extend(choice(facts, at, &gate));
    }
    out.iter_mut().for_each(|f| f.guessed = true);
    out
}

/// The calls of a function within a range, those of functions defined inside left out.
pub fn calls_in(facts: &Facts, file: FileId, range: ByteRange, scope: Scope) -> Vec<ExprRef> {
    let ir = facts.shared.ir(file);
    let inside = |(i, node): (usize, &ExprNode)| {
        let is_call = range.contains(node.range) && matches!(node.kind, Expr::Call { .. });
        let expr = ExprId(i as u32);
        (is_call && ir.scope_of(expr) == scope).then_some(ExprRef { file, expr })
    };
    let mut out: Vec<ExprRef> = ir.exprs.iter().enumerate().filter_map(inside).collect();
    out.sort_by_key(|c| ir.range(c.expr).start);
    out
}

/// What one outcome of a test reaches.
struct Gate {
    ranges: Vec<ByteRange>,
    /// Each arm by itself, with what the others leave.
    arms: usize,
}

impl Gate {
    fn around(ir: &FileIr, test: ExprId) -> Option<Gate> {
        let mut at = test;
        loop {
            match ir.exprs[at.index()].parent {
                Parent::Expr(up) => match ir.expr(up) {
                    Expr::Bool { and: true, .. } => at = up,
                    Expr::IfExp { test, body, orelse } if *test == at => {
                        return Some(Gate { ranges: vec![ir.range(*body), ir.range(*orelse)], arms: 2 });
                    }
                    _ => return None,
                },
                Parent::Stmt(stmt) => return Gate::of_statement(ir, stmt, at),
                _ => return None,
            }
        }
    }

    fn of_statement(ir: &FileIr, stmt: StmtId, test: ExprId) -> Option<Gate> {
        let node = ir.stmt(stmt);
        let Stmt::If { arms, orelse } = &node.kind else { return None };
        let (_, body) = arms.iter().find(|(t, _)| *t == test)?;
        if body.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_))) {
            return None;
        }
        let range = |s: &StmtId| ByteRange::from(ir.stmt(*s).span);
        let mut ranges: Vec<ByteRange> = body.iter().map(range).collect();
        if arms.len() == 1 {
            ranges.extend(orelse.iter().map(range));
        }
        if orelse.is_empty() && arms.len() == 1 && guards::leaves(ir, body) {
            let siblings: &[StmtId] = match node.parent {
                Some((up, arm)) => guards::block(&ir.stmt(up).kind, arm),
                None => match node.scope {
                    Scope::Func(f) => &ir.func(f).body,
                    _ => &[],
                },
            };
            let after = siblings.iter().skip(node.index as usize + 1).take(MAX_AFTER_EXIT);
            ranges.extend(after.map(range));
        }
        Some(Gate { ranges, arms: arms.len() + usize::from(!orelse.is_empty()) })
    }
}

/// Not a comparison of amounts.
fn is_plain_test(ir: &FileIr, at: ExprId) -> bool {
    match ir.expr(at) {
        Expr::Compare { rest, .. } => {
            rest.iter().all(|(op, _)| !matches!(op, CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge))
        }
        // Of several conditions each is looked at by itself.
        Expr::Bin { .. } | Expr::Bool { .. } => false,
        _ => true,
    }
}

/// `value == 1`, `value > 0`
fn asks_for_number(ir: &FileIr, at: ExprId) -> bool {
    let Expr::Compare { rest, .. } = ir.expr(at) else { return false };
    matches!(rest[..], [(_, right)] if matches!(ir.expr(right), Expr::Int(_)))
}

/// Does a test of a text ask which one it is, rather than whether there is one? A member of a closed set may do both.
fn asks_which(facts: &Facts, ir: &FileIr, at: ExprId) -> bool {
    !facts.declared.definition.choices.is_empty() || names_literal(ir, at) || matches!(ir.expr(at), Expr::Call { .. })
}

/// `value == "name"`, `value in ("a", "b")`
fn names_literal(ir: &FileIr, at: ExprId) -> bool {
    let Expr::Compare { left, rest } = ir.expr(at) else { return false };
    std::iter::once(left).chain(rest.iter().map(|(_, e)| e)).any(|e| match ir.expr(*e) {
        Expr::Str(_) => true,
        // A member of an enumeration.
        Expr::Attr { attr, .. } => attr.len() > 1 && attr.chars().all(|c| !c.is_lowercase()),
        Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => items.iter().any(|i| ir.str_value(*i).is_some()),
        _ => false,
    })
}

fn gated_kind(facts: &Facts, call: ExprRef) -> Option<Found> {
    let rule = calls::rule_of_call(facts, call)?;
    if rule.kind == "allocation" {
        let ir = facts.shared.ir(call.file);
        let kept = ir.stmt_of(call.expr).is_some_and(|s| match &ir.stmt(s).kind {
            Stmt::Assign { targets, .. } => targets.iter().any(|t| matches!(ir.expr(*t), Expr::Attr { .. })),
            _ => false,
        });
        return kept.then(|| memory::found(facts, call)).flatten();
    }
    GATED.contains(&rule.kind.as_str()).then(|| Found::new(&rule.kind, call))
}

/// Known calls in a small function of the tree that the gated call runs.
fn below(facts: &Facts, call: ExprRef) -> Vec<Found> {
    let program = facts.shared.program();
    let callees = facts.shared.graph.types.callees(call);
    let [(callee, _, _)] = callees[..] else { return Vec::new() };
    let span = program.func(callee).span;
    if span.end.saturating_sub(span.start) > MAX_BODY {
        return Vec::new();
    }
    let FuncRef { file, func } = callee;
    let inner = calls_in(facts, file, span.into(), Scope::Func(func));
    let known = inner.into_iter().filter_map(|c| Some((calls::rule_of_call(facts, c)?, c)));
    known
        .filter(|(rule, _)| GATED_BELOW.contains(&rule.kind.as_str()))
        .take(1)
        .map(|(rule, _)| Found::new(&rule.kind, call))
        .collect()
}

fn stores_in(facts: &Facts, file: FileId, range: ByteRange, scope: Scope) -> Vec<Found> {
    let ir = facts.shared.ir(file);
    let stores = ir.stmts.iter().filter(|s| s.scope == scope && range.contains(s.span.into()));
    let targets = stores.flat_map(|s| match &s.kind {
        Stmt::Assign { targets, .. } => targets.to_vec(),
        _ => Vec::new(),
    });
    targets
        .map(|expr| ExprRef { file, expr })
        .filter_map(|at| Some((calls::rule_of_store(facts, at)?, at)))
        .filter(|(rule, _)| rule.kind == "env-var")
        .map(|(rule, at)| Found::new(&rule.kind, at))
        .collect()
}

/// Memory whose shape is chosen here: `if value == "a": shape = (n, m) elif …`, later `torch.empty(shape)`.
fn shapes_in(facts: &Facts, file: FileId, range: ByteRange, scope: Scope) -> Vec<Found> {
    let program = facts.shared.program();
    let ir = program.ir(file);
    let defuse = program.defuse(file, scope);
    let inside = |at: &ExprId| range.contains(ir.range(*at));
    let chosen = defuse.by_target.iter().filter(|(target, _)| inside(target));
    let shapes = chosen.filter(|(target, _)| {
        assigned_value(ir, **target).is_some_and(|value| matches!(ir.expr(value), Expr::Tuple(_) | Expr::List(_)))
    });
    let uses = shapes.flat_map(|(_, def)| defuse.uses.get(def.0 as usize).cloned().unwrap_or_default());
    let mut uses: Vec<ExprId> = uses.filter(|at| !inside(at)).collect();
    uses.sort();
    uses.dedup();
    uses.into_iter().filter_map(|expr| sized_by(facts, ExprRef { file, expr })).collect()
}

/// The call that a shape is given to, if memory is made there or in what it calls.
fn sized_by(facts: &Facts, shape: ExprRef) -> Option<Found> {
    let ir = facts.shared.ir(shape.file);
    let Parent::Expr(up) = ir.exprs[shape.expr.index()].parent else { return None };
    if !matches!(ir.expr(up), Expr::Call { .. }) {
        return None;
    }
    let trace = Trace::bounded(facts.shared.graph, &[(shape, Kind::Value)], MAX_STATES_OF_SHAPE);
    let made = trace.ids().find_map(|id| match trace.state(id) {
        State { node: Node { slot: Slot::Expr(at), kind: Kind::Value, .. }, cost: 0, .. } => {
            let (rule, call) = calls::rule_at(facts, *at)?;
            match rule.kind.as_str() {
                "allocation" => memory::found(facts, call),
                kind => super::MEMORY.contains(&kind).then(|| Found::new(kind, call)),
            }
        }
        _ => None,
    })?;
    Some(Found { at: ExprRef { file: shape.file, expr: up }, ..made })
}

/// In code that computes, arms that construct, import or call different things are a choice of implementation. What both
/// arms call is none, nor is a record, which is data, or a call that is known for something else.
fn choice(facts: &Facts, at: ExprRef, gate: &Gate) -> Vec<Found> {
    let shared = facts.shared;
    let running = shared.processes.running_at(at);
    if !running.kinds.iter().any(|k| shared.program().profile.is_ranked(k)) {
        return Vec::new();
    }
    let ir = facts.shared.ir(at.file);
    let scope = ir.scope_of(at.expr);
    let chosen = gate.ranges.iter().filter_map(|range| {
        let calls = calls_in(facts, at.file, *range, scope);
        calls.into_iter().find(|call| is_implementation(facts, at, gate, *call))
    });
    let chosen: Vec<ExprRef> = chosen.collect();
    let callee = |call: &ExprRef| match ir.expr(call.expr) {
        Expr::Call { func, .. } => shared.text(ExprRef { file: call.file, expr: *func }),
        _ => String::new(),
    };
    let callees: Vec<String> = chosen.iter().map(callee).collect();
    let is_own = |name: &String| callees.iter().filter(|c| *c == name).count() == 1;
    let own = chosen.iter().zip(&callees).filter(|(_, name)| is_own(name));
    own.map(|(call, _)| Found::new("kernel-choice", *call)).collect()
}

fn is_implementation(facts: &Facts, test: ExprRef, gate: &Gate, call: ExprRef) -> bool {
    let (shared, program) = (facts.shared, facts.shared.program());
    let ir = shared.ir(call.file);
    let Expr::Call { func, .. } = ir.expr(call.expr) else { return false };
    if calls::rule_of_call(facts, call).is_some() {
        return false;
    }
    let types = shared.graph.types.of(ExprRef { file: call.file, expr: *func });
    let is_builtin = |ty: &Type| matches!(ty, Type::External(path) if !path.contains('.'));
    if !types.is_empty() && types.iter().all(|t| is_builtin(&t.ty)) {
        return false;
    }
    let runs = types.iter().any(|t| match &t.ty {
        Type::Class(class) => !program.is_record_like(*class),
        Type::Func(_) => gate.arms > 1,
        _ => false,
    });
    // A name in capitals or from elsewhere may be a kernel of an extension.
    let foreign = gate.arms > 1
        && program.profile.computes(&program.file(test.file).path)
        && types.iter().all(|t| matches!(t.ty, Type::External(_)));
    // Arms told apart by name that call something are implementations.
    runs || foreign || gate.arms > 1 && names_literal(ir, test.expr)
}
