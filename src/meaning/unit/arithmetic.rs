//! Units that follow from what is computed with the value: a dimension algebra over its way.
//!
//! A product with a power of 1000 or 1024 turns a size into bytes; a call or comparison with a known unit gives its own,
//! scaled back by what was done before. A product with another quantity changes the dimension, so nothing after it tells.
//! See Kennedy, "Dimension types" (1994), for the rules.

use super::{SIZES, named};
use crate::flow::graph::{Kind, Op};
use crate::flow::trace::StateId;
use crate::meaning::facts::Facts;
use crate::meaning::report::{Grade, Unit};
use crate::meaning::sinks;
use crate::program::constants::Value;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;

/// A scale counts only while the value is still recognisably the field.
const MAX_COST_OF_SCALE: u32 = 1;
const MAX_COST_OF_SINK: u32 = 2;

/// The unit by arithmetic; `time` says that words call it a time, so that 1000 turns it into milliseconds.
pub fn claim(facts: &Facts, time: bool) -> Option<Unit> {
    by_scale(facts, time).or_else(|| by_sink(facts))
}

/// `if counter % value == 0`: the value counts what the counter counts.
pub fn cycle(facts: &Facts) -> Option<Unit> {
    let shared = facts.shared;
    let counted = facts.reached().into_iter().filter(|(id, _)| facts.trace.state(*id).cost == 0).find_map(|(_, at)| {
        let ir = shared.ir(at.file);
        let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return None };
        let Expr::Bin { op: BinOp::Mod, left, right } = ir.expr(up) else { return None };
        let counter = shared.text(ExprRef { file: at.file, expr: *left });
        let unit = (*right == at.expr).then(|| shared.program().profile.units.of_counter(&counter)).flatten()?;
        Some((unit, at))
    });
    counted.map(|(unit, at)| named(unit, Grade::Inferred, vec![shared.place(at)]))
}

/// `value * 1e9`, `value << 30`: the factor of the first scaling by a power of 1000 or 1024.
fn by_scale(facts: &Facts, time: bool) -> Option<Unit> {
    for (id, _) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST_OF_SCALE || state.node.kind != Kind::Value {
            continue;
        }
        for arrival in &state.arrivals {
            let Some((file, op)) = arrival.op else { continue };
            let Some((factor, at)) = scale(facts, file, op) else { continue };
            // It must be the first scaling on the way, and of the field's own dimension.
            let before = facts.operations_to(arrival.from);
            if before.iter().any(|(f, o)| scale(facts, *f, *o).is_some()) || !keeps_dimension(facts, &before) {
                continue;
            }
            let Some((name, _)) = SIZES.iter().find(|(_, f)| *f == factor) else { continue };
            let name = match (time, *name) {
                (true, "KB") => "s",
                (true, _) => continue,
                // 1000 and 1024 alone are too common to tell a size.
                (false, "KB" | "KiB") => continue,
                (false, name) => name,
            };
            return Some(named(name, facts.grade_of(id), vec![facts.shared.place(ExprRef { file, expr: at })]));
        }
    }
    None
}

/// A call or comparison with a unit, undone by the scaling on the way: `sleep(value / 1000)` takes milliseconds.
fn by_sink(facts: &Facts) -> Option<Unit> {
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST_OF_SINK || state.node.kind != Kind::Value {
            continue;
        }
        let Some(unit) = sinks::unit_at(facts, at) else { continue };
        let ways = facts.operations_to(id);
        if !keeps_dimension(facts, &ways) {
            continue;
        }
        let factor: f64 = ways.iter().map(|(file, op)| thousands(facts, *file, *op)).product();
        let name = match (unit, factor) {
            ("s", 1000.0) => "ms",
            (unit, 1.0) => unit,
            _ => continue,
        };
        return Some(named(name, grade(facts, id), vec![facts.shared.place(at)]));
    }
    None
}

/// A sum with another quantity has its dimension, but only if the code is right.
fn grade(facts: &Facts, id: StateId) -> Grade {
    if facts.trace.state(id).cost > 1 { Grade::Inferred } else { facts.grade_of(id) }
}

/// How many thousandths one step makes of one unit, where it is a step between seconds and milliseconds.
fn thousands(facts: &Facts, file: FileId, op: Op) -> f64 {
    match op {
        Op::Binary { op: BinOp::Div, other, left: true, .. } => match number(facts, file, other) {
            Some(1000.0) => 1000.0,
            _ => 1.0,
        },
        _ => match scale(facts, file, op) {
            Some((factor, _)) if factor == 1000.0 || factor == 1e-3 => (1.0 / factor).round().max(1e-3),
            _ => 1.0,
        },
    }
}

/// Is no step a product or quotient with another quantity? Dividing by a count of ranks shares out and changes nothing.
fn keeps_dimension(facts: &Facts, ways: &[(FileId, Op)]) -> bool {
    let shared = facts.shared;
    ways.iter().all(|(file, op)| match op {
        Op::Binary { op: BinOp::Add | BinOp::Sub, .. } => true,
        Op::Binary { op, other, left, .. } => {
            let other = ExprRef { file: *file, expr: *other };
            let shares = || {
                let profile = &shared.program().profile;
                shared.origins.of(other).iter().any(|o| !o.condition && profile.counts_ranks(&o.field))
            };
            let divides = matches!(op, BinOp::Div | BinOp::FloorDiv) && *left;
            (number(facts, other.file, other.expr).is_some() && (*left || !matches!(op, BinOp::Div | BinOp::FloorDiv)))
                || (divides && shares())
        }
        Op::Call { name, .. } => {
            matches!(name.as_str(), "int" | "float" | "round" | "ceil" | "floor" | "abs" | "max" | "min")
        }
        Op::Method { .. } | Op::Compare { .. } | Op::Select { .. } | Op::Format => false,
        Op::Not | Op::Negate | Op::Element | Op::Iterate => true,
    })
}

/// The factor that an operation multiplies by, if it is a constant.
fn scale(facts: &Facts, file: FileId, op: Op) -> Option<(f64, ExprId)> {
    let Op::Binary { op, other, left, at } = op else { return None };
    let factor = number(facts, file, other)?;
    match (op, left) {
        (BinOp::Mul, _) => Some((factor, at)),
        (BinOp::Shl, true) if (0.0..60.0).contains(&factor) => Some((factor.exp2(), at)),
        _ => None,
    }
}

fn number(facts: &Facts, file: FileId, expr: ExprId) -> Option<f64> {
    match facts.shared.program().constant(ExprRef { file, expr })? {
        Value::Int(i) => Some(i as f64),
        Value::Float(f) => Some(f),
        _ => None,
    }
}
