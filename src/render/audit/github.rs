//! Workflow commands that a GitHub runner shows as annotations, at the launch's own line where it stands in a file.

use super::{message, place, title};
use crate::launch::document::{Audit, Level, Origin};
use crate::render::annotation::{Severity, annotation};

pub fn github(audit: &Audit) -> String {
    let launches = audit.launches.iter();
    let findings = launches.flat_map(|launch| launch.findings.iter().map(|f| (&launch.origin, f)));
    findings
        .map(|(origin, finding)| {
            let at = place(finding).map(|at| format!("\n{at}")).unwrap_or_default();
            annotation(severity(finding.level), file(origin), &title(finding), &(message(finding) + &at))
        })
        .collect()
}

fn file(origin: &Origin) -> Option<(&str, u32)> {
    let file = origin.file.as_deref().filter(|file| *file != "-")?;
    Some((file, origin.line.unwrap_or(1)))
}

fn severity(level: Level) -> Severity {
    match level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Notice,
    }
}
