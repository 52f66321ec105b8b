//! Where the value is really consumed, and what must hold there.
//!
//! A log line, a check that only raises, and the field's own default are not consumption. Inside the record a read counts
//! where its value ends in another field. A value that is only stored is consumed where it is used: what holds at every
//! use holds for the read.

use super::super::facts::Facts;
use super::condition::{All, Conditions, Ways};
use super::context::Contexts;
use crate::flow::access::Access;
use crate::flow::graph::*;
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// How many nodes are looked at between a read and its uses.
const MAX_NODES: u32 = 160;
const MAX_STEPS: u32 = 14;
/// A value that has been mixed with others more than this no longer tells where the field is consumed.
const MAX_COST: u32 = 6;

/// The ways to consumption of the field.
pub fn ways(facts: &Facts, conditions: &Conditions, contexts: &Contexts) -> Ways {
    let of = Consumption { facts, conditions, contexts, left: Cell::new(0) };
    let reads: Vec<&Access> = facts.reads().filter(|r| of.counts(r)).collect();
    let (inside, outside): (Vec<&Access>, Vec<&Access>) = reads.into_iter().partition(|r| conditions.in_record(r.at));
    let mut places: Vec<(ExprRef, All)> = Vec::new();
    for read in outside {
        if let Some(uses) = of.uses(read) {
            places.push((read.at, uses));
        }
    }
    for read in &inside {
        places.extend(of.filled(read).into_iter().map(|at| (at, All::default())));
    }
    if places.is_empty() {
        places.extend(inside.iter().map(|r| (r.at, All::default())));
    }
    let gates = of.gates(&places);
    let mut out = Ways::default();
    for (at, uses) in places.iter().filter(|(at, _)| !gates.contains(at)) {
        out.add_all(&contexts.of_expr(*at).with(uses));
        if out.is_free() {
            break;
        }
    }
    out
}

/// The function that holds all reads, if one does: then a condition in it needs no climb to prove.
pub fn only_function(facts: &Facts) -> Option<FuncRef> {
    let mut functions = facts.reads().map(|r| facts.shared.processes.function_around(r.at));
    let first = functions.next()?;
    functions.all(|f| f == first).then_some(first)?
}

/// Methods that write a message, among what the rules for logs cover.
const SPEAKING: [&str; 10] =
    ["debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "warning_once"];

struct Consumption<'a, 's, 'g, 'p, 'c> {
    facts: &'a Facts<'s, 'g, 'p>,
    conditions: &'a Conditions<'s, 'g, 'p>,
    contexts: &'a Contexts<'c, 's, 'g, 'p>,
    left: Cell<u32>,
}

impl Consumption<'_, '_, '_, '_, '_> {
    fn counts(&self, read: &Access) -> bool {
        let running = self.facts.shared.processes.running_at(read.at);
        let tool = !running.kinds.is_empty() && running.kinds.iter().all(|k| k == "other");
        !tool && !self.is_talk(read.at) && !self.is_check(read.at)
    }

    /// Is the value here only logged, part of an error's message, or told to a client that asks for it?
    fn is_talk(&self, at: ExprRef) -> bool {
        let shared = self.facts.shared;
        let ir = shared.ir(at.file);
        let mut e = at.expr;
        let handled = shared.processes.function_around(at).is_some_and(|f| self.contexts.is_handler(f));
        loop {
            match ir.exprs[e.index()].parent {
                Parent::Expr(up) => {
                    if let Expr::Call { func, .. } = ir.expr(up) {
                        let name = dotted_name(ir, *func).unwrap_or_default();
                        let sinks = &shared.program().profile.sinks;
                        let speaks = last_name(ir, *func).is_some_and(|n| SPEAKING.contains(&n.as_str()));
                        if *func != e && speaks && sinks.iter().any(|s| s.kind == "log" && s.matches(&name)) {
                            return true;
                        }
                    }
                    if handled && matches!(ir.expr(up), Expr::Dict(_)) {
                        return true;
                    }
                    e = up;
                }
                Parent::Stmt(stmt) => return matches!(ir.stmt(stmt).kind, Stmt::Raise(_) | Stmt::Assert { .. }),
                _ => return false,
            }
        }
    }

    /// Does the value here only decide whether to raise or to warn?
    fn is_check(&self, at: ExprRef) -> bool {
        let ir = self.facts.shared.ir(at.file);
        let Some(stmt) = ir.stmt_of(at.expr) else { return false };
        let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return false };
        let Some((_, body)) = arms.iter().find(|(test, _)| ir.contains(*test, at.expr)) else { return false };
        let talks = |s: &StmtId| match &ir.stmt(*s).kind {
            Stmt::Raise(_) | Stmt::Assert { .. } | Stmt::Pass => true,
            Stmt::Expr(e) => match ir.expr(*e) {
                Expr::Call { args, .. } => {
                    args.first().is_some_and(|a| self.is_talk(ExprRef { file: at.file, expr: a.value }))
                }
                Expr::Str(_) => true,
                _ => false,
            },
            _ => false,
        };
        (orelse.is_empty() || arms.len() > 1) && body.iter().all(talks)
    }

    /// Reads that only ask whether other reads, in the same function, are reached.
    fn gates(&self, places: &[(ExprRef, All)]) -> FxHashSet<ExprRef> {
        let shared = self.facts.shared;
        let mut out = FxHashSet::default();
        for (at, _) in places {
            let ir = shared.ir(at.file);
            let Some(stmt) = ir.stmt_of(at.expr) else { continue };
            let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { continue };
            let [(test, body)] = &arms[..] else { continue };
            let body_has = |other: &ExprRef| {
                other.file == at.file && body.iter().any(|s| inside(ir.stmt(*s).span, ir.span(other.expr)))
            };
            if orelse.is_empty() && ir.contains(*test, at.expr) && places.iter().any(|(o, _)| body_has(o)) {
                out.insert(*at);
            }
        }
        if out.len() == places.len() { FxHashSet::default() } else { out }
    }

    /// Where a read of the record ends as the value of another field.
    fn filled(&self, read: &Access) -> Vec<ExprRef> {
        let shared = self.facts.shared;
        let trace = &self.facts.trace;
        let mut out = Vec::new();
        for id in trace.ids() {
            let state = trace.state(id);
            let Slot::Expr(at) = state.node.slot else { continue };
            if state.cost > MAX_COST || state.node.kind == Kind::Predicate || !self.conditions.in_record(at) {
                continue;
            }
            let ir = shared.ir(at.file);
            let Parent::Stmt(stmt) = ir.exprs[at.expr.index()].parent else { continue };
            let targets = match &ir.stmt(stmt).kind {
                Stmt::Assign { targets, value } if *value == at.expr => targets.to_vec(),
                Stmt::AugAssign { target, value, .. } if *value == at.expr => vec![*target],
                _ => continue,
            };
            let other = targets.iter().any(|t| {
                let field = shared.origins.direct(ExprRef { file: at.file, expr: *t });
                field.is_some_and(|f| f != self.facts.field())
            });
            let from_here = || match trace.way_to(id).first().map(|s| trace.state(*s).node.slot) {
                Some(Slot::Expr(start)) => start == read.at,
                _ => false,
            };
            if other && from_here() {
                out.push(at);
            }
        }
        out
    }

    /// What holds at every use of what is read; `None` if it is never used.
    fn uses(&self, read: &Access) -> Option<All> {
        self.left.set(MAX_NODES);
        let node = Node { slot: Slot::Expr(read.at), path: Path::default(), kind: Kind::Value };
        Some(self.after(node, &mut Vec::new())?.and(&self.beside(read.at)))
    }

    /// What else must hold for a part of a conjunction to make a difference, to its right; the guards have the left.
    fn beside(&self, at: ExprRef) -> All {
        let ir = self.facts.shared.ir(at.file);
        let mut out = All::default();
        let mut e = at.expr;
        while let Parent::Expr(up) = ir.exprs[e.index()].parent {
            match ir.expr(up) {
                Expr::Bool { and: true, left, right } if *left == e => {
                    let right = ExprRef { expr: *right, ..at };
                    self.conditions.of_test(right, true).iter().for_each(|c| out.add(c.clone()));
                }
                Expr::Lambda(_) | Expr::Comp { .. } => break,
                _ => {}
            }
            e = up;
        }
        out
    }

    fn after(&self, node: Node, busy: &mut Vec<Node>) -> Option<All> {
        if busy.contains(&node) {
            return None;
        }
        if self.left.get() == 0 || busy.len() as u32 >= MAX_STEPS {
            return Some(All::default());
        }
        self.left.set(self.left.get() - 1);
        if let Slot::Expr(at) = node.slot
            && (self.is_talk(at) || self.is_check(at))
        {
            return None;
        }
        let steps = self.facts.shared.graph.steps(node);
        if !steps.dead_ends.is_empty() {
            return Some(All::default());
        }
        if steps.edges.is_empty() {
            return self.at_end(node, busy);
        }
        busy.push(node);
        let mut common: Option<All> = None;
        for edge in &steps.edges {
            let next = if self.is_copy(edge) { self.onwards(edge, busy) } else { Some(All::default()) };
            if let Some(next) = next {
                let all = common.map_or_else(|| next.clone(), |c| c.shared_with(&next));
                let free = all.is_empty();
                common = Some(all);
                if free {
                    break;
                }
            }
        }
        busy.pop();
        common
    }

    /// No step leads on: the value is used up here, unless it is held by a name that nobody reads.
    fn at_end(&self, node: Node, busy: &mut Vec<Node>) -> Option<All> {
        match node.slot {
            // A target marks the place of a store; the value goes on from the name.
            Slot::Expr(at) if self.facts.shared.program().is_store(at.file, at.expr) => None,
            Slot::Expr(_) => Some(All::default()),
            Slot::Return(func) => {
                let sites = self.facts.shared.graph.return_sites(func);
                if sites.is_empty() {
                    return Some(All::default());
                }
                busy.push(node);
                let mut common: Option<All> = None;
                for (call, sure) in sites {
                    let to = Node { slot: Slot::Expr(call), ..node };
                    let edge = Edge { to, kind: EdgeKind::Return, op: None, sure };
                    if let Some(next) = self.onwards(&edge, busy) {
                        common = Some(common.map_or_else(|| next.clone(), |c| c.shared_with(&next)));
                    }
                }
                busy.pop();
                common
            }
            Slot::Attr(_, name) => self.is_read_somewhere(name).then(All::default),
            Slot::Global(..) | Slot::Field(_) => Some(All::default()),
            Slot::Def(..) => None,
        }
    }

    /// Is there a read of such an attribute, of an object that can be anything?
    fn is_read_somewhere(&self, name: Sym) -> bool {
        let program = self.facts.shared.program();
        let files = program.files_with(name);
        files.iter().any(|f| {
            program.attrs_named(*f, name).iter().any(|at| match program.ir(*f).expr(*at) {
                Expr::Attr { base, .. } if !program.is_store(*f, *at) => {
                    self.facts.shared.graph.types.of(ExprRef { file: *f, expr: *base }).is_empty()
                }
                _ => false,
            })
        })
    }

    /// Past an edge that carries the value: what holds where it arrives, and from there on.
    fn onwards(&self, edge: &Edge, busy: &mut Vec<Node>) -> Option<All> {
        let next = self.after(edge.to, busy)?;
        let Slot::Expr(at) = edge.to.slot else { return Some(next) };
        let here = match edge.kind {
            EdgeKind::Attribute | EdgeKind::Global => self.contexts.of_expr(at).common()?,
            _ => self.conditions.around(at),
        };
        Some(here.and(&next).and(&self.beside(at)))
    }

    /// Does the edge hand on the value itself, or a number that stands for it?
    fn is_copy(&self, edge: &Edge) -> bool {
        match edge.op {
            None => true,
            Some((_, Op::Binary { .. } | Op::Negate)) => edge.to.kind == Kind::Value,
            Some((_, Op::Compare { .. } | Op::Not | Op::Select { .. } | Op::Element | Op::Iterate)) => true,
            Some((_, Op::Call { name, .. })) => matches!(name.as_str(), "int" | "float" | "str" | "max" | "min"),
            _ => false,
        }
    }
}

fn inside(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
