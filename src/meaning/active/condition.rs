//! What a guard asks of the fields: `self.enabled and not args.skip` as a set of conditions on fields.
//!
//! A test counts only where every part of it is a constant or comes from fields; a conjunction is split, and one part of
//! it may count where another does not. Guards whose other arm raises are constraints, not conditions, except where a
//! worker refuses to go on without a switch.

use super::super::facts::Shared;
use super::operand::{MAX_HOPS, is_member};
use super::ways::All;
use crate::flow::guards::{self, Guard};
use crate::flow::origin::assigned_value;
use crate::program::resolve::Binding;
use crate::program::*;
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A condition on fields, written with their names.
#[derive(Clone, Debug)]
pub struct Condition {
    pub text: String,
    pub fields: BTreeSet<Sym>,
    /// The test.
    pub at: ExprRef,
    /// The test itself reads the fields.
    pub direct: bool,
    /// What must hold together for the condition to fail; of a disjunction, one for each arm.
    pub against: Vec<String>,
    /// A field is compared with a number.
    pub is_amount: bool,
    /// The field that must have one value.
    pub equals: Option<Sym>,
}

impl Condition {
    /// Does it ask for a field to be on?
    fn is_switch(&self) -> bool {
        self.fields.len() == 1 && self.fields.contains(&Sym::from(&self.text))
    }
    /// Does it ask for more than a number that means "off": `field > 0`, `field != -1`?
    pub fn is_own_amount(&self, field: Sym) -> bool {
        const OFF: [&str; 6] = ["> 0", "> 0.0", "!= 0", ">= 1", "> -1", "!= -1"];
        let rest = self.text.strip_prefix(field.as_str()).unwrap_or_default();
        self.is_self(field) && self.is_amount && OFF.contains(&rest.trim_start())
    }
    /// Does it ask of this field alone?
    pub fn is_self(&self, field: Sym) -> bool {
        self.fields.len() == 1 && self.fields.contains(&field)
    }
}

/// Reads conditions off tests.
pub struct Conditions<'s, 'g, 'p> {
    pub shared: &'s Shared<'g, 'p>,
}

/// A test that hangs on more fields than this says nothing of any.
const MAX_FIELDS: usize = 3;

impl<'s, 'g, 'p> Conditions<'s, 'g, 'p> {
    pub fn new(shared: &'s Shared<'g, 'p>) -> Self {
        Conditions { shared }
    }

    /// The conditions of the guards around an expression, in its function.
    pub fn around(&self, at: ExprRef) -> All {
        let ir = self.shared.ir(at.file);
        let mut out = All::default();
        let mut all = guards::of_expr(ir, at.expr);
        // A function inside another is made where it stands.
        let mut scope = ir.scope_of(at.expr);
        while let Scope::Func(func) = scope {
            let inner = ir.func(func);
            let nested = inner.name == "<lambda>" || matches!(inner.scope, Scope::Func(_));
            let Some(stmt) = inner.stmt.filter(|_| nested) else { break };
            all.extend(guards::of_stmt(ir, stmt));
            scope = inner.scope;
        }
        for guard in all {
            let test = ExprRef { file: at.file, expr: guard.test };
            let refuses = raises_otherwise(ir, &guard);
            let asks = !refuses || asks_for_more(ir, &guard) && !self.in_record(at);
            if self.hands_over_otherwise(at.file, &guard) {
                continue;
            }
            let found = self.of_test(test, guard.holds);
            found.iter().filter(|c| asks && (!refuses || c.is_switch())).for_each(|c| out.add(c.clone()));
        }
        out
    }

    /// In a method of the record, or where its resolution is at home?
    pub fn in_record(&self, at: ExprRef) -> bool {
        let program = self.shared.program();
        let ir = program.ir(at.file);
        let class = ir.class_around(ir.scope_of(at.expr));
        class.is_some_and(|class| self.shared.graph.is_record_class(ClassRef { file: at.file, class }))
            || program.profile.home_kind(&program.file(at.file).path).is_some()
    }

    /// Is the expression a test, or part of one, with an `else`?
    pub fn has_other_outcome(&self, at: ExprRef) -> bool {
        let ir = self.shared.ir(at.file);
        let mut e = at.expr;
        loop {
            match ir.exprs[e.index()].parent {
                Parent::Expr(up) if matches!(ir.expr(up), Expr::IfExp { test, .. } if *test == e) => return true,
                Parent::Expr(up) => e = up,
                Parent::Stmt(stmt) => {
                    return matches!(&ir.stmt(stmt).kind, Stmt::If { orelse, .. } if !orelse.is_empty());
                }
                _ => return false,
            }
        }
    }

    /// Does the outcome that the guard excludes call something that only a value names? That may lead here too.
    fn hands_over_otherwise(&self, file: FileId, guard: &Guard) -> bool {
        let ir = self.shared.ir(file);
        let Parent::Stmt(stmt) = ir.exprs[guard.test.index()].parent else { return false };
        let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return false };
        let is_own = |test: &ExprId| *test == guard.test;
        let mut excluded = arms.iter().filter(|(test, _)| is_own(test) != guard.holds).map(|(_, body)| body);
        excluded.any(|body| self.hands_over(file, body)) || (guard.holds && self.hands_over(file, orelse))
    }

    fn hands_over(&self, file: FileId, block: &[StmtId]) -> bool {
        let ir = self.shared.ir(file);
        block.iter().any(|stmt| {
            let (Stmt::Assign { value, .. } | Stmt::Expr(value) | Stmt::Return(Some(value))) = &ir.stmt(*stmt).kind
            else {
                return false;
            };
            matches!(ir.expr(*value), Expr::Call { func, .. } if self.is_looked_up(ExprRef { file, expr: *func }))
        })
    }

    /// A local that holds what a call or a table gave, or what came in.
    fn is_looked_up(&self, callee: ExprRef) -> bool {
        let program = self.shared.program();
        let ir = program.ir(callee.file);
        let Binding::Local(scope, defs) = program.binding(callee) else { return false };
        let defuse = program.defuse(callee.file, scope);
        defs.iter().filter_map(|d| defuse.defs.get(d.0 as usize)).any(|def| match def.site {
            DefSite::Param(_) => true,
            DefSite::Target(target) => assigned_value(ir, target)
                .is_some_and(|v| matches!(ir.expr(v), Expr::Call { .. } | Expr::Subscript { .. })),
            _ => false,
        })
    }

    /// What must hold of fields for the test to have this outcome.
    pub fn of_test(&self, test: ExprRef, holds: bool) -> Rc<[Condition]> {
        let memo = &self.shared.active.tests;
        if let Some(known) = memo.borrow().get(&(test, holds)) {
            return known.clone();
        }
        let mut out = Vec::new();
        self.split(test, holds, test, MAX_HOPS, &mut out);
        let out: Rc<[Condition]> = out.into();
        memo.borrow_mut().insert((test, holds), out.clone());
        out
    }

    /// `at` is the part of the test that stands in the guard; `e` what it means.
    fn split(&self, e: ExprRef, holds: bool, at: ExprRef, hops: u32, out: &mut Vec<Condition>) {
        let ir = self.shared.ir(e.file);
        let in_place = e == at;
        let sub = |expr: ExprId| ExprRef { file: e.file, expr };
        let place = |expr: ExprId| if in_place { sub(expr) } else { at };
        match ir.expr(e.expr) {
            Expr::Unary { op: UnaryOp::Not, operand } => self.split(sub(*operand), !holds, place(*operand), hops, out),
            Expr::Bool { and, left, right } if *and == holds => {
                self.split(sub(*left), holds, place(*left), hops, out);
                self.split(sub(*right), holds, place(*right), hops, out);
            }
            Expr::Bool { .. } => out.extend(self.either(e, holds, at)),
            Expr::Walrus { value, .. } => self.split(sub(*value), holds, place(*value), hops, out),
            _ => match self.whole(e, holds, at) {
                Some(condition) => out.push(condition),
                None => {
                    if let Some(meaning) = self.meaning(e).filter(|_| hops > 0) {
                        self.split(meaning, holds, at, hops - 1, out);
                    }
                }
            },
        }
    }

    /// A disjunction: counts if every arm does.
    fn either(&self, e: ExprRef, holds: bool, at: ExprRef) -> Option<Condition> {
        let mut arms = Vec::new();
        self.arms(e, holds, &mut arms);
        let mut texts = Vec::new();
        let mut out = Condition {
            text: String::new(),
            fields: BTreeSet::new(),
            at,
            direct: true,
            against: Vec::new(),
            is_amount: false,
            equals: None,
        };
        for (arm, holds) in arms {
            let mut found = Vec::new();
            self.split(arm, holds, arm, MAX_HOPS / 2, &mut found);
            if found.is_empty() {
                return None;
            }
            for condition in found {
                out.direct &= condition.direct;
                out.fields.extend(condition.fields);
                texts.push(condition.text);
            }
            let mut opposite = Vec::new();
            self.split(arm, !holds, arm, MAX_HOPS / 2, &mut opposite);
            out.against.extend(opposite.into_iter().map(|c| c.text));
        }
        texts.dedup();
        out.text = texts.join(" or ");
        (out.fields.len() <= MAX_FIELDS).then_some(out)
    }

    fn arms(&self, e: ExprRef, holds: bool, out: &mut Vec<(ExprRef, bool)>) {
        match self.shared.ir(e.file).expr(e.expr) {
            Expr::Bool { and, left, right } if *and != holds => {
                self.arms(ExprRef { expr: *left, ..e }, holds, out);
                self.arms(ExprRef { expr: *right, ..e }, holds, out);
            }
            Expr::Unary { op: UnaryOp::Not, operand } => self.arms(ExprRef { expr: *operand, ..e }, !holds, out),
            _ => out.push((e, holds)),
        }
    }

    /// A test without `and` and `or`.
    fn whole(&self, e: ExprRef, holds: bool, at: ExprRef) -> Option<Condition> {
        let mut condition = self.simple(e, holds, at)?;
        condition.against = self.simple(e, !holds, at).map(|c| c.text).into_iter().collect();
        (1..=MAX_FIELDS).contains(&condition.fields.len()).then_some(condition)
    }

    fn simple(&self, e: ExprRef, holds: bool, at: ExprRef) -> Option<Condition> {
        let ir = self.shared.ir(e.file);
        let (mut part, mut is_amount, mut equals) = match ir.expr(e.expr) {
            Expr::Compare { left, .. } => (self.part(ExprRef { expr: *left, ..e })?, false, None),
            _ => (self.part(e)?, false, None),
        };
        let mut negate = !holds;
        if let Expr::Compare { rest, .. } = ir.expr(e.expr) {
            let single = rest.len() == 1;
            negate &= !single;
            for (op, right) in rest {
                let right = ExprRef { expr: *right, ..e };
                let constant = self.shared.program().constant(right);
                is_amount |= matches!(constant, Some(constants::Value::Int(_) | constants::Value::Float(_)));
                let op = if single && !holds { negated(*op) } else { *op };
                // What is in a registry is a matter of the program, not of a field.
                if matches!(op, CmpOp::In | CmpOp::NotIn) && constant.is_none() && is_member(ir, right.expr) {
                    return None;
                }
                let right = self.part(right)?;
                if single && op == CmpOp::Eq && right.fields.is_empty() {
                    equals = part.fields.iter().next().copied().filter(|f| *f == part.text.as_str());
                }
                part.text = format!("{} {} {}", part.text, spelling(op), right.text);
                part.fields.extend(right.fields);
                part.direct &= right.direct;
            }
        }
        let text = match (negate, ir.expr(e.expr)) {
            (true, Expr::Compare { .. }) => format!("not ({})", part.text),
            (true, _) => format!("not {}", part.text),
            (false, _) => part.text,
        };
        let direct = part.direct && e.file == at.file;
        Some(Condition { text, fields: part.fields, at, direct, against: Vec::new(), is_amount, equals })
    }
}

/// Is the outcome that the guard excludes an error?
fn raises_otherwise(ir: &FileIr, guard: &Guard) -> bool {
    let Parent::Stmt(stmt) = ir.exprs[guard.test.index()].parent else { return false };
    let raises = |block: &[StmtId]| block.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(_)));
    match &ir.stmt(stmt).kind {
        Stmt::Assert { .. } => true,
        Stmt::If { arms, orelse } => match guard.holds {
            true => guard.early_exit && raises(orelse),
            false => arms.iter().any(|(test, body)| *test == guard.test && raises(body)),
        },
        _ => false,
    }
}

/// `if not enabled: raise` and `assert enabled`, unlike `if other: raise`, ask for something to be there.
fn asks_for_more(ir: &FileIr, guard: &Guard) -> bool {
    guard.holds || matches!(ir.expr(guard.test), Expr::Unary { op: UnaryOp::Not, .. })
}

fn negated(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Is => CmpOp::IsNot,
        CmpOp::IsNot => CmpOp::Is,
        CmpOp::In => CmpOp::NotIn,
        CmpOp::NotIn => CmpOp::In,
    }
}

fn spelling(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
        CmpOp::Lt => "<",
        CmpOp::Ge => ">=",
        CmpOp::Gt => ">",
        CmpOp::Le => "<=",
        CmpOp::Is => "is",
        CmpOp::IsNot => "is not",
        CmpOp::In => "in",
        CmpOp::NotIn => "not in",
    }
}
