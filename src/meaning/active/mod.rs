//! The conditions without which the value has no effect.
//!
//! Every way to consumption is a conjunction of conditions: those around the read, those on every way from the read to a
//! use, and those under which the code around the read runs at all. What all ways share is a condition of the field; if
//! each way has one of its own, these are alternatives. A way that is not understood has no conditions, which takes
//! conditions away and never adds one.

mod condition;
mod consumption;
mod context;
mod idle;
mod operand;
mod resolution;
mod uses;
mod ways;

use super::facts::{Facts, Shared};
use super::report::{ActiveWhen, Grade};
use super::wording::all_of;
use crate::program::{ExprRef, FuncRef};
use crate::syntax::ir::Sym;
use condition::{Condition, Conditions};
use consumption::Consumption;
use context::{Contexts, Level};
use resolution::Settled;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use ways::{All, Ways};

/// A test, and whether it is to hold.
type Asked = (ExprRef, bool);

/// What is known of tests and functions, whatever the field.
#[derive(Default)]
pub struct Known {
    /// What a test, and whether it is to hold, asks of fields.
    tests: RefCell<FxHashMap<Asked, Rc<[Condition]>>>,
    /// The levels to pass on the way to a function.
    sites: RefCell<FxHashMap<FuncRef, Rc<[Level]>>>,
    /// The ways by which a function comes to run.
    functions: RefCell<FxHashMap<FuncRef, Ways>>,
    /// What the record's own resolution settles.
    settled: OnceCell<Settled>,
}

/// More alternatives than this are no help to anyone.
const MAX_ALTERNATIVES: usize = 2;

pub fn claim(facts: &Facts) -> Vec<ActiveWhen> {
    let conditions = Conditions::new(facts.shared);
    let contexts = Contexts::new(&conditions);
    let consumption = Consumption::of(facts, &conditions, &contexts);
    let mut ways = consumption.ways();
    if !ways.is_free() {
        let settled = facts.shared.active.settled.get_or_init(|| Settled::of(&conditions));
        ways = settled.applied(&ways, facts.field());
    }
    let near = consumption::only_function(facts);
    let own = consumption.own_amount();
    let mut out: Vec<ActiveWhen> = own.iter().map(|c| entry(facts, &[c], None, is_near(facts, c, near))).collect();
    if let Some(common) = ways.common() {
        let shown = common.iter().filter(|c| !c.fields.contains(&facts.field()));
        out.extend(shown.map(|c| entry(facts, &[c], None, is_near(facts, c, near))));
        out.extend(alternatives(facts, &ways, &common));
    }
    out.sort_by(|a, b| (&a.any_of, &a.path, a.line, &a.condition).cmp(&(&b.any_of, &b.path, b.line, &b.condition)));
    out
}

/// The ways by which the code at an expression comes to run, each as the conditions on fields that hold together on it.
pub fn ways_to(shared: &Shared, at: ExprRef) -> Vec<Vec<String>> {
    let conditions = Conditions::new(shared);
    let ways = Contexts::new(&conditions).of_expr(at);
    ways.iter().map(|way| way.iter().map(|c| c.text.clone()).collect()).collect()
}

/// What is left of each way beside the common conditions, if each has something left.
fn alternatives(facts: &Facts, ways: &Ways, common: &All) -> Vec<ActiveWhen> {
    let mut groups: Vec<Vec<&Condition>> = Vec::new();
    for way in ways.iter() {
        let rest = way.iter().filter(|c| !common.has(c) && !c.fields.contains(&facts.field()));
        let rest: Vec<&Condition> = rest.collect();
        if rest.is_empty() {
            return Vec::new();
        }
        groups.push(rest);
    }
    let by_default = groups.iter().any(|group| group.iter().all(|c| is_default(facts, c)));
    if by_default || !(2..=MAX_ALTERNATIVES).contains(&groups.len()) {
        return Vec::new();
    }
    groups.iter().map(|group| entry(facts, group, Some("a"), false)).collect()
}

/// Does the condition hold of itself, for fields that are left alone?
fn is_default(facts: &Facts, condition: &Condition) -> bool {
    let holds = |field: &Sym| {
        let declared = facts.shared.definitions.by_name(*field);
        declared.and_then(|d| d.definition.default.as_deref()).is_some_and(|d| condition.holds_for(*field, d))
    };
    condition.fields.iter().all(holds)
}

/// Does the condition stand in the one function that reads the field?
fn is_near(facts: &Facts, condition: &Condition, near: Option<FuncRef>) -> bool {
    near.is_some() && facts.shared.processes.function_around(condition.at) == near
}

fn entry(facts: &Facts, conditions: &[&Condition], any_of: Option<&str>, near: bool) -> ActiveWhen {
    let fields: BTreeSet<String> = conditions.iter().flat_map(|c| c.fields.iter().map(|f| f.to_string())).collect();
    let texts: Vec<&str> = conditions.iter().map(|c| c.text.as_str()).collect();
    let place = conditions.iter().map(|c| facts.shared.place(c.at)).next().unwrap_or_default();
    let proved = near && conditions.iter().all(|c| c.direct) && facts.reads().all(|r| r.sure);
    ActiveWhen {
        field: fields.into_iter().collect(),
        condition: all_of(&texts),
        any_of: any_of.map(str::to_owned),
        path: place.path,
        line: place.line,
        grade: if proved { Grade::Proved } else { Grade::Inferred },
    }
}
