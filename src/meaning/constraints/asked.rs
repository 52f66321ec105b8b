//! What is asked of the value, and where does the question stand?
//!
//! A test can ask by a name: `for feature, enabled in (("…", value), …): if enabled`, `if is_in_use(record)`. Then the
//! question is the item of the table, or what the function answers.

use super::super::facts::Facts;
use super::outcome;
use super::tripped::{has_words, whole_test};
use crate::flow::graph::{Kind, Node, Slot};
use crate::flow::trace::StateId;
use crate::program::ExprRef;
use crate::syntax::ir::*;

pub struct Asked {
    pub at: ExprRef,
    /// The row of the table that it stands in.
    row: Option<ExprId>,
    /// The table holds the value itself; what is asked of it stands in the test.
    is_value: bool,
}

impl Asked {
    /// The item of a table that the value came through, else the question whose answer is tested, else the test.
    pub fn on_way(facts: &Facts, id: StateId, test: ExprRef, leaf: ExprRef) -> Asked {
        let trace = &facts.trace;
        let way = trace.way_to(id);
        let node = |id: &StateId| trace.state(*id).node;
        let is_bare = is_bare(facts.shared.ir(test.file), test.expr, leaf.expr);
        if let Some(asked) = Asked::row_on_way(facts, id, is_bare) {
            return asked;
        }
        let places = way.iter().filter_map(|s| match node(s) {
            Node { slot: Slot::Expr(at), kind, .. } => Some((at, kind)),
            _ => None,
        });
        let scope = |at: ExprRef| (at.file, facts.shared.ir(at.file).scope_of(at.expr));
        let mut answers = places.filter(|(at, kind)| *kind == Kind::Predicate && scope(*at) != scope(leaf));
        let returned = || {
            let end = way.iter().position(|s| matches!(node(s).slot, Slot::Return(_)))?;
            way[..end].iter().rev().find_map(|s| match node(s).slot {
                Slot::Expr(at) => Some(at),
                _ => None,
            })
        };
        let elsewhere = answers.next().map(|(at, _)| at).or_else(returned).filter(|_| is_bare);
        let whole = |at: ExprRef| ExprRef { file: at.file, expr: whole_test(facts, at).unwrap_or(at.expr) };
        Asked { at: elsewhere.map_or(test, whole), row: None, is_value: false }
    }

    /// The item of a table, if the value came to a name through one.
    pub fn in_table(facts: &Facts, id: StateId, test: ExprRef, leaf: ExprRef) -> Option<Asked> {
        let ir = facts.shared.ir(test.file);
        let is_name = matches!(ir.expr(leaf.expr), Expr::Name(_));
        is_name.then(|| Asked::row_on_way(facts, id, is_bare(ir, test.expr, leaf.expr))).flatten()
    }

    fn row_on_way(facts: &Facts, id: StateId, is_bare: bool) -> Option<Asked> {
        let trace = &facts.trace;
        trace.way_to(id).into_iter().rev().find_map(|s| match trace.state(s).node {
            Node { slot: Slot::Expr(at), kind, .. } => {
                let row = row(facts.shared.ir(at.file), at.expr)?;
                Some(Asked { at, row: Some(row), is_value: kind == Kind::Value && !is_bare })
            }
            _ => None,
        })
    }

    pub fn is_row(&self) -> bool {
        self.row.is_some()
    }

    /// The question as text, such that the test holds.
    pub fn condition(&self, facts: &Facts, test: ExprRef, leaf: ExprRef) -> String {
        let shared = facts.shared;
        let ir = shared.ir(test.file);
        let own = shared.text(self.at);
        if self.at == test {
            return own;
        }
        if self.is_value || !is_bare(ir, test.expr, leaf.expr) {
            return format!("{}, with {own} for {}", shared.text(test), shared.text(leaf));
        }
        match is_there(ir, test.expr, leaf.expr) {
            Some(false) => format!("not ({own})"),
            _ => own,
        }
    }

    /// The text in the same row.
    pub fn beside(&self, facts: &Facts) -> Option<String> {
        let file = self.at.file;
        let ir = facts.shared.ir(file);
        let texts: Vec<ExprId> = match ir.expr(self.row?) {
            Expr::Tuple(items) => items.iter().copied().filter(|i| *i != self.at.expr).collect(),
            Expr::Dict(items) => items.iter().filter(|(_, v)| *v == self.at.expr).filter_map(|(k, _)| *k).collect(),
            _ => return None,
        };
        texts.into_iter().find_map(|expr| words(facts, ExprRef { file, expr }))
    }
}

/// Does a test ask whether the leaf is there, and nothing else?
fn is_bare(ir: &FileIr, test: ExprId, leaf: ExprId) -> bool {
    match ir.expr(test) {
        Expr::Unary { op: UnaryOp::Not, operand } => *operand == leaf,
        _ => test == leaf,
    }
}

/// The tuple in a list of tuples, or the dictionary, that an expression is an item of.
fn row(ir: &FileIr, item: ExprId) -> Option<ExprId> {
    let Parent::Expr(row) = ir.exprs[item.index()].parent else { return None };
    match (ir.expr(row), ir.exprs[row.index()].parent) {
        (Expr::Dict(items), _) => items.iter().any(|(_, v)| *v == item).then_some(row),
        (Expr::Tuple(_), Parent::Expr(table)) => {
            matches!(ir.expr(table), Expr::Tuple(_) | Expr::List(_) | Expr::Set(_)).then_some(row)
        }
        _ => None,
    }
}

/// The words of a reason, or of each reason in a list that is made of others.
pub fn words(facts: &Facts, reason: ExprRef) -> Option<String> {
    let at = match facts.shared.ir(reason.file).expr(reason.expr) {
        Expr::Comp(comp) => ExprRef { file: reason.file, expr: comp.element },
        _ => reason,
    };
    outcome::text_of(facts.shared, at).filter(|t| has_words(t))
}

/// Does a test hold where this part of it is there (true, not None, not empty)? `None` if that cannot be told.
pub fn is_there(ir: &FileIr, test: ExprId, part: ExprId) -> Option<bool> {
    let mut holds = true;
    let mut at = part;
    while at != test {
        let Parent::Expr(up) = ir.exprs[at.index()].parent else { return None };
        holds = match ir.expr(up) {
            Expr::Unary { op: UnaryOp::Not, .. } => !holds,
            Expr::Compare { left, rest } => match &rest[..] {
                [(op, other)] if *left == at => match (op, ir.expr(*other)) {
                    (CmpOp::Is | CmpOp::Eq, Expr::None | Expr::Int(0)) => !holds,
                    (CmpOp::IsNot | CmpOp::Ne, Expr::None | Expr::Int(0)) | (CmpOp::Gt, Expr::Int(0)) => holds,
                    _ => return None,
                },
                _ => return None,
            },
            Expr::Call { func, .. } if matches!(ir.expr(*func), Expr::Name(n) if *n == "len" || *n == "bool") => holds,
            Expr::Bool { .. } => holds,
            _ => return None,
        };
        at = up;
    }
    Some(holds)
}
