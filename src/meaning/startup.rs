//! Does code run while a server starts, and does it belong to the record's own resolution?
//!
//! A constructor runs at the start, and so does what only constructors call; the same goes for the record's methods and
//! the steps that a release keeps beside its record. Callers are asked a few levels up, and only where they are few: code
//! with many callers runs at any time for all we know.

use crate::flow::graph::Graph;
use crate::program::FuncRef;
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Levels of callers.
const MAX_LEVELS: u32 = 4;
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
        self.ask(func, Question::Starts, 0)
    }

    /// Is this a method of the record, a step that is kept beside it, or something that only those call?
    pub fn resolves(&self, func: FuncRef) -> bool {
        self.ask(func, Question::Resolves, 0)
    }

    fn ask(&self, func: FuncRef, question: Question, level: u32) -> bool {
        if let Some(known) = self.known.borrow().get(&(func, question)) {
            return *known;
        }
        // A function that calls itself adds no caller.
        self.known.borrow_mut().insert((func, question), false);
        let found = self.is_first(func, question) || self.all_callers(func, question, level);
        // A climb that was cut says nothing of the functions on its way.
        if found || level == 0 {
            self.known.borrow_mut().insert((func, question), found);
        } else {
            self.known.borrow_mut().remove(&(func, question));
        }
        found
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

    fn all_callers(&self, func: FuncRef, question: Question, level: u32) -> bool {
        let program = self.graph.program;
        let name = program.func(func).name;
        if level >= MAX_LEVELS || name.is_empty() || program.files_with(name).len() > MAX_FILES {
            return false;
        }
        let callers = self.graph.types.callers(func);
        !callers.is_empty()
            && callers.len() <= MAX_CALLERS
            && callers.iter().all(|site| match program.ir(site.call.file).scope_of(site.call.expr) {
                Scope::Func(caller) => self.ask(FuncRef { file: site.call.file, func: caller }, question, level + 1),
                _ => false,
            })
    }
}
