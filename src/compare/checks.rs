//! Which checks came, went or changed, each told once for all arguments that it is about.
//!
//! A check is known again by its condition, else by its message: the words of an error outlive the code around it. What
//! the message says is never a change of its own.

use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

use super::change::{Change, Level};
use super::codes::Code;
use super::rewrites::{bare, conjunction, difference};
use super::snapshot::{Check, Outcome};
use super::term::Term;
use super::{Pair, Release};
use crate::meaning::beside::Stage;
use crate::meaning::report::Grade;

struct Case<'s> {
    check: &'s Check,
    /// All that must hold, where `parts` leaves out what says nothing beside the rest.
    condition: Term,
    parts: BTreeSet<Term>,
    /// What the function itself asks for.
    own: BTreeSet<Term>,
    /// It also hangs on something that is no argument.
    hangs_on_more: bool,
    words: FxHashSet<String>,
    matched: bool,
}

pub fn changes(pair: &Pair) -> Vec<Change> {
    let mut before = cases(pair, &pair.old);
    let mut after = cases(pair, &pair.new);
    let open = |a: &Case, b: &Case| (a.check.open || b.check.open) && a.own == b.own;
    let same_condition = |a: &Case, b: &Case| {
        let renamed = shape(&a.parts) == shape(&b.parts) && likeness(&a.words, &b.words) >= 60;
        renamed || ((a.parts == b.parts || open(a, b)) && (!a.parts.is_empty() || same_words(a, b)))
    };
    let same = |a: &Case, b: &Case| a.check.outcome == b.check.outcome && same_condition(a, b);
    matched(&mut before, &mut after, same);
    // One check at several places, or several of one message, are one again.
    let (mut before, mut after) = (joined(before), joined(after));
    matched(&mut before, &mut after, same);

    let mut out = Vec::new();
    while let Some((i, j)) = nearest(&before, &after) {
        let (a, b) = (before.remove(i), after.remove(j));
        out.extend(changed(pair, &a, &b));
    }
    // Of several checks with one message some were joined, or one was split.
    let lives_on = |case: &Case, checks: &[Check]| {
        let same = |other: &Check| {
            other.outcome == case.check.outcome
                && other.fields.iter().any(|f| case.check.fields.contains(f))
                && likeness(&words(other.message.as_deref().unwrap_or("")), &case.words) == 100
        };
        checks.iter().any(same)
    };
    let gone = before.iter().filter(|c| !c.matched && !lives_on(c, &pair.new.snapshot.checks));
    out.extend(gone.filter_map(|case| removed(pair, case)));
    let come = after.iter().filter(|c| !c.matched && !lives_on(c, &pair.old.snapshot.checks));
    out.extend(come.filter_map(|case| added(pair, case)));
    out
}

fn cases<'s>(pair: &Pair, release: &'s Release<'s>) -> Vec<Case<'s>> {
    let case = |check: &'s Check| {
        let all = release.texts.all(&check.when);
        let opaque = |part: Term| !pair.blur.is_known(&pair.blur.blurred(&part));
        Case {
            check,
            condition: pair.blur.blurred(&all),
            hangs_on_more: all.clone().conjuncts().into_iter().any(opaque),
            parts: without_set(pair.parts(&all)),
            own: without_set(pair.parts(&release.texts.all(check.own.as_ref().unwrap_or(&check.when)))),
            words: words(check.message.as_deref().unwrap_or("")),
            matched: false,
        }
    };
    release.snapshot.checks.iter().map(case).collect()
}

/// Those without a counterpart that say the same to the user, as one each.
fn joined(cases: Vec<Case>) -> Vec<Case> {
    let mut out: Vec<Case> = Vec::new();
    for case in cases.into_iter().filter(|c| !c.matched) {
        let alike = |known: &&mut Case| {
            known.check.outcome == case.check.outcome
                && case.check.outcome != Outcome::Clamp
                && known.check.subject == case.check.subject
                && likeness(&known.words, &case.words) == 100
        };
        match out.iter_mut().find(alike) {
            Some(known) => {
                known.condition = Term::any([known.condition.clone(), case.condition.clone()]);
                known.parts = either(&known.parts, &case.parts);
                known.own = either(&known.own, &case.own);
                known.hangs_on_more |= case.hangs_on_more;
            }
            None => out.push(case),
        }
    }
    out
}

fn either(a: &BTreeSet<Term>, b: &BTreeSet<Term>) -> BTreeSet<Term> {
    Term::any([a, b].map(|parts| Term::all(parts.iter().cloned()))).conjuncts()
}

/// A condition with arguments and locals alike: a value that goes by another name is tested as before.
fn shape(parts: &BTreeSet<Term>) -> BTreeSet<Term> {
    let nameless = |part: Term| match part {
        Term::Field(_) => Term::Hole,
        other => other,
    };
    parts.iter().map(|part| part.map(&nameless)).filter(|part| *part != Term::Hole).collect()
}

/// That an argument is set says nothing beside a test of its value.
fn without_set(parts: BTreeSet<Term>) -> BTreeSet<Term> {
    let subject = |part: &Term| match part {
        Term::OneOf { subject, values, holds: false } if values.iter().all(|v| !v.truth()) => Some((**subject).clone()),
        field @ Term::Field(_) => Some(field.clone()),
        _ => None,
    };
    let tested = |of: &Term, by: &Term| subject(by).is_none() && by.fields().iter().any(|f| of.fields().contains(f));
    let redundant = |part: &Term| subject(part).is_some_and(|of| parts.iter().any(|other| tested(&of, other)));
    parts.iter().filter(|part| !redundant(part)).cloned().collect()
}

/// The words of a message, what it fills in left out.
fn words(message: &str) -> FxHashSet<String> {
    let mut plain = String::new();
    let mut depth = 0;
    for c in message.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let words = plain.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| w.len() > 2);
    words.map(str::to_lowercase).collect()
}

/// How much of two messages is the same, from 0 to 100.
fn likeness(a: &FxHashSet<String>, b: &FxHashSet<String>) -> usize {
    if a == b && !a.is_empty() {
        return 100;
    }
    if a.len().min(b.len()) < 3 {
        return 0;
    }
    let shared = a.intersection(b).count();
    100 * shared / (a.len() + b.len() - shared)
}

fn same_words(a: &Case, b: &Case) -> bool {
    likeness(&a.words, &b.words) >= 60 || (a.words.is_empty() && b.words.is_empty())
}

/// Pairs equal checks; more of the same on one side are no change.
fn matched(before: &mut [Case], after: &mut [Case], same: impl Fn(&Case, &Case) -> bool) {
    for a in before.iter_mut() {
        let mut found = false;
        for b in after.iter_mut().filter(|b| same(a, b)) {
            b.matched = true;
            found = true;
        }
        a.matched = found;
    }
}

/// The pair that is most surely the same check: by its words, else by a condition that is much the same.
fn nearest(before: &[Case], after: &[Case]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, (usize, usize))> = None;
    for (i, a) in before.iter().enumerate().filter(|(_, c)| !c.matched) {
        for (j, b) in after.iter().enumerate().filter(|(_, c)| !c.matched) {
            let Some(score) = score(a, b) else { continue };
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, (i, j)));
            }
        }
    }
    best.map(|(_, at)| at)
}

fn score(a: &Case, b: &Case) -> Option<usize> {
    if (a.check.outcome == Outcome::Clamp) != (b.check.outcome == Outcome::Clamp) {
        return None;
    }
    let about_same = a.check.fields.iter().any(|f| b.check.fields.contains(f));
    if !about_same {
        return None;
    }
    let shared = a.parts.intersection(&b.parts).count();
    let words = likeness(&a.words, &b.words);
    // An error that became a warning says the same.
    if a.check.outcome != b.check.outcome && words < 60 {
        return None;
    }
    let same_function = !a.check.function.is_empty() && bare(&a.check.function) == bare(&b.check.function);
    let alike = words >= 60 || (words >= 35 && (shared > 0 || same_function));
    // Two conditions that share all but one part.
    let same_test = shared > 0 && 2 * shared >= a.parts.len().max(b.parts.len()) && (words >= 20 || same_function);
    let same_clamp = a.check.outcome == Outcome::Clamp && same_function;
    (alike || same_test || same_clamp).then_some(words * 2 + shared * 10 + usize::from(same_function) * 20)
}

fn changed(pair: &Pair, a: &Case, b: &Case) -> Option<Change> {
    let (old, new) = (a.check.outcome, b.check.outcome);
    let laxer = a.parts.is_subset(&b.parts);
    let stricter = b.parts.is_subset(&a.parts);
    if old == new && Term::can_be_same(&a.parts, &b.parts) {
        return None;
    }
    // Where code moved, the conditions of its callers may not be known.
    let moved = bare(&a.check.function) != bare(&b.check.function);
    let unknown = a.check.open || b.check.open;
    if old == new && ((moved && unknown && (laxer || stricter)) || (unknown && a.own == b.own)) {
        return None;
    }
    let (before, after) = (pair.world.met_parts(&a.parts), pair.world.met_parts(&b.parts));
    let fails_anew = pair.world.exceeds(&after, &before);
    let passes_anew = pair.world.exceeds(&before, &after);
    let reachable = pair.world.possible(&b.condition);
    // Only where the code runs is another matter.
    let elsewhere = a.own == b.own && b.check.stage != Stage::Resolution;
    let (what, level) = match (old, new) {
        (Outcome::Error, Outcome::Warning) => ("is a warning where it was an error", Level::Behaviour),
        (Outcome::Warning, Outcome::Error) if reachable => ("is an error where it was a warning", startup(b)),
        (Outcome::Warning, Outcome::Error) => ("is an error where it was a warning", Level::Cosmetic),
        (Outcome::Warning, _) => ("warns under another condition", Level::Cosmetic),
        (Outcome::Clamp, _) => ("cuts the value to another limit", named(b, Level::Behaviour)),
        (Outcome::Error, _) if !fails_anew && !passes_anew => ("names other values", Level::Cosmetic),
        (Outcome::Error, _) if of_arguments(&a.parts) == of_arguments(&b.parts) => {
            ("is made for other models", Level::Cosmetic)
        }
        (Outcome::Error, _) if laxer || !fails_anew => ("is laxer", named(b, Level::Behaviour)),
        (Outcome::Error, _) if (stricter && fails_anew) || !passes_anew => ("is stricter", startup(b)),
        (Outcome::Error, _) => ("has another condition", named(b, Level::Behaviour)),
    };
    let level = if old == new && elsewhere { Level::Cosmetic } else { level };
    // The arguments whose part in it differs.
    let differing: BTreeSet<&str> = a.parts.symmetric_difference(&b.parts).flat_map(Term::fields).collect();
    let tested: Vec<String> = match differing.is_empty() {
        true => b.check.subject.clone(),
        false => b.check.fields.iter().filter(|f| differing.contains(f.as_str())).cloned().collect(),
    };
    let message = format!("the check {} {what}: {}", quoted(b.check), difference(&a.parts, &b.parts));
    Some(
        about(pair, Code::ConstraintChanged, b, &tested, level, message)?
            .with(a.check.fields.iter().cloned())
            .values(said(a.check), said(b.check))
            .places(Some(&a.check.at), Some(&b.check.at))
            .grade(a.check.grade.min(b.check.grade)),
    )
}

fn removed(pair: &Pair, case: &Case) -> Option<Change> {
    let old = pair.renamed_fields(&case.check.fields);
    if !old.iter().any(|f| pair.new.snapshot.field(f).is_some()) {
        return None;
    }
    let met = pair.world.possible(&case.condition);
    let level = match case.check.outcome {
        Outcome::Warning => Level::Cosmetic,
        _ if !met || (case.check.stage == Stage::Running && case.hangs_on_more) => Level::Cosmetic,
        _ => named(case, Level::Behaviour),
    };
    let message = format!("nothing checks any more: {}", quoted(case.check));
    Some(
        about(pair, Code::ConstraintRemoved, case, &case.check.subject, level, message)?
            .values(said(case.check), serde_json::Value::Null)
            .places(Some(&case.check.at), None)
            .grade(case.check.grade),
    )
}

fn added(pair: &Pair, case: &Case) -> Option<Change> {
    if !case.check.fields.iter().any(|f| pair.old.snapshot.field(f).is_some()) {
        return None;
    }
    let reachable = pair.world.possible(&case.condition) && !pair.world.asks_for_unknown(&case.condition);
    // What it tests under another name may be the new argument's value.
    let tested = case.condition.fields();
    let hidden = |field: &String| pair.world.new.contains(field) && !tested.contains(&field.as_str());
    let indirect = case.parts.iter().any(|part| part.fields().is_empty());
    let reachable = reachable && !(indirect && case.check.fields.iter().any(hidden));
    let level = match case.check.outcome {
        Outcome::Warning => Level::Cosmetic,
        _ if !reachable => Level::Cosmetic,
        Outcome::Clamp => named(case, Level::Behaviour),
        Outcome::Error => startup(case),
    };
    let message = format!("a new check: {}", quoted(case.check));
    Some(
        about(pair, Code::ConstraintAdded, case, &case.check.subject, level, message)?
            .values(serde_json::Value::Null, said(case.check))
            .places(None, Some(&case.check.at))
            .grade(case.check.grade),
    )
}

/// The parts that speak of arguments.
fn of_arguments(parts: &BTreeSet<Term>) -> BTreeSet<&Term> {
    parts.iter().filter(|part| !part.fields().is_empty()).collect()
}

/// A launch meets what runs at the start; a request meets the rest.
fn startup(case: &Case) -> Level {
    match case.check.stage {
        Stage::Running if case.hangs_on_more => Level::Cosmetic,
        Stage::Running => named(case, Level::Behaviour),
        _ => named(case, Level::Breaking),
    }
}

/// The level of a check that tests arguments themselves. One that tests what was made of them is a matter of one model or
/// kernel as a rule, and whether a launch meets it cannot be told.
fn named(case: &Case, level: Level) -> Level {
    let direct = case.parts.iter().any(|part| !part.fields().is_empty());
    let sure = direct && case.check.grade == Grade::Proved && case.check.stage != Stage::Kernel;
    if sure { level } else { Level::Cosmetic }
}

/// Of the arguments that are tested, the one that fewest checks are about is the one that this check is about.
fn about(pair: &Pair, code: Code, case: &Case, tested: &[String], level: Level, message: String) -> Option<Change> {
    let all = || [pair.old.snapshot, pair.new.snapshot].into_iter().flat_map(|s| &s.checks);
    let checks_of = |field: &&String| all().filter(|c| c.fields.contains(field)).count();
    let lives = |field: &&String| pair.new.snapshot.field(&pair.renamed(field)).is_some();
    let here = tested.iter().filter(lives).min_by_key(checks_of);
    let first = here.or_else(|| case.check.fields.iter().find(lives)).or_else(|| case.check.fields.first())?;
    Some(Change::new(code, first, level, message).with(case.check.fields.iter().cloned()))
}

fn quoted(check: &Check) -> String {
    match &check.message {
        Some(message) => format!("\"{message}\""),
        None => conjunction(&check.when),
    }
}

fn said(check: &Check) -> serde_json::Value {
    let outcome = match check.outcome {
        Outcome::Error => "error when ",
        Outcome::Warning => "warning when ",
        Outcome::Clamp => "",
    };
    format!("{outcome}{}", conjunction(&check.when)).into()
}
