//! Whether a number means another amount, and whether it is held or shared out differently.

use std::collections::BTreeSet;

use super::Pair;
use super::change::{Change, Level};
use super::codes::Code;
use super::rewrites::conjunction;
use super::snapshot::{Division, Meaning, Unit};
use super::term::Literal;
use crate::meaning::report::Grade;

/// Kinds of process that one launch puts into one process or several as it likes.
const FRONT: &[&str] = &["launcher", "http_server", "tokenizer"];
/// Units of what can be shared out.
const AMOUNTS: &[&str] = &[
    "bytes",
    "KB",
    "KiB",
    "MB",
    "MiB",
    "GB",
    "GiB",
    "tokens",
    "pages",
    "requests",
    "sequences",
    "layers",
    "fraction",
    "ratio",
    "count",
];
/// Tools beside the server.
const OTHER: &str = "other";

pub fn unit(old: &Meaning, new: &Meaning) -> Option<Change> {
    // An unknown unit is no other unit.
    let (a, b) = (old.unit.as_ref()?, new.unit.as_ref()?);
    if (&a.name, a.bytes) == (&b.name, b.bytes) {
        return None;
    }
    let grade = a.grade.min(b.grade);
    // A unit that only the argument's name or help tells changes with the wording.
    let worded = |unit: &Unit, meaning: &Meaning| unit.grade < Grade::Proved && unit.at.as_ref() == Some(&meaning.at);
    let level = match grade >= Grade::Inferred && !worded(a, old) && !worded(b, new) {
        true => Level::Behaviour,
        false => Level::Cosmetic,
    };
    let message = format!("{} is in {} where it was in {}", new.field, b.name, a.name);
    Some(
        Change::new(Code::UnitChanged, &new.field, level, message)
            .values(a.name.clone(), b.name.clone())
            .places(a.at.as_ref().or(Some(&old.at)), b.at.as_ref().or(Some(&new.at)))
            .grade(grade),
    )
}

pub fn held(pair: &Pair, old: &Meaning, new: &Meaning) -> Option<Change> {
    // What was not found on one side says nothing.
    if old.processes.is_empty() || new.processes.is_empty() {
        return None;
    }
    let (a, b) = (kinds(&old.processes), kinds(&new.processes));
    if a == b && old.per == new.per {
        return None;
    }
    let grade = old.scope_grade.min(new.scope_grade);
    let other_count = old.per != new.per && !one_more(pair, old, new);
    let matters = other_count && is_amount(new) && grade == Grade::Proved;
    let level = if matters { Level::Behaviour } else { Level::Cosmetic };
    let message = if old.per != new.per {
        format!("{} is held {} where it was held {}", new.field, per(&new.per), per(&old.per))
    } else {
        format!("other processes use {}", new.field)
    };
    Some(
        Change::new(Code::ScopeChanged, &new.field, level, message)
            .values(said(&a, &old.per), said(&b, &new.per))
            .places(Some(&old.at), Some(&new.at))
            .grade(grade),
    )
}

/// Is there only another axis, along which there is one process unless a new argument says otherwise?
fn one_more(pair: &Pair, old: &Meaning, new: &Meaning) -> bool {
    let factors = |m: &Meaning, release: &super::Release| {
        let term = m.count.as_ref().map(|text| release.texts.term(text));
        term.map(|t| t.fields().into_iter().map(str::to_owned).collect::<BTreeSet<String>>()).unwrap_or_default()
    };
    let (before, after) = (factors(old, &pair.old), factors(new, &pair.new));
    let mut gained = after.difference(&before).peekable();
    gained.peek().is_some() && before.is_subset(&after) && gained.all(|field| is_one(pair, field))
}

/// A new argument that is 1 unless it is given.
fn is_one(pair: &Pair, field: &str) -> bool {
    let one = |values: &BTreeSet<Literal>| values.iter().all(|v| v.number() == Some(1.0));
    pair.world.new.contains(field) && pair.world.open.get(field).is_some_and(one)
}

fn kinds(processes: &BTreeSet<String>) -> BTreeSet<&str> {
    let kind = |p: &'_ String| if FRONT.contains(&p.as_str()) { None } else { Some(p.clone()) };
    let mut out: BTreeSet<&str> =
        processes.iter().map(String::as_str).filter(|p| !FRONT.contains(p) && *p != OTHER).collect();
    if processes.iter().any(|p| kind(p).is_none()) {
        out.insert("launcher");
    }
    out
}

fn per(axes: &BTreeSet<String>) -> String {
    match axes.is_empty() {
        true => String::from("once"),
        false => format!("per {}", axes.iter().cloned().collect::<Vec<_>>().join(" x ")),
    }
}

fn said(kinds: &BTreeSet<&str>, axes: &BTreeSet<String>) -> serde_json::Value {
    format!("{}, {}", kinds.iter().copied().collect::<Vec<_>>().join(", "), per(axes)).into()
}

/// How many ranks there are, a port, a switch: nothing of these adds up or is shared out, whatever is computed with them.
fn is_amount(meaning: &Meaning) -> bool {
    meaning.unit.as_ref().is_some_and(|unit| AMOUNTS.contains(&unit.name.as_str()))
}

pub fn divided(pair: &Pair, old: &Meaning, new: &Meaning) -> Option<Change> {
    let divisors = |all: &[Division]| all.iter().map(|d| pair.renamed(&d.by)).collect::<BTreeSet<String>>();
    let (a, b) = (divisors(&old.divided_by), divisors(&new.divided_by));
    if a == b {
        return None;
    }
    let only = |all: &[Division], other: &BTreeSet<String>| {
        all.iter().find(|d| !other.contains(&pair.renamed(&d.by))).and_then(|d| d.at.clone())
    };
    let grade = old.scope_grade.min(new.scope_grade);
    // A new divisor that is 1 unless it is given shares nothing out.
    let harmless = a.is_subset(&b) && b.difference(&a).all(|by| is_one(pair, by));
    let matters = !harmless && is_amount(new) && grade == Grade::Proved;
    let level = if matters { Level::Behaviour } else { Level::Cosmetic };
    let message = format!(
        "{} is shared out over {} where it was over {}",
        new.field,
        over(&new.divided_by),
        over(&old.divided_by)
    );
    let list = |names: BTreeSet<String>| serde_json::Value::from(names.into_iter().collect::<Vec<_>>());
    let fields: Vec<String> = a.symmetric_difference(&b).cloned().collect();
    Some(
        Change::new(Code::DividedByChanged, &new.field, level, message)
            .with(fields)
            .places(
                only(&old.divided_by, &b).as_ref().or(Some(&old.at)),
                only(&new.divided_by, &a).as_ref().or(Some(&new.at)),
            )
            .values(list(a), list(b))
            .grade(grade),
    )
}

fn over(divisions: &[Division]) -> String {
    let said = |d: &Division| {
        if d.when.is_empty() { d.by.clone() } else { format!("{} (when {})", d.by, conjunction(&d.when)) }
    };
    let mut texts: Vec<String> = divisions.iter().map(said).collect();
    texts.dedup();
    if texts.is_empty() { String::from("nothing") } else { texts.join(", ") }
}
