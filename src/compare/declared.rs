//! What differs in how arguments are declared and what the parser takes: names, flags, types, choices, defaults, help.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Pair;
use super::change::{Change, Level};
use super::codes::Code;
use super::snapshot::{Meaning, Snapshot};
use super::term::{Literal, Term};

/// An argument that both releases have, under one name or two.
pub fn changes(pair: &Pair, old: &Meaning, new: &Meaning) -> Vec<Change> {
    let mut out = flags(pair, old, new);
    out.extend(default(pair, old, new));
    out.extend(type_(old, new));
    out.extend(choices(old, new));
    out.extend(deprecated(old, new));
    if old.help != new.help && new.help.is_some() {
        let message = format!("the help of {} is another", new.field);
        let change = Change::new(Code::HelpChanged, &new.field, Level::Cosmetic, message);
        out.push(change.values(text(&old.help), text(&new.help)).places(Some(old.told_at()), Some(new.told_at())));
    }
    out
}

pub fn added(new: &Meaning) -> Change {
    let unset = new.default.as_ref().map_or_else(String::new, |default| format!(", {default} unless it is given"));
    let message = format!("{} is new{unset}", usual(new));
    Change::new(Code::FieldAdded, &new.field, Level::Cosmetic, message)
        .flag(new.flags.first().map(String::as_str))
        .values(Value::Null, new.default.as_ref().map_or(Value::Null, |d| json(d)))
        .places(None, Some(&new.at))
}

/// An argument that is gone, and what its flags come to now.
pub fn removed(pair: &Pair, old: &Meaning) -> Vec<Change> {
    let now = &pair.new.snapshot;
    let retired = old.flags.iter().find_map(|flag| now.retired_flags.iter().find(|r| r.flag == *flag));
    let (level, rest) = match retired {
        Some(retired) if retired.fails => (Level::Breaking, format!("; the flag ends the launch: {}", retired.text)),
        Some(retired) => (Level::Behaviour, format!("; the flag is ignored: {}", retired.text)),
        None => (Level::Breaking, String::new()),
    };
    let message = format!("{} is gone{rest}", usual(old));
    let mut out = vec![
        Change::new(Code::FieldRemoved, &old.field, level, message)
            .flag(old.flags.first().map(String::as_str))
            .values(old.default.as_ref().map_or(Value::Null, |d| json(d)), Value::Null)
            .places(Some(&old.at), retired.map(|r| &r.at)),
    ];
    for flag in &old.flags {
        if let Taken::Ambiguously(flags) = taken(now, flag) {
            out.push(ambiguous(&old.field, flag, &flags).places(Some(old.told_at()), None));
        }
    }
    out
}

/// Flags that the old parser took without effect and the new one does not take.
pub fn retired(pair: &Pair) -> Vec<Change> {
    let mut out = Vec::new();
    for flag in &pair.old.snapshot.retired_flags {
        if pair.new.snapshot.retired_flags.iter().any(|r| r.flag == flag.flag) {
            continue;
        }
        let change = match taken(pair.new.snapshot, &flag.flag) {
            Taken::Exactly(_) => continue,
            Taken::Ambiguously(flags) => ambiguous(&flag.field, &flag.flag, &flags),
            Taken::AsBeginning { .. } | Taken::Not => {
                let had = if flag.fails { "it ended the launch with advice" } else { "it had no effect" };
                let message = format!("{} is not taken any more; {had}", flag.flag);
                Change::new(Code::FlagRemoved, &flag.field, Level::Breaking, message).flag(Some(&flag.flag))
            }
        };
        out.push(change.values(flag.flag.clone(), Value::Null).places(Some(&flag.at), None));
    }
    out
}

/// What a parser makes of a flag, by argparse's rules: in full, else as the beginning of one.
enum Taken {
    Exactly(Option<String>),
    AsBeginning { flag: String, field: Option<String> },
    Ambiguously(Vec<String>),
    Not,
}

fn taken(snapshot: &Snapshot, flag: &str) -> Taken {
    let set = snapshot.fields.iter().flat_map(|m| m.flags.iter().map(|f| (f, Some(&m.field))));
    let all: Vec<(&String, Option<&String>)> =
        set.chain(snapshot.retired_flags.iter().map(|r| (&r.flag, None))).collect();
    if let Some((_, field)) = all.iter().find(|(f, _)| *f == flag) {
        return Taken::Exactly(field.cloned());
    }
    if !flag.starts_with("--") {
        return Taken::Not;
    }
    let mut begun: Vec<_> = all.into_iter().filter(|(f, _)| f.starts_with(flag)).collect();
    begun.sort();
    begun.dedup();
    match begun.as_slice() {
        [] => Taken::Not,
        [(flag, field)] => Taken::AsBeginning { flag: (*flag).clone(), field: field.cloned() },
        many => Taken::Ambiguously(many.iter().map(|(f, _)| (*f).clone()).collect()),
    }
}

fn ambiguous(field: &str, flag: &str, flags: &[String]) -> Change {
    let message = format!("{flag} is not taken any more: it is now the beginning of {}", flags.join(" and "));
    Change::new(Code::FlagAmbiguous, field, Level::Breaking, message).flag(Some(flag)).values(flag, flags.join(", "))
}

fn flags(pair: &Pair, old: &Meaning, new: &Meaning) -> Vec<Change> {
    let mut out = Vec::new();
    let come: Vec<&String> = new.flags.iter().filter(|f| !old.flags.contains(f)).collect();
    let gone: Vec<&String> = old.flags.iter().filter(|f| !new.flags.contains(f)).collect();
    let places = |change: Change| change.places(Some(old.told_at()), Some(new.told_at()));
    // A renamed argument is told as such.
    let renamed = old.field != new.field;
    let exchanged = gone.len() == 1 && come.len() == 1 && old.flags.len() == 1 && new.flags.len() == 1;
    for flag in &gone {
        let change = match taken(pair.new.snapshot, flag) {
            _ if renamed => match taken(pair.new.snapshot, flag) {
                Taken::Ambiguously(flags) => ambiguous(&old.field, flag, &flags),
                _ => continue,
            },
            Taken::Ambiguously(flags) => ambiguous(&new.field, flag, &flags),
            Taken::Exactly(Some(field)) if field != new.field => {
                let message = format!("{flag} now sets {field}");
                Change::new(Code::FlagRemoved, &new.field, Level::Behaviour, message).values((*flag).clone(), field)
            }
            Taken::Exactly(_) => retired_spelling(pair, new, flag),
            Taken::AsBeginning { flag: whole, field } if field.as_ref() == Some(&new.field) => {
                let code = if exchanged { Code::FlagRenamed } else { Code::FlagRemoved };
                let message = format!("{flag} is now taken as an abbreviation of {whole}");
                Change::new(code, &new.field, Level::Cosmetic, message).values((*flag).clone(), whole)
            }
            Taken::AsBeginning { flag: whole, field } => {
                let what = field.unwrap_or_else(|| String::from("nothing"));
                let message = format!("{flag} is now taken as an abbreviation of {whole}, which sets {what}");
                Change::new(Code::FlagRemoved, &new.field, Level::Breaking, message).values((*flag).clone(), whole)
            }
            Taken::Not if exchanged => {
                let message = format!("{flag} is not taken any more; it is {} now", come[0]);
                Change::new(Code::FlagRenamed, &new.field, Level::Breaking, message)
                    .values((*flag).clone(), come[0].clone())
            }
            Taken::Not => {
                let message = match new.flags.first() {
                    Some(other) => format!("{flag} is not taken any more; {other} is"),
                    None => format!("{flag} is not taken any more, and no flag sets {}", new.field),
                };
                Change::new(Code::FlagRemoved, &new.field, Level::Breaking, message)
                    .values((*flag).clone(), Value::Null)
            }
        };
        let flag = change.flag.clone().unwrap_or_else(|| (*flag).clone());
        out.push(places(change.flag(Some(&flag))));
    }
    if !exchanged && !renamed {
        for flag in come {
            let message = format!("{flag} sets {} too", new.field);
            let change = Change::new(Code::FlagAdded, &new.field, Level::Cosmetic, message).flag(Some(flag));
            out.push(places(change.values(Value::Null, flag.clone())));
        }
    }
    out
}

/// A spelling that is still parsed and no longer sets the argument.
fn retired_spelling(pair: &Pair, new: &Meaning, flag: &str) -> Change {
    let retired = pair.new.snapshot.retired_flags.iter().find(|r| r.flag == flag);
    let (level, what) = match retired {
        Some(retired) if retired.fails => (Level::Breaking, "ends the launch"),
        _ => (Level::Behaviour, "is ignored"),
    };
    let text = retired.map(|r| r.text.clone()).unwrap_or_default();
    Change::new(Code::Deprecated, &new.field, level, format!("{flag} {what}: {text}")).values(flag, text)
}

/// The first value of an argument that is not given.
fn default(pair: &Pair, old: &Meaning, new: &Meaning) -> Option<Change> {
    let (a, b) = (default_term(pair, old, true), default_term(pair, new, false));
    if a == b {
        return None;
    }
    let (before, after) =
        (old.default.as_ref().map_or(Value::Null, |d| json(d)), new.default.as_ref().map_or(Value::Null, |d| json(d)));
    let shown = |m: &Meaning| m.default.clone().unwrap_or_else(|| String::from("required"));
    let level = match (&old.default, &new.default) {
        (Some(_), None) => Level::Breaking,
        _ if same_in_the_end(pair, old, new) => Level::Cosmetic,
        _ => Level::Behaviour,
    };
    let message = match level {
        Level::Cosmetic => {
            format!("{} begins as {} where it began as {}, and ends up the same", new.field, shown(new), shown(old))
        }
        _ => format!("{} is {} where it was {}, unless it is given", new.field, shown(new), shown(old)),
    };
    let change =
        Change::new(Code::DefaultChanged, &new.field, level, message).flag(new.flags.first().map(String::as_str));
    Some(change.values(before, after).places(Some(&old.at), Some(&new.at)))
}

fn default_term(pair: &Pair, meaning: &Meaning, old: bool) -> Option<Term> {
    let release = if old { &pair.old } else { &pair.new };
    meaning.default.as_ref().map(|text| release.texts.term(text))
}

/// Does one side always fill the unset argument with what the other begins with?
fn same_in_the_end(pair: &Pair, old: &Meaning, new: &Meaning) -> bool {
    let filled = |meaning: &Meaning, old: bool| {
        let release = if old { &pair.old } else { &pair.new };
        let first = default_term(pair, meaning, old)?;
        let unset = |part: &Term| match (part, first.literal()) {
            (Term::OneOf { subject, values, holds: true }, Some(first)) => {
                matches!(&**subject, Term::Field(_)) && values.contains(first)
            }
            (Term::Not(inner), Some(first)) => matches!(&**inner, Term::Field(_)) && !first.truth(),
            _ => false,
        };
        let always = meaning
            .rewrites
            .iter()
            .find(|r| release.texts.all(&r.when).conjuncts().iter().all(unset) && !r.when.is_empty());
        always.map_or(Some(first.clone()), |r| Some(release.texts.term(&r.to)))
    };
    let (a, b) = (filled(old, true), filled(new, false));
    // A limit that no number reaches is no limit.
    let unlimited = |term: &Term| matches!(term, Term::Name(name) if name == "maxsize" || name == "inf");
    let none = Term::Literal(Literal::None);
    match (a, b) {
        (Some(a), Some(b)) => a == b || (unlimited(&a) && b == none) || (unlimited(&b) && a == none),
        _ => false,
    }
}

/// A default as a JSON value; what is no constant as text.
fn json(default: &str) -> Value {
    let names = rustc_hash::FxHashSet::default();
    fn value(term: &Term) -> Option<Value> {
        match term {
            Term::Literal(literal) => Some(literal.json()),
            Term::List(items) => items.iter().map(value).collect::<Option<Vec<_>>>().map(Value::from),
            _ => None,
        }
    }
    value(&super::parse::Reader::new(&names).term(default)).unwrap_or_else(|| default.into())
}

fn type_(old: &Meaning, new: &Meaning) -> Option<Change> {
    let (a, b) = (old.type_.as_deref().map(canonical_type), new.type_.as_deref().map(canonical_type));
    if a == b && old.converter == new.converter {
        return None;
    }
    // What the parser makes of a value decides; an annotation alone changes nothing.
    let parsed =
        |m: &Meaning, canonical: &Option<String>| m.converter.clone().or_else(|| canonical.as_deref().map(converter));
    let (was, is) = (parsed(old, &a), parsed(new, &b));
    let level = match (was.as_deref(), is.as_deref()) {
        (was, is) if was == is => Level::Cosmetic,
        (Some("int"), Some("float")) | (Some(_), Some("str")) => Level::Cosmetic,
        (Some("float"), Some("int")) | (Some("str"), Some("int" | "float")) | (_, Some("bool")) | (Some("bool"), _) => {
            Level::Breaking
        }
        _ => Level::Cosmetic,
    };
    let (before, after) =
        if a == b { (text(&old.converter), text(&new.converter)) } else { (text(&old.type_), text(&new.type_)) };
    let message = format!("{} is {} where it was {}", new.field, shown(&after), shown(&before));
    Some(
        Change::new(Code::TypeChanged, &new.field, level, message)
            .values(before, after)
            .places(Some(&old.at), Some(&new.at)),
    )
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| String::from("as declared"), str::to_owned)
}

/// `Optional[int]`, `Union[int, None]` and `int | None` are one type, as are `List` and `list`.
fn canonical_type(text: &str) -> String {
    let compact: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
    let mut out = compact.replace("typing.", "");
    for (long, short) in [("List[", "list["), ("Dict[", "dict["), ("Tuple[", "tuple["), ("Set[", "set[")] {
        out = out.replace(long, short);
    }
    let optional = out.strip_prefix("Optional[").and_then(|rest| rest.strip_suffix(']'));
    let union = out.strip_prefix("Union[").and_then(|rest| rest.strip_suffix(']'));
    let mut parts: BTreeSet<String> = match (optional, union) {
        (Some(inner), _) => {
            let inner = inner
                .strip_prefix("Union[")
                .and_then(|rest| rest.strip_suffix(']'))
                .map_or(vec![inner], |u| split(u, ','));
            inner.into_iter().map(str::to_owned).chain([String::from("None")]).collect()
        }
        (_, Some(inner)) => split(inner, ',').into_iter().map(str::to_owned).collect(),
        _ => split(&out, '|').into_iter().map(str::to_owned).collect(),
    };
    parts.retain(|p| !p.is_empty());
    parts.into_iter().collect::<Vec<_>>().join("|")
}

/// Splits outside brackets.
fn split(text: &str, at: char) -> Vec<&str> {
    let mut depth = 0i32;
    let mut start = 0;
    let mut out = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            c if c == at && depth == 0 => {
                out.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out
}

/// What the parser converts a value with, where the declaration alone says it.
fn converter(canonical: &str) -> String {
    let parts: Vec<&str> = split(canonical, '|').into_iter().filter(|p| *p != "None").collect();
    match parts.as_slice() {
        [one @ ("int" | "float" | "bool")] => (*one).to_owned(),
        _ => String::from("str"),
    }
}

fn choices(old: &Meaning, new: &Meaning) -> Vec<Change> {
    let fixed = |m: &Meaning| !m.choices.is_empty();
    let gone: Vec<&Value> = old.choices.iter().filter(|c| !new.choices.contains(c)).collect();
    let come: Vec<&Value> = new.choices.iter().filter(|c| !old.choices.contains(c)).collect();
    let list = |values: &[Value]| if values.is_empty() { Value::Null } else { Value::from(values.to_vec()) };
    let change = |code: Code, level: Level, message: String| {
        Change::new(code, &new.field, level, message)
            .flag(new.flags.first().map(String::as_str))
            .values(list(&old.choices), list(&new.choices))
            .places(Some(old.told_at()), Some(new.told_at()))
    };
    let names = |values: &[&Value]| {
        values.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect::<Vec<_>>().join(", ")
    };
    match (fixed(old), fixed(new)) {
        (false, false) => Vec::new(),
        (false, true) if old.extensible => vec![change(
            Code::ChoicesAdded,
            Level::Cosmetic,
            format!("the choices of {} are known: {}", new.field, names(&come)),
        )],
        (false, true) => vec![change(
            Code::ChoicesRemoved,
            Level::Breaking,
            format!("{} took any value and takes only {}", new.field, names(&come)),
        )],
        (true, false) => vec![change(Code::ChoicesAdded, Level::Cosmetic, format!("{} takes any value", new.field))],
        (true, true) => {
            let mut out = Vec::new();
            if !gone.is_empty() {
                let level = if new.extensible { Level::Behaviour } else { Level::Breaking };
                out.push(change(
                    Code::ChoicesRemoved,
                    level,
                    format!("{} no longer takes {}", new.field, names(&gone)),
                ));
            }
            if !come.is_empty() {
                out.push(change(
                    Code::ChoicesAdded,
                    Level::Cosmetic,
                    format!("{} also takes {}", new.field, names(&come)),
                ));
            }
            out
        }
    }
}

fn deprecated(old: &Meaning, new: &Meaning) -> Option<Change> {
    let notice = new.deprecated.as_ref().filter(|_| old.deprecated.is_none())?;
    let level = if new.flags.is_empty() && !old.flags.is_empty() { Level::Behaviour } else { Level::Cosmetic };
    let change = Change::new(Code::Deprecated, &new.field, level, format!("{} is deprecated: {notice}", usual(new)));
    Some(
        change
            .flag(new.flags.first().or(old.flags.first()).map(String::as_str))
            .values(Value::Null, notice.clone())
            .places(Some(old.told_at()), Some(new.told_at())),
    )
}

fn usual(meaning: &Meaning) -> &str {
    meaning.flags.first().map_or(&meaning.field, |flag| flag)
}

fn text(text: &Option<String>) -> Value {
    text.as_ref().map_or(Value::Null, |t| t.as_str().into())
}
