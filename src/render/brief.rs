//! The report in few bytes (`argtrace/brief/1`), for a program that pays for each: the claims as sentences, each with the
//! place that proves it best. What matters most comes first and is left out last.

use schemars::JsonSchema;
use serde::Serialize;

use super::claims::{Claim, claims};
use crate::meaning::report::{FieldReport, Grade, Report, SourceInfo};

pub const SCHEMA: &str = "argtrace/brief/1";

/// Bytes of a field as compact JSON.
pub const MAX_BYTES: usize = 2_000;
/// Characters of one sentence.
const MAX_SENTENCE: usize = 220;
/// Characters of a name, a type or a default.
const MAX_NAME: usize = 120;
const MAX_FLAGS: usize = 4;

#[derive(Serialize, JsonSchema)]
pub struct Brief<'r> {
    schema: &'static str,
    source: &'r SourceInfo,
    fields: Vec<BriefField>,
}

#[derive(Serialize, JsonSchema)]
struct BriefField {
    field: String,
    flags: Vec<String>,
    #[serde(rename = "type")]
    type_: Option<String>,
    default: Option<String>,
    claims: Vec<BriefClaim>,
    /// Claims that found no room; the report has them.
    left_out: usize,
}

#[derive(Serialize, JsonSchema)]
struct BriefClaim {
    /// What the sentence is about: `unit`, `scope`, `precedence` ...
    about: &'static str,
    says: String,
    /// None where a grade says nothing, as for a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: Option<Grade>,
    /// `path:line`
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

/// The kinds of claim in the order of what a reader would miss most. Those that are not here are never said.
const ORDER: &[&str] = &[
    "deprecated",
    "unit",
    "scope",
    "divided by",
    "not in help",
    "precedence",
    "active when",
    "ends in",
    "rewritten",
    "constraint",
    "choices",
    "help",
];

pub fn brief(report: &Report) -> Brief<'_> {
    Brief { schema: SCHEMA, source: &report.source, fields: report.fields.iter().map(of_field).collect() }
}

fn of_field(field: &FieldReport) -> BriefField {
    let definition = &field.definition;
    let mut out = BriefField {
        field: cut(&field.field, MAX_NAME),
        flags: definition.flags.iter().take(MAX_FLAGS).map(|flag| cut(flag, MAX_NAME)).collect(),
        type_: definition.type_.as_deref().map(|text| cut(text, MAX_NAME)),
        default: definition.default.as_deref().map(|text| cut(text, MAX_NAME)),
        claims: Vec::new(),
        left_out: 0,
    };
    let all = claims(field, true);
    let ordered = ORDER.iter().flat_map(|label| all.iter().filter(move |claim| claim.label == *label));
    let mut room = MAX_BYTES.saturating_sub(size_of_json(&out) + usize::MAX.ilog10() as usize);
    for claim in ordered.map(of_claim) {
        let bytes = size_of_json(&claim) + 1;
        if bytes <= room {
            room -= bytes;
            out.claims.push(claim);
        } else {
            out.left_out += 1;
        }
    }
    out
}

fn of_claim(claim: &Claim) -> BriefClaim {
    BriefClaim {
        about: claim.label,
        says: cut(&claim.says.text(), MAX_SENTENCE),
        grade: claim.grade,
        at: claim.places.first().map(|at| format!("{}:{}", cut(&at.path, MAX_SENTENCE), at.line)),
    }
}

/// As JSON is written at the end: what a terminal would obey takes more room.
fn size_of_json(part: &impl Serialize) -> usize {
    serde_json::to_string(part).map_or(MAX_BYTES, |text| super::untrusted::inert_json(&text).len())
}

fn cut(text: &str, limit: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::report::{Constraint, Definition};

    #[test]
    fn a_field_takes_no_more_than_its_room() {
        let constraint = |i: u32| Constraint {
            kind: "raise".to_owned(),
            condition: "x > \u{1b}[31m ".repeat(40),
            message: None,
            path: "app/".repeat(40),
            line: i,
            grade: Grade::Proved,
        };
        let definition = Definition { default: Some("7".repeat(5_000)), ..Definition::default() };
        let constraints = (0..50).map(constraint).collect();
        let field = FieldReport { field: "f".repeat(5_000), definition, constraints, ..FieldReport::default() };
        let brief = of_field(&field);
        assert!(size_of_json(&brief) <= MAX_BYTES, "{}", size_of_json(&brief));
        assert!(brief.left_out > 40 && !brief.claims.is_empty());
    }
}
