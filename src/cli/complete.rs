//! What a shell offers after a TAB: clap knows the commands and options, the source at hand knows the fields.
//!
//! A shell that was told of it by `argtrace completions SHELL` runs argtrace with [`VARIABLE`] set. Nothing is said on
//! stderr then, and a source that cannot be read offers nothing.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::CompleteEnv;

use super::session::{self, Backend};
use super::{Cli, explain};
use crate::source::Naming;

/// Set to the shell's name when completions are asked for.
pub const VARIABLE: &str = "ARGTRACE_COMPLETE";

/// Positionals whose values the source knows, and that whose values argtrace knows.
const FIELD: &str = "FIELD";
const CODE: &str = "CODE";

/// Answers a shell that asks for completions; was it one?
///
/// # Errors
/// If stdout cannot be written.
pub fn answered(arguments: &[OsString]) -> Result<bool, clap::Error> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(command).var(VARIABLE).try_complete(arguments.to_vec(), folder.as_deref())
}

/// The command line, with fields where a command may be left out.
fn command() -> Command {
    let completed = |arg: Arg| match arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()) {
        Some(FIELD) => arg.add(ArgValueCompleter::new(fields_and_sources)),
        Some(CODE) => arg.add(ArgValueCandidates::new(codes)),
        _ => arg,
    };
    let cli = Cli::command().mut_subcommands(|command| command.mut_args(completed));
    cli.arg(completed(Arg::new("operands").value_name(FIELD).num_args(1..)))
}

fn codes() -> Vec<CompletionCandidate> {
    explain::explanations().iter().map(|e| CompletionCandidate::new(e.code).help(Some(e.title.into()))).collect()
}

fn fields_and_sources(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = PathCompleter::any().complete(current);
    if let Some(start) = current.to_str() {
        let names = fields().unwrap_or_default().into_iter().filter(|name| name.starts_with(start));
        found.extend(names.map(CompletionCandidate::new));
    }
    found
}

/// The fields of the source that the command line names, else of the one at hand. A name that a shell could take for
/// more than a name is left out.
fn fields() -> Option<Vec<String>> {
    let backend = session::installed(true).ok()?;
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--").skip(2).collect();
    // A release that would have to be fetched first is not what a person waits for here.
    let is_source = |word: &&String| !word.contains("==") && backend.naming(word) == Naming::Source;
    let source = words.iter().rfind(is_source).map(String::as_str);
    let session = backend.open(source, &|_| ()).ok()?;
    let is_name = |name: &String| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    Some(session.field_names().into_iter().filter(is_name).collect())
}
