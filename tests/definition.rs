//! What the fields of small trees are said to be defined as, held against the comments in those trees.
//!
//! A fixture is a folder under `fixtures/definition`. `# expect: KEY VALUE` over or beside a field's line is a claim about
//! that field; `# expect-tree: KEY VALUE` is one about the whole tree.

use argtrace::meaning::definition::{Declared, Definitions, DeprecatedFlag};
use argtrace::program::profile::Profile;
use argtrace::program::{FileSet, Program};
use std::path::{Path, PathBuf};

/// The Python files under a folder.
struct Folder {
    root: PathBuf,
    paths: Vec<String>,
}

impl Folder {
    fn open(root: &Path, package: &str) -> Folder {
        let files = walkdir::WalkDir::new(root.join(package)).sort_by_file_name().into_iter().flatten();
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

fn shown(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "null".to_owned())
}

fn said(field: &Declared, key: &str) -> String {
    let d = &field.definition;
    match key {
        "flags" => d.flags.join(" "),
        "choices" => d.choices.iter().map(|c| c.to_string().trim_matches('"').to_owned()).collect::<Vec<_>>().join(" "),
        "extensible" => d.extensible.to_string(),
        "default" => shown(&d.default),
        "type" => shown(&d.type_),
        "class" => d.class.clone(),
        "namespace" => shown(&d.namespace),
        "cli_default" => shown(&d.cli_default),
        "cli_type" => shown(&d.cli_type),
        "cli_path" => shown(&d.cli_path),
        "cli_line" => d.cli_line.map_or("null".to_owned(), |l| l.to_string()),
        "section" => shown(&d.section),
        "deprecated" => shown(&d.deprecated),
        "help" => shown(&d.help),
        other => panic!("no such claim: {other}"),
    }
}

fn said_of_tree(all: &Definitions, key: &str) -> String {
    let flag = |d: &DeprecatedFlag| format!("{}:{}", d.flag, if d.fails { "fails" } else { "warns" });
    let words: Vec<String> = match key {
        "fields" => all.fields.iter().map(|f| f.field.to_string()).collect(),
        "derived" => all.derived.iter().map(|d| d.name.to_string()).collect(),
        "derived-functions" => {
            all.derived.iter().map(|d| d.function.map_or("null".to_owned(), |f| f.to_string())).collect()
        }
        "deprecated" => all.deprecated.iter().map(flag).collect(),
        other => panic!("no such claim: {other}"),
    };
    words.join(" ")
}

#[test]
fn fixtures_say_what_their_comments_claim() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/definition");
    let (mut claims, mut wrong) = (0, Vec::new());
    let trees = std::fs::read_dir(&root).expect("fixtures").flatten().filter(|e| e.path().is_dir());
    for tree in trees {
        let set = Folder::open(&tree.path(), "app");
        let program = Program::load(&set, Profile::builtin().expect("profile"));
        let all = Definitions::find(&program).expect("a record");
        for (i, path) in set.paths.iter().enumerate() {
            let text = String::from_utf8(set.read(i).expect("readable")).expect("utf-8");
            let mut pending: Vec<(usize, String)> = Vec::new();
            for (n, line) in text.lines().enumerate() {
                let mut check = |at: usize, claim: &str, said: &dyn Fn(&str) -> String| {
                    let (key, value) = claim.split_once(' ').unwrap_or((claim, ""));
                    claims += 1;
                    let said = said(key);
                    if said != value {
                        let name = tree.file_name();
                        wrong.push(format!("{}/{path}:{at}: {key} is `{said}`, not `{value}`", name.to_string_lossy()));
                    }
                };
                if let Some((_, claim)) = line.split_once("# expect-tree: ") {
                    check(n + 1, claim, &|key| said_of_tree(&all, key));
                    continue;
                }
                let code = match line.split_once("# expect: ") {
                    Some((code, claim)) => {
                        pending.push((n + 1, claim.to_owned()));
                        code
                    }
                    None => line,
                };
                if code.trim().is_empty() {
                    continue;
                }
                let here = |f: &&Declared| f.definition.path == *path && f.definition.line as usize == n + 1;
                let field = all.fields.iter().find(here);
                for (at, claim) in pending.drain(..) {
                    check(at, &claim, &|key| field.map_or("no field".to_owned(), |f| said(f, key)));
                }
            }
        }
    }
    assert!(claims > 40, "only {claims} claims were found");
    assert!(wrong.is_empty(), "{} of {claims} claims:\n{}", wrong.len(), wrong.join("\n"));
}

/// Dumps the definitions of real releases: `ARGTRACE_TREES=/folder/of/releases ARGTRACE_DUMP=/folder`.
#[test]
#[ignore = "needs unpacked releases"]
fn dump_real_releases() {
    let (Ok(trees), Ok(dump)) = (std::env::var("ARGTRACE_TREES"), std::env::var("ARGTRACE_DUMP")) else { return };
    for tree in std::fs::read_dir(trees).expect("trees").flatten() {
        let start = std::time::Instant::now();
        let program = Program::load(&Folder::open(&tree.path(), "sglang"), Profile::builtin().expect("profile"));
        let loaded = start.elapsed();
        let all = Definitions::find(&program).expect("a record");
        let version = tree.file_name().to_string_lossy().into_owned();
        let orphans: Vec<_> =
            all.registrations.iter().filter(|r| r.field.is_none()).map(|r| r.flags.join(" ")).collect();
        println!(
            "{version}: {} fields, {} derived, {} registrations, {} unresolved; {} files parsed, {loaded:?} + {:?}",
            all.fields.len(),
            all.derived.len(),
            all.registrations.len(),
            all.unresolved.len(),
            program.parsed_files(),
            start.elapsed() - loaded,
        );
        println!("  no field: {orphans:?}");
        println!("  deprecated: {:?}", all.deprecated.iter().map(|d| (&d.flag, d.fails)).collect::<Vec<_>>());
        let definition = |f: &Declared| (f.field.to_string(), serde_json::to_value(&f.definition).expect("json"));
        let fields: serde_json::Map<_, _> = all.fields.iter().map(definition).collect();
        let text = serde_json::to_string_pretty(&fields).expect("json");
        std::fs::write(Path::new(&dump).join(format!("{version}.json")), text).expect("written");
    }
}
