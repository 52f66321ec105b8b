//! Reads and uses that consume nothing.
//!
//! A log line, an error's message, an answer to a client, a check that only raises or warns, and a test that only decides
//! what another field becomes make no use of the value.

use super::consumption::Consumption;
use crate::flow::access::Access;
use crate::flow::graph::{Kind, Slot};
use crate::flow::trace::Trace;
use crate::program::*;
use crate::syntax::ir::*;

/// Methods that write a message, among what the rules for logs cover.
const SPEAKING: [&str; 10] =
    ["debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "warning_once"];

/// A dictionary with this many fields under their own names lists the settings.
const LISTING: usize = 4;

impl Consumption<'_, '_, '_, '_, '_> {
    /// Can the read be consumption at all?
    pub fn counts(&self, read: &Access) -> bool {
        let running = self.facts.shared.processes.running_at(read.at);
        let tool = !running.kinds.is_empty() && running.kinds.iter().all(|k| k == "other");
        !tool && !self.is_idle(read.at)
    }

    pub fn is_idle(&self, at: ExprRef) -> bool {
        self.is_talk(at) || self.is_check(at) || self.is_setting(at)
    }

    /// Does a dictionary list the value under its field's name, beside others of its kind?
    pub fn is_listed(&self, at: ExprRef) -> bool {
        let shared = self.facts.shared;
        let ir = shared.ir(at.file);
        let Parent::Expr(up) = ir.exprs[at.expr.index()].parent else { return false };
        let Expr::Dict(items) = ir.expr(up) else { return false };
        let named = |(key, value): &(Option<ExprId>, ExprId)| {
            let name = key.and_then(|k| ir.str_value(k));
            name.is_some() && shared.origins.direct(ExprRef { file: at.file, expr: *value }) == name
        };
        items.iter().filter(|item| named(item)).count() >= LISTING
    }

    /// Is the value here only logged, part of an error's message, or told to a client that asks for it?
    fn is_talk(&self, at: ExprRef) -> bool {
        let shared = self.facts.shared;
        let ir = shared.ir(at.file);
        let mut e = at.expr;
        let handled = shared.processes.function_around(at).is_some_and(|f| self.contexts.is_handler(f));
        loop {
            match ir.exprs[e.index()].parent {
                Parent::Expr(up) => {
                    if let Expr::Call { func, .. } = ir.expr(up)
                        && *func != e
                        && self.speaks(ir, *func)
                    {
                        return true;
                    }
                    if handled && matches!(ir.expr(up), Expr::Dict(_)) {
                        return true;
                    }
                    e = up;
                }
                Parent::Stmt(stmt) => return matches!(ir.stmt(stmt).kind, Stmt::Raise(_) | Stmt::Assert { .. }),
                _ => return false,
            }
        }
    }

    fn speaks(&self, ir: &FileIr, callee: ExprId) -> bool {
        let name = dotted_name(ir, callee).unwrap_or_default();
        let mut logs = self.facts.shared.program().profile.sinks.iter().filter(|s| s.kind == "log");
        last_name(ir, callee).is_some_and(|n| SPEAKING.contains(&n.as_str())) && logs.any(|s| s.matches(&name))
    }

    /// Does the value here only decide whether to raise or to warn?
    fn is_check(&self, at: ExprRef) -> bool {
        let ir = self.facts.shared.ir(at.file);
        let Some((arms, n, orelse)) = test_around(ir, at) else { return false };
        (orelse.is_empty() || arms.len() > 1) && arms[n].1.iter().all(|s| self.complains(ir, *s))
    }

    fn complains(&self, ir: &FileIr, stmt: StmtId) -> bool {
        match &ir.stmt(stmt).kind {
            Stmt::Raise(_) | Stmt::Assert { .. } | Stmt::Pass => true,
            Stmt::Expr(e) => match ir.expr(*e) {
                Expr::Call { func, .. } => self.speaks(ir, *func),
                Expr::Str(_) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Does the value here, outside the record, only decide what another field becomes?
    fn is_setting(&self, at: ExprRef) -> bool {
        let ir = self.facts.shared.ir(at.file);
        let Some((arms, n, orelse)) = test_around(ir, at) else { return false };
        if self.conditions.in_record(at) {
            return false;
        }
        let mut set = Settings::default();
        let rest = arms[n..].iter().map(|(_, body)| &body[..]).chain([orelse]);
        let nothing_else = rest.into_iter().all(|body| self.only_sets(at.file, body, &mut set));
        nothing_else && (set.field || set.values.iter().any(|value| self.ends_as_field(*value)))
    }

    /// Does the block only write fields, and locals?
    fn only_sets(&self, file: FileId, block: &[StmtId], set: &mut Settings) -> bool {
        let shared = self.facts.shared;
        let ir = shared.ir(file);
        block.iter().all(|stmt| match &ir.stmt(*stmt).kind {
            Stmt::Assign { targets, value } => {
                let is_field = |t: &ExprId| shared.origins.direct(ExprRef { file, expr: *t }).is_some();
                if targets.iter().all(is_field) {
                    set.field = true;
                    return true;
                }
                set.values.push(ExprRef { file, expr: *value });
                targets.iter().all(|t| is_local(ir, *t))
            }
            Stmt::AugAssign { target, .. } => is_local(ir, *target),
            Stmt::If { arms, orelse } => {
                let blocks = arms.iter().map(|(_, body)| &body[..]).chain([&orelse[..]]);
                blocks.into_iter().all(|body| self.only_sets(file, body, set))
            }
            Stmt::Expr(e) if self.declares(ir, *e) => {
                set.field = true;
                true
            }
            _ => self.complains(ir, *stmt),
        })
    }

    fn declares(&self, ir: &FileIr, call: ExprId) -> bool {
        let Expr::Call { func, .. } = ir.expr(call) else { return false };
        let resolution = &self.facts.shared.program().profile.resolution;
        let mut declaring = resolution.declare.iter().chain(&resolution.overrides);
        last_name(ir, *func).is_some_and(|name| declaring.any(|d| *d == name.as_str()))
    }

    fn ends_as_field(&self, value: ExprRef) -> bool {
        const NEAR: usize = 80;
        let trace = Trace::bounded(self.facts.shared.graph, &[(value, Kind::Value)], NEAR);
        trace.states.iter().any(|s| s.node.slot != Slot::Expr(value) && self.field_of(&s.node).is_some())
    }
}

/// What a block writes: a field, or values of locals.
#[derive(Default)]
struct Settings {
    field: bool,
    values: Vec<ExprRef>,
}

/// The arms of the statement whose test the expression is a part of, which of them, and what else there is.
fn test_around(ir: &FileIr, at: ExprRef) -> Option<(&[(ExprId, Block)], usize, &[StmtId])> {
    let Stmt::If { arms, orelse } = &ir.stmt(ir.stmt_of(at.expr)?).kind else { return None };
    let n = arms.iter().position(|(test, _)| ir.contains(*test, at.expr))?;
    Some((arms, n, orelse))
}

/// A local name, an element of one, or several.
fn is_local(ir: &FileIr, target: ExprId) -> bool {
    match ir.expr(target) {
        Expr::Name(_) => true,
        Expr::Subscript { base, .. } => matches!(ir.expr(*base), Expr::Name(_)),
        Expr::Tuple(items) => items.iter().all(|item| matches!(ir.expr(*item), Expr::Name(_))),
        _ => false,
    }
}
