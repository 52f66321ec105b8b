//! Does code run while a server starts, and does it belong to the record's own resolution?
//!
//! A constructor runs at the start, and so does what only constructors call; the same goes for the record's methods and
//! the steps that a release keeps beside its record. Callers are asked a few levels up, and only where they are few: code
//! with many callers runs at any time for all we know.

use crate::flow::graph::Graph;
use crate::program::{ExprRef, FuncRef};
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Levels of callers.
const MAX_LEVELS: u32 = 6;
const MAX_CALLERS: usize = 12;
/// A name that more files mention is asked for no callers.
const MAX_FILES: usize = 40;

#[derive(Copy, Clone, PartialEq, Eq, Hash)]
enum Question {
    Starts,
    Resolves,
}

pub struct Startup<'g, 'p> {
    graph: &'g Graph<'p>,
    known: RefCell<FxHashMap<(FuncRef, Question), bool>>,
}

impl<'g, 'p> Startup<'g, 'p> {
    pub fn new(graph: &'g Graph<'p>) -> Self {
        Startup { graph, known: RefCell::default() }
    }

    /// Is this a constructor, a step of resolution, or something that only those call?
    pub fn starts(&self, func: FuncRef) -> bool {
        self.ask(func, Question::Starts)
    }

    /// Is this a method of the record, a step that is kept beside it, or something that only those call?
    pub fn resolves(&self, func: FuncRef) -> bool {
        self.ask(func, Question::Resolves)
    }

    fn ask(&self, func: FuncRef, question: Question) -> bool {
        if let Some(known) = self.known.borrow().get(&(func, question)) {
            return *known;
        }
        let found = self.climb(func, question);
        self.known.borrow_mut().insert((func, question), found);
        found
    }

    /// Does each way up from the function end in one that says so itself? One that calls itself adds no way.
    fn climb(&self, func: FuncRef, question: Question) -> bool {
        let mut seen = FxHashSet::from_iter([func]);
        let mut level = vec![func];
        let mut ends = false;
        for _ in 0..=MAX_LEVELS {
            let mut above = Vec::new();
            for func in level {
                if self.is_first(func, question) {
                    ends = true;
                    continue;
                }
                let Some(callers) = self.few_callers(func) else { return false };
                above.extend(callers.into_iter().filter(|caller| seen.insert(*caller)));
            }
            if above.is_empty() {
                return ends;
            }
            level = above;
        }
        false
    }

    /// Does the function say so itself?
    fn is_first(&self, func: FuncRef, question: Question) -> bool {
        let program = self.graph.program;
        let class = program.method_class(func);
        let of_record = class.is_some_and(|c| self.graph.is_record_class(c));
        let beside_it = || class.is_none() && program.profile.home_kind(&program.file(func.file).path).is_some();
        let constructs = || ["__init__", "__post_init__"].contains(&program.func(func).name.as_str());
        of_record || beside_it() || question == Question::Starts && constructs()
    }

    /// The functions that call one; `None` if there are none, too many, or code that is in no function.
    fn few_callers(&self, func: FuncRef) -> Option<Vec<FuncRef>> {
        let program = self.graph.program;
        let name = program.func(func).name;
        if name.is_empty() || program.files_with(name).len() > MAX_FILES {
            return None;
        }
        let callers = self.graph.types.callers(func);
        if callers.is_empty() || callers.len() > MAX_CALLERS {
            return None;
        }
        let around = |call: ExprRef| match program.ir(call.file).scope_of(call.expr) {
            Scope::Func(func) => Some(FuncRef { file: call.file, func }),
            _ => None,
        };
        callers.iter().map(|site| around(site.call)).collect()
    }
}
