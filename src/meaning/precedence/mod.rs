//! Which other field, variable or request wins over this one, or gives way to it.
//!
//! The evidence is of two kinds: rewrites of the record and of the environment, with what they stand under and what they
//! read ([`rewrites`]), and arms of a choice of which one takes this field and the other another ([`arms`]). Both are
//! *bends*; a bend between two fields is told of both. A gate is no precedence, nor is a check or a division.

mod arms;
mod asks;
mod bend;
mod reasons;
mod rewrites;
mod sources;
mod writes;

use super::facts::Facts;
use super::report::Precedence;
use bend::{Bend, Party, Way};
pub use rewrites::Rewrites;

pub fn claim(facts: &Facts) -> Vec<Precedence> {
    let mut bends = rewrites::around(facts);
    let more = arms::around(facts, &bends);
    bends.extend(more);
    // The surest, then the first in the tree, stands for all of one kind.
    bends.sort_by_key(|b| (!b.sure, b.at));
    let mut out: Vec<Precedence> = Vec::new();
    for bend in &bends {
        let Some((relation, other, kind)) = told_of(facts, bend) else { continue };
        if other == facts.field().as_str() || out.iter().any(|p| p.relation == relation && p.other == other) {
            continue;
        }
        out.push(bend::claim(facts.shared, bend, relation, other, kind));
    }
    out.sort_by(|a, b| (&a.relation, &a.other, &a.path, a.line).cmp(&(&b.relation, &b.other, &b.path, b.line)));
    out
}

/// A bend as the field of the report sees it.
fn told_of(facts: &Facts, bend: &Bend) -> Option<(&'static str, String, &'static str)> {
    let own = Party::Field(facts.field());
    if bend.bent == own {
        let relation = match bend.way {
            Way::Fills => "default_from",
            Way::Replaces | Way::Clears => "overridden_by",
        };
        return Some((relation, bend.by.name(), bend.by.kind()));
    }
    let relation = match bend.way {
        Way::Fills => "implies",
        Way::Replaces => "overrides",
        Way::Clears => "disables",
    };
    (bend.by == own).then(|| (relation, bend.bent.name(), bend.bent.kind()))
}
