//! The streams of a command: data to stdout, everything else to stderr.
//!
//! It decides who sees colour, progress and remarks. What it prints on stderr may quote the tree, so it is made inert
//! here; data is handed in finished.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};

use super::exit::Exit;
use super::{ColorWhen, Options};
use crate::render::untrusted::inert;

pub struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// Columns of the terminal that gets the data, if one does.
    pub width: Option<usize>,
    quiet: bool,
    verbose: bool,
    progress: bool,
}

/// The width to lay text out in where there is no terminal, or it does not say.
pub const USUAL_WIDTH: usize = 80;
/// Narrower than this nothing can be laid out.
const LEAST_WIDTH: usize = 40;
/// How many remarks are printed where not everything is asked for.
const REMARKS: usize = 5;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

impl Console<'_> {
    /// Gives `work` the streams of the process.
    pub fn with_streams(options: &Options, work: impl FnOnce(&mut Console<'_>) -> Exit) -> Exit {
        let choice = match options.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        let size = terminal_size::terminal_size_of(io::stdout());
        let told = size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        let width = io::stdout().is_terminal().then_some(told);
        let progress = io::stderr().is_terminal() && !options.quiet;
        let mut out = AutoStream::new(io::stdout(), choice);
        let mut err = AutoStream::new(io::stderr(), choice);
        let mut console = Console::new(&mut out, &mut err, options, width);
        console.progress = progress;
        work(&mut console)
    }
}

impl<'a> Console<'a> {
    /// A console on any two streams, without progress.
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write, options: &Options, width: Option<usize>) -> Self {
        let (quiet, verbose) = (options.quiet, options.verbose);
        Self { out, err, width: width.map(|width| width.max(LEAST_WIDTH)), quiet, verbose, progress: false }
    }

    /// Writes data.
    ///
    /// # Errors
    /// If stdout cannot be written, a closed pipe among the reasons.
    pub fn data(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Says what the reader may want to know, and did not ask for.
    pub fn remark(&mut self, text: &str) {
        if !self.quiet {
            let _ = writeln!(self.err, "argtrace: {}", inert(text));
        }
    }

    /// The same for a list that may be long.
    pub fn remarks(&mut self, texts: &[String]) {
        let shown = if self.verbose { texts.len() } else { texts.len().min(REMARKS) };
        for text in &texts[..shown] {
            self.remark(text);
        }
        if shown < texts.len() {
            self.remark(&format!("… {} more remarks, -v shows all", texts.len() - shown));
        }
    }

    pub fn error(&mut self, text: &str, hint: Option<&str>) {
        let _ = writeln!(self.err, "{ERROR}argtrace:{ERROR:#} {}", inert(text));
        if let Some(hint) = hint {
            let _ = writeln!(self.err, "  {HINT}{}{HINT:#}", inert(hint));
        }
    }

    /// Runs `work`; a terminal shows meanwhile what is being done, which `work` can say more exactly.
    pub fn while_showing<T>(&self, what: &str, work: impl FnOnce(&dyn Fn(&str)) -> T) -> T {
        if !self.progress {
            return work(&|_| ());
        }
        let spinner = ProgressBar::new_spinner().with_message(inert(what).into_owned());
        styled(&spinner, "{spinner} {msg}");
        let result = work(&|what| spinner.set_message(inert(what).into_owned()));
        spinner.finish_and_clear();
        result
    }

    /// The same for `all` things in a row; `work` tells each that it begins.
    pub fn while_counting<T>(&self, what: &str, all: usize, work: impl FnOnce(&dyn Fn(&str)) -> T) -> T {
        if !self.progress {
            return work(&|_| ());
        }
        let bar = ProgressBar::new(all as u64).with_prefix(inert(what).into_owned());
        styled(&bar, "{spinner} {prefix} {pos}/{len} {wide_msg}");
        let result = work(&|begun| {
            bar.set_message(inert(begun).into_owned());
            bar.inc(1);
        });
        bar.finish_and_clear();
        result
    }
}

fn styled(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
}
