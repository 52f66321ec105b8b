//! Where is a value that the operator gave replaced, and nothing says so?
//!
//! Filling an unset field, normalising the value and confirming a switch replace nothing. Where a test around the write
//! asks something of the field that we cannot read, it may ask whether it is unset, and nothing is said.

use super::super::accesses::written_text;
use super::super::conditions;
use super::super::constraints::{self, outcome};
use super::super::facts::Facts;
use super::super::report::Finding;
use super::{finding, table};
use crate::flow::access::{Access, Written};
use crate::flow::guards::{self, Guard};
use crate::flow::origin::{Origin, assigned_value};
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
        let tests = conditions(facts, write);
        let models = models(facts, write).map_or(String::new(), |m| format!(" for {m}"));
        let when = if tests.is_empty() {
            String::new()
        } else {
            format!(", when {}", constraints::nearest_of(&tests, constraints::MAX_CONDITION))
        };
        let place = shared.place(write.at);
        let message = format!("{} replaces a given value by {to}{models}{when}", shared.function_name(write.at));
        out.push((to, finding(table::REWRITTEN_SILENTLY, message, &place.path, place.line)));
    }
    out.into_iter().map(|(_, f)| f).collect()
}

/// The nearest tests around the write, after those around the call of its function if there is but one.
fn conditions(facts: &Facts, write: &Access) -> Vec<String> {
    let stmt = |at: ExprRef| facts.shared.ir(at.file).stmt_of(at.expr);
    let mut out = Vec::new();
    if let Some(call) = only_call(facts, write)
        && let Some(stmt) = stmt(call)
    {
        out.extend(conditions::tests_around(facts.shared, call.file, stmt));
    }
    if let Some(stmt) = stmt(write.at) {
        out.extend(conditions::nearest_guards(facts.shared, write.at.file, stmt));
    }
    let mut known = Vec::new();
    out.retain(|t| {
        !known.contains(t) && {
            known.push(t.clone());
            true
        }
    });
    out
}

/// The models that a provider is registered for.
fn models(facts: &Facts, write: &Access) -> Option<String> {
    let shared = facts.shared;
    let func = shared.processes.function_around(write.at)?;
    let ir = shared.ir(func.file);
    let providers = &shared.program().profile.resolution.providers;
    shared.program().func(func).decorators.iter().find_map(|d| {
        let Expr::Call { func: name, args } = ir.expr(*d) else { return None };
        let name = last_name(ir, *name)?;
        let is_provider = providers.iter().any(|p| *p == name.as_str());
        let text = |a: &Arg| shared.text(ExprRef { file: func.file, expr: a.value });
        is_provider.then(|| args.iter().map(text).collect::<Vec<_>>().join(", "))
    })
}

fn only_call(facts: &Facts, write: &Access) -> Option<ExprRef> {
    facts.shared.processes.function_around(write.at).and_then(|f| conditions::only_call(facts.shared, f))
}

fn replaces(facts: &Facts, write: &Access) -> bool {
    let Some(Written::Value(value)) = write.write else { return false };
    write.sure
        && !facts.declared.definition.flags.is_empty()
        && !fills_unset(facts, write)
        && !is_clouded(facts, write)
        && !normalises(facts, write, value)
        && !confirms_switch(facts, write.at.file, value)
        && !is_announced(facts, write, value)
        && starts(facts, write)
        && !is_restored(facts, write)
        && !is_on_copy(facts, write)
}

/// Does the write happen only where the field is unset, or holds a word that asks for it (`"auto"`)?
pub fn fills_unset(facts: &Facts, write: &Access) -> bool {
    guards_of(facts, write).iter().any(|(file, guard)| asks_for_it(facts, *file, guard))
}

/// The tests under which a write happens, with those around the only call of its function.
fn guards_of(facts: &Facts, write: &Access) -> Vec<(FileId, Guard)> {
    let places = only_call(facts, write).into_iter().chain([write.at]);
    let guards =
        |at: ExprRef| guards::of_expr(facts.shared.ir(at.file), at.expr).into_iter().map(move |g| (at.file, g));
    places.flat_map(guards).collect()
}

/// Does a test of the write ask something of the field in a way that cannot be read here: through a local, a function,
/// or by its name?
fn is_clouded(facts: &Facts, write: &Access) -> bool {
    let field = facts.field();
    guards_of(facts, write).into_iter().any(|(file, guard)| {
        let ir = facts.shared.ir(file);
        let asks = |o: &Origin| o.field == field && o.hops > 0;
        let names = |i: usize| ir.contains(guard.test, ExprId(i as u32));
        facts.shared.origins.of(ExprRef { file, expr: guard.test }).iter().any(asks)
            || ir.exprs.iter().enumerate().any(|(i, e)| matches!(e.kind, Expr::Str(s) if s == field) && names(i))
    })
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
    let is_switch = definition.type_.as_deref().is_some_and(|t| t.contains("bool"));
    let given = match definition.default.as_deref() {
        Some("False") => Expr::True,
        Some("None") if is_switch => Expr::True,
        Some("True") => Expr::False,
        _ => return false,
    };
    // `--no-x` gives a switch both values.
    let both = definition.flags.iter().any(|f| f.starts_with("--no-"));
    let written = facts.shared.ir(file).expr(value);
    !both && matches!((written, given), (Expr::True, Expr::True) | (Expr::False, Expr::False))
}

/// Does something in the block of the write, or of the tests around it, log? Or does the function log the field by name,
/// or the new value?
fn is_announced(facts: &Facts, write: &Access, value: ExprId) -> bool {
    let shared = facts.shared;
    let (file, ir) = (write.at.file, shared.ir(write.at.file));
    let callees = shared.graph.types.callees(ExprRef { file, expr: value });
    if callees.iter().any(|(f, _, _)| outcome::speaks(shared, f.file, &shared.program().func(*f).body)) {
        return true;
    }
    let Some(mut stmt) = ir.stmt_of(write.at.expr) else { return false };
    while let Some((up, _)) = ir.stmt(stmt).parent {
        if outcome::speaks(shared, file, guards::siblings(ir, stmt)) {
            return true;
        }
        stmt = up;
    }
    // At the top of a function the block is too wide to speak of this write, and a test beside a block is not its own.
    let index = ir.stmt(stmt).index as usize;
    let around = guards::siblings(ir, stmt);
    let beside = [index.checked_sub(1), index.checked_add(1)].into_iter().flatten().filter_map(|i| around.get(i));
    let is_near = |s: &&StmtId| ir.stmt_of(write.at.expr) == Some(stmt) || matches!(ir.stmt(**s).kind, Stmt::Expr(_));
    beside.filter(is_near).any(|s| outcome::speaks(shared, file, &[*s])) || is_named(facts, write, value)
}

/// Does the function of a write always log a line that holds the field's name or the new value?
fn is_named(facts: &Facts, write: &Access, value: ExprId) -> bool {
    const SHORT: usize = 3;
    let shared = facts.shared;
    let (file, ir) = (write.at.file, shared.ir(write.at.file));
    let Scope::Func(func) = ir.scope_of(write.at.expr) else { return false };
    let field = facts.field();
    let mut words = ["_", "-", " "].map(|by| field.replace('_', by)).to_vec();
    words.extend(ir.str_value(value).filter(|v| v.len() >= SHORT).map(|v| v.to_lowercase()));
    let calls = ir.func(func).body.iter().filter_map(|s| match ir.stmt(*s).kind {
        Stmt::Expr(call) => Some(call),
        _ => None,
    });
    calls.filter(|call| outcome::tells(shared, file, *call)).any(|call| {
        let text = shared.text(ExprRef { file, expr: call }).to_lowercase();
        words.iter().any(|w| text.contains(w.as_str()))
    })
}

/// Does the write belong to the start of a server: the record's resolution, what only that calls, a constructor?
/// Requests may change what they like, and a tool that starts from the same record decides for itself.
fn starts(facts: &Facts, write: &Access) -> bool {
    let shared = facts.shared;
    let Some(func) = shared.processes.function_around(write.at) else { return false };
    shared.serves(write.at) && (shared.program().func(func).name == "__init__" || shared.startup.resolves(func))
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
