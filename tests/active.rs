//! Under which conditions the fields of small trees are said to have an effect, held against the comments there.
//!
//! A fixture is a folder under `fixtures/active`. `# expect: CONDITION | CONDITION` over a field's line lists all that is
//! claimed of that field; `a: ` before a condition makes it one of alternatives.

use argtrace::meaning::Analysis;
use argtrace::meaning::report::SourceInfo;
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use std::path::{Path, PathBuf};

struct Folder {
    root: PathBuf,
    paths: Vec<String>,
}

impl Folder {
    fn open(root: &Path) -> Folder {
        let files = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().flatten();
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

/// The expectations of a file, as field and conditions.
fn expected(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut waiting = None;
    for line in text.lines().map(str::trim) {
        if let Some(conditions) = line.strip_prefix("# expect: ") {
            waiting = Some(conditions.to_owned());
        } else if let (Some((field, _)), false) = (line.split_once(':'), line.starts_with('#')) {
            out.extend(waiting.take().map(|conditions| (field.to_owned(), conditions)));
        }
    }
    out
}

fn check(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/active").join(name);
    let set = Folder::open(&root);
    let profile = Profile::builtin().expect("the built-in profile parses");
    let analysis = Analysis::open(&set, SourceInfo::default(), profile).expect("the fixture has a record");
    let texts = set.paths.iter().map(|p| std::fs::read_to_string(root.join(p)).expect("a file of the fixture"));
    let wanted: Vec<(String, String)> = texts.flat_map(|text| expected(&text)).collect();
    let names: Vec<String> = wanted.iter().map(|(field, _)| field.clone()).collect();
    let report = analysis.report(&names);
    let said: Vec<(String, String)> = report
        .fields
        .iter()
        .map(|field| {
            let mut all: Vec<String> = field
                .active_when
                .iter()
                .map(|a| a.any_of.as_ref().map_or(a.condition.clone(), |letter| format!("{letter}: {}", a.condition)))
                .collect();
            all.sort();
            (field.field.clone(), if all.is_empty() { "none".to_owned() } else { all.join(" | ") })
        })
        .collect();
    assert!(!wanted.is_empty());
    assert_eq!(said, wanted);
}

#[test]
fn conditions_around_the_read() {
    check("gates");
}

#[test]
fn conditions_of_the_code_around() {
    check("carriers");
}

#[test]
fn conditions_read_through_bags() {
    check("published");
}
