//! Where the value leaves Python, or stays a limit that code compares with.
//!
//! A sink is a call that the value (or one computed from it) enters and whose kind `queries/python/sinks.toml` or the
//! profile knows; an ordered comparison that steers work without being a check; a choice between implementations.

use super::facts::Facts;
use super::report::{Grade, Sink};
use crate::flow::graph::Kind;
use crate::flow::trace::StateId;
use crate::program::profile::SinkRule;
use crate::program::types::Type;
use crate::program::{ExprRef, dotted_name, last_name};
use crate::syntax::ir::*;

/// Sinks further away than this are the sinks of other quantities.
const MAX_COST: u32 = 6;

pub fn claim(facts: &Facts) -> Vec<Sink> {
    let mut out: Vec<Sink> = Vec::new();
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST {
            break;
        }
        if let Some((kind, place)) = sink_at(facts, id, at) {
            let place = facts.shared.place(place);
            if !out.iter().any(|s| s.kind == kind && s.path == place.path && s.line == place.line) {
                out.push(Sink {
                    kind,
                    path: place.path,
                    line: place.line,
                    code: place.code,
                    grade: facts.grade_of(id),
                });
            }
        }
    }
    if out.is_empty() {
        let (file, span) = facts.declared.place;
        let place = facts.shared.line_place(file, span.line, span.column);
        if facts.reads().next().is_none() {
            let (path, line, code) = (place.path, place.line, place.code);
            out.push(Sink { kind: "none".into(), path, line, code, grade: Grade::Proved });
        }
    }
    out.sort_by(|a, b| (&a.kind, &a.path, a.line).cmp(&(&b.kind, &b.path, b.line)));
    out
}

/// The unit that a call takes at this argument, if a rule says.
pub fn unit_at<'f>(facts: &Facts<'_, '_, 'f>, at: ExprRef) -> Option<&'f str> {
    let (rule, _) = rule_at(facts, at)?;
    rule.unit.as_deref()
}

/// The rule for the call that the expression is an argument of.
fn rule_at<'f>(facts: &Facts<'_, '_, 'f>, at: ExprRef) -> Option<(&'f SinkRule, ExprRef)> {
    let shared = facts.shared;
    let ir = shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return None };
    let Expr::Call { func, args } = ir.expr(up) else { return None };
    let i = args.iter().position(|a| a.value == at.expr)?;
    let position = args[..i].iter().filter(|a| a.kind == ArgKind::Positional).count();
    let keyword = match args[i].kind {
        ArgKind::Keyword(k) => Some(k),
        _ => None,
    };
    let names = callee_names(facts, ExprRef { file: at.file, expr: *func });
    let profile = &shared.program().profile;
    let rule = profile
        .sinks
        .iter()
        .find(|rule| rule.takes(position, keyword.as_deref()) && names.iter().any(|name| rule.matches(name)))?;
    Some((rule, ExprRef { file: at.file, expr: up }))
}

/// The dotted names under which the called thing is known: as resolved, and as written.
fn callee_names(facts: &Facts, func: ExprRef) -> Vec<String> {
    let shared = facts.shared;
    let ir = shared.ir(func.file);
    let mut names: Vec<String> = Vec::new();
    for typed in shared.graph.types.of(func).iter() {
        match &typed.ty {
            Type::External(path) => names.push(path.to_string()),
            Type::Func(f) | Type::Method(f, _) => names.push(shared.program().func(*f).name.to_string()),
            Type::Class(c) => names.push(shared.program().class(*c).name.to_string()),
            _ => {}
        }
    }
    names.extend(dotted_name(ir, func.expr).or_else(|| last_name(ir, func.expr).map(|n| format!("?.{n}"))));
    names
}

fn sink_at(facts: &Facts, id: StateId, at: ExprRef) -> Option<(String, ExprRef)> {
    let ir = facts.shared.ir(at.file);
    let state = facts.trace.state(id);
    if let Some((rule, call)) = rule_at(facts, at) {
        if state.node.kind == Kind::Predicate && rule.kind != "log" {
            return None;
        }
        let kind = match rule.kind.as_str() {
            "allocation" => allocation_kind(facts, call),
            kind => kind,
        };
        return Some((kind.to_owned(), call));
    }
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return None };
    if let (Expr::Compare { rest, .. }, Kind::Value) = (ir.expr(up), state.node.kind) {
        let ordered = rest.iter().any(|(op, _)| matches!(op, CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge));
        if ordered && limits_work(facts, ExprRef { file: at.file, expr: up }) {
            return Some(("scheduling-limit".into(), ExprRef { file: at.file, expr: up }));
        }
    }
    None
}

/// Does an allocation make host or device memory?
fn allocation_kind(facts: &Facts, call: ExprRef) -> &'static str {
    let ir = facts.shared.ir(call.file);
    let Expr::Call { args, .. } = ir.expr(call.expr) else { return "device-memory" };
    let keyword =
        |name: &str| args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == name)).map(|a| a.value);
    if let Some(pinned) = keyword("pin_memory") {
        if !matches!(ir.expr(pinned), Expr::False | Expr::None) {
            return "host-memory";
        }
    }
    match keyword("device") {
        Some(device) => {
            if device_text(facts, ExprRef { file: call.file, expr: device }, 4).is_some_and(|d| d.starts_with("cpu")) {
                "host-memory"
            } else {
                "device-memory"
            }
        }
        // torch's default device is the host's.
        None => "host-memory",
    }
}

/// The device that an expression names: a literal, or the default of the parameter that it comes from.
fn device_text(facts: &Facts, at: ExprRef, hops: u32) -> Option<String> {
    use crate::program::resolve::Binding;
    use crate::syntax::defuse::DefSite;
    let program = facts.shared.program();
    let ir = program.ir(at.file);
    if hops == 0 {
        return None;
    }
    match ir.expr(at.expr) {
        Expr::Str(s) => Some(s.to_string()),
        Expr::Call { args, .. } => device_text(facts, ExprRef { file: at.file, expr: args.first()?.value }, hops - 1),
        Expr::Name(_) => {
            let Binding::Local(scope, defs) = program.binding(at) else { return None };
            let def = *defs.first()?;
            match program.defuse(at.file, scope).defs.get(def.0 as usize)?.site {
                DefSite::Param(i) => {
                    let Scope::Func(func) = scope else { return None };
                    let func = crate::program::FuncRef { file: at.file, func };
                    if let Some(default) = program.func(func).params.get(i as usize)?.default {
                        return device_text(facts, ExprRef { file: at.file, expr: default }, hops - 1);
                    }
                    let callers = facts.shared.graph.types.callers(func);
                    let found = callers.iter().find_map(|c| {
                        let arg = facts.shared.graph.types.argument_for(c.call, func, i)?;
                        device_text(facts, arg, hops - 1)
                    });
                    found
                }
                DefSite::Target(target) => {
                    let value = crate::flow::origin::assigned_value(ir, target)?;
                    device_text(facts, ExprRef { file: at.file, expr: value }, hops - 1)
                }
                _ => None,
            }
        }
        Expr::Attr { base, attr, .. } => {
            let types = facts.shared.graph.types.of(ExprRef { file: at.file, expr: *base });
            for typed in types.iter() {
                let Type::Instance(class) = typed.ty else { continue };
                for c in program.mro(class).iter() {
                    for store in program.self_stores(*c, *attr) {
                        if let Some(value) = crate::flow::origin::assigned_value(program.ir(c.file), store) {
                            let found = device_text(facts, ExprRef { file: c.file, expr: value }, hops - 1);
                            if found.is_some() {
                                return found;
                            }
                        }
                    }
                }
            }
            None
        }
        _ => None,
    }
}

/// Does the outcome of a comparison steer work: a loop goes on, a function gives up early, a batch is closed?
fn limits_work(facts: &Facts, compare: ExprRef) -> bool {
    let shared = facts.shared;
    let ir = shared.ir(compare.file);
    let running = shared.processes.running_at(compare);
    if !running.kinds.iter().any(|k| shared.program().profile.is_ranked(k) || k == "tokenizer") {
        return false;
    }
    // Comparisons with a literal ask whether a feature is on.
    if let Expr::Compare { left, rest } = ir.expr(compare.expr) {
        let literal = |e: ExprId| matches!(ir.expr(e), Expr::Int(_) | Expr::Float(_) | Expr::None);
        if literal(*left) || rest.iter().any(|(_, e)| literal(*e)) {
            return false;
        }
    }
    let Some(stmt) = ir.stmt_of(compare.expr) else { return false };
    let init = shared.processes.function_around(compare).is_some_and(|f| {
        let name = shared.program().func(f).name;
        name == "__init__" || name.starts_with("init") || name.starts_with("_init")
    });
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
