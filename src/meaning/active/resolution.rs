//! What the record's own resolution settles before anything else runs.
//!
//! A field that the record fills whenever it is left out is never None afterwards. Of two fields that the record refuses
//! together, one settles the other: that is a constraint, and no condition on top.

use super::super::facts::Facts;
use super::condition::{All, Condition, Conditions, Ways};
use crate::program::*;
use crate::syntax::ir::*;
use std::collections::BTreeSet;

/// The ways without the conditions that always hold once the record has been made.
pub fn settled(facts: &Facts, conditions: &Conditions, ways: &Ways) -> Ways {
    let all = || ways.iter().flat_map(All::iter);
    let mut out = ways.edited(|way| *way = way.without_implied());
    if all().any(is_either) {
        let refused = refused(facts, conditions);
        out = out.edited(|way| {
            let whole = way.clone();
            way.retain(|c| !is_either(c) || !refused.iter().any(|r| excludes(r, c, &whole)));
        });
    }
    if all().any(|c| asks_none(c).is_some() || is_either(c)) {
        let filled = filled(facts, conditions);
        out = out.edited(|way| {
            for condition in way.clone().iter() {
                way.replace(condition, without_absent(condition, &filled));
            }
        });
    }
    out
}

fn is_either(condition: &Condition) -> bool {
    condition.against.len() > 1
}

/// The field of `field is None`, `field is not None`.
fn asks_none(condition: &Condition) -> Option<(Sym, bool)> {
    let field = *condition.fields.first()?;
    let rest = condition.text.strip_prefix(field.as_str())?;
    match rest {
        " is None" => Some((field, true)),
        " is not None" => Some((field, false)),
        _ => None,
    }
}

/// The condition, or what is left of it, if these fields are never None.
fn without_absent(condition: &Condition, filled: &BTreeSet<Sym>) -> Option<Condition> {
    if asks_none(condition).is_some_and(|(field, none)| !none && filled.contains(&field)) {
        return None;
    }
    let mut out = condition.clone();
    for field in filled.iter().filter(|f| condition.fields.contains(f)) {
        let absent = format!("{field} is None");
        let arms: Vec<&str> = out.text.split(" or ").filter(|arm| *arm != absent).collect();
        if is_either(&out) && !arms.is_empty() && arms.len() < out.text.split(" or ").count() {
            out.text = arms.join(" or ");
            out.fields.remove(field);
            out.against.retain(|a| *a != format!("{field} is not None"));
            out.direct = false;
        }
    }
    Some(out)
}

/// Is a condition true because the record refuses its opposite together with the rest of the way?
fn excludes(refused: &All, condition: &Condition, way: &All) -> bool {
    let mut opposite = refused.iter().filter(|r| !way.holds(&r.text));
    let only = opposite.next().is_some_and(|r| condition.against.contains(&r.text));
    only && opposite.next().is_none()
}

/// Fields that the record fills whenever they are None.
fn filled(facts: &Facts, conditions: &Conditions) -> BTreeSet<Sym> {
    let shared = facts.shared;
    let mut out = BTreeSet::new();
    for file in record_files(facts) {
        let ir = shared.ir(file);
        for stmt in &ir.stmts {
            let Stmt::Assign { targets, value } = &stmt.kind else { continue };
            let ([target], false) = (&targets[..], matches!(ir.expr(*value), Expr::None)) else { continue };
            if stmt.parent.is_none() || !matches!(ir.expr(*target), Expr::Attr { .. }) {
                continue;
            }
            let target = ExprRef { file, expr: *target };
            let Some(field) = shared.origins.direct(target) else { continue };
            let around = conditions.around(target);
            if around.iter().count() == 1 && around.holds(&format!("{field} is None")) {
                out.insert(field);
            }
        }
    }
    out
}

/// What the record raises at, as conditions on fields alone.
fn refused(facts: &Facts, conditions: &Conditions) -> Vec<All> {
    let shared = facts.shared;
    let mut out = Vec::new();
    for file in record_files(facts) {
        let ir = shared.ir(file);
        for stmt in &ir.stmts {
            let Stmt::Raise(Some(value)) = stmt.kind else { continue };
            let Some((up, Arm::Nth(0))) = stmt.parent else { continue };
            let Stmt::If { arms, .. } = &ir.stmt(up).kind else { continue };
            let Some((test, _)) = arms.first() else { continue };
            let asked = conditions.around(ExprRef { file, expr: value });
            let whole = conjuncts(ir, *test);
            if asked.iter().count() == whole && !asked.is_empty() {
                out.push(asked);
            }
        }
    }
    out
}

/// How many things a test asks for together.
fn conjuncts(ir: &FileIr, test: ExprId) -> usize {
    match ir.expr(test) {
        Expr::Bool { and: true, left, right } => conjuncts(ir, *left) + conjuncts(ir, *right),
        _ => 1,
    }
}

/// The files that define the record.
fn record_files(facts: &Facts) -> BTreeSet<FileId> {
    let program = facts.shared.program();
    let roots = program.profile.root_classes.iter();
    roots.flat_map(|name| program.files_defining_class(Sym::from(name)).to_vec()).collect()
}
