//! SARIF 2.1.0: each finding at the launch's own line where it stands in a file, with the code that decides beside it.

use serde_json::json;

use super::{message, name, place, title};
use crate::compare::change::fingerprint;
use crate::launch::document::{Audit, Finding, Launch, Level};
use crate::launch::findings::table::CODES;
use crate::render::sarif::{Log, Place, Result, Rule, SarifLevel};

pub fn sarif(audit: &Audit) -> Log {
    let rules = CODES.iter().map(|code| Rule {
        id: code.code,
        title: code.title,
        help: code.explanation,
        level: sarif_level(code.level),
    });
    let results = audit.launches.iter().flat_map(|launch| launch.findings.iter().filter_map(|f| result(launch, f)));
    Log::of(rules.collect(), results.collect())
}

fn result(launch: &Launch, finding: &Finding) -> Option<Result> {
    let rule = CODES.iter().find(|code| code.code == finding.code)?.code;
    let decides = finding.path.clone().zip(finding.line).map(|(path, line)| Place { path, line, in_tree: true });
    let file = launch.origin.file.clone().filter(|file| file != "-");
    let launched = file.map(|path| Place { path, line: launch.origin.line.unwrap_or(1), in_tree: false });
    let at = place(finding).map(|at| format!("\n{at}")).unwrap_or_default();
    let (place, related) = match launched {
        Some(launched) => (Some(launched), decides),
        None => (decides, None),
    };
    let properties = json!({
        "field": finding.field, "fields": finding.fields, "effective": finding.effective, "when": finding.when,
        "total": finding.total,
    });
    Some(Result {
        rule,
        level: sarif_level(finding.level),
        message: format!("{}: {}{at}", name(finding).unwrap_or("launch"), message(finding)),
        place,
        related: related.into_iter().collect(),
        fingerprint: fingerprint_of(launch, finding),
        properties,
    })
}

/// The same wherever the command stands in its file, and whatever line of the tree decides.
fn fingerprint_of(launch: &Launch, finding: &Finding) -> String {
    fingerprint(&[title(finding), finding.message.clone(), launch.origin.file.clone().unwrap_or_default()])
}

fn sarif_level(level: Level) -> SarifLevel {
    match level {
        Level::Error => SarifLevel::Error,
        Level::Warning => SarifLevel::Warning,
        Level::Note => SarifLevel::Note,
    }
}
