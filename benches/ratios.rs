//! How long argtrace takes, as ratios to finding a word (ripgrep) and to parsing every file (tree-sitter), in one run.
//!
//!     cargo bench --bench ratios -- TREE...
//!
//! A TREE is an unpacked release. Machines are noisy, so each figure is the median of pairs: the thing measured, then what
//! it is compared with. `rg` must be on the path. The last lines tell how cost grows with code that has nothing to do with
//! the question: the tree is made two and four times as large by renamed copies of the packages beside the server's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAIRS: usize = 9;
const ARGTRACE: &str = env!("CARGO_BIN_EXE_argtrace");

/// What is asked of argtrace; `warm` with a cache that has the answer.
struct Job {
    what: &'static str,
    arguments: &'static [&'static str],
    warm: bool,
    against_parse: bool,
    bar: f64,
}

const JOBS: &[Job] = &[
    Job { what: "narrow field, cold", arguments: &["hicache_size"], warm: false, against_parse: false, bar: 5.0 },
    Job { what: "wide field, cold", arguments: &["page_size"], warm: false, against_parse: true, bar: 0.5 },
    Job { what: "all fields, cold", arguments: &["fields"], warm: false, against_parse: true, bar: 0.75 },
    Job { what: "one field, warm", arguments: &["hicache_size"], warm: true, against_parse: false, bar: 2.0 },
    Job { what: "all fields, warm", arguments: &["fields"], warm: true, against_parse: false, bar: 8.0 },
];

fn main() {
    let trees: Vec<PathBuf> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).map(PathBuf::from).collect();
    if trees.is_empty() {
        eprintln!("name one or more unpacked releases: cargo bench --bench ratios -- TREE...");
        return;
    }
    for tree in &trees {
        println!("{}", tree.display());
        println!("  {:20} {:>10} {:>10} {:>8} {:>8} {:>9}", "", "took", "other", "ratio", "bar", "memory");
        for job in JOBS {
            measure(job, tree);
        }
        grow(tree);
    }
}

/// The package whose other packages are copied, and the one among them that is asked about.
const PACKAGE: &str = "sglang";
const OWN: &str = "srt";
const SIZES: [u64; 3] = [1, 2, 4];

/// A narrow field, cold, in ever larger trees; in turns, so that noise meets all sizes alike.
fn grow(tree: &Path) {
    let folders: Vec<tempfile::TempDir> = SIZES.iter().map(|size| grown(tree, *size)).collect();
    let job = &JOBS[0];
    let mut took = [const { Vec::new() }; SIZES.len()];
    for _ in 0..PAIRS {
        for (took, folder) in took.iter_mut().zip(&folders) {
            took.push(ask(job, folder.path()).0.as_secs_f64());
        }
    }
    let [one, ..] = took.clone().map(median);
    for ((size, folder), took) in SIZES.iter().zip(&folders).zip(took) {
        let (took, found) = (median(took), find_word(folder.path()).as_secs_f64());
        println!(
            "  {:20} {:>7.0} ms {:>7.0} ms {:>7.2}x",
            format!("{}, {size}x the tree", job.arguments[0]),
            took * 1e3,
            found * 1e3,
            took / one
        );
    }
}

/// A copy of the tree with so many times its Python code.
fn grown(tree: &Path, size: u64) -> tempfile::TempDir {
    let target = tempfile::tempdir().expect("a folder");
    let package = target.path().join(PACKAGE);
    let source = tree.join(PACKAGE);
    let whole = copy(&source, &package);
    let others: Vec<PathBuf> = std::fs::read_dir(&source)
        .expect("a package")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && !path.ends_with(OWN))
        .collect();
    let mut bytes = whole;
    for (copies, other) in (1..).flat_map(|n| others.iter().map(move |other| (n, other))) {
        if bytes >= whole * size || copies > 1000 {
            break;
        }
        let name = other.file_name().unwrap_or_default().to_string_lossy();
        bytes += copy(other, &package.join(format!("{name}_{copies}")));
    }
    target
}

/// Copies the Python files of a folder; how many bytes they have.
fn copy(from: &Path, to: &Path) -> u64 {
    let files =
        walkdir::WalkDir::new(from).into_iter().flatten().filter(|e| e.path().extension().is_some_and(|x| x == "py"));
    let copied = files.map(|file| {
        let target = to.join(file.path().strip_prefix(from).expect("under the folder"));
        std::fs::create_dir_all(target.parent().expect("in a folder")).expect("a folder");
        std::fs::copy(file.path(), target).expect("copied")
    });
    copied.sum()
}

fn measure(job: &Job, tree: &Path) {
    let mut ratios = Vec::new();
    let (mut took, mut others, mut memory) = (Vec::new(), Vec::new(), 0);
    if job.warm {
        ask(job, tree);
    }
    for _ in 0..PAIRS {
        let (own, peak) = ask(job, tree);
        let other = if job.against_parse { parse_all(tree) } else { find_word(tree) };
        ratios.push(own.as_secs_f64() / other.as_secs_f64());
        took.push(own.as_secs_f64());
        others.push(other.as_secs_f64());
        memory = memory.max(peak);
    }
    let (ratio, own, other) = (median(ratios), median(took), median(others));
    let against = if job.against_parse { "parse" } else { "rg" };
    println!(
        "  {:20} {:>7.0} ms {:>7.0} ms {:>7.2}x {:>7.2}x {:>5} MiB  against {against}",
        job.what,
        own * 1e3,
        other * 1e3,
        ratio,
        job.bar,
        memory >> 10
    );
}

/// Runs argtrace; how long it took, and its peak of memory in KiB.
fn ask(job: &Job, tree: &Path) -> (Duration, u64) {
    let start = Instant::now();
    let mut command = Command::new(ARGTRACE);
    command.args(job.arguments).arg(tree).arg("-q").stdout(Stdio::null());
    if !job.warm {
        command.arg("--no-cache");
    }
    let mut child = command.spawn().expect("argtrace starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if child.try_wait().expect("a child can be waited for").is_some() {
            return (start.elapsed(), peak);
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        peak = peak.max(line.and_then(|l| l.trim().split(' ').next()?.parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn find_word(tree: &Path) -> Duration {
    let start = Instant::now();
    let found = Command::new("rg").args(["-n", "hicache_size"]).arg(tree).stdout(Stdio::null()).status();
    if let Err(error) = found {
        eprintln!("rg cannot be run ({error}); install ripgrep to compare with it");
        std::process::exit(2);
    }
    start.elapsed()
}

/// Parses each Python file, on all cores.
fn parse_all(tree: &Path) -> Duration {
    use rayon::prelude::*;
    let start = Instant::now();
    let files: Vec<PathBuf> = walkdir::WalkDir::new(tree)
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    files.par_iter().for_each(|file| {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&tree_sitter_python::LANGUAGE.into()).expect("the grammar fits the library");
        let text = std::fs::read(file).unwrap_or_default();
        std::hint::black_box(parser.parse(&text, None));
    });
    start.elapsed()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
