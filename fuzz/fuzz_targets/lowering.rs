//! Any bytes as Python: each node lies in the text, and in its parent's arena.
#![no_main]

use argtrace::syntax::ir::Parent;
use argtrace::syntax::lower::lower;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let ir = lower(text);
    // What is no UTF-8 is replaced, by as much as three bytes for one.
    let end = 3 * text.len() as u32;
    for node in &ir.exprs {
        assert!(node.range.start <= node.range.end && node.range.end <= end);
        let known = match node.parent {
            Parent::Expr(id) => id.index() < ir.exprs.len(),
            Parent::Stmt(id) => id.index() < ir.stmts.len(),
            Parent::Func(id) => id.index() < ir.funcs.len(),
            Parent::Class(id) => id.index() < ir.classes.len(),
        };
        assert!(known);
    }
});
