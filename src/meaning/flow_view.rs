//! The trace as the report shows it: one node a line of code, one edge a step between lines.

use super::facts::Facts;
use super::report::*;
use crate::flow::graph::{EdgeKind, Op, Slot};
use crate::flow::trace::StateId;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Larger flows are cut to the nearest lines; `coverage` says so.
const MAX_NODES: usize = 1_500;

#[derive(PartialEq, Eq, Hash, Clone, Copy, PartialOrd, Ord)]
struct Line(FileId, u32);

pub fn flow(facts: &Facts, report: &FieldReport) -> Flow {
    let shared = facts.shared;
    let mut ids: FxHashMap<Line, u32> = FxHashMap::default();
    let mut nodes: Vec<FlowNode> = Vec::new();
    let mut node_of = |at: ExprRef, role: &str, nodes: &mut Vec<FlowNode>| -> Option<u32> {
        let line = Line(at.file, shared.ir(at.file).place(at.expr).line);
        if let Some(id) = ids.get(&line) {
            return Some(*id);
        }
        if nodes.len() >= MAX_NODES {
            return None;
        }
        let id = nodes.len() as u32;
        ids.insert(line, id);
        nodes.push(FlowNode {
            id,
            path: shared.program().file(at.file).path.clone(),
            line: line.1,
            function: shared.function_name(at),
            code: shared.program().line(at.file, line.1),
            role: role.to_owned(),
        });
        Some(id)
    };
    let mut edges: BTreeMap<(u32, u32), FlowEdge> = BTreeMap::new();
    for (state, at) in facts.reached() {
        let role = role_of(facts, state, at);
        let Some(to) = node_of(at, role, &mut nodes) else { continue };
        // A literal row of arguments may begin on a line of its own.
        for hop in hops_into(facts, state) {
            let Some(from) = node_of(hop.from, "pass", &mut nodes) else { continue };
            if from != to {
                edges.entry((from, to)).or_insert_with(|| FlowEdge {
                    from,
                    to,
                    kind: hop.kind.to_owned(),
                    transform: hop.transform.clone(),
                    grade: if hop.sure { Grade::Proved } else { Grade::Inferred },
                });
            }
        }
    }
    for (place, role) in further_places(facts, report) {
        if !nodes.iter().any(|n| n.path == place.path && n.line == place.line) && nodes.len() < MAX_NODES {
            let id = nodes.len() as u32;
            nodes.push(FlowNode {
                id,
                path: place.path,
                line: place.line,
                function: String::new(),
                code: place.code,
                role: role.to_owned(),
            });
        }
    }
    Flow { nodes, edges: edges.into_values().collect() }
}

/// Lines that belong to the story though the value itself does not pass there: how the record came to the read, the
/// conditions, the sinks that it gates.
fn further_places(facts: &Facts, report: &FieldReport) -> Vec<(Place, &'static str)> {
    let shared = facts.shared;
    let mut out = Vec::new();
    for call in carriers(facts) {
        out.push((shared.place(call), "carrier"));
    }
    let code = |path: &str, line: u32| {
        let program = shared.program();
        let file = program.file_ids().find(|f| program.file(*f).path == path);
        Place { path: path.to_owned(), line, column: 0, code: file.map_or(String::new(), |f| program.line(f, line)) }
    };
    for write in report.writes.iter().flatten() {
        out.push((code(&write.path, write.line), "write"));
    }
    for active in &report.active_when {
        out.push((code(&active.path, active.line), "gate"));
    }
    for sink in report.sinks.iter().filter(|s| s.kind != "none") {
        out.push((code(&sink.path, sink.line), "sink"));
    }
    for constraint in &report.constraints {
        out.push((code(&constraint.path, constraint.line), "compare"));
    }
    for other in &report.precedence {
        out.push((code(&other.path, other.line), "compare"));
    }
    out
}

/// The calls that bring the record to the functions that read the field, two levels up.
fn carriers(facts: &Facts) -> Vec<ExprRef> {
    const MANY: usize = 8;
    let shared = facts.shared;
    let program = shared.program();
    let types = &shared.graph.types;
    let mut out: Vec<ExprRef> = Vec::new();
    let mut level: Vec<ExprRef> = facts.reads().map(|a| a.at).collect();
    for _ in 0..2 {
        let mut next = Vec::new();
        for at in level {
            let Some(func) = shared.processes.function_around(at) else { continue };
            let entered = match program.method_class(func) {
                Some(class) => program.method(class, Sym::from("__init__")).unwrap_or(func),
                None => func,
            };
            let name = program.func(entered).name;
            if program.files_with(name).len() > 60 && program.method_class(entered).is_none() {
                continue;
            }
            let callers = types.callers(entered);
            if callers.len() <= MANY {
                next.extend(callers.iter().map(|c| c.call).filter(|c| !out.contains(c)));
            }
        }
        next.sort();
        next.dedup();
        next.truncate(40);
        out.extend(next.iter().copied());
        level = next;
    }
    out
}

fn role_of(facts: &Facts, state: StateId, at: ExprRef) -> &'static str {
    let ir = facts.shared.ir(at.file);
    if facts.trace.starts.contains(&state) {
        return "read";
    }
    match ir.exprs[at.expr.index()].parent {
        Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
            Stmt::Return(_) => "return",
            Stmt::Assign { .. } | Stmt::AnnAssign { .. } | Stmt::AugAssign { .. } => "store",
            Stmt::If { .. } | Stmt::While { .. } | Stmt::Assert { .. } => "compare",
            _ => "pass",
        },
        Parent::Expr(up) => match ir.expr(up) {
            Expr::Compare { .. } => "compare",
            Expr::Bin { .. } | Expr::Unary { .. } => "compute",
            Expr::Call { .. } => "call",
            _ => "pass",
        },
        _ => "pass",
    }
}

struct Hop {
    from: ExprRef,
    kind: &'static str,
    transform: Option<String>,
    sure: bool,
}

/// The expressions that a state's value comes from directly, definitions and attributes between them skipped.
fn hops_into(facts: &Facts, state: StateId) -> Vec<Hop> {
    let mut out = Vec::new();
    let mut stack = vec![(state, "local", None::<String>, true, 0)];
    while let Some((at, kind, transform, sure, depth)) = stack.pop() {
        if depth > 6 || out.len() > 40 {
            break;
        }
        for arrival in &facts.trace.state(at).arrivals {
            let step = match arrival.kind {
                EdgeKind::Local | EdgeKind::Compute => kind,
                EdgeKind::Argument(_) => "argument",
                EdgeKind::Spawn(_) => "spawn",
                EdgeKind::Return => "return",
                EdgeKind::Attribute => "attribute",
                EdgeKind::Global => "global",
            };
            let here = arrival.op.and_then(|(file, op)| transform_text(facts, file, op));
            let transform = match (here, &transform) {
                (Some(a), Some(b)) => Some(format!("{a}, {b}")),
                (a, b) => a.or_else(|| b.clone()),
            };
            let sure = sure && arrival.sure;
            match facts.trace.state(arrival.from).node.slot {
                Slot::Expr(from) => out.push(Hop { from, kind: step, transform, sure }),
                _ => stack.push((arrival.from, step, transform, sure, depth + 1)),
            }
        }
    }
    out
}

/// A transformation as text: `* 1e9`, `int()`, `max(…)`.
pub fn transform_text(facts: &Facts, file: FileId, op: Op) -> Option<String> {
    let text = |expr| facts.shared.text(ExprRef { file, expr });
    Some(match op {
        Op::Binary { op, other, left: true, .. } => format!("{} {}", op.text(), text(other)),
        Op::Binary { op, other, left: false, .. } => format!("{} {} it", text(other), op.text()),
        Op::Call { name, .. } => format!("{name}()"),
        Op::Method { name, .. } => format!(".{name}"),
        Op::Compare { at } => text(at),
        Op::Not => "not".into(),
        Op::Negate => "-".into(),
        Op::Select { .. } => "selects".into(),
        Op::Element => "[…]".into(),
        Op::Iterate => "for each".into(),
        Op::Format => "formatted".into(),
    })
}
