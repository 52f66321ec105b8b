//! What the record's own resolution does to the values that were given, and which of its checks they fail.

use super::parsing::said;
use super::{on_fields, on_set};
use crate::launch::audit::{Case, Set};
use crate::launch::document::{Finding, Level};
use crate::launch::evaluate::value::{Abs, Truth, Value};
use crate::launch::evaluate::{Check, CheckKind, Write};
use crate::program::{ExprRef, last_name};
use crate::syntax::ir::*;

pub fn find(case: &mut Case<'_>, sets: &[Set]) {
    for set in sets {
        if let Some(found) = rewritten(case, set) {
            case.findings.push(found);
        }
    }
    let checks = case.resolved.checks.clone();
    for check in checks.iter().skip(case.resolved.checks_before_parsing) {
        if let Some(found) = violated(case, sets, check) {
            case.findings.push(found);
        }
    }
}

/// A given value that is another one at the end.
fn rewritten(case: &mut Case<'_>, set: &Set) -> Option<Finding> {
    let value = case.resolved.effective(set.field);
    let machine = &mut case.resolved.machine;
    let same = machine.apply_compare(CmpOp::Eq, &set.given, &value);
    if set.used.failed || same == Truth::Yes || is_only_reshaped(case, &set.given, &value) {
        return None;
    }
    let writes: Vec<Write> = case.resolved.writes.iter().filter(|w| w.field == set.field).cloned().collect();
    let (effective, when) = case.shown(&value);
    let given = shown_given(case, set);
    if same == Truth::No && when.is_none() {
        // The write that brought the final value; of several the last. Where each way leads to that value, none of the
        // writes need be sure.
        let last = |fits: &dyn Fn(&Write) -> bool| writes.iter().rev().find(|w| fits(w));
        let brings = |w: &Write| case.shown(&w.after).0 == effective;
        let sure = |w: &Write| w.doubts.is_empty();
        let write = last(&|w| sure(w) && brings(w)).or(last(&sure)).or(last(&brings))?;
        let divided = divides(case, write, set.field);
        let code = if divided { "divided" } else { "rewritten" };
        let verb = if divided { "divided" } else { "replaced" };
        let because = reasons(case, write, set.field);
        let message = format!("{} {given} is {verb}: {effective} takes its place{because}", set.used.flag);
        let fields = asked(set, write);
        return Some(Finding { effective, fields, ..on_set(code, set, message) }.at(case.place(write.place)));
    }
    // Of a value that only the machine knows this much is told already.
    case.shown(&set.given).1.is_none().then_some(())?;
    // It may be replaced: told where a write may happen, and the value may be another.
    let write = writes.iter().rev().find(|w| changes(case, w, &set.given))?;
    let doubts = if write.doubts.is_empty() { write.after.reasons() } else { write.doubts.clone() };
    let when = case.hangs_on(&doubts);
    let code = if divides(case, write, set.field) { "divided" } else { "rewritten" };
    let message = format!("{} {given} may be replaced", set.used.flag);
    let fields = asked(set, write);
    let found = Finding { when: Some(when), fields, ..on_set(code, set, message) };
    Some(found.level(Level::Note).at(case.place(write.place)))
}

/// Does a write leave anything but the given value?
fn changes(case: &mut Case<'_>, write: &Write, given: &Abs) -> bool {
    case.resolved.machine.apply_compare(CmpOp::Eq, given, &write.after) != Truth::Yes
        && !is_only_reshaped(case, given, &write.after)
}

/// The same content in another shape: a text that was parsed, a list of objects made of a list of texts.
fn is_only_reshaped(case: &mut Case<'_>, given: &Abs, value: &Abs) -> bool {
    let machine = &case.resolved.machine;
    let plain =
        |v: &Abs| matches!(v, Abs::Is(Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_)));
    let (before, after) = (machine.to_json(given), machine.to_json(value));
    match (&before, &after) {
        (Some(serde_json::Value::String(text)), Some(after)) if !plain(value) => {
            serde_json::from_str::<serde_json::Value>(text).is_ok_and(|parsed| parsed == *after)
                || value.object().is_some() && !after.is_array()
        }
        // An object of its own kind stands for what was given.
        (Some(serde_json::Value::Array(_) | serde_json::Value::Object(_) | serde_json::Value::String(_)), None) => {
            value.object().is_some()
        }
        (Some(serde_json::Value::Array(a)), Some(serde_json::Value::Object(b))) => a.len() == b.len(),
        (Some(serde_json::Value::Array(a)), Some(serde_json::Value::Array(b))) => {
            a == b
                || a.len() == b.len() && b.iter().all(|item| item.is_object()) && !a.iter().all(|item| item.is_object())
        }
        _ => false,
    }
}

fn shown_given(case: &Case<'_>, set: &Set) -> String {
    match case.shown(&set.given) {
        (serde_json::Value::Bool(true), _) if set.used.values.is_empty() => String::new(),
        (value, None) => value.to_string(),
        (_, Some(_)) => set.used.values.iter().map(|v| v.shown()).collect::<Vec<_>>().join(" "),
    }
}

/// `field = field // other`, `field //= other`
fn divides(case: &Case<'_>, write: &Write, field: Sym) -> bool {
    let Some(code) = write.code else { return false };
    let ir = case.program.ir(code.file);
    let is_division = |op: &BinOp| matches!(op, BinOp::Div | BinOp::FloorDiv);
    match ir.exprs.get(code.expr.index()).map(|n| n.parent) {
        Some(Parent::Stmt(stmt)) if matches!(&ir.stmt(stmt).kind, Stmt::AugAssign { op, .. } if is_division(op)) => {
            true
        }
        _ => quotient(case, code, field, 0),
    }
}

/// Is an expression the field divided, through `int(…)`, `max(1, …)` and the like?
fn quotient(case: &Case<'_>, at: ExprRef, field: Sym, depth: u32) -> bool {
    let ir = case.program.ir(at.file);
    match ir.expr(at.expr) {
        Expr::Bin { op: BinOp::Div | BinOp::FloorDiv, left, .. } => last_name(ir, *left) == Some(field),
        Expr::Call { func, args } if depth < 3 => {
            let keeps =
                last_name(ir, *func).is_some_and(|n| matches!(n.as_str(), "int" | "max" | "min" | "round" | "ceil"));
            keeps && args.iter().any(|a| quotient(case, ExprRef { file: at.file, expr: a.value }, field, depth + 1))
        }
        _ => false,
    }
}

/// What the tests around a write ask.
fn reasons(case: &mut Case<'_>, write: &Write, field: Sym) -> String {
    let mut asked: Vec<Sym> = write.asked.iter().copied().filter(|f| *f != field).collect();
    asked.truncate(3);
    let shown: Vec<String> = asked
        .into_iter()
        .filter_map(|f| match case.effective(f) {
            (value, None) => Some(format!("{f} is {value}")),
            _ => None,
        })
        .collect();
    if shown.is_empty() { String::new() } else { format!(", because {}", shown.join(" and ")) }
}

fn asked(set: &Set, write: &Write) -> Vec<String> {
    let others = write.asked.iter().filter(|f| **f != set.field);
    std::iter::once(set.field.to_string()).chain(others.map(|f| f.to_string())).collect()
}

/// A check that the values fail; one that may fail only if it is asked for, and about something that was given.
fn violated(case: &mut Case<'_>, sets: &[Set], check: &Check) -> Option<Finding> {
    let sure = check.doubts.is_empty();
    let concerns = check.asked.iter().any(|f| sets.iter().any(|s| s.field == *f));
    if !sure && (!case.question.all || !concerns) {
        return None;
    }
    let what = match check.kind {
        CheckKind::Assert => "an assertion fails",
        CheckKind::Raise => "an error is raised",
        CheckKind::Exit => "the launch is ended",
    };
    let values = values_of(case, &check.asked);
    let text = match &check.message {
        Some(_) => said(check),
        None => format!("{what}: {}", case.program.line(check.place.0, check.place.1.line)),
    };
    let message = if values.is_empty() { text } else { format!("{text} ({values})") };
    let mut found = on_fields("constraint-violated", sets, &check.asked, message);
    if let Some(field) = found.field.clone() {
        (found.effective, _) = case.effective(Sym::from(&field));
    }
    if !sure {
        found.when = Some(case.hangs_on(&check.doubts));
        found.level = Level::Note;
    }
    Some(found.at(case.place(check.place)))
}

/// The values that a check asks, for the message.
fn values_of(case: &mut Case<'_>, fields: &[Sym]) -> String {
    const MAX_SHOWN: usize = 4;
    let known = fields.iter().take(MAX_SHOWN).filter_map(|f| match case.effective(*f) {
        (value, None) if !value.is_array() && !value.is_object() => Some(format!("{f} is {value}")),
        _ => None,
    });
    known.collect::<Vec<_>>().join(", ")
}
