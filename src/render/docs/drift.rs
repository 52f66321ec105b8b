//! Writes where hand-kept tables contradict the source: for people by line, for machines beside the line.

use anstyle::{AnsiColor, Style};
use serde_json::json;

use crate::compare::change::fingerprint;
use crate::docs::codes::CODES;
use crate::docs::drift::{Drift, Finding};
use crate::launch::document::Level;
use crate::render::annotation::{Severity, annotation};
use crate::render::markdown::{cell, code, prose};
use crate::render::sarif::{Log, Place, Result, Rule, SarifLevel};
use crate::render::summary;
use crate::render::text::Layout;
use crate::render::untrusted::{inert, without_log_commands};
use crate::render::wrap::{Span, lay};

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// How each format shows a level.
const LEVELS: &[(Level, Style, Severity, SarifLevel)] = &[
    (Level::Error, AnsiColor::Red.on_default().bold(), Severity::Error, SarifLevel::Error),
    (Level::Warning, AnsiColor::Yellow.on_default(), Severity::Warning, SarifLevel::Warning),
    (Level::Note, Style::new().dimmed(), Severity::Notice, SarifLevel::Note),
];

fn shown(level: Level) -> (Style, Severity, SarifLevel) {
    let found = LEVELS.iter().find(|(known, ..)| *known == level);
    found.map_or((PLAIN, Severity::Notice, SarifLevel::Note), |(_, style, severity, sarif)| (*style, *severity, *sarif))
}

/// `docs.md against sglang 0.5.9 (wheel): 2 warnings`
fn title(drift: &Drift) -> String {
    let counts: Vec<String> = LEVELS
        .iter()
        .map(|(level, ..)| (drift.findings.iter().filter(|f| f.level == *level).count(), level.as_str()))
        .filter(|(n, _)| *n > 0)
        .map(|(n, level)| format!("{n} {level}{}", if n == 1 { "" } else { "s" }))
        .collect();
    let counts = if counts.is_empty() { String::from("no drift") } else { counts.join(", ") };
    format!("{} against {}: {counts}", drift.file, summary::source(&drift.source))
}

/// Where the text says it.
fn said_at(drift: &Drift, finding: &Finding) -> String {
    finding.file_line.map_or_else(|| drift.file.clone(), |line| format!("{}:{line}", drift.file))
}

/// Where the source shows it.
fn shown_at(finding: &Finding) -> Option<String> {
    Some(format!("{}:{}", finding.path.as_ref()?, finding.line?))
}

pub fn text(drift: &Drift, layout: Layout) -> String {
    const LEVEL: usize = 8;
    let mut out = String::new();
    lay(&mut out, &[], 0, &[Span::new(inert(&title(drift)), STRONG)], layout.width);
    for finding in &drift.findings {
        let first = [Span::new(format!("{:LEVEL$}", finding.level.as_str()), shown(finding.level).0)];
        let mut says = vec![
            Span::whole(inert(&finding.flag), STRONG),
            Span::new(format!("  {}: {}", finding.code, inert(&finding.message)), PLAIN),
            Span::whole(format!("  {}", inert(&said_at(drift, finding))), FAINT),
        ];
        says.extend(shown_at(finding).map(|at| Span::whole(format!("  {}", inert(&at)), FAINT)));
        lay(&mut out, &first, LEVEL, &says, layout.width);
    }
    without_log_commands(out)
}

pub fn markdown(drift: &Drift) -> String {
    let mut out = prose(&title(drift)) + "\n";
    if !drift.findings.is_empty() {
        out.push_str("\n| level | finding | | text | source |\n| --- | --- | --- | --- | --- |\n");
    }
    for finding in &drift.findings {
        let cells = [
            finding.level.as_str().to_owned(),
            format!("{} {}", code(&finding.flag), code(&finding.code)),
            prose(&finding.message),
            code(&said_at(drift, finding)),
            shown_at(finding).map(|at| code(&at)).unwrap_or_default(),
        ];
        out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
    }
    without_log_commands(out)
}

/// Annotations of the text's own lines.
pub fn github(drift: &Drift) -> String {
    let line = |finding: &Finding| {
        let at = shown_at(finding).map(|at| format!("\n{at}")).unwrap_or_default();
        let title = format!("{}: {}", finding.flag, finding.code);
        let place = Some((drift.file.as_str(), finding.file_line.unwrap_or(1)));
        annotation(shown(finding.level).1, place, &title, &format!("{}{at}", finding.message))
    };
    drift.findings.iter().map(line).collect()
}

pub fn sarif(drift: &Drift) -> Log {
    let rules = CODES.iter().map(|code| Rule {
        id: code.code,
        title: code.title,
        help: code.explanation,
        level: shown(code.level).2,
    });
    let result = |finding: &Finding| {
        let rule = CODES.iter().find(|code| code.code == finding.code)?.code;
        let decides = finding.path.clone().zip(finding.line);
        let documented = finding.documented.clone().unwrap_or_default();
        Some(Result {
            rule,
            level: shown(finding.level).2,
            message: format!("{}: {}", finding.flag, finding.message),
            place: Some(Place { path: drift.file.clone(), line: finding.file_line.unwrap_or(1), in_tree: false }),
            related: decides.map(|(path, line)| Place { path, line, in_tree: true }).into_iter().collect(),
            fingerprint: fingerprint(&[finding.code.clone(), finding.flag.clone(), documented, drift.file.clone()]),
            properties: json!({"field": finding.field, "documented": finding.documented, "actual": finding.actual}),
        })
    };
    Log::of(rules.collect(), drift.findings.iter().filter_map(result).collect())
}
