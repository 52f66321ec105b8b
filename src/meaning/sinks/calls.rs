//! Which rule of the profile knows the call that a value enters, or a container or object that it is stored in.

use crate::meaning::facts::Facts;
use crate::program::profile::SinkRule;
use crate::program::types::Type;
use crate::program::{ExprRef, dotted_name, last_name};
use crate::syntax::ir::*;

/// The rule for the call that the expression is an argument of, with the call.
pub fn rule_at<'f>(facts: &Facts<'_, '_, 'f>, at: ExprRef) -> Option<(&'f SinkRule, ExprRef)> {
    let shared = facts.shared;
    let ir = shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return None };
    let Expr::Call { func, args } = ir.expr(up) else { return None };
    let i = args.iter().position(|a| a.value == at.expr)?;
    let position = args[..i].iter().filter(|a| a.kind == ArgKind::Positional).count();
    let keyword = match args[i].kind {
        ArgKind::Keyword(k) => Some(k),
        _ => None,
    };
    let names = callee_names(facts, ExprRef { file: at.file, expr: *func });
    let fits =
        |rule: &&SinkRule| rule.takes(position, keyword.as_deref()) && names.iter().any(|name| rule.matches(name));
    let sinks = &shared.program().profile.sinks;
    let rule = sinks.iter().filter(|r| r.is_particular()).find(fits).or_else(|| sinks.iter().find(fits))?;
    Some((rule, ExprRef { file: at.file, expr: up }))
}

/// The rule for a call whatever its arguments.
pub fn rule_of_call<'f>(facts: &Facts<'_, '_, 'f>, call: ExprRef) -> Option<&'f SinkRule> {
    let Expr::Call { func, .. } = facts.shared.ir(call.file).expr(call.expr) else { return None };
    let names = callee_names(facts, ExprRef { file: call.file, expr: *func });
    let sinks = &facts.shared.program().profile.sinks;
    // A rule for every call tells by its keywords alone.
    sinks.iter().find(|r| r.calls.iter().all(|c| c != "*") && names.iter().any(|name| r.matches(name)))
}

/// The rule for a store into a target expression.
pub fn rule_of_store<'f>(facts: &Facts<'_, '_, 'f>, target: ExprRef) -> Option<&'f SinkRule> {
    let shared = facts.shared;
    let ir = shared.ir(target.file);
    let sinks = &shared.program().profile.sinks;
    match ir.expr(target.expr) {
        Expr::Subscript { base, .. } => {
            let name = dotted_name(ir, *base)?;
            sinks.iter().find(|r| r.stores.iter().any(|s| name == *s || name.ends_with(&format!(".{s}"))))
        }
        Expr::Attr { base, .. } => {
            let types = shared.graph.types.of(ExprRef { file: target.file, expr: *base });
            let by_class = types.iter().find_map(|typed| match typed.ty {
                Type::Instance(class) => rule_of_object(facts, &shared.program().class(class).name),
                _ => None,
            });
            // `self.stats.name = value`, where nothing tells the class.
            let named = || last_name(ir, *base).filter(|_| types.is_empty()).map(|n| capitalised(&n));
            by_class.or_else(|| rule_of_object(facts, &named()?))
        }
        _ => None,
    }
}

/// The rule for the object that a call constructs with the value.
pub fn rule_of_construction<'f>(facts: &Facts<'_, '_, 'f>, at: ExprRef) -> Option<(&'f SinkRule, ExprRef)> {
    let shared = facts.shared;
    let ir = shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return None };
    let Expr::Call { func, args } = ir.expr(up) else { return None };
    if !args.iter().any(|a| a.value == at.expr && matches!(a.kind, ArgKind::Keyword(_))) {
        return None;
    }
    let types = shared.graph.types.of(ExprRef { file: at.file, expr: *func });
    let rule = types.iter().find_map(|typed| match typed.ty {
        Type::Class(class) => rule_of_object(facts, &shared.program().class(class).name),
        _ => None,
    })?;
    Some((rule, at))
}

/// The rule for putting a value into an object of a class.
fn rule_of_object<'f>(facts: &Facts<'_, '_, 'f>, class: &str) -> Option<&'f SinkRule> {
    let sinks = &facts.shared.program().profile.sinks;
    sinks.iter().find(|r| r.objects.iter().any(|end| class.ends_with(end.as_str())))
}

fn capitalised(name: &str) -> String {
    let parts = name.split('_').map(|part| {
        let mut chars = part.chars();
        chars.next().map(|c| c.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    });
    parts.collect()
}

/// The dotted names under which the called thing is known: as resolved, and as written.
fn callee_names(facts: &Facts, func: ExprRef) -> Vec<String> {
    let shared = facts.shared;
    let ir = shared.ir(func.file);
    let mut names: Vec<String> = Vec::new();
    for typed in shared.graph.types.of(func).iter() {
        match &typed.ty {
            Type::External(path) => names.push(path.to_string()),
            Type::Func(f) | Type::Method(f, _) => names.push(shared.program().func(*f).name.to_string()),
            Type::Class(c) => names.push(shared.program().class(*c).name.to_string()),
            _ => {}
        }
    }
    names.extend(dotted_name(ir, func.expr).or_else(|| last_name(ir, func.expr).map(|n| format!("?.{n}"))));
    names
}
