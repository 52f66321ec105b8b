//! Revisions of git repositories as sources: full, bare and shallow, never checked out.

use argtrace::source::{self, Kind, Options, SourceError};
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn write(folder: &Path, file: &str, text: &str) {
    let file = folder.join(file);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
    std::fs::write(file, text).expect("written");
}

/// A repository of two releases, with a change that is not committed.
fn repository(folder: &Path) {
    git(folder, &["init", "-q", "."]);
    write(folder, "python/pyproject.toml", "[project]\nname = \"sglang\"\nversion = \"1.0\"\n");
    write(folder, "python/sglang/__init__.py", "");
    write(folder, "python/sglang/srt/server_args.py", "class ServerArgs:\n    size: int = 1\n");
    write(folder, "docs/notes.py", "print(1)\n");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "one"]);
    git(folder, &["tag", "v1.0"]);
    write(folder, "python/pyproject.toml", "[project]\nname = \"sglang\"\nversion = \"2.0\"\n");
    write(folder, "python/sglang/srt/server_args.py", "class ServerArgs:\n    size: int = 2\n");
    write(folder, "python/sglang/srt/more.py", "");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "two"]);
    git(folder, &["tag", "-a", "v2.0", "-m", "two"]);
    write(folder, "python/sglang/srt/server_args.py", "not committed");
}

fn options() -> Options<'static> {
    Options::of("sglang", "srt/server_args.py")
}

fn text(spec: &str, file: &str) -> String {
    let tree = source::open(spec, &options()).unwrap_or_else(|error| panic!("{spec}: {error}"));
    assert_eq!(tree.kind(), Kind::Revision);
    let index = tree.files().iter().position(|f| f.path == file).expect("the file");
    String::from_utf8(tree.read(index).expect("readable")).expect("utf-8")
}

const ARGS: &str = "sglang/srt/server_args.py";

#[test]
fn a_revision_is_read_from_the_object_store() {
    let folder = tempfile::tempdir().expect("folder");
    repository(folder.path());
    let spec = |revision: &str| format!("{}@{revision}", folder.path().display());
    assert!(text(&spec("v1.0"), ARGS).contains("= 1"));
    for revision in ["v2.0", "HEAD", "main", "v1.0^{tree}", "HEAD~1"] {
        let expected = if matches!(revision, "v1.0^{tree}" | "HEAD~1") { "= 1" } else { "= 2" };
        assert!(text(&spec(revision), ARGS).contains(expected), "{revision}");
    }
    let tree = source::open(&spec("v1.0"), &options()).expect("a tree");
    assert_eq!(tree.version(), Some("1.0"));
    let paths: Vec<&str> = tree.files().iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["sglang/__init__.py", ARGS]);
    assert_eq!(source::naming(&spec("v1.0"), &options()), source::Naming::Source);
}

#[test]
fn bare_and_shallow_clones_will_do() {
    let folder = tempfile::tempdir().expect("folder");
    let full = folder.path().join("full");
    std::fs::create_dir(&full).expect("created");
    repository(&full);
    let url = format!("file://{}", full.display());
    git(folder.path(), &["clone", "-q", "--bare", &url, "bare.git"]);
    git(folder.path(), &["clone", "-q", "--depth", "1", &url, "shallow"]);
    let at = |name: &str, revision: &str| format!("{}@{revision}", folder.path().join(name).display());
    assert!(text(&at("bare.git", "v1.0"), ARGS).contains("= 1"));
    assert!(text(&at("shallow", "HEAD"), ARGS).contains("= 2"));
    // What a shallow clone does not have, it says how to get.
    let error = source::open(&at("shallow", "HEAD~1"), &options()).expect_err("not there");
    assert!(matches!(error, SourceError::NoRevision { shallow: true, .. }), "{error}");
    assert!(error.to_string().contains("git fetch --depth"), "{error}");
}

#[test]
fn what_is_no_revision_is_told() {
    let folder = tempfile::tempdir().expect("folder");
    repository(folder.path());
    let unknown = source::open(&format!("{}@v9", folder.path().display()), &options()).expect_err("no such tag");
    assert!(unknown.to_string().contains("v9"), "{unknown}");
    let outside = tempfile::tempdir().expect("folder");
    let none = source::open(&format!("{}@v1", outside.path().display()), &options()).expect_err("no repository");
    assert!(matches!(none, SourceError::NoRepository { .. }), "{none}");
    let elsewhere = tempfile::tempdir().expect("folder");
    git(elsewhere.path(), &["init", "-q", "."]);
    write(elsewhere.path(), "other/x.py", "");
    git(elsewhere.path(), &["add", "."]);
    git(elsewhere.path(), &["commit", "-q", "-m", "x"]);
    let other = source::open(&format!("{}@HEAD", elsewhere.path().display()), &options()).expect_err("no package");
    assert!(matches!(other, SourceError::NoPackageInArchive { .. }), "{other}");
}
