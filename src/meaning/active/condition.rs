//! What a guard asks of the fields: `self.enabled and not args.skip` as a set of conditions on fields.
//!
//! A test counts only where every part of it is a constant or comes from fields; a conjunction is split, and one part of
//! it may count where another does not. Guards whose other arm raises are constraints, not conditions, except where a
//! worker refuses to go on without a switch.

use super::super::facts::Shared;
use crate::flow::guards::{self, Guard};
use crate::flow::origin::{assigned_value, constructor_arguments, stores_of};
use crate::program::resolve::Binding;
use crate::program::types::Type;
use crate::program::*;
use crate::syntax::defuse::DefSite;
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Does it ask of this field alone?
    pub fn is_self(&self, field: Sym) -> bool {
        self.fields.len() == 1 && self.fields.contains(&field)
    }
}

/// Conditions that hold together, by their text.
#[derive(Clone, Default, Debug)]
pub struct All(BTreeMap<String, Rc<Condition>>);

impl All {
    pub fn iter(&self) -> impl Iterator<Item = &Condition> {
        self.0.values().map(Rc::as_ref)
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn has(&self, condition: &Condition) -> bool {
        self.0.contains_key(&condition.text)
    }
    pub fn add(&mut self, condition: Condition) {
        self.0.entry(condition.text.clone()).or_insert_with(|| Rc::new(condition));
    }
    pub fn and(&self, other: &All) -> All {
        let mut out = self.clone();
        for (key, condition) in &other.0 {
            out.0.entry(key.clone()).or_insert_with(|| condition.clone());
        }
        out
    }
    pub fn shared_with(&self, other: &All) -> All {
        All(self.0.iter().filter(|(k, _)| other.0.contains_key(*k)).map(|(k, c)| (k.clone(), c.clone())).collect())
    }
    pub fn holds(&self, text: &str) -> bool {
        self.0.contains_key(text)
    }
    pub fn replace(&mut self, old: &Condition, new: Option<Condition>) {
        self.0.remove(&old.text);
        new.into_iter().for_each(|c| self.add(c));
    }
    pub fn retain(&mut self, keep: impl Fn(&Condition) -> bool) {
        self.0.retain(|_, c| keep(c));
    }
    /// Without conditions that another settles: `x == 1` says all that `x != 2` does.
    pub fn without_implied(&self) -> All {
        let settled: Vec<String> = self.0.values().filter_map(|c| c.equals.map(|f| format!("{f} != "))).collect();
        let implied = |c: &Condition| settled.iter().any(|s| c.text.starts_with(s.as_str()));
        All(self.0.iter().filter(|(_, c)| !implied(c)).map(|(k, c)| (k.clone(), c.clone())).collect())
    }
    fn within(&self, other: &All) -> bool {
        self.0.keys().all(|k| other.0.contains_key(k))
    }
}

/// The ways by which something comes about, each with its conditions; none that implies another.
#[derive(Clone, Default, Debug)]
pub struct Ways(Vec<All>);

/// Ways beyond this number are joined to what they share.
const MAX_WAYS: usize = 6;

impl Ways {
    pub fn free() -> Ways {
        Ways(vec![All::default()])
    }
    pub fn iter(&self) -> impl Iterator<Item = &All> {
        self.0.iter()
    }
    pub fn add(&mut self, way: All) {
        if self.0.iter().any(|known| known.within(&way)) {
            return;
        }
        self.0.retain(|known| !way.within(known));
        self.0.push(way);
        self.resolve();
        if self.0.len() > MAX_WAYS {
            self.0 = self.common().into_iter().collect();
        }
    }
    /// Drops conditions that a way does without because another way has the opposite: of `a and x` and `a and not x`
    /// stays `a`.
    fn resolve(&mut self) {
        let found = (0..self.0.len()).flat_map(|i| (0..self.0.len()).map(move |j| (i, j))).find_map(|(i, j)| {
            let (one, other) = (self.0.get(i)?, self.0.get(j)?);
            let condition = one.iter().find(|c| {
                let opposite = c.against.iter().all(|a| other.holds(a));
                let rest = one.0.keys().filter(|k| **k != c.text);
                i != j && opposite && !c.against.is_empty() && rest.into_iter().all(|k| other.holds(k))
            })?;
            let mut less = other.clone();
            less.retain(|c| !condition.against.contains(&c.text));
            Some((j, less))
        });
        if let Some((j, less)) = found {
            self.0.remove(j);
            self.add(less);
        }
    }
    pub fn add_all(&mut self, ways: &Ways) {
        ways.0.iter().for_each(|w| self.add(w.clone()));
    }
    /// Each way of one with each of the other.
    pub fn and(&self, other: &Ways) -> Ways {
        let mut out = Ways::default();
        for a in &self.0 {
            other.0.iter().for_each(|b| out.add(a.and(b)));
        }
        out
    }
    pub fn with(&self, all: &All) -> Ways {
        let mut out = Ways::default();
        self.0.iter().for_each(|w| out.add(w.and(all)));
        out
    }
    /// What all ways share; `None` if there is no way.
    pub fn common(&self) -> Option<All> {
        let (first, rest) = self.0.split_first()?;
        Some(rest.iter().fold(first.clone(), |common, way| common.shared_with(way)))
    }
    pub fn same(&self, other: &Ways) -> bool {
        let has = |ways: &Ways, way: &All| ways.0.iter().any(|w| w.within(way) && way.within(w));
        self.0.len() == other.0.len() && self.0.iter().all(|w| has(other, w))
    }
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
    pub fn is_free(&self) -> bool {
        self.0.iter().any(All::is_empty)
    }
    pub fn edited(&self, edit: impl Fn(&mut All)) -> Ways {
        let mut out = Ways::default();
        for way in &self.0 {
            let mut way = way.clone();
            edit(&mut way);
            out.add(way);
        }
        out
    }
}

/// A test, and whether it is to hold.
type Asked = (ExprRef, bool);

/// Reads conditions off tests.
pub struct Conditions<'s, 'g, 'p> {
    pub shared: &'s Shared<'g, 'p>,
    memo: RefCell<FxHashMap<Asked, Rc<[Condition]>>>,
}

/// How many definitions a test is followed through.
const MAX_HOPS: u32 = 4;
/// A name that is assigned, or a function that is called, at more places than this is not followed.
const MAX_SOURCES: usize = 6;
const MAX_CALLER_FILES: usize = 40;
/// A test that hangs on more fields than this says nothing of any.
const MAX_FIELDS: usize = 3;

/// A part of a test, written with field names.
struct Part {
    text: String,
    fields: BTreeSet<Sym>,
    direct: bool,
}

impl<'s, 'g, 'p> Conditions<'s, 'g, 'p> {
    pub fn new(shared: &'s Shared<'g, 'p>) -> Self {
        Conditions { shared, memo: RefCell::default() }
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
            let found = self.of_test(test, guard.holds);
            found.iter().filter(|c| asks && (!refuses || c.is_switch())).for_each(|c| out.add(c.clone()));
        }
        out
    }

    /// In a method of the record?
    pub fn in_record(&self, at: ExprRef) -> bool {
        let ir = self.shared.ir(at.file);
        let class = ir.class_around(ir.scope_of(at.expr));
        class.is_some_and(|class| self.shared.graph.is_record_class(ClassRef { file: at.file, class }))
    }

    /// What must hold of fields for the test to have this outcome.
    pub fn of_test(&self, test: ExprRef, holds: bool) -> Rc<[Condition]> {
        if let Some(known) = self.memo.borrow().get(&(test, holds)) {
            return known.clone();
        }
        let mut out = Vec::new();
        self.split(test, holds, test, MAX_HOPS, &mut out);
        let out: Rc<[Condition]> = out.into();
        self.memo.borrow_mut().insert((test, holds), out.clone());
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

    /// An operand: a constant, a field, or something computed from fields alone.
    fn part(&self, e: ExprRef) -> Option<Part> {
        let shared = self.shared;
        let ir = shared.ir(e.file);
        let known = |text: String| Some(Part { text, fields: BTreeSet::new(), direct: true });
        if shared.program().constant(e).is_some() || is_member(ir, e.expr) {
            return known(shared.text(e));
        }
        if let Some(field) = shared.origins.direct(e) {
            return Some(Part { text: field.to_string(), fields: [field].into(), direct: true });
        }
        if let Some(field) = self.copy_of(e, MAX_HOPS) {
            return Some(Part { text: field.to_string(), fields: [field].into(), direct: false });
        }
        match ir.expr(e.expr) {
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) => self.joined(e, items),
            Expr::Bin { left, right, .. } => self.joined(e, &[*left, *right]),
            Expr::Unary { operand, .. } => self.joined(e, &[*operand]),
            Expr::Subscript { base, .. } => self.joined(e, &[*base]),
            Expr::Call { func, args } => {
                if let Expr::Attr { base, attr, .. } = ir.expr(*func) {
                    // A question to a value that comes from a field: `mode.is_decode()`.
                    if let Some(part) = self.part(ExprRef { expr: *base, ..e }).filter(|p| !p.fields.is_empty()) {
                        let text = format!("{}.{attr}({})", part.text, if args.is_empty() { "" } else { ".." });
                        let rest: Vec<ExprId> = args.iter().map(|a| a.value).collect();
                        let more = self.joined(e, &rest)?;
                        let fields = part.fields.into_iter().chain(more.fields).collect();
                        return Some(Part { text, fields, direct: part.direct });
                    }
                    return None;
                }
                let builtin = last_name(ir, *func).is_some_and(|n| {
                    matches!(n.as_str(), "len" | "int" | "bool" | "str" | "max" | "min" | "any" | "all")
                });
                let args: Vec<ExprId> = args.iter().map(|a| a.value).collect();
                if builtin { self.joined(e, &args) } else { None }
            }
            _ => None,
        }
    }

    fn joined(&self, whole: ExprRef, parts: &[ExprId]) -> Option<Part> {
        let mut out = Part { text: self.shared.text(whole), fields: BTreeSet::new(), direct: true };
        for expr in parts {
            let part = self.part(ExprRef { expr: *expr, ..whole })?;
            out.fields.extend(part.fields);
            out.direct &= part.direct;
        }
        Some(out)
    }

    /// The field whose value this is, through copies that cannot be anything else.
    pub fn copy_of(&self, e: ExprRef, hops: u32) -> Option<Sym> {
        if let Some(field) = self.shared.origins.direct(e) {
            return Some(field);
        }
        if hops == 0 {
            return None;
        }
        let program = self.shared.program();
        let ir = program.ir(e.file);
        if let Expr::Call { func, args } = ir.expr(e.expr) {
            // `Mode(args.mode)`, `Mode.from_string(args.mode)`, `int(args.size)`: the same thing in another dress.
            let [arg] = &args[..] else { return None };
            let name = match ir.expr(*func) {
                Expr::Attr { base, .. } => last_name(ir, *base)?,
                _ => last_name(ir, *func)?,
            };
            let plain = matches!(name.as_str(), "int" | "bool" | "str" | "float");
            let is_class = plain || self.is_class(ExprRef { expr: *func, ..e });
            return is_class.then(|| self.copy_of(ExprRef { expr: arg.value, ..e }, hops - 1)).flatten();
        }
        let mut found: Option<Sym> = None;
        for source in self.sources(e)? {
            if program.constant(source).is_some() {
                continue;
            }
            let field = self.copy_of(source, hops - 1)?;
            if found.is_some_and(|f| f != field) {
                return None;
            }
            found = Some(field);
        }
        found
    }

    /// A class of the tree, or a constructor of one.
    fn is_class(&self, func: ExprRef) -> bool {
        let ir = self.shared.ir(func.file);
        let is = |at: ExprRef| {
            self.shared.graph.types.of(at).iter().any(
                |t| matches!(t.ty, Type::Class(c) if self.shared.program().method(c, Sym::from("__init__")).is_none()),
            )
        };
        match ir.expr(func.expr) {
            Expr::Attr { base, .. } => is(ExprRef { expr: *base, ..func }) || is(func),
            _ => is(func),
        }
    }

    /// The one expression that says what a name, an attribute or a small function is.
    fn meaning(&self, e: ExprRef) -> Option<ExprRef> {
        let program = self.shared.program();
        if let Expr::Call { .. } = program.ir(e.file).expr(e.expr) {
            let callees = self.shared.graph.types.callees(e);
            let [(callee, None, _)] = &callees[..] else { return None };
            let [value] = program.returns(*callee) else { return None };
            return Some(ExprRef { file: callee.file, expr: *value });
        }
        match &self.sources(e)?[..] {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Everything that a name or an attribute can be; `None` if that cannot be told.
    fn sources(&self, e: ExprRef) -> Option<Vec<ExprRef>> {
        let program = self.shared.program();
        let ir = program.ir(e.file);
        let mut out = Vec::new();
        match ir.expr(e.expr) {
            Expr::Name(_) => {
                let Binding::Local(scope, defs) = program.binding(e) else { return None };
                for def in defs {
                    match program.defuse(e.file, scope).defs.get(def.0 as usize)?.site {
                        DefSite::Target(target) => {
                            out.push(ExprRef { file: e.file, expr: assigned_value(ir, target)? });
                        }
                        DefSite::Param(i) => {
                            let Scope::Func(func) = scope else { return None };
                            out.extend(self.arguments(FuncRef { file: e.file, func }, i)?);
                        }
                        _ => return None,
                    }
                }
            }
            Expr::Attr { base, attr, .. } => {
                let types = self.shared.graph.types.of(ExprRef { expr: *base, ..e });
                let [typed] = &types[..] else { return None };
                let Type::Instance(class) = typed.ty else { return None };
                if let Some(method) = program.method(class, *attr) {
                    let [value] = program.returns(method) else { return None };
                    let property = program.is_property(method);
                    return property.then(|| vec![ExprRef { file: method.file, expr: *value }]);
                }
                let stores = stores_of(program, class, *attr);
                if stores.is_empty() {
                    out.extend(constructor_arguments(program, class, *attr));
                }
                for at in stores {
                    out.push(ExprRef { file: at.file, expr: assigned_value(program.ir(at.file), at.expr)? });
                }
            }
            _ => return None,
        }
        (1..=MAX_SOURCES).contains(&out.len()).then_some(out)
    }

    /// What all calls give for a parameter.
    fn arguments(&self, func: FuncRef, param: u32) -> Option<Vec<ExprRef>> {
        let program = self.shared.program();
        let name = match program.method_class(func) {
            Some(class) if program.func(func).name == "__init__" => program.class(class).name,
            _ => program.func(func).name,
        };
        if program.files_with(name).len() > MAX_CALLER_FILES {
            return None;
        }
        let types = &self.shared.graph.types;
        let callers = types.callers(func);
        let default = program.func(func).params.get(param as usize)?.default;
        let mut out = Vec::new();
        for site in callers.iter() {
            match (types.argument_for(site.call, func, param), default) {
                (Some(arg), _) => out.push(arg),
                (None, Some(default)) => out.push(ExprRef { file: func.file, expr: default }),
                (None, None) => return None,
            }
        }
        Some(out)
    }
}

/// `Mode.DECODE`, `MAX_SIZE`: a member of an enumeration, or a constant by its spelling.
fn is_member(ir: &FileIr, e: ExprId) -> bool {
    let Some(name) = last_name(ir, e) else { return false };
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
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
