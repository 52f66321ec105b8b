//! A command line as the source's own parser takes it.
//!
//! [`parser`] is `argparse` of Python 3.11, filled with what the tree registers. What it does with a value (`type=`, a
//! custom action) is the source's own code, run by [`super::evaluate`]. Every mistake is noted, where argparse would stop
//! at the first; what can be made of the rest is made of it.

pub mod parser;
pub mod secret;
pub mod token;

use crate::syntax::ir::Sym;
use token::Token;

/// How the spelling on the command line came to its option.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Spelling {
    Exact,
    Alias,
    Abbreviation,
}

/// An option that was given.
#[derive(Clone, Debug)]
pub struct Use {
    /// As typed, without `=value`.
    pub flag: String,
    /// The spelling that it stands for.
    pub option: String,
    pub registration: usize,
    pub spelling: Spelling,
    /// The values as typed.
    pub values: Vec<Token>,
    /// The place among the arguments.
    pub index: usize,
    /// The value could not be made of what was typed.
    pub failed: bool,
}

/// A mistake on the command line.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub flag: String,
    pub dest: Option<Sym>,
    /// Where the option is registered, if it is one.
    pub registration: Option<usize>,
    pub message: String,
    pub index: usize,
}

/// What a parser made of a command line.
#[derive(Clone, Default, Debug)]
pub struct Parsed {
    pub uses: Vec<Use>,
    pub problems: Vec<Problem>,
    /// The arguments that were parsed, after a configuration file was merged in.
    pub argv: Vec<Token>,
    /// Help or version was asked for, so nothing is launched.
    pub only_answers: bool,
}
