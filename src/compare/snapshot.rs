//! The meanings of a tree's arguments in canonical form (`argtrace/snapshot/1`): small, stable, and enough to compare.
//!
//! A report says what the code says, with all its evidence; a snapshot keeps of it what a server does. Conditions and
//! values are [terms](super::term) as text, lists are sorted, and places are kept only to point at. What a snapshot does not
//! hold cannot be found to differ.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashSet;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::parse::Reader;
use super::term::{Literal, Term};
use crate::meaning::beside::{Beside, Call, Function, Meanings, Stage};
use crate::meaning::report::{Constraint, FieldReport, Grade, SourceInfo, Write};

pub const SCHEMA: &str = "argtrace/snapshot/1";

/// What the arguments of one tree mean.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    pub schema: String,
    pub source: SourceInfo,
    /// In the order of declaration.
    pub fields: Vec<Meaning>,
    /// Flags that set no field: they are ignored, or end the launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired_flags: Vec<RetiredFlag>,
    /// What the code checks, each once, whichever arguments it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// A place, written `path:line`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Spot {
    pub path: String,
    pub line: u32,
}

impl Spot {
    pub fn new(path: &str, line: u32) -> Spot {
        Spot { path: path.to_owned(), line }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}

impl From<Spot> for String {
    fn from(spot: Spot) -> String {
        spot.to_string()
    }
}

impl FromStr for Spot {
    type Err = String;

    fn from_str(text: &str) -> Result<Spot, String> {
        let place = text.rsplit_once(':').and_then(|(path, line)| Some(Spot::new(path, line.parse().ok()?)));
        place.ok_or_else(|| format!("`{text}` is no place: it is written path:line"))
    }
}

impl TryFrom<String> for Spot {
    type Error = String;

    fn try_from(text: String) -> Result<Spot, String> {
        text.parse()
    }
}

impl JsonSchema for Spot {
    fn schema_name() -> Cow<'static, str> {
        "Spot".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "description": "A place, written path:line.", "pattern": ":[0-9]+$"})
    }
}

/// One argument.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Meaning {
    pub field: String,
    pub at: Spot,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// What an unset field begins as, as source text; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What the parser converts a given value with, where the type does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converter: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag_at: Option<Spot>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<serde_json::Value>,
    /// More choices can be added at run time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extensible: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub processes: BTreeSet<String>,
    /// The rank axes along which separate processes each hold the whole value.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub per: BTreeSet<String>,
    /// How many processes hold it, as an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub scope_grade: Grade,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divided_by: Vec<Division>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<Rewrite>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precedence: Vec<Relation>,
    /// Conditions that must all hold for the value to count; each is a list of alternatives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_when: Vec<Active>,
    /// The kinds of place where the value leaves the program, with the first of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sinks: BTreeMap<String, Sink>,
    /// What the code asks of the value or makes of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Use>,
    /// Nothing reads it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unread: bool,
}

impl Meaning {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let rewrites = self.rewrites.iter().flat_map(|r| r.when.iter().chain([&r.to]));
        let relations = self.precedence.iter().flat_map(|r| &r.when);
        let divisions = self.divided_by.iter().flat_map(|d| &d.when);
        let active = self.active_when.iter().flat_map(|a| &a.any_of);
        let uses = self.uses.iter().map(|u| &u.what);
        rewrites.chain(relations).chain(divisions).chain(active).chain(uses).map(String::as_str)
    }

    /// Where the flag is registered, else where the field is declared.
    pub fn told_at(&self) -> &Spot {
        self.flag_at.as_ref().unwrap_or(&self.at)
    }
}

fn is_false(b: &bool) -> bool {
    !b
}

fn is_resolution(stage: &Stage) -> bool {
    *stage == Stage::Resolution
}

fn is_unknown(grade: &Grade) -> bool {
    *grade == Grade::Unknown
}

fn proved() -> Grade {
    Grade::Proved
}

fn is_proved(grade: &Grade) -> bool {
    *grade == Grade::Proved
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Spot>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Division {
    pub by: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Spot>,
}

/// The field is set to a value after parsing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rewrite {
    pub to: String,
    /// What must hold together; empty for always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<String>,
    /// The function that does it.
    #[serde(rename = "in")]
    pub function: String,
    #[serde(default, skip_serializing_if = "is_resolution")]
    pub stage: Stage,
    /// The part of the condition that stands in the function itself, where its callers add to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<String>>,
    /// Not all callers of the function are known, and so not all that must hold.
    #[serde(default, skip_serializing_if = "is_false")]
    pub open: bool,
    pub at: Spot,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
}

/// What the argument does to another setting, or another setting to it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    pub relation: String,
    pub other: String,
    pub other_kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<String>,
    pub at: Spot,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Active {
    pub any_of: BTreeSet<String>,
    pub at: Spot,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sink {
    pub at: Spot,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Use {
    /// The test or computation, with the field's name for the value.
    pub what: String,
    #[serde(rename = "in")]
    pub function: String,
    pub at: Spot,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
}

/// A flag that is taken and sets nothing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetiredFlag {
    pub flag: String,
    /// The field that it once set, by its name.
    pub field: String,
    /// Giving it ends the launch.
    pub fails: bool,
    pub text: String,
    pub at: Spot,
}

impl From<&crate::meaning::beside::RetiredFlag> for RetiredFlag {
    fn from(flag: &crate::meaning::beside::RetiredFlag) -> RetiredFlag {
        RetiredFlag {
            flag: flag.flag.clone(),
            field: flag.flag.trim_start_matches('-').replace('-', "_"),
            fails: flag.fails,
            text: unwrapped(&flag.text),
            at: Spot::new(&flag.path, flag.line),
        }
    }
}

/// What a failed check comes to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// `assert` or `raise`.
    Error,
    Warning,
    /// The value is cut to a limit.
    Clamp,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub outcome: Outcome,
    /// What must hold together for it to happen; for a clamp the limit.
    pub when: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The arguments that it tests itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subject: Vec<String>,
    /// All arguments that it is about.
    pub fields: Vec<String>,
    /// The function that does it, where that is known.
    #[serde(rename = "in", default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    #[serde(default, skip_serializing_if = "is_resolution")]
    pub stage: Stage,
    /// The part of the condition that stands in the function itself, where its callers add to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<String>>,
    /// Not all callers of the function are known, and so not all that must hold.
    #[serde(default, skip_serializing_if = "is_false")]
    pub open: bool,
    pub at: Spot,
    #[serde(default = "proved", skip_serializing_if = "is_proved")]
    pub grade: Grade,
}

/// How many values a conditional expression is taken apart into.
const MAX_ARMS: usize = 8;

impl Snapshot {
    /// The snapshot of a tree.
    pub fn of(meanings: &Meanings) -> Snapshot {
        let report = &meanings.report;
        let names: FxHashSet<String> = report.fields.iter().map(|f| f.field.clone()).collect();
        let reader = Reader::new(&names);
        let builder = Builder { reader: &reader };
        Snapshot {
            schema: SCHEMA.to_owned(),
            source: report.source.clone(),
            fields: report.fields.iter().zip(&meanings.beside).map(|(f, beside)| builder.meaning(f, beside)).collect(),
            retired_flags: meanings.retired_flags.iter().map(RetiredFlag::from).collect(),
            checks: builder.checks(meanings),
        }
    }

    pub fn field(&self, name: &str) -> Option<&Meaning> {
        self.fields.iter().find(|m| m.field == name)
    }

    /// Every condition and value in it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let checks = self.checks.iter().flat_map(|c| &c.when).map(String::as_str);
        self.fields.iter().flat_map(Meaning::texts).chain(checks)
    }
}

struct Builder<'b> {
    reader: &'b Reader<'b>,
}

impl Builder<'_> {
    fn meaning(&self, field: &FieldReport, beside: &Beside) -> Meaning {
        let definition = &field.definition;
        let canonical = |text: &String| self.reader.term(text).to_string();
        let flag_path = definition.cli_path.as_ref().unwrap_or(&definition.path);
        Meaning {
            field: field.field.clone(),
            at: Spot::new(&definition.path, definition.line),
            type_: definition.type_.as_deref().map(unwrapped),
            default: definition.cli_default.as_ref().or(definition.default.as_ref()).map(canonical),
            converter: definition.cli_type.clone(),
            flags: definition.flags.clone(),
            flag_at: definition.cli_line.map(|line| Spot::new(flag_path, line)),
            choices: definition.choices.clone(),
            extensible: definition.extensible,
            help: definition.help.as_deref().map(unwrapped),
            deprecated: definition.deprecated.as_deref().map(unwrapped),
            unit: field.unit.name.as_ref().map(|name| Unit {
                name: name.clone(),
                bytes: field.unit.bytes,
                grade: field.unit.grade,
                at: field.unit.evidence.first().map(|p| Spot::new(&p.path, p.line)),
            }),
            processes: field.scope.processes.iter().cloned().collect(),
            per: field.scope.per.iter().cloned().collect(),
            count: field.scope.count.as_ref().map(canonical),
            scope_grade: field.scope.grade,
            divided_by: self.divisions(field),
            rewrites: self.rewrites(field, beside),
            precedence: self.relations(field),
            active_when: self.active(field),
            sinks: sinks(field),
            uses: self.uses(beside),
            unread: field.reads.as_ref().is_some_and(Vec::is_empty),
        }
    }

    /// The parts of a condition as texts, in canonical order.
    fn parts(&self, texts: &[String]) -> Vec<String> {
        texts_of(self.reader.all(texts.iter().map(String::as_str)))
    }

    fn divisions(&self, field: &FieldReport) -> Vec<Division> {
        let scope = &field.scope;
        let mut out: Vec<Division> = scope
            .divided_when
            .iter()
            .map(|d| Division {
                by: d.by.clone(),
                when: self.parts(d.condition.as_slice()),
                at: Some(Spot::new(&d.path, d.line)),
            })
            .collect();
        for by in &scope.divided_by {
            if !out.iter().any(|d| d.by == *by) {
                out.push(Division { by: by.clone(), when: Vec::new(), at: None });
            }
        }
        out.sort_by(|a, b| (&a.by, &a.when, &a.at).cmp(&(&b.by, &b.when, &b.at)));
        out
    }

    /// Each value that is written, with its condition; `a if test else b` is two.
    fn rewrites(&self, field: &FieldReport, beside: &Beside) -> Vec<Rewrite> {
        let mut out = Vec::new();
        // What puts the field's own value back makes all that its function writes a loan.
        let kept = Term::Field(field.field.clone());
        let restores = |w: &&Write| self.reader.term(&w.to) == kept;
        let lent: FxHashSet<&str> =
            field.writes.iter().flatten().filter(restores).map(|w| w.function.as_str()).collect();
        for (i, write) in field.writes.iter().flatten().enumerate() {
            if lent.contains(write.function.as_str()) {
                continue;
            }
            let lasting = beside.rewritten_when.get(i).unwrap_or(&write.guard);
            let around = beside.around.get(&(write.path.clone(), write.line)).map(|a| &a.function);
            let own = self.reader.all(lasting.iter().map(String::as_str));
            let ways = self.each_way(around, self.reader.term(&write.to), own.clone());
            let within = texts_of(own);
            let written = ways.into_iter().flat_map(|(value, when)| arms(value, when));
            for (to, when) in written.filter(|(to, _)| *to != kept) {
                let when = texts_of(when);
                out.push(Rewrite {
                    to: to.to_string(),
                    own: (when != within).then(|| within.clone()),
                    open: around.is_none_or(|f| f.calls.is_none()),
                    when,
                    function: write.function.clone(),
                    stage: around.map_or(Stage::Start, |f| f.stage),
                    at: Spot::new(&write.path, write.line),
                    grade: write.grade,
                });
            }
        }
        out.sort_by(|a, b| (&a.to, &a.when, &a.at).cmp(&(&b.to, &b.when, &b.at)));
        out
    }

    /// A value and its condition for each way in which the function around is called: parameters that are constants
    /// there are replaced, and what cannot happen is left out.
    fn each_way(&self, around: Option<&Function>, value: Term, when: Term) -> Vec<(Term, Term)> {
        let calls = around.and_then(|f| f.calls.as_deref()).unwrap_or_default();
        if calls.is_empty() {
            return vec![(value, when)];
        }
        let mut out: Vec<(Term, Term)> = Vec::new();
        for call in calls {
            let (value, when) = (self.called_with(call, &value), self.called_with(call, &when));
            let when = Term::all([when, self.reader.all(call.when.iter().map(String::as_str))]);
            if when == Term::Literal(Literal::Bool(false)) {
                continue;
            }
            match out.iter_mut().find(|(known, _)| *known == value) {
                Some((_, known)) => *known = Term::any([known.clone(), when]),
                None => out.push((value, when)),
            }
        }
        out
    }

    fn called_with(&self, call: &Call, term: &Term) -> Term {
        if call.with.is_empty() {
            return term.clone();
        }
        term.map(&|part| match &part {
            Term::Name(name) | Term::Field(name) => match call.with.iter().find(|(param, _)| param == name) {
                Some((_, constant)) => self.reader.term(constant),
                None => part,
            },
            _ => part,
        })
    }

    fn relations(&self, field: &FieldReport) -> Vec<Relation> {
        let relation = |p: &crate::meaning::report::Precedence| Relation {
            relation: p.relation.clone(),
            other: p.other.clone(),
            other_kind: p.other_kind.clone(),
            when: self.parts(p.when.as_slice()),
            at: Spot::new(&p.path, p.line),
            grade: p.grade,
        };
        let mut out: Vec<Relation> = field.precedence.iter().map(relation).collect();
        let key = |r: &Relation| (r.relation.clone(), r.other_kind.clone(), r.other.clone(), r.when.clone());
        out.sort_by_cached_key(|r| (key(r), r.at.clone()));
        out.dedup_by(|a, b| key(a) == key(b));
        out
    }

    fn active(&self, field: &FieldReport) -> Vec<Active> {
        let mut out: Vec<(Option<&str>, Active)> = Vec::new();
        for active in &field.active_when {
            let condition = self.reader.term(&active.condition).to_string();
            let group = active.any_of.as_deref();
            match out.iter_mut().find(|(known, _)| group.is_some() && *known == group) {
                Some((_, known)) => {
                    known.any_of.insert(condition);
                    known.grade = known.grade.min(active.grade);
                }
                None => out.push((
                    group,
                    Active {
                        any_of: BTreeSet::from([condition]),
                        at: Spot::new(&active.path, active.line),
                        grade: active.grade,
                    },
                )),
            }
        }
        let mut out: Vec<Active> = out.into_iter().map(|(_, active)| active).collect();
        out.sort_by(|a, b| a.any_of.cmp(&b.any_of));
        out
    }

    fn uses(&self, beside: &Beside) -> Vec<Use> {
        let mut out: Vec<Use> = Vec::new();
        for found in &beside.uses {
            let what = self.reader.term(&found.what).to_string();
            let at = Spot::new(&found.path, found.line);
            out.push(Use { what, function: found.function.clone(), at, grade: found.grade });
        }
        out.sort_by(|a, b| (&a.what, &a.function, &a.at).cmp(&(&b.what, &b.function, &b.at)));
        out.dedup_by(|a, b| (&a.what, &a.function) == (&b.what, &b.function));
        out
    }

    /// Every check of every field, once. A warning that only tells of a rewrite, and the choices, are told elsewhere.
    fn checks(&self, meanings: &Meanings) -> Vec<Check> {
        let mut out: BTreeMap<(Spot, Outcome, Vec<String>), Check> = BTreeMap::new();
        for (field, beside) in meanings.report.fields.iter().zip(&meanings.beside) {
            for constraint in &field.constraints {
                let Some((outcome, subject, condition)) = self.condition(constraint) else { continue };
                let at = Spot::new(&constraint.path, constraint.line);
                let place = beside.around.get(&(constraint.path.clone(), constraint.line));
                let around = place.map(|a| &a.function);
                // A constraint tells the nearest conditions; a change of an outer one is one of the check.
                let outer = place.map(|a| self.reader.all(a.when.iter().map(String::as_str)));
                let condition = match outer {
                    Some(outer) if outcome != Outcome::Clamp => Term::all([condition, outer]),
                    _ => condition,
                };
                // In the order in which the code asks.
                let mut subject: Vec<String> = subject.fields().into_iter().map(str::to_owned).collect();
                subject.sort_by_key(|name| constraint.condition.find(name.as_str()));
                let own = texts_of(condition.clone());
                let condition = match outcome {
                    Outcome::Clamp => condition,
                    _ => {
                        let ways = self.each_way(around, Term::Hole, condition);
                        Term::any(ways.into_iter().map(|(_, when)| when))
                    }
                };
                let when = texts_of(condition.clone());
                let check = out.entry((at.clone(), outcome, when.clone())).or_insert_with(|| Check {
                    outcome,
                    own: (when != own).then_some(own),
                    open: around.is_none_or(|f| f.calls.is_none()),
                    when,
                    message: constraint.message.as_deref().map(unwrapped),
                    subject,
                    fields: Vec::new(),
                    function: around.map_or_else(String::new, |f| f.name.clone()),
                    stage: around.map_or(Stage::Start, |f| f.stage),
                    at,
                    grade: constraint.grade,
                });
                check.fields.push(field.field.clone());
                check.grade = check.grade.max(constraint.grade);
            }
        }
        let mut out: Vec<Check> = out.into_values().collect();
        for check in &mut out {
            // Those that the code tests, and those that only lead there.
            let tested: Vec<String> = self
                .reader
                .all(check.when.iter().map(String::as_str))
                .fields()
                .into_iter()
                .map(str::to_owned)
                .collect();
            let mut seen = FxHashSet::default();
            check.fields.extend(tested);
            check.fields.retain(|f| seen.insert(f.clone()));
        }
        out
    }

    /// What comes of it, what is tested, and when it happens.
    fn condition(&self, constraint: &Constraint) -> Option<(Outcome, Term, Term)> {
        let text = constraint.condition.as_str();
        match constraint.kind.as_str() {
            "assert" => {
                let (test, guard) = text.split_once(", when ").unwrap_or((text, "True"));
                let fails = self.reader.term(test).negated();
                let all = Term::all([fails.clone(), self.reader.term(guard)]);
                Some((Outcome::Error, fails, all))
            }
            "raise" | "warn" if text.contains(": becomes ") => None,
            "raise" | "warn" => {
                let outcome = if constraint.kind == "raise" { Outcome::Error } else { Outcome::Warning };
                let term = match text.rsplit_once("none of: ") {
                    Some((guard, arms)) => {
                        let guard = guard.trim().trim_end_matches("and").trim();
                        let guard = if guard.is_empty() { "True" } else { guard };
                        let none = arms.split("; ").map(|arm| self.reader.term(arm).negated());
                        Term::all(none.chain([self.reader.term(guard)]))
                    }
                    None => self.reader.term(text),
                };
                Some((outcome, term.clone(), term))
            }
            "clamp" => {
                let limit = Term::Text(self.clamp(text));
                Some((Outcome::Clamp, limit.clone(), limit))
            }
            _ => None,
        }
    }

    /// `at least 2 * 1024` with its limit in canonical form.
    fn clamp(&self, text: &str) -> String {
        const FORMS: &[&str] = &["at least ", "at most ", "only those kept for which "];
        let form = FORMS.iter().find_map(|form| Some((form, text.strip_prefix(form)?)));
        form.map_or_else(|| text.to_owned(), |(form, limit)| format!("{form}{}", self.reader.term(limit)))
    }
}

fn sinks(field: &FieldReport) -> BTreeMap<String, Sink> {
    let mut out: BTreeMap<String, Sink> = BTreeMap::new();
    for sink in &field.sinks {
        let at = Spot::new(&sink.path, sink.line);
        let known = out.entry(sink.kind.clone()).or_insert_with(|| Sink { at: at.clone(), grade: sink.grade });
        if sink.grade > known.grade {
            *known = Sink { at, grade: sink.grade };
        }
    }
    out
}

fn texts_of(term: Term) -> Vec<String> {
    term.conjuncts().iter().map(ToString::to_string).collect()
}

/// `a if test else b` under a condition is `a` under one and `b` under another.
fn arms(value: Term, when: Term) -> Vec<(Term, Term)> {
    let mut done = Vec::new();
    let mut open = vec![(value, when)];
    while let Some((value, when)) = open.pop() {
        match value {
            Term::Choice { test, then, otherwise } if done.len() + open.len() < MAX_ARMS => {
                open.push((*otherwise, Term::all([when.clone(), test.clone().negated()])));
                open.push((*then, Term::all([when, *test])));
            }
            value => done.push((value, when)),
        }
    }
    done
}

/// One line, single spaces.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
