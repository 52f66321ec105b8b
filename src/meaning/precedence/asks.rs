//! What a test asks: which fields, variables and models it looks at, and whether it asks that a value was given.

use super::bend::Party;
use crate::flow::guards::Guard;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::Shared;
use crate::program::resolve::Binding;
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

/// What a test looks at, with whether it does so itself; else what the locals in it were computed from.
pub fn asked(shared: &Shared, test: ExprRef) -> Vec<(Party, bool)> {
    let mut out = Vec::new();
    looked_at(shared, test, &mut out);
    if out.is_empty() {
        through_locals(shared, test, &mut out);
    }
    out.sort_by(|a, b| (&a.0, !a.1).cmp(&(&b.0, !b.1)));
    out.dedup_by(|a, b| a.0 == b.0);
    out
}

/// Is this expression the field itself, or a name just given to it?
pub fn is_field(shared: &Shared, at: ExprRef, field: Sym) -> bool {
    if shared.origins.direct(at) == Some(field) || operators_own(shared, at) == Some(field) {
        return true;
    }
    match shared.ir(at.file).expr(at.expr) {
        Expr::Walrus { value, .. } => is_field(shared, ExprRef { file: at.file, expr: *value }, field),
        Expr::Name(_) => {
            let values = local_values(shared, at);
            !values.is_empty() && values.iter().all(|v| [shared.origins.direct(*v), operators_own(shared, *v)].contains(&Some(field)))
        }
        _ => false,
    }
}

/// The field whose value, as the operator gave it, is looked up: `record.raw.get("field")`.
fn operators_own(shared: &Shared, at: ExprRef) -> Option<Sym> {
    let ir = shared.ir(at.file);
    let raw = &shared.program().profile.resolution.raw_input;
    let Expr::Call { func, args } = ir.expr(at.expr) else { return None };
    let Expr::Attr { base, attr, .. } = ir.expr(*func) else { return None };
    let text = shared.text(ExprRef { file: at.file, expr: *base });
    let is_raw = attr == "get" && raw.iter().any(|name| text.contains(name.as_str()));
    ir.str_value(args.first()?.value).filter(|_| is_raw)
}

/// `x`, `x is not None`, `x > 0`: the thing asked about, and whether it was given if the test holds.
pub fn presence(ir: &FileIr, test: ExprId) -> Option<(ExprId, bool)> {
    match ir.expr(test) {
        Expr::Name(_) | Expr::Attr { .. } | Expr::Walrus { .. } => Some((test, true)),
        Expr::Call { func, .. } if last_name(ir, *func).is_some_and(|n| n == "getattr") => Some((test, true)),
        Expr::Call { .. } if env_read(ir, test).is_some() => Some((test, true)),
        Expr::Unary { op: UnaryOp::Not, operand } => presence(ir, *operand).map(|(e, given)| (e, !given)),
        Expr::Compare { rest, .. } if env_read(ir, test).is_some() => match rest[..] {
            [(op, _)] => Some((test, op == CmpOp::In)),
            _ => None,
        },
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
    let mut parts = Vec::new();
    conjuncts(shared.ir(file), guard.test, guard.holds, &mut parts);
    let switch = shared.definitions.by_name(field).and_then(|d| d.definition.type_.as_deref());
    switch.is_some_and(|t| t.contains("bool")) && any_asks_absent(shared, file, &parts, field)
}

/// Does a part of the guard, whatever the others say, ask that the field is off or left out?
pub fn asks_absent(shared: &Shared, file: FileId, guard: &Guard, field: Sym) -> bool {
    let mut parts = Vec::new();
    atoms(shared.ir(file), guard.test, guard.holds, &mut parts);
    any_asks_absent(shared, file, &parts, field)
}

fn any_asks_absent(shared: &Shared, file: FileId, parts: &[(ExprId, bool)], field: Sym) -> bool {
    parts.iter().any(|(e, holds)| {
        presence(shared.ir(file), *e).is_some_and(|(subject, given)| {
            given != *holds && is_field(shared, ExprRef { file, expr: subject }, field)
        })
    })
}

/// The parts of a test that no `and`, `or` and `not` join, each with the outcome that speaks for the whole.
fn atoms(ir: &FileIr, test: ExprId, holds: bool, out: &mut Vec<(ExprId, bool)>) {
    match ir.expr(test) {
        Expr::Bool { left, right, .. } => {
            atoms(ir, *left, holds, out);
            atoms(ir, *right, holds, out);
        }
        Expr::Unary { op: UnaryOp::Not, operand } => atoms(ir, *operand, !holds, out),
        _ => out.push((test, holds)),
    }
}

/// Something that can be left unset: how to know it when it is asked about, and what it is then.
pub struct Settable<'a> {
    pub is_it: &'a dyn Fn(ExprRef) -> bool,
    /// The declared default, if there is one.
    pub default: Option<&'a str>,
}

/// Does one of the guards ask that the field was not given?
pub fn asks_unset(shared: &Shared, file: FileId, guards: &[Guard], field: Sym) -> bool {
    let default = shared.definitions.by_name(field).and_then(|d| d.definition.default.as_deref());
    let is_it = |at: ExprRef| is_field(shared, at, field);
    asks_not_given(shared, file, guards, &Settable { is_it: &is_it, default })
}

/// Does one of the guards ask that a thing was not given?
pub fn asks_not_given(shared: &Shared, file: FileId, guards: &[Guard], thing: &Settable) -> bool {
    let ir = shared.ir(file);
    let mut parts = Vec::new();
    for guard in guards {
        conjuncts(ir, guard.test, guard.holds, &mut parts);
    }
    parts.iter().any(|(e, holds)| says_unset(shared, ExprRef { file, expr: *e }, *holds, thing, true))
}

/// Words that stand for "choose for me".
const CHOOSE: [&str; 4] = ["auto", "default", "none", ""];

fn says_unset(shared: &Shared, test: ExprRef, holds: bool, thing: &Settable, enter: bool) -> bool {
    let ir = shared.ir(test.file);
    let here = |expr| ExprRef { file: test.file, expr };
    if let Some((subject, given)) = presence(ir, test.expr) {
        let by_none = matches!(ir.expr(test.expr), Expr::Compare { rest, .. } if rest.iter().any(|(_, e)| matches!(ir.expr(*e), Expr::None)));
        let empty = thing.default.is_none_or(stands_for_unset);
        if given != holds && (by_none || empty) && (thing.is_it)(here(subject)) {
            return true;
        }
        // `was_left_out = x is None`, asked later.
        let known = local_values(shared, test);
        return match known[..] {
            [value] if enter => says_unset(shared, value, holds, thing, false),
            _ => false,
        };
    }
    let Expr::Compare { left, rest } = ir.expr(test.expr) else { return false };
    let [(op, right)] = rest[..] else { return false };
    if !(thing.is_it)(here(*left)) {
        return false;
    }
    let word = |e: ExprId| match ir.expr(e) {
        Expr::Str(s) => {
            let default = thing.default.map(|d| d.trim_matches(['"', '\'']));
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

/// What the expression is, itself: a field, a variable, or what tells the model.
fn party(shared: &Shared, at: ExprRef) -> Option<Party> {
    if let Some(field) = shared.origins.direct(at) {
        return Some(Party::Field(field));
    }
    let ir = shared.ir(at.file);
    match ir.expr(at.expr) {
        Expr::Attr { attr, .. } if shared.program().profile.tells_the_model(attr) => Some(Party::Model),
        _ => env_read(ir, at.expr).map(Party::Env),
    }
}

fn looked_at(shared: &Shared, at: ExprRef, out: &mut Vec<(Party, bool)>) {
    if let Some(party) = party(shared, at) {
        out.push((party, true));
        return;
    }
    let ir = shared.ir(at.file);
    if let Expr::Name(_) = ir.expr(at.expr) {
        // Names that stand for a party and nothing else.
        let values: Vec<_> = local_values(shared, at).into_iter().map(|v| party(shared, v)).collect();
        let all = values.iter().all(Option::is_some);
        out.extend(values.into_iter().flatten().map(|p| (p, all)));
        return;
    }
    for child in ir.children(at.expr) {
        looked_at(shared, ExprRef { file: at.file, expr: child }, out);
    }
}

/// `environ["NAME"]`, `"NAME" in environ`, `getenv("NAME")`, `declared.NAME.get()`, `declared.NAME.is_set()`.
pub fn env_read(ir: &FileIr, at: ExprId) -> Option<Sym> {
    let named = |e: ExprId| ir.str_value(e).filter(|s| is_env_name(s));
    match ir.expr(at) {
        Expr::Call { func, args } => match (ir.expr(*func), args.first()) {
            (Expr::Attr { base, attr, .. }, None) if matches!(attr.as_str(), "get" | "is_set") => {
                last_name(ir, *base).filter(|n| is_env_name(n) && matches!(ir.expr(*base), Expr::Attr { .. }))
            }
            (_, Some(first)) if last_name(ir, *func).is_some_and(|n| n.contains("env") || n == "get") => {
                named(first.value)
            }
            _ => None,
        },
        Expr::Subscript { base, index } if is_environ(ir, *base) => named(*index),
        Expr::Compare { left, rest } => match rest[..] {
            [(CmpOp::In | CmpOp::NotIn, right)] if is_environ(ir, right) => named(*left),
            _ => None,
        },
        _ => None,
    }
}

pub fn is_environ(ir: &FileIr, at: ExprId) -> bool {
    last_name(ir, at).is_some_and(|n| n == "environ")
}

pub fn is_env_name(name: &str) -> bool {
    name.contains('_') && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// A constant, by value or by name.
pub fn is_constant(ir: &FileIr, at: ExprId) -> bool {
    match ir.expr(at) {
        Expr::Int(_) | Expr::Float(_) | Expr::Str(_) | Expr::True | Expr::False | Expr::None => true,
        Expr::Attr { attr, .. } => attr.chars().all(|c| c.is_ascii_uppercase() || c == '_'),
        _ => false,
    }
}

fn through_locals(shared: &Shared, at: ExprRef, out: &mut Vec<(Party, bool)>) {
    let ir = shared.ir(at.file);
    match ir.expr(at.expr) {
        Expr::Name(_) => {
            let mut found = Vec::new();
            for value in local_values(shared, at) {
                plain_reads(shared, value, &mut found);
            }
            out.extend(found.into_iter().map(|f| (f, false)));
        }
        Expr::Attr { .. } => {}
        Expr::Call { func, args } => {
            for child in std::iter::once(*func).chain(args.iter().map(|a| a.value)) {
                through_locals(shared, ExprRef { file: at.file, expr: child }, out);
            }
            answered(shared, at, args, out);
        }
        _ => {
            for child in ir.children(at.expr) {
                through_locals(shared, ExprRef { file: at.file, expr: child }, out);
            }
        }
    }
}

/// A question that the record answers about itself, or that a small function answers about the record it is given.
fn answered(shared: &Shared, at: ExprRef, args: &[Arg], out: &mut Vec<(Party, bool)>) {
    let program = shared.program();
    let Some((callee, None, _)) = shared.graph.types.callees(at).first().copied() else { return };
    let is_record =
        |a: &Arg| shared.graph.is_record(&shared.graph.types.of(ExprRef { file: at.file, expr: a.value })).is_some();
    let of_record = match program.method_class(callee) {
        Some(class) => shared.graph.is_record_class(class),
        None => args.iter().any(is_record),
    };
    if let ([value], true) = (program.returns(callee), of_record) {
        let mut found = Vec::new();
        plain_reads(shared, ExprRef { file: callee.file, expr: *value }, &mut found);
        out.extend(found.into_iter().map(|f| (f, false)));
    }
}

/// What stands in the expression outside the arguments of calls, and the field that a call makes something of: `f(field)`.
fn plain_reads(shared: &Shared, at: ExprRef, out: &mut Vec<Party>) {
    if let Some(party) = party(shared, at) {
        out.push(party);
        return;
    }
    let ir = shared.ir(at.file);
    match ir.expr(at.expr) {
        Expr::Call { args, .. } => {
            if let [only] = &args[..] {
                let field = shared.origins.direct(ExprRef { file: at.file, expr: only.value });
                out.extend(field.map(Party::Field));
            }
        }
        Expr::Attr { .. } | Expr::Lambda(_) => {}
        _ => {
            for child in ir.children(at.expr) {
                plain_reads(shared, ExprRef { file: at.file, expr: child }, out);
            }
        }
    }
}

/// What was assigned to a local name, where it can be told.
pub fn local_values(shared: &Shared, at: ExprRef) -> Vec<ExprRef> {
    let ir = shared.ir(at.file);
    let values = local_targets(shared, at).into_iter().filter_map(|target| assigned_value(ir, target));
    values.map(|expr| ExprRef { file: at.file, expr }).collect()
}

/// The assignments that a use of a local name may see; none where they are many.
pub fn local_targets(shared: &Shared, at: ExprRef) -> Vec<ExprId> {
    const MANY: usize = 4;
    let program = shared.program();
    if !matches!(shared.ir(at.file).expr(at.expr), Expr::Name(_)) {
        return Vec::new();
    }
    let Binding::Local(scope, defs) = program.binding(at) else { return Vec::new() };
    if defs.len() > MANY {
        return Vec::new();
    }
    let defuse = program.defuse(at.file, scope);
    let sites = defs.iter().filter_map(|d| defuse.defs.get(d.0 as usize));
    sites
        .filter_map(|d| match d.site {
            DefSite::Target(target) => Some(target),
            _ => None,
        })
        .collect()
}
