//! What a server may read: the sources it was started with, each opened once and kept.
//!
//! A question is answered by the command of its name, which gets this in place of the file system.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::compared::{Comparable, Comparing, FromFile, FromTree};
use crate::cli::console::Console;
use crate::cli::exit::UsageError;
use crate::cli::launching;
use crate::cli::session::{Backend, Launching, Opened, Session};
use crate::cli::suggest::nearest;
use crate::meaning::Begin;
use crate::meaning::list::FieldList;
use crate::meaning::report::Report;
use crate::source::Naming;

/// Fields that are followed together; between two batches a cancelled call stops.
const BATCH: usize = 16;

/// Never empty.
pub struct Sources(Vec<(String, Kept)>);

enum Kept {
    Tree(Arc<Opened>),
    Snapshot(FromFile),
}

impl Sources {
    /// Opens all that are named, or without names the usual one.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn open(named: &[String], from: &dyn Launching, console: &mut Console<'_>) -> anyhow::Result<Sources> {
        if named.is_empty() {
            let opened = launching::open(from, None, console)?;
            return Ok(Sources(vec![(opened.info().package.clone(), Kept::Tree(opened))]));
        }
        let mut sources: Vec<(String, Kept)> = Vec::new();
        for name in named {
            let kept = match FromFile::names(name) {
                true => Kept::Snapshot(FromFile::open(name)?),
                false => Kept::Tree(launching::open(from, Some(name), console)?),
            };
            if sources.iter().all(|(known, _)| known != name) {
                sources.push((name.clone(), kept));
            }
        }
        Ok(Sources(sources))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The name of the source that is asked about; without one, the first that was given.
    ///
    /// # Errors
    /// If the server was not started with it.
    pub fn name(&self, asked: Option<&str>) -> Result<String, UsageError> {
        match asked {
            None => Ok(self.names().next().unwrap_or_default().to_owned()),
            Some(asked) => self.kept(asked).map(|_| asked.to_owned()),
        }
    }

    fn kept(&self, asked: &str) -> Result<&Kept, UsageError> {
        self.0.iter().find(|(name, _)| name == asked).map(|(_, kept)| kept).ok_or_else(|| {
            let near = nearest(asked, self.names().map(|name| (name, name)));
            let all = self.names().collect::<Vec<_>>().join(", ");
            let hint = match near.first() {
                Some(near) => format!("did you mean {near}? This server reads only: {all}"),
                None => format!("this server reads only: {all}"),
            };
            UsageError::new(format!("the source `{asked}` may not be read"), hint)
        })
    }
}

/// One call: what it may read, and whether anybody still waits for it.
#[derive(Clone)]
pub struct Call {
    pub sources: Arc<Sources>,
    pub abandoned: Arc<AtomicBool>,
}

impl Call {
    fn tree(&self, source: Option<&str>) -> Result<Arc<Opened>, UsageError> {
        let name = self.sources.name(source)?;
        match self.sources.kept(&name)? {
            Kept::Tree(opened) => Ok(Arc::clone(opened)),
            Kept::Snapshot(_) => {
                Err(UsageError::new(format!("{name} is a snapshot"), "a snapshot can only be compared, with diff"))
            }
        }
    }
}

impl Backend for Call {
    fn naming(&self, operand: &str) -> Naming {
        if self.sources.names().any(|name| name == operand) { Naming::Source } else { Naming::Word }
    }

    fn open(&self, source: Option<&str>, _: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        Ok(Box::new(Asked { opened: self.tree(source)?, abandoned: Arc::clone(&self.abandoned) }))
    }
}

impl Comparing for Call {
    fn comparable(&self, source: Option<&str>, _: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Comparable>> {
        let name = self.sources.name(source)?;
        Ok(match self.sources.kept(&name)? {
            Kept::Tree(opened) => Box::new(FromTree::new(Arc::clone(opened))),
            Kept::Snapshot(snapshot) => Box::new(snapshot.clone()),
        })
    }

    fn releases(&self, _: &str, _: &str, _: &dyn Fn(&str)) -> anyhow::Result<Vec<String>> {
        Err(UsageError::new("no package index is asked by a server", "name two of its sources").into())
    }
}

impl Launching for Call {
    fn whole(&self, source: Option<&str>, _: &dyn Fn(&str)) -> anyhow::Result<Arc<Opened>> {
        Ok(self.tree(source)?)
    }

    fn read(&self, _: &str) -> anyhow::Result<String> {
        anyhow::bail!("a server reads no file but its sources")
    }
}

/// A tree while one call asks about it.
struct Asked {
    opened: Arc<Opened>,
    abandoned: Arc<AtomicBool>,
}

impl Asked {
    /// What is found for the fields, up to the moment when nobody waits any more.
    fn in_batches<T>(&self, fields: &[String], find: impl Fn(&[String]) -> Vec<T>) -> Vec<T> {
        let awaited = |_: &&[String]| !self.abandoned.load(Ordering::Relaxed);
        fields.chunks(BATCH).take_while(awaited).flat_map(find).collect()
    }
}

impl Session for Asked {
    fn source(&self) -> String {
        self.opened.source()
    }

    fn field_names(&self) -> Vec<String> {
        self.opened.field_names()
    }

    fn aliases(&self) -> Vec<(String, String)> {
        self.opened.aliases()
    }

    fn sections(&self) -> Vec<(String, Option<String>)> {
        self.opened.sections()
    }

    fn report(&self, fields: &[String], begin: Begin) -> Report {
        let fields = self.in_batches(fields, |batch| self.opened.report(batch, begin).fields);
        Report { fields, ..self.opened.report(&[], begin) }
    }

    fn list(&self, fields: &[String], begin: Begin) -> FieldList {
        let fields = self.in_batches(fields, |batch| self.opened.list(batch, begin).fields);
        FieldList { fields, ..self.opened.list(&[], begin) }
    }

    fn text(&self, path: &str) -> Option<String> {
        self.opened.text(path)
    }

    fn notes(&self) -> Vec<String> {
        self.opened.notes()
    }
}
