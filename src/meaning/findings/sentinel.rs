//! Which values of the field mean something special: 0, a negative number, None?
//!
//! Shown by a test of the value itself that chooses between arms. A test that only refuses the value is a constraint,
//! and None that only stands for "not given" until the record fills it in is no special value.

use super::super::constraints::carried::Carriers;
use super::super::constraints::{outcome, tripped};
use super::super::facts::Facts;
use super::super::report::Finding;
use super::{finding, table};
use crate::flow::trace::StateId;
use crate::program::ExprRef;
use crate::syntax::ir::*;

pub fn find(facts: &Facts) -> Vec<Finding> {
    let shared = facts.shared;
    let mut out: Vec<(&'static str, Finding)> = Vec::new();
    let carriers = Carriers::new(facts);
    for choice in choices(facts) {
        let ir = shared.ir(choice.leaf.file);
        let Some(special) = special(facts, ir, choice.leaf.expr) else { continue };
        if out.iter().any(|(known, _)| *known == special)
            || !carriers.alone(choice.state)
            || !shared.serves(choice.leaf)
        {
            continue;
        }
        let place = shared.place(choice.leaf);
        let test = shared.text(ExprRef { file: choice.leaf.file, expr: comparison(ir, choice.leaf.expr) });
        out.push((
            special,
            finding(table::SENTINEL, format!("{special} is special: {test} decides"), &place.path, place.line),
        ));
    }
    let said: Vec<&str> = out.iter().map(|(special, _)| *special).collect();
    out.retain(|(special, _)| !COVERED.iter().any(|(by, what)| what.contains(special) && said.contains(by)));
    out.into_iter().map(|(_, f)| f).collect()
}

/// What needs no finding of its own beside a wider one.
const COVERED: [(&str, &[&str]); 2] =
    [("0 or less", &["0", LIKE_NONE, "-1", "a negative value"]), ("a negative value", &["-1"])];
const LIKE_NONE: &str = "0, like no value,";

struct Choice {
    leaf: ExprRef,
    state: StateId,
}

/// A value that was kept in more places than this is one of many that end there.
const MAX_STORES: u32 = 2;

/// The tests of the untouched value that choose an arm.
fn choices(facts: &Facts) -> Vec<Choice> {
    let shared = facts.shared;
    let mut out = Vec::new();
    for test in tripped::tests(facts).iter().filter(|t| t.carried.untouched && t.carried.stores <= MAX_STORES) {
        let ir = shared.ir(test.at.file);
        let Stmt::If { arms, orelse } = &ir.stmt(test.stmt).kind else { continue };
        let fails = |block: &[StmtId]| {
            outcome::of_block(shared, test.at.file, block).is_some_and(|o| o.effect == outcome::Effect::Fails)
        };
        if !arms.iter().any(|(_, b)| fails(b)) && !fails(orelse) {
            out.push(Choice { leaf: test.leaf, state: test.state });
        }
    }
    // `a if value > 0 else b`
    for (id, at) in facts.reached() {
        if facts.trace.state(id).cost > 0 {
            break;
        }
        if !facts.trace.starts.contains(&id) {
            continue;
        }
        let ir = shared.ir(at.file);
        let mut test = at.expr;
        while let Parent::Expr(up) = ir.exprs[test.index()].parent {
            match ir.expr(up) {
                Expr::Compare { .. } | Expr::Unary { op: UnaryOp::Not, .. } => test = up,
                Expr::IfExp { test: t, .. } if *t == test => {
                    out.push(Choice { leaf: at, state: id });
                    break;
                }
                _ => break,
            }
        }
    }
    out
}

/// The comparison that a leaf stands in, or the leaf.
fn comparison(ir: &FileIr, leaf: ExprId) -> ExprId {
    match ir.exprs[leaf.index()].parent {
        Parent::Expr(up) if matches!(ir.expr(up), Expr::Compare { .. }) => up,
        _ => leaf,
    }
}

/// The special value that a comparison of the leaf singles out, in words.
fn special(facts: &Facts, ir: &FileIr, leaf: ExprId) -> Option<&'static str> {
    let Parent::Expr(up) = ir.exprs[leaf.index()].parent else { return truth(facts) };
    match ir.expr(up) {
        Expr::Compare { left, rest } => match &rest[..] {
            [(op, right)] if *left == leaf => compared(ir, *op, *right),
            _ => None,
        },
        Expr::Bool { .. } | Expr::Unary { op: UnaryOp::Not, .. } | Expr::IfExp { .. } => truth(facts),
        _ => None,
    }
}

fn compared(ir: &FileIr, op: CmpOp, right: ExprId) -> Option<&'static str> {
    let number = match ir.expr(right) {
        Expr::Int(n) => *n,
        Expr::Float(f) if *f == 0.0 => 0,
        Expr::Unary { op: UnaryOp::Neg, operand } => match ir.expr(*operand) {
            Expr::Int(n) => -*n,
            _ => return None,
        },
        _ => return None,
    };
    COMPARED.iter().find(|(o, n, _)| *o == op && *n == number).map(|(_, _, words)| *words)
}

const COMPARED: [(CmpOp, i64, &str); 10] = [
    (CmpOp::Eq, 0, "0"),
    (CmpOp::Ne, 0, "0"),
    (CmpOp::Eq, -1, "-1"),
    (CmpOp::Ne, -1, "-1"),
    (CmpOp::Gt, 0, "0 or less"),
    (CmpOp::Le, 0, "0 or less"),
    (CmpOp::Lt, 0, "a negative value"),
    (CmpOp::Ge, 0, "a negative value"),
    (CmpOp::Gt, -1, "a negative value"),
    (CmpOp::Le, -1, "a negative value"),
];

/// The truth of a number asks whether it is 0.
fn truth(facts: &Facts) -> Option<&'static str> {
    let definition = &facts.declared.definition;
    let type_ = definition.type_.as_deref()?;
    let inner = type_.strip_prefix("Optional[").and_then(|t| t.strip_suffix(']')).unwrap_or(type_);
    let is_number = matches!(inner.trim_end_matches("| None").trim(), "int" | "float");
    let or_none = definition.default.as_deref() == Some("None");
    is_number.then_some(if or_none { LIKE_NONE } else { "0" })
}
