//! What one unit of the value is.
//!
//! Evidence in the order of its strength: the type (a truth value, a closed set of choices); what is done with the value
//! (`arithmetic`, `parsed`); then words of the help text (`documented`), then the field's name and type (`inferred`).
//! The words are data, in `queries/python/python.toml`. It never looks at another field.

mod arithmetic;
mod parsed;

use super::facts::Facts;
use super::report::{Grade, Place, Unit};
use crate::program::profile::Shape;

/// Sizes by their factor to bytes.
const SIZES: [(&str, f64); 6] =
    [("GB", 1e9), ("GiB", 1_073_741_824.0), ("MB", 1e6), ("MiB", 1_048_576.0), ("KB", 1e3), ("KiB", 1024.0)];

pub fn claim(facts: &Facts) -> Unit {
    let declared = &facts.declared.definition;
    let own = facts.shared.line_place(facts.declared.place.0, facts.declared.place.1.line, 0);
    let type_ = declared.type_.as_deref().unwrap_or("");
    let shape = Shape::of(type_);
    if shape.is_truth() {
        return named("bool", Grade::Proved, vec![own]);
    }
    if !declared.choices.is_empty() && declared.choices.iter().all(|c| c.is_string() || c.is_null()) {
        return named("enum", Grade::Proved, vec![own]);
    }
    let words = &facts.shared.program().profile.units;
    let help = declared.help.as_deref().unwrap_or("");
    let documented = words.of_help(help, shape);
    let by_name = words.of_name(&facts.field(), shape);
    if shape.number {
        let time = documented.or(by_name).is_some_and(|u| matches!(u, "s" | "ms" | "us"));
        if let Some(unit) = arithmetic::claim(facts, time) {
            return unit;
        }
    }
    if let Some(unit) = parsed::claim(facts, shape) {
        return unit;
    }
    if let Some(name) = documented {
        return named(name, Grade::Documented, vec![own]);
    }
    if let Some(name) = by_name {
        return named(name, Grade::Inferred, vec![own]);
    }
    if let Some(unit) = shape.number.then(|| arithmetic::cycle(facts)).flatten() {
        return unit;
    }
    if let Some(unit) = parsed::alternatives(facts, shape) {
        return unit;
    }
    let closed = !declared.choices.is_empty();
    let name = if closed { "enum" } else { words.of_rest(&facts.field(), shape) };
    named(name, Grade::Inferred, vec![own])
}

fn named(name: &str, grade: Grade, evidence: Vec<Place>) -> Unit {
    let bytes = SIZES.iter().find(|(n, _)| *n == name).map(|(_, factor)| *factor as u64);
    let bytes = if name == "bytes" { Some(1) } else { bytes };
    Unit { name: Some(name.to_owned()), bytes, grade, evidence }
}
