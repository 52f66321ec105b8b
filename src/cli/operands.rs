//! Which operands of a command are fields, and which one is the source.
//!
//! What is a source by its form (a path with a slash, the name of an archive, a requirement) is one. A bare word that
//! is also a folder is a source only if the folder holds the package and no other operand is a source; where it could
//! have been a field too, that is said.

use clap::CommandFactory;

use super::Cli;
use super::console::Console;
use super::exit::UsageError;
use super::selection::Selection;
use super::session::{Backend, Session};
use super::suggest::nearest;
use crate::source::Naming;

pub struct Operands<'a> {
    /// Fields, by name, flag or glob.
    patterns: Vec<&'a str>,
    source: Option<&'a str>,
    /// The source is a bare word, which a field may have as its name.
    bare: bool,
    /// Patterns that are also the names of files or folders.
    paths: Vec<&'a str>,
    /// Where no field is named, all are meant.
    or_all: bool,
}

/// A source that was opened, and what of it is asked for.
pub struct Asked {
    pub session: Box<dyn Session>,
    pub fields: Vec<String>,
}

impl<'a> Operands<'a> {
    /// # Errors
    /// If two operands can only be sources.
    pub fn of(operands: &'a [String], backend: &dyn Backend) -> Result<Self, UsageError> {
        let naming = |operand: &String| match operand.starts_with('-') {
            true => Naming::Word,
            false => backend.naming(operand),
        };
        let named: Vec<(&str, Naming)> = operands.iter().map(|operand| (operand.as_str(), naming(operand))).collect();
        let last = |wanted: Naming| named.iter().rposition(|(_, naming)| *naming == wanted);
        let at = last(Naming::Source).or_else(|| last(Naming::Package));
        let others = || named.iter().enumerate().filter(|(i, _)| Some(*i) != at).map(|(_, named)| named);
        if let (Some((other, _)), Some(at)) = (others().find(|(_, naming)| *naming == Naming::Source), at) {
            let what = format!("two sources are named, {other} and {}", named[at].0);
            return Err(UsageError::new(what, "a command reads one; all other operands are fields"));
        }
        Ok(Self {
            patterns: others().map(|(operand, _)| *operand).collect(),
            source: at.map(|at| named[at].0),
            bare: at.is_some_and(|at| named[at].1 == Naming::Package),
            paths: others().filter(|(_, naming)| *naming != Naming::Word).map(|(operand, _)| *operand).collect(),
            or_all: false,
        })
    }

    /// No field means all of them.
    pub fn or_all(self) -> Self {
        Self { or_all: true, ..self }
    }

    /// Opens the source and finds the fields.
    ///
    /// # Errors
    /// If no field is named, the source cannot be read, or a field is unknown.
    pub fn open(&self, backend: &dyn Backend, console: &mut Console<'_>) -> anyhow::Result<Asked> {
        if let (true, false, Some(source)) = (self.patterns.is_empty(), self.or_all, self.source) {
            return Err(self.no_field(source).into());
        }
        let shown = self.source.map_or_else(|| "looking for SGLang".to_owned(), |source| format!("reading {source}"));
        let session = console.while_showing(&shown, |say| backend.open(self.source, say))?;
        let selection = Selection::new(session.field_names(), session.aliases());
        match self.source {
            None => console.remark(&format!("reading {}", session.source())),
            Some(word) if self.bare && selection.knows(word) => {
                console.remark(&format!("`{word}` is read as the folder of that name; the field is written --{word}"));
            }
            Some(_) => {}
        }
        let fields = match self.patterns.is_empty() {
            true => session.field_names(),
            false => self.fields(&selection, &session.source())?,
        };
        Ok(Asked { session, fields })
    }

    /// What the patterns mean, each field once, in the order in which they are asked for.
    fn fields(&self, selection: &Selection, source: &str) -> Result<Vec<String>, UsageError> {
        let mut fields: Vec<String> = Vec::new();
        for pattern in &self.patterns {
            let meant = selection.fields(pattern, source).map_err(|error| match own_option_like(pattern) {
                _ if self.paths.contains(pattern) => {
                    error.hinting(&format!("the path of that name, which holds no package, is written ./{pattern}"))
                }
                Some(option) => error.hinting(&format!("argtrace's own option is {option}")),
                None => error,
            })?;
            for field in meant {
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        Ok(fields)
    }

    fn no_field(&self, source: &str) -> UsageError {
        let mut hint = format!("name one, or all of them: argtrace '*' {source}");
        if self.bare {
            hint.push_str(&format!("; a field of the name {source} is written --{source}"));
        }
        UsageError::new(format!("no field is named, only the source {source}"), hint)
    }
}

/// The option of argtrace's that a flag which is none may have been meant as.
fn own_option_like(pattern: &str) -> Option<String> {
    let wanted = pattern.strip_prefix("--")?;
    let cli = Cli::command();
    let commands = std::iter::once(&cli).chain(cli.get_subcommands());
    let options: Vec<&str> =
        commands.flat_map(|command| command.get_arguments()).filter_map(|arg| arg.get_long()).collect();
    nearest(wanted, options.iter().map(|option| (*option, *option))).first().map(|option| format!("--{option}"))
}
