//! What a value can be, as far as it is known: one value, one of a few, a number between bounds, or anything.
//!
//! The domain of an abstract interpreter (Cousot and Cousot, 1977): constants, finite sets, intervals, top. Whatever is
//! not exact carries the reasons why. Nothing here knows a program; objects are handles into a [`super::state::State`].

use crate::program::{ClassRef, FileId, FuncRef};
use crate::syntax::ir::Sym;
use std::rc::Rc;

/// A thing on the heap.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjId(pub u32);

/// One value.
#[derive(Clone, Debug)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Sym),
    Tuple(Rc<[Abs]>),
    /// An instance, list, dictionary or set.
    Object(ObjId),
    Member(Rc<Member>),
    Class(ClassRef),
    Func(Rc<Closure>),
    Module(FileId),
    Builtin(Sym),
    /// A module, class, function or constant outside the tree, by its dotted path.
    External(Sym),
    /// A built-in method of a value.
    Method(Rc<(Abs, Sym)>),
    /// `super()` in a method of the class.
    Super(ClassRef, ObjId),
    Partial(Rc<Partial>),
}

/// A member of an enumeration.
#[derive(Debug)]
pub struct Member {
    pub class: ClassRef,
    pub name: Sym,
    pub value: Value,
    /// The class is a text or a number too, so a member equals its value.
    pub mixed: bool,
}

#[derive(Debug)]
pub struct Closure {
    pub func: FuncRef,
    /// The variables around it.
    pub env: Option<ObjId>,
    pub receiver: Option<Abs>,
    /// The class that defines the method.
    pub class: Option<ClassRef>,
}

#[derive(Debug)]
pub struct Partial {
    pub callee: Abs,
    pub positional: Vec<Abs>,
    pub named: Vec<(Sym, Abs)>,
}

/// Why a value is not exact: what it hangs on, in words of the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Why(Rc<[Sym]>);

const MAX_REASONS: usize = 6;

impl Why {
    pub fn of(reason: &str) -> Why {
        Why(Rc::from([Sym::from(reason)]))
    }
    pub fn and(&self, other: &Why) -> Why {
        if other.0.iter().all(|r| self.0.contains(r)) {
            return self.clone();
        }
        if self.0.iter().all(|r| other.0.contains(r)) {
            return other.clone();
        }
        let mut all: Vec<Sym> = self.0.iter().chain(other.0.iter()).copied().collect();
        all.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        all.dedup();
        all.truncate(MAX_REASONS);
        Why(all.into())
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|r| r.as_str())
    }
}

/// What is known of an inexact value beside its possibilities.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Vague {
    /// What it stands for: the same symbol is the same value wherever it is asked.
    pub symbol: Option<Sym>,
    pub why: Why,
}

/// Bounds of a number, both inclusive.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Range {
    pub low: f64,
    pub high: f64,
    pub whole: bool,
}

#[derive(Clone, Debug)]
pub enum Abs {
    Is(Value),
    OneOf(Rc<[Value]>, Vague),
    Range(Range, Vague),
    /// Anything; with `true`, anything but None.
    Any(Vague, bool),
}

/// Can a test hold?
#[derive(Clone, PartialEq, Debug)]
pub enum Truth {
    Yes,
    No,
    Maybe(Why),
}

/// More possibilities than this are no set but anything.
pub const MAX_SET: usize = 24;

impl Value {
    pub fn str(text: &str) -> Value {
        Value::Str(Sym::from(text))
    }
    pub fn as_str(&self) -> Option<Sym> {
        match self {
            Value::Str(s) => Some(*s),
            Value::Member(m) if m.mixed => m.value.as_str(),
            _ => None,
        }
    }
    /// As a number; True counts as 1.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Float(x) => Some(*x),
            Value::Bool(b) => Some(f64::from(u8::from(*b))),
            Value::Member(m) if m.mixed => m.value.as_number(),
            _ => None,
        }
    }
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            Value::Bool(b) => Some(i64::from(*b)),
            Value::Member(m) if m.mixed => m.value.as_int(),
            _ => None,
        }
    }
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }
    /// The very same value, for telling possibilities apart; 1, 1.0 and True are three.
    pub fn same(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (None, None) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
            (Str(a), Str(b)) | (Builtin(a), Builtin(b)) | (External(a), External(b)) => a == b,
            (Tuple(a), Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b)),
            (Object(a), Object(b)) => a == b,
            (Member(a), Member(b)) => a.class == b.class && a.name == b.name,
            (Class(a), Class(b)) => a == b,
            (Module(a), Module(b)) => a == b,
            (Func(a), Func(b)) => {
                let receivers = match (&a.receiver, &b.receiver) {
                    (Some(a), Some(b)) => a.same(b),
                    (a, b) => a.is_none() && b.is_none(),
                };
                Rc::ptr_eq(a, b) || a.func == b.func && a.env == b.env && receivers
            }
            (Method(a), Method(b)) => Rc::ptr_eq(a, b) || a.1 == b.1 && a.0.same(&b.0),
            (Super(a, x), Super(b, y)) => a == b && x == y,
            (Partial(a), Partial(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Range {
    pub const ALL: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, whole: false };
    pub fn at(x: f64, whole: bool) -> Range {
        Range { low: x, high: x, whole }
    }
    pub fn hull(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high), whole: self.whole && other.whole }
    }
    pub fn holds(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
    fn is_all(self) -> bool {
        self.low == f64::NEG_INFINITY && self.high == f64::INFINITY
    }
}

impl Abs {
    pub const NONE: Abs = Abs::Is(Value::None);

    pub fn bool(b: bool) -> Abs {
        Abs::Is(Value::Bool(b))
    }
    pub fn int(i: i64) -> Abs {
        Abs::Is(Value::Int(i))
    }
    pub fn str(text: &str) -> Abs {
        Abs::Is(Value::str(text))
    }
    pub fn any(reason: &str) -> Abs {
        Abs::because(&Why::of(reason))
    }
    pub fn because(why: &Why) -> Abs {
        Abs::Any(Vague { symbol: None, why: why.clone() }, false)
    }
    /// What the name stands for, unknown as it is.
    pub fn symbol(name: &str, why: Why) -> Abs {
        const MAX_NAME: usize = 160;
        let symbol = (name.len() <= MAX_NAME).then(|| Sym::from(name));
        Abs::Any(Vague { symbol, why }, false)
    }
    /// True, false, or one of them.
    pub fn truth(truth: Truth) -> Abs {
        match truth {
            Truth::Yes => Abs::bool(true),
            Truth::No => Abs::bool(false),
            Truth::Maybe(why) => Abs::one_of(vec![Value::Bool(false), Value::Bool(true)], &why),
        }
    }
    pub fn exact(&self) -> Option<&Value> {
        match self {
            Abs::Is(value) => Some(value),
            _ => None,
        }
    }
    pub fn as_str(&self) -> Option<Sym> {
        self.exact().and_then(Value::as_str)
    }
    pub fn as_int(&self) -> Option<i64> {
        self.exact().and_then(Value::as_int)
    }
    pub fn object(&self) -> Option<ObjId> {
        match self {
            Abs::Is(Value::Object(id)) => Some(*id),
            _ => None,
        }
    }
    pub fn is_none(&self) -> bool {
        matches!(self, Abs::Is(Value::None))
    }
    /// The possibilities, where they can be told one by one.
    pub fn values(&self) -> Option<&[Value]> {
        match self {
            Abs::Is(value) => Some(std::slice::from_ref(value)),
            Abs::OneOf(values, _) => Some(values),
            _ => None,
        }
    }
    pub fn vague(&self) -> Option<&Vague> {
        match self {
            Abs::Is(_) => None,
            Abs::OneOf(_, vague) | Abs::Range(_, vague) | Abs::Any(vague, _) => Some(vague),
        }
    }
    pub fn why(&self) -> Why {
        self.vague().map(|v| v.why.clone()).unwrap_or_default()
    }
    /// The symbol that it stands for; a thing outside the tree stands for itself.
    pub fn stands_for(&self) -> Option<Sym> {
        match self {
            Abs::Is(Value::External(path)) => Some(*path),
            other => other.vague()?.symbol,
        }
    }
    /// The reasons for not knowing more; a thing outside the tree is a reason itself.
    pub fn reasons(&self) -> Why {
        match self {
            Abs::Is(Value::External(path)) => Why::of(path.as_str()),
            other => other.why(),
        }
    }
    pub fn same(&self, other: &Abs) -> bool {
        match (self, other) {
            (Abs::Is(a), Abs::Is(b)) => a.same(b),
            (Abs::OneOf(a, v), Abs::OneOf(b, w)) => {
                v == w && a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b))
            }
            (Abs::Range(a, v), Abs::Range(b, w)) => a == b && v == w,
            (Abs::Any(v, a), Abs::Any(w, b)) => v == w && a == b,
            _ => false,
        }
    }
    /// One of these; of none, anything.
    pub fn one_of(values: Vec<Value>, why: &Why) -> Abs {
        Abs::among(values, Vague { symbol: None, why: why.clone() })
    }
    pub fn among(values: Vec<Value>, vague: Vague) -> Abs {
        let mut unique: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            if !unique.iter().any(|u| u.same(&value)) {
                unique.push(value);
            }
        }
        match unique.len() {
            0 => Abs::Any(vague, false),
            1 => unique.pop().map_or(Abs::NONE, Abs::Is),
            n if n <= MAX_SET => Abs::OneOf(unique.into(), vague),
            _ => match hull(&unique) {
                Some(range) => Abs::Range(range, vague),
                None => {
                    let not_none = !unique.iter().any(Value::is_none);
                    Abs::Any(vague, not_none)
                }
            },
        }
    }
    pub fn range(range: Range, vague: Vague) -> Abs {
        if range.low == range.high {
            let exact = if range.whole { Value::Int(range.low as i64) } else { Value::Float(range.low) };
            return Abs::Is(exact);
        }
        if range.is_all() && !range.whole { Abs::Any(vague, true) } else { Abs::Range(range, vague) }
    }
    /// One or the other, which hangs on the reasons.
    pub fn join(&self, other: &Abs, why: &Why) -> Abs {
        if self.same(other) {
            return self.clone();
        }
        let both = self.why().and(&other.why());
        let symbol = match (self.vague(), other.vague()) {
            (Some(a), Some(b)) if a.symbol == b.symbol => a.symbol,
            _ => None,
        };
        let vague = Vague { symbol, why: both.and(why) };
        if let (Some(a), Some(b)) = (self.values(), other.values()) {
            return Abs::among(a.iter().chain(b).cloned().collect(), vague);
        }
        match (self.bounds(), other.bounds()) {
            (Some(a), Some(b)) => Abs::range(a.hull(b), vague),
            _ => Abs::Any(vague, self.is_never_none() && other.is_never_none()),
        }
    }
    pub fn is_never_none(&self) -> bool {
        match self {
            Abs::Is(value) => !value.is_none(),
            Abs::OneOf(values, _) => !values.iter().any(Value::is_none),
            Abs::Range(..) => true,
            Abs::Any(_, not_none) => *not_none,
        }
    }
    /// Between which numbers it lies, if it is one.
    pub fn bounds(&self) -> Option<Range> {
        match self {
            Abs::Range(range, _) => Some(*range),
            Abs::Any(..) => None,
            known => hull(known.values()?),
        }
    }
    /// The same value, known by a name.
    pub fn named(self, symbol: Sym) -> Abs {
        let name = |v: Vague| Vague { symbol: v.symbol.or(Some(symbol)), why: v.why };
        match self {
            Abs::Is(value) => Abs::Is(value),
            Abs::OneOf(values, vague) => Abs::OneOf(values, name(vague)),
            Abs::Range(range, vague) => Abs::Range(range, name(vague)),
            Abs::Any(vague, not_none) => Abs::Any(name(vague), not_none),
        }
    }
    /// The same value, for these reasons too.
    pub fn also(self, more: &Why) -> Abs {
        let add = |v: Vague| Vague { symbol: v.symbol, why: v.why.and(more) };
        match self {
            Abs::Is(value) => Abs::Is(value),
            Abs::OneOf(values, vague) => Abs::OneOf(values, add(vague)),
            Abs::Range(range, vague) => Abs::Range(range, add(vague)),
            Abs::Any(vague, not_none) => Abs::Any(add(vague), not_none),
        }
    }
    /// Only the possibilities that pass; `None` if there are none.
    pub fn keep(&self, mut passes: impl FnMut(&Value) -> bool) -> Option<Abs> {
        match self {
            Abs::Is(value) => passes(value).then(|| self.clone()),
            Abs::OneOf(values, vague) => {
                let kept: Vec<Value> = values.iter().filter(|v| passes(v)).cloned().collect();
                (!kept.is_empty()).then(|| Abs::among(kept, vague.clone()))
            }
            other => Some(other.clone()),
        }
    }
}

/// The bounds of numbers; nothing if one of them is none.
fn hull(values: &[Value]) -> Option<Range> {
    let mut out: Option<Range> = None;
    for value in values {
        let number = match value {
            Value::Int(i) => Range::at(*i as f64, true),
            Value::Float(x) if !x.is_nan() => Range::at(*x, false),
            Value::Bool(_) => return None,
            other => Range::at(other.as_number()?, other.as_int().is_some()),
        };
        out = Some(out.map_or(number, |o| o.hull(number)));
    }
    out
}

impl Truth {
    pub fn not(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            maybe => maybe,
        }
    }
    pub fn of(known: Option<bool>, why: impl FnOnce() -> Why) -> Truth {
        match known {
            Some(true) => Truth::Yes,
            Some(false) => Truth::No,
            None => Truth::Maybe(why()),
        }
    }
}
