//! Before the launch: what a command means to the release that it starts.
//!
//! [`files`] finds server commands in scripts and manifests, [`command`] parses one as the source's own parser would,
//! [`resolve`] runs the source's own resolution on its values with the abstract interpreter of [`evaluate`], and
//! [`findings`] says what is wrong with it. [`audit`] puts the document together; [`budget`] turns the question round.
//!
//! *Invariant:* no file is read here and nothing of the source is run. *Invariant:* what is not known is said to be so,
//! with what it hangs on; no value is guessed.

pub mod amount;
pub mod audit;
pub mod budget;
pub mod command;
pub mod condition;
pub mod document;
pub mod evaluate;
pub mod files;
pub mod findings;
pub mod resolve;
pub mod shell;
pub mod totals;
pub mod yaml;
