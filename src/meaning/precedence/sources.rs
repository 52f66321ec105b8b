//! From which fields, or variables of the environment, is a value computed?
//!
//! Conditions on the way do not count. What stands in the expression itself is nearest; where nothing does, locals, then
//! calls, parameters and attributes are gone through, and only the nearest fields that turn up count.

use super::asks::env_read;
use super::bend::Party;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Shared;
use crate::program::resolve::Binding;
use crate::program::types::Type;
use crate::program::{ClassRef, ExprRef, FileId, FuncRef, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

const MAX_DEPTH: usize = 32;
const MAX_HOPS: u32 = 5;
const MANY_FOUND: usize = 60;

/// All that goes in: through locals, and where `deep` also through calls, parameters and attributes. `true` where none of
/// these had to be gone through.
pub fn all(shared: &Shared, at: ExprRef, deep: bool) -> Vec<(Party, bool)> {
    let max_hops = if deep { MAX_HOPS } else { 0 };
    let mut walk = Walk { shared, max_hops, out: Vec::new(), busy: Vec::new() };
    walk.go(at, 0, true);
    let mut out = walk.out;
    out.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    out.dedup_by(|a, b| a.0 == b.0);
    out.into_iter().map(|(other, hops)| (other, hops == 0)).collect()
}

/// The nearest only.
pub fn nearest(shared: &Shared, at: ExprRef) -> Vec<(Party, bool)> {
    let mut walk = Walk { shared, max_hops: MAX_HOPS, out: Vec::new(), busy: Vec::new() };
    walk.go(at, 0, true);
    let Some(least) = walk.out.iter().map(|(_, hops)| *hops).min() else { return Vec::new() };
    let mut out: Vec<(Party, bool)> =
        walk.out.into_iter().filter(|(_, h)| *h == least).map(|(o, h)| (o, h == 0)).collect();
    out.sort();
    out.dedup();
    out
}

struct Walk<'s, 'g, 'p> {
    shared: &'s Shared<'g, 'p>,
    /// How many calls, parameters and attributes to go through.
    max_hops: u32,
    out: Vec<(Party, u32)>,
    busy: Vec<ExprRef>,
}

impl Walk<'_, '_, '_> {
    fn go(&mut self, at: ExprRef, hops: u32, enter: bool) {
        let shared = self.shared;
        if let Some(field) = shared.origins.direct(at) {
            self.out.push((Party::Field(field), hops));
            return;
        }
        let ir = shared.ir(at.file);
        if let Some(name) = env_read(ir, at.expr) {
            self.out.push((Party::Env(name), hops));
            return;
        }
        if self.busy.contains(&at) || self.busy.len() > MAX_DEPTH || self.out.len() > MANY_FOUND {
            return;
        }
        self.busy.push(at);
        let file = at.file;
        match ir.expr(at.expr) {
            Expr::Name(_) => self.name(at, hops, enter),
            Expr::Attr { base, attr, .. } => self.attribute(at, *base, *attr, hops),
            Expr::IfExp { body, orelse, .. } => {
                self.go(ExprRef { file, expr: *body }, hops, enter);
                self.go(ExprRef { file, expr: *orelse }, hops, enter);
            }
            Expr::Call { func, args } => self.call(at, *func, args, hops, enter),
            // What a value is divided by, or rounded to, is no part of it.
            Expr::Bin { op: BinOp::Div | BinOp::FloorDiv | BinOp::Mod, left, .. } => {
                self.go(ExprRef { file, expr: *left }, hops, enter);
            }
            Expr::Bin { op: BinOp::Mul, left, right } if rounds(shared, file, *left, *right) => {
                self.go(ExprRef { file, expr: *left }, hops, enter);
            }
            Expr::Bin { op: BinOp::Mul, left, right } if rounds(shared, file, *right, *left) => {
                self.go(ExprRef { file, expr: *right }, hops, enter);
            }
            Expr::Bin { op: BinOp::Sub, left, .. } if is_kept(ir, at.expr, *left) => {
                self.go(ExprRef { file, expr: *left }, hops, enter);
            }
            Expr::Lambda(_) | Expr::FString(_) => {}
            _ => {
                for child in ir.children(at.expr) {
                    self.go(ExprRef { file, expr: child }, hops, enter);
                }
            }
        }
        self.busy.pop();
    }

    /// What the instances of a class hold in an attribute.
    fn attribute(&mut self, at: ExprRef, base: ExprId, attr: Sym, hops: u32) {
        if hops >= self.max_hops {
            return;
        }
        let program = self.shared.program();
        let types = self.shared.graph.types.of(ExprRef { file: at.file, expr: base });
        for typed in types.iter().take(3) {
            let Type::Instance(class) = typed.ty else { continue };
            if let Some(method) = program.method(class, attr) {
                if program.is_property(method) {
                    for value in program.returns(method) {
                        self.go(ExprRef { file: method.file, expr: *value }, hops + 1, false);
                    }
                }
                continue;
            }
            for (file, target) in self.stores(class, attr) {
                if let Some(value) = assigned_value(program.ir(file), target) {
                    self.go(ExprRef { file, expr: value }, hops + 1, false);
                }
            }
        }
    }

    /// The assignments to an attribute in a class and those above it, else in those below; none where they are many.
    fn stores(&self, class: ClassRef, attr: Sym) -> Vec<(FileId, ExprId)> {
        const MANY: usize = 12;
        let program = self.shared.program();
        let of = |classes: &[ClassRef]| -> Vec<(FileId, ExprId)> {
            let stores = classes.iter().flat_map(|c| program.self_stores(*c, attr).into_iter().map(|e| (c.file, e)));
            stores.collect()
        };
        let mut stores = of(&program.mro(class));
        for sub in program.subclasses(class).iter().take(6) {
            if !stores.is_empty() {
                break;
            }
            stores = of(&program.mro(*sub));
        }
        if stores.len() > MANY {
            stores.clear();
        }
        stores
    }

    fn parameter(&mut self, file: FileId, scope: Scope, i: u32, hops: u32) {
        const MANY: usize = 12;
        const MANY_FILES: usize = 40;
        let Scope::Func(func) = scope else { return };
        let func = FuncRef { file, func };
        let program = self.shared.program();
        let name = program.func(func).name;
        if hops >= self.max_hops || (!name.starts_with("__") && program.files_with(name).len() > MANY_FILES) {
            return;
        }
        let types = &self.shared.graph.types;
        let callers = types.callers(func);
        if callers.len() > MANY {
            return;
        }
        for site in callers.iter() {
            if let Some(argument) = types.argument_for(site.call, func, i) {
                self.go(argument, hops + 1, false);
            }
        }
    }

    fn name(&mut self, at: ExprRef, hops: u32, enter: bool) {
        let program = self.shared.program();
        let Binding::Local(scope, defs) = program.binding(at) else { return };
        let defuse = program.defuse(at.file, scope);
        let ir = program.ir(at.file);
        let sites: Vec<DefSite> = defs.iter().filter_map(|d| defuse.defs.get(d.0 as usize)).map(|d| d.site).collect();
        for site in sites {
            match site {
                DefSite::Target(target) => {
                    let changed = augmented(ir, target);
                    if let Some(value) = assigned_value(ir, target).filter(|_| changed != Some(BinOp::Sub)) {
                        self.go(ExprRef { file: at.file, expr: value }, hops, enter);
                    }
                    // `total += more` keeps what total was.
                    if changed.is_some() && defuse.reaching.contains_key(&target) {
                        self.go(ExprRef { file: at.file, expr: target }, hops, enter);
                    }
                }
                DefSite::Param(i) => self.parameter(at.file, scope, i, hops),
                _ => {}
            }
        }
    }

    /// A builtin, a function of a module, or a method of a field's value?
    fn is_foreign(&self, file: FileId, func: ExprId) -> bool {
        let program = self.shared.program();
        let binding = |expr| program.binding(ExprRef { file, expr });
        match program.ir(file).expr(func) {
            Expr::Name(_) => binding(func) == Binding::Builtin,
            Expr::Attr { base, .. } => match program.ir(file).expr(*base) {
                Expr::Name(_) => !matches!(binding(*base), Binding::Local(..)),
                _ => self.shared.origins.direct(ExprRef { file, expr: *base }).is_some(),
            },
            _ => false,
        }
    }

    fn call(&mut self, at: ExprRef, func: ExprId, args: &[Arg], hops: u32, enter: bool) {
        const MANY_RETURNS: usize = 4;
        let shared = self.shared;
        let program = shared.program();
        // Nothing is resolved for a shallow look; what Python itself computes is seen through.
        let shallow = hops >= self.max_hops;
        if shallow && !self.is_foreign(at.file, func) {
            return;
        }
        let callees: Vec<FuncRef> =
            if shallow { Vec::new() } else { shared.graph.types.callees(at).iter().map(|c| c.0).take(3).collect() };
        if callees.is_empty() {
            // Keywords say how an unknown function goes about it.
            for arg in args.iter().filter(|a| a.kind == ArgKind::Positional || a.kind == ArgKind::Star) {
                self.go(ExprRef { file: at.file, expr: arg.value }, hops, enter);
            }
            if let Expr::Attr { base, .. } = program.ir(at.file).expr(func) {
                // `field.split(",")`; an unknown object's method is no value of its.
                let plain = last_name(program.ir(at.file), *base).is_none();
                let base = ExprRef { file: at.file, expr: *base };
                if plain || shared.origins.direct(base).is_some() {
                    self.go(base, hops, enter);
                }
            }
            return;
        }
        if !enter {
            return;
        }
        for callee in callees {
            let returns = program.returns(callee);
            if returns.len() <= MANY_RETURNS {
                for value in returns {
                    self.go(ExprRef { file: callee.file, expr: *value }, hops + 1, false);
                }
            }
        }
    }
}

/// The operator of `target op= …`.
fn augmented(ir: &FileIr, target: ExprId) -> Option<BinOp> {
    let Parent::Stmt(stmt) = ir.exprs[target.index()].parent else { return None };
    match ir.stmt(stmt).kind {
        Stmt::AugAssign { op, .. } => Some(op),
        _ => None,
    }
}

/// `rest = rest - part`: what is taken off is no source of what is left.
fn is_kept(ir: &FileIr, at: ExprId, left: ExprId) -> bool {
    let Parent::Stmt(stmt) = ir.exprs[at.index()].parent else { return false };
    match &ir.stmt(stmt).kind {
        Stmt::Assign { targets, .. } => {
            let name = last_name(ir, left);
            name.is_some() && targets.iter().any(|t| last_name(ir, *t) == name)
        }
        _ => false,
    }
}

/// `x // n * n`
fn rounds(shared: &Shared, file: FileId, left: ExprId, right: ExprId) -> bool {
    match shared.ir(file).expr(left) {
        Expr::Bin { op: BinOp::FloorDiv, right: divisor, .. } => {
            let text = |expr| shared.text(ExprRef { file, expr });
            text(*divisor) == text(right)
        }
        _ => false,
    }
}
