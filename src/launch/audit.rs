//! From a server command to the document: what was given, what becomes of it, and what is wrong with it.
//!
//! The launcher's part is run by [`super::resolve`]; what workers do with the values is read off the field reports. No
//! file is read here: whoever asks hands in what the source would read.

use super::command::token::{self, Token};
use super::command::{Parsed, Spelling, Use, secret};
use super::document::{AUDIT_SCHEMA, Argument, Audit, Finding, Launch, Origin, Via};
use super::evaluate::state::Place;
use super::evaluate::value::{Abs, Why};
use super::files::Command;
use super::findings;
use super::resolve::{self, Given, Resolved};
use super::totals::Totals;
use crate::meaning::Analysis;
use crate::meaning::definition::Definitions;
use crate::meaning::definition::action::Action;
use crate::meaning::definition::registration::Registration;
use crate::meaning::report::FieldReport;
use crate::program::Program;
use crate::syntax::ir::Sym;
use std::collections::BTreeMap;

/// What an audit needs beside the command.
pub struct Question<'a> {
    pub analysis: &'a Analysis,
    /// The reports on some fields.
    pub reports: &'a dyn Fn(&[String]) -> Vec<FieldReport>,
    /// Reads a file that the command names.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
    pub facts: &'a [(String, String)],
    /// Server arguments in addition to the command's: field or flag, value.
    pub sets: &'a [(String, String)],
    /// Undecided checks too.
    pub all: bool,
}

/// A launch while it is looked at.
pub struct Case<'a> {
    pub question: &'a Question<'a>,
    pub program: &'a Program,
    pub definitions: &'a Definitions,
    pub resolved: Resolved<'a>,
    /// How many arguments at the front came from a configuration file.
    pub from_config: usize,
    pub host_memory: Option<u64>,
    pub findings: Vec<Finding>,
    /// Reports that were asked for.
    reports: BTreeMap<Sym, FieldReport>,
}

/// A field that the command sets, with the option that did it last.
#[derive(Clone)]
pub struct Set {
    pub field: Sym,
    pub used: Use,
    pub given: Abs,
}

pub fn audit(question: &Question<'_>, commands: &[Command], file: Option<&str>) -> Audit {
    let launches = commands.iter().map(|command| launch(question, command.clone(), file)).collect();
    Audit { schema: AUDIT_SCHEMA.to_owned(), source: question.analysis.source().clone(), launches }
}

fn launch(question: &Question<'_>, mut command: Command, file: Option<&str>) -> Launch {
    let (program, definitions) = (question.analysis.program(), question.analysis.definitions());
    hide_secrets(&mut command, definitions);
    let mut argv = command.argv.clone();
    if let (true, Some(path)) = (command.is_config, argv.pop()) {
        argv = config_arguments(program, &path);
    }
    argv.extend(question.sets.iter().flat_map(|(name, value)| set_arguments(definitions, name, value)));
    let mut facts = question.facts.to_vec();
    for fact in implied_facts(program, definitions, &argv) {
        if !facts.iter().any(|(name, _)| *name == fact.0) {
            facts.push(fact);
        }
    }
    let files = config_files(question, program, &argv);
    let given = Given { argv, files, facts, environment: command.environment.clone() };
    let resolved = resolve::run(program, definitions, &given);
    let host_memory =
        question.facts.iter().find(|(n, _)| n == "host_memory").and_then(|(_, v)| super::amount::bytes(v));
    let from_config = config_count(program, &given.argv, &resolved.parsed);
    let mut case = Case {
        question,
        program,
        definitions,
        resolved,
        from_config,
        host_memory,
        findings: Vec::new(),
        reports: BTreeMap::new(),
    };
    let sets = case.sets();
    case.fetch(&sets);
    findings::parsing::find(&mut case, &given);
    findings::values::find(&mut case, &sets);
    let totals = Totals::of(&mut case, &sets);
    findings::workers::find(&mut case, &sets, &totals);
    let arguments = arguments(&mut case, &sets, &totals);
    let mut findings = case.findings;
    findings.dedup_by(|a, b| a.code == b.code && a.flag == b.flag && a.path == b.path && a.line == b.line);
    Launch {
        origin: Origin { file: file.map(str::to_owned), line: command.line.filter(|_| file.is_some()) },
        command: command.words.iter().map(Token::shown).collect(),
        environment: environment(&command),
        arguments,
        findings,
    }
}

impl<'a> Case<'a> {
    /// A launch with nothing but what is set beside the command.
    pub fn of_sets(question: &'a Question<'a>) -> Case<'a> {
        let (program, definitions) = (question.analysis.program(), question.analysis.definitions());
        let argv = question.sets.iter().flat_map(|(name, value)| set_arguments(definitions, name, value)).collect();
        let given = Given { argv, facts: question.facts.to_vec(), ..Given::default() };
        let resolved = resolve::run(program, definitions, &given);
        let reports = BTreeMap::new();
        Case {
            question,
            program,
            definitions,
            resolved,
            from_config: 0,
            host_memory: None,
            findings: Vec::new(),
            reports,
        }
    }

    pub fn registration(&self, index: usize) -> Option<&'a Registration> {
        self.definitions.registrations.get(index)
    }

    /// What the command sets, in its order; of several options for one field the last.
    fn sets(&mut self) -> Vec<Set> {
        let mut out: Vec<Set> = Vec::new();
        for used in self.resolved.parsed.uses.clone() {
            let Some(registration) = self.registration(used.registration) else { continue };
            let Some(field) = registration.field else { continue };
            let given = self.resolved.machine.parsed_value(registration.dest);
            out.retain(|s| s.field != field);
            out.push(Set { field, used, given });
        }
        out
    }

    /// Gets the reports on what is set, all at once.
    fn fetch(&mut self, sets: &[Set]) {
        let fields: Vec<String> = sets.iter().filter(|s| !s.used.failed).map(|s| s.field.to_string()).collect();
        let reports = (self.question.reports)(&fields);
        self.reports = reports.into_iter().map(|r| (Sym::from(&r.field), r)).collect();
    }

    pub fn report(&self, field: Sym) -> Option<FieldReport> {
        self.reports.get(&field).cloned()
    }

    pub fn place(&self, at: Place) -> (Option<String>, Option<u32>) {
        (Some(self.program.file(at.0).path.clone()), Some(at.1.line))
    }

    /// A field at the end of its resolution: the value, and on what it hangs if it is not known.
    pub fn effective(&mut self, field: Sym) -> (serde_json::Value, Option<String>) {
        let value = self.resolved.effective(field);
        self.shown(&value)
    }

    pub fn shown(&self, value: &Abs) -> (serde_json::Value, Option<String>) {
        match self.resolved.machine.to_json(value) {
            Some(json) => (secret::hidden(&json, 0), None),
            None => (serde_json::Value::Null, Some(self.hangs_on(&value.reasons()))),
        }
    }

    /// What something hangs on, with the facts that would settle it.
    pub fn hangs_on(&self, why: &Why) -> String {
        let reasons: Vec<String> = why.iter().map(token::shown).collect();
        let mut facts: Vec<&str> = Vec::new();
        for rule in &self.program.profile.launch.facts {
            let answers = |r: &String| rule.answers.iter().any(|(path, _)| r.starts_with(path.trim_end_matches("()")));
            if reasons.iter().any(answers) && !facts.contains(&rule.name.as_str()) {
                facts.push(&rule.name);
            }
        }
        let text = if reasons.is_empty() { "something that is not resolved".to_owned() } else { reasons.join(", ") };
        match facts.is_empty() {
            true => text,
            false => format!("{text} (--fact {} would tell)", facts.join(", --fact ")),
        }
    }
}

// Before the run

/// Puts stand-ins in the place of whatever must not be shown, before anything looks at it.
fn hide_secrets(command: &mut Command, definitions: &Definitions) {
    let is_number = |flag: &str| {
        let registration = definitions.registrations.iter().find(|r| r.flags.iter().any(|f| f == flag));
        registration.is_some_and(|r| matches!(r.type_text.as_deref(), Some("int" | "float")) || !r.action.takes_value())
    };
    let hide = |words: &mut Vec<Token>| {
        let mut next_is_secret = false;
        for word in words {
            let text = std::mem::take(&mut word.text);
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text.as_str(), None),
            };
            let is_flag = name.starts_with('-') && name.len() > 1;
            let secret = secret::holds(name) && !(is_flag && is_number(name));
            let variable = !is_flag && super::shell::lexer::is_name(name);
            word.text = match (next_is_secret && !is_flag, value) {
                (true, _) if !text.is_empty() => secret::HIDDEN.to_owned(),
                (false, Some(value)) if secret && (is_flag || variable) && !value.is_empty() => {
                    format!("{name}={}", secret::HIDDEN)
                }
                _ => secret::without(&text),
            };
            next_is_secret = is_flag && secret && value.is_none();
        }
    };
    hide(&mut command.words);
    hide(&mut command.argv);
    for (name, value) in &mut command.environment {
        if let Some(value) = value {
            *value = if secret::holds(name) { secret::HIDDEN.to_owned() } else { secret::without(value) };
        }
    }
}

/// The arguments by which a configuration file is read.
fn config_arguments(program: &Program, path: &Token) -> Vec<Token> {
    match program.profile.launch.config_flags.first() {
        Some(flag) => vec![Token { text: flag.clone(), line: path.line }, path.clone()],
        None => Vec::new(),
    }
}

/// `--set field=value` as arguments of the command.
fn set_arguments(definitions: &Definitions, name: &str, value: &str) -> Vec<Token> {
    let field = Sym::from(&name.trim_start_matches('-').replace('-', "_"));
    let by_field = definitions.by_name(field).and_then(|d| d.registrations.first()).copied();
    let flag = format!("--{}", name.trim_start_matches('-').replace('_', "-"));
    let by_flag = || definitions.registrations.iter().position(|r| r.flags.contains(&flag));
    let Some(registration) = by_field.or_else(by_flag).and_then(|i| definitions.registrations.get(i)) else {
        return vec![Token::new(flag), Token::new(value)];
    };
    let flag = registration.flags.first().cloned().unwrap_or(flag);
    let on = matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on");
    match registration.action {
        Action::StoreTrue | Action::StoreFalse if on => vec![Token::new(flag)],
        Action::StoreTrue | Action::StoreFalse => Vec::new(),
        Action::BooleanOptional if !on => {
            let negative = registration.flags.iter().find(|f| f.starts_with("--no-")).cloned();
            vec![Token::new(negative.unwrap_or(flag))]
        }
        Action::BooleanOptional => vec![Token::new(flag)],
        _ if value.starts_with('-') => vec![Token::new(format!("{flag}={value}"))],
        _ => vec![Token::new(flag), Token::new(value)],
    }
}

/// What the values of some arguments say of the world.
fn implied_facts(program: &Program, definitions: &Definitions, argv: &[Token]) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (field, fact) in &program.profile.launch.implied {
        let flags = definitions.by_name(Sym::from(field)).map(|d| d.definition.flags.clone()).unwrap_or_default();
        let mut value = None;
        for (i, token) in argv.iter().enumerate() {
            let (flag, joined) = match token.text.split_once('=') {
                Some((flag, joined)) => (flag, Some(joined.to_owned())),
                None => (token.text.as_str(), None),
            };
            if flags.iter().any(|f| f == flag) {
                value = joined.or_else(|| argv.get(i + 1).map(|t| t.text.clone()));
            }
        }
        if let Some(value) = value.filter(|v| !token::is_open(v)) {
            out.push((fact.clone(), value));
        }
    }
    out
}

/// The configuration files that the command names, read.
fn config_files(question: &Question<'_>, program: &Program, argv: &[Token]) -> Vec<(String, Result<String, String>)> {
    let flags = &program.profile.launch.config_flags;
    let mut out = Vec::new();
    for (i, token) in argv.iter().enumerate() {
        let (flag, joined) = match token.text.split_once('=') {
            Some((flag, joined)) => (flag, Some(joined)),
            None => (token.text.as_str(), None),
        };
        if !flags.iter().any(|f| f == flag) {
            continue;
        }
        if let Some(path) = joined.or_else(|| argv.get(i + 1).map(|t| t.text.as_str()))
            && !token::is_open(path)
        {
            out.push((path.to_owned(), (question.read)(path)));
        }
    }
    out
}

/// How many arguments a merger put before those of the command.
fn config_count(program: &Program, argv: &[Token], parsed: &Parsed) -> usize {
    let flags = &program.profile.launch.config_flags;
    let merged = argv.iter().any(|t| flags.contains(&t.text)) && !parsed.argv.iter().any(|t| flags.contains(&t.text));
    match merged {
        true => (parsed.argv.len() + 2).saturating_sub(argv.len()),
        false => 0,
    }
}

// The document

fn environment(command: &Command) -> BTreeMap<String, Option<String>> {
    command.environment.iter().map(|(name, value)| (name.clone(), value.as_deref().map(token::shown))).collect()
}

fn arguments(case: &mut Case<'_>, sets: &[Set], totals: &Totals) -> Vec<Argument> {
    let mut out = Vec::new();
    let mut seen: Vec<Sym> = Vec::new();
    for used in case.resolved.parsed.uses.clone() {
        let Some(registration) = case.registration(used.registration) else { continue };
        let last = case
            .resolved
            .parsed
            .uses
            .iter()
            .rfind(|u| case.registration(u.registration).is_some_and(|r| r.dest == registration.dest));
        if last.is_none_or(|l| l.index != used.index) {
            continue;
        }
        let via = match used.spelling {
            _ if used.index < case.from_config => Via::Config,
            Spelling::Exact => Via::Exact,
            Spelling::Alias => Via::Alias,
            Spelling::Abbreviation => Via::Abbreviation,
        };
        let value = case.resolved.machine.parsed_value(registration.dest);
        let (given, unknown) = case.shown(&value);
        let given = match unknown {
            Some(_) if !used.failed => used.values.iter().map(Token::shown).collect::<Vec<_>>().join(" ").into(),
            _ => given,
        };
        let (effective, when) = match registration.field {
            Some(field) => case.effective(field),
            None => (serde_json::Value::Null, None),
        };
        seen.extend(registration.field);
        let total = registration.field.and_then(|f| totals.of_field(f));
        out.push(Argument {
            flag: Some(used.flag.clone()),
            field: registration.field.map(|f| f.to_string()),
            via,
            given,
            effective,
            when,
            per: total.map(|t| t.per.clone()).unwrap_or_default(),
            total: total.map(|t| t.shown.clone()),
        });
    }
    for declared in &case.definitions.fields {
        let field = declared.field;
        if seen.contains(&field) || sets.iter().any(|s| s.field == field) {
            continue;
        }
        let Some((effective, when)) = filled(case, field) else { continue };
        out.push(Argument {
            flag: declared.definition.flags.first().cloned(),
            field: Some(field.to_string()),
            via: Via::Resolved,
            given: serde_json::Value::Null,
            effective,
            when,
            per: Vec::new(),
            total: None,
        });
    }
    out
}

/// A field that was not given and that the code fills: its value, if that is not the default.
fn filled(case: &mut Case<'_>, field: Sym) -> Option<(serde_json::Value, Option<String>)> {
    let written = case.resolved.writes.iter().any(|w| w.field == field);
    let fallback = case.definitions.by_name(field).is_some_and(|d| d.fallback.is_some());
    if !written && !fallback {
        return None;
    }
    let (effective, when) = case.effective(field);
    let default = case.resolved.machine.default_of_field(field);
    let (default, _) = case.shown(&default);
    (when.is_some() || effective != default).then_some((effective, when))
}
