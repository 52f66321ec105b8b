//! Puts in what variables hold, and splits words where a shell would.
//!
//! A variable that nothing sets is open, not empty: it may come from outside. `${X:-d}` without X is `d`.

use super::lexer::{Item, Lexed, Part, Word, lex};
use super::{arithmetic, lexer};
use crate::launch::command::token::{self, Token};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Debug)]
pub enum Var {
    Text(String),
    Array(Vec<String>),
}

/// The variables of a script.
#[derive(Clone, Default, Debug)]
pub struct Variables {
    values: BTreeMap<String, Var>,
    exported: Vec<String>,
    /// `$1`, `$2`…; `None` where they come from outside.
    pub positional: Option<Vec<String>>,
}

impl Variables {
    pub fn get(&self, name: &str) -> Option<&Var> {
        self.values.get(name)
    }
    pub fn set(&mut self, name: &str, value: Var) {
        self.values.insert(name.to_owned(), value);
    }
    pub fn unset(&mut self, name: &str) {
        self.values.remove(name);
    }
    pub fn export(&mut self, name: &str) {
        if !self.exported.iter().any(|n| n == name) {
            self.exported.push(name.to_owned());
        }
    }
    /// The variables that a program sees; one that is not known has no value.
    pub fn environment(&self) -> Vec<(String, Option<String>)> {
        let exported = self.values.iter().filter(|(name, _)| self.exported.contains(name));
        let texts = exported.filter_map(|(name, value)| match value {
            Var::Text(text) => Some((name.clone(), (!token::is_open(text)).then(|| text.clone()))),
            Var::Array(_) => None,
        });
        texts.collect()
    }
    /// After ways that set different things: what they agree on; the rest is open.
    pub fn joined(ways: Vec<Variables>) -> Variables {
        let mut ways = ways.into_iter();
        let Some(mut out) = ways.next() else { return Variables::default() };
        for way in ways {
            let names: Vec<String> = out.values.keys().chain(way.values.keys()).cloned().collect();
            for name in names {
                if out.values.get(&name) != way.values.get(&name) {
                    let open = token::unknown(&format!("${name}"));
                    out.values.insert(name, Var::Text(open));
                }
            }
            for name in way.exported {
                out.export(&name);
            }
            if out.positional != way.positional {
                out.positional = None;
            }
        }
        out
    }
}

/// A piece of a word: text that is split at white space if it came from outside of quotes.
struct Piece {
    text: String,
    splits: bool,
    quoted: bool,
}

const MAX_TEXT: usize = 16 << 20;
/// Bytes of a list; a longer one is not known.
const MAX_LIST: usize = 1 << 20;
const MAX_NESTING: u32 = 12;

/// The words that one word becomes.
pub fn words(word: &Word, variables: &Variables) -> Vec<Token> {
    let mut fields: Vec<Vec<Piece>> = vec![Vec::new()];
    for part in &word.parts {
        match part {
            Part::Text { text, quoted } => {
                let text = token::without_marks(text);
                let first = fields.len() == 1 && fields.last().is_some_and(Vec::is_empty);
                // A home folder, or words by braces: only the shell knows.
                let open = !quoted && (first && text.starts_with('~') || has_alternatives(&text));
                let text = if open { token::unknown(&text) } else { text };
                push(&mut fields, Piece { text, splits: false, quoted: *quoted });
            }
            Part::Param { inner, quoted } => {
                let found = parameter(inner, variables, 0);
                match found {
                    // A list that holds itself twice doubles with each line.
                    Value::Many(items) if items.iter().map(|i| i.len() + 1).sum::<usize>() > MAX_LIST => {
                        push(&mut fields, Piece { text: token::unknown(inner), splits: false, quoted: *quoted });
                    }
                    // Which blanks of a default are quoted is not kept: where it would be split only the shell knows.
                    Value::One(text)
                        if !quoted && inner.contains(['"', '\'']) && text.contains(char::is_whitespace) =>
                    {
                        push(
                            &mut fields,
                            Piece { text: token::unknown(&format!("${{{inner}}}")), splits: false, quoted: false },
                        );
                    }
                    Value::One(text) => push(&mut fields, Piece { text, splits: !quoted, quoted: *quoted }),
                    Value::Many(items) => {
                        for (i, text) in items.into_iter().enumerate() {
                            if i > 0 {
                                fields.push(Vec::new());
                            }
                            push(&mut fields, Piece { text, splits: !quoted, quoted: *quoted });
                        }
                    }
                }
            }
            Part::Command { source, quoted } => {
                push(&mut fields, Piece { text: token::unknown(source), splits: false, quoted: *quoted });
            }
            Part::Arithmetic { inner } => {
                let text = match arithmetic::value(inner, &|name| number(name, variables)) {
                    Some(value) => value.to_string(),
                    None => token::unknown(&format!("$(({inner}))")),
                };
                push(&mut fields, Piece { text, splits: false, quoted: true });
            }
        }
    }
    let mut out = Vec::new();
    for field in fields {
        split(&field, word.line, &mut out);
    }
    out
}

/// The one text that a word becomes where it is not split: on the right of `=`.
pub fn text(word: &Word, variables: &Variables) -> String {
    let mut out = String::new();
    for part in &word.parts {
        match part {
            Part::Text { text, quoted } => {
                let text = token::without_marks(text);
                match !quoted && out.is_empty() && text.starts_with('~') {
                    true => out.push_str(&token::unknown(&text)),
                    false => out.push_str(&text),
                }
            }
            Part::Param { inner, .. } => match parameter(inner, variables, 0) {
                Value::One(text) => out.push_str(&text),
                Value::Many(items) => out.push_str(&items.join(" ")),
            },
            Part::Command { source, .. } => out.push_str(&token::unknown(source)),
            Part::Arithmetic { inner } => match arithmetic::value(inner, &|name| number(name, variables)) {
                Some(value) => out.push_str(&value.to_string()),
                None => out.push_str(&token::unknown(&format!("$(({inner}))"))),
            },
        }
        if out.len() > MAX_TEXT {
            return token::unknown("a text that is too long");
        }
    }
    out
}

fn push(fields: &mut [Vec<Piece>], piece: Piece) {
    if let Some(last) = fields.last_mut() {
        last.push(piece);
    }
}

/// `{a,b}` outside of quotes.
fn has_alternatives(text: &str) -> bool {
    text.find('{').is_some_and(|i| text.get(i..).is_some_and(|rest| rest.contains(',') && rest.contains('}')))
}

fn split(field: &[Piece], line: u32, out: &mut Vec<Token>) {
    let mut current = String::new();
    let mut any = false;
    for piece in field {
        if !piece.splits || token::is_open(&piece.text) {
            current.push_str(&piece.text);
            any |= piece.quoted || !piece.text.is_empty();
            continue;
        }
        let starts_apart = piece.text.starts_with(char::is_whitespace);
        let ends_apart = piece.text.ends_with(char::is_whitespace);
        if starts_apart && any {
            out.push(Token::at(std::mem::take(&mut current), line));
            any = false;
        }
        let mut parts = piece.text.split_whitespace().peekable();
        while let Some(part) = parts.next() {
            current.push_str(part);
            any = true;
            if parts.peek().is_some() || ends_apart {
                out.push(Token::at(std::mem::take(&mut current), line));
                any = false;
            }
        }
    }
    if any {
        out.push(Token::at(current, line));
    }
}

enum Value {
    One(String),
    Many(Vec<String>),
}

fn open(inner: &str) -> Value {
    let source = if lexer::is_name(inner) || inner.len() == 1 { format!("${inner}") } else { format!("${{{inner}}}") };
    Value::One(token::unknown(&source))
}

/// `$inner` or `${inner}`.
fn parameter(inner: &str, variables: &Variables, depth: u32) -> Value {
    if depth > MAX_NESTING {
        return open(inner);
    }
    if let Some(name) = inner.strip_prefix('#')
        && !name.is_empty()
    {
        return match (name.strip_suffix("[@]").or(name.strip_suffix("[*]")), variables.get(name)) {
            (Some(name), _) => match variables.get(name) {
                Some(Var::Array(items)) => Value::One(items.len().to_string()),
                _ => open(inner),
            },
            (None, Some(Var::Text(text))) if !token::is_open(text) => Value::One(text.chars().count().to_string()),
            _ => open(inner),
        };
    }
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
    let (name, rest) =
        if end == 0 { inner.split_at(inner.chars().next().map_or(0, char::len_utf8)) } else { inner.split_at(end) };
    let (index, rest) = match rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        Some((index, rest)) => (Some(index), rest),
        None => (None, rest),
    };
    let value = lookup(name, index, variables);
    if rest.is_empty() {
        return value.unwrap_or_else(|| open(inner));
    }
    let (colon, op) = match rest.strip_prefix(':') {
        Some(op) => (true, op),
        None => (false, rest),
    };
    let Some(kind) = op.chars().next() else { return open(inner) };
    let word = op.get(kind.len_utf8()..).unwrap_or("");
    let is_open = matches!(&value, Some(Value::One(text)) if token::is_open(text));
    let is_null = match &value {
        None => true,
        Some(Value::One(text)) => colon && text.is_empty(),
        Some(Value::Many(items)) => colon && items.is_empty(),
    };
    match kind {
        '-' | '=' if is_null => Value::One(default(word, variables, depth)),
        '-' | '=' | '?' if is_open => open(inner),
        '-' | '=' | '?' => value.unwrap_or_else(|| open(inner)),
        '+' if value.is_none() => Value::One(String::new()),
        '+' if is_open => open(inner),
        '+' if is_null => Value::One(String::new()),
        '+' => Value::One(default(word, variables, depth)),
        _ => open(inner),
    }
}

fn lookup(name: &str, index: Option<&str>, variables: &Variables) -> Option<Value> {
    match (name, &variables.positional) {
        ("@" | "*", Some(args)) => return Some(Value::Many(args.clone())),
        ("#", Some(args)) => return Some(Value::One(args.len().to_string())),
        (digits, Some(args)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let i: usize = digits.parse().ok()?;
            return args.get(i.checked_sub(1)?).cloned().map(Value::One);
        }
        _ => {}
    }
    match (variables.get(name)?, index) {
        (Var::Array(items), Some("@" | "*")) => Some(Value::Many(items.clone())),
        (Var::Text(text), Some("@" | "*")) => Some(Value::Many(vec![text.clone()])),
        (Var::Array(items), index) => {
            let i: usize = index.unwrap_or("0").parse().ok()?;
            items.get(i).cloned().map(Value::One)
        }
        (Var::Text(text), None | Some("0")) => Some(Value::One(text.clone())),
        (Var::Text(_), Some(_)) => None,
    }
}

/// The word after `:-`, with its own quotes and variables.
fn default(word: &str, variables: &Variables, depth: u32) -> String {
    let Lexed { items, .. } = lex(word);
    let mut texts = Vec::new();
    for item in items {
        let Item::Word(word) = item else { return token::unknown(word) };
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Part::Text { text: t, .. } => text.push_str(&token::without_marks(t)),
                Part::Param { inner, .. } => match parameter(inner, variables, depth + 1) {
                    Value::One(t) => text.push_str(&t),
                    Value::Many(items) => text.push_str(&items.join(" ")),
                },
                Part::Command { source, .. } => text.push_str(&token::unknown(source)),
                Part::Arithmetic { inner } => match arithmetic::value(inner, &|name| number(name, variables)) {
                    Some(value) => text.push_str(&value.to_string()),
                    None => text.push_str(&token::unknown(&format!("$(({inner}))"))),
                },
            }
        }
        texts.push(text);
    }
    texts.join(" ")
}

fn number(name: &str, variables: &Variables) -> Option<i64> {
    match variables.get(name)? {
        Var::Text(text) => text.trim().parse().ok(),
        Var::Array(_) => None,
    }
}
