//! Operators on values that may not be exact: truth, comparison, arithmetic.
//!
//! Of few possibilities each is tried; numbers between bounds are computed with as intervals; whatever else is not known
//! stays unknown, for the reasons of both sides.

use super::expressions::{MAX_ITEMS, equal_keys};
use super::*;

/// More pairs of possibilities than this are not tried one by one.
const MAX_PAIRS: usize = 96;

impl Machine<'_> {
    pub(super) fn truth(&mut self, value: &Abs) -> Truth {
        match value {
            Abs::Is(value) => self.truth_of(value),
            Abs::OneOf(values, vague) => {
                let mut any = (false, false);
                for value in values.iter() {
                    match self.truth_of(value) {
                        Truth::Yes => any.0 = true,
                        Truth::No => any.1 = true,
                        Truth::Maybe(why) => return Truth::Maybe(why.and(&vague.why)),
                    }
                }
                match any {
                    (true, false) => Truth::Yes,
                    (false, true) => Truth::No,
                    _ => Truth::Maybe(vague.why.clone()),
                }
            }
            Abs::Range(range, vague) => match range.holds(0.0) {
                true => Truth::Maybe(vague.why.clone()),
                false => Truth::Yes,
            },
            Abs::Any(vague, _) => Truth::Maybe(vague.why.clone()),
        }
    }

    fn truth_of(&mut self, value: &Value) -> Truth {
        let known = |b: bool| if b { Truth::Yes } else { Truth::No };
        match value {
            Value::None => Truth::No,
            Value::Bool(b) => known(*b),
            Value::Int(i) => known(*i != 0),
            Value::Float(x) => known(*x != 0.0),
            Value::Str(s) => known(!s.is_empty()),
            Value::Tuple(items) => known(!items.is_empty()),
            Value::Member(m) if m.mixed => self.truth_of(&m.value),
            Value::External(path) => Truth::Maybe(Why::of(path.as_str())),
            Value::Object(id) => self.truth_of_object(*id),
            _ => Truth::Yes,
        }
    }

    fn truth_of_object(&mut self, id: ObjId) -> Truth {
        match self.object(id) {
            Some(Object::List(items) | Object::Set(items)) => match items {
                Items::Known(items) => Truth::of(Some(!items.is_empty()), Why::default),
                Items::Open(why) => Truth::Maybe(why.clone()),
            },
            Some(Object::Dict(dict)) => {
                let sure = dict.entries.iter().any(|(_, slot)| slot.maybe.is_none());
                let doubt = dict.open.clone().or_else(|| dict.entries.iter().find_map(|(_, slot)| slot.maybe.clone()));
                match (sure, doubt) {
                    (true, _) => Truth::Yes,
                    (false, Some(why)) => Truth::Maybe(why),
                    (false, None) => Truth::No,
                }
            }
            Some(Object::Instance(instance)) => {
                if let Kind::Declarations(record) = instance.kind {
                    let any = self.instance(record).is_some_and(|r| !r.declared.is_empty());
                    return Truth::of(Some(any), Why::default);
                }
                let class = instance.class;
                let method = |name: &str| class.and_then(|c| self.program.method(c, Sym::from(name)));
                match method("__bool__").is_some() || method("__len__").is_some() {
                    true => Truth::Maybe(Why::of("an object's truth")),
                    false => Truth::Yes,
                }
            }
            _ => Truth::Yes,
        }
    }

    /// The possibilities of a value of this truth.
    pub(super) fn where_truth(&mut self, value: &Abs, wanted: bool) -> Abs {
        let values = match value {
            Abs::OneOf(values, _) => values.clone(),
            Abs::Any(vague, _) if wanted => return Abs::Any(vague.clone(), true),
            other => return other.clone(),
        };
        let mut kept = Vec::new();
        for v in values.iter() {
            let fits = match self.truth_of(v) {
                Truth::Yes => wanted,
                Truth::No => !wanted,
                Truth::Maybe(_) => true,
            };
            if fits {
                kept.push(v.clone());
            }
        }
        Abs::among(kept, value.vague().cloned().unwrap_or_default())
    }

    // Comparison

    pub(super) fn compare(&mut self, op: CmpOp, a: &Abs, b: &Abs) -> Truth {
        match op {
            CmpOp::Eq => self.equal(a, b),
            CmpOp::Ne => self.equal(a, b).not(),
            CmpOp::Is => self.identical(a, b),
            CmpOp::IsNot => self.identical(a, b).not(),
            CmpOp::In => self.contains(b, a),
            CmpOp::NotIn => self.contains(b, a).not(),
            CmpOp::Lt => self.less(a, b, false),
            CmpOp::Le => self.less(a, b, true),
            CmpOp::Gt => self.less(b, a, false),
            CmpOp::Ge => self.less(b, a, true),
        }
    }

    fn over_pairs(
        &mut self,
        a: &Abs,
        b: &Abs,
        mut test: impl FnMut(&mut Self, &Value, &Value) -> Truth,
    ) -> Option<Truth> {
        let (left, right) = (a.values()?, b.values()?);
        if left.len() * right.len() > MAX_PAIRS {
            return None;
        }
        let mut any = (false, false);
        let mut why = a.why().and(&b.why());
        let mut open = false;
        for x in left {
            for y in right {
                match test(self, x, y) {
                    Truth::Yes => any.0 = true,
                    Truth::No => any.1 = true,
                    Truth::Maybe(more) => {
                        why = why.and(&more);
                        open = true;
                    }
                }
            }
        }
        Some(match any {
            (true, false) if !open => Truth::Yes,
            (false, true) if !open => Truth::No,
            _ => Truth::Maybe(why),
        })
    }

    pub(super) fn equal(&mut self, a: &Abs, b: &Abs) -> Truth {
        if let (Some(x), Some(y)) = (a.stands_for(), b.stands_for())
            && x == y
        {
            return Truth::Yes;
        }
        if let Some(truth) = self.over_pairs(a, b, |m, x, y| m.equal_values(x, y)) {
            return truth;
        }
        let why = a.reasons().and(&b.reasons());
        let apart = match (a.bounds(), b.bounds()) {
            (Some(x), Some(y)) => x.high < y.low || y.high < x.low,
            // A number is no text, and what is something is not None.
            (Some(_), None) => b.values().is_some_and(|v| v.iter().all(|v| v.as_number().is_none())),
            (None, Some(_)) => a.values().is_some_and(|v| v.iter().all(|v| v.as_number().is_none())),
            (None, None) => a.is_none() && b.is_never_none() || b.is_none() && a.is_never_none(),
        };
        if apart { Truth::No } else { Truth::Maybe(why) }
    }

    pub(super) fn equal_values(&mut self, a: &Value, b: &Value) -> Truth {
        let known = |b: bool| if b { Truth::Yes } else { Truth::No };
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return known(match (a.as_int(), b.as_int()) {
                (Some(x), Some(y)) => x == y,
                _ => x == y,
            });
        }
        match (a, b) {
            (Value::External(x), other) | (other, Value::External(x)) => match other {
                Value::External(y) if x == y => Truth::Yes,
                _ => Truth::Maybe(Why::of(x.as_str())),
            },
            (Value::Tuple(x), Value::Tuple(y)) => {
                let (x, y) = (x.to_vec(), y.to_vec());
                self.equal_items(&x, &y)
            }
            (Value::Object(x), Value::Object(y)) => self.equal_objects(*x, *y),
            (Value::Member(x), Value::Member(y)) => known(x.class == y.class && x.name == y.name),
            (Value::Str(_) | Value::Member(_), Value::Str(_) | Value::Member(_)) => match (a.as_str(), b.as_str()) {
                (Some(x), Some(y)) => known(x == y),
                _ => Truth::No,
            },
            (Value::Object(id), _) | (_, Value::Object(id)) => match self.has_own_equality(*id) {
                true => Truth::Maybe(Why::of("an object's equality")),
                false => Truth::No,
            },
            _ => known(a.same(b)),
        }
    }

    fn has_own_equality(&self, id: ObjId) -> bool {
        let class = self.instance(id).and_then(|i| i.class);
        class.is_some_and(|c| self.program.method(c, Sym::from("__eq__")).is_some())
    }

    fn equal_items(&mut self, a: &[Abs], b: &[Abs]) -> Truth {
        if a.len() != b.len() {
            return Truth::No;
        }
        let mut out = Truth::Yes;
        for (x, y) in a.iter().zip(b) {
            match self.equal(x, y) {
                Truth::Yes => {}
                Truth::No => return Truth::No,
                maybe => out = maybe,
            }
        }
        out
    }

    fn equal_objects(&mut self, a: ObjId, b: ObjId) -> Truth {
        if a == b {
            return Truth::Yes;
        }
        let (Some(x), Some(y)) = (self.shared(a), self.shared(b)) else { return Truth::No };
        match (x.as_ref(), y.as_ref()) {
            (Object::List(Items::Known(x)), Object::List(Items::Known(y))) => self.equal_items(x, y),
            (Object::Set(Items::Known(x)), Object::Set(Items::Known(y))) => {
                if x.len() != y.len() {
                    return Truth::No;
                }
                let exact = |items: &[Abs]| items.iter().map(|i| i.exact().cloned()).collect::<Option<Vec<_>>>();
                match (exact(x), exact(y)) {
                    (Some(x), Some(y)) => {
                        let same = x.iter().all(|a| y.iter().any(|b| equal_keys(a, b)));
                        Truth::of(Some(same), Why::default)
                    }
                    _ => Truth::Maybe(Why::of("a set's elements")),
                }
            }
            (Object::List(Items::Open(why)) | Object::Set(Items::Open(why)), Object::List(_) | Object::Set(_))
            | (Object::List(_) | Object::Set(_), Object::List(Items::Open(why)) | Object::Set(Items::Open(why))) => {
                Truth::Maybe(why.clone())
            }
            (Object::Dict(x), Object::Dict(y)) => {
                if let Some(why) = x.open.clone().or(y.open.clone()) {
                    return Truth::Maybe(why);
                }
                if x.entries.len() != y.entries.len() {
                    let doubt = x.entries.iter().chain(&y.entries).find_map(|(_, s)| s.maybe.clone());
                    return doubt.map_or(Truth::No, Truth::Maybe);
                }
                let mut out = Truth::Yes;
                for (key, slot) in &x.entries {
                    let Some((_, other)) = y.entries.iter().find(|(k, _)| equal_keys(k, key)) else { return Truth::No };
                    match self.equal(&slot.value, &other.value) {
                        Truth::Yes => {}
                        Truth::No => return Truth::No,
                        maybe => out = maybe,
                    }
                }
                out
            }
            (Object::Instance(x), Object::Instance(y)) if x.class == y.class => {
                // Records compare by their fields; other objects by identity.
                match x.class.is_some_and(|c| self.program.is_record_like(c)) {
                    false => Truth::No,
                    true => {
                        let mut out = Truth::Yes;
                        for (name, slot) in &x.attrs {
                            let Some(other) = y.attrs.get(name) else { return Truth::No };
                            match self.equal(&slot.value, &other.value) {
                                Truth::Yes => {}
                                Truth::No => return Truth::No,
                                maybe => out = maybe,
                            }
                        }
                        out
                    }
                }
            }
            _ => Truth::No,
        }
    }

    fn identical(&mut self, a: &Abs, b: &Abs) -> Truth {
        if a.is_none() || b.is_none() {
            let other = if a.is_none() { b } else { a };
            return match other {
                Abs::Is(Value::External(path)) => Truth::Maybe(Why::of(path.as_str())),
                Abs::Any(vague, not_none) => {
                    if *not_none {
                        Truth::No
                    } else {
                        Truth::Maybe(vague.why.clone())
                    }
                }
                _ => self.over_pairs(a, b, |_, x, y| Truth::of(Some(x.same(y)), Why::default)).unwrap_or(Truth::No),
            };
        }
        let same = self.over_pairs(a, b, |_, x, y| match (x, y) {
            (Value::External(p), _) | (_, Value::External(p)) if !x.same(y) => Truth::Maybe(Why::of(p.as_str())),
            _ => Truth::of(Some(x.same(y)), Why::default),
        });
        match same {
            Some(truth) => truth,
            None if a.stands_for().is_some() && a.stands_for() == b.stands_for() => Truth::Yes,
            None => Truth::Maybe(a.reasons().and(&b.reasons())),
        }
    }

    pub(super) fn contains(&mut self, container: &Abs, item: &Abs) -> Truth {
        if let Some(values) = container.values().filter(|v| v.len() > 1) {
            let values = values.to_vec();
            let mut out: Option<Truth> = None;
            for value in values {
                let truth = self.contains(&Abs::Is(value), item);
                out = Some(match out {
                    None => truth,
                    Some(before) if before == truth => before,
                    Some(_) => Truth::Maybe(container.why().and(&item.why())),
                });
            }
            return out.unwrap_or(Truth::No);
        }
        let why = || container.reasons().and(&item.reasons());
        match container {
            Abs::Is(Value::Str(text)) => match item.values() {
                Some(parts) if parts.iter().all(|p| p.as_str().is_some()) => {
                    let found: Vec<bool> =
                        parts.iter().filter_map(Value::as_str).map(|p| text.as_str().contains(p.as_str())).collect();
                    match (found.contains(&true), found.contains(&false)) {
                        (true, false) => Truth::Yes,
                        (false, true) => Truth::No,
                        _ => Truth::Maybe(why()),
                    }
                }
                _ => Truth::Maybe(why()),
            },
            Abs::Is(Value::Member(m)) if m.mixed => {
                let inner = Abs::Is(m.value.clone());
                self.contains(&inner, item)
            }
            Abs::Is(Value::Tuple(items)) => {
                let items = items.to_vec();
                self.among(&items, item)
            }
            Abs::Is(Value::Object(id)) => match self.shared(*id).as_deref() {
                Some(Object::List(Items::Known(items)) | Object::Set(Items::Known(items))) => self.among(items, item),
                Some(Object::List(Items::Open(open)) | Object::Set(Items::Open(open))) => {
                    Truth::Maybe(open.and(&why()))
                }
                Some(Object::Dict(dict)) => self.has_key(dict, item),
                _ => Truth::Maybe(Why::of("an object's contents")),
            },
            Abs::Is(Value::Class(class)) => match self.enum_members(*class) {
                Some(members) => self.among(&members, item),
                None => Truth::Maybe(why()),
            },
            _ => Truth::Maybe(why()),
        }
    }

    fn among(&mut self, items: &[Abs], item: &Abs) -> Truth {
        let mut doubt: Option<Why> = None;
        // Each possibility of the item by itself: of a few that are all there, one is.
        let possible: Vec<Abs> = match item.values() {
            Some(values) => values.iter().cloned().map(Abs::Is).collect(),
            None => vec![item.clone()],
        };
        let mut any = (false, false);
        for possibility in possible {
            let mut found = Truth::No;
            for other in items {
                match self.equal(other, &possibility) {
                    Truth::Yes => {
                        found = Truth::Yes;
                        break;
                    }
                    Truth::Maybe(why) => found = Truth::Maybe(why),
                    Truth::No => {}
                }
            }
            match found {
                Truth::Yes => any.0 = true,
                Truth::No => any.1 = true,
                Truth::Maybe(why) => doubt = Some(doubt.map_or_else(|| why.clone(), |d| d.and(&why))),
            }
        }
        match (doubt, any) {
            (None, (true, false)) => Truth::Yes,
            (None, (false, true)) => Truth::No,
            (doubt, _) => Truth::Maybe(doubt.unwrap_or_default().and(&item.why())),
        }
    }

    fn has_key(&mut self, dict: &Dict, key: &Abs) -> Truth {
        let Some(keys) = key.values() else {
            return match dict.entries.is_empty() && dict.open.is_none() {
                true => Truth::No,
                false => Truth::Maybe(key.reasons().and(&dict.open.clone().unwrap_or_default())),
            };
        };
        let mut any = (false, false);
        let mut doubt = Why::default();
        let mut open = false;
        for key in keys {
            match dict.entries.iter().find(|(k, _)| equal_keys(k, key)) {
                Some((_, Slot { maybe: None, .. })) => any.0 = true,
                Some((_, Slot { maybe: Some(why), .. })) => {
                    doubt = doubt.and(why);
                    open = true;
                }
                None => match &dict.open {
                    Some(why) => {
                        doubt = doubt.and(why);
                        open = true;
                    }
                    None => any.1 = true,
                },
            }
        }
        match (open, any) {
            (false, (true, false)) => Truth::Yes,
            (false, (false, true)) => Truth::No,
            _ => Truth::Maybe(doubt.and(&key.why())),
        }
    }

    fn less(&mut self, a: &Abs, b: &Abs, or_equal: bool) -> Truth {
        let tried = self.over_pairs(a, b, |m, x, y| m.less_values(x, y, or_equal));
        if let Some(truth) = tried {
            return truth;
        }
        let why = a.reasons().and(&b.reasons());
        match (a.bounds(), b.bounds()) {
            (Some(x), Some(y)) => {
                let always = if or_equal { x.high <= y.low } else { x.high < y.low };
                let never = if or_equal { x.low > y.high } else { x.low >= y.high };
                match (always, never) {
                    (true, _) => Truth::Yes,
                    (_, true) => Truth::No,
                    _ => Truth::Maybe(why),
                }
            }
            _ => Truth::Maybe(why),
        }
    }

    fn less_values(&mut self, a: &Value, b: &Value, or_equal: bool) -> Truth {
        let known = |less: bool, same: bool| Truth::of(Some(less || or_equal && same), Why::default);
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
            return known(x < y, x == y);
        }
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return known(x < y, x == y);
        }
        if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
            return known(x.as_str() < y.as_str(), x == y);
        }
        match (a, b) {
            (Value::Tuple(x), Value::Tuple(y)) => {
                let (x, y) = (x.to_vec(), y.to_vec());
                for (a, b) in x.iter().zip(&y) {
                    match self.equal(a, b) {
                        Truth::Yes => {}
                        Truth::No => return self.less(a, b, or_equal),
                        maybe => return maybe,
                    }
                }
                known(x.len() < y.len(), x.len() == y.len())
            }
            (Value::External(path), _) | (_, Value::External(path)) => Truth::Maybe(Why::of(path.as_str())),
            _ => {
                self.slip("TypeError");
                Truth::Maybe(Why::of("a comparison of things that have no order"))
            }
        }
    }

    // Arithmetic

    pub(super) fn binary(&mut self, op: BinOp, a: &Abs, b: &Abs) -> Abs {
        if let (Some(left), Some(right)) = (a.values(), b.values())
            && left.len() * right.len() <= MAX_PAIRS
        {
            let (left, right) = (left.to_vec(), right.to_vec());
            let why = a.why().and(&b.why());
            let mut out: Option<Abs> = None;
            for x in &left {
                for y in &right {
                    let value = self.binary_values(op, x, y);
                    out = Some(out.map_or_else(|| value.clone(), |o| o.join(&value, &why)));
                }
            }
            return out.unwrap_or_else(|| Abs::because(&why));
        }
        let why = a.reasons().and(&b.reasons());
        match (a.bounds(), b.bounds()) {
            (Some(x), Some(y)) => match interval(op, x, y) {
                Some(range) => Abs::range(range, Vague { symbol: None, why }),
                None => Abs::Any(Vague { symbol: None, why }, true),
            },
            _ => Abs::Any(Vague { symbol: None, why }, true),
        }
    }

    fn binary_values(&mut self, op: BinOp, a: &Value, b: &Value) -> Abs {
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
            return self.whole(op, x, y);
        }
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return match op {
                BinOp::Div | BinOp::FloorDiv | BinOp::Mod if y == 0.0 => {
                    self.slip("ZeroDivisionError");
                    Abs::any("a division by zero")
                }
                _ => real(op, x, y).map_or_else(|| Abs::any("arithmetic"), |x| Abs::Is(Value::Float(x))),
            };
        }
        match (op, a, b) {
            (BinOp::Add, _, _) if a.as_str().is_some() && b.as_str().is_some() => {
                let text = format!("{}{}", a.as_str().unwrap_or_default(), b.as_str().unwrap_or_default());
                if text.len() > MAX_ITEMS * 8 { Abs::any("a text that is too long") } else { Abs::str(&text) }
            }
            (BinOp::Mul, _, _) if a.as_str().is_some() && b.as_int().is_some() => {
                let (text, n) = (a.as_str().unwrap_or_default(), b.as_int().unwrap_or(0).max(0) as usize);
                match text.len().saturating_mul(n) <= MAX_ITEMS {
                    true => Abs::str(&text.repeat(n)),
                    false => Abs::any("a text that is too long"),
                }
            }
            (BinOp::Mod, _, _) if a.as_str().is_some() => Abs::any("a formatted text"),
            (BinOp::Add, Value::Tuple(x), Value::Tuple(y)) => {
                Abs::Is(Value::Tuple(x.iter().chain(y.iter()).cloned().collect()))
            }
            (_, Value::Object(_), _) | (_, _, Value::Object(_)) => self.binary_objects(op, a, b),
            _ => Abs::because(&reason_of(a).and(&reason_of(b))),
        }
    }

    fn binary_objects(&mut self, op: BinOp, a: &Value, b: &Value) -> Abs {
        let object = |m: &Self, v: &Value| match v {
            Value::Object(id) => m.shared(*id),
            _ => None,
        };
        let (x, y) = (object(self, a), object(self, b));
        match (op, x.as_deref(), y.as_deref()) {
            (BinOp::Add, Some(Object::List(x)), Some(Object::List(y))) => {
                let items = match (x, y) {
                    (Items::Known(x), Items::Known(y)) if x.len() + y.len() <= MAX_ITEMS => {
                        Items::Known(x.iter().chain(y).cloned().collect())
                    }
                    (Items::Open(why), _) | (_, Items::Open(why)) => Items::Open(why.clone()),
                    _ => Items::Open(Why::of("a list that is too long")),
                };
                self.new_items(items)
            }
            (BinOp::Mul, Some(Object::List(Items::Known(x))), None) => {
                let n = b.as_int().unwrap_or(0).max(0) as usize;
                match x.len().saturating_mul(n) <= MAX_ITEMS {
                    true => {
                        let items = std::iter::repeat_n(x.iter().cloned(), n).flatten().collect();
                        self.new_list(items)
                    }
                    false => Abs::any("a list that is too long"),
                }
            }
            (BinOp::BitOr | BinOp::BitAnd | BinOp::Sub | BinOp::BitXor, Some(Object::Set(x)), Some(Object::Set(y))) => {
                let items = self.set_operation(op, x, y);
                self.new_set(items)
            }
            (BinOp::BitOr, Some(Object::Dict(x)), Some(Object::Dict(_))) => {
                let mut dict = x.clone();
                self.update_dict(&mut dict, &Abs::Is(b.clone()));
                self.new_dict(dict)
            }
            _ => Abs::any("an operator on objects"),
        }
    }

    pub(super) fn set_operation(&mut self, op: BinOp, a: &Items, b: &Items) -> Items {
        let (a, b) = match (a, b) {
            (Items::Known(a), Items::Known(b)) => (a, b),
            (Items::Open(why), _) | (_, Items::Open(why)) => return Items::Open(why.clone()),
        };
        let mut out: Vec<Abs> = Vec::new();
        let mut why = Why::default();
        let mut open = false;
        let mut held = |m: &mut Self, item: &Abs, others: &[Abs]| match m.among(others, item) {
            Truth::Yes => true,
            Truth::No => false,
            Truth::Maybe(more) => {
                why = why.and(&more);
                open = true;
                false
            }
        };
        for item in a {
            let both = held(self, item, b);
            if matches!(op, BinOp::BitOr) || both == matches!(op, BinOp::BitAnd) {
                out.push(item.clone());
            }
        }
        if matches!(op, BinOp::BitOr | BinOp::BitXor) {
            for item in b {
                if !held(self, item, a) {
                    out.push(item.clone());
                }
            }
        }
        if open { Items::Open(why) } else { Items::Known(out) }
    }

    fn whole(&mut self, op: BinOp, a: i64, b: i64) -> Abs {
        let value = match op {
            BinOp::Div | BinOp::FloorDiv | BinOp::Mod if b == 0 => {
                self.slip("ZeroDivisionError");
                return Abs::any("a division by zero");
            }
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            BinOp::Div => return Abs::Is(Value::Float(a as f64 / b as f64)),
            BinOp::FloorDiv => a.checked_rem(b).and_then(|rest| {
                let down = i64::from(rest != 0 && (a < 0) != (b < 0));
                a.checked_div(b)?.checked_sub(down)
            }),
            BinOp::Mod => a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }),
            BinOp::Pow => match u32::try_from(b) {
                Ok(b) => a.checked_pow(b),
                Err(_) => return Abs::Is(Value::Float((a as f64).powf(b as f64))),
            },
            BinOp::Shl => u32::try_from(b).ok().filter(|b| *b < 63).and_then(|b| a.checked_mul(1i64 << b)),
            BinOp::Shr => u32::try_from(b).ok().map(|b| a >> b.min(63)),
            BinOp::BitAnd => Some(a & b),
            BinOp::BitOr => Some(a | b),
            BinOp::BitXor => Some(a ^ b),
            BinOp::MatMul => None,
        };
        value.map_or_else(|| Abs::any("a number that is too large"), Abs::int)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, value: &Abs) -> Abs {
        if let (UnaryOp::Neg, Abs::Range(range, vague)) = (op, value) {
            return Abs::range(Range { low: -range.high, high: -range.low, ..*range }, vague.clone());
        }
        let Some(values) = value.values() else { return Abs::because(&value.reasons()) };
        let computed: Option<Vec<Value>> = values
            .iter()
            .map(|v| match (op, v) {
                (UnaryOp::Neg, Value::Float(x)) => Some(Value::Float(-x)),
                (UnaryOp::Neg, v) => v.as_int()?.checked_neg().map(Value::Int),
                (UnaryOp::Pos, v) if v.as_number().is_some() => Some(v.clone()),
                (UnaryOp::Invert, v) => v.as_int().map(|i| Value::Int(!i)),
                _ => None,
            })
            .collect();
        match computed {
            Some(values) => Abs::among(values, value.vague().cloned().unwrap_or_default()),
            None => Abs::because(&value.reasons().and(&Why::of("an operator"))),
        }
    }
}

fn reason_of(value: &Value) -> Why {
    match value {
        Value::External(path) => Why::of(path.as_str()),
        _ => Why::of("an operator on things that are no numbers"),
    }
}

fn real(op: BinOp, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        BinOp::FloorDiv => (a / b).floor(),
        BinOp::Mod => a - b * (a / b).floor(),
        BinOp::Pow => a.powf(b),
        _ => return None,
    })
}

/// Interval arithmetic, for the operators where the ends give the bounds.
fn interval(op: BinOp, a: Range, b: Range) -> Option<Range> {
    let whole = a.whole && b.whole;
    if matches!(op, BinOp::Div | BinOp::FloorDiv) && b.holds(0.0) {
        return None;
    }
    let ends = |f: fn(f64, f64) -> f64| {
        let all = [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in all {
            // 0 * inf is 0 here: the bound is not reached.
            let x = if x.is_nan() { 0.0 } else { x };
            low = low.min(x);
            high = high.max(x);
        }
        Range { low, high, whole }
    };
    Some(match op {
        BinOp::Add => Range { low: a.low + b.low, high: a.high + b.high, whole },
        BinOp::Sub => Range { low: a.low - b.high, high: a.high - b.low, whole },
        BinOp::Mul => ends(|a, b| a * b),
        BinOp::Div => Range { whole: false, ..ends(|a, b| a / b) },
        BinOp::FloorDiv => ends(|a, b| (a / b).floor()),
        BinOp::Mod if b.low > 0.0 => Range { low: 0.0, high: if whole { b.high - 1.0 } else { b.high }, whole },
        _ => return None,
    })
}
