//! What is known of one field before anything is claimed: its accesses, the trace of its value, and ways to show a place.
//!
//! The claims read their evidence from here. Nothing is judged here.

use super::active;
use super::definition::{Declared, Definitions};
use super::precedence::Rewrites;
use super::report::{Grade, Place};
use crate::flow::access::{self, Access};
use crate::flow::graph::{Graph, Kind, Op, Slot};
use crate::flow::guards::Guard;
use crate::flow::origin::Origins;
use crate::flow::process::Processes;
use crate::flow::trace::{StateId, Trace};
use crate::program::*;
use crate::syntax::ir::*;
use std::cell::OnceCell;

/// The analyses that all fields of a report share.
pub struct Shared<'g, 'p> {
    pub graph: &'g Graph<'p>,
    pub definitions: &'g Definitions,
    pub processes: Processes<'g, 'p>,
    pub origins: Origins<'g, 'p>,
    /// Every rewrite of the record, once a claim asks.
    pub rewrites: OnceCell<Rewrites>,
    /// What the conditions of all fields share.
    pub active: active::Known,
}

impl<'g, 'p> Shared<'g, 'p> {
    pub fn new(graph: &'g Graph<'p>, definitions: &'g Definitions) -> Self {
        Shared {
            graph,
            definitions,
            processes: Processes::new(graph),
            origins: Origins::new(graph, |name| definitions.by_name(name).is_some()),
            rewrites: OnceCell::new(),
            active: active::Known::default(),
        }
    }

    pub fn program(&self) -> &'p Program {
        self.graph.program
    }

    pub fn ir(&self, file: FileId) -> &'p FileIr {
        self.graph.program.ir(file)
    }

    /// The place of an expression, with the code of its line.
    pub fn place(&self, at: ExprRef) -> Place {
        let span = self.ir(at.file).place(at.expr);
        self.line_place(at.file, span.line, span.column)
    }

    pub fn line_place(&self, file: FileId, line: u32, column: u32) -> Place {
        let program = self.program();
        Place { path: program.file(file).path.clone(), line, column, code: program.line(file, line) }
    }

    pub fn text(&self, at: ExprRef) -> String {
        self.program().expr_text(at)
    }

    /// `Class.method`, `function` or `<module>`.
    pub fn function_name(&self, at: ExprRef) -> String {
        let ir = self.ir(at.file);
        match self.processes.function_around(at) {
            Some(func) => ir.qualified_name(Scope::Func(func.func)),
            None => ir.qualified_name(ir.scope_of(at.expr)),
        }
    }

    /// A guard as text: the test, or its negation.
    pub fn guard_text(&self, file: FileId, guard: &Guard) -> String {
        let text = self.text(ExprRef { file, expr: guard.test });
        if guard.holds { text } else { format!("not ({text})") }
    }
}

/// One field.
pub struct Facts<'s, 'g, 'p> {
    pub shared: &'s Shared<'g, 'p>,
    pub declared: &'s Declared,
    pub accesses: Vec<Access>,
    pub trace: Trace,
    reached: OnceCell<Vec<(StateId, ExprRef)>>,
}

impl<'s, 'g, 'p> Facts<'s, 'g, 'p> {
    pub fn of(shared: &'s Shared<'g, 'p>, declared: &'s Declared) -> Self {
        let accesses = access::of_field(shared.graph, declared.field);
        let starts: Vec<_> = accesses.iter().filter(|a| a.is_read()).map(|a| (a.at, Kind::Value)).collect();
        let trace = Trace::from(shared.graph, &starts);
        Facts { shared, declared, accesses, trace, reached: OnceCell::new() }
    }

    pub fn field(&self) -> Sym {
        self.declared.field
    }

    pub fn reads(&self) -> impl Iterator<Item = &Access> {
        self.accesses.iter().filter(|a| a.is_read())
    }

    pub fn writes(&self) -> impl Iterator<Item = &Access> {
        self.accesses.iter().filter(|a| a.write.is_some())
    }

    /// The expressions that the value reaches, with their states, cheapest first.
    pub fn reached(&self) -> Vec<(StateId, ExprRef)> {
        self.reached.get_or_init(|| self.find_reached()).clone()
    }

    fn find_reached(&self) -> Vec<(StateId, ExprRef)> {
        let mut out: Vec<(StateId, ExprRef)> = self
            .trace
            .ids()
            .filter_map(|id| match self.trace.state(id).node.slot {
                Slot::Expr(at) => Some((id, at)),
                _ => None,
            })
            .collect();
        out.sort_by_key(|(id, at)| (self.trace.state(*id).cost, self.trace.state(*id).distance, *at));
        out
    }

    /// The operations applied on the shortest way to a state, first first.
    pub fn operations_to(&self, id: StateId) -> Vec<(FileId, Op)> {
        let way = self.trace.way_to(id);
        let steps = way.windows(2);
        steps
            .filter_map(|pair| {
                let arrivals = &self.trace.state(pair[1]).arrivals;
                arrivals.iter().find(|a| a.from == pair[0]).and_then(|a| a.op)
            })
            .collect()
    }

    /// Is every step of the shortest way to a state resolved, and none a join of objects?
    pub fn grade_of(&self, id: StateId) -> Grade {
        let way = self.trace.way_to(id);
        let start_sure = way.first().is_some_and(|s| match self.trace.state(*s).node.slot {
            Slot::Expr(at) => self.accesses.iter().any(|a| a.at == at && a.sure),
            _ => false,
        });
        let all_sure = way.windows(2).all(|pair| {
            let arrivals = &self.trace.state(pair[1]).arrivals;
            arrivals.iter().any(|a| a.from == pair[0] && a.sure)
        });
        if start_sure && all_sure { Grade::Proved } else { Grade::Inferred }
    }
}
