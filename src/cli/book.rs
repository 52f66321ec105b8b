//! `argtrace book [SOURCE] -o DIR`: a static site of all fields.

use std::path::Path;

use clap::Args;

use super::Options;
use super::compared::Comparing;
use super::console::Console;
use super::exit::{Exit, UsageError};
use super::output::Format;
use super::session::Backend;
use super::{compared, diff, folder};
use crate::compare::change::Diff;
use crate::render::book::{Book, Code, TOP, book};

const EXAMPLES: &str = "\
Examples:
  argtrace book sglang==0.5.9 -o book                        then open book/index.html
  argtrace book ~/sglang -o book --since sglang==0.5.9       with what changed since then

The site is a folder of files that need nothing else: open it from a disk, or serve it.";

/// Write a static site: a searchable table of all fields, a page for each, and what changed since another source
#[derive(Args, Debug, Default)]
#[command(override_usage = "argtrace book [OPTIONS] [SOURCE] -o DIR", after_help = EXAMPLES)]
pub struct BookCommand {
    /// What SOURCE is for a report
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// Say as well what changed since this source, or snapshot file
    #[arg(long, value_name = "OLD")]
    pub since: Option<String>,
}

impl BookCommand {
    /// # Errors
    /// If a source cannot be read, no folder is named, or the folder holds something else or cannot be written.
    pub fn run(
        &self,
        options: &Options,
        backend: &dyn Backend,
        comparing: &dyn Comparing,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Exit> {
        let target = target(options)?;
        folder::claim(target, TOP)?;
        let since = self.since.as_deref().map(|old| self.changes(old, comparing, console)).transpose()?;
        let shown =
            self.source.as_deref().map_or("looking for SGLang".to_owned(), |source| format!("reading {source}"));
        let session = console.while_showing(&shown, |say| backend.open(self.source.as_deref(), say))?;
        if self.source.is_none() {
            console.remark(&format!("reading {}", session.source()));
        }
        let fields = session.field_names();
        let report = console.while_counting("following field", fields.len(), |begin| session.report(&fields, begin));
        console.remarks(&session.notes());
        let code = Code::of(&report, |path| session.text(path));
        let files = console.while_showing("writing", |_| {
            let files = book(&Book { report: &report, code: &code, since: since.as_ref() });
            folder::write_whole(target, TOP, &files).map(|()| files)
        })?;
        let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
        let count = files.len();
        console.remark(&format!(
            "{count} files, {:.1} MB: {}",
            bytes as f64 / 1e6,
            target.join("index.html").display()
        ));
        Ok(Exit::Clean)
    }

    fn changes(&self, old: &str, comparing: &dyn Comparing, console: &mut Console<'_>) -> anyhow::Result<Diff> {
        let old = compared::open(comparing, Some(old), console)?;
        let new = compared::open(comparing, self.source.as_deref(), console)?;
        diff::between(&*old, &*new, &[], console)
    }
}

/// The one folder that is named.
fn target(options: &Options) -> Result<&Path, UsageError> {
    let format = options.output.format;
    let hint = "such as: argtrace book -o book";
    match options.output.outputs.as_slice() {
        _ if format.is_some_and(|format| format != Format::Html) => {
            Err(UsageError::new("a book is written as html", hint))
        }
        [one] if one.file.as_os_str() != "-" && one.format.is_none_or(|format| format == Format::Html) => Ok(&one.file),
        [] => Err(UsageError::new("no folder is named to write the book to", hint)),
        _ => Err(UsageError::new("a book is written to one folder, as html", hint)),
    }
}
