//! Which fields a user means.
//!
//! A pattern is a field name, with `_` or `-`, a flag in any of its spellings, or a glob over either. A pattern that
//! means nothing is an error with the nearest names; nothing is ever guessed.

use globset::GlobBuilder;
use rustc_hash::FxHashMap;

use super::exit::UsageError;
use super::suggest::{bare, did_you_mean, nearest};

pub struct Selection {
    /// In the order of declaration.
    fields: Vec<String>,
    /// Every flag, as it is written, with its field.
    flags: Vec<(String, String)>,
    /// Fields by name, and by flag with and without its dashes; a name goes before a flag.
    by_spelling: FxHashMap<String, String>,
}

impl Selection {
    pub fn new(fields: Vec<String>, flags: Vec<(String, String)>) -> Self {
        let mut by_spelling = FxHashMap::default();
        for (flag, field) in &flags {
            by_spelling.entry(bare(flag)).or_insert_with(|| field.clone());
        }
        for field in &fields {
            by_spelling.insert(field.clone(), field.clone());
        }
        for (flag, field) in &flags {
            by_spelling.insert(flag.clone(), field.clone());
        }
        Self { fields, flags, by_spelling }
    }

    /// Is there a field of this name?
    pub fn knows(&self, field: &str) -> bool {
        self.named(field).is_some()
    }

    /// The fields that a pattern means, in the order of declaration. `source` is for messages.
    ///
    /// # Errors
    /// If it means no field, or is no valid glob.
    pub fn fields(&self, pattern: &str, source: &str) -> Result<Vec<String>, UsageError> {
        let meant = match self.named(pattern) {
            Some(field) => vec![field.to_owned()],
            None if is_glob(pattern) => self.matching(pattern)?,
            None => Vec::new(),
        };
        if meant.is_empty() { Err(self.unknown(pattern, source)) } else { Ok(meant) }
    }

    fn named(&self, pattern: &str) -> Option<&str> {
        self.by_spelling.get(pattern).or_else(|| self.by_spelling.get(&bare(pattern))).map(String::as_str)
    }

    fn matching(&self, pattern: &str) -> Result<Vec<String>, UsageError> {
        let glob = GlobBuilder::new(pattern.trim_start_matches('-')).build();
        let glob = glob.map_err(|error| bad_glob(pattern, &error))?;
        let matcher = glob.compile_matcher();
        let matches = |field: &&String| {
            let flags = self.flags.iter().filter(|(_, of)| of == *field);
            matcher.is_match(field)
                || matcher.is_match(field.replace('_', "-"))
                || flags.into_iter().any(|(flag, _)| matcher.is_match(flag.trim_start_matches('-')))
        };
        Ok(self.fields.iter().filter(matches).cloned().collect())
    }

    fn unknown(&self, pattern: &str, source: &str) -> UsageError {
        if let Some((flag, value)) = pattern.split_once('=')
            && let Some(field) = self.named(flag)
        {
            let hint = format!("write {flag}, without `={value}`");
            return UsageError::new(format!("a report is about the field {field}, whatever its value"), hint);
        }
        let what = format!("no field of {source} matches `{pattern}`");
        let near = self.nearest(pattern);
        let hint = did_you_mean(&near).unwrap_or_else(|| "argtrace fields lists all of them".to_owned());
        UsageError::new(what, hint)
    }

    /// In the spelling that the user chose: flags for a flag.
    fn nearest(&self, pattern: &str) -> Vec<&str> {
        // A glob is near to what begins like the text that it holds.
        let wanted = if is_glob(pattern) { pattern.trim_matches(['*', '?']) } else { pattern };
        let flags = self.flags.iter().map(|(flag, field)| (flag.as_str(), field.as_str()));
        let names = self.fields.iter().map(|field| (field.as_str(), field.as_str()));
        match pattern.starts_with('-') {
            true => nearest(wanted, flags.chain(names)),
            false => nearest(wanted, names.chain(flags)),
        }
    }
}

pub fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}

pub fn bad_glob(glob: &str, error: &globset::Error) -> UsageError {
    let hint = "in a glob * is any text, ? one character, [ab] one of them, {a,b} either";
    UsageError::new(format!("`{glob}` is no valid glob: {}", error.kind()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection() -> Selection {
        let fields = ["tp_size", "cache_size", "cache_ratio", "config"].map(String::from).to_vec();
        let flags = [
            ("--tp", "tp_size"),
            ("--tensor-parallel-size", "tp_size"),
            ("--cache-size", "cache_size"),
            ("--cache-ratio", "cache_ratio"),
        ];
        Selection::new(fields, flags.map(|(flag, field)| (flag.to_owned(), field.to_owned())).to_vec())
    }

    fn fields(pattern: &str) -> Result<Vec<String>, String> {
        selection().fields(pattern, "x 1").map_err(|error| error.to_string())
    }

    #[test]
    fn every_spelling_means_the_field() {
        for spelling in ["tp_size", "tp-size", "--tp-size", "--tp", "tp", "tensor_parallel_size", "tens*", "--tensor-*"]
        {
            assert_eq!(fields(spelling).as_deref(), Ok(&["tp_size".to_owned()][..]), "for {spelling}");
        }
    }

    #[test]
    fn globs_keep_the_order_of_declaration() {
        assert_eq!(fields("c*").unwrap(), ["cache_size", "cache_ratio", "config"]);
        assert!(fields("zzz*").is_err() && fields("[a").is_err());
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        assert_eq!(selection().nearest("cache_siez")[0], "cache_size");
        assert_eq!(selection().nearest("--cahce-ratio")[0], "--cache-ratio");
        assert_eq!(selection().nearest("cahce_*"), ["cache_size", "cache_ratio"]);
        assert!(selection().nearest("qqqqq").is_empty());
        assert_eq!(fields("--cache-size=3").unwrap_err(), "a report is about the field cache_size, whatever its value");
    }
}
