//! What is said to trip the fields of small trees, and what is found strange about them, held against the comments there.
//!
//! `# expect: FIELD KIND; FIELD KIND` on a line: that field has a constraint (or finding) of that kind there.
//! `# expect-not: FIELD KIND; FIELD`: it has none of that kind, or none at all, there. A constraint that no comment
//! expects on its line fails the test as well.

use argtrace::meaning::Analysis;
use argtrace::meaning::findings::table;
use argtrace::meaning::report::{FieldReport, SourceInfo};
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

struct Folder {
    root: PathBuf,
    paths: Vec<String>,
}

impl Folder {
    fn open(root: &Path) -> Folder {
        let files = walkdir::WalkDir::new(root.join("app")).sort_by_file_name().into_iter().flatten();
        let paths = files
            .filter(|e| e.path().extension().is_some_and(|x| x == "py"))
            .filter_map(|e| Some(e.path().strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/")))
            .collect();
        Folder { root: root.to_owned(), paths }
    }
}

impl FileSet for Folder {
    fn paths(&self) -> Vec<String> {
        self.paths.clone()
    }
    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        std::fs::read(self.root.join(&self.paths[index])).map_err(|e| e.to_string())
    }
}

/// Field, kind, path, line.
type Said = BTreeSet<(String, String, String, u32)>;

struct Expected {
    some: Said,
    /// An empty kind is every kind.
    none: Said,
}

fn expected(set: &Folder) -> Expected {
    let mut out = Expected { some: Said::new(), none: Said::new() };
    for (i, path) in set.paths.iter().enumerate() {
        let text = String::from_utf8(set.read(i).expect("readable")).expect("utf-8");
        for (n, line) in text.lines().enumerate() {
            for (mark, into) in [("# expect: ", &mut out.some), ("# expect-not: ", &mut out.none)] {
                let Some((_, claims)) = line.split_once(mark) else { continue };
                for claim in claims.split("; ") {
                    let (field, kind) = claim.trim().split_once(' ').unwrap_or((claim.trim(), ""));
                    into.insert((field.into(), kind.into(), path.clone(), n as u32 + 1));
                }
            }
        }
    }
    out
}

fn reports(root: &str, said: impl Fn(&FieldReport) -> Said) -> Vec<(Folder, Said)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(root);
    let trees = std::fs::read_dir(&root).expect("fixtures").flatten().filter(|e| e.path().is_dir());
    let mut out = Vec::new();
    for tree in trees {
        let set = Folder::open(&tree.path());
        let profile = Profile::builtin().expect("profile");
        let analysis = Analysis::open(&set, SourceInfo::default(), profile).expect("a record");
        let report = analysis.report(&analysis.field_names());
        let all = report.fields.iter().flat_map(&said).collect();
        out.push((set, all));
    }
    out
}

fn differences(expected: &Expected, said: &Said) -> Vec<String> {
    let missing = expected.some.difference(said).map(|c| format!("missing: {c:?}"));
    let forbidden = |c: &&(String, String, String, u32)| {
        let any_kind = (c.0.clone(), String::new(), c.2.clone(), c.3);
        expected.none.contains(c) || expected.none.contains(&any_kind)
    };
    let wrong = said.iter().filter(forbidden).map(|c| format!("wrong: {c:?}"));
    missing.chain(wrong).collect()
}

#[test]
fn constraints_are_those_that_the_comments_name_and_no_others() {
    let trees = reports("constraints", |field| {
        let of =
            |c: &argtrace::meaning::report::Constraint| (field.field.clone(), c.kind.clone(), c.path.clone(), c.line);
        field.constraints.iter().map(of).collect()
    });
    for (set, said) in trees {
        let expected = expected(&set);
        let mut wrong = differences(&expected, &said);
        wrong.extend(said.difference(&expected.some).map(|c| format!("not expected: {c:?}")));
        assert!(expected.some.len() > 10 && wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn findings_are_those_that_the_comments_name() {
    for (set, said) in reports("findings", |field| {
        let of = |f: &argtrace::meaning::report::Finding| (field.field.clone(), f.code.clone(), f.path.clone(), f.line);
        field.findings.iter().map(of).collect()
    }) {
        let wrong = differences(&expected(&set), &said);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn every_code_says_what_it_means() {
    let mut names = BTreeSet::new();
    for code in table::CODES {
        assert!(names.insert(code.code), "{} twice", code.code);
        assert!(["warning", "note"].contains(&code.level));
        assert!(code.title.len() > 10 && code.explanation.len() > 40 && !code.example.is_empty(), "{}", code.code);
        assert_eq!(table::code(code.code), Some(&code));
    }
}
