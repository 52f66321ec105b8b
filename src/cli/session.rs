//! What the commands need of the analysis, and where they get it.
//!
//! This is the one place where `cli` meets `source` and `meaning`, so that commands can be tested with reports written
//! by hand.

use crate::meaning::report::Report;

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
    NoAnalysis
}

/// Stands where the analysis will be linked in.
struct NoAnalysis;

impl Backend for NoAnalysis {
    fn looks_like_source(&self, operand: &str) -> bool {
        operand.contains('/')
    }

    fn open(&self, _: Option<&str>, _: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        anyhow::bail!("this build of argtrace has no analysis; it can only print its schema")
    }
}
