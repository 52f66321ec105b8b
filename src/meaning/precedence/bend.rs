//! One place where one thing decides what another comes to.

use crate::meaning::conditions;
use crate::meaning::facts::Shared;
use crate::meaning::report::{Grade, Precedence};
use crate::program::ExprRef;
use crate::syntax::ir::Sym;

/// What bends or is bent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Party {
    Field(Sym),
    /// A variable of the process's environment.
    Env(Sym),
    /// Which model is served.
    Model,
    /// A value that comes with each request, as an attribute path.
    Request(String),
}

impl Party {
    pub fn name(&self) -> String {
        match self {
            Party::Field(name) | Party::Env(name) => name.to_string(),
            Party::Model => "model".to_owned(),
            Party::Request(path) => path.clone(),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Party::Field(_) => "field",
            Party::Env(_) => "env",
            Party::Model => "model",
            Party::Request(_) => "request",
        }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// What was left unset gets its value so.
    Fills,
    /// A given value gives way.
    Replaces,
    /// A given value gives way to `False` or `None`.
    Clears,
}

#[derive(Clone, Debug)]
pub struct Bend {
    pub bent: Party,
    pub by: Party,
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
        grade: if bend.sure && !conditions::is_called_under(shared, bend.at) { Grade::Proved } else { Grade::Inferred },
    }
}
