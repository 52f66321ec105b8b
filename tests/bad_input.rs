//! What cannot be read, or only in part: each is told in plain words that name the file, and none ends in a panic.
//!
//! The command ends with 2 only where nothing can be said; else with the report, what was skipped standing on stderr.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// A sound package of two fields, one of them read.
const SOUND: [(&str, &str); 3] = [
    ("sglang/__init__.py", ""),
    (
        "sglang/srt/server_args.py",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass ServerArgs:\n    size: int = 0\n    port: int = 1\n",
    ),
    (
        "sglang/srt/worker.py",
        "from sglang.srt.server_args import ServerArgs\n\n\ndef work(args: ServerArgs):\n    return args.size\n",
    ),
];

fn sound() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in SOUND {
        put(folder.path(), path, text);
    }
    folder
}

fn put(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Runs `argtrace size SOURCE --format json` and gives its exit code, stdout and stderr.
fn ask(source: &Path) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_argtrace"))
        .args(["size", "--format", "json"])
        .arg(source)
        .timeout(std::time::Duration::from_secs(60))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().expect("not killed"), text(output.stdout), text(output.stderr))
}

/// Nothing can be said: exit 2, nothing on stdout, one line that holds all parts.
fn assert_refused(source: &Path, parts: &[&str]) {
    let (code, stdout, stderr) = ask(source);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.starts_with("argtrace: ") && stderr.trim_end().lines().count() == 1, "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "no `{part}` in {stderr}");
    }
}

/// The report is given, with the one read there is; each part stands on stderr.
fn assert_reported(source: &Path, parts: &[&str]) {
    let (code, stdout, stderr) = ask(source);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let reads = report["fields"][0]["reads"].as_array().unwrap();
    let read = |r: &serde_json::Value| (r["path"].as_str().unwrap().to_owned(), r["line"].as_u64().unwrap());
    assert!(reads.iter().map(read).any(|r| r == ("sglang/srt/worker.py".to_owned(), 5)), "{reads:?}");
    for part in parts {
        assert!(stderr.contains(part), "no `{part}` in `{stderr}`");
    }
    if parts.is_empty() {
        assert_eq!(stderr, "");
    }
}

#[test]
fn a_sound_tree_needs_no_remark() {
    assert_reported(sound().path(), &[]);
}

#[test]
fn a_folder_of_something_else() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "notes.txt", "hello");
    put(folder.path(), "other/__init__.py", "");
    let name = folder.path().display().to_string();
    assert_refused(folder.path(), &["no sglang tree at", &name, "expected", "srt/server_args.py", "sglang==VERSION"]);
}

#[test]
fn an_empty_folder() {
    let folder = TempDir::new().unwrap();
    assert_refused(folder.path(), &[&folder.path().display().to_string(), "is an empty folder", "expected a checkout"]);
}

#[test]
fn a_path_to_nothing() {
    assert_refused(Path::new("./no/such/place"), &["`./no/such/place`", "no such file or folder", "A source is"]);
}

#[test]
fn a_broken_wheel() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "sglang-1.0-py3-none-any.whl", "PK\x03\x04 and then nothing of the kind");
    let wheel = folder.path().join("sglang-1.0-py3-none-any.whl");
    assert_refused(&wheel, &["cannot read the archive", &wheel.display().to_string(), "Fetch the file again"]);
}

#[test]
fn a_tree_without_the_record() {
    let folder = sound();
    put(folder.path(), "sglang/srt/server_args.py", "PORT = 1\n");
    assert_refused(folder.path(), &[&folder.path().display().to_string(), "no class named ServerArgs"]);
}

#[test]
fn a_record_that_is_not_text() {
    let folder = sound();
    let utf16: Vec<u8> = "class ServerArgs:\n    size: int = 0\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    put(folder.path(), "sglang/srt/server_args.py", utf16);
    let name = folder.path().display().to_string();
    assert_refused(folder.path(), &[&name, "no class named ServerArgs"]);
}

#[test]
fn a_file_that_is_not_utf_8_is_read_as_far_as_it_goes() {
    let folder = sound();
    let mut latin = b"# caf\xe9\nfrom sglang.srt.server_args import ServerArgs\n".to_vec();
    latin.extend(b"def serve(args: ServerArgs):\n    return '\xe9', args.size\n");
    put(folder.path(), "sglang/srt/latin.py", latin);
    assert_reported(folder.path(), &[]);
    let (_, stdout, _) = ask(folder.path());
    assert!(stdout.contains("sglang/srt/latin.py"), "{stdout}");
}

#[test]
fn a_file_that_is_not_text_is_left_out() {
    let folder = sound();
    put(folder.path(), "sglang/srt/binary.py", b"\xff\xfes\0i\0z\0e\0");
    assert_reported(folder.path(), &["sglang/srt/binary.py", "skipped", "NUL"]);
}

#[test]
fn a_file_that_does_not_parse() {
    let folder = sound();
    put(folder.path(), "sglang/srt/torn.py", "def serve(args:\n    return args.size size (\n");
    assert_reported(folder.path(), &["sglang/srt/torn.py:1", "does not parse", "skipped"]);
}

#[test]
fn a_file_of_nothing_but_depth() {
    let folder = sound();
    put(folder.path(), "sglang/srt/deep.py", format!("size = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000)));
    put(folder.path(), "sglang/srt/long.py", format!("size = 1{}\n", " + 1".repeat(20_000)));
    put(folder.path(), "sglang/srt/nest.py", nested(3_000));
    let (code, stdout, stderr) = ask(folder.path());
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("sglang/srt/worker.py"));
}

/// `if size:` within `if size:`.
fn nested(depth: usize) -> String {
    let mut text: String = (0..depth).map(|i| format!("{}if size:\n", " ".repeat(i))).collect();
    text.push_str(&format!("{}pass\n", " ".repeat(depth)));
    text
}

#[test]
fn a_file_over_the_limit() {
    let folder = sound();
    put(folder.path(), "sglang/srt/big.py", vec![b'\n'; (argtrace::source::MAX_FILE + 1) as usize]);
    assert_reported(folder.path(), &["sglang/srt/big.py", "larger than 16 MiB"]);
}

#[test]
fn classes_that_derive_from_each_other() {
    let folder = sound();
    put(
        folder.path(),
        "sglang/srt/ring.py",
        "from sglang.srt.worker import work\nclass A(B):\n    def size(self):\n        return self.size\nclass B(A):\n    \
         size = A().size\ndef size(size=size):\n    return size(size)\n",
    );
    assert_reported(folder.path(), &[]);
}

#[cfg(unix)]
#[test]
fn links_in_a_circle() {
    let folder = sound();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, folder.path().join("sglang/srt").join(at)).unwrap();
    link("..", "loop");
    link("circle.py", "circle.py");
    link("gone.py", "dangling.py");
    assert_reported(folder.path(), &["srt/loop: it is a link to a folder", "srt/circle.py", "srt/dangling.py"]);
}
