//! Scores the reports on real releases against labels that were made by hand from SGLang's source, `tests/gold`.
//!
//! A metric may rise; it must not fall under its floor in [`FLOORS`]. Places are compared by path and line, lists as
//! sets. What a label calls `unsure` is not scored. Misses are printed, so that a failure says what was lost.

mod release;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A metric with its least recall and precision.
type Floor = (&'static str, f64, f64);

/// The least recall and precision of each metric at 0.5.9, to be raised with the analysis.
const FLOORS: &[Floor] = &[
    ("definition", 1.0, 1.0),
    ("default", 1.0, 1.0),
    ("flags", 1.0, 1.0),
    ("choices", 1.0, 1.0),
    ("reads", 0.99, 0.99),
    ("writes", 0.99, 0.99),
    ("traps", 1.0, 1.0),
    ("landmarks", 0.95, 0.0),
    ("unit", 0.88, 0.0),
    ("scope.per", 0.94, 0.0),
    ("scope.divided_by", 0.94, 0.0),
    ("scope.processes", 0.95, 0.92),
    ("sinks.kind", 0.80, 0.70),
    ("sinks.line", 0.45, 0.0),
    ("precedence", 0.0, 0.0),
    ("active_when", 0.0, 0.0),
    ("constraints", 0.0, 0.0),
];

/// What holds for every release whose declarations are read, however its values are read.
const DECLARED: &[Floor] =
    &[("definition", 1.0, 1.0), ("default", 1.0, 1.0), ("flags", 1.0, 1.0), ("choices", 1.0, 1.0), ("traps", 1.0, 1.0)];

#[test]
fn release_0_5_9_is_at_its_floors() {
    hold("0.5.9", 18, FLOORS);
}

#[test]
fn release_0_4_6_declares_what_its_labels_say() {
    hold("0.4.6", 4, DECLARED);
}

#[test]
fn release_0_5_23_declares_what_its_labels_say() {
    hold("0.5.23", 5, DECLARED);
}

fn hold(version: &str, count: usize, floors: &[Floor]) {
    let labels = labels(version);
    assert_eq!(labels.len(), count, "labels of {version}");
    let Some(session) = release::open(version) else { return };
    let fields: Vec<String> = labels.iter().map(|l| text(l, "field").to_owned()).collect();
    let report = serde_json::to_value(session.report(&fields, &|_| ())).expect("a report is JSON");
    let reports: BTreeMap<&str, &Value> = list(&report, "fields").iter().map(|r| (text(r, "field"), r)).collect();
    let mut scores = Scores::default();
    for label in &labels {
        score(label, reports.get(text(label, "field")).copied().unwrap_or(&Value::Null), &mut scores);
    }
    let mut fallen = Vec::new();
    for (metric, least_recall, least_precision) in floors {
        let tally = scores.0.entry(metric).or_default();
        let (recall, precision) = (tally.recall(), tally.precision());
        println!("{version} {metric:18}{:5}{recall:8.3}{precision:8.3}", tally.hit + tally.miss);
        if recall < *least_recall || precision < *least_precision {
            fallen.push(format!(
                "{metric}: recall {recall:.3} (floor {least_recall}), precision {precision:.3} (floor \
                 {least_precision})\n    {}",
                tally.notes.join("\n    ")
            ));
        }
    }
    assert!(fallen.is_empty(), "{version} fell under its floors:\n{}", fallen.join("\n"));
}

fn labels(version: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gold").join(version);
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("labels").flatten().map(|e| e.path()).collect();
    paths.sort();
    let read = |path| serde_json::from_slice(&std::fs::read(path).expect("a label")).expect("a label is JSON");
    paths.iter().map(read).collect()
}

/// Hits and misses of one metric over all labels.
#[derive(Default)]
struct Tally {
    hit: usize,
    miss: usize,
    wrong: usize,
    notes: Vec<String>,
}

impl Tally {
    fn recall(&self) -> f64 {
        share(self.hit, self.miss)
    }

    fn precision(&self) -> f64 {
        share(self.hit, self.wrong)
    }
}

fn share(hit: usize, rest: usize) -> f64 {
    if hit + rest == 0 { 1.0 } else { hit as f64 / (hit + rest) as f64 }
}

#[derive(Default)]
struct Scores(BTreeMap<&'static str, Tally>);

/// Is a claim faulted that no label has?
#[derive(Copy, Clone, PartialEq)]
enum Closed {
    Yes,
    No,
}

impl Scores {
    fn sets<T: std::fmt::Debug>(
        &mut self,
        metric: &'static str,
        who: &str,
        (gold, said): (&[T], &[T]),
        same: impl Fn(&T, &T) -> bool,
        closed: Closed,
    ) {
        let tally = self.0.entry(metric).or_default();
        for item in gold {
            if said.iter().any(|s| same(item, s)) {
                tally.hit += 1;
            } else {
                tally.miss += 1;
                tally.notes.push(format!("{who}: missed {item:?}"));
            }
        }
        for item in said.iter().filter(|s| closed == Closed::Yes && !gold.iter().any(|g| same(g, s))) {
            tally.wrong += 1;
            tally.notes.push(format!("{who}: false {item:?}"));
        }
    }

    fn one<T: PartialEq + std::fmt::Debug>(&mut self, metric: &'static str, who: &str, gold: T, said: T) {
        let tally = self.0.entry(metric).or_default();
        if gold == said {
            tally.hit += 1;
        } else {
            tally.miss += 1;
            tally.notes.push(format!("{who}: is {gold:?}, said {said:?}"));
        }
    }
}

type PlaceKey = (String, u64);

/// Kinds of process that are normally one.
const MAIN: [&str; 3] = ["launcher", "http_server", "tokenizer"];

fn score(label: &Value, report: &Value, scores: &mut Scores) {
    let who = format!("{}/{}", text(label, "version"), text(label, "field"));
    let label = Label(label);
    score_definition(label, report, &who, scores);
    score_accesses(label, report, &who, scores);
    score_flow(label, report, &who, scores);
    score_unit_and_scope(label, report, &who, scores);
    score_sinks(label, report, &who, scores);
    score_relations(label, report, &who, scores);
}

fn score_definition(label: Label, report: &Value, who: &str, scores: &mut Scores) {
    let (gold, said) = (&label.0["definition"], &report["definition"]);
    if label.doubts("definition") {
        return;
    }
    scores.one("definition", who, place(gold), place(said));
    scores.one("default", who, gold["default"].as_str(), said["default"].as_str());
    scores.one("flags", who, words(gold, "flags"), words(said, "flags"));
    let choices = |v: &Value| -> BTreeSet<String> { list(v, "choices").iter().map(Value::to_string).collect() };
    if !list(gold, "choices").is_empty() {
        scores.one("choices", who, choices(gold), choices(said));
    }
}

fn score_accesses(label: Label, report: &Value, who: &str, scores: &mut Scores) {
    let all = |key: &str| -> BTreeSet<PlaceKey> { list(label.0, key).iter().map(place).collect() };
    let said = |key: &str| -> BTreeSet<PlaceKey> { list(report, key).iter().map(place).collect() };
    for key in ["reads", "writes"] {
        let Some(gold) = label.kept(key, None) else { continue };
        let gold: BTreeSet<_> = gold.into_iter().map(place).collect();
        let mut free: BTreeSet<_> = label.doubtful(key, None).into_iter().map(place).collect();
        if key == "reads" {
            // `field += 1` reads and writes on one line; a label may list either.
            free.extend(all("reads").union(&all("writes")).filter(|p| !gold.contains(p)).cloned());
        }
        let claimed: Vec<_> = said(key).difference(&free).cloned().collect();
        let gold: Vec<_> = gold.into_iter().collect();
        scores.sets(
            if key == "reads" { "reads" } else { "writes" },
            who,
            (&gold, &claimed),
            |a, b| a == b,
            Closed::Yes,
        );
    }
    let reads = said("reads");
    for trap in all("not_reads").difference(&all("reads")) {
        scores.one("traps", &format!("{who} {trap:?}"), false, reads.contains(trap));
    }
}

fn score_flow(label: Label, report: &Value, who: &str, scores: &mut Scores) {
    let Some(gold) = label.kept("landmarks", None) else { return };
    let nodes = list(&report["flow"], "nodes").iter().chain(list(report, "reads"));
    let nodes: Vec<PlaceKey> = nodes.map(place).collect();
    let gold: Vec<PlaceKey> = gold.into_iter().map(place).collect();
    scores.sets("landmarks", who, (&gold, &nodes), |a, b| near(a, b, 1), Closed::No);
}

fn score_unit_and_scope(label: Label, report: &Value, who: &str, scores: &mut Scores) {
    let unit = &label.0["unit"];
    if !label.doubts("unit") && !label.doubts("unit.name") {
        let said = report["unit"]["name"].as_str().unwrap_or("");
        let fair = text(unit, "name") == said || words(unit, "accept").contains(said);
        scores.one("unit", who, text(unit, "name"), if fair { text(unit, "name") } else { said });
    }
    let (gold, said) = (&label.0["scope"], &report["scope"]);
    if label.doubts("scope") {
        return;
    }
    if !label.doubts("scope.per") {
        scores.one("scope.per", who, words(gold, "per"), words(said, "per"));
    }
    if !label.doubts("scope.divided_by") {
        let names = list(gold, "divided_by").iter().enumerate();
        let spare: BTreeSet<_> = names
            .filter(|(i, _)| label.doubts(&format!("scope.divided_by[{i}]")))
            .filter_map(|(_, name)| name.as_str().map(str::to_owned))
            .collect();
        let less = |v| words(v, "divided_by").difference(&spare).cloned().collect::<BTreeSet<_>>();
        scores.one("scope.divided_by", who, less(gold), less(said));
    }
    if !label.doubts("scope.processes") {
        let fold = |v| -> Vec<String> {
            let kinds = words(v, "processes").into_iter();
            let folded: BTreeSet<_> =
                kinds.map(|k| if MAIN.contains(&k.as_str()) { "main".to_owned() } else { k }).collect();
            folded.into_iter().collect()
        };
        scores.sets("scope.processes", who, (&fold(gold), &fold(said)), |a, b| a == b, Closed::Yes);
    }
}

fn score_sinks(label: Label, report: &Value, who: &str, scores: &mut Scores) {
    let Some(gold) = label.kept("sinks", Some("kind")) else { return };
    let kind = |v: &Value| text(v, "kind").to_owned();
    let kinds: BTreeSet<String> = gold.iter().map(|v| kind(v)).collect();
    let spare: BTreeSet<String> =
        label.doubtful("sinks", Some("kind")).into_iter().map(kind).filter(|k| !kinds.contains(k)).collect();
    let said: BTreeSet<String> = list(report, "sinks").iter().map(kind).filter(|k| !spare.contains(k)).collect();
    let (kinds, said): (Vec<_>, Vec<_>) = (kinds.into_iter().collect(), said.into_iter().collect());
    scores.sets("sinks.kind", who, (&kinds, &said), |a, b| a == b, Closed::Yes);
    let placed = |v: &Value| (kind(v), place(v));
    let gold: Vec<_> = label.kept("sinks", None).unwrap_or_default().into_iter().map(placed).collect();
    let said: Vec<_> = list(report, "sinks").iter().map(placed).collect();
    scores.sets("sinks.line", who, (&gold, &said), |a, b| a.0 == b.0 && near(&a.1, &b.1, 2), Closed::No);
}

fn score_relations(label: Label, report: &Value, who: &str, scores: &mut Scores) {
    if let Some(gold) = label.kept("precedence", None) {
        let pairs = |entries: Vec<&Value>| -> BTreeSet<(String, String)> {
            let of_fields = entries.into_iter().filter(|e| e["other_kind"].as_str().is_none_or(|k| k == "field"));
            of_fields.map(|e| (text(e, "relation").to_owned(), text(e, "other").to_owned())).collect()
        };
        let closed = if label.0["precedence_open"] == true { Closed::No } else { Closed::Yes };
        let doubtful = pairs(label.doubtful("precedence", None));
        let said = pairs(list(report, "precedence").iter().collect());
        less_doubt(scores, "precedence", who, pairs(gold), said, &doubtful, closed);
    }
    if let Some(gold) = label.kept("active_when", None) {
        let fields = |entries: Vec<&Value>| -> BTreeSet<String> {
            entries
                .into_iter()
                .flat_map(|e| e["field"].as_str().map_or_else(|| words(e, "field"), |f| [f.into()].into()))
                .collect()
        };
        let doubtful = fields(label.doubtful("active_when", None));
        let said = fields(list(report, "active_when").iter().collect());
        less_doubt(scores, "active_when", who, fields(gold), said, &doubtful, Closed::Yes);
    }
    if let Some(gold) = label.kept("constraints", None) {
        let gold: Vec<_> = gold.into_iter().map(place).collect();
        let said: Vec<_> = list(report, "constraints").iter().map(place).collect();
        scores.sets("constraints", who, (&gold, &said), |a, b| near(a, b, 2), Closed::No);
    }
}

/// Scores sets, claims that a label doubts being neither right nor wrong.
fn less_doubt<T: Ord + Clone + std::fmt::Debug>(
    scores: &mut Scores,
    metric: &'static str,
    who: &str,
    gold: BTreeSet<T>,
    said: BTreeSet<T>,
    doubtful: &BTreeSet<T>,
    closed: Closed,
) {
    let said: Vec<T> = said.into_iter().filter(|s| gold.contains(s) || !doubtful.contains(s)).collect();
    let gold: Vec<T> = gold.into_iter().collect();
    scores.sets(metric, who, (&gold, &said), |a, b| a == b, closed);
}

/// A label, asked for what it is sure of.
#[derive(Copy, Clone)]
struct Label<'l>(&'l Value);

impl<'l> Label<'l> {
    fn doubts(self, name: &str) -> bool {
        list(self.0, "unsure").iter().any(|u| u == name)
    }

    /// `key[i]` doubts all of an entry, `key[i].part` that part alone; without a part, any doubt counts.
    fn doubts_entry(self, key: &str, i: usize, part: Option<&str>) -> bool {
        let name = format!("{key}[{i}]");
        list(self.0, "unsure").iter().filter_map(Value::as_str).any(|u| {
            let Some(rest) = u.strip_prefix(&name) else { return false };
            rest.is_empty() || rest.strip_prefix('.').is_some_and(|p| part.is_none_or(|part| part == p))
        })
    }

    /// The list, less what is doubted; `None` if all of it is.
    fn kept(self, key: &str, part: Option<&str>) -> Option<Vec<&'l Value>> {
        let entries = list(self.0, key).iter().enumerate();
        let kept = entries.filter(|(i, _)| !self.doubts_entry(key, *i, part)).map(|(_, e)| e);
        (!self.doubts(key)).then(|| kept.collect())
    }

    fn doubtful(self, key: &str, part: Option<&str>) -> Vec<&'l Value> {
        let entries = list(self.0, key).iter().enumerate();
        entries.filter(|(i, _)| self.doubts_entry(key, *i, part)).map(|(_, e)| e).collect()
    }
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}

fn words(value: &Value, key: &str) -> BTreeSet<String> {
    list(value, key).iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn place(value: &Value) -> PlaceKey {
    (text(value, "path").to_owned(), value["line"].as_u64().unwrap_or(0))
}

fn near(a: &PlaceKey, b: &PlaceKey, lines: u64) -> bool {
    a.0 == b.0 && a.1.abs_diff(b.1) <= lines
}
