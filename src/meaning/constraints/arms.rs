//! Does the code that takes the value stand in one of several arms, the last of which is an error?
//!
//! `if isinstance(pool, A): use(value) elif isinstance(pool, B): use(value) else: raise`: whoever gives the value must
//! have an A or a B. Arms that test the value itself are the business of `tripped`.

use super::super::facts::Facts;
use super::super::report::Grade;
use super::outcome::{self, Effect};
use super::tripped::none_of;
use super::{Found, under_guards};
use crate::flow::graph::Kind;
use crate::program::FileId;
use crate::syntax::ir::*;
use std::collections::{BTreeMap, BTreeSet};

/// How many statements around a use are looked at.
const MAX_UP: usize = 3;

pub fn find(facts: &Facts) -> Vec<Found> {
    let mut used: BTreeMap<(FileId, StmtId), BTreeSet<u32>> = BTreeMap::new();
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > 0 {
            break;
        }
        let ir = facts.shared.ir(at.file);
        let is_argument = matches!(ir.exprs[at.expr.index()].parent, Parent::Expr(up)
            if matches!(ir.expr(up), Expr::Call { .. }));
        if state.node.kind == Kind::Value && is_argument {
            for (stmt, arm) in around(ir, at.expr) {
                used.entry((at.file, stmt)).or_default().insert(arm);
            }
        }
    }
    used.into_iter().filter_map(|((file, stmt), arms)| of_chain(facts, file, stmt, arms.len())).collect()
}

/// The `if` statements around a use, each with the arm that the use stands in.
fn around(ir: &FileIr, at: ExprId) -> Vec<(StmtId, u32)> {
    let mut out = Vec::new();
    let mut stmt = ir.stmt_of(at);
    for _ in 0..MAX_UP {
        let Some((up, arm)) = stmt.and_then(|s| ir.stmt(s).parent) else { break };
        if let (Stmt::If { .. }, Arm::Nth(n)) = (&ir.stmt(up).kind, arm) {
            out.push((up, n));
        }
        stmt = Some(up);
    }
    out
}

/// The error that the last arm is, where all others take the value.
fn of_chain(facts: &Facts, file: FileId, stmt: StmtId, used: usize) -> Option<Found> {
    let Stmt::If { arms, orelse } = &facts.shared.ir(file).stmt(stmt).kind else { return None };
    if used < arms.len() {
        return None;
    }
    let last = outcome::of_block(facts.shared, file, orelse).filter(|o| o.effect == Effect::Fails)?;
    let tests: Vec<ExprId> = arms.iter().map(|(t, _)| *t).collect();
    let condition = under_guards(facts, file, stmt, "raise", &none_of(facts, file, &tests));
    Some(Found { kind: "raise", file, line: last.line, condition, message: last.message, grade: Grade::Inferred })
}
