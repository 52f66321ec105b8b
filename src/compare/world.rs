//! What a command line of the old release can bring about in the new one.
//!
//! A rule that only new arguments or new values can trip changes nothing for a command line that exists. So a condition
//! is evaluated with arguments that only one release has at their defaults and old ones at the values that were open to
//! them: *possible* unless it is surely false.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

use super::term::{Literal, Order, Term};

pub struct World {
    /// The values that an argument can have: those that were open to it, or, of one that only one release has, those that
    /// it has unset.
    pub open: FxHashMap<String, BTreeSet<Literal>>,
    /// Arguments that only the new release has.
    pub new: FxHashSet<String>,
    /// Values that an argument could not be given in the old release, and that it did not set either.
    pub newer: FxHashMap<String, BTreeSet<Literal>>,
    /// Texts that the old release knows; a model that it never names may be a new one.
    pub known: FxHashSet<String>,
}

impl World {
    /// The condition without what a launch of the old release cannot bring: values that an argument could not have, and,
    /// where the subject is no argument, texts that the old release never names: models, most likely newer ones.
    pub fn met(&self, condition: &Term) -> Term {
        condition.map(&|part| match part {
            Term::OneOf { subject, values, holds } => {
                let newer = |value: &Literal| match (&*subject, value) {
                    (Term::Field(name), value) => self.newer.get(name).is_some_and(|newer| newer.contains(value)),
                    (subject, Literal::Str(text)) => subject.fields().is_empty() && !self.known.contains(text),
                    _ => false,
                };
                let values: BTreeSet<Literal> = values.into_iter().filter(|v| !newer(v)).collect();
                if values.is_empty() {
                    Term::Literal(Literal::Bool(!holds))
                } else {
                    Term::OneOf { subject, values, holds }
                }
            }
            other => other,
        })
    }

    /// The parts of a condition that a launch of the old release can meet.
    pub fn met_parts(&self, parts: &BTreeSet<Term>) -> BTreeSet<Term> {
        self.met(&Term::all(parts.iter().cloned())).conjuncts()
    }

    /// Can the condition hold?
    pub fn possible(&self, condition: &Term) -> bool {
        self.truth(condition) != Some(false)
    }

    /// Can the first condition hold where the second does not?
    pub fn exceeds(&self, condition: &BTreeSet<Term>, other: &BTreeSet<Term>) -> bool {
        let fails_at = |part: &Term| {
            let without = condition.iter().cloned().chain([part.clone().negated()]);
            self.possible(&Term::all(without))
        };
        other.iter().any(fails_at)
    }

    /// Does the condition ask for a text that the old release never names, of something that is no argument?
    pub fn asks_for_unknown(&self, condition: &Term) -> bool {
        let unknown = |literal: &Literal| matches!(literal, Literal::Str(text) if !self.known.contains(text));
        let about_fields = |term: &Term| !term.fields().is_empty();
        match condition {
            Term::All(parts) => parts.iter().any(|p| self.asks_for_unknown(p)),
            Term::Any(parts) => parts.iter().all(|p| self.asks_for_unknown(p)),
            Term::OneOf { subject, values, holds: true } => !about_fields(subject) && values.iter().all(unknown),
            Term::Within { item, container, holds: true } => {
                !about_fields(container) && item.literal().is_some_and(unknown)
            }
            // What registers a function for models, or asks whether it is one.
            Term::Call(_, args) => !args.is_empty() && args.iter().all(|arg| arg.literal().is_some_and(unknown)),
            _ => false,
        }
    }

    fn truth(&self, term: &Term) -> Option<bool> {
        match term {
            Term::Not(inner) => self.truth(inner).map(|t| !t),
            Term::All(parts) => decided(parts.iter().map(|p| self.truth(p)), false),
            Term::Any(parts) => decided(parts.iter().map(|p| self.truth(p)), true),
            Term::OneOf { subject, values, holds } => {
                if let Some(value) = self.value(subject) {
                    return Some(values.contains(&value) == *holds);
                }
                let Term::Field(name) = &**subject else { return None };
                if self.newer.get(name).is_some_and(|newer| values.is_subset(newer)) {
                    return Some(!holds);
                }
                let open = self.open.get(name)?;
                let inside = open.iter().filter(|v| values.contains(v)).count();
                match (inside, inside == open.len()) {
                    (0, _) => Some(!holds),
                    (_, true) => Some(*holds),
                    _ => None,
                }
            }
            Term::Compare { order, left, right } => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                match order {
                    Order::Equal => Some(a == b),
                    Order::Unequal => Some(a != b),
                    _ => {
                        let (a, b) = (a.number()?, b.number()?);
                        Some(match order {
                            Order::Less => a < b,
                            Order::AtMost => a <= b,
                            Order::Greater => a > b,
                            _ => a >= b,
                        })
                    }
                }
            }
            other => self.value(other).map(|v| v.truth()),
        }
    }

    /// The value, where there can be but one.
    fn value(&self, term: &Term) -> Option<Literal> {
        match term {
            Term::Literal(literal) => Some(literal.clone()),
            Term::Field(name) => {
                let open = self.open.get(name)?;
                open.first().filter(|_| open.len() == 1).cloned()
            }
            Term::Binary(op, left, right) => computed(op, &self.value(left)?, &self.value(right)?),
            _ => None,
        }
    }
}

/// What whole numbers come to.
fn computed(op: &str, left: &Literal, right: &Literal) -> Option<Literal> {
    let (Literal::Int(a), Literal::Int(b)) = (left, right) else { return None };
    let value = match op {
        "+" => a.checked_add(*b),
        "-" => a.checked_sub(*b),
        "*" => a.checked_mul(*b),
        "//" => a.checked_div_euclid(*b).filter(|_| *b > 0),
        "%" => a.checked_rem_euclid(*b).filter(|_| *b > 0),
        "&" => Some(a & b),
        "|" => Some(a | b),
        _ => None,
    };
    value.map(Literal::Int)
}

/// The truth of a conjunction (which one `false` decides) or disjunction (one `true`), of which parts can be unknown.
fn decided(parts: impl Iterator<Item = Option<bool>>, by: bool) -> Option<bool> {
    let mut unknown = false;
    for part in parts {
        if part == Some(by) {
            return part;
        }
        unknown |= part.is_none();
    }
    if unknown { None } else { Some(!by) }
}
