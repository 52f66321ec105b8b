//! The conditions under which a function runs at all.
//!
//! It climbs from a function to its calls, and from a method also to where its class is constructed, and joins the
//! conditions around each. A climb ends at the start of a process and at the parts that a profile names; where a level
//! has many callers, or none that can be seen, there are no conditions.

use super::condition::{Conditions, Ways};
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

pub struct Contexts<'c, 's, 'g, 'p> {
    conditions: &'c Conditions<'s, 'g, 'p>,
    memo: RefCell<FxHashMap<(FuncRef, bool), Ways>>,
    busy: RefCell<Vec<(FuncRef, bool)>>,
}

const MAX_LEVELS: usize = 8;
/// With more callers than this no condition is looked for.
const MAX_CALLERS: usize = 12;
const MAX_FILES: usize = 60;

impl<'c, 's, 'g, 'p> Contexts<'c, 's, 'g, 'p> {
    pub fn new(conditions: &'c Conditions<'s, 'g, 'p>) -> Self {
        Contexts { conditions, memo: RefCell::default(), busy: RefCell::default() }
    }

    /// The ways to an expression: the conditions around it, and those of the function.
    pub fn of_expr(&self, at: ExprRef) -> Option<Ways> {
        let here = self.conditions.around(at);
        match self.conditions.shared.processes.function_around(at) {
            Some(func) => Some(self.of_function(func)?.with(&here)),
            None => Some(Ways::free().with(&here)),
        }
    }

    /// The ways by which a function comes to run; `None` if only through itself.
    pub fn of_function(&self, func: FuncRef) -> Option<Ways> {
        let shared = self.conditions.shared;
        let program = shared.program();
        if self.is_start(func) {
            return Some(Ways::free());
        }
        // Where the class is constructed, or the function mentioned.
        let brought = self.joined((func, false), || shared.processes.ups(func).to_vec())?;
        let is_init = program.func(func).name == "__init__";
        if program.method_class(func).is_none() || is_init {
            return Some(brought);
        }
        let called = self.joined((func, true), || self.calls(func))?;
        Some(brought.and(&called))
    }

    fn joined(&self, key: (FuncRef, bool), sites: impl FnOnce() -> Vec<ExprRef>) -> Option<Ways> {
        if let Some(known) = self.memo.borrow().get(&key) {
            return Some(known.clone());
        }
        if self.busy.borrow().contains(&key) {
            return None;
        }
        if self.busy.borrow().len() >= MAX_LEVELS {
            return Some(Ways::free());
        }
        self.busy.borrow_mut().push(key);
        let mut out = Ways::default();
        let mut seen = false;
        let sites: Vec<ExprRef> = sites().into_iter().filter(|s| self.is_of_server(*s)).collect();
        if (1..=MAX_CALLERS).contains(&sites.len()) {
            for site in sites {
                if let Some(ways) = self.of_expr(site) {
                    seen = true;
                    out.add_all(&ways);
                }
                if out.is_free() {
                    break;
                }
            }
        }
        self.busy.borrow_mut().pop();
        if !seen {
            out = Ways::free();
        }
        if self.busy.borrow().is_empty() || out.is_free() {
            self.memo.borrow_mut().insert(key, out.clone());
        }
        Some(out)
    }

    /// The start of a process, a handler, a part of the program that the profile names, a method of the record.
    fn is_start(&self, func: FuncRef) -> bool {
        let shared = self.conditions.shared;
        let program = shared.program();
        let class = program.method_class(func);
        let spawned = shared.processes.spawns().iter().any(|s| s.is_process && s.targets.contains(&func));
        let component = class.is_some_and(|class| {
            shared.graph.is_record_class(class)
                || program.mro(class).iter().any(|c| program.profile.component_kind(&program.class(*c).name).is_some())
        });
        let ir = program.ir(func.file);
        let handler = program.func(func).decorators.iter().any(|d| {
            let callee = match ir.expr(*d) {
                Expr::Call { func, .. } => *func,
                _ => *d,
            };
            dotted_name(ir, callee).is_some_and(|name| program.profile.decorator_kind(&name).is_some())
        });
        spawned || component || handler
    }

    /// Does anything but a tool run this?
    fn is_of_server(&self, at: ExprRef) -> bool {
        let running = self.conditions.shared.processes.running_at(at);
        running.kinds.is_empty() || running.kinds.iter().any(|k| k != "other")
    }

    /// Calls of a method, and mentions of it as a value.
    fn calls(&self, func: FuncRef) -> Vec<ExprRef> {
        let shared = self.conditions.shared;
        let program = shared.program();
        let name = program.func(func).name;
        let files = program.files_with(name);
        if files.len() > MAX_FILES {
            return Vec::new();
        }
        if let (Some(class), true) = (program.method_class(func), program.is_property(func)) {
            return shared.graph.reads_of_attr(class, name).iter().map(|(at, _)| *at).collect();
        }
        let mut out: Vec<ExprRef> = shared.graph.types.callers(func).iter().map(|s| s.call).collect();
        for file in files.iter().copied() {
            let ir = program.ir(file);
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
