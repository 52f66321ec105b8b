//! Conjunctions of conditions, and the alternatives among them.
//!
//! A way is a conjunction; the ways to something are kept irredundant (none implies another) and few. Merging loses
//! conditions, it never adds one.

use super::condition::Condition;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Conditions that hold together, by their text.
#[derive(Clone, Default, Debug)]
pub struct All(BTreeMap<String, Rc<Condition>>);

impl All {
    pub fn iter(&self) -> impl Iterator<Item = &Condition> {
        self.0.values().map(Rc::as_ref)
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn has(&self, condition: &Condition) -> bool {
        self.0.contains_key(&condition.text)
    }
    pub fn add(&mut self, condition: Condition) {
        self.0.entry(condition.text.clone()).or_insert_with(|| Rc::new(condition));
    }
    pub fn and(&self, other: &All) -> All {
        let mut out = self.clone();
        for (key, condition) in &other.0 {
            out.0.entry(key.clone()).or_insert_with(|| condition.clone());
        }
        out
    }
    pub fn shared_with(&self, other: &All) -> All {
        All(self.0.iter().filter(|(k, _)| other.0.contains_key(*k)).map(|(k, c)| (k.clone(), c.clone())).collect())
    }
    pub fn holds(&self, text: &str) -> bool {
        self.0.contains_key(text)
    }
    pub fn replace(&mut self, old: &Condition, new: Option<Condition>) {
        self.0.remove(&old.text);
        new.into_iter().for_each(|c| self.add(c));
    }
    pub fn retain(&mut self, keep: impl Fn(&Condition) -> bool) {
        self.0.retain(|_, c| keep(c));
    }
    /// Without conditions that another settles: `x == 1` says all that `x != 2` does.
    pub fn without_implied(&self) -> All {
        let settled: Vec<String> = self.0.values().filter_map(|c| c.equals.map(|f| format!("{f} != "))).collect();
        let implied = |c: &Condition| settled.iter().any(|s| c.text.starts_with(s.as_str()));
        All(self.0.iter().filter(|(_, c)| !implied(c)).map(|(k, c)| (k.clone(), c.clone())).collect())
    }
    fn within(&self, other: &All) -> bool {
        self.0.keys().all(|k| other.0.contains_key(k))
    }
}

/// The ways by which something comes about, each with its conditions; none that implies another.
#[derive(Clone, Default, Debug)]
pub struct Ways(Vec<All>);

/// Ways beyond this number are joined to what they share.
const MAX_WAYS: usize = 6;

impl Ways {
    pub fn free() -> Ways {
        Ways(vec![All::default()])
    }
    pub fn iter(&self) -> impl Iterator<Item = &All> {
        self.0.iter()
    }
    pub fn add(&mut self, way: All) {
        if self.0.iter().any(|known| known.within(&way)) {
            return;
        }
        self.0.retain(|known| !way.within(known));
        self.0.push(way);
        self.resolve();
        if self.0.len() > MAX_WAYS {
            self.0 = self.common().into_iter().collect();
        }
    }
    /// Drops conditions that a way does without because another way has the opposite: of `a and x` and `a and not x`
    /// stays `a`.
    fn resolve(&mut self) {
        let found = (0..self.0.len()).flat_map(|i| (0..self.0.len()).map(move |j| (i, j))).find_map(|(i, j)| {
            let (one, other) = (self.0.get(i)?, self.0.get(j)?);
            let condition = one.iter().find(|c| {
                let opposite = c.against.iter().all(|a| other.holds(a));
                let rest = one.0.keys().filter(|k| **k != c.text);
                i != j && opposite && !c.against.is_empty() && rest.into_iter().all(|k| other.holds(k))
            })?;
            let mut less = other.clone();
            less.retain(|c| !condition.against.contains(&c.text));
            Some((j, less))
        });
        if let Some((j, less)) = found {
            self.0.remove(j);
            self.add(less);
        }
    }
    pub fn add_all(&mut self, ways: &Ways) {
        ways.0.iter().for_each(|w| self.add(w.clone()));
    }
    /// Each way of one with each of the other.
    pub fn and(&self, other: &Ways) -> Ways {
        let mut out = Ways::default();
        for a in &self.0 {
            other.0.iter().for_each(|b| out.add(a.and(b)));
        }
        out
    }
    pub fn with(&self, all: &All) -> Ways {
        let mut out = Ways::default();
        self.0.iter().for_each(|w| out.add(w.and(all)));
        out
    }
    /// What all ways share; `None` if there is no way.
    pub fn common(&self) -> Option<All> {
        let (first, rest) = self.0.split_first()?;
        Some(rest.iter().fold(first.clone(), |common, way| common.shared_with(way)))
    }
    pub fn same(&self, other: &Ways) -> bool {
        let has = |ways: &Ways, way: &All| ways.0.iter().any(|w| w.within(way) && way.within(w));
        self.0.len() == other.0.len() && self.0.iter().all(|w| has(other, w))
    }
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
    pub fn is_free(&self) -> bool {
        self.0.iter().any(All::is_empty)
    }
    pub fn edited(&self, edit: impl Fn(&mut All)) -> Ways {
        let mut out = Ways::default();
        for way in &self.0 {
            let mut way = way.clone();
            edit(&mut way);
            out.add(way);
        }
        out
    }
}
