//! Writes what launch commands mean, in every format.
//!
//! Text and Markdown are for people: an argument a line, what is wrong with it under it. Annotations and SARIF are for
//! machines that show findings beside the file that holds the launch.

mod github;
mod markdown;
mod sarif;
mod text;

pub use github::github;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

use serde_json::Value;

use crate::launch::document::{Argument, Finding, Launch, Level, Origin, Via};

/// A value as Python would print it, texts without quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::from("None"),
        Value::Bool(true) => String::from("True"),
        Value::Bool(false) => String::from("False"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An argument's value at the end: `None` if that hangs on something.
fn effective(argument: &Argument) -> Option<String> {
    argument.when.is_none().then(|| shown(&argument.effective))
}

/// `per pp_rank x tp_rank`
fn per(argument: &Argument) -> Option<String> {
    (!argument.per.is_empty()).then(|| format!("per {}", argument.per.join(", ")))
}

/// What the command gives.
fn given(launch: &Launch) -> impl Iterator<Item = &Argument> {
    launch.arguments.iter().filter(|a| a.via != Via::Resolved)
}

/// What the code fills.
fn filled(launch: &Launch) -> impl Iterator<Item = &Argument> {
    launch.arguments.iter().filter(|a| a.via == Via::Resolved)
}

/// The findings on an argument, the worst first.
fn on<'a>(launch: &'a Launch, argument: &Argument) -> Vec<&'a Finding> {
    worst_first(launch.findings.iter().filter(|f| is_on(f, argument)))
}

/// The findings that are on no argument that was given.
fn others(launch: &Launch) -> Vec<&Finding> {
    worst_first(launch.findings.iter().filter(|f| !given(launch).any(|a| is_on(f, a))))
}

fn is_on(finding: &Finding, argument: &Argument) -> bool {
    match (&finding.field, &argument.field) {
        (Some(of), Some(field)) => of == field,
        _ => finding.flag.is_some() && finding.flag == argument.flag,
    }
}

fn worst_first<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<&'a Finding> {
    let mut all: Vec<&Finding> = findings.collect();
    all.sort_by_key(|f| std::cmp::Reverse(f.level));
    all
}

fn place(finding: &Finding) -> Option<String> {
    Some(format!("{}:{}", finding.path.as_ref()?, finding.line?))
}

/// What a finding says, and on what it hangs.
fn message(finding: &Finding) -> String {
    match &finding.when {
        Some(when) => format!("{}; it hangs on {when}", finding.message),
        None => finding.message.clone(),
    }
}

/// `2 errors, 1 warning`
fn counts(findings: &[Finding]) -> String {
    let count = |level: Level| findings.iter().filter(|f| f.level == level).count();
    let levels = [Level::Error, Level::Warning, Level::Note];
    let said: Vec<String> = levels
        .iter()
        .map(|level| (count(*level), level.as_str()))
        .filter(|(n, _)| *n > 0)
        .map(|(n, level)| format!("{n} {level}{}", if n == 1 { "" } else { "s" }))
        .collect();
    if said.is_empty() { String::from("nothing found") } else { said.join(", ") }
}

/// `launch.sh:3`
fn origin(origin: &Origin) -> Option<String> {
    let file = origin.file.as_ref()?;
    Some(origin.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
}

/// A command as a shell would take it.
fn command(words: &[String]) -> String {
    let quoted = |word: &String| match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The name of a finding's argument, where it has one.
fn name(finding: &Finding) -> Option<&str> {
    finding.flag.as_deref().or(finding.field.as_deref())
}

/// `--flag: code`
fn title(finding: &Finding) -> String {
    match name(finding) {
        Some(name) => format!("{name}: {}", finding.code),
        None => finding.code.clone(),
    }
}
