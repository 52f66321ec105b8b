//! Which replacements of a value came, went or changed.
//!
//! A rewrite is a value and the condition under which it is written. Conditions are compared as sets of alternatives, so
//! that branches which were split, joined or put in another order are the same. A condition that lost or gained parts
//! while the code moved to another function is taken as the same: the callers' conditions are not known.

use std::collections::BTreeSet;

use super::change::{Change, Level};
use super::codes::Code;
use super::snapshot::{Meaning, Rewrite, Spot};
use super::term::{Literal, Term};
use super::{Pair, Release};
use crate::meaning::beside::Stage;
use crate::meaning::report::Grade;

/// One alternative of a rewrite.
struct Case<'s> {
    to: Term,
    parts: BTreeSet<Term>,
    /// The same, for people.
    shown: BTreeSet<Term>,
    /// What the function itself asks for.
    own: BTreeSet<Term>,
    rewrite: &'s Rewrite,
    matched: bool,
}

/// Conditions are taken apart into at most so many alternatives.
const MAX_ALTERNATIVES: usize = 24;

pub fn changes(pair: &Pair, old: &Meaning, new: &Meaning) -> Vec<Change> {
    let mut before = cases(pair, &pair.old, old);
    let mut after = cases(pair, &pair.new, new);
    matched(&mut before, &mut after, |a, b| a.to == b.to && a.parts == b.parts);
    matched(&mut before, &mut after, |a, b| a.to == b.to && Term::can_be_same(&a.parts, &b.parts));
    matched(&mut before, &mut after, |a, b| a.to == b.to && moved(a, b));
    matched(&mut before, &mut after, |a, b| a.to == b.to && a.own == b.own && (a.rewrite.open || b.rewrite.open));
    less_what_is_shared(&mut before, &mut after);
    // What one side says in fewer words: a case that another of the same value covers.
    covered(&mut before, &after);
    covered(&mut after, &before);

    let mut out = Vec::new();
    let (mut before, mut after) = (merged(before), merged(after));
    let same = |a: &Merged, b: &Merged| a.to == b.to && Term::can_be_same(&a.parts, &b.parts);
    before.retain(|a| match after.iter().position(|b| same(a, b)) {
        Some(at) => {
            after.remove(at);
            false
        }
        None => true,
    });
    while let Some((i, j)) = nearest(&before, &after) {
        let (a, b) = (before.remove(i), after.remove(j));
        out.extend(changed(pair, new, &a, &b));
    }
    out.extend(before.iter().map(|case| removed(pair, old, new, case)));
    out.extend(after.iter().map(|case| added(pair, Some(old), new, case)));
    out
}

/// The rewrites of a new argument that can matter to a command line of the old release: those that an old argument brings
/// about.
pub fn of_new_field(pair: &Pair, new: &Meaning) -> Vec<Change> {
    let cases = merged(cases(pair, &pair.new, new));
    let by_old = |case: &&Merged| {
        let mut fields = case.fields();
        fields.retain(|f| *f != new.field);
        fields.iter().any(|f| pair.old.snapshot.field(f).is_some())
    };
    cases.iter().filter(by_old).map(|case| added(pair, None, new, case)).collect()
}

fn cases<'s>(pair: &Pair, release: &'s Release<'s>, meaning: &'s Meaning) -> Vec<Case<'s>> {
    let mut out: Vec<Case> = Vec::new();
    for rewrite in &meaning.rewrites {
        let to = pair.blur.blurred(&release.texts.term(&rewrite.to));
        let own = pair.parts(&release.texts.all(rewrite.own.as_ref().unwrap_or(&rewrite.when)));
        for shown in alternatives(release.texts.all(&rewrite.when)) {
            let parts = pair.parts(&Term::all(shown.iter().cloned()));
            let shown = shown.into_iter().filter(|part| !pair.preamble.is_common(&pair.blur.blurred(part))).collect();
            out.push(Case { to: to.clone(), parts, shown, own: own.clone(), rewrite, matched: false });
        }
    }
    out
}

/// The disjunctive normal form, as far as it stays small.
fn alternatives(condition: Term) -> Vec<BTreeSet<Term>> {
    let mut out: Vec<Vec<Term>> = vec![Vec::new()];
    for part in condition.conjuncts() {
        let arms: Vec<Term> = match part {
            Term::Any(arms) => arms.into_iter().collect(),
            other => vec![other],
        };
        if out.len() * arms.len() > MAX_ALTERNATIVES {
            let whole = if arms.len() == 1 { arms.into_iter().next().unwrap_or(Term::Hole) } else { Term::any(arms) };
            out.iter_mut().for_each(|parts| parts.push(whole.clone()));
            continue;
        }
        out = out
            .iter()
            .flat_map(|parts| arms.iter().map(|arm| [&parts[..], std::slice::from_ref(arm)].concat()))
            .collect();
    }
    out.into_iter().map(|parts| Term::all(parts).conjuncts()).collect()
}

fn matched(before: &mut [Case], after: &mut [Case], same: impl Fn(&Case, &Case) -> bool) {
    for a in before.iter_mut().filter(|a| !a.matched) {
        if let Some(b) = after.iter_mut().find(|b| !b.matched && same(a, b)) {
            (a.matched, b.matched) = (true, true);
        }
    }
    // Duplicates of what has its counterpart.
    for b in after.iter_mut().filter(|b| !b.matched) {
        b.matched = before.iter().any(|a| a.matched && same(a, b));
    }
    for a in before.iter_mut().filter(|a| !a.matched) {
        a.matched = after.iter().any(|b| b.matched && same(a, b));
    }
}

/// Where two cases differ in the list that one value is tested against, what both lists hold is no change.
fn less_what_is_shared(before: &mut [Case], after: &mut [Case]) {
    for a in before.iter_mut() {
        for b in after.iter_mut() {
            if a.matched || b.matched || a.to != b.to {
                continue;
            }
            let (one, other) = match (only(&a.parts, &b.parts), only(&b.parts, &a.parts)) {
                (Some(one), Some(other)) => (one.clone(), other.clone()),
                _ => continue,
            };
            let (Some((subject, here)), Some((same, there))) = (listed(&one), listed(&other)) else { continue };
            let shared: BTreeSet<Literal> = here.intersection(there).cloned().collect();
            if subject == same && !shared.is_empty() {
                a.lose(&one, &shared);
                b.lose(&other, &shared);
            }
        }
    }
}

/// The one part that the other condition does not have.
fn only<'t>(parts: &'t BTreeSet<Term>, other: &'t BTreeSet<Term>) -> Option<&'t Term> {
    let mut own = parts.difference(other);
    own.next().filter(|_| own.next().is_none())
}

/// A value that must be in a list, and the list.
fn listed(part: &Term) -> Option<(&Term, &BTreeSet<Literal>)> {
    match part {
        Term::OneOf { subject, values, holds: true } => Some((subject, values)),
        _ => None,
    }
}

impl Case<'_> {
    /// Takes values out of a list that the condition asks for.
    fn lose(&mut self, part: &Term, shared: &BTreeSet<Literal>) {
        let Some((subject, values)) = listed(part) else { return };
        let left: BTreeSet<Literal> = values.difference(shared).cloned().collect();
        self.matched = left.is_empty();
        let without = |part: &Term| match part {
            Term::OneOf { subject, values: all, holds: true } if all == values => {
                Term::OneOf { subject: subject.clone(), values: left.clone(), holds: true }
            }
            other => other.clone(),
        };
        let smaller = Term::OneOf { subject: Box::new(subject.clone()), values: left.clone(), holds: true };
        self.shown = self.shown.iter().map(without).collect();
        self.parts.remove(part);
        self.parts.insert(smaller);
    }
}

/// The code is in another function now, and one condition holds all parts of the other.
fn moved(a: &Case, b: &Case) -> bool {
    bare(&a.rewrite.function) != bare(&b.rewrite.function)
        && (a.parts.is_subset(&b.parts) || b.parts.is_subset(&a.parts))
}

/// The name of a function without its class and underscores.
pub fn bare(function: &str) -> &str {
    function.rsplit('.').next().unwrap_or(function).trim_start_matches('_')
}

/// Drops cases whose conditions are a special case of one that the other side has.
fn covered(cases: &mut [Case], others: &[Case]) {
    for case in cases.iter_mut().filter(|c| !c.matched) {
        case.matched = others.iter().any(|o| o.matched && o.to == case.to && o.parts.is_subset(&case.parts));
    }
}

/// Cases of one value that differ in one test alone, as one again.
struct Merged<'s> {
    to: Term,
    parts: BTreeSet<Term>,
    shown: BTreeSet<Term>,
    rewrite: &'s Rewrite,
}

impl Merged<'_> {
    fn condition(&self) -> Term {
        Term::all(self.parts.iter().cloned())
    }

    fn fields(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for field in self.parts.iter().chain([&self.to]).flat_map(Term::fields) {
            if !out.iter().any(|known| known == field) {
                out.push(field.to_owned());
            }
        }
        out
    }

    /// The value and its condition.
    fn said(&self) -> String {
        let parts: Vec<String> = self.shown.iter().map(ToString::to_string).collect();
        let when = if parts.is_empty() { String::new() } else { format!(" when {}", conjunction(&parts)) };
        format!("{}{when}", self.rewrite.to)
    }
}

fn merged(cases: Vec<Case>) -> Vec<Merged> {
    let mut out: Vec<Merged> = Vec::new();
    for case in cases.into_iter().filter(|c| !c.matched) {
        let joined = out.iter_mut().filter(|known| known.to == case.to).find_map(|known| {
            let parts = joined(&known.parts, &case.parts)?;
            Some((known, parts))
        });
        match joined {
            Some((known, parts)) => {
                known.shown = self::joined(&known.shown, &case.shown).unwrap_or_else(|| {
                    let all = |parts: &BTreeSet<Term>| Term::all(parts.iter().cloned());
                    Term::any([all(&known.shown), all(&case.shown)]).conjuncts()
                });
                known.parts = parts;
            }
            None => out.push(Merged { to: case.to, parts: case.parts, shown: case.shown, rewrite: case.rewrite }),
        }
    }
    out
}

/// Two conditions that differ in one part alone, or not at all, as one.
fn joined(a: &BTreeSet<Term>, b: &BTreeSet<Term>) -> Option<BTreeSet<Term>> {
    let (mut here, mut there) = (a.difference(b), b.difference(a));
    match (here.next(), there.next(), here.next(), there.next()) {
        (None, None, _, _) => Some(a.clone()),
        (Some(one), Some(other), None, None) => {
            let mut parts = a.clone();
            parts.remove(one);
            parts.insert(Term::any([one.clone(), other.clone()]));
            Some(parts)
        }
        _ => None,
    }
}

/// The pair that shares most: first of one value, then of one condition.
fn nearest(before: &[Merged], after: &[Merged]) -> Option<(usize, usize)> {
    let mut best: Option<((u32, usize), (usize, usize))> = None;
    for (i, a) in before.iter().enumerate() {
        for (j, b) in after.iter().enumerate() {
            let shared = a.parts.intersection(&b.parts).count();
            let same_place = bare(&a.rewrite.function) == bare(&b.rewrite.function);
            let rank = match (a.to == b.to, a.parts == b.parts) {
                (true, _) if shared > 0 || (same_place && a.parts.is_empty() != b.parts.is_empty()) => 2,
                (false, true) if !a.parts.is_empty() || same_place => 1,
                _ => continue,
            };
            let score = (rank, shared * 4 + usize::from(same_place));
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, (i, j)));
            }
        }
    }
    best.map(|(_, at)| at)
}

fn changed(pair: &Pair, meaning: &Meaning, a: &Merged, b: &Merged) -> Option<Change> {
    let field = &meaning.field;
    let models = other_models(pair, a, b);
    if models == Some(Models::Excluded) {
        return None;
    }
    let message = if a.to == b.to {
        format!("{field} is still set to {}, {}", b.rewrite.to, difference(&a.parts, &b.parts))
    } else {
        format!("{field} is set to {} where it was set to {}", b.rewrite.to, a.rewrite.to)
    };
    let (before, after) = (pair.world.met_parts(&a.parts), pair.world.met_parts(&b.parts));
    let differs = a.to != b.to || pair.world.exceeds(&before, &after) || pair.world.exceeds(&after, &before);
    let level = if harmless(pair, b) || models.is_some() || !differs { Level::Cosmetic } else { Level::Behaviour };
    Some(
        Change::new(Code::RewriteChanged, field, level, message)
            .with(a.fields().into_iter().chain(b.fields()))
            .values(a.said(), b.said())
            .places(Some(&a.rewrite.at), Some(&b.rewrite.at))
            .grade(a.rewrite.grade.min(b.rewrite.grade)),
    )
}

/// What a condition lost and gained, in words.
pub fn difference(before: &BTreeSet<Term>, after: &BTreeSet<Term>) -> String {
    let list =
        |parts: &mut dyn Iterator<Item = &Term>| parts.map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    let lost = list(&mut before.difference(after));
    let gained = list(&mut after.difference(before));
    match (lost.is_empty(), gained.is_empty()) {
        (false, false) => format!("when {gained} where it was when {lost}"),
        (true, false) => format!("now only when {gained}"),
        (false, true) => format!("no longer only when {lost}"),
        (true, true) => String::from("but under another condition"),
    }
}

/// How two rules differ that only name other texts which the old release does not know: models, most likely new ones.
#[derive(PartialEq, Eq)]
enum Models {
    Included,
    Excluded,
}

fn other_models(pair: &Pair, a: &Merged, b: &Merged) -> Option<Models> {
    if a.to != b.to {
        return None;
    }
    // Every part that a command line of the old release can fail must be such a test.
    let met = |parts: &BTreeSet<Term>, part: &Term| {
        pair.world.possible(&Term::all(parts.iter().cloned().chain([part.clone().negated()])))
    };
    let gone: Vec<&Term> = a.parts.difference(&b.parts).collect();
    let come: Vec<&Term> = b.parts.difference(&a.parts).collect();
    let all = || gone.iter().chain(&come);
    let decide =
        |parts: &[&Term], other: &BTreeSet<Term>| parts.iter().all(|p| named_texts(p).is_some() || !met(other, p));
    if !decide(&gone, &b.parts) || !decide(&come, &a.parts) {
        return None;
    }
    let texts = |parts: &[&Term]| parts.iter().filter_map(|part| named_texts(part)).flatten().collect::<Vec<String>>();
    let (before, after) = (texts(&gone), texts(&come));
    let differs = |text: &&String| before.contains(text) != after.contains(text);
    let mut differing = before.iter().chain(&after).filter(differs).peekable();
    differing.peek()?;
    if differing.any(|text| pair.world.known.contains(text)) {
        return None;
    }
    let excludes = |part: &&Term| matches!(part, Term::OneOf { holds: false, .. } | Term::Within { holds: false, .. });
    Some(if all().filter(|p| named_texts(p).is_some()).all(excludes) { Models::Excluded } else { Models::Included })
}

/// The texts that a test of what is no argument names; `None` for any other part.
fn named_texts(part: &Term) -> Option<Vec<String>> {
    let text = |literal: &Literal| match literal {
        Literal::Str(text) => Some(text.clone()),
        _ => None,
    };
    match part {
        Term::OneOf { subject, values, .. } if subject.fields().is_empty() => values.iter().map(text).collect(),
        Term::Within { item, container, .. } if container.fields().is_empty() => Some(vec![text(item.literal()?)?]),
        Term::Any(arms) => arms.iter().map(named_texts).collect::<Option<Vec<_>>>().map(|t| t.concat()),
        _ => None,
    }
}

fn removed(pair: &Pair, old: &Meaning, new: &Meaning, case: &Merged) -> Change {
    let message = format!("{} is no longer set to {}", new.field, case.said());
    let level = if harmless(pair, case) { Level::Cosmetic } else { Level::Behaviour };
    Change::new(Code::RewriteRemoved, &new.field, level, message)
        .with(case.fields())
        .values(case.said(), serde_json::Value::Null)
        .places(Some(&case.rewrite.at), Some(&new.at).filter(|_| old.field != new.field))
        .grade(case.rewrite.grade)
}

fn added(pair: &Pair, old: Option<&Meaning>, new: &Meaning, case: &Merged) -> Change {
    let message = format!("{} is now set to {}", new.field, case.said());
    let unmet = harmless(pair, case) || pair.world.asks_for_unknown(&case.condition());
    let known = old.is_some_and(|old| of_a_new_kind(pair, old, case));
    let level = if unmet || known || old.is_none() { Level::Cosmetic } else { Level::Behaviour };
    let before: Option<&Spot> = None;
    Change::new(Code::RewriteAdded, &new.field, level, message)
        .with(case.fields())
        .values(serde_json::Value::Null, case.said())
        .places(before, Some(&case.rewrite.at))
        .grade(case.rewrite.grade)
}

/// Does a process compute, in a function that is new, what one of the old release computed already? Another kind of
/// worker that is made like the others is most likely asked for by something new.
fn of_a_new_kind(pair: &Pair, old: &Meaning, case: &Merged) -> bool {
    let computed = !matches!(case.to, Term::Literal(_) | Term::Hole);
    let is_same = |rewrite: &Rewrite| pair.blur.blurred(&pair.old.texts.term(&rewrite.to)) == case.to;
    case.rewrite.stage == Stage::Start && computed && old.rewrites.iter().any(is_same)
}

/// Does no launch of the old release meet it? What happens while the server runs comes of a request.
fn harmless(pair: &Pair, case: &Merged) -> bool {
    let tool = case.rewrite.grade < Grade::Proved && case.parts.is_empty();
    tool || case.rewrite.stage == Stage::Running || !pair.world.possible(&case.condition())
}

/// Parts of a condition as one text.
pub fn conjunction(parts: &[String]) -> String {
    let wrapped = |part: &String| {
        if parts.len() > 1 && part.contains(" or ") && !part.starts_with('(') {
            format!("({part})")
        } else {
            part.clone()
        }
    };
    parts.iter().map(wrapped).collect::<Vec<_>>().join(" and ")
}
