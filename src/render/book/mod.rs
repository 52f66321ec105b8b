//! Writes all fields as a static site: an index, a page a field, and what changed since another source.
//!
//! The site needs nothing from elsewhere and works from a folder: its styles and its one script are files of its own, and
//! each page forbids everything else. Without the script it is the same site, less the search and the sorting. Every text
//! from the tree goes through [`markup::Shown`].

mod changes;
mod code;
mod index;
mod markup;
mod page;
mod said;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::compare::change::Diff;
use crate::meaning::report::Report;

pub use code::Code;

/// A file of the site: its path in the folder, with `/`, and its text.
pub type File = (String, String);

/// What a site is made of.
pub struct Book<'a> {
    pub report: &'a Report,
    /// The code that the claims point to.
    pub code: &'a Code,
    /// What changed, where another source was named.
    pub since: Option<&'a Diff>,
}

/// The folder of the pages of fields.
const FIELDS: &str = "fields";

/// What stands at the top of a site's folder, and nothing else does.
pub const TOP: &[&str] = &["book.css", "book.js", "changes.html", FIELDS, "icon.svg", "index.html"];

pub fn book(book: &Book<'_>) -> Vec<File> {
    let pages = Pages::of(book.report);
    let mut files = vec![
        (String::from("index.html"), index::index(book, &pages)),
        (String::from("book.css"), [include_str!("book.css"), super::graph::STYLE, "\n"].concat()),
        (String::from("book.js"), include_str!("book.js").to_owned()),
        (String::from("icon.svg"), include_str!("icon.svg").to_owned()),
    ];
    if let Some(diff) = book.since {
        files.push((String::from("changes.html"), changes::changes(diff, &pages)));
    }
    let fields: Vec<File> = book
        .report
        .fields
        .par_iter()
        .enumerate()
        .map(|(at, field)| (format!("{FIELDS}/{}", file_name(&field.field)), page::page(book, &pages, at)))
        .collect();
    files.extend(fields);
    files
}

/// Which fields have a page.
struct Pages<'a>(FxHashMap<&'a str, String>);

impl<'a> Pages<'a> {
    fn of(report: &'a Report) -> Pages<'a> {
        Pages(report.fields.iter().map(|field| (field.field.as_str(), file_name(&field.field))).collect())
    }

    /// The page of a field, seen from the folder of the pages.
    fn of_field(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }

    /// The same, seen from the top.
    fn path_of(&self, field: &str) -> Option<String> {
        Some(format!("{FIELDS}/{}", self.of_field(field)?))
    }
}

/// Characters of a name that a file's name keeps.
const LONGEST: usize = 120;
/// Names that are devices on Windows, whatever follows the dot.
const DEVICES: &[&str] = &["aux", "con", "nul", "prn"];

/// A name for a file that every file system takes, different for each field: what is not a small letter, a digit or `_`
/// is written as its number between dashes.
fn file_name(field: &str) -> String {
    let is_device =
        DEVICES.contains(&field) || (field.len() == 4 && (field.starts_with("com") || field.starts_with("lpt")));
    let mut name = String::new();
    for (i, c) in field.chars().enumerate() {
        match c {
            'a'..='z' | '0'..='9' | '_' if i > 0 || !is_device => name.push(c),
            c => name.push_str(&format!("-{:x}-", u32::from(c))),
        }
        if name.len() > LONGEST {
            return format!("{name}--{}.html", blake3::hash(field.as_bytes()).to_hex());
        }
    }
    name + ".html"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_different() {
        assert_eq!(file_name("hicache_size"), "hicache_size.html");
        assert_eq!(file_name("../A b"), "-2e--2e--2f--41--20-b.html");
        assert_eq!(file_name("con"), "-63-on.html");
        let [one, other] = ["x", "y"].map(|end| file_name(&(String::from("é").repeat(5000) + end)));
        assert!(one != other && one.len() < 255);
    }
}
