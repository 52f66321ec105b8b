//! The command line: from arguments to an exit code.
//!
//! One file a subcommand: its clap struct, then its `run`. What a command has to say goes through [`Console`] and
//! [`output`]; nothing here judges an argument, and nothing outside prints or exits.

mod arguments;
pub mod audit;
pub mod book;
pub mod budget;
pub mod bug;
pub mod cache;
pub mod check;
pub mod compared;
mod complete;
pub mod completions;
mod config;
pub mod console;
pub mod diff;
pub mod docs;
pub mod exit;
pub mod explain;
pub mod fields;
pub mod filter;
mod folder;
pub mod graph;
pub mod history;
pub mod judging;
mod launching;
pub mod man;
mod operands;
pub mod output;
pub mod report;
pub mod schema;
mod selection;
pub mod serve;
pub mod session;
pub mod snapshot;
mod suggest;

use std::ffi::OsString;

use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use compared::Comparing;
use console::Console;
use exit::{Exit, UsageError};
use output::OutputOptions;
use session::{Backend, Launching};

const EXAMPLES: &str = "\
Examples:
  argtrace hicache_size                       of the SGLang in this folder or Python environment
  argtrace --hicache-size --tp ~/sglang       flags as they stand in a launch command; a checkout
  argtrace 'hicache_*' sglang==0.5.9          all fields that match; a release
  argtrace fields ~/sglang --sink timeout     a line a field, of those that end in a timeout
  argtrace hicache_size --format json         for a program
  argtrace hicache_size -o markdown=note.md   for a ticket

A FIELD is a field name, a flag, an alias of a flag or a glob.
A flag of SGLang's that is also an option of argtrace's is written without its dashes.

Exit codes: 0 nothing found, 1 findings, 2 bad usage or unreadable input.";

/// Says what SGLang's server arguments really mean, read from the source, with the lines that prove it.
#[derive(Parser, Debug)]
#[command(
    name = "argtrace",
    version,
    propagate_version = true,
    after_help = EXAMPLES,
    override_usage = "argtrace [OPTIONS] FIELD... [SOURCE]\n       argtrace [OPTIONS] COMMAND",
    subcommand_value_name = "COMMAND",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Report(report::ReportCommand),
    Fields(fields::FieldsCommand),
    Docs(docs::DocsCommand),
    Graph(graph::GraphCommand),
    Book(book::BookCommand),
    Diff(diff::DiffCommand),
    Snapshot(snapshot::SnapshotCommand),
    Check(check::CheckCommand),
    History(history::HistoryCommand),
    Audit(audit::AuditCommand),
    Budget(budget::BudgetCommand),
    Explain(explain::ExplainCommand),
    Schema(schema::SchemaCommand),
    Cache(cache::CacheCommand),
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand),
    Serve(serve::ServeCommand),
}

/// Options that mean the same for every command.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    #[command(flatten)]
    pub output: OutputOptions,

    /// When to colour: NO_COLOR and CLICOLOR are obeyed where this says auto
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,

    /// Threads to work with [default: one for each processor]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// Work everything out anew, and keep nothing for the next run
    #[arg(long, global = true, action = ArgAction::SetTrue)]
    pub no_cache: bool,

    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, action = ArgAction::SetTrue, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Show everything: each read, write, node of the flow and constraint
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub verbose: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

/// Runs the command line `arguments`, the program's name first, on the process's own streams.
pub fn run(arguments: Vec<OsString>) -> Exit {
    match complete::answered(&arguments) {
        Ok(true) => return Exit::Clean,
        Ok(false) => {}
        Err(refusal) => return exit::refused(&refusal),
    }
    let arguments = arguments::normalise(arguments, &Cli::command());
    let command = Cli::command().subcommand_required(true);
    let cli = match command.try_get_matches_from(arguments).and_then(|m: ArgMatches| Cli::from_arg_matches(&m)) {
        Ok(cli) => cli,
        Err(refusal) => return exit::refused(&refusal),
    };
    Console::with_streams(&cli.options, |console| {
        let result = session::installed(!cli.options.no_cache).and_then(|backend| run_command(&cli, &backend, console));
        exit::told(result, console)
    })
}

fn run_command<B: Backend + Comparing + Launching>(
    cli: &Cli,
    backend: &B,
    console: &mut Console<'_>,
) -> anyhow::Result<Exit> {
    if let Some(jobs) = cli.options.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build_global().map_err(|error| {
            UsageError::new(format!("cannot start {jobs} threads: {error}"), "give a smaller --jobs")
        })?;
    }
    match &cli.command {
        Command::Report(command) => command.run(&cli.options, backend, console),
        Command::Fields(command) => command.run(&cli.options, backend, console),
        Command::Docs(command) => command.run(&cli.options, backend, console),
        Command::Graph(command) => command.run(&cli.options, backend, console),
        Command::Book(command) => command.run(&cli.options, backend, backend, console),
        Command::Diff(command) => command.run(&cli.options, backend, console),
        Command::Snapshot(command) => command.run(&cli.options, backend, console),
        Command::Check(command) => command.run(&cli.options, backend, console),
        Command::History(command) => command.run(&cli.options, backend, console),
        Command::Audit(command) => command.run(&cli.options, backend, console),
        Command::Budget(command) => command.run(&cli.options, backend, console),
        Command::Explain(command) => command.run(&cli.options, console),
        Command::Schema(command) => command.run(&cli.options, console),
        Command::Cache(command) => command.run(&cli.options, console),
        Command::Completions(command) => command.run(&cli.options, console),
        Command::Man(command) => command.run(&cli.options, console),
        Command::Serve(command) => command.run(&cli.options, backend, console),
    }
}
