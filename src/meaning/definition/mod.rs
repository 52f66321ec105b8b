//! The definition of every field: where the record declares it, and what the command line offers for it.
//!
//! Three questions, a part each. [`record`]: which classes make up the record, and which fields do they declare?
//! [`registration`] and [`automatic`]: which flags does the parser get, by hand and from annotations? This file joins the
//! two by `dest`. It never says what a field is for, or where it is read; and it knows no release, only what the tree has.

pub mod action;
pub mod annotation;
pub mod automatic;
pub mod deprecation;
pub mod record;
pub mod registration;
pub mod section;

use super::report;
use crate::program::constants::Value;
use crate::program::*;
use crate::syntax::ir::*;
use action::Effect;
use registration::{Registration, Unset};
use rustc_hash::FxHashMap;

#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    #[error("no class named {0} is in the tree, so there is no record of arguments to read; is this the right folder?")]
    NoRecord(String),
}

/// A field of the record.
#[derive(Clone, Debug)]
pub struct Declared {
    pub field: Sym,
    pub definition: report::Definition,
    /// The name token.
    pub place: (FileId, Span),
    /// The class whose body declares it.
    pub class: ClassRef,
    pub default_expr: Option<ExprRef>,
    /// The annotation as written, wrapper included.
    pub annotation: Option<ExprRef>,
    /// The type inside the wrapper.
    pub type_expr: Option<ExprRef>,
    /// The value that takes the place of an unset field once the record is published.
    pub fallback: Option<ExprRef>,
    /// The places in [`Definitions::registrations`] that set it, the current spelling first.
    pub registrations: Vec<usize>,
}

/// A leaf of a namespace that code computes; it is no field and has no flag.
#[derive(Clone, Debug)]
pub struct DerivedLeaf {
    pub name: Sym,
    pub namespace: Option<Sym>,
    /// The dotted path of the function that computes it.
    pub function: Option<Sym>,
    pub doc: Option<String>,
    pub default_expr: Option<ExprRef>,
    pub place: (FileId, Span),
}

/// A spelling that parses but sets no field: it warns, or ends the launch.
#[derive(Clone, Debug)]
pub struct DeprecatedFlag {
    pub flag: String,
    pub text: String,
    pub fails: bool,
    pub place: (FileId, Span),
}

/// All that the tree defines.
#[derive(Clone, Debug)]
pub struct Definitions {
    /// The class of the record, and the classes that declare its fields.
    pub root: ClassRef,
    pub parts: Vec<ClassRef>,
    /// In the order of the record.
    pub fields: Vec<Declared>,
    pub derived: Vec<DerivedLeaf>,
    /// Everything that the parser gets, in its order.
    pub registrations: Vec<Registration>,
    pub deprecated: Vec<DeprecatedFlag>,
    /// Registrations whose flags the source does not fix.
    pub unresolved: Vec<(FileId, Span)>,
    by_name: FxHashMap<Sym, usize>,
}

impl Definitions {
    pub fn find(program: &Program) -> Result<Definitions, DefinitionError> {
        let record = record::find(program)?;
        let mut parser = registration::collect(program, &record);
        parser.registrations.extend(automatic::registrations(program, &record, &parser.automatic));
        parser.registrations.sort_by_key(|r| !r.derived);
        let mut out = Definitions {
            root: record.root,
            parts: record.parts.iter().map(|p| p.class).collect(),
            fields: Vec::new(),
            derived: record::derived_leaves(program, &record),
            registrations: parser.registrations,
            deprecated: Vec::new(),
            unresolved: parser.unresolved,
            by_name: FxHashMap::default(),
        };
        let renames = registration::renames(program, &record);
        out.join_dests(&record, &renames);
        for raw in &record.fields {
            let declared = out.declare(program, &record, raw);
            out.by_name.insert(declared.field, out.fields.len());
            out.fields.push(declared);
        }
        Ok(out)
    }

    pub fn by_name(&self, field: Sym) -> Option<&Declared> {
        self.by_name.get(&field).and_then(|i| self.fields.get(*i))
    }

    /// Every spelling that sets a field, with the field.
    pub fn spellings(&self) -> Vec<(String, Sym)> {
        let flags_of = |d: &Declared| d.definition.flags.iter().map(|f| (f.clone(), d.field)).collect::<Vec<_>>();
        self.fields.iter().flat_map(flags_of).collect()
    }

    /// Which field each registration sets.
    fn join_dests(&mut self, record: &record::Record, renames: &[(Sym, Sym)]) {
        let is_field = |name: Sym| record.fields.iter().any(|f| f.name == name);
        for registration in &mut self.registrations {
            let dest = registration.dest;
            let target = renames.iter().find(|(from, _)| *from == dest).map(|(_, to)| *to).filter(|to| is_field(*to));
            registration.field = if is_field(dest) { Some(dest) } else { target };
            let effect = registration.effect;
            if effect != Effect::Stores {
                let text = registration.deprecated.clone().or(registration.help.clone()).unwrap_or_default();
                let flags = registration.flags.iter().map(|flag| DeprecatedFlag {
                    flag: flag.clone(),
                    text: text.clone(),
                    fails: effect == Effect::Fails,
                    place: registration.place,
                });
                self.deprecated.extend(flags);
            }
        }
    }

    fn declare(&self, program: &Program, record: &record::Record, raw: &record::RawField) -> Declared {
        let file = raw.class.file;
        let ir = program.ir(file);
        let at = |expr: ExprId| ExprRef { file, expr };
        let annotation = annotation::read(program, at(raw.annotation));
        let span = ir.span(raw.target);
        let all: Vec<usize> = (0..self.registrations.len())
            .filter(|i| self.registrations.get(*i).is_some_and(|r| r.field == Some(raw.name)))
            .collect();
        let (mut setting, retired): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|i| self.registrations.get(*i).is_some_and(|r| r.effect == Effect::Stores));
        // The current spelling stands first: one that is not deprecated, and of those the one named for the field.
        setting.sort_by_key(|i| {
            self.registrations
                .get(*i)
                .map(|r| (r.deprecated.is_some(), registration::dest_of(&r.flags) != Some(raw.name)))
        });
        let primary = setting.first().and_then(|i| self.registrations.get(*i));
        let mut flags: Vec<String> = Vec::new();
        for flag in setting.iter().filter_map(|i| self.registrations.get(*i)).flat_map(|r| &r.flags) {
            if flag.starts_with('-') && !flags.contains(flag) {
                flags.push(flag.clone());
            }
        }
        let metadata = annotation.metadata.as_ref();
        let comment = section::comment_above(ir, span.line);
        let deprecated = primary
            .and_then(|r| r.deprecated.clone())
            .or_else(|| retired.iter().find_map(|i| self.registrations.get(*i)?.deprecated.clone()))
            .or_else(|| comment.filter(|c| deprecation::opens_with_it(c)));
        let choices = match primary {
            Some(r) if r.choices.given => r.choices.clone(),
            _ => annotation::literal_choices(program, annotation.inner),
        };
        let mut definition = report::Definition {
            path: program.file(file).path.clone(),
            line: span.line,
            class: program.class(raw.class).name.to_string(),
            namespace: raw.namespace.map(|n| n.to_string()),
            // A comma that only closes a wrapped line is no part of the type.
            type_: Some(program.expr_text(annotation.inner).replace(",]", "]")),
            default: raw.value.map(|v| program.expr_text(at(v))),
            flags,
            choices: choices.values.iter().filter_map(Value::to_json).collect(),
            extensible: choices.open,
            help: primary
                .and_then(|r| r.help.clone())
                .or_else(|| metadata.and_then(|m| m.help(program)))
                .or_else(|| retired.iter().find_map(|i| self.registrations.get(*i)?.help.clone())),
            section: section::of(ir, program.class(raw.class), span.line).or(raw.namespace.map(|n| n.to_string())),
            deprecated,
            ..report::Definition::default()
        };
        if let Some(primary) = primary {
            if !primary.derived {
                definition.cli_path = Some(program.file(primary.place.0).path.clone());
                definition.cli_line = Some(primary.place.1.line);
            }
            definition.cli_default = cli_default(program, record.root, raw, primary);
            definition.cli_type = cli_type(program, annotation.inner, primary);
        }
        Declared {
            field: raw.name,
            definition,
            place: (file, span),
            class: raw.class,
            default_expr: raw.value.map(at),
            annotation: Some(at(raw.annotation)),
            type_expr: Some(annotation.inner),
            fallback: metadata.and_then(|m| m.keyword("fallback")),
            registrations: setting,
        }
    }
}

/// What argparse stores for an absent flag, where that is not what the class would have.
fn cli_default(program: &Program, root: ClassRef, raw: &record::RawField, flag: &Registration) -> Option<String> {
    let class_default = raw.value.map(|expr| ExprRef { file: raw.class.file, expr });
    let (value, text) = match &flag.default {
        Unset::OfField(name) if *name == raw.name => return None,
        Unset::OfField(name) => (None, format!("{}.{}", program.class(root).name, name)),
        Unset::OfClass => return None,
        Unset::Expr(expr) => (program.constant(*expr), program.expr_text(*expr)),
        // A required flag is never absent.
        Unset::Implied(_) if flag.required || class_default.is_none() => return None,
        Unset::Implied(value) => (Some(value.clone()), value.repr().unwrap_or_default()),
    };
    let Some(class_default) = class_default else { return Some(text) };
    let same = match (&value, record::default_value(program, class_default)) {
        (Some(a), Some(b)) => a.equals(&b),
        _ => text == program.expr_text(class_default),
    };
    (!same).then_some(text)
}

/// How argparse converts the value, where that is not what the field's type says.
fn cli_type(program: &Program, declared: ExprRef, flag: &Registration) -> Option<String> {
    if !flag.action.takes_value() {
        return None;
    }
    let given = flag.type_text.as_deref().unwrap_or("str");
    let expected = annotation::Shape::of(program, declared).converter();
    (expected.as_deref() != Some(given)).then(|| given.to_owned())
}
