//! Runs the user's own pip to download one wheel, and says in plain words why it failed.
//!
//! Never installs anything, never builds an sdist, and never passes pip an index of its own: the user's settings hold.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::str::FromStr;

use pep440_rs::Version;

use super::notes::printable;
use super::requirement::{Requirement, is_set};
use super::{Options, SourceError};

/// Newer releases have wheels for one platform only, which need not be the one that argtrace runs on.
const ONLY_BINARY: [&str; 1] = ["--only-binary=:all:"];
const PLATFORM: [&str; 4] = ["--platform", "manylinux_2_34_x86_64", "--python-version", "3.11"];
/// How many available versions are named on each side of one that does not exist.
const NEAREST: usize = 3;

/// Downloads the wheel into `folder` and says which pip did it.
pub(super) fn download(requirement: &Requirement, folder: &Path, options: &Options) -> Result<String, SourceError> {
    let programs = programs(options);
    for program in &programs {
        let here = match attempt(program, requirement, folder, &[])? {
            Attempt::NoPip => continue,
            Attempt::Fetched => return Ok(program.join(" ")),
            Attempt::NoneMatches { offered } => offered,
        };
        let there = match attempt(program, requirement, folder, &PLATFORM)? {
            Attempt::Fetched => return Ok(program.join(" ")),
            Attempt::NoPip => Vec::new(),
            Attempt::NoneMatches { offered } => offered,
        };
        return Err(SourceError::NoSuchVersion {
            requirement: requirement.to_string(),
            nearest: nearest(&requirement.version, here.into_iter().chain(there).collect()),
        });
    }
    let tried: Vec<String> = programs.iter().map(|program| program.join(" ")).collect();
    Err(SourceError::NoPip { requirement: requirement.to_string(), tried: tried.join(", ") })
}

/// The versions that the package index offers, oldest first.
pub(super) fn versions(options: &Options) -> Result<Vec<Version>, SourceError> {
    let asked = format!("the releases of {}", options.package);
    if options.offline || is_set("ARGTRACE_OFFLINE") {
        return Err(SourceError::Offline { requirement: asked, cache: super::cache_folder(options)?.join("wheels") });
    }
    let programs = programs(options);
    for program in &programs {
        let Some((first, rest)) = program.split_first() else { continue };
        let output = Command::new(first)
            .args(rest)
            .args(["index", "versions", options.package])
            .args(ONLY_BINARY)
            .args(PLATFORM)
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .env("PIP_NO_INPUT", "1")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output();
        let Ok(output) = output else { continue };
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            if said.contains("No module named pip") {
                continue;
            }
            if let Some(sign) = NETWORK_SIGNS.iter().find(|sign| said.contains(**sign)) {
                return Err(SourceError::NoNetwork { requirement: asked, detail: (*sign).to_owned() });
            }
            return Err(SourceError::PipFailed {
                requirement: asked,
                program: program.join(" "),
                detail: reason(&said, &output),
            });
        }
        return Ok(listed(&String::from_utf8_lossy(&output.stdout)));
    }
    let tried: Vec<String> = programs.iter().map(|program| program.join(" ")).collect();
    Err(SourceError::NoPip { requirement: asked, tried: tried.join(", ") })
}

/// The versions of `Available versions: 0.5.9, 0.5.8`, oldest first.
fn listed(said: &str) -> Vec<Version> {
    let lists = said.lines().filter_map(|line| line.trim().strip_prefix("Available versions:"));
    let mut versions: Vec<Version> =
        lists.flat_map(|list| list.split(',')).filter_map(|version| Version::from_str(version.trim()).ok()).collect();
    versions.sort();
    versions.dedup();
    versions
}

/// The commands to try, each a program and its first arguments.
fn programs(options: &Options) -> Vec<Vec<String>> {
    let named = options.pip.clone().or_else(|| env::var("ARGTRACE_PIP").ok()).filter(|named| !named.trim().is_empty());
    let Some(named) = named else {
        return [&["pip"][..], &["python3", "-m", "pip"], &["python", "-m", "pip"]]
            .iter()
            .map(|program| program.iter().map(|&part| part.to_owned()).collect())
            .collect();
    };
    let mut program: Vec<String> =
        if Path::new(&named).is_file() { vec![named] } else { named.split_whitespace().map(str::to_owned).collect() };
    // pip runs in another folder, where a relative path would mean another file.
    if let Some(first) = program.first_mut()
        && first.contains(['/', '\\'])
        && let Ok(absolute) = fs::canonicalize(&*first)
    {
        *first = absolute.display().to_string();
    }
    vec![program]
}

enum Attempt {
    Fetched,
    /// The program is not there, or is a Python without pip.
    NoPip,
    /// The index was reached and has no such wheel; `offered` are the versions that pip saw.
    NoneMatches {
        offered: Vec<String>,
    },
}

fn attempt(
    program: &[String],
    requirement: &Requirement,
    folder: &Path,
    platform: &[&str],
) -> Result<Attempt, SourceError> {
    let Some((first, rest)) = program.split_first() else {
        return Ok(Attempt::NoPip);
    };
    let output = Command::new(first)
        .args(rest)
        .args(["download", "--no-deps", "--only-binary=:all:", "-d"])
        .arg(folder)
        .args(platform)
        .arg(requirement.to_string())
        .current_dir(folder)
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .env("PIP_NO_INPUT", "1")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(Attempt::Fetched),
        Ok(output) => failure(program, requirement, &output),
        Err(_) => Ok(Attempt::NoPip),
    }
}

/// What pip's own words say about a failure. They have not changed since pip 20.
fn failure(program: &[String], requirement: &Requirement, output: &Output) -> Result<Attempt, SourceError> {
    const COMMAND_NOT_FOUND: i32 = 127;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(COMMAND_NOT_FOUND) || said.contains("No module named pip") {
        return Ok(Attempt::NoPip);
    }
    let offered = offered(&said);
    if offered.is_empty()
        && let Some(sign) = NETWORK_SIGNS.iter().find(|sign| said.contains(**sign))
    {
        return Err(SourceError::NoNetwork { requirement: requirement.to_string(), detail: (*sign).to_owned() });
    }
    if said.contains("No matching distribution") || said.contains("Could not find a version") {
        return Ok(Attempt::NoneMatches { offered });
    }
    Err(SourceError::PipFailed {
        requirement: requirement.to_string(),
        program: program.join(" "),
        detail: reason(&said, output),
    })
}

/// What pip says of a network that fails, the plainest words first.
const NETWORK_SIGNS: [&str; 12] = [
    "Temporary failure in name resolution",
    "Name or service not known",
    "Connection refused",
    "Network is unreachable",
    "Read timed out",
    "certificate verify failed",
    "Failed to establish a new connection",
    "ProxyError",
    "SSLError",
    "ConnectTimeout",
    "Max retries exceeded",
    "connection broken by",
];

/// The versions in `(from versions: 0.5.8, 0.5.9)`.
fn offered(said: &str) -> Vec<String> {
    said.split("(from versions:")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .flat_map(|(list, _)| list.split(','))
        .map(str::trim)
        .filter(|version| *version != "none")
        .map(str::to_owned)
        .collect()
}

fn nearest(wanted: &Version, offered: Vec<String>) -> Vec<String> {
    let mut versions: Vec<Version> = offered.iter().filter_map(|version| Version::from_str(version).ok()).collect();
    versions.sort();
    versions.dedup();
    let place = versions.partition_point(|version| version < wanted);
    let end = versions.len().min(place + NEAREST);
    versions[place.saturating_sub(NEAREST)..end].iter().map(Version::to_string).collect()
}

/// pip's last error line, else its last line.
fn reason(said: &str, output: &Output) -> String {
    let lines = || said.lines().rev().filter(|line| !line.trim().is_empty());
    match lines().find(|line| line.starts_with("ERROR")).or_else(|| lines().next()) {
        Some(line) => shortened(line),
        None => output.status.to_string(),
    }
}

fn shortened(line: &str) -> String {
    const MOST: usize = 300;
    let line = printable(line.trim());
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}...", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_versions_stand_on_both_sides() {
        let said = "ERROR: Could not find a version that satisfies the requirement sglang==0.5.7 \
                    (from versions: 0.5.10, 0.5.9, 0.5.8, 0.5.6, 0.5.5, 0.4, 0.3)";
        let wanted = Version::from_str("0.5.7").expect("a version");
        assert_eq!(nearest(&wanted, offered(said)), ["0.4", "0.5.5", "0.5.6", "0.5.8", "0.5.9", "0.5.10"]);
        assert_eq!(offered("(from versions: none)"), Vec::<String>::new());
        let all: Vec<String> = listed("x (0.5.9)\nAvailable versions: 0.5.9, 0.5.10, 0.5.8\n").iter().map(Version::to_string).collect();
        assert_eq!(all, ["0.5.8", "0.5.9", "0.5.10"]);
    }
}
