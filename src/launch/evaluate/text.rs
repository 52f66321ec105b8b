//! Numbers and values as texts, as Python reads and writes them.

use super::*;
use std::cmp::Ordering;

impl Machine<'_> {
    /// A value as `str()` gives it, where it is known.
    pub(super) fn to_text(&mut self, value: &Abs) -> Option<String> {
        let value = value.exact()?.clone();
        self.display(&value)
    }

    pub(super) fn display(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::Str(s) => Some(s.to_string()),
            Value::Member(m) if m.mixed => {
                // `StrEnum` and `IntEnum` show their value; `class X(str, Enum)` shows the member.
                let ir = self.program.ir(m.class.file);
                let shows_value = self.program.class(m.class).bases.iter().any(|b| {
                    crate::program::last_name(ir, *b)
                        .is_some_and(|n| matches!(n.as_str(), "StrEnum" | "IntEnum" | "IntFlag"))
                });
                let own = self.program.method(m.class, Sym::from("__str__")).is_some();
                match (shows_value, own) {
                    (_, true) => None,
                    (true, false) => self.display(&m.value),
                    (false, false) => Some(format!("{}.{}", self.program.class(m.class).name, m.name)),
                }
            }
            other => self.repr(other),
        }
    }

    pub(super) fn repr(&mut self, value: &Value) -> Option<String> {
        Some(match value {
            Value::None => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Int(i) => i.to_string(),
            Value::Float(x) => float_text(*x),
            Value::Str(s) => quoted(s.as_str()),
            Value::Tuple(items) => {
                let shown = self.repr_all(items)?;
                if items.len() == 1 { format!("({shown},)") } else { format!("({shown})") }
            }
            Value::Object(id) => match self.shared(*id)?.as_ref() {
                Object::List(Items::Known(items)) => format!("[{}]", self.repr_all(items)?),
                Object::Set(Items::Known(items)) if !items.is_empty() => format!("{{{}}}", self.repr_all(items)?),
                Object::Dict(dict) if dict.open.is_none() => {
                    let mut pairs = Vec::new();
                    for (key, slot) in &dict.entries {
                        if slot.maybe.is_some() {
                            return None;
                        }
                        let value = slot.value.exact()?.clone();
                        pairs.push(format!("{}: {}", self.repr(key)?, self.repr(&value)?));
                    }
                    format!("{{{}}}", pairs.join(", "))
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    fn repr_all(&mut self, items: &[Abs]) -> Option<String> {
        let mut shown = Vec::with_capacity(items.len());
        for item in items {
            let value = item.exact()?.clone();
            shown.push(self.repr(&value)?);
        }
        Some(shown.join(", "))
    }

    /// A value as JSON, if all of it is known and plain.
    pub fn to_json(&self, value: &Abs) -> Option<serde_json::Value> {
        self.json_of(value.exact()?, 0)
    }

    fn json_of(&self, value: &Value, depth: u32) -> Option<serde_json::Value> {
        const MAX_NESTING: u32 = 24;
        if depth > MAX_NESTING {
            return None;
        }
        let all = |items: &[Abs]| {
            let items: Option<Vec<_>> = items.iter().map(|i| self.json_of(i.exact()?, depth + 1)).collect();
            items.map(serde_json::Value::from)
        };
        Some(match value {
            Value::None => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(i) => (*i).into(),
            Value::Float(x) if x.is_finite() => (*x).into(),
            Value::Float(x) => float_text(*x).into(),
            Value::Str(s) => s.as_str().into(),
            Value::Member(m) => self.json_of(&m.value, depth + 1)?,
            Value::Tuple(items) => all(items)?,
            Value::Object(id) => match self.object(*id)? {
                Object::List(Items::Known(items)) => all(items)?,
                Object::Set(Items::Known(items)) => {
                    let mut sorted: Vec<&Abs> = items.iter().collect();
                    sorted.sort_by(|a, b| match (a.exact(), b.exact()) {
                        (Some(a), Some(b)) => order(a, b),
                        _ => Ordering::Equal,
                    });
                    all(&sorted.into_iter().cloned().collect::<Vec<_>>())?
                }
                Object::Dict(dict) if dict.open.is_none() => {
                    let mut out = serde_json::Map::new();
                    for (key, slot) in &dict.entries {
                        let key = match key {
                            Value::Str(s) => s.to_string(),
                            other => other.as_int()?.to_string(),
                        };
                        if slot.maybe.is_some() {
                            return None;
                        }
                        out.insert(key, self.json_of(slot.value.exact()?, depth + 1)?);
                    }
                    serde_json::Value::Object(out)
                }
                Object::Instance(instance) if instance.kind == Kind::Plain && instance.open.is_none() => {
                    let mut names: Vec<&Sym> = instance.attrs.keys().filter(|n| !n.starts_with('_')).collect();
                    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
                    let mut out = serde_json::Map::new();
                    for name in names {
                        let slot = instance.attrs.get(name)?;
                        out.insert(name.to_string(), self.json_of(slot.value.exact()?, depth + 1)?);
                    }
                    serde_json::Value::Object(out)
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Plain data as a value.
    pub fn from_json(&mut self, data: &serde_json::Value) -> Abs {
        match data {
            serde_json::Value::Null => Abs::NONE,
            serde_json::Value::Bool(b) => Abs::bool(*b),
            serde_json::Value::Number(n) => match n.as_i64() {
                Some(i) => Abs::int(i),
                None => Abs::Is(Value::Float(n.as_f64().unwrap_or(f64::NAN))),
            },
            serde_json::Value::String(s) => Abs::str(s),
            serde_json::Value::Array(items) => {
                let items = items.iter().map(|i| self.from_json(i)).collect();
                self.new_list(items)
            }
            serde_json::Value::Object(map) => {
                let entries = map.iter().map(|(k, v)| (Value::str(k), self.from_json(v).into())).collect();
                self.new_dict(Dict { entries, open: None })
            }
        }
    }
}

/// `int("…")`
pub fn int(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { -1 } else { 1 }, rest),
        None => (1, text),
    };
    let ok = !digits.is_empty()
        && !digits.starts_with('_')
        && !digits.ends_with('_')
        && !digits.contains("__")
        && digits.chars().all(|c| c.is_ascii_digit() || c == '_');
    let number: i128 = ok.then(|| digits.replace('_', "").parse().ok()).flatten()?;
    i64::try_from(sign * number).ok()
}

/// `float("…")`
pub fn float(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.starts_with('_') || text.ends_with('_') || text.contains("__") {
        return None;
    }
    let plain = text.replace('_', "");
    match plain.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
        "inf" | "infinity" | "nan" => {}
        rest if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {}
        _ => return None,
    }
    plain.parse().ok()
}

/// As Python writes a float: the shortest text that reads back the same.
pub fn float_text(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let magnitude = x.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{x:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(rest) => ('-', rest),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = format!("{x}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

pub fn rounded(x: f64, digits: i64) -> f64 {
    match usize::try_from(digits) {
        Ok(digits) if digits < 20 => format!("{x:.digits$}").parse().unwrap_or(x),
        Ok(_) => x,
        Err(_) => {
            let factor = 10f64.powi(i32::try_from(-digits).unwrap_or(300));
            (x / factor).round_ties_even() * factor
        }
    }
}

fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// The order of plain values, for sorting; of different kinds, any fixed one.
pub fn order(a: &Value, b: &Value) -> Ordering {
    if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
        return x.partial_cmp(&y).unwrap_or(Ordering::Equal);
    }
    if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
        return x.as_str().cmp(y.as_str());
    }
    if let (Value::Tuple(x), Value::Tuple(y)) = (a, b) {
        for (a, b) in x.iter().zip(y.iter()) {
            if let (Some(a), Some(b)) = (a.exact(), b.exact()) {
                match order(a, b) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
        }
        return x.len().cmp(&y.len());
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written_as_python_does() {
        assert_eq!(int(" 1_000 "), Some(1000));
        assert_eq!(int("-5"), Some(-5));
        for bad in ["", "32k", "1.0", "_1", "1__0", "--1", "0x10"] {
            assert_eq!(int(bad), None, "{bad}");
        }
        assert_eq!(float("1e3"), Some(1000.0));
        assert_eq!(float(".5"), Some(0.5));
        assert!(float("nan").is_some_and(f64::is_nan));
        assert_eq!(float("e3"), None);
        assert_eq!(float_text(0.6), "0.6");
        assert_eq!(float_text(2.0), "2.0");
        assert_eq!(float_text(1e16), "1e+16");
        assert_eq!(float_text(1e-5), "1e-05");
        assert_eq!(rounded(0.8785, 3), 0.878);
    }
}
