//! Can the switch that gives the value its effect be refused?
//!
//! Where the value works only with another argument, an error that names that argument as one side of a forbidden pair
//! stands in the way. Only short tests count, made of reads of arguments alone.

use super::super::facts::Facts;
use super::super::report::{ActiveWhen, Grade};
use super::outcome::{self, Effect};
use super::{Found, in_record, under_guards};
use crate::flow::access;
use crate::program::ExprRef;
use crate::syntax::ir::*;

/// More gates than this are alternatives of a wide condition, not gates.
const MAX_GATES: usize = 4;

pub fn find(facts: &Facts, active_when: &[ActiveWhen]) -> Vec<Found> {
    let mut gates: Vec<Sym> = Vec::new();
    for gate in active_when.iter().filter(|a| a.field.len() == 1 && a.any_of.is_none()).flat_map(|a| &a.field) {
        let gate = Sym::from(gate);
        if gate != facts.field() && !gates.contains(&gate) {
            gates.push(gate);
        }
    }
    gates.into_iter().take(MAX_GATES).flat_map(|gate| of_gate(facts, gate)).collect()
}

fn of_gate(facts: &Facts, gate: Sym) -> Vec<Found> {
    let reads = access::of_field(facts.shared.graph, gate);
    let mut out = Vec::new();
    for read in reads.iter().filter(|a| a.is_read() && a.sure && in_record(facts, a.at)) {
        out.extend(refusal(facts, read.at));
    }
    out
}

/// The error that a conjunction with this read among its parts leads to.
fn refusal(facts: &Facts, read: ExprRef) -> Option<Found> {
    let shared = facts.shared;
    let (file, ir) = (read.file, shared.ir(read.file));
    let mut test = read.expr;
    while let Parent::Expr(up) = ir.exprs[test.index()].parent {
        match ir.expr(up) {
            Expr::Bool { and: true, .. } => test = up,
            _ => return None,
        }
    }
    let Parent::Stmt(stmt) = ir.exprs[test.index()].parent else { return None };
    let Stmt::If { arms, .. } = &ir.stmt(stmt).kind else { return None };
    let (_, block) = arms.iter().find(|(t, _)| *t == test)?;
    let fails = outcome::of_block(shared, file, block).filter(|o| o.effect == Effect::Fails)?;
    let others = shared.origins.of(ExprRef { file, expr: test });
    if others.len() < 2 || others.iter().any(|o| o.hops > 0) {
        return None;
    }
    let condition = under_guards(facts, file, stmt, "raise", &shared.text(ExprRef { file, expr: test }));
    let line = ir.place(read.expr).line;
    Some(Found { kind: "raise", file, line, condition, message: fails.message, grade: Grade::Inferred })
}
