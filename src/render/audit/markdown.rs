//! For a ticket or a pull request comment: a table of the arguments, and one of the findings.

use super::{command, counts, effective, given, message, name, origin, per, place, shown, worst_first};
use crate::launch::document::{Argument, Audit, Finding, Launch};
use crate::render::markdown::{cell, code, prose};
use crate::render::summary;
use crate::render::untrusted::without_log_commands;

/// Text in a cell is cut to so many characters.
const LONGEST: usize = 400;

pub fn markdown(audit: &Audit) -> String {
    let mut out = prose(&summary::source(&audit.source)) + "\n";
    audit.launches.iter().for_each(|launch| of_launch(&mut out, launch));
    without_log_commands(out)
}

fn of_launch(out: &mut String, launch: &Launch) {
    let heading = origin(&launch.origin).map_or_else(|| String::from("Launch command"), |at| code(&at));
    out.push_str(&format!(
        "\n### {heading}\n\n{}\n\n**{}**\n",
        code(&cut(&command(&launch.command))),
        counts(&launch.findings)
    ));
    if !launch.findings.is_empty() {
        out.push_str("\n| level | finding | | at |\n| --- | --- | --- | --- |\n");
        worst_first(launch.findings.iter()).iter().for_each(|f| finding(out, f));
    }
    if given(launch).next().is_some() {
        out.push_str("\n| argument | given | effective | per | total |\n| --- | --- | --- | --- | --- |\n");
        given(launch).for_each(|argument| row(out, argument));
    }
}

fn finding(out: &mut String, finding: &Finding) {
    let what = match name(finding) {
        Some(name) => format!("{} {}", code(name), code(&finding.code)),
        None => code(&finding.code),
    };
    let at = place(finding).map(|at| code(&at)).unwrap_or_default();
    let cells = [finding.level.as_str().to_owned(), what, prose(&cut(&message(finding))), at];
    out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
}

fn row(out: &mut String, argument: &Argument) {
    let flag = argument.flag.as_deref().or(argument.field.as_deref()).unwrap_or("");
    let end = match (effective(argument), &argument.field) {
        (_, None) => String::new(),
        (Some(value), _) => code(&cut(&value)),
        (None, _) => prose(&format!("hangs on {}", cut(argument.when.as_deref().unwrap_or("")))),
    };
    let total = argument.total.as_deref().map(prose).unwrap_or_default();
    let per = per(argument).map(|text| prose(&text)).unwrap_or_default();
    let cells = [code(flag), code(&cut(&shown(&argument.given))), end, per, total];
    out.push_str(&format!("| {} |\n", cells.map(|text| cell(&text)).join(" | ")));
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
