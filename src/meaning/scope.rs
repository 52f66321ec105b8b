//! Who holds the value, along which rank axes, and what it is shared out over.
//!
//! Kinds of process come from the functions that read the value; axes from the loops around the process spawns; divisors
//! from divisions on the value's way whose divisor comes from a field that counts ranks. A value that several processes
//! hold whole counts as often as the axes say; the total is a formula, never a number.

use super::facts::Facts;
use super::report::{DividedWhen, Grade, Place, Scope, Sink, Unit};
use super::wording::all_of;
use crate::flow::graph::{EdgeKind, Kind, Op, Slot};
use crate::flow::guards;
use crate::flow::trace::StateId;
use crate::program::ExprRef;
use crate::syntax::ir::*;
use std::collections::{BTreeMap, BTreeSet};

/// A division counts only while the value is still recognisably the field.
const MAX_COST: u32 = 3;

pub fn claim(facts: &Facts, unit: &Unit, sinks: &[Sink]) -> Scope {
    let shared = facts.shared;
    let mut kinds: BTreeMap<String, Option<Place>> = BTreeMap::new();
    let mut grade = Grade::Proved;
    let mut add = |at: ExprRef, kinds: &mut BTreeMap<String, Option<Place>>| {
        let running = shared.processes.running_at(at);
        for (kind, shown) in &running.shown_by {
            let place = kinds.entry(kind.clone()).or_default();
            match (shown, &place) {
                (Some(shown), None) => *place = Some(shared.place(*shown)),
                (None, None) => grade = Grade::Inferred,
                _ => {}
            }
        }
    };
    for read in facts.reads() {
        add(read.at, &mut kinds);
    }
    for write in facts.writes() {
        add(write.at, &mut kinds);
    }
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        for arrival in &state.arrivals {
            if let (EdgeKind::Spawn(_), Slot::Def(file, crate::syntax::ir::Scope::Func(func), _)) =
                (arrival.kind, state.node.slot)
            {
                let running = shared.processes.running(crate::program::FuncRef { file, func });
                for kind in &running.kinds {
                    kinds.entry(kind.clone()).or_default();
                }
            }
        }
    }
    for field in stored_fields(facts) {
        // Another field made from this one: whoever reads that holds the value too.
        for access in crate::flow::access::of_field(shared.graph, field).iter().filter(|a| a.is_read()) {
            add(access.at, &mut kinds);
        }
    }
    kinds.remove("other");
    let mut evidence: Vec<Place> = kinds.values().flatten().cloned().collect();
    let mut per = BTreeSet::new();
    for kind in kinds.keys().filter(|k| shared.program().profile.is_ranked(k)) {
        let (axes, places) = shared.processes.axes(kind);
        per.extend(axes);
        evidence.extend(places.into_iter().map(|p| shared.place(p)));
    }
    let (divided_when, divided) = divisions(facts);
    grade = grade.min(divided);
    let mut divided_by: Vec<String> = divided_when.iter().map(|d| d.by.clone()).collect();
    divided_by.sort();
    divided_by.dedup();
    evidence.sort();
    evidence.dedup();
    let processes: Vec<String> = kinds.into_keys().collect();
    let per: Vec<String> = per.into_iter().collect();
    if processes.is_empty() {
        grade = Grade::Unknown;
    }
    let count = count(facts, &per);
    let total = total(facts, unit, sinks, count.as_deref());
    Scope { processes, per, divided_by, divided_when, count, total, pools: None, grade, evidence }
}

/// The fields that writes make from this one.
fn stored_fields(facts: &Facts) -> Vec<Sym> {
    let mut out: Vec<Sym> = Vec::new();
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        if let (Slot::Field(field), Kind::Value) = (state.node.slot, state.node.kind)
            && state.cost <= 1
            && field != facts.field()
            && facts.shared.definitions.by_name(field).is_some()
        {
            out.push(field);
        }
    }
    out.sort();
    out.dedup();
    out
}

/// How many processes hold the value, as an expression over the fields that count ranks.
fn count(facts: &Facts, per: &[String]) -> Option<String> {
    let profile = &facts.shared.program().profile;
    let sizes: Vec<&str> = per.iter().filter_map(|axis| profile.size_of_axis(axis)).collect();
    let known = sizes.iter().all(|s| facts.shared.definitions.by_name(Sym::from(s)).is_some());
    (!sizes.is_empty() && known).then(|| sizes.join(" * "))
}

/// The sum over all holders, for amounts of memory.
fn total(facts: &Facts, unit: &Unit, sinks: &[Sink], count: Option<&str>) -> Option<String> {
    let amount = unit.bytes.is_some() && sinks.iter().any(|s| s.kind.ends_with("-memory"));
    match (amount, count, &unit.name) {
        (true, Some(count), Some(unit)) => Some(format!("{} * {} {}", facts.field(), count, unit)),
        _ => None,
    }
}

/// The divisions, and how sure the ways to them are.
fn divisions(facts: &Facts) -> (Vec<DividedWhen>, Grade) {
    let shared = facts.shared;
    let mut out: Vec<DividedWhen> = Vec::new();
    let mut grade = Grade::Proved;
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        if state.node.kind != Kind::Value || state.cost > MAX_COST {
            continue;
        }
        for arrival in &state.arrivals {
            let Some((file, Op::Binary { op: BinOp::Div | BinOp::FloorDiv, other, left: true, at })) = arrival.op
            else {
                continue;
            };
            let divisor = ExprRef { file, expr: other };
            let origins = shared.origins.of(divisor);
            let counts = |field: Sym| field != facts.field() && shared.program().profile.counts_ranks(&field);
            let Some(by) = origins.iter().find(|o| !o.condition && counts(o.field)) else { continue };
            if !is_still_the_amount(facts, arrival.from) {
                continue;
            }
            grade = grade.min(facts.grade_of(id));
            // The condition: what the divisor asks, else what the division stands under.
            let mut fields: Vec<String> = origins.iter().filter(|o| o.condition).map(|o| o.field.to_string()).collect();
            let ir = shared.ir(file);
            let mut texts = Vec::new();
            for guard in guards::of_expr(ir, at) {
                let test = ExprRef { file, expr: guard.test };
                let asked = shared.origins.of(test);
                if asked.iter().any(|o| o.field != facts.field()) {
                    texts.push(shared.guard_text(file, &guard));
                    fields.extend(asked.iter().filter(|o| o.field != facts.field()).map(|o| o.field.to_string()));
                }
            }
            let condition = if texts.is_empty() {
                (!fields.is_empty()).then(|| fields.join(" and "))
            } else {
                Some(all_of(&texts))
            };
            fields.sort();
            fields.dedup();
            let place = shared.place(ExprRef { file, expr: at });
            let by = by.field.to_string();
            if !out.iter().any(|d| d.by == by && d.path == place.path && d.line == place.line) {
                out.push(DividedWhen { by, condition, fields, path: place.path, line: place.line });
            }
        }
    }
    out.sort_by(|a, b| (&a.by, &a.path, a.line).cmp(&(&b.by, &b.path, b.line)));
    (out, grade)
}

/// Is it the value that is shared out, not a number of which it was the divisor or one that was counted up to it?
fn is_still_the_amount(facts: &Facts, id: StateId) -> bool {
    let operations = facts.operations_to(id);
    let counts_up = || operations.iter().any(|(_, op)| matches!(op, Op::Call { name, .. } if name == "range"));
    operations.iter().all(|(_, op)| match op {
        Op::Binary { op: BinOp::Div | BinOp::FloorDiv | BinOp::Mod, left, .. } => *left,
        Op::Iterate | Op::Element => !counts_up(),
        _ => true,
    })
}
