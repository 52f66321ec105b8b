//! What one unit of the value is.
//!
//! Evidence in the order of its strength: the type (a truth value, a closed set of choices); a multiplication by a power
//! of 1000 or 1024 that turns a size into bytes; a sink with a known unit (`time.sleep`), scaled by what was done on the
//! way; then words of the help text (`documented`), then the field's name (`inferred`). The words are data, in
//! `queries/python/units.toml`. See Kennedy, "Dimension types" (1994), for the algebra this takes its rules from.

use super::facts::Facts;
use super::report::{Grade, Place, Unit};
use crate::flow::graph::{Kind, Op};
use crate::program::constants::Value;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;

/// A scale counts only while the value is still recognisably the field.
const MAX_COST: u32 = 1;

/// Sizes by their factor to bytes.
const SIZES: [(&str, f64); 6] =
    [("GB", 1e9), ("GiB", 1_073_741_824.0), ("MB", 1e6), ("MiB", 1_048_576.0), ("KB", 1e3), ("KiB", 1024.0)];

pub fn claim(facts: &Facts) -> Unit {
    let declared = &facts.declared.definition;
    let own = facts.shared.line_place(facts.declared.place.0, facts.declared.place.1.line, 0);
    let type_ = declared.type_.as_deref().unwrap_or("");
    if matches!(type_.trim_start_matches("Optional[").trim_end_matches(']'), "bool") {
        return named("bool", Grade::Proved, vec![own]);
    }
    if !declared.choices.is_empty() && declared.choices.iter().all(|c| c.is_string() || c.is_null()) {
        return named("enum", Grade::Proved, vec![own]);
    }
    let words = &facts.shared.program().profile.units;
    let time = words.of_help(declared.help.as_deref().unwrap_or(""), type_).is_some_and(|u| matches!(u, "s" | "ms"));
    if let Some(unit) = by_scale(facts, time) {
        return unit;
    }
    if let Some(unit) = by_sink(facts) {
        return unit;
    }
    if let Some(unit) = by_parser(facts) {
        return unit;
    }
    if let Some(name) = declared.help.as_deref().and_then(|help| words.of_help(help, type_)) {
        return named(name, Grade::Documented, vec![own]);
    }
    if let Some(name) = words.of_name(&facts.field(), type_) {
        return named(name, Grade::Inferred, vec![own]);
    }
    Unit::default()
}

fn named(name: &str, grade: Grade, evidence: Vec<Place>) -> Unit {
    let bytes = SIZES.iter().find(|(n, _)| *n == name).map(|(_, factor)| *factor as u64);
    let bytes = if name == "bytes" { Some(1) } else { bytes };
    Unit { name: Some(name.to_owned()), bytes, grade, evidence }
}

/// `value * 1e9`, `value << 30`: the factor of the first scaling by a power of 1000 or 1024.
fn by_scale(facts: &Facts, time: bool) -> Option<Unit> {
    for (id, _) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST || state.node.kind != Kind::Value {
            continue;
        }
        for arrival in &state.arrivals {
            let Some((file, op)) = arrival.op else { continue };
            let Some((factor, at)) = scale(facts, file, op) else { continue };
            // Is it the first scaling on the way?
            if facts.operations_to(arrival.from).iter().any(|(f, o)| scale(facts, *f, *o).is_some()) {
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
            let place = facts.shared.place(ExprRef { file, expr: at });
            return Some(named(name, facts.grade_of(id), vec![place]));
        }
    }
    None
}

/// The factor that an operation multiplies by, if it is a constant.
fn scale(facts: &Facts, file: FileId, op: Op) -> Option<(f64, ExprId)> {
    let Op::Binary { op, other, left, at } = op else { return None };
    let value = facts.shared.program().constant(ExprRef { file, expr: other })?;
    let number = match value {
        Value::Int(i) => i as f64,
        Value::Float(f) => f,
        _ => return None,
    };
    match (op, left) {
        (BinOp::Mul, _) => Some((number, at)),
        (BinOp::Shl, true) if (0.0..60.0).contains(&number) => Some((number.exp2(), at)),
        _ => None,
    }
}

/// A sink whose argument has a unit, undone by the scaling on the way: `sleep(value / 1000)` takes milliseconds.
fn by_sink(facts: &Facts) -> Option<Unit> {
    let shared = facts.shared;
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > 2 || state.node.kind != Kind::Value {
            continue;
        }
        let Some(unit) = super::sinks::unit_at(facts, at) else { continue };
        let mut factor = 1.0;
        for (file, op) in facts.operations_to(id) {
            match op {
                Op::Binary { op: BinOp::Div, other, left: true, .. } => {
                    if let Some(Value::Int(i)) = shared.program().constant(ExprRef { file, expr: other }) {
                        if i == 1000 {
                            factor *= 1000.0;
                        }
                    }
                }
                _ => {
                    if let Some((f, _)) = scale(facts, file, op).filter(|(f, _)| *f == 1000.0 || *f == 1e-3) {
                        factor /= f;
                    }
                }
            }
        }
        let name = match (unit, factor) {
            ("s", 1.0) => "s",
            ("s", 1000.0) => "ms",
            ("ms", 1.0) => "ms",
            (unit, 1.0) => unit,
            _ => continue,
        };
        return Some(named(name, facts.grade_of(id), vec![shared.place(at)]));
    }
    None
}

/// A string that is parsed: `json.loads(value)`.
fn by_parser(facts: &Facts) -> Option<Unit> {
    if facts.declared.definition.cli_type.as_deref().is_some_and(|t| t.contains("json")) {
        let own = facts.shared.line_place(facts.declared.place.0, facts.declared.place.1.line, 0);
        return Some(named("json", Grade::Proved, vec![own]));
    }
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > 0 {
            break;
        }
        let ir = facts.shared.ir(at.file);
        let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { continue };
        let Expr::Call { func, .. } = ir.expr(up) else { continue };
        if crate::program::dotted_name(ir, *func).is_some_and(|n| n.ends_with("json.loads")) {
            return Some(named("json", facts.grade_of(id), vec![facts.shared.place(at)]));
        }
    }
    None
}
