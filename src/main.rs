//! The binary: hands the command line to [`argtrace::cli`] and returns its exit code. It decides nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    argtrace::cli::bug::report_in_one_line();
    argtrace::cli::run(std::env::args_os().collect()).into()
}
