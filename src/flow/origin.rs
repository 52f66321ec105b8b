//! Which fields of the record does an expression's value come from?
//!
//! The backwards counterpart of `trace`, for questions about *other* fields: what a test asks, what a divisor is. It goes
//! through locals, attributes, parameters, small functions and sub-configuration objects, a few hops only; what it finds
//! through more than a direct read is not `sure`.

use super::graph::Graph;
use crate::program::types::Type;
use crate::program::*;
use crate::syntax::defuse::{DefId, DefSite};
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Origin {
    pub field: Sym,
    /// Where the field is read.
    pub read: ExprRef,
    /// Hops between the expression and the read.
    pub hops: u32,
    /// The field decides between values, rather than being one.
    pub condition: bool,
}

pub struct Origins<'g, 'p> {
    graph: &'g Graph<'p>,
    is_field: Box<dyn Fn(Sym) -> bool + 'g>,
    memo: RefCell<FxHashMap<ExprRef, Rc<[Origin]>>>,
}

const MAX_HOPS: u32 = 4;
/// More stores or call sites than this merge too much to tell anything.
const MAX_WAYS: usize = 6;
const MAX_ORIGINS: usize = 12;

impl<'g, 'p> Origins<'g, 'p> {
    pub fn new(graph: &'g Graph<'p>, is_field: impl Fn(Sym) -> bool + 'g) -> Self {
        Origins { graph, is_field: Box::new(is_field), memo: RefCell::default() }
    }

    /// The fields that the expression's value depends on, nearest first.
    pub fn of(&self, at: ExprRef) -> Rc<[Origin]> {
        if let Some(known) = self.memo.borrow().get(&at) {
            return known.clone();
        }
        let mut out = Vec::new();
        let mut busy = Vec::new();
        self.collect(at, 0, false, &mut busy, &mut out);
        out.sort_by_key(|o: &Origin| (o.hops, o.condition, o.field, o.read));
        out.dedup_by_key(|o| o.field);
        let mut unique: Vec<Origin> = Vec::new();
        for origin in out {
            if !unique.iter().any(|u| u.field == origin.field) {
                unique.push(origin);
            }
        }
        let out: Rc<[Origin]> = unique.into();
        self.memo.borrow_mut().insert(at, out.clone());
        out
    }

    /// The field that the expression reads directly, if it does: `record.field`, `getattr(record, "field")`.
    pub fn direct(&self, at: ExprRef) -> Option<Sym> {
        let ir = self.graph.program.ir(at.file);
        let (base, field) = match ir.expr(at.expr) {
            Expr::Attr { base, attr, .. } => (*base, *attr),
            Expr::Call { func, args } if last_name(ir, *func).is_some_and(|n| n == "getattr") => {
                (args.first()?.value, ir.str_value(args.get(1)?.value)?)
            }
            _ => return None,
        };
        if !(self.is_field)(field) {
            return None;
        }
        let types = self.graph.types.of(ExprRef { file: at.file, expr: base });
        self.graph.holds_field(&types, field).map(|_| field)
    }

    fn collect(&self, at: ExprRef, hops: u32, condition: bool, busy: &mut Vec<ExprRef>, out: &mut Vec<Origin>) {
        if hops > MAX_HOPS || busy.contains(&at) || busy.len() > 60 || out.len() > MAX_ORIGINS * 4 {
            return;
        }
        if let Some(field) = self.direct(at) {
            out.push(Origin { field, read: at, hops, condition });
            return;
        }
        busy.push(at);
        self.inside(at, hops, condition, busy, out);
        busy.pop();
    }

    fn inside(&self, at: ExprRef, hops: u32, condition: bool, busy: &mut Vec<ExprRef>, out: &mut Vec<Origin>) {
        let program = self.graph.program;
        let ir = program.ir(at.file);
        let file = at.file;
        match ir.expr(at.expr) {
            Expr::Name(_) => {
                if let resolve::Binding::Local(scope, defs) = program.binding(at)
                    && defs.len() <= MAX_WAYS
                {
                    for def in defs {
                        self.definition(file, scope, def, hops, condition, busy, out);
                    }
                }
            }
            Expr::Attr { base, attr, .. } => {
                let types = self.graph.types.of(ExprRef { file, expr: *base });
                for typed in types.iter().take(3) {
                    if let Type::Instance(class) = typed.ty {
                        self.attribute(class, *attr, hops + 1, condition, busy, out);
                    }
                }
            }
            Expr::Call { func, args } => {
                let callees = self.graph.types.callees(at);
                for (callee, class, _) in callees.iter().take(3) {
                    // A small function that answers a question about the record.
                    let returns = program.returns(*callee);
                    if class.is_none() && !returns.is_empty() && returns.len() <= 4 {
                        for value in returns {
                            self.collect(ExprRef { file: callee.file, expr: *value }, hops + 1, condition, busy, out);
                        }
                    }
                }
                if callees.is_empty() {
                    for arg in args {
                        self.collect(ExprRef { file, expr: arg.value }, hops, condition, busy, out);
                    }
                    if let Expr::Attr { base, .. } = ir.expr(*func) {
                        self.collect(ExprRef { file, expr: *base }, hops, condition, busy, out);
                    }
                }
            }
            Expr::IfExp { test, body, orelse } => {
                self.collect(ExprRef { file, expr: *test }, hops, true, busy, out);
                self.collect(ExprRef { file, expr: *body }, hops, condition, busy, out);
                self.collect(ExprRef { file, expr: *orelse }, hops, condition, busy, out);
            }
            Expr::Lambda(_) | Expr::Comp { .. } => {}
            _ => {
                for child in ir.children(at.expr) {
                    self.collect(ExprRef { file, expr: child }, hops, condition, busy, out);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn definition(
        &self,
        file: FileId,
        scope: Scope,
        def: DefId,
        hops: u32,
        condition: bool,
        busy: &mut Vec<ExprRef>,
        out: &mut Vec<Origin>,
    ) {
        let program = self.graph.program;
        let site = match program.defuse(file, scope).defs.get(def.0 as usize) {
            Some(def) => def.site,
            None => return,
        };
        match site {
            DefSite::Target(target) => {
                if let Some(value) = assigned_value(program.ir(file), target) {
                    self.collect(ExprRef { file, expr: value }, hops + 1, condition, busy, out);
                }
            }
            DefSite::Param(i) => {
                let Scope::Func(func) = scope else { return };
                let func = FuncRef { file, func };
                if program.files_with(program.func(func).name).len() > 40 {
                    return;
                }
                let callers = self.graph.types.callers(func);
                if callers.len() <= MAX_WAYS {
                    for site in callers.iter() {
                        if let Some(arg) = self.graph.types.argument_for(site.call, func, i) {
                            self.collect(arg, hops + 1, condition, busy, out);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// What instances of a class hold in an attribute.
    fn attribute(
        &self,
        class: ClassRef,
        attr: Sym,
        hops: u32,
        condition: bool,
        busy: &mut Vec<ExprRef>,
        out: &mut Vec<Origin>,
    ) {
        let program = self.graph.program;
        if let Some(method) = program.method(class, attr) {
            if program.is_property(method) {
                for value in program.returns(method) {
                    self.collect(ExprRef { file: method.file, expr: *value }, hops, condition, busy, out);
                }
            }
            return;
        }
        let given = match stores_of(program, class, attr) {
            stores if !stores.is_empty() && stores.len() <= MAX_WAYS => {
                stores.iter().filter_map(|at| assigned_value_at(program, *at)).collect()
            }
            _ => constructor_arguments(program, class, attr),
        };
        for value in given {
            self.collect(value, hops, condition, busy, out);
        }
    }
}

/// Where methods store an attribute of their own object; a mixin's may be stored by its hosts.
pub fn stores_of(program: &Program, class: ClassRef, attr: Sym) -> Vec<ExprRef> {
    let stores_in = |classes: &[ClassRef]| -> Vec<ExprRef> {
        let of_class = |c: &ClassRef| {
            let file = c.file;
            program.self_stores(*c, attr).into_iter().map(move |expr| ExprRef { file, expr })
        };
        classes.iter().flat_map(of_class).collect()
    };
    let own = stores_in(&program.mro(class));
    if !own.is_empty() {
        return own;
    }
    let subclasses = program.subclasses(class);
    let mut hosts: Vec<ClassRef> = subclasses.iter().take(MAX_WAYS).flat_map(|c| program.mro(*c).to_vec()).collect();
    hosts.sort();
    hosts.dedup();
    stores_in(&hosts)
}

/// What the constructor calls of a dataclass give for an attribute.
pub fn constructor_arguments(program: &Program, class: ClassRef, attr: Sym) -> Vec<ExprRef> {
    if !program.is_record_like(class) {
        return Vec::new();
    }
    let name = program.class(class).name;
    let files = program.files_with(name);
    if files.len() > 40 {
        return Vec::new();
    }
    let position = program.record_fields(class).iter().position(|f| f.0 == attr);
    let calls = |file: FileId, name: Sym| program.calls_named(file, name).iter().map(move |expr| (file, *expr));
    let by_name = files.iter().flat_map(|file| calls(*file, name));
    // `cls(attr=…)` in a class method of its own.
    let own_ir = program.ir(class.file);
    let inside = |expr: &ExprId| own_ir.class_around(own_ir.scope_of(*expr)) == Some(class.class);
    let by_cls = calls(class.file, Sym::from("cls")).filter(|(_, expr)| inside(expr));
    let argument = |(file, call): (FileId, ExprId)| {
        let Expr::Call { args, .. } = program.ir(file).expr(call) else { return None };
        let keyword = args.iter().find(|a| a.kind == ArgKind::Keyword(attr));
        let positional = position.and_then(|p| args.get(p)).filter(|a| a.kind == ArgKind::Positional);
        keyword.or(positional).map(|arg| ExprRef { file, expr: arg.value })
    };
    by_name.chain(by_cls).filter_map(argument).collect()
}

fn assigned_value_at(program: &Program, target: ExprRef) -> Option<ExprRef> {
    let value = assigned_value(program.ir(target.file), target.expr)?;
    Some(ExprRef { file: target.file, expr: value })
}

/// The value that an assignment gives to a target standing alone in it; of a tuple, the matching element.
pub fn assigned_value(ir: &FileIr, target: ExprId) -> Option<ExprId> {
    match ir.exprs[target.index()].parent {
        Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
            Stmt::Assign { value, .. } | Stmt::AugAssign { value, .. } => Some(*value),
            Stmt::AnnAssign { value, .. } => *value,
            _ => None,
        },
        Parent::Expr(up) => match ir.expr(up) {
            Expr::Walrus { value, .. } => Some(*value),
            Expr::Tuple(items) => {
                let i = items.iter().position(|e| *e == target)?;
                let Parent::Stmt(stmt) = ir.exprs[up.index()].parent else { return None };
                let Stmt::Assign { value, .. } = &ir.stmt(stmt).kind else { return None };
                match ir.expr(*value) {
                    Expr::Tuple(values) => values.get(i).copied(),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}
