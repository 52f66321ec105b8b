//! Which known names are near to one that is not known.

/// How alike two names must be for one to be suggested.
const NEAR: f64 = 0.7;
/// A name that holds the whole of the wanted one is near, however much longer it is.
const HELD: f64 = 0.85;
const LEAST_TO_HOLD: usize = 4;
/// How many are suggested.
const SHOWN: usize = 3;

/// A spelling without dashes in front, and with `_` between words.
pub fn bare(spelling: &str) -> String {
    spelling.trim_start_matches('-').replace('-', "_")
}

/// From 0 to 1.
fn likeness(wanted: &str, name: &str) -> f64 {
    let like = strsim::normalized_damerau_levenshtein(wanted, name).max(strsim::jaro_winkler(wanted, name) - 0.1);
    if wanted.len() >= LEAST_TO_HOLD && name.contains(wanted) { like.max(HELD) } else { like }
}

/// At most three of `names`, the nearest first and of equally near ones the first; `meaning` tells what a name stands for, and of the
/// names of one thing the nearest is enough.
pub fn nearest<'a, M: PartialEq>(wanted: &str, names: impl IntoIterator<Item = (&'a str, M)>) -> Vec<&'a str> {
    let wanted = bare(wanted).to_lowercase();
    let mut near: Vec<(f64, &str, M)> = names
        .into_iter()
        .map(|(name, meaning)| (likeness(&wanted, &bare(name).to_lowercase()), name, meaning))
        .filter(|(likeness, ..)| *likeness >= NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut shown: Vec<(&str, M)> = Vec::new();
    for (_, name, meaning) in near {
        if shown.len() < SHOWN && !shown.iter().any(|(_, told)| *told == meaning) {
            shown.push((name, meaning));
        }
    }
    shown.into_iter().map(|(name, _)| name).collect()
}

/// `did you mean a or b?`, or nothing to suggest.
pub fn did_you_mean(near: &[&str]) -> Option<String> {
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
}
