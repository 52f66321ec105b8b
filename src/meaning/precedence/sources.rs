//! From which fields, or variables of the environment, is a value computed?
//!
//! Conditions on the way do not count. What stands in the expression itself is nearest; where nothing does, locals, then
//! calls, parameters and attributes are gone through, and only the nearest fields that turn up count.

use super::asks::env_read;
use super::bend::Other;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Shared;
use crate::program::resolve::Binding;
use crate::program::{ExprRef, FuncRef, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

const MAX_DEPTH: u32 = 8;

/// All that goes in through locals, and the nearest behind each other part. `true` where no call, parameter or attribute
/// had to be gone through.
pub fn all(shared: &Shared, at: ExprRef) -> Vec<(Other, bool)> {
    let mut walk = Walk { shared, out: Vec::new(), busy: Vec::new() };
    walk.go(at, 0, true);
    let mut out = walk.out;
    out.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    out.dedup_by(|a, b| a.0 == b.0);
    out.into_iter().map(|(other, hops)| (other, hops == 0)).collect()
}

/// The nearest only.
pub fn nearest(shared: &Shared, at: ExprRef) -> Vec<(Other, bool)> {
    let mut walk = Walk { shared, out: Vec::new(), busy: Vec::new() };
    walk.go(at, 0, true);
    let Some(least) = walk.out.iter().map(|(_, hops)| *hops).min() else { return Vec::new() };
    let mut out: Vec<(Other, bool)> =
        walk.out.into_iter().filter(|(_, h)| *h == least).map(|(o, h)| (o, h == 0)).collect();
    out.sort();
    out.dedup();
    out
}

struct Walk<'s, 'g, 'p> {
    shared: &'s Shared<'g, 'p>,
    out: Vec<(Other, u32)>,
    busy: Vec<ExprRef>,
}

impl Walk<'_, '_, '_> {
    fn go(&mut self, at: ExprRef, hops: u32, enter: bool) {
        let shared = self.shared;
        if let Some(field) = shared.origins.direct(at) {
            self.out.push((Other::Field(field), hops));
            return;
        }
        let ir = shared.ir(at.file);
        if let Some(name) = env_read(ir, at.expr) {
            self.out.push((Other::Env(name), hops));
            return;
        }
        if self.busy.contains(&at) || self.busy.len() as u32 > MAX_DEPTH * 4 || self.out.len() > 60 {
            return;
        }
        self.busy.push(at);
        let file = at.file;
        match ir.expr(at.expr) {
            Expr::Name(_) => self.name(at, hops, enter),
            Expr::Attr { .. } => self.behind(at, hops),
            Expr::IfExp { body, orelse, .. } => {
                self.go(ExprRef { file, expr: *body }, hops, enter);
                self.go(ExprRef { file, expr: *orelse }, hops, enter);
            }
            Expr::Call { func, args } => self.call(at, *func, args, hops, enter),
            Expr::Lambda(_) | Expr::FString { .. } => {}
            _ => {
                for child in ir.children(at.expr) {
                    self.go(ExprRef { file, expr: child }, hops, enter);
                }
            }
        }
        self.busy.pop();
    }

    /// What the tree knows of an attribute or parameter; the nearest fields.
    fn behind(&mut self, at: ExprRef, hops: u32) {
        let origins = self.shared.origins.of(at);
        let values = || origins.iter().filter(|o| !o.condition);
        let Some(least) = values().map(|o| o.hops).min() else { return };
        let near = values().filter(|o| o.hops == least).map(|o| (Other::Field(o.field), hops + least.max(1)));
        self.out.extend(near);
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
                    if let Some(value) = assigned_value(ir, target) {
                        self.go(ExprRef { file: at.file, expr: value }, hops, enter);
                    }
                    // `total += more` keeps what total was.
                    if let Parent::Stmt(stmt) = ir.exprs[target.index()].parent {
                        let kept = matches!(ir.stmt(stmt).kind, Stmt::AugAssign { .. });
                        if kept && defuse.reaching.contains_key(&target) {
                            self.go(ExprRef { file: at.file, expr: target }, hops, enter);
                        }
                    }
                }
                DefSite::Param(_) => self.behind(at, hops),
                _ => {}
            }
        }
    }

    fn call(&mut self, at: ExprRef, func: ExprId, args: &[Arg], hops: u32, enter: bool) {
        const MANY_RETURNS: usize = 4;
        let shared = self.shared;
        let program = shared.program();
        let callees: Vec<FuncRef> = shared.graph.types.callees(at).iter().map(|c| c.0).take(3).collect();
        if callees.is_empty() {
            for arg in args {
                self.go(ExprRef { file: at.file, expr: arg.value }, hops, enter);
            }
            if let Expr::Attr { base, .. } = program.ir(at.file).expr(func) {
                // `field.split(",")`; an unknown object's method is no value of its.
                if last_name(program.ir(at.file), *base).is_none_or(|_| shared.origins.direct(ExprRef { file: at.file, expr: *base }).is_some()) {
                    self.go(ExprRef { file: at.file, expr: *base }, hops, enter);
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
