//! Which function a place is in, and whether it runs while the server starts.
//!
//! What runs once, from the record's own code or a constructor, meets every launch; what a request brings about does not.
//! Callers are followed by name for a few steps: cheap, and enough to tell a step of the start from a handler. It serves the
//! comparison of trees.

use super::facts::Shared;
use super::report::{FieldReport, Function};
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How many callers up.
const MAX_STEPS: u32 = 4;
/// A name in more files than this says nothing about who calls.
const MAX_FILES: usize = 30;
/// Methods that run when an object is made.
const CONSTRUCTORS: &[&str] = &["__init__", "__post_init__", "__new__"];

/// Answers for one tree, each function once.
#[derive(Default)]
pub struct Setup {
    starts: RefCell<FxHashMap<FuncRef, bool>>,
}

impl Setup {
    /// The functions around the rewrites and checks of a field.
    pub fn functions(&self, shared: &Shared, report: &FieldReport) -> BTreeMap<(String, u32), Function> {
        let writes = report.writes.iter().flatten().map(|w| (&w.path, w.line));
        let checks = report.constraints.iter().map(|c| (&c.path, c.line));
        let mut out = BTreeMap::new();
        for (path, line) in writes.chain(checks) {
            let module = path.strip_suffix(".py").unwrap_or(path).replace('/', ".");
            let Some(file) = shared.program().file_by_module(Sym::from(&module)) else { continue };
            let Some(func) = around(shared.ir(file), line) else { continue };
            let func = FuncRef { file, func };
            let name = shared.ir(file).qualified_name(Scope::Func(func.func));
            let starts = self.starts(shared, func, MAX_STEPS);
            out.insert((path.clone(), line), Function { name, starts });
        }
        out
    }

    fn starts(&self, shared: &Shared, func: FuncRef, steps: u32) -> bool {
        if let Some(known) = self.starts.borrow().get(&func) {
            return *known;
        }
        // Of a function that calls itself nothing new is learnt.
        self.starts.borrow_mut().insert(func, false);
        let starts = self.is_start(shared, func)
            || (steps > 0 && callers(shared, func).into_iter().any(|caller| self.starts(shared, caller, steps - 1)));
        if starts || steps == MAX_STEPS {
            self.starts.borrow_mut().insert(func, starts);
        } else {
            self.starts.borrow_mut().remove(&func);
        }
        starts
    }

    fn is_start(&self, shared: &Shared, func: FuncRef) -> bool {
        let program = shared.program();
        let of_record = program.method_class(func).is_some_and(|class| shared.graph.is_record_class(class));
        let path = &program.file(func.file).path;
        of_record
            || CONSTRUCTORS.contains(&program.func(func).name.as_str())
            || program.profile.home_kind(path).is_some()
            || program.profile.main_kind(path).is_some()
    }
}

/// The innermost function whose text holds the line.
fn around(ir: &FileIr, line: u32) -> Option<FuncId> {
    let holds = |f: &Func| f.name != "<lambda>" && f.span.line <= line && line <= f.span.end_line;
    let found = ir.funcs.iter().enumerate().filter(|(_, f)| holds(f)).max_by_key(|(_, f)| f.span.line);
    found.map(|(i, _)| FuncId(i as u32))
}

/// Functions that call one of the same name.
fn callers(shared: &Shared, func: FuncRef) -> Vec<FuncRef> {
    let program = shared.program();
    let name = program.func(func).name;
    let files = program.files_with(name);
    if files.len() > MAX_FILES || program.func(func).is_async {
        return Vec::new();
    }
    let mut out = Vec::new();
    for file in files.iter().copied() {
        for call in program.calls_named(file, name) {
            out.extend(shared.processes.function_around(ExprRef { file, expr: *call }));
        }
    }
    out.sort();
    out.dedup();
    out
}
