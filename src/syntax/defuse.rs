//! Which definitions of a local name reach which of its uses, within one scope.
//!
//! The classic reaching-definitions analysis, done on the statement tree: branches are walked apart and joined, loop
//! bodies twice, and a block that always leaves (`return`, `raise`, `continue`, `break`) joins nothing. It knows one
//! scope only: a name that the scope does not bind is *free*, and whoever asks looks in the scopes around.

use super::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A definition of a local name; parameters come first, in their order.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DefId(pub u32);

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum DefSite {
    Param(u32),
    /// The name expression that is assigned to; what it gets follows from the statement or comprehension around it.
    Target(ExprId),
    Import(StmtId, u32),
    Func(FuncId),
    Class(ClassId),
}

#[derive(Copy, Clone, Debug)]
pub struct Def {
    pub name: Sym,
    pub site: DefSite,
}

#[derive(Default, Debug)]
pub struct DefUse {
    pub defs: Vec<Def>,
    /// For each use of a local name, the definitions that reach it.
    pub reaching: FxHashMap<ExprId, Vec<DefId>>,
    /// For each definition, the uses that it reaches, in source order.
    pub uses: Vec<Vec<ExprId>>,
    /// Uses of names that this scope does not bind.
    pub free: FxHashMap<Sym, Vec<ExprId>>,
    /// All definitions of a name.
    pub by_name: FxHashMap<Sym, Vec<DefId>>,
    /// The definition that a target expression makes.
    pub by_target: FxHashMap<ExprId, DefId>,
    /// Names declared `global`.
    pub globals: FxHashSet<Sym>,
    /// Functions and lambdas that stand directly in this scope.
    pub inner: Vec<FuncId>,
}

impl DefUse {
    /// Analyses a function, a class body or the module.
    pub fn of(ir: &FileIr, scope: Scope) -> DefUse {
        let mut walk = Walk { ir, out: DefUse::default(), locals: FxHashSet::default(), known: FxHashMap::default() };
        let mut env = Env::default();
        let body: &[StmtId] = match scope {
            Scope::Module => &ir.body,
            Scope::Class(c) => &ir.class(c).body,
            Scope::Func(f) => {
                for (i, param) in ir.func(f).params.iter().enumerate() {
                    walk.locals.insert(param.name);
                    let id = walk.push(param.name, DefSite::Param(i as u32));
                    env.insert(param.name, vec![id]);
                }
                &ir.func(f).body
            }
        };
        walk.collect(body);
        for name in &walk.out.globals {
            walk.locals.remove(name);
        }
        walk.block(body, &mut env);
        let mut out = walk.out;
        out.uses = vec![Vec::new(); out.defs.len()];
        for (use_, defs) in &out.reaching {
            for def in defs {
                out.uses[def.0 as usize].push(*use_);
            }
        }
        for uses in &mut out.uses {
            uses.sort();
        }
        out.inner.sort();
        out.inner.dedup();
        out
    }
}

type Env = FxHashMap<Sym, Vec<DefId>>;

struct Walk<'a> {
    ir: &'a FileIr,
    out: DefUse,
    locals: FxHashSet<Sym>,
    known: FxHashMap<DefSite, DefId>,
}

fn join(into: &mut Env, from: Env) {
    for (name, defs) in from {
        let all = into.entry(name).or_default();
        for def in defs {
            if !all.contains(&def) {
                all.push(def);
            }
        }
    }
}

impl Walk<'_> {
    fn push(&mut self, name: Sym, site: DefSite) -> DefId {
        let id = DefId(self.out.defs.len() as u32);
        self.out.defs.push(Def { name, site });
        self.out.by_name.entry(name).or_default().push(id);
        if let DefSite::Target(target) = site {
            self.out.by_target.insert(target, id);
        }
        id
    }

    fn def(&mut self, name: Sym, site: DefSite) -> DefId {
        if let DefSite::Param(_) = site {
            return self.push(name, site);
        }
        if let Some(id) = self.known.get(&site) {
            return *id;
        }
        let id = self.push(name, site);
        self.known.insert(site, id);
        id
    }

    /// Collects the names that the scope binds, without going into inner scopes.
    fn collect(&mut self, body: &[StmtId]) {
        for &id in body {
            let ir = self.ir;
            match &ir.stmt(id).kind {
                Stmt::Assign { targets, .. } => targets.iter().for_each(|t| self.bind(*t)),
                Stmt::AnnAssign { target, .. } | Stmt::AugAssign { target, .. } => self.bind(*target),
                Stmt::If { arms, orelse } => {
                    arms.iter().for_each(|(_, b)| self.collect(b));
                    self.collect(orelse);
                }
                Stmt::While { body, orelse, .. } => {
                    self.collect(body);
                    self.collect(orelse);
                }
                Stmt::For { target, body, orelse, .. } => {
                    self.bind(*target);
                    self.collect(body);
                    self.collect(orelse);
                }
                Stmt::With { items, body } => {
                    items.iter().filter_map(|(_, t)| *t).for_each(|t| self.bind(t));
                    self.collect(body);
                }
                Stmt::Try { body, handlers, orelse, finally } => {
                    self.collect(body);
                    for handler in handlers {
                        handler.name.into_iter().for_each(|t| self.bind(t));
                        self.collect(&handler.body);
                    }
                    self.collect(orelse);
                    self.collect(finally);
                }
                Stmt::Match { cases, .. } => cases.iter().for_each(|c| self.collect(&c.body)),
                Stmt::Global(names) => self.out.globals.extend(names.iter().copied()),
                Stmt::Import(names) => self.locals.extend(names.iter().map(|n| n.bound)),
                Stmt::Func(f) => {
                    self.locals.insert(ir.func(*f).name);
                }
                Stmt::Class(c) => {
                    self.locals.insert(ir.class(*c).name);
                }
                _ => {}
            }
        }
    }

    fn bind(&mut self, target: ExprId) {
        match self.ir.expr(target) {
            Expr::Name(name) => {
                self.locals.insert(*name);
            }
            Expr::Tuple(items) | Expr::List(items) => items.iter().for_each(|t| self.bind(*t)),
            Expr::Starred(inner) => self.bind(*inner),
            _ => {}
        }
    }

    /// Walks a block; false if control never reaches its end.
    fn block(&mut self, body: &[StmtId], env: &mut Env) -> bool {
        let mut live = true;
        for &id in body {
            // Code after a `return` is still walked, so that its uses are known.
            live &= self.stmt(id, env);
        }
        live
    }

    fn stmt(&mut self, id: StmtId, env: &mut Env) -> bool {
        let ir = self.ir;
        match &ir.stmt(id).kind {
            Stmt::Expr(e) => self.expr(*e, env),
            Stmt::Assign { targets, value } => {
                self.expr(*value, env);
                targets.iter().for_each(|t| self.target(*t, env));
            }
            Stmt::AnnAssign { target, annotation, value } => {
                self.expr(*annotation, env);
                if let Some(value) = value {
                    self.expr(*value, env);
                    self.target(*target, env);
                } else if !matches!(ir.expr(*target), Expr::Name(_)) {
                    self.expr(*target, env);
                }
            }
            Stmt::AugAssign { target, value, .. } => {
                self.expr(*value, env);
                self.expr(*target, env);
                self.target(*target, env);
            }
            Stmt::If { arms, orelse } => {
                let mut after: Option<Env> = None;
                for (test, body) in arms {
                    self.expr(*test, env);
                    let mut inner = env.clone();
                    if self.block(body, &mut inner) {
                        match &mut after {
                            Some(env) => join(env, inner),
                            None => after = Some(inner),
                        }
                    }
                }
                if self.block(orelse, env) {
                    if let Some(after) = after {
                        join(env, after);
                    }
                    return true;
                }
                match after {
                    Some(after) => *env = after,
                    None => return false,
                }
            }
            Stmt::While { test, body, orelse } => {
                self.expr(*test, env);
                for _ in 0..2 {
                    let mut inner = env.clone();
                    self.block(body, &mut inner);
                    join(env, inner);
                    self.expr(*test, env);
                }
                self.block(orelse, env);
            }
            Stmt::For { target, iter, body, orelse } => {
                self.expr(*iter, env);
                for _ in 0..2 {
                    let mut inner = env.clone();
                    self.target(*target, &mut inner);
                    self.block(body, &mut inner);
                    join(env, inner);
                }
                self.block(orelse, env);
            }
            Stmt::With { items, body } => {
                for (context, target) in items {
                    self.expr(*context, env);
                    target.iter().for_each(|t| self.target(*t, env));
                }
                return self.block(body, env);
            }
            Stmt::Try { body, handlers, orelse, finally } => {
                let before = env.clone();
                let mut live = self.block(body, env);
                if live {
                    live = self.block(orelse, env);
                }
                let mut entry = before;
                join(&mut entry, env.clone());
                let mut after = live.then(|| env.clone());
                for handler in handlers {
                    let mut inner = entry.clone();
                    handler.kind.iter().for_each(|e| self.expr(*e, &mut inner));
                    handler.name.iter().for_each(|t| self.target(*t, &mut inner));
                    if self.block(&handler.body, &mut inner) {
                        match &mut after {
                            Some(env) => join(env, inner),
                            None => after = Some(inner),
                        }
                    }
                }
                let live = after.is_some();
                *env = after.unwrap_or(entry);
                return self.block(finally, env) && live;
            }
            Stmt::Match { subject, cases } => {
                self.expr(*subject, env);
                let mut after = env.clone();
                for case in cases {
                    let mut inner = env.clone();
                    case.patterns.iter().chain(&case.guard).for_each(|e| self.expr(*e, &mut inner));
                    if self.block(&case.body, &mut inner) {
                        join(&mut after, inner);
                    }
                }
                *env = after;
            }
            Stmt::Return(value) | Stmt::Raise(value) => {
                value.iter().for_each(|e| self.expr(*e, env));
                return false;
            }
            Stmt::Assert { test, message } => {
                self.expr(*test, env);
                message.iter().for_each(|e| self.expr(*e, env));
            }
            Stmt::Delete(targets) => targets.iter().for_each(|e| self.expr(*e, env)),
            Stmt::Import(names) => {
                for (i, name) in names.iter().enumerate() {
                    let def = self.def(name.bound, DefSite::Import(id, i as u32));
                    env.insert(name.bound, vec![def]);
                }
            }
            Stmt::Func(f) => {
                let func = ir.func(*f);
                func.decorators.iter().for_each(|e| self.expr(*e, env));
                func.params.iter().filter_map(|p| p.default).for_each(|e| self.expr(e, env));
                self.out.inner.push(*f);
                let def = self.def(func.name, DefSite::Func(*f));
                env.insert(func.name, vec![def]);
            }
            Stmt::Class(c) => {
                let class = ir.class(*c);
                class.bases.iter().chain(&class.decorators).for_each(|e| self.expr(*e, env));
                let def = self.def(class.name, DefSite::Class(*c));
                env.insert(class.name, vec![def]);
            }
            Stmt::Break | Stmt::Continue => return false,
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Pass | Stmt::Unknown => {}
        }
        true
    }

    fn target(&mut self, target: ExprId, env: &mut Env) {
        match self.ir.expr(target) {
            Expr::Name(name) => {
                let name = *name;
                let def = self.def(name, DefSite::Target(target));
                env.insert(name, vec![def]);
            }
            Expr::Tuple(items) | Expr::List(items) => {
                for item in items.clone() {
                    self.target(item, env);
                }
            }
            Expr::Starred(inner) => self.target(*inner, env),
            Expr::Attr { base, .. } => self.expr(*base, env),
            Expr::Subscript { base, index } => {
                let (base, index) = (*base, *index);
                self.expr(base, env);
                self.expr(index, env);
            }
            _ => {}
        }
    }

    fn expr(&mut self, id: ExprId, env: &mut Env) {
        let ir = self.ir;
        match ir.expr(id) {
            Expr::Name(name) => match env.get(name) {
                Some(defs) => {
                    let known = self.out.reaching.entry(id).or_default();
                    for def in defs {
                        if !known.contains(def) {
                            known.push(*def);
                        }
                    }
                }
                None if self.locals.contains(name) => {
                    self.out.reaching.entry(id).or_default();
                }
                None => {
                    let uses = self.out.free.entry(*name).or_default();
                    if !uses.contains(&id) {
                        uses.push(id);
                    }
                }
            },
            Expr::Walrus { target, value } => {
                self.expr(*value, env);
                if let Expr::Name(name) = ir.expr(*target) {
                    self.locals.insert(*name);
                }
                self.target(*target, env);
            }
            Expr::Comp(comp) => {
                let Comp { element, value, clauses, .. } = &**comp;
                let outer = env.clone();
                for clause in clauses {
                    self.expr(clause.iter, env);
                    self.target(clause.target, env);
                    clause.ifs.iter().for_each(|e| self.expr(*e, env));
                }
                self.expr(*element, env);
                value.iter().for_each(|e| self.expr(*e, env));
                *env = outer;
            }
            Expr::Lambda(f) => {
                ir.func(*f).params.iter().filter_map(|p| p.default).for_each(|e| self.expr(e, env));
                self.out.inner.push(*f);
            }
            Expr::IfExp { test, body, orelse } => {
                self.expr(*test, env);
                self.expr(*body, env);
                self.expr(*orelse, env);
            }
            _ => ir.children(id).into_iter().for_each(|e| self.expr(e, env)),
        }
    }
}
