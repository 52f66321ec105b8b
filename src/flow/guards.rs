//! Under which conditions a statement or expression is reached, within its function.
//!
//! Guards are the tests of the statements around, each with the truth it must have, and the negated tests of earlier
//! statements in the same blocks whose bodies always leave (`return`, `raise`, `continue`, `break`). Conditions of calls
//! on the way in are not here; they are joined along the flow.

use crate::syntax::ir::*;

/// A test and the outcome that it must have.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Guard {
    pub test: ExprId,
    pub holds: bool,
    /// The test stands in an earlier statement that leaves, not around.
    pub early_exit: bool,
}

/// More guards than code has that people write; of a longer chain of arms the nearest are kept.
const MAX_GUARDS: usize = 100;

/// The guards of a statement, outermost first.
pub fn of_stmt(ir: &FileIr, stmt: StmtId) -> Vec<Guard> {
    let mut out = Vec::new();
    let mut at = stmt;
    loop {
        let node = ir.stmt(at);
        // Nearest first while collecting; reversed at the end.
        let siblings = block_of(ir, node);
        for before in siblings.iter().take(node.index as usize).rev() {
            early_exits(ir, *before, &mut out);
        }
        if out.len() > MAX_GUARDS {
            break;
        }
        let Some((up, arm)) = node.parent else { break };
        match (&ir.stmt(up).kind, arm) {
            (Stmt::If { arms, .. }, Arm::Nth(n)) => {
                if let Some((test, _)) = arms.get(n as usize) {
                    out.push(Guard { test: *test, holds: true, early_exit: false });
                }
                for (test, _) in arms.iter().take(n as usize).rev().take(MAX_GUARDS) {
                    out.push(Guard { test: *test, holds: false, early_exit: false });
                }
            }
            (Stmt::If { arms, .. }, Arm::Else) => {
                for (test, _) in arms.iter().rev().take(MAX_GUARDS) {
                    out.push(Guard { test: *test, holds: false, early_exit: false });
                }
            }
            (Stmt::While { test, .. }, Arm::Body) => out.push(Guard { test: *test, holds: true, early_exit: false }),
            _ => {}
        }
        at = up;
    }
    out.truncate(MAX_GUARDS);
    out.reverse();
    out
}

/// The guards of an expression: those of its statement, then the tests of conditional expressions, `and` and `or` around.
pub fn of_expr(ir: &FileIr, expr: ExprId) -> Vec<Guard> {
    let mut inner = Vec::new();
    let mut at = expr;
    let stmt = loop {
        match ir.exprs[at.index()].parent {
            Parent::Expr(up) => {
                match ir.expr(up) {
                    Expr::IfExp { test, body, orelse } if (*body == at || *orelse == at) => {
                        inner.push(Guard { test: *test, holds: *body == at, early_exit: false });
                    }
                    Expr::Bool { and, left, right } if *right == at => {
                        inner.push(Guard { test: *left, holds: *and, early_exit: false });
                    }
                    Expr::Comp(comp) => {
                        for clause in comp.clauses.iter().rev() {
                            for test in clause.ifs.iter().rev().filter(|t| **t != at) {
                                inner.push(Guard { test: *test, holds: true, early_exit: false });
                            }
                        }
                    }
                    _ => {}
                }
                at = up;
            }
            Parent::Stmt(stmt) => {
                // The test of the n-th arm is reached when the arms before it failed.
                if let Stmt::If { arms, .. } = &ir.stmt(stmt).kind
                    && let Some(n) = arms.iter().position(|(t, _)| *t == at)
                {
                    for (test, _) in arms.iter().take(n).rev().take(MAX_GUARDS) {
                        inner.push(Guard { test: *test, holds: false, early_exit: false });
                    }
                }
                break Some(stmt);
            }
            Parent::Func(_) | Parent::Class(_) => break None,
        }
    };
    let mut out = stmt.map(|s| of_stmt(ir, s)).unwrap_or_default();
    inner.reverse();
    out.extend(inner);
    out
}

/// The statements of the block that a statement stands in, itself included.
pub fn siblings(ir: &FileIr, stmt: StmtId) -> &[StmtId] {
    block_of(ir, ir.stmt(stmt))
}

fn block_of<'i>(ir: &'i FileIr, node: &StmtNode) -> &'i [StmtId] {
    match node.parent {
        None => match node.scope {
            Scope::Module => &ir.body,
            Scope::Class(c) => &ir.class(c).body,
            Scope::Func(f) => &ir.func(f).body,
        },
        Some((up, arm)) => block(&ir.stmt(up).kind, arm),
    }
}

/// The statements of one block of a compound statement.
pub fn block(stmt: &Stmt, arm: Arm) -> &[StmtId] {
    match (stmt, arm) {
        (Stmt::If { arms, .. }, Arm::Nth(n)) => arms.get(n as usize).map_or(&[], |a| &a.1),
        (Stmt::If { orelse, .. }, _) => orelse,
        (Stmt::While { body, .. } | Stmt::For { body, .. } | Stmt::With { body, .. }, Arm::Body) => body,
        (Stmt::While { orelse, .. } | Stmt::For { orelse, .. }, _) => orelse,
        (Stmt::Try { body, .. }, Arm::Body) => body,
        (Stmt::Try { handlers, .. }, Arm::Nth(n)) => handlers.get(n as usize).map_or(&[], |h| &h.body),
        (Stmt::Try { orelse, .. }, Arm::Else) => orelse,
        (Stmt::Try { finally, .. }, Arm::Finally) => finally,
        (Stmt::Match { cases, .. }, Arm::Nth(n)) => cases.get(n as usize).map_or(&[], |c| &c.body),
        _ => &[],
    }
}

/// After `if test: return`, `test` is known to be false.
fn early_exits(ir: &FileIr, stmt: StmtId, out: &mut Vec<Guard>) {
    match &ir.stmt(stmt).kind {
        Stmt::If { arms, orelse } => {
            for (i, (test, body)) in arms.iter().enumerate().rev() {
                // Only a run of leaving arms from the first on tells anything about what follows.
                if leaves(ir, body) && arms[..i].iter().all(|(_, b)| leaves(ir, b)) {
                    out.push(Guard { test: *test, holds: false, early_exit: true });
                }
            }
            if let [(test, _)] = &arms[..]
                && !orelse.is_empty()
                && leaves(ir, orelse)
            {
                out.push(Guard { test: *test, holds: true, early_exit: true });
            }
        }
        Stmt::Assert { test, .. } => out.push(Guard { test: *test, holds: true, early_exit: true }),
        _ => {}
    }
}

/// Does control never reach the end of the block?
pub fn leaves(ir: &FileIr, block: &[StmtId]) -> bool {
    block.iter().any(|s| match &ir.stmt(*s).kind {
        Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue | Stmt::Break => true,
        Stmt::If { arms, orelse } => {
            !orelse.is_empty() && leaves(ir, orelse) && arms.iter().all(|(_, b)| leaves(ir, b))
        }
        Stmt::With { body, .. } => leaves(ir, body),
        _ => false,
    })
}
