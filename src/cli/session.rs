//! What the commands need of the analysis, and where they get it.
//!
//! This is the one place where `cli` meets `source` and `meaning`, so that commands can be tested with reports written
//! by hand.

use crate::meaning::Analysis;
use crate::meaning::report::{Report, SourceInfo};
use crate::program::FileSet;
use crate::program::profile::Profile;
use crate::source::{self, Tree};
use anyhow::Context;

/// Opens sources.
pub trait Backend {
    /// Whether an operand names a source and not a field.
    fn looks_like_source(&self, operand: &str) -> bool;

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
    /// The fields must be of [`Session::field_names`].
    fn report(&self, fields: &[String]) -> Report;
    /// What was skipped, and why.
    fn notes(&self) -> Vec<String>;
}

/// The backend of the binary.
pub fn installed() -> impl Backend {
    Installed
}

/// Opens sources and analyses them.
struct Installed;

/// A tree and its analysis.
struct Opened {
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

    fn is_incomplete(&self) -> bool {
        self.0.is_incomplete()
    }
}

impl Backend for Installed {
    fn looks_like_source(&self, operand: &str) -> bool {
        source::looks_like_source(operand)
    }

    fn open(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        let options = source::Options { progress: Some(say), ..Default::default() };
        let tree = match spec {
            Some(spec) => source::open(spec, &options)?,
            None => source::open_current(&options)?,
        };
        let version = tree.version().unwrap_or("of unknown version");
        let shown = format!("{} {} ({} {})", tree.package(), version, tree.kind(), tree.display());
        let info = SourceInfo {
            package: tree.package().to_owned(),
            version: tree.version().map(str::to_owned),
            kind: tree.kind().as_str().to_owned(),
        };
        let analysis =
            Analysis::open(&Texts(&tree), info, Profile::builtin()?).with_context(|| format!("reading {shown}"))?;
        Ok(Box::new(Opened { shown, tree_notes: tree.notes().to_vec(), analysis }))
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

    fn report(&self, fields: &[String]) -> Report {
        self.analysis.report(fields)
    }

    fn notes(&self) -> Vec<String> {
        self.tree_notes.iter().cloned().chain(self.analysis.notes()).collect()
    }
}
