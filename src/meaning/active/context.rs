//! The conditions under which a function runs at all.
//!
//! It climbs from a function to its calls, and from a method also to where its class is constructed, and joins the
//! conditions around each. A climb ends at the start of a process and at the parts that a profile names; where a level
//! has many callers, or none that can be seen, there are no conditions.

use super::condition::Conditions;
use super::ways::{All, Ways};
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

pub struct Contexts<'c, 's, 'g, 'p> {
    conditions: &'c Conditions<'s, 'g, 'p>,
}

/// The places of which one must be passed: the function around each (none at module level) and the conditions there.
pub type Level = Vec<(Option<FuncRef>, All)>;

/// With more callers than this no condition is looked for.
const MAX_CALLERS: usize = 12;
const MAX_FILES: usize = 60;
/// A climb meets this many functions at most; the others are taken to run always.
const MAX_FUNCTIONS: usize = 1500;
const MAX_ROUNDS: usize = 40;

impl<'c, 's, 'g, 'p> Contexts<'c, 's, 'g, 'p> {
    pub fn new(conditions: &'c Conditions<'s, 'g, 'p>) -> Self {
        Contexts { conditions }
    }

    /// The ways to an expression: the conditions around it, and those of the function.
    pub fn of_expr(&self, at: ExprRef) -> Ways {
        let here = self.conditions.around(at);
        match self.conditions.shared.processes.function_around(at) {
            Some(func) => self.of_function(func).with(&here),
            None => Ways::free().with(&here),
        }
    }

    /// The ways by which a function comes to run.
    fn of_function(&self, func: FuncRef) -> Ways {
        self.known(func).unwrap_or_else(|| {
            self.solve(func);
            self.known(func).unwrap_or_else(Ways::free)
        })
    }

    fn known(&self, func: FuncRef) -> Option<Ways> {
        self.conditions.shared.active.functions.borrow().get(&func).cloned()
    }

    /// The least solution for all functions above one: the ways to a function are those of its sites.
    fn solve(&self, func: FuncRef) {
        let open = self.open_above(func);
        let members: FxHashSet<FuncRef> = open.iter().copied().collect();
        let mut ways: FxHashMap<FuncRef, Ways> = FxHashMap::default();
        let mut changed: Vec<FuncRef> = Vec::new();
        for _ in 0..MAX_ROUNDS {
            changed.clear();
            for func in open.iter().rev() {
                let new = self.joined(*func, &members, &ways);
                if ways.get(func).is_none_or(|old| !old.same(&new)) {
                    ways.insert(*func, new);
                    changed.push(*func);
                }
            }
            if changed.is_empty() {
                break;
            }
        }
        let mut solved = self.conditions.shared.active.functions.borrow_mut();
        for (func, found) in ways {
            let unsettled = found.is_none() || changed.contains(&func);
            solved.insert(func, if unsettled { Ways::free() } else { found });
        }
    }

    fn joined(&self, func: FuncRef, open: &FxHashSet<FuncRef>, ways: &FxHashMap<FuncRef, Ways>) -> Ways {
        let mut out = Ways::free();
        for level in self.sites(func).iter() {
            let mut any = Ways::default();
            for (around, here) in level {
                let above = match around {
                    None => Ways::free(),
                    Some(above) if open.contains(above) => ways.get(above).cloned().unwrap_or_default(),
                    Some(above) => self.known(*above).unwrap_or_else(Ways::free),
                };
                any.add_all(&above.with(here));
                if any.is_free() {
                    break;
                }
            }
            out = out.and(&any);
        }
        out
    }

    /// The functions above one that are not solved yet, itself first.
    fn open_above(&self, func: FuncRef) -> Vec<FuncRef> {
        let mut out = vec![func];
        let mut seen: FxHashSet<FuncRef> = [func].into_iter().collect();
        let mut next = 0;
        while let Some(func) = out.get(next).copied() {
            next += 1;
            for (above, _) in self.sites(func).iter().flatten() {
                let Some(above) = above else { continue };
                if out.len() < MAX_FUNCTIONS && self.known(*above).is_none() && seen.insert(*above) {
                    out.push(*above);
                }
            }
        }
        out
    }

    /// The levels to pass on the way to a function; none if it runs always, as far as can be seen.
    fn sites(&self, func: FuncRef) -> Rc<[Level]> {
        let memo = &self.conditions.shared.active.sites;
        if let Some(known) = memo.borrow().get(&func) {
            return known.clone();
        }
        let out: Rc<[Level]> = match self.is_start(func) {
            true => self.spawn(func).into_iter().collect(),
            false => self.levels(func).into(),
        };
        memo.borrow_mut().insert(func, out.clone());
        out
    }

    fn levels(&self, func: FuncRef) -> Vec<Level> {
        let shared = self.conditions.shared;
        let program = shared.program();
        // Where the class is constructed, or the function mentioned.
        let mut groups = vec![shared.processes.ups(func, true).to_vec()];
        if program.method_class(func).is_some() && program.func(func).name != "__init__" {
            groups.push(self.calls(func));
        }
        let mut out = Vec::new();
        for mut group in groups {
            group.retain(|at| self.is_of_server(*at) && !self.is_static_call(func, *at));
            if (1..=MAX_CALLERS).contains(&group.len()) {
                let level =
                    group.into_iter().map(|at| (shared.processes.function_around(at), self.conditions.around(at)));
                out.push(level.collect());
            }
        }
        out
    }

    /// The places that start a process with the function, each with the tests right around it: what else the launcher
    /// asks on the way there is no matter of this process.
    fn spawn(&self, func: FuncRef) -> Option<Level> {
        let mentions = self.conditions.shared.processes.ups(func, true);
        let few = (1..=MAX_CALLERS).contains(&mentions.len());
        (few && self.is_spawned(func))
            .then(|| mentions.iter().map(|at| (None, self.conditions.enclosing(*at))).collect())
    }

    fn is_spawned(&self, func: FuncRef) -> bool {
        self.conditions.shared.processes.spawns().iter().any(|s| s.is_process && s.targets.contains(&func))
    }

    /// The start of a process, a handler, a part of the program that the profile names, a method of the record.
    fn is_start(&self, func: FuncRef) -> bool {
        let shared = self.conditions.shared;
        let program = shared.program();
        let class = program.method_class(func);
        let component = class.is_some_and(|class| {
            shared.graph.is_record_class(class)
                || program.mro(class).iter().any(|c| program.profile.component_kind(&program.class(*c).name).is_some())
        });
        let resolves = program.profile.home_kind(&program.file(func.file).path).is_some();
        component || resolves || self.is_spawned(func) || self.is_handler(func)
    }

    /// Does a decorator register the function with a server?
    pub fn is_handler(&self, func: FuncRef) -> bool {
        let program = self.conditions.shared.program();
        let ir = program.ir(func.file);
        program.func(func).decorators.iter().any(|d| {
            let callee = match ir.expr(*d) {
                Expr::Call { func, .. } => *func,
                _ => *d,
            };
            dotted_name(ir, callee).is_some_and(|name| program.profile.decorator_kind(&name).is_some())
        })
    }

    /// Does anything but a tool run this?
    fn is_of_server(&self, at: ExprRef) -> bool {
        let running = self.conditions.shared.processes.running_at(at);
        running.kinds.is_empty() || running.kinds.iter().any(|k| k != "other")
    }

    /// Is it the class before one of its static methods? No object comes of that, and no method of one runs.
    fn is_static_call(&self, func: FuncRef, at: ExprRef) -> bool {
        const STATIC: &[&str] = &["staticmethod"];
        let program = self.conditions.shared.program();
        let ir = program.ir(at.file);
        let Some(class) = program.method_class(func).filter(|_| !program.has_decorator(func, STATIC)) else {
            return false;
        };
        let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return false };
        let Expr::Attr { base, attr, .. } = ir.expr(up) else { return false };
        *base == at.expr && program.method(class, *attr).is_some_and(|m| program.has_decorator(m, STATIC))
    }

    /// Calls of a method, and mentions of it as a value.
    fn calls(&self, func: FuncRef) -> Vec<ExprRef> {
        let shared = self.conditions.shared;
        let program = shared.program();
        let name = program.func(func).name;
        let Some(class) = program.method_class(func) else { return Vec::new() };
        if program.is_property(func) {
            return shared.graph.reads_of_attr(class, name).iter().map(|(at, _)| *at).collect();
        }
        let mut files = program.files_with(name).to_vec();
        if files.len() > MAX_FILES {
            // A common name: whoever calls it has such an object, and says so.
            let names = shared.graph.names_of(class);
            files.retain(|f| names.iter().any(|n| program.has_word(*f, *n)));
        }
        if files.len() > MAX_FILES {
            return Vec::new();
        }
        program.parse_all(&files);
        let mut out = Vec::new();
        for file in files {
            let ir = program.ir(file);
            for call in program.calls_named(file, name) {
                let call = ExprRef { file, expr: *call };
                if shared.graph.types.callees(call).iter().any(|(f, _, _)| *f == func) {
                    out.push(call);
                }
            }
            for at in program.attrs_named(file, name) {
                let called = matches!(ir.exprs[at.index()].parent, Parent::Expr(up)
                    if matches!(ir.expr(up), Expr::Call { func, .. } if func == at));
                let at = ExprRef { file, expr: *at };
                if !called && shared.graph.functions_of(at).iter().any(|(f, _, _)| *f == func) {
                    out.push(at);
                }
            }
        }
        out.retain(|at| shared.processes.function_around(*at) != Some(func));
        out
    }
}
