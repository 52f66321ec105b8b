//! Is what arrives at a place still the field's value, or a number made from it?
//!
//! Arithmetic, conversions and copies carry it. Counting up to it, looking something up by it, handing it to code that
//! we cannot see, and passing it through an attribute that unrelated callers fill as well lose it.

use super::super::facts::Facts;
use crate::flow::graph::{EdgeKind, Op, Slot};
use crate::flow::origin::assigned_value;
use crate::flow::trace::StateId;
use crate::program::{ClassRef, ExprRef, FileId, FuncRef};
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is left of the value on arrival.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Nothing was computed.
    pub untouched: bool,
    /// Still an amount of the same thing, perhaps scaled or shared out; not what is left of another one.
    pub amount: bool,
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
/// Methods that put a value into their container.
const PUTS: [&str; 7] = ["append", "add", "extend", "insert", "put", "setdefault", "update"];
/// Functions with names as common as this are asked no callers.
const MANY_FILES: usize = 60;

pub struct Carriers<'a, 's, 'g, 'p> {
    facts: &'a Facts<'s, 'g, 'p>,
    reached: FxHashSet<ExprRef>,
    shared: FxHashMap<(FuncRef, u32), bool>,
    counters: FxHashMap<(ClassRef, Sym), bool>,
}

impl<'a, 's, 'g, 'p> Carriers<'a, 's, 'g, 'p> {
    pub fn new(facts: &'a Facts<'s, 'g, 'p>) -> Self {
        let reached = facts.reached().into_iter().map(|(_, at)| at).collect();
        Carriers { facts, reached, shared: FxHashMap::default(), counters: FxHashMap::default() }
    }

    /// How the value comes to a state that stands in a test; `None` if it does not.
    pub fn to(&mut self, id: StateId, test: ExprRef) -> Option<Carried> {
        let trace = &self.facts.trace;
        let way = trace.way_to(id);
        let mut out = Carried { untouched: true, amount: true, stores: 0 };
        let mut entered: Vec<(FuncRef, u32)> = Vec::new();
        let (mut contained, mut listed) = (false, false);
        for pair in way.windows(2) {
            let Some(arrival) = trace.state(pair[1]).arrivals.iter().find(|a| a.from == pair[0]) else { continue };
            if let Some((file, op)) = arrival.op {
                out.untouched = false;
                out.amount &= self.is_amount(file, op);
                let kept = match op {
                    // A list of that length is not the value.
                    Op::Binary { other, .. } => !matches!(
                        self.facts.shared.ir(file).expr(other),
                        Expr::List(_) | Expr::Tuple(_) | Expr::Str(_) | Expr::FString(_)
                    ),
                    Op::Compare { .. } | Op::Not | Op::Negate | Op::Element | Op::Iterate => true,
                    // How many there are does not hang on what one of them is.
                    Op::Call { name, .. } if name == "len" && listed => false,
                    Op::Call { name, at } => KEEPS.contains(&name.as_str()) || self.inside(test, file, at),
                    // A part of an object that the value was only put into.
                    Op::Method { .. } if contained => false,
                    Op::Method { name, at } => PARTS.contains(&name.as_str()) || self.inside(test, file, at),
                    Op::Select { .. } | Op::Format => false,
                };
                if !kept {
                    return None;
                }
            }
            // What was entered and left again shares nothing with its other callers.
            if let Slot::Return(left) = trace.state(pair[0]).node.slot {
                entered.retain(|(func, _)| *func != left);
            }
            let (from, to) = (trace.state(pair[0]).node.slot, trace.state(pair[1]).node.slot);
            contained |= matches!((from, to), (Slot::Expr(at), Slot::Def(..) | Slot::Attr(..) | Slot::Global(..))
                if !matches!(arrival.kind, EdgeKind::Argument(_)) && self.is_put(at));
            listed |= contained || matches!(to, Slot::Expr(at) if self.is_listing(at));
            match (arrival.kind, to) {
                (EdgeKind::Argument(_), Slot::Def(file, Scope::Func(func), def)) => {
                    entered.push((FuncRef { file, func }, def.0));
                }
                (EdgeKind::Attribute | EdgeKind::Global, Slot::Attr(..) | Slot::Global(..)) => {
                    out.stores += 1;
                    let shared = std::mem::take(&mut entered).into_iter().any(|p| self.is_shared(p));
                    if shared || matches!(to, Slot::Attr(class, attr) if self.counts(class, attr)) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        Some(out)
    }

    /// `container.update(value)`: the value becomes one of many things there.
    fn is_put(&self, at: ExprRef) -> bool {
        let ir = self.facts.shared.ir(at.file);
        let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return false };
        let Expr::Call { func, .. } = ir.expr(up) else { return false };
        matches!(ir.expr(*func), Expr::Attr { attr, .. } if PUTS.contains(&attr.as_str()))
    }

    /// `[a, value]`: the value is one of so many.
    fn is_listing(&self, at: ExprRef) -> bool {
        let ir = self.facts.shared.ir(at.file);
        matches!(ir.expr(at.expr), Expr::List(_) | Expr::Tuple(_) | Expr::Set(_) | Expr::Dict(_))
    }

    /// `value * n` and `value // n` are such amounts; `n // value` and `n - value` are not.
    fn is_amount(&self, file: FileId, op: Op) -> bool {
        let Op::Binary { op, other, left, .. } = op else { return true };
        match op {
            BinOp::Div | BinOp::FloorDiv | BinOp::Mod | BinOp::Pow => left,
            BinOp::Sub if !left => false,
            BinOp::Add | BinOp::Sub => self.facts.shared.program().constant(ExprRef { file, expr: other }).is_some(),
            _ => true,
        }
    }

    /// Is the attribute a counter, moved while the server runs?
    fn counts(&mut self, class: ClassRef, attr: Sym) -> bool {
        if let Some(known) = self.counters.get(&(class, attr)) {
            return *known;
        }
        let shared = self.facts.shared;
        let program = shared.program();
        let found = program.mro(class).iter().any(|class| {
            let ir = program.ir(class.file);
            program.self_stores(*class, attr).into_iter().any(|target| {
                let Parent::Stmt(stmt) = ir.exprs[target.index()].parent else { return false };
                let moves = matches!(ir.stmt(stmt).kind, Stmt::AugAssign { op: BinOp::Add | BinOp::Sub, .. });
                let at = ExprRef { file: class.file, expr: target };
                moves && !shared.processes.function_around(at).is_some_and(|f| shared.startup.starts(f))
            })
        });
        self.counters.insert((class, attr), found);
        found
    }

    /// Is what arrives the value each time? Where it is one of two alternatives, the other can arrive; an attribute of one
    /// class is shared by its objects, so that one can be read of an object that was given something else.
    pub fn alone(&self, id: StateId) -> bool {
        let trace = &self.facts.trace;
        let mut entered: Vec<(FuncRef, u32)> = Vec::new();
        trace.way_to(id).windows(2).all(|pair| {
            let (from, to) = (trace.state(pair[0]), trace.state(pair[1]));
            let Some(arrival) = to.arrivals.iter().find(|a| a.from == pair[0]) else { return true };
            if let (EdgeKind::Argument(_), Slot::Def(file, Scope::Func(func), def)) = (arrival.kind, to.node.slot) {
                entered.push((FuncRef { file, func }, def.0));
            }
            if let Slot::Expr(at) = to.node.slot
                && matches!(self.facts.shared.ir(at.file).expr(at.expr), Expr::IfExp { .. } | Expr::Bool { .. })
            {
                return false;
            }
            let Slot::Attr(class, attr) = from.node.slot else { return true };
            let stored = self.stored(class, attr);
            let is_only = |(func, param): &(FuncRef, u32)| self.given(*func, *param).is_some_and(|(_, o)| o.is_empty());
            arrival.sure
                || !stored.is_empty() && stored.iter().all(|v| self.reached.contains(v)) && entered.iter().all(is_only)
        })
    }

    /// What the class and those related to it store in an attribute.
    fn stored(&self, class: ClassRef, attr: Sym) -> Vec<ExprRef> {
        let program = self.facts.shared.program();
        let subclasses = program.subclasses(class);
        let mut related: Vec<ClassRef> = program.mro(class).to_vec();
        related.extend(subclasses.iter().flat_map(|c| program.mro(*c).to_vec()));
        related.sort();
        related.dedup();
        let targets = related.iter().flat_map(|c| program.self_stores(*c, attr).into_iter().map(|t| (c.file, t)));
        let value = |(file, target)| ExprRef { file, expr: assigned_value(program.ir(file), target).unwrap_or(target) };
        targets.map(value).collect()
    }

    fn inside(&self, test: ExprRef, file: FileId, at: ExprId) -> bool {
        file == test.file && self.facts.shared.ir(file).contains(test.expr, at)
    }

    /// Do as many calls give the parameter something else as give it this value?
    fn is_shared(&mut self, (func, param): (FuncRef, u32)) -> bool {
        if let Some(known) = self.shared.get(&(func, param)) {
            return *known;
        }
        let found = self.given(func, param).is_none_or(|(ours, others)| others.len() > ours.len().max(1));
        self.shared.insert((func, param), found);
        found
    }

    /// The arguments that are this value, and the others; `None` if the function has too many callers to ask.
    fn given(&self, func: FuncRef, param: u32) -> Option<(Vec<ExprRef>, Vec<ExprRef>)> {
        let shared = self.facts.shared;
        let program = shared.program();
        let name = program.func(func).name;
        if name != "__init__" && program.files_with(name).len() > MANY_FILES {
            return None;
        }
        let types = &shared.graph.types;
        let callers = types.callers(func);
        let given = callers.iter().filter_map(|site| types.argument_for(site.call, func, param));
        Some(given.partition(|at| self.reached.contains(at)))
    }
}
