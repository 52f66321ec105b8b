//! Which processes run a function.
//!
//! It climbs from the function to whoever calls it, mentions it as a value, or constructs its class, until it meets the
//! target of a process spawn, a component that the profile names, or a program's main part. A climb that meets nothing
//! says nothing. The rank axes of an entry are the loop variables around its spawn that the spawn's arguments use.

use super::graph::Graph;
use crate::program::profile::Profile;
use crate::program::*;
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A place that starts a process (or a thread that starts one).
#[derive(Clone, Debug)]
pub struct SpawnSite {
    pub call: ExprRef,
    pub targets: Vec<FuncRef>,
    pub is_process: bool,
}

/// What a climb found: kinds of process, with the place that shows each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Running {
    pub kinds: BTreeSet<String>,
    /// The spawn or entry that shows a kind; `None` where a folder of the profile says so.
    pub shown_by: Vec<(String, Option<ExprRef>)>,
}

/// Expressions that bring a function to run.
type Mentions = Rc<[ExprRef]>;

pub struct Processes<'g, 'p> {
    graph: &'g Graph<'p>,
    spawns: OnceCell<Vec<SpawnSite>>,
    ups: RefCell<FxHashMap<(FuncRef, bool), Mentions>>,
    running: RefCell<FxHashMap<FuncRef, Rc<Running>>>,
}

/// A climb that meets more functions than this is given up; what it found until then stands.
const MAX_CLIMB: usize = 600;
/// A method whose name more files mention is looked up through its class instead.
const MAX_CALLER_FILES: usize = 40;

impl<'g, 'p> Processes<'g, 'p> {
    pub fn new(graph: &'g Graph<'p>) -> Self {
        Processes { graph, spawns: OnceCell::new(), ups: RefCell::default(), running: RefCell::default() }
    }

    fn program(&self) -> &'p Program {
        self.graph.program
    }

    fn profile(&self) -> &'p Profile {
        &self.program().profile
    }

    /// Every spawn of a process or thread with a target of the tree.
    pub fn spawns(&self) -> &[SpawnSite] {
        self.spawns.get_or_init(|| {
            let program = self.program();
            let mut out = Vec::new();
            for (name, is_process) in [("Process", true), ("Thread", false)] {
                let name = Sym::from(name);
                for file in program.files_using(name, Uses::CALL.or(Uses::METHOD)) {
                    for call in program.calls_named(file, name) {
                        let call = ExprRef { file, expr: *call };
                        let targets = self.targets(call);
                        if !targets.is_empty() {
                            out.push(SpawnSite { call, targets, is_process });
                        }
                    }
                }
            }
            out
        })
    }

    fn targets(&self, call: ExprRef) -> Vec<FuncRef> {
        let Expr::Call { args, .. } = self.program().ir(call.file).expr(call.expr) else { return Vec::new() };
        let target = args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == "target"));
        let Some(target) = target else { return Vec::new() };
        let at = ExprRef { file: call.file, expr: target.value };
        self.graph.functions_of(at).into_iter().map(|(f, _, _)| f).collect()
    }

    /// The function around an expression, through lambdas; `None` at module level.
    pub fn function_around(&self, at: ExprRef) -> Option<FuncRef> {
        let ir = self.program().ir(at.file);
        let mut scope = ir.scope_of(at.expr);
        loop {
            match scope {
                Scope::Func(func) if ir.func(func).name != "<lambda>" => {
                    return Some(FuncRef { file: at.file, func });
                }
                Scope::Func(func) => scope = ir.func(func).scope,
                Scope::Class(class) => scope = ir.class(class).scope,
                Scope::Module => return None,
            }
        }
    }

    /// The processes that can run the code at an expression.
    pub fn running_at(&self, at: ExprRef) -> Rc<Running> {
        match self.function_around(at) {
            Some(func) => self.running(func),
            None => Rc::new(Running::default()),
        }
    }

    /// The processes that can run a function.
    pub fn running(&self, func: FuncRef) -> Rc<Running> {
        if let Some(known) = self.running.borrow().get(&func) {
            return known.clone();
        }
        // Calls first; a method that is only handed around runs wherever its class is put to use.
        let mut found = self.climb(func, false);
        if found.kinds.is_empty() {
            found = self.climb(func, true);
        }
        let found = Rc::new(found);
        self.running.borrow_mut().insert(func, found.clone());
        found
    }

    fn climb(&self, start: FuncRef, by_class: bool) -> Running {
        let mut out = Running::default();
        let mut seen: FxHashSet<FuncRef> = FxHashSet::default();
        let mut queue = std::collections::VecDeque::from([start]);
        seen.insert(start);
        while let Some(func) = queue.pop_front() {
            if let Some((kind, at)) = self.entry(func) {
                out.add(kind, at);
                continue;
            }
            if seen.len() > MAX_CLIMB {
                break;
            }
            for up in self.ups(func, by_class).iter() {
                match self.function_around(*up) {
                    Some(outer) => {
                        if seen.insert(outer) {
                            queue.push_back(outer);
                        }
                    }
                    None => {
                        if self.in_main_part(*up)
                            && let Some(kind) = self.profile().main_kind(&self.program().file(up.file).path)
                        {
                            out.add(kind, Some(*up));
                        }
                    }
                }
            }
        }
        if out.kinds.is_empty() && by_class {
            let path = &self.program().file(start.file).path;
            if let Some(kind) = self.profile().folder_kind(path) {
                out.add(kind, None);
            }
        }
        out
    }

    /// Is the function itself the start of a process, or of a component that the profile names?
    fn entry(&self, func: FuncRef) -> Option<(&'p str, Option<ExprRef>)> {
        let program = self.program();
        let f = program.func(func);
        if let Some(kind) = self.profile().home_kind(&program.file(func.file).path) {
            return Some((kind, None));
        }
        let spawn = self.spawns().iter().find(|s| s.is_process && s.targets.contains(&func));
        if let Some(spawn) = spawn {
            return Some((self.profile().entry_kind(&f.name), Some(spawn.call)));
        }
        if let Some(class) = program.method_class(func) {
            let mro = program.mro(class);
            let kind = mro.iter().find_map(|c| self.profile().component_kind(&program.class(*c).name));
            if let Some(kind) = kind {
                return Some((kind, None));
            }
        }
        let ir = program.ir(func.file);
        for decorator in &f.decorators {
            let callee = match ir.expr(*decorator) {
                Expr::Call { func, .. } => *func,
                _ => *decorator,
            };
            if let Some(kind) = dotted_name(ir, callee).and_then(|name| self.profile().decorator_kind(&name)) {
                return Some((kind, Some(ExprRef { file: func.file, expr: *decorator })));
            }
        }
        None
    }

    /// Under `if __name__ == "__main__":`.
    fn in_main_part(&self, at: ExprRef) -> bool {
        let ir = self.program().ir(at.file);
        let guards = super::guards::of_expr(ir, at.expr);
        guards.iter().any(|g| match ir.expr(g.test) {
            Expr::Compare { left, .. } => matches!(ir.expr(*left), Expr::Name(n) if *n == "__name__"),
            _ => false,
        })
    }

    /// The expressions that bring a function to run: calls, mentions, constructions of its class, the function around.
    pub fn ups(&self, func: FuncRef, by_class: bool) -> Mentions {
        if let Some(known) = self.ups.borrow().get(&(func, by_class)) {
            return known.clone();
        }
        let program = self.program();
        let f = program.func(func);
        let mut out = Vec::new();
        match f.scope {
            Scope::Class(class) => {
                let class = ClassRef { file: func.file, class };
                let construction = matches!(f.name.as_str(), "__init__" | "__new__" | "__post_init__");
                if !by_class && !construction && program.files_with(f.name).len() <= MAX_CALLER_FILES {
                    out.extend(self.graph.return_sites(func).iter().map(|(at, _)| *at));
                }
                if !out.is_empty() {
                    out.retain(|at| self.function_around(*at) != Some(func));
                    let out: Rc<[_]> = out.into();
                    self.ups.borrow_mut().insert((func, by_class), out.clone());
                    return out;
                }
                self.class_mentions(class, &mut out);
                for sub in program.subclasses(class).iter() {
                    self.class_mentions(*sub, &mut out);
                }
            }
            Scope::Func(outer) => {
                // A closure runs at the earliest when the function around it does.
                let outer = ir_func_span(program.ir(func.file), outer);
                out.extend(outer.map(|expr| ExprRef { file: func.file, expr }));
                if out.is_empty() {
                    self.mentions(func.file, f.name, |at| self.names_function(at, func), &mut out);
                }
            }
            Scope::Module => self.mentions(func.file, f.name, |at| self.names_function(at, func), &mut out),
        }
        out.retain(|at| self.function_around(*at) != Some(func));
        let out: Rc<[_]> = out.into();
        self.ups.borrow_mut().insert((func, by_class), out.clone());
        out
    }

    fn names_function(&self, at: ExprRef, func: FuncRef) -> bool {
        use crate::program::resolve::Entity;
        self.program().entities(at).contains(&Entity::Func(func))
            || self
                .program()
                .defuse(at.file, self.program().ir(at.file).scope_of(at.expr))
                .reaching
                .get(&at.expr)
                .is_some_and(|defs| {
                    let scope = self.program().ir(at.file).scope_of(at.expr);
                    let defuse = self.program().defuse(at.file, scope);
                    at.file == func.file
                        && defs.iter().any(|d| defuse.defs[d.0 as usize].site == DefSite::Func(func.func))
                })
    }

    fn class_mentions(&self, class: ClassRef, out: &mut Vec<ExprRef>) {
        use crate::program::resolve::Entity;
        let name = self.program().class(class).name;
        self.mentions(class.file, name, |at| self.program().entities(at).contains(&Entity::Class(class)), out);
    }

    /// Mentions of a name as a value: not in annotations, not as a base class, not in `isinstance`.
    fn mentions(&self, defined_in: FileId, name: Sym, is_it: impl Fn(ExprRef) -> bool, out: &mut Vec<ExprRef>) {
        let program = self.program();
        let files = program.files_naming(defined_in, name);
        program.parse_all(&files);
        for file in files.iter().copied() {
            let ir = program.ir(file);
            for expr in program.named(file, name) {
                let at = ExprRef { file, expr };
                if !out.contains(&at) && is_value(ir, expr) && is_it(at) {
                    out.push(at);
                }
            }
        }
    }

    /// The rank axes of the processes that run an entry: loop variables that the spawn's arguments use, also those that
    /// came in through a parameter of the function around.
    pub fn axes(&self, kind: &str) -> (BTreeSet<String>, Vec<ExprRef>) {
        let (mut axes, mut places) = (BTreeSet::new(), Vec::new());
        for spawn in self.spawns().iter().filter(|s| s.is_process) {
            let of_kind =
                spawn.targets.iter().any(|f| self.profile().entry_kind(&self.program().func(*f).name) == kind);
            if of_kind {
                let before = axes.len();
                self.axes_of(spawn, &mut axes);
                if axes.len() > before {
                    places.push(spawn.call);
                }
            }
        }
        (axes, places)
    }

    fn axes_of(&self, spawn: &SpawnSite, axes: &mut BTreeSet<String>) {
        let ir = self.program().ir(spawn.call.file);
        let Expr::Call { args, .. } = ir.expr(spawn.call.expr) else { return };
        let mut names = Vec::new();
        for arg in args {
            names_in(ir, arg.value, &mut names);
            for items in self.program().tuple_literals(ExprRef { file: spawn.call.file, expr: arg.value }) {
                items.iter().for_each(|item| names_in(ir, *item, &mut names));
            }
        }
        for (expr, name) in &names {
            let at = ExprRef { file: spawn.call.file, expr: *expr };
            if self.is_axis(at, 3) && self.profile().is_axis(name) {
                axes.insert(name.to_string());
            }
        }
    }

    /// Is the name a loop variable, or a parameter that gets one?
    fn is_axis(&self, at: ExprRef, depth: u32) -> bool {
        let program = self.program();
        let ir = program.ir(at.file);
        let scope = ir.scope_of(at.expr);
        let defuse = program.defuse(at.file, scope);
        let Some(defs) = defuse.reaching.get(&at.expr) else { return false };
        defs.iter().any(|def| match defuse.defs[def.0 as usize].site {
            DefSite::Target(target) => matches!(ir.exprs[target.index()].parent, Parent::Stmt(s)
                if matches!(ir.stmt(s).kind, Stmt::For { .. })),
            DefSite::Param(i) if depth > 0 => {
                let Scope::Func(func) = scope else { return false };
                let func = FuncRef { file: at.file, func };
                self.arguments_into(func, i).into_iter().any(|arg| self.is_axis(arg, depth - 1))
            }
            _ => false,
        })
    }

    /// The arguments that reach a parameter, through calls and thread starts.
    fn arguments_into(&self, func: FuncRef, param: u32) -> Vec<ExprRef> {
        let types = &self.graph.types;
        let mut out: Vec<ExprRef> =
            types.callers(func).iter().filter_map(|s| types.argument_for(s.call, func, param)).collect();
        for spawn in self.spawns().iter().filter(|s| s.targets.contains(&func)) {
            let ir = self.program().ir(spawn.call.file);
            let Expr::Call { args, .. } = ir.expr(spawn.call.expr) else { continue };
            let skip = u32::from(self.program().method_class(func).is_some());
            for arg in args {
                if !matches!(arg.kind, ArgKind::Keyword(k) if k == "args") {
                    continue;
                }
                let Some(i) = param.checked_sub(skip) else { continue };
                for items in self.program().tuple_literals(ExprRef { file: spawn.call.file, expr: arg.value }) {
                    out.extend(items.get(i as usize).map(|e| ExprRef { file: spawn.call.file, expr: *e }));
                }
            }
        }
        out
    }
}

impl Running {
    fn add(&mut self, kind: &str, at: Option<ExprRef>) {
        if self.kinds.insert(kind.to_owned()) {
            self.shown_by.push((kind.to_owned(), at));
        }
    }
}

/// Any expression of the outer function's own scope, to climb to it.
fn ir_func_span(ir: &FileIr, outer: FuncId) -> Option<ExprId> {
    let scope = Scope::Func(outer);
    (0..ir.exprs.len() as u32).map(ExprId).find(|e| match ir.exprs[e.index()].parent {
        Parent::Stmt(s) => ir.stmt(s).scope == scope,
        _ => false,
    })
}

fn names_in(ir: &FileIr, at: ExprId, out: &mut Vec<(ExprId, Sym)>) {
    match ir.expr(at) {
        Expr::Name(name) => out.push((at, *name)),
        // `server_args.x` is an argument of its own, and so is what a call makes.
        Expr::Attr { .. } => {}
        _ => ir.children(at).into_iter().for_each(|c| names_in(ir, c, out)),
    }
}

/// Does the mention put the thing to use, rather than name a type?
fn is_value(ir: &FileIr, at: ExprId) -> bool {
    let mut at = at;
    loop {
        match ir.exprs[at.index()].parent {
            Parent::Expr(up) => {
                if let Expr::Call { func, args } = ir.expr(up) {
                    let callee = last_name(ir, *func).map(|n| n.to_string());
                    if *func != at && matches!(callee.as_deref(), Some("isinstance" | "issubclass" | "cast")) {
                        return false;
                    }
                    let _ = args;
                }
                at = up;
            }
            Parent::Stmt(stmt) => {
                return match &ir.stmt(stmt).kind {
                    Stmt::AnnAssign { annotation, .. } => *annotation != at,
                    Stmt::Import(_) => false,
                    _ => true,
                };
            }
            Parent::Func(func) => {
                let f = ir.func(func);
                return f.decorators.contains(&at) || f.params.iter().any(|p| p.default == Some(at));
            }
            Parent::Class(class) => return ir.class(class).decorators.contains(&at),
        }
    }
}
