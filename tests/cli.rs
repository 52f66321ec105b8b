//! The binary as its users call it: answers, exit codes and streams.

use std::process::{Command, Stdio};

use assert_cmd::Command as Assert;

fn argtrace() -> Assert {
    let mut command = Assert::new(env!("CARGO_BIN_EXE_argtrace"));
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

fn stdout(arguments: &[&str]) -> String {
    let output = argtrace().args(arguments).assert().success().stderr("").get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

/// The command must end with 2 and leave stdout alone; gives what it said.
fn refusal(arguments: &[&str]) -> String {
    let output = argtrace().args(arguments).assert().code(2).stdout("").get_output().stderr.clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn help_shows_usage_options_and_examples() {
    let help = stdout(&["--help"]);
    for part in ["argtrace [OPTIONS] FIELD... [SOURCE]", "--format <FORMAT>", "Examples:", "schema", "Exit codes"] {
        assert!(help.contains(part), "no {part} in\n{help}");
    }
    assert!(!help.contains('\x1b'));
}

#[test]
fn version_is_the_crate_s() {
    assert_eq!(stdout(&["--version"]), format!("argtrace {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn no_arguments_print_help_on_stderr() {
    assert!(refusal(&[]).contains("Usage: argtrace"));
}

#[test]
fn schema_describes_the_report() {
    let schema: serde_json::Value = serde_json::from_str(&stdout(&["schema", "report"])).unwrap();
    assert_eq!(schema["title"], "Report");
    assert_eq!(schema["required"], serde_json::json!(["schema", "source", "fields"]));
    assert!(schema["$defs"]["FieldReport"]["properties"]["active_when"].is_object());
}

#[test]
fn schema_goes_to_files_instead() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    let output = format!("json={}", file.display());
    assert_eq!(stdout(&["schema", "report", "-o", &output]), "");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), stdout(&["schema", "report", "-o", "-"]));
}

#[test]
fn bad_usage_says_what_is_possible() {
    let cases: &[(&[&str], &str)] = &[
        (&["schema", "nonsense"], "possible values: report, brief, fields"),
        (&["schema"], "<NAME>"),
        (&["--format", "json"], "argtrace [report] [OPTIONS] FIELD... [SOURCE]"),
        (&["hicache_size", "--format", "yaml"], "possible values: text, json, markdown, html, csv"),
        (&["hicache_size", "-o", "yaml=x"], "formats: text, json, markdown, html, csv"),
        (&["hicache_size", "--jobs", "0"], "--jobs"),
        (&["hicache_size", "--color", "maybe"], "possible values: auto, always, never"),
        (&["hicache_size", "-q", "-v"], "cannot be used with"),
        (&["hicache_size", "-z"], "-z"),
        (&["schema", "report", "--format", "text"], "its formats are: json"),
    ];
    for (arguments, part) in cases {
        let said = refusal(arguments);
        assert!(said.contains(part), "{arguments:?} said {said}");
    }
}

#[test]
fn what_cannot_be_written_is_told_with_its_path() {
    let said = refusal(&["schema", "report", "-o", "/no/such/folder/x.json"]);
    assert!(said.contains("writing /no/such/folder/x.json") && said.contains("create the folder"), "{said}");
}

#[test]
fn errors_are_coloured_only_on_demand() {
    assert!(!refusal(&["schema", "report", "-o", "/no/x/y"]).contains('\x1b'));
    assert!(refusal(&["schema", "report", "-o", "/no/x/y", "--color", "always"]).contains("\x1b[1m\x1b[31margtrace:"));
}

#[test]
fn a_closed_pipe_is_success() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_argtrace"))
        .args(["schema", "report"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
