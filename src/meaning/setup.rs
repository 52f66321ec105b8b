//! Which function does a place stand in, when does that run, and how is it called?
//!
//! What the record's own code does, every launch meets; what a constructor does, every process that makes the object; what
//! a request brings about, no launch. Callers are followed by name for a few steps: cheap, and enough to tell a step of the
//! start from a handler. It serves the comparison of trees.

use super::beside::{Around, Call, Function, Stage};
use super::facts::{Facts, Shared};
use super::report::FieldReport;
use crate::flow::guards::{self, Guard};
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How many callers up.
const MAX_STEPS: u32 = 4;
/// A name in more files than this says nothing about who calls.
const MAX_FILES: usize = 30;
/// Functions with more call sites are taken as called unconditionally.
const MAX_SITES: usize = 6;
/// Methods that run when an object is made.
const CONSTRUCTORS: &[&str] = &["__init__", "__post_init__", "__new__"];

/// Answers for one tree, each function once.
#[derive(Default)]
pub struct Setup {
    starts: RefCell<FxHashMap<FuncRef, bool>>,
    called: RefCell<FxHashMap<FuncRef, Option<Vec<Call>>>>,
}

impl Setup {
    /// What stands around the rewrites and checks of a field.
    pub fn around(&self, shared: &Shared, report: &FieldReport) -> BTreeMap<(String, u32), Around> {
        let writes = report.writes.iter().flatten().map(|w| (&w.path, w.line));
        let checks = report.constraints.iter().map(|c| (&c.path, c.line));
        let mut out = BTreeMap::new();
        for (path, line) in writes.chain(checks) {
            let module = path.strip_suffix(".py").unwrap_or(path).replace('/', ".");
            let Some(file) = shared.program().file_by_module(Sym::from(&module)) else { continue };
            let ir = shared.ir(file);
            let Some(func) = function_at(ir, line) else { continue };
            let when = statement_at(ir, func, line).map(|stmt| lasting(shared, file, guards::of_stmt(ir, stmt)));
            let func = FuncRef { file, func };
            let function = Function {
                name: ir.qualified_name(Scope::Func(func.func)),
                stage: self.stage(shared, func),
                calls: self.calls(shared, func, MAX_STEPS),
            };
            out.insert((path.clone(), line), Around { function, when: when.unwrap_or_default() });
        }
        out
    }

    fn stage(&self, shared: &Shared, func: FuncRef) -> Stage {
        let program = shared.program();
        if is_resolution(shared, func) {
            Stage::Resolution
        } else if program.profile.computes(&program.file(func.file).path) {
            Stage::Kernel
        } else if self.starts(shared, func, MAX_STEPS) {
            Stage::Start
        } else {
            Stage::Running
        }
    }

    fn starts(&self, shared: &Shared, func: FuncRef, steps: u32) -> bool {
        if let Some(known) = self.starts.borrow().get(&func) {
            return *known;
        }
        // Of a function that calls itself nothing new is learnt.
        self.starts.borrow_mut().insert(func, false);
        let program = shared.program();
        let starts = is_resolution(shared, func)
            || CONSTRUCTORS.contains(&program.func(func).name.as_str())
            || (steps > 0
                && program.files_defining_function(program.func(func).name) == [func.file]
                && callers(shared, func).into_iter().any(|(_, by)| self.starts(shared, by, steps - 1)));
        if starts || steps == MAX_STEPS {
            self.starts.borrow_mut().insert(func, starts);
        } else {
            self.starts.borrow_mut().remove(&func);
        }
        starts
    }

    /// The ways in which a function is called, with the conditions of the functions around the calls.
    fn calls(&self, shared: &Shared, func: FuncRef, steps: u32) -> Option<Vec<Call>> {
        if let Some(known) = self.called.borrow().get(&func) {
            return known.clone();
        }
        self.called.borrow_mut().insert(func, None);
        let out = self.find_calls(shared, func, steps);
        if steps == MAX_STEPS {
            self.called.borrow_mut().insert(func, out.clone());
        } else {
            self.called.borrow_mut().remove(&func);
        }
        out
    }

    fn find_calls(&self, shared: &Shared, func: FuncRef, steps: u32) -> Option<Vec<Call>> {
        let program = shared.program();
        let name = program.func(func).name;
        if CONSTRUCTORS.contains(&name.as_str()) {
            return Some(Vec::new());
        }
        if let Some(models) = registered_for(shared, func) {
            return Some(vec![Call { when: vec![models], with: Vec::new() }]);
        }
        if steps == 0 || program.files_defining_function(name) != [func.file] {
            return None;
        }
        let sites: Vec<_> = callers(shared, func).into_iter().filter(|(_, by)| *by != func).collect();
        if sites.is_empty() || sites.len() > MAX_SITES {
            return None;
        }
        let mut out = Vec::new();
        for (call, by) in sites {
            let own = Call { when: conditions(shared, call), with: constants(shared, call, func) };
            let above = self.calls(shared, by, steps - 1)?;
            if above.is_empty() {
                out.push(own);
            } else {
                let within =
                    |above: Call| Call { when: [above.when, own.when.clone()].concat(), with: own.with.clone() };
                out.extend(above.into_iter().map(within));
            }
        }
        if out.len() > MAX_SITES {
            return None;
        }
        let says_nothing = |call: &Call| call.when.is_empty() && call.with.is_empty();
        if out.iter().any(says_nothing) {
            out.clear();
        }
        Some(out)
    }
}

/// What a condition calls the kind of model that a launch asks for.
const MODEL: &str = "architecture";

/// The models that decorators register a function for, as a condition: it runs for no other.
fn registered_for(shared: &Shared, func: FuncRef) -> Option<String> {
    let program = shared.program();
    let ir = shared.ir(func.file);
    let providers: Vec<&str> = program.profile.resolution.providers.iter().map(String::as_str).collect();
    let mut models = Vec::new();
    for decorator in program.decorators(func, &providers) {
        let Expr::Call { args, .. } = ir.expr(decorator.expr) else { return None };
        for arg in args {
            if arg.kind != ArgKind::Positional || !matches!(ir.expr(arg.value), Expr::Str(_)) {
                return None;
            }
            models.push(shared.text(ExprRef { file: func.file, expr: arg.value }));
        }
    }
    (!models.is_empty()).then(|| format!("{MODEL} in [{}]", models.join(", ")))
}

/// The parameters that a call gives a constant, or leaves at one.
fn constants(shared: &Shared, call: ExprRef, func: FuncRef) -> Vec<(String, String)> {
    let program = shared.program();
    let types = &shared.graph.types;
    let ir = shared.ir(func.file);
    let scope = Scope::Func(func.func);
    let assigned = |name: Sym| {
        let is_name = |target: &ExprId| matches!(ir.expr(*target), Expr::Name(n) if *n == name);
        ir.stmts.iter().filter(|s| s.scope == scope).any(|s| match &s.kind {
            Stmt::Assign { targets, .. } => targets.iter().any(is_name),
            Stmt::AugAssign { target, .. } | Stmt::AnnAssign { target, .. } | Stmt::For { target, .. } => {
                is_name(target)
            }
            _ => false,
        })
    };
    let constant = |at: ExprRef| {
        let plain = matches!(
            shared.ir(at.file).expr(at.expr),
            Expr::True | Expr::False | Expr::None | Expr::Str(_) | Expr::Int(_) | Expr::Float(_)
        );
        plain.then(|| shared.text(at))
    };
    let mut out = Vec::new();
    for (i, param) in program.func(func).params.iter().enumerate() {
        let plain = matches!(param.kind, ParamKind::Positional | ParamKind::KeywordOnly) && !assigned(param.name);
        let default = || param.default.map(|expr| ExprRef { file: func.file, expr });
        let given = types.argument_for(call, func, i as u32);
        if plain && let Some(value) = given.or_else(default).and_then(constant) {
            out.push((param.name.to_string(), value));
        }
    }
    out
}

/// The conditions of each rewrite of a field in its function, in the order of the report.
pub fn rewritten_when(facts: &Facts) -> Vec<Vec<String>> {
    facts.writes().map(|write| conditions(facts.shared, write.at)).collect()
}

/// The conditions of an expression in its function. One whose failure raises is none for what goes on.
fn conditions(shared: &Shared, at: ExprRef) -> Vec<String> {
    lasting(shared, at.file, guards::of_expr(shared.ir(at.file), at.expr))
}

fn lasting(shared: &Shared, file: FileId, guards: Vec<Guard>) -> Vec<String> {
    let ir = shared.ir(file);
    let lasting = guards.into_iter().filter(|g| !(g.early_exit && raises(ir, g)));
    lasting.map(|g| shared.guard_text(file, &g)).collect()
}

/// Does an early exit end in an error?
fn raises(ir: &FileIr, guard: &Guard) -> bool {
    let ends = |block: &[StmtId]| block.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_)));
    match ir.stmt_of(guard.test).map(|s| &ir.stmt(s).kind) {
        Some(Stmt::Assert { .. }) => true,
        Some(Stmt::If { arms, orelse }) => match arms.iter().find(|(test, _)| *test == guard.test) {
            Some((_, body)) if !guard.holds => ends(body),
            Some(_) => ends(orelse),
            None => false,
        },
        _ => false,
    }
}

/// Is it the record's own code, or stands where the record is worked out?
fn is_resolution(shared: &Shared, func: FuncRef) -> bool {
    let program = shared.program();
    program.method_class(func).is_some_and(|class| shared.graph.is_record_class(class))
        || program.profile.home_kind(&program.file(func.file).path).is_some()
}

/// The innermost statement of a function that holds the line.
fn statement_at(ir: &FileIr, func: FuncId, line: u32) -> Option<StmtId> {
    let holds = |s: &StmtNode| s.scope == Scope::Func(func) && s.span.line <= line && line <= s.span.end_line;
    let found = ir.stmts.iter().enumerate().filter(|(_, s)| holds(s)).max_by_key(|(_, s)| (s.span.line, s.span.start));
    found.map(|(i, _)| StmtId(i as u32))
}

/// The innermost function whose text holds the line.
fn function_at(ir: &FileIr, line: u32) -> Option<FuncId> {
    let holds = |f: &Func| f.name != "<lambda>" && f.span.line <= line && line <= f.span.end_line;
    let found = ir.funcs.iter().enumerate().filter(|(_, f)| holds(f)).max_by_key(|(_, f)| f.span.line);
    found.map(|(i, _)| FuncId(i as u32))
}

/// Calls of the name of a function, with the functions around them.
fn callers(shared: &Shared, func: FuncRef) -> Vec<(ExprRef, FuncRef)> {
    let program = shared.program();
    let name = program.func(func).name;
    let files = program.files_with(name);
    if files.len() > MAX_FILES || program.func(func).is_async {
        return Vec::new();
    }
    let mut out = Vec::new();
    for file in files.iter().copied() {
        for call in program.calls_named(file, name) {
            let call = ExprRef { file, expr: *call };
            out.extend(shared.processes.function_around(call).map(|by| (call, by)));
        }
    }
    out
}
