//! For a terminal: a paragraph a field, with both sides and their lines.

use anstyle::{AnsiColor, Style};

use super::{by_field, counts, place, shown, title};
use crate::compare::change::{Change, Diff, Level, Side};
use crate::meaning::report::Grade;
use crate::render::text::Layout;
use crate::render::untrusted::{inert, without_log_commands};
use crate::render::wrap::{Span, lay};

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const CODE: Style = AnsiColor::Cyan.on_default();
const DOUBT: Style = AnsiColor::Yellow.on_default();

const LEVELS: &[(Level, Style)] = &[
    (Level::Breaking, AnsiColor::Red.on_default().bold()),
    (Level::Behaviour, AnsiColor::Yellow.on_default()),
    (Level::Cosmetic, Style::new().dimmed()),
];

/// Columns of the level's name, with the space after it.
const LEVEL: usize = 10;

pub fn text(diff: &Diff, layout: Layout) -> String {
    let mut out = String::new();
    lay(&mut out, &[], 0, &[Span::new(inert(&title(diff)), FAINT)], layout.width);
    lay(&mut out, &[], 0, &[Span::new(counts(diff), STRONG)], layout.width);
    for (field, changes) in by_field(diff, layout.all) {
        out.push('\n');
        headline(&mut out, field, &changes, layout);
        for change in changes {
            paragraph(&mut out, change, layout);
        }
    }
    let hidden = diff.changes.iter().filter(|c| c.level == Level::Cosmetic).count();
    if hidden > 0 && !layout.all {
        out.push('\n');
        let rest = format!("{hidden} cosmetic changes are not shown, -v shows them");
        lay(&mut out, &[], 0, &[Span::new(rest, FAINT)], layout.width);
    }
    without_log_commands(out)
}

fn headline(out: &mut String, field: &str, changes: &[&Change], layout: Layout) {
    let flag = changes
        .iter()
        .find_map(|c| c.flag.as_deref())
        .filter(|flag| flag.trim_start_matches('-').replace('-', "_") != field);
    let mut spans = vec![Span::new(inert(field), STRONG)];
    if let Some(flag) = flag {
        spans.push(Span::new(format!("  {}", inert(flag)), PLAIN));
    }
    lay(out, &[], 2, &spans, layout.width);
}

pub(super) fn paragraph(out: &mut String, change: &Change, layout: Layout) {
    let style = LEVELS.iter().find(|(level, _)| *level == change.level).map_or(PLAIN, |(_, style)| *style);
    let indent = 2 + LEVEL;
    let first = [Span::new("  ", PLAIN), Span::new(format!("{:LEVEL$}", change.level.as_str()), style)];
    let mut says =
        vec![Span::new(change.code.as_str(), STRONG), Span::new(format!(": {}", inert(&change.message)), PLAIN)];
    if change.grade < Grade::Proved {
        says.push(Span::new(" (inferred)", DOUBT));
    }
    lay(out, &first, indent, &says, layout.width);
    side(out, "before", shown(&change.before), change.old.as_ref(), layout);
    side(out, "after", shown(&change.after), change.new.as_ref(), layout);
    if layout.all {
        let line = [Span::new(format!("fingerprint {}", change.fingerprint), FAINT)];
        lay(out, &[Span::new(" ".repeat(indent), PLAIN)], indent, &line, layout.width);
    }
}

fn side(out: &mut String, label: &str, value: Option<String>, at: Option<&Side>, layout: Layout) {
    if value.is_none() && at.is_none() {
        return;
    }
    let indent = 2 + LEVEL;
    let first = [Span::new(format!("{:indent$}{label:7}", ""), FAINT)];
    let mut spans = Vec::new();
    if let Some(value) = value {
        spans.push(Span::new(inert(&value), CODE));
    }
    if let Some(at) = at {
        spans.push(Span::whole(format!("  {}", inert(&place(at))), FAINT));
    }
    lay(out, &first, indent + 7, &spans, layout.width);
}
