//! Says a field's claims in sentences, once for every format that people read.
//!
//! A claim is a label, a sentence, a grade and the places that prove it. What this program says and what the tree says
//! stay apart in the sentence, so that each format can mark and defuse the second. Nothing is laid out or escaped here.

use crate::meaning::report::{ActiveWhen, FieldReport, Grade, Place};

/// One sentence about the field.
pub struct Claim {
    pub label: &'static str,
    /// `None` where a grade says nothing (a finding, a mention of what was left out).
    pub grade: Option<Grade>,
    pub says: Sentence,
    pub places: Vec<At>,
}

/// Evidence, as `path:line`.
pub struct At {
    pub path: String,
    pub line: u32,
}

#[derive(Clone)]
pub enum Piece {
    /// The words of this program.
    Plain(String),
    /// Text or a name from the tree.
    Code(String),
    /// A code of this program, such as that of a finding.
    Term(String),
    /// Prose of this program that may quote the tree.
    Prose(String),
}

#[derive(Clone, Default)]
pub struct Sentence(pub Vec<Piece>);

impl Sentence {
    pub fn plain(words: impl Into<String>) -> Self {
        Self::default().and(words)
    }

    pub fn prose(text: impl Into<String>) -> Self {
        Self(vec![Piece::Prose(text.into())])
    }

    pub fn and(mut self, words: impl Into<String>) -> Self {
        self.0.push(Piece::Plain(words.into()));
        self
    }

    pub fn code(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Code(text.into()));
        self
    }

    fn term(mut self, code: &str) -> Self {
        self.0.push(Piece::Term(code.to_owned()));
        self
    }

    fn quoting(mut self, text: &str) -> Self {
        self.0.push(Piece::Prose(text.to_owned()));
        self
    }

    fn quoted(self, text: &str) -> Self {
        self.and("\"").code(text).and("\"")
    }

    pub fn codes(mut self, texts: &[String], separator: &str) -> Self {
        for (i, text) in texts.iter().enumerate() {
            if i > 0 {
                self = self.and(separator);
            }
            self = self.code(text);
        }
        self
    }

    /// Only the words, without a mark between the two kinds.
    pub fn text(&self) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Plain(text) | Piece::Code(text) | Piece::Term(text) | Piece::Prose(text) => text.as_str(),
        });
        pieces.collect::<String>().trim().to_owned()
    }

    fn when(self, condition: Option<&str>) -> Self {
        match condition {
            Some(condition) => self.and(" when ").code(condition),
            None => self,
        }
    }
}

/// How many claims of one kind are said where not everything is asked for.
const SHOWN: usize = 4;
/// How many choices are listed where not everything is asked for.
const CHOICES_SHOWN: usize = 12;

/// All claims in the order in which a reader needs them. Without `all`, long lists end in a mention of the rest.
pub fn claims(field: &FieldReport, all: bool) -> Vec<Claim> {
    let mut claims = declared(field, all);
    claims.push(unit(field));
    claims.push(scope(field));
    for part in [divided, precedence, active_when, constraints, rewrites, sinks] {
        let part = part(field);
        let rest = if all { 0 } else { part.len().saturating_sub(SHOWN) };
        let shown = part.len() - if rest > 1 { rest } else { 0 };
        let label = part.first().map_or("", |claim| claim.label);
        claims.extend(part.into_iter().take(shown));
        if rest > 1 {
            claims.push(mention(label, Sentence::plain(format!("… {rest} more, -v shows all"))));
        }
    }
    claims.extend(findings(field));
    claims.extend(coverage(field, all));
    claims
}

fn claim(label: &'static str, grade: Grade, says: Sentence, path: &str, line: u32) -> Claim {
    Claim { label, grade: Some(grade), says, places: at(path, line).into_iter().collect() }
}

fn mention(label: &'static str, says: Sentence) -> Claim {
    Claim { label, grade: None, says, places: Vec::new() }
}

fn at(path: &str, line: u32) -> Option<At> {
    (!path.is_empty()).then(|| At { path: path.to_owned(), line })
}

fn evidence(places: &[Place]) -> Vec<At> {
    places.iter().filter_map(|place| at(&place.path, place.line)).collect()
}

fn declared(field: &FieldReport, all: bool) -> Vec<Claim> {
    let definition = &field.definition;
    let mut declared = Sentence::default().code(&field.field).and(" of ").code(&definition.class);
    if let Some(namespace) = &definition.namespace {
        declared = declared.and(", published as ").code(namespace);
    }
    if let Some(section) = definition.section.as_ref().filter(|_| all) {
        declared = declared.and(", section ").quoted(section);
    }
    if let Some(default) = &definition.cli_default {
        declared = declared.and("; the command line's default is ").code(default);
    }
    if let Some(type_) = &definition.cli_type {
        declared = declared.and("; the command line takes ").code(type_);
    }
    let registered = match (&definition.cli_path, definition.cli_line) {
        (Some(path), Some(line)) => at(path, line),
        (None, Some(line)) => at(&definition.path, line),
        (_, None) => None,
    };
    let places = at(&definition.path, definition.line).into_iter().chain(registered).collect();
    let mut claims = vec![Claim { label: "field", grade: None, says: declared, places }];
    if let Some(text) = &definition.deprecated {
        claims.push(mention("deprecated", Sentence::default().quoted(text)));
    }
    if let Some(help) = &definition.help {
        claims.push(mention("help", Sentence::default().quoted(help)));
    }
    if !definition.choices.is_empty() || definition.extensible {
        let choices: Vec<String> = definition.choices.iter().map(choice).collect();
        let shown = if all { choices.len() } else { choices.len().min(CHOICES_SHOWN) };
        let mut says = Sentence::default().codes(&choices[..shown], ", ");
        if shown < choices.len() {
            says = says.and(format!(", … {} more, -v shows all", choices.len() - shown));
        }
        if definition.extensible {
            says = says.and(if choices.is_empty() { "made at run time" } else { "; more can be added at run time" });
        }
        claims.push(mention("choices", says));
    }
    claims
}

fn choice(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn unit(field: &FieldReport) -> Claim {
    let unit = &field.unit;
    let says = match (unit.name.as_deref(), unit.bytes) {
        (None, _) => Sentence::plain("unknown: nothing in the source tells"),
        (Some("none"), _) => Sentence::plain("none, a bare number"),
        (Some(name), None) => Sentence::default().code(name),
        (Some(name), Some(bytes)) => {
            Sentence::default().code(name).and(format!(" ({} bytes each)", power_or_digits(bytes)))
        }
    };
    let grade = if unit.name.is_some() { unit.grade } else { Grade::Unknown };
    Claim { label: "unit", grade: Some(grade), says, places: evidence(&unit.evidence) }
}

/// `1e9`, `2^30` or the digits: the difference between GB and GiB is the point of saying it.
fn power_or_digits(bytes: u64) -> String {
    let zeros = bytes.checked_ilog10().filter(|&n| n > 0 && 10u64.pow(n) == bytes);
    match zeros {
        Some(zeros) => format!("1e{zeros}"),
        None if bytes > 1 && bytes.is_power_of_two() => format!("2^{}", bytes.trailing_zeros()),
        None => bytes.to_string(),
    }
}

fn scope(field: &FieldReport) -> Claim {
    let scope = &field.scope;
    let mut says = Sentence::default();
    says = match (scope.processes.as_slice(), scope.per.is_empty()) {
        ([], true) => says.and("unknown: no process was found to use it"),
        ([], false) => says.and("per ").codes(&scope.per, " x "),
        ([one], false) => says.and("per ").code(one).and(" process: ").codes(&scope.per, " x "),
        (many, false) => says.and("in ").codes(many, ", ").and("; one per ").codes(&scope.per, " x "),
        (many, true) => says.and("in ").codes(many, ", ").and("; not per rank"),
    };
    if let Some(total) = &scope.total {
        says = says.and("; total = ").code(total);
    } else if let Some(count) = &scope.count {
        says = says.and("; held by ").code(count).and(" processes");
    }
    if let Some(pools) = scope.pools.filter(|&pools| pools > 1) {
        says = says.and(format!("; taken by {pools} pools in each process"));
    }
    let grade = if scope.processes.is_empty() && scope.per.is_empty() { Grade::Unknown } else { scope.grade };
    Claim { label: "scope", grade: Some(grade), says, places: evidence(&scope.evidence) }
}

fn divided(field: &FieldReport) -> Vec<Claim> {
    const LABEL: &str = "divided by";
    let scope = &field.scope;
    let on_a_path = scope.divided_when.iter().map(|division| {
        let says = Sentence::default().code(&division.by);
        let says = match &division.condition {
            Some(_) => says.when(division.condition.as_deref()),
            None => says.and(" always"),
        };
        claim(LABEL, scope.grade, says, &division.path, division.line)
    });
    let told_apart = |by: &&String| !scope.divided_when.iter().any(|division| &division.by == *by);
    let otherwise = scope.divided_by.iter().filter(told_apart).map(|by| Claim {
        label: LABEL,
        grade: Some(scope.grade),
        says: Sentence::default().code(by),
        places: Vec::new(),
    });
    let mut claims: Vec<Claim> = on_a_path.chain(otherwise).collect();
    if claims.is_empty() && !scope.per.is_empty() {
        let says = Sentence::plain("nothing: each holds the whole value");
        claims.push(Claim { label: LABEL, grade: Some(scope.grade), says, places: Vec::new() });
    }
    claims
}

const RELATIONS: &[(&str, &str)] = &[
    ("overrides", "overrides "),
    ("overridden_by", "overridden by "),
    ("default_from", "left unset, filled from "),
    ("implies", "implies a value for "),
    ("disables", "switches off "),
];

const OTHERS: &[(&str, &str)] = &[
    ("field", ""),
    ("env", "environment variable "),
    ("model", "the model's "),
    ("request", "the request's "),
    ("runtime-api", "the run-time API "),
];

/// The words for a term of a closed vocabulary; a term that is newer than this table is said as it stands.
fn words(table: &[(&str, &str)], term: &str) -> String {
    table.iter().find(|(known, _)| *known == term).map_or_else(|| format!("{term} "), |(_, words)| (*words).to_owned())
}

fn precedence(field: &FieldReport) -> Vec<Claim> {
    let said = field.precedence.iter().map(|p| {
        let says = Sentence::plain(words(RELATIONS, &p.relation)).and(words(OTHERS, &p.other_kind)).code(&p.other);
        claim("precedence", p.grade, says.when(p.when.as_deref()), &p.path, p.line)
    });
    said.collect()
}

fn active_when(field: &FieldReport) -> Vec<Claim> {
    let conditions = &field.active_when;
    let said = conditions.iter().enumerate().map(|(i, active)| {
        let alternative = |other: &&ActiveWhen| other.any_of == active.any_of;
        let says = match &active.any_of {
            Some(_) if conditions[..i].iter().any(|other| alternative(&other)) => Sentence::plain("or "),
            Some(_) if conditions.iter().filter(alternative).count() > 1 => Sentence::plain("either "),
            _ => Sentence::default(),
        };
        claim("active when", active.grade, says.code(&active.condition), &active.path, active.line)
    });
    said.collect()
}

const CONSTRAINTS: &[(&str, &str)] = &[
    ("assert", "must hold: "),
    ("raise", "error if "),
    ("choices", "choices: "),
    ("clamp", "clamped: "),
    ("warn", "warning if "),
];

fn constraints(field: &FieldReport) -> Vec<Claim> {
    let said = field.constraints.iter().map(|constraint| {
        let mut says = Sentence::plain(words(CONSTRAINTS, &constraint.kind)).code(&constraint.condition);
        if let Some(message) = &constraint.message {
            says = says.and(", ").quoted(message);
        }
        claim("constraint", constraint.grade, says, &constraint.path, constraint.line)
    });
    said.collect()
}

fn rewrites(field: &FieldReport) -> Vec<Claim> {
    let said = field.writes.iter().flatten().map(|write| {
        let says = Sentence::plain("set to ").code(&write.to);
        let says = match &write.when {
            Some(_) => says.when(write.when.as_deref()),
            None => says.and(" always"),
        };
        claim("rewritten", write.grade, says, &write.path, write.line)
    });
    said.collect()
}

/// One claim for each kind of sink, with all its places: the kinds are what a reader looks for.
fn sinks(field: &FieldReport) -> Vec<Claim> {
    let mut claims: Vec<(&str, Claim)> = Vec::new();
    for sink in &field.sinks {
        let place = at(&sink.path, sink.line);
        match claims.iter_mut().find(|(kind, claim)| *kind == sink.kind && claim.grade == Some(sink.grade)) {
            Some((_, claim)) => claim.places.extend(place),
            None => {
                let mut says = Sentence::default().term(&sink.kind);
                if !sink.code.is_empty() {
                    says = says.and(": ").code(&sink.code);
                }
                claims.push((&sink.kind, claim("ends in", sink.grade, says, &sink.path, sink.line)));
            }
        }
    }
    claims.into_iter().map(|(_, claim)| claim).collect()
}

fn findings(field: &FieldReport) -> Vec<Claim> {
    let said = field.findings.iter().map(|finding| Claim {
        label: "not in help",
        grade: None,
        says: Sentence::plain(format!("{} ", finding.level)).term(&finding.code).and(": ").quoting(&finding.message),
        places: at(&finding.path, finding.line).into_iter().collect(),
    });
    said.collect()
}

/// The hops that could not be followed: each, or how many there are and the first.
fn coverage(field: &FieldReport, all: bool) -> Vec<Claim> {
    let Some(coverage) = &field.coverage else { return Vec::new() };
    let unresolved = &coverage.unresolved;
    let summary = match unresolved.len() {
        _ if all => Sentence::default(),
        1 => Sentence::plain(format!("1 hop beside {} followed: ", coverage.hops)),
        n => Sentence::plain(format!("{n} hops beside {} followed; the first: ", coverage.hops)),
    };
    let mut claims = Vec::new();
    for hop in unresolved.iter().take(if all { usize::MAX } else { 1 }) {
        let says = if claims.is_empty() { summary.clone() } else { Sentence::default() };
        claims.push(Claim {
            label: "not followed",
            grade: None,
            says: says.code(&hop.code).and(": ").quoting(&hop.why),
            places: at(&hop.path, hop.line).into_iter().collect(),
        });
    }
    claims
}
