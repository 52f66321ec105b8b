//! Which of two settings wins or fills the other, and what an argument needs to have an effect.

use std::collections::BTreeSet;

use super::change::{Change, Level};
use super::codes::Code;
use super::rewrites::conjunction;
use super::snapshot::{Active, Meaning, Relation};
use super::term::Term;
use super::{Pair, Release};
use crate::meaning::report::Grade;

/// A relation is told of the argument that it changes; the mirror on the other says no more.
const MIRRORS: &[&str] = &["overrides", "implies", "disables"];

const WORDS: &[(&str, &str)] = &[
    ("overridden_by", "overridden by"),
    ("default_from", "filled from"),
    ("overrides", "stronger than"),
    ("implies", "a source for"),
    ("disables", "a switch off for"),
];

pub fn precedence(pair: &Pair, old: &Meaning, new: &Meaning) -> Vec<Change> {
    let key = |r: &Relation| (r.relation.clone(), r.other_kind.clone(), pair.renamed(&r.other));
    let keys = |m: &Meaning| m.precedence.iter().filter(|r| told_here(pair, r)).map(key).collect::<BTreeSet<_>>();
    let (before, after) = (keys(old), keys(new));
    let find =
        |m: &'_ Meaning, wanted: &(String, String, String)| m.precedence.iter().find(|r| key(r) == *wanted).cloned();
    let mut out = Vec::new();
    for gone in before.difference(&after) {
        let Some(relation) = find(old, gone) else { continue };
        // Of an argument that is gone itself nothing more is to be said.
        if relation.other_kind == "field" && pair.new.snapshot.field(&gone.2).is_none() {
            continue;
        }
        // One that is written another way lives on in what is set under its condition.
        if still_sets(pair, new, &gone.2) && old_sets(&relation) {
            continue;
        }
        let message = format!("{} is no longer {} {}", new.field, word(&relation.relation), gone.2);
        out.push(
            change(new, &relation, gone.2.clone(), level(&relation), message)
                .values(said(&relation), serde_json::Value::Null)
                .places(Some(&relation.at), None),
        );
    }
    for come in after.difference(&before) {
        let Some(relation) = find(new, come) else { continue };
        let other_is_new = relation.other_kind == "field" && pair.old_field(&come.2).is_none();
        let condition = pair.blur.blurred(&pair.new.texts.all(&relation.when));
        let unmet = !pair.world.possible(&condition) || pair.world.asks_for_unknown(&condition);
        let level = if other_is_new || unmet { Level::Cosmetic } else { level(&relation) };
        let message = format!("{} is now {} {}", new.field, word(&relation.relation), come.2);
        out.push(
            change(new, &relation, come.2.clone(), level, message)
                .values(serde_json::Value::Null, said(&relation))
                .places(None, Some(&relation.at)),
        );
    }
    out
}

/// Is the argument replaced under a condition on the other?
fn still_sets(pair: &Pair, meaning: &Meaning, other: &str) -> bool {
    let asks = |text: &String| pair.new.texts.term(text).fields().contains(&other);
    meaning.rewrites.iter().any(|rewrite| rewrite.when.iter().any(asks))
}

fn old_sets(relation: &Relation) -> bool {
    relation.relation == "overridden_by" && relation.other_kind == "field"
}

/// Is the relation told of this argument, and not of the other?
fn told_here(pair: &Pair, relation: &Relation) -> bool {
    let other_is_field =
        relation.other_kind == "field" && pair.new.snapshot.field(&pair.renamed(&relation.other)).is_some();
    !(other_is_field && MIRRORS.contains(&relation.relation.as_str()))
}

fn word(relation: &str) -> &str {
    WORDS.iter().find(|(name, _)| *name == relation).map_or(relation, |(_, words)| words)
}

fn level(relation: &Relation) -> Level {
    if relation.grade == Grade::Proved { Level::Behaviour } else { Level::Cosmetic }
}

fn change(meaning: &Meaning, relation: &Relation, other: String, level: Level, message: String) -> Change {
    let others = (relation.other_kind == "field").then_some(other);
    Change::new(Code::PrecedenceChanged, &meaning.field, level, message).with(others).grade(relation.grade)
}

fn said(relation: &Relation) -> serde_json::Value {
    let when = if relation.when.is_empty() { String::new() } else { format!(" when {}", conjunction(&relation.when)) };
    format!("{} {}{when}", word(&relation.relation), relation.other).into()
}

/// Told once for all conditions: they are read together.
pub fn active_when(pair: &Pair, old: &Meaning, new: &Meaning) -> Option<Change> {
    let before = conditions(pair, &pair.old, old);
    let after = conditions(pair, &pair.new, new);
    if before == after {
        return None;
    }
    let only = |all: &[Active], side: &BTreeSet<Term>, release: &Release, other: &BTreeSet<Term>| {
        all.iter()
            .find(|a| {
                let term = condition(pair, release, a);
                side.contains(&term) && !other.contains(&term)
            })
            .map(|a| (a.at.clone(), a.grade))
    };
    let gone = only(&old.active_when, &before, &pair.old, &after);
    let come = only(&new.active_when, &after, &pair.new, &before);
    // That there is none is as sure as where the value goes.
    let silent = |side: &BTreeSet<Term>, meaning: &Meaning| side.is_empty().then_some(meaning.scope_grade);
    let silent = [silent(&before, old), silent(&after, new)].into_iter().flatten().filter(|g| *g != Grade::Unknown);
    let grades = [&gone, &come].into_iter().flatten().map(|(_, grade)| *grade).chain(silent);
    let grade = grades.min().unwrap_or_default();
    // A condition that every command line of the old release meets changes nothing for it.
    let met = |side: &BTreeSet<Term>| side.iter().all(|t| !pair.world.possible(&t.clone().negated()));
    let harmless =
        met(&after.difference(&before).cloned().collect()) && met(&before.difference(&after).cloned().collect());
    let level = if grade == Grade::Proved && !harmless { Level::Behaviour } else { Level::Cosmetic };
    let fields = after.symmetric_difference(&before).flat_map(Term::fields).map(str::to_owned).collect::<Vec<_>>();
    let message = match (before.is_empty(), after.is_empty()) {
        (true, _) => format!("{} now has an effect only under a condition", new.field),
        (_, true) => format!("{} has an effect without a condition", new.field),
        _ => format!("{} has an effect under another condition", new.field),
    };
    Some(
        Change::new(Code::ActiveWhenChanged, &new.field, level, message)
            .with(fields)
            .values(all_said(&old.active_when), all_said(&new.active_when))
            .places(gone.as_ref().map(|(at, _)| at), come.as_ref().map(|(at, _)| at))
            .grade(grade),
    )
}

fn conditions(pair: &Pair, release: &Release, meaning: &Meaning) -> BTreeSet<Term> {
    let terms = meaning.active_when.iter().map(|a| condition(pair, release, a));
    // What a value has to be itself to count is no condition on others.
    let name = pair.renamed(&meaning.field);
    let own = |term: &Term| term.fields() == [name.as_str()];
    let says_something = |term: &Term| !matches!(term, Term::Hole | Term::Literal(_));
    terms.filter(|t| says_something(t) && !own(t) && !told_as_rewrite(pair, release, meaning, t)).collect()
}

/// Does the argument, together with the condition, do no more than replace another? That is told of the other.
fn told_as_rewrite(pair: &Pair, release: &Release, meaning: &Meaning, condition: &Term) -> bool {
    let name = pair.renamed(&meaning.field);
    let rewrites = release.snapshot.fields.iter().filter(|m| m.field != meaning.field).flat_map(|m| &m.rewrites);
    let mentions = |rewrite: &&super::snapshot::Rewrite| rewrite.when.iter().any(|text| text.contains(&meaning.field));
    let about = |part: &Term| part.fields().contains(&name.as_str());
    // Beside the condition, or as the arm that is asked where the condition fails: `fast or wide`.
    let otherwise = condition.clone().negated();
    rewrites.filter(mentions).any(|rewrite| {
        let parts = pair.blur.parts(&release.texts.all(&rewrite.when));
        let beside = parts.contains(condition) && parts.iter().any(|part| part != condition && about(part));
        let instead =
            |part: &Term| matches!(part, Term::Any(arms) if arms.contains(&otherwise) && arms.iter().any(about));
        beside || parts.iter().any(instead)
    })
}

fn condition(pair: &Pair, release: &Release, active: &Active) -> Term {
    pair.blur.blurred(&Term::any(active.any_of.iter().map(|text| release.texts.term(text))))
}

fn all_said(all: &[Active]) -> serde_json::Value {
    let texts: Vec<String> = all.iter().map(|a| a.any_of.iter().cloned().collect::<Vec<_>>().join(" or ")).collect();
    if texts.is_empty() { serde_json::Value::Null } else { conjunction(&texts).into() }
}
