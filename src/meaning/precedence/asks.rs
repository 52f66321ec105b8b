//! What a test asks: which fields and variables it looks at, and whether it asks that a value was given.

use super::bend::Other;
use crate::flow::guards::Guard;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Shared;
use crate::program::resolve::Binding;
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

/// The fields and variables that a test looks at, with whether it does so itself; else those that the locals in it were
/// computed from.
pub fn asked(shared: &Shared, test: ExprRef) -> Vec<(Other, bool)> {
    let mut out = Vec::new();
    looked_at(shared, test, &mut out);
    if out.is_empty() {
        through_locals(shared, test, &mut out);
    }
    out.sort();
    out.dedup_by(|a, b| a.0 == b.0);
    out
}

/// Is this expression the field itself, or a name just given to it?
pub fn is_field(shared: &Shared, at: ExprRef, field: Sym) -> bool {
    if shared.origins.direct(at) == Some(field) {
        return true;
    }
    match shared.ir(at.file).expr(at.expr) {
        Expr::Walrus { value, .. } => is_field(shared, ExprRef { file: at.file, expr: *value }, field),
        Expr::Name(_) => {
            local_values(shared, at).as_slice().iter().all(|v| shared.origins.direct(*v) == Some(field))
                && !local_values(shared, at).is_empty()
        }
        _ => false,
    }
}

/// `x`, `x is not None`, `x > 0`: the thing asked about, and whether it was given if the test holds.
pub fn presence(ir: &FileIr, test: ExprId) -> Option<(ExprId, bool)> {
    match ir.expr(test) {
        Expr::Name(_) | Expr::Attr { .. } | Expr::Walrus { .. } => Some((test, true)),
        Expr::Call { func, .. } if last_name(ir, *func).is_some_and(|n| n == "getattr") => Some((test, true)),
        Expr::Unary { op: UnaryOp::Not, operand } => presence(ir, *operand).map(|(e, given)| (e, !given)),
        Expr::Compare { left, rest } => match rest[..] {
            [(op, right)] => given_by_comparison(ir, op, right).map(|given| (*left, given)),
            _ => None,
        },
        _ => None,
    }
}

/// Comparisons with what stands for "not given": None, zero, a negative number, the empty string.
fn given_by_comparison(ir: &FileIr, op: CmpOp, right: ExprId) -> Option<bool> {
    let zero = |e: &Expr| matches!(e, Expr::Int(0)) || matches!(e, Expr::Float(f) if *f == 0.0);
    let right = ir.expr(right);
    match op {
        CmpOp::Is | CmpOp::Eq if matches!(right, Expr::None) || zero(right) || is_negative(ir, right) => Some(false),
        CmpOp::IsNot | CmpOp::Ne if matches!(right, Expr::None) || zero(right) || is_negative(ir, right) => Some(true),
        CmpOp::Eq if matches!(right, Expr::Str(s) if s.is_empty()) => Some(false),
        CmpOp::Ne if matches!(right, Expr::Str(s) if s.is_empty()) => Some(true),
        CmpOp::Gt if zero(right) => Some(true),
        CmpOp::Ge if matches!(right, Expr::Int(1)) => Some(true),
        CmpOp::Le if zero(right) => Some(false),
        CmpOp::Lt if matches!(right, Expr::Int(1)) || zero(right) => Some(false),
        _ => None,
    }
}

fn is_negative(ir: &FileIr, e: &Expr) -> bool {
    matches!(e, Expr::Unary { op: UnaryOp::Neg, operand } if matches!(ir.expr(*operand), Expr::Int(_)))
}

/// Does the guard ask that a switch is off? Then it is not the switch that brings about what follows.
pub fn asks_off(shared: &Shared, file: FileId, guard: &Guard, field: Sym) -> bool {
    let ir = shared.ir(file);
    let mut parts = Vec::new();
    conjuncts(ir, guard.test, guard.holds, &mut parts);
    let switch = shared.definitions.by_name(field).and_then(|d| d.definition.type_.as_deref());
    switch.is_some_and(|t| t.contains("bool"))
        && parts.iter().any(|(e, holds)| {
            presence(ir, *e).is_some_and(|(subject, given)| {
                given != *holds && shared.origins.direct(ExprRef { file, expr: subject }) == Some(field)
            })
        })
}

/// Does one of the guards ask that the field was not given?
pub fn asks_unset(shared: &Shared, file: FileId, guards: &[Guard], field: Sym) -> bool {
    let ir = shared.ir(file);
    let mut parts = Vec::new();
    for guard in guards {
        conjuncts(ir, guard.test, guard.holds, &mut parts);
    }
    parts.iter().any(|(e, holds)| says_unset(shared, file, *e, *holds, field))
}

/// Words that stand for "choose for me".
const CHOOSE: [&str; 4] = ["auto", "default", "none", ""];

fn says_unset(shared: &Shared, file: FileId, test: ExprId, holds: bool, field: Sym) -> bool {
    let ir = shared.ir(file);
    let here = |expr| ExprRef { file, expr };
    let default = shared.definitions.by_name(field).and_then(|d| d.definition.default.clone());
    if let Some((subject, given)) = presence(ir, test) {
        let by_none = matches!(ir.expr(test), Expr::Compare { rest, .. } if rest.iter().any(|(_, e)| matches!(ir.expr(*e), Expr::None)));
        let empty = default.as_deref().is_none_or(stands_for_unset);
        return given != holds && (by_none || empty) && is_field(shared, here(subject), field);
    }
    let Expr::Compare { left, rest } = ir.expr(test) else { return false };
    let [(op, right)] = rest[..] else { return false };
    if !is_field(shared, here(*left), field) {
        return false;
    }
    let word = |e: ExprId| match ir.expr(e) {
        Expr::Str(s) => {
            let default = default.as_deref().map(|d| d.trim_matches(['"', '\'']));
            CHOOSE.contains(&s.as_str()) && default == Some(s.as_str())
        }
        Expr::None => true,
        _ => false,
    };
    match op {
        CmpOp::Eq => holds && word(right),
        CmpOp::Ne => !holds && word(right),
        CmpOp::In => holds && ir.children(right).into_iter().any(word),
        CmpOp::NotIn => !holds && ir.children(right).into_iter().any(word),
        _ => false,
    }
}

/// Is the declared default one that no operator would give?
fn stands_for_unset(default: &str) -> bool {
    matches!(default, "None" | "False" | "0" | "0.0" | "[]" | "{}") || default.starts_with('-') || {
        let word = default.trim_matches(['"', '\'']);
        word.len() != default.len() && CHOOSE.contains(&word)
    }
}

/// The parts that must all have the outcome said.
pub fn conjuncts(ir: &FileIr, test: ExprId, holds: bool, out: &mut Vec<(ExprId, bool)>) {
    match ir.expr(test) {
        Expr::Bool { and, left, right } if *and == holds => {
            conjuncts(ir, *left, holds, out);
            conjuncts(ir, *right, holds, out);
        }
        Expr::Unary { op: UnaryOp::Not, operand } if matches!(ir.expr(*operand), Expr::Bool { .. }) => {
            conjuncts(ir, *operand, !holds, out);
        }
        _ => out.push((test, holds)),
    }
}

fn looked_at(shared: &Shared, at: ExprRef, out: &mut Vec<(Other, bool)>) {
    if let Some(field) = shared.origins.direct(at) {
        out.push((Other::Field(field), true));
        return;
    }
    if let Some(name) = env_read(shared.ir(at.file), at.expr) {
        out.push((Other::Env(name), true));
        return;
    }
    for child in shared.ir(at.file).children(at.expr) {
        looked_at(shared, ExprRef { file: at.file, expr: child }, out);
    }
}

/// `environ["NAME"]`, `getenv("NAME")`, `declared.NAME.get()`.
pub fn env_read(ir: &FileIr, at: ExprId) -> Option<Sym> {
    let named = |e: ExprId| ir.str_value(e).filter(|s| is_env_name(s));
    match ir.expr(at) {
        Expr::Call { func, args } => match (ir.expr(*func), args.first()) {
            (Expr::Attr { base, attr, .. }, None) if *attr == "get" => match ir.expr(*base) {
                Expr::Attr { attr, .. } if is_env_name(attr) => Some(*attr),
                _ => None,
            },
            (_, Some(first)) if last_name(ir, *func).is_some_and(|n| n.contains("env") || n == "get") => {
                named(first.value)
            }
            _ => None,
        },
        Expr::Subscript { base, index } if last_name(ir, *base).is_some_and(|n| n == "environ") => named(*index),
        _ => None,
    }
}

fn is_env_name(name: &str) -> bool {
    name.contains('_') && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn through_locals(shared: &Shared, at: ExprRef, out: &mut Vec<(Other, bool)>) {
    let ir = shared.ir(at.file);
    match ir.expr(at.expr) {
        Expr::Name(_) => {
            for value in local_values(shared, at) {
                let mut found = Vec::new();
                plain_reads(shared, value, &mut found);
                out.extend(found.into_iter().map(|f| (Other::Field(f), false)));
            }
        }
        Expr::Attr { .. } => {}
        Expr::Call { func, args } => {
            for child in std::iter::once(*func).chain(args.iter().map(|a| a.value)) {
                through_locals(shared, ExprRef { file: at.file, expr: child }, out);
            }
            // A question that the record answers about itself.
            for (callee, class, _) in shared.graph.types.callees(at).iter().take(1) {
                let program = shared.program();
                let of_record = program.method_class(*callee).is_some_and(|c| shared.graph.is_record_class(c));
                let returns = program.returns(*callee);
                if of_record && class.is_none() && returns.len() == 1 {
                    let mut found = Vec::new();
                    for value in returns {
                        plain_reads(shared, ExprRef { file: callee.file, expr: *value }, &mut found);
                    }
                    out.extend(found.into_iter().map(|f| (Other::Field(f), false)));
                }
            }
        }
        _ => {
            for child in ir.children(at.expr) {
                through_locals(shared, ExprRef { file: at.file, expr: child }, out);
            }
        }
    }
}

/// Reads of fields that stand in the expression outside the arguments of calls.
fn plain_reads(shared: &Shared, at: ExprRef, out: &mut Vec<Sym>) {
    if let Some(field) = shared.origins.direct(at) {
        out.push(field);
        return;
    }
    let ir = shared.ir(at.file);
    match ir.expr(at.expr) {
        Expr::Call { .. } | Expr::Attr { .. } | Expr::Lambda(_) => {}
        _ => {
            for child in ir.children(at.expr) {
                plain_reads(shared, ExprRef { file: at.file, expr: child }, out);
            }
        }
    }
}

/// What was assigned to a local name, where it can be told.
fn local_values(shared: &Shared, at: ExprRef) -> Vec<ExprRef> {
    const MANY: usize = 4;
    let program = shared.program();
    let Binding::Local(scope, defs) = program.binding(at) else { return Vec::new() };
    if defs.len() > MANY {
        return Vec::new();
    }
    let defuse = program.defuse(at.file, scope);
    let sites = defs.iter().filter_map(|d| defuse.defs.get(d.0 as usize));
    sites
        .filter_map(|d| match d.site {
            DefSite::Target(target) => assigned_value(shared.ir(at.file), target),
            _ => None,
        })
        .map(|expr| ExprRef { file: at.file, expr })
        .collect()
}
