//! Does a condition hold that a report states as text: `hicache_size > 0`, `not server_args.enabled`?
//!
//! The text is Python; its names, and the last names of its dotted ones, are fields where the claim says so. Whatever
//! else stands in it is not known.

use super::evaluate::Machine;
use super::evaluate::value::{Abs, Truth, Value, Why};
use crate::syntax::ir::*;
use crate::syntax::lower::lower;

/// Whether the text holds with these values of fields.
pub fn truth(
    text: &str,
    machine: &mut Machine<'_>,
    value: &mut dyn FnMut(&mut Machine<'_>, Sym) -> Option<Abs>,
) -> Truth {
    const MAX_TEXT: usize = 4096;
    let unknown = || Truth::Maybe(Why::of(text));
    if text.len() > MAX_TEXT {
        return unknown();
    }
    let ir = lower(text.as_bytes());
    let expr = match ir.body.first().map(|s| &ir.stmt(*s).kind) {
        Some(Stmt::Expr(expr)) if ir.body.len() == 1 => *expr,
        _ => return unknown(),
    };
    let mut run = Run { ir: &ir, machine, value };
    let result = run.eval(expr, 0);
    run.machine.truth_of_value(&result)
}

struct Run<'i, 'm, 'p, 'v> {
    ir: &'i FileIr,
    machine: &'m mut Machine<'p>,
    value: &'v mut dyn FnMut(&mut Machine<'_>, Sym) -> Option<Abs>,
}

impl Run<'_, '_, '_, '_> {
    fn eval(&mut self, at: ExprId, depth: u32) -> Abs {
        const MAX_NESTING: u32 = 40;
        if depth > MAX_NESTING {
            return Abs::any("a condition that is nested too deep");
        }
        match self.ir.expr(at) {
            Expr::None => Abs::NONE,
            Expr::True => Abs::bool(true),
            Expr::False => Abs::bool(false),
            Expr::Int(i) => Abs::int(*i),
            Expr::Float(x) => Abs::Is(Value::Float(*x)),
            Expr::Str(s) => Abs::Is(Value::Str(*s)),
            Expr::Name(name) | Expr::Attr { attr: name, .. } => {
                let known = (self.value)(self.machine, *name);
                known.unwrap_or_else(|| Abs::any(name.as_str()))
            }
            Expr::Unary { op: UnaryOp::Not, operand } => {
                let value = self.eval(*operand, depth + 1);
                Abs::truth(self.machine.truth_of_value(&value).negated())
            }
            Expr::Unary { op, operand } => {
                let value = self.eval(*operand, depth + 1);
                self.machine.apply_unary(*op, &value)
            }
            Expr::Bin { op, left, right } => {
                let (a, b) = (self.eval(*left, depth + 1), self.eval(*right, depth + 1));
                self.machine.apply_binary(*op, &a, &b)
            }
            Expr::Bool { and, left, right } => {
                let (a, b) = (self.eval(*left, depth + 1), self.eval(*right, depth + 1));
                let (x, y) = (self.machine.truth_of_value(&a), self.machine.truth_of_value(&b));
                Abs::truth(match (and, x, y) {
                    (true, Truth::No, _) | (true, _, Truth::No) => Truth::No,
                    (true, Truth::Yes, other) | (true, other, Truth::Yes) => other,
                    (false, Truth::Yes, _) | (false, _, Truth::Yes) => Truth::Yes,
                    (false, Truth::No, other) | (false, other, Truth::No) => other,
                    (_, Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
                })
            }
            Expr::Compare { left, rest } => {
                let mut a = self.eval(*left, depth + 1);
                let mut out = Truth::Yes;
                for (op, right) in rest {
                    let b = self.eval(*right, depth + 1);
                    out = match (out, self.machine.apply_compare(*op, &a, &b)) {
                        (Truth::No, _) | (_, Truth::No) => Truth::No,
                        (Truth::Yes, other) | (other, Truth::Yes) => other,
                        (Truth::Maybe(x), Truth::Maybe(y)) => Truth::Maybe(x.and(&y)),
                    };
                    a = b;
                }
                Abs::truth(out)
            }
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => {
                let items: Vec<Abs> = items.iter().map(|i| self.eval(*i, depth + 1)).collect();
                Abs::Is(Value::Tuple(items.into()))
            }
            _ => Abs::any("a part of a condition"),
        }
    }
}
