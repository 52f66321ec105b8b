//! `argtrace man`: the manual pages, one a command, made from the same definitions as `--help`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::console::Console;
use super::exit::{Exit, UsageError};
use super::output::write_whole;
use super::{Cli, Options};

/// Write the manual pages, one a command, into the folder that -o names
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  argtrace man -o ~/.local/share/man/man1     then: man argtrace, man argtrace-audit
  argtrace man | man -l -                     the page of argtrace itself")]
pub struct ManCommand {}

impl ManCommand {
    /// # Errors
    /// If the folder cannot be written.
    pub fn run(&self, options: &Options, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        if options.output.format.is_some() {
            return Err(UsageError::new("manual pages have one format", "leave out --format").into());
        }
        match &options.output.outputs[..] {
            [] => console.data(&page(&Cli::command())?).context("writing to stdout")?,
            [folder] if folder.format.is_none() => write_all(&folder.file)?,
            _ => return Err(UsageError::new("manual pages go into one folder", "write -o FOLDER").into()),
        }
        Ok(Exit::Clean)
    }
}

fn write_all(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    let mut cli = Cli::command();
    cli.build();
    for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
        let name = Man::new(command.clone()).get_filename();
        write_whole(&folder.join(name), &page(command)?)?;
    }
    Ok(())
}

fn page(command: &Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}
