//! Is what arrives at a place still the field's value, or a number made from it?
//!
//! Arithmetic, conversions and copies carry it. Counting up to it, looking something up by it, handing it to code that
//! we cannot see, and passing it through an attribute that unrelated callers fill as well lose it.

use super::super::facts::Facts;
use crate::flow::graph::{EdgeKind, Op, Slot};
use crate::flow::trace::StateId;
use crate::program::{ExprRef, FuncRef};
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is left of the value on arrival.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Nothing was computed.
    pub untouched: bool,
    /// How many attributes and module variables it was kept in on the way; each can hold other values too.
    pub stores: u32,
}

/// Calls whose result is the value in another form.
const KEEPS: [&str; 22] = [
    "int", "float", "str", "bool", "list", "tuple", "set", "sorted", "round", "ceil", "floor", "abs", "len", "max",
    "min", "sum", "Path", "loads", "deepcopy", "copy", "cdiv", "ceil_div",
];
/// Methods of strings and containers that yield a part or another form.
const PARTS: [&str; 14] = [
    "split",
    "lower",
    "upper",
    "strip",
    "rstrip",
    "lstrip",
    "removeprefix",
    "removesuffix",
    "replace",
    "get",
    "pop",
    "items",
    "values",
    "copy",
];
/// Functions with names as common as this are asked no callers.
const MANY_FILES: usize = 60;

pub struct Carriers<'a, 's, 'g, 'p> {
    facts: &'a Facts<'s, 'g, 'p>,
    reached: FxHashSet<ExprRef>,
    shared: FxHashMap<(FuncRef, u32), bool>,
}

impl<'a, 's, 'g, 'p> Carriers<'a, 's, 'g, 'p> {
    pub fn new(facts: &'a Facts<'s, 'g, 'p>) -> Self {
        let reached = facts.reached().into_iter().map(|(_, at)| at).collect();
        Carriers { facts, reached, shared: FxHashMap::default() }
    }

    /// How the value comes to a state that stands in a test; `None` if it does not.
    pub fn to(&mut self, id: StateId, test: ExprRef) -> Option<Carried> {
        let trace = &self.facts.trace;
        let way = trace.way_to(id);
        let mut out = Carried { untouched: true, stores: 0 };
        let mut entered: Vec<(FuncRef, u32)> = Vec::new();
        for pair in way.windows(2) {
            let Some(arrival) = trace.state(pair[1]).arrivals.iter().find(|a| a.from == pair[0]) else { continue };
            if let Some((file, op)) = arrival.op {
                out.untouched = false;
                let kept = match op {
                    // A list of that length is not the value.
                    Op::Binary { other, .. } => !matches!(
                        self.facts.shared.ir(file).expr(other),
                        Expr::List(_) | Expr::Tuple(_) | Expr::Str(_) | Expr::FString { .. }
                    ),
                    Op::Compare { .. } | Op::Not | Op::Negate | Op::Element | Op::Iterate => true,
                    Op::Call { name, at } => KEEPS.contains(&name.as_str()) || self.inside(test, file, at),
                    Op::Method { name, at } => PARTS.contains(&name.as_str()) || self.inside(test, file, at),
                    Op::Select { .. } | Op::Format => false,
                };
                if !kept {
                    return None;
                }
            }
            let to = trace.state(pair[1]).node.slot;
            match (arrival.kind, to) {
                (EdgeKind::Argument(_), Slot::Def(file, Scope::Func(func), def)) => {
                    entered.push((FuncRef { file, func }, def.0));
                }
                (EdgeKind::Attribute | EdgeKind::Global, Slot::Attr(..) | Slot::Global(..)) => {
                    out.stores += 1;
                    if std::mem::take(&mut entered).into_iter().any(|p| self.is_shared(p)) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        Some(out)
    }

    fn inside(&self, test: ExprRef, file: crate::program::FileId, at: ExprId) -> bool {
        file == test.file && self.facts.shared.ir(file).contains(test.expr, at)
    }

    /// Do as many calls give the parameter something else as give it this value?
    fn is_shared(&mut self, (func, param): (FuncRef, u32)) -> bool {
        if let Some(known) = self.shared.get(&(func, param)) {
            return *known;
        }
        let shared = self.facts.shared;
        let program = shared.program();
        let name = program.func(func).name;
        let many = name != "__init__" && program.files_with(name).len() > MANY_FILES;
        let found = many || {
            let types = &shared.graph.types;
            let callers = types.callers(func);
            let given = callers.iter().filter_map(|site| types.argument_for(site.call, func, param));
            let (ours, others): (Vec<ExprRef>, Vec<ExprRef>) = given.partition(|at| self.reached.contains(at));
            others.len() > ours.len().max(1)
        };
        self.shared.insert((func, param), found);
        found
    }
}
