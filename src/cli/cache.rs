//! `argtrace cache clear|path|size`: what argtrace keeps on disk.

use clap::{Args, Subcommand};

use super::Options;
use super::console::Console;
use super::exit::Exit;
use super::output::Format;
use crate::source::usual_folder;
use crate::store;

/// Show or empty the folder of fetched releases and kept answers
#[derive(Args, Debug)]
pub struct CacheCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Clone, Copy, Debug)]
enum Action {
    /// Print the folder; ARGTRACE_CACHE_DIR names another one
    Path,
    /// Print how many bytes the kept answers take
    Size,
    /// Drop the kept answers; fetched releases stay
    Clear,
}

impl CacheCommand {
    /// # Errors
    /// If there is no cache folder, it cannot be read or emptied, or the output cannot be written.
    pub fn run(&self, options: &Options, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let folder = usual_folder()?;
        let said = match self.action {
            Action::Path => format!("{}\n", folder.display()),
            Action::Size => format!("{}\n", store::size(&folder)?),
            Action::Clear => {
                store::clear(&folder)?;
                String::new()
            }
        };
        options.output.deliver(console, &[(Format::Text, &|_| Ok(said.clone()))])?;
        Ok(Exit::Clean)
    }
}
