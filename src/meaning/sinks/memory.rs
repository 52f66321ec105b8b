//! Whether an allocation makes host or device memory.
//!
//! Told by `pin_memory=`, `device=`, what is done with the result at once, and the `with torch.device(…)` around. What
//! allocates on the default device counts only where it lasts: a scratch value of one call is no sink.

use super::Found;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Facts;
use crate::program::resolve::Binding;
use crate::program::types::Type;
use crate::program::{ExprRef, FuncRef, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

const HOST: &str = "host-memory";
const DEVICE: &str = "device-memory";

/// How many steps a device is followed back.
const MAX_HOPS: u32 = 4;

pub fn found(facts: &Facts, call: ExprRef) -> Option<Found> {
    let ir = facts.shared.ir(call.file);
    let Expr::Call { args, .. } = ir.expr(call.expr) else { return None };
    let keyword =
        |name: &str| args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == name)).map(|a| a.value);
    if keyword("pin_memory").is_some_and(|pinned| !matches!(ir.expr(pinned), Expr::False | Expr::None)) {
        return Some(Found::new(HOST, call));
    }
    if let Some(kind) = moved_to(ir, call.expr) {
        return Some(Found::new(kind, call));
    }
    let device = keyword("device").or_else(|| device_around(ir, call.expr));
    match device {
        Some(device) => match device_text(facts, ExprRef { file: call.file, expr: device }, MAX_HOPS) {
            Some(text) => Some(Found::new(if text.starts_with("cpu") { HOST } else { DEVICE }, call)),
            None => Some(Found::guessed(if named_for_host(facts, call) { HOST } else { DEVICE }, call)),
        },
        // torch's default device is the host's, unless a caller has set another.
        None => lasts(facts, call).then(|| Found::guessed(HOST, call)),
    }
}

/// Does the name of the function or class around say that it makes host memory?
fn named_for_host(facts: &Facts, call: ExprRef) -> bool {
    let name = facts.shared.function_name(call).to_lowercase();
    ["host", "cpu", "pin_memory", "pinned"].iter().any(|word| name.contains(word))
}

/// `torch.ones(n).cuda()`
fn moved_to(ir: &FileIr, call: ExprId) -> Option<&'static str> {
    let Parent::Expr(up) = ir.exprs[call.index()].parent else { return None };
    match ir.expr(up) {
        Expr::Attr { attr, .. } => match attr.as_str() {
            "cuda" | "to" => Some(DEVICE),
            "pin_memory" => Some(HOST),
            _ => None,
        },
        _ => None,
    }
}

/// The device of the nearest `with torch.device(device):` in the same function.
fn device_around(ir: &FileIr, at: ExprId) -> Option<ExprId> {
    let mut stmt = ir.stmt_of(at)?;
    loop {
        if let Stmt::With { items, .. } = &ir.stmt(stmt).kind {
            let device = items.iter().find_map(|(context, _)| match ir.expr(*context) {
                Expr::Call { func, args } if last_name(ir, *func).is_some_and(|n| n == "device") => args.first(),
                _ => None,
            });
            if let Some(device) = device {
                return Some(device.value);
            }
        }
        stmt = ir.stmt(stmt).parent?.0;
    }
}

/// Is the result kept in an attribute, or made while something is set up?
fn lasts(facts: &Facts, call: ExprRef) -> bool {
    let ir = facts.shared.ir(call.file);
    let kept = ir.stmt_of(call.expr).is_some_and(|s| match &ir.stmt(s).kind {
        Stmt::Assign { targets, .. } => targets.iter().any(|t| matches!(ir.expr(*t), Expr::Attr { .. })),
        _ => false,
    });
    kept || facts.shared.processes.function_around(call).is_some_and(|f| {
        let name = facts.shared.program().func(f).name;
        ["__init__", "init", "_init"].iter().any(|start| name.starts_with(start))
    })
}

/// The device that an expression names: a literal, or the default of the parameter that it comes from.
fn device_text(facts: &Facts, at: ExprRef, hops: u32) -> Option<String> {
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
                    let func = FuncRef { file: at.file, func };
                    if let Some(default) = program.func(func).params.get(i as usize)?.default {
                        return device_text(facts, ExprRef { file: at.file, expr: default }, hops - 1);
                    }
                    let callers = facts.shared.graph.types.callers(func);

                    callers.iter().find_map(|c| {
                        let arg = facts.shared.graph.types.argument_for(c.call, func, i)?;
                        device_text(facts, arg, hops - 1)
                    })
                }
                DefSite::Target(target) => {
                    let value = assigned_value(ir, target)?;
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
                        if let Some(value) = assigned_value(program.ir(c.file), store) {
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
