//! `argtrace serve --mcp [SOURCE...]`: answers for an assistant, over the Model Context Protocol on stdin and stdout.

mod answer;
mod protocol;
mod sources;
mod tools;

use clap::{ArgAction, Args};

use super::Options;
use super::compared::Comparing;
use super::console::Console;
use super::exit::Exit;
use super::session::{Backend, Launching};
use sources::Sources;

/// Answer an assistant's questions over the Model Context Protocol
///
/// Offers report, fields, diff, audit and budget as tools on stdin and stdout, until stdin ends. Only the sources that
/// are named here are read, whatever is asked.
#[derive(Args, Debug)]
#[command(override_usage = "argtrace serve [OPTIONS] --mcp [SOURCE]...")]
pub struct ServeCommand {
    /// Speak the Model Context Protocol, the only one there is
    #[arg(long, required = true, action = ArgAction::SetTrue)]
    pub mcp: bool,

    /// What may be read: each what SOURCE is for a report, or a snapshot file [default: the SGLang of this folder, else
    /// of the active Python environment]
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,
}

impl ServeCommand {
    /// # Errors
    /// If a source cannot be read, or the other side does not speak the protocol.
    pub fn run<B: Backend + Comparing + Launching>(
        &self,
        _: &Options,
        backend: &B,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Exit> {
        let sources = Sources::open(&self.sources, backend, console)?;
        protocol::serve(sources)?;
        Ok(Exit::Clean)
    }
}
