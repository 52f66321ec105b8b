//! Says what changed in the meaning of arguments between two releases.
//!
//! Both sides are [snapshots](snapshot): meanings in canonical form. The parts of a meaning are compared one kind at a
//! time, as sets; what is equal after it was [blurred](blur) to the names that both sides know is no change, wherever it
//! stands and however it is written. A change gets a code from the [table](codes) and a level from what a command line of
//! the old release can [meet](world) of it.
//!
//! It never looks at a tree: what a report does not say cannot be found to differ.

mod blur;
pub mod change;
mod checks;
pub mod codes;
mod declared;
pub mod history;
mod parse;
pub mod policy;
mod preamble;
mod relations;
pub mod renames;
mod rewrites;
mod scope;
pub mod snapshot;
mod term;
pub mod usage;
mod uses;
mod world;

use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;

use blur::{Blur, Texts};
use change::{Change, Diff};
use preamble::Preamble;
use snapshot::{Meaning, Snapshot};
use term::{Literal, Term};
use world::World;

/// One side.
struct Release<'s> {
    snapshot: &'s Snapshot,
    texts: Texts<'s>,
}

impl Release<'_> {
    /// The constants that the code makes of an argument, its default among them.
    fn constants(&self, meaning: &Meaning) -> BTreeSet<Literal> {
        let texts = meaning.rewrites.iter().map(|rewrite| &rewrite.to).chain(&meaning.default);
        texts.filter_map(|text| self.texts.term(text).literal().cloned()).collect()
    }

    /// What an argument can be: the values that are given, its default, and what the code makes of it. `None` if that can
    /// be anything.
    fn values(&self, meaning: &Meaning, given: BTreeSet<Literal>) -> Option<BTreeSet<Literal>> {
        let mut values = given;
        values.insert(self.texts.term(meaning.default.as_ref()?).literal()?.clone());
        for rewrite in &meaning.rewrites {
            match self.texts.term(&rewrite.to) {
                Term::Literal(value) => {
                    values.insert(value);
                }
                // Another form of the value itself.
                term if term.fields() == [meaning.field.as_str()] => {}
                _ => return None,
            }
        }
        Some(values)
    }
}

fn literal(value: &serde_json::Value) -> Option<Literal> {
    match value {
        serde_json::Value::Null => Some(Literal::None),
        serde_json::Value::Bool(b) => Some(Literal::Bool(*b)),
        serde_json::Value::Number(n) => n.as_i64().map(Literal::Int).or_else(|| n.as_f64().map(Literal::float)),
        serde_json::Value::String(s) => Some(Literal::Str(s.clone())),
        _ => None,
    }
}

/// Both sides, and what is known of them together.
struct Pair<'s> {
    old: Release<'s>,
    new: Release<'s>,
    blur: Blur,
    preamble: Preamble,
    world: World,
    /// Old names of arguments that have another one now.
    renames: &'s FxHashMap<String, String>,
}

impl Pair<'_> {
    /// The parts of a condition that say something of their own.
    fn parts(&self, condition: &Term) -> BTreeSet<Term> {
        self.blur.parts(condition).into_iter().filter(|part| !self.preamble.is_common(part)).collect()
    }

    /// The name that an argument has in the new release.
    fn renamed(&self, field: &str) -> String {
        self.renames.get(field).cloned().unwrap_or_else(|| field.to_owned())
    }

    fn renamed_fields(&self, fields: &[String]) -> Vec<String> {
        fields.iter().map(|f| self.renamed(f)).collect()
    }

    /// The old meaning of an argument by its new name.
    fn old_field(&self, name: &str) -> Option<&Meaning> {
        let was = self.renames.iter().find(|(_, new)| *new == name).map_or(name, |(old, _)| old);
        self.old.snapshot.field(was).filter(|m| m.field != name || !self.renames.contains_key(name))
    }
}

/// What changed from `old` to `new`, the worst first. With `fields`, only what is about one of them.
pub fn diff(old: &Snapshot, new: &Snapshot, fields: Option<&[String]>) -> Diff {
    let found = renames::find(old, new);
    let map: FxHashMap<String, String> = found.iter().map(|r| (r.from.clone(), r.to.clone())).collect();
    let none = FxHashMap::default();
    let names = |s: &Snapshot| s.fields.iter().map(|m| m.field.clone()).collect::<FxHashSet<String>>();
    let (old_names, new_names) = (names(old), names(new));
    let (old_texts, new_texts) = (Texts::new(&old_names, &map), Texts::new(&new_names, &none));
    let blur = Blur::of((old, &old_texts), (new, &new_texts));
    let (before, after) = (Release { snapshot: old, texts: old_texts }, Release { snapshot: new, texts: new_texts });
    let world = world(&before, &after, &map);
    let preamble = Preamble::of(&before, &after, &blur);
    let pair = Pair { world, preamble, old: before, new: after, blur, renames: &map };

    let mut changes: Vec<Change> = pair.preamble.changes();
    for meaning in &new.fields {
        match pair.old_field(&meaning.field) {
            Some(was) => changes.extend(of_field(&pair, was, meaning)),
            None => {
                changes.push(declared::added(meaning));
                changes.extend(rewrites::of_new_field(&pair, meaning));
            }
        }
    }
    for meaning in &old.fields {
        match found.iter().find(|r| r.from == meaning.field) {
            Some(rename) => {
                changes.extend(new.field(&rename.to).map(|now| renames::change(meaning, now, rename)));
            }
            None if new.field(&meaning.field).is_none() => changes.extend(declared::removed(&pair, meaning)),
            None => {}
        }
    }
    changes.extend(declared::retired(&pair));
    changes.extend(checks::changes(&pair));

    if let Some(fields) = fields {
        changes.retain(|change| change.about().any(|name| fields.iter().any(|f| f == name)));
    }
    let mut changes: Vec<Change> =
        changes.into_iter().map(|change| told_of_usual_flag(&pair, change).sealed()).collect();
    let key = |c: &Change| (Reverse(c.level), c.field.clone(), c.code, c.fingerprint.clone());
    changes.sort_by_cached_key(key);
    changes.dedup_by(|a, b| a.fingerprint == b.fingerprint);
    Diff { schema: change::SCHEMA.to_owned(), old: old.source.clone(), new: new.source.clone(), changes }
}

fn of_field(pair: &Pair, old: &Meaning, new: &Meaning) -> Vec<Change> {
    let mut out = declared::changes(pair, old, new);
    out.extend(scope::unit(old, new));
    out.extend(scope::held(pair, old, new));
    out.extend(scope::divided(pair, old, new));
    out.extend(rewrites::changes(pair, old, new));
    out.extend(relations::precedence(pair, old, new));
    out.extend(relations::active_when(pair, old, new));
    out.extend(uses::changes(pair, old, new));
    out
}

fn told_of_usual_flag(pair: &Pair, change: Change) -> Change {
    if change.flag.is_some() {
        return change;
    }
    let meaning = pair.new.snapshot.field(&change.field).or_else(|| pair.old.snapshot.field(&change.field));
    let flag = meaning.and_then(|m| m.flags.first()).cloned();
    change.flag(flag.as_deref())
}

fn world(old: &Release, new: &Release, renames: &FxHashMap<String, String>) -> World {
    let renamed: FxHashSet<&String> = renames.values().collect();
    let is_new = |m: &&Meaning| old.snapshot.field(&m.field).is_none() && !renamed.contains(&m.field);
    let is_gone = |m: &&Meaning| new.snapshot.field(&m.field).is_none() && !renames.contains_key(&m.field);
    let unset = |release: &Release, m: &Meaning| Some((m.field.clone(), release.values(m, BTreeSet::new())?));
    let new_fields = || new.snapshot.fields.iter().filter(is_new);
    let gone = old.snapshot.fields.iter().filter(is_gone).filter_map(|m| unset(old, m));
    let chosen = old.snapshot.fields.iter().filter(|m| !m.choices.is_empty() && !m.extensible).filter_map(|m| {
        let now = renames.get(&m.field).unwrap_or(&m.field);
        let given = m.choices.iter().filter_map(literal).collect();
        Some((now.clone(), new.values(new.snapshot.field(now)?, given)?))
    });
    let open = new_fields().filter_map(|m| unset(new, m)).chain(gone).chain(chosen).collect();
    let mut known = FxHashSet::default();
    for text in old.snapshot.texts() {
        old.texts.term(text).walk(&mut |term| match term {
            Term::Literal(Literal::Str(text)) => {
                known.insert(text.clone());
            }
            Term::OneOf { values, .. } => known.extend(values.iter().filter_map(|v| match v {
                Literal::Str(text) => Some(text.clone()),
                _ => None,
            })),
            _ => {}
        });
    }
    let newer = old.snapshot.fields.iter().filter(|m| !m.choices.is_empty()).filter_map(|m| {
        let now = renames.get(&m.field).unwrap_or(&m.field);
        let is = new.snapshot.field(now)?;
        let mut values: BTreeSet<Literal> = is.choices.iter().filter_map(literal).collect();
        let had: BTreeSet<Literal> = m.choices.iter().filter_map(literal).collect();
        let (was_set, is_set) = (old.constants(m), new.constants(is));
        values.retain(|v| !had.contains(v) && !was_set.contains(v) && !is_set.contains(v));
        Some((now.clone(), values))
    });
    World { open, new: new_fields().map(|m| m.field.clone()).collect(), newer: newer.collect(), known }
}
