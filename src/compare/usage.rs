//! Which arguments the text of a launch uses, and which changes matter to it.
//!
//! Every word of the shape of a flag counts, whatever the file is (a shell script, a Dockerfile, a manifest), and in YAML
//! every key that is an argument's name: too many is a change more to read, too few is one that is missed. Comments do
//! not count.

use std::collections::BTreeSet;

use super::change::Change;
use super::codes::Code;
use super::snapshot::Snapshot;

/// What a deployment's own commands use.
pub struct Usage {
    /// Names of arguments in either release.
    pub fields: BTreeSet<String>,
    /// Whether what the others do unset matters too.
    pub defaults: bool,
}

impl Usage {
    pub fn of(texts: &[String], releases: [&Snapshot; 2], defaults: bool) -> Usage {
        let mut fields = BTreeSet::new();
        for word in texts.iter().flat_map(|text| words(text)) {
            for release in releases {
                fields.extend(meant(release, &word).map(str::to_owned));
            }
        }
        Usage { fields, defaults }
    }

    pub fn keeps(&self, change: &Change) -> bool {
        let used = change.about().any(|field| self.fields.contains(field));
        used || (self.defaults && !OF_A_GIVEN_VALUE.contains(&change.code))
    }
}

/// Codes that matter only to who gives the argument.
const OF_A_GIVEN_VALUE: &[Code] = &[
    Code::FieldAdded,
    Code::FieldRemoved,
    Code::FieldRenamed,
    Code::FlagAdded,
    Code::FlagRemoved,
    Code::FlagRenamed,
    Code::FlagAmbiguous,
    Code::TypeChanged,
    Code::ChoicesAdded,
    Code::ChoicesRemoved,
    Code::HelpChanged,
    Code::Deprecated,
];

/// A word that can name an argument.
enum Word {
    Flag(String),
    Key(String),
}

fn words(text: &str) -> Vec<Word> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or(line);
        if line.trim_start().starts_with('#') {
            continue;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        for word in line.split(|c: char| !is_part(c)) {
            if word.len() > 2 && word.starts_with("--") {
                out.push(Word::Flag(word.to_owned()));
            }
        }
        if let Some((key, _)) = line.trim_start().trim_start_matches("- ").split_once(':')
            && !key.is_empty()
            && key.chars().all(is_part)
        {
            out.push(Word::Key(key.replace('-', "_")));
        }
    }
    out
}

/// The argument that a word sets: by its flag in full, else by the one flag that it begins.
fn meant<'s>(release: &'s Snapshot, word: &Word) -> Option<&'s str> {
    let flag = match word {
        Word::Key(key) => return release.field(key).map(|m| m.field.as_str()),
        Word::Flag(flag) => flag.as_str(),
    };
    let retired = release.retired_flags.iter().map(|r| (r.flag.as_str(), r.field.as_str()));
    let all = || release.fields.iter().flat_map(|m| m.flags.iter().map(|f| (f.as_str(), m.field.as_str()))).chain(retired.clone());
    let exact = all().find(|(known, _)| *known == flag);
    let mut begun = all().filter(|(known, _)| known.starts_with(flag));
    exact.or_else(|| begun.next().filter(|_| begun.next().is_none())).map(|(_, field)| field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::snapshot::Meaning;

    fn release() -> Snapshot {
        let field = |name: &str, flags: &[&str]| Meaning {
            field: name.into(),
            flags: flags.iter().map(|f| (*f).to_owned()).collect(),
            ..Meaning::default()
        };
        Snapshot { fields: vec![field("size", &["--size", "--entries"]), field("mode", &["--mode"])], ..Snapshot::default() }
    }

    fn used(text: &str) -> Vec<String> {
        let release = release();
        Usage::of(&[text.to_owned()], [&release, &release], false).fields.into_iter().collect()
    }

    #[test]
    fn flags_are_found_in_any_file() {
        assert_eq!(used("python -m server --entries=3 \\\n  --mo a"), ["mode", "size"]);
        assert_eq!(used("args: [\"--mode\", \"a\"]"), ["mode"]);
        assert_eq!(used("size: 3\n# mode: a"), ["size"]);
        assert_eq!(used("# --mode a\nrun --sizes --m3 # --size"), Vec::<String>::new());
    }
}
