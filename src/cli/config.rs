//! `argtrace.toml`: levels per code and field, and the allow-list.
//!
//! A key that is not known is an error with the nearest that is: a misspelt rule that does nothing would go unnoticed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use globset::Glob;
use toml::{Table, Value};

use super::exit::UsageError;
use super::suggest::{did_you_mean, nearest};
use crate::compare::change::{Diff, Level, Side};
use crate::compare::codes::{CODES, Code};
use crate::compare::policy::{Allowance, Day, LevelRule, Policy};

/// The file that is read where none is named.
const USUAL: &str = "argtrace.toml";
/// Says which day it is, for builds that must come out the same.
const TODAY: &str = "ARGTRACE_TODAY";

const LEVELS: &[(&str, Option<Level>)] = &[
    ("breaking", Some(Level::Breaking)),
    ("behaviour", Some(Level::Behaviour)),
    ("cosmetic", Some(Level::Cosmetic)),
    ("off", None),
];

#[derive(Default)]
pub struct Config {
    policy: Policy,
}

impl Config {
    /// The configuration in `file`, else in the usual file, else none.
    ///
    /// # Errors
    /// If the file that is named is not there, or what it says is not understood.
    pub fn load(file: Option<&Path>) -> anyhow::Result<Config> {
        let file = match file {
            Some(file) => file.to_path_buf(),
            None if Path::new(USUAL).is_file() => PathBuf::from(USUAL),
            None => return Ok(Config::default()),
        };
        let text =
            fs::read_to_string(&file).with_context(|| format!("reading the configuration {}", file.display()))?;
        Ok(Config { policy: Reading { file: &file, text: &text }.policy()? })
    }

    pub fn judged(&self, diff: Diff) -> Diff {
        self.policy.judged(diff, today())
    }
}

fn today() -> Day {
    let told = std::env::var(TODAY).ok().and_then(|text| Day::parse(&text));
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    told.unwrap_or_else(|| Day::of_seconds(now()))
}

struct Reading<'r> {
    file: &'r Path,
    text: &'r str,
}

impl Reading<'_> {
    fn policy(&self) -> Result<Policy, UsageError> {
        let table: Table = self.text.parse().map_err(|error: toml::de::Error| self.wrong(error.message(), ""))?;
        self.known("", &table, &["level", "allow"])?;
        let levels = self.entries(&table, "level")?.into_iter().map(|(_, entry)| self.level(&entry));
        let allowances = self.entries(&table, "allow")?.into_iter().map(|(line, entry)| self.allowance(line, &entry));
        Ok(Policy { levels: levels.collect::<Result<_, _>>()?, allowances: allowances.collect::<Result<_, _>>()? })
    }

    /// The tables of `[[name]]`, each with its line.
    fn entries(&self, table: &Table, name: &str) -> Result<Vec<(u32, Table)>, UsageError> {
        let header = format!("[[{name}]]");
        let lines = self.text.lines().enumerate().filter(|(_, line)| line.trim().starts_with(&header));
        let mut lines = lines.map(|(i, _)| i as u32 + 1);
        let entries = match table.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(entries)) => entries,
            Some(_) => {
                return Err(self.wrong(&format!("`{name}` is no list"), &format!("write each entry under [[{name}]]")));
            }
        };
        let mut out = Vec::new();
        for entry in entries {
            let Value::Table(entry) = entry else {
                return Err(
                    self.wrong(&format!("an entry of `{name}` is no table"), &format!("write it under [[{name}]]"))
                );
            };
            out.push((lines.next().unwrap_or(1), entry.clone()));
        }
        Ok(out)
    }

    fn level(&self, entry: &Table) -> Result<LevelRule, UsageError> {
        self.known("level", entry, &["code", "field", "level"])?;
        let named = self.required("level", entry, "level")?;
        let level = LEVELS.iter().find(|(name, _)| *name == named).map(|(_, level)| *level).ok_or_else(|| {
            let names: Vec<&str> = LEVELS.iter().map(|(name, _)| *name).collect();
            self.wrong(&format!("`{named}` is no level"), &format!("levels are {}", names.join(", ")))
        })?;
        let code = self.optional("level", entry, "code")?.map(|name| self.code(&name)).transpose()?;
        let field = self.optional("level", entry, "field")?;
        let field = field.map(|glob| {
            let glob = Glob::new(&glob.trim_start_matches('-').replace('-', "_"));
            glob.map(|g| g.compile_matcher()).map_err(|error| self.wrong(&format!("no valid glob: {error}"), ""))
        });
        Ok(LevelRule { code, field: field.transpose()?, level })
    }

    fn allowance(&self, line: u32, entry: &Table) -> Result<Allowance, UsageError> {
        const KIND: &str = "allow";
        self.known(KIND, entry, &["code", "field", "fingerprint", "reason", "expires"])?;
        let expires = self.required(KIND, entry, "expires")?;
        let expires = Day::parse(&expires)
            .ok_or_else(|| self.wrong(&format!("`{expires}` is no day"), "write it as YYYY-MM-DD"))?;
        Ok(Allowance {
            code: self.code(&self.required(KIND, entry, "code")?)?,
            field: self.required(KIND, entry, "field")?.trim_start_matches('-').replace('-', "_"),
            fingerprint: self.required(KIND, entry, "fingerprint")?,
            reason: self.required(KIND, entry, "reason")?,
            expires,
            at: Side { path: self.file.display().to_string(), line },
        })
    }

    fn code(&self, name: &str) -> Result<Code, UsageError> {
        Code::named(name).ok_or_else(|| {
            let near = nearest(name, CODES.iter().map(|entry| (entry.name, entry.name)));
            let hint = did_you_mean(&near).unwrap_or_else(|| String::from("argtrace explain --list shows all codes"));
            self.wrong(&format!("`{name}` is no code of a change"), &hint)
        })
    }

    fn required(&self, kind: &str, entry: &Table, key: &str) -> Result<String, UsageError> {
        self.optional(kind, entry, key)?.filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            let hint = format!("each [[{kind}]] says its {key}");
            self.wrong(&format!("an entry of [[{kind}]] has no `{key}`"), &hint)
        })
    }

    fn optional(&self, kind: &str, entry: &Table, key: &str) -> Result<Option<String>, UsageError> {
        match entry.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Datetime(day)) => Ok(Some(day.to_string())),
            Some(_) => Err(self.wrong(&format!("`{key}` of [[{kind}]] is no text"), "put it in quotes")),
        }
    }

    fn known(&self, kind: &str, table: &Table, keys: &[&str]) -> Result<(), UsageError> {
        let Some(unknown) = table.keys().find(|key| !keys.contains(&key.as_str())) else { return Ok(()) };
        let place = if kind.is_empty() { String::new() } else { format!(" in [[{kind}]]") };
        let near = nearest(unknown, keys.iter().map(|key| (*key, *key)));
        let hint = did_you_mean(&near).unwrap_or_else(|| format!("known keys are {}", keys.join(", ")));
        Err(self.wrong(&format!("unknown key `{unknown}`{place}"), &hint))
    }

    fn wrong(&self, what: &str, hint: &str) -> UsageError {
        UsageError::new(format!("reading the configuration {}: {what}", self.file.display()), hint)
    }
}
