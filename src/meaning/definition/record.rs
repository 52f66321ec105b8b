//! Which classes make up the record of arguments, and which fields do they declare, in which order?
//!
//! A record is one class with annotated fields, or a root class that is put together from namespace classes, each marked
//! with its path. It never looks at the command line.

use super::{DefinitionError, DerivedLeaf};
use crate::program::constants::Value;
use crate::program::resolve::Entity;
use crate::program::*;
use crate::syntax::ir::*;

/// A class that declares fields, with its namespace if it has one.
#[derive(Clone, Debug)]
pub struct Part {
    pub class: ClassRef,
    pub namespace: Option<Sym>,
}

/// A field as its class body declares it.
#[derive(Clone, Debug)]
pub struct RawField {
    pub name: Sym,
    pub class: ClassRef,
    pub namespace: Option<Sym>,
    pub target: ExprId,
    pub annotation: ExprId,
    pub value: Option<ExprId>,
}

#[derive(Clone, Debug)]
pub struct Record {
    pub root: ClassRef,
    pub parts: Vec<Part>,
    pub fields: Vec<RawField>,
}

pub fn find(program: &Program) -> Result<Record, DefinitionError> {
    let root = root(program).ok_or_else(|| DefinitionError::NoRecord(program.profile.root_classes.join(" or ")))?;
    let mut parts = namespaces(program, root);
    parts.push(Part { class: root, namespace: None });
    let mut fields: Vec<RawField> = Vec::new();
    for part in &parts {
        for (name, class, stmt) in program.record_fields(part.class) {
            let Stmt::AnnAssign { target, annotation, value } = program.ir(class.file).stmt(stmt).kind else {
                continue;
            };
            if !fields.iter().any(|f| f.name == name) {
                fields.push(RawField { name, class, namespace: part.namespace, target, annotation, value });
            }
        }
    }
    if let Some(order) = declared_order(program) {
        let place = |f: &RawField| order.iter().position(|n| *n == f.name).unwrap_or(usize::MAX);
        fields.sort_by_cached_key(place);
    }
    Ok(Record { root, parts, fields })
}

/// The value that a class default gives, through `field(default=...)` and `field(default_factory=...)`.
pub fn default_value(program: &Program, at: ExprRef) -> Option<Value> {
    let ir = program.ir(at.file);
    let Expr::Call { func, args } = ir.expr(at.expr) else { return program.constant(at) };
    if last_name(ir, *func).is_none_or(|n| n != "field") {
        return program.constant(at);
    }
    let arg = args.iter().find(|a| a.kind != ArgKind::Positional)?;
    match (arg.kind, ir.expr(arg.value)) {
        (ArgKind::Keyword(k), _) if k == "default" => program.constant(ExprRef { file: at.file, expr: arg.value }),
        (ArgKind::Keyword(k), Expr::Lambda(func)) if k == "default_factory" => {
            let body = program.returns(FuncRef { file: at.file, func: *func });
            program.constant(ExprRef { file: at.file, expr: *body.first()? })
        }
        (ArgKind::Keyword(k), Expr::Name(name)) if k == "default_factory" => match name.as_str() {
            "list" => Some(Value::List(Vec::new())),
            "dict" => Some(Value::Dict(Vec::new())),
            "set" => Some(Value::Set(Vec::new())),
            _ => None,
        },
        _ => None,
    }
}

/// The leaves that the record's classes compute: `name = Derived(doc=..., fn=...)`.
pub fn derived_leaves(program: &Program, record: &Record) -> Vec<DerivedLeaf> {
    let constructor = &program.profile.declaration.derived;
    let mut out = Vec::new();
    for part in &record.parts {
        let file = part.class.file;
        let ir = program.ir(file);
        for stmt in &program.class(part.class).body {
            let (target, value) = match &ir.stmt(*stmt).kind {
                Stmt::Assign { targets, value } => (targets.first().copied(), Some(*value)),
                Stmt::AnnAssign { target, value, .. } => (Some(*target), *value),
                _ => continue,
            };
            let (Some(target), Some(value)) = (target, value) else { continue };
            let (Expr::Name(name), Expr::Call { func, args }) = (ir.expr(target), ir.expr(value)) else { continue };
            if last_name(ir, *func).is_none_or(|n| n != constructor.as_str()) {
                continue;
            }
            let keyword = |k: &str| {
                let arg = args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(n) if n == k))?;
                Some(ExprRef { file, expr: arg.value })
            };
            let text = |k: &str| keyword(k).and_then(|e| program.constant(e)).and_then(|v| v.as_str());
            out.push(DerivedLeaf {
                name: *name,
                namespace: part.namespace,
                function: text("fn").filter(|f| !f.is_empty()),
                doc: text("doc").map(|d| d.to_string()),
                default_expr: keyword("default"),
                place: (file, ir.span(target)),
            });
        }
    }
    out
}

/// Of the classes with the record's name, the one that registers flags, else the one that declares fields; of several,
/// that of the file by which the package is known.
fn root(program: &Program) -> Option<ClassRef> {
    let mut all: Vec<ClassRef> = Vec::new();
    for name in &program.profile.root_classes {
        let name = Sym::from(name);
        for file in program.files_defining_class(name) {
            let found = program.classes_named(*file, name);
            all.extend(found.into_iter().filter(|c| program.class(*c).scope == Scope::Module));
        }
    }
    let registers = |c: &ClassRef| {
        program.profile.declaration.register.iter().any(|m| program.own_method(*c, Sym::from(m)).is_some())
    };
    let known_by = |c: &ClassRef| program.file(c.file).path.ends_with(&program.profile.marker);
    all.sort_by_key(|c| !known_by(c));
    let found = all.iter().find(|c| registers(c));
    found.or_else(|| all.iter().find(|c| !program.record_fields(**c).is_empty())).or(all.first()).copied()
}

/// The classes that are marked as namespaces of the record: those that the root's module lists, in its order; where it
/// lists none, all.
fn namespaces(program: &Program, root: ClassRef) -> Vec<Part> {
    let marker = &program.profile.declaration.namespace_attribute;
    if marker.is_empty() {
        return Vec::new();
    }
    let marker = Sym::from(marker);
    let mut marked: Vec<Part> = Vec::new();
    for file in program.files_with(marker).iter().copied() {
        let ir = program.ir(file);
        for (i, class) in ir.classes.iter().enumerate() {
            let path = class.body.iter().find_map(|stmt| marked_path(ir, *stmt, marker));
            if let Some(path) = path {
                marked.push(Part { class: ClassRef { file, class: ClassId(i as u32) }, namespace: Some(path) });
            }
        }
    }
    let listed = listed_classes(program, root.file, &marked);
    if listed.is_empty() { marked } else { listed }
}

fn marked_path(ir: &FileIr, stmt: StmtId, marker: Sym) -> Option<Sym> {
    let (target, value) = match &ir.stmt(stmt).kind {
        Stmt::Assign { targets, value } => (*targets.first()?, *value),
        Stmt::AnnAssign { target, value, .. } => (*target, (*value)?),
        _ => return None,
    };
    match ir.expr(target) {
        Expr::Name(name) if *name == marker => ir.str_value(value),
        _ => None,
    }
}

/// The longest list at the top of a module that holds nothing but such classes.
fn listed_classes(program: &Program, file: FileId, marked: &[Part]) -> Vec<Part> {
    let ir = program.ir(file);
    let mut best = Vec::new();
    for stmt in &ir.body {
        let (Stmt::Assign { value, .. } | Stmt::AnnAssign { value: Some(value), .. }) = &ir.stmt(*stmt).kind else {
            continue;
        };
        let (Expr::List(items) | Expr::Tuple(items)) = ir.expr(*value) else { continue };
        let classes: Option<Vec<Part>> = items
            .iter()
            .map(|item| match program.entities(ExprRef { file, expr: *item }).as_slice() {
                [Entity::Class(class)] => marked.iter().find(|p| p.class == *class).cloned(),
                _ => None,
            })
            .collect();
        if let Some(classes) = classes.filter(|c| c.len() > best.len()) {
            best = classes;
        }
    }
    best
}

/// The order of the record's fields, where a constant of the tree gives it.
fn declared_order(program: &Program) -> Option<Vec<Sym>> {
    let name = &program.profile.declaration.order;
    if name.is_empty() {
        return None;
    }
    let name = Sym::from(name);
    for file in program.files_with(name).iter().copied() {
        for target in program.global_targets(file, name) {
            let items = program.elements(ExprRef { file, expr: target });
            if !items.known.is_empty() {
                return Some(items.known.iter().filter_map(Value::as_str).collect());
            }
        }
    }
    None
}
