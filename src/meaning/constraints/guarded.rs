//! Which checks of other things stand under a test of this value?
//!
//! `if self.field: assert self.other …` is a constraint on the combination. Checks of something that is no argument
//! count only in the record's own methods, whose business they are. What only this test lets be constructed has checks
//! of its own: they stand under the test as well.

use super::super::conditions;
use super::super::facts::Facts;
use super::super::report::Grade;
use super::super::wording::all_of;
use super::outcome::{self, Effect};
use super::tripped::Test;
use super::{Found, cut, in_record, under_guards};
use crate::flow::guards;
use crate::program::{ExprRef, FileId, FuncRef};
use crate::syntax::ir::*;

/// How many blocks below the test a check may stand.
const MAX_DEPTH: u32 = 2;
/// A field that guards more than this guards everything; the nearest are enough.
const MAX_FOUND: usize = 16;

pub fn find(facts: &Facts, tests: &[Test]) -> Vec<Found> {
    let mut out = Vec::new();
    for test in tests.iter().filter(|t| t.is_near()) {
        let ir = facts.shared.ir(test.at.file);
        let Stmt::If { arms, orelse } = &ir.stmt(test.stmt).kind else { continue };
        let mut search = Search { facts, file: test.at.file, grade: test.grade, under: Vec::new(), out: &mut out };
        if let Some((_, block)) = arms.iter().find(|(t, _)| *t == test.at.expr) {
            search.block(block, 0);
            search.constructors(block, test.at.expr);
            if arms.len() == 1 {
                search.block(orelse, 0);
            }
            if arms.len() == 1 && orelse.is_empty() && ends(ir, block) {
                let after = ir.stmt(test.stmt).index as usize + 1;
                search.block(guards::siblings(ir, test.stmt).get(after..).unwrap_or(&[]), 1);
            }
        }
    }
    out
}

/// Does the block end its function without an error?
fn ends(ir: &FileIr, block: &[StmtId]) -> bool {
    block.last().is_some_and(|s| matches!(ir.stmt(*s).kind, Stmt::Return(_)))
}

struct Search<'a, 's, 'g, 'p> {
    facts: &'a Facts<'s, 'g, 'p>,
    file: FileId,
    grade: Grade,
    /// The tests in other functions that led here.
    under: Vec<String>,
    out: &'a mut Vec<Found>,
}

impl Search<'_, '_, '_, '_> {
    fn block(&mut self, block: &[StmtId], depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        let ir = self.facts.shared.ir(self.file);
        for stmt in block {
            match &ir.stmt(*stmt).kind {
                Stmt::Assert { test, message } => self.assertion(*stmt, *test, *message),
                Stmt::If { arms, orelse } => {
                    for (test, inner) in arms {
                        self.arm(*stmt, *test, inner);
                        self.block(inner, depth + 1);
                    }
                    self.block(orelse, depth + 1);
                }
                Stmt::With { body, .. } | Stmt::Try { body, .. } => self.block(body, depth),
                _ => {}
            }
        }
    }

    /// `if test: self.part = Part(record)`, where nothing else makes a part.
    fn constructors(&mut self, block: &[StmtId], test: ExprId) {
        let (facts, file) = (self.facts, self.file);
        let ir = facts.shared.ir(file);
        for stmt in block {
            let (Stmt::Assign { value, .. } | Stmt::Expr(value)) = &ir.stmt(*stmt).kind else { continue };
            let call = ExprRef { file, expr: *value };
            let callees = facts.shared.graph.types.callees(call);
            let [(FuncRef { file, func }, Some(_), true)] = callees[..] else { continue };
            let callee = FuncRef { file, func };
            if conditions::only_call(facts.shared, callee) != Some(call) {
                continue;
            }
            let under = vec![facts.shared.text(ExprRef { file: self.file, expr: test })];
            let mut inner = Search { facts, file, grade: self.grade, under, out: &mut *self.out };
            inner.block(&facts.shared.program().func(callee).body, 1);
        }
    }

    fn assertion(&mut self, stmt: StmtId, test: ExprId, message: Option<ExprId>) {
        let file = self.file;
        let message = message.and_then(|m| outcome::text_of(self.facts.shared, ExprRef { file, expr: m }));
        self.check("assert", stmt, test, message);
    }

    fn arm(&mut self, stmt: StmtId, test: ExprId, block: &[StmtId]) {
        let Some(outcome) = outcome::of_block(self.facts.shared, self.file, block) else { return };
        match outcome.effect {
            Effect::Fails => self.check("raise", stmt, test, outcome.message),
            Effect::Warns if in_record(self.facts, ExprRef { file: self.file, expr: test }) => {
                self.check("warn", stmt, test, outcome.message);
            }
            Effect::Warns => {}
        }
    }

    fn check(&mut self, kind: &'static str, stmt: StmtId, test: ExprId, message: Option<String>) {
        let (facts, file) = (self.facts, self.file);
        let at = ExprRef { file, expr: test };
        let asks_argument = || facts.shared.origins.of(at).iter().any(|o| o.field != facts.field() && o.hops == 0);
        if self.out.len() < MAX_FOUND && (in_record(facts, at) || asks_argument()) {
            let condition = self.led_here(kind, under_guards(facts, file, stmt, kind, &facts.shared.text(at)));
            let line = facts.shared.ir(file).place(test).line;
            self.out.push(Found { kind, file, line, condition, message, grade: self.grade });
        }
    }

    /// The condition with what led to the function.
    fn led_here(&self, kind: &str, condition: String) -> String {
        let under = all_of(&self.under);
        cut(match (self.under.is_empty(), kind) {
            (true, _) => return condition,
            (false, "assert") if condition.contains(", when ") => format!("{condition} and {under}"),
            (false, "assert") => format!("{condition}, when {under}"),
            (false, _) => all_of(&[under, condition]),
        })
    }
}
