//! Which field is the operand of a test?
//!
//! A name, an attribute or a parameter stands for a field if everything that it can be is that field or a constant; small
//! functions and properties stand for what they return. An operand that mixes in anything else says nothing.

use super::condition::Conditions;
use crate::flow::origin::{assigned_value, constructor_arguments, stores_of};
use crate::program::resolve::Binding;
use crate::program::types::Type;
use crate::program::*;
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;
use std::collections::BTreeSet;

/// How many definitions an operand is followed through.
pub const MAX_HOPS: u32 = 4;
/// A name that is assigned, or a function that is called, at more places than this is not followed.
const MAX_SOURCES: usize = 6;
const MAX_CALLER_FILES: usize = 40;

/// A part of a test, written with field names.
pub struct Part {
    pub text: String,
    pub fields: BTreeSet<Sym>,
    pub direct: bool,
}

impl Conditions<'_, '_, '_> {
    /// An operand: a constant, a field, or something computed from fields alone.
    pub fn part(&self, e: ExprRef) -> Option<Part> {
        let shared = self.shared;
        let ir = shared.ir(e.file);
        let known = |text: String| Some(Part { text, fields: BTreeSet::new(), direct: true });
        if shared.program().constant(e).is_some() || is_member(ir, e.expr) {
            return known(shared.text(e));
        }
        if let Some(field) = shared.origins.direct(e) {
            return Some(Part { text: field.to_string(), fields: [field].into(), direct: true });
        }
        if let Some(field) = self.copy_of(e, MAX_HOPS) {
            return Some(Part { text: field.to_string(), fields: [field].into(), direct: false });
        }
        match ir.expr(e.expr) {
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => self.joined(e, items),
            Expr::Bin { left, right, .. } => self.joined(e, &[*left, *right]),
            Expr::Unary { operand, .. } => self.joined(e, &[*operand]),
            // `field or 0`: what stands for nothing changes no test.
            Expr::Bool { and: false, left, right } if is_nothing(ir, *right) => self.part(ExprRef { expr: *left, ..e }),
            Expr::Subscript { base, .. } => self.joined(e, &[*base]),
            Expr::Call { func, args } => {
                if let Expr::Attr { base, attr, .. } = ir.expr(*func) {
                    // A question to a value that comes from a field: `mode.is_decode()`.
                    if let Some(part) = self.part(ExprRef { expr: *base, ..e }).filter(|p| !p.fields.is_empty()) {
                        let text = format!("{}.{attr}({})", part.text, if args.is_empty() { "" } else { ".." });
                        let rest: Vec<ExprId> = args.iter().map(|a| a.value).collect();
                        let more = self.joined(e, &rest)?;
                        let fields = part.fields.into_iter().chain(more.fields).collect();
                        return Some(Part { text, fields, direct: part.direct });
                    }
                    return None;
                }
                let builtin = last_name(ir, *func).is_some_and(|n| {
                    matches!(n.as_str(), "len" | "int" | "bool" | "str" | "max" | "min" | "any" | "all")
                });
                let args: Vec<ExprId> = args.iter().map(|a| a.value).collect();
                if builtin { self.joined(e, &args) } else { None }
            }
            _ => None,
        }
    }

    fn joined(&self, whole: ExprRef, parts: &[ExprId]) -> Option<Part> {
        let mut out = Part { text: self.shared.text(whole), fields: BTreeSet::new(), direct: true };
        for expr in parts {
            let part = self.part(ExprRef { expr: *expr, ..whole })?;
            out.fields.extend(part.fields);
            out.direct &= part.direct;
        }
        Some(out)
    }

    /// The field whose value this is, through copies that cannot be anything else.
    pub fn copy_of(&self, e: ExprRef, hops: u32) -> Option<Sym> {
        if let Some(field) = self.shared.origins.direct(e) {
            return Some(field);
        }
        if hops == 0 {
            return None;
        }
        if let Some(inner) = self.undressed(e) {
            return self.copy_of(inner, hops - 1);
        }
        let mut found: Option<Sym> = None;
        for source in self.sources(e)? {
            if self.is_fixed(source) {
                continue;
            }
            let field = self.copy_of(source, hops - 1)?;
            if found.is_some_and(|f| f != field) {
                return None;
            }
            found = Some(field);
        }
        found
    }

    /// `Mode(args.mode)`, `Mode.from_string(args.mode)`, `int(args.size)`: the same thing in another dress.
    fn undressed(&self, e: ExprRef) -> Option<ExprRef> {
        let ir = self.shared.ir(e.file);
        let Expr::Call { func, args } = ir.expr(e.expr) else { return None };
        let [arg] = &args[..] else { return None };
        let name = match ir.expr(*func) {
            Expr::Attr { base, .. } => last_name(ir, *base)?,
            _ => last_name(ir, *func)?,
        };
        let plain = matches!(name.as_str(), "int" | "bool" | "str" | "float");
        let is_class = plain || self.is_class(ExprRef { expr: *func, ..e });
        is_class.then_some(ExprRef { expr: arg.value, ..e })
    }

    /// A constant, or a choice among constants.
    fn is_fixed(&self, e: ExprRef) -> bool {
        let choice = |body: ExprId, orelse: ExprId| [body, orelse].map(|expr| ExprRef { expr, ..e });
        match self.shared.ir(e.file).expr(e.expr) {
            Expr::IfExp { body, orelse, .. } => choice(*body, *orelse).into_iter().all(|e| self.is_fixed(e)),
            _ => self.shared.program().constant(e).is_some(),
        }
    }

    /// A class of the tree, or a constructor of one.
    fn is_class(&self, func: ExprRef) -> bool {
        let ir = self.shared.ir(func.file);
        let is = |at: ExprRef| {
            self.shared.graph.types.of(at).iter().any(
                |t| matches!(t.ty, Type::Class(c) if self.shared.program().method(c, Sym::from("__init__")).is_none()),
            )
        };
        match ir.expr(func.expr) {
            Expr::Attr { base, .. } => is(ExprRef { expr: *base, ..func }) || is(func),
            _ => is(func),
        }
    }

    /// The one expression that says what a name, an attribute or a call is.
    pub fn meaning(&self, e: ExprRef) -> Option<ExprRef> {
        match &self.sources(e)?[..] {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Everything that a name, an attribute, a choice or a call can be; `None` if that cannot be told.
    fn sources(&self, e: ExprRef) -> Option<Vec<ExprRef>> {
        let program = self.shared.program();
        let ir = program.ir(e.file);
        let mut out = Vec::new();
        match ir.expr(e.expr) {
            Expr::Name(_) => {
                let Binding::Local(scope, defs) = program.binding(e) else { return None };
                for def in defs {
                    match program.defuse(e.file, scope).defs.get(def.0 as usize)?.site {
                        DefSite::Target(target) => {
                            out.push(ExprRef { file: e.file, expr: assigned_value(ir, target)? });
                        }
                        DefSite::Param(i) => {
                            let Scope::Func(func) = scope else { return None };
                            out.extend(self.arguments(FuncRef { file: e.file, func }, i)?);
                        }
                        _ => return None,
                    }
                }
            }
            Expr::Attr { base, attr, .. } => {
                let types = self.shared.graph.types.of(ExprRef { expr: *base, ..e });
                let [typed] = &types[..] else { return None };
                let Type::Instance(class) = typed.ty else { return None };
                if let Some(method) = program.method(class, *attr) {
                    let [value] = program.returns(method) else { return None };
                    let property = program.is_property(method);
                    return property.then(|| vec![ExprRef { file: method.file, expr: *value }]);
                }
                let stores = stores_of(program, class, *attr);
                if stores.is_empty() {
                    out.extend(constructor_arguments(program, class, *attr));
                }
                for at in stores {
                    out.push(ExprRef { file: at.file, expr: assigned_value(program.ir(at.file), at.expr)? });
                }
            }
            Expr::IfExp { body, orelse, .. } => out.extend([*body, *orelse].map(|expr| ExprRef { expr, ..e })),
            Expr::Call { .. } => {
                let callees = self.shared.graph.types.callees(e);
                let [(callee, None, _)] = &callees[..] else { return None };
                out.extend(program.returns(*callee).iter().map(|expr| ExprRef { file: callee.file, expr: *expr }));
            }
            _ => return None,
        }
        (1..=MAX_SOURCES).contains(&out.len()).then_some(out)
    }

    /// What all calls give for a parameter.
    fn arguments(&self, func: FuncRef, param: u32) -> Option<Vec<ExprRef>> {
        let program = self.shared.program();
        let name = match program.method_class(func) {
            Some(class) if program.func(func).name == "__init__" => program.class(class).name,
            _ => program.func(func).name,
        };
        if program.files_with(name).len() > MAX_CALLER_FILES {
            return None;
        }
        let types = &self.shared.graph.types;
        let callers = types.callers(func);
        let default = program.func(func).params.get(param as usize)?.default;
        let mut out = Vec::new();
        for site in callers.iter() {
            match (types.argument_for(site.call, func, param), default) {
                (Some(arg), _) => out.push(arg),
                (None, Some(default)) => out.push(ExprRef { file: func.file, expr: default }),
                (None, None) => return None,
            }
        }
        Some(out)
    }
}

fn is_nothing(ir: &FileIr, e: ExprId) -> bool {
    match ir.expr(e) {
        Expr::Int(0) | Expr::False | Expr::None => true,
        Expr::Str(text) => text.is_empty(),
        Expr::Tuple(items) | Expr::List(items) => items.is_empty(),
        _ => false,
    }
}

/// `Mode.DECODE`, `MAX_SIZE`: a member of an enumeration, or a constant by its spelling.
pub fn is_member(ir: &FileIr, e: ExprId) -> bool {
    let Some(name) = last_name(ir, e) else { return false };
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}
