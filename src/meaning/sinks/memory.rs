//! Whether an allocation makes host or device memory.
//!
//! Told by `pin_memory=`, `device=`, what is done with the result at once, and the `with torch.device(…)` around. It
//! counts only where it lasts: a scratch value of one call is no sink.

use super::Found;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Facts;
use crate::program::resolve::Binding;
use crate::program::types::Type;
use crate::program::{ExprRef, FileId, FuncRef, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

const HOST: &str = "host-memory";
const DEVICE: &str = "device-memory";

/// How many steps a device is followed back, and a memory to who keeps it.
const MAX_HOPS: u32 = 4;
const MAX_SOURCES: usize = 8;
const MAX_CALLERS: usize = 8;
const MAX_FILES_OF_CALLERS: usize = 30;

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
        Some(device) => {
            let mut named = Named::default();
            named.collect(facts, ExprRef { file: call.file, expr: device }, MAX_HOPS);
            Some(match named {
                Named { host: true, other: false, unknown: false } => Found::new(HOST, call),
                Named { host: false, other: true, .. } => Found::new(DEVICE, call),
                _ => Found::guessed(if named_for_host(facts, call) { HOST } else { DEVICE }, call),
            })
        }
        // torch's default device is the host's, unless a caller has set another.
        None => Some(Found::guessed(HOST, call)),
    }
}

/// Does the name of the function, the class or the file around say that it makes host memory?
fn named_for_host(facts: &Facts, call: ExprRef) -> bool {
    let name = facts.shared.function_name(call).to_lowercase();
    let path = &facts.shared.program().file(call.file).path;
    ["host", "cpu", "pin_memory", "pinned"].iter().any(|word| name.contains(word))
        || path.split(['/', '_', '.']).any(|word| word == "host")
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

/// Does the memory outlive the call that asks for it: is it kept in an attribute, made while something is set up, or handed
/// to a caller for whom that is so?
pub fn lasts(facts: &Facts, call: ExprRef) -> bool {
    is_kept(facts, call, MAX_HOPS) || sets_up(facts, call, MAX_HOPS)
}

fn is_kept(facts: &Facts, at: ExprRef, hops: u32) -> bool {
    let ir = facts.shared.ir(at.file);
    let Some(stmt) = ir.stmt_of(at.expr) else { return false };
    match &ir.stmt(stmt).kind {
        Stmt::Assign { targets, .. } => {
            targets.iter().any(|t| is_attribute(ir, *t))
                || targets.iter().any(|t| is_returned(facts, at.file, *t, hops))
        }
        Stmt::AnnAssign { target, .. } => is_attribute(ir, *target) || is_returned(facts, at.file, *target, hops),
        // `self.buffers.append(torch.empty(n))`
        Stmt::Expr(whole) => match ir.expr(*whole) {
            Expr::Call { func, .. } => {
                matches!(ir.expr(*func), Expr::Attr { base, attr, .. } if attr.as_str() == "append" && is_attribute(ir, *base))
            }
            _ => false,
        },
        Stmt::Return(_) => is_kept_by_callers(facts, at, hops),
        _ => false,
    }
}

/// An attribute, or an element of one.
fn is_attribute(ir: &FileIr, target: ExprId) -> bool {
    match ir.expr(target) {
        Expr::Attr { .. } => true,
        Expr::Subscript { base, .. } => matches!(ir.expr(*base), Expr::Attr { .. }),
        Expr::Tuple(items) => items.iter().any(|i| matches!(ir.expr(*i), Expr::Attr { .. })),
        _ => false,
    }
}

/// `buffer = torch.empty(n)`, later `return buffer`
fn is_returned(facts: &Facts, file: FileId, target: ExprId, hops: u32) -> bool {
    let program = facts.shared.program();
    let ir = program.ir(file);
    let scope = ir.scope_of(target);
    let defuse = program.defuse(file, scope);
    let Some(def) = defuse.by_target.get(&target) else { return false };
    let mut uses = defuse.uses.get(def.0 as usize).into_iter().flatten();
    uses.any(|at| match ir.stmt_of(*at).map(|s| &ir.stmt(s).kind) {
        Some(Stmt::Return(_)) => is_kept_by_callers(facts, ExprRef { file, expr: *at }, hops),
        _ => false,
    })
}

/// Who is not known to throw it away keeps it.
fn is_kept_by_callers(facts: &Facts, at: ExprRef, hops: u32) -> bool {
    let callers = callers_of(facts, at);
    callers.is_empty() || (hops > 0 && callers.iter().any(|call| is_kept(facts, *call, hops - 1)))
}

/// Does the code run from a constructor or at import?
fn sets_up(facts: &Facts, at: ExprRef, hops: u32) -> bool {
    let Some(func) = facts.shared.processes.function_around(at) else { return true };
    let name = facts.shared.program().func(func).name;
    ["__init__", "__post_init__"].iter().any(|n| name == *n)
        || (hops > 0 && callers_of(facts, at).iter().any(|call| sets_up(facts, *call, hops - 1)))
}

/// The calls of the function around, unless its name is too common to look for.
fn callers_of(facts: &Facts, at: ExprRef) -> Vec<ExprRef> {
    let program = facts.shared.program();
    let Some(func) = facts.shared.processes.function_around(at) else { return Vec::new() };
    if program.files_with(program.func(func).name).len() > MAX_FILES_OF_CALLERS {
        return Vec::new();
    }
    let callers = facts.shared.graph.types.callers(func);
    callers.iter().take(MAX_CALLERS).map(|site| site.call).collect()
}

/// What a device expression can name: literals, the defaults of the parameters and the arguments that it comes from.
#[derive(Default)]
struct Named {
    host: bool,
    other: bool,
    unknown: bool,
}

impl Named {
    fn collect(&mut self, facts: &Facts, at: ExprRef, hops: u32) {
        let sources = match facts.shared.ir(at.file).expr(at.expr) {
            Expr::Str(text) => {
                let host = text.starts_with("cpu");
                (self.host, self.other) = (self.host || host, self.other || !host);
                return;
            }
            _ if hops == 0 => Vec::new(),
            // `torch.device(name)`
            Expr::Call { args, .. } => {
                args.first().map(|a| ExprRef { file: at.file, expr: a.value }).into_iter().collect()
            }
            Expr::Name(_) => sources_of_name(facts, at),
            Expr::Attr { base, attr, .. } => stores_of(facts, ExprRef { file: at.file, expr: *base }, *attr),
            _ => Vec::new(),
        };
        self.unknown |= sources.is_empty();
        for source in sources.into_iter().take(MAX_SOURCES) {
            self.collect(facts, source, hops - 1);
        }
    }
}

/// What a local name can be: what is assigned to it; for a parameter, its default and what callers give.
fn sources_of_name(facts: &Facts, at: ExprRef) -> Vec<ExprRef> {
    let program = facts.shared.program();
    let Binding::Local(scope, defs) = program.binding(at) else { return Vec::new() };
    let defuse = program.defuse(at.file, scope);
    let mut out = Vec::new();
    for def in defs {
        match defuse.defs.get(def.0 as usize).map(|d| d.site) {
            Some(DefSite::Param(i)) => {
                let Scope::Func(func) = scope else { continue };
                let func = FuncRef { file: at.file, func };
                let default = program.func(func).params.get(i as usize).and_then(|p| p.default);
                out.extend(default.map(|expr| ExprRef { file: at.file, expr }));
                let graph = facts.shared.graph;
                let callers = graph.types.callers(func);
                out.extend(callers.iter().filter_map(|c| graph.types.argument_for(c.call, func, i)));
            }
            Some(DefSite::Target(target)) => {
                let value = assigned_value(program.ir(at.file), target);
                out.extend(value.map(|expr| ExprRef { file: at.file, expr }));
            }
            _ => {}
        }
    }
    out
}

/// What methods of an object's class store in an attribute of it.
fn stores_of(facts: &Facts, base: ExprRef, attr: Sym) -> Vec<ExprRef> {
    let program = facts.shared.program();
    let types = facts.shared.graph.types.of(base);
    let classes = types.iter().filter_map(|typed| match typed.ty {
        Type::Instance(class) => Some(class),
        _ => None,
    });
    let hosts = classes.flat_map(|class| program.mro(class).to_vec());
    let stores =
        hosts.flat_map(|host| program.self_stores(host, attr).into_iter().map(move |store| (host.file, store)));
    stores.filter_map(|(file, store)| Some(ExprRef { file, expr: assigned_value(program.ir(file), store)? })).collect()
}
