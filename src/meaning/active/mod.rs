//! The conditions without which the value has no effect.
//!
//! Every way to consumption is a conjunction of conditions: those around the read, those on every way from the read to a
//! use, and those under which the code around the read runs at all. What all ways share is a condition of the field; if
//! each way has one of its own, these are alternatives. A way that is not understood has no conditions, which takes
//! conditions away and never adds one.

mod condition;
mod consumption;
mod context;
mod resolution;

use super::facts::Facts;
use super::report::{ActiveWhen, Grade};
use crate::program::FuncRef;
use condition::{Condition, Conditions, Ways};
use context::Contexts;
use std::collections::BTreeSet;

/// More alternatives than this are no help to anyone.
const MAX_ALTERNATIVES: usize = 2;

pub fn claim(facts: &Facts) -> Vec<ActiveWhen> {
    let conditions = Conditions::new(facts.shared);
    let contexts = Contexts::new(&conditions);
    let ways = consumption::ways(facts, &conditions, &contexts);
    let ways = resolution::settled(facts, &conditions, &ways);
    let Some(common) = ways.common() else { return Vec::new() };
    let near = consumption::only_function(facts);
    let shown = common.iter().filter(|c| says_something(facts, c));
    let mut out: Vec<ActiveWhen> = shown.map(|c| entry(facts, &[c], None, is_near(facts, c, near))).collect();
    out.extend(alternatives(facts, &ways, &common));
    out.sort_by(|a, b| (&a.any_of, &a.path, a.line, &a.condition).cmp(&(&b.any_of, &b.path, b.line, &b.condition)));
    out
}

/// What is left of each way beside the common conditions, if each has something left.
fn alternatives(facts: &Facts, ways: &Ways, common: &condition::All) -> Vec<ActiveWhen> {
    let mut groups: Vec<Vec<&Condition>> = Vec::new();
    for way in ways.iter() {
        let rest = way.iter().filter(|c| !common.has(c) && says_something(facts, c) && !c.is_self(facts.field()));
        let rest: Vec<&Condition> = rest.collect();
        if rest.is_empty() {
            return Vec::new();
        }
        groups.push(rest);
    }
    if !(2..=MAX_ALTERNATIVES).contains(&groups.len()) {
        return Vec::new();
    }
    groups.iter().map(|group| entry(facts, group, Some("a"), false)).collect()
}

/// Does the condition stand in the one function that reads the field?
fn is_near(facts: &Facts, condition: &Condition, near: Option<FuncRef>) -> bool {
    near.is_some() && facts.shared.processes.function_around(condition.at) == near
}

/// That a switch must be on, or an optional value given, to have an effect goes without saying; a number that means
/// "off" does not.
fn says_something(facts: &Facts, condition: &Condition) -> bool {
    !condition.fields.contains(&facts.field()) || (condition.is_self(facts.field()) && condition.is_amount)
}

fn entry(facts: &Facts, conditions: &[&Condition], any_of: Option<&str>, near: bool) -> ActiveWhen {
    let fields: BTreeSet<String> = conditions.iter().flat_map(|c| c.fields.iter().map(|f| f.to_string())).collect();
    let texts: Vec<&str> = conditions.iter().map(|c| c.text.as_str()).collect();
    let place = conditions.iter().map(|c| facts.shared.place(c.at)).next().unwrap_or_default();
    let proved = near && conditions.iter().all(|c| c.direct) && facts.reads().all(|r| r.sure);
    ActiveWhen {
        field: fields.into_iter().collect(),
        condition: texts.join(" and "),
        any_of: any_of.map(str::to_owned),
        path: place.path,
        line: place.line,
        grade: if proved { Grade::Proved } else { Grade::Inferred },
    }
}
