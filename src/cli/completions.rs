//! `argtrace completions SHELL`: the script that makes a shell complete argtrace's command lines.

use anyhow::Context;
use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use super::Options;
use super::complete::VARIABLE;
use super::console::Console;
use super::exit::Exit;
use super::output::Format;

const NAME: &str = "argtrace";

/// Print the script that makes a shell complete commands, options, fields and codes
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  source <(argtrace completions bash)                                        in ~/.bashrc
  source <(argtrace completions zsh)                                         in ~/.zshrc
  argtrace completions fish -o ~/.config/fish/completions/argtrace.fish")]
pub struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

impl CompletionsCommand {
    /// # Errors
    /// If the output cannot be written.
    pub fn run(&self, options: &Options, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        options.output.deliver(console, &[(Format::Text, &|_| self.script())])?;
        Ok(Exit::Clean)
    }

    fn script(&self) -> anyhow::Result<String> {
        let value = self.shell.to_possible_value().context("each shell has a name")?;
        let shells = Shells::builtins();
        let shell = shells.completer(value.get_name()).context("each shell is known")?;
        let mut script = Vec::new();
        shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
        Ok(String::from_utf8(script)?)
    }
}
