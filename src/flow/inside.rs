//! Writes inside what a field holds: `part = record.field.part; part.limit = value`.
//!
//! The object that is written to is followed back through its attributes, locals, copies and parameters to a read of a
//! field. What came through a copy or a call is not sure: the copy may be dropped, and the call be one of several.

use super::access::{Access, How, Written};
use super::graph::{Graph, Holder};
use super::origin::assigned_value;
use crate::program::resolve::Binding;
use crate::program::*;
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;

/// The writes inside the wanted fields in a file.
pub fn in_file(graph: &Graph, file: FileId, wanted: &dyn Fn(Sym) -> bool) -> Vec<(Sym, Access)> {
    let ir = graph.program.ir(file);
    let search = Search { graph, wanted };
    let mut out = Vec::new();
    for at in graph.program.part_stores(file) {
        let at = ExprRef { file, expr: *at };
        let (Expr::Attr { base, .. } | Expr::Subscript { base, .. }) = ir.expr(at.expr) else { continue };
        let Some(value) = assigned_value(ir, at.expr) else { continue };
        if let Some((field, sure, holder)) = search.field_that_holds(ExprRef { file, expr: *base }, 0) {
            let write = Some(Written::Inside(value));
            let access = Access { place: ir.place(at.expr), at, how: How::Attribute, write, sure, holder };
            out.push((field, access));
        }
    }
    out
}

struct Search<'s, 'g, 'p> {
    graph: &'g Graph<'p>,
    wanted: &'s dyn Fn(Sym) -> bool,
}

type Held = Option<(Sym, bool, Holder)>;

impl Search<'_, '_, '_> {
    /// The field whose value an object is, or is a part of.
    fn field_that_holds(&self, at: ExprRef, depth: u32) -> Held {
        const MAX_DEPTH: u32 = 8;
        if depth > MAX_DEPTH {
            return None;
        }
        let ir = self.graph.program.ir(at.file);
        let here = |expr| ExprRef { file: at.file, expr };
        match ir.expr(at.expr) {
            Expr::Attr { base, attr, .. } => {
                if (self.wanted)(*attr) {
                    let types = self.graph.types.of(here(*base));
                    if let Some((sure, holder)) = self.graph.holds_field(&types, *attr) {
                        return Some((*attr, sure, holder));
                    }
                }
                self.field_that_holds(here(*base), depth + 1)
            }
            Expr::Subscript { base, .. } => self.field_that_holds(here(*base), depth + 1),
            Expr::Name(_) => self.of_name(at, depth),
            Expr::Call { func, args } => {
                let copies = last_name(ir, *func).is_some_and(|n| matches!(n.as_str(), "copy" | "deepcopy" | "replace"));
                let copied = match (args.first(), ir.expr(*func)) {
                    (Some(first), _) => first.value,
                    (None, Expr::Attr { base, .. }) => *base,
                    _ => return None,
                };
                let held = self.field_that_holds(here(copied), depth + 1).filter(|_| copies);
                held.map(|(field, _, holder)| (field, false, holder))
            }
            _ => None,
        }
    }

    /// A local with one value; a parameter, where the function is given the record too.
    fn of_name(&self, at: ExprRef, depth: u32) -> Held {
        let program = self.graph.program;
        let Binding::Local(scope, defs) = program.binding(at) else { return None };
        let [def] = defs[..] else { return None };
        let site = program.defuse(at.file, scope).defs.get(def.0 as usize)?.site;
        match site {
            DefSite::Target(target) => {
                let value = assigned_value(program.ir(at.file), target)?;
                self.field_that_holds(ExprRef { file: at.file, expr: value }, depth + 1)
            }
            DefSite::Param(i) => self.of_parameter(at.file, scope, i, depth),
            _ => None,
        }
    }

    fn of_parameter(&self, file: FileId, scope: Scope, i: u32, depth: u32) -> Held {
        const MANY_FILES: usize = 6;
        const MANY_CALLERS: usize = 4;
        let Scope::Func(func) = scope else { return None };
        let func = FuncRef { file, func };
        let (program, types) = (self.graph.program, &self.graph.types);
        let given = program.func(func);
        let takes_record = |p: usize| p as u32 != i && self.graph.is_record(&types.of_param(func, p as u32)).is_some();
        if i == 0 && program.method_class(func).is_some()
            || program.files_with(given.name).len() > MANY_FILES
            || !(0..given.params.len()).any(takes_record)
        {
            return None;
        }
        let callers = types.callers(func);
        if callers.len() > MANY_CALLERS {
            return None;
        }
        let mut held = callers.iter().map(|site| {
            let argument = types.argument_for(site.call, func, i)?;
            self.field_that_holds(argument, depth + 2)
        });
        let first = held.next()??;
        held.all(|h| h.is_some_and(|h| h.0 == first.0)).then_some((first.0, false, first.2))
    }
}
