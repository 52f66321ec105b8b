//! What does a field's annotation say: its type, and the command-line metadata that may be wrapped around it?
//!
//! `A[T, "help"]` and `A[T, Arg(help=..., choices=...)]` are read as written; types are understood as far as argparse
//! needs them. It never imports a type, and an annotation that it does not know is kept as text.

use super::registration::Choices;
use crate::program::constants::Value;
use crate::program::resolve::Entity;
use crate::program::*;
use crate::syntax::ir::*;

#[derive(Clone, Debug)]
pub struct Annotation {
    /// The type inside the wrapper.
    pub inner: ExprRef,
    /// `None` where the field says nothing of the command line.
    pub metadata: Option<Metadata>,
}

/// The metadata's keywords; a bare string is its help.
#[derive(Clone, Debug)]
pub struct Metadata {
    pub keywords: Vec<(Sym, ExprRef)>,
}

impl Metadata {
    pub fn keyword(&self, name: &str) -> Option<ExprRef> {
        self.keywords.iter().find(|(n, _)| n == name).map(|(_, e)| *e)
    }

    pub fn help(&self, program: &Program) -> Option<String> {
        super::registration::text(program, self.keyword("help")?).filter(|h| !h.is_empty())
    }

    pub fn is_true(&self, program: &Program, name: &str) -> bool {
        self.keyword(name).and_then(|e| program.constant(e)) == Some(Value::Bool(true))
    }
}

pub fn read(program: &Program, at: ExprRef) -> Annotation {
    let plain = Annotation { inner: at, metadata: None };
    let ir = program.ir(at.file);
    let profile = &program.profile.declaration;
    let Expr::Subscript { base, index } = ir.expr(at.expr) else { return plain };
    if !last_name(ir, *base).is_some_and(|n| n == "Annotated" || profile.annotated.iter().any(|a| n == a.as_str())) {
        return plain;
    }
    let Expr::Tuple(items) = ir.expr(*index) else { return plain };
    let Some((inner, extras)) = items.split_first() else { return plain };
    let here = |expr: ExprId| ExprRef { file: at.file, expr };
    let metadata = extras.iter().find_map(|extra| match ir.expr(*extra) {
        Expr::Call { func, args } if last_name(ir, *func).is_some_and(|n| n == profile.metadata.as_str()) => {
            Some(Metadata { keywords: keywords(program, at.file, *func, args) })
        }
        Expr::Call { .. } => None,
        _ => {
            let text = program.constant(here(*extra))?;
            text.as_str()?;
            Some(Metadata { keywords: vec![(Sym::from("help"), here(*extra))] })
        }
    });
    Annotation { inner: here(*inner), metadata }
}

/// The arguments of a record's constructor by field name.
fn keywords(program: &Program, file: FileId, func: ExprId, args: &[Arg]) -> Vec<(Sym, ExprRef)> {
    let class = program.entities(ExprRef { file, expr: func }).into_iter().find_map(|e| match e {
        Entity::Class(class) => Some(class),
        _ => None,
    });
    let names: Vec<Sym> = match class {
        Some(class) => program.record_fields(class).into_iter().map(|f| f.0).collect(),
        None => vec![Sym::from("help")],
    };
    let positional = args.iter().filter(|a| a.kind == ArgKind::Positional).zip(&names).map(|(a, n)| (*n, a.value));
    let named = args.iter().filter_map(|a| match a.kind {
        ArgKind::Keyword(name) => Some((name, a.value)),
        _ => None,
    });
    positional.chain(named).map(|(name, expr)| (name, ExprRef { file, expr })).collect()
}

/// A type as argparse sees it; `Optional` says nothing there.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Bool,
    Int,
    Float,
    Str,
    List(Box<Shape>),
    Literal(Vec<Value>),
    Other,
}

const MAX_DEPTH: u32 = 8;

impl Shape {
    pub fn of(program: &Program, at: ExprRef) -> Shape {
        Shape::at(program, at, MAX_DEPTH)
    }

    fn at(program: &Program, at: ExprRef, depth: u32) -> Shape {
        let ir = program.ir(at.file);
        let here = |expr: ExprId| ExprRef { file: at.file, expr };
        if depth == 0 {
            return Shape::Other;
        }
        let sub = |expr: ExprId| Shape::at(program, here(expr), depth - 1);
        let is_none = |expr: ExprId| matches!(ir.expr(expr), Expr::None);
        match ir.expr(at.expr) {
            Expr::Name(name) => match name.as_str() {
                "bool" => Shape::Bool,
                "int" => Shape::Int,
                "float" => Shape::Float,
                "str" => Shape::Str,
                "list" | "List" => Shape::List(Box::new(Shape::Str)),
                _ => alias(program, at).map_or(Shape::Other, |a| Shape::at(program, a, depth - 1)),
            },
            Expr::Attr { .. } => alias(program, at).map_or(Shape::Other, |a| Shape::at(program, a, depth - 1)),
            Expr::Subscript { base, index } => {
                let items: &[ExprId] = match ir.expr(*index) {
                    Expr::Tuple(items) => items,
                    _ => std::slice::from_ref(index),
                };
                match last_name(ir, *base).as_ref().map(|n| n.as_str()) {
                    Some("Optional") => sub(*index),
                    Some("Union") => match items.iter().filter(|i| !is_none(**i)).collect::<Vec<_>>().as_slice() {
                        [one] => sub(**one),
                        _ => Shape::Other,
                    },
                    Some("List" | "list") => Shape::List(Box::new(items.first().map_or(Shape::Str, |i| sub(*i)))),
                    Some("Literal") => {
                        Shape::Literal(items.iter().filter_map(|i| program.constant(here(*i))).collect())
                    }
                    _ => Shape::Other,
                }
            }
            Expr::Bin { op: BinOp::BitOr, left, right } => match (is_none(*left), is_none(*right)) {
                (true, false) => sub(*right),
                (false, true) => sub(*left),
                _ => Shape::Other,
            },
            _ => Shape::Other,
        }
    }

    /// The `type=` that fits; `None` where none of the plain ones does.
    pub fn converter(&self) -> Option<String> {
        Some(match self {
            Shape::Bool => "bool".into(),
            Shape::Int => "int".into(),
            Shape::Float => "float".into(),
            Shape::Str => "str".into(),
            Shape::List(element) => return element.converter(),
            Shape::Literal(values) => match values.first() {
                Some(Value::Int(_)) => "int".into(),
                Some(Value::Float(_)) => "float".into(),
                _ => "str".into(),
            },
            Shape::Other => return None,
        })
    }
}

/// The choices that a `Literal` type gives.
pub fn literal_choices(program: &Program, at: ExprRef) -> Choices {
    match Shape::of(program, at) {
        Shape::Literal(values) => Choices { values, open: false, given: true },
        _ => Choices::default(),
    }
}

/// What a name at the top of a module stands for, if it is assigned once.
fn alias(program: &Program, at: ExprRef) -> Option<ExprRef> {
    let entities = program.entities(at);
    let [Entity::Var(file, name)] = entities.as_slice() else { return None };
    let targets = program.global_targets(*file, *name);
    let [target] = targets.as_slice() else { return None };
    let ir = program.ir(*file);
    match &ir.stmt(ir.stmt_of(*target)?).kind {
        Stmt::Assign { value, .. } | Stmt::AnnAssign { value: Some(value), .. } => {
            Some(ExprRef { file: *file, expr: *value })
        }
        _ => None,
    }
}
