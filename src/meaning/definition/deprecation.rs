//! Does a text say that the flag which it describes is deprecated?
//!
//! It tells a notice about this flag from the mention of another thing that is; it never judges whether the flag works.

/// The notice, if the help is one or holds one about the flag itself.
pub fn notice(help: &str, flags: &[String]) -> Option<String> {
    let lower = help.to_lowercase();
    let about_itself = |at: usize| {
        // `--flag is deprecated`, `this flag has been deprecated`
        let head = lower.get(..at).unwrap_or("");
        let sentence = head.rsplit(['.', ';']).next().unwrap_or(head);
        sentence.trim().is_empty()
            || flags.iter().any(|f| sentence.contains(f.as_str()))
            || SUBJECTS.iter().any(|s| sentence.contains(s))
    };
    let says = |phrase: &&str| lower.match_indices(*phrase).any(|(at, _)| about_itself(at));
    (opens_with_it(help) || MARKS.iter().any(|m| lower.contains(m)) || PHRASES.iter().any(says))
        .then(|| help.to_owned())
}

/// Does a text begin with the word?
pub fn opens_with_it(text: &str) -> bool {
    text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().starts_with("deprecated")
}

const MARKS: [&str; 4] = ["[deprecated", "(deprecated", "**deprecated", "*deprecated"];
const PHRASES: [&str; 4] = ["is deprecated", "are deprecated", "been deprecated", "deprecated and will be removed"];
const SUBJECTS: [&str; 6] =
    ["this flag", "this option", "this argument", "this parameter", "this field", "this setting"];
