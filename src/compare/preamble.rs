//! What nearly every rewrite of a release is under.
//!
//! An early return at the top of the resolution is a condition of all that follows. It is one fact of the release, not one
//! of each argument, so it is taken out of the conditions, and told once where only one release has it.

use std::collections::{BTreeMap, BTreeSet};

use super::Release;
use super::blur::Blur;
use super::change::{Change, Level};
use super::codes::Code;
use super::snapshot::{Rewrite, Spot};
use super::term::Term;
use crate::meaning::beside::Stage;

/// A part that stands in so many of a hundred conditions is common.
const COMMON: usize = 60;
/// One that stands in fewer is none of the release's.
const RARE: usize = 5;
/// Of fewer rewrites nothing is said.
const LEAST: usize = 12;

pub struct Preamble {
    /// The common parts of either release.
    common: BTreeSet<Term>,
    /// Those that one release has, with a place, and does the new one have it?
    differing: Vec<(Term, Spot, bool)>,
}

impl Preamble {
    pub fn of(old: &Release, new: &Release, blur: &Blur) -> Preamble {
        let (before, after) = (shares(old, blur), shares(new, blur));
        let share = |side: &Shares, part: &Term| side.get(part).map_or(0, |(share, _)| *share);
        let parts: BTreeSet<&Term> = before.keys().chain(after.keys()).collect();
        let is_common = |part: &&&Term| share(&before, part) >= COMMON || share(&after, part) >= COMMON;
        let common: BTreeSet<Term> = parts.iter().filter(is_common).map(|part| (**part).clone()).collect();
        let one_sided = common.iter().filter_map(|part| match (before.get(part), after.get(part)) {
            (was, Some((_, at))) if was.is_none_or(|(share, _)| *share <= RARE) => {
                Some((part.clone(), at.clone(), true))
            }
            (Some((_, at)), is) if is.is_none_or(|(share, _)| *share <= RARE) => {
                Some((part.clone(), at.clone(), false))
            }
            _ => None,
        });
        // With too few rewrites on a side there is nothing to compare.
        let enough = |release: &Release| rewrites(release).count() >= LEAST;
        let differing = if enough(old) && enough(new) { one_sided.collect() } else { Vec::new() };
        Preamble { common, differing }
    }

    pub fn is_common(&self, part: &Term) -> bool {
        self.common.contains(part)
    }

    pub fn changes(&self) -> Vec<Change> {
        let told = |(part, at, is_new): &(Term, Spot, bool)| {
            let field = part.fields().first().map(|f| (*f).to_owned())?;
            let otherwise = part.clone().negated();
            let message = match is_new {
                true => format!("no argument is filled in or replaced any more when {otherwise}"),
                false => format!("arguments are filled in and replaced also when {otherwise}"),
            };
            let change = Change::new(Code::RewriteChanged, &field, Level::Behaviour, message);
            Some(match is_new {
                true => change.values(serde_json::Value::Null, format!("only when {part}")).places(None, Some(at)),
                false => change.values(format!("only when {part}"), serde_json::Value::Null).places(Some(at), None),
            })
        };
        self.differing.iter().filter_map(told).collect()
    }
}

/// For each part of a condition, in how many of a hundred rewrites it stands, and the first place.
type Shares = BTreeMap<Term, (usize, Spot)>;

fn rewrites<'r>(release: &'r Release) -> impl Iterator<Item = &'r Rewrite> {
    release.snapshot.fields.iter().flat_map(|m| &m.rewrites).filter(|r| r.stage == Stage::Resolution)
}

fn shares(release: &Release, blur: &Blur) -> Shares {
    let total = rewrites(release).count();
    if total < LEAST {
        return Shares::new();
    }
    let mut counts: BTreeMap<Term, (usize, Spot)> = BTreeMap::new();
    for rewrite in rewrites(release) {
        for part in blur.parts(&release.texts.all(&rewrite.when)) {
            let known = counts.entry(part).or_insert_with(|| (0, rewrite.at.clone()));
            known.0 += 1;
        }
    }
    counts.into_iter().map(|(part, (count, at))| (part, (100 * count / total, at))).collect()
}
