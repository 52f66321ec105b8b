//! Opens a source of code and yields its Python files.
//!
//! This is the only stage, beside `cli`, that touches the file system or starts a program. It never imports, builds or
//! runs what it reads.

/// One Python file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Starts at the package's name (`sglang/srt/server_args.py`), `/` on every platform.
    pub path: String,
}
