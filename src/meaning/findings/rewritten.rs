//! Where is a value that the operator gave replaced, and nothing says so?
//!
//! Filling an unset field, normalising the value and confirming a switch replace nothing.

use super::super::accesses::written_text;
use super::super::constraints::outcome;
use super::super::facts::Facts;
use super::super::report::Finding;
use super::{finding, table};
use crate::flow::access::{Access, Written};
use crate::flow::guards::{self, Guard};
use crate::flow::origin::assigned_value;
use crate::program::resolve::Binding;
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

pub fn find(facts: &Facts) -> Vec<Finding> {
    let shared = facts.shared;
    let mut out: Vec<(String, Finding)> = Vec::new();
    for write in facts.writes().filter(|w| replaces(facts, w)) {
        let to = written_text(facts, write);
        if out.iter().any(|(known, _)| *known == to) {
            continue;
        }
        let ir = shared.ir(write.at.file);
        let around = guards::of_expr(ir, write.at.expr);
        let tests: Vec<String> =
            around.iter().filter(|g| !g.early_exit).map(|g| shared.guard_text(write.at.file, g)).collect();
        let when = if tests.is_empty() { String::new() } else { format!(", when {}", tests.join(" and ")) };
        let place = shared.place(write.at);
        let message = format!("{} replaces a given value by {to}{when}", shared.function_name(write.at));
        out.push((to, finding(table::REWRITTEN_SILENTLY, message, &place.path, place.line)));
    }
    out.into_iter().map(|(_, f)| f).collect()
}

fn replaces(facts: &Facts, write: &Access) -> bool {
    let Some(Written::Value(value)) = write.write else { return false };
    write.sure
        && !fills_unset(facts, write)
        && !normalises(facts, write, value)
        && !confirms_switch(facts, write.at.file, value)
        && !is_announced(facts, write)
        && starts(facts, write)
        && !is_restored(facts, write)
        && !is_on_copy(facts, write)
}

/// Does the write happen only where the field is unset, or holds a word that asks for it (`"auto"`)?
pub fn fills_unset(facts: &Facts, write: &Access) -> bool {
    let ir = facts.shared.ir(write.at.file);
    guards::of_expr(ir, write.at.expr).iter().any(|guard| asks_for_it(facts, write.at.file, guard))
}

/// A test that holds for unset or named values of this field alone.
fn asks_for_it(facts: &Facts, file: FileId, guard: &Guard) -> bool {
    let mut stack = vec![(guard.test, guard.holds)];
    let ir = facts.shared.ir(file);
    let is_own = |expr| facts.shared.origins.direct(ExprRef { file, expr }) == Some(facts.field());
    while let Some((at, holds)) = stack.pop() {
        let found = match ir.expr(at) {
            // All parts hold, or all fail: one that asks for it is enough.
            Expr::Bool { and, left, right } if *and == holds => {
                stack.extend([(*left, holds), (*right, holds)]);
                false
            }
            // Any part can be the one: all must ask for it.
            Expr::Bool { left, right, .. } => [left, right]
                .iter()
                .all(|part| asks_for_it(facts, file, &Guard { test: **part, holds, early_exit: guard.early_exit })),
            Expr::Unary { op: UnaryOp::Not, operand } => {
                stack.push((*operand, !holds));
                false
            }
            Expr::Compare { left, rest } => match &rest[..] {
                [(op, right)] if is_own(*left) => selects(ir, *op, *right, holds),
                [(op, left)] if is_own(*left) && matches!(op, CmpOp::Eq | CmpOp::Is) => holds,
                _ => false,
            },
            // `isinstance(value, list)`: another form of the value follows.
            Expr::Call { func, args } => {
                holds
                    && last_name(ir, *func).is_some_and(|n| n == "isinstance")
                    && args.first().is_some_and(|a| is_own(a.value))
            }
            _ => !holds && is_own(at),
        };
        if found {
            return true;
        }
    }
    false
}

/// Does the comparison single out certain values, by name or as absent?
fn selects(ir: &FileIr, op: CmpOp, other: ExprId, holds: bool) -> bool {
    let nothing = matches!(ir.expr(other), Expr::None | Expr::Int(0 | -1));
    match op {
        CmpOp::Is | CmpOp::Eq | CmpOp::In => holds,
        CmpOp::IsNot | CmpOp::Ne | CmpOp::NotIn => !holds,
        CmpOp::Lt | CmpOp::Le => holds && nothing,
        CmpOp::Gt | CmpOp::Ge => !holds && nothing,
    }
}

/// Is the new value made from the old one, or one that was set aside?
fn normalises(facts: &Facts, write: &Access, value: ExprId) -> bool {
    let at = ExprRef { file: write.at.file, expr: value };
    let ir = facts.shared.ir(write.at.file);
    let reads_it = facts.reads().any(|r| r.at.file == at.file && ir.contains(value, r.at.expr));
    let reaches = || facts.reached().iter().any(|(id, e)| *e == at && facts.trace.state(*id).cost < 6);
    reads_it || facts.shared.origins.of(at).iter().any(|o| o.field == facts.field()) || reaches()
}

/// A switch can only be given as what the write says.
fn confirms_switch(facts: &Facts, file: FileId, value: ExprId) -> bool {
    let definition = &facts.declared.definition;
    let given = match definition.default.as_deref() {
        Some("False") => Expr::True,
        Some("True") => Expr::False,
        _ => return false,
    };
    // `--no-x` gives a switch both values.
    let both = definition.flags.iter().any(|f| f.starts_with("--no-"));
    let written = facts.shared.ir(file).expr(value);
    !both && matches!((written, given), (Expr::True, Expr::True) | (Expr::False, Expr::False))
}

/// Does something in the block of the write, or of the tests around it, log?
fn is_announced(facts: &Facts, write: &Access) -> bool {
    let ir = facts.shared.ir(write.at.file);
    let Some(mut stmt) = ir.stmt_of(write.at.expr) else { return false };
    if let Some(Written::Value(value)) = write.write {
        let callees = facts.shared.graph.types.callees(ExprRef { file: write.at.file, expr: value });
        let program = facts.shared.program();
        if callees.iter().any(|(f, _, _)| outcome::speaks(facts.shared, f.file, &program.func(*f).body)) {
            return true;
        }
    }
    loop {
        let node = ir.stmt(stmt);
        // At the top of a function the block is too wide to speak of this write.
        let Some((up, _)) = node.parent else {
            let next = guards::siblings(ir, stmt).get(node.index as usize + 1);
            let says = |s: &StmtId| matches!(ir.stmt(*s).kind, Stmt::Expr(_));
            return next.is_some_and(|s| says(s) && outcome::speaks(facts.shared, write.at.file, &[*s]));
        };
        if outcome::speaks(facts.shared, write.at.file, guards::siblings(ir, stmt)) {
            return true;
        }
        stmt = up;
    }
}

/// Does the write belong to the start of a server: the record, what its methods call, a constructor? Requests may
/// change what they like, and a tool that starts from the same record decides for itself.
fn starts(facts: &Facts, write: &Access) -> bool {
    let shared = facts.shared;
    let program = shared.program();
    let is_record = |func| program.method_class(func).is_some_and(|c| shared.graph.is_record_class(c));
    let Some(func) = shared.processes.function_around(write.at) else { return false };
    let called = || {
        let few = program.files_with(program.func(func).name).len() <= 20;
        let callers = if few { shared.graph.types.callers(func) } else { Default::default() };
        callers.iter().any(|site| shared.processes.function_around(site.call).is_some_and(is_record))
    };
    let running = shared.processes.running(func);
    let serves = running.kinds.is_empty() || running.kinds.iter().any(|k| k != "other");
    serves && (is_record(func) || program.func(func).name == "__init__" || called())
}

/// Does the same function put back what was there?
fn is_restored(facts: &Facts, write: &Access) -> bool {
    let around = |at| facts.shared.processes.function_around(at);
    let func = around(write.at);
    facts.writes().any(|other| match other.write {
        Some(Written::Value(value)) => {
            other.at != write.at && around(other.at) == func && normalises(facts, other, value)
        }
        _ => false,
    })
}

/// Does the write go to a copy of the record that was made for a part of the server?
fn is_on_copy(facts: &Facts, write: &Access) -> bool {
    let program = facts.shared.program();
    let (file, ir) = (write.at.file, facts.shared.ir(write.at.file));
    let is_copy = |value: ExprId| match ir.expr(value) {
        Expr::Call { func, .. } => last_name(ir, *func).is_some_and(|n| COPIES.contains(&n.as_str())),
        _ => false,
    };
    match ir.expr(write.at.expr) {
        Expr::Attr { base, .. } => match program.binding(ExprRef { file, expr: *base }) {
            Binding::Local(scope, defs) => {
                let defuse = program.defuse(file, scope);
                defs.iter().any(|def| match defuse.defs.get(def.0 as usize).map(|d| d.site) {
                    Some(DefSite::Target(target)) => assigned_value(ir, target).is_some_and(is_copy),
                    _ => false,
                })
            }
            _ => false,
        },
        _ => is_copy(write.at.expr),
    }
}

const COPIES: [&str; 3] = ["deepcopy", "copy", "replace"];
