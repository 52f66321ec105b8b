//! Which fields of a list are wanted, by what is said of them.
//!
//! Values of one option are alternatives, options narrow each other. A value that no field can have is an error with
//! the nearest that one can; nothing is guessed.

use clap::Args;
use globset::GlobBuilder;

use super::exit::UsageError;
use super::selection::{bad_glob, is_glob};
use super::suggest::{did_you_mean, nearest};
use crate::meaning::list::{FieldEntry, Mark};
use crate::meaning::report::{SINK_KINDS, UNITS};

/// A unit that the source does not tell, for `--unit`.
const UNKNOWN: &str = "unknown";

#[derive(Args, Clone, Debug, Default)]
pub struct FilterOptions {
    /// Only fields declared under this heading, or one that the glob matches; may be repeated
    #[arg(long, value_name = "SECTION")]
    pub section: Vec<String>,

    /// Only fields that nothing reads
    #[arg(long)]
    pub dead: bool,

    /// Only fields that end in this kind of sink, such as host-memory; may be repeated
    #[arg(long, value_name = "KIND")]
    pub sink: Vec<String>,

    /// Only fields of which each rank holds the whole value
    #[arg(long)]
    pub per_rank: bool,

    /// Only fields in this unit, such as GB, tokens or unknown; may be repeated
    #[arg(long, value_name = "UNIT")]
    pub unit: Vec<String>,
}

/// The options, their values found in what there is.
pub struct Filter<'a> {
    sections: Option<Vec<&'a str>>,
    sinks: Option<Vec<&'a str>>,
    units: Option<Vec<&'a str>>,
    dead: bool,
    per_rank: bool,
}

impl FilterOptions {
    /// `sections` are those of the tree, in its order.
    ///
    /// # Errors
    /// If a value is none that a field can have.
    pub fn among<'a>(&self, sections: &[&'a str]) -> Result<Filter<'a>, UsageError> {
        let units: Vec<&str> = UNITS.iter().copied().chain([UNKNOWN]).collect();
        Ok(Filter {
            sections: known("section", &self.section, sections)?,
            sinks: known("kind of sink", &self.sink, SINK_KINDS)?,
            units: known("unit", &self.unit, &units)?,
            dead: self.dead,
            per_rank: self.per_rank,
        })
    }
}

impl Filter<'_> {
    /// Is a field of this section wanted, as far as its section goes?
    pub fn takes_section(&self, section: Option<&str>) -> bool {
        self.sections.as_ref().is_none_or(|wanted| section.is_some_and(|section| wanted.contains(&section)))
    }

    pub fn takes(&self, entry: &FieldEntry) -> bool {
        let unit = entry.unit.name.as_deref().unwrap_or(UNKNOWN);
        let ends_in = |wanted: &Vec<&str>| entry.sinks.iter().any(|sink| wanted.contains(&sink.kind.as_str()));
        self.takes_section(entry.definition.section.as_deref())
            && self.sinks.as_ref().is_none_or(ends_in)
            && self.units.as_ref().is_none_or(|wanted| wanted.contains(&unit))
            && (!self.dead || entry.marks.contains(&Mark::Dead))
            && (!self.per_rank || !entry.scope.per.is_empty())
    }
}

/// The terms that are meant: as they are written, else in whatever case and punctuation, else by a glob. `None` if none
/// is asked for.
fn known<'a>(what: &str, asked: &[String], terms: &[&'a str]) -> Result<Option<Vec<&'a str>>, UsageError> {
    let mut meant = Vec::new();
    for asked in asked {
        let exact: Vec<&str> = terms.iter().copied().filter(|term| term == asked).collect();
        let loose = || terms.iter().copied().filter(|term| folded(term) == folded(asked)).collect();
        let found = if exact.is_empty() { loose() } else { exact };
        let found = if found.is_empty() && is_glob(asked) { matching(asked, terms)? } else { found };
        if found.is_empty() {
            let near = nearest(asked, terms.iter().map(|term| (*term, *term)));
            let hint = did_you_mean(&near).unwrap_or_else(|| match terms {
                [] => format!("no field of this tree has a {what}"),
                _ => format!("there are: {}", terms.join(", ")),
            });
            return Err(UsageError::new(format!("there is no {what} `{asked}`"), hint));
        }
        meant.extend(found);
    }
    Ok((!asked.is_empty()).then_some(meant))
}

fn folded(term: &str) -> String {
    term.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn matching<'a>(glob: &str, terms: &[&'a str]) -> Result<Vec<&'a str>, UsageError> {
    let matcher = GlobBuilder::new(glob).case_insensitive(true).build().map_err(|error| bad_glob(glob, &error))?;
    let matcher = matcher.compile_matcher();
    Ok(terms.iter().copied().filter(|term| matcher.is_match(term)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(asked: &[&str]) -> Result<Option<Vec<&'static str>>, String> {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        let terms = ["Speculative decoding", "Speculative decoding (ngram)", "Data parallelism"];
        known("section", &asked, &terms).map_err(|error| error.to_string())
    }

    #[test]
    fn terms_are_found_in_any_case_and_by_glob() {
        assert_eq!(sections(&[]), Ok(None));
        assert_eq!(sections(&["data-parallelism"]), Ok(Some(vec!["Data parallelism"])));
        assert_eq!(sections(&["spec*"]).unwrap().unwrap().len(), 2);
        assert_eq!(sections(&["Speculative decoding"]).unwrap().unwrap().len(), 1);
        assert!(sections(&["specul"]).is_err() && sections(&["[a"]).is_err() && sections(&["zzz*"]).is_err());
    }

    #[test]
    fn units_in_another_case_are_told_apart() {
        let units = |asked: &str| known("unit", &[asked.to_owned()], UNITS).unwrap().unwrap();
        assert_eq!((units("gb"), units("gib"), units("MS")), (vec!["GB"], vec!["GiB"], vec!["ms"]));
    }
}
