//! Documentation that people keep, held against what the source says.
//!
//! [`blocks`] finds the parts of a file that are generated, [`tables`] reads the tables that are not, and [`drift`] says
//! where these contradict the meanings of a tree. It reads no file and writes none: texts go in, texts and findings come
//! out.

pub mod blocks;
pub mod codes;
mod defaults;
pub mod drift;
mod options;
pub mod tables;
