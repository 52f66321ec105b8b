//! What a text is, by what reads it: a parser of JSON, a function that opens files, a comparison with literals.

use super::named;
use crate::flow::graph::Kind;
use crate::flow::guards;
use crate::meaning::facts::Facts;
use crate::meaning::report::{Grade, Unit};
use crate::meaning::sinks;
use crate::program::profile::Shape;
use crate::program::{ExprRef, dotted_name};
use crate::syntax::ir::*;

/// A text that is parsed, or that names a file.
pub fn claim(facts: &Facts, shape: Shape) -> Option<Unit> {
    let own = || facts.shared.line_place(facts.declared.place.0, facts.declared.place.1.line, 0);
    let declared = &facts.declared.definition;
    if (shape.mapping && !shape.text)
        || (shape.text && declared.cli_type.as_deref().is_some_and(|t| t.contains("json")))
    {
        return Some(named("json", Grade::Proved, vec![own()]));
    }
    if !shape.text {
        return None;
    }
    // A text that may be one thing or the other is told apart by a test; then no reader of it is proof.
    unconditional(facts, "json", parses_json).or_else(|| unconditional(facts, "path", opens_file))
}

/// Is the text compared with literals that it may be? Then those are its choices, listed or not.
pub fn alternatives(facts: &Facts, shape: Shape) -> Option<Unit> {
    if !shape.text {
        return None;
    }
    let compared = plain(facts).find(|at| {
        let ir = facts.shared.ir(at.file);
        let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return false };
        let Expr::Compare { left, rest } = ir.expr(up) else { return false };
        let literal = |e: ExprId| match ir.expr(e) {
            Expr::Str(s) => !s.is_empty(),
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => {
                !items.is_empty() && items.iter().all(|i| ir.str_value(*i).is_some())
            }
            _ => false,
        };
        let equality = rest.iter().all(|(op, _)| matches!(op, CmpOp::Eq | CmpOp::Ne | CmpOp::In | CmpOp::NotIn));
        // `"x" in value` looks for a part.
        equality
            && match &rest[..] {
                [(CmpOp::In | CmpOp::NotIn, right)] => *left == at.expr && literal(*right),
                _ => literal(*left) || rest.iter().any(|(_, e)| literal(*e)),
            }
    })?;
    Some(named("enum", Grade::Inferred, vec![facts.shared.place(compared)]))
}

fn unconditional(facts: &Facts, unit: &str, reads: fn(&Facts, ExprRef) -> bool) -> Option<Unit> {
    let at = plain(facts).find(|at| reads(facts, *at))?;
    let ir = facts.shared.ir(at.file);
    let state = facts.reached().into_iter().find(|(_, a)| *a == at).map(|(id, _)| id);
    let guarded = !guards::of_expr(ir, at.expr).is_empty();
    let grade = match state {
        Some(id) if !guarded => facts.grade_of(id),
        _ => Grade::Inferred,
    };
    Some(named(unit, grade, vec![facts.shared.place(at)]))
}

/// The places where the value itself is, unchanged.
fn plain<'f>(facts: &'f Facts) -> impl Iterator<Item = ExprRef> + 'f {
    let all = facts.reached().into_iter();
    all.take_while(|(id, _)| facts.trace.state(*id).cost == 0)
        .filter(|(id, _)| {
            let node = facts.trace.state(*id).node;
            node.kind == Kind::Value && node.path.is_empty() && facts.operations_to(*id).is_empty()
        })
        .map(|(_, at)| at)
}

fn parses_json(facts: &Facts, at: ExprRef) -> bool {
    let ir = facts.shared.ir(at.file);
    let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return false };
    let Expr::Call { func, args } = ir.expr(up) else { return false };
    let first = args.first().is_some_and(|a| a.value == at.expr);
    first && dotted_name(ir, *func).is_some_and(|n| n == "json.loads" || n.ends_with(".json.loads"))
}

fn opens_file(facts: &Facts, at: ExprRef) -> bool {
    sinks::unit_at(facts, at) == Some("path")
}
