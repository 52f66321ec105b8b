//! What goes wrong around a run: a damaged, unwritable or shared cache, a full disk, a process that is killed, files that
//! change meanwhile. Each time the output is right, or there is a clear error and what was there before.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const ARGTRACE: &str = env!("CARGO_BIN_EXE_argtrace");

/// A tree with one field of which there is something to say, and an empty cache.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        place.write_tree("30");
        place
    }

    fn tree(&self) -> PathBuf {
        self.0.path().join("tree/sglang")
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    fn write_tree(&self, default: &str) {
        let folder = self.tree().join("srt");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(self.tree().join("__init__.py"), "").expect("written");
        fs::write(folder.join("server_args.py"), record(default)).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(ARGTRACE);
        command.args(arguments).current_dir(self.0.path()).env("ARGTRACE_CACHE_DIR", self.cache());
        command.stdin(Stdio::null());
        command
    }

    fn report(&self, extra: &[&str]) -> Vec<u8> {
        let arguments = [&["wait", "tree/sglang", "--format", "json", "-q"], extra].concat();
        right(&self.command(&arguments).output().expect("argtrace runs"))
    }

    /// What the cache keeps.
    fn answers(&self) -> Vec<PathBuf> {
        let files = walkdir::WalkDir::new(self.cache()).into_iter().flatten().map(walkdir::DirEntry::into_path);
        files.filter(|path| path.is_file()).collect()
    }
}

fn record(default: &str) -> String {
    format!(
        "from dataclasses import dataclass\n\
         import time\n\n\
         @dataclass\n\
         class ServerArgs:\n    \
             wait: float = {default}\n\n    \
             @staticmethod\n    \
             def add_cli_args(parser):\n        \
                 parser.add_argument(\"--wait\", type=float, default=ServerArgs.wait, help=\"How long.\")\n\n\n\
         def start(server_args: ServerArgs):\n    \
             time.sleep(server_args.wait)\n"
    )
}

fn right(output: &Output) -> Vec<u8> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.clone()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_damaged_answer_is_worked_out_and_kept_anew() {
    let place = Place::new();
    let expected = place.report(&["--no-cache"]);
    assert_eq!(place.report(&[]), expected);
    let answers = place.answers();
    assert!(!answers.is_empty(), "something is kept");
    for answer in answers {
        let whole = fs::read(&answer).expect("readable");
        for damaged in damages(&whole) {
            fs::write(&answer, &damaged).expect("written");
            assert_eq!(place.report(&[]), expected);
            assert_eq!(fs::read(&answer).expect("readable"), whole, "the damaged answer was replaced");
        }
    }
}

/// A bit of each byte of the header, and of some others; cut at some lengths; grown; replaced.
fn damages(whole: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    const HEADER: usize = 40;
    let flipped = (0..HEADER).chain((HEADER..whole.len()).step_by(whole.len() / 20)).map(|at| {
        let mut damaged = whole.to_vec();
        damaged[at] ^= 1 << (at % 8);
        damaged
    });
    let cut = (0..whole.len()).step_by(whole.len() / 20).map(|to| whole[..to].to_vec());
    flipped.chain(cut).chain([whole.repeat(2), vec![0; 4096], b"{}".to_vec()])
}

#[test]
fn an_answer_under_another_s_name_is_none() {
    let place = Place::new();
    place.report(&[]);
    let before = place.answers();
    place.write_tree("60");
    let expected = place.report(&["--no-cache"]);
    place.report(&[]);
    let new: Vec<PathBuf> = place.answers().into_iter().filter(|path| !before.contains(path)).collect();
    assert!(!new.is_empty(), "another tree has its own answers");
    for (new, old) in new.iter().flat_map(|new| before.iter().map(move |old| (new, old))) {
        fs::copy(old, new).expect("copied");
        assert_eq!(text(&place.report(&[])), text(&expected));
    }
}

#[test]
fn a_cache_that_cannot_be_used_is_done_without() {
    let place = Place::new();
    let expected = place.report(&["--no-cache"]);
    fs::write(place.cache(), "a file where a folder should be").expect("written");
    assert_eq!(place.report(&[]), expected);
    fs::remove_file(place.cache()).expect("removed");
    fs::create_dir_all(place.cache()).expect("a folder");
    fs::write(place.cache().join("meanings"), "").expect("written");
    assert_eq!(place.report(&[]), expected);
    let mut nowhere = place.command(&["wait", "tree/sglang", "--format", "json", "-q"]);
    nowhere.env("ARGTRACE_CACHE_DIR", "/proc/no/such/folder");
    assert_eq!(right(&nowhere.output().expect("argtrace runs")), expected);
}

/// A disk that takes no more than so many blocks of a file.
fn on_a_full_disk(place: &Place, blocks: u32, arguments: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {ARGTRACE} {arguments}");
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(place.0.path()).env("ARGTRACE_CACHE_DIR", place.cache());
    command.output().expect("bash runs")
}

#[test]
fn a_full_disk_costs_no_answer_and_no_file() {
    let place = Place::new();
    let expected = place.report(&["--no-cache"]);
    let output = on_a_full_disk(&place, 0, "wait tree/sglang --format json -q");
    assert_eq!(right(&output), expected, "the cache cannot be written");
    for (file, arguments) in [
        ("report.json", "wait tree/sglang --format json -q -o report.json"),
        ("lock.json", "snapshot tree/sglang -q -o lock.json"),
        ("page.md", "docs tree/sglang -q --inject page.md"),
    ] {
        let path = place.0.path().join(file);
        let before = "# Before\n\n<!-- argtrace:begin -->\n<!-- argtrace:end -->\n";
        fs::write(&path, before).expect("written");
        let output = on_a_full_disk(&place, 0, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(file), "{arguments}: {}", text(&output.stderr));
        assert_eq!(fs::read_to_string(&path).expect("readable"), before, "{arguments}");
        assert_eq!(leftovers(&place), Vec::<String>::new(), "{arguments}");
    }
}

/// What lies beside the files that were asked for.
fn leftovers(place: &Place) -> Vec<String> {
    let names = fs::read_dir(place.0.path()).expect("readable").flatten().map(|e| e.file_name());
    let names = names.map(|n| n.to_string_lossy().into_owned());
    names.filter(|n| !["tree", "cache", "report.json", "lock.json", "page.md"].contains(&n.as_str())).collect()
}

#[test]
fn killed_at_any_moment_nothing_is_half_written() {
    let place = Place::new();
    let expected = place.report(&["--no-cache"]);
    let before = "# Before\n\n<!-- argtrace:begin -->\n<!-- argtrace:end -->\n";
    let page = place.0.path().join("page.md");
    fs::write(&page, before).expect("written");
    right(&place.command(&["docs", "tree/sglang", "-q", "--inject", "page.md"]).output().expect("argtrace runs"));
    let after = fs::read_to_string(&page).expect("readable");
    assert_ne!(before, after);
    right(&place.command(&["snapshot", "tree/sglang", "-q", "-o", "lock.json"]).output().expect("argtrace runs"));
    let lock = fs::read_to_string(place.0.path().join("lock.json")).expect("readable");
    for moment in 0..120 {
        fs::write(&page, before).expect("written");
        fs::write(place.0.path().join("lock.json"), "old").expect("written");
        let _ = fs::remove_dir_all(place.cache());
        let runs: [&[&str]; 3] = [
            &["wait", "tree/sglang", "--format", "json", "-q", "-o", "report.json"],
            &["docs", "tree/sglang", "-q", "--inject", "page.md"],
            &["snapshot", "tree/sglang", "-q", "-o", "lock.json"],
        ];
        for arguments in runs {
            let mut child: Child = place.command(arguments).spawn().expect("argtrace starts");
            std::thread::sleep(Duration::from_micros(250 * moment));
            child.kill().expect("killed or gone");
            child.wait().expect("waited for");
        }
        let is_one_of = |file: &str, texts: [&str; 2]| {
            let found = fs::read_to_string(place.0.path().join(file)).expect("readable");
            assert!(texts.contains(&found.as_str()), "{file} after {moment} steps: {found}");
        };
        is_one_of("page.md", [before, &after]);
        is_one_of("lock.json", ["old", &lock]);
        if let Ok(report) = fs::read(place.0.path().join("report.json")) {
            assert_eq!(text(&report), text(&expected), "after {moment} steps");
        }
        assert_eq!(text(&place.report(&[])), text(&expected), "after {moment} steps");
    }
}

#[test]
fn two_hundred_processes_share_a_cold_cache() {
    let place = Place::new();
    let expected = place.report(&["--no-cache"]);
    let start = |_| {
        let mut command = place.command(&["wait", "tree/sglang", "--format", "json", "-q"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("argtrace starts")
    };
    let children: Vec<Child> = (0..200).map(start).collect();
    for child in children {
        assert_eq!(right(&child.wait_with_output().expect("waited for")), expected);
    }
    let unfinished = |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    assert_eq!(place.answers().iter().find(unfinished), None, "no leftovers");
}

#[test]
fn a_tree_that_changes_meanwhile_gives_the_one_or_the_other() {
    let place = Place::new();
    let old = place.report(&["--no-cache"]);
    place.write_tree("60");
    let new = place.report(&["--no-cache"]);
    assert_ne!(old, new);
    let target = place.tree().join("srt/server_args.py");
    let swap = |path: &Path, i: usize| {
        let next = path.with_extension("next");
        fs::write(&next, record(["30", "60"][i % 2])).expect("written");
        fs::rename(&next, path).expect("renamed");
    };
    std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let swapped = &target;
        scope.spawn(move || {
            let mut i = 0;
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                swap(swapped, i);
                i += 1;
            }
        });
        for _ in 0..60 {
            let found = place.report(&[]);
            assert!(found == old || found == new, "{}", text(&found));
        }
        drop(stop);
    });
}
