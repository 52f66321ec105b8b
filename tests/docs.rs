//! Documentation as its users keep it: tables from the source, generated blocks in a file, and hand-kept tables that
//! drifted.

mod release;

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A tree in a folder to run in.
struct Place(tempfile::TempDir);

const SERVER_ARGS: &str = r#"
from dataclasses import dataclass
from typing import List, Optional
import argparse
import time

@dataclass
class ServerArgs:
    # Model
    model: str
    name: Optional[str] = None
    # Cache
    cache_size: int = 0
    cache_ratio: float = 1.5
    cache_policy: str = "lru"
    wait: float = 5.0
    ports: Optional[List[int]] = None
    trace: bool = False
    old: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", "--model-path", type=str, required=True, help="The model.")
        parser.add_argument("--name", type=str, default=ServerArgs.name, help="A | in `code` and <b>HTML</b>\nof two lines.")
        parser.add_argument("--cache-size", type=int, default=ServerArgs.cache_size, help="The size.")
        parser.add_argument("--cache-ratio", type=float, default=ServerArgs.cache_ratio, help="The ratio.")
        parser.add_argument("--cache-policy", type=str, choices=["lru", "lfu"], default=ServerArgs.cache_policy, help="The policy.")
        parser.add_argument("--wait", type=float, default=ServerArgs.wait, help="How long.")
        parser.add_argument("--ports", type=int, nargs="+", default=ServerArgs.ports, help="Ports.")
        parser.add_argument("--trace", action="store_true", help="Trace.")
        parser.add_argument("--old", type=int, default=ServerArgs.old, help="[Deprecated] use --wait")

class Pool:
    def __init__(self, server_args: ServerArgs):
        self.bytes = bytearray(int(server_args.cache_size * 1e9))
        time.sleep(server_args.wait)
"#;

/// What is true of the tree.
const RIGHT: &str = "\
# Arguments

| Argument | Description | Defaults | Options |
| --- | --- | --- | --- |
| `--model-path`<br>`--model` | The model. | `None` | Type: str |
| `--name` | A name. | `None` | Type: str |
| `--cache-size` | The size in gigabytes. | `0` | Type: int |
| `--cache-ratio` | The ratio. | `1.50` | Type: float |
| `--cache-policy` | The policy. | `lru` | `lfu`, `lru` |
| `--wait` | How many seconds. | 5 | Type: float |
| `--ports` | The ports. | `None` | Type: list of int |
| `--trace` | Trace. | `False` | bool flag (set to enable) |

| code | meaning |
| --- | --- |
| 1 | `--nothing` of it |
";

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("folder"));
        place.write("sglang/srt/server_args.py", SERVER_ARGS);
        place.write("sglang/__init__.py", "");
        place.write("sglang/srt/__init__.py", "");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// What the command ends with, and says on stdout and stderr.
    fn docs(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_argtrace")));
        command.current_dir(self.0.path()).args(["docs", "./sglang", "--no-cache"]).args(arguments);
        let output = command.output().expect("a run");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("an end"), text(&output.stdout), text(&output.stderr))
    }

    /// Codes and flags of the drift, in the order in which they are told.
    fn drift(&self, text: &str) -> (i32, Vec<(String, String)>) {
        self.write("hand.md", text);
        let (code, out, err) = self.docs(&["--against", "hand.md", "--format", "json"]);
        let drift: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
        let told = |f: &Value| (f["code"].as_str().unwrap().to_owned(), f["flag"].as_str().unwrap().to_owned());
        (code, drift["findings"].as_array().unwrap().iter().map(told).collect())
    }
}

#[test]
fn every_argument_has_one_row_and_is_escaped() {
    let place = Place::new();
    let (code, out, err) = place.docs(&["--columns", "argument,description,default,options"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for row in [
        "| `--model`<br>`--model-path` | The model. | required | Type: `str` |",
        "| `--name` | A \\| in \\`code\\` and &lt;b&gt;HTML&lt;/b&gt; of two lines. | `None` | Type: `Optional[str]` |",
        "| `--cache-policy` | The policy. | `lru` | `lru`, `lfu` |",
        "| `--trace` | Trace. | `False` | Type: `bool` |",
    ] {
        assert_eq!(out.matches(row).count(), 1, "{row}\n{out}");
    }
    assert!(!out.contains("--old"), "{out}");
    let (_, again, _) = place.docs(&["--columns", "argument,description,default,options"]);
    assert_eq!(out, again);
}

#[test]
fn each_format_says_the_same_rows() {
    let place = Place::new();
    let of = |format: &str| place.docs(&["--format", format, "--fields", "name,--cache-*"]).1;
    let document: Value = serde_json::from_str(&of("json")).unwrap();
    let sections = document["sections"].as_array().unwrap();
    let fields: Vec<&str> = sections
        .iter()
        .flat_map(|section| section["rows"].as_array().unwrap())
        .map(|row| row["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["name", "cache_size", "cache_ratio", "cache_policy"]);
    let html = of("html");
    assert!(html.contains("&lt;b&gt;HTML&lt;/b&gt;") && !html.contains("<b>"), "{html}");
    let csv = of("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.records().filter_map(Result::ok).count(), 4, "{csv}");
    assert!(of("markdown").contains("| `--cache-size` | The size. | `0` | Type: `int` | `GB` (1e9 bytes each) |"));
}

#[test]
fn a_column_that_is_none_gets_a_suggestion() {
    let (code, _, err) = Place::new().docs(&["--columns", "unti"]);
    assert!(code == 2 && err.contains("did you mean unit?"), "{err}");
}

#[test]
fn blocks_are_written_and_then_hold() {
    let place = Place::new();
    let before = "# Mine\n<!-- argtrace:begin --fields 'cache-*' --columns argument,default -->\n<!-- argtrace:end -->\nmore\n\
        <!-- argtrace:begin --fields model --format html --level 0 -->\nstale\n<!-- argtrace:end -->\n";
    place.write("page.md", before);
    assert_eq!(place.docs(&["--check", "page.md"]).0, 1);
    assert_eq!(place.read("page.md"), before, "--check writes nothing");
    assert_eq!(place.docs(&["--inject", "page.md"]), (0, String::new(), String::new()));
    let after = place.read("page.md");
    assert!(after.starts_with("# Mine\n<!-- argtrace:begin --fields 'cache-*'"), "{after}");
    assert!(after.contains("| `--cache-size` | `0` |\n") && after.contains("\nmore\n"), "{after}");
    assert!(after.contains("<td><code>--model</code><br>") && !after.contains("stale"), "{after}");
    assert_eq!(place.docs(&["--check", "page.md"]), (0, String::new(), String::new()));

    place.write("page.md", &after.replace("| `--cache-size` | `0` |", "| `--cache-size` | `8` |"));
    let (code, diff, _) = place.docs(&["--check", "page.md"]);
    assert_eq!(code, 1);
    assert!(diff.contains("--- page.md\n+++ page.md\n@@"), "{diff}");
    assert!(diff.contains("\n-| `--cache-size` | `8` |\n+| `--cache-size` | `0` |\n"), "{diff}");
}

#[test]
fn a_block_that_cannot_be_understood_is_refused_with_its_line() {
    let place = Place::new();
    for (text, wanted) in [
        ("\n<!-- argtrace:begin --colums x -->\n<!-- argtrace:end -->\n", "page.md:2: unexpected argument '--colums'"),
        ("<!-- argtrace:begin --fields nmae -->\n<!-- argtrace:end -->\n", "page.md:1: no field"),
        ("<!-- argtrace:begin -->\n", "page.md:1: the block has no end"),
        ("nothing\n", "there is no generated block in page.md"),
    ] {
        place.write("page.md", text);
        let (code, out, err) = place.docs(&["--inject", "page.md"]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(wanted), "{err}");
        assert_eq!(place.read("page.md"), text);
    }
}

#[test]
fn a_right_table_has_no_drift() {
    assert_eq!(Place::new().drift(RIGHT), (0, Vec::new()));
}

#[test]
fn ten_faults_are_ten_findings() {
    let faulty = RIGHT
        .replace("`--model-path`<br>`--model`", "`--model-path`")
        .replace("| `--name` |", "| `--nmae` |")
        .replace("gigabytes. | `0` | Type: int", "GiB per GPU. | `8` | Type: str")
        .replace("`lfu`, `lru`", "`lru`, `mru`")
        .replace("`lru` |", "`fifo` |")
        .replace("| `1.50` |", "| `1.6` |")
        .replace("How many seconds.", "How many milliseconds.");
    let (code, told) = Place::new().drift(&faulty);
    let told: Vec<(&str, &str)> = told.iter().map(|(code, flag)| (code.as_str(), flag.as_str())).collect();
    assert_eq!(
        told,
        [
            ("docs-alias-missing", "--model-path"),
            ("docs-flag-unknown", "--nmae"),
            ("docs-default", "--cache-size"),
            ("docs-type", "--cache-size"),
            ("docs-unit", "--cache-size"),
            ("docs-default", "--cache-ratio"),
            ("docs-default", "--cache-policy"),
            ("docs-choices", "--cache-policy"),
            ("docs-unit", "--wait"),
            ("docs-flag-missing", "--name"),
        ]
    );
    assert_eq!(code, 1);
}

#[test]
fn drift_is_told_in_every_format_and_explained() {
    let place = Place::new();
    place.write("hand.md", &RIGHT.replace("`1.50`", "`2`"));
    let of = |format: &str| place.docs(&["--against", "hand.md", "--format", format]).1;
    assert!(
        of("text").contains("warning --cache-ratio  docs-default: the default is 1.5, not 2  hand.md:8"),
        "{}",
        of("text")
    );
    assert!(of("github").starts_with("::warning file=hand.md,line=8,title=--cache-ratio%3A docs-default::"));
    assert!(of("markdown").contains("| warning | `--cache-ratio` `docs-default` |"));
    let log: Value = serde_json::from_str(&of("sarif")).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "docs-default");
    assert_eq!(place.docs(&["--against", "hand.md", "--fail-on", "error"]).0, 0);
    let explained = Command::new(env!("CARGO_BIN_EXE_argtrace")).args(["explain", "docs-default"]).output().unwrap();
    assert!(explained.status.success());
    place.write("hand.md", "no table\n");
    assert_eq!(place.docs(&["--against", "hand.md"]).0, 2);
}

#[test]
fn every_argument_of_a_release_has_one_row() {
    use argtrace::render::docs::{Column, Table, document, markdown};
    for version in ["0.5.9", "0.5.23"] {
        let Some(session) = release::open(version) else { return };
        let fields = session.field_names();
        let list = session.list(&fields, &|_| ());
        let entries: Vec<_> = list.fields.iter().filter(|entry| entry.definition.deprecated.is_none()).collect();
        let wanted: Vec<String> = entries.iter().map(|entry| entry.field.clone()).collect();
        let table = Table { source: &list.source, entries, columns: Column::usual(), level: 2, titled: true };
        let document = document(&table);
        let rows = document.sections.iter().flat_map(|section| &section.rows);
        let mut shown: Vec<&String> = rows.map(|row| &row.field).collect();
        assert_eq!(shown.len(), wanted.len());
        shown.sort();
        shown.dedup();
        assert_eq!(shown.len(), wanted.len(), "a field has two rows");
        let page = markdown(&table);
        assert_eq!(page, markdown(&table));
        let again = session.list(&fields, &|_| ());
        let entries: Vec<_> = again.fields.iter().filter(|entry| entry.definition.deprecated.is_none()).collect();
        let table = Table { source: &again.source, entries, columns: Column::usual(), level: 2, titled: true };
        assert_eq!(page, markdown(&table), "a second run says something else");
        for row in page.lines().filter(|line| line.starts_with("| `")) {
            let cells = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
            assert_eq!(cells, Column::usual().len() + 1, "{row}");
        }
    }
}

/// The project's own page: what two arguments mean in each release.
#[test]
fn the_page_of_the_host_cache_is_what_the_releases_say() {
    const PAGE: &str = "docs/hicache.md";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join(PAGE)).expect("the page");
    let versions: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(versions, ["0.4.6", "0.5.3", "0.5.6", "0.5.8", "0.5.8.post1", "0.5.9", "0.5.12", "0.5.20", "0.5.23"]);
    // What cannot be fetched is told here, or leaves the test out.
    if versions.iter().any(|version| release::open(version).is_none()) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_argtrace"));
    let output = command.current_dir(root).args(["docs", "--check", PAGE]).output().expect("a run");
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "argtrace docs --inject {PAGE} writes it anew\n{out}{err}");
}
