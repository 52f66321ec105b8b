//! What is claimed of small trees, held against the comments in them.
//!
//! A fixture is a folder under `fixtures/claims`: one idea, as a Python tree of a few lines. A comment on a line, or over
//! it, says what must be claimed there; several claims are parted by `;`.
//!
//! - `# expect: FIELD read`, `write`, `node`: the field is read or written here, or its value passes here
//! - `# expect: FIELD unit GB proved`: a kind of claim, its value, and if that matters its grade, with its evidence here;
//!   so `per`, `process`, `divided_by`, `sink`, `constraint`, `active_when`, `finding`, and the relations of precedence
//! - `# expect: FIELD trips TEXT`: the condition of a constraint of the field here is this text
//! - `# expect: FIELD flag --a-b`, `default`, `cli_default`: of the definition, wherever the comment stands
//! - `# expect-not:` the same, which must not be claimed; `unit`, `per` and `process` not even with other evidence
//! - `# expect-missing:` true, but not claimed yet; `# expect-false:` claimed, though it is not so. Both fail once
//!   that changes, so that the comment is corrected.
//!
//! Reads and writes that no comment expects are failures.

use argtrace::meaning::Analysis;
use argtrace::meaning::report::{FieldReport, Grade, Place, SourceInfo};
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn fixtures_are_told_as_their_comments_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claims");
    let mut trees: Vec<PathBuf> = std::fs::read_dir(root).expect("fixtures").flatten().map(|e| e.path()).collect();
    trees.sort();
    assert!(trees.len() > 30, "only {} trees", trees.len());
    let wrong: Vec<String> = trees.iter().flat_map(|tree| check(tree)).collect();
    assert!(wrong.is_empty(), "{} claims:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with the claims about one tree.
fn check(tree: &Path) -> Vec<String> {
    let set = Folder::open(tree);
    let info = SourceInfo { package: "sglang".into(), version: None, kind: "package".into() };
    let analysis = Analysis::open(&set, info, Profile::builtin().expect("profile")).expect("a record");
    let report = analysis.report(&analysis.field_names());
    let fields: BTreeMap<&str, &FieldReport> = report.fields.iter().map(|f| (f.field.as_str(), f)).collect();
    let name = tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let expected = set.expectations();
    let mut wrong = Vec::new();
    for e in &expected {
        let at = format!("{name}/{}:{}", e.path, e.line);
        let Some(field) = fields.get(e.field.as_str()) else {
            wrong.push(format!("{at}: there is no field {}", e.field));
            continue;
        };
        let claimed = is_claimed(field, e);
        let what = format!("{} {} {}", e.field, e.kind, e.value);
        match (e.mode, claimed) {
            (Mode::Expect, false) => wrong.push(format!("{at}: not claimed: {what}{}", instead(field, e))),
            (Mode::Not, true) => wrong.push(format!("{at}: claimed: {what}")),
            (Mode::Missing, true) => wrong.push(format!("{at}: now claimed, make it `expect`: {what}")),
            (Mode::False, false) => wrong.push(format!("{at}: no longer claimed, make it `expect-not`: {what}")),
            _ => {}
        }
    }
    for field in &report.fields {
        let reads = field.reads.iter().flatten().map(|r| ("read", &r.path, r.line));
        let writes = field.writes.iter().flatten().map(|w| ("write", &w.path, w.line));
        for (kind, path, line) in reads.chain(writes) {
            let is_this =
                |e: &&Expectation| e.field == field.field && e.kind == kind && e.path == *path && e.line == line;
            // What is not to be claimed was told above.
            if !expected.iter().any(|e| is_this(&e)) {
                wrong.push(format!("{name}/{path}:{line}: nobody expects {} {kind}", field.field));
            }
        }
    }
    wrong
}

#[derive(Copy, Clone, PartialEq)]
enum Mode {
    Expect,
    Not,
    Missing,
    False,
}

/// The words of a comment that start expectations. The longer come first.
const MODES: [(&str, Mode); 4] = [
    ("# expect-missing:", Mode::Missing),
    ("# expect-false:", Mode::False),
    ("# expect-not:", Mode::Not),
    ("# expect:", Mode::Expect),
];

/// A claim that a comment speaks of.
struct Expectation {
    mode: Mode,
    path: String,
    line: u32,
    field: String,
    kind: String,
    value: String,
    grade: Option<Grade>,
}

const GRADES: [(&str, Grade); 3] =
    [("proved", Grade::Proved), ("inferred", Grade::Inferred), ("documented", Grade::Documented)];

impl Expectation {
    fn parse(mode: Mode, path: &str, line: u32, text: &str) -> Expectation {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let grade = GRADES.iter().find(|(word, _)| words.last() == Some(word)).map(|(_, grade)| *grade);
        if grade.is_some() {
            words.pop();
        }
        assert!(words.len() >= 2, "{path}:{line}: `{text}` is no expectation");
        let (field, kind, value) = (words[0].to_owned(), words[1].to_owned(), words[2..].join(" "));
        Expectation { mode, path: path.to_owned(), line, field, kind, value, grade }
    }

    fn here(&self, path: &str, line: u32) -> bool {
        self.path == path && self.line == line
    }

    fn has(&self, places: &[Place]) -> bool {
        self.mode == Mode::Not || places.iter().any(|p| self.here(&p.path, p.line))
    }

    fn graded(&self, grade: Grade) -> bool {
        self.grade.is_none_or(|wanted| wanted == grade)
    }
}

fn is_claimed(field: &FieldReport, e: &Expectation) -> bool {
    let (scope, definition) = (&field.scope, &field.definition);
    let shown = |text: &Option<String>| text.as_deref() == Some(&e.value);
    match e.kind.as_str() {
        "read" => field.reads.iter().flatten().any(|r| e.here(&r.path, r.line) && e.graded(r.grade)),
        "write" => field.writes.iter().flatten().any(|w| e.here(&w.path, w.line) && e.graded(w.grade)),
        "node" => field.flow.iter().flat_map(|f| &f.nodes).any(|n| e.here(&n.path, n.line)),
        "unit" => shown(&field.unit.name) && e.graded(field.unit.grade) && e.has(&field.unit.evidence),
        "per" => scope.per.contains(&e.value) && e.graded(scope.grade) && e.has(&scope.evidence),
        "process" => scope.processes.contains(&e.value),
        "divided_by" => scope.divided_when.iter().any(|d| d.by == e.value && e.here(&d.path, d.line)),
        "sink" => field.sinks.iter().any(|s| s.kind == e.value && e.here(&s.path, s.line) && e.graded(s.grade)),
        "constraint" => field.constraints.iter().any(|c| c.kind == e.value && e.here(&c.path, c.line)),
        "trips" => field.constraints.iter().any(|c| c.condition == e.value && e.here(&c.path, c.line)),
        "active_when" => field.active_when.iter().any(|a| a.field.contains(&e.value) && e.here(&a.path, a.line)),
        "finding" => field.findings.iter().any(|f| f.code == e.value),
        "flag" => definition.flags.contains(&e.value),
        "default" => shown(&definition.default),
        "cli_default" => shown(&definition.cli_default),
        "overrides" | "overridden_by" | "default_from" | "implies" | "disables" => {
            field.precedence.iter().any(|p| p.relation == e.kind && p.other == e.value && e.here(&p.path, p.line))
        }
        other => panic!("{}:{}: there is no claim `{other}`", e.path, e.line),
    }
}

/// What is claimed in place of a missing claim, where that helps.
fn instead(field: &FieldReport, e: &Expectation) -> String {
    let places = |places: &[Place]| places.iter().map(|p| format!(" {}:{}", p.path, p.line)).collect::<String>();
    match e.kind.as_str() {
        "unit" => format!(", but {:?} {:?}{}", field.unit.name, field.unit.grade, places(&field.unit.evidence)),
        "per" => format!(", but {:?}{}", field.scope.per, places(&field.scope.evidence)),
        "process" => format!(", but {:?}", field.scope.processes),
        "sink" => {
            let sinks = field.sinks.iter().map(|s| format!(" {} {}:{} {:?}", s.kind, s.path, s.line, s.grade));
            format!(", but{}", sinks.collect::<String>())
        }
        "trips" => format!(", but {:?}", field.constraints),
        "flag" | "default" | "cli_default" => format!(", but {:?}", field.definition),
        _ => String::new(),
    }
}

/// The Python files of a fixture.
struct Folder {
    files: Vec<(String, String)>,
}

impl Folder {
    fn open(root: &Path) -> Folder {
        let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().flatten();
        let python = entries.filter(|e| e.path().extension().is_some_and(|x| x == "py"));
        let read = |e: walkdir::DirEntry| {
            let path = e.path().strip_prefix(root).expect("under the root").to_string_lossy().replace('\\', "/");
            (path, std::fs::read_to_string(e.path()).expect("readable"))
        };
        Folder { files: python.map(read).collect() }
    }

    fn expectations(&self) -> Vec<Expectation> {
        self.files.iter().flat_map(|(path, text)| expectations(path, text)).collect()
    }
}

impl FileSet for Folder {
    fn paths(&self) -> Vec<String> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        Ok(self.files[index].1.clone().into_bytes())
    }
}

/// The expectations of a file. Those of a line with no code are about the next line that has some.
fn expectations(path: &str, text: &str) -> Vec<Expectation> {
    let (mut out, mut pending) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let found =
            MODES.iter().find_map(|(word, mode)| line.split_once(word).map(|(code, claims)| (code, *mode, claims)));
        let code = found.map_or(line, |(code, _, _)| code);
        pending.extend(found.map(|(_, mode, claims)| (mode, claims)));
        if code.trim().is_empty() {
            assert!(
                pending.is_empty() || found.is_some() || line.contains('#'),
                "{path}:{number}: a comment about no line"
            );
            continue;
        }
        for (mode, claims) in pending.drain(..) {
            out.extend(claims.split(';').map(|claim| Expectation::parse(mode, path, number, claim)));
        }
    }
    assert!(pending.is_empty(), "{path}: the last comment is about no line");
    out
}
