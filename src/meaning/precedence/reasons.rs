//! Under what does a write stand? The tests that decide whether it happens, nearest first.
//!
//! The nearest test that asks of another party is the reason; where more than one of its outcomes write the same thing it
//! only chooses the value, and the next one out counts too. Tests inside the value choose it likewise. Where nothing is
//! read, the tests around the only call of the function count as well, and a function that is registered for some models
//! stands under the model.

use super::asks;
use super::bend::Party;
use super::writes::Write;
use crate::flow::guards::{self, Guard};
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Shared;
use crate::program::{ExprRef, FileId, FuncRef};
use crate::syntax::ir::*;

/// A test, or a decorator, with what it asks; `true` where it asks that itself.
pub struct Reason {
    pub at: ExprRef,
    pub parties: Vec<(Party, bool)>,
}

/// A guard that only lets wrong input fail.
pub fn is_check(ir: &FileIr, guard: &Guard) -> bool {
    let Parent::Stmt(stmt) = ir.exprs[guard.test.index()].parent else { return false };
    match &ir.stmt(stmt).kind {
        Stmt::Assert { .. } => true,
        Stmt::If { arms, .. } if guard.early_exit => {
            let body = arms.iter().find(|(t, _)| *t == guard.test).map(|(_, b)| b);
            body.is_some_and(|b| b.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_))))
        }
        _ => false,
    }
}

/// The tests inside the value: `a if test else b`, or a local that got another constant under a test of its own.
pub fn in_value(shared: &Shared, write: &Write, around: &[Guard]) -> Vec<Reason> {
    let (file, ir) = (write.value.file, shared.ir(write.value.file));
    let tests: Vec<ExprId> = match ir.expr(write.value.expr) {
        Expr::IfExp { test, .. } => vec![*test],
        Expr::Name(_) => {
            let chosen = asks::local_targets(shared, write.value)
                .into_iter()
                .filter(|target| assigned_value(ir, *target).is_some_and(|value| asks::is_constant(ir, value)));
            let own = |target: ExprId| {
                let guards = guards::of_expr(ir, target);
                guards.into_iter().rev().find(|g| !g.early_exit && !around.contains(g)).map(|g| g.test)
            };
            chosen.filter_map(own).collect()
        }
        _ => Vec::new(),
    };
    let reasons = tests.into_iter().map(|test| asked(shared, write, ExprRef { file, expr: test }));
    reasons.filter(|r| !r.parties.is_empty()).collect()
}

fn asked(shared: &Shared, write: &Write, at: ExprRef) -> Reason {
    let mut parties = asks::asked(shared, at);
    parties.retain(|(p, _)| *p != write.bent);
    Reason { at, parties }
}

/// The nearest test that asks of others, and those further out while more than one outcome writes the same thing. Where
/// the value is `read` from somewhere only the innermost counts.
pub fn around(shared: &Shared, write: &Write, peers: &[Write], around: &[Guard], read: bool) -> Vec<Reason> {
    let (file, ir) = (write.at.file, shared.ir(write.at.file));
    let mut out: Vec<Reason> = Vec::new();
    let mut last: Option<StmtId> = None;
    for guard in around.iter().rev() {
        let stmt = ir.stmt_of(guard.test);
        // The failed tests of earlier arms of the same statement.
        if last.is_some() && last == stmt {
            continue;
        }
        if !guard.early_exit {
            last = stmt;
        }
        // What leaves early bears on all that follows; it is a reason only where no test stands around.
        if guard.early_exit && around.iter().any(|g| !g.early_exit && is_reason(shared, file, g, &write.bent)) {
            continue;
        }
        let reason = of_guard(shared, write, file, guard);
        let is_model_only = reason.parties.iter().all(|(p, _)| *p == Party::Model);
        if !reason.parties.is_empty() {
            out.push(reason);
        }
        if !is_model_only {
            if !guard.early_exit && stmt.is_some_and(|s| in_arms(shared, file, s, peers) > 1) {
                continue;
            }
            break;
        }
        if read {
            break;
        }
    }
    out
}

/// What a guard asks of others, apart from those that must be off or left out for it to hold.
fn of_guard(shared: &Shared, write: &Write, file: FileId, guard: &Guard) -> Reason {
    let mut reason = asked(shared, write, ExprRef { file, expr: guard.test });
    let asks_own = matches!(write.bent, Party::Field(own) if asks::asks_of(shared, file, guard, own));
    reason.parties.retain(|(party, _)| match party {
        Party::Field(f) if guard.early_exit || asks_own => !asks::asks_absent(shared, file, guard, *f),
        Party::Field(f) => !asks::asks_off(shared, file, guard, *f),
        _ => true,
    });
    reason
}

/// Does a test ask anything but of what is written?
fn is_reason(shared: &Shared, file: FileId, guard: &Guard, bent: &Party) -> bool {
    let asked = asks::asked(shared, ExprRef { file, expr: guard.test });
    !matches!(&asked[..], [(party, _)] if party == bent)
}

/// In how many arms of the statement does one of the writes stand?
fn in_arms(shared: &Shared, file: FileId, stmt: StmtId, writes: &[Write]) -> usize {
    let ir = shared.ir(file);
    let arms =
        writes.iter().filter(|w| w.at.file == file).filter_map(|w| match ir.stmt(ir.stmt_of(w.at.expr)?).parent {
            Some((up, arm)) if up == stmt => Some(arm),
            _ => None,
        });
    let mut arms: Vec<Arm> = arms.collect();
    arms.sort();
    arms.dedup();
    arms.len()
}

/// What is asked around the only calls that lead to the function around.
pub fn at_the_calls(shared: &Shared, write: &Write) -> Option<Reason> {
    const FAR: usize = 4;
    const MANY_FILES: usize = 6;
    let program = shared.program();
    let mut func = shared.processes.function_around(write.at)?;
    for _ in 0..FAR {
        let name = program.func(func).name;
        if name.starts_with("__") || program.files_with(name).len() > MANY_FILES {
            return None;
        }
        let mentions = shared.processes.ups(func, false);
        let [mention] = mentions[..] else { return None };
        let caller = shared.processes.function_around(mention)?;
        // Elsewhere a test decides whether work is done at all, not what the record holds.
        if !is_of_record(shared, caller) && !passes_record(shared, mention) {
            return None;
        }
        let guards = guards::of_expr(shared.ir(mention.file), mention.expr);
        let found = guards.iter().rev().filter(|g| !g.early_exit).find_map(|guard| {
            let mut reason = of_guard(shared, write, mention.file, guard);
            if reason.parties.len() > 1 {
                reason.parties.retain(|(_, direct)| *direct);
            }
            (!reason.parties.is_empty()).then_some(reason)
        });
        if found.is_some() {
            return found;
        }
        func = caller;
    }
    None
}

fn is_of_record(shared: &Shared, func: FuncRef) -> bool {
    shared.program().method_class(func).is_some_and(|c| shared.graph.is_record_class(c))
}

/// Is the record handed on where the function is called, or given to what calls it?
fn passes_record(shared: &Shared, mention: ExprRef) -> bool {
    let ir = shared.ir(mention.file);
    let call = match (ir.expr(mention.expr), ir.exprs[mention.expr.index()].parent) {
        (Expr::Call { .. }, _) => mention.expr,
        (_, Parent::Expr(up)) => up,
        _ => return false,
    };
    let Expr::Call { args, .. } = ir.expr(call) else { return false };
    let types = |a: &Arg| shared.graph.types.of(ExprRef { file: mention.file, expr: a.value });
    args.iter().any(|a| shared.graph.is_record(&types(a)).is_some())
}

/// The decorator that registers the function around for some models, or the key of the model's entry in a table.
pub fn model(shared: &Shared, write: &Write) -> Option<ExprRef> {
    let program = shared.program();
    match shared.processes.function_around(write.at) {
        Some(func) => {
            let providers = program.profile.resolution.providers.iter().map(String::as_str);
            program.decorator(func, &providers.collect::<Vec<_>>())
        }
        None => model_of_table(shared, write),
    }
}

/// `table = {"Model": {"field": value}}`: the outer key.
fn model_of_table(shared: &Shared, write: &Write) -> Option<ExprRef> {
    let ir = shared.ir(write.at.file);
    let Parent::Expr(entry) = ir.exprs[write.at.expr.index()].parent else { return None };
    let Parent::Expr(table) = ir.exprs[entry.index()].parent else { return None };
    let Expr::Dict(items) = ir.expr(table) else { return None };
    let (key, _) = items.iter().find(|(_, v)| *v == entry)?;
    key.map(|expr| ExprRef { file: write.at.file, expr })
}
