//! What each rewrite says of two parties: the one written, and the one that the write stands under or reads.
//!
//! A write bends its field by what its value is read from and by the reasons it stands under. A field that is written only
//! when it was not given is filled; else a given value is replaced. A field divided by another is a share, not a bend.
//! Variables of the environment that the tree sets are bent by the same rules.

use super::super::wording::all_of;
use super::asks::{self, Settable};
use super::bend::{Bend, Party, Way};
use super::reasons;
use super::sources;
use super::writes::{self, Write};
use crate::flow::graph::{Kind, Op, Slot};
use crate::flow::guards::{self, Guard};
use crate::flow::trace::StateId;
use crate::meaning::facts::{Facts, Shared};
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::ir::*;

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
    let tree = shared.rewrites();
    let own = Party::Field(facts.field());
    let writes = writes::lasting(shared, facts.field(), &facts.accesses);
    let mut out = Vec::new();
    for write in &writes {
        out.extend(Study::of(shared, write, &writes, true).map(|s| s.bends).into_iter().flatten());
    }
    out.extend(tree.bends.iter().filter(|b| b.by == own).cloned());
    out.extend(variables(facts).into_iter().filter(|b| b.by == own));
    far(facts, tree, &mut out);
    out
}

/// What bends the variables that are set where the field is mentioned.
fn variables(facts: &Facts) -> Vec<Bend> {
    let program = facts.shared.program();
    let files = program.files_with(facts.field());
    let setting = ["environ", "set"].map(Sym::from);
    let files = files.iter().copied().filter(|f| setting.iter().any(|w| program.has_word(*f, *w)));
    let writes: Vec<Write> = files.flat_map(|f| writes::of_variables(facts.shared, f)).collect();
    let studies = writes.iter().filter_map(|w| Study::of(facts.shared, w, &writes, false));
    studies.flat_map(|s| s.bends).collect()
}

/// Writes of other fields that the value reaches by a longer way.
fn far(facts: &Facts, tree: &Rewrites, out: &mut Vec<Bend>) {
    for id in facts.trace.ids() {
        let state = facts.trace.state(id);
        let Slot::Expr(at) = state.node.slot else { continue };
        if state.node.kind != Kind::Value {
            continue;
        }
        for write in tree.all.iter().filter(|w| w.field != facts.field()) {
            let whole = write.value == at && state.cost <= MAX_COST && !is_lost_on_the_way(facts, id);
            if !whole && !is_named_part(facts, write, at) {
                continue;
            }
            if !out.iter().any(|b| b.bent == Party::Field(write.field)) {
                let (bent, by) = (Party::Field(write.field), Party::Field(facts.field()));
                let (way, at, when) = (write.way, write.at, write.when.clone());
                out.push(Bend { bent, by, way, at, when, sure: false });
            }
        }
    }
}

/// However far it has come: does the value still go by the name of the field where it is written?
fn is_named_part(facts: &Facts, write: &Rewrite, at: ExprRef) -> bool {
    let ir = facts.shared.ir(at.file);
    at.file == write.value.file
        && last_name(ir, at.expr) == Some(facts.field())
        && ir.contains(write.value.expr, at.expr)
        && !is_divisor(ir, at.expr)
}

fn is_divisor(ir: &FileIr, at: ExprId) -> bool {
    matches!(ir.exprs[at.index()].parent, Parent::Expr(up)
        if matches!(ir.expr(up), Expr::Bin { op: BinOp::Div | BinOp::FloorDiv | BinOp::Mod, right, .. } if *right == at))
}

/// Was there an operation that chooses by the value, or only divides by it?
fn is_lost_on_the_way(facts: &Facts, id: StateId) -> bool {
    facts.operations_to(id).iter().any(|(_, op)| match op {
        Op::Select { .. } => true,
        Op::Binary { op, left: false, .. } => matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod),
        _ => false,
    })
}

impl Rewrites {
    /// What is written where: the field, the place and the value.
    pub fn written(&self) -> impl Iterator<Item = (Sym, ExprRef, ExprRef)> {
        self.all.iter().map(|w| (w.field, w.at, w.value))
    }

    pub fn of(shared: &Shared) -> Rewrites {
        let mut out = Rewrites { all: Vec::new(), bends: Vec::new() };
        for (field, writes) in writes::of_all_fields(shared) {
            for write in &writes {
                let Some(study) = Study::of(shared, write, &writes, false) else { continue };
                out.bends.extend(study.bends);
                let (at, value, way, when) = (write.at, write.value, study.way, study.when);
                out.all.push(Rewrite { field, at, value, way, when });
            }
        }
        out
    }
}

/// What one write says.
struct Study<'s> {
    write: &'s Write,
    way: Way,
    when: Option<String>,
    bends: Vec<Bend>,
}

impl<'s> Study<'s> {
    /// `peers` are the writes of the same party. What is only read a long way off is looked for where `deep`; the trace of
    /// a value finds it from the other end. `None` where the write only shares or rewords what was there.
    fn of(shared: &Shared, write: &'s Write, peers: &[Write], deep: bool) -> Option<Self> {
        if !write.is_inside && (is_share(shared, write) || is_rewording(shared, write)) {
            return None;
        }
        let (file, ir) = (write.at.file, shared.ir(write.at.file));
        let known = guards::of_expr(ir, write.at.expr);
        let around: Vec<Guard> = known.iter().copied().filter(|g| !reasons::is_check(ir, g)).collect();
        let (value, chosen) = filling_part(shared, write);
        let fills = write.is_default || chosen || turns_on(shared, write) || is_unset(shared, write, file, &known);
        let way = match (fills, ir.expr(write.value.expr)) {
            (true, _) => Way::Fills,
            (false, Expr::False | Expr::None) if !write.is_inside => Way::Clears,
            (false, _) => Way::Replaces,
        };
        let mut texts: Vec<String> = around.iter().map(|g| shared.guard_text(file, g)).collect();
        let model = reasons::model(shared, write);
        texts.splice(0..0, model.map(|m| shared.text(m)));
        let when = (!texts.is_empty()).then(|| all_of(&texts));
        let mut study = Study { write, way, when, bends: Vec::new() };

        let mut read = sources::all(shared, value, deep);
        read.retain(|(party, _)| *party != write.bent);
        study.add(write.at, read.iter().cloned(), None);
        study.add(write.at, model.map(|_| (Party::Model, true)), None);
        if read.is_empty() {
            study.reasons(reasons::in_value(shared, write, &around), None);
        }
        study.reasons(reasons::around(shared, write, peers, &around, !read.is_empty()), None);
        if read.is_empty()
            && let Some(reason) = reasons::at_the_calls(shared, write)
        {
            let when = shared.text(reason.at);
            study.reasons(vec![reason], Some(when));
        }
        Some(study)
    }

    fn reasons(&mut self, reasons: Vec<reasons::Reason>, when: Option<String>) {
        for reason in reasons {
            self.add(reason.at, reason.parties, when.clone());
        }
    }

    fn add(&mut self, at: ExprRef, parties: impl IntoIterator<Item = (Party, bool)>, when: Option<String>) {
        for (by, sure) in parties {
            if by != self.write.bent {
                let (bent, way, when) = (self.write.bent.clone(), self.way, when.clone().or(self.when.clone()));
                self.bends.push(Bend { bent, by, way, at, when, sure: sure && self.write.sure });
            }
        }
    }
}

/// `X // n`, `X / n`: the field shared out.
fn is_share(shared: &Shared, write: &Write) -> bool {
    match (&write.bent, shared.ir(write.value.file).expr(write.value.expr)) {
        (Party::Field(field), Expr::Bin { op: BinOp::Div | BinOp::FloorDiv, left, .. }) => {
            asks::is_field(shared, ExprRef { file: write.value.file, expr: *left }, *field)
        }
        _ => false,
    }
}

/// `f(X)`: the field checked or put into another form. `f(X, key=value)` changes it.
fn is_rewording(shared: &Shared, write: &Write) -> bool {
    let Party::Field(field) = write.bent else { return false };
    let ir = shared.ir(write.value.file);
    let Expr::Call { func, args } = ir.expr(write.value.expr) else { return false };
    let is_own = |expr: ExprId| asks::is_field(shared, ExprRef { file: write.value.file, expr }, field);
    let number = last_name(ir, *func).is_some_and(|n| NUMBERS.contains(&n.as_str()));
    let changes = args.first().is_some_and(|a| is_own(a.value))
        && args.iter().any(|a| matches!(a.kind, ArgKind::Keyword(_)) && asks::is_constant(ir, a.value));
    let method = matches!(ir.expr(*func), Expr::Attr { base, .. } if is_own(*base));
    method || (!number && !changes && args.iter().any(|a| is_own(a.value)))
}

/// Functions that make one number of several.
const NUMBERS: [&str; 3] = ["min", "max", "sum"];

/// A switch that is off until given cannot be given as off: to turn it on replaces nothing.
fn turns_on(shared: &Shared, write: &Write) -> bool {
    let Party::Field(field) = write.bent else { return false };
    let off = shared.definitions.by_name(field).and_then(|d| d.definition.default.as_deref()) == Some("False");
    off && !write.is_inside && matches!(shared.ir(write.value.file).expr(write.value.expr), Expr::True)
}

/// Does one of the guards ask that what is written was not set before?
fn is_unset(shared: &Shared, write: &Write, file: FileId, guards: &[Guard]) -> bool {
    let ir = shared.ir(file);
    let target = shared.text(write.at);
    let unset = |is_it: &dyn Fn(ExprRef) -> bool| {
        asks::asks_not_given(shared, file, guards, &Settable { is_it, default: None })
    };
    match &write.bent {
        _ if write.is_inside => unset(&|at| shared.text(at) == target),
        Party::Field(field) => asks::asks_unset(shared, file, guards, *field),
        Party::Env(name) => unset(&|at| at.file == file && asks::env_read(ir, at.expr) == Some(*name)),
        _ => false,
    }
}

/// The part of `X or value`, `X if X is not None else value` that stands in for an unset field, and whether there is one.
fn filling_part(shared: &Shared, write: &Write) -> (ExprRef, bool) {
    let (value, ir) = (write.value, shared.ir(write.value.file));
    let Party::Field(field) = write.bent else { return (value, false) };
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
