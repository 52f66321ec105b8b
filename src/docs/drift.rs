//! Where a table that people keep contradicts the source (`argtrace/drift/1`).
//!
//! Each row is held against the field that its flag belongs to. What a row does not say, or says in words that can mean
//! anything, contradicts nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codes::{self, Code};
use super::tables::{Row, rows};
use super::{defaults, options};
use crate::launch::document::Level;
use crate::meaning::list::FieldEntry;
use crate::meaning::report::{Grade, SourceInfo};
use crate::program::profile::UnitWords;

const SCHEMA: &str = "argtrace/drift/1";

/// The whole document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    pub schema: String,
    pub source: SourceInfo,
    /// The text that was held against the source.
    pub file: String,
    /// In the order of the text, then what it leaves out in the order of declaration.
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub code: String,
    pub level: Level,
    pub flag: String,
    /// `null` for a flag that the source does not have.
    pub field: Option<String>,
    /// What the text says, and what the source has.
    pub documented: Option<String>,
    pub actual: Option<String>,
    pub message: String,
    /// The line of the text; `null` for what it leaves out.
    pub file_line: Option<u32>,
    /// Where the source shows it.
    pub path: Option<String>,
    pub line: Option<u32>,
}

/// What is asked.
pub struct Question<'q> {
    pub source: &'q SourceInfo,
    pub file: &'q str,
    pub text: &'q str,
    /// All fields, in the order of declaration.
    pub entries: &'q [FieldEntry],
    /// Must this field have a row?
    pub wanted: &'q dyn Fn(&FieldEntry) -> bool,
    /// Flags that are taken and belong to no field that is listed.
    pub others: &'q [String],
    pub units: &'q UnitWords,
}

/// Says where the text contradicts the source; `None` if it has no table of flags.
pub fn against(question: &Question<'_>) -> Option<Drift> {
    let rows = rows(question.text);
    if rows.is_empty() {
        return None;
    }
    let of = |flag: &String| question.entries.iter().find(|entry| entry.definition.flags.contains(flag));
    let mut findings: Vec<Finding> = Vec::new();
    for row in &rows {
        let unknown = |flag: &&String| of(flag).is_none() && !question.others.contains(flag);
        findings.extend(row.flags.iter().filter(unknown).map(|flag| no_such_flag(row, flag)));
        if let Some(entry) = row.flags.iter().find_map(of) {
            findings.extend(Held { row, entry, units: question.units }.findings());
        }
    }
    let documented =
        |entry: &FieldEntry| rows.iter().any(|row| row.flags.iter().any(|flag| entry.definition.flags.contains(flag)));
    let needs_row = |entry: &&FieldEntry| {
        let definition = &entry.definition;
        !definition.flags.is_empty()
            && definition.deprecated.is_none()
            && (question.wanted)(entry)
            && !documented(entry)
    };
    findings.extend(question.entries.iter().filter(needs_row).map(no_row));
    Some(Drift { schema: SCHEMA.to_owned(), source: question.source.clone(), file: question.file.to_owned(), findings })
}

fn no_such_flag(row: &Row, flag: &str) -> Finding {
    Finding {
        code: codes::UNKNOWN.code.to_owned(),
        level: codes::UNKNOWN.level,
        flag: flag.to_owned(),
        field: None,
        documented: Some(flag.to_owned()),
        actual: None,
        message: format!("the source has no flag {flag}"),
        file_line: Some(row.line),
        path: None,
        line: None,
    }
}

fn no_row(entry: &FieldEntry) -> Finding {
    let flags = entry.definition.flags.join(", ");
    Finding {
        code: codes::MISSING.code.to_owned(),
        level: codes::MISSING.level,
        flag: entry.definition.flags.first().cloned().unwrap_or_default(),
        field: Some(entry.field.clone()),
        documented: None,
        actual: Some(flags.clone()),
        message: format!("no row documents {flags}"),
        file_line: None,
        path: Some(entry.definition.path.clone()),
        line: Some(entry.definition.line),
    }
}

/// A row held against its field.
struct Held<'h> {
    row: &'h Row,
    entry: &'h FieldEntry,
    units: &'h UnitWords,
}

/// What a row says, what the source has, and the sentence about both.
struct Said {
    documented: Option<String>,
    actual: Option<String>,
    message: String,
}

impl Held<'_> {
    fn findings(&self) -> Vec<Finding> {
        let checks: [(Code, Option<Said>); 6] = [
            (codes::ALIAS, self.aliases()),
            (codes::DEFAULT, self.default()),
            (codes::CHOICES, self.options(options::of_choices)),
            (codes::TYPE, self.options(options::of_type)),
            (codes::UNIT, self.unit()),
            (codes::SCOPE, self.scope()),
        ];
        checks.into_iter().filter_map(|(code, said)| Some(self.finding(code, said?))).collect()
    }

    fn finding(&self, code: Code, said: Said) -> Finding {
        let entry = self.entry;
        let evidence = match code {
            codes::UNIT => entry.unit.evidence.first(),
            codes::SCOPE => entry.scope.evidence.first(),
            _ => None,
        };
        let (path, line) = evidence.map_or((&entry.definition.path, entry.definition.line), |p| (&p.path, p.line));
        let flag = self.row.flags.iter().find(|flag| entry.definition.flags.contains(flag));
        Finding {
            code: code.code.to_owned(),
            level: code.level,
            flag: flag.cloned().unwrap_or_default(),
            field: Some(entry.field.clone()),
            documented: said.documented,
            actual: said.actual,
            message: said.message,
            file_line: Some(self.row.line),
            path: Some(path.clone()),
            line: Some(line),
        }
    }

    fn aliases(&self) -> Option<Said> {
        let missing = self.entry.definition.flags.iter().filter(|flag| !self.row.flags.contains(flag));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        (!missing.is_empty()).then(|| Said {
            documented: Some(self.row.flags.join(", ")),
            actual: Some(self.entry.definition.flags.join(", ")),
            message: format!("the row leaves out {}", missing.join(", ")),
        })
    }

    fn default(&self) -> Option<Said> {
        let definition = &self.entry.definition;
        let own = definition.cli_default.as_ref().or(definition.default.as_ref());
        let documented = defaults::contradiction(self.row.default.as_ref()?, own.map(String::as_str))?;
        let message = match own {
            Some(own) => format!("the default is {own}, not {documented}"),
            None => format!("there is no default, and not {documented}: it must be given"),
        };
        Some(Said { documented: Some(documented), actual: own.cloned(), message })
    }

    fn options(
        &self,
        check: impl Fn(&super::tables::Cell, &crate::meaning::report::Definition) -> Option<options::Contradiction>,
    ) -> Option<Said> {
        let found = check(self.row.options.as_ref()?, &self.entry.definition)?;
        Some(Said { documented: Some(found.documented), actual: Some(found.actual), message: found.message })
    }

    /// A size or a time that the code computes in, and another one in the text.
    fn unit(&self) -> Option<Said> {
        let unit = &self.entry.unit;
        let own = unit.name.as_deref().filter(|own| unit.grade == Grade::Proved && dimension(own).is_some())?;
        let says = self.texts().find_map(|text| self.units.of_help(text, ""))?;
        (says != own && dimension(says) == dimension(own)).then(|| Said {
            documented: Some(says.to_owned()),
            actual: Some(own.to_owned()),
            message: format!("the text says {says}, the code computes with {own}"),
        })
    }

    fn scope(&self) -> Option<Said> {
        let scope = &self.entry.scope;
        if scope.grade != Grade::Proved {
            return None;
        }
        let word = |words: &'static [&'static str]| {
            self.texts().find_map(|text| {
                let text = text.to_lowercase();
                words.iter().find(|word| text.contains(**word)).copied()
            })
        };
        let per = scope.per.join(" x ");
        match (word(TOTALS), word(HOLDERS)) {
            (Some(total), None) if scope.total.is_some() && !scope.per.is_empty() && scope.divided_by.is_empty() => {
                Some(Said {
                    documented: Some(total.to_owned()),
                    actual: Some(per.clone()),
                    message: format!("the text says \"{total}\", and each process holds it whole ({per})"),
                })
            }
            (None, Some(holder)) if scope.per.is_empty() && !scope.processes.is_empty() => {
                let processes = scope.processes.join(", ");
                Some(Said {
                    documented: Some(holder.to_owned()),
                    message: format!("the text says \"{holder}\", and only {processes} holds it"),
                    actual: Some(processes),
                })
            }
            _ => None,
        }
    }

    /// What the row says in prose.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.row.description.iter().chain(&self.row.rest).map(|cell| cell.text.as_str())
    }
}

/// Words by which a text says that there is one holder for each rank, and that a value is for all of them together.
const HOLDERS: &[&str] =
    &["per rank", "each rank", "every rank", "per gpu", "each gpu", "per-gpu", "per-rank", "per device"];
const TOTALS: &[&str] = &[
    "in total",
    "total across",
    "total over",
    "across all ranks",
    "across all gpus",
    "over all ranks",
    "shared by all",
    "globally",
];

/// What units of one kind can be taken for each other.
fn dimension(unit: &str) -> Option<&'static str> {
    match unit {
        "bytes" | "KB" | "KiB" | "MB" | "MiB" | "GB" | "GiB" => Some("size"),
        "s" | "ms" | "us" => Some("time"),
        _ => None,
    }
}
