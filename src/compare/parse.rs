//! Reads the text of an expression as a [`Term`].
//!
//! The claims of a report quote conditions and values as the source writes them. This brings them into canonical form:
//! the record that an argument is read from, parentheses, negations and the arithmetic of constants do not matter. It
//! never fails: what does not parse stays as text.

use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

use super::term::{Literal, Order, Term};
use crate::syntax::ir::*;
use crate::syntax::lower::lower;

/// Terms nested deeper than this stay as text.
const MAX_DEPTH: u32 = 40;
/// Texts longer than this stay as text.
const MAX_LENGTH: usize = 4000;
/// Names that stand for the environment's variables: `envs.NAME.get()`, `os.environ["NAME"]`.
const ENVIRONMENTS: &[&str] = &["envs", "environ"];
/// How a variable of the environment is asked for its value.
const ASKING: &[&str] = &["get", "value"];

/// Reads texts in which these names are arguments.
pub struct Reader<'f> {
    fields: &'f FxHashSet<String>,
}

impl<'f> Reader<'f> {
    pub fn new(fields: &'f FxHashSet<String>) -> Self {
        Self { fields }
    }

    pub fn term(&self, text: &str) -> Term {
        let text = text.trim();
        if text.len() > MAX_LENGTH || text.ends_with('…') {
            return Term::Text(text.to_owned());
        }
        let ir = lower(format!("({text}\n)").as_bytes());
        match ir.body.first().map(|s| &ir.stmt(*s).kind) {
            Some(Stmt::Expr(id)) if ir.skipped.is_empty() && ir.body.len() == 1 => {
                Reading { reader: self, ir: &ir }.of(*id, 0).unwrap_or_else(|| Term::Text(text.to_owned()))
            }
            _ => Term::Text(text.to_owned()),
        }
    }

    /// The conjunction of several texts.
    pub fn all<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Term {
        Term::all(texts.into_iter().map(|text| self.term(text)))
    }
}

struct Reading<'r> {
    reader: &'r Reader<'r>,
    ir: &'r FileIr,
}

impl Reading<'_> {
    /// `None` if it nests too deep or did not parse.
    fn of(&self, id: ExprId, depth: u32) -> Option<Term> {
        if depth > MAX_DEPTH {
            return None;
        }
        let inner = |id: ExprId| self.of(id, depth + 1);
        let boxed = |id: ExprId| inner(id).map(Box::new);
        if let Some(name) = self.environment(id) {
            return Some(Term::Env(name));
        }
        // Arguments that are handed on in a dictionary go by their names.
        if let Expr::Subscript { index, .. } = self.ir.expr(id)
            && let Expr::Str(key) = self.ir.expr(*index)
            && self.reader.fields.contains(key.as_str())
        {
            return Some(Term::Field(key.to_string()));
        }
        Some(match self.ir.expr(id) {
            Expr::Name(name) => self.named(name),
            Expr::Attr { attr, .. } => self.named(attr),
            Expr::Call { func, args } => return self.call(*func, args, depth),
            Expr::Subscript { base, index } => Term::Index(boxed(*base)?, boxed(*index)?),
            Expr::Bin { op, left, right } => binary(*op, inner(*left)?, inner(*right)?),
            Expr::Bool { and: true, left, right } => Term::all([inner(*left)?, inner(*right)?]),
            Expr::Bool { left, right, .. } => Term::any([inner(*left)?, inner(*right)?]),
            Expr::Unary { op: UnaryOp::Not, operand } => inner(*operand)?.negated(),
            Expr::Unary { op, operand } => unary(*op, inner(*operand)?),
            Expr::Compare { left, rest } => {
                let mut left = inner(*left)?;
                let mut parts = Vec::new();
                for (op, right) in rest.iter() {
                    let right = inner(*right)?;
                    parts.push(compare(*op, left, right.clone()));
                    left = right;
                }
                Term::all(parts)
            }
            Expr::IfExp { test, body, orelse } => {
                Term::Choice { test: boxed(*test)?, then: boxed(*body)?, otherwise: boxed(*orelse)? }
            }
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => {
                Term::List(items.iter().map(|i| inner(*i)).collect::<Option<_>>()?)
            }
            Expr::FString(formatted) => Term::Format(formatted.parts.iter().map(|p| inner(*p)).collect::<Option<_>>()?),
            Expr::Str(text) => Term::Literal(Literal::Str(text.to_string())),
            Expr::Int(n) => Term::Literal(Literal::Int(*n)),
            Expr::Float(n) => Term::Literal(Literal::float(*n)),
            Expr::True => Term::Literal(Literal::Bool(true)),
            Expr::False => Term::Literal(Literal::Bool(false)),
            Expr::None => Term::Literal(Literal::None),
            Expr::Walrus { value, .. } | Expr::Await(value) => return inner(*value),
            Expr::Ellipsis | Expr::Unknown | Expr::Bytes => return None,
            // A comprehension, a lambda or a slice: what it mentions matters, how it runs is not told apart.
            _ => {
                let parts = self.ir.children(id).into_iter().map(inner).collect::<Option<Vec<_>>>()?;
                Term::Call(String::from("made_of"), parts)
            }
        })
    }

    fn named(&self, name: &str) -> Term {
        if self.reader.fields.contains(name) { Term::Field(name.to_owned()) } else { Term::Name(name.to_owned()) }
    }

    /// `f(a, key=b)` is `f(a, b)`: keywords are names of parameters. A receiver counts where it is more than a name.
    fn call(&self, func: ExprId, args: &[Arg], depth: u32) -> Option<Term> {
        let (name, receiver) = match self.ir.expr(func) {
            Expr::Name(name) => (name.to_string(), None),
            Expr::Attr { base, attr, .. } => (attr.to_string(), self.of(*base, depth + 1)),
            _ => (String::from("call"), self.of(func, depth + 1)),
        };
        let receiver = receiver.filter(|r| !matches!(r, Term::Name(_)));
        let mut parts: Vec<Term> = receiver.into_iter().collect();
        for arg in args {
            parts.push(self.of(arg.value, depth + 1)?);
        }
        Some(match (name.as_str(), parts.as_slice()) {
            // `int(1e9)`
            ("int" | "float" | "bool", [Term::Literal(literal)]) if literal.number().is_some() => {
                Term::Literal(converted(&name, literal)?)
            }
            _ => Term::Call(name, parts),
        })
    }

    /// The variable that `envs.NAME.get()`, `os.environ.get("NAME", …)`, `get_bool_env_var("NAME")` and the like ask for.
    fn environment(&self, id: ExprId) -> Option<String> {
        let names_environment = |base: ExprId| {
            let last = match self.ir.expr(base) {
                Expr::Name(name) | Expr::Attr { attr: name, .. } => name,
                _ => return false,
            };
            ENVIRONMENTS.contains(&last.as_str())
        };
        match self.ir.expr(id) {
            Expr::Attr { base, attr, .. } if names_environment(*base) && is_variable(attr) => Some(attr.to_string()),
            Expr::Subscript { base, index } if names_environment(*base) => {
                self.ir.str_value(*index).filter(|name| is_variable(name)).map(|name| name.to_string())
            }
            Expr::Call { func, args } => {
                let (base, name) = match self.ir.expr(*func) {
                    Expr::Name(name) => (None, name),
                    Expr::Attr { base, attr, .. } => (Some(*base), attr),
                    _ => return None,
                };
                if let Some(base) = base.filter(|_| ASKING.contains(&name.as_str()))
                    && let Some(variable) = self.environment(base)
                {
                    return Some(variable);
                }
                let asks = name.contains("env") || base.is_some_and(names_environment);
                let first = args.first().filter(|_| asks)?;
                self.ir.str_value(first.value).filter(|name| is_variable(name)).map(|name| name.to_string())
            }
            _ => None,
        }
    }
}

/// Is it written like the name of an environment variable?
fn is_variable(name: &str) -> bool {
    name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

fn converted(to: &str, literal: &Literal) -> Option<Literal> {
    let number = literal.number()?;
    Some(match to {
        "int" => Literal::float(number.trunc()),
        "bool" => Literal::Bool(number != 0.0),
        _ => Literal::float(number),
    })
}

fn unary(op: UnaryOp, operand: Term) -> Term {
    match (op, &operand) {
        (UnaryOp::Neg, Term::Literal(Literal::Int(n))) => Term::Literal(Literal::Int(n.wrapping_neg())),
        (UnaryOp::Neg, Term::Literal(Literal::Float(_))) => {
            operand.literal().and_then(Literal::number).map_or(operand.clone(), |n| Term::Literal(Literal::float(-n)))
        }
        (UnaryOp::Neg, _) => Term::Binary("-", Box::new(Term::Literal(Literal::Int(0))), Box::new(operand)),
        _ => operand,
    }
}

fn binary(op: BinOp, left: Term, right: Term) -> Term {
    if let (Some(a), Some(b)) = (left.literal(), right.literal())
        && let Some(value) = folded(op, a, b)
    {
        return Term::Literal(value);
    }
    // Numbers commute; a literal stands on the right.
    let (left, right) = match op {
        BinOp::Add | BinOp::Mul if (left.literal().is_some(), &left) > (right.literal().is_some(), &right) => {
            (right, left)
        }
        _ => (left, right),
    };
    Term::Binary(op.text(), Box::new(left), Box::new(right))
}

fn folded(op: BinOp, a: &Literal, b: &Literal) -> Option<Literal> {
    if let (Literal::Int(a), Literal::Int(b)) = (a, b) {
        let value = match op {
            BinOp::Add => a.checked_add(*b),
            BinOp::Sub => a.checked_sub(*b),
            BinOp::Mul => a.checked_mul(*b),
            BinOp::FloorDiv if *b > 0 => Some(a.div_euclid(*b)),
            BinOp::Mod if *b > 0 => Some(a.rem_euclid(*b)),
            BinOp::Pow => u32::try_from(*b).ok().and_then(|b| a.checked_pow(b)),
            BinOp::Shl => u32::try_from(*b).ok().filter(|b| *b < 62).and_then(|b| a.checked_mul(1 << b)),
            BinOp::Shr => u32::try_from(*b).ok().and_then(|b| a.checked_shr(b)),
            BinOp::Div if *b != 0 => return Some(Literal::float(*a as f64 / *b as f64)),
            _ => None,
        };
        return value.map(Literal::Int);
    }
    let (a, b) = (a.number()?, b.number()?);
    let value = match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div if b != 0.0 => a / b,
        _ => return None,
    };
    value.is_finite().then(|| Literal::float(value))
}

fn compare(op: CmpOp, left: Term, right: Term) -> Term {
    let order = match op {
        CmpOp::Eq | CmpOp::Is => Order::Equal,
        CmpOp::Ne | CmpOp::IsNot => Order::Unequal,
        CmpOp::Lt => Order::Less,
        CmpOp::Le => Order::AtMost,
        CmpOp::Gt => Order::Greater,
        CmpOp::Ge => Order::AtLeast,
        CmpOp::In | CmpOp::NotIn => return within(left, right, op == CmpOp::In),
    };
    // A literal stands on the right; of two terms that may stand either way, the smaller on the left.
    let swap = match (left.literal(), right.literal()) {
        (Some(_), None) => true,
        (None, Some(_)) => false,
        _ => matches!(order, Order::Equal | Order::Unequal | Order::Greater | Order::AtLeast) && left > right,
    };
    let (order, left, right) = if swap { (order.turned(), right, left) } else { (order, left, right) };
    match (order, right.literal()) {
        (Order::Equal, Some(Literal::Bool(value))) => {
            if *value {
                left
            } else {
                left.negated()
            }
        }
        (Order::Unequal, Some(Literal::Bool(value))) => {
            if *value {
                left.negated()
            } else {
                left
            }
        }
        (Order::Equal | Order::Unequal, Some(value)) => Term::OneOf {
            subject: Box::new(left),
            values: BTreeSet::from([value.clone()]),
            holds: order == Order::Equal,
        },
        _ => Term::Compare { order, left: Box::new(left), right: Box::new(right) },
    }
}

fn within(item: Term, container: Term, holds: bool) -> Term {
    let values = match &container {
        Term::List(items) => items.iter().map(|i| i.literal().cloned()).collect::<Option<BTreeSet<_>>>(),
        _ => None,
    };
    match values {
        Some(values) => Term::OneOf { subject: Box::new(item), values, holds },
        None => Term::Within { item: Box::new(item), container: Box::new(container), holds },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let fields = ["size", "mode", "ranks", "on"].map(String::from).into_iter().collect();
        let reader = Reader::new(&fields);
        let once = reader.term(text);
        assert_eq!(reader.term(&once.to_string()), once, "{once} reads back as something else");
        once.to_string()
    }

    #[test]
    fn the_same_meaning_is_the_same_text() {
        let same = [
            ("not (self.size < 35 * 1024)", "35840 <= args.size"),
            ("self.mode == \"a\" or self.mode == \"b\"", "mode in (\"b\", \"a\",)"),
            ("not (self.mode is None or not self.on)", "on and mode is not None"),
            ("not (arch in [\"A\", \"B\"]) and arch == \"C\"", "arch in [\"C\"]"),
            ("not (\"A\" in arch) and arch in [\"B\", \"C\"]", "arch in [\"C\", \"B\"]"),
            ("arch in [\"A\", \"B\"] and arch != \"A\"", "arch == \"B\""),
            ("(self.size) * (1 << 30)", "1024**3 * cfg.size"),
            ("self.on == True", "get_memory().on"),
            ("envs.SOME_FLAG.get()", "get_bool_env_var(\"SOME_FLAG\", default=\"true\")"),
            ("os.environ.get(\"SOME_FLAG\")", "os.environ[\"SOME_FLAG\"]"),
            ("args_dict[\"size\"] > 1", "self.size > 1"),
            ("f(size=self.size)", "x.f(server_args.size)"),
            ("size >= 3 and size >= 5 and size < 9", "5 <= size < 9"),
            ("size >= 5 and (size >= 3 or on)", "size >= 5"),
            ("on and mode == \"a\" or on and mode == \"b\"", "on and mode in (\"a\", \"b\")"),
            ("on and size > 1 or on", "on"),
        ];
        for (a, b) in same {
            assert_eq!(canonical(a), canonical(b), "{a} | {b}");
        }
    }

    #[test]
    fn another_meaning_is_another_text() {
        let different = [
            ("size > 1", "size >= 1"),
            ("mode == \"a\"", "mode != \"a\""),
            ("size // ranks", "ranks // size"),
            ("size * 1e9", "size * (1 << 30)"),
            ("on and size > 1", "on or size > 1"),
        ];
        for (a, b) in different {
            assert_ne!(canonical(a), canonical(b), "{a} | {b}");
        }
    }

    #[test]
    fn what_does_not_parse_stays() {
        assert_eq!(canonical("at least 5 of ("), "at least 5 of (");
        assert_eq!(canonical("cut off …"), "cut off …");
        let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
        canonical(&deep);
    }
}
