//! Runs a command and catches what it says.

use argtrace::cli::console::Console;
use argtrace::cli::exit::{Exit, told};
use argtrace::cli::{ColorWhen, Options};

pub fn options() -> Options {
    Options { color: ColorWhen::Never, ..Options::default() }
}

/// What a command ends with, and what it says on stdout and stderr of a terminal of so many columns, or of none.
pub fn run(
    columns: Option<usize>,
    options: &Options,
    command: impl FnOnce(&mut Console<'_>) -> anyhow::Result<Exit>,
) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut console = Console::new(&mut out, &mut err, options, columns);
    let result = command(&mut console);
    let exit = told(result, &mut console);
    let plain = |bytes| anstream::adapter::strip_str(&String::from_utf8(bytes).unwrap()).to_string();
    (exit, plain(out), plain(err))
}
