//! Every place where a field of the record is read or written, whatever the spelling.
//!
//! It starts at the files that mention the name and asks of each mention whether its object can be the record. A name
//! that is computed (`getattr(record, name)`) is followed back from the literals. Reads of an attribute that merely has
//! the same name are not accesses.

use super::graph::{Graph, Holder, Kind, Slot};
use super::trace::Trace;
use super::{declared, inside};
use crate::program::resolve::Entity;
use crate::program::*;
use crate::syntax::ir::*;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// `record.field`
    Attribute,
    /// `getattr(record, "field")`, with the name literal there or elsewhere.
    Named,
    /// `record_dict["field"]`
    Key,
}

#[derive(Clone, Debug)]
pub struct Access {
    /// The token that names the field.
    pub place: Span,
    /// For a read, the expression that has the value; for a write, the target or call.
    pub at: ExprRef,
    pub how: How,
    pub write: Option<Written>,
    pub sure: bool,
    pub holder: Holder,
}

/// What a write stores.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Written {
    /// The value of the expression.
    Value(ExprId),
    /// `field op= value`
    Augmented(BinOp, ExprId),
    /// An element of the tuple that the expression yields.
    Part(ExprId),
    /// A part of what the field holds becomes the value of the expression.
    Inside(ExprId),
    /// Something that cannot be named.
    Unknown,
}

impl Access {
    pub fn is_read(&self) -> bool {
        !matches!(self.write, Some(Written::Value(_) | Written::Part(_) | Written::Inside(_) | Written::Unknown))
    }
}

/// The accesses of one field, in file order.
pub fn of_field(graph: &Graph, field: Sym) -> Vec<Access> {
    let program = graph.program;
    let files = program.files_with(field);
    program.parse_all(&files);
    let dicts = record_dicts(program);
    let mut out = Vec::new();
    for file in files.iter().copied() {
        attributes(graph, file, field, &mut out);
        named(graph, file, field, &mut out);
        keys(program, file, field, &dicts, &mut out);
        out.extend(declared::of_field(graph, file, field));
        out.extend(inside::in_file(graph, file, &|f| f == field).into_iter().map(|(_, access)| access));
    }
    out.sort_by_key(|a| (a.at.file, a.place.line, a.place.column, a.write.is_some()));
    out.dedup_by_key(|a| (a.at, a.place, a.write.is_some()));
    out
}

fn attributes(graph: &Graph, file: FileId, field: Sym, out: &mut Vec<Access>) {
    let program = graph.program;
    let ir = program.ir(file);
    for at in program.attrs_named(file, field) {
        let Expr::Attr { base, .. } = ir.expr(*at) else { continue };
        let types = graph.types.of(ExprRef { file, expr: *base });
        let Some((sure, holder)) = graph.holds_field(&types, field) else { continue };
        let write = written(ir, program, file, *at);
        out.push(Access {
            place: ir.place(*at),
            at: ExprRef { file, expr: *at },
            how: How::Attribute,
            write,
            sure,
            holder,
        });
    }
}

/// What is written to a target expression, if it is one.
pub fn written(ir: &FileIr, program: &Program, file: FileId, at: ExprId) -> Option<Written> {
    if !program.is_store(file, at) {
        return None;
    }
    match ir.exprs[at.index()].parent {
        Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
            Stmt::Assign { value, .. } => Some(Written::Value(*value)),
            Stmt::AnnAssign { value: Some(value), .. } => Some(Written::Value(*value)),
            Stmt::AnnAssign { value: None, .. } => None,
            Stmt::AugAssign { op, value, .. } => Some(Written::Augmented(*op, *value)),
            _ => Some(Written::Unknown),
        },
        Parent::Expr(tuple) => {
            // One of several targets: the matching element, where the right side is a literal too.
            let index = ir.children(tuple).iter().position(|c| *c == at);
            match ir.stmt_of(tuple).map(|s| &ir.stmt(s).kind) {
                Some(Stmt::Assign { value, .. }) => match (ir.expr(*value), index) {
                    (Expr::Tuple(items), Some(i)) if items.len() > i => Some(Written::Value(items[i])),
                    _ => Some(Written::Part(*value)),
                },
                _ => Some(Written::Unknown),
            }
        }
        _ => Some(Written::Unknown),
    }
}

/// `getattr` and `setattr` on the record, and copies of the record with a field replaced.
fn named(graph: &Graph, file: FileId, field: Sym, out: &mut Vec<Access>) {
    let program = graph.program;
    let ir = program.ir(file);
    for (expr, _) in program.mentions(file, field) {
        let literal = ExprRef { file, expr: *expr };
        match ir.expr(*expr) {
            Expr::Str(_) => {
                if let Some(access) = accessor_call(graph, literal, literal) {
                    out.push(access);
                } else if may_travel(ir, literal.expr) {
                    through_names(graph, literal, out);
                }
            }
            Expr::Call { func, args } => {
                let Some(arg) = args.iter().find(|a| a.kind == ArgKind::Keyword(field)) else { continue };
                let replaces = last_name(ir, *func).is_some_and(|n| n == "replace");
                let Some(first) = args.first().filter(|a| replaces && a.kind == ArgKind::Positional) else { continue };
                let types = graph.types.of(ExprRef { file, expr: first.value });
                if let Some(sure) = graph.is_record(&types) {
                    let write = Some(Written::Value(arg.value));
                    let holder = Holder::Record;
                    out.push(Access {
                        place: ir.lines.span(arg.at),
                        at: literal,
                        how: How::Named,
                        write,
                        sure,
                        holder,
                    });
                }
            }
            _ => {}
        }
    }
}

/// Is the literal somewhere that a name can be handed on from: an argument, a collection, an assignment?
fn may_travel(ir: &FileIr, at: ExprId) -> bool {
    match ir.exprs[at.index()].parent {
        Parent::Expr(up) => match ir.expr(up) {
            Expr::Call { .. } | Expr::Tuple(_) | Expr::List(_) | Expr::Set(_) | Expr::IfExp { .. } => true,
            Expr::Dict(items) => items.iter().any(|(k, _)| *k == Some(at)),
            _ => false,
        },
        Parent::Stmt(stmt) => matches!(ir.stmt(stmt).kind, Stmt::Assign { .. } | Stmt::Return(_)),
        Parent::Func(_) => true,
        Parent::Class(_) => false,
    }
}

/// Where a name that travels ends as the second argument of `getattr` or `setattr` on the record.
fn through_names(graph: &Graph, literal: ExprRef, out: &mut Vec<Access>) {
    const NEAR: u32 = 12;
    let trace = Trace::bounded(graph, &[(literal, Kind::Value)], 300);
    for state in trace.states.iter().filter(|s| s.distance <= NEAR) {
        if let Slot::Expr(at) = state.node.slot
            && at != literal
        {
            out.extend(accessor_call(graph, at, literal).map(|a| Access { sure: false, ..a }));
        }
    }
}

/// `name` as the second argument of `getattr` or `setattr`, the first being the record.
fn accessor_call(graph: &Graph, name: ExprRef, literal: ExprRef) -> Option<Access> {
    let file = name.file;
    let ir = graph.program.ir(file);
    let Parent::Expr(call) = ir.exprs[name.expr.index()].parent else { return None };
    let Expr::Call { func, args } = ir.expr(call) else { return None };
    let Expr::Name(callee) = ir.expr(*func) else { return None };
    if args.get(1)?.value != name.expr {
        return None;
    }
    let write = match callee.as_str() {
        "getattr" => None,
        "setattr" => Some(args.get(2).map_or(Written::Unknown, |a| Written::Value(a.value))),
        _ => return None,
    };
    let field = graph.program.ir(literal.file).str_value(literal.expr)?;
    let (sure, holder) = graph.holds_field(&graph.types.of(ExprRef { file, expr: args[0].value }), field)?;
    let place = if literal == name { ir.span(name.expr) } else { ir.span(call) };
    Some(Access { place, at: ExprRef { file, expr: call }, how: How::Named, write, sure, holder })
}

/// Module-level dictionaries that publish the record: `name = {"field": Record.field, …}`.
fn record_dicts(program: &Program) -> Vec<Entity> {
    let mut out = Vec::new();
    for root in &program.profile.root_classes {
        let word = Sym::from(root);
        for file in program.files_with(word).iter().copied() {
            let text = &program.file(file).text;
            let spellings = [format!("{root}."), format!("getattr({root}")];
            if !spellings.iter().any(|s| memchr::memmem::find(text, s.as_bytes()).is_some()) {
                continue;
            }
            let ir = program.ir(file);
            for stmt in &ir.body {
                let Stmt::Assign { targets, value } = &ir.stmt(*stmt).kind else { continue };
                let values: Vec<ExprId> = match ir.expr(*value) {
                    Expr::Dict(items) => items.iter().map(|(_, v)| *v).collect(),
                    Expr::Comp(comp) if comp.kind == CompKind::Dict => comp.value.into_iter().collect(),
                    _ => continue,
                };
                let of_class = |e: &ExprId| match ir.expr(*e) {
                    Expr::Attr { base, .. } => last_name(ir, *base) == Some(word),
                    Expr::Call { func, args } => {
                        last_name(ir, *func).is_some_and(|n| n == "getattr")
                            && args.first().is_some_and(|a| last_name(ir, a.value) == Some(word))
                    }
                    _ => false,
                };
                if values.iter().any(of_class) {
                    for target in targets {
                        if let Expr::Name(name) = ir.expr(*target) {
                            out.push(Entity::Var(file, *name));
                        }
                    }
                }
            }
        }
    }
    out
}

/// `record_dict["field"]`, `record_dict.get("field")`.
fn keys(program: &Program, file: FileId, field: Sym, dicts: &[Entity], out: &mut Vec<Access>) {
    if dicts.is_empty() {
        return;
    }
    let ir = program.ir(file);
    for (key, _) in program.mentions(file, field).iter().filter(|(_, how)| *how == Mention::Str) {
        let key = *key;
        let Parent::Expr(expr) = ir.exprs[key.index()].parent else { continue };
        let at = ExprRef { file, expr };
        let base = match ir.expr(expr) {
            Expr::Subscript { base, index } if *index == key => *base,
            Expr::Call { func, args } if args.first().is_some_and(|a| a.value == key) => match ir.expr(*func) {
                Expr::Attr { base, attr, .. } if *attr == "get" => *base,
                _ => continue,
            },
            _ => continue,
        };
        let is_dict = program.entities(ExprRef { file, expr: base }).iter().any(|e| dicts.contains(e));
        if is_dict {
            let write = written(ir, program, file, at.expr);
            let holder = Holder::Record;
            out.push(Access { place: ir.span(key), at, how: How::Key, write, sure: true, holder });
        }
    }
}
