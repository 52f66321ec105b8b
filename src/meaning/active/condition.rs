//! What a guard asks of the fields: `self.enabled and not args.skip` as a set of conditions on fields.
//!
//! A test counts only where every part of it is a constant or comes from fields; a conjunction is split, and one part of
//! it may count where another does not. Guards whose other arm raises are constraints, not conditions, except where a
//! worker refuses to go on without a switch.

use super::super::facts::Shared;
use super::operand::{MAX_HOPS, Part, is_member};
use super::ways::All;
use crate::flow::guards::{self, Guard};
use crate::flow::origin::assigned_value;
use crate::program::constants::Value;
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
    /// The arms of a disjunction, where each is one condition.
    pub arms: Vec<Condition>,
    /// A field's amount, as a comparison with a number.
    pub bound: Option<(CmpOp, f64)>,
    /// The values that a field must have, or must not have.
    pub range: Option<Range>,
}

impl Condition {
    /// Does one of several hold?
    pub fn any_of(mut arms: Vec<Condition>, at: ExprRef) -> Condition {
        if arms.len() == 1
            && let Some(only) = arms.pop()
        {
            return only;
        }
        Condition {
            text: arms.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(" or "),
            fields: arms.iter().flat_map(|c| c.fields.iter().copied()).collect(),
            at,
            direct: arms.iter().all(|c| c.direct),
            against: arms.iter().flat_map(|c| c.against.iter().cloned()).collect(),
            range: Range::of_any(&arms),
            arms,
            bound: None,
        }
    }
    /// Does it ask for a field to be on?
    fn is_switch(&self) -> bool {
        self.fields.len() == 1 && self.fields.contains(&Sym::from(&self.text))
    }
    /// Does it ask for more than a number that means "off": `field > 0`, `field != -1`?
    pub fn is_own_amount(&self, field: Sym) -> bool {
        const OFF: [(CmpOp, f64); 5] =
            [(CmpOp::Gt, 0.0), (CmpOp::Ne, 0.0), (CmpOp::Ge, 1.0), (CmpOp::Gt, -1.0), (CmpOp::Ne, -1.0)];
        self.is_self(field) && self.bound.is_some_and(|bound| OFF.contains(&bound))
    }
    /// Does it hold for a field that is left at its default, given as source text?
    pub fn holds_for(&self, field: Sym, default: &str) -> bool {
        let text = default.trim_matches(['"', '\'']);
        let amount =
            || self.bound.zip(default.parse().ok()).is_some_and(|((op, bound), value)| compare(value, op, bound));
        let off = || default == "False" && self.text == format!("not {field}");
        self.is_self(field) && (off() || amount() || self.range.as_ref().is_some_and(|r| r.allows_text(text)))
    }
    /// Does it ask of this field alone?
    pub fn is_self(&self, field: Sym) -> bool {
        self.fields.len() == 1 && self.fields.contains(&field)
    }
}

/// Values that a field must have, or, if not `within`, must not have.
#[derive(Clone, Debug)]
pub struct Range {
    field: Sym,
    values: Vec<Value>,
    pub within: bool,
}

impl Range {
    /// `field op right`.
    fn of(field: Sym, op: CmpOp, right: &Value) -> Option<Range> {
        let bare = |v: &Value| match v {
            Value::Member(_, _, inner) => (**inner).clone(),
            v => v.clone(),
        };
        let values = match (op, right) {
            (CmpOp::Eq | CmpOp::Ne, v) => vec![bare(v)],
            (CmpOp::Is | CmpOp::IsNot, Value::None) => vec![Value::None],
            (CmpOp::In | CmpOp::NotIn, Value::List(items) | Value::Tuple(items) | Value::Set(items)) => {
                items.iter().map(bare).collect()
            }
            _ => return None,
        };
        Some(Range { field, values, within: matches!(op, CmpOp::Eq | CmpOp::In | CmpOp::Is) })
    }

    /// What arms that ask of one field allow together.
    fn of_any(arms: &[Condition]) -> Option<Range> {
        let mut out = arms.first()?.range.clone()?;
        for arm in arms {
            let range = arm.range.as_ref().filter(|r| r.field == out.field && r.within && out.within)?;
            out.values.extend(range.values.iter().cloned());
        }
        Some(out)
    }

    pub fn implies(&self, other: &Range) -> bool {
        let allowed = |v: &Value| other.values.contains(v) == other.within;
        self.within && self.field == other.field && self.values.iter().all(allowed)
    }

    pub fn excludes(&self, other: &Range) -> bool {
        let allowed = |v: &Value| other.values.contains(v) == other.within;
        self.within && self.field == other.field && !self.values.iter().any(allowed)
    }

    /// Only the one value?
    pub fn is_single(&self) -> bool {
        self.within && self.values.len() == 1
    }

    pub fn allows_text(&self, text: &str) -> bool {
        self.within && self.values.iter().any(|v| matches!(v, Value::Str(s) if s.as_str() == text))
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
        self.guarding(at, |_| true)
    }

    /// The conditions of the statements that an expression stands in.
    pub fn enclosing(&self, at: ExprRef) -> All {
        self.guarding(at, |guard| !guard.early_exit)
    }

    fn guarding(&self, at: ExprRef, counts: impl Fn(&Guard) -> bool) -> All {
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
        for guard in all.into_iter().filter(counts) {
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

    /// An element of a table, or a local that holds what a call or a table gave, or what came in.
    fn is_looked_up(&self, callee: ExprRef) -> bool {
        let program = self.shared.program();
        let ir = program.ir(callee.file);
        if matches!(ir.expr(callee.expr), Expr::Subscript { .. } | Expr::Call { .. }) {
            return true;
        }
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
        let mut tests = Vec::new();
        self.arms(e, holds, &mut tests);
        let mut arms: Vec<Condition> = Vec::new();
        let mut whole = true;
        for (arm, holds) in tests {
            let mut found = Vec::new();
            self.split(arm, holds, arm, MAX_HOPS / 2, &mut found);
            if found.is_empty() {
                return None;
            }
            whole &= found.len() == 1;
            let known: Vec<Condition> = found.into_iter().filter(|c| arms.iter().all(|a| a.text != c.text)).collect();
            arms.extend(known);
        }
        let out = Condition::any_of(arms, at);
        (out.fields.len() <= MAX_FIELDS).then(|| if whole { out } else { Condition { arms: Vec::new(), ..out } })
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

    /// A name that is neither a literal nor a field: what it holds is a matter of the program.
    fn is_registry(&self, e: ExprRef) -> bool {
        let program = self.shared.program();
        let filled = match program.constant(e) {
            Some(Value::Tuple(items) | Value::List(items) | Value::Set(items)) => !items.is_empty(),
            Some(_) => false,
            None => !is_member(program.ir(e.file), e.expr),
        };
        matches!(program.ir(e.file).expr(e.expr), Expr::Name(_) | Expr::Attr { .. }) && !filled
    }

    /// A test without `and` and `or`.
    fn whole(&self, e: ExprRef, holds: bool, at: ExprRef) -> Option<Condition> {
        let mut condition = self.simple(e, holds, at)?;
        condition.against = self.simple(e, !holds, at).map(|c| c.text).into_iter().collect();
        (1..=MAX_FIELDS).contains(&condition.fields.len()).then_some(condition)
    }

    fn simple(&self, e: ExprRef, holds: bool, at: ExprRef) -> Option<Condition> {
        let ir = self.shared.ir(e.file);
        let Expr::Compare { left, rest } = ir.expr(e.expr) else {
            let part = self.part(e)?;
            let text = if holds { part.text.clone() } else { format!("not {}", part.text) };
            return Some(self.condition(part, text, e, at));
        };
        let mut part = self.part(ExprRef { expr: *left, ..e })?;
        let (mut bound, mut range) = (None, None);
        let single = rest.len() == 1;
        for (op, right) in rest {
            let right = ExprRef { expr: *right, ..e };
            let constant = self.shared.program().constant(right);
            let op = if single && !holds { negated(*op) } else { *op };
            if matches!(op, CmpOp::In | CmpOp::NotIn) && self.is_registry(right) {
                return None;
            }
            let right = self.part(right)?;
            let field = part.fields.first().copied().filter(|f| single && *f == part.text.as_str());
            bound = field.zip(constant.as_ref().and_then(number)).map(|(_, number)| (op, number));
            range = field.zip(constant).and_then(|(field, value)| Range::of(field, op, &value));
            part.text = format!("{} {} {}", part.text, spelling(op), right.text);
            part.fields.extend(right.fields);
            part.direct &= right.direct;
        }
        let text = if single || holds { part.text.clone() } else { format!("not ({})", part.text) };
        Some(Condition { bound, range, ..self.condition(part, text, e, at) })
    }

    fn condition(&self, part: Part, text: String, e: ExprRef, at: ExprRef) -> Condition {
        let direct = part.direct && e.file == at.file;
        let (against, arms) = (Vec::new(), Vec::new());
        Condition { text, fields: part.fields, at, direct, against, arms, bound: None, range: None }
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

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        _ => None,
    }
}

fn compare(value: f64, op: CmpOp, bound: f64) -> bool {
    match op {
        CmpOp::Eq => value == bound,
        CmpOp::Ne => value != bound,
        CmpOp::Lt => value < bound,
        CmpOp::Ge => value >= bound,
        CmpOp::Gt => value > bound,
        CmpOp::Le => value <= bound,
        _ => false,
    }
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
