//! The commands that a shell script would run, as far as that can be told without running it.
//!
//! [`lexer`] cuts a script into words and operators, [`expand`] puts in what variables hold, [`script`] follows the
//! commands. What only a run can tell (`$(nproc)`, a variable from outside, what a branch sets) stays open; see
//! [`super::command::token`].

pub mod arithmetic;
pub mod expand;
pub mod lexer;
pub mod script;

pub use script::{Found, commands};
