//! Which fields a user means.
//!
//! A pattern is a field name, with `_` or `-`, a flag in any of its spellings, or a glob over either. A pattern that
//! means nothing is an error with the nearest names; nothing is ever guessed.

use globset::GlobBuilder;
use rustc_hash::FxHashMap;

use super::exit::UsageError;

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

    /// The fields that `patterns` mean, each once, in the order in which they are asked for. `source` is for messages.
    ///
    /// # Errors
    /// If a pattern means no field, or is no valid glob.
    pub fn fields(&self, patterns: &[&str], source: &str) -> Result<Vec<String>, UsageError> {
        let mut fields: Vec<String> = Vec::new();
        for pattern in patterns {
            let meant = match self.named(pattern) {
                Some(field) => vec![field.to_owned()],
                None if is_glob(pattern) => self.matching(pattern)?,
                None => Vec::new(),
            };
            if meant.is_empty() {
                return Err(self.unknown(pattern, source));
            }
            for field in meant {
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        Ok(fields)
    }

    fn named(&self, pattern: &str) -> Option<&str> {
        self.by_spelling.get(pattern).or_else(|| self.by_spelling.get(&bare(pattern))).map(String::as_str)
    }

    fn matching(&self, pattern: &str) -> Result<Vec<String>, UsageError> {
        let glob = GlobBuilder::new(pattern.trim_start_matches('-')).build().map_err(|error| {
            let hint = "in a glob * is any text, ? one character, [ab] one of them, {a,b} either";
            UsageError::new(format!("`{pattern}` is no valid glob: {}", error.kind()), hint)
        })?;
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
        let hint = match near.as_slice() {
            [] => "argtrace '*' reports on all fields".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        UsageError::new(what, hint)
    }

    /// At most three names, the nearest first, in the spelling that the user chose: flags for a flag.
    fn nearest(&self, pattern: &str) -> Vec<String> {
        const NEAR: f64 = 0.7;
        const SHOWN: usize = 3;
        let wanted = bare(pattern).to_lowercase();
        let as_flag = pattern.starts_with('-');
        let flags = self.flags.iter().map(|(flag, field)| (flag, field));
        let names = self.fields.iter().map(|field| (field, field));
        let mut near: Vec<(f64, &String, &String)> =
            if as_flag { flags.chain(names).collect::<Vec<_>>() } else { names.chain(flags).collect() }
                .into_iter()
                .map(|(name, field)| (likeness(&wanted, &bare(name)), name, field))
                .filter(|(likeness, ..)| *likeness >= NEAR)
                .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut shown: Vec<(&String, &String)> = Vec::new();
        for (_, name, field) in near {
            if shown.len() < SHOWN && !shown.iter().any(|(_, told)| *told == field) {
                shown.push((name, field));
            }
        }
        shown.into_iter().map(|(name, _)| name.clone()).collect()
    }
}

/// A spelling without dashes in front, and with `_` between words.
fn bare(spelling: &str) -> String {
    spelling.trim_start_matches('-').replace('-', "_")
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}

/// From 0 to 1. A name that holds the whole pattern is near, however much longer it is.
fn likeness(wanted: &str, name: &str) -> f64 {
    const HELD: f64 = 0.85;
    const LEAST_TO_HOLD: usize = 4;
    let like = strsim::normalized_damerau_levenshtein(wanted, name).max(strsim::jaro_winkler(wanted, name) - 0.1);
    if wanted.len() >= LEAST_TO_HOLD && name.contains(wanted) { like.max(HELD) } else { like }
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

    fn fields(patterns: &[&str]) -> Result<Vec<String>, String> {
        selection().fields(patterns, "x 1").map_err(|error| error.to_string())
    }

    #[test]
    fn every_spelling_means_the_field() {
        for spelling in ["tp_size", "tp-size", "--tp-size", "--tp", "tp", "tensor_parallel_size", "tens*", "--tensor-*"]
        {
            assert_eq!(fields(&[spelling]).as_deref(), Ok(&["tp_size".to_owned()][..]), "for {spelling}");
        }
    }

    #[test]
    fn globs_keep_the_order_of_declaration_and_fields_come_once() {
        assert_eq!(fields(&["config", "cache_*", "--cache-size"]).unwrap(), ["config", "cache_size", "cache_ratio"]);
        assert!(fields(&["zzz*"]).is_err() && fields(&["[a"]).is_err());
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        assert_eq!(selection().nearest("cache_siez")[0], "cache_size");
        assert_eq!(selection().nearest("--cahce-ratio")[0], "--cache-ratio");
        assert!(selection().nearest("qqqqq").is_empty());
        assert_eq!(
            fields(&["--cache-size=3"]).unwrap_err(),
            "a report is about the field cache_size, whatever its value"
        );
    }
}
