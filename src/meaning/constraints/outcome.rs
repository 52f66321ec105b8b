//! What becomes of a launch that enters a block: an error, a warning, or nothing that an operator would see?
//!
//! Only the block's own statements count, not those of blocks inside it: those have tests of their own.

use super::super::facts::Shared;
use crate::program::constants::filled;
use crate::program::{ExprRef, FileId, dotted_name};
use crate::syntax::ir::*;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    Fails,
    Warns,
}

pub struct Outcome {
    pub effect: Effect,
    /// The line of the `raise` or of the warning.
    pub line: u32,
    pub message: Option<String>,
}

/// The first error of a block, else its first warning.
pub fn of_block(shared: &Shared, file: FileId, block: &[StmtId]) -> Option<Outcome> {
    let mut warning = None;
    for stmt in block {
        match of_stmt(shared, file, *stmt) {
            Some(fails) if fails.effect == Effect::Fails => return Some(fails),
            Some(warns) if warning.is_none() => warning = Some(warns),
            _ => {}
        }
    }
    warning
}

/// What the warnings of a block say.
pub fn messages<'s>(shared: &'s Shared, file: FileId, block: &'s [StmtId]) -> impl Iterator<Item = String> + 's {
    block.iter().filter_map(move |stmt| of_stmt(shared, file, *stmt)?.message)
}

pub fn of_stmt(shared: &Shared, file: FileId, stmt: StmtId) -> Option<Outcome> {
    let ir = shared.ir(file);
    let node = ir.stmt(stmt);
    let line = node.span.line;
    let outcome = |effect, message| Some(Outcome { effect, line, message });
    match &node.kind {
        Stmt::Raise(Some(raised)) => outcome(Effect::Fails, text_of(shared, ExprRef { file, expr: *raised })),
        Stmt::Assert { test, message } if matches!(ir.expr(*test), Expr::False) => {
            outcome(Effect::Fails, message.and_then(|m| text_of(shared, ExprRef { file, expr: m })))
        }
        Stmt::Expr(call) => {
            let Expr::Call { func, args } = ir.expr(*call) else { return None };
            let name = dotted_name(ir, *func)?;
            let checks = &shared.program().profile.checks;
            let effect = match (checks.exits(&name), checks.warns(&name)) {
                (true, _) => Effect::Fails,
                (_, true) => Effect::Warns,
                _ => return None,
            };
            outcome(effect, args.first().and_then(|a| text_of(shared, ExprRef { file, expr: a.value })))
        }
        _ => None,
    }
}

/// Does a block, or one inside it, write a line that an operator sees by default?
pub fn speaks(shared: &Shared, file: FileId, block: &[StmtId]) -> bool {
    let ir = shared.ir(file);
    block.iter().any(|stmt| match &ir.stmt(*stmt).kind {
        Stmt::Expr(call) => tells(shared, file, *call),
        Stmt::Raise(_) => true,
        Stmt::If { arms, orelse } => arms.iter().any(|(_, b)| speaks(shared, file, b)) || speaks(shared, file, orelse),
        Stmt::With { body, .. } | Stmt::Try { body, .. } => speaks(shared, file, body),
        _ => false,
    })
}

/// Is this a call that writes such a line?
pub fn tells(shared: &Shared, file: FileId, call: ExprId) -> bool {
    let ir = shared.ir(file);
    let Expr::Call { func, .. } = ir.expr(call) else { return false };
    let checks = &shared.program().profile.checks;
    dotted_name(ir, *func).is_some_and(|name| checks.warns(&name) || checks.logs(&name))
}

const MAX_MESSAGE: usize = 400;

/// The words of a message: a string, an f-string with its holes as written, or an exception made with one.
pub fn text_of(shared: &Shared, at: ExprRef) -> Option<String> {
    words(shared, at, 0).map(|text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(MAX_MESSAGE) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    })
}

fn words(shared: &Shared, at: ExprRef, depth: u32) -> Option<String> {
    if depth > 8 {
        return None;
    }
    let ir = shared.ir(at.file);
    let inner = |expr| words(shared, ExprRef { file: at.file, expr }, depth + 1);
    match ir.expr(at.expr) {
        Expr::Str(text) => Some(text.to_string()),
        Expr::FString(formatted) => {
            let FString { text, parts } = &**formatted;
            let hole = |part: &ExprId| format!("{{{}}}", shared.text(ExprRef { file: at.file, expr: *part }));
            Some(filled(text, &parts.iter().map(hole).collect::<Vec<_>>()))
        }
        Expr::Bin { op: BinOp::Add, left, right } => Some(format!("{}{}", inner(*left)?, inner(*right)?)),
        Expr::Bin { op: BinOp::Mod, left, .. } => inner(*left),
        Expr::Call { func, args } => match (args.first(), ir.expr(*func)) {
            (_, Expr::Attr { base, .. }) if matches!(ir.expr(*base), Expr::Str(_)) => inner(*base),
            (Some(first), _) => inner(first.value),
            (None, _) => None,
        },
        _ => shared.program().constant(at)?.as_str().map(|s| s.to_string()),
    }
}
