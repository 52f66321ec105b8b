//! Does the value fill another field, so that it trips what that one trips?
//!
//! Only fields that are computed from it in the record's own methods count; a plain copy is a default, and the checks of
//! a default are those of its own field.

use super::super::facts::Facts;
use super::super::report::Grade;
use super::{Found, clamps, cut, in_record, tripped};
use crate::flow::graph::{Kind, Proj, Slot};
use crate::program::ExprRef;
use crate::syntax::ir::*;

/// A value more diluted than this does not make the other.
const MAX_COST: u32 = 2;
/// Each costs a walk of its own.
const MAX_FIELDS: usize = 2;

pub fn find(facts: &Facts) -> Vec<Found> {
    let mut out = Vec::new();
    for field in filled(facts) {
        let Some(declared) = facts.shared.definitions.by_name(field) else { continue };
        let other = Facts::of(facts.shared, declared);
        let tests: Vec<_> =
            tripped::tests(&other).into_iter().filter(|t| t.is_near() && !in_record(&other, t.at)).collect();
        let mut found = tripped::find(&other, &tests);
        found.extend(clamps::filters(&other));
        out.extend(found.into_iter().map(|f| Found {
            condition: cut(format!("{} (through {field})", f.condition)),
            grade: Grade::Inferred,
            ..f
        }));
    }
    out
}

/// The fields that the record computes from this one.
fn filled(facts: &Facts) -> Vec<Sym> {
    let shared = facts.shared;
    let mut out: Vec<Sym> = Vec::new();
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        let Slot::Expr(at) = state.node.slot else { continue };
        let is_value = state.node.kind == Kind::Value && state.node.path.first().is_none_or(|p| p == Proj::Elem);
        if !is_value || state.cost > MAX_COST || facts.trace.starts.contains(&id) {
            continue;
        }
        let ir = shared.ir(at.file);
        let Parent::Stmt(stmt) = ir.exprs[at.expr.index()].parent else { continue };
        let Stmt::Assign { targets, value } = &ir.stmt(stmt).kind else { continue };
        if *value != at.expr || !in_record(facts, at) {
            continue;
        }
        for target in targets {
            let target = ExprRef { file: at.file, expr: *target };
            let field = shared.origins.direct(target);
            if let Some(field) = field.filter(|f| *f != facts.field() && !out.contains(f)) {
                out.push(field);
            }
        }
    }
    out.truncate(MAX_FIELDS);
    out
}
