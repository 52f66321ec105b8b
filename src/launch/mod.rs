//! Before the launch: what a command means to the release that it starts.
//!
//! [`command`] parses it as the source's own parser would, [`resolve`] runs the source's own resolution on its values with
//! the abstract interpreter of [`evaluate`].

pub mod amount;
pub mod command;
pub mod evaluate;
pub mod resolve;
pub mod yaml;
