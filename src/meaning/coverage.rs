//! What could not be followed, so that silence is not taken for absence.
//!
//! Four things can hide a use of the value: a step of its way that leads nowhere we know, an attribute of the field's
//! name on an object that cannot be told, a name that is put together when it is asked for, and a region of a file that
//! did not parse. Each is named with its place. What lies further off than any claim reaches is left out, as is code that
//! no process of the server runs.

use super::facts::Facts;
use super::findings;
use super::report::{Coverage, Place, Unresolved};
use crate::flow::graph::Slot;
use crate::program::{ExprRef, FileId};
use crate::syntax::ir::*;

/// How diluted a value may be (see `flow::trace`) to be told of: as far as the claims look.
const REACH: u32 = 4;
/// A name that more objects have which cannot be told is one that anything has; they are counted, not listed.
const MANY_UNTOLD: usize = 12;

pub fn of(facts: &Facts) -> Coverage {
    let mut unresolved = Vec::new();
    let mut add = |place: Place, why: String| {
        unresolved.push(Unresolved { path: place.path, line: place.line, code: place.code, why });
    };
    for (place, why) in hops(facts) {
        add(place, why);
    }
    let untold = untold_reads(facts);
    let listed = if untold.len() > MANY_UNTOLD { &[] } else { untold.as_slice() };
    for read in listed {
        add(facts.shared.place(*read), "a read, if this object is the record; what it is cannot be told".to_owned());
    }
    for read in computed_reads(facts) {
        add(facts.shared.place(read), "a read by a name that is put together here and can be this field's".to_owned());
    }
    for place in unparsed(facts) {
        add(place, "this region does not parse, and holds the field's name".to_owned());
    }
    let (file, span) = facts.declared.place;
    let own = || facts.shared.line_place(file, span.line, span.column);
    if listed.len() < untold.len() {
        add(own(), format!("{} attributes of this name are of objects that cannot be told", untold.len()));
    }
    if facts.trace.cut {
        add(own(), "the flow is wider than the bound; only its nearest part was followed".to_owned());
    }
    unresolved.sort_by(|a, b| (&a.path, a.line, &a.why).cmp(&(&b.path, b.line, &b.why)));
    unresolved.dedup_by(|a, b| (&a.path, a.line, &a.why) == (&b.path, b.line, &b.why));
    Coverage { unresolved, hops: u32::try_from(facts.trace.states.len()).unwrap_or(u32::MAX) }
}

/// The steps that lead nowhere, each with the read from which the value came there.
fn hops(facts: &Facts) -> Vec<(Place, String)> {
    let shared = facts.shared;
    let near = facts
        .trace
        .dead_ends
        .iter()
        .filter(|(from, end)| facts.trace.state(*from).cost <= REACH && serves(facts, end.at));
    let named = near.map(|(from, end)| {
        let place = shared.place(end.at);
        let read = match facts.trace.way_to(*from).first().map(|start| facts.trace.state(*start).node.slot) {
            Some(Slot::Expr(at)) => Some(shared.place(at)),
            _ => None,
        };
        let read = read.filter(|read| (&read.path, read.line) != (&place.path, place.line));
        let why = match read {
            Some(read) => format!("{}; the value was read at {}:{}", end.why, read.path, read.line),
            None => end.why.to_owned(),
        };
        (place, why)
    });
    named.collect()
}

/// Can a process of the server run the code?
fn serves(facts: &Facts, at: ExprRef) -> bool {
    let running = facts.shared.processes.running_at(at);
    running.kinds.is_empty() || running.kinds.iter().any(|kind| kind != "other")
}

/// Attributes of the field's name on objects that can be the record for all we know.
fn untold_reads(facts: &Facts) -> Vec<ExprRef> {
    let program = facts.shared.program();
    let mut out = Vec::new();
    for file in program.files_with(facts.field()).iter().copied() {
        let mentions = program.attrs_named(file, facts.field()).iter().map(|at| ExprRef { file, expr: *at });
        let mut untold: Vec<ExprRef> =
            mentions.filter(|at| findings::can_be_read(facts, *at) && serves(facts, *at)).collect();
        if !untold.is_empty() {
            drop_other_objects(facts, file, &mut untold);
        }
        out.extend(untold);
    }
    out
}

/// Leaves out attributes of objects of which the function around also asks what the record has not.
fn drop_other_objects(facts: &Facts, file: FileId, untold: &mut Vec<ExprRef>) {
    let ir = facts.shared.ir(file);
    let object = |at: ExprId| match ir.expr(at) {
        Expr::Attr { base, .. } => Some(*base),
        _ => None,
    };
    for (i, node) in ir.exprs.iter().enumerate() {
        let Expr::Attr { base, attr, .. } = node.kind else { continue };
        if is_of_record(facts, attr) {
            continue;
        }
        let scope = ir.scope_of(ExprId(i as u32));
        untold.retain(|mention| {
            let other = object(mention.expr).is_some_and(|mentioned| is_same(ir, mentioned, base));
            !other || ir.scope_of(mention.expr) != scope
        });
    }
}

/// Is it a field, or a method of the record?
fn is_of_record(facts: &Facts, attr: Sym) -> bool {
    let definitions = facts.shared.definitions;
    definitions.by_name(attr).is_some() || facts.shared.program().method(definitions.root, attr).is_some()
}

/// Are both the same chain of names?
fn is_same(ir: &FileIr, mut a: ExprId, mut b: ExprId) -> bool {
    loop {
        match (ir.expr(a), ir.expr(b)) {
            (Expr::Name(a), Expr::Name(b)) => return a == b,
            (Expr::Attr { base: left, attr: of_a, .. }, Expr::Attr { base: right, attr: of_b, .. }) if of_a == of_b => {
                (a, b) = (*left, *right);
            }
            _ => return false,
        }
    }
}

/// `getattr(record, f"{group}_size")`, where the name can be the field's.
fn computed_reads(facts: &Facts) -> Vec<ExprRef> {
    let (program, graph, field) = (facts.shared.program(), facts.shared.graph, facts.field());
    let getattr = Sym::from("getattr");
    let mut files: Vec<FileId> =
        fragments(&field).flat_map(|word| program.files_with(Sym::from(word)).to_vec()).collect();
    files.retain(|file| program.has_word(*file, getattr));
    files.sort();
    files.dedup();
    let mut out = Vec::new();
    for file in files {
        let ir = program.ir(file);
        for call in program.calls_named(file, getattr) {
            let Expr::Call { args, .. } = ir.expr(*call) else { continue };
            let [object, name, ..] = &args[..] else { continue };
            let Expr::FString(made) = ir.expr(name.value) else { continue };
            let object = ExprRef { file, expr: object.value };
            if can_make(&made.text, &field) && graph.holds_field(&graph.types.of(object), field).is_some() {
                out.push(ExprRef { file, expr: *call });
            }
        }
    }
    out
}

/// The parts of a name, cut at its underscores, that can stand in a literal beside what is filled in.
fn fragments(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('_').flat_map(|(i, _)| [&name[..=i], &name[i..]])
}

/// Can filling in the holes of a literal make the name?
fn can_make(literal: &str, name: &str) -> bool {
    match (literal.split_once("{}"), literal.rsplit_once("{}")) {
        (Some((start, _)), Some((_, end))) => {
            start.len() + end.len() > 1
                && name.len() > start.len() + end.len()
                && name.starts_with(start)
                && name.ends_with(end)
        }
        _ => false,
    }
}

/// Regions that did not parse and hold the field's name.
fn unparsed(facts: &Facts) -> Vec<Place> {
    let program = facts.shared.program();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for file in program.files_with(facts.field()).iter().copied() {
        for region in &facts.shared.ir(file).skipped {
            let text = program.text(file, (*region).into());
            if text.split(|c| !is_word(c)).any(|word| facts.field() == word) {
                out.push(facts.shared.line_place(file, region.line, region.column));
            }
        }
    }
    out
}
