//! Where the value is really consumed, and what must hold there.
//!
//! Inside the record a read counts where its value ends in another field; elsewhere it counts unless it is idle. A value
//! that is only stored is consumed where it is used: what holds at every use holds for the read.

use super::super::facts::Facts;
use super::condition::{Condition, Conditions};
use super::context::Contexts;
use super::ways::{All, Ways};
use crate::flow::access::Access;
use crate::flow::graph::*;
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// A value that has been mixed with others more than this no longer tells where the field is consumed.
const MAX_COST: u32 = 6;

pub struct Consumption<'a, 's, 'g, 'p, 'c> {
    pub facts: &'a Facts<'s, 'g, 'p>,
    pub conditions: &'a Conditions<'s, 'g, 'p>,
    pub contexts: &'a Contexts<'c, 's, 'g, 'p>,
    /// Nodes that the walk from a read may still look at.
    pub left: Cell<u32>,
}

/// A place that consumes the value, and what holds at every use of it.
type Place = (ExprRef, All);

impl<'a, 's, 'g, 'p, 'c> Consumption<'a, 's, 'g, 'p, 'c> {
    pub fn of(
        facts: &'a Facts<'s, 'g, 'p>,
        conditions: &'a Conditions<'s, 'g, 'p>,
        contexts: &'a Contexts<'c, 's, 'g, 'p>,
    ) -> Self {
        Consumption { facts, conditions, contexts, left: Cell::new(0) }
    }

    /// The ways to consumption of the field.
    pub fn ways(&self) -> Ways {
        let reads: Vec<&Access> = self.facts.reads().filter(|r| self.counts(r)).collect();
        let (inside, outside): (Vec<&Access>, Vec<&Access>) =
            reads.into_iter().partition(|r| self.conditions.in_record(r.at));
        let used = |r: &&Access| Some((r.at, self.uses(r, Questions::Count)?));
        let mut places: Vec<Place> = outside.iter().filter_map(used).collect();
        let filled = self.filled(&inside);
        places.extend(filled.iter().map(|at| (*at, All::default())));
        if places.is_empty() {
            places.extend(inside.iter().map(|r| (r.at, All::default())));
        }
        let gates = self.gates(&places);
        let mut out = Ways::default();
        for (at, uses) in places.iter().filter(|(at, _)| !gates.contains(at)) {
            out.add_all(&self.contexts.of_expr(*at).with(uses));
            if out.is_free() {
                break;
            }
        }
        match self.not_replaced(&filled) {
            Some(condition) => out.edited(|way| way.add(condition.clone())),
            None => out,
        }
    }

    /// The test of its own amount, `field > 0`, without which the value is used nowhere, other than to ask just that.
    pub fn own_amount(&self) -> Option<Condition> {
        let field = self.facts.field();
        let reads = self.facts.reads().filter(|r| self.counts(r) && !self.conditions.in_record(r.at));
        let mut common: Option<All> = None;
        for read in reads {
            let Some(mut here) = self.uses(read, Questions::Ignore) else { continue };
            here = here.and(&self.conditions.around(read.at));
            here.retain(|c| c.is_own_amount(field));
            if here.is_empty() {
                here = self.contexts.of_expr(read.at).common().unwrap_or_default();
                here.retain(|c| c.is_own_amount(field));
            }
            let both = common.map_or_else(|| here.clone(), |c| c.shared_with(&here));
            if both.is_empty() {
                return None;
            }
            common = Some(both);
        }
        common?.iter().find(|c| !self.conditions.has_other_outcome(c.at)).cloned()
    }

    /// Reads that only ask whether other reads, in the same function, are reached.
    fn gates(&self, places: &[Place]) -> FxHashSet<ExprRef> {
        let shared = self.facts.shared;
        let mut out = FxHashSet::default();
        for (at, _) in places {
            let ir = shared.ir(at.file);
            let Some(stmt) = ir.stmt_of(at.expr) else { continue };
            let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { continue };
            let [(test, body)] = &arms[..] else { continue };
            let body_has = |other: &ExprRef| other.file == at.file && is_in_block(ir, body, other.expr);
            if orelse.is_empty() && ir.contains(*test, at.expr) && places.iter().any(|(o, _)| body_has(o)) {
                out.insert(*at);
            }
        }
        if out.len() == places.len() { FxHashSet::default() } else { out }
    }

    /// Where reads inside the record end as the value of another field.
    fn filled(&self, reads: &[&Access]) -> Vec<ExprRef> {
        let trace = &self.facts.trace;
        let starts: FxHashSet<ExprRef> = reads.iter().map(|r| r.at).collect();
        let mut out = Vec::new();
        for id in trace.ids() {
            let state = trace.state(id);
            let other = self.field_of(&state.node).is_some_and(|f| f != self.facts.field());
            if !other || state.cost > MAX_COST || state.node.kind == Kind::Predicate {
                continue;
            }
            let way = trace.way_to(id);
            let expressions = way.iter().filter_map(|id| match trace.state(*id).node {
                Node { slot: Slot::Expr(at), path, .. } => Some((at, path)),
                _ => None,
            });
            if !expressions.clone().next().is_some_and(|(start, _)| starts.contains(&start)) {
                continue;
            }
            // The value itself, before it goes into a dictionary of rewrites.
            let is_key = |path: Path| matches!(path.first(), Some(Proj::Key(_)));
            let value = expressions.filter(|(_, path)| !is_key(*path)).last();
            if let Some((at, _)) = value.filter(|(at, _)| self.conditions.in_record(*at) && !out.contains(at)) {
                out.push(at);
            }
        }
        out
    }

    /// The field that a value at the node is written to, by assignment or by declaration.
    pub fn field_of(&self, node: &Node) -> Option<Sym> {
        let program = self.facts.shared.program();
        let resolution = &program.profile.resolution;
        let key = match node.path.first() {
            Some(Proj::Key(key)) => Some(key),
            _ => None,
        };
        let field = match node.slot {
            Slot::Field(field) => field,
            Slot::Def(file, Scope::Func(func), def) => {
                let func = program.func(FuncRef { file, func });
                let is_rest = func.params.get(def.0 as usize).is_some_and(|p| p.kind == ParamKind::DoubleStar);
                let mut declaring = resolution.declare.iter().chain(&resolution.overrides);
                key.filter(|_| is_rest && declaring.any(|d| *d == func.name.as_str()))?
            }
            Slot::Return(func) => {
                let registered = resolution.passes.iter().chain(&resolution.providers);
                let registered: Vec<&str> = registered.map(String::as_str).collect();
                key.filter(|_| program.has_decorator(func, &registered))?
            }
            _ => return None,
        };
        self.facts.shared.definitions.by_name(field).map(|_| field)
    }

    /// Of two arms that the record chooses between, one fills another field from this one and the other replaces this one:
    /// what takes the first.
    fn not_replaced(&self, filled: &[ExprRef]) -> Option<Condition> {
        let field = self.facts.field();
        self.facts.writes().filter(|w| self.conditions.in_record(w.at)).find_map(|write| {
            let file = write.at.file;
            let ir = self.facts.shared.ir(file);
            let (up, _) = ir.stmt(ir.stmt_of(write.at.expr)?).parent?;
            let Stmt::If { arms, orelse } = &ir.stmt(up).kind else { return None };
            let [(test, body)] = &arms[..] else { return None };
            let fills = |block: &[StmtId]| filled.iter().any(|at| at.file == file && is_in_block(ir, block, at.expr));
            let replaces = |block: &[StmtId]| is_in_block(ir, block, write.at.expr);
            let holds = match (fills(body) && replaces(orelse), replaces(body) && fills(orelse)) {
                (true, _) => true,
                (_, true) => false,
                _ => return None,
            };
            let asked = self.conditions.of_test(ExprRef { file, expr: *test }, holds);
            let [condition] = &asked[..] else { return None };
            let alone = self.conditions.around(write.at).iter().count() == 1;
            (alone && !condition.fields.contains(&field)).then(|| condition.clone())
        })
    }
}

/// Do tests of the field's own amount count as uses of it?
#[derive(Copy, Clone, PartialEq)]
pub enum Questions {
    Count,
    Ignore,
}

/// The function that holds all reads, if one does: then a condition in it needs no climb to prove.
pub fn only_function(facts: &Facts) -> Option<FuncRef> {
    let mut functions = facts.reads().map(|r| facts.shared.processes.function_around(r.at));
    let first = functions.next()?;
    functions.all(|f| f == first).then_some(first)?
}

fn is_in_block(ir: &FileIr, block: &[StmtId], expr: ExprId) -> bool {
    let inner = ir.span(expr);
    block.iter().map(|s| ir.stmt(*s).span).any(|outer| outer.start <= inner.start && inner.end <= outer.end)
}
