//! A tree that means harm: nothing of it is ever run, what it says stays text in every format, and code that would take
//! an analysis without bounds for ever ends in a report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use assert_cmd::assert::OutputAssertExt;

const ARGTRACE: &str = env!("CARGO_BIN_EXE_argtrace");

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        fs::write(&path, text).expect("written");
        path
    }

    /// Runs argtrace in the folder; its exit code and all that it said.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(ARGTRACE);
        command.args(arguments).current_dir(self.path()).env("ARGTRACE_CACHE_DIR", self.path().join("cache"));
        let output = command.output().expect("argtrace runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("not killed"), text(&output.stdout), text(&output.stderr))
    }
}

/// A record whose field has this help, name of a section and default.
fn record(before: &str, help: &str) -> String {
    let section = help.replace(['\n', '\r'], " ");
    // JSON's escapes are Python's too.
    let help = serde_json::to_string(help).expect("JSON");
    format!(
        "{before}\nfrom dataclasses import dataclass\nimport time\n\n\n@dataclass\nclass ServerArgs:\n    \
         # Section {section}\n    wait: float = 1.0\n    text: str = {help}\n\n    @staticmethod\n    \
         def add_cli_args(parser):\n        \
         parser.add_argument(\"--wait\", type=float, default=ServerArgs.wait, help={help})\n        \
         parser.add_argument(\"--text\", choices=[{help}, \"b\"], help={help})\n\n\n\
         def start(args: ServerArgs):\n    if args.text == {help}:\n        raise ValueError({help})\n    \
         time.sleep(args.wait)\n"
    )
}

/// Every command that reads a tree, with all its formats.
const COMMANDS: &[&[&str]] = &[
    &["wait", "text", "tree"],
    &["wait", "text", "tree", "--format", "json"],
    &["wait", "text", "tree", "--format", "json", "--brief"],
    &["wait", "text", "tree", "--format", "markdown"],
    &["fields", "tree"],
    &["fields", "tree", "--format", "json"],
    &["fields", "tree", "--format", "csv"],
    &["docs", "tree"],
    &["docs", "tree", "--format", "html"],
    &["docs", "tree", "--format", "csv"],
    &["docs", "tree", "--format", "json"],
    &["docs", "tree", "--against", "table.md"],
    &["docs", "tree", "--against", "table.md", "--format", "github"],
    &["graph", "text", "tree"],
    &["graph", "text", "tree", "--format", "dot"],
    &["graph", "text", "tree", "--format", "mermaid"],
    &["diff", "sound", "tree"],
    &["diff", "sound", "tree", "--format", "json"],
    &["diff", "sound", "tree", "--format", "markdown"],
    &["diff", "sound", "tree", "--format", "github"],
    &["diff", "sound", "tree", "--format", "sarif"],
    &["snapshot", "tree"],
    &["check", "tree", "--baseline", "lock.json"],
    &["history", "text", "sound", "tree"],
    &["audit", "tree", "--", "python3", "-m", "sglang.launch_server", "--text", "b"],
    &["audit", "tree", "--format", "github", "--", "python3", "-m", "sglang.launch_server", "--wait", "x"],
    &["budget", "wait", "tree", "--host-memory", "10GB"],
];

fn place_with(before: &str, help: &str) -> Place {
    let place = Place::new();
    for (tree, before, help) in [("sound", "", "Plain."), ("tree", before, help)] {
        place.put(&format!("{tree}/sglang/__init__.py"), before);
        place.put(&format!("{tree}/sglang/srt/server_args.py"), record(before, help));
    }
    place.put("table.md", "| Argument | Description | Defaults |\n| --- | --- | --- |\n| `--text` | A text. | `c` |\n");
    let (code, _, stderr) = place.run(&["snapshot", "sound", "-q", "-o", "lock.json"]);
    assert_eq!(code, 0, "{stderr}");
    place
}

#[test]
fn nothing_of_a_tree_is_ever_run() {
    let mark = "import os\nopen(os.environ.get('MARK', 'mark'), 'w').write('run')\n";
    let place = place_with(mark, "Plain.");
    for python in
        ["setup.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "backend.py", "sglang.py", "ast.py"]
    {
        for folder in ["", "tree/", "tree/sglang/"] {
            place.put(&format!("{folder}{python}"), mark);
        }
    }
    place.put(
        "tree/pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n[project]\nname = \"sglang\"\n",
    );
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(place.path().join("tree"));
        command.assert().success();
    };
    git(&["init", "-q"]);
    place.put("tree/.gitattributes", "*.py filter=mark diff=mark merge=mark\n");
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "all"]);
    let script = place.put("mark.sh", format!("#!/bin/sh\ntouch {}\ncat\n", place.path().join("mark").display()));
    #[cfg(unix)]
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let script = script.display().to_string();
    for key in
        ["filter.mark.smudge", "filter.mark.clean", "filter.mark.process", "diff.mark.textconv", "core.fsmonitor"]
    {
        git(&["config", key, &script]);
    }
    git(&["config", "core.hooksPath", "hooks"]);
    for hook in ["post-checkout", "pre-commit", "post-index-change", "reference-transaction"] {
        fs::create_dir_all(place.path().join("tree/hooks")).expect("a folder");
        fs::copy(&script, place.path().join("tree/hooks").join(hook)).expect("copied");
    }
    let mark = place.path().join("mark");
    let _ = fs::remove_file(&mark);
    let of_git: &[&[&str]] = &[&["wait", "tree@HEAD"], &["diff", "sound", "tree@HEAD"]];
    for arguments in COMMANDS.iter().chain(of_git) {
        let (code, _, stderr) = place.run(arguments);
        assert!(code < 2 || arguments[0] == "budget", "{arguments:?}: {stderr}");
        assert!(!mark.exists(), "{arguments:?} ran something");
    }
}

#[test]
fn what_a_tree_says_stays_text() {
    let hostile = "a\u{1b}]0;t\u{7}\u{1b}[31m\u{202e}x\n::error file=a::b\n##vso[task]<script>alert(1)</script>\
                   <img src=x onerror=alert(1)> | `--> \"]; [x](javascript:alert(1)) \r\n=cmd|' /C calc'!A0";
    let place = place_with("", hostile);
    for arguments in COMMANDS {
        let (code, stdout, stderr) = place.run(arguments);
        assert!(code < 2 || arguments[0] == "budget", "{arguments:?}: {stderr}");
        for (stream, text) in [("stdout", &stdout), ("stderr", &stderr)] {
            let at = format!("{arguments:?}, {stream}: {text}");
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{at}");
            assert!(!text.contains("##vso["), "{at}");
            let commands = text.lines().filter(|line| line.trim_start().starts_with("::"));
            let own = arguments.contains(&"github");
            let is_own = |line: &str| {
                let levels = ["::error ", "::warning ", "::notice "];
                own && levels.iter().any(|level| line.starts_with(level)) && !line.starts_with("::error file=a")
            };
            assert!(commands.clone().all(is_own), "{at}");
            let is = |format: &str| arguments.contains(&format);
            let is_picture = arguments[0] == "graph" && !is("dot") && !is("mermaid");
            if is("html") || is_picture {
                assert!(!text.contains("<script") && !text.contains("<img"), "{at}");
            } else if is("markdown") || arguments[0] == "docs" && !is("csv") && !is("json") && !is("github") {
                assert_eq!(commands_of_markdown(text), Vec::<String>::new(), "{at}");
            }
            if is("csv") {
                let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
                for cell in rows.records().flatten().flat_map(|row| row.iter().map(str::to_owned).collect::<Vec<_>>()) {
                    assert!(!cell.starts_with(['=', '+', '@', '\t', '\r']), "{at}: {cell}");
                }
            }
        }
    }
}

/// HTML and links to scripts that a page of Markdown holds as such, not as text.
fn commands_of_markdown(text: &str) -> Vec<String> {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let obeyed = Parser::new_ext(text, Options::all()).filter_map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Some(html.into_string()),
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    let harmful = |text: &String| ["<script", "<img", "javascript:"].iter().any(|bad| text.contains(bad));
    obeyed.filter(harmful).collect()
}

/// Trees that make some analyses blow up; each ends within this time, here and on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

fn ends_in_a_report(code: &str) {
    let place = Place::new();
    place.put("tree/sglang/__init__.py", "");
    place.put("tree/sglang/srt/server_args.py", record("", "Plain."));
    place.put("tree/sglang/srt/harm.py", code);
    let start = Instant::now();
    let (code, stdout, stderr) = place.run(&["wait", "text", "tree", "--format", "json", "--no-cache"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\"timeout\""), "the rest of the report is there: {stdout}");
    assert!(start.elapsed() < PATIENCE, "it took {:?}", start.elapsed());
}

const READS: &str = "from sglang.srt.server_args import ServerArgs\n";

#[test]
fn brackets_and_chains_without_end() {
    ends_in_a_report(&format!("x = {}{}\n", "[".repeat(100_000), "]".repeat(100_000)));
    ends_in_a_report(&format!("{READS}def f(args: ServerArgs):\n    return args.wait{}\n", ".real".repeat(10_000)));
    ends_in_a_report(&format!(
        "{READS}def f(args: ServerArgs):\n    return args.wait{}\n",
        " + args.wait".repeat(10_000)
    ));
    ends_in_a_report(&format!("x = {}\n", "not ".repeat(100_000)));
    ends_in_a_report(&format!("x = f{}\n", "(1)".repeat(50_000)));
    ends_in_a_report(&format!("x = {}1\n", "lambda: ".repeat(20_000)));
}

#[test]
fn statements_without_end() {
    let elifs: String = (0..400).map(|i| format!("    elif args.wait == {i}:\n        x = args.wait\n")).collect();
    ends_in_a_report(&format!(
        "{READS}def f(args: ServerArgs):\n    if args.wait:\n        pass\n{elifs}    return x\n"
    ));
    let elses: String = (0..90).map(|i| format!("{}if args.wait > {i}:\n", " ".repeat(i + 1))).collect();
    ends_in_a_report(&format!("{READS}def f(args: ServerArgs):\n{elses}{}return args.wait\n", " ".repeat(100)));
    // Each join doubles the ways through it.
    let joins: String = (0..400)
        .map(|i| {
            format!("    if args.wait > {i} and args.text:\n        v = v + args.wait\n    else:\n        v = v * 2\n")
        })
        .collect();
    ends_in_a_report(&format!("{READS}def f(args: ServerArgs):\n    v = args.wait\n{joins}    return v\n"));
}

#[test]
fn recursion_of_every_kind() {
    let classes: String =
        (0..300).map(|i| format!("class C{i}(C{}, C{}): pass\n", (i + 1) % 300, (i + 7) % 300)).collect();
    ends_in_a_report(&format!("{READS}{classes}def f(args: ServerArgs):\n    C0().x = args.wait\n    return C5().x\n"));
    let calls: String = (0..200)
        .map(|i| format!("def f{i}(v):\n    return f{}(v) + f{}(v) + g(v)\n", (i + 1) % 200, (i + 3) % 200))
        .collect();
    ends_in_a_report(&format!(
        "{READS}{calls}def g(v):\n    return f0(v)\ndef f(args: ServerArgs):\n    return g(args.wait)\n"
    ));
    ends_in_a_report(
        "from sglang.srt.harm import *\nfrom sglang.srt import harm\nfrom .harm import a as b, b as a\nx = harm.harm.harm.a\n",
    );
    ends_in_a_report(&format!(
        "{READS}def f(args: ServerArgs):\n    x = [args.wait]\n    x.append(x)\n    y = {{'a': x}}\n    y['a'] = y\n    return y['a']['a'][0]\n"
    ));
}

#[test]
fn two_hundred_thousand_files() {
    use std::io::Write;
    let place = Place::new();
    let path = place.path().join("sglang-1.0-py3-none-any.whl");
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).expect("created"));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut add = |name: &str, text: &str| {
        zip.start_file(name, options).expect("an entry");
        zip.write_all(text.as_bytes()).expect("written");
    };
    add("sglang/__init__.py", "");
    add("sglang/srt/server_args.py", &record("", "Plain."));
    for i in 0..200_000 {
        add(&format!("sglang/srt/part{}/m{i}.py", i % 100), "x = 1\n");
    }
    zip.finish().expect("finished");
    let (code, stdout, stderr) = place.run(&["wait", &path.to_string_lossy(), "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\"timeout\""), "{stdout}");
}

#[test]
fn a_line_of_two_hundred_megabytes() {
    let place = Place::new();
    place.put("tree/sglang/__init__.py", "");
    place.put("tree/sglang/srt/server_args.py", record("", "Plain."));
    place.put("tree/sglang/srt/harm.py", "a".repeat(200 << 20));
    let (code, stdout, stderr) = place.run(&["wait", "tree", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\"timeout\"") && stderr.contains("harm.py"), "{stderr}");
}
