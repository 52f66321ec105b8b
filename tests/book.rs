//! The book: what its files say, what it refuses, and how it works in a browser.

mod browser;

use assert_cmd::Command;
use fantoccini::Locator;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A folder with a tree in it.
struct Place(tempfile::TempDir);

/// A tree whose texts would act if they were taken for markup.
const HOSTILE: &str = r#"
from dataclasses import dataclass
import argparse
import time

@dataclass
class ServerArgs:
    # <script>alert(1)</script>
    model: str
    cache_size: int = 0
    cache_ratio: float = 10.0
    wait: float = 5.0
    unread: str = "</code><script>alert(2)</script>"
    Unread: int = 9

    def __post_init__(self):
        if self.cache_size > 0:
            self.cache_ratio = 2.0

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", type=str, required=True, help="<img src=x onerror=alert(1)><script>alert(3)</script> \" onmouseover='alert(4)' &amp;")
        parser.add_argument("--cache-size", type=int, default=ServerArgs.cache_size, help="The size of the cache.")
        parser.add_argument("--cache-ratio", type=float, default=ServerArgs.cache_ratio, help="The ratio of the cache.")
        parser.add_argument("--wait", type=float, default=ServerArgs.wait, help="How long\u202e.")
        parser.add_argument("--unread", type=str, default=ServerArgs.unread, help="Nothing reads it.")
        parser.add_argument("--Unread", type=int, default=ServerArgs.Unread, help="Nor this.")

class Pool:
    def __init__(self, server_args: ServerArgs):
        self.bytes = bytearray(int(server_args.cache_size * 1e9))  # <script>alert(5)</script>
        self.ratio = server_args.cache_ratio
        time.sleep(server_args.wait)
"#;

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("folder"));
        place.tree("new", HOSTILE);
        place.tree("old", &HOSTILE.replace("wait: float = 5.0", "wait: float = 7.0"));
        place
    }

    fn tree(&self, name: &str, server_args: &str) {
        for (file, text) in [("server_args.py", server_args), ("__init__.py", ""), ("../__init__.py", "")] {
            let folder = self.path(name).join("sglang/srt");
            std::fs::create_dir_all(&folder).expect("folders");
            std::fs::write(folder.join(file), text).expect("written");
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What the command ends with, and says on stderr.
    fn book(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_argtrace"));
        command.current_dir(self.0.path()).args(["book", "./new/sglang", "--no-cache"]).args(arguments);
        let output = command.output().expect("a run");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        (output.status.code().expect("an end"), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn files(&self, folder: &str) -> BTreeMap<String, String> {
        files(&self.path(folder))
    }
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let found = walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.expect("an entry"));
    let found = found.filter(|entry| entry.file_type().is_file()).map(|entry| {
        let name = entry.path().strip_prefix(folder).expect("inside").display().to_string();
        (name, std::fs::read_to_string(entry.path()).expect("text"))
    });
    found.collect()
}

#[test]
fn a_book_has_a_page_a_field_and_only_inert_text() {
    let place = Place::new();
    let (code, err) = place.book(&["-o", "book", "--since", "./old/sglang"]);
    assert_eq!(code, 0, "{err}");
    let files = place.files("book");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "book.css",
            "book.js",
            "changes.html",
            "fields/-55-nread.html",
            "fields/cache_ratio.html",
            "fields/cache_size.html",
            "fields/model.html",
            "fields/unread.html",
            "fields/wait.html",
            "icon.svg",
            "index.html",
        ]
    );
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        assert!(text.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{name}");
        for markup in ["<script>", "<img", "<style", " style=", " onerror=\"", "\u{202e}", "http://", "https://"] {
            let text = text.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
            assert!(!text.contains(markup), "{name} holds {markup}");
        }
    }
    let page = &files["fields/cache_size.html"];
    for said in [
        "The size of the cache.",
        "<svg ",
        "int(server_args.cache_size * 1e9))  # &lt;script&gt;alert(5)",
        "<span class=\"n\">31</span>",
        "<a href=\"cache_ratio.html\"><code>cache_ratio</code></a>",
    ] {
        assert!(page.contains(said), "{said} is not in {page}");
    }
    assert!(files["fields/wait.html"].contains("<code class=\"term\">timeout</code>"));
    assert!(files["fields/wait.html"].contains("default-changed") && files["changes.html"].contains("default-changed"));
    assert!(files["index.html"].contains("<td role=\"cell\" data-heading=\"Dead\">dead</td>"));

    // Again, over the first: the same.
    assert_eq!(place.book(&["-o", "book", "--since", "./old/sglang"]).0, 0);
    assert_eq!(place.files("book"), files);
    // And without the comparison nothing of it is left.
    assert_eq!(place.book(&["-o", "book"]).0, 0);
    assert!(!place.files("book").contains_key("changes.html"));
    assert_eq!(std::fs::read_dir(place.0.path()).expect("a folder").count(), 3, "something is left over");
}

#[test]
fn what_is_not_a_book_is_never_replaced() {
    let place = Place::new();
    std::fs::create_dir(place.path("site")).expect("a folder");
    std::fs::write(place.path("site/index.html"), "mine").expect("written");
    std::fs::write(place.path("file"), "mine").expect("written");
    for (arguments, wanted) in [
        (&["-o", "site"][..], "it is not empty, and not of this program"),
        (&["-o", "file"], "it is a file"),
        (&["-o", "new"], "it holds sglang, which would be lost"),
        (&[], "no folder is named"),
        (&["-o", "a", "-o", "b"], "a book is written to one folder"),
        (&["-o", "a", "--format", "json"], "a book is written as html"),
    ] {
        let (code, err) = place.book(arguments);
        assert!(code == 2 && err.contains(wanted), "{arguments:?}: {err}");
    }
    assert_eq!(std::fs::read_to_string(place.path("site/index.html")).expect("text"), "mine");
    // A book to which someone added a file of his own.
    assert_eq!(place.book(&["-o", "book"]).0, 0);
    std::fs::write(place.path("book/CNAME"), "mine").expect("written");
    assert_eq!(place.book(&["-o", "book"]).0, 2);
    assert!(place.path("book/CNAME").exists());
}

#[test]
fn it_works_in_a_browser() {
    let place = Place::new();
    assert_eq!(place.book(&["-o", "book", "--since", "./old/sglang"]).0, 0);
    let root = url::Url::from_directory_path(place.path("book")).expect("an address");
    let address = |file: &str| root.join(file).expect("an address").to_string();
    browser::run(async |browser| {
        let names = "[...document.querySelectorAll('tbody tr:not([hidden]) th')].map(cell => cell.textContent.trim())";
        browser.page.goto(&address("index.html")).await.expect("the index");
        assert_eq!(browser.ask(names).await, json!(["model", "cache_size", "cache_ratio", "wait", "unread", "Unread"]));

        // Search: every word, in names, flags and help.
        let search = browser.page.find(Locator::Css("input[type=search]")).await.expect("a search");
        search.send_keys("cache ratio").await.expect("typed");
        assert_eq!(browser.ask(names).await, json!(["cache_ratio"]));
        assert_eq!(browser.ask("document.getElementById('count').textContent").await, "1 of 6");
        search.clear().await.expect("cleared");
        search.send_keys("xyzzy").await.expect("typed");
        assert_eq!(browser.ask("document.getElementById('none').hidden").await, false);
        // Chromium tells no one that a field was cleared in this way.
        search.clear().await.expect("cleared");
        search.send_keys("a\u{e003}").await.expect("typed");
        assert_eq!(browser.ask("document.getElementById('count').textContent").await, "6 arguments");

        // Sorting, by the keyboard: up by value, down, and back.
        let heading = "document.querySelectorAll('thead th')[3]";
        browser.ask(&format!("{heading}.querySelector('button').focus()")).await;
        let press = async || {
            let button = browser.page.active_element().await.expect("a focus");
            button.send_keys("\u{e007}").await.expect("pressed");
        };
        press().await;
        assert_eq!(browser.ask(&format!("{heading}.getAttribute('aria-sort')")).await, "ascending");
        let defaults = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[3].textContent.trim())";
        let up = browser.ask(defaults).await;
        assert_eq!(up.as_array().map(|a| a[a.len() - 1].clone()), Some(json!("")), "what is empty comes last: {up}");
        let place_of = |value: &str| up.as_array().unwrap().iter().position(|v| v == value).expect("a default");
        assert!(
            place_of("0") < place_of("5.0") && place_of("5.0") < place_of("9") && place_of("9") < place_of("10.0"),
            "{up}"
        );
        press().await;
        assert_eq!(browser.ask(&format!("{heading}.getAttribute('aria-sort')")).await, "descending");
        press().await;
        assert_eq!(browser.ask(&format!("{heading}.getAttribute('aria-sort')")).await, "none");
        assert_eq!(browser.ask(names).await.as_array().map(Vec::len), Some(6));

        // A link to a field, whose help is text.
        browser.page.find(Locator::LinkText("model")).await.expect("a link").click().await.expect("followed");
        assert_eq!(browser.page.current_url().await.expect("a place").as_str(), address("fields/model.html"));
        let help = browser.page.find(Locator::Css("blockquote")).await.expect("the help").text().await.expect("text");
        assert_eq!(help, "<img src=x onerror=alert(1)><script>alert(3)</script> \" onmouseover='alert(4)' &amp;");
        assert_eq!(browser.ask("document.querySelectorAll('script, img, [onmouseover]').length").await, 0);
        assert_eq!(browser.ask("getComputedStyle(document.querySelector('blockquote')).borderLeftWidth").await, "3px");

        // The first stop of the keyboard leads past the links at the top.
        assert_eq!(browser.ask("document.querySelector('a').getAttribute('href')").await, "#content");

        // Nothing is wider than a phone, the picture and the code scroll by themselves.
        browser.page.set_window_size(500, 800).await.expect("a size");
        for file in ["index.html", "fields/cache_size.html", "changes.html"] {
            browser.page.goto(&address(file)).await.expect("a page");
            let over = browser.ask("document.documentElement.scrollWidth - innerWidth").await;
            assert!(over.as_i64() <= Some(0), "{file} is too wide by {over}");
        }

        assert_eq!(browser.console().await, Vec::<String>::new());
        let asked = browser.requests().await;
        assert!(asked.contains(&address("fields/model.html")), "{asked:?}");
        // The browser's own first page is not of the book, and asks for nothing from the network.
        let own = |address: &str| ["chrome:", "data:", root.as_str()].iter().any(|own| address.starts_with(own));
        assert_eq!(asked.iter().filter(|address| !own(address)).collect::<Vec<_>>(), Vec::<&String>::new());
    });
}
