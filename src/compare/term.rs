//! The canonical form of an expression: what it says of arguments and constants, however it is written.
//!
//! Two texts with the same meaning should give equal terms: `not (a < b)` and `a >= b`, `x == "a" or x == "b"` and
//! `x in ["a", "b"]`, `(1 << 30)` and `1073741824`. A term prints as Python that reads back as the same term, so it can be
//! kept in a file that people review. Nothing is resolved: which names are arguments is said by the caller, and what is
//! not understood stays as text.

use std::collections::BTreeSet;
use std::fmt;

/// A constant. Integral floats are integers, as Python compares them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Literal {
    None,
    Bool(bool),
    Int(i64),
    /// As Python prints it.
    Float(String),
    Str(String),
}

impl Literal {
    pub fn float(value: f64) -> Literal {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() <= EXACT {
            Literal::Int(value as i64)
        } else {
            Literal::Float(format!("{value:?}"))
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Literal::Int(n) => Some(*n as f64),
            Literal::Float(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Python's truth.
    pub fn truth(&self) -> bool {
        match self {
            Literal::None => false,
            Literal::Bool(b) => *b,
            Literal::Int(n) => *n != 0,
            Literal::Float(_) => self.number() != Some(0.0),
            Literal::Str(s) => !s.is_empty(),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        match self {
            Literal::None => serde_json::Value::Null,
            Literal::Bool(b) => (*b).into(),
            Literal::Int(n) => (*n).into(),
            Literal::Float(_) => self.number().map_or(serde_json::Value::Null, Into::into),
            Literal::Str(s) => s.as_str().into(),
        }
    }
}

/// How two values are ordered. A literal stands on the right.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Order {
    pub fn negated(self) -> Order {
        match self {
            Order::Equal => Order::Unequal,
            Order::Unequal => Order::Equal,
            Order::Less => Order::AtLeast,
            Order::AtMost => Order::Greater,
            Order::Greater => Order::AtMost,
            Order::AtLeast => Order::Less,
        }
    }

    pub fn turned(self) -> Order {
        match self {
            Order::Less => Order::Greater,
            Order::AtMost => Order::AtLeast,
            Order::Greater => Order::Less,
            Order::AtLeast => Order::AtMost,
            same => same,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Order::Equal => "==",
            Order::Unequal => "!=",
            Order::Less => "<",
            Order::AtMost => "<=",
            Order::Greater => ">",
            Order::AtLeast => ">=",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A server argument.
    Field(String),
    Literal(Literal),
    /// An environment variable.
    Env(String),
    /// A local, an attribute, a constant of a module: anything else that has a name.
    Name(String),
    /// A call, by the last name of what is called; a receiver that is no plain name comes first.
    Call(String, Vec<Term>),
    /// Is the subject one of these constants?
    OneOf {
        subject: Box<Term>,
        values: BTreeSet<Literal>,
        holds: bool,
    },
    /// Is the item in the container, which is no list of constants?
    Within {
        item: Box<Term>,
        container: Box<Term>,
        holds: bool,
    },
    Compare {
        order: Order,
        left: Box<Term>,
        right: Box<Term>,
    },
    Not(Box<Term>),
    All(BTreeSet<Term>),
    Any(BTreeSet<Term>),
    Binary(&'static str, Box<Term>, Box<Term>),
    Choice {
        test: Box<Term>,
        then: Box<Term>,
        otherwise: Box<Term>,
    },
    List(Vec<Term>),
    Index(Box<Term>, Box<Term>),
    /// A text with holes.
    Format(Vec<Term>),
    /// What is not understood, as written.
    Text(String),
    /// Something that has no name of its own in both releases.
    Hole,
}

impl Term {
    /// Can two blurred tests be one, written with a name on one side that the other does not have?
    fn can_be(&self, other: &Term) -> bool {
        match (self, other) {
            (Term::Hole, _) | (_, Term::Hole) => true,
            (Term::OneOf { subject: a, values: v, holds: x }, Term::OneOf { subject: b, values: w, holds: y }) => {
                v == w && x == y && a.can_be(b)
            }
            (Term::Compare { order: x, left: a, right: b }, Term::Compare { order: y, left: c, right: d }) => {
                x == y && a.can_be(c) && b.can_be(d)
            }
            (Term::Not(a), Term::Not(b)) => a.can_be(b),
            // A list in place against one that has a name.
            (Term::OneOf { subject, holds: x, .. }, Term::Within { item, container, holds: y })
            | (Term::Within { item, container, holds: y }, Term::OneOf { subject, holds: x, .. }) => {
                x == y && **container == Term::Hole && subject == item
            }
            _ => self == other,
        }
    }

    /// Can two blurred conditions be one, part by part?
    pub fn can_be_same(parts: &BTreeSet<Term>, others: &BTreeSet<Term>) -> bool {
        let mut rest: Vec<&Term> = others.difference(parts).collect();
        let found = |part: &Term| {
            let at = rest.iter().position(|other| part.can_be(other));
            at.map(|at| rest.swap_remove(at)).is_some()
        };
        parts.difference(others).all(found) && rest.is_empty()
    }

    pub fn literal(&self) -> Option<&Literal> {
        match self {
            Term::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The negation, pushed inwards.
    pub fn negated(self) -> Term {
        match self {
            Term::Literal(literal) => Term::Literal(Literal::Bool(!literal.truth())),
            Term::OneOf { subject, values, holds } => Term::OneOf { subject, values, holds: !holds },
            Term::Within { item, container, holds } => Term::Within { item, container, holds: !holds },
            Term::Compare { order, left, right } => Term::Compare { order: order.negated(), left, right },
            Term::Not(inner) => *inner,
            Term::All(parts) => Term::any(parts.into_iter().map(Term::negated)),
            Term::Any(parts) => Term::all(parts.into_iter().map(Term::negated)),
            other => Term::Not(Box::new(other)),
        }
    }

    /// The conjunction: nested ones flattened, tests of one subject joined, what another part implies left out.
    pub fn all(parts: impl IntoIterator<Item = Term>) -> Term {
        let mut flat = BTreeSet::new();
        for part in parts {
            match part {
                Term::All(inner) => flat.extend(inner),
                Term::Literal(literal) if literal.truth() => {}
                other => {
                    flat.insert(other);
                }
            }
        }
        let flat = without_implied(within_bounds(join_tests(flat, true)));
        let never = |part: &Term| match part {
            Term::OneOf { values, holds: true, .. } if values.is_empty() => true,
            Term::Literal(literal) => !literal.truth(),
            Term::Not(inner) => flat.contains(inner),
            Term::Compare { order, left, right } => {
                flat.contains(&Term::Compare { order: order.negated(), left: left.clone(), right: right.clone() })
            }
            Term::Within { item, container, holds } => {
                flat.contains(&Term::Within { item: item.clone(), container: container.clone(), holds: !holds })
            }
            _ => false,
        };
        if flat.iter().any(never) {
            return Term::Literal(Literal::Bool(false));
        }
        match flat.len() {
            0 => Term::Literal(Literal::Bool(true)),
            1 => flat.into_iter().next().unwrap_or(Term::Hole),
            _ => Term::All(flat),
        }
    }

    /// The disjunction, in the same way.
    pub fn any(parts: impl IntoIterator<Item = Term>) -> Term {
        let mut flat = BTreeSet::new();
        for part in parts {
            match part {
                Term::Any(inner) => flat.extend(inner),
                Term::Literal(literal) if !literal.truth() => {}
                other => {
                    flat.insert(other);
                }
            }
        }
        let flat = join_tests(flat, false);
        let common = common_parts(&flat);
        if !common.is_empty() {
            let rest = |arm: Term| Term::all(arm.conjuncts().difference(&common).cloned());
            let rest = Term::any(flat.into_iter().map(rest).collect::<Vec<Term>>());
            return Term::all(common.iter().cloned().chain([rest]).collect::<Vec<Term>>());
        }
        match flat.len() {
            0 => Term::Literal(Literal::Bool(false)),
            1 => flat.into_iter().next().unwrap_or(Term::Hole),
            _ if flat.iter().any(|arm| arm.literal().is_some_and(Literal::truth)) => Term::Literal(Literal::Bool(true)),
            _ => Term::Any(flat),
        }
    }

    /// The parts of a conjunction; none of `True`.
    pub fn conjuncts(self) -> BTreeSet<Term> {
        match self {
            Term::All(parts) => parts,
            Term::Literal(Literal::Bool(true)) => BTreeSet::new(),
            other => BTreeSet::from([other]),
        }
    }

    pub fn children(&self) -> Vec<&Term> {
        match self {
            Term::Call(_, items) | Term::List(items) | Term::Format(items) => items.iter().collect(),
            Term::OneOf { subject, .. } => vec![subject],
            Term::Within { item: a, container: b, .. }
            | Term::Compare { left: a, right: b, .. }
            | Term::Binary(_, a, b)
            | Term::Index(a, b) => vec![a, b],
            Term::Not(inner) => vec![inner],
            Term::All(parts) | Term::Any(parts) => parts.iter().collect(),
            Term::Choice { test, then, otherwise } => vec![test, then, otherwise],
            Term::Field(_) | Term::Literal(_) | Term::Env(_) | Term::Name(_) | Term::Text(_) | Term::Hole => Vec::new(),
        }
    }

    /// Calls `visit` on the term and all terms in it.
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(&'t Term)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// The arguments that it mentions, in the order of the term.
    pub fn fields(&self) -> Vec<&str> {
        let mut out: Vec<&str> = Vec::new();
        self.walk(&mut |term| {
            if let Term::Field(name) = term
                && !out.contains(&name.as_str())
            {
                out.push(name);
            }
        });
        out
    }

    /// The term with every part changed by `change`, innermost first, and simplified again.
    pub fn map(&self, change: &dyn Fn(Term) -> Term) -> Term {
        let inner = |term: &Term| Box::new(term.map(change));
        let whole = match self {
            Term::Call(name, args) => Term::Call(name.clone(), args.iter().map(|a| a.map(change)).collect()),
            Term::List(items) => Term::List(items.iter().map(|a| a.map(change)).collect()),
            Term::Format(items) => Term::Format(items.iter().map(|a| a.map(change)).collect()),
            Term::OneOf { subject, values, holds } => {
                Term::OneOf { subject: inner(subject), values: values.clone(), holds: *holds }
            }
            Term::Within { item, container, holds } => {
                Term::Within { item: inner(item), container: inner(container), holds: *holds }
            }
            Term::Compare { order, left, right } => {
                Term::Compare { order: *order, left: inner(left), right: inner(right) }
            }
            Term::Binary(op, left, right) => Term::Binary(op, inner(left), inner(right)),
            Term::Index(base, index) => Term::Index(inner(base), inner(index)),
            Term::Not(operand) => operand.map(change).negated(),
            Term::All(parts) => Term::all(parts.iter().map(|p| p.map(change))),
            Term::Any(parts) => Term::any(parts.iter().map(|p| p.map(change))),
            Term::Choice { test, then, otherwise } => {
                Term::Choice { test: inner(test), then: inner(then), otherwise: inner(otherwise) }
            }
            leaf => leaf.clone(),
        };
        change(whole)
    }
}

/// The parts that all arms of a disjunction ask for: `a and b or a and c` is `a and (b or c)`.
fn common_parts(arms: &BTreeSet<Term>) -> BTreeSet<Term> {
    let parts = |arm: &Term| match arm {
        Term::All(parts) => parts.clone(),
        other => BTreeSet::from([other.clone()]),
    };
    let mut rest = arms.iter();
    let Some(mut common) = rest.next().map(parts).filter(|_| arms.len() > 1) else { return BTreeSet::new() };
    for arm in rest {
        match arm {
            Term::All(parts) => common.retain(|part| parts.contains(part)),
            other => common.retain(|part| part == other),
        }
    }
    common
}

/// Tests of one subject against constants as one test: in a conjunction those that hold are met, in a disjunction joined.
fn join_tests(parts: BTreeSet<Term>, all: bool) -> BTreeSet<Term> {
    let mut joined: Vec<(Box<Term>, bool, BTreeSet<Literal>)> = Vec::new();
    let mut out = BTreeSet::new();
    for part in parts {
        match part {
            Term::OneOf { subject, values, holds } => {
                let known = joined.iter_mut().find(|(s, h, _)| *s == subject && *h == holds);
                match known {
                    // `x in A and x in B`; `x not in A or x not in B`.
                    Some((_, _, have)) if all == holds => have.retain(|v| values.contains(v)),
                    Some((_, _, have)) => have.extend(values),
                    None => joined.push((subject, holds, values)),
                }
            }
            other => {
                out.insert(other);
            }
        }
    }
    out.extend(joined.into_iter().map(|(subject, holds, values)| Term::OneOf { subject, values, holds }));
    out
}

/// Of several bounds on one value the narrowest, and no disjunction of which an arm holds anyway.
fn within_bounds(parts: BTreeSet<Term>) -> BTreeSet<Term> {
    let bound = |part: &Term| match part {
        Term::Compare { order, left, right } => Some((*order, (**left).clone(), right.literal()?.number()?)),
        _ => None,
    };
    let bounds: Vec<(Order, Term, f64)> = parts.iter().filter_map(bound).collect();
    // Does another bound say as much? `x > 2` says `x > 1` and `x >= 2`.
    let says = |part: &Term, strictly: bool| {
        let Some((order, left, value)) = bound(part) else { return false };
        bounds.iter().any(|(other, of, limit)| {
            if *of != left || (strictly && (*other, *limit) == (order, value)) {
                return false;
            }
            match (order, other) {
                (Order::Greater, Order::Greater) | (Order::AtLeast, Order::AtLeast | Order::Greater) => *limit >= value,
                (Order::Greater, Order::AtLeast) => *limit > value,
                (Order::Less, Order::Less) | (Order::AtMost, Order::AtMost | Order::Less) => *limit <= value,
                (Order::Less, Order::AtMost) => *limit < value,
                _ => false,
            }
        })
    };
    let holds = |arm: &Term| parts.contains(arm) || says(arm, false);
    let idle = |part: &Term| match part {
        Term::Any(arms) => arms.iter().any(holds),
        other => says(other, true),
    };
    parts.iter().filter(|part| !idle(part)).cloned().collect()
}

/// A conjunction without what a test of the same subject settles: `x in ["a"] and x != "b"` is `x in ["a"]`.
fn without_implied(parts: BTreeSet<Term>) -> BTreeSet<Term> {
    let settled: Vec<(Term, BTreeSet<Literal>)> = parts
        .iter()
        .filter_map(|part| match part {
            Term::OneOf { subject, values, holds: true } => Some(((**subject).clone(), values.clone())),
            _ => None,
        })
        .collect();
    let values_of = |subject: &Term| settled.iter().find(|(s, _)| s == subject).map(|(_, values)| values);
    let implied = |part: &Term| match part {
        Term::OneOf { subject, values, holds: false } => {
            values_of(subject).is_some_and(|have| have.iter().all(|v| !values.contains(v)))
        }
        Term::Within { item, container, holds } => match (item.literal(), values_of(container)) {
            (Some(Literal::Str(part)), Some(have)) => {
                have.iter().all(|v| matches!(v, Literal::Str(whole) if whole.contains(part) == *holds))
            }
            _ => false,
        },
        _ => false,
    };
    let mut kept: BTreeSet<Term> = parts.iter().filter(|p| !implied(p)).cloned().collect();
    // `x in [1, 2] and x != 1` is `x == 2`.
    let excluded: Vec<(Term, BTreeSet<Literal>)> = kept
        .iter()
        .filter_map(|part| match part {
            Term::OneOf { subject, values, holds: false } => Some(((**subject).clone(), values.clone())),
            _ => None,
        })
        .filter(|(subject, _)| values_of(subject).is_some())
        .collect();
    for (subject, without) in excluded {
        let Some(have) = values_of(&subject) else { continue };
        let left: BTreeSet<Literal> = have.difference(&without).cloned().collect();
        kept.remove(&Term::OneOf { subject: Box::new(subject.clone()), values: without, holds: false });
        kept.remove(&Term::OneOf { subject: Box::new(subject.clone()), values: have.clone(), holds: true });
        kept.insert(Term::OneOf { subject: Box::new(subject), values: left, holds: true });
    }
    kept
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Int(n) => write!(f, "{n}"),
            Literal::Float(text) => f.write_str(text),
            Literal::Str(text) => {
                write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
            }
        }
    }
}

/// How tightly a term binds, for parentheses.
fn strength(term: &Term) -> u8 {
    match term {
        Term::Choice { .. } => 0,
        Term::Any(_) => 1,
        Term::All(_) => 2,
        Term::Not(_) => 3,
        Term::Compare { .. } | Term::OneOf { .. } | Term::Within { .. } => 4,
        Term::Binary(..) => 5,
        Term::Text(_) => 0,
        _ => 9,
    }
}

struct Inside<'t>(&'t Term, u8);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if strength(self.0) < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

fn separated<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    between: &str,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Field(name) | Term::Name(name) | Term::Text(name) => f.write_str(name),
            Term::Literal(literal) => write!(f, "{literal}"),
            Term::Env(name) => write!(f, "envs.{name}"),
            Term::Call(name, args) => {
                write!(f, "{name}(")?;
                separated(f, args, ", ")?;
                f.write_str(")")
            }
            Term::OneOf { subject, values, holds } => {
                let one = values.first().filter(|_| values.len() == 1);
                let subject = Inside(subject, 5);
                match (one, holds) {
                    (Some(Literal::None | Literal::Bool(_)), true) => write!(f, "{subject} is {}", Values(values)),
                    (Some(Literal::None | Literal::Bool(_)), false) => write!(f, "{subject} is not {}", Values(values)),
                    (Some(_), true) => write!(f, "{subject} == {}", Values(values)),
                    (Some(_), false) => write!(f, "{subject} != {}", Values(values)),
                    (None, true) => write!(f, "{subject} in [{}]", Values(values)),
                    (None, false) => write!(f, "{subject} not in [{}]", Values(values)),
                }
            }
            Term::Within { item, container, holds } => {
                let word = if *holds { "in" } else { "not in" };
                write!(f, "{} {word} {}", Inside(item, 5), Inside(container, 5))
            }
            Term::Compare { order, left, right } => {
                write!(f, "{} {} {}", Inside(left, 5), order.text(), Inside(right, 5))
            }
            Term::Not(inner) => write!(f, "not {}", Inside(inner, 4)),
            Term::All(parts) => separated(f, parts.iter().map(|p| Inside(p, 3)), " and "),
            Term::Any(parts) => separated(f, parts.iter().map(|p| Inside(p, 2)), " or "),
            Term::Binary(op, left, right) => write!(f, "{} {op} {}", Inside(left, 6), Inside(right, 6)),
            Term::Choice { test, then, otherwise } => {
                write!(f, "{} if {} else {}", Inside(then, 1), Inside(test, 1), Inside(otherwise, 0))
            }
            Term::List(items) => {
                f.write_str("[")?;
                separated(f, items, ", ")?;
                f.write_str("]")
            }
            Term::Index(base, index) => write!(f, "{}[{index}]", Inside(base, 9)),
            Term::Format(parts) => {
                f.write_str("str(")?;
                separated(f, parts, ", ")?;
                f.write_str(")")
            }
            Term::Hole => f.write_str("…"),
        }
    }
}

struct Values<'v>(&'v BTreeSet<Literal>);

impl fmt::Display for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, self.0, ", ")
    }
}
