//! argtrace reads an SGLang source tree and says what each server argument really means.
//!
//! Data flows one way: `source -> syntax -> program -> flow -> meaning -> { compare, launch, docs } -> render -> cli`. Each stage knows only
//! those to its left, and none but `source`, `store` and `cli` does I/O. ARCHITECTURE.md is the map.
#![forbid(unsafe_code)]

pub mod cli;
pub mod compare;
pub mod docs;
pub mod flow;
pub mod launch;
pub mod meaning;
pub mod program;
pub mod render;
pub mod source;
pub mod store;
pub mod syntax;
