//! Where the value is really consumed, and what must hold there.
//!
//! Inside the record a read counts where its value ends in another field; elsewhere it counts unless it is idle. A value
//! that is only stored is consumed where it is used.

use super::super::facts::Facts;
use super::condition::{Condition, Conditions};
use super::context::Contexts;
use super::ways::{All, Ways};
use crate::flow::access::Access;
use crate::flow::declared;
use crate::flow::graph::*;
use crate::flow::trace::StateId;
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

/// A place that consumes the value, and the ways from there to a use.
type Place = (ExprRef, Ways);

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
        let used = outside.iter().map(|r| (r.at, self.uses(r.at, Questions::Count)));
        let mut places: Vec<Place> = used.filter(|(_, uses)| !uses.is_none()).collect();
        let (filled, settled) = self.filled(&inside);
        let at_home = inside.iter().map(|r| r.at).filter(|at| !settled.contains(at));
        places.extend(filled.iter().copied().chain(at_home.filter(|at| self.acts(*at))).map(|at| (at, Ways::free())));
        if places.is_empty() {
            places.extend(inside.iter().map(|r| (r.at, Ways::free())));
        }
        let gates = self.gates(&places);
        let mut out = Ways::default();
        for (at, uses) in places.iter().filter(|(at, _)| !gates.contains(at)) {
            out.add_all(&self.contexts.of_expr(*at).and(uses));
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
            let Some(mut here) = self.uses(read.at, Questions::IgnoreOwnAmount).common() else { continue };
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

    /// Where reads inside the record end as the value of another field; and the reads that end as any field's.
    fn filled(&self, reads: &[&Access]) -> (Vec<ExprRef>, FxHashSet<ExprRef>) {
        let trace = &self.facts.trace;
        let (mut places, mut settled) = (Vec::new(), FxHashSet::default());
        for id in trace.ids() {
            let state = trace.state(id);
            let Some(field) = self.field_of(&state.node) else { continue };
            let starts = self.starts_of(id);
            if state.cost > MAX_COST || state.node.kind == Kind::Predicate {
                continue;
            }
            let from_inside = reads.iter().any(|r| starts.contains(&r.at));
            settled.extend(starts);
            let way = trace.way_to(id);
            let mut expressions = way.iter().filter_map(|id| match trace.state(*id).node {
                Node { slot: Slot::Expr(at), path, .. } => Some((at, path)),
                _ => None,
            });
            // The value itself, before it goes into a dictionary of rewrites.
            let is_key = |path: Path| matches!(path.first(), Some(Proj::Key(_)));
            let value = expressions.rfind(|(_, path)| !is_key(*path)).map(|(at, _)| at);
            let value = value.filter(|at| from_inside && field != self.facts.field() && self.conditions.in_record(*at));
            places.extend(value.filter(|at| !places.contains(at)));
        }
        (places, settled)
    }

    /// The reads from which the value comes to a state.
    fn starts_of(&self, id: StateId) -> FxHashSet<ExprRef> {
        const MANY: usize = 500;
        let trace = &self.facts.trace;
        let mut seen: Vec<StateId> = vec![id];
        let mut next = 0;
        while let Some(at) = seen.get(next).copied().filter(|_| seen.len() < MANY) {
            next += 1;
            for arrival in &trace.state(at).arrivals {
                if !seen.contains(&arrival.from) {
                    seen.push(arrival.from);
                }
            }
        }
        let starts = seen.iter().filter(|id| trace.starts.contains(id)).map(|id| trace.state(*id).node.slot);
        starts.filter_map(|slot| if let Slot::Expr(at) = slot { Some(at) } else { None }).collect()
    }

    /// Does a read inside the record do more than to choose what is written? A switch is there to choose.
    fn acts(&self, at: ExprRef) -> bool {
        let is_switch = self.facts.declared.definition.type_.as_deref() == Some("bool");
        !self.is_correction(at) && (is_switch || !self.uses(at, Questions::IgnoreTests).is_none())
    }

    /// The field that a value at the node is written to, by assignment or by declaration.
    pub fn field_of(&self, node: &Node) -> Option<Sym> {
        let shared = self.facts.shared;
        let field = match (node.slot, node.path.first()) {
            (Slot::Field(field), _) => field,
            (slot, Some(Proj::Key(key))) if declared::is_declaration(shared.program(), slot) => key,
            _ => return None,
        };
        shared.definitions.by_name(field).map(|_| field)
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

/// Which tests count as uses of the value?
#[derive(Copy, Clone, PartialEq)]
pub enum Questions {
    Count,
    /// All but those of the field's own amount.
    IgnoreOwnAmount,
    /// None, nor does the writing of fields.
    IgnoreTests,
}

/// The function that holds all reads, if one does: then a condition in it needs no climb to prove.
pub fn only_function(facts: &Facts) -> Option<FuncRef> {
    let mut functions = facts.reads().map(|r| facts.shared.processes.function_around(r.at));
    let first = functions.next()?;
    functions.all(|f| f == first).then_some(first)?
}

fn is_in_block(ir: &FileIr, block: &[StmtId], expr: ExprId) -> bool {
    let inner = ir.range(expr);
    block.iter().any(|s| ByteRange::from(ir.stmt(*s).span).contains(inner))
}
