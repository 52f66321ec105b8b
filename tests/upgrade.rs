//! The upgrade job as its users run it: diff, snapshot, check, history and explain, with exit codes and files.

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Two trees between which a default, a check and a flag differ, in a folder to run in.
struct Place(tempfile::TempDir);

const OLD: &str = r#"
from dataclasses import dataclass

@dataclass
class ServerArgs:
    size: int = 1
    mode: str = "a"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--size", "--entries", dest="size", type=int, default=ServerArgs.size)
        parser.add_argument("--mode", type=str, default=ServerArgs.mode)

    def __post_init__(self):
        assert self.size > 0, "a cache needs an entry"

def use(server_args: ServerArgs):
    return [server_args.mode] * server_args.size
"#;

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("folder"));
        place.tree("old", OLD);
        let new = OLD
            .replace("size: int = 1", "size: int = 2")
            .replace("\"--size\", \"--entries\", dest=\"size\"", "\"--size\"")
            .replace("help=", "help =")
            .replace("\n        assert self.size > 0, \"a cache needs an entry\"", "\n        pass");
        place.tree("new", &new);
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn tree(&self, name: &str, text: &str) {
        let file = self.path().join(name).join("sglang/srt/server_args.py");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        std::fs::write(file, text).expect("written");
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path().join(name), text).expect("written");
        self.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn argtrace(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_argtrace"))
            .current_dir(self.path())
            .env("ARGTRACE_CACHE_DIR", self.path().join("cache"))
            .env("ARGTRACE_TODAY", "2026-06-01")
            .env_remove("CLICOLOR_FORCE")
            .args(arguments)
            .output()
            .expect("runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("utf-8");
        (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
    }

    fn changes(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, out, err) = self.argtrace(&[arguments, &["--format", "json"]].concat());
        assert!(code < 2, "{err}");
        let document: Value = serde_json::from_str(&out).expect("json");
        document["changes"].as_array().expect("changes").clone()
    }
}

fn told(changes: &[Value]) -> Vec<String> {
    let text = |change: &Value, key: &str| change[key].as_str().unwrap_or("").to_owned();
    changes.iter().map(|c| format!("{} {} {}", text(c, "level"), text(c, "code"), text(c, "field"))).collect()
}

const ALL: [&str; 4] = [
    "breaking flag-removed size",
    "behaviour constraint-removed size",
    "behaviour default-changed size",
    "cosmetic consumer-removed size",
];

#[test]
fn a_diff_tells_the_worst_first_and_fails_on_demand() {
    let place = Place::new();
    let (code, out, _) = place.argtrace(&["diff", "old", "new"]);
    assert_eq!(code, 1);
    assert!(out.contains("1 breaking, 2 behaviour"), "{out}");
    assert!(out.contains("sglang/srt/server_args.py:6"), "{out}");
    let mut said = told(&place.changes(&["diff", "old", "new"]));
    assert_eq!(said[0], ALL[0]);
    said.sort();
    let mut all = ALL;
    all.sort_unstable();
    assert_eq!(said, all);
    assert_eq!(place.argtrace(&["diff", "old", "new", "--fail-on", "never"]).0, 0);
    assert_eq!(place.argtrace(&["diff", "old", "old"]).0, 0);
    assert_eq!(place.argtrace(&["diff", "old", "nowhere/at/all"]).0, 2);
    assert_eq!(place.argtrace(&["diff", "old"]).0, 2);
}

#[test]
fn a_diff_can_be_about_some_fields() {
    let place = Place::new();
    assert!(place.changes(&["diff", "old", "new", "mode"]).is_empty());
    assert_eq!(place.changes(&["diff", "old", "new", "--entries"]).len(), ALL.len());
    let (code, _, err) = place.argtrace(&["diff", "old", "new", "--sice"]);
    assert_eq!(code, 2);
    assert!(err.contains("did you mean --size"), "{err}");
}

#[test]
fn one_run_gives_every_format() {
    let place = Place::new();
    let outputs = ["text=d.txt", "json=d.json", "markdown=d.md", "github=d.log", "sarif=d.sarif"];
    let arguments: Vec<&str> = outputs.iter().flat_map(|output| ["-o", output]).collect();
    assert_eq!(place.argtrace(&[&["diff", "old", "new"], &arguments[..]].concat()).0, 1);
    assert!(place.read("d.txt").contains("default-changed"));
    assert!(place.read("d.md").contains("| `--size` |"), "{}", place.read("d.md"));
    let log = place.read("d.log");
    assert!(
        log.lines().all(|line| ["::error ", "::warning ", "::notice "].iter().any(|level| line.starts_with(level))),
        "{log}"
    );
    let sarif: Value = serde_json::from_str(&place.read("d.sarif")).expect("json");
    let mut schema: Value = serde_json::from_str(include_str!("schemas/sarif-2.1.0.json")).expect("json");
    // The published schema has a pattern here that is no regular expression; nothing of ours is a language.
    for place in ["/definitions/run/properties/language", "/definitions/toolComponent/properties/language"] {
        if let Some(language) = schema.pointer_mut(place).and_then(Value::as_object_mut) {
            language.remove("pattern");
        }
    }
    valid(&schema, &sarif);
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(ALL.len()));
    let diff: Value = serde_json::from_str(&place.read("d.json")).expect("json");
    valid(&serde_json::from_str(&place.argtrace(&["schema", "diff"]).1).expect("json"), &diff);
}

fn valid(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn a_snapshot_stands_for_its_tree() {
    let place = Place::new();
    assert_eq!(place.argtrace(&["snapshot", "old", "-o", "argtrace.lock.json"]).0, 0);
    let snapshot = place.read("argtrace.lock.json");
    valid(
        &serde_json::from_str(&place.argtrace(&["schema", "snapshot"]).1).expect("json"),
        &serde_json::from_str(&snapshot).expect("json"),
    );
    assert_eq!(place.argtrace(&["snapshot", "old"]).1, snapshot);
    assert_eq!(
        told(&place.changes(&["diff", "argtrace.lock.json", "new"])),
        told(&place.changes(&["diff", "old", "new"]))
    );
    assert_eq!(told(&place.changes(&["check", "new"])), told(&place.changes(&["diff", "old", "new"])));
    assert_eq!(place.argtrace(&["check", "new"]).0, 1);
    assert_eq!(place.argtrace(&["check", "old"]).0, 0);
    let (code, _, err) = place.argtrace(&["snapshot", "new", "--update"]);
    assert_eq!((code, err.contains("accepted 4 changes")), (0, true), "{err}");
    assert_eq!(place.argtrace(&["check", "new"]).0, 0);
}

#[test]
fn a_snapshot_that_cannot_be_read_says_what_to_do() {
    let place = Place::new();
    let cases = [
        ("{\"schema\": \"argtrace/snapshot/0\"}", "argtrace/snapshot/1"),
        ("{\"schema\": \"argtrace/report/1\"}", "not a snapshot"),
        ("{}", "no snapshot"),
        ("{", "no JSON"),
        ("{\"schema\": \"argtrace/snapshot/2\"}", "argtrace/snapshot/2"),
        ("\u{feff}{}", "no JSON"),
        ("{\"schema\": \"argtrace/snapshot/1\"}", "damaged"),
    ];
    for (text, part) in cases {
        place.write("bad.json", text);
        let (code, _, err) = place.argtrace(&["diff", "bad.json", "new"]);
        assert_eq!(code, 2, "{text}");
        assert!(err.contains(part) && err.contains("argtrace snapshot"), "{text}: {err}");
    }
    let (code, _, err) = place.argtrace(&["check", "new"]);
    assert_eq!(code, 2);
    assert!(err.contains("argtrace snapshot SOURCE -o argtrace.lock.json"), "{err}");
}

#[test]
fn only_what_a_launch_uses_is_told() {
    let place = Place::new();
    place.write("start.sh", "python -m sglang.launch_server \\\n  --mode b\n");
    assert!(place.changes(&["diff", "old", "new", "--launch", "start.sh"]).is_empty());
    let with_defaults = place.changes(&["diff", "old", "new", "--launch", "start.sh", "--defaults"]);
    assert_eq!(told(&with_defaults), ALL[1..]);
    place.write("other.yaml", "entries: 3\n");
    let both = ["diff", "old", "new", "--launch", "start.sh", "--launch", "other.yaml"];
    assert_eq!(place.changes(&both).len(), ALL.len());
    assert_eq!(place.argtrace(&["diff", "old", "new", "--launch", "none.sh"]).0, 2);
}

#[test]
fn a_configuration_changes_levels_and_allows_single_changes() {
    let place = Place::new();
    let changes = place.changes(&["diff", "old", "new"]);
    let print = |code: &str| {
        let change = changes.iter().find(|c| c["code"] == code).expect("the change");
        change["fingerprint"].as_str().expect("text").to_owned()
    };
    let allow = |code: &str, day: &str| {
        let print = print(code);
        format!(
            "[[allow]]\ncode = \"{code}\"\nfield = \"size\"\nfingerprint = \"{print}\"\nreason = \"known\"\nexpires = \"{day}\"\n"
        )
    };
    place.write("argtrace.toml", &allow("default-changed", "2026-06-01"));
    assert_eq!(told(&place.changes(&["diff", "old", "new"])), [ALL[0], ALL[1], ALL[3]]);

    place.write("argtrace.toml", &allow("default-changed", "2026-05-31"));
    let said = told(&place.changes(&["diff", "old", "new"]));
    assert!(
        said.contains(&ALL[2].to_owned()) && said.contains(&"behaviour allowance-expired size".to_owned()),
        "{said:?}"
    );

    let levels = "[[level]]\nlevel = \"off\"\ncode = \"constraint-removed\"\n[[level]]\nfield = \"siz*\"\ncode = \"flag-removed\"\nlevel = \"cosmetic\"\n";
    let other = place.write("other.toml", levels);
    let arguments = ["diff", "old", "new", "--config", other.to_str().expect("utf-8")];
    assert_eq!(told(&place.changes(&arguments)), [ALL[2], "cosmetic flag-removed size", ALL[3]]);

    let stale = allow("default-changed", "2026-06-01").replace(&print("default-changed"), "0123");
    place.write("argtrace.toml", &stale);
    assert!(told(&place.changes(&["diff", "old", "new"])).contains(&"behaviour allowance-unused size".to_owned()));
}

#[test]
fn a_configuration_with_a_mistake_is_refused() {
    let place = Place::new();
    let cases = [
        ("[[alow]]\ncode = \"x\"\n", "did you mean allow"),
        ("[[level]]\nlevel = \"off\"\nfeild = \"size\"\n", "did you mean field"),
        ("[[level]]\nlevel = \"high\"\n", "levels are breaking"),
        ("[[level]]\nlevel = \"off\"\ncode = \"default-change\"\n", "did you mean default-changed"),
        (
            "[[allow]]\ncode = \"default-changed\"\nfield = \"size\"\nfingerprint = \"1\"\nexpires = 2026-07-01\n",
            "no `reason`",
        ),
        (
            "[[allow]]\ncode = \"default-changed\"\nfield = \"size\"\nfingerprint = \"1\"\nreason = \"x\"\nexpires = \"soon\"\n",
            "YYYY-MM-DD",
        ),
        ("level = 3\n", "[[level]]"),
        ("= 1", "reading the configuration argtrace.toml"),
    ];
    for (text, part) in cases {
        place.write("argtrace.toml", text);
        let (code, _, err) = place.argtrace(&["diff", "old", "new"]);
        assert_eq!(code, 2, "{text}");
        assert!(err.contains(part), "{text}: {err}");
    }
    assert_eq!(place.argtrace(&["diff", "old", "new", "--config", "none.toml"]).0, 2);
}

#[test]
fn a_history_has_a_row_where_something_changed() {
    let place = Place::new();
    let (code, out, err) = place.argtrace(&["history", "size", "old", "old", "new", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let history: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(history["sources"].as_array().map(Vec::len), Some(3));
    assert_eq!(history["changed"].as_array().map(Vec::len), Some(1));
    assert_eq!(told(history["changed"][0]["changes"].as_array().expect("changes")).len(), ALL.len());
    valid(&serde_json::from_str(&place.argtrace(&["schema", "history"]).1).expect("json"), &history);
    assert!(place.argtrace(&["history", "--size", "old", "new"]).1.contains("1 of 2 releases changed it"));
    assert_eq!(place.argtrace(&["history", "nothing", "old", "new"]).0, 2);
}

#[test]
fn every_code_is_explained() {
    let place = Place::new();
    let list = place.argtrace(&["explain", "--list"]).1;
    for entry in argtrace::compare::codes::CODES {
        assert!(list.contains(entry.name), "{}", entry.name);
        let (code, told, _) = place.argtrace(&["explain", entry.name]);
        assert_eq!(code, 0);
        for part in ["example", "allow", entry.name] {
            assert!(told.contains(part), "{}: {told}", entry.name);
        }
    }
    assert!(place.argtrace(&["explain", "dead-field"]).1.contains("Nothing reads the field"));
    let (code, _, err) = place.argtrace(&["explain", "default-chnged"]);
    assert_eq!(code, 2);
    assert!(err.contains("did you mean default-changed"), "{err}");
}
