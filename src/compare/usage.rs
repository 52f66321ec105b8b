//! Which arguments a launch gives, and which changes matter to it.
//!
//! A flag is meant as either release's parser would take it: in full, or as the beginning of one flag alone.

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
    pub fn of(given: &[Given], releases: [&Snapshot; 2], defaults: bool) -> Usage {
        let meant = |given| releases.into_iter().flat_map(move |release| meant(release, given));
        Usage { fields: given.iter().flat_map(meant).map(str::to_owned).collect(), defaults }
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

/// What names an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// On the command line, as written.
    Flag(String),
    /// In the server's own configuration file, with underscores.
    Key(String),
}

/// The argument that is set: by its flag in full, else by the one flag that it begins.
fn meant<'s>(release: &'s Snapshot, given: &Given) -> Option<&'s str> {
    let flag = match given {
        Given::Key(key) if release.field(key).is_some() => return release.field(key).map(|m| m.field.as_str()),
        Given::Key(key) => &format!("--{}", key.replace('_', "-")),
        Given::Flag(flag) => flag,
    };
    let retired = release.retired_flags.iter().map(|r| (r.flag.as_str(), r.field.as_str()));
    let all = || {
        release
            .fields
            .iter()
            .flat_map(|m| m.flags.iter().map(|f| (f.as_str(), m.field.as_str())))
            .chain(retired.clone())
    };
    let exact = all().find(|(known, _)| *known == flag.as_str());
    let mut begun = all().filter(|(known, _)| known.starts_with(flag.as_str()));
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
        Snapshot {
            fields: vec![field("size", &["--size", "--entries"]), field("mode", &["--mode"])],
            ..Snapshot::default()
        }
    }

    fn used(given: &[Given]) -> Vec<String> {
        let release = release();
        Usage::of(given, [&release, &release], false).fields.into_iter().collect()
    }

    #[test]
    fn what_is_given_is_meant_as_the_parser_takes_it() {
        let flag = |text: &str| Given::Flag(text.to_owned());
        assert_eq!(used(&[flag("--entries"), flag("--mo")]), ["mode", "size"]);
        assert_eq!(used(&[Given::Key("entries".into())]), ["size"]);
        assert_eq!(used(&[flag("--sizes"), flag("--m3"), Given::Key("other".into())]), Vec::<String>::new());
    }
}
