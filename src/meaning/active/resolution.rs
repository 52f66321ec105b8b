//! What the record's own resolution settles before anything else runs.
//!
//! A field that the record fills whenever it is left out is never None afterwards. Of two fields that the record refuses
//! together, one settles the other: that is a constraint, and no condition on top. A switch that the record turns on in
//! one case alone brings that case into whatever asks for the switch to be off.

use super::super::facts::Facts;
use super::condition::{Condition, Conditions};
use super::ways::{All, Ways};
use crate::program::*;
use crate::syntax::ir::*;
use std::collections::{BTreeMap, BTreeSet};

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
    if out.iter().flat_map(All::iter).any(|c| asks_off(c).is_some()) {
        let forced = forced(facts, conditions);
        out = out.edited(|way| {
            for field in way.clone().iter().filter_map(asks_off) {
                forced.iter().filter(|(f, _)| *f == field).for_each(|(_, case)| way.add(case.clone()));
            }
        });
    }
    out
}

/// The field of `not field`.
fn asks_off(condition: &Condition) -> Option<Sym> {
    let field = *condition.fields.first()?;
    let rest = condition.text.strip_prefix("not ")?;
    (rest == field.as_str() && condition.fields.len() == 1).then_some(field)
}

/// Switches that the record turns on at one place, under one condition; with the opposite of that.
fn forced(facts: &Facts, conditions: &Conditions) -> Vec<(Sym, Condition)> {
    let shared = facts.shared;
    let mut writes: BTreeMap<Sym, Vec<(ExprRef, ExprId)>> = BTreeMap::new();
    for file in record_files(facts) {
        let ir = shared.ir(file);
        for stmt in &ir.stmts {
            let Stmt::Assign { targets, value } = &stmt.kind else { continue };
            for target in targets.iter().filter(|t| matches!(ir.expr(**t), Expr::Attr { .. })) {
                let target = ExprRef { file, expr: *target };
                if let Some(field) = shared.origins.direct(target) {
                    writes.entry(field).or_default().push((target, *value));
                }
            }
        }
    }
    let only = writes.into_iter().filter_map(|(field, all)| match all[..] {
        [(target, value)] => Some((field, target, value)),
        _ => None,
    });
    only.filter_map(|(field, target, value)| {
        let turns_on = matches!(shared.ir(target.file).expr(value), Expr::True);
        let around = conditions.around(target).without_implied();
        let mut around = around.iter();
        let case = around.next().filter(|c| turns_on && c.equals.is_some() && !c.fields.contains(&facts.field()))?;
        let [opposite] = &case.against[..] else { return None };
        let against = vec![case.text.clone()];
        let case = Condition { text: opposite.clone(), against, direct: false, equals: None, ..case.clone() };
        around.next().is_none().then_some((field, case))
    })
    .collect()
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
