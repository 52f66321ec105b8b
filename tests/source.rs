//! Opens small trees of every kind, sound and hostile, and checks what is listed, read, noted and refused.
//!
//! Never uses the network: pip is a shell script here.

use std::cell::RefCell;
use std::env;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use argtrace::source::{Kind, MAX_FILE, Naming, Options, SourceError, Tree, cache_folder, naming, open, open_current};
use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// The package that the sound trees hold, out of order.
const PACKAGE: [(&str, &str); 4] = [
    ("sglang/srt/server_args.py", "class ServerArgs: pass\n"),
    ("sglang/__init__.py", ""),
    ("sglang/version.py", "__version__ = \"1.2.3\"\n"),
    ("sglang/README.md", "no Python"),
];
const LISTED: [&str; 3] = ["sglang/__init__.py", "sglang/srt/server_args.py", "sglang/version.py"];

fn options() -> Options<'static> {
    Options::of("sglang", "srt/server_args.py")
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    add(folder.path(), "", files);
    folder
}

fn add(folder: &Path, under: &str, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(under).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn wheel_bytes() -> Vec<u8> {
    let mut files = PACKAGE.to_vec();
    files.push(("sglang-1.2.4.dist-info/METADATA", "Name: sglang\nVersion: 1.2.4\n\n"));
    zipped(&files)
}

fn tarred(fill: impl FnOnce(&mut tar::Builder<GzEncoder<Vec<u8>>>)) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    fill(&mut builder);
    builder.into_inner().unwrap().finish().unwrap()
}

fn tar_file(builder: &mut tar::Builder<GzEncoder<Vec<u8>>>, path: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_gnu();
    // Written by hand, since the builder refuses a path with `..`.
    let name = &mut header.as_old_mut().name;
    name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, bytes).unwrap();
}

/// A file in a folder of its own.
fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn opened(path: &Path) -> Tree {
    try_open(path).unwrap_or_else(|error| panic!("{error}"))
}

fn try_open(path: &Path) -> Result<Tree, SourceError> {
    open(path.to_str().unwrap(), &options())
}

fn paths(tree: &Tree) -> Vec<&str> {
    tree.files().iter().map(|file| file.path.as_str()).collect()
}

fn read(tree: &Tree, path: &str) -> Result<Vec<u8>, SourceError> {
    let index = paths(tree).iter().position(|listed| *listed == path);
    tree.read(index.unwrap())
}

fn assert_sound(tree: &Tree, kind: Kind, version: Option<&str>) {
    assert_eq!(paths(tree), LISTED);
    assert_eq!(tree.package(), "sglang");
    assert_eq!((tree.kind(), tree.version()), (kind, version));
    assert_eq!(tree.notes(), [""; 0]);
    assert_eq!(read(tree, "sglang/srt/server_args.py").unwrap(), PACKAGE[0].1.as_bytes());
}

#[test]
fn every_kind_gives_the_same_files() {
    let site = folder(&PACKAGE);
    assert_sound(&opened(site.path()), Kind::Package, Some("1.2.3"));
    assert_sound(&opened(&site.path().join("sglang")), Kind::Package, Some("1.2.3"));
    let metadata = "Name: sglang\nVersion: 1.2.4\n";
    add(site.path(), "", &[("sglang-1.2.4.dist-info/METADATA", metadata)]);
    assert_sound(&opened(site.path()), Kind::Package, Some("1.2.4"));

    let checkout = TempDir::new().unwrap();
    add(checkout.path(), "python", &PACKAGE);
    add(checkout.path(), "python", &[("pyproject.toml", "")]);
    for inner in ["", "python", "python/sglang"] {
        let tree = opened(&checkout.path().join(inner));
        assert_sound(&tree, Kind::Checkout, Some("1.2.3"));
    }

    let venv = TempDir::new().unwrap();
    add(venv.path(), "lib/python3.11/site-packages", &PACKAGE);
    assert_sound(&opened(venv.path()), Kind::Package, Some("1.2.3"));

    let (_keep, path) = file("sglang-1.2.4-py3-none-any.whl", &wheel_bytes());
    assert_sound(&opened(&path), Kind::Wheel, Some("1.2.4"));

    let top = |path: &str| format!("sglang-main/python/{path}");
    let tar = tarred(|tar| {
        for (path, text) in PACKAGE {
            tar_file(tar, &top(path), text.as_bytes());
        }
    });
    let (_keep, path) = file("sglang-main.tar.gz", &tar);
    assert_sound(&opened(&path), Kind::Sdist, Some("1.2.3"));

    let named: Vec<(String, &str)> = PACKAGE.map(|(path, text)| (top(path), text)).to_vec();
    let named: Vec<(&str, &str)> = named.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let (_keep, path) = file("main.zip", &zipped(&named));
    assert_sound(&opened(&path), Kind::Sdist, Some("1.2.3"));
}

#[test]
fn reads_from_many_threads() {
    let (_keep, path) = file("sglang-1.2.4-py3-none-any.whl", &wheel_bytes());
    let tree = opened(&path);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(read(&tree, "sglang/srt/server_args.py").unwrap(), PACKAGE[0].1.as_bytes());
                }
            });
        }
    });
    assert!(tree.read(99).is_err());
}

#[test]
fn a_checkout_follows_its_ignore_rules() {
    let checkout = TempDir::new().unwrap();
    add(checkout.path(), "python", &PACKAGE);
    add(
        checkout.path(),
        "",
        &[
            ("python/pyproject.toml", "[project]\nversion = \"7\"\n"),
            (".gitignore", "outputs/\n"),
            ("python/sglang/outputs/x.py", ""),
            ("python/sglang/.hidden/y.py", ""),
        ],
    );
    let mut expected = LISTED.to_vec();
    expected.insert(0, "sglang/.hidden/y.py");
    assert_eq!(paths(&opened(checkout.path())), expected);
    // The same from the inside, where the rules lie above.
    assert_eq!(paths(&opened(&checkout.path().join("python/sglang"))), expected);

    fs::write(checkout.path().join(".gitignore"), "*\n").unwrap();
    let tree = opened(checkout.path());
    assert_eq!(tree.files().len(), 5);
    assert!(tree.notes()[0].contains("ignore rules"));
}

#[cfg(unix)]
#[test]
fn a_folder_is_never_left_and_never_hangs() {
    use std::ffi::OsStr;
    use std::os::unix::{ffi::OsStrExt, fs::symlink};

    let outside = folder(&[("secret.py", "x")]);
    let site = folder(&PACKAGE);
    let package = site.path().join("sglang");
    symlink(".", package.join("loop")).unwrap();
    symlink(outside.path(), package.join("away")).unwrap();
    symlink(outside.path().join("secret.py"), package.join("secret.py")).unwrap();
    symlink("nothing", package.join("dangling.py")).unwrap();
    symlink("version.py", package.join("within.py")).unwrap();
    fs::write(package.join(OsStr::from_bytes(b"\xff.py")), "").unwrap();
    fs::write(package.join("esc\u{1b}[31m.py"), "").unwrap();
    fs::create_dir(package.join("folder.py")).unwrap();
    fs::File::create(package.join("huge.py")).unwrap().set_len(MAX_FILE + 1).unwrap();
    let made = Command::new("mkfifo").arg(package.join("pipe.py")).status();
    assert!(made.unwrap().success());

    let tree = opened(site.path());
    let mut expected = LISTED.to_vec();
    expected.push("sglang/within.py");
    assert_eq!(paths(&tree), expected);
    let notes = tree.notes().join("\n");
    for name in ["loop", "away", "secret.py", "dangling.py", "esc\\u{1b}", "huge.py", "pipe.py"] {
        assert!(notes.contains(name), "{name} in {notes}");
    }
    assert_eq!(tree.notes().len(), 8, "{notes}");
    assert!(!notes.contains('\u{1b}'));

    // What grows after it was listed is not read whole.
    fs::File::create(package.join("version.py")).unwrap().set_len(MAX_FILE + 1).unwrap();
    let error = read(&tree, "sglang/version.py").unwrap_err().to_string();
    assert!(error.contains("version.py") && error.contains("grown"), "{error}");
    fs::remove_file(package.join("version.py")).unwrap();
    assert!(read(&tree, "sglang/version.py").is_err());
}

#[test]
fn hostile_names_in_a_zip_are_left_out() {
    let mut files = PACKAGE.to_vec();
    files.push(("../evil.py", ""));
    files.push(("/etc/evil.py", ""));
    files.push(("sglang/../../evil.py", ""));
    let (_keep, path) = file("x.whl", &zipped(&files));
    let tree = opened(&path);
    assert_eq!(paths(&tree), LISTED);
    assert_eq!(tree.notes().len(), 3, "{:?}", tree.notes());
}

#[test]
fn the_last_of_two_equal_names_is_read() {
    let bytes = zipped(&[("sglang/__init__.py", ""), ("sglang/a.py", "1"), ("sglang/b.py", "2")]);
    let bytes = replaced(&bytes, b"sglang/b.py", b"sglang/a.py");
    let (_keep, path) = file("x.whl", &bytes);
    let tree = opened(&path);
    assert_eq!(paths(&tree), ["sglang/__init__.py", "sglang/a.py"]);
    assert_eq!(read(&tree, "sglang/a.py").unwrap(), b"2");
    assert_eq!(tree.notes().len(), 1);
}

#[test]
fn an_encrypted_entry_is_left_out() {
    let mut bytes = zipped(&[("sglang/__init__.py", ""), ("sglang/a.py", "1")]);
    let name = last_position(&bytes, b"sglang/a.py");
    // The flags stand 38 bytes before the name in the central directory (APPNOTE 4.3.12).
    bytes[name - 38] |= 1;
    let (_keep, path) = file("x.whl", &bytes);
    let tree = opened(&path);
    assert_eq!(paths(&tree), ["sglang/__init__.py"]);
    assert!(tree.notes()[0].contains("sglang/a.py") && tree.notes()[0].contains("encrypted"));
}

#[test]
fn a_zip_bomb_is_not_inflated() {
    let huge = "\0".repeat(MAX_FILE as usize + 1);
    let mut bytes = zipped(&[("sglang/__init__.py", ""), ("sglang/a.py", &huge)]);
    let (_keep, path) = file("x.whl", &bytes);
    let tree = opened(&path);
    assert_eq!(paths(&tree), ["sglang/__init__.py"]);
    assert!(tree.notes()[0].contains("16 MiB"));

    // Declared small: the size stands 22 bytes before the name in the central directory.
    let name = last_position(&bytes, b"sglang/a.py");
    bytes[name - 22..name - 18].copy_from_slice(&10u32.to_le_bytes());
    let (_keep, path) = file("x.whl", &bytes);
    let error = read(&opened(&path), "sglang/a.py").unwrap_err().to_string();
    assert!(error.contains("sglang/a.py") && error.contains("x.whl"), "{error}");
}

#[test]
fn a_damaged_wheel_is_an_error_and_never_a_panic() {
    let sound = wheel_bytes();
    // Deterministic: each byte in turn is flipped.
    for place in 0..sound.len() {
        for flip in [0xff, 0x01, 0x80] {
            let mut bytes = sound.clone();
            bytes[place] ^= flip;
            let (_keep, path) = file("sglang-1.2.4-py3-none-any.whl", &bytes);
            if let Ok(tree) = try_open(&path) {
                for index in 0..tree.files().len() {
                    let _ = tree.read(index);
                }
            }
        }
    }
    for cut in [0, 1, 10, sound.len() / 2, sound.len() - 1] {
        let (_keep, path) = file("x.whl", &sound[..cut]);
        let error = try_open(&path).unwrap_err();
        assert!(matches!(error, SourceError::BrokenArchive { .. }), "{error}");
    }
}

#[test]
fn a_hostile_tar_is_bounded() {
    let tar = tarred(|tar| {
        tar_file(tar, "sglang/__init__.py", b"");
        tar_file(tar, "../sglang/evil.py", b"");
        tar_file(tar, "sglang/twice.py", b"1");
        tar_file(tar, "sglang/twice.py", b"2");
        tar_file(tar, "sglang/huge.py", &vec![0; MAX_FILE as usize + 1]);
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        tar.append_link(&mut link, "sglang/link.py", "/etc/passwd").unwrap();
        let mut sparse = tar::Header::new_gnu();
        sparse.set_path("sglang/sparse.py").unwrap();
        sparse.set_entry_type(tar::EntryType::GNUSparse);
        sparse.set_size(0);
        if let Some(gnu) = sparse.as_gnu_mut() {
            gnu.set_real_size(7 << 30);
            gnu.sparse[0].set_offset(7 << 30);
            gnu.sparse[0].set_length(0);
        }
        sparse.set_cksum();
        tar.append(&sparse, &b""[..]).unwrap();
        tar_file(tar, "sglang/last.py", b"3");
    });
    let (_keep, path) = file("sglang-1.tar.gz", &tar);
    let tree = opened(&path);
    assert_eq!(paths(&tree), ["sglang/__init__.py", "sglang/last.py", "sglang/twice.py"]);
    assert_eq!(read(&tree, "sglang/twice.py").unwrap(), b"2");
    assert_eq!(tree.notes().len(), 5, "{:?}", tree.notes());

    for cut in [0, 5, tar.len() / 2] {
        let (_keep, path) = file("x.tar.gz", &tar[..cut]);
        assert!(try_open(&path).is_err());
    }

    let long = vec![b'a'; 4 << 20];
    let tar = tarred(|tar| {
        let mut name = tar::Header::new_gnu();
        name.set_path("././@LongLink").unwrap();
        name.set_entry_type(tar::EntryType::GNULongName);
        name.set_size(long.len() as u64);
        name.set_cksum();
        tar.append(&name, &long[..]).unwrap();
        tar_file(tar, "sglang/__init__.py", b"");
    });
    let (_keep, path) = file("x.tar.gz", &tar);
    let error = try_open(&path).unwrap_err();
    assert!(matches!(error, SourceError::ArchiveTooLarge { .. }), "{error}");
}

#[test]
fn notes_are_bounded() {
    let names: Vec<String> = (0..500).map(|n| format!("../{n}.py")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    files.push(("sglang/__init__.py", ""));
    let (_keep, path) = file("x.whl", &zipped(&files));
    let tree = opened(&path);
    assert_eq!(tree.notes().len(), 101);
    assert_eq!(tree.notes()[100], "and 400 more such notes");
}

#[test]
fn errors_say_what_to_do_next() {
    let empty = TempDir::new().unwrap();
    let other = folder(&[("other/__init__.py", "")]);
    let bare = folder(&[("sglang/srt/x.md", "")]);
    let (_keep, text) = file("notes.txt", b"");
    let (_keep2, wheel) = file("other.whl", &zipped(&[("other/__init__.py", "")]));
    let message = |path: &Path| try_open(path).unwrap_err().to_string();
    for (message, part) in [
        (message(empty.path()), "empty folder"),
        (message(other.path()), "python/sglang"),
        (message(bare.path()), "not one readable .py file"),
        (message(&text), ".tar.gz"),
        (message(&wheel), "holds no package `sglang`"),
        (message(&empty.path().join("gone")), "no such file or folder"),
    ] {
        assert!(message.contains(part), "{message}");
    }
    let refused = open("sglang>=0.5", &options()).unwrap_err();
    assert!(matches!(refused, SourceError::BadRequirement { .. }));
}

#[test]
fn fields_and_sources_are_told_apart() {
    for source in [".", "a/b", "sglang==0.5.9", "x.whl", "x.tar.gz", "x.zip", "Cargo.toml"] {
        assert_eq!(naming(source, &options()), Naming::Source, "{source}");
    }
    for field in ["hicache_size", "--hicache-size", "hicache_*", "config"] {
        assert_eq!(naming(field, &options()), Naming::Word, "{field}");
    }
    // A folder of this crate that a field may have as its name.
    assert_eq!(naming("queries", &options()), Naming::Path);
}

/// A pip that writes down how it was called and then does `body`, in which `$folder` is where wheels go.
#[cfg(unix)]
struct FakePip {
    home: TempDir,
}

#[cfg(unix)]
impl FakePip {
    fn new(body: &str) -> FakePip {
        use std::os::unix::fs::PermissionsExt;
        let home = TempDir::new().unwrap();
        fs::write(home.path().join("sound.whl"), wheel_bytes()).unwrap();
        let script = format!(
            "#!/bin/sh\nhome={home}\necho \"$@\" >> $home/calls\nfolder=$5\n{body}\n",
            home = home.path().display()
        );
        let program = home.path().join("pip");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        FakePip { home }
    }

    fn options(&self) -> Options<'static> {
        Options {
            cache_dir: Some(self.home.path().join("cache")),
            pip: Some(self.home.path().join("pip").display().to_string()),
            ..options()
        }
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.home.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    fn error(&self) -> String {
        open("sglang==1.2.4", &self.options()).unwrap_err().to_string()
    }
}

const SUCCEED: &str = "cp $home/sound.whl $folder/sglang-1.2.4-py3-none-any.whl";

#[cfg(unix)]
#[test]
fn a_requirement_is_fetched_once() {
    let pip = FakePip::new(SUCCEED);
    let said = RefCell::new(Vec::new());
    let progress = |text: &str| said.borrow_mut().push(text.to_owned());
    let options = Options { progress: Some(&progress), ..pip.options() };
    let tree = open("SGLang==1.2.4", &options).unwrap();
    assert_sound(&tree, Kind::Requirement, Some("1.2.4"));
    assert_eq!(tree.display(), "SGLang==1.2.4");
    open("sglang==1.2.4.0", &options).unwrap();
    assert_eq!(*said.borrow(), ["fetching SGLang==1.2.4 with pip"]);
    let calls = pip.calls();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].starts_with("download --no-deps --only-binary=:all: -d /"), "{calls:?}");
    assert!(calls[0].ends_with(" SGLang==1.2.4"), "{calls:?}");
    // Nothing but the wheel stays behind.
    let kept = fs::read_dir(pip.home.path().join("cache/wheels")).unwrap();
    assert_eq!(kept.count(), 1);

    let offline = Options { offline: true, ..pip.options() };
    open("sglang==1.2.4", &offline).unwrap();
    let error = open("sglang==1.2.5", &offline).unwrap_err();
    assert!(matches!(error, SourceError::Offline { .. }));
}

#[cfg(unix)]
#[test]
fn a_wheel_of_another_platform_is_asked_for_next() {
    let refuse =
        "echo 'ERROR: Could not find a version that satisfies the requirement sglang==1.2.4 (from versions: 1.2.3)' >&2
                  echo 'ERROR: No matching distribution found for sglang==1.2.4' >&2; exit 1";
    let pip = FakePip::new(&format!("case \"$*\" in *--platform*) {SUCCEED};; *) {refuse};; esac"));
    open("sglang==1.2.4", &pip.options()).unwrap();
    let calls = pip.calls();
    assert!(!calls[0].contains("--platform"));
    assert!(calls[1].contains("--platform manylinux_2_34_x86_64 --python-version 3.11 sglang==1.2.4"));

    let pip = FakePip::new(refuse);
    let error = pip.error();
    assert!(error.contains("no such version") && error.contains("1.2.3"), "{error}");
}

#[cfg(unix)]
#[test]
fn failures_of_pip_are_told_apart() {
    let error = FakePip::new("echo 'No module named pip' >&2; exit 1").error();
    assert!(error.contains("found no pip"), "{error}");

    let error = FakePip::new(
        "echo \"WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'\" >&2
         echo 'ERROR: Could not find a version that satisfies the requirement sglang==1.2.4 (from versions: none)' >&2
         exit 1",
    )
    .error();
    assert!(error.contains("did not reach the package index"), "{error}");

    let error = FakePip::new("printf 'ERROR: disk on \\033[31mfire\\n' >&2; exit 2").error();
    assert!(error.contains("disk on") && !error.contains('\u{1b}'), "{error}");

    let error = FakePip::new("exit 0").error();
    assert!(error.contains("left no wheel"), "{error}");

    let pip = FakePip::new("echo broken > $folder/sglang-1.2.4-py3-none-any.whl");
    let error = pip.error();
    assert!(error.contains("cannot read the archive"), "{error}");
    let kept = fs::read_dir(pip.home.path().join("cache/wheels")).unwrap();
    assert_eq!(kept.count(), 0);

    let missing = Options { pip: Some("/nowhere/pip".to_owned()), ..pip.options() };
    let error = open("sglang==1.2.4", &missing).unwrap_err();
    assert!(matches!(error, SourceError::NoPip { .. }));

    let (_keep, not_a_folder) = file("cache", b"");
    let unwritable = Options { cache_dir: Some(not_a_folder), ..pip.options() };
    let error = open("sglang==1.2.4", &unwritable).unwrap_err().to_string();
    assert!(error.contains("ARGTRACE_CACHE_DIR"), "{error}");
}

#[cfg(unix)]
#[test]
fn several_at_once_fetch_safely() {
    let pip = FakePip::new(&format!("{SUCCEED}; sleep 0.1"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let tree = open("sglang==1.2.4", &pip.options()).unwrap();
                assert_eq!(paths(&tree), LISTED);
            });
        }
    });
}

/// Runs the test `name` in a process of its own, since variables and the current folder belong to the process.
fn in_process(name: &str, folder: &Path, variables: &[(&str, &Path)]) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--ignored"])
        .current_dir(folder)
        .env_remove("VIRTUAL_ENV")
        .env_remove("CONDA_PREFIX")
        .env("HOME", folder)
        .env("PATH", folder)
        .env("ARGTRACE_TEST_CHILD", "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

fn is_child() -> bool {
    env::var_os("ARGTRACE_TEST_CHILD").is_some()
}

#[test]
#[ignore = "run by others in a process of its own"]
fn child_finds_the_current_tree() {
    if is_child() {
        let tree = open_current(&options()).unwrap();
        assert_eq!(paths(&tree), LISTED);
    }
}

#[test]
#[ignore = "run by others in a process of its own"]
fn child_finds_nothing() {
    if is_child() {
        let error = open_current(&options()).unwrap_err();
        assert!(matches!(error, SourceError::NothingCurrent { .. }), "{error}");
        let cache = cache_folder(&options()).unwrap();
        assert_eq!(cache, Path::new("/elsewhere"));
        let error = open("sglang==1", &options()).unwrap_err();
        assert!(matches!(error, SourceError::Offline { .. }), "{error}");
    }
}

#[test]
fn the_current_tree_is_that_around_else_that_installed() {
    let checkout = TempDir::new().unwrap();
    add(checkout.path(), "python", &PACKAGE);
    add(checkout.path(), "", &[("python/pyproject.toml", "")]);
    let empty = TempDir::new().unwrap();
    let find = "child_finds_the_current_tree";
    for inner in ["", "python", "python/sglang", "python/sglang/srt"] {
        in_process(find, &checkout.path().join(inner), &[]);
    }

    let venv = TempDir::new().unwrap();
    add(venv.path(), "lib/python3.11/site-packages", &PACKAGE);
    in_process(find, empty.path(), &[("VIRTUAL_ENV", venv.path())]);
    in_process(find, empty.path(), &[("CONDA_PREFIX", venv.path())]);

    let program = venv.path().join("bin/python3");
    add(venv.path(), "", &[("bin/python3", "exit 1")]);
    in_process(find, empty.path(), &[("PATH", program.parent().unwrap())]);

    let editable = TempDir::new().unwrap();
    let url = format!("{{\"url\": \"file://{}/python\"}}", checkout.path().display());
    let record = "lib/python3.11/site-packages/sglang-1.dist-info/direct_url.json";
    add(editable.path(), "", &[(record, &url)]);
    in_process(find, empty.path(), &[("VIRTUAL_ENV", editable.path())]);

    in_process(
        "child_finds_nothing",
        empty.path(),
        &[
            ("VIRTUAL_ENV", empty.path()),
            ("ARGTRACE_CACHE_DIR", Path::new("/elsewhere")),
            ("ARGTRACE_OFFLINE", Path::new("1")),
        ],
    );
}

fn last_position(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).rposition(|window| window == part).unwrap()
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    while let Some(place) = bytes.windows(old.len()).position(|window| window == old) {
        bytes[place..place + old.len()].copy_from_slice(new);
    }
    bytes
}
