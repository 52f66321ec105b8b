//! What a test that holds says of the values in it: on that way `x is None` makes `x` None.
//!
//! Only what stands in the test by name is narrowed: variables, attributes of known objects, fields of the record, and
//! things outside the tree by their symbol. Nothing is evaluated again that could do something.

use super::*;

/// Something whose value can be narrowed.
enum Spot {
    Variable(ObjId, Sym),
    Attr(ObjId, Sym),
    Declared(ObjId, Sym),
    Symbol(Sym),
}

impl Machine<'_> {
    pub(super) fn refine(&mut self, test: ExprRef, holds: bool) {
        if self.live && self.file() == test.file {
            self.narrow(test.expr, holds, 0);
        }
    }

    fn narrow(&mut self, at: ExprId, holds: bool, depth: u32) {
        const MAX_NESTING: u32 = 16;
        if depth > MAX_NESTING {
            return;
        }
        let ir = self.ir();
        match ir.expr(at) {
            Expr::Unary { op: UnaryOp::Not, operand } => self.narrow(*operand, !holds, depth + 1),
            Expr::Bool { and, left, right } if *and == holds => {
                self.narrow(*left, holds, depth + 1);
                self.narrow(*right, holds, depth + 1);
            }
            // Of two parts one decides; if the other is settled, it is this one.
            Expr::Bool { and, left, right } => match (self.settled(*left), self.settled(*right)) {
                (Some(known), _) if known == *and => self.narrow(*right, holds, depth + 1),
                (_, Some(known)) if known == *and => self.narrow(*left, holds, depth + 1),
                _ => {}
            },
            Expr::Compare { left, rest } => {
                if let [(op, right)] = &rest[..] {
                    self.narrow_compare(*left, *op, *right, holds);
                }
            }
            Expr::Walrus { target, value } => {
                self.narrow_truth(*target, holds);
                self.narrow_truth(*value, holds);
            }
            Expr::Call { func, args } => {
                self.narrow_call(*func, args, holds);
                self.narrow_truth(at, holds);
            }
            _ => self.narrow_truth(at, holds),
        }
    }

    /// Is the truth of a part known without evaluating anything?
    fn settled(&mut self, at: ExprId) -> Option<bool> {
        let ir = self.ir();
        if let Expr::Compare { left, rest } = ir.expr(at) {
            let [(op, right)] = &rest[..] else { return None };
            let (a, b) = (self.peek(*left)?, self.peek(*right)?);
            return match self.compare(*op, &a, &b) {
                Truth::Yes => Some(true),
                Truth::No => Some(false),
                Truth::Maybe(_) => None,
            };
        }
        if let Expr::Unary { op: UnaryOp::Not, operand } = ir.expr(at) {
            return self.settled(*operand).map(|b| !b);
        }
        let value = self.peek(at)?;
        match self.truth(&value) {
            Truth::Yes => Some(true),
            Truth::No => Some(false),
            Truth::Maybe(_) => None,
        }
    }

    fn narrow_truth(&mut self, at: ExprId, holds: bool) {
        let Some((spot, value)) = self.spot(at) else { return };
        let narrowed = match (&value, holds) {
            (Abs::Is(Value::External(_)), true) => {
                Abs::Any(Vague { symbol: value.stands_for(), why: value.reasons() }, true)
            }
            (Abs::Any(vague, _), true) => Abs::Any(vague.clone(), true),
            (Abs::Any(vague, _), false) if vague.symbol.is_some_and(|s| s.ends_with(')')) => {
                Abs::among(vec![Value::None, Value::Bool(false)], vague.clone())
            }
            (Abs::OneOf(..), _) => self.where_truth(&value, holds),
            _ => return,
        };
        // A question that was answered yes is assumed to be so wherever it is asked again.
        let narrowed = match (&spot, &narrowed, holds) {
            (Spot::Symbol(symbol), Abs::Any(..), true) if symbol.ends_with(')') => Abs::bool(true),
            _ => narrowed,
        };
        self.store(spot, narrowed);
    }

    fn narrow_compare(&mut self, left: ExprId, op: CmpOp, right: ExprId, holds: bool) {
        let op = if holds { op } else { opposite(op) };
        if let (Some((spot, value)), Some(other)) = (self.spot(left), self.peek(right)) {
            if let Some(narrowed) = self.narrowed(&value, op, &other) {
                self.store(spot, narrowed);
            }
        } else if let (Some((spot, value)), Some(other)) = (self.spot(right), self.peek(left))
            && let Some(op) = mirrored(op)
            && let Some(narrowed) = self.narrowed(&value, op, &other)
        {
            self.store(spot, narrowed);
        }
    }

    /// A value of which the comparison is known to hold.
    fn narrowed(&mut self, value: &Abs, op: CmpOp, other: &Abs) -> Option<Abs> {
        match (value, op) {
            (Abs::OneOf(values, vague), _) => {
                let kept: Vec<Value> = values
                    .iter()
                    .filter(|v| self.compare(op, &Abs::Is((*v).clone()), other) != Truth::No)
                    .cloned()
                    .collect();
                (!kept.is_empty() && kept.len() < values.len()).then(|| Abs::among(kept, vague.clone()))
            }
            (Abs::Is(Value::External(_)) | Abs::Any(..), CmpOp::Eq | CmpOp::Is) => match other {
                Abs::Is(Value::External(_)) => None,
                Abs::Is(_) => Some(other.clone()),
                _ => None,
            },
            (Abs::Any(vague, _), CmpOp::IsNot | CmpOp::Ne) if other.is_none() => Some(Abs::Any(vague.clone(), true)),
            (Abs::Is(Value::External(path)), CmpOp::IsNot | CmpOp::Ne) if other.is_none() => {
                Some(Abs::Any(Vague { symbol: Some(*path), why: Why::of(path.as_str()) }, true))
            }
            (Abs::Any(vague, _), CmpOp::In) => {
                let items: Vec<Value> = match self.iterate(other) {
                    Items::Known(items) => items.iter().filter_map(|i| i.exact().cloned()).collect(),
                    Items::Open(_) => return None,
                };
                (!items.is_empty()).then(|| Abs::among(items, vague.clone()))
            }
            (Abs::Any(vague, _), op) if op.is_ordered() => {
                let bound = other.bounds()?;
                half(Range::ALL, op, bound, false).map(|r| Abs::Range(r, vague.clone()))
            }
            (Abs::Range(range, vague), op) if op.is_ordered() => {
                let bound = other.bounds()?;
                half(*range, op, bound, range.whole && bound.whole).map(|r| Abs::range(r, vague.clone()))
            }
            (Abs::Range(range, _), CmpOp::Eq) => {
                let x = other.exact()?.as_number()?;
                range.holds(x).then(|| other.clone())
            }
            _ => None,
        }
    }

    /// `isinstance(x, T)` and `hasattr(x, "a")`.
    fn narrow_call(&mut self, func: ExprId, args: &[Arg], holds: bool) {
        let ir = self.ir();
        let (Expr::Name(name), [first, second]) = (ir.expr(func), args) else { return };
        if *name != "isinstance" {
            return;
        }
        let (Some((spot, value)), Some(kinds)) = (self.spot(first.value), self.peek(second.value)) else { return };
        let Abs::OneOf(values, vague) = &value else { return };
        let mut kept = Vec::new();
        for v in values.iter() {
            let fits = match self.is_instance(&Abs::Is(v.clone()), &kinds) {
                Truth::Yes => holds,
                Truth::No => !holds,
                Truth::Maybe(_) => true,
            };
            if fits {
                kept.push(v.clone());
            }
        }
        if !kept.is_empty() {
            let narrowed = Abs::among(kept, vague.clone());
            self.store(spot, narrowed);
        }
    }

    /// Where a part of a test has its value, and that value.
    fn spot(&mut self, at: ExprId) -> Option<(Spot, Abs)> {
        let ir = self.ir();
        match ir.expr(at) {
            Expr::Name(name) => {
                if let Some(env) = self.variable(*name) {
                    let Some(Object::Env(vars)) = self.object(env) else { return None };
                    let value = vars.vars.get(name)?.value.clone();
                    return Some((Spot::Variable(env, *name), value));
                }
                self.seen_spot(at)
            }
            Expr::Attr { base, attr, .. } => match self.peek(*base)?.object() {
                Some(id) => {
                    let instance = self.instance(id)?;
                    if let Kind::View(record) = instance.kind {
                        let value = self.field_value(record, *attr);
                        let declared = self.instance(record)?.declared.contains_key(attr);
                        let spot = if declared { Spot::Declared(record, *attr) } else { Spot::Attr(record, *attr) };
                        return self.world.fields.contains(attr).then_some((spot, value));
                    }
                    let value = instance.attrs.get(attr)?.value.clone();
                    Some((Spot::Attr(id, *attr), value))
                }
                None => self.seen_spot(at),
            },
            Expr::Call { .. } => self.seen_spot(at),
            Expr::Walrus { target, .. } => self.spot(*target),
            _ => None,
        }
    }

    /// A part of the test that was evaluated a moment ago and stands for something outside.
    fn seen_spot(&mut self, at: ExprId) -> Option<(Spot, Abs)> {
        let here = self.here(at);
        let value = self.seen.iter().rev().find(|(e, _)| *e == here).map(|(_, v)| v.clone())?;
        let symbol = value.stands_for()?;
        Some((Spot::Symbol(symbol), value))
    }

    fn store(&mut self, spot: Spot, value: Abs) {
        match spot {
            Spot::Variable(env, name) => self.edit(env, |object| {
                if let Object::Env(vars) = object
                    && let Some(slot) = vars.vars.get_mut(&name)
                {
                    slot.value = value;
                }
            }),
            Spot::Attr(id, name) => self.edit(id, |object| {
                if let Object::Instance(instance) = object
                    && let Some(slot) = instance.attrs.get_mut(&name)
                {
                    slot.value = value;
                }
            }),
            Spot::Declared(id, name) => self.edit(id, |object| {
                if let Object::Instance(instance) = object {
                    instance.declared.insert(name, value);
                }
            }),
            Spot::Symbol(symbol) => {
                Rc::make_mut(&mut self.state.symbols).insert(symbol, value);
            }
        }
    }

    /// The value of an expression that does nothing: names, attributes of known objects, constants.
    fn peek(&mut self, at: ExprId) -> Option<Abs> {
        let ir = self.ir();
        match ir.expr(at) {
            Expr::None | Expr::True | Expr::False | Expr::Int(_) | Expr::Float(_) | Expr::Str(_) => Some(self.eval(at)),
            Expr::Unary { op: UnaryOp::Neg, operand } if matches!(ir.expr(*operand), Expr::Int(_) | Expr::Float(_)) => {
                Some(self.eval(at))
            }
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => {
                let values: Option<Vec<Abs>> = items.iter().map(|i| self.peek(*i)).collect();
                values.map(|v| Abs::Is(Value::Tuple(v.into())))
            }
            Expr::Name(name) => Some(self.lookup(*name)),
            Expr::Attr { base, attr, .. } => {
                let object = self.peek(*base)?;
                match object.exact()? {
                    Value::Object(id) => {
                        let instance = self.instance(*id)?;
                        match instance.kind {
                            Kind::View(record) => {
                                self.world.fields.contains(attr).then(|| self.field_value(record, *attr))
                            }
                            _ => instance.attrs.get(attr).map(|slot| slot.value.clone()),
                        }
                    }
                    Value::Class(_) | Value::Module(_) | Value::External(_) => Some(self.get_attr(&object, *attr)),
                    _ => None,
                }
            }
            _ => {
                let here = self.here(at);
                self.seen.iter().rev().find(|(e, _)| *e == here).map(|(_, v)| v.clone())
            }
        }
    }
}

fn opposite(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Is => CmpOp::IsNot,
        CmpOp::IsNot => CmpOp::Is,
        CmpOp::In => CmpOp::NotIn,
        CmpOp::NotIn => CmpOp::In,
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: CmpOp) -> Option<CmpOp> {
    Some(match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        CmpOp::In | CmpOp::NotIn => return None,
        same => same,
    })
}

/// The part of a range where an ordered comparison can hold.
fn half(range: Range, op: CmpOp, bound: Range, whole: bool) -> Option<Range> {
    let step = if whole { 1.0 } else { 0.0 };
    let out = match op {
        CmpOp::Lt => Range { high: range.high.min(bound.high - step), ..range },
        CmpOp::Le => Range { high: range.high.min(bound.high), ..range },
        CmpOp::Gt => Range { low: range.low.max(bound.low + step), ..range },
        CmpOp::Ge => Range { low: range.low.max(bound.low), ..range },
        _ => return None,
    };
    (out.low <= out.high).then_some(out)
}
