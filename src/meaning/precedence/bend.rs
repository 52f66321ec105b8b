//! One place where something else decides what a field comes to.

use crate::meaning::facts::Shared;
use crate::meaning::report::{Grade, Precedence};
use crate::program::ExprRef;
use crate::syntax::ir::Sym;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Other {
    Field(Sym),
    /// A variable of the process's environment.
    Env(Sym),
    /// A value that comes with each request, as an attribute path.
    Request(String),
}

impl Other {
    pub fn name(&self) -> String {
        match self {
            Other::Field(name) | Other::Env(name) => name.to_string(),
            Other::Request(path) => path.clone(),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Other::Field(_) => "field",
            Other::Env(_) => "env",
            Other::Request(_) => "request",
        }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// The field, left unset, gets its value so.
    Fills,
    /// A given value gives way.
    Replaces,
    /// A given value gives way to `False` or `None`.
    Clears,
}

#[derive(Clone, Debug)]
pub struct Bend {
    /// The field that is bent.
    pub field: Sym,
    pub other: Other,
    pub way: Way,
    pub at: ExprRef,
    pub when: Option<String>,
    pub sure: bool,
}

/// The bend as a claim of the report.
pub fn claim(shared: &Shared, bend: &Bend, relation: &str, other: String, kind: &str) -> Precedence {
    let place = shared.place(bend.at);
    Precedence {
        relation: relation.to_owned(),
        other,
        other_kind: kind.to_owned(),
        when: bend.when.clone(),
        path: place.path,
        line: place.line,
        grade: if bend.sure { Grade::Proved } else { Grade::Inferred },
    }
}
