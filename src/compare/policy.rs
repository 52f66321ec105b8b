//! What a team makes of changes: other levels for some, and an allow-list.
//!
//! Pure: which day it is, is told. An allowance names one change by its fingerprint, says why it is fine and until when;
//! one that is past its day or matches nothing is a finding itself, so that the list stays true.

use globset::GlobMatcher;

use super::change::{Change, Diff, Level, Side};
use super::codes::Code;

/// A day of the calendar.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    pub year: i64,
    pub month: u8,
    pub day: u8,
}

impl Day {
    /// `2026-01-31`.
    pub fn parse(text: &str) -> Option<Day> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let day = Day { year: year.parse().ok()?, month: month.parse().ok()?, day: day.parse().ok()? };
        let right =
            parts.next().is_none() && year.len() == 4 && (1..=12).contains(&day.month) && (1..=31).contains(&day.day);
        right.then_some(day)
    }

    /// The day, in UTC, of a moment in seconds since 1970.
    pub fn of_seconds(seconds: u64) -> Day {
        // Civil from days (Howard Hinnant): years begin in March, so that a leap day ends one.
        let days = (seconds / 86_400) as i64 + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = (of_year - (153 * from_march + 2) / 5 + 1) as u8;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 } as u8;
        Day { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Another level for the changes that it matches; the last rule that does wins.
pub struct LevelRule {
    pub code: Option<Code>,
    pub field: Option<GlobMatcher>,
    /// `None` leaves them out.
    pub level: Option<Level>,
}

/// One change that is fine.
pub struct Allowance {
    pub code: Code,
    pub field: String,
    pub fingerprint: String,
    pub reason: String,
    pub expires: Day,
    /// Where it is written.
    pub at: Side,
}

#[derive(Default)]
pub struct Policy {
    pub levels: Vec<LevelRule>,
    pub allowances: Vec<Allowance>,
}

impl Policy {
    pub fn judged(&self, mut diff: Diff, today: Day) -> Diff {
        let mut used = vec![false; self.allowances.len()];
        let mut kept: Vec<Change> = Vec::new();
        for mut change in std::mem::take(&mut diff.changes) {
            let allowed = self.allowances.iter().position(|a| a.matches(&change));
            if let Some(at) = allowed {
                used[at] = true;
                if self.allowances[at].expires >= today {
                    continue;
                }
            }
            match self.levels.iter().rev().find(|rule| rule.matches(&change)) {
                Some(LevelRule { level: None, .. }) => continue,
                Some(LevelRule { level: Some(level), .. }) => change.level = *level,
                None => {}
            }
            kept.push(change);
        }
        for (allowance, used) in self.allowances.iter().zip(used) {
            kept.extend(allowance.finding(used, today));
        }
        kept.sort_by(|a, b| b.level.cmp(&a.level));
        diff.changes = kept;
        diff
    }
}

impl LevelRule {
    fn matches(&self, change: &Change) -> bool {
        self.code.is_none_or(|code| code == change.code)
            && self.field.as_ref().is_none_or(|glob| glob.is_match(&change.field))
    }
}

impl Allowance {
    fn matches(&self, change: &Change) -> bool {
        self.code == change.code && self.field == change.field && self.fingerprint == change.fingerprint
    }

    /// What is wrong with the entry.
    fn finding(&self, used: bool, today: Day) -> Option<Change> {
        let (code, message) = match (used, self.expires < today) {
            (true, false) => return None,
            (true, true) => (
                Code::AllowanceExpired,
                format!("the allowance of {} ended on {}: {}", self.code.as_str(), self.expires, self.reason),
            ),
            (false, _) => (
                Code::AllowanceUnused,
                format!("the allowance of {} matches no change: {}", self.code.as_str(), self.reason),
            ),
        };
        let mut change = Change::new(code, &self.field, Level::Behaviour, message)
            .values(self.fingerprint.clone(), serde_json::Value::Null);
        change.new = Some(self.at.clone());
        Some(change.sealed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_a_calendar_does() {
        let day = |seconds| Day::of_seconds(seconds).to_string();
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(day(1_772_323_199), "2026-02-28");
        assert_eq!(day(1_772_323_200), "2026-03-01");
        assert!(Day::parse("2026-02-28") < Day::parse("2026-03-01"));
        assert_eq!(Day::parse("2026-13-01"), None);
        assert_eq!(Day::parse("soon"), None);
    }
}
