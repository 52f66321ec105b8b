//! What is said to have changed between pairs of small trees.
//!
//! A folder under `fixtures/changes` is named for a code. `trips` holds two versions of a record between which that code
//! must be told, `spares` two that are written differently and mean the same. A comment `# expect: LEVEL CODE FIELD`, with
//! the flag if the change is about one spelling, stands at the top of the newer version for each change; of `spares`
//! nothing else may be told, of `trips` the code nowhere else.

use argtrace::compare::change::{Change, Diff};
use argtrace::compare::codes::{CODES, Code};
use argtrace::compare::diff;
use argtrace::compare::snapshot::Snapshot;
use argtrace::meaning::Analysis;
use argtrace::meaning::report::SourceInfo;
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use std::path::{Path, PathBuf};

/// A tree of one file.
struct OneFile(String);

impl FileSet for OneFile {
    fn paths(&self) -> Vec<String> {
        vec!["app/server_args.py".into()]
    }
    fn read(&self, _: usize) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/changes")
}

fn snapshot(text: &str) -> Snapshot {
    let info = SourceInfo { package: "app".into(), version: None, kind: "package".into() };
    let analysis = Analysis::open(&OneFile(text.into()), info, Profile::builtin().expect("profile"));
    Snapshot::of(&analysis.expect("a record").meanings(None, &|_| ()))
}

/// What changed in a pair, and what its comments expect.
fn pair(code: &str, kind: &str) -> (Diff, Vec<String>) {
    let read = |side: &str| {
        let file = fixtures().join(code).join(kind).join(side);
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    let (old, new) = (read("old.py"), read("new.py"));
    let expected = new.lines().filter_map(|line| line.strip_prefix("# expect: ")).map(str::to_owned).collect();
    (diff(&snapshot(&old), &snapshot(&new), None), expected)
}

fn told(change: &Change) -> String {
    format!("{} {} {}", change.level.as_str(), change.code.as_str(), change.field)
}

fn is_meant(change: &Change, expected: &str) -> bool {
    let flag = change.flag.as_deref().unwrap_or("");
    told(change) == expected || format!("{} {flag}", told(change)) == expected
}

/// Codes that say something of the allow-list, not of trees.
const OF_THE_LIST: &[Code] = &[Code::AllowanceExpired, Code::AllowanceUnused];

/// Pairs that are not told as they should be yet; each fails once it is, so that it is taken off the list.
const OPEN_TRIPS: &[&str] = &[];
const OPEN_SPARES: &[&str] = &[];

/// Do exactly the pairs on the list go wrong?
fn assert_open(wrong: &[String], open: &[&str]) {
    let code = |line: &String| line.split(':').next().unwrap_or("").to_owned();
    let found: std::collections::BTreeSet<String> = wrong.iter().map(code).collect();
    assert!(found.iter().eq(open.iter()), "{found:?} instead of {open:?}\n{}", wrong.join("\n"));
}

fn codes() -> impl Iterator<Item = &'static str> {
    CODES.iter().filter(|entry| !OF_THE_LIST.contains(&entry.code)).map(|entry| entry.name)
}

#[test]
fn each_code_is_told_where_its_pair_differs() {
    let mut wrong = Vec::new();
    for code in codes() {
        let (diff, expected) = pair(code, "trips");
        let all: Vec<String> = diff.changes.iter().map(|c| format!("{}: {}", told(c), c.message)).collect();
        for expected in &expected {
            if !diff.changes.iter().any(|change| is_meant(change, expected)) {
                wrong.push(format!("{code}: `{expected}` is not among\n    {}", all.join("\n    ")));
            }
        }
        let of_code: Vec<&Change> = diff.changes.iter().filter(|c| c.code.as_str() == code).collect();
        if of_code.is_empty() || of_code.iter().any(|c| !expected.iter().any(|e| is_meant(c, e))) {
            wrong.push(format!("{code}: told otherwise\n    {}", all.join("\n    ")));
        }
    }
    assert_open(&wrong, OPEN_TRIPS);
}

#[test]
fn what_means_the_same_is_no_change() {
    let mut wrong = Vec::new();
    for code in codes() {
        let (diff, expected) = pair(code, "spares");
        for change in diff.changes.iter().filter(|c| !expected.iter().any(|e| is_meant(c, e))) {
            wrong.push(format!(
                "{code}: {}: {}: {:?} -> {:?}",
                told(change),
                change.message,
                change.before,
                change.after
            ));
        }
        for expected in expected.iter().filter(|e| !diff.changes.iter().any(|c| is_meant(c, e))) {
            wrong.push(format!("{code}: `{expected}` is not told"));
        }
    }
    assert_open(&wrong, OPEN_SPARES);
}

#[test]
fn a_tree_against_itself_is_no_change_and_a_snapshot_reads_back() {
    for code in codes() {
        for side in ["trips/old.py", "trips/new.py", "spares/new.py"] {
            let text = std::fs::read_to_string(fixtures().join(code).join(side)).expect("fixture");
            let made = snapshot(&text);
            let json = serde_json::to_string(&made).expect("serialisable");
            let read: Snapshot = serde_json::from_str(&json).expect("readable");
            assert!(diff(&made, &read, None).changes.is_empty(), "{code}/{side}");
            assert_eq!(serde_json::to_string(&read).expect("serialisable"), json, "{code}/{side}");
        }
    }
}

#[test]
fn every_folder_is_named_for_a_code() {
    for folder in std::fs::read_dir(fixtures()).expect("fixtures").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(codes().any(|code| code == name), "{name}");
    }
}
