//! What the record's own resolution settles before anything else runs.
//!
//! A field that the record fills whenever it is left out is never None afterwards. Of two fields that the record refuses
//! together, one settles the other: that is a constraint, and no condition on top. A switch that the record turns on in
//! one case alone brings that case into whatever asks for the switch to be off.

use super::condition::{Condition, Conditions, Range};
use super::ways::{All, Ways};
use crate::program::*;
use crate::syntax::ir::*;
use std::collections::{BTreeMap, BTreeSet};

/// What the resolution of a tree settles, whatever the field.
pub struct Settled {
    /// Fields that it fills whenever they are None.
    filled: BTreeSet<Sym>,
    /// Switches that it turns on at one place, under one condition; with the opposite of that.
    forced: Vec<(Sym, Condition)>,
    /// What it raises at, as conditions on fields alone.
    refused: Vec<All>,
}

impl Settled {
    pub fn of(conditions: &Conditions) -> Settled {
        Settled { filled: filled(conditions), forced: forced(conditions), refused: refused(conditions) }
    }

    /// The ways without the conditions that always hold once the record has been made.
    pub fn applied(&self, ways: &Ways, field: Sym) -> Ways {
        let out = ways.edited(|way| {
            let whole = way.clone();
            way.retain(|c| !is_either(c) || !self.refused.iter().any(|r| excludes(r, c, &whole)));
        });
        let out = out.edited(|way| {
            for condition in way.clone().iter() {
                way.replace(condition, without_absent(condition, &self.filled));
            }
        });
        out.edited(|way| {
            for off in way.clone().iter().filter_map(asks_off) {
                let cases = self.forced.iter().filter(|(f, case)| *f == off && !case.fields.contains(&field));
                cases.for_each(|(_, case)| way.add(case.clone()));
            }
        })
    }
}

/// The field of `not field`.
fn asks_off(condition: &Condition) -> Option<Sym> {
    let field = *condition.fields.first()?;
    let rest = condition.text.strip_prefix("not ")?;
    (rest == field.as_str() && condition.fields.len() == 1).then_some(field)
}

/// What the record's resolution writes.
fn written<'s>(conditions: &'s Conditions) -> impl Iterator<Item = (Sym, ExprRef, ExprRef)> + 's {
    conditions.shared.rewrites().written().filter(|(_, at, _)| conditions.in_record(*at))
}

fn forced(conditions: &Conditions) -> Vec<(Sym, Condition)> {
    let shared = conditions.shared;
    let mut writes: BTreeMap<Sym, Vec<(ExprRef, ExprRef)>> = BTreeMap::new();
    written(conditions).for_each(|(field, at, value)| writes.entry(field).or_default().push((at, value)));
    let only = writes.into_iter().filter_map(|(field, all)| match all[..] {
        [(at, value)] if matches!(shared.ir(value.file).expr(value.expr), Expr::True) => Some((field, at)),
        _ => None,
    });
    let one_value = |c: &&Condition| c.range.as_ref().is_some_and(Range::is_single);
    only.filter_map(|(field, at)| {
        let around = conditions.around(at).reduced();
        let mut around = around.iter();
        let case = around.next().filter(one_value)?;
        let [opposite] = &case.against[..] else { return None };
        let against = vec![case.text.clone()];
        let case =
            Condition { text: opposite.clone(), against, direct: false, bound: None, range: None, ..case.clone() };
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
    let settled = |c: &Condition, none: bool| asks_none(c).is_some_and(|(f, n)| n == none && filled.contains(&f));
    if settled(condition, false) || condition.arms.iter().any(|arm| settled(arm, false)) {
        return None;
    }
    let left: Vec<Condition> = condition.arms.iter().filter(|arm| !settled(arm, true)).cloned().collect();
    if left.is_empty() || left.len() == condition.arms.len() {
        return Some(condition.clone());
    }
    let left = left.into_iter().map(|arm| Condition { direct: false, ..arm }).collect();
    Some(Condition::any_of(left, condition.at))
}

/// Is a condition true because the record refuses its opposite together with the rest of the way?
fn excludes(refused: &All, condition: &Condition, way: &All) -> bool {
    let mut opposite = refused.iter().filter(|r| !way.holds(&r.text));
    let only = opposite.next().is_some_and(|r| condition.against.contains(&r.text));
    only && opposite.next().is_none()
}

fn filled(conditions: &Conditions) -> BTreeSet<Sym> {
    let is_filled = |(field, at, value): &(Sym, ExprRef, ExprRef)| {
        let around = conditions.around(*at);
        let alone = around.iter().count() == 1 && around.holds(&format!("{field} is None"));
        alone && !matches!(conditions.shared.ir(value.file).expr(value.expr), Expr::None)
    };
    written(conditions).filter(is_filled).map(|(field, ..)| field).collect()
}

fn refused(conditions: &Conditions) -> Vec<All> {
    let shared = conditions.shared;
    let mut out = Vec::new();
    for file in record_files(shared.program()) {
        let ir = shared.ir(file);
        for stmt in &ir.stmts {
            let Stmt::Raise(Some(value)) = stmt.kind else { continue };
            let Some((up, Arm::Nth(0))) = stmt.parent else { continue };
            let Stmt::If { arms, .. } = &ir.stmt(up).kind else { continue };
            let Some((test, _)) = arms.first() else { continue };
            let asked = conditions.around(ExprRef { file, expr: value });
            if asked.iter().count() == conjuncts(ir, *test) && !asked.is_empty() {
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

/// The files that define the record, and those where its resolution is at home.
fn record_files(program: &Program) -> BTreeSet<FileId> {
    let roots = program.profile.root_classes.iter();
    let homes = program.file_ids().filter(|f| program.profile.home_kind(&program.file(*f).path).is_some());
    roots.flat_map(|name| program.files_defining_class(Sym::from(name)).to_vec()).chain(homes).collect()
}
