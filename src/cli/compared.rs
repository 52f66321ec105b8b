//! The two sides of a comparison: trees, or snapshots that were kept in a file.
//!
//! A tree's snapshot is kept in the cache folder under the content that it was made of, so that a release is analysed
//! once.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use super::console::Console;
use super::exit::UsageError;
use super::session::{Opened, Session};
use crate::compare::snapshot::{self, Snapshot};
use crate::meaning::Begin;

/// Opens what can be compared.
pub trait Comparing {
    /// # Errors
    /// If there is no such source, or it cannot be read.
    fn comparable(&self, source: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Comparable>>;

    /// The releases from one version to another, as sources, oldest first; an empty text is an open end.
    ///
    /// # Errors
    /// If the package index cannot be asked, or a text is no version.
    fn releases(&self, from: &str, to: &str, say: &dyn Fn(&str)) -> anyhow::Result<Vec<String>>;
}

/// One side.
pub trait Comparable {
    /// What was opened, for a message.
    fn source(&self) -> String;
    /// All arguments with their declarations; what they mean may be left out.
    fn declared(&self) -> &Snapshot;
    /// What the arguments mean, all of them or these.
    fn snapshot(&self, fields: Option<&[String]>, begin: Begin) -> Snapshot;
    /// What was skipped, and why.
    fn notes(&self) -> Vec<String>;
}

/// A snapshot that was read from a file.
#[derive(Clone)]
pub struct FromFile {
    shown: String,
    snapshot: Snapshot,
}

impl FromFile {
    /// Is it a file that can only be a snapshot?
    pub fn names(source: &str) -> bool {
        let path = Path::new(source);
        path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) && path.is_file()
    }

    /// # Errors
    /// If the file cannot be read, is no snapshot, or one of another version.
    pub fn open(source: &str) -> anyhow::Result<FromFile> {
        let doing = || format!("reading the snapshot {source}");
        let size = std::fs::metadata(source).with_context(doing)?.len();
        if size > MAX_SNAPSHOT {
            let hint = "make it again with `argtrace snapshot`";
            return Err(
                UsageError::new(format!("{}: it is larger than {} MiB", doing(), MAX_SNAPSHOT >> 20), hint).into()
            );
        }
        let bytes = std::fs::read(source).with_context(doing)?;
        let snapshot = parsed(&bytes).map_err(|why| {
            let hint = format!("make it again from its source: argtrace snapshot SOURCE -o {source}");
            UsageError::new(format!("{}: {why}", doing()), hint)
        })?;
        let version = snapshot.source.version.as_deref().unwrap_or("of unknown version");
        Ok(FromFile { shown: format!("{} {version} (snapshot {source})", snapshot.source.package), snapshot })
    }
}

/// The largest snapshot that is read; one of SGLang takes about two megabytes.
const MAX_SNAPSHOT: u64 = 256 << 20;

fn parsed(bytes: &[u8]) -> Result<Snapshot, String> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(snapshot::SCHEMA) => {}
        Some(other) if other.starts_with("argtrace/snapshot/") => {
            return Err(format!("it is of the version {other}, and this argtrace reads {}", snapshot::SCHEMA));
        }
        Some(other) => return Err(format!("it is a document of the kind {other}, not a snapshot")),
        None => return Err(String::from("it is no snapshot of argtrace's")),
    }
    let mut snapshot: Snapshot = serde_json::from_value(value).map_err(|error| format!("it is damaged: {error}"))?;
    snapshot.source.kind = String::from("snapshot");
    Ok(snapshot)
}

impl FromFile {
    pub fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }
}

impl Comparable for FromFile {
    fn source(&self) -> String {
        self.shown.clone()
    }

    fn declared(&self) -> &Snapshot {
        &self.snapshot
    }

    fn snapshot(&self, _: Option<&[String]>, _: Begin) -> Snapshot {
        self.snapshot.clone()
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A tree; its snapshot is kept with the other answers about it.
pub struct FromTree {
    opened: Arc<Opened>,
    declared: OnceCell<Snapshot>,
}

impl FromTree {
    pub fn new(opened: Arc<Opened>) -> FromTree {
        FromTree { opened, declared: OnceCell::new() }
    }

    /// The snapshot of these fields, or of all, as the source at hand calls itself.
    fn made(&self, question: &str, fields: Option<&[String]>, begin: Begin) -> Snapshot {
        if let Some(mut known) = self.opened.known::<Snapshot>(question) {
            // The same code may have come from another kind of source.
            known.source = self.opened.info().clone();
            return known;
        }
        // What the outline was read from can be analysed; were it not so, nothing would be declared.
        let meanings = self.opened.analysis().map(|analysis| analysis.meanings(fields, begin));
        meanings.map(|meanings| Snapshot::of(&meanings)).unwrap_or_default()
    }
}

impl Comparable for FromTree {
    fn source(&self) -> String {
        self.opened.source()
    }

    fn declared(&self) -> &Snapshot {
        self.declared.get_or_init(|| {
            let declared = self.made("declared", Some(&[]), &|_| ());
            self.opened.keep("declared", &declared);
            declared
        })
    }

    fn snapshot(&self, fields: Option<&[String]>, begin: Begin) -> Snapshot {
        let snapshot = self.made("snapshot", fields, begin);
        if fields.is_none() {
            self.opened.keep("snapshot", &snapshot);
        }
        snapshot
    }

    fn notes(&self) -> Vec<String> {
        self.opened.notes()
    }
}

/// Opens a source while a terminal shows it.
///
/// # Errors
/// As [`Comparing::comparable`].
pub fn open(
    comparing: &dyn Comparing,
    source: Option<&str>,
    console: &mut Console<'_>,
) -> anyhow::Result<Box<dyn Comparable>> {
    let shown = source.map_or_else(|| "looking for SGLang".to_owned(), |source| format!("reading {source}"));
    let opened = console.while_showing(&shown, |say| comparing.comparable(source, say))?;
    if source.is_none() {
        console.remark(&format!("reading {}", opened.source()));
    }
    Ok(opened)
}

/// The snapshot of a side, while a terminal counts its fields.
pub fn snapshot(side: &dyn Comparable, fields: Option<&[String]>, console: &mut Console<'_>) -> Snapshot {
    let count = fields.map_or_else(|| side.declared().fields.len(), <[String]>::len);
    let snapshot = console.while_counting("following field", count, |begin| side.snapshot(fields, begin));
    console.remarks(&side.notes());
    snapshot
}
