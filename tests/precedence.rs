//! What bends the fields of small trees, held against the comments in those trees.
//!
//! A fixture is a folder under `fixtures/precedence`. `# expect: FIELD RELATION OTHER` is a claim that must be made; any
//! claim that no comment names must not be.

use argtrace::meaning::Analysis;
use argtrace::meaning::report::SourceInfo;
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The Python files under a folder.
struct Folder {
    root: PathBuf,
    paths: Vec<String>,
}

impl Folder {
    fn open(name: &str) -> Folder {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/precedence").join(name);
        let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().flatten();
        let paths = files
            .filter(|e| e.path().extension().is_some_and(|x| x == "py"))
            .filter_map(|e| Some(e.path().strip_prefix(&root).ok()?.to_string_lossy().replace('\\', "/")))
            .collect();
        Folder { root, paths }
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

fn expected(folder: &Folder) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for path in &folder.paths {
        let text = std::fs::read_to_string(folder.root.join(path)).expect("a fixture reads");
        out.extend(text.lines().filter_map(|l| Some(l.split_once("# expect: ")?.1.trim().to_owned())));
    }
    out
}

fn check(name: &str) {
    let folder = Folder::open(name);
    let expected = expected(&folder);
    let mut profile = Profile::builtin().expect("the profile reads");
    profile.package = "app".into();
    let source = SourceInfo { package: "app".into(), version: None, kind: "folder".into() };
    let analysis = Analysis::open(&folder, source, profile).expect("a record is there");
    let report = analysis.report(&analysis.field_names());
    let mut said = BTreeSet::new();
    for field in &report.fields {
        said.extend(field.precedence.iter().map(|p| format!("{} {} {}", field.field, p.relation, p.other)));
    }
    let missed: Vec<_> = expected.difference(&said).collect();
    let spare: Vec<_> = said.difference(&expected).collect();
    assert!(missed.is_empty() && spare.is_empty(), "{name}: missed {missed:#?}, not expected {spare:#?}");
}

#[test]
fn rewrites() {
    check("rewrites");
}

#[test]
fn arms() {
    check("arms");
}

#[test]
fn declared() {
    check("declared");
}

#[test]
fn environment() {
    check("environment");
}
