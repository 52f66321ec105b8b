//! Threads and processes that a value counts or parameterises.

use super::{Found, gates};
use crate::flow::graph::{Kind, Slot};
use crate::meaning::facts::Facts;
use crate::program::{ClassRef, ExprRef, FuncRef, last_name};
use crate::syntax::ir::*;

/// What a start is called, and what it makes more of.
const STARTS: [(&str, &str); 2] = [("Process", "process-count"), ("Thread", "thread-count")];

/// `for i in range(value): Process(…).start()`
pub fn counted(facts: &Facts, at: ExprRef, kind: Kind) -> Vec<Found> {
    let ir = facts.shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return Vec::new() };
    let is_range = matches!(ir.expr(up), Expr::Call { func, .. } if last_name(ir, *func).is_some_and(|n| n == "range"));
    let Parent::Stmt(stmt) = ir.exprs[up.index()].parent else { return Vec::new() };
    let node = ir.stmt(stmt);
    let Stmt::For { iter, .. } = &node.kind else { return Vec::new() };
    if kind != Kind::Value || !is_range || *iter != up {
        return Vec::new();
    }
    let inside = gates::calls_in(facts, at.file, node.span.into(), node.scope);
    inside.into_iter().filter_map(|call| Some(Found::new(start_kind(ir, call.expr)?, call))).collect()
}

/// Threads that a constructor starts on a loop whose pace the value sets: the call that waits is in the thread's target,
/// or in a method that the target calls.
pub fn paced(facts: &Facts, waits: &[ExprRef]) -> Vec<Found> {
    let shared = facts.shared;
    let program = shared.program();
    let kept: Vec<ClassRef> = facts
        .trace
        .states
        .iter()
        .filter_map(|s| match s.node.slot {
            Slot::Attr(class, _) if s.cost == 0 => Some(class),
            _ => None,
        })
        .collect();
    let waiting: Vec<FuncRef> = waits.iter().filter_map(|at| shared.processes.function_around(*at)).collect();
    let mut out = Vec::new();
    for spawn in shared.processes.spawns().iter().filter(|s| !s.is_process) {
        let Some(starter) = shared.processes.function_around(spawn.call) else { continue };
        let Some(class) = program.method_class(starter).filter(|c| kept.contains(c)) else { continue };
        if program.func(starter).name != "__init__" {
            continue;
        }
        if spawn.targets.iter().any(|t| waiting.iter().any(|w| w == t || calls_method(facts, class, *t, *w))) {
            out.push(Found::new("thread-count", spawn.call));
        }
    }
    out
}

fn start_kind(ir: &FileIr, call: ExprId) -> Option<&'static str> {
    let Expr::Call { func, .. } = ir.expr(call) else { return None };
    let name = last_name(ir, *func)?;
    STARTS.iter().find(|(start, _)| name == *start).map(|(_, kind)| *kind)
}

/// Does a method call another of its class, as `self.other()`?
fn calls_method(facts: &Facts, class: ClassRef, from: FuncRef, to: FuncRef) -> bool {
    let program = facts.shared.program();
    if program.method_class(to) != Some(class) {
        return false;
    }
    let ir = program.ir(from.file);
    let name = program.func(to).name;
    let span = program.func(from).span;
    gates::calls_in(facts, from.file, span.into(), Scope::Func(from.func)).iter().any(|call| match ir.expr(call.expr) {
        Expr::Call { func, .. } => matches!(ir.expr(*func), Expr::Attr { attr, .. } if *attr == name),
        _ => false,
    })
}
