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
use crate::program::ExprRef;
use crate::syntax::ir::*;

/// How many statements around a use are looked at.
const MAX_UP: usize = 3;

pub fn find(facts: &Facts) -> Vec<Found> {
    let mut out = Vec::new();
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > 0 {
            break;
        }
        let ir = facts.shared.ir(at.file);
        let is_argument = matches!(ir.exprs[at.expr.index()].parent, Parent::Expr(up)
            if matches!(ir.expr(up), Expr::Call { .. }));
        if state.node.kind == Kind::Value && is_argument {
            out.extend(around(facts, at));
        }
    }
    out
}

fn around(facts: &Facts, at: ExprRef) -> Option<Found> {
    let shared = facts.shared;
    let ir = shared.ir(at.file);
    let mut stmt = ir.stmt_of(at.expr)?;
    for _ in 0..MAX_UP {
        let (up, arm) = ir.stmt(stmt).parent?;
        if let (Stmt::If { arms, orelse }, Arm::Nth(_)) = (&ir.stmt(up).kind, arm) {
            let last = outcome::of_block(shared, at.file, orelse).filter(|o| o.effect == Effect::Fails);
            if let Some(last) = last {
                let tests: Vec<ExprId> = arms.iter().map(|(t, _)| *t).collect();
                let condition = none_of(facts, at.file, &tests);
                return Some(Found {
                    kind: "raise",
                    file: at.file,
                    line: last.line,
                    condition: under_guards(facts, at.file, up, "raise", &condition),
                    message: last.message,
                    grade: Grade::Inferred,
                });
            }
        }
        stmt = up;
    }
    None
}
