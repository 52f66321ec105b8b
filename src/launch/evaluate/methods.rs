//! What the methods of Python's own types do: texts, lists, dictionaries, sets.

use super::calls::Arguments;
use super::expressions::{equal_keys, put_entry};
use super::*;

impl Machine<'_> {
    pub(super) fn call_method(&mut self, receiver: &Abs, name: Sym, arguments: Arguments) -> Abs {
        if let Some(id) = receiver.object() {
            return self.object_method(receiver, id, name, arguments);
        }
        match receiver {
            Abs::Range(..) | Abs::Any(..) => {
                let why = receiver.reasons().and(&arguments.reasons());
                self.note_opaque("a method of something that is not known");
                Abs::because(&why)
            }
            _ => self.over(receiver, |m, v| match v {
                Value::Str(text) => m.text_method(*text, name.as_str(), &arguments),
                Value::Member(member) if member.mixed => match member.value.as_str() {
                    Some(text) => m.text_method(text, name.as_str(), &arguments),
                    None => Abs::any(&format!(".{name}()")),
                },
                Value::Tuple(items) => {
                    let items = items.to_vec();
                    m.sequence_method(&items, name.as_str(), &arguments)
                }
                Value::Float(x) if name == "is_integer" => Abs::bool(x.fract() == 0.0),
                Value::Object(id) => m.object_method(&Abs::Is(v.clone()), *id, name, arguments.clone()),
                // `f.cache_clear()` and the like.
                Value::Func(_) => Abs::NONE,
                _ => {
                    m.slip("AttributeError");
                    Abs::any(&format!(".{name}()"))
                }
            }),
        }
    }

    fn text_method(&mut self, text: Sym, name: &str, arguments: &Arguments) -> Abs {
        let s = text.as_str();
        let first = arguments.positional.first().cloned();
        let plain = |m: &mut Self, check: fn(&str, &str) -> bool| {
            let Some(parts) = first.clone() else { return Abs::any("a text's method") };
            let parts = match &parts {
                Abs::Is(Value::Tuple(items)) => items.to_vec(),
                other => vec![other.clone()],
            };
            let mut found = Truth::No;
            for part in &parts {
                let result = m.over(part, |_, p| match p.as_str() {
                    Some(p) => Abs::bool(check(s, p.as_str())),
                    None => Abs::any("a text's method"),
                });
                match m.truth(&result) {
                    Truth::Yes => return Abs::bool(true),
                    Truth::No => {}
                    maybe => found = maybe,
                }
            }
            Abs::truth(found)
        };
        let given = first.as_ref().and_then(Abs::as_str);
        let all = |test: fn(char) -> bool| Abs::bool(!s.is_empty() && s.chars().all(test));
        match (name, given) {
            ("lower" | "casefold", _) => Abs::str(&s.to_lowercase()),
            ("upper", _) => Abs::str(&s.to_uppercase()),
            ("strip", None) => Abs::str(s.trim()),
            ("lstrip", None) => Abs::str(s.trim_start()),
            ("rstrip", None) => Abs::str(s.trim_end()),
            ("strip", Some(cs)) => Abs::str(s.trim_matches(|c| cs.contains(c))),
            ("lstrip", Some(cs)) => Abs::str(s.trim_start_matches(|c| cs.contains(c))),
            ("rstrip", Some(cs)) => Abs::str(s.trim_end_matches(|c| cs.contains(c))),
            ("title", _) => Abs::str(&title(s)),
            ("capitalize", _) => Abs::str(&capitalized(s)),
            ("startswith", _) => plain(self, |s, p| s.starts_with(p)),
            ("endswith", _) => plain(self, |s, p| s.ends_with(p)),
            ("isdigit" | "isdecimal" | "isnumeric", _) => all(|c| c.is_ascii_digit()),
            ("isalpha", _) => all(char::is_alphabetic),
            ("isalnum", _) => all(char::is_alphanumeric),
            ("isspace", _) => all(char::is_whitespace),
            ("isupper", _) => Abs::bool(s.chars().any(char::is_uppercase) && !s.chars().any(char::is_lowercase)),
            ("islower", _) => Abs::bool(s.chars().any(char::is_lowercase) && !s.chars().any(char::is_uppercase)),
            ("removeprefix", Some(p)) => Abs::str(s.strip_prefix(p.as_str()).unwrap_or(s)),
            ("removesuffix", Some(p)) => Abs::str(s.strip_suffix(p.as_str()).unwrap_or(s)),
            ("replace", Some(from)) if !from.is_empty() => match arguments.positional.get(1).and_then(Abs::as_str) {
                Some(to) if arguments.positional.len() == 2 => Abs::str(&s.replace(from.as_str(), to.as_str())),
                _ => Abs::any("a text that is replaced in"),
            },
            ("count", Some(p)) if !p.is_empty() => Abs::int(s.matches(p.as_str()).count() as i64),
            ("find", Some(p)) if arguments.positional.len() == 1 => {
                Abs::int(s.find(p.as_str()).map_or(-1, |i| s.get(..i).unwrap_or("").chars().count() as i64))
            }
            ("split" | "rsplit", _) => self.split(s, name == "rsplit", arguments),
            ("splitlines", _) => {
                let lines = s.lines().map(Abs::str).collect();
                self.new_list(lines)
            }
            ("partition", Some(p)) if !p.is_empty() => {
                let (a, b, c) = match s.split_once(p.as_str()) {
                    Some((a, c)) => (a, p.as_str(), c),
                    None => (s, "", ""),
                };
                Abs::Is(Value::Tuple(Rc::from([a, b, c].map(Abs::str))))
            }
            ("rpartition", Some(p)) if !p.is_empty() => {
                let (a, b, c) = match s.rsplit_once(p.as_str()) {
                    Some((a, c)) => (a, p.as_str(), c),
                    None => ("", "", s),
                };
                Abs::Is(Value::Tuple(Rc::from([a, b, c].map(Abs::str))))
            }
            ("join", _) => match first {
                Some(items) => match self.iterate(&items) {
                    Items::Known(items) => {
                        let parts: Option<Vec<Sym>> = items.iter().map(Abs::as_str).collect();
                        match parts {
                            Some(parts) => Abs::str(&parts.iter().map(|p| p.as_str()).collect::<Vec<_>>().join(s)),
                            None => Abs::Any(Vague { symbol: None, why: Why::of("a joined text") }, true),
                        }
                    }
                    Items::Open(why) => Abs::Any(Vague { symbol: None, why }, true),
                },
                None => Abs::any("a joined text"),
            },
            ("format", _) => self.format(s, arguments),
            ("encode", _) => Abs::any("bytes"),
            ("zfill", _) => Abs::any("a padded text"),
            _ => Abs::any(&format!("a text's {name}()")),
        }
    }

    fn split(&mut self, s: &str, from_right: bool, arguments: &Arguments) -> Abs {
        let limit = match arguments.get(1, "maxsplit") {
            None => None,
            Some(limit) => match limit.as_int() {
                Some(limit) => usize::try_from(limit).ok(),
                None => return Abs::any("a split text"),
            },
        };
        let by = arguments.get(0, "sep");
        let parts: Vec<String> = match by {
            None => s.split_whitespace().map(str::to_owned).collect(),
            Some(by) if by.is_none() => s.split_whitespace().map(str::to_owned).collect(),
            Some(by) => match (by.as_str().filter(|b| !b.is_empty()), limit, from_right) {
                (Some(by), None, _) => s.split(by.as_str()).map(str::to_owned).collect(),
                (Some(by), Some(n), false) => s.splitn(n + 1, by.as_str()).map(str::to_owned).collect(),
                (Some(by), Some(n), true) => {
                    let mut parts: Vec<String> = s.rsplitn(n + 1, by.as_str()).map(str::to_owned).collect();
                    parts.reverse();
                    parts
                }
                (None, _, _) => return Abs::any("a split text"),
            },
        };
        if by.is_none_or(Abs::is_none) && limit.is_some() {
            return Abs::any("a split text");
        }
        let items = parts.iter().map(|p| Abs::str(p)).collect();
        self.new_list(items)
    }

    /// `"{} of {}".format(a, b)` with plain holes.
    fn format(&mut self, s: &str, arguments: &Arguments) -> Abs {
        let shown: Option<Vec<String>> = arguments.positional.iter().map(|a| self.to_text(a)).collect();
        let holes = s.matches("{}").count();
        match shown {
            Some(shown) if s.matches('{').count() == holes && holes == shown.len() => {
                Abs::str(&crate::program::constants::filled(s, &shown))
            }
            _ => Abs::Any(Vague { symbol: None, why: arguments.reasons().and(&Why::of("a formatted text")) }, true),
        }
    }

    fn sequence_method(&mut self, items: &[Abs], name: &str, arguments: &Arguments) -> Abs {
        let Some(item) = arguments.positional.first().cloned() else { return Abs::any(&format!(".{name}()")) };
        match name {
            "__getitem__" => self.get_item(&Abs::Is(Value::Tuple(items.into())), &item),
            "index" => {
                for (i, other) in items.iter().enumerate() {
                    match self.equal(other, &item) {
                        Truth::Yes => return Abs::int(i as i64),
                        Truth::No => {}
                        Truth::Maybe(why) => return Abs::because(&why),
                    }
                }
                self.slip("ValueError");
                Abs::any("the place of something that is not there")
            }
            "count" => {
                let mut n = 0;
                for other in items {
                    match self.equal(other, &item) {
                        Truth::Yes => n += 1,
                        Truth::No => {}
                        Truth::Maybe(why) => return Abs::because(&why),
                    }
                }
                Abs::int(n)
            }
            _ => Abs::any(&format!(".{name}()")),
        }
    }

    fn object_method(&mut self, receiver: &Abs, id: ObjId, name: Sym, arguments: Arguments) -> Abs {
        let Some(object) = self.shared(id) else { return Abs::any(name.as_str()) };
        match object.as_ref() {
            Object::List(items) => self.list_method(id, items, name.as_str(), arguments),
            Object::Dict(dict) => self.dict_method(id, dict, name.as_str(), arguments),
            Object::Set(items) => self.set_method(id, items, name.as_str(), arguments),
            Object::Instance(instance) => match instance.kind {
                Kind::Declarations(record) => self.call_declarations(record, name.as_str(), &arguments),
                Kind::Parser => self.parser_method(name.as_str(), &arguments),
                _ => {
                    let method = self.get_attr(receiver, name);
                    match &method {
                        Abs::Is(Value::Method(m)) if m.1 == name => {
                            self.note_opaque("a method outside the tree");
                            Abs::because(&arguments.reasons().and(&Why::of(&format!(".{name}()"))))
                        }
                        _ => self.call_value(&method, arguments),
                    }
                }
            },
            Object::Env(_) => Abs::any(name.as_str()),
        }
    }

    fn list_method(&mut self, id: ObjId, items: &Items, name: &str, arguments: Arguments) -> Abs {
        let first = arguments.positional.first().cloned();
        match (name, first) {
            ("append", Some(item)) => self.extend_list(id, Items::Known(vec![item])),
            ("extend", Some(more)) => {
                let more = self.iterate(&more);
                self.extend_list(id, more);
            }
            ("insert", Some(at)) => {
                let item = arguments.positional.get(1).cloned().unwrap_or(Abs::NONE);
                let index = at.as_int();
                self.edit(id, |object| {
                    if let Object::List(Items::Known(items)) = object {
                        match index.and_then(|i| usize::try_from(i).ok()) {
                            Some(i) => items.insert(i.min(items.len()), item),
                            None => *object = Object::List(Items::Open(Why::of("a place in a list"))),
                        }
                    }
                });
            }
            ("remove", Some(item)) => {
                let Items::Known(items) = items else { return Abs::NONE };
                for (i, other) in items.iter().enumerate() {
                    match self.equal(other, &item) {
                        Truth::Yes => {
                            self.edit(id, |object| {
                                if let Object::List(Items::Known(items)) = object
                                    && i < items.len()
                                {
                                    items.remove(i);
                                }
                            });
                            return Abs::NONE;
                        }
                        Truth::No => {}
                        Truth::Maybe(why) => {
                            self.edit(id, |object| *object = Object::List(Items::Open(why)));
                            return Abs::NONE;
                        }
                    }
                }
                self.slip("ValueError");
            }
            ("pop", at) => {
                let Items::Known(items) = items else { return Abs::any("a list's last item") };
                let place = match at {
                    None => items.len().checked_sub(1),
                    Some(at) => at.as_int().map(|i| if i < 0 { i + items.len() as i64 } else { i } as usize),
                };
                let Some(place) = place.filter(|p| *p < items.len()) else {
                    self.slip("IndexError");
                    return Abs::any("a list's item");
                };
                let item = items.get(place).cloned().unwrap_or(Abs::NONE);
                self.edit(id, |object| {
                    if let Object::List(Items::Known(items)) = object
                        && place < items.len()
                    {
                        items.remove(place);
                    }
                });
                return item;
            }
            ("clear", _) => self.edit(id, |object| *object = Object::List(Items::Known(Vec::new()))),
            ("copy", _) => return self.new_items(items.clone()),
            ("sort", _) => {
                let sorted = self.call_builtin(
                    Sym::from("sorted"),
                    Arguments { positional: vec![Abs::Is(Value::Object(id))], ..arguments },
                );
                let sorted = self.iterate(&sorted);
                self.edit(id, |object| *object = Object::List(sorted));
            }
            ("reverse", _) => self.edit(id, |object| {
                if let Object::List(Items::Known(items)) = object {
                    items.reverse();
                }
            }),
            ("index" | "count", _) => {
                return match items {
                    Items::Known(items) => self.sequence_method(items, name, &arguments),
                    Items::Open(why) => Abs::because(why),
                };
            }
            _ => return Abs::any(&format!("a list's {name}()")),
        }
        Abs::NONE
    }

    fn dict_method(&mut self, id: ObjId, dict: &Dict, name: &str, arguments: Arguments) -> Abs {
        let first = arguments.positional.first().cloned();
        match (name, first) {
            ("get", Some(key)) => {
                let default = arguments.positional.get(1).cloned().unwrap_or(Abs::NONE);
                return self.entry(dict, &key, Some(default));
            }
            ("setdefault", Some(key)) => {
                let default = arguments.positional.get(1).cloned().unwrap_or(Abs::NONE);
                let value = self.entry(dict, &key, Some(default));
                let stored = value.clone();
                self.edit(id, |object| {
                    if let Object::Dict(dict) = object {
                        put_entry(dict, &key, stored, None);
                    }
                });
                return value;
            }
            ("pop", Some(key)) => {
                let default = arguments.positional.get(1).cloned();
                let value = self.entry(dict, &key, default);
                if let Some(key) = key.exact().cloned() {
                    self.edit(id, |object| {
                        if let Object::Dict(dict) = object {
                            dict.entries.retain(|(k, _)| !equal_keys(k, &key));
                        }
                    });
                }
                return value;
            }
            ("update", first) => {
                let mut merged = dict.clone();
                if let Some(more) = first {
                    match more.object().and_then(|o| self.object(o)) {
                        Some(Object::Dict(_)) => self.update_dict(&mut merged, &more),
                        _ => {
                            let made = self.call_builtin(Sym::from("dict"), Arguments::of(vec![more]));
                            self.update_dict(&mut merged, &made);
                        }
                    }
                }
                for (name, slot, _) in arguments.named {
                    merged.entries.retain(|(k, _)| k.as_str() != Some(name));
                    merged.entries.push((Value::Str(name), slot));
                }
                if let Some(why) = arguments.open {
                    merged.open = Some(why);
                }
                self.edit(id, |object| *object = Object::Dict(merged));
            }
            ("clear", _) => self.edit(id, |object| *object = Object::Dict(Dict::default())),
            ("copy", _) => return self.new_dict(dict.clone()),
            ("keys" | "values" | "items", _) => {
                let doubt = dict.open.clone().or_else(|| dict.entries.iter().find_map(|(_, slot)| slot.maybe.clone()));
                if let Some(why) = doubt {
                    return self.new_items(Items::Open(why));
                }
                let items = dict.entries.iter().map(|(key, slot)| match name {
                    "keys" => Abs::Is(key.clone()),
                    "values" => slot.value.clone(),
                    _ => Abs::Is(Value::Tuple(Rc::from([Abs::Is(key.clone()), slot.value.clone()]))),
                });
                let items = items.collect();
                return self.new_list(items);
            }
            _ => return Abs::any(&format!("a dictionary's {name}()")),
        }
        Abs::NONE
    }

    fn set_method(&mut self, id: ObjId, items: &Items, name: &str, arguments: Arguments) -> Abs {
        let first = arguments.positional.first().cloned();
        let operation = match name {
            "union" | "update" => Some(BinOp::BitOr),
            "intersection" | "intersection_update" => Some(BinOp::BitAnd),
            "difference" | "difference_update" => Some(BinOp::Sub),
            _ => None,
        };
        match (operation, name, first) {
            (Some(op), _, Some(other)) => {
                let other = self.iterate(&other);
                let result = self.set_operation(op, items, &other);
                if name.ends_with("update") {
                    self.edit(id, |object| *object = Object::Set(result));
                    return Abs::NONE;
                }
                self.new_set(result)
            }
            (_, "add", Some(item)) => {
                let made = self.set_operation(BinOp::BitOr, items, &Items::Known(vec![item]));
                self.edit(id, |object| *object = Object::Set(made));
                Abs::NONE
            }
            (_, "discard" | "remove", Some(item)) => {
                let made = self.set_operation(BinOp::Sub, items, &Items::Known(vec![item]));
                self.edit(id, |object| *object = Object::Set(made));
                Abs::NONE
            }
            (_, "issubset" | "issuperset" | "isdisjoint", Some(other)) => {
                let other = self.iterate(&other);
                let (a, b) = if name == "issuperset" { (&other, items) } else { (items, &other) };
                let op = if name == "isdisjoint" { BinOp::BitAnd } else { BinOp::Sub };
                match self.set_operation(op, a, b) {
                    Items::Known(rest) => Abs::bool(rest.is_empty()),
                    Items::Open(why) => Abs::truth(Truth::Maybe(why)),
                }
            }
            (_, "copy", _) => self.new_set(items.clone()),
            _ => Abs::any(&format!("a set's {name}()")),
        }
    }
}

fn title(s: &str) -> String {
    let mut out = String::new();
    let mut start = true;
    for c in s.chars() {
        match start {
            true => out.extend(c.to_uppercase()),
            false => out.extend(c.to_lowercase()),
        }
        start = !c.is_alphabetic();
    }
    out
}

fn capitalized(s: &str) -> String {
    let mut chars = s.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().collect::<String>() + &chars.as_str().to_lowercase(),
        None => String::new(),
    }
}
