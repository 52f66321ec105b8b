//! Where the value leaves Python, or stays a limit that code compares with.
//!
//! A sink is a call that the value (or one computed from it) enters and that a rule of the profile knows (`calls`), a
//! store that a rule knows, a comparison that decides something (`limits`), a choice by name (`choices`), what a test of
//! it alone gates (`gates`), or a start of threads and processes (`starts`). A value that much else went into says
//! nothing of the field any more: each kind has its reach. Code that only tools run does not count.

mod calls;
mod choices;
mod gates;
mod limits;
mod memory;
mod starts;

use super::facts::Facts;
use super::report::{Grade, Sink};
use crate::flow::graph::{Kind, Op, Slot};
use crate::flow::trace::StateId;
use crate::program::ExprRef;
use crate::program::profile::{Shape, SinkRule};
use crate::syntax::ir::*;

/// How diluted a value may be (see `flow::trace`) to count for a kind of sink.
const REACH: [(&str, u32); 14] = [
    ("host-memory", 5),
    ("device-memory", 5),
    ("network", 4),
    ("timeout", 2),
    ("process-count", 1),
    ("thread-count", 2),
    ("file", 4),
    ("env-var", 5),
    ("kernel-choice", 3),
    ("scheduling-limit", 5),
    ("collective", 1),
    ("log", 4),
    ("metric", 4),
    ("model-load", 3),
];
const REACH_OF_OTHERS: u32 = 4;
/// The same for what the value is only a part of.
const REACH_OF_PARTS: u32 = 2;
const MEMORY: [&str; 2] = ["host-memory", "device-memory"];
/// Kinds that only an amount has, not a text or a truth value.
const AMOUNTS: [&str; 4] = ["host-memory", "device-memory", "scheduling-limit", "timeout"];
/// Kinds that say something of the value itself, not of what foreign code made of it.
const OF_THE_VALUE: [&str; 3] = ["log", "kernel-choice", "metric"];
/// A reader gains nothing from more places of one kind; the nearest are kept.
const MAX_PLACES: usize = 100;

/// A sink before it is graded.
#[derive(Clone)]
struct Found {
    kind: String,
    at: ExprRef,
    /// Overrides the reach of the kind.
    reach: Option<u32>,
    /// Where the value last was itself, before it was put into a text.
    from: Option<StateId>,
    /// Rests on a name or a guess, however sure the way is.
    guessed: bool,
}

impl Found {
    fn new(kind: &str, at: ExprRef) -> Found {
        Found { kind: kind.to_owned(), at, reach: None, from: None, guessed: false }
    }

    fn guessed(kind: &str, at: ExprRef) -> Found {
        Found { guessed: true, ..Found::new(kind, at) }
    }
}

pub fn claim(facts: &Facts) -> Vec<Sink> {
    let shape = Shape::of(facts.declared.definition.type_.as_deref().unwrap_or(""));
    let mut out: Vec<Sink> = Vec::new();
    let mut waits: Vec<ExprRef> = Vec::new();
    for (id, at) in facts.reached() {
        if !counts(facts, at) {
            continue;
        }
        let opaque = is_opaque(facts, id);
        let part = is_part_of_another(facts, id);
        for found in found_at(facts, shape, id, at) {
            let of_the_value = OF_THE_VALUE.contains(&found.kind.as_str());
            if of_the_value && (opaque || (part && found.kind != "metric")) {
                continue;
            }
            let cost = facts.trace.state(found.from.unwrap_or(id)).cost;
            let reach = if of_the_value && part { REACH_OF_PARTS } else { reach(&found.kind) };
            if cost > found.reach.unwrap_or(reach) {
                continue;
            }
            if found.kind == "timeout" && cost <= 1 {
                waits.push(found.at);
            }
            let grade = if found.guessed || opaque { Grade::Inferred } else { facts.grade_of(id) };
            add(facts, &mut out, found, grade);
        }
    }
    for found in starts::paced(facts, &waits) {
        add(facts, &mut out, found, Grade::Inferred);
    }
    if out.is_empty() {
        out.extend(unused(facts));
    }
    // Of each kind the nearest first.
    out.sort_by(|a, b| a.kind.cmp(&b.kind));
    out
}

/// The unit that a call or comparison takes here, if a rule says.
pub fn unit_at<'f>(facts: &Facts<'_, '_, 'f>, at: ExprRef) -> Option<&'f str> {
    if limits::is_time_limit(facts, at) {
        return Some("s");
    }
    let (rule, _) = calls::rule_at(facts, at)?;
    rule.unit.as_deref()
}

fn reach(kind: &str) -> u32 {
    REACH.iter().find(|(k, _)| *k == kind).map_or(REACH_OF_OTHERS, |(_, reach)| *reach)
}

/// Can a process of the server run the code?
fn counts(facts: &Facts, at: ExprRef) -> bool {
    let running = facts.shared.processes.running_at(at);
    running.kinds.is_empty() || running.kinds.iter().any(|k| k != "other")
}

fn add(facts: &Facts, out: &mut Vec<Sink>, found: Found, grade: Grade) {
    let place = facts.shared.place(found.at);
    let same_kind = out.iter().filter(|s| s.kind == found.kind);
    let known = same_kind.clone().any(|s| s.path == place.path && s.line == place.line);
    if !known && same_kind.count() < MAX_PLACES {
        out.push(Sink { kind: found.kind, path: place.path, line: place.line, code: place.code, grade });
    }
}

fn found_at(facts: &Facts, shape: Shape, id: StateId, at: ExprRef) -> Vec<Found> {
    let state = facts.trace.state(id);
    let kind = state.node.kind;
    let mut out = Vec::new();
    out.extend(entered(facts, id, at));
    out.extend(stored(facts, at, kind));
    if shape.number {
        if kind == Kind::Value && is_amount(facts, id) {
            out.extend(limits::found(facts, at, state.cost, state.distance));
        }
        out.extend(starts::counted(facts, at, kind));
        out.extend(gates::switched(facts, at, kind, state.cost));
    } else {
        out.extend(choices::found(facts, at, kind));
        out.extend(gates::found(facts, shape, at, kind));
    }
    // An object made with the value is no value any more, only memory.
    out.retain(|f| kind != Kind::Object || MEMORY.contains(&f.kind.as_str()));
    out.retain(|f| shape.number || kind == Kind::Predicate || !AMOUNTS.contains(&f.kind.as_str()) || shape.truth);
    out
}

/// Calls whose result is an amount where their argument is one.
const KEEPING: [&str; 17] = [
    "int", "float", "round", "ceil", "floor", "abs", "max", "min", "sum", "len", "range", "sorted", "list", "tuple",
    "arange", "cdiv", "ceil_div",
];

/// Is the value still an amount computed from the field, not what some foreign code answered?
fn is_amount(facts: &Facts, id: StateId) -> bool {
    facts.operations_to(id).iter().all(|(_, op)| match op {
        Op::Call { name, .. } => KEEPING.contains(&name.as_str()),
        Op::Format | Op::Compare { .. } | Op::Not => false,
        _ => true,
    })
}

/// Foreign calls that give back their argument, or a part or copy of it.
const TRANSPARENT: [&str; 12] =
    ["str", "repr", "bool", "dict", "set", "join", "copy", "deepcopy", "enumerate", "Path", "loads", "next"];

/// Has foreign code that we cannot see made something else of the value?
fn is_opaque(facts: &Facts, id: StateId) -> bool {
    let known = |name: &str| KEEPING.contains(&name) || TRANSPARENT.contains(&name);
    facts.operations_to(id).iter().any(|(_, op)| matches!(op, Op::Call { name, .. } if !known(name)))
}

/// The call that the value enters.
fn entered(facts: &Facts, id: StateId, at: ExprRef) -> Vec<Found> {
    let Some((rule, call)) = calls::rule_at(facts, at).or_else(|| calls::rule_of_construction(facts, at)) else {
        return Vec::new();
    };
    let Some(found) = by_rule(facts, id, rule, call) else { return Vec::new() };
    // A keyword may stand lines below the call that it is an argument of; both are the place.
    let by_keyword = (is_keyword(facts, at, call) && found.at == call).then(|| Found { at, ..found.clone() });
    std::iter::once(found).chain(by_keyword).collect()
}

fn is_keyword(facts: &Facts, at: ExprRef, call: ExprRef) -> bool {
    match facts.shared.ir(call.file).expr(call.expr) {
        Expr::Call { args, .. } => args.iter().any(|a| a.value == at.expr && matches!(a.kind, ArgKind::Keyword(_))),
        _ => false,
    }
}

fn by_rule(facts: &Facts, id: StateId, rule: &SinkRule, call: ExprRef) -> Option<Found> {
    let state = facts.trace.state(id);
    // A truth value is no size; an element of a range is no longer the amount.
    let predicate = state.node.kind == Kind::Predicate;
    let one_of_many = || facts.operations_to(id).iter().any(|(_, op)| matches!(op, Op::Iterate));
    match rule.kind.as_str() {
        "allocation" if predicate || !memory::lasts(facts, call) => None,
        "allocation" => memory::found(facts, call),
        "log" if predicate || one_of_many() => None,
        // Where the value is formatted, not where the call begins.
        "log" => match formatted(facts, id) {
            Some((from, part)) => Some(Found { from: Some(from), ..Found::new("log", part) }),
            None => Some(Found::new("log", call)),
        },
        _ if predicate => None,
        kind => Some(Found { reach: rule.reach, ..Found::new(kind, call) }),
    }
}

/// The part of a format string that the value is put into.
fn formatted(facts: &Facts, id: StateId) -> Option<(StateId, ExprRef)> {
    let arrivals = &facts.trace.state(id).arrivals;
    let format = arrivals.iter().find(|a| matches!(a.op, Some((_, Op::Format))))?;
    match facts.trace.state(format.from).node.slot {
        Slot::Expr(at) => Some((format.from, at)),
        _ => None,
    }
}

/// Has another quantity been added on the way, or divided by it? The result says little of a part of it.
fn is_part_of_another(facts: &Facts, id: StateId) -> bool {
    facts.operations_to(id).iter().any(|(file, op)| match op {
        Op::Binary { op: BinOp::Add | BinOp::Sub, other, .. } => {
            facts.shared.program().constant(ExprRef { file: *file, expr: *other }).is_none()
        }
        Op::Binary { op: BinOp::Div | BinOp::FloorDiv | BinOp::Mod, left, .. } => !left,
        _ => false,
    })
}

/// The container or object that the value is stored in.
fn stored(facts: &Facts, at: ExprRef, kind: Kind) -> Vec<Found> {
    let ir = facts.shared.ir(at.file);
    if kind != Kind::Value {
        return Vec::new();
    }
    let Parent::Stmt(stmt) = ir.exprs[at.expr.index()].parent else { return Vec::new() };
    let Stmt::Assign { targets, value } = &ir.stmt(stmt).kind else { return Vec::new() };
    if *value != at.expr {
        return Vec::new();
    }
    let targets = targets.iter().map(|t| ExprRef { file: at.file, expr: *t });
    targets.filter_map(|t| Some(Found::new(&calls::rule_of_store(facts, t)?.kind, t))).collect()
}

/// A field without a sink: nothing reads it, or only the record's own checks do.
fn unused(facts: &Facts) -> Option<Sink> {
    let shared = facts.shared;
    let program = shared.program();
    let mut reads = facts.reads().peekable();
    if reads.peek().is_none() {
        let (file, span) = facts.declared.place;
        let place = shared.line_place(file, span.line, span.column);
        let (path, line, code) = (place.path, place.line, place.code);
        return Some(Sink { kind: "none".into(), path, line, code, grade: Grade::Proved });
    }
    let mut check = None;
    for read in reads {
        let func = shared.processes.function_around(read.at)?;
        let class = program.method_class(func)?;
        if !shared.graph.is_record_class(class) {
            return None;
        }
        if check.is_none() && checks(shared.ir(read.at.file), read.at.expr) {
            check = Some(shared.place(read.at));
        }
    }
    let place = check?;
    let kind = "validation-only".to_owned();
    Some(Sink { kind, path: place.path, line: place.line, code: place.code, grade: Grade::Inferred })
}

/// Is the expression part of an assertion, or of a test whose body raises?
fn checks(ir: &FileIr, at: ExprId) -> bool {
    ir.stmt_of(at).is_some_and(|stmt| match &ir.stmt(stmt).kind {
        Stmt::Assert { .. } | Stmt::Raise(_) => true,
        Stmt::If { arms, .. } => {
            let body = arms.iter().find(|(test, _)| ir.contains(*test, at)).map(|(_, body)| body);
            body.is_some_and(|b| b.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_))))
        }
        _ => false,
    })
}
