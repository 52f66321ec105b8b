//! When one argument changed: a paragraph a release.

use anstyle::Style;

use super::text::paragraph;
use super::{place, shown};
use crate::compare::change::{Change, Level};
use crate::compare::history::{History, Row};
use crate::render::markdown::{cell, code, prose};
use crate::render::summary;
use crate::render::text::Layout;
use crate::render::untrusted::{inert, without_log_commands};
use crate::render::wrap::{Span, lay};

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

pub fn text(history: &History, layout: Layout) -> String {
    let mut out = String::new();
    lay(&mut out, &[], 2, &[Span::new(inert(&title(history, layout.all)), STRONG)], layout.width);
    let mut hidden = 0;
    for row in &history.changed {
        let told: Vec<&Change> = shown_of(row, layout.all);
        hidden += row.changes.len() - told.len();
        if told.is_empty() {
            continue;
        }
        out.push('\n');
        lay(&mut out, &[], 2, &[Span::new(inert(&summary::source(&row.source)), STRONG)], layout.width);
        for change in told {
            paragraph(&mut out, change, layout);
        }
    }
    if hidden > 0 {
        let rest = format!("{hidden} cosmetic changes are not shown, -v shows them");
        out.push('\n');
        lay(&mut out, &[], 0, &[Span::new(rest, FAINT)], layout.width);
    }
    without_log_commands(out)
}

pub fn markdown(history: &History) -> String {
    let mut out = format!("### {}\n", prose(&title(history, true)));
    if !history.changed.is_empty() {
        out.push_str("\n| release | level | change | before | after |\n| --- | --- | --- | --- | --- |\n");
    }
    for row in &history.changed {
        for change in &row.changes {
            let side = |value, at: &Option<crate::compare::change::Side>| {
                let value = shown(value).map(|v| code(&v));
                value.into_iter().chain(at.as_ref().map(|at| code(&place(at)))).collect::<Vec<_>>().join(" ")
            };
            let cells = [
                prose(row.source.version.as_deref().unwrap_or("unknown")),
                change.level.as_str().to_owned(),
                format!("{}: {}", code(change.code.as_str()), prose(&change.message)),
                side(&change.before, &change.old),
                side(&change.after, &change.new),
            ];
            out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
        }
    }
    without_log_commands(out)
}

fn shown_of(row: &Row, all: bool) -> Vec<&Change> {
    row.changes.iter().filter(|c| all || c.level > Level::Cosmetic).collect()
}

fn title(history: &History, all: bool) -> String {
    let changed = history.changed.iter().filter(|row| !shown_of(row, all).is_empty()).count();
    format!("{}: {changed} of {} releases changed it", history.fields.join(", "), history.sources.len())
}
