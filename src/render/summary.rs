//! Says in a few words what the claims on a field are, for a cell of a table.
//!
//! A mark before a word says its grade. Nothing is laid out or escaped here.

use super::grades::mark;
use crate::meaning::report::{Grade, Scope, Sink, SourceInfo, Unit};

/// `sglang 0.5.9 (wheel)`
pub fn source(source: &SourceInfo) -> String {
    let version = source.version.as_deref().unwrap_or("of unknown version");
    format!("{} {version} ({})", source.package, source.kind)
}

pub fn unit(unit: &Unit) -> String {
    match &unit.name {
        Some(name) => format!("{}{name}", mark(unit.grade)),
        None => "unknown".to_owned(),
    }
}

/// `per dp/pp/tp rank ÷ dp_size`, or else the processes that use it.
pub fn scope(scope: &Scope) -> String {
    let mut says = mark(scope.grade).to_owned();
    if scope.per.is_empty() {
        says.push_str(&scope.processes.join(", "));
    } else {
        let short: Option<Vec<&str>> = scope.per.iter().map(|axis| axis.strip_suffix("_rank")).collect();
        says.push_str(&match short {
            Some(axes) => format!("per {} rank", axes.join("/")),
            None => format!("per {}", scope.per.join(" x ")),
        });
    }
    for by in &scope.divided_by {
        says.push_str(&format!(" ÷ {by}"));
    }
    says
}

/// Each kind once, with the best grade that one of its sinks has.
pub fn ends_in(sinks: &[Sink]) -> Vec<String> {
    kinds(sinks).into_iter().map(|(kind, grade)| format!("{}{kind}", mark(grade))).collect()
}

/// The kinds in the order in which they are first met.
pub fn kinds(sinks: &[Sink]) -> Vec<(&str, Grade)> {
    let mut kinds: Vec<(&str, Grade)> = Vec::new();
    for sink in sinks {
        match kinds.iter_mut().find(|(kind, _)| *kind == sink.kind) {
            Some((_, grade)) => *grade = (*grade).max(sink.grade),
            None => kinds.push((&sink.kind, sink.grade)),
        }
    }
    kinds
}
