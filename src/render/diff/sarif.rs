//! SARIF 2.1.0, for code scanning and other viewers.

use serde_json::json;

use super::{place, shown};
use crate::compare::change::{Change, Diff, Level};
use crate::compare::codes::CODES;
use crate::render::sarif::{Log, Place, Result, Rule, SarifLevel};

const LEVELS: &[(Level, SarifLevel)] = &[
    (Level::Breaking, SarifLevel::Error),
    (Level::Behaviour, SarifLevel::Warning),
    (Level::Cosmetic, SarifLevel::Note),
];

pub fn sarif(diff: &Diff) -> Log {
    let rules = CODES.iter().map(|entry| Rule {
        id: entry.name,
        title: entry.title,
        help: entry.why,
        level: sarif_level(entry.level),
    });
    Log::of(rules.collect(), diff.changes.iter().map(result).collect())
}

fn result(change: &Change) -> Result {
    let at = change.new.as_ref().or(change.old.as_ref());
    let related = change.old.as_ref().filter(|_| change.new.is_some());
    let name = change.flag.as_deref().unwrap_or(&change.field);
    let of = |side: &crate::compare::change::Side| Place { path: side.path.clone(), line: side.line, in_tree: true };
    let before = shown(&change.before).map(|text| format!("\nbefore: {text}")).unwrap_or_default();
    let after = shown(&change.after).map(|text| format!("\nafter: {text}")).unwrap_or_default();
    let was = related.map(|side| format!("\nwas at {}", place(side))).unwrap_or_default();
    Result {
        rule: change.code.as_str(),
        level: sarif_level(change.level),
        message: format!("{name}: {}{before}{after}{was}", change.message),
        place: at.map(of),
        related: related.map(of).into_iter().collect(),
        fingerprint: change.fingerprint.clone(),
        properties: json!({"field": change.field, "before": change.before, "after": change.after, "grade": change.grade}),
    }
}

fn sarif_level(level: Level) -> SarifLevel {
    LEVELS.iter().find(|(known, _)| *known == level).map_or(SarifLevel::Note, |(_, level)| *level)
}
