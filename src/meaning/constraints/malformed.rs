//! Is a value that cannot be parsed an error of its own?
//!
//! `try: json.loads(value) except …: raise …`: the `raise` is a check of the value. A bare re-raise is none.

use super::super::facts::Facts;
use super::super::report::Grade;
use super::{Found, cut};
use crate::flow::graph::Kind;
use crate::program::ExprRef;
use crate::syntax::ir::*;

/// The value itself, not something made from it.
const MAX_COST: u32 = 1;
/// In a longer `try`, the error can be another statement's.
const SHORT: usize = 3;

pub fn find(facts: &Facts) -> Vec<Found> {
    let mut out = Vec::new();
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST {
            break;
        }
        if state.node.kind == Kind::Value && state.node.path.is_empty() {
            out.extend(of_use(facts, at));
        }
    }
    out
}

fn of_use(facts: &Facts, at: ExprRef) -> Option<Found> {
    let shared = facts.shared;
    let ir = shared.ir(at.file);
    let Parent::Expr(call) = ir.exprs[at.expr.index()].parent else { return None };
    let Expr::Call { args, .. } = ir.expr(call) else { return None };
    if !args.iter().any(|a| a.value == at.expr) {
        return None;
    }
    let (up, arm) = ir.stmt(ir.stmt_of(call)?).parent?;
    let Stmt::Try { body, handlers, .. } = &ir.stmt(up).kind else { return None };
    if arm != Arm::Body || body.len() > SHORT {
        return None;
    }
    let fails = handlers.iter().find_map(|h| {
        super::outcome::of_block(shared, at.file, &h.body).filter(|o| o.effect == super::outcome::Effect::Fails)
    })?;
    let call = shared.text(ExprRef { file: at.file, expr: call });
    let condition = cut(format!("{call} fails"));
    Some(Found {
        kind: "raise",
        file: at.file,
        line: fails.line,
        condition,
        message: fails.message,
        grade: Grade::Inferred,
    })
}
