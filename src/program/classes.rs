//! Classes: bases, method resolution order, subclasses, members.
//!
//! The order is the depth-first one with later duplicates kept, which agrees with C3 wherever C3 succeeds on the code we
//! read; a cycle in hostile code is cut.

use super::resolve::{Binding, Entity};
use super::*;
use crate::syntax::defuse::DefSite;

const MAX_MRO: usize = 200;

/// Hierarchies looked up once.
#[derive(Default)]
pub struct ClassMemo {
    mro: Mutex<FxHashMap<ClassRef, Arc<[ClassRef]>>>,
    subclasses: Mutex<FxHashMap<ClassRef, Arc<[ClassRef]>>>,
}

fn remembered(
    memo: &Mutex<FxHashMap<ClassRef, Arc<[ClassRef]>>>,
    class: ClassRef,
    find: impl FnOnce() -> Arc<[ClassRef]>,
) -> Arc<[ClassRef]> {
    if let Some(known) = memo.lock().unwrap_or_else(|e| e.into_inner()).get(&class) {
        return known.clone();
    }
    let found = find();
    memo.lock().unwrap_or_else(|e| e.into_inner()).insert(class, found.clone());
    found
}

impl Program {
    pub fn class(&self, class: ClassRef) -> &Class {
        self.ir(class.file).class(class.class)
    }

    pub fn func(&self, func: FuncRef) -> &Func {
        self.ir(func.file).func(func.func)
    }

    /// The class that a method belongs to; `None` for functions.
    pub fn method_class(&self, func: FuncRef) -> Option<ClassRef> {
        match self.func(func).scope {
            Scope::Class(class) => Some(ClassRef { file: func.file, class }),
            _ => None,
        }
    }

    /// The bases that stand in the tree.
    pub fn bases(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut out = Vec::new();
        for base in &self.class(class).bases {
            self.class_of_expr(class.file, *base, &mut out);
        }
        out
    }

    /// The dotted paths of the bases that do not.
    pub fn external_bases(&self, class: ClassRef) -> Vec<Sym> {
        let mut out = Vec::new();
        for base in &self.class(class).bases {
            for entity in self.entities(ExprRef { file: class.file, expr: *base }) {
                if let Entity::External(path) = entity {
                    out.push(path);
                }
            }
        }
        out
    }

    /// The module-level things that a dotted expression names.
    pub fn entities(&self, at: ExprRef) -> Vec<Entity> {
        match self.ir(at.file).expr(at.expr) {
            Expr::Name(name) => match self.binding(at) {
                Binding::Entities(all) => all,
                Binding::Local(scope, defs) => {
                    let defuse = self.defuse(at.file, scope);
                    let mut out = Vec::new();
                    for def in defs {
                        match defuse.defs[def.0 as usize].site {
                            DefSite::Import(stmt, i) => out.extend(self.imported(at.file, stmt, i)),
                            DefSite::Func(func) => out.push(Entity::Func(FuncRef { file: at.file, func })),
                            DefSite::Class(class) => out.push(Entity::Class(ClassRef { file: at.file, class })),
                            _ => {}
                        }
                    }
                    out
                }
                Binding::Builtin => vec![Entity::External(*name)],
            },
            Expr::Attr { base, attr, .. } => {
                let mut out = Vec::new();
                for entity in self.entities(ExprRef { file: at.file, expr: *base }) {
                    match entity {
                        Entity::Module(file) => out.extend(self.module_attr(file, *attr)),
                        Entity::External(path) => out.push(Entity::External(Sym::from(&format!("{path}.{attr}")))),
                        _ => {}
                    }
                }
                out
            }
            Expr::Subscript { base, .. } => self.entities(ExprRef { file: at.file, expr: *base }),
            _ => Vec::new(),
        }
    }

    fn class_of_expr(&self, file: FileId, expr: ExprId, out: &mut Vec<ClassRef>) {
        for entity in self.entities(ExprRef { file, expr }) {
            if let Entity::Class(class) = entity
                && !out.contains(&class)
            {
                out.push(class);
            }
        }
    }

    /// The class itself, then its bases in method resolution order.
    pub fn mro(&self, class: ClassRef) -> Arc<[ClassRef]> {
        remembered(&self.memo.mro, class, || self.find_mro(class))
    }

    fn find_mro(&self, class: ClassRef) -> Arc<[ClassRef]> {
        let mut out: Vec<ClassRef> = Vec::new();
        let mut stack = vec![class];
        let mut steps = 0;
        while let Some(next) = stack.pop() {
            steps += 1;
            if steps > MAX_MRO {
                break;
            }
            if let Some(at) = out.iter().position(|c| *c == next) {
                if at == 0 {
                    continue;
                }
                out.remove(at);
            }
            out.push(next);
            stack.extend(self.bases(next).into_iter().rev());
        }
        out.into()
    }

    /// Every class of the tree that has this one among its bases, directly or not; in file order.
    pub fn subclasses(&self, class: ClassRef) -> Arc<[ClassRef]> {
        remembered(&self.memo.subclasses, class, || self.find_subclasses(class))
    }

    fn find_subclasses(&self, class: ClassRef) -> Arc<[ClassRef]> {
        let mut out: Vec<ClassRef> = Vec::new();
        let mut queue = vec![class];
        while let Some(base) = queue.pop() {
            let name = self.class(base).name;
            for (file, header) in self.subclass_headers.get(&name).map_or(&[][..], Vec::as_slice) {
                for sub in self.classes_named(*file, header.name) {
                    if !out.contains(&sub) && sub != class && self.bases(sub).contains(&base) {
                        out.push(sub);
                        queue.push(sub);
                    }
                }
            }
        }
        out.sort();
        out.into()
    }

    /// The classes of a file with this name.
    pub fn classes_named(&self, file: FileId, name: Sym) -> Vec<ClassRef> {
        let classes = self.ir(file).classes.iter().enumerate();
        classes.filter(|(_, c)| c.name == name).map(|(i, _)| ClassRef { file, class: ClassId(i as u32) }).collect()
    }

    /// The method that a class itself defines.
    pub fn own_method(&self, class: ClassRef, name: Sym) -> Option<FuncRef> {
        let ir = self.ir(class.file);
        let mut found = None;
        let defuse = self.defuse(class.file, Scope::Class(class.class));
        for def in defuse.by_name.get(&name)? {
            if let DefSite::Func(func) = defuse.defs[def.0 as usize].site
                && ir.func(func).name == name
            {
                found = Some(FuncRef { file: class.file, func });
            }
        }
        found
    }

    /// The method that an instance of the class has.
    pub fn method(&self, class: ClassRef, name: Sym) -> Option<FuncRef> {
        self.mro(class).iter().find_map(|c| self.own_method(*c, name))
    }

    /// The method that `super().name` finds in a method of `inside` on an instance of `receiver`.
    pub fn super_method(&self, inside: ClassRef, receiver: ClassRef, name: Sym) -> Option<FuncRef> {
        let mro = self.mro(receiver);
        let after = mro.iter().position(|c| *c == inside).map_or(0, |i| i + 1);
        mro.iter().skip(after).find_map(|c| self.own_method(*c, name))
    }

    /// Can an object be an instance of both?
    pub fn related(&self, a: ClassRef, b: ClassRef) -> bool {
        if a == b {
            return true;
        }
        let (of_a, of_b) = (self.mro(a), self.mro(b));
        if of_a.contains(&b) || of_b.contains(&a) {
            return true;
        }
        // A mixin meets its siblings in a common subclass.
        self.subclasses(a).iter().any(|c| self.mro(*c).contains(&b))
    }

    /// Does a decorator of this last name stand on the function?
    pub fn has_decorator(&self, func: FuncRef, names: &[&str]) -> bool {
        self.decorator(func, names).is_some()
    }

    /// The first decorator of one of these last names.
    pub fn decorator(&self, func: FuncRef, names: &[&str]) -> Option<ExprRef> {
        self.decorators(func, names).next()
    }

    /// All decorators of one of these names.
    pub fn decorators(&self, func: FuncRef, names: &[&str]) -> impl Iterator<Item = ExprRef> {
        let ir = self.ir(func.file);
        let is_named = |d: &&ExprId| {
            let callee = match ir.expr(**d) {
                Expr::Call { func, .. } => *func,
                _ => **d,
            };
            last_name(ir, callee).is_some_and(|n| names.contains(&n.as_str()))
        };
        let found = ir.func(func.func).decorators.iter().filter(is_named).copied();
        found.map(move |expr| ExprRef { file: func.file, expr })
    }

    pub fn is_property(&self, func: FuncRef) -> bool {
        self.has_decorator(func, &["property", "cached_property", "setter", "functools.cached_property"])
    }

    /// A class whose constructor takes its annotated fields: a dataclass, a named tuple or a struct.
    pub fn is_record_like(&self, class: ClassRef) -> bool {
        self.mro(class).iter().any(|c| {
            let c = *c;
            let ir = self.ir(c.file);
            let decorated = self.class(c).decorators.iter().any(|d| {
                let callee = match ir.expr(*d) {
                    Expr::Call { func, .. } => *func,
                    _ => *d,
                };
                last_name(ir, callee).is_some_and(|n| matches!(n.as_str(), "dataclass" | "define" | "attrs"))
            });
            decorated
                || self.class(c).bases.iter().any(|b| {
                    last_name(ir, *b)
                        .is_some_and(|n| matches!(n.as_str(), "NamedTuple" | "Struct" | "BaseModel" | "TypedDict"))
                })
        })
    }

    /// The annotated fields of a record-like class in constructor order: base classes first.
    pub fn record_fields(&self, class: ClassRef) -> Vec<(Sym, ClassRef, StmtId)> {
        let mut out: Vec<(Sym, ClassRef, StmtId)> = Vec::new();
        for c in self.mro(class).iter().rev().copied() {
            let ir = self.ir(c.file);
            for stmt in &self.class(c).body {
                if let Stmt::AnnAssign { target, annotation, .. } = ir.stmt(*stmt).kind {
                    let class_var = matches!(ir.expr(annotation), Expr::Subscript { base, .. }
                        if last_name(ir, *base).is_some_and(|n| n == "ClassVar"));
                    if let (Expr::Name(name), false) = (ir.expr(target), class_var) {
                        match out.iter_mut().find(|(n, _, _)| n == name) {
                            Some(known) => *known = (*name, c, *stmt),
                            None => out.push((*name, c, *stmt)),
                        }
                    }
                }
            }
        }
        out
    }
}

impl Program {
    /// The targets `self.attr = …` in the methods that one class defines.
    pub fn self_stores(&self, class: ClassRef, attr: Sym) -> Vec<ExprId> {
        if !self.has_word(class.file, attr) {
            return Vec::new();
        }
        let ir = self.ir(class.file);
        let stores = self.attrs_named(class.file, attr).iter().copied();
        stores.filter(|e| self.is_store(class.file, *e) && self.is_self_attr(class, ir, *e)).collect()
    }

    /// The targets `name = …` of a module variable, at module level and in functions that declare it global.
    pub fn global_stores(&self, file: FileId, name: Sym) -> Vec<ExprId> {
        let ir = self.ir(file);
        let stores = (0..ir.exprs.len() as u32)
            .map(ExprId)
            .filter(|at| matches!(ir.expr(*at), Expr::Name(n) if *n == name) && self.is_store(file, *at));
        let is_global = |at: &ExprId| match ir.scope_of(*at) {
            Scope::Module => true,
            scope => self.defuse(file, scope).globals.contains(&name),
        };
        stores.filter(is_global).collect()
    }

    /// Is `self.attr` written on the receiver of a method of this very class?
    fn is_self_attr(&self, class: ClassRef, ir: &FileIr, at: ExprId) -> bool {
        let Expr::Attr { base, .. } = ir.expr(at) else { return false };
        let Expr::Name(name) = ir.expr(*base) else { return false };
        let mut scope = ir.scope_of(at);
        while let Scope::Func(f) = scope {
            let func = ir.func(f);
            if let Scope::Class(c) = func.scope {
                return c == class.class && func.params.first().is_some_and(|p| p.name == *name);
            }
            scope = func.scope;
        }
        false
    }

    /// Is the expression assigned to, rather than read?
    pub fn is_store(&self, file: FileId, at: ExprId) -> bool {
        let ir = self.ir(file);
        let mut at = at;
        loop {
            match ir.exprs[at.index()].parent {
                Parent::Expr(up) => match ir.expr(up) {
                    Expr::Tuple(_) | Expr::List(_) | Expr::Starred(_) => at = up,
                    Expr::Walrus { target, .. } => return *target == at,
                    Expr::Comp(comp) => return comp.clauses.iter().any(|c| c.target == at),
                    _ => return false,
                },
                Parent::Stmt(stmt) => {
                    return match &ir.stmt(stmt).kind {
                        Stmt::Assign { targets, .. } => targets.contains(&at),
                        Stmt::AnnAssign { target, .. } | Stmt::AugAssign { target, .. } | Stmt::For { target, .. } => {
                            *target == at
                        }
                        Stmt::With { items, .. } => items.iter().any(|(_, t)| *t == Some(at)),
                        Stmt::Delete(targets) => targets.contains(&at),
                        _ => false,
                    };
                }
                _ => return false,
            }
        }
    }

    /// The targets that assign a module variable, at the top or under `global`.
    pub fn global_targets(&self, file: FileId, name: Sym) -> Vec<ExprId> {
        let ir = self.ir(file);
        let mut out: Vec<ExprId> = Vec::new();
        let module = self.defuse(file, Scope::Module);
        for def in module.by_name.get(&name).map_or(&[][..], Vec::as_slice) {
            if let DefSite::Target(target) = module.defs[def.0 as usize].site {
                out.push(target);
            }
        }
        for stmt in &ir.stmts {
            let Stmt::Global(names) = &stmt.kind else { continue };
            if names.contains(&name) {
                out.extend(self.defuse(file, stmt.scope).by_name.get(&name).into_iter().flatten().filter_map(|d| {
                    match self.defuse(file, stmt.scope).defs[d.0 as usize].site {
                        DefSite::Target(target) => Some(target),
                        _ => None,
                    }
                }));
            }
        }
        out.sort();
        out.dedup();
        out
    }

    /// Values put into a module-level container in its own file: `REGISTRY[key] = value`.
    pub fn global_entries(&self, file: FileId, name: Sym) -> Vec<ExprId> {
        let ir = self.ir(file);
        let mut out = Vec::new();
        for stmt in &ir.stmts {
            let Stmt::Assign { targets, value } = &stmt.kind else { continue };
            for target in targets {
                let Expr::Subscript { base, .. } = ir.expr(*target) else { continue };
                if !matches!(ir.expr(*base), Expr::Name(n) if *n == name) {
                    continue;
                }
                match self.binding(ExprRef { file, expr: *base }) {
                    Binding::Entities(all) if all.contains(&Entity::Var(file, name)) => out.push(*value),
                    _ => {}
                }
            }
        }
        out
    }

    /// The namespace whose bag a function hands out: `return context.bag_method("path")`.
    pub fn bag_path(&self, func: FuncRef) -> Option<Sym> {
        let methods = &self.profile.resolution.bag_methods;
        if methods.is_empty() {
            return None;
        }
        let ir = self.ir(func.file);
        let [value] = self.returns(func) else { return None };
        let Expr::Call { func: callee, args } = ir.expr(*value) else { return None };
        let name = last_name(ir, *callee)?;
        methods.iter().any(|m| *m == name.as_str()).then(|| ir.str_value(args.first()?.value)).flatten()
    }

    /// The tuple or list literals that an expression is, or that a local name was assigned; `*name` inside one is
    /// replaced by the literal that the name was assigned.
    pub fn tuple_literals(&self, at: ExprRef) -> Vec<Vec<ExprId>> {
        let ir = self.ir(at.file);
        let literals: Vec<&[ExprId]> = match ir.expr(at.expr) {
            Expr::Tuple(items) | Expr::List(items) => vec![items],
            Expr::Name(_) => {
                let Binding::Local(scope, defs) = self.binding(at) else { return Vec::new() };
                let defuse = self.defuse(at.file, scope);
                let values = defs.iter().filter_map(|d| match defuse.defs.get(d.0 as usize)?.site {
                    DefSite::Target(target) => assigned_to(ir, target),
                    _ => None,
                });
                let literals = values.filter_map(|v| match ir.expr(v) {
                    Expr::Tuple(items) | Expr::List(items) => Some(&items[..]),
                    _ => None,
                });
                literals.collect()
            }
            _ => Vec::new(),
        };
        literals.into_iter().map(|items| self.unpacked(at.file, items)).collect()
    }

    fn unpacked(&self, file: FileId, items: &[ExprId]) -> Vec<ExprId> {
        let ir = self.ir(file);
        let mut out = Vec::new();
        for item in items {
            match ir.expr(*item) {
                Expr::Starred(inner) if !matches!(ir.expr(*inner), Expr::Starred(_)) => {
                    match self.tuple_literals(ExprRef { file, expr: *inner }).into_iter().next() {
                        Some(inner) if out.len() + inner.len() < 256 => out.extend(inner),
                        _ => out.push(*item),
                    }
                }
                _ => out.push(*item),
            }
        }
        out
    }
}

/// What the assignment around a target that stands alone in it assigns.
fn assigned_to(ir: &FileIr, target: ExprId) -> Option<ExprId> {
    let Parent::Stmt(stmt) = ir.exprs[target.index()].parent else { return None };
    match &ir.stmt(stmt).kind {
        Stmt::Assign { value, .. } => Some(*value),
        _ => None,
    }
}
