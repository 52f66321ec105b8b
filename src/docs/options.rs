//! Are documented choices, and a documented type, the source's?

use std::collections::BTreeSet;

use serde_json::Value;

use super::tables::Cell;
use crate::meaning::report::Definition;

/// Words for a type, and the type.
const TYPES: &[(&str, &str)] = &[
    ("str", "str"),
    ("string", "str"),
    ("text", "str"),
    ("int", "int"),
    ("integer", "int"),
    ("float", "float"),
    ("number", "float"),
    ("bool", "bool"),
    ("boolean", "bool"),
    ("flag", "bool"),
    ("list", "list"),
    ("dict", "dict"),
    ("json", "json"),
];

/// What the cell contradicts, in words, with what it says and what the source has.
pub(super) struct Contradiction {
    pub documented: String,
    pub actual: String,
    pub message: String,
}

/// What the cell says of choices, held against them.
pub(super) fn of_choices(cell: &Cell, definition: &Definition) -> Option<Contradiction> {
    let listed: BTreeSet<String> = listed(cell)?;
    let own: BTreeSet<String> = definition.choices.iter().map(written).collect();
    // One value in code may be an example, and where the source takes any text so may be all of them.
    if own.is_empty() || listed.is_empty() {
        return None;
    }
    let refused: Vec<&str> = match definition.extensible {
        true => Vec::new(),
        false => listed.difference(&own).map(String::as_str).collect(),
    };
    let unlisted: Vec<&str> = own.difference(&listed).map(String::as_str).filter(|value| *value != "None").collect();
    let refused: Vec<&str> = refused.into_iter().filter(|value| *value != "None").collect();
    let parts = [("refused: ", &refused), ("not listed: ", &unlisted)];
    let said: Vec<String> =
        parts.iter().filter(|(_, v)| !v.is_empty()).map(|(says, v)| format!("{says}{}", v.join(", "))).collect();
    let all = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
    (!said.is_empty()).then(|| Contradiction {
        documented: all(&listed),
        actual: all(&own),
        message: format!("the choices differ; {}", said.join("; ")),
    })
}

/// The type that the cell names, held against the source's.
pub(super) fn of_type(cell: &Cell, definition: &Definition) -> Option<Contradiction> {
    let claimed = claimed_types(&cell.text);
    let source = definition.cli_type.as_ref().or(definition.type_.as_ref())?;
    let own = source_types(source);
    if claimed.is_empty() || own.is_empty() || claimed.iter().any(|claimed| fits(claimed, &own)) {
        return None;
    }
    let documented = claimed.join(", ");
    Some(Contradiction {
        message: format!("the type is {source}, not {documented}"),
        documented,
        actual: source.clone(),
    })
}

/// Does a value of the documented type fit what is taken? A list is also documented by the type of its elements, and
/// what is parsed as JSON by the text that it is.
fn fits(claimed: &str, own: &[&str]) -> bool {
    own.contains(&claimed)
        || claimed == "json" && ["str", "dict", "list"].iter().any(|t| own.contains(t))
        || claimed == "list" && own.contains(&"str")
        || claimed == "dict" && own.contains(&"str")
        || claimed == "str" && (own.contains(&"dict") || own.contains(&"json"))
}

/// The choices that a cell lists; `None` if it names a type instead.
fn listed(cell: &Cell) -> Option<BTreeSet<String>> {
    let is_type = |word: &str| TYPES.iter().any(|(name, _)| *name == word.to_lowercase());
    if !claimed_types(&cell.text).is_empty() {
        return None;
    }
    let values: Vec<String> = match cell.codes.is_empty() {
        false => cell.codes.iter().flat_map(|code| code.split(',')).map(str::to_owned).collect(),
        true if cell.text.contains(',') => cell.text.split(',').map(str::to_owned).collect(),
        true => Vec::new(),
    };
    let values = values.iter().map(|value| value.trim().trim_matches(['"', '\'']).to_owned());
    let values: BTreeSet<String> = values.filter(|value| !value.is_empty() && !is_type(value)).collect();
    // Several words are prose, not a value.
    (!values.iter().any(|value| value.contains(char::is_whitespace))).then_some(values)
}

/// `Type: int`, `bool flag (set to enable)`, or the name of a type alone.
fn claimed_types(text: &str) -> Vec<&'static str> {
    let text = text.trim().to_lowercase();
    let (rest, told) = match text.strip_prefix("type:") {
        Some(rest) => (rest, true),
        None => (text.as_str(), false),
    };
    let words: Vec<&str> = rest.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let named = |word: &&str| TYPES.iter().find(|(name, _)| name == word).map(|(_, type_)| *type_);
    match words.as_slice() {
        ["bool" | "boolean", "flag", ..] => vec!["bool"],
        all if told => all.iter().filter_map(named).collect(),
        [only] => named(only).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The types in an annotation; none if it holds one that is not known here.
fn source_types(annotation: &str) -> Vec<&'static str> {
    const WRAPPERS: [&str; 6] = ["Optional", "Union", "None", "NoneType", "typing", "Annotated"];
    let mut types = Vec::new();
    for word in annotation.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        match word {
            word if WRAPPERS.contains(&word) => {}
            "List" | "Sequence" | "Tuple" | "tuple" | "set" | "Set" => types.push("list"),
            "Dict" | "Mapping" => types.push("dict"),
            "Literal" => return vec!["str"],
            word => match TYPES.iter().find(|(name, type_)| *name == word && name == type_) {
                Some((_, type_)) => types.push(*type_),
                None => return Vec::new(),
            },
        }
    }
    types
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::from("None"),
        Value::Bool(true) => String::from("True"),
        Value::Bool(false) => String::from("False"),
        other => other.to_string(),
    }
}
