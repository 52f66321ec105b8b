//! What the commands need of the analysis, and where they get it.
//!
//! This is the one place where `cli` meets `source` and `meaning`, so that commands can be tested with reports written
//! by hand.

use super::compared::{Comparable, Comparing, FromFile, FromTree};
use super::kept::Kept;
use crate::meaning::list::FieldList;
use crate::meaning::report::{Report, SourceInfo};
use crate::meaning::{Analysis, Begin};
use crate::program::FileSet;
use crate::program::profile::Profile;
use crate::source::{self, Naming, SourceError, Tree};
use anyhow::Context;

/// Opens sources.
pub trait Backend {
    /// Whether an operand names a source, or can.
    fn naming(&self, operand: &str) -> Naming;

    /// Opens a source, or without a name the SGLang of the current folder, else of the active Python environment.
    /// `say` is told of anything that takes seconds.
    ///
    /// # Errors
    /// If there is no such source, or it cannot be read.
    fn open(&self, source: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>>;
}

/// One source, opened.
pub trait Session {
    /// What was opened, for a message: package, version, kind and place.
    fn source(&self) -> String;
    /// In the order of declaration.
    fn field_names(&self) -> Vec<String>;
    /// Every spelling of every flag (`--tp`), with its field.
    fn aliases(&self) -> Vec<(String, String)>;
    /// Every field, in the order of declaration, with the heading that it is declared under.
    fn sections(&self) -> Vec<(String, Option<String>)>;
    /// The fields must be of [`Session::field_names`]; `begin` is told each that is begun.
    fn report(&self, fields: &[String], begin: Begin) -> Report;
    /// The same fields as a list.
    fn list(&self, fields: &[String], begin: Begin) -> FieldList;
    /// What was skipped, and why.
    fn notes(&self) -> Vec<String>;
}

/// The backend of the binary.
///
/// # Errors
/// If the profile that ships with argtrace cannot be read, which is a bug.
pub fn installed(cache: bool) -> anyhow::Result<impl Backend + Comparing> {
    Ok(Installed { profile: Profile::builtin()?, cache })
}

/// Opens sources and analyses them.
struct Installed {
    profile: Profile,
    /// Whether what was worked out before is used.
    cache: bool,
}

impl Installed {
    fn options(&self) -> source::Options<'_> {
        source::Options::of(&self.profile.package, &self.profile.marker)
    }
}

/// A tree and its analysis.
pub struct Opened {
    shown: String,
    tree_notes: Vec<String>,
    analysis: Analysis,
}

/// The tree as the analysis reads it.
struct Texts<'t>(&'t Tree);

impl FileSet for Texts<'_> {
    fn paths(&self) -> Vec<String> {
        self.0.files().iter().map(|f| f.path.clone()).collect()
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        self.0.read(index).map_err(|e| e.to_string())
    }
}

impl Backend for Installed {
    fn naming(&self, operand: &str) -> Naming {
        source::naming(operand, &self.options())
    }

    fn open(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        Ok(Box::new(self.analysed(&self.tree(spec, say)?)?))
    }
}

impl Comparing for Installed {
    fn comparable(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Comparable>> {
        if let Some(spec) = spec.filter(|spec| FromFile::names(spec)) {
            return Ok(Box::new(FromFile::open(spec)?));
        }
        let tree = self.tree(spec, say)?;
        let kept = if self.cache { Kept::of(&tree, &self.options()) } else { Kept::nowhere() };
        Ok(Box::new(FromTree::new(self.analysed(&tree)?, kept)))
    }

    fn releases(&self, from: &str, to: &str, say: &dyn Fn(&str)) -> anyhow::Result<Vec<String>> {
        let options = source::Options { progress: Some(say), ..self.options() };
        Ok(source::releases(from, to, &options)?)
    }
}

impl Installed {
    fn tree(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> Result<Tree, SourceError> {
        let options = source::Options { progress: Some(say), ..self.options() };
        match spec {
            Some(spec) => source::open(spec, &options),
            None => source::open_current(&options),
        }
    }

    fn analysed(&self, tree: &Tree) -> anyhow::Result<Opened> {
        let version = tree.version().unwrap_or("of unknown version");
        let shown = format!("{} {} ({} {})", tree.package(), version, tree.kind(), tree.display());
        let info = SourceInfo {
            package: tree.package().to_owned(),
            version: tree.version().map(str::to_owned),
            kind: tree.kind().as_str().to_owned(),
        };
        let analysis =
            Analysis::open(&Texts(tree), info, self.profile.clone()).with_context(|| format!("reading {shown}"))?;
        Ok(Opened { shown, tree_notes: tree.notes().to_vec(), analysis })
    }
}

impl Opened {
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }
}

impl Session for Opened {
    fn source(&self) -> String {
        self.shown.clone()
    }

    fn field_names(&self) -> Vec<String> {
        self.analysis.field_names()
    }

    fn aliases(&self) -> Vec<(String, String)> {
        self.analysis.spellings()
    }

    fn sections(&self) -> Vec<(String, Option<String>)> {
        self.analysis.sections()
    }

    fn report(&self, fields: &[String], begin: Begin) -> Report {
        self.analysis.report_telling(fields, begin)
    }

    fn list(&self, fields: &[String], begin: Begin) -> FieldList {
        self.analysis.list(fields, begin)
    }

    fn notes(&self) -> Vec<String> {
        self.tree_notes.iter().cloned().chain(self.analysis.notes()).collect()
    }
}
