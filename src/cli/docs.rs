//! `argtrace docs [SOURCE]`: tables of arguments that come from the source, and whether those that people keep still hold.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Parser};
use rustc_hash::FxHashMap;
use similar::TextDiff;

use super::Options;
use super::audit::FailOn;
use super::console::{Console, USUAL_WIDTH};
use super::exit::{Exit, UsageError};
use super::filter::FilterOptions;
use super::output::{Format, write_whole};
use super::selection::Selection;
use super::session::{Backend, Session};
use super::suggest::{did_you_mean, nearest};
use crate::docs::blocks::{Block, blocks, replaced};
use crate::docs::drift::{Drift, Question, against};
use crate::meaning::list::FieldEntry;
use crate::meaning::report::SourceInfo;
use crate::program::profile::Profile;
use crate::render::docs::drift::{github, markdown as drift_markdown, sarif, text};
use crate::render::docs::{Column, Table, csv, document, html, markdown};
use crate::render::json::json;
use crate::render::text::Layout;
use crate::render::untrusted::inert;

const EXAMPLES: &str = "\
Examples:
  argtrace docs sglang==0.5.9 -o arguments.md              every argument, by section
  argtrace docs ~/sglang --section 'Hierarchical cache' --columns argument,default,unit,scope
  argtrace docs ~/sglang --inject docs/arguments.md        write the file's generated blocks
  argtrace docs ~/sglang --check docs/arguments.md         exit 1 and a diff where one is stale
  argtrace docs ~/sglang --against docs/server_arguments.md  where a hand-kept table is wrong

A generated block stands between two lines, the first with the options of its own table:
  <!-- argtrace:begin --section 'Hierarchical cache' --columns argument,default,unit -->
  <!-- argtrace:end -->
It may name another source with --source, and html with --format.";

/// Write tables of arguments, keep those in a file up to date, or check tables that people keep
#[derive(Args, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct DocsCommand {
    /// What SOURCE is for a report
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    #[command(flatten)]
    pub table: TableOptions,

    /// Write the generated blocks of FILE anew; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "against"])]
    pub inject: Vec<PathBuf>,

    /// Say what --inject would change in FILE, and exit with 1 if it would; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    pub check: Vec<PathBuf>,

    /// Say where the tables of flags in FILE contradict the source
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,

    /// With --against: the lowest level of a finding that makes the exit code 1
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    pub fail_on: FailOn,
}

/// Which arguments a table shows, and what of them.
#[derive(Args, Clone, Debug, Default)]
pub struct TableOptions {
    /// What to say of each argument: argument, description, default, options, unit, scope, precedence, active-when,
    /// not-in-help [default: all but active-when]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<Column>,

    /// Only arguments declared under this heading, or one that the glob matches; may be repeated
    #[arg(long, value_name = "SECTION")]
    pub section: Vec<String>,

    /// Only these, by name, flag or glob; may be repeated
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',')]
    pub fields: Vec<String>,

    /// Deprecated arguments as well
    #[arg(long)]
    pub deprecated: bool,

    /// The level of the headings; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=6))]
    pub level: u8,
}

/// What the first marker of a block may say.
#[derive(Parser, Debug)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct BlockOptions {
    #[command(flatten)]
    table: TableOptions,

    #[arg(long)]
    source: Option<String>,

    #[arg(long, default_value = "markdown")]
    format: Format,
}

fn column(name: &str) -> Result<Column, String> {
    Column::named(name).ok_or_else(|| {
        let names = Column::names();
        let near = nearest(name, names.iter().map(|name| (*name, *name)));
        did_you_mean(&near).unwrap_or_else(|| format!("the columns are: {}", names.join(", ")))
    })
}

impl DocsCommand {
    /// # Errors
    /// If the source or a file cannot be read, a name is unknown, a block cannot be understood, or the output cannot be
    /// written.
    pub fn run(&self, options: &Options, backend: &dyn Backend, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let mut sources = Sources { backend, opened: Vec::new() };
        if let Some(file) = &self.against {
            return self.against(file, &mut sources, options, console);
        }
        if !self.inject.is_empty() || !self.check.is_empty() {
            return self.keep(&mut sources, console);
        }
        let source = sources.open(self.source.as_deref(), console)?;
        let fields = source.chosen(&self.table)?;
        source.learn(&fields, console);
        let titled = self.table.section.is_empty() && self.table.fields.is_empty();
        let table = source.table(&self.table, &fields, titled);
        options.output.deliver(
            console,
            &[
                (Format::Markdown, &|_| Ok(markdown(&table))),
                (Format::Html, &|_| Ok(html(&table))),
                (Format::Csv, &|_| Ok(csv(&table))),
                (Format::Json, &|_| Ok(json(&document(&table))?)),
            ],
        )?;
        Ok(Exit::Clean)
    }

    /// Writes the blocks of files anew, or tells which are stale.
    fn keep(&self, sources: &mut Sources<'_>, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let mut exit = Exit::Clean;
        for file in self.inject.iter().chain(&self.check) {
            let text = read(file)?;
            let new = self.kept(file, &text, sources, console)?;
            if new == text {
                continue;
            }
            if self.inject.contains(file) {
                write_whole(file, &new)?;
            } else {
                exit = Exit::Findings;
                console.data(&unified(file, &text, &new)).context("writing to stdout")?;
            }
        }
        Ok(exit)
    }

    /// The text of a file with its blocks as they should be.
    fn kept(
        &self,
        file: &Path,
        text: &str,
        sources: &mut Sources<'_>,
        console: &mut Console<'_>,
    ) -> anyhow::Result<String> {
        let bad = |line: usize, what: String| {
            let hint = "argtrace docs --help shows how a block is written";
            UsageError::new(format!("{}:{line}: {what}", file.display()), hint)
        };
        let found = blocks(text).map_err(|error| bad(error.line, error.what))?;
        if found.is_empty() {
            let what = format!("there is no generated block in {}", file.display());
            return Err(UsageError::new(what, "argtrace docs --help shows how one is written").into());
        }
        let mut wanted: Vec<(&Block, BlockOptions, Vec<String>)> = Vec::new();
        for block in &found {
            let asked = block_options(&block.options).map_err(|what| bad(block.line, what))?;
            let spec = asked.source.as_deref().or(self.source.as_deref());
            let fields = sources.open(spec, console)?.chosen(&asked.table);
            wanted.push((block, asked, fields.map_err(|error| bad(block.line, error.to_string()))?));
        }
        // The fields of one source are followed together, so that they share the work.
        let mut of_source: FxHashMap<Option<String>, Vec<String>> = FxHashMap::default();
        for (_, asked, fields) in &wanted {
            of_source.entry(asked.source.clone()).or_default().extend(fields.iter().cloned());
        }
        let mut contents = Vec::new();
        for (block, asked, fields) in &wanted {
            let source = sources.open(asked.source.as_deref().or(self.source.as_deref()), console)?;
            source.learn(&of_source.remove(&asked.source).unwrap_or_default(), console);
            let table = source.table(&asked.table, fields, false);
            let written = match asked.format {
                Format::Html => html(&table),
                _ => format!("\n{}\n", markdown(&table)),
            };
            contents.push((*block, written));
        }
        Ok(replaced(text, contents))
    }

    fn against(
        &self,
        file: &Path,
        sources: &mut Sources<'_>,
        options: &Options,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Exit> {
        let text_of_file = read(file)?;
        let source = sources.open(self.source.as_deref(), console)?;
        let wanted = source.chosen(&self.table)?;
        let all = source.session.field_names();
        source.learn(&all, console);
        let entries: Vec<FieldEntry> = all.iter().filter_map(|field| source.known.get(field).cloned()).collect();
        let others: Vec<String> = source.session.aliases().into_iter().map(|(flag, _)| flag).collect();
        let drift = against(&Question {
            source: &source.info,
            file: &file.display().to_string(),
            text: &text_of_file,
            entries: &entries,
            wanted: &|entry| wanted.contains(&entry.field),
            others: &others,
            units: &Profile::builtin()?.units,
        });
        let Some(drift) = drift else {
            let what = format!("there is no table of flags in {}", file.display());
            return Err(UsageError::new(what, "a table is read if its first column holds flags such as --size").into());
        };
        deliver(&drift, options, console)?;
        let fails = drift.findings.iter().any(|finding| self.fail_on.fails(finding.level));
        Ok(if fails { Exit::Findings } else { Exit::Clean })
    }
}

fn deliver(drift: &Drift, options: &Options, console: &mut Console<'_>) -> anyhow::Result<()> {
    let layout = |width: Option<usize>| Layout { width: width.unwrap_or(USUAL_WIDTH), all: options.verbose };
    options.output.deliver(
        console,
        &[
            (Format::Text, &|width| Ok(text(drift, layout(width)))),
            (Format::Json, &|_| Ok(json(drift)?)),
            (Format::Markdown, &|_| Ok(drift_markdown(drift))),
            (Format::Github, &|_| Ok(github(drift))),
            (Format::Sarif, &|_| Ok(json(&sarif(drift))?)),
        ],
    )
}

/// The sources that blocks name, each opened once.
struct Sources<'b> {
    backend: &'b dyn Backend,
    opened: Vec<(Option<String>, Source)>,
}

/// A source, and what was learnt of its fields.
struct Source {
    session: Box<dyn Session>,
    info: SourceInfo,
    known: FxHashMap<String, FieldEntry>,
}

impl Sources<'_> {
    fn open(&mut self, spec: Option<&str>, console: &mut Console<'_>) -> anyhow::Result<&mut Source> {
        let at = match self.opened.iter().position(|(known, _)| known.as_deref() == spec) {
            Some(at) => at,
            None => {
                let shown = spec.map_or_else(|| "looking for SGLang".to_owned(), |spec| format!("reading {spec}"));
                let session = console.while_showing(&shown, |say| self.backend.open(spec, say))?;
                if spec.is_none() {
                    console.remark(&format!("reading {}", session.source()));
                }
                let source = Source { session, info: SourceInfo::default(), known: FxHashMap::default() };
                self.opened.push((spec.map(str::to_owned), source));
                self.opened.len() - 1
            }
        };
        Ok(&mut self.opened[at].1)
    }
}

impl Source {
    /// The fields of a table, in the order of declaration.
    fn chosen(&self, options: &TableOptions) -> Result<Vec<String>, UsageError> {
        let selection = Selection::new(self.session.field_names(), self.session.aliases());
        let mut named: Vec<String> = Vec::new();
        for pattern in &options.fields {
            named.extend(selection.fields(pattern, &self.session.source())?);
        }
        let sections = self.session.sections();
        let mut headings: Vec<&str> = sections.iter().filter_map(|(_, section)| section.as_deref()).collect();
        headings.dedup();
        let filter = FilterOptions { section: options.section.clone(), ..FilterOptions::default() };
        let filter = filter.among(&headings)?;
        let wanted = |(field, section): &&(String, Option<String>)| {
            filter.takes_section(section.as_deref()) && (options.fields.is_empty() || named.contains(field))
        };
        Ok(sections.iter().filter(wanted).map(|(field, _)| field.clone()).collect())
    }

    fn learn(&mut self, fields: &[String], console: &mut Console<'_>) {
        let mut missing: Vec<String> = Vec::new();
        for field in fields.iter().filter(|field| !self.known.contains_key(*field)) {
            if !missing.contains(field) {
                missing.push(field.clone());
            }
        }
        let session = &self.session;
        let list = console.while_counting("following field", missing.len(), |begin| session.list(&missing, begin));
        console.remarks(&self.session.notes());
        self.info = list.source;
        self.known.extend(list.fields.into_iter().map(|entry| (entry.field.clone(), entry)));
    }

    fn table(&self, options: &TableOptions, fields: &[String], titled: bool) -> Table<'_> {
        let entries = fields.iter().filter_map(|field| self.known.get(field));
        let named = !options.fields.is_empty();
        let wanted = |entry: &&FieldEntry| options.deprecated || named || entry.definition.deprecated.is_none();
        Table {
            source: &self.info,
            entries: entries.filter(wanted).collect(),
            columns: if options.columns.is_empty() { Column::usual() } else { options.columns.clone() },
            level: options.level,
            titled,
        }
    }
}

fn block_options(text: &str) -> Result<BlockOptions, String> {
    let words = shlex::split(text).ok_or_else(|| String::from("a quote is not closed"))?;
    let asked = BlockOptions::try_parse_from(words).map_err(|error| {
        let told = error.to_string();
        told.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })?;
    match asked.format {
        Format::Markdown | Format::Html => Ok(asked),
        other => Err(format!("a block is markdown or html, not {other}")),
    }
}

/// The largest text that is read.
const MAX_TEXT: u64 = 32 << 20;

fn read(file: &Path) -> anyhow::Result<String> {
    let doing = || format!("reading {}", file.display());
    let size = fs::metadata(file).with_context(doing)?.len();
    if size > MAX_TEXT {
        let hint = "give a file of tables";
        return Err(UsageError::new(format!("{}: it is larger than {} MiB", doing(), MAX_TEXT >> 20), hint).into());
    }
    fs::read_to_string(file).with_context(doing)
}

fn unified(file: &Path, old: &str, new: &str) -> String {
    let name = file.display().to_string();
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().header(&name, &name).to_string();
    text.split_inclusive('\n').map(inert_line).collect()
}

/// A line with its end, inert in between.
fn inert_line(line: &str) -> String {
    let body = line.trim_end_matches(['\r', '\n']);
    format!("{}\n", inert(body))
}
