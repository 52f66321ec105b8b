//! What argparse refuses or would warn of, where a configuration file goes wrong, and what is only known at run time.

use super::finding;
use crate::launch::audit::Case;
use crate::launch::command::Problem;
use crate::launch::command::token;
use crate::launch::document::{Finding, Level};
use crate::launch::evaluate::Check;
use crate::launch::resolve::Given;
use crate::meaning::definition::action::Effect;

pub fn find(case: &mut Case<'_>, given: &Given) {
    let mut out: Vec<Finding> = Vec::new();
    for problem in case.resolved.parsed.problems.clone() {
        out.push(problem_finding(case, &problem));
    }
    out.extend(config_failures(case));
    out.extend(config_ignored(case));
    out.extend(deprecated(case));
    out.extend(unresolved(case));
    out.extend(unread_variables(case, given));
    for fact in &case.resolved.unknown_facts {
        out.push(Finding { level: Level::Note, ..finding("unresolved-value", format!("no fact is named {fact}")) });
    }
    case.findings.extend(out);
}

fn problem_finding(case: &Case<'_>, problem: &Problem) -> Finding {
    let in_config = problem.index < case.from_config;
    let code = match problem.code {
        "unknown-flag" if in_config => "config-key-unknown",
        code => code,
    };
    let registration = problem.registration.and_then(|r| case.registration(r));
    let field = registration.and_then(|r| r.field).map(|f| f.to_string());
    let (path, line) = match registration {
        Some(r) => case.place(r.place),
        None => (None, None),
    };
    let level = match code {
        // A retired flag that was refused.
        "deprecated-flag" => Level::Error,
        code => super::table::level(code),
    };
    Finding {
        level,
        flag: Some(problem.flag.clone()),
        fields: field.iter().cloned().collect(),
        field,
        path,
        line,
        ..finding(code, problem.message.clone())
    }
}

/// What failed before the parser was reached is the reading of a configuration file.
fn config_failures(case: &Case<'_>) -> Vec<Finding> {
    let Some(flag) = case.program.profile.launch.config_flags.first() else { return Vec::new() };
    let unreadable = case.resolved.unreadable.iter().map(|(path, why)| Finding {
        flag: Some(flag.clone()),
        ..finding("config-unreadable", format!("{path}: {why}"))
    });
    let checks = case.resolved.checks.iter().take(case.resolved.checks_before_parsing);
    let failed = checks.filter(|c| c.doubts.is_empty()).map(|check| {
        let message = said(check);
        let unsupported = message.to_lowercase().contains("unsupported");
        let code = if unsupported { "config-action-unsupported" } else { "config-unreadable" };
        Finding { flag: Some(flag.clone()), ..finding(code, message) }.at(case.place(check.place))
    });
    unreadable.chain(failed).collect()
}

/// An error's message, or its name.
pub fn said(check: &Check) -> String {
    check.message.clone().unwrap_or_else(|| check.error.to_string())
}

/// A configuration file that is parsed as a flag like any other.
fn config_ignored(case: &Case<'_>) -> Option<Finding> {
    let flags = &case.program.profile.launch.config_flags;
    let used = case.resolved.parsed.uses.iter().find(|u| flags.contains(&u.option))?;
    let registration = case.registration(used.registration)?;
    let message =
        format!("{} is parsed and not read: the file is only merged in where the flag stands by itself", used.flag);
    Some(
        Finding { flag: Some(used.flag.clone()), ..finding("config-ignored", message) }
            .at(case.place(registration.place)),
    )
}

fn deprecated(case: &Case<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for used in &case.resolved.parsed.uses {
        let Some(registration) = case.registration(used.registration) else { continue };
        let Some(text) = &registration.deprecated else { continue };
        let refused =
            case.resolved.parsed.problems.iter().any(|p| p.code == "deprecated-flag" && p.index == used.index);
        if refused {
            continue;
        }
        let (level, what) = match registration.effect {
            Effect::Fails => (Level::Error, "ends the launch"),
            Effect::Ignored => (Level::Warning, "no longer does anything"),
            Effect::Stores => (Level::Note, "is deprecated"),
        };
        let field = registration.field.map(|f| f.to_string());
        let message = format!("{} {what}: {text}", used.flag);
        out.push(
            Finding {
                level,
                flag: Some(used.flag.clone()),
                fields: field.iter().cloned().collect(),
                field,
                ..finding("deprecated-flag", message)
            }
            .at(case.place(registration.place)),
        );
    }
    out
}

/// Values of which a part is only known when the command runs.
fn unresolved(case: &Case<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for used in &case.resolved.parsed.uses {
        let Some(open) = used.values.iter().find(|v| v.is_open()) else { continue };
        let source = token::source_of(&open.text).unwrap_or("");
        let field = case.registration(used.registration).and_then(|r| r.field).map(|f| f.to_string());
        out.push(Finding {
            flag: Some(used.flag.clone()),
            fields: field.iter().cloned().collect(),
            field,
            when: Some(source.to_owned()),
            ..finding(
                "unresolved-value",
                format!("{} is {}, which is only known when it runs", used.flag, open.shown()),
            )
        });
    }
    out
}

/// Variables that look like the project's own and that no file mentions.
fn unread_variables(case: &Case<'_>, given: &Given) -> Vec<Finding> {
    let prefixes = &case.program.profile.launch.env_prefixes;
    let own = given.environment.iter().filter(|(name, _)| prefixes.iter().any(|p| name.starts_with(p.as_str())));
    let unread = own.filter(|(name, _)| case.program.files_with(crate::syntax::ir::Sym::from(name)).is_empty());
    unread.map(|(name, _)| finding("env-unread", format!("no code of this release mentions {name}"))).collect()
}
