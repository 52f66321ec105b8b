//! Choices of which one arm takes this field and another arm another.
//!
//! `if a > 0: size = f(a) else: size = g(b)` takes `a` over `b`; so does `if a: return f(a)` before `if b: return f(b)`.
//! Where what comes out still bears the name of `a`, `b` fills it. `n = min(n, m)` cuts `n` down to `m`. Switches choose
//! between ways of working, not between values; they are gates and do not count.

use super::asks::presence;
use super::bend::{Bend, Other, Way};
use super::sources;
use crate::flow::graph::Kind;
use crate::flow::guards;
use crate::meaning::facts::{Facts, Shared};
use crate::program::{ExprRef, dotted_name, last_name};
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// A value mixed with more than this many others is no longer the field's.
const MAX_COST: u32 = 2;

/// `known` is what the rewrites say.
pub fn around(facts: &Facts, known: &[Bend]) -> Vec<Bend> {
    let mut out = Vec::new();
    if is_switch(facts.shared, facts.field()) {
        return out;
    }
    let mut seen: FxHashSet<ExprRef> = FxHashSet::default();
    for (id, at) in facts.reached() {
        let state = facts.trace.state(id);
        if state.cost > MAX_COST || state.node.kind != Kind::Value {
            continue;
        }
        let mut search = Search { facts, shared: facts.shared, known, at, seen: &mut seen, out: &mut out };
        search.outwards();
    }
    out
}

fn is_switch(shared: &Shared, field: Sym) -> bool {
    let type_ = shared.definitions.by_name(field).and_then(|d| d.definition.type_.clone());
    type_.is_some_and(|t| t.contains("bool"))
}

struct Search<'s, 'g, 'p> {
    facts: &'s Facts<'s, 'g, 'p>,
    shared: &'s Shared<'g, 'p>,
    known: &'s [Bend],
    /// Where the field's value is.
    at: ExprRef,
    /// Choices that were looked at.
    seen: &'s mut FxHashSet<ExprRef>,
    out: &'s mut Vec<Bend>,
}

/// Two ways to a value, by whether the subject was given.
struct Choice {
    test: ExprRef,
    subject: ExprRef,
    /// What is taken where the subject was given; `None` is the subject itself.
    given: Option<ExprRef>,
    /// What is taken where it was not.
    other: ExprRef,
    /// Does what comes out keep the subject's name?
    keeps: bool,
}

impl Search<'_, '_, '_> {
    fn here(&self, expr: ExprId) -> ExprRef {
        ExprRef { file: self.at.file, expr }
    }

    /// Looks at each choice around the value.
    fn outwards(&mut self) {
        let ir = self.shared.ir(self.at.file);
        let mut inner = self.at.expr;
        loop {
            match ir.exprs[inner.index()].parent {
                Parent::Expr(up) => {
                    match ir.expr(up) {
                        Expr::IfExp { test, body, orelse } => self.conditional(up, *test, *body, *orelse),
                        Expr::Bool { and: false, left, right } => self.alternative(up, *left, *right),
                        Expr::Call { func, args } if last_name(ir, *func).is_some_and(|n| n == "min") => {
                            self.smaller(up, inner, args);
                        }
                        Expr::Lambda(_) | Expr::Comp { .. } => return,
                        _ => {}
                    }
                    inner = up;
                }
                Parent::Stmt(stmt) => {
                    self.statement(stmt, inner);
                    return;
                }
                _ => return,
            }
        }
    }

    fn statement(&mut self, stmt: StmtId, inner: ExprId) {
        let ir = self.shared.ir(self.at.file);
        match &ir.stmt(stmt).kind {
            Stmt::If { arms, .. } => {
                if let Some(n) = arms.iter().position(|(t, _)| *t == inner) {
                    self.arms(stmt);
                    self.queue(stmt, n);
                }
            }
            Stmt::Assign { .. } => {
                if let Some((up, _)) = ir.stmt(stmt).parent {
                    self.arms(up);
                }
            }
            _ => {}
        }
    }

    /// `body if test else orelse`
    fn conditional(&mut self, up: ExprId, test: ExprId, body: ExprId, orelse: ExprId) {
        let ir = self.shared.ir(self.at.file);
        let Some((subject, given)) = presence(ir, test) else { return };
        let (with, without) = if given { (body, orelse) } else { (orelse, body) };
        if !self.mentions(ir.span(with), subject) {
            return;
        }
        let keeps = target_name(ir, up).is_some_and(|t| self.is_name_of(t, subject));
        let choice = Choice {
            test: self.here(test),
            subject: self.here(subject),
            given: Some(self.here(with)),
            other: self.here(without),
            keeps,
        };
        self.judge(choice, up);
    }

    /// `left or right`, as a value.
    fn alternative(&mut self, up: ExprId, left: ExprId, right: ExprId) {
        let ir = self.shared.ir(self.at.file);
        let plain = |e: ExprId| matches!(ir.expr(e), Expr::Attr { .. } | Expr::Name(_) | Expr::Call { .. });
        if !is_value_context(ir, up) || !plain(left) {
            return;
        }
        if right == self.at.expr && self.is_of_request(left, right) {
            let path = dotted_name(ir, left).unwrap_or_default();
            let path = path.split_once('.').map_or(path.clone(), |(_, rest)| rest.to_owned());
            let (field, at) = (self.facts.field(), self.here(up));
            let when = Some(self.shared.text(self.here(left)));
            self.out.push(Bend { field, other: Other::Request(path), way: Way::Replaces, at, when, sure: false });
            return;
        }
        let keeps = target_name(ir, up).is_some_and(|t| self.is_name_of(t, left));
        let (subject, other) = (self.here(left), self.here(right));
        self.judge(Choice { test: subject, subject, given: None, other, keeps }, up);
    }

    /// The same name on something that is not the record comes with each request.
    fn is_of_request(&self, left: ExprId, right: ExprId) -> bool {
        let ir = self.shared.ir(self.at.file);
        let Expr::Attr { base, attr, .. } = ir.expr(left) else { return false };
        let types = self.shared.graph.types.of(self.here(*base));
        let same = last_name(ir, right) == Some(*attr) || *attr == self.facts.field();
        same && self.shared.graph.is_record(&types).is_none() && !matches!(ir.expr(*base), Expr::Name(n) if n == "self")
    }

    /// `min(value, cap)` that goes on under the value's name.
    fn smaller(&mut self, up: ExprId, inner: ExprId, args: &[Arg]) {
        let ir = self.shared.ir(self.at.file);
        let Some(name) = target_name(ir, up) else { return };
        let Some(kept) = args.iter().find(|a| last_name(ir, a.value) == Some(name)) else { return };
        if args.len() != 2 || !self.seen.insert(self.here(inner)) {
            return;
        }
        let Some(cap) = args.iter().find(|a| a.value != kept.value) else { return };
        let (kept, cap) = (self.here(kept.value), self.here(cap.value));
        let own = Other::Field(self.facts.field());
        // The field is cut down.
        if inner == kept.expr {
            for (other, sure) in sources::nearest(self.shared, cap) {
                if sure && other != own {
                    self.add(self.facts.field(), other, Way::Replaces, self.here(up), None);
                }
            }
        }
        // The field is the cap.
        let of = |e: ExprRef| sources::nearest(self.shared, e);
        if inner == cap.expr && of(cap).iter().any(|(o, sure)| *o == own && *sure) {
            let kept = of(kept);
            let single = kept.len() == 1;
            if kept.iter().any(|(o, _)| *o == own) {
                return;
            }
            // A sum of many things is none of them.
            for (other, _) in kept.into_iter().take(1).filter(|_| single) {
                if let Other::Field(field) = other {
                    self.add(field, own.clone(), Way::Replaces, self.here(up), None);
                }
            }
        }
    }

    /// `if test: name = … else: name = …`, or `if name is None: name = …`.
    fn arms(&mut self, stmt: StmtId) {
        let ir = self.shared.ir(self.at.file);
        let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return };
        let [(test, body)] = &arms[..] else { return };
        let Some((subject, given)) = presence(ir, *test) else { return };
        let (with, without) = if given { (body, orelse) } else { (orelse, body) };
        for (target, value) in assignments(ir, without) {
            let name = self.shared.text(self.here(target));
            let fills = !given && orelse.is_empty() && name == self.shared.text(self.here(subject));
            let matched = assignments(ir, with).into_iter().find(|(t, _)| self.shared.text(self.here(*t)) == name);
            let given = matched.map(|(_, v)| self.here(v));
            let uses = matched.is_some_and(|(_, v)| self.mentions(ir.span(v), subject));
            if !fills && !uses {
                continue;
            }
            let keeps = fills || last_name(ir, target).is_some_and(|t| self.is_name_of(t, subject));
            let choice =
                Choice { test: self.here(*test), subject: self.here(subject), given, other: self.here(value), keeps };
            self.judge(choice, value);
        }
    }

    /// Says what a choice says, if the field is its subject or what is taken instead.
    fn judge(&mut self, choice: Choice, key: ExprId) {
        // Writes of the record itself are read elsewhere.
        if !self.seen.insert(self.here(key)) {
            return;
        }
        let field = self.facts.field();
        let own = Other::Field(field);
        let subjects = self.origin(choice.subject);
        let mut others = sources::nearest(self.shared, choice.other);
        // What both arms take does not give way.
        if let Some(given) = choice.given {
            let also = sources::all(self.shared, given, true);
            others.retain(|(o, _)| !also.iter().any(|(a, _)| a == o));
        }
        let way = if choice.keeps { Way::Fills } else { Way::Replaces };
        let is_subject = matches!(&subjects[..], [(o, _)] if *o == own);
        if is_subject {
            for (other, _) in others.into_iter().filter(|(o, _)| *o != own) {
                match (way, &other) {
                    (Way::Fills, _) => self.add(field, other, way, choice.test, Some(choice.test)),
                    (_, Other::Field(f)) if !self.fills(field, *f) => {
                        self.add(*f, own.clone(), way, choice.test, Some(choice.test))
                    }
                    _ => {}
                }
            }
        } else if others.iter().any(|(o, _)| *o == own) {
            let [(Other::Field(subject), _)] = &subjects[..] else { return };
            match way {
                Way::Fills => self.add(*subject, own, way, choice.test, Some(choice.test)),
                _ if self.fills(*subject, field) => {}
                _ => self.add(field, Other::Field(*subject), way, choice.test, Some(choice.test)),
            }
        }
    }

    /// Tests that stand in a queue, each for the use of its own value: the first that was given is served.
    fn queue(&mut self, stmt: StmtId, n: usize) {
        let ir = self.shared.ir(self.at.file);
        let line = queue_around(ir, stmt);
        let Some(own) = line.iter().position(|(s, i, ..)| *s == stmt && *i == n) else { return };
        let Some(subject) = self.served(line[own].2, line[own].3) else { return };
        if !ir.contains(line[own].2, self.at.expr) || !self.seen.insert(self.here(line[own].2)) {
            return;
        }
        let is_own =
            |s: &Self, e: ExprId| matches!(&s.origin(s.here(e))[..], [(o, _)] if *o == Other::Field(s.facts.field()));
        if !is_own(self, subject) {
            return;
        }
        for (i, (_, _, test, body)) in line.iter().enumerate().filter(|(i, _)| *i != own) {
            let Some(rival) = self.served(*test, body) else { continue };
            if shape(ir, body).is_none() || shape(ir, body) != shape(ir, line[own].3) {
                continue;
            }
            let [(Other::Field(other), _)] = self.origin(self.here(rival))[..] else { continue };
            let (field, at) = (self.facts.field(), self.here(line[i.min(own)].2));
            match i < own {
                true => self.add(field, Other::Field(other), Way::Replaces, at, Some(at)),
                false => self.add(other, Other::Field(field), Way::Replaces, at, Some(at)),
            }
        }
    }

    /// The value that a test asks for and that its body then uses.
    fn served(&self, test: ExprId, body: &[StmtId]) -> Option<ExprId> {
        let ir = self.shared.ir(self.at.file);
        let (subject, given) = presence(ir, test)?;
        let used = body.iter().any(|s| self.mentions(ir.stmt(*s).span, subject));
        (given && used).then_some(subject)
    }

    /// Where one field fills the other, no arm need say which of them counts.
    fn fills(&self, field: Sym, other: Sym) -> bool {
        self.known.iter().any(|b| b.way == Way::Fills && b.field == field && b.other == Other::Field(other))
    }

    /// The fields that a subject comes from; where nothing tells, the field that it is named after.
    fn origin(&self, at: ExprRef) -> Vec<(Other, bool)> {
        let found = sources::nearest(self.shared, at);
        let name = last_name(self.shared.ir(at.file), at.expr);
        match name.filter(|n| found.is_empty() && self.shared.definitions.by_name(*n).is_some()) {
            Some(name) => vec![(Other::Field(name), false)],
            None => found,
        }
    }

    fn add(&mut self, field: Sym, other: Other, way: Way, at: ExprRef, when: Option<ExprRef>) {
        let switch = |f: Sym| is_switch(self.shared, f);
        let of_switch = matches!(&other, Other::Field(f) if switch(*f));
        if Other::Field(field) != other && !switch(field) && !of_switch {
            let when = when.map(|w| self.shared.text(w));
            self.out.push(Bend { field, other, way, at, when, sure: false });
        }
    }

    /// Does the text of a span hold that of an expression, between word boundaries?
    fn mentions(&self, span: Span, what: ExprId) -> bool {
        let program = self.shared.program();
        let text = program.text(self.at.file, span);
        let what = program.expr_text(self.here(what));
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        text.match_indices(&what)
            .any(|(i, _)| !word(text[..i].chars().next_back()) && !word(text[i + what.len()..].chars().next()))
    }

    fn is_name_of(&self, target: Sym, subject: ExprId) -> bool {
        last_name(self.shared.ir(self.at.file), subject) == Some(target)
    }
}

/// A test in a queue: its statement, which arm, the test, the body.
type Place<'i> = (StmtId, usize, ExprId, &'i [StmtId]);

/// The arms of an `if`, with those of its neighbours in the same block as far as the bodies leave.
fn queue_around(ir: &FileIr, stmt: StmtId) -> Vec<Place<'_>> {
    const FAR: usize = 8;
    let block = guards::siblings(ir, stmt);
    let Some(own) = block.iter().position(|s| *s == stmt) else { return Vec::new() };
    let leaving = |s: &StmtId| match &ir.stmt(*s).kind {
        Stmt::If { arms, orelse } => orelse.is_empty() && arms.iter().all(|(_, b)| guards::leaves(ir, b)),
        _ => false,
    };
    let first = (0..own).rev().take(FAR).take_while(|i| leaving(&block[*i])).last().unwrap_or(own);
    let mut out = Vec::new();
    for s in block.iter().skip(first).take(FAR * 2) {
        let Stmt::If { arms, .. } = &ir.stmt(*s).kind else { break };
        out.extend(arms.iter().enumerate().map(|(i, (test, body))| (*s, i, *test, &body[..])));
        if !leaving(s) {
            break;
        }
    }
    out
}

/// What a body does with what it serves: returns a value, or gives it to this name.
fn shape(ir: &FileIr, body: &[StmtId]) -> Option<Option<Sym>> {
    match &ir.stmt(*body.last()?).kind {
        Stmt::Return(Some(_)) => Some(None),
        Stmt::Assign { targets, .. } => Some(last_name(ir, *targets.first()?)),
        _ => None,
    }
}

fn assignments(ir: &FileIr, block: &[StmtId]) -> Vec<(ExprId, ExprId)> {
    let assigned = block.iter().filter_map(|s| match &ir.stmt(*s).kind {
        Stmt::Assign { targets, value } if targets.len() == 1 => Some((targets[0], *value)),
        _ => None,
    });
    assigned.collect()
}

/// Is the expression used for what it is, rather than asked whether it holds?
fn is_value_context(ir: &FileIr, at: ExprId) -> bool {
    match ir.exprs[at.index()].parent {
        Parent::Stmt(stmt) => {
            matches!(ir.stmt(stmt).kind, Stmt::Assign { .. } | Stmt::Return(_) | Stmt::AnnAssign { .. })
        }
        Parent::Expr(up) => match ir.expr(up) {
            Expr::Call { args, .. } => args.iter().any(|a| a.value == at),
            Expr::Bool { and: false, .. } => is_value_context(ir, up),
            Expr::Bin { .. } | Expr::Dict(_) => true,
            _ => false,
        },
        _ => false,
    }
}

/// The name that a value goes to: the target of the assignment around, or a keyword.
fn target_name(ir: &FileIr, mut at: ExprId) -> Option<Sym> {
    loop {
        match ir.exprs[at.index()].parent {
            Parent::Expr(up) => {
                if let Expr::Call { args, .. } = ir.expr(up)
                    && let Some(ArgKind::Keyword(name)) = args.iter().find(|a| a.value == at).map(|a| a.kind)
                {
                    return Some(name);
                }
                at = up;
            }
            Parent::Stmt(stmt) => {
                return match &ir.stmt(stmt).kind {
                    Stmt::Assign { targets, .. } => last_name(ir, *targets.first()?),
                    Stmt::AnnAssign { target, .. } => last_name(ir, *target),
                    _ => None,
                };
            }
            _ => return None,
        }
    }
}
