//! Evaluates expressions.
//!
//! A part that is only evaluated on some ways (`a and b`, `x if t else y`) runs on a state of its own where the test
//! cannot be decided.

use super::calls::Arguments;
use super::*;

/// A comprehension, or a list that is multiplied, has at most so many elements.
pub(super) const MAX_ITEMS: usize = 20_000;

impl Machine<'_> {
    pub(super) fn eval(&mut self, at: ExprId) -> Abs {
        if !self.live {
            return Abs::any("code that is not reached");
        }
        if !self.step() || self.out_of_steps() || self.depth >= MAX_DEPTH {
            return Abs::any("more steps than are taken");
        }
        self.depth += 1;
        let out = self.eval_kind(at);
        self.depth -= 1;
        out
    }

    fn eval_kind(&mut self, at: ExprId) -> Abs {
        let ir = self.ir();
        match ir.expr(at) {
            Expr::None => Abs::NONE,
            Expr::True => Abs::bool(true),
            Expr::False => Abs::bool(false),
            Expr::Int(i) => Abs::int(*i),
            Expr::Float(x) => Abs::Is(Value::Float(*x)),
            Expr::Str(s) => Abs::Is(Value::Str(*s)),
            Expr::Ellipsis => Abs::Is(Value::Builtin(Sym::from("Ellipsis"))),
            Expr::Bytes => Abs::any("bytes"),
            Expr::Name(name) => match self.standing_name(at, *name) {
                Some(value) => value,
                None => self.lookup(*name),
            },
            Expr::Attr { base, attr, .. } => {
                let object = self.eval(*base);
                let value = self.get_attr(&object, *attr);
                self.note_seen(at, &value);
                value
            }
            Expr::Call { func, args } => {
                let value = self.eval_call(at, *func, args);
                self.note_seen(at, &value);
                value
            }
            Expr::Subscript { base, index } => {
                let object = self.eval(*base);
                if let Expr::Slice { parts } = ir.expr(*index) {
                    return self.slice(&object, *index, parts);
                }
                let key = self.eval(*index);
                self.get_item(&object, &key)
            }
            Expr::Slice { .. } => Abs::any("a slice"),
            Expr::Bin { op, left, right } => {
                let left = self.eval(*left);
                let right = self.eval(*right);
                self.binary(*op, &left, &right)
            }
            Expr::Bool { and, left, right } => self.eval_bool(*and, *left, *right),
            Expr::Unary { op, operand } => {
                let value = self.eval(*operand);
                match op {
                    UnaryOp::Not => Abs::truth(self.truth(&value).negated()),
                    op => self.unary(*op, &value),
                }
            }
            Expr::Compare { left, rest } => self.eval_compare(*left, rest),
            Expr::IfExp { test, body, orelse } => {
                let (truth, _) = self.test(*test);
                let at = self.here(*test);
                self.branch(at, &truth, |m| m.eval(*body), |m| m.eval(*orelse))
            }
            Expr::Lambda(func) => {
                let func = FuncRef { file: self.file(), func: *func };
                self.closure(func)
            }
            Expr::Tuple(items) => match self.eval_items(items) {
                Items::Known(items) => Abs::Is(Value::Tuple(items.into())),
                Items::Open(why) => Abs::because(&why),
            },
            Expr::List(items) => {
                let items = self.eval_items(items);
                self.new_items(items)
            }
            Expr::Set(items) => {
                let items = self.eval_items(items);
                self.new_set(items)
            }
            Expr::Dict(items) => self.eval_dict(items),
            Expr::Comp(comp) => self.comprehension(comp.kind, comp.element, comp.value, &comp.clauses),
            Expr::FString(formatted) => self.fstring(formatted.text, &formatted.parts),
            Expr::Starred(inner) => self.eval(*inner),
            Expr::Await(inner) => {
                self.eval(*inner);
                Abs::any("something that is awaited")
            }
            Expr::Yield { value, .. } => {
                if let Some(value) = value {
                    self.eval(*value);
                }
                Abs::any("a generator's input")
            }
            Expr::Walrus { target, value } => {
                let result = self.eval(*value);
                let place = (self.file(), ir.span(*target));
                self.assign(*target, result.clone(), Some(*value), place);
                result
            }
            Expr::Unknown => Abs::any("code that did not parse"),
        }
    }

    fn note_seen(&mut self, at: ExprId, value: &Abs) {
        const MAX_SEEN: usize = 64;
        if value.stands_for().is_some() && self.seen.len() < MAX_SEEN {
            let at = self.here(at);
            self.seen.push((at, value.clone()));
        }
    }

    fn eval_bool(&mut self, and: bool, left: ExprId, right: ExprId) -> Abs {
        let value = self.eval(left);
        let truth = self.truth(&value);
        let decided = match (&truth, and) {
            (Truth::Yes, true) | (Truth::No, false) => return self.eval(right),
            (Truth::Yes, false) | (Truth::No, true) => true,
            (Truth::Maybe(_), _) => false,
        };
        if decided {
            return value;
        }
        // What stays of the left side, where it decides.
        let stays = self.where_truth(&value, !and);
        let at = self.here(left);
        match and {
            true => self.branch(at, &truth, |m| m.eval(right), |_| stays),
            false => self.branch(at, &truth, |_| stays, |m| m.eval(right)),
        }
    }

    fn eval_compare(&mut self, left: ExprId, rest: &[(CmpOp, ExprId)]) -> Abs {
        let mut a = self.eval(left);
        let mut out = Truth::Yes;
        for (op, right) in rest {
            let b = self.eval(*right);
            out = match (out, self.compare(*op, &a, &b)) {
                (Truth::No, _) | (_, Truth::No) => return Abs::bool(false),
                (Truth::Yes, other) | (other, Truth::Yes) => other,
                (Truth::Maybe(x), Truth::Maybe(y)) => Truth::Maybe(x.and(&y)),
            };
            a = b;
        }
        Abs::truth(out)
    }

    pub(super) fn eval_items(&mut self, items: &[ExprId]) -> Items {
        let ir = self.ir();
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match ir.expr(*item) {
                Expr::Starred(inner) => {
                    let inner = self.eval(*inner);
                    match self.iterate(&inner) {
                        Items::Known(more) => out.extend(more),
                        open => return open,
                    }
                }
                _ => out.push(self.eval(*item)),
            }
            if out.len() > MAX_ITEMS {
                return Items::Open(Why::of("a list that is too long"));
            }
        }
        Items::Known(out)
    }

    fn eval_dict(&mut self, items: &[(Option<ExprId>, ExprId)]) -> Abs {
        let ir = self.ir();
        let file = self.file();
        let mut dict = Dict::default();
        for (key, value) in items {
            let Some(key) = key else {
                let more = self.eval(*value);
                self.update_dict(&mut dict, &more);
                continue;
            };
            let place = (file, ir.span(*key));
            let key = self.eval(*key);
            let value = self.eval(*value);
            put_entry(&mut dict, &key, value, Some(place));
        }
        self.new_dict(dict)
    }

    fn fstring(&mut self, text: Sym, parts: &[ExprId]) -> Abs {
        let mut shown: Vec<String> = Vec::new();
        let mut why = Why::default();
        let mut known = true;
        for part in parts {
            let value = self.eval(*part);
            match self.text_of(&value) {
                Some(text) if self.is_plain_part(*part) => shown.push(text),
                _ => {
                    known = false;
                    why = why.and(&value.reasons());
                }
            }
        }
        let holes = text.as_str().matches("{}").count();
        if known && holes == shown.len() {
            return Abs::str(&crate::program::constants::filled(text.as_str(), &shown));
        }
        Abs::Any(Vague { symbol: None, why: if why.is_empty() { Why::of("a formatted text") } else { why } }, true)
    }

    /// Is a part of an f-string written without conversion or format?
    fn is_plain_part(&self, part: ExprId) -> bool {
        let end = self.ir().span(part).end as usize;
        let text = &self.program.file(self.file()).text;
        let rest = text.get(end..).unwrap_or_default();
        rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'}')
    }

    // Comprehensions

    fn comprehension(&mut self, kind: CompKind, element: ExprId, value: Option<ExprId>, clauses: &[CompFor]) -> Abs {
        let mut found = Found::default();
        let scope = self.open_scope();
        self.clause(element, value, clauses, &mut found);
        self.close_scope(scope);
        match (kind, found.open) {
            (CompKind::Dict, open) => {
                let mut dict = Dict { entries: Vec::new(), open };
                for (key, value) in found.pairs {
                    put_entry(&mut dict, &key, value, None);
                }
                self.new_dict(dict)
            }
            (_, Some(why)) => self.new_items(Items::Open(why)),
            (CompKind::Set, None) => self.new_set(Items::Known(found.items)),
            (CompKind::List | CompKind::Generator, None) => self.new_list(found.items),
        }
    }

    /// Variables of their own, for a comprehension.
    fn open_scope(&mut self) -> Option<ObjId> {
        let outer = self.frame()?.env;
        let env = self.alloc(Object::Env(Env { vars: Attrs::default(), outer: Some(outer) }));
        let frame = self.frames.last_mut()?;
        frame.env = env;
        Some(outer)
    }

    fn close_scope(&mut self, outer: Option<ObjId>) {
        if let (Some(outer), Some(frame)) = (outer, self.frames.last_mut()) {
            frame.env = outer;
        }
    }

    fn clause(&mut self, element: ExprId, value: Option<ExprId>, clauses: &[CompFor], found: &mut Found) {
        let Some((clause, rest)) = clauses.split_first() else {
            let item = self.eval(element);
            match value {
                Some(value) => {
                    let value = self.eval(value);
                    found.pairs.push((item, value));
                }
                None => found.items.push(item),
            }
            return;
        };
        let sequence = self.eval(clause.iter);
        let place = (self.file(), self.ir().span(clause.target));
        match self.iterate(&sequence) {
            Items::Open(why) => found.is_open(&why),
            Items::Known(items) => {
                for item in items {
                    if !self.live || found.items.len() + found.pairs.len() > MAX_ITEMS {
                        found.is_open(&Why::of("a list that is too long"));
                        return;
                    }
                    self.assign(clause.target, item, None, place);
                    match self.passes(&clause.ifs) {
                        Truth::Yes => self.clause(element, value, rest, found),
                        Truth::No => {}
                        Truth::Maybe(why) => found.is_open(&why),
                    }
                }
            }
        }
    }

    fn passes(&mut self, tests: &[ExprId]) -> Truth {
        let mut out = Truth::Yes;
        for test in tests {
            let value = self.eval(*test);
            match self.truth(&value) {
                Truth::Yes => {}
                Truth::No => return Truth::No,
                maybe => out = maybe,
            }
        }
        out
    }

    // Calls

    fn eval_call(&mut self, at: ExprId, func: ExprId, args: &[Arg]) -> Abs {
        let ir = self.ir();
        if self.only_tells(func) {
            return Abs::NONE;
        }
        if let (Expr::Name(name), []) = (ir.expr(func), args)
            && *name == "super"
        {
            return self.super_object();
        }
        let callee = self.eval(func);
        let mut arguments = Arguments { at: Some(self.here(at)), ..Arguments::default() };
        let file = self.file();
        for arg in args {
            match arg.kind {
                ArgKind::Positional => {
                    let value = self.eval(arg.value);
                    arguments.positional.push(value);
                }
                ArgKind::Keyword(name) => {
                    let value = self.eval(arg.value);
                    let slot = Slot { value, maybe: None, place: Some((file, self.ir().lines.span(arg.at))) };
                    arguments.named.push((name, slot, Some(self.here(arg.value))));
                }
                ArgKind::Star => {
                    let value = self.eval(arg.value);
                    match self.iterate(&value) {
                        Items::Known(items) => arguments.positional.extend(items),
                        Items::Open(why) => arguments.is_open(&why),
                    }
                }
                ArgKind::DoubleStar => {
                    let value = self.eval(arg.value);
                    self.spread(&value, &mut arguments);
                }
            }
        }
        if !self.live {
            return Abs::any("code that is not reached");
        }
        self.call_value(&callee, arguments)
    }

    fn spread(&mut self, value: &Abs, arguments: &mut Arguments) {
        let dict = match value.object().and_then(|id| self.object(id)) {
            Some(Object::Dict(dict)) => dict.clone(),
            _ => {
                arguments.is_open(&value.reasons());
                return;
            }
        };
        for (key, slot) in dict.entries {
            match key.as_str() {
                Some(name) => arguments.named.push((name, slot, None)),
                None => arguments.is_open(&Why::of("a keyword that is no text")),
            }
        }
        if let Some(why) = dict.open {
            arguments.is_open(&why);
        }
    }

    /// Does a call only write a message? Then its arguments matter to nothing else.
    fn only_tells(&self, func: ExprId) -> bool {
        let ir = self.ir();
        let checks = &self.program.profile.checks;
        crate::program::dotted_name(ir, func).is_some_and(|name| checks.warns(&name) || checks.logs(&name))
    }

    fn super_object(&mut self) -> Abs {
        let Some(frame) = self.frame() else { return Abs::any("super()") };
        let (class, env) = (frame.class, frame.env);
        let receiver = self.receiver(env);
        match (class, receiver) {
            (Some(class), Some(receiver)) => Abs::Is(Value::Super(class, receiver)),
            _ => Abs::any("super()"),
        }
    }

    /// The object that the running method was called on.
    fn receiver(&self, mut env: ObjId) -> Option<ObjId> {
        loop {
            let Some(Object::Env(vars)) = self.object(env) else { return None };
            if let Some(slot) = vars.vars.get(&Sym::from("self")) {
                return slot.value.object();
            }
            env = vars.outer?;
        }
    }
}

/// What a comprehension has found.
#[derive(Default)]
struct Found {
    items: Vec<Abs>,
    pairs: Vec<(Abs, Abs)>,
    open: Option<Why>,
}

impl Found {
    fn is_open(&mut self, why: &Why) {
        self.open = Some(self.open.as_ref().map_or_else(|| why.clone(), |w| w.and(why)));
    }
}

/// Puts a value under a key; under one that is not exact, under each that it can be.
pub(super) fn put_entry(dict: &mut Dict, key: &Abs, value: Abs, place: Option<Place>) {
    match key {
        Abs::Is(key) => {
            let slot = Slot { value, maybe: None, place };
            match dict.entries.iter_mut().find(|(k, _)| equal_keys(k, key)) {
                Some((_, old)) => *old = slot,
                None => dict.entries.push((key.clone(), slot)),
            }
        }
        Abs::OneOf(keys, vague) => {
            for key in keys.iter() {
                match dict.entries.iter_mut().find(|(k, _)| equal_keys(k, key)) {
                    Some((_, old)) => old.value = old.value.join(&value, &vague.why),
                    None => {
                        let maybe = Some(vague.why.clone());
                        dict.entries.push((key.clone(), Slot { value: value.clone(), maybe, place }));
                    }
                }
            }
        }
        other => {
            let why = other.reasons();
            dict.open = Some(dict.open.as_ref().map_or_else(|| why.clone(), |w| w.and(&why)));
            for (_, slot) in &mut dict.entries {
                slot.value = slot.value.join(&value, &why);
            }
        }
    }
}

/// Keys as a dictionary compares them.
pub(super) fn equal_keys(a: &Value, b: &Value) -> bool {
    a.same(b)
        || match (a.as_str(), b.as_str()) {
            (Some(a), Some(b)) => a == b,
            _ => match (a.as_number(), b.as_number()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
        || match (a, b) {
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b.iter()).all(|(a, b)| match (a.exact(), b.exact()) {
                        (Some(a), Some(b)) => equal_keys(a, b),
                        _ => false,
                    })
            }
            _ => false,
        }
}
