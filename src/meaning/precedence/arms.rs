//! Choices of which one arm takes this field and another arm another.
//!
//! `if a > 0: size = f(a) else: size = g(b)` takes `a` over `b`; so does `if a: return f(a)` before `if b: return f(b)`.
//! Where what comes out still bears the name of `a`, `b` fills it. `n = min(n, m)` cuts `n` down to `m`. Switches choose
//! between ways of working, not between values; they are gates and do not count.

use super::asks::{env_read, is_constant, presence};
use super::bend::{Bend, Party, Way};
use super::sources;
use crate::flow::graph::Kind;
use crate::flow::guards;
use crate::flow::origin::assigned_value;
use crate::meaning::facts::{Facts, Shared};
use crate::program::{ExprRef, dotted_name, last_name};
use crate::syntax::defuse::DefSite;
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
        let near = state.cost <= MAX_COST || goes_by_name(facts.shared, at, facts.field());
        if !near || state.node.kind != Kind::Value {
            continue;
        }
        let mut search = Search { facts, shared: facts.shared, known, at, seen: &mut seen, out: &mut out };
        search.outwards();
    }
    out
}

/// Is this the field's own name, or a local that the field was given to somewhere in the function?
fn goes_by_name(shared: &Shared, at: ExprRef, field: Sym) -> bool {
    let ir = shared.ir(at.file);
    let name = match ir.expr(at.expr) {
        Expr::Attr { attr, .. } => return *attr == field,
        Expr::Name(name) => *name,
        _ => return false,
    };
    let defuse = shared.program().defuse(at.file, ir.scope_of(at.expr));
    let sites = defuse.by_name.get(&name).into_iter().flatten().filter_map(|d| defuse.defs.get(d.0 as usize));
    let is_own = |site| match site {
        DefSite::Target(target) => assigned_value(ir, target)
            .is_some_and(|expr| shared.origins.direct(ExprRef { file: at.file, expr }) == Some(field)),
        _ => false,
    };
    name == field || sites.map(|d| d.site).any(is_own)
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
                        Expr::Lambda(_) | Expr::Comp(_) => return,
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
        if !self.mentions(ir.range(with), subject) {
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
            let (bent, at) = (Party::Field(self.facts.field()), self.here(up));
            let when = Some(self.shared.text(self.here(left)));
            self.out.push(Bend { bent, by: Party::Request(path), way: Way::Replaces, at, when, sure: false });
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
        let [left, right] = args else { return };
        let Some(target) = target_of(ir, up) else { return };
        let is_kept = |a: &Arg| target.name(ir).is_some() && last_name(ir, a.value) == target.name(ir);
        // The value under another name, which then gets the field's back.
        let named = match target {
            Target::Place(place) => goes_by_name(self.shared, self.here(place), self.facts.field()),
            Target::Keyword(name) => name == self.facts.field(),
        };
        let (kept, cap) = match (is_kept(left), is_kept(right)) {
            (true, _) => (left, right),
            (_, true) => (right, left),
            _ if named && left.value == inner => (left, right),
            _ if named && right.value == inner => (right, left),
            _ => return,
        };
        if !self.seen.insert(self.here(inner)) {
            return;
        }
        let of = |arg: &Arg| sources::nearest(self.shared, self.here(arg.value));
        let own = Party::Field(self.facts.field());
        let (kept_of, cap_of) = (of(kept), of(cap));
        // The field is cut down, by a value that is surely the other's, or at least nothing else's.
        if inner == kept.value && (named || matches!(&kept_of[..], [(o, _)] if *o == own)) {
            let single = cap_of.len() == 1 && named && is_scaled(ir, cap.value);
            for (by, _) in cap_of.into_iter().filter(|(by, sure)| (*sure || single) && *by != own) {
                self.add(own.clone(), by, Way::Replaces, self.here(up), None);
            }
        // The field is the cap; a sum of many things is none of them.
        } else if inner == cap.value
            && cap_of.contains(&(own.clone(), true))
            && let [(bent @ Party::Field(_), _)] = &kept_of[..]
        {
            self.add(bent.clone(), own, Way::Replaces, self.here(up), None);
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
            let uses = matched.is_some_and(|(_, v)| self.uses(with, v, subject));
            if !fills && !uses {
                continue;
            }
            let keeps = fills || last_name(ir, target).is_some_and(|t| self.is_name_of(t, subject));
            let choice =
                Choice { test: self.here(*test), subject: self.here(subject), given, other: self.here(value), keeps };
            self.judge(choice, value);
        }
    }

    /// Does an arm's value use the subject, itself or through a name of the arm?
    fn uses(&self, arm: &[StmtId], value: ExprId, subject: ExprId) -> bool {
        let ir = self.shared.ir(self.at.file);
        let through = |(target, v): (ExprId, ExprId)| {
            self.mentions(ir.range(v), subject) && self.mentions(ir.range(value), target)
        };
        self.mentions(ir.range(value), subject) || assignments(ir, arm).into_iter().any(through)
    }

    /// Says what a choice says, if the field is its subject or what is taken instead.
    fn judge(&mut self, choice: Choice, key: ExprId) {
        // Writes of the record itself are read elsewhere.
        if !self.seen.insert(self.here(key)) {
            return;
        }
        let own = Party::Field(self.facts.field());
        let subjects = self.origin(choice.subject);
        let mut others = sources::nearest(self.shared, choice.other);
        // What both arms take does not give way, unless there is nothing else.
        if let Some(given) = choice.given {
            let also = sources::all(self.shared, given, true);
            let is_common = |o: &Party| also.iter().any(|(a, _)| a == o);
            if !choice.keeps || others.iter().any(|(o, _)| !is_common(o)) {
                others.retain(|(o, _)| !is_common(o));
            }
        }
        let way = if choice.keeps { Way::Fills } else { Way::Replaces };
        let [(subject, _)] = &subjects[..] else { return };
        let (at, when) = (choice.test, Some(choice.test));
        if *subject == own {
            for (other, _) in others.into_iter().filter(|(o, _)| *o != own) {
                match (way, &other) {
                    (Way::Fills, _) => self.add(own.clone(), other, way, at, when),
                    (_, Party::Field(_) | Party::Env(_)) if !self.fills(&own, &other) => {
                        self.add(other, own.clone(), way, at, when)
                    }
                    _ => {}
                }
            }
        } else if others.iter().any(|(o, _)| *o == own) {
            match (way, subject) {
                (Way::Fills, Party::Field(_)) => self.add(subject.clone(), own, way, at, when),
                (_, Party::Field(_) | Party::Env(_)) if !self.fills(subject, &own) => {
                    self.add(own, subject.clone(), Way::Replaces, at, when)
                }
                _ => {}
            }
        }
    }

    /// Tests that stand in a queue, each for the use of its own value: the first that was given is served.
    fn queue(&mut self, stmt: StmtId, n: usize) {
        let ir = self.shared.ir(self.at.file);
        let line = queue_around(ir, stmt);
        let Some(nth) = line.iter().position(|(s, i, ..)| *s == stmt && *i == n) else { return };
        let Some(subject) = self.served(line[nth].2, line[nth].3) else { return };
        if !ir.contains(line[nth].2, self.at.expr) || !self.seen.insert(self.here(line[nth].2)) {
            return;
        }
        let own = Party::Field(self.facts.field());
        if !matches!(&self.origin(self.here(subject))[..], [(o, _)] if *o == own) {
            return;
        }
        for (i, (_, _, test, body)) in line.iter().enumerate().filter(|(i, _)| *i != nth) {
            let Some(rival) = self.served(*test, body) else { continue };
            if shape(ir, body).is_none() || shape(ir, body) != shape(ir, line[nth].3) {
                continue;
            }
            let [(ref rival @ (Party::Field(_) | Party::Env(_)), _)] = self.origin(self.here(rival))[..] else {
                continue;
            };
            let at = self.here(line[i.min(nth)].2);
            match i < nth {
                true => self.add(own.clone(), rival.clone(), Way::Replaces, at, Some(at)),
                false => self.add(rival.clone(), own.clone(), Way::Replaces, at, Some(at)),
            }
        }
    }

    /// The value that a test asks for and that its body then uses.
    fn served(&self, test: ExprId, body: &[StmtId]) -> Option<ExprId> {
        let ir = self.shared.ir(self.at.file);
        let (subject, given) = presence(ir, test)?;
        let used = body.iter().any(|s| self.mentions(ir.stmt(*s).span.into(), subject));
        (given && used).then_some(subject)
    }

    /// Where one field fills the other, no arm need say which of them counts.
    fn fills(&self, bent: &Party, by: &Party) -> bool {
        self.known.iter().any(|b| b.way == Way::Fills && b.bent == *bent && b.by == *by)
    }

    /// The fields that a subject comes from; where nothing tells, the field that it is named after.
    fn origin(&self, at: ExprRef) -> Vec<(Party, bool)> {
        let found = sources::nearest(self.shared, at);
        let name = last_name(self.shared.ir(at.file), at.expr);
        match name.filter(|n| found.is_empty() && self.shared.definitions.by_name(*n).is_some()) {
            Some(name) => vec![(Party::Field(name), false)],
            None => found,
        }
    }

    fn add(&mut self, bent: Party, by: Party, way: Way, at: ExprRef, when: Option<ExprRef>) {
        let of_switch = |p: &Party| matches!(p, Party::Field(f) if is_switch(self.shared, *f));
        if bent != by && !of_switch(&bent) && !of_switch(&by) {
            let when = when.map(|w| self.shared.text(w));
            self.out.push(Bend { bent, by, way, at, when, sure: false });
        }
    }

    /// Does the text of a range hold that of an expression, or the name of the variable it asks, between word boundaries?
    fn mentions(&self, range: ByteRange, what: ExprId) -> bool {
        let program = self.shared.program();
        let text = program.text(self.at.file, range);
        let what = match env_read(self.shared.ir(self.at.file), what) {
            Some(variable) => variable.to_string(),
            None => program.expr_text(self.here(what)),
        };
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

/// Something with a name, or a constant multiple of it.
fn is_scaled(ir: &FileIr, at: ExprId) -> bool {
    match ir.expr(at) {
        Expr::Bin { left, right, .. } => is_constant(ir, *right) && last_name(ir, *left).is_some(),
        _ => last_name(ir, at).is_some(),
    }
}

/// Where a value goes: the target of the assignment around, or a keyword.
#[derive(Copy, Clone)]
enum Target {
    Place(ExprId),
    Keyword(Sym),
}

impl Target {
    fn name(self, ir: &FileIr) -> Option<Sym> {
        match self {
            Target::Place(place) => last_name(ir, place),
            Target::Keyword(name) => Some(name),
        }
    }
}

fn target_name(ir: &FileIr, at: ExprId) -> Option<Sym> {
    target_of(ir, at)?.name(ir)
}

fn target_of(ir: &FileIr, mut at: ExprId) -> Option<Target> {
    loop {
        match ir.exprs[at.index()].parent {
            Parent::Expr(up) => {
                if let Expr::Call { args, .. } = ir.expr(up)
                    && let Some(ArgKind::Keyword(name)) = args.iter().find(|a| a.value == at).map(|a| a.kind)
                {
                    return Some(Target::Keyword(name));
                }
                at = up;
            }
            Parent::Stmt(stmt) => {
                return match &ir.stmt(stmt).kind {
                    Stmt::Assign { targets, .. } => targets.first().copied().map(Target::Place),
                    Stmt::AnnAssign { target, .. } => Some(Target::Place(*target)),
                    _ => None,
                };
            }
            _ => return None,
        }
    }
}
