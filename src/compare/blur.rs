//! What two releases can be compared by: names that both know.
//!
//! The name of a local or of an attribute says nothing across releases, and a function that only one release has may be
//! another's under a new name. So a term is **blurred** before it is compared: arguments, constants, environment variables
//! and functions that both releases call stay, all else becomes a hole. A part that is nothing but holes says nothing and
//! is left out, so a difference that is left is one of meaning.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;

use super::parse::Reader;
use super::snapshot::Snapshot;
use super::term::{Literal, Term};

/// The shared vocabulary of two releases.
pub struct Blur {
    /// Functions that both call, without underscores in front.
    called: FxHashSet<String>,
}

/// The texts of one release, each read once.
pub struct Texts<'s> {
    reader: Reader<'s>,
    read: RefCell<FxHashMap<String, Term>>,
    /// Arguments that have another name in the other release.
    renamed: &'s FxHashMap<String, String>,
}

impl<'s> Texts<'s> {
    pub fn new(fields: &'s FxHashSet<String>, renamed: &'s FxHashMap<String, String>) -> Self {
        Self { reader: Reader::new(fields), read: RefCell::default(), renamed }
    }

    pub fn term(&self, text: &str) -> Term {
        if let Some(known) = self.read.borrow().get(text) {
            return known.clone();
        }
        let term = self.translated(self.reader.term(text));
        self.read.borrow_mut().insert(text.to_owned(), term.clone());
        term
    }

    pub fn all(&self, texts: &[String]) -> Term {
        Term::all(texts.iter().map(|text| self.term(text)))
    }

    fn translated(&self, term: Term) -> Term {
        if self.renamed.is_empty() {
            return term;
        }
        term.map(&|part| match part {
            Term::Field(name) => Term::Field(self.renamed.get(&name).cloned().unwrap_or(name)),
            other => other,
        })
    }
}

impl Blur {
    pub fn of(old: (&Snapshot, &Texts), new: (&Snapshot, &Texts)) -> Blur {
        let called = &calls_of(old.0, old.1) & &calls_of(new.0, new.1);
        Blur { called }
    }

    pub fn blurred(&self, term: &Term) -> Term {
        term.map(&|part| self.blur(part))
    }

    /// The blurred parts of a conjunction.
    pub fn parts(&self, condition: &Term) -> BTreeSet<Term> {
        self.blurred(condition).conjuncts().into_iter().filter(says_something).collect()
    }

    /// Does a blurred term speak of an argument, a variable of the environment or a function that both know?
    pub fn is_known(&self, term: &Term) -> bool {
        let mut known = false;
        term.walk(&mut |part| {
            known |= match part {
                Term::Field(_) | Term::Env(_) => true,
                Term::Call(name, _) => name != "…",
                _ => false,
            }
        });
        known
    }

    /// One part, whose own parts are blurred already.
    fn blur(&self, term: Term) -> Term {
        let hole = |t: &Term| *t == Term::Hole;
        match term {
            Term::Name(name) => match self.known(&name) {
                Some(name) => Term::Call(name, Vec::new()),
                None => Term::Hole,
            },
            Term::Call(name, args) => {
                let args: Vec<Term> = args.into_iter().filter(|a| !hole(a)).collect();
                match self.known(&name) {
                    Some(name) => Term::Call(name, args),
                    None if args.is_empty() => Term::Hole,
                    None => Term::Call(String::from("…"), args),
                }
            }
            Term::Format(_) => Term::Hole,
            Term::OneOf { subject, values, .. } if hole(&subject) && values.iter().all(is_empty) => Term::Hole,
            Term::Within { item, container, .. } if hole(&item) && hole(&container) => Term::Hole,
            Term::Compare { left, right, .. } if hole(&left) && hole(&right) => Term::Hole,
            Term::Binary(_, left, right) if hole(&left) && hole(&right) => Term::Hole,
            Term::Index(base, index) if hole(&base) && hole(&index) => Term::Hole,
            Term::Not(inner) if hole(&inner) => Term::Hole,
            Term::List(items) if items.iter().all(hole) => Term::Hole,
            Term::All(parts) => {
                let parts: Vec<Term> = parts.into_iter().filter(|p| !hole(p)).collect();
                if parts.is_empty() { Term::Hole } else { Term::all(parts) }
            }
            Term::Any(parts) if parts.iter().all(hole) => Term::Hole,
            Term::Choice { test, then, otherwise } if hole(&test) && then == otherwise => *then,
            other => other,
        }
    }

    fn known(&self, name: &str) -> Option<String> {
        let bare = name.trim_start_matches('_');
        self.called.contains(bare).then(|| bare.to_owned())
    }
}

/// `None`, a truth value: what anything may be compared with.
fn is_empty(literal: &Literal) -> bool {
    matches!(literal, Literal::None | Literal::Bool(_))
}

fn says_something(part: &Term) -> bool {
    !matches!(part, Term::Hole | Term::Literal(_))
}

fn calls_of(snapshot: &Snapshot, texts: &Texts) -> FxHashSet<String> {
    let mut out = FxHashSet::default();
    for text in snapshot.texts() {
        texts.term(text).walk(&mut |term| {
            if let Term::Call(name, _) = term {
                out.insert(name.trim_start_matches('_').to_owned());
            }
        });
    }
    out
}
