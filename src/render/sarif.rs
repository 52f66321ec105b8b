//! A SARIF 2.1.0 log, as much of the format as findings need.
//!
//! One run of one tool: its rules, and results that refer to them. Paths of the tree that was read stand under the
//! base `SRCROOT`. It decides nothing: levels and texts come in finished.

use serde::Serialize;
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What paths are relative to.
const ROOT: &str = "SRCROOT";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SarifLevel {
    Error,
    Warning,
    Note,
}

pub struct Rule {
    pub id: &'static str,
    pub title: &'static str,
    pub help: &'static str,
    pub level: SarifLevel,
}

pub struct Place {
    pub path: String,
    pub line: u32,
    /// The path is one of the tree that was read, not of where the tool runs.
    pub in_tree: bool,
}

pub struct Result {
    /// The id of a rule.
    pub rule: &'static str,
    pub level: SarifLevel,
    pub message: String,
    pub place: Option<Place>,
    pub related: Vec<Place>,
    /// The same as long as the finding is the same.
    pub fingerprint: String,
    pub properties: Value,
}

/// The document.
#[derive(Serialize)]
pub struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Value; 1],
}

impl Log {
    pub fn of(rules: Vec<Rule>, results: Vec<Result>) -> Log {
        let index = |id: &str| rules.iter().position(|rule| rule.id == id);
        let results: Vec<Value> = results.iter().map(|r| result(r, index(r.rule))).collect();
        let run = json!({
            "tool": {"driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            }},
            "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that holds the package."}}},
            "results": results,
            "columnKind": "unicodeCodePoints",
        });
        Log { schema: SCHEMA, version: "2.1.0", runs: [run] }
    }
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
    })
}

fn result(result: &Result, index: Option<usize>) -> Value {
    let mut value = json!({
        "ruleId": result.rule,
        "level": result.level,
        "message": {"text": result.message},
        "partialFingerprints": {"argtrace/1": result.fingerprint},
        "properties": result.properties,
    });
    if let Some(index) = index {
        value["ruleIndex"] = index.into();
    }
    if let Some(place) = &result.place {
        value["locations"] = json!([location(place)]);
    }
    if !result.related.is_empty() {
        let related = result.related.iter().map(location);
        value["relatedLocations"] = related.collect();
    }
    value
}

fn location(place: &Place) -> Value {
    let mut artifact = json!({"uri": uri(&place.path)});
    if place.in_tree {
        artifact["uriBaseId"] = ROOT.into();
    }
    json!({"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": place.line.max(1)}}})
}

/// A relative URI reference: what is no plain character of a path is percent-encoded.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
