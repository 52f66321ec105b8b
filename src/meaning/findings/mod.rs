//! What a reader of `--help` alone would get wrong.
//!
//! A finding states a fact that the claims or the flow show, with a place; each code is a row of `table`. It never
//! guesses: where the source leaves it open there is no finding.

mod dead;
mod rewritten;
mod sentinel;
pub mod table;

pub use dead::can_be_read;
pub use dead::find as dead_field;
pub use rewritten::fills_unset;

use super::facts::Facts;
use super::report::*;
use table::Code;

pub fn claim(facts: &Facts, report: &FieldReport) -> Vec<Finding> {
    let mut out = Vec::new();
    out.extend(dead::find(facts));
    out.extend(unit(facts, report));
    out.extend(default(facts, report));
    out.extend(rewritten::find(facts));
    out.extend(per_rank(report));
    out.extend(sentinel::find(facts));
    out.extend(deprecated(facts, report));
    out
}

fn finding(code: Code, message: String, path: &str, line: u32) -> Finding {
    Finding { code: code.code.into(), level: code.level.into(), message, path: path.to_owned(), line }
}

/// Where the field is declared.
fn declaration(facts: &Facts) -> Place {
    let (file, span) = facts.declared.place;
    facts.shared.line_place(file, span.line, span.column)
}

fn unit(facts: &Facts, report: &FieldReport) -> Option<Finding> {
    let (Some(unit), Grade::Proved, Some(_)) = (&report.unit.name, report.unit.grade, report.unit.bytes) else {
        return None;
    };
    let says = facts.shared.program().profile.units.of_help(&help(report), "").filter(|s| is_size(s) && s != unit)?;
    let place = report.unit.evidence.first()?;
    let message = format!("the help says {says}, the code computes with {unit}");
    Some(finding(table::UNIT_CONTRADICTS_HELP, message, &place.path, place.line))
}

/// GB, KiB, bytes: the units that the code can be seen to compute in.
fn is_size(unit: &str) -> bool {
    unit == "bytes" || unit.ends_with('B')
}

fn help(report: &FieldReport) -> String {
    report.definition.help.as_deref().unwrap_or("").to_lowercase()
}

fn default(facts: &Facts, report: &FieldReport) -> Option<Finding> {
    let definition = &report.definition;
    let (cli, class) = (definition.cli_default.as_ref()?, definition.default.as_ref()?);
    let own = declaration(facts);
    let path = definition.cli_path.as_deref().unwrap_or(&own.path);
    let line = definition.cli_line.unwrap_or(own.line);
    let message = format!("the flag's default is {cli}, the class default {class}");
    (cli != class).then(|| finding(table::DEFAULT_CONTRADICTS_FLAG, message, path, line))
}

/// Words by which a help text admits that there is more than one holder.
const HOLDERS: [&str; 7] = ["rank", "process", "per gpu", "each gpu", "per device", "per worker", "per-gpu"];

fn per_rank(report: &FieldReport) -> Option<Finding> {
    let help = help(report);
    if report.scope.total.is_none() || HOLDERS.iter().any(|h| help.contains(h)) {
        return None;
    }
    let place = report.scope.evidence.first()?;
    let message = format!("each process holds it whole ({}); the help names no scope", report.scope.per.join(" x "));
    Some(finding(table::PER_RANK_UNDOCUMENTED, message, &place.path, place.line))
}

fn deprecated(facts: &Facts, report: &FieldReport) -> Option<Finding> {
    let text = report.definition.deprecated.clone()?;
    let own = declaration(facts);
    let path = report.definition.cli_path.as_deref().unwrap_or(&own.path);
    Some(finding(table::DEPRECATED, text, path, report.definition.cli_line.unwrap_or(own.line)))
}
