//! What things outside the tree are and do: Python's standard library where it only computes, else what a fact answers.
//!
//! A function outside that is not listed here gives something unknown that has a name of its own, so that the same
//! question asked twice has the same answer.

use super::attributes::short;
use super::calls::Arguments;
use super::world::Answer;
use super::*;
use crate::launch::command::secret;

impl Machine<'_> {
    pub(super) fn external(&mut self, path: Sym) -> Abs {
        if let Some(known) = self.state.symbols.get(&path) {
            return known.clone();
        }
        if path == "os.environ" {
            return Abs::Is(Value::Object(self.environ));
        }
        match self.world.answer(path.as_str()) {
            Some(answer) => self.answered(&answer),
            None => match constant(path.as_str()) {
                Some(value) => Abs::Is(value),
                None => Abs::Is(Value::External(path)),
            },
        }
    }

    pub(super) fn answered(&mut self, answer: &Answer) -> Abs {
        match answer {
            Answer::None | Answer::Absent => Abs::NONE,
            Answer::Something => Abs::Any(Vague { symbol: None, why: Why::of("a version of a library") }, true),
            Answer::Bool(b) => Abs::bool(*b),
            Answer::Int(i) => Abs::int(*i),
            Answer::Float(x) => Abs::Is(Value::Float(*x)),
            Answer::Text(text) => Abs::str(text),
            Answer::Pair(a, b) => Abs::Is(Value::Tuple(Rc::from([Abs::int(*a), Abs::int(*b)]))),
            Answer::List(items) => {
                let items = items.iter().map(|i| Abs::str(i)).collect();
                self.new_list(items)
            }
        }
    }

    pub(super) fn call_external(&mut self, path: Sym, arguments: Arguments) -> Abs {
        let first = arguments.positional.first().cloned();
        let text = first.as_ref().and_then(Abs::as_str);
        match (path.as_str(), first) {
            ("os.getenv", Some(name)) => {
                let default = arguments.get(1, "default").cloned().unwrap_or(Abs::NONE);
                match self.shared(self.environ).as_deref() {
                    Some(Object::Dict(dict)) => self.entry(dict, &name, Some(default)),
                    _ => default,
                }
            }
            ("os.path.join", Some(_)) => {
                let parts: Option<Vec<Sym>> = arguments.positional.iter().map(Abs::as_str).collect();
                match parts {
                    Some(parts) => Abs::str(&joined(&parts)),
                    None => Abs::because(&arguments.reasons().and(&Why::of("os.path.join()"))),
                }
            }
            ("os.path.basename", _) if text.is_some() => {
                let text = text.unwrap_or_default();
                Abs::str(text.rsplit('/').next().unwrap_or(""))
            }
            ("os.path.dirname", _) if text.is_some() => {
                let text = text.unwrap_or_default();
                Abs::str(text.rsplit_once('/').map_or("", |(head, _)| head))
            }
            ("os.path.splitext", _) if text.is_some() => {
                let text = text.unwrap_or_default();
                let name = text.rsplit('/').next().unwrap_or("");
                let at = name.rfind('.').filter(|i| *i > 0).map(|i| text.len() - name.len() + i);
                let (stem, end) = at.map_or((text.as_str(), ""), |i| text.split_at(i));
                Abs::Is(Value::Tuple(Rc::from([Abs::str(stem), Abs::str(end)])))
            }
            ("os.path.isabs", _) if text.is_some() => Abs::bool(text.unwrap_or_default().starts_with('/')),
            ("json.loads", _) if text.is_some() => {
                match serde_json::from_str::<serde_json::Value>(text.unwrap_or_default().as_str()) {
                    Ok(data) => self.from_json(&data),
                    Err(_) => {
                        self.slip("JSONDecodeError");
                        Abs::any("a text that is no JSON")
                    }
                }
            }
            ("json.dumps", Some(value)) => match self.to_json(&value) {
                Some(data) if arguments.named.is_empty() => Abs::str(&python_json(&data)),
                _ => Abs::Any(Vague { symbol: None, why: value.reasons().and(&Why::of("json.dumps()")) }, true),
            },
            ("copy.copy" | "copy.deepcopy", Some(value)) => self.copied(&value, path == "copy.deepcopy", 0),
            ("functools.partial", Some(callee)) => {
                let positional = arguments.positional.get(1..).unwrap_or_default().to_vec();
                let named = arguments.named.into_iter().map(|(n, slot, _)| (n, slot.value)).collect();
                Abs::Is(Value::Partial(Rc::new(Partial { callee, positional, named })))
            }
            ("functools.lru_cache" | "functools.cache" | "functools.wraps" | "functools.cached_property", first) => {
                match first.filter(|f| path != "functools.wraps" && f.as_int().is_none() && !f.is_none()) {
                    Some(function) => function,
                    None => Abs::Is(Value::Builtin(Sym::from("identity."))),
                }
            }
            ("typing.cast", Some(_)) => arguments.positional.get(1).cloned().unwrap_or(Abs::NONE),
            ("dataclasses.fields" | "msgspec.structs.fields", Some(value)) => self.fields_of(&value),
            ("dataclasses.replace" | "msgspec.structs.replace" | "copy.replace", Some(value)) => {
                let made = self.copied(&value, false, 0);
                if let Some(id) = made.object() {
                    for (name, slot, _) in arguments.named {
                        self.put_attr(id, name, slot.value, None);
                    }
                }
                made
            }
            ("dataclasses.asdict" | "msgspec.structs.asdict", Some(value)) => {
                let copied = self.copied(&value, true, 0);
                self.get_attr(&copied, Sym::from("__dict__"))
            }
            ("dataclasses.is_dataclass", Some(value)) => {
                let class = match value.exact() {
                    Some(Value::Class(class)) => Some(*class),
                    Some(Value::Object(id)) => self.instance(*id).and_then(|i| i.class),
                    _ => None,
                };
                match class {
                    Some(class) => {
                        let record = self.records.contains(&class) || self.program.is_record_like(class);
                        Abs::bool(record)
                    }
                    None => Abs::truth(Truth::Maybe(value.reasons().and(&Why::of("is_dataclass()")))),
                }
            }
            ("importlib.import_module", _) if text.is_some() => {
                let name = text.unwrap_or_default();
                match self.program.file_by_module(name) {
                    Some(file) => Abs::Is(Value::Module(file)),
                    None => Abs::Is(Value::External(name)),
                }
            }
            // Plugins are not installed unless a fact says so.
            ("importlib.metadata.entry_points", _) => self.new_list(Vec::new()),
            ("collections.OrderedDict" | "collections.defaultdict", first) => {
                let from = if path.ends_with("defaultdict") { None } else { first };
                self.call_builtin(Sym::from("dict"), Arguments::of(from.into_iter().collect()))
            }
            ("itertools.chain", _) => {
                let mut all = Vec::new();
                for part in &arguments.positional {
                    match self.iterate(part) {
                        Items::Known(items) => all.extend(items),
                        open => return self.new_items(open),
                    }
                }
                self.new_list(all)
            }
            ("math.ceil" | "math.floor" | "math.sqrt" | "math.log2" | "math.isnan" | "math.isfinite", Some(x)) => {
                self.math(path.as_str(), &x)
            }
            ("math.gcd", Some(_)) => {
                let numbers: Option<Vec<i64>> = arguments.positional.iter().map(Abs::as_int).collect();
                match numbers {
                    Some(numbers) => Abs::int(numbers.iter().fold(0, |a, b| gcd(a, b.saturating_abs()))),
                    None => Abs::because(&arguments.reasons().and(&Why::of("math.gcd()"))),
                }
            }
            ("re.match" | "re.search" | "re.fullmatch", _) => self.matched(&arguments),
            ("sys.exit" | "os._exit", _) => {
                let place = self.place_of(&arguments);
                let asked = self.asked();
                self.fail(CheckKind::Exit, place, Sym::from("SystemExit"), None, asked);
                Abs::NONE
            }
            ("pathlib.Path", Some(path)) => self.path_object(&path),
            ("yaml.safe_load", Some(handle)) => self.load_yaml(&handle),
            ("argparse.ArgumentParser", _) => self.parser_object(),
            _ if path.ends_with(".__setattr__") && arguments.positional.len() == 3 => {
                self.call_builtin(Sym::from("object.__setattr__"), arguments)
            }
            _ => {
                self.note_opaque(&format!("{path}()"));
                if IMPURE.iter().any(|start| path.starts_with(start)) {
                    return Abs::Any(Vague { symbol: None, why: Why::of(&format!("{path}()")) }, true);
                }
                let shown: Option<Vec<String>> = arguments.positional.iter().map(|a| short(a.exact()?)).collect();
                let named = arguments.named.is_empty() && arguments.open.is_none();
                match shown.filter(|_| named) {
                    Some(shown) => self.symbol_called(path, &shown.join(", "), Why::of(&format!("{path}()"))),
                    None => match self.world.answer(&format!("{path}()")) {
                        Some(answer) => self.answered(&answer),
                        None => Abs::because(&Why::of(&format!("{path}()"))),
                    },
                }
            }
        }
    }

    /// A copy of an object; a deep one copies what it holds as well.
    fn copied(&mut self, value: &Abs, deep: bool, depth: u32) -> Abs {
        const MAX_NESTING: u32 = 12;
        let inner = |m: &mut Self, v: &Abs| match deep && depth < MAX_NESTING {
            true => m.copied(v, deep, depth + 1),
            false => v.clone(),
        };
        let Some(id) = value.object() else {
            return match value {
                Abs::OneOf(values, vague) if values.iter().any(|v| matches!(v, Value::Object(_))) => {
                    let why = vague.why.clone();
                    let values = values.clone();
                    let mut out: Option<Abs> = None;
                    for v in values.iter() {
                        let made = self.copied(&Abs::Is(v.clone()), deep, depth);
                        out = Some(out.map_or_else(|| made.clone(), |o| o.join(&made, &why)));
                    }
                    out.unwrap_or(Abs::NONE)
                }
                other => other.clone(),
            };
        };
        let Some(object) = self.shared(id) else { return value.clone() };
        let made = match object.as_ref() {
            Object::List(Items::Known(items)) => {
                Object::List(Items::Known(items.iter().map(|i| inner(self, i)).collect()))
            }
            Object::Dict(dict) => {
                let mut dict = dict.clone();
                for (_, slot) in &mut dict.entries {
                    slot.value = inner(self, &slot.value);
                }
                Object::Dict(dict)
            }
            Object::Instance(instance) if instance.kind == Kind::Plain => {
                let mut instance = instance.clone();
                let mut names: Vec<Sym> = instance.attrs.keys().copied().collect();
                names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
                for name in names {
                    if let Some(value) = instance.attrs.get(&name).map(|s| s.value.clone()) {
                        let value = inner(self, &value);
                        if let Some(slot) = instance.attrs.get_mut(&name) {
                            slot.value = value;
                        }
                    }
                }
                Object::Instance(instance)
            }
            Object::Instance(_) => return value.clone(),
            other => other.clone(),
        };
        Abs::Is(Value::Object(self.alloc(made)))
    }

    /// `dataclasses.fields(record)`: what has a name.
    fn fields_of(&mut self, value: &Abs) -> Abs {
        let class = match value.exact() {
            Some(Value::Class(class)) => Some(*class),
            Some(Value::Object(id)) => self.instance(*id).and_then(|i| i.class),
            _ => None,
        };
        let Some(class) = class else { return Abs::because(&value.reasons().and(&Why::of("the fields of a record"))) };
        let names: Vec<Sym> = match self.records.contains(&class) {
            true => self.world.defaults.iter().map(|(n, _)| *n).collect(),
            false => self.program.record_fields(class).into_iter().map(|f| f.0).collect(),
        };
        let fields = names.into_iter().map(|name| {
            let mut field = Instance::new(None, Kind::Plain);
            field.open = Some(Why::of("a field's metadata"));
            field.attrs.insert(Sym::from("name"), Abs::Is(Value::Str(name)).into());
            Abs::Is(Value::Object(self.alloc(Object::Instance(field))))
        });
        let fields = fields.collect();
        self.new_list(fields)
    }

    fn math(&mut self, path: &str, x: &Abs) -> Abs {
        if let Abs::Range(range, vague) = x {
            let whole = |f: fn(f64) -> f64| {
                Abs::range(Range { low: f(range.low), high: f(range.high), whole: true }, vague.clone())
            };
            return match path {
                "math.ceil" => whole(f64::ceil),
                "math.floor" => whole(f64::floor),
                _ => Abs::because(&vague.why),
            };
        }
        self.over(x, |m, v| {
            let Some(x) = v.as_number() else {
                m.slip("TypeError");
                return Abs::any(path);
            };
            Abs::Is(match path {
                "math.ceil" => Value::Int(x.ceil() as i64),
                "math.floor" => Value::Int(x.floor() as i64),
                "math.sqrt" => Value::Float(x.sqrt()),
                "math.log2" => Value::Float(x.log2()),
                "math.isnan" => Value::Bool(x.is_nan()),
                _ => Value::Bool(x.is_finite()),
            })
        })
    }

    /// The one kind of pattern that is understood: `(.+)://(.*)`, a scheme and the rest.
    fn matched(&mut self, arguments: &Arguments) -> Abs {
        let pattern = arguments.positional.first().and_then(Abs::as_str);
        let Some(text) = arguments.positional.get(1) else { return Abs::any("a pattern") };
        match (pattern.as_ref().map(|p| p.as_str()), text.as_str()) {
            (Some("(.+)://(.*)"), Some(text)) => match text.rsplit_once("://").filter(|(scheme, _)| !scheme.is_empty())
            {
                None => Abs::NONE,
                Some((scheme, rest)) => {
                    let groups = Abs::Is(Value::Tuple(Rc::from([text.as_str(), scheme, rest].map(Abs::str))));
                    let mut found = Instance::new(None, Kind::Plain);
                    let group = Value::Method(Rc::new((groups, Sym::from("__getitem__"))));
                    found.attrs.insert(Sym::from("group"), Abs::Is(group).into());
                    Abs::Is(Value::Object(self.alloc(Object::Instance(found))))
                }
            },
            _ => Abs::because(&text.reasons().and(&Why::of("a pattern that is matched"))),
        }
    }

    /// A path of which only the name is known.
    fn path_object(&mut self, path: &Abs) -> Abs {
        let Some(text) = path.as_str() else { return Abs::because(&path.reasons().and(&Why::of("a path"))) };
        let name = text.rsplit('/').next().unwrap_or("");
        let suffix = name.rfind('.').filter(|i| *i > 0).and_then(|i| name.get(i..)).unwrap_or("");
        let mut object = Instance::new(None, Kind::Plain);
        object.open = Some(Why::of("a file on the machine"));
        object.attrs.insert(Sym::from("suffix"), Abs::str(suffix).into());
        object.attrs.insert(Sym::from("name"), Abs::str(name).into());
        let exists = self.world.files.get(text.as_str()).map(|f| f.is_ok());
        if let Some(exists) = exists {
            let answer = Partial {
                callee: Abs::Is(Value::Builtin(Sym::from("bool"))),
                positional: vec![Abs::bool(exists)],
                named: Vec::new(),
            };
            let answer = Abs::Is(Value::Partial(Rc::new(answer)));
            object.attrs.insert(Sym::from("exists"), answer.clone().into());
            object.attrs.insert(Sym::from("is_file"), answer.into());
        }
        Abs::Is(Value::Object(self.alloc(Object::Instance(object))))
    }

    /// `yaml.safe_load(open(path))`, for a file that was handed in.
    fn load_yaml(&mut self, handle: &Abs) -> Abs {
        let path = handle.stands_for();
        let path = path.as_ref().and_then(|p| p.strip_prefix("open('")?.strip_suffix("')"));
        let parsed = match path.and_then(|p| self.world.files.get(p)) {
            Some(Ok(text)) => crate::launch::yaml::parse_python(text).map_err(|e| e.to_string()),
            Some(Err(why)) => Err(why.clone()),
            None => return Abs::because(&handle.reasons().and(&Why::of("a file on the machine"))),
        };
        match parsed {
            Ok(data) => self.of_yaml(&data),
            Err(why) => {
                // What follows is looked at as if the file were empty.
                self.log.unreadable.push((path.unwrap_or_default().to_owned(), why));
                self.new_dict(Dict::default())
            }
        }
    }

    fn of_yaml(&mut self, data: &crate::launch::yaml::Data) -> Abs {
        use crate::launch::yaml::Data;
        match data {
            Data::Null => Abs::NONE,
            Data::Bool(b) => Abs::bool(*b),
            Data::Int(i) => Abs::int(*i),
            Data::Float(x) => Abs::Is(Value::Float(*x)),
            Data::Text(text) => Abs::str(&secret::without(text)),
            Data::Other(what) => Abs::any(what),
            Data::List(items) => {
                let items = items.iter().map(|i| self.of_yaml(i)).collect();
                self.new_list(items)
            }
            Data::Map(entries) => {
                let mut dict = Dict::default();
                for (key, value) in entries {
                    let hides = matches!(key, Data::Text(name) if secret::holds(name));
                    let value = match value {
                        Data::Text(text) if hides && !text.is_empty() => &Data::Text(secret::HIDDEN.to_owned()),
                        value => value,
                    };
                    let (key, value) = (self.of_yaml(key), self.of_yaml(value));
                    expressions::put_entry(&mut dict, &key, value, None);
                }
                self.new_dict(dict)
            }
        }
    }
}

/// Constants of the standard library.
fn constant(path: &str) -> Option<Value> {
    Some(match path {
        "typing.TYPE_CHECKING" => Value::Bool(false),
        "math.inf" => Value::Float(f64::INFINITY),
        "math.pi" => Value::Float(std::f64::consts::PI),
        "os.sep" => Value::str("/"),
        "sys.platform" => return None,
        _ => return None,
    })
}

fn joined(parts: &[Sym]) -> String {
    let mut out = String::new();
    for part in parts {
        if part.starts_with('/') {
            out.clear();
        } else if !out.is_empty() && !out.ends_with('/') {
            out.push('/');
        }
        out.push_str(part.as_str());
    }
    out
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `json.dumps` puts a space after each comma and colon.
fn python_json(data: &serde_json::Value) -> String {
    match data {
        serde_json::Value::Array(items) => {
            format!("[{}]", items.iter().map(python_json).collect::<Vec<_>>().join(", "))
        }
        serde_json::Value::Object(map) => {
            let pairs = map.iter().map(|(k, v)| format!("{}: {}", serde_json::Value::from(k.as_str()), python_json(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        serde_json::Value::Number(n) if n.is_f64() => text::float_text(n.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// Calls that give another value each time.
const IMPURE: [&str; 10] = [
    "random.",
    "time.",
    "uuid.",
    "tempfile.",
    "secrets.",
    "os.getpid",
    "os.urandom",
    "socket.",
    "datetime.",
    "threading.",
];
