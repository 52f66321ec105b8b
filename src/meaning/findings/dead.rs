//! Does nothing read the field?
//!
//! No access is not enough: an attribute of the same name on an object whose class is unknown, or a string that is the
//! name, can be a read that was not resolved. Only where each such mention is known to be something else is it said, and
//! only of a tree that was read whole: a file that was left out can hold the one read.

use super::super::facts::Facts;
use super::super::report::{Finding, Place};
use super::{declaration, finding, table};
use crate::program::types::Type;
use crate::program::{ClassRef, ExprRef, FileId, last_name};
use crate::syntax::ir::*;

pub fn find(facts: &Facts) -> Option<Finding> {
    if facts.reads().next().is_some() || facts.shared.program().is_incomplete() || mentioned(facts) {
        return None;
    }
    let own = declaration(facts);
    let field = facts.field();
    let mut says = format!("nothing reads {field}");
    if let Some(write) = facts.writes().next() {
        let Place { path, line, .. } = facts.shared.place(write.at);
        says = format!("{field} is written ({path}:{line}) and never read");
    }
    if facts.declared.definition.deprecated.is_some() {
        says.push_str("; its flag is deprecated");
    }
    Some(finding(table::DEAD_FIELD, says, &own.path, own.line))
}

/// Is there a mention that can be a read for all we know?
fn mentioned(facts: &Facts) -> bool {
    let program = facts.shared.program();
    let files = program.files_with(facts.field());
    files.iter().any(|file| unparsed(facts, *file) || attribute(facts, *file) || named(facts, *file))
}

/// Does a region of the file that did not parse hold the name?
fn unparsed(facts: &Facts, file: FileId) -> bool {
    let program = facts.shared.program();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let holds = |text: String| text.split(|c| !is_name(c)).any(|word| facts.field() == word);
    facts.shared.ir(file).skipped.iter().any(|region| holds(program.text(file, (*region).into())))
}

/// `thing.field`, where the thing can be the record.
fn attribute(facts: &Facts, file: FileId) -> bool {
    let mentions = facts.shared.program().attrs_named(file, facts.field());
    mentions.iter().any(|at| can_be_read(facts, ExprRef { file, expr: *at }))
}

/// Can an attribute of the field's name be a read of it, for all we know?
pub fn can_be_read(facts: &Facts, here: ExprRef) -> bool {
    let shared = facts.shared;
    let Expr::Attr { base, .. } = shared.ir(here.file).expr(here.expr) else { return false };
    if facts.accesses.iter().any(|a| a.at == here) || shared.program().is_store(here.file, here.expr) {
        return false;
    }
    let base = ExprRef { file: here.file, expr: *base };
    // `Record.field` is the declared default.
    !names_record_class(facts, base) && !is_external(facts, base) && !is_other(facts, base)
}

/// Is the thing known to be an object that has an attribute of this name itself?
fn is_other(facts: &Facts, base: ExprRef) -> bool {
    let shared = facts.shared;
    let (program, field) = (shared.program(), facts.field());
    let has = |class: ClassRef| {
        program.method(class, field).is_some()
            || program.record_fields(class).iter().any(|f| f.0 == field)
            || program.mro(class).iter().any(|c| !program.self_stores(*c, field).is_empty())
    };
    let types = shared.graph.types.of(base);
    !types.is_empty()
        && types.iter().all(|t| match t.ty {
            Type::Instance(class) | Type::Class(class) | Type::Super(_, class) => has(class),
            Type::External(_) | Type::ExternalInstance(_) | Type::Module(_) => true,
            _ => false,
        })
}

fn names_record_class(facts: &Facts, base: ExprRef) -> bool {
    let name = last_name(facts.shared.ir(base.file), base.expr);
    name.is_some_and(|n| facts.shared.program().profile.is_root_class(n.as_str()))
}

/// Does the thing come from outside the tree?
fn is_external(facts: &Facts, base: ExprRef) -> bool {
    use crate::program::resolve::Entity;
    let entities = facts.shared.program().entities(base);
    !entities.is_empty() && entities.iter().all(|e| matches!(e, Entity::External(_)))
}

/// The name as a string that is handed on, outside the registration of flags.
fn named(facts: &Facts, file: FileId) -> bool {
    let ir = facts.shared.ir(file);
    let field = facts.field();
    let held = |range: ByteRange| facts.accesses.iter().any(|a| a.at.file == file && ByteRange::from(a.place) == range);
    ir.exprs.iter().any(|node| {
        let is_name = matches!(&node.kind, Expr::Str(text) if *text == field);
        is_name && !is_dest(ir, node.parent) && !is_ordered(facts, ir, node.parent) && !held(node.range)
    })
}

/// An entry of the list that gives the order of the declarations.
fn is_ordered(facts: &Facts, ir: &FileIr, parent: Parent) -> bool {
    let Parent::Expr(list) = parent else { return false };
    let Parent::Stmt(stmt) = ir.exprs[list.index()].parent else { return false };
    let order = &facts.shared.program().profile.declaration.order;
    let is_order = |target: &ExprId| last_name(ir, *target).is_some_and(|n| n == order.as_str());
    match &ir.stmt(stmt).kind {
        Stmt::Assign { targets, .. } => targets.iter().any(is_order),
        Stmt::AnnAssign { target, .. } => is_order(target),
        _ => false,
    }
}

/// `dest="field"`
fn is_dest(ir: &FileIr, parent: Parent) -> bool {
    let Parent::Expr(call) = parent else { return false };
    let Expr::Call { func, .. } = ir.expr(call) else { return false };
    last_name(ir, *func).is_some_and(|n| n == "add_argument" || n == "hasattr")
}
