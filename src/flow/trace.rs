//! Follows values through the graph, calls and returns matched.
//!
//! A **state** is a node together with the parameter through which the walk entered the function around it. A value that
//! started inside a function (a read of a field, an attribute) may return to every caller; one that came in through a
//! parameter returns only to the calls that brought it there.

use super::graph::*;
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StateId(pub u32);

#[derive(Clone, Debug)]
pub struct Arrival {
    pub from: StateId,
    pub kind: EdgeKind,
    pub op: Option<(FileId, Op)>,
    pub sure: bool,
}

#[derive(Clone, Debug)]
pub struct State {
    pub node: Node,
    /// The parameter (with path) through which the function was entered.
    pub entry: Option<Node>,
    /// How it was reached, first way first.
    pub arrivals: Vec<Arrival>,
    /// Steps from a start.
    pub distance: u32,
    /// How far the value has been diluted on the way; see [`dilution`].
    pub cost: u32,
}

/// The part of the graph that the starts reach.
pub struct Trace {
    pub states: Vec<State>,
    pub starts: Vec<StateId>,
    /// Each with the state from which it was first met, which is the cheapest.
    pub dead_ends: Vec<(StateId, DeadEnd)>,
    /// Was the walk cut short by the bound?
    pub cut: bool,
}

/// Bounds one walk; the widest field of the largest release we know reaches some thousands.
pub const MAX_STATES: usize = 6_000;

/// A value diluted further than this says nothing of the field any more: it is a number that many things went into.
pub const MAX_COST: u32 = 8;

/// How much of the field is lost in a step. Scaling by a constant, copying and passing on lose nothing; mixing with
/// another quantity, choosing by it, or handing it to code that we cannot see lose more.
fn dilution(graph: &Graph, node: &Node, edge: &Edge) -> u32 {
    let op = match edge.op {
        None => {
            return match (node.kind, edge.kind) {
                (Kind::Object, EdgeKind::Attribute | EdgeKind::Global) => 2,
                (_, EdgeKind::Attribute) if !edge.sure => merging(graph, node, &edge.to),
                (_, EdgeKind::Return) if !edge.sure => 1,
                _ => 0,
            };
        }
        Some((file, op)) => (file, op),
    };
    match op {
        (file, Op::Binary { other, .. }) => u32::from(!is_constant(graph.program.ir(file), other)),
        (_, Op::Call { name, .. }) if graph.program.profile.makes_memory(&name) => 2,
        (file, Op::Call { name, at }) => match name.as_str() {
            "int" | "float" | "str" | "bool" | "list" | "tuple" | "set" | "sorted" | "round" | "ceil" | "floor"
            | "abs" | "range" | "dict" | "deepcopy" | "copy" | "enumerate" | "Path" | "loads" | "prod" | "tensor"
            | "as_tensor" => 0,
            "arange" => 1,
            "max" | "min" | "len" | "sum" => match graph.program.ir(file).expr(at) {
                Expr::Call { args, .. } => {
                    let others = args.iter().filter(|a| !is_constant(graph.program.ir(file), a.value)).count();
                    u32::from(others > 1)
                }
                _ => 0,
            },
            _ => 3,
        },
        (_, Op::Method { name, .. }) if name == "item" => 0,
        (_, Op::Method { .. }) => 2,
        (file, Op::Select { at }) => match graph.program.ir(file).expr(at) {
            // How much is taken says nothing of what is.
            Expr::Subscript { index, .. } if matches!(graph.program.ir(file).expr(*index), Expr::Slice { .. }) => 4,
            _ => 2,
        },
        (_, Op::Compare { .. }) => 2,
        (_, Op::Not | Op::Negate | Op::Iterate) => 0,
        (_, Op::Element) => 1,
        (_, Op::Format) => 4,
    }
}

/// A number or text, negated or computed from two.
fn is_constant(ir: &FileIr, at: ExprId) -> bool {
    let literal = |e: ExprId| matches!(ir.expr(e), Expr::Int(_) | Expr::Float(_) | Expr::Str(_));
    match ir.expr(at) {
        Expr::Unary { op: UnaryOp::Neg, operand } => literal(*operand),
        Expr::Bin { left, right, .. } => literal(*left) && literal(*right),
        _ => literal(at),
    }
}

/// How much is lost where objects that are made at several places share an attribute. What an object reads of itself is
/// its own; records are made anew for each piece of work, so that the more places fill one, the less a read is of this.
fn merging(graph: &Graph, from: &Node, to: &Node) -> u32 {
    let (Slot::Attr(class, attr), Slot::Expr(at)) = (from.slot, to.slot) else { return 1 };
    let ir = graph.program.ir(at.file);
    if graph.program.is_record_like(class) {
        return match graph.givers(class, attr) {
            0..=1 => 0,
            2..=4 => 1,
            _ => 3,
        };
    }
    let own = match ir.expr(at.expr) {
        Expr::Attr { base, .. } => matches!(ir.expr(*base), Expr::Name(name) if name == "self"),
        _ => false,
    };
    u32::from(!own)
}

struct Walk<'g, 'p> {
    limit: usize,
    graph: &'g Graph<'p>,
    known: FxHashMap<(Node, Option<Node>), StateId>,
    out: Trace,
    queue: BinaryHeap<Reverse<(u32, u32, StateId)>>,
    /// For each entry parameter, the states of the arguments that came in there and their calls.
    callers: FxHashMap<Node, Vec<(StateId, ExprRef, bool)>>,
    /// For each entry parameter, the return states that it reaches.
    exits: FxHashMap<Node, Vec<StateId>>,
}

impl Trace {
    /// Walks from values at expressions.
    pub fn from(graph: &Graph, starts: &[(ExprRef, Kind)]) -> Trace {
        Trace::bounded(graph, starts, MAX_STATES)
    }

    /// The same with a bound of its own.
    pub fn bounded(graph: &Graph, starts: &[(ExprRef, Kind)], limit: usize) -> Trace {
        let out = Trace { states: Vec::new(), starts: Vec::new(), dead_ends: Vec::new(), cut: false };
        let mut walk = Walk {
            graph,
            limit,
            known: FxHashMap::default(),
            out,
            queue: Default::default(),
            callers: FxHashMap::default(),
            exits: FxHashMap::default(),
        };
        for (start, kind) in starts {
            let node = Node { slot: Slot::Expr(*start), path: Path::default(), kind: *kind };
            let id = walk.state(node, None, None, 0, 0);
            if !walk.out.starts.contains(&id) {
                walk.out.starts.push(id);
            }
        }
        walk.run();
        walk.out
    }

    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.0 as usize]
    }

    pub fn ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len() as u32).map(StateId)
    }

    /// The shortest way from a start, start first.
    pub fn way_to(&self, id: StateId) -> Vec<StateId> {
        let mut way = vec![id];
        let mut at = id;
        while let Some(best) = self.state(at).arrivals.iter().min_by_key(|a| (self.state(a.from).distance, a.from)) {
            if way.contains(&best.from) || way.len() > 400 {
                break;
            }
            at = best.from;
            way.push(at);
        }
        way.reverse();
        way
    }
}

impl Walk<'_, '_> {
    fn state(
        &mut self,
        node: Node,
        entry: Option<Node>,
        arrival: Option<Arrival>,
        distance: u32,
        cost: u32,
    ) -> StateId {
        let key = (node, entry);
        if let Some(id) = self.known.get(&key).copied() {
            let state = &mut self.out.states[id.0 as usize];
            if let Some(arrival) = arrival
                && state.arrivals.len() < 64
                && !state.arrivals.iter().any(|a| a.from == arrival.from)
            {
                state.arrivals.push(arrival);
            }
            // A cheaper way to a state that is still waiting; one that is done was reached by the cheapest.
            if cost < state.cost {
                (state.cost, state.distance) = (cost, distance);
                self.queue.push(Reverse((cost, distance, id)));
            }
            return id;
        }
        let id = StateId(self.out.states.len() as u32);
        self.out.states.push(State { node, entry, arrivals: arrival.into_iter().collect(), distance, cost });
        self.known.insert(key, id);
        self.queue.push(Reverse((cost, distance, id)));
        id
    }

    fn run(&mut self) {
        let mut done = rustc_hash::FxHashSet::default();
        while let Some(Reverse((_, _, id))) = self.queue.pop() {
            if !done.insert(id) {
                continue;
            }
            if self.out.states.len() >= self.limit {
                self.out.cut = true;
                return;
            }
            let State { node, entry, distance, cost, .. } = *self.out.state(id);
            let node_steps = self.graph.steps(node);
            for end in &node_steps.dead_ends {
                if !self.out.dead_ends.iter().any(|(_, known)| known == end) {
                    self.out.dead_ends.push((id, end.clone()));
                }
            }
            if let Slot::Return(func) = node.slot {
                self.leave(id, func, entry);
                continue;
            }
            for edge in &node_steps.edges {
                let arrival = Arrival { from: id, kind: edge.kind, op: edge.op, sure: edge.sure };
                let cost = cost + dilution(self.graph, &node, edge);
                if cost > MAX_COST {
                    continue;
                }
                match edge.kind {
                    EdgeKind::Argument(call) => {
                        self.state(edge.to, Some(edge.to), Some(arrival), distance + 1, cost);
                        let callers = self.callers.entry(edge.to).or_default();
                        if !callers.iter().any(|(s, c, _)| *s == id && *c == call) {
                            callers.push((id, call, edge.sure));
                            for exit in self.exits.get(&edge.to).cloned().unwrap_or_default() {
                                self.resume(exit, id, call, edge.sure);
                            }
                        }
                    }
                    EdgeKind::Attribute | EdgeKind::Global | EdgeKind::Spawn(_) => {
                        self.state(edge.to, None, Some(arrival), distance + 1, cost);
                    }
                    EdgeKind::Local | EdgeKind::Compute | EdgeKind::Return => {
                        self.state(edge.to, entry, Some(arrival), distance + 1, cost);
                    }
                }
            }
        }
    }

    /// A value has reached the return of a function.
    fn leave(&mut self, id: StateId, func: FuncRef, entry: Option<Node>) {
        let inside = |entry: &Node| match entry.slot {
            Slot::Def(file, scope, _) => file == func.file && scope == Scope::Func(func.func),
            _ => false,
        };
        match entry.filter(inside) {
            Some(entry) => {
                self.exits.entry(entry).or_default().push(id);
                for (from, call, sure) in self.callers.get(&entry).cloned().unwrap_or_default() {
                    self.resume(id, from, call, sure);
                }
            }
            None => {
                let State { node, distance, cost, .. } = *self.out.state(id);
                for (call, sure) in self.graph.return_sites(func).iter() {
                    let to = Node { slot: Slot::Expr(*call), path: node.path, kind: node.kind };
                    let arrival = Arrival { from: id, kind: EdgeKind::Return, op: None, sure: *sure };
                    self.state(to, None, Some(arrival), distance + 1, cost + u32::from(!*sure));
                }
            }
        }
    }

    /// The value goes on at the call that brought it in.
    fn resume(&mut self, exit: StateId, caller: StateId, call: ExprRef, sure: bool) {
        let State { node, distance, cost, .. } = *self.out.state(exit);
        let entry = self.out.state(caller).entry;
        let to = Node { slot: Slot::Expr(call), path: node.path, kind: node.kind };
        self.state(to, entry, Some(Arrival { from: exit, kind: EdgeKind::Return, op: None, sure }), distance + 1, cost);
    }
}

impl Graph<'_> {
    /// The expressions that get what a function returns: its calls, and its reads where it is a property.
    pub fn return_sites(&self, func: FuncRef) -> Vec<(ExprRef, bool)> {
        let program = self.program;
        if let (Some(class), true) = (program.method_class(func), program.is_property(func)) {
            return self.reads_of_attr(class, program.func(func).name).to_vec();
        }
        self.types.callers(func).iter().map(|s| (s.call, s.sure)).collect()
    }
}
