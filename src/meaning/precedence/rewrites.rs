//! What each rewrite of the record says of two fields: the one written, and the one that it stands under or reads.
//!
//! A write bends its field by the fields that its value is read from and by the nearest test around it that asks of
//! others; where all arms of that test write the field it only chooses the value, and the next one out counts too. A field
//! that is written only when it was not given is filled; else a given value is replaced. A field divided by another is a
//! share, not a bend.

use super::asks;
use super::bend::{Bend, Other, Way};
use super::sources;
use crate::flow::access::{self, Access, How, Written};
use crate::flow::declared;
use crate::flow::graph::{Holder, Kind, Op, Slot};
use crate::flow::guards::{self, Guard};
use crate::meaning::facts::{Facts, Shared};
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// A value written to a field of the record.
struct Rewrite {
    field: Sym,
    at: ExprRef,
    value: ExprRef,
    way: Way,
    when: Option<String>,
}

/// Every rewrite in the tree, and what it says.
pub struct Rewrites {
    all: Vec<Rewrite>,
    bends: Vec<Bend>,
}

/// A value mixed with more than this many others is no longer the field's.
const MAX_COST: u32 = 3;

/// The bends of the field by others, and of others by it.
pub fn around(facts: &Facts) -> Vec<Bend> {
    let shared = facts.shared;
    let tree = shared.rewrites.get_or_init(|| Rewrites::of(shared));
    let field = facts.field();
    let mut out = Vec::new();
    for write in facts.writes() {
        study(shared, field, write, true, &mut Vec::new(), &mut out);
    }
    out.extend(tree.bends.iter().filter(|b| b.other == Other::Field(field)).cloned());
    far(facts, tree, &mut out);
    out
}

/// Writes of other fields that the value reaches by a longer way.
fn far(facts: &Facts, tree: &Rewrites, out: &mut Vec<Bend>) {
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        let Slot::Expr(at) = state.node.slot else { continue };
        if state.node.kind != Kind::Value || state.cost > MAX_COST {
            continue;
        }
        for write in tree.all.iter().filter(|w| w.value == at && w.field != facts.field()) {
            if facts.operations_to(id).iter().any(|(_, op)| is_lost(op)) {
                continue;
            }
            if !out.iter().any(|b| b.field == write.field) {
                let other = Other::Field(facts.field());
                let (field, way, at, when) = (write.field, write.way, write.at, write.when.clone());
                out.push(Bend { field, other, way, at, when, sure: false });
            }
        }
    }
}

/// An operation that chooses by the value, or only divides by it.
fn is_lost(op: &Op) -> bool {
    match op {
        Op::Select { .. } => true,
        Op::Binary { op, left: false, .. } => matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod),
        _ => false,
    }
}

impl Rewrites {
    fn of(shared: &Shared) -> Rewrites {
        let mut out = Rewrites { all: Vec::new(), bends: Vec::new() };
        for (field, write) in writes(shared) {
            study(shared, field, &write, false, &mut out.all, &mut out.bends);
        }
        out
    }
}

/// Every write of a field in the tree.
fn writes(shared: &Shared) -> Vec<(Sym, Access)> {
    let program = shared.program();
    let is_field = |name: Sym| shared.definitions.by_name(name).is_some();
    let fields: FxHashSet<&str> = shared.definitions.fields.iter().map(|d| d.field.as_str()).collect();
    let (assigning, declaring) = (files_that_assign(shared, &fields), declared::files(program, &fields));
    program.parse_all(&assigning);
    program.parse_all(&declaring);
    let mut out: Vec<(Sym, Access)> = assigning.into_iter().flat_map(|f| assignments(shared, f, &is_field)).collect();
    out.extend(declaring.into_iter().flat_map(|f| declared::in_file(shared.graph, f, &is_field)));
    out
}

/// The assignments to fields of the record in a file.
fn assignments(shared: &Shared, file: FileId, is_field: &dyn Fn(Sym) -> bool) -> Vec<(Sym, Access)> {
    let program = shared.program();
    let ir = shared.ir(file);
    let mut out = Vec::new();
    for (i, node) in ir.exprs.iter().enumerate() {
        let Expr::Attr { base, attr, at: place } = &node.kind else { continue };
        let at = ExprRef { file, expr: ExprId(i as u32) };
        if !is_field(*attr) || !program.is_store(file, at.expr) {
            continue;
        }
        let types = shared.graph.types.of(ExprRef { file, expr: *base });
        let Some(sure) = shared.graph.is_record(&types) else { continue };
        let write = access::written(ir, program, file, at.expr);
        let access = Access { place: *place, at, how: How::Attribute, write, sure, holder: Holder::Record };
        out.push((*attr, access));
    }
    out
}

/// Files whose text assigns to an attribute with the name of a field, of something that goes by a name of the record; a
/// method's own object is the record at its home only.
fn files_that_assign(shared: &Shared, fields: &FxHashSet<&str>) -> Vec<FileId> {
    let program = shared.program();
    let profile = &program.profile;
    let mut names: FxHashSet<&str> = FxHashSet::default();
    for (name, classes) in program.hints() {
        if classes.iter().any(|(c, _)| profile.is_root_class(c)) {
            names.insert(name.as_str());
        }
    }
    let mut homes: Vec<FileId> = Vec::new();
    for root in &profile.root_classes {
        homes.extend(program.files_defining_class(Sym::from(root)));
    }
    let mut out: Vec<FileId> = names.iter().flat_map(|n| program.files_with(Sym::from(n)).to_vec()).collect();
    out.sort();
    out.dedup();
    out.retain(|f| !homes.contains(f) && assigns(&program.file(*f).text, fields, &names));
    out.extend(homes);
    out.sort();
    out.dedup();
    out
}

/// `name.field = …` or `call().field = …`, somewhere in the text.
fn assigns(text: &[u8], fields: &FxHashSet<&str>, names: &FxHashSet<&str>) -> bool {
    memchr::memchr_iter(b'=', text).any(|i| {
        if text.get(i + 1) == Some(&b'=') {
            return false;
        }
        let line = text[..i].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
        let Ok(left) = std::str::from_utf8(&text[line..i]) else { return false };
        let left = left.trim().trim_end_matches(['+', '-', '*', '/']).trim_end();
        let Some((base, field)) = left.rsplit_once('.') else { return false };
        let owner = base.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        fields.contains(field) && (owner.is_empty() || (base != "self" && names.contains(owner)))
    })
}

/// Reads off one write what it says. What is only read a long way off is looked for where `deep`; the trace of a value
/// finds it from the other end.
fn study(shared: &Shared, field: Sym, write: &Access, deep: bool, all: &mut Vec<Rewrite>, out: &mut Vec<Bend>) {
    let file = write.at.file;
    let ir = shared.ir(file);
    let value = match write.write {
        Some(Written::Value(value) | Written::Part(value)) => ExprRef { file, expr: value },
        Some(Written::Augmented(op, value)) if !matches!(op, BinOp::Div | BinOp::FloorDiv) => {
            ExprRef { file, expr: value }
        }
        _ => return,
    };
    if is_share(shared, value, field) || is_rewording(shared, value, field) {
        return;
    }
    let known = guards::of_expr(ir, write.at.expr);
    let around: Vec<Guard> = known.iter().copied().filter(|g| !is_check(ir, g)).collect();
    let (values, chosen) = filling_part(shared, value, field);
    let fills = chosen || turns_on(shared, field, ir, value.expr) || asks::asks_unset(shared, file, &known, field);
    let way = match (fills, ir.expr(value.expr)) {
        (true, _) => Way::Fills,
        (false, Expr::False | Expr::None) => Way::Clears,
        (false, _) => Way::Replaces,
    };
    let texts: Vec<String> = around.iter().map(|g| shared.guard_text(file, g)).collect();
    let when = (!texts.is_empty()).then(|| texts.join(" and "));
    let mut add = |other: Other, at: ExprRef, sure: bool, when: &Option<String>| {
        if other != Other::Field(field) {
            out.push(Bend { field, other, way, at, when: when.clone(), sure: sure && write.sure });
        }
    };
    let read: Vec<(Other, bool)> =
        sources::all(shared, values, deep).into_iter().filter(|(o, _)| *o != Other::Field(field)).collect();
    for (other, sure) in &read {
        add(other.clone(), write.at, *sure, &when);
    }
    for (test, others) in nearest(shared, file, write.at.expr, &around, field, !read.is_empty()) {
        for (other, sure) in others {
            add(other, ExprRef { file, expr: test }, sure, &when);
        }
    }
    if read.is_empty()
        && let Some((at, others)) = at_the_call(shared, write.at)
    {
        let text = Some(shared.text(at));
        for (other, sure) in others {
            add(other, at, sure, &text);
        }
    }
    all.push(Rewrite { field, at: write.at, value, way, when });
}

/// `X // n`, `X / n`: the field shared out.
fn is_share(shared: &Shared, value: ExprRef, field: Sym) -> bool {
    match shared.ir(value.file).expr(value.expr) {
        Expr::Bin { op: BinOp::Div | BinOp::FloorDiv, left, .. } => {
            asks::is_field(shared, ExprRef { file: value.file, expr: *left }, field)
        }
        _ => false,
    }
}

/// `f(X)`: the field checked or put into another form.
fn is_rewording(shared: &Shared, value: ExprRef, field: Sym) -> bool {
    let ir = shared.ir(value.file);
    let Expr::Call { func, args } = ir.expr(value.expr) else { return false };
    let number = last_name(ir, *func).is_some_and(|n| NUMBERS.contains(&n.as_str()));
    let holds = |a: &Arg| asks::is_field(shared, ExprRef { file: value.file, expr: a.value }, field);
    let method = match ir.expr(*func) {
        Expr::Attr { base, .. } => asks::is_field(shared, ExprRef { file: value.file, expr: *base }, field),
        _ => false,
    };
    method || (!number && args.iter().any(holds))
}

/// Functions that make one number of several.
const NUMBERS: [&str; 3] = ["min", "max", "sum"];

/// A guard that only lets wrong input fail.
fn is_check(ir: &FileIr, guard: &Guard) -> bool {
    let Parent::Stmt(stmt) = ir.exprs[guard.test.index()].parent else { return false };
    match &ir.stmt(stmt).kind {
        Stmt::Assert { .. } => true,
        Stmt::If { arms, .. } if guard.early_exit => {
            let body = arms.iter().find(|(t, _)| *t == guard.test).map(|(_, b)| b);
            body.is_some_and(|b| b.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_))))
        }
        _ => false,
    }
}

/// A switch that is off until given cannot be given as off: to turn it on replaces nothing.
fn turns_on(shared: &Shared, field: Sym, ir: &FileIr, value: ExprId) -> bool {
    let off = shared.definitions.by_name(field).and_then(|d| d.definition.default.as_deref()) == Some("False");
    off && matches!(ir.expr(value), Expr::True)
}

/// The part of `X or value`, `X if X is not None else value` that stands in for an unset field, and whether there is one.
fn filling_part(shared: &Shared, value: ExprRef, field: Sym) -> (ExprRef, bool) {
    let ir = shared.ir(value.file);
    let here = |expr| ExprRef { file: value.file, expr };
    match ir.expr(value.expr) {
        Expr::Bool { and: false, left, right } if asks::is_field(shared, here(*left), field) => (here(*right), true),
        Expr::IfExp { test, body, orelse } => match asks::presence(ir, *test) {
            Some((subject, given)) if asks::is_field(shared, here(subject), field) => {
                (here(if given { *orelse } else { *body }), true)
            }
            _ => (value, false),
        },
        _ => (value, false),
    }
}

type Asked = (ExprId, Vec<(Other, bool)>);

/// The nearest test that asks of other fields, and those further out while both its outcomes write the field.
fn nearest(shared: &Shared, file: FileId, at: ExprId, around: &[Guard], field: Sym, innermost: bool) -> Vec<Asked> {
    let ir = shared.ir(file);
    let mut out: Vec<Asked> = Vec::new();
    let mut last: Option<StmtId> = None;
    for guard in around.iter().rev() {
        let test = ExprRef { file, expr: guard.test };
        let stmt = ir.stmt_of(guard.test);
        // The failed tests of earlier arms of the same statement.
        if last.is_some() && last == stmt {
            continue;
        }
        if !guard.early_exit {
            last = stmt;
        }
        let mut others = asks::asked(shared, test);
        let all = others.len();
        others.retain(|(o, _)| *o != Other::Field(field));
        let asks_own = all != others.len();
        // What leaves early bears on all that follows; it is a reason only where no test stands around.
        if guard.early_exit && around.iter().any(|g| !g.early_exit && is_reason(shared, file, g, field)) {
            continue;
        }
        others.retain(|(o, _)| !matches!(o, Other::Field(f) if asks::asks_off(shared, file, guard, *f)));
        if asks_own {
            others.retain(|(o, _)| !matches!(o, Other::Field(f) if asks::asks_unset(shared, file, &[*guard], *f)));
        }
        if !others.is_empty() {
            out.push((guard.test, others));
            if !guard.early_exit && stmt.is_some_and(|s| writes_in_all_arms(ir, s, at)) {
                continue;
            }
            break;
        }
        if innermost {
            break;
        }
    }
    out
}

/// Does a test ask anything but of the field itself?
fn is_reason(shared: &Shared, file: FileId, guard: &Guard, field: Sym) -> bool {
    let asked = asks::asked(shared, ExprRef { file, expr: guard.test });
    !matches!(&asked[..], [(other, _)] if *other == Other::Field(field))
}

/// Does more than one arm of the statement write what the target names?
fn writes_in_all_arms(ir: &FileIr, stmt: StmtId, target: ExprId) -> bool {
    let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return false };
    let Expr::Attr { attr, .. } = ir.expr(target) else { return false };
    let writes = |block: &[StmtId]| {
        block.iter().any(|s| match &ir.stmt(*s).kind {
            Stmt::Assign { targets, .. } => {
                targets.iter().any(|t| matches!(ir.expr(*t), Expr::Attr { attr: a, .. } if a == attr))
            }
            _ => false,
        })
    };
    let blocks = arms.iter().map(|(_, b)| &b[..]).chain(std::iter::once(&orelse[..]));
    blocks.filter(|b| writes(b)).count() > 1
}

/// What is asked around the only calls of the function around.
fn at_the_call(shared: &Shared, at: ExprRef) -> Option<(ExprRef, Vec<(Other, bool)>)> {
    const MANY_FILES: usize = 6;
    let func = shared.processes.function_around(at)?;
    let program = shared.program();
    let name = program.func(func).name;
    if name.starts_with("__") || program.files_with(name).len() > MANY_FILES {
        return None;
    }
    let callers = shared.graph.types.callers(func);
    let [site] = &callers[..] else { return None };
    // Elsewhere a test decides whether work is done at all, not what the record holds.
    let caller = shared.processes.function_around(site.call)?;
    if !program.method_class(caller).is_some_and(|c| shared.graph.is_record_class(c)) {
        return None;
    }
    let ir = shared.ir(site.call.file);
    let around = guards::of_expr(ir, site.call.expr);
    around.iter().rev().filter(|g| !g.early_exit).find_map(|guard| {
        let test = ExprRef { file: site.call.file, expr: guard.test };
        let others: Vec<_> = asks::asked(shared, test).into_iter().filter(|(_, direct)| *direct).collect();
        (!others.is_empty()).then_some((test, others))
    })
}
