//! Rewrites that are declared rather than assigned.
//!
//! Where the record is sealed, a field is rewritten by a keyword of a declaring call, by a key of a dictionary that
//! reaches one or that a registered function returns, or by a keyword that overrides what was published. What these are
//! called is data of the profile. One file at a time, for one field or for all.

use super::access::{Access, How, Written};
use super::graph::{Graph, Holder, Kind, Node, Path, Proj, Slot};
use super::origin::assigned_value;
use crate::program::profile::Resolution;
use crate::program::types::Type;
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// The rewrites of one field that a file declares.
pub fn of_field(graph: &Graph, file: FileId, field: Sym) -> Vec<Access> {
    let places = graph.program.mentions(file, field).iter().map(|(at, _)| *at);
    let found = search(graph, file, &|f| f == field, places);
    found.into_iter().map(|(_, access)| access).collect()
}

/// The rewrites of all the wanted fields that a file declares.
pub fn in_file(graph: &Graph, file: FileId, wanted: &dyn Fn(Sym) -> bool) -> Vec<(Sym, Access)> {
    let places = 0..graph.program.ir(file).exprs.len() as u32;
    search(graph, file, wanted, places.map(ExprId))
}

fn search(
    graph: &Graph,
    file: FileId,
    wanted: &dyn Fn(Sym) -> bool,
    places: impl Iterator<Item = ExprId>,
) -> Vec<(Sym, Access)> {
    let resolution = &graph.program.profile.resolution;
    let mut search = Search { graph, resolution, file, wanted, out: Vec::new() };
    if !resolution.declare.is_empty() {
        places.for_each(|at| search.look_at(at));
    }
    search.out
}

/// The files whose text can declare a rewrite of one of the fields.
pub fn files(program: &Program, fields: &FxHashSet<&str>) -> Vec<FileId> {
    let resolution = &program.profile.resolution;
    let with = |words: &[String]| -> Vec<FileId> {
        words.iter().flat_map(|w| program.files_with(Sym::from(w)).to_vec()).collect()
    };
    let mut out: Vec<FileId> =
        [&resolution.declare, &resolution.passes, &resolution.providers, &resolution.model_tables]
            .map(|l| with(l))
            .concat();
    let overriding = with(&resolution.overrides);
    out.extend(overriding.into_iter().filter(|f| overrides(&program.file(*f).text, &resolution.overrides, fields)));
    out.sort();
    out.dedup();
    out
}

/// `name(…, field=…)` or `name(…, **…)` somewhere in the text, for one of the names.
fn overrides(text: &[u8], names: &[String], fields: &FxHashSet<&str>) -> bool {
    const LONG: usize = 1000;
    names.iter().any(|name| {
        memchr::memmem::find_iter(text, name.as_bytes()).any(|at| {
            let rest = text.get(at + name.len()..).unwrap_or(&[]);
            let Some(arguments) = rest.strip_prefix(b"(") else { return false };
            let arguments = &arguments[..arguments.len().min(LONG)];
            memchr::memmem::find(arguments, b"**").is_some() || has_keyword(arguments, fields)
        })
    })
}

fn has_keyword(arguments: &[u8], fields: &FxHashSet<&str>) -> bool {
    memchr::memchr_iter(b'=', arguments).any(|i| {
        let left = arguments.get(..i).unwrap_or(&[]);
        let start = left.iter().rposition(|b| !b.is_ascii_alphanumeric() && *b != b'_').map_or(0, |n| n + 1);
        left.get(start..).and_then(|w| std::str::from_utf8(w).ok()).is_some_and(|word| fields.contains(word))
    })
}

struct Search<'s, 'g, 'p> {
    graph: &'g Graph<'p>,
    resolution: &'g Resolution,
    file: FileId,
    wanted: &'s dyn Fn(Sym) -> bool,
    out: Vec<(Sym, Access)>,
}

impl Search<'_, '_, '_> {
    fn look_at(&mut self, at: ExprId) {
        let ir = self.graph.program.ir(self.file);
        match ir.expr(at) {
            Expr::Call { func, args } => self.call(at, *func, args),
            Expr::Str(field) if (self.wanted)(*field) => {
                if let Some(value) = value_under_key(ir, at)
                    && (self.is_in_table(at) || self.reaches_declaration(value, *field))
                {
                    self.push(*field, ir.span(at), at, value);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, field: Sym, place: Span, at: ExprId, value: ExprId) {
        let at = ExprRef { file: self.file, expr: at };
        let write = Some(Written::Value(value));
        self.out.push((field, Access { place, at, how: How::Named, write, sure: true, holder: Holder::View }));
    }

    fn call(&mut self, at: ExprId, func: ExprId, args: &[Arg]) {
        let ir = self.graph.program.ir(self.file);
        let Some(name) = last_name(ir, func) else { return };
        let declares = is_in(&self.resolution.declare, name);
        let may_override = is_in(&self.resolution.overrides, name);
        let fills = matches!(name.as_str(), "dict" | "update");
        if !declares && !may_override && !fills {
            return;
        }
        for arg in args {
            let ArgKind::Keyword(field) = arg.kind else { continue };
            if (self.wanted)(field)
                && (declares
                    || may_override && self.overrides(func, field)
                    || fills && self.reaches_declaration(arg.value, field))
            {
                self.push(field, ir.lines.span(arg.at), at, arg.value);
            }
        }
    }

    /// `context.override("source", field=value)`, `bag.override(field=value)`, also through `self.record_updates(…)`.
    fn overrides(&self, func: ExprId, field: Sym) -> bool {
        let Expr::Attr { base, .. } = self.graph.program.ir(self.file).expr(func) else { return false };
        let types = self.graph.types.of(ExprRef { file: self.file, expr: *base });
        let of_class = types.iter().any(|t| matches!(t.ty, Type::Bag(_) | Type::Instance(_)));
        of_class && self.graph.is_namespaced(field)
    }

    /// Does a dictionary with the value under its key arrive at a declaring call or at the return of a registered function?
    fn reaches_declaration(&self, value: ExprId, field: Sym) -> bool {
        const NEAR: usize = 120;
        let start = ExprRef { file: self.file, expr: value };
        let mut seen = vec![Node { slot: Slot::Expr(start), path: Path::default(), kind: Kind::Value }];
        let mut next = 0;
        while let Some(node) = seen.get(next).copied() {
            if is_declaration(self.graph.program, node.slot) {
                return true;
            }
            next += 1;
            for to in self.ways_of_the_container(node, field) {
                if seen.len() < NEAR && !seen.contains(&to) {
                    seen.push(to);
                }
            }
        }
        false
    }

    /// Where the container goes next; what else is done with the value does not matter.
    fn ways_of_the_container(&self, node: Node, field: Sym) -> Vec<Node> {
        let is_container = |to: &Node| to.path.first() == Some(Proj::Key(field)) && !matches!(to.slot, Slot::Attr(..));
        match node.slot {
            Slot::Return(func) => {
                let sites = self.graph.return_sites(func);
                sites.iter().map(|(call, _)| Node { slot: Slot::Expr(*call), ..node }).collect()
            }
            _ => self.graph.steps(node).edges.iter().map(|edge| edge.to).filter(is_container).collect(),
        }
    }

    /// `table = {"Model": {"field": value}}`, the table being one that the profile names.
    fn is_in_table(&self, key: ExprId) -> bool {
        let ir = self.graph.program.ir(self.file);
        let up = |e: ExprId| match ir.exprs[e.index()].parent {
            Parent::Expr(up) => Some(up),
            _ => None,
        };
        let Some(table) = up(key).and_then(up) else { return false };
        let Parent::Stmt(stmt) = ir.exprs[table.index()].parent else { return false };
        let target = match &ir.stmt(stmt).kind {
            Stmt::Assign { targets, .. } => targets.first().copied(),
            Stmt::AnnAssign { target, .. } => Some(*target),
            _ => None,
        };
        let name = target.and_then(|t| last_name(ir, t));
        name.is_some_and(|n| is_in(&self.resolution.model_tables, n))
    }
}

/// Is a dictionary that arrives here declared: as the rest of the keywords of a declaring call, or as what a registered
/// function returns?
pub fn is_declaration(program: &Program, slot: Slot) -> bool {
    let resolution = &program.profile.resolution;
    match slot {
        Slot::Def(file, Scope::Func(func), def) => {
            let func = program.func(FuncRef { file, func });
            let is_rest = func.params.get(def.0 as usize).is_some_and(|p| p.kind == ParamKind::DoubleStar);
            is_rest && (is_in(&resolution.declare, func.name) || is_in(&resolution.overrides, func.name))
        }
        Slot::Return(func) => {
            let registered = resolution.passes.iter().chain(&resolution.providers);
            program.has_decorator(func, &registered.map(String::as_str).collect::<Vec<_>>())
        }
        _ => false,
    }
}

fn is_in(list: &[String], name: Sym) -> bool {
    list.iter().any(|l| *l == name.as_str())
}

/// The value that a dictionary gets under a key literal: `{"key": value}`, `d["key"] = value`, `d.setdefault("key", value)`.
fn value_under_key(ir: &FileIr, key: ExprId) -> Option<ExprId> {
    let Parent::Expr(up) = ir.exprs[key.index()].parent else { return None };
    match ir.expr(up) {
        Expr::Dict(items) => items.iter().find(|(k, _)| *k == Some(key)).map(|(_, v)| *v),
        Expr::Subscript { index, .. } if *index == key => assigned_value(ir, up),
        Expr::Call { func, args } if last_name(ir, *func).is_some_and(|n| n == "setdefault") => match &args[..] {
            [name, value] if name.value == key => Some(value.value),
            _ => None,
        },
        _ => None,
    }
}
