//! `audit` and `budget` on real releases: the launch that took a machine down is stopped by one line, and the largest
//! value that the machine bears is a sum that anyone can check.

mod console;
mod release;

use argtrace::cli::Options;
use argtrace::cli::audit::{AuditCommand, FailOn};
use argtrace::cli::budget::BudgetCommand;
use argtrace::cli::exit::Exit;
use argtrace::cli::output::Format;
use argtrace::cli::session::installed;
use console::options;
use serde_json::Value;

fn json() -> Options {
    let mut options = Options { quiet: true, ..options() };
    options.output.format = Some(Format::Json);
    options
}

/// A document of a release; `None` only where releases cannot be had.
fn audit(version: &str, command: &[&str], facts: &[&str], fail_on: FailOn) -> Option<(Exit, Value, String)> {
    release::open(version)?;
    let command = AuditCommand {
        source: Some(format!("sglang=={version}")),
        command: ["python3", "-m", "sglang.launch_server"].iter().chain(command).map(ToString::to_string).collect(),
        file: None,
        sets: Vec::new(),
        facts: facts.iter().map(|f| f.parse().unwrap()).collect(),
        fail_on,
    };
    let (options, backend) = (json(), installed(true).unwrap());
    let (exit, out, err) = console::run(None, &options, |console| command.run(&options, &backend, console));
    let document = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
    Some((exit, document, out))
}

fn findings<'v>(document: &'v Value, code: &str) -> Vec<&'v Value> {
    let all = document["launches"][0]["findings"].as_array().unwrap();
    all.iter().filter(|f| f["code"] == code).collect()
}

fn budget(version: &str, operands: &[&str]) -> Option<(Exit, Value)> {
    release::open(version)?;
    let source = format!("sglang=={version}");
    let command = BudgetCommand {
        operands: ["hicache_size", &source].iter().chain(operands).map(ToString::to_string).collect(),
        host_memory: "445GB".into(),
        reserve: "40GB".into(),
        margin: "25GB".into(),
        sets: vec!["tp_size=8".parse().unwrap()],
    };
    let (options, backend) = (json(), installed(true).unwrap());
    let (exit, out, err) = console::run(None, &options, |console| command.run(&options, &backend, console));
    Some((exit, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"))))
}

/// 300 GB, meant for the machine, are pinned by each of eight ranks.
fn incident(version: &str) {
    let command = ["--model-path", "m", "--tp", "8", "--enable-hierarchical-cache", "--hicache-size", "300"];
    let Some((exit, document, _)) = audit(version, &command, &["host_memory=449GB"], FailOn::Warning) else { return };
    assert_eq!(exit, Exit::Findings);
    let exceeds = findings(&document, "exceeds-host-memory");
    assert_eq!(exceeds.len(), 1, "{document:#}");
    assert_eq!((&exceeds[0]["total"], &exceeds[0]["level"]), (&"2400 GB".into(), &"error".into()));
    let message = exceeds[0]["message"].as_str().unwrap();
    assert!(message.contains("8 of them here: 2400 GB") && message.contains("the host has 449 GB"), "{message}");
}

/// (445 GB - 40 GB - 25 GB) / 8 = 47.5 GB, and the field takes whole ones.
fn largest(version: &str) {
    let Some((exit, document)) = budget(version, &[]) else { return };
    assert_eq!(exit, Exit::Clean);
    assert_eq!(document["largest"], 47, "{document:#}");
    assert_eq!((&document["total"], &document["available"]), (&"376 GB".into(), &"380 GB".into()));
    assert_eq!(document["holders"]["count"], 8);
    let checks = document["checks"].as_array().unwrap();
    assert!(checks.iter().any(|c| c["message"].as_str().is_some_and(|m| m.contains("Not enough host memory"))));
}

#[test]
fn the_incident_on_0_4_6() {
    incident("0.4.6");
}

#[test]
fn the_incident_on_0_5_9() {
    incident("0.5.9");
}

#[test]
fn the_incident_on_0_5_12() {
    incident("0.5.12");
}

#[test]
fn the_incident_on_0_5_23() {
    incident("0.5.23");
}

#[test]
fn the_largest_value_on_0_4_6() {
    largest("0.4.6");
}

#[test]
fn the_largest_value_on_0_5_9() {
    largest("0.5.9");
}

#[test]
fn the_largest_value_on_0_5_12() {
    largest("0.5.12");
}

#[test]
fn the_largest_value_on_0_5_23() {
    largest("0.5.23");
}

#[test]
fn a_value_that_does_not_fit_is_a_finding() {
    let Some((exit, document)) = budget("0.5.9", &["300"]) else { return };
    assert_eq!((exit, &document["fits"], &document["total"]), (Exit::Findings, &false.into(), &"2400 GB".into()));
}

#[test]
fn a_plain_command_is_silent() {
    let command =
        ["--model-path", "m", "--host", "0.0.0.0", "--port", "30000", "--tp-size", "2", "--log-level", "info"];
    let Some((exit, document, _)) = audit("0.5.9", &command, &[], FailOn::Note) else { return };
    assert_eq!((exit, &document["launches"][0]["findings"]), (Exit::Clean, &Value::Array(Vec::new())));
}

#[test]
fn the_exit_code_is_what_fail_on_says() {
    let command = ["--model-path", "m", "--port", "1", "--port", "2"];
    for (fail_on, expected) in [
        (FailOn::Error, Exit::Clean),
        (FailOn::Warning, Exit::Findings),
        (FailOn::Note, Exit::Findings),
        (FailOn::Never, Exit::Clean),
    ] {
        let Some((exit, document, _)) = audit("0.5.9", &command, &[], fail_on) else { return };
        assert_eq!(exit, expected, "{document:#}");
        assert_eq!(findings(&document, "repeated-flag").len(), 1);
    }
}

#[test]
fn a_key_is_never_printed() {
    let command = ["--model-path", "m", "--api-key", "sk-hidden-1", "--admin-api-key=sk-hidden-2"];
    let Some((_, _, out)) = audit("0.5.9", &command, &[], FailOn::Warning) else { return };
    assert!(!out.contains("sk-hidden"), "{out}");
}
