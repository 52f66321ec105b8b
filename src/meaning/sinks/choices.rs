//! Texts that pick an implementation by name: `REGISTRY[value]`, `getattr(module, value)`, `import_module(value)`.

use super::Found;
use crate::flow::graph::Kind;
use crate::meaning::facts::Facts;
use crate::program::ExprRef;
use crate::program::last_name;
use crate::program::types::Type;
use crate::syntax::ir::*;

pub fn found(facts: &Facts, at: ExprRef, kind: Kind) -> Option<Found> {
    let shared = facts.shared;
    let ir = shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return None };
    let whole = ExprRef { file: at.file, expr: up };
    let picks = match ir.expr(up) {
        Expr::Subscript { base, index } if *index == at.expr => {
            yields_code(facts, whole) && !ir.contains(*base, at.expr)
        }
        Expr::Call { func, args } => match last_name(ir, *func).as_ref().map(|n| n.as_str()) {
            Some("getattr") => args.get(1).is_some_and(|a| a.value == at.expr),
            Some("import_module") => args.first().is_some_and(|a| a.value == at.expr),
            Some("get") => args.first().is_some_and(|a| a.value == at.expr) && yields_code(facts, whole),
            _ => false,
        },
        _ => false,
    };
    (kind == Kind::Value && picks).then(|| Found::new("kernel-choice", at))
}

fn yields_code(facts: &Facts, at: ExprRef) -> bool {
    let types = facts.shared.graph.types.of(at);
    types.iter().any(|t| matches!(t.ty, Type::Class(_) | Type::Func(_) | Type::Method(..)))
}
