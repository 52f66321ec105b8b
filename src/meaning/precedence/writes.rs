//! Every place that writes a field of the record, or sets a variable of the environment.
//!
//! Fields are assigned, declared, or changed inside their value. A value that is put back later, or that holds only within
//! a `with`, is no write.

use super::asks;
use super::bend::Party;
use crate::flow::access::{self, Access, How, Written};
use crate::flow::graph::Holder;
use crate::flow::origin::assigned_value;
use crate::flow::{declared, inside};
use crate::meaning::facts::Shared;
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};

pub struct Write {
    pub bent: Party,
    pub at: ExprRef,
    pub value: ExprRef,
    /// It takes effect only where nothing was set: `environ.setdefault(name, value)`.
    pub is_default: bool,
    /// Only a part of what the field holds is written.
    pub is_inside: bool,
    pub sure: bool,
}

impl Write {
    /// The write of a field that an access is, if its value can be told.
    fn of(field: Sym, access: &Access) -> Option<Write> {
        let (value, is_inside) = match access.write? {
            Written::Value(value) | Written::Part(value) => (value, false),
            Written::Inside(value) => (value, true),
            Written::Augmented(op, value) if !matches!(op, BinOp::Div | BinOp::FloorDiv) => (value, false),
            _ => return None,
        };
        let value = ExprRef { file: access.at.file, expr: value };
        let (bent, at, sure) = (Party::Field(field), access.at, access.sure);
        Some(Write { bent, at, value, is_default: false, is_inside, sure })
    }
}

/// The lasting writes of one field among its accesses.
pub fn lasting(shared: &Shared, field: Sym, accesses: &[Access]) -> Vec<Write> {
    let writes = accesses.iter().filter(|a| !is_scoped(shared, a)).filter_map(|a| Write::of(field, a));
    let mut writes: Vec<Write> = writes.collect();
    // `backup = field; field = other; …; field = backup`
    let swapped: Vec<_> = writes
        .iter()
        .filter(|w| is_put_back(shared, w, field))
        .map(|w| shared.processes.function_around(w.at))
        .collect();
    if !swapped.is_empty() {
        writes.retain(|w| !swapped.contains(&shared.processes.function_around(w.at)));
    }
    writes
}

fn is_put_back(shared: &Shared, write: &Write, field: Sym) -> bool {
    matches!(shared.ir(write.value.file).expr(write.value.expr), Expr::Name(_))
        && asks::is_field(shared, write.value, field)
}

/// `with bag.override(field=value):`, where what the call gives is used rather than dropped.
fn is_scoped(shared: &Shared, access: &Access) -> bool {
    let ir = shared.ir(access.at.file);
    let Expr::Call { func, .. } = ir.expr(access.at.expr) else { return false };
    let overrides = &shared.program().profile.resolution.overrides;
    let dropped =
        matches!(ir.exprs[access.at.expr.index()].parent, Parent::Stmt(s) if matches!(ir.stmt(s).kind, Stmt::Expr(_)));
    !dropped && last_name(ir, *func).is_some_and(|n| overrides.iter().any(|o| *o == n.as_str()))
}

/// The writes of every field in the tree, field by field in order of name.
pub fn of_all_fields(shared: &Shared) -> Vec<(Sym, Vec<Write>)> {
    let program = shared.program();
    let is_field = |name: Sym| shared.definitions.by_name(name).is_some();
    let fields: FxHashSet<&str> = shared.definitions.fields.iter().map(|d| d.field.as_str()).collect();
    let (assigning, declaring) = (files_that_assign(shared, &fields), declared::files(program, &fields));
    let mut files = [assigning.clone(), declaring.clone()].concat();
    files.sort();
    files.dedup();
    program.parse_all(&files);
    let mut accesses: FxHashMap<Sym, Vec<Access>> = FxHashMap::default();
    let found = assigning.into_iter().flat_map(|f| assignments(shared, f, &is_field));
    let found = found.chain(declaring.into_iter().flat_map(|f| declared::in_file(shared.graph, f, &is_field)));
    let found = found.chain(files.into_iter().flat_map(|f| inside::in_file(shared.graph, f, &is_field)));
    for (field, access) in found {
        accesses.entry(field).or_default().push(access);
    }
    let mut out: Vec<(Sym, Vec<Write>)> =
        accesses.into_iter().map(|(field, all)| (field, lasting(shared, field, &all))).collect();
    out.sort_by_key(|(field, _)| *field);
    out
}

/// The assignments to fields of the record in a file.
fn assignments(shared: &Shared, file: FileId, is_field: &dyn Fn(Sym) -> bool) -> Vec<(Sym, Access)> {
    let program = shared.program();
    let ir = shared.ir(file);
    let mut out = Vec::new();
    for (i, node) in ir.exprs.iter().enumerate() {
        let Expr::Attr { base, attr, .. } = &node.kind else { continue };
        let at = ExprRef { file, expr: ExprId(i as u32) };
        if !is_field(*attr) || !program.is_store(file, at.expr) {
            continue;
        }
        let types = shared.graph.types.of(ExprRef { file, expr: *base });
        let Some(sure) = shared.graph.is_record(&types) else { continue };
        let write = access::written(ir, program, file, at.expr);
        let access = Access { place: ir.place(at.expr), at, how: How::Attribute, write, sure, holder: Holder::Record };
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

/// The variables that are set in a file.
pub fn of_variables(shared: &Shared, file: FileId) -> Vec<Write> {
    let ir = shared.ir(file);
    let mut out = Vec::new();
    for i in 0..ir.exprs.len() {
        let at = ExprRef { file, expr: ExprId(i as u32) };
        if let Some((name, value, is_default)) = variable_set(ir, at.expr) {
            let value = ExprRef { file, expr: value };
            out.push(Write { bent: Party::Env(name), at, value, is_default, is_inside: false, sure: true });
        }
    }
    out
}

/// `environ["NAME"] = value`, `environ.setdefault("NAME", value)`, `declared.NAME.set(value)`.
fn variable_set(ir: &FileIr, at: ExprId) -> Option<(Sym, ExprId, bool)> {
    let named = |e: ExprId| ir.str_value(e).filter(|s| asks::is_env_name(s));
    match ir.expr(at) {
        Expr::Subscript { base, index } if asks::is_environ(ir, *base) => {
            let value = assigned_value(ir, at)?;
            Some((named(*index)?, value, false))
        }
        Expr::Call { func, args } => {
            let Expr::Attr { base, attr, .. } = ir.expr(*func) else { return None };
            match (attr.as_str(), &args[..]) {
                ("setdefault", [name, value]) if asks::is_environ(ir, *base) => {
                    Some((named(name.value)?, value.value, true))
                }
                ("set", [value]) => match ir.expr(*base) {
                    Expr::Attr { attr, .. } if asks::is_env_name(attr) => Some((*attr, value.value, false)),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}
