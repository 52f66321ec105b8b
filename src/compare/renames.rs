//! Which argument that is gone lives on under another name.
//!
//! A rename needs a proof beside the names: the old flag sets the new argument, a notice sends users of the one to the
//! other, or the declarations say the same of the same thing. A new argument that only takes over a part of an old one
//! (`size` and then `size_decode`) is no rename.

use rustc_hash::FxHashSet;

use super::change::{Change, Level};
use super::codes::Code;
use super::snapshot::{Meaning, Snapshot};

/// An old argument, a new one, and what shows that they are the same.
pub struct Rename {
    pub from: String,
    pub to: String,
    pub shown_by: &'static str,
}

pub fn find(old: &Snapshot, new: &Snapshot) -> Vec<Rename> {
    let gone: Vec<&Meaning> = old.fields.iter().filter(|m| new.field(&m.field).is_none()).collect();
    let come: Vec<&Meaning> = new.fields.iter().filter(|m| old.field(&m.field).is_none()).collect();
    let mut ranked: Vec<(u32, &str, &str, &'static str)> = Vec::new();
    for a in &gone {
        for b in &come {
            if let Some((score, shown_by)) = likeness(new, a, b) {
                ranked.push((score, &a.field, &b.field, shown_by));
            }
        }
    }
    ranked.sort_by(|a, b| (b.0, a.1, a.2).cmp(&(a.0, b.1, b.2)));
    let (mut from, mut to) = (FxHashSet::default(), FxHashSet::default());
    let mut out = Vec::new();
    for (_, a, b, shown_by) in ranked {
        if !from.contains(a) && !to.contains(b) {
            from.insert(a);
            to.insert(b);
            out.push(Rename { from: a.to_owned(), to: b.to_owned(), shown_by });
        }
    }
    out.sort_by(|a, b| a.from.cmp(&b.from));
    out
}

pub fn change(old: &Meaning, new: &Meaning, rename: &Rename) -> Change {
    let kept = old.flags.iter().all(|flag| new.flags.contains(flag));
    let level = if kept { Level::Cosmetic } else { Level::Breaking };
    let now = new.flags.first().map_or(&new.field, |flag| flag);
    let message = format!("{} is {now} now: {}", old.flags.first().map_or(&old.field, |flag| flag), rename.shown_by);
    Change::new(Code::FieldRenamed, &old.field, level, message)
        .with([new.field.clone()])
        .flag(old.flags.first().map(String::as_str))
        .values(old.field.clone(), new.field.clone())
        .places(Some(&old.at), Some(&new.at))
}

fn likeness(release: &Snapshot, a: &Meaning, b: &Meaning) -> Option<(u32, &'static str)> {
    if a.flags.iter().any(|flag| b.flags.contains(flag)) {
        return Some((1000, "the old flag sets it"));
    }
    let (from, to) = (words(&a.field), words(&b.field));
    // All the old words and more: a part of what the old one was.
    if from.iter().all(|w| to.contains(w)) && to.len() > from.len() {
        return None;
    }
    if same_choices_and_type(a, b) {
        if sent_to(release, a, b) {
            return Some((900, "a notice sends users of the old flag to it"));
        }
        let help = alike(&help_words(a), &help_words(b));
        let names = alike(&from, &to);
        if help >= 70 && (names >= 30 || help >= 90) {
            return Some((400 + help + names, "type, choices and help are the same"));
        }
        let spelling = (strsim::normalized_damerau_levenshtein(&a.field, &b.field) * 100.0) as u32;
        if (names >= 60 || spelling >= 85) && a.default == b.default && (help >= 40 || !a.choices.is_empty()) {
            return Some((200 + help + names + spelling, "name, type, choices and default are alike"));
        }
    }
    None
}

fn same_choices_and_type(a: &Meaning, b: &Meaning) -> bool {
    let shared = a.choices.iter().filter(|c| b.choices.contains(c)).count();
    let type_of =
        |m: &Meaning| m.type_.as_deref().map(|t| t.trim_start_matches("Optional[").trim_end_matches(']').to_owned());
    let same_type = type_of(a) == type_of(b) || !(a.choices.is_empty() && b.choices.is_empty());
    same_type && 2 * shared >= a.choices.len().max(b.choices.len())
}

/// Does a notice on the old flag name the new one?
fn sent_to(release: &Snapshot, a: &Meaning, b: &Meaning) -> bool {
    let notices = release.retired_flags.iter().filter(|r| a.flags.contains(&r.flag)).map(|r| r.text.as_str());
    let mut notices = notices.chain(a.deprecated.as_deref());
    notices.any(|text| b.flags.iter().any(|flag| mentions(text, flag)))
}

fn mentions(text: &str, flag: &str) -> bool {
    text.match_indices(flag).any(|(at, _)| {
        let next = text.get(at + flag.len()..).and_then(|rest| rest.chars().next());
        !next.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_')
    })
}

fn words(name: &str) -> FxHashSet<String> {
    name.split('_').filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// The words of the help, those of the name left out: a rename exchanges them.
fn help_words(meaning: &Meaning) -> FxHashSet<String> {
    let name = words(&meaning.field);
    let help = meaning.help.as_deref().unwrap_or("").to_lowercase();
    let all = help.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 1 && !name.contains(*w));
    all.map(str::to_owned).collect()
}

fn alike(a: &FxHashSet<String>, b: &FxHashSet<String>) -> u32 {
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let shared = a.intersection(b).count();
    (100 * shared / (a.len() + b.len() - shared)) as u32
}
