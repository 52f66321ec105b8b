//! For a terminal: the command, an argument a line, and what is wrong with each under it.

use anstyle::{AnsiColor, Style};

use super::{command, counts, effective, filled, given, message, on, origin, others, per, place, shown, title};
use crate::launch::document::{Argument, Audit, Finding, Launch, Level, Via};
use crate::render::summary;
use crate::render::text::Layout;
use crate::render::untrusted::{inert, without_log_commands};
use crate::render::wrap::{Span, lay};

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const CODE: Style = AnsiColor::Cyan.on_default();
const DOUBT: Style = AnsiColor::Yellow.on_default();

/// Columns of a level's name, with the space after it.
const LEVEL: usize = 8;
/// Longer flags do not push the values of the others to the right.
const WIDEST_FLAG: usize = 32;
/// A command is cut to so many characters where not everything is asked for.
const LONGEST_COMMAND: usize = 400;

fn style(level: Level) -> Style {
    match level {
        Level::Error => AnsiColor::Red.on_default().bold(),
        Level::Warning => AnsiColor::Yellow.on_default(),
        Level::Note => FAINT,
    }
}

pub fn text(audit: &Audit, layout: Layout) -> String {
    let mut out = String::new();
    line(&mut out, 0, &[Span::new(inert(&summary::source(&audit.source)), FAINT)], layout);
    for launch in &audit.launches {
        out.push('\n');
        of_launch(&mut out, launch, layout);
    }
    without_log_commands(out)
}

fn of_launch(out: &mut String, launch: &Launch, layout: Layout) {
    let words = command(&launch.command);
    let words = match words.char_indices().nth(LONGEST_COMMAND) {
        Some((at, _)) if !layout.all => format!("{}…", &words[..at]),
        _ => words,
    };
    let place = origin(&launch.origin).map(|at| Span::whole(format!("{}  ", inert(&at)), STRONG));
    let spans: Vec<Span> = place.into_iter().chain([Span::new(inert(&words), PLAIN)]).collect();
    line(out, 0, &spans, layout);
    if !launch.environment.is_empty() {
        let one = |(name, value): (&String, &Option<String>)| format!("{name}={}", value.as_deref().unwrap_or("?"));
        let all = launch.environment.iter().map(one).collect::<Vec<_>>().join("  ");
        let spans = [Span::new("with  ", FAINT), Span::new(inert(&all), PLAIN)];
        line(out, 2, &spans, layout);
    }
    let flag = |a: &Argument| a.flag.as_deref().map_or(0, |f| f.chars().count());
    let widest = given(launch).map(flag).max().unwrap_or(0).min(WIDEST_FLAG);
    for argument in given(launch) {
        of_argument(out, argument, widest, layout);
        findings(out, &on(launch, argument), false, layout);
    }
    findings(out, &others(launch), true, layout);
    resolved(out, launch, widest, layout);
    line(out, 2, &[Span::new(counts(&launch.findings), STRONG)], layout);
}

fn of_argument(out: &mut String, argument: &Argument, widest: usize, layout: Layout) {
    let flag = argument.flag.as_deref().or(argument.field.as_deref()).unwrap_or("");
    let first = [Span::new(format!("  {:widest$}  ", inert(flag)), STRONG)];
    let mut spans = vec![Span::new(inert(&shown(&argument.given)), CODE)];
    match effective(argument) {
        _ if argument.field.is_none() => {}
        Some(value) if argument.effective == argument.given => drop(value),
        Some(value) => spans.extend([Span::new(" → ", FAINT), Span::new(inert(&value), CODE)]),
        None => spans.push(Span::new(format!(" → ? {}", inert(argument.when.as_deref().unwrap_or(""))), DOUBT)),
    }
    for more in per(argument).into_iter().chain(argument.total.as_ref().map(|total| format!("{total} in all"))) {
        spans.push(Span::new(format!("  {}", inert(&more)), PLAIN));
    }
    if argument.via == Via::Config {
        spans.push(Span::new("  (configuration file)", FAINT));
    }
    lay(out, &first, 4 + widest, &spans, layout.width);
}

/// Findings, those that say the same of several places once; each by itself if everything is asked for.
fn findings(out: &mut String, found: &[&Finding], named: bool, layout: Layout) {
    let same =
        |a: &Finding, b: &Finding| !layout.all && (&a.code, &a.field, message(a)) == (&b.code, &b.field, message(b));
    for (i, one) in found.iter().enumerate() {
        if found.iter().take(i).all(|earlier| !same(earlier, one)) {
            let more = found.iter().skip(i + 1).filter(|later| same(one, later)).count();
            finding(out, one, more, named, layout);
        }
    }
}

/// A finding that holds at this many more places.
fn finding(out: &mut String, finding: &Finding, more: usize, named: bool, layout: Layout) {
    let first =
        [Span::new("      ", PLAIN), Span::new(format!("{:LEVEL$}", finding.level.as_str()), style(finding.level))];
    let heading = if named { title(finding) } else { finding.code.clone() };
    let mut spans =
        vec![Span::new(inert(&heading), STRONG), Span::new(format!(": {}", inert(&message(finding))), PLAIN)];
    spans.extend(place(finding).map(|at| Span::whole(format!("  {}", inert(&at)), FAINT)));
    if more > 0 {
        spans.push(Span::new(format!(" and {more} more"), FAINT));
    }
    lay(out, &first, 6 + LEVEL, &spans, layout.width);
}

/// What the code fills: values together, and with everything asked for also those that are not known.
fn resolved(out: &mut String, launch: &Launch, widest: usize, layout: Layout) {
    if layout.all {
        for argument in filled(launch) {
            let field = argument.field.as_deref().unwrap_or("");
            let first = [Span::new(format!("  {:widest$}  ", inert(field)), FAINT)];
            let span = match effective(argument) {
                Some(value) => Span::new(inert(&value), CODE),
                None => Span::new(format!("? {}", inert(argument.when.as_deref().unwrap_or(""))), DOUBT),
            };
            lay(out, &first, 4 + widest, &[span, Span::new("  (not given)", FAINT)], layout.width);
        }
        return;
    }
    let known: Vec<String> = filled(launch)
        .filter_map(|a| Some(format!("{}={}", a.field.as_ref()?, effective(a)?)))
        .filter(|text| !text.contains(' '))
        .collect();
    let rest = filled(launch).count() - known.len();
    if known.is_empty() && rest == 0 {
        return;
    }
    let mut spans = vec![Span::new("filled by the code:  ", FAINT), Span::new(inert(&known.join("  ")), PLAIN)];
    if rest > 0 {
        spans.push(Span::new(format!("  and {rest} more, -v shows all"), FAINT));
    }
    line(out, 2, &spans, layout);
}

fn line(out: &mut String, indent: usize, spans: &[Span], layout: Layout) {
    lay(out, &[Span::new(" ".repeat(indent), PLAIN)], indent + 2, spans, layout.width);
}
