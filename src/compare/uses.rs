//! What uses a value that did not, or no longer, and what is computed from it differently.
//!
//! Uses are compared as a set for each field, wherever they stand. One that came beside one that went, alike but for a
//! constant or an operand, is a changed computation; the rest are consumers. A use more or less may be the same thing
//! written in another way, so it is told for reading, as cosmetic; that the last or the first reader came or went is not.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Level};
use super::codes::Code;
use super::snapshot::{Meaning, Spot, Use};
use super::term::{Literal, Term};
use super::{Pair, Release};
use crate::meaning::report::Grade;

/// So many texts of one change are shown.
const SHOWN: usize = 8;
/// Sinks that only tell of the value.
const TELLING: &[&str] = &["log", "metric", "none", "validation-only"];

pub fn changes(pair: &Pair, old: &Meaning, new: &Meaning) -> Vec<Change> {
    if let Some(change) = life(old, new) {
        return vec![change];
    }
    let before = uses(pair, &pair.old, old);
    let after = uses(pair, &pair.new, new);
    let mut gone: BTreeMap<&Term, &&Use> = before.iter().filter(|(t, _)| !after.contains_key(*t)).collect();
    let mut come: BTreeMap<&Term, &&Use> = after.iter().filter(|(t, _)| !before.contains_key(*t)).collect();

    let mut out = Vec::new();
    while let Some((a, b)) = alike(&gone, &come) {
        if let (Some(was), Some(is)) = (gone.remove(&a), come.remove(&b)) {
            out.push(computed(new, (&a, was), (&b, is)));
        }
    }
    let kinds =
        |m: &Meaning| m.sinks.keys().filter(|k| !TELLING.contains(&k.as_str())).cloned().collect::<BTreeSet<_>>();
    let (old_kinds, new_kinds) = (kinds(old), kinds(new));
    let of = |meaning: &Meaning, kinds: BTreeSet<&String>| -> Vec<(String, Spot, Grade)> {
        kinds.into_iter().filter_map(|k| meaning.sinks.get(k).map(|s| (k.clone(), s.at.clone(), s.grade))).collect()
    };
    let lost = of(old, old_kinds.difference(&new_kinds).collect());
    let won = of(new, new_kinds.difference(&old_kinds).collect());
    out.extend(consumers(Code::ConsumerRemoved, new, gone.into_values().copied().collect(), lost));
    out.extend(consumers(Code::ConsumerAdded, new, come.into_values().copied().collect(), won));
    out
}

/// The first reader came, or the last one went.
fn life(old: &Meaning, new: &Meaning) -> Option<Change> {
    let dead = |m: &Meaning| m.unread;
    let first = |m: &Meaning| m.uses.first().map(|u| u.at.clone()).or(m.sinks.values().next().map(|s| s.at.clone()));
    match (dead(old), dead(new)) {
        (false, true) => {
            let message = format!("nothing reads {} any more", new.field);
            let change = Change::new(Code::ConsumerRemoved, &new.field, Level::Behaviour, message);
            Some(
                change
                    .values("read", serde_json::Value::Null)
                    .places(first(old).as_ref().or(Some(&old.at)), Some(&new.at)),
            )
        }
        (true, false) => {
            let message = format!("{} is read now; nothing read it before", new.field);
            let change = Change::new(Code::ConsumerAdded, &new.field, Level::Behaviour, message);
            Some(
                change
                    .values(serde_json::Value::Null, "read")
                    .places(Some(&old.at), first(new).as_ref().or(Some(&new.at))),
            )
        }
        _ => None,
    }
}

/// The uses that say something without the names of locals, the surest of each.
fn uses<'s>(pair: &Pair, release: &'s Release<'s>, meaning: &'s Meaning) -> BTreeMap<Term, &'s Use> {
    let mut out: BTreeMap<Term, &Use> = BTreeMap::new();
    for found in &meaning.uses {
        let term = pair.blur.blurred(&release.texts.term(&found.what));
        let known = out.entry(term).or_insert(found);
        if found.grade > known.grade {
            *known = found;
        }
    }
    out.retain(|term, _| is_telling(term));
    out
}

/// Does it hold more than the value and holes?
fn is_telling(term: &Term) -> bool {
    let mut telling = 0;
    term.walk(&mut |part| {
        telling += match part {
            Term::Literal(Literal::None | Literal::Bool(_)) => 0,
            Term::Literal(_) | Term::Env(_) => 1,
            Term::OneOf { values, .. } => {
                usize::from(!values.iter().all(|v| matches!(v, Literal::None | Literal::Bool(_))))
            }
            Term::Call(name, _) => usize::from(name != "…"),
            _ => 0,
        }
    });
    // A formula of several steps is known by its form.
    let mut steps = 0;
    term.walk(&mut |part| steps += usize::from(matches!(part, Term::Binary(..))));
    telling > 0 || term.fields().len() > 1 || steps > 1
}

/// Two uses of one form that differ in constants or in one operand.
fn alike(gone: &BTreeMap<&Term, &&Use>, come: &BTreeMap<&Term, &&Use>) -> Option<(Term, Term)> {
    let same_form = |a: &Term, b: &Term| form(a) == form(b) && !matches!(form(a), Term::Call(..) | Term::Hole);
    let pair = gone.keys().find_map(|a| come.keys().find(|b| same_form(a, b)).map(|b| (*a, *b)))?;
    Some((pair.0.clone(), pair.1.clone()))
}

/// The term with its constants left out.
fn form(term: &Term) -> Term {
    term.map(&|part| match part {
        // Any number stands for all; not 0, which a disjunction drops.
        Term::Literal(Literal::Int(_) | Literal::Float(_)) => Term::Literal(Literal::Int(1)),
        Term::OneOf { subject, values, holds } if values.iter().any(|v| matches!(v, Literal::Str(_))) => {
            // A list that gained a member is the same test; another single value is another.
            let values = if values.len() > 1 { BTreeSet::new() } else { values };
            Term::OneOf { subject, values, holds }
        }
        other => other,
    })
}

fn computed(new: &Meaning, (a, was): (&Term, &Use), (b, is): (&Term, &Use)) -> Change {
    let grade = was.grade.min(is.grade);
    // A threshold or factor that differs is another result; a test against other values may be for new ones.
    let numbers =
        matches!(a, Term::Choice { .. } | Term::Binary(..)) && matches!(b, Term::Choice { .. } | Term::Binary(..));
    let level = if numbers && grade == Grade::Proved { Level::Behaviour } else { Level::Cosmetic };
    let message = format!("{} where it was {}", is.what, was.what);
    Change::new(Code::ComputationChanged, &new.field, level, message)
        .values(was.what.clone(), is.what.clone())
        .places(Some(&was.at), Some(&is.at))
        .grade(grade)
}

fn consumers(code: Code, new: &Meaning, uses: Vec<&Use>, sinks: Vec<(String, Spot, Grade)>) -> Option<Change> {
    let mut texts: Vec<String> = uses.iter().map(|u| u.what.clone()).collect();
    texts.extend(sinks.iter().map(|(kind, ..)| kind.clone()));
    let at = uses.first().map(|u| &u.at).or(sinks.first().map(|(_, at, _)| at))?;
    let grade = uses.iter().map(|u| u.grade).chain(sinks.iter().map(|(_, _, g)| *g)).min().unwrap_or_default();
    let more = texts.len().saturating_sub(SHOWN);
    texts.truncate(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let list = format!("{}{rest}", texts.join("; "));
    let change = match code {
        Code::ConsumerAdded => {
            Change::new(code, &new.field, Level::Cosmetic, format!("{} is also used in: {list}", new.field))
                .values(serde_json::Value::Null, list)
                .places(None, Some(at))
        }
        _ => Change::new(code, &new.field, Level::Cosmetic, format!("{} is no longer used in: {list}", new.field))
            .values(list, serde_json::Value::Null)
            .places(Some(at), None),
    };
    Some(change.grade(grade))
}
