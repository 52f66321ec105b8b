//! What a reader of `--help` alone would get wrong.

use super::facts::Facts;
use super::report::*;

pub fn claim(facts: &Facts, report: &FieldReport) -> Vec<Finding> {
    let mut out = Vec::new();
    let (file, span) = facts.declared.place;
    let own = facts.shared.line_place(file, span.line, span.column);
    let mut add = |code: &str, level: &str, message: String, path: &str, line: u32| {
        out.push(Finding { code: code.into(), level: level.into(), message, path: path.to_owned(), line });
    };
    let field = facts.field();
    let no_reads = report.reads.as_ref().is_none_or(Vec::is_empty);
    if no_reads {
        add("dead-field", "warning", format!("nothing reads {field}"), &own.path, own.line);
    }
    if let Some(text) = &report.definition.deprecated {
        add("deprecated", "note", text.clone(), &own.path, own.line);
    }
    if let (Some(cli), Some(class)) = (&report.definition.cli_default, &report.definition.default) {
        if cli != class {
            let line = report.definition.cli_line.unwrap_or(own.line);
            add(
                "default-contradicts-flag",
                "warning",
                format!("the flag's default is {cli}, the class default {class}"),
                &own.path,
                line,
            );
        }
    }
    let help = report.definition.help.as_deref().unwrap_or("").to_lowercase();
    if let (Some(unit), Grade::Proved) = (&report.unit.name, report.unit.grade) {
        let says = facts.shared.program().profile.units.of_help(&help, "");
        if let Some(says) = says.filter(|s| report.unit.bytes.is_some() && s != unit) {
            if let Some(place) = report.unit.evidence.first() {
                let message = format!("the help says {says}, the code computes with {unit}");
                add("unit-contradicts-help", "warning", message, &place.path, place.line);
            }
        }
    }
    if report.scope.total.is_some() && !help.contains("rank") && !help.contains("process") {
        if let Some(place) = report.scope.evidence.first() {
            let message =
                format!("each process holds it whole ({}); the help names no scope", report.scope.per.join(" x "));
            add("per-rank-undocumented", "warning", message, &place.path, place.line);
        }
    }
    for write in report.writes.iter().flatten() {
        let replaces = !write.guard.iter().any(|g| g.contains(field.as_str()) && g.contains("None"));
        if replaces && write.grade == Grade::Proved {
            let when = write.when.clone().unwrap_or_else(|| "always".into());
            let message = format!("a given value is replaced by {} when {when}", write.to);
            add("rewritten-silently", "note", message, &write.path, write.line);
        }
    }
    out
}
