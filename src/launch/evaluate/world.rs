//! What is known of the world around the program: the record's fields, the environment, and answers to what is asked of
//! things outside the tree.
//!
//! A fact is given by the user or implied by the command; the profile says which questions it answers. What no fact
//! answers stays unknown. Files are read only through a function that the caller hands in.

use crate::program::ExprRef;
use crate::program::profile::Profile;
use crate::syntax::ir::Sym;
use rustc_hash::{FxHashMap, FxHashSet};

/// What something outside the tree is known to be.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    None,
    /// There is no such attribute.
    Absent,
    /// Something, never None.
    Something,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Pair(i64, i64),
    List(Vec<String>),
}

#[derive(Default)]
pub struct World {
    /// The record's fields, in their order, with the code of their defaults.
    pub defaults: Vec<(Sym, Option<ExprRef>)>,
    pub fields: FxHashSet<Sym>,
    /// What takes the place of an unset field once the record is published.
    pub fallbacks: Vec<(Sym, ExprRef)>,
    /// The record's class is put together from others.
    pub is_assembled: bool,
    /// A variable without a value is set to something that is not known.
    pub environment: Vec<(String, Option<String>)>,
    /// The command line as it was given.
    pub argv: Vec<crate::launch::command::token::Token>,
    /// Files that the source reads, by the path that it has for them.
    pub files: FxHashMap<String, Result<String, String>>,
    answers: FxHashMap<String, Answer>,
    /// Calls whose answer only the machine or the model knows, by the function's name.
    opaque: FxHashMap<String, String>,
    /// Attributes that a fact decides, whatever the class computes.
    attributes: FxHashMap<String, Vec<(String, Answer)>>,
}

impl World {
    /// What the profile makes of the facts. A fact that the profile does not know, or of which it cannot make anything,
    /// is handed back.
    pub fn with_facts(profile: &Profile, facts: &[(String, String)]) -> (World, Vec<String>) {
        let mut world = World::default();
        for (call, symbol) in &profile.launch.opaque {
            world.opaque.insert(call.clone(), symbol.clone());
        }
        let known = |name: &String| {
            profile.launch.facts.iter().any(|r| r.name == *name) || profile.launch.amounts.contains(name)
        };
        let unknown = facts.iter().map(|(name, _)| name).filter(|n| !known(n)).cloned().collect();
        for rule in &profile.launch.facts {
            let Some((_, value)) = facts.iter().find(|(name, _)| *name == rule.name) else { continue };
            let any = |patterns: &[String]| patterns.iter().any(|p| fits(p, value));
            if !rule.values.is_empty() && !any(&rule.values) || any(&rule.except) {
                continue;
            }
            for (path, answer) in &rule.answers {
                if let Some(answer) = Answer::read(answer, value) {
                    world.tell(path, answer);
                }
            }
        }
        (world, unknown)
    }

    fn tell(&mut self, path: &str, answer: Answer) {
        match path.split_once("::") {
            Some((class, attr)) => {
                self.attributes.entry(class.to_owned()).or_default().push((attr.to_owned(), answer));
            }
            // The first fact to answer is the one that is meant.
            None => {
                self.answers.entry(path.to_owned()).or_insert(answer);
            }
        }
    }

    pub fn answer(&self, path: &str) -> Option<Answer> {
        self.answers.get(path).cloned()
    }

    pub fn opaque_call(&self, name: &str) -> Option<&str> {
        self.opaque.get(name).map(String::as_str)
    }

    pub fn attributes_of(&self, class: &str) -> Vec<(String, Answer)> {
        self.attributes.get(class).cloned().unwrap_or_default()
    }
}

/// Does a fact's value fit a pattern: itself, or with `*` at either end?
fn fits(pattern: &str, value: &str) -> bool {
    let (pattern, value) = (pattern.to_lowercase(), value.to_lowercase());
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => value.contains(inner),
        (true, false) => value.ends_with(inner),
        (false, true) => value.starts_with(inner),
        (false, false) => value == inner,
    }
}

impl Answer {
    /// An answer of the profile, in which `@value` and its like stand for the fact's value.
    fn read(answer: &toml::Value, value: &str) -> Option<Answer> {
        Some(match answer {
            toml::Value::Boolean(b) => Answer::Bool(*b),
            toml::Value::Integer(i) => Answer::Int(*i),
            toml::Value::Float(x) => Answer::Float(*x),
            toml::Value::String(text) => match text.as_str() {
                "@none" => Answer::None,
                "@absent" => Answer::Absent,
                "@something" => Answer::Something,
                "@text" => Answer::Text(value.to_owned()),
                "@list" => Answer::List(vec![value.to_owned()]),
                "@truth" => Answer::Bool(truth(value)?),
                "@integer" => Answer::Int(value.trim().parse().ok()?),
                "@mebibytes" => Answer::Int((crate::launch::amount::bytes(value)? / (1u64 << 20)) as i64),
                "@capability" => {
                    let (major, minor) = capability(value)?;
                    Answer::Pair(major, minor)
                }
                "@capability-number" => {
                    let (major, minor) = capability(value)?;
                    Answer::Int(major * 10 + minor)
                }
                other => Answer::Text(other.to_owned()),
            },
            _ => return None,
        })
    }
}

fn truth(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// `90`, `9.0` and `sm_90` are the same compute capability.
fn capability(value: &str) -> Option<(i64, i64)> {
    let value = value.trim().trim_start_matches("sm_").trim_start_matches("sm");
    match value.split_once('.') {
        Some((major, minor)) => Some((major.parse().ok()?, minor.parse().ok()?)),
        None => {
            let number: i64 = value.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
            Some((number / 10, number % 10))
        }
    }
}
