//! YAML as a tree with lines, and as the values that PyYAML's `safe_load` makes of it.
//!
//! Aliases are copied in, within a budget, so that a small text cannot become a large tree; nesting is bounded. PyYAML
//! reads YAML 1.1: `on` is true, `1e3` is a text, `010` is eight.

use saphyr_parser::{Event, Parser, ScalarStyle};

#[derive(Clone, Debug)]
pub struct Node {
    /// Counts from 1.
    pub line: u32,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Scalar {
        text: String,
        /// Without quotes or block marks, so that its look decides its type.
        plain: bool,
        tag: Option<String>,
    },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct YamlError {
    pub line: u32,
    pub what: String,
}

const MAX_NODES: usize = 100_000;
const MAX_DEPTH: usize = 100;
const MAX_KEYS: usize = 4_096;

/// All documents of a text.
pub fn documents(text: &str) -> Result<Vec<Node>, YamlError> {
    if let Some(line) = conflict(text) {
        return Err(YamlError { line, what: "a merge conflict is not resolved".into() });
    }
    let mut build = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|e| YamlError { line: e.marker().line() as u32, what: e.info().to_owned() })?;
        build.event(event, span.start.line() as u32)?;
    }
    Ok(build.documents)
}

/// Is it the mark of an unresolved merge? Then the line.
pub fn conflict(text: &str) -> Option<u32> {
    let at = text.lines().position(|l| l.starts_with("<<<<<<< ") || l.starts_with(">>>>>>> "));
    at.map(|i| i as u32 + 1)
}

/// A collection that is not closed yet.
struct Open {
    node: Node,
    anchor: usize,
    /// The key that waits for its value.
    key: Option<Node>,
}

#[derive(Default)]
struct Builder {
    documents: Vec<Node>,
    open: Vec<Open>,
    anchors: Vec<(usize, Node)>,
    nodes: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, line: u32) -> Result<(), YamlError> {
        let fail = |what: &str| Err(YamlError { line, what: what.to_owned() });
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, line)?;
                let tag = tag.map(|t| format!("{}{}", t.handle, t.suffix));
                let kind = Kind::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain, tag };
                self.close(Node { line, kind }, anchor);
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                self.count(1, line)?;
                if self.open.len() >= MAX_DEPTH {
                    return fail("it is nested too deep");
                }
                let kind = match event {
                    Event::SequenceStart(..) => Kind::List(Vec::new()),
                    _ => Kind::Map(Vec::new()),
                };
                self.open.push(Open { node: Node { line, kind }, anchor, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(done) = self.open.pop() {
                    self.close(done.node, done.anchor);
                }
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.iter().rev().find(|(a, _)| *a == anchor).map(|(_, n)| n.clone()) else {
                    return fail("an alias without an anchor");
                };
                self.count(size(&node), line)?;
                self.close(node, 0);
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, more: usize, line: u32) -> Result<(), YamlError> {
        self.nodes = self.nodes.saturating_add(more);
        match self.nodes > MAX_NODES {
            true => Err(YamlError { line, what: "it is too large, or its aliases make it so".into() }),
            false => Ok(()),
        }
    }

    /// A node is complete: it goes into what is open.
    fn close(&mut self, node: Node, anchor: usize) {
        if anchor > 0 {
            self.anchors.push((anchor, node.clone()));
        }
        let Some(around) = self.open.last_mut() else {
            self.documents.push(node);
            return;
        };
        match &mut around.node.kind {
            Kind::List(items) => items.push(node),
            Kind::Map(entries) => match around.key.take() {
                Some(key) => entries.push((key, node)),
                None => around.key = Some(node),
            },
            Kind::Scalar { .. } => {}
        }
    }
}

fn size(node: &Node) -> usize {
    match &node.kind {
        Kind::Scalar { .. } => 1,
        Kind::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Kind::Map(entries) => 1 + entries.iter().map(|(k, v)| size(k) + size(v)).sum::<usize>(),
    }
}

impl Node {
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    pub fn entries(&self) -> &[(Node, Node)] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key, the last that is given; `<<` brings in what the map itself does not have.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let own = self.entries().iter().rev().find(|(k, _)| k.text() == Some(key)).map(|(_, v)| v);
        own.or_else(|| {
            let merged = self.entries().iter().find(|(k, _)| k.text() == Some("<<")).map(|(_, v)| v)?;
            match &merged.kind {
                Kind::List(items) => items.iter().find_map(|i| i.get(key)),
                _ => merged.get(key),
            }
        })
    }
}

/// A value as `yaml.safe_load` gives it.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Something else: a date.
    Other(&'static str),
    List(Vec<Data>),
    Map(Vec<(Data, Data)>),
}

/// What `yaml.safe_load` makes of a text.
pub fn parse_python(text: &str) -> Result<Data, YamlError> {
    let documents = documents(text)?;
    match documents.as_slice() {
        [] => Ok(Data::Null),
        [one] => data(one),
        [_, second, ..] => Err(YamlError { line: second.line, what: "there is more than one document".into() }),
    }
}

fn data(node: &Node) -> Result<Data, YamlError> {
    Ok(match &node.kind {
        Kind::List(items) => Data::List(items.iter().map(data).collect::<Result<_, _>>()?),
        Kind::Map(entries) => {
            let mut out: Vec<(Data, Data)> = Vec::new();
            for (key, value) in entries {
                if out.len() > MAX_KEYS {
                    return Err(YamlError { line: key.line, what: "a map has too many keys".into() });
                }
                if matches!(&key.kind, Kind::Scalar { text, plain: true, tag: None } if text == "<<") {
                    for (k, v) in merged(value)? {
                        if !out.iter().any(|(known, _)| *known == k) {
                            out.push((k, v));
                        }
                    }
                    continue;
                }
                let (key, value) = (data(key)?, data(value)?);
                out.retain(|(known, _)| *known != key);
                out.push((key, value));
            }
            Data::Map(out)
        }
        Kind::Scalar { text, plain, tag } => match tag.as_deref() {
            None if *plain => implicit(text),
            None | Some("!" | "tag:yaml.org,2002:str") => Data::Text(text.clone()),
            Some("tag:yaml.org,2002:null") => Data::Null,
            Some("tag:yaml.org,2002:int" | "tag:yaml.org,2002:float" | "tag:yaml.org,2002:bool") => implicit(text),
            Some(other) => {
                return Err(YamlError { line: node.line, what: format!("the tag {other} is not one that is loaded") });
            }
        },
    })
}

/// What `<<` brings in: the entries of a map, or of several, of which the first to have a key gives it.
fn merged(node: &Node) -> Result<Vec<(Data, Data)>, YamlError> {
    let error = || YamlError { line: node.line, what: "`<<` takes a map or a list of maps".into() };
    match data(node)? {
        Data::Map(entries) => Ok(entries),
        Data::List(maps) => {
            let mut out = Vec::new();
            for map in maps {
                let Data::Map(entries) = map else { return Err(error()) };
                out.extend(entries);
            }
            Ok(out)
        }
        _ => Err(error()),
    }
}

/// What a plain scalar is by its look, in YAML 1.1.
fn implicit(text: &str) -> Data {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Data::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Data::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return Data::Bool(false),
        _ => {}
    }
    if let Some(number) = whole(text) {
        return number;
    }
    if let Some(x) = fraction(text) {
        return Data::Float(x);
    }
    if is_date(text) {
        return Data::Other("a date");
    }
    Data::Text(text.to_owned())
}

fn whole(text: &str) -> Option<Data> {
    let (negative, body) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let digits = body.replace('_', "");
    let in_base = |digits: &str, base: u32| {
        let number = i64::from_str_radix(digits, base).ok()?;
        Some(if negative { -number } else { number })
    };
    let all = |test: fn(char) -> bool, s: &str| !s.is_empty() && s.chars().all(|c| test(c) || c == '_');
    let value = match body {
        "0" => Some(0),
        _ if body.starts_with("0b") && all(|c| matches!(c, '0' | '1'), &body[2..]) => in_base(digits.get(2..)?, 2),
        _ if body.starts_with("0x") && all(|c| c.is_ascii_hexdigit(), &body[2..]) => in_base(digits.get(2..)?, 16),
        _ if body.starts_with('0') && all(|c| ('0'..='7').contains(&c), &body[1..]) => in_base(digits.get(1..)?, 8),
        _ if body.starts_with(|c: char| ('1'..='9').contains(&c)) && all(|c| c.is_ascii_digit(), body) => {
            match in_base(&digits, 10) {
                Some(number) => Some(number),
                None => return Some(Data::Other("a number that is too large")),
            }
        }
        _ if body.contains(':') && body.starts_with(|c: char| ('1'..='9').contains(&c)) => {
            sixties(&digits).map(|n| if negative { -n } else { n })
        }
        _ => None,
    };
    value.map(Data::Int)
}

/// `1:30` is ninety.
fn sixties(digits: &str) -> Option<i64> {
    let mut parts = digits.split(':');
    let mut total: i64 = parts.next()?.parse().ok()?;
    for part in parts {
        let number: i64 = part.parse().ok()?;
        if !(1..=2).contains(&part.len()) || number > 59 {
            return None;
        }
        total = total.checked_mul(60)?.checked_add(number)?;
    }
    Some(total)
}

fn fraction(text: &str) -> Option<f64> {
    let body = text.trim_start_matches(['-', '+']);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match body {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    if text.len() - body.len() > 1 {
        return None;
    }
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(i) => (body.get(..i)?, body.get(i + 1..)),
        None => (body, None),
    };
    let (before, after) = mantissa.split_once('.')?;
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let starts = before.starts_with(|c: char| c.is_ascii_digit())
        || before.is_empty() && after.starts_with(|c: char| c.is_ascii_digit());
    // The sign of an exponent is not optional in YAML 1.1.
    let exponent_ok = exponent.is_none_or(|e| {
        e.strip_prefix(['-', '+']).is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    });
    if !(starts && digits(before) && digits(after) && exponent_ok) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// `2024-01-31`, with or without a time.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    (0..4).all(digit)
        && bytes.get(4) == Some(&b'-')
        && digit(5)
        && bytes.iter().filter(|b| **b == b'-').count() >= 2
        && bytes.iter().all(|b| b.is_ascii_digit() || b"-:.+TtZz ".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_what_pyyaml_makes_of_them() {
        let cases = [
            ("on", Data::Bool(true)),
            ("No", Data::Bool(false)),
            ("null", Data::Null),
            ("8", Data::Int(8)),
            ("010", Data::Int(8)),
            ("0x10", Data::Int(16)),
            ("1_000", Data::Int(1000)),
            ("1:30", Data::Int(90)),
            ("0.85", Data::Float(0.85)),
            ("1.5e+3", Data::Float(1500.0)),
            ("1e3", Data::Text("1e3".into())),
            ("1.5e3", Data::Text("1.5e3".into())),
            ("2024-01-31", Data::Other("a date")),
            ("fp8_e4m3", Data::Text("fp8_e4m3".into())),
            ("'8'", Data::Text("8".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_python(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_loaded_says_so() {
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned()
            + &(b'b'..=b'j')
                .map(|c| {
                    let (c, p) = (c as char, (c - 1) as char);
                    format!("{c}: &{c} [{}]\n", vec![format!("*{p}"); 10].join(","))
                })
                .collect::<String>();
        assert!(parse_python(&bomb).is_err_and(|e| e.what.contains("too large")));
        assert!(parse_python(&"[".repeat(10_000)).is_err());
        assert!(parse_python("a: 1\n---\nb: 2\n").is_err());
        assert!(parse_python("a: !!python/object:os.system {}\nb: !x 1").is_err());
        assert!(parse_python("<<<<<<< ours\na: 1\n").is_err_and(|e| e.line == 1));
        assert_eq!(parse_python(""), Ok(Data::Null));
        assert!(parse_python("a: 1\n<<: 2\n").is_err_and(|e| e.what.contains("takes a map")));
        let keys: String = (0..10_000).map(|i| format!("k{i}: 1\n")).collect();
        assert!(parse_python(&keys).is_err_and(|e| e.what.contains("too many keys")));
    }

    #[test]
    fn a_map_has_its_own_keys_before_those_that_it_merges() {
        let text = "- &a {x: 1, y: 1}\n- &b {y: 2, z: 2}\n- <<: [*a, *b]\n  x: 3\n- '<<': 4\n";
        let Ok(Data::List(items)) = parse_python(text) else { panic!("no list") };
        let text = |t: &str| Data::Text(t.into());
        let Some(Data::Map(mut entries)) = items.get(2).cloned() else { panic!("no map") };
        entries.sort_by_key(|(k, _)| format!("{k:?}"));
        assert_eq!(entries, [(text("x"), Data::Int(3)), (text("y"), Data::Int(1)), (text("z"), Data::Int(2))]);
        assert_eq!(items.get(3), Some(&Data::Map(vec![(text("<<"), Data::Int(4))])));
    }
}
