//! What Python's built-in functions do.

use super::calls::Arguments;
use super::expressions::MAX_ITEMS;
use super::*;

impl Machine<'_> {
    pub(super) fn call_builtin(&mut self, name: Sym, arguments: Arguments) -> Abs {
        let first = arguments.positional.first().cloned();
        match (name.as_str(), first) {
            ("identity.", Some(value)) => value,
            ("len", Some(value)) => self.len(&value),
            ("int" | "float" | "str" | "bool", first) => self.convert(name.as_str(), first, &arguments),
            ("max" | "min", Some(_)) => self.extreme(name == "max", arguments),
            ("sum", Some(value)) => self.sum(&value),
            ("abs" | "round" | "ord" | "chr", Some(value)) => self.numeric(name.as_str(), &value, &arguments),
            ("any" | "all", Some(value)) => self.any_all(name == "any", &value),
            ("sorted", Some(value)) => self.sorted(&value, &arguments),
            ("reversed" | "list" | "tuple" | "set" | "frozenset" | "iter", first) => {
                self.collection(name.as_str(), first)
            }
            ("dict", first) => self.make_dict(first, arguments),
            ("range", Some(_)) => self.range(&arguments),
            ("enumerate" | "zip" | "map" | "filter", Some(_)) => self.sequence(name.as_str(), arguments),
            ("next", Some(value)) => match self.iterate(&value) {
                Items::Known(items) => match (items.into_iter().next(), arguments.positional.get(1)) {
                    (Some(item), _) => item,
                    (None, Some(default)) => default.clone(),
                    (None, None) => {
                        self.slip("StopIteration");
                        Abs::any("next() of nothing")
                    }
                },
                Items::Open(why) => Abs::because(&why),
            },
            ("isinstance", Some(value)) => match arguments.positional.get(1).cloned() {
                Some(kinds) => Abs::truth(self.is_instance(&value, &kinds)),
                None => Abs::any("isinstance()"),
            },
            ("issubclass", Some(value)) => match arguments.positional.get(1).cloned() {
                Some(kinds) => Abs::truth(self.is_subclass(&value, &kinds)),
                None => Abs::any("issubclass()"),
            },
            ("hasattr", Some(value)) => match arguments.positional.get(1).and_then(Abs::as_str) {
                Some(attr) => Abs::truth(self.has_attr(&value, attr)),
                None => Abs::any("hasattr()"),
            },
            ("getattr", Some(value)) => self.builtin_getattr(&value, &arguments),
            ("setattr" | "object.__setattr__", Some(value)) => {
                self.builtin_setattr(&value, &arguments, name != "setattr");
                Abs::NONE
            }
            ("object.__getattribute__", Some(value)) => self.raw_attr(&value, &arguments),
            ("callable", Some(value)) => match value.exact() {
                Some(Value::Func(_) | Value::Class(_) | Value::Builtin(_) | Value::Method(_) | Value::Partial(_)) => {
                    Abs::bool(true)
                }
                Some(Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_)) => {
                    Abs::bool(false)
                }
                _ => Abs::because(&value.reasons().and(&Why::of("callable()"))),
            },
            ("type", Some(value)) => self.type_of(&value),
            ("repr", Some(value)) => match value.exact().and_then(|v| self.repr(v)) {
                Some(text) => Abs::str(&text),
                None => Abs::Any(Vague { symbol: None, why: value.reasons().and(&Why::of("repr()")) }, true),
            },
            ("vars", Some(value)) => self.get_attr(&value, Sym::from("__dict__")),
            ("print", _) => Abs::NONE,
            ("super", Some(Abs::Is(Value::Class(class)))) => match arguments.positional.get(1).and_then(Abs::object) {
                Some(receiver) => Abs::Is(Value::Super(class, receiver)),
                None => Abs::any("super()"),
            },
            // A handle that stands for the file, for whatever reads it.
            ("open", Some(path)) => {
                self.note_opaque("open()");
                match path.as_str() {
                    Some(path) => Abs::symbol(&format!("open('{path}')"), Why::of("a file on the machine")),
                    None => Abs::because(&path.reasons().and(&Why::of("a file on the machine"))),
                }
            }
            ("exit" | "quit", _) => {
                let place = self.place_of(&arguments);
                let asked = self.asked();
                self.fail(CheckKind::Exit, place, Sym::from("SystemExit"), None, asked);
                Abs::NONE
            }
            ("object", None) => Abs::Is(Value::Object(self.alloc(Object::Instance(Instance::new(None, Kind::Plain))))),
            ("super.", _) => self.call_outside_super(&arguments),
            ("dict.fromkeys", Some(keys)) => {
                let value = arguments.positional.get(1).cloned().unwrap_or(Abs::NONE);
                match self.iterate(&keys) {
                    Items::Known(keys) => {
                        let mut dict = Dict::default();
                        keys.iter().for_each(|k| expressions::put_entry(&mut dict, k, value.clone(), None));
                        self.new_dict(dict)
                    }
                    Items::Open(why) => Abs::because(&why),
                }
            }
            (method, Some(receiver)) if method.contains('.') => {
                // `str.upper(text)` is `text.upper()`.
                let name = method.rsplit('.').next().unwrap_or(method);
                let rest = arguments.positional.get(1..).unwrap_or_default().to_vec();
                self.call_method(&receiver, Sym::from(name), Arguments { positional: rest, ..arguments.clone() })
            }
            (other, _) => {
                let why = arguments.reasons().and(&Why::of(&format!("{other}()")));
                Abs::Any(Vague { symbol: None, why }, false)
            }
        }
    }

    pub(super) fn place_of(&self, arguments: &Arguments) -> Place {
        match arguments.at {
            Some(at) => (at.file, self.program.ir(at.file).span(at.expr)),
            None => (self.file(), Span::default()),
        }
    }

    /// Applies a function to each possibility.
    pub(super) fn over(&mut self, value: &Abs, mut apply: impl FnMut(&mut Self, &Value) -> Abs) -> Abs {
        match value {
            Abs::Is(value) => {
                let value = value.clone();
                apply(self, &value)
            }
            Abs::OneOf(values, vague) => {
                let (values, why) = (values.clone(), vague.why.clone());
                let mut out: Option<Abs> = None;
                for value in values.iter() {
                    let result = apply(self, value);
                    out = Some(out.map_or_else(|| result.clone(), |o| o.join(&result, &why)));
                }
                out.unwrap_or_else(|| Abs::because(&why))
            }
            other => Abs::because(&other.reasons()),
        }
    }

    fn len(&mut self, value: &Abs) -> Abs {
        self.over(value, |m, v| {
            let at_least = |n: usize, why: Why| {
                let range = Range { low: n as f64, high: f64::INFINITY, whole: true };
                Abs::Range(range, Vague { symbol: None, why })
            };
            match v {
                Value::Str(s) => Abs::int(s.chars().count() as i64),
                Value::Tuple(items) => Abs::int(items.len() as i64),
                Value::Object(id) => match m.object(*id) {
                    Some(Object::List(items) | Object::Set(items)) => match items {
                        Items::Known(items) => Abs::int(items.len() as i64),
                        Items::Open(why) => at_least(0, why.clone()),
                    },
                    Some(Object::Dict(dict)) => {
                        let sure = dict.entries.iter().filter(|(_, s)| s.maybe.is_none()).count();
                        let doubt =
                            dict.open.clone().or_else(|| dict.entries.iter().find_map(|(_, s)| s.maybe.clone()));
                        doubt.map_or_else(|| Abs::int(sure as i64), |why| at_least(sure, why))
                    }
                    _ => Abs::any("the length of an object"),
                },
                Value::Class(class) => match m.enum_members(*class) {
                    Some(members) => Abs::int(members.len() as i64),
                    None => Abs::any("the length of a class"),
                },
                _ => Abs::any("the length of something"),
            }
        })
    }

    fn convert(&mut self, to: &str, value: Option<Abs>, arguments: &Arguments) -> Abs {
        let Some(value) = value else {
            return match to {
                "int" => Abs::int(0),
                "float" => Abs::Is(Value::Float(0.0)),
                "bool" => Abs::bool(false),
                _ => Abs::str(""),
            };
        };
        match to {
            "bool" => Abs::truth(self.truth(&value)),
            "str" => match &value {
                Abs::Range(..) | Abs::Any(..) => Abs::Any(Vague { symbol: None, why: value.reasons() }, true),
                _ => self.over(&value, |m, v| match m.display(v) {
                    Some(text) => Abs::str(&text),
                    None => Abs::Any(Vague { symbol: None, why: Why::of("str()") }, true),
                }),
            },
            "int" if arguments.positional.len() > 1 => Abs::any("int() with a base"),
            _ => {
                if let Abs::Range(range, vague) = &value {
                    let range = match to {
                        "int" => Range { low: range.low.trunc(), high: range.high.trunc(), whole: true },
                        _ => Range { whole: false, ..*range },
                    };
                    return Abs::range(range, vague.clone());
                }
                if let Abs::Any(vague, _) = &value {
                    return Abs::Any(Vague { symbol: None, why: vague.why.clone() }, true);
                }
                let whole = to == "int";
                self.over(&value, |m, v| {
                    let converted = match v {
                        Value::Str(s) if whole => text::int(s.as_str()).map(Value::Int),
                        Value::Str(s) => text::float(s.as_str()).map(Value::Float),
                        v if whole => match v.as_int() {
                            Some(i) => Some(Value::Int(i)),
                            None => v.as_number().filter(|x| x.abs() < 9e18).map(|x| Value::Int(x as i64)),
                        },
                        v => v.as_number().map(Value::Float),
                    };
                    match converted {
                        Some(value) => Abs::Is(value),
                        None => {
                            m.slip(if matches!(v, Value::None) { "TypeError" } else { "ValueError" });
                            Abs::Any(Vague { symbol: None, why: Why::of("a conversion that fails") }, true)
                        }
                    }
                })
            }
        }
    }

    fn extreme(&mut self, greatest: bool, arguments: Arguments) -> Abs {
        if arguments.keyword("key").is_some() {
            return Abs::because(&arguments.reasons().and(&Why::of("a greatest or least by key")));
        }
        let items = match arguments.positional.as_slice() {
            [one] => {
                let one = one.clone();
                match self.iterate(&one) {
                    Items::Known(items) => items,
                    Items::Open(why) => return Abs::because(&why),
                }
            }
            many => many.to_vec(),
        };
        if items.is_empty() {
            return arguments.keyword("default").cloned().unwrap_or_else(|| {
                self.slip("ValueError");
                Abs::any("the greatest of nothing")
            });
        }
        let mut items = items.into_iter();
        let Some(mut best) = items.next() else { return Abs::NONE };
        for item in items {
            best = self.greater_of(greatest, &best, &item);
        }
        best
    }

    fn greater_of(&mut self, greatest: bool, a: &Abs, b: &Abs) -> Abs {
        let op = if greatest { CmpOp::Gt } else { CmpOp::Lt };
        match self.compare(op, b, a) {
            Truth::Yes => b.clone(),
            Truth::No => a.clone(),
            Truth::Maybe(why) => {
                let of = |x: &Abs| x.bounds().or_else(|| matches!(x, Abs::Any(..)).then_some(Range::ALL));
                match (of(a), of(b)) {
                    (Some(x), Some(y)) => {
                        let any = |x: &Abs| matches!(x, Abs::Any(..));
                        let whole = if x.whole { y.whole || any(b) } else { y.whole && any(a) };
                        let range = match greatest {
                            true => Range { low: x.low.max(y.low), high: x.high.max(y.high), whole },
                            false => Range { low: x.low.min(y.low), high: x.high.min(y.high), whole },
                        };
                        Abs::range(range, Vague { symbol: None, why })
                    }
                    _ => a.join(b, &why),
                }
            }
        }
    }

    fn sum(&mut self, value: &Abs) -> Abs {
        match self.iterate(value) {
            Items::Known(items) => {
                let mut total = Abs::int(0);
                for item in items {
                    total = self.binary(BinOp::Add, &total, &item);
                }
                total
            }
            Items::Open(why) => Abs::because(&why),
        }
    }

    fn numeric(&mut self, name: &str, value: &Abs, arguments: &Arguments) -> Abs {
        let digits = arguments.get(1, "ndigits").cloned();
        let digits = match digits {
            None => None,
            Some(d) if d.is_none() => None,
            Some(d) => match d.as_int() {
                Some(d) => Some(d),
                None => return Abs::because(&d.reasons()),
            },
        };
        if let Abs::Range(range, vague) = value
            && name == "round"
        {
            return Abs::Range(Range { whole: digits.is_none(), ..*range }, vague.clone());
        }
        if let Abs::Any(vague, _) = value {
            return Abs::Any(Vague { symbol: None, why: vague.why.clone() }, true);
        }
        self.over(value, |_, v| {
            let result = match (name, v) {
                ("abs", v) if v.as_int().is_some() => v.as_int().and_then(i64::checked_abs).map(Value::Int),
                ("abs", v) => v.as_number().map(|x| Value::Float(x.abs())),
                ("round", v) if v.as_int().is_some() => v.as_int().map(Value::Int),
                ("round", v) => match digits {
                    None => v.as_number().map(|x| Value::Int(x.round_ties_even() as i64)),
                    Some(d) => v.as_number().map(|x| Value::Float(text::rounded(x, d))),
                },
                ("ord", Value::Str(s)) => s.chars().next().map(|c| Value::Int(i64::from(u32::from(c)))),
                ("chr", v) => {
                    let c = v.as_int().and_then(|i| u32::try_from(i).ok()).and_then(char::from_u32);
                    c.map(|c| Value::str(&c.to_string()))
                }
                _ => None,
            };
            result.map_or_else(|| Abs::any(&format!("{name}()")), Abs::Is)
        })
    }

    fn any_all(&mut self, any: bool, value: &Abs) -> Abs {
        let items = match self.iterate(value) {
            Items::Known(items) => items,
            Items::Open(why) => return Abs::truth(Truth::Maybe(why)),
        };
        let mut doubt: Option<Why> = None;
        for item in items {
            match (self.truth(&item), any) {
                (Truth::Yes, true) => return Abs::bool(true),
                (Truth::No, false) => return Abs::bool(false),
                (Truth::Maybe(why), _) => doubt = Some(doubt.map_or_else(|| why.clone(), |d| d.and(&why))),
                _ => {}
            }
        }
        match doubt {
            Some(why) => Abs::truth(Truth::Maybe(why)),
            None => Abs::bool(!any),
        }
    }

    fn sorted(&mut self, value: &Abs, arguments: &Arguments) -> Abs {
        let items = match self.iterate(value) {
            Items::Known(items) => items,
            open => return self.new_items(open),
        };
        let key = arguments.keyword("key").cloned();
        let reverse = arguments.keyword("reverse").map(|r| self.truth(&r.clone()) == Truth::Yes).unwrap_or(false);
        let mut keyed: Vec<(Value, Abs)> = Vec::new();
        for item in items {
            let by = match &key {
                Some(key) => self.call_value(key, Arguments::of(vec![item.clone()])),
                None => item.clone(),
            };
            match by.exact() {
                Some(by) => keyed.push((by.clone(), item)),
                None => return self.new_items(Items::Open(by.reasons().and(&Why::of("the order of a list")))),
            }
        }
        keyed.sort_by(|a, b| text::order(&a.0, &b.0));
        if reverse {
            keyed.reverse();
        }
        self.new_list(keyed.into_iter().map(|(_, item)| item).collect())
    }

    fn collection(&mut self, kind: &str, value: Option<Abs>) -> Abs {
        let items = match value {
            Some(value) => self.iterate(&value),
            None => Items::Known(Vec::new()),
        };
        match (kind, items) {
            ("set" | "frozenset", items) => self.new_set(items),
            ("tuple", Items::Known(items)) => Abs::Is(Value::Tuple(items.into())),
            ("tuple", Items::Open(why)) => Abs::because(&why),
            ("reversed", Items::Known(mut items)) => {
                items.reverse();
                self.new_list(items)
            }
            (_, items) => self.new_items(items),
        }
    }

    fn make_dict(&mut self, first: Option<Abs>, arguments: Arguments) -> Abs {
        let mut dict = Dict::default();
        if let Some(first) = first {
            match first.object().and_then(|id| self.shared(id)).as_deref() {
                Some(Object::Dict(_)) => self.update_dict(&mut dict, &first),
                _ => match self.iterate(&first) {
                    Items::Known(pairs) => {
                        for pair in pairs {
                            match self.iterate(&pair) {
                                Items::Known(pair) if pair.len() == 2 => {
                                    if let [key, value] = pair.as_slice() {
                                        expressions::put_entry(&mut dict, key, value.clone(), None);
                                    }
                                }
                                _ => dict.open = Some(Why::of("the pairs of a dictionary")),
                            }
                        }
                    }
                    Items::Open(why) => dict.open = Some(why),
                },
            }
        }
        for (name, slot, _) in arguments.named {
            dict.entries.retain(|(k, _)| k.as_str() != Some(name));
            dict.entries.push((Value::Str(name), slot));
        }
        if let Some(why) = arguments.open {
            dict.open = Some(why);
        }
        self.new_dict(dict)
    }

    fn range(&mut self, arguments: &Arguments) -> Abs {
        let numbers: Option<Vec<i64>> = arguments.positional.iter().map(Abs::as_int).collect();
        let Some(numbers) = numbers else { return self.new_items(Items::Open(arguments.reasons())) };
        let (start, stop, step) = match numbers.as_slice() {
            [stop] => (0, *stop, 1),
            [start, stop] => (*start, *stop, 1),
            [start, stop, step] if *step != 0 => (*start, *stop, *step),
            _ => return Abs::any("range()"),
        };
        let mut out = Vec::new();
        let mut at = start;
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            if out.len() >= MAX_ITEMS {
                return self.new_items(Items::Open(Why::of("a range that is too long")));
            }
            out.push(Abs::int(at));
            at = match at.checked_add(step) {
                Some(next) => next,
                None => break,
            };
        }
        self.new_list(out)
    }

    fn sequence(&mut self, name: &str, arguments: Arguments) -> Abs {
        let (function, rest) = match (name, arguments.positional.split_first()) {
            ("map" | "filter", Some((function, rest))) => (Some(function.clone()), rest.to_vec()),
            _ => (None, arguments.positional.clone()),
        };
        let mut lists: Vec<Vec<Abs>> = Vec::new();
        for value in &rest {
            match self.iterate(value) {
                Items::Known(items) => lists.push(items),
                open => return self.new_items(open),
            }
        }
        let rows: Vec<Vec<Abs>> = match name {
            "enumerate" => {
                let start = arguments.keyword("start").and_then(Abs::as_int).unwrap_or(0);
                let items = lists.into_iter().next().unwrap_or_default();
                items.into_iter().enumerate().map(|(i, item)| vec![Abs::int(start + i as i64), item]).collect()
            }
            _ => {
                let shortest = lists.iter().map(Vec::len).min().unwrap_or(0);
                (0..shortest).map(|i| lists.iter().filter_map(|l| l.get(i).cloned()).collect()).collect()
            }
        };
        let mut out = Vec::new();
        for row in rows {
            match (name, &function) {
                ("map", Some(function)) => out.push(self.call_value(function, Arguments::of(row))),
                ("filter", Some(function)) => {
                    let item = row.first().cloned().unwrap_or(Abs::NONE);
                    let kept = match function.is_none() {
                        true => item.clone(),
                        false => self.call_value(function, Arguments::of(row)),
                    };
                    match self.truth(&kept) {
                        Truth::Yes => out.push(item),
                        Truth::No => {}
                        Truth::Maybe(why) => return self.new_items(Items::Open(why)),
                    }
                }
                _ => out.push(Abs::Is(Value::Tuple(row.into()))),
            }
        }
        self.new_list(out)
    }

    // Attributes by name

    fn builtin_getattr(&mut self, value: &Abs, arguments: &Arguments) -> Abs {
        let default = arguments.positional.get(2).cloned();
        let Some(names) = arguments.positional.get(1).and_then(Abs::values).map(<[Value]>::to_vec) else {
            return Abs::because(&arguments.reasons().and(&Why::of("an attribute by a name that is not known")));
        };
        let why = arguments.positional.get(1).map(Abs::why).unwrap_or_default();
        let mut out: Option<Abs> = None;
        for name in names.iter().filter_map(Value::as_str) {
            let found = match &default {
                None => self.get_attr(value, name),
                Some(default) => match self.has_attr(value, name) {
                    Truth::Yes => self.get_attr(value, name),
                    Truth::No => default.clone(),
                    Truth::Maybe(why) => {
                        let found = self.get_attr(value, name);
                        // Something outside the tree has a value of its own; the default is one possibility more.
                        match found.stands_for() {
                            Some(_) => found,
                            None => found.join(default, &why),
                        }
                    }
                },
            };
            out = Some(out.map_or_else(|| found.clone(), |o| o.join(&found, &why)));
        }
        out.unwrap_or_else(|| Abs::any("an attribute"))
    }

    fn builtin_setattr(&mut self, object: &Abs, arguments: &Arguments, raw: bool) {
        let place = self.place_of(arguments);
        let (Some(name), Some(value)) = (arguments.positional.get(1).cloned(), arguments.positional.get(2).cloned())
        else {
            return;
        };
        let Some(names) = name.values() else { return };
        let names: Vec<Sym> = names.iter().filter_map(Value::as_str).collect();
        for one in &names {
            match (raw, object.object()) {
                (true, Some(id)) => self.put_attr(id, *one, value.clone(), None),
                _ => self.set_attr(object, *one, value.clone(), None, place),
            }
        }
    }

    /// `object.__getattribute__(self, "name")`: past the class's own `__getattr__`.
    fn raw_attr(&mut self, object: &Abs, arguments: &Arguments) -> Abs {
        let Some(name) = arguments.positional.get(1).and_then(Abs::as_str) else { return Abs::any("an attribute") };
        let slot = object.object().and_then(|id| self.instance(id)).and_then(|i| i.attrs.get(&name).cloned());
        match slot {
            Some(slot) => slot.value,
            None => Abs::any(&format!("the attribute {name}")),
        }
    }

    /// A method of a base class outside the tree.
    fn call_outside_super(&mut self, arguments: &Arguments) -> Abs {
        let (Some(id), Some(method)) =
            (arguments.positional.first().and_then(Abs::object), arguments.positional.get(1).and_then(Abs::as_str))
        else {
            return Abs::any("super()");
        };
        match method.as_str() {
            "__setattr__" => {
                let (name, value) = (arguments.positional.get(2), arguments.positional.get(3).cloned());
                if let (Some(name), Some(value)) = (name.and_then(Abs::as_str), value) {
                    self.put_attr(id, name, value, None);
                }
                Abs::NONE
            }
            "__init__" => {
                let positional = arguments.positional.get(2..).unwrap_or_default().to_vec();
                self.keep_arguments(id, &Arguments { positional, ..arguments.clone() });
                Abs::NONE
            }
            _ => Abs::any(&format!("super().{method}()")),
        }
    }

    /// `argparse.Action` keeps what it is given under the same names.
    pub(super) fn keep_arguments(&mut self, id: ObjId, arguments: &Arguments) {
        let names = ["option_strings", "dest", "nargs", "const", "default", "type", "choices", "required", "help"];
        for (name, value) in names.iter().zip(&arguments.positional) {
            self.put_attr(id, Sym::from(name), value.clone(), None);
        }
        for (name, slot, _) in arguments.named.clone() {
            self.put_attr(id, name, slot.value, None);
        }
    }

    // Types

    fn type_of(&mut self, value: &Abs) -> Abs {
        self.over(value, |m, v| {
            let builtin = |name: &str| Abs::Is(Value::Builtin(Sym::from(name)));
            match v {
                Value::None => builtin("NoneType"),
                Value::Bool(_) => builtin("bool"),
                Value::Int(_) => builtin("int"),
                Value::Float(_) => builtin("float"),
                Value::Str(_) => builtin("str"),
                Value::Tuple(_) => builtin("tuple"),
                Value::Member(member) => Abs::Is(Value::Class(member.class)),
                Value::Object(id) => match m.object(*id) {
                    Some(Object::List(_)) => builtin("list"),
                    Some(Object::Set(_)) => builtin("set"),
                    Some(Object::Dict(_)) => builtin("dict"),
                    Some(Object::Instance(instance)) => match instance.class {
                        Some(class) => Abs::Is(Value::Class(class)),
                        None => Abs::any("a class"),
                    },
                    _ => Abs::any("a class"),
                },
                Value::Class(_) => builtin("type"),
                _ => Abs::any("a class"),
            }
        })
    }

    pub(super) fn is_instance(&mut self, value: &Abs, kinds: &Abs) -> Truth {
        let kinds = match kinds {
            Abs::Is(Value::Tuple(items)) => items.to_vec(),
            other => vec![other.clone()],
        };
        let Some(values) = value.values().map(<[Value]>::to_vec) else {
            // A number between bounds is still a number.
            if let Abs::Range(range, _) = value {
                let is = |name: &str| kinds.iter().any(|k| matches!(k, Abs::Is(Value::Builtin(n)) if n == name));
                if is("int") && is("float") || range.whole && is("int") {
                    return Truth::Yes;
                }
            }
            return Truth::Maybe(value.reasons());
        };
        let mut any = (false, false);
        for value in &values {
            let mut found = Truth::No;
            for kind in &kinds {
                match self.is_of(value, kind) {
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
                Truth::Maybe(why) => return Truth::Maybe(why),
            }
        }
        match any {
            (true, false) => Truth::Yes,
            (false, true) => Truth::No,
            _ => Truth::Maybe(value.why()),
        }
    }

    fn is_of(&mut self, value: &Value, kind: &Abs) -> Truth {
        let known = |b: bool| Truth::of(Some(b), Why::default);
        let Some(kind) = kind.exact().cloned() else { return Truth::Maybe(kind.reasons()) };
        match (value, &kind) {
            (Value::External(path), _) => Truth::Maybe(Why::of(path.as_str())),
            (Value::Object(id), Value::Class(class)) => match self.instance(*id) {
                Some(instance) => match instance.class {
                    Some(own) => known(self.program.mro(own).contains(class)),
                    None => Truth::Maybe(Why::of("an object's class")),
                },
                None => Truth::No,
            },
            (Value::Object(id), Value::External(path)) => match self.instance(*id) {
                Some(instance) => {
                    let name = last_of(path.as_str());
                    if let Some(argparse) = self.action_kind(instance) {
                        return known(is_action(argparse, name));
                    }
                    if let Some(own) = instance.class.and_then(|class| self.base_action(class)) {
                        return known(is_action(own, name));
                    }
                    let outside = instance.class.is_some_and(|c| {
                        let order = self.program.mro(c);
                        order
                            .iter()
                            .any(|c| self.program.external_bases(*c).iter().any(|b| last_of(b.as_str()) == name))
                    });
                    match (outside, &instance.open) {
                        (true, _) => Truth::Yes,
                        (false, Some(why)) => Truth::Maybe(why.clone()),
                        (false, None) => Truth::No,
                    }
                }
                None => Truth::No,
            },
            (Value::Object(id), Value::Builtin(name)) => match self.object(*id) {
                Some(Object::List(_)) => known(name == "list" || name == "object"),
                Some(Object::Set(_)) => known(name == "set" || name == "frozenset" || name == "object"),
                Some(Object::Dict(_)) => known(name == "dict" || name == "object"),
                _ => known(name == "object"),
            },
            (Value::Member(member), Value::Class(class)) => known(self.program.mro(member.class).contains(class)),
            (Value::Class(_) | Value::Builtin(_), Value::Builtin(name)) => known(name == "type" || name == "object"),
            (_, Value::Builtin(name)) => known(match (value, name.as_str()) {
                (_, "object") => true,
                (Value::None, "NoneType") | (Value::Bool(_), "bool" | "int") => true,
                (Value::Int(_), "int") | (Value::Float(_), "float") | (Value::Str(_), "str") => true,
                (Value::Tuple(_), "tuple") => true,
                (Value::Member(m), "str") => m.mixed && m.value.as_str().is_some(),
                (Value::Member(m), "int") => m.mixed && m.value.as_int().is_some(),
                _ => false,
            }),
            (_, Value::External(path)) => match last_of(path.as_str()) {
                "Enum" => known(matches!(value, Value::Member(_))),
                "Iterable" | "Sequence" | "Mapping" | "Number" | "Real" | "Integral" | "Path" | "PathLike" => {
                    Truth::Maybe(Why::of(path.as_str()))
                }
                _ => Truth::No,
            },
            _ => Truth::No,
        }
    }

    fn is_subclass(&mut self, value: &Abs, kinds: &Abs) -> Truth {
        let kinds = match kinds {
            Abs::Is(Value::Tuple(items)) => items.to_vec(),
            other => vec![other.clone()],
        };
        let Some(Value::Class(class)) = value.exact() else {
            return match value.exact() {
                Some(Value::Builtin(name)) => {
                    let own = kinds.iter().any(|k| matches!(k, Abs::Is(Value::Builtin(n)) if n == name));
                    Truth::of(Some(own), Why::default)
                }
                _ => Truth::Maybe(value.reasons().and(&Why::of("issubclass()"))),
            };
        };
        let order = self.program.mro(*class);
        let mut found = Truth::No;
        for kind in &kinds {
            match kind.exact() {
                Some(Value::Class(base)) if order.contains(base) => return Truth::Yes,
                Some(Value::External(path)) => {
                    let name = last_of(path.as_str());
                    let outside = order
                        .iter()
                        .any(|c| self.program.external_bases(*c).iter().any(|b| last_of(b.as_str()) == name));
                    // A record that is put together from structures is one.
                    let assembled = name == "Struct" && self.is_record_class(value) && self.world.is_assembled;
                    if outside || assembled {
                        return Truth::Yes;
                    }
                }
                Some(_) => {}
                None => found = Truth::Maybe(kind.reasons()),
            }
        }
        found
    }
}

/// Is an action of argparse of this class, itself or by inheritance?
fn is_action(own: &str, class: &str) -> bool {
    const PARENTS: [(&str, &str); 3] = [
        ("_StoreTrueAction", "_StoreConstAction"),
        ("_StoreFalseAction", "_StoreConstAction"),
        ("_ExtendAction", "_AppendAction"),
    ];
    own == class || class == "Action" || PARENTS.contains(&(own, class))
}

fn last_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
