//! Which flags does a parser get from the annotations of the record?
//!
//! The rules are those of a function that registers every annotated field: a flag from the name, the action from the
//! type. They apply only where the record's own method calls such a function, and a field without metadata gets nothing.

use super::action::{self, Action};
use super::annotation::{self, Shape};
use super::deprecation;
use super::record::{RawField, Record};
use super::registration::{ARGPARSE_KEYWORDS, Choices, Registration, Unset, add_negations};
use crate::program::constants::Value;
use crate::program::*;
use crate::syntax::ir::*;

/// The registrations that these calls make.
pub fn registrations(program: &Program, record: &Record, calls: &[ExprRef]) -> Vec<Registration> {
    let mut out = Vec::new();
    for call in calls {
        let only = limited_to(program, *call);
        let fields = record.fields.iter().filter(|f| only.as_ref().is_none_or(|names| names.contains(&f.name)));
        out.extend(fields.filter_map(|field| of_field(program, field)));
    }
    out
}

/// `fields=[...]` limits a call to some.
fn limited_to(program: &Program, call: ExprRef) -> Option<Vec<Sym>> {
    let Expr::Call { args, .. } = program.ir(call.file).expr(call.expr) else { return None };
    let fields = args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == "fields"))?;
    let names = program.elements(ExprRef { file: call.file, expr: fields.value });
    (!names.open).then(|| names.known.iter().filter_map(Value::as_str).collect())
}

fn of_field(program: &Program, field: &RawField) -> Option<Registration> {
    let file = field.class.file;
    let annotation = annotation::read(program, ExprRef { file, expr: field.annotation });
    let metadata = annotation.metadata?;
    if metadata.is_true(program, "no_cli") {
        return None;
    }
    let text = |name: &str| metadata.keyword(name).and_then(|e| program.constant(e)).and_then(|v| v.as_str());
    let given = |name: &str| metadata.keyword(name).filter(|e| !matches!(program.ir(e.file).expr(e.expr), Expr::None));
    let plain = format!("--{}", field.name.replace('_', "-"));
    let mut flags = vec![text("cli_name").map_or(plain, |n| n.to_string())];
    if let Some(aliases) = metadata.keyword("aliases") {
        flags.extend(program.elements(aliases).known.iter().filter_map(|v| v.as_str()).map(|s| s.to_string()));
    }

    let shape = Shape::of(program, annotation.inner);
    let action = match given("action") {
        Some(action) => Action::read(program, action),
        None if shape == Shape::Bool => Action::StoreTrue,
        None => Action::Store,
    };
    if action == Action::BooleanOptional {
        add_negations(&mut flags);
    }
    let mut choices = Choices::of(program, given("choices"));
    if let (Shape::Literal(values), false) = (&shape, choices.given) {
        choices = Choices { values: values.clone(), open: false, given: true };
    }
    let type_expr = given("type_parser");
    let type_text = match (action, type_expr, &shape) {
        (Action::Store, Some(parser), _) => Some(program.expr_text(parser)),
        (Action::Store, None, shape) => Some(shape.converter().unwrap_or_else(|| "str".to_owned())),
        _ => None,
    };
    let list = matches!(shape, Shape::List(_)) && type_expr.is_none() && action == Action::Store;
    // What `add_argument` itself takes may also be handed on beside what the action's class takes.
    let (handed, extra): (Vec<_>, Vec<_>) = action_keywords(program, given("action_kwargs"))
        .into_iter()
        .partition(|(name, _)| ARGPARSE_KEYWORDS.contains(&name.as_str()));
    let own = |name: &str| given(name).or(handed.iter().find(|(n, _)| *n == name).map(|(_, at)| *at));
    let nargs = match own("nargs").and_then(|e| program.constant(e)) {
        None if list => Some(Value::Str(Sym::from("+"))),
        nargs => nargs,
    };
    let help = metadata.help(program);
    let deprecated = help.as_deref().and_then(|h| deprecation::notice(h, &flags));
    let required = match given("required").and_then(|e| program.constant(e)) {
        Some(value) => value == Value::Bool(true),
        None => field.value.is_none() && action == Action::Store,
    };
    let keywords: Vec<Sym> = metadata.keywords.iter().map(|(name, _)| *name).collect();
    Some(Registration {
        dest: field.name,
        field: None,
        action,
        effect: action::effect(program, action, &keywords),
        nargs,
        type_text,
        type_expr,
        default: Unset::OfField(field.name),
        choices,
        choices_expr: given("choices"),
        constant: own("const"),
        required,
        help,
        deprecated,
        place: (file, program.ir(file).span(field.target)),
        extra,
        derived: true,
        flags,
    })
}

/// `action_kwargs={"name": value}`
fn action_keywords(program: &Program, at: Option<ExprRef>) -> Vec<(Sym, ExprRef)> {
    let Some(at) = at else { return Vec::new() };
    let ir = program.ir(at.file);
    let Expr::Dict(items) = ir.expr(at.expr) else { return Vec::new() };
    let named = items.iter().filter_map(|(key, value)| Some((ir.str_value((*key)?)?, *value)));
    named.map(|(name, expr)| (name, ExprRef { file: at.file, expr })).collect()
}
