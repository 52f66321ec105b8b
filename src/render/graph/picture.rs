//! Chooses what of a flow is drawn, and groups it into boxes and links.
//!
//! The places of one function are one box, so that a flow of hundreds of places can be read. Where there are still too
//! many boxes, those on a shortest way to each kind of sink go first, then those that do something to the value.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::meaning::report::{FieldReport, Flow, FlowEdge, FlowNode, Grade, Sink};
use crate::render::summary;

/// How much is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail {
    /// Every place is a box, and none is left out.
    pub full: bool,
    /// Links from the flag at most.
    pub depth: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Read,
    Step,
    Sink,
}

pub(super) struct Box {
    pub kind: Kind,
    pub title: String,
    /// Empty for a flag and a kind of sink.
    pub path: String,
    /// `line: code`, those that tell most.
    pub lines: Vec<String>,
    /// Lines that are not listed.
    pub more: usize,
}

pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    /// What is done to the value on the way.
    pub label: String,
    pub spawn: bool,
    pub grade: Grade,
}

pub struct Picture {
    pub(super) title: String,
    /// Unit and scope in a few words.
    pub(super) caption: String,
    /// The flag is the first; each stands after one that leads to it.
    pub(super) boxes: Vec<Box>,
    pub(super) links: Vec<Link>,
    /// Functions that were left out, or places where each is a box.
    pub(super) hidden: usize,
    /// Kinds of sinks that were left out.
    pub(super) hidden_sinks: usize,
}

/// Boxes of functions in a picture that is not full: with the flag and the sinks as many as are taken in at a glance.
const BOXES: usize = 11;
/// The same for kinds of sinks.
const SINKS: usize = 5;
/// Lines of code in a box.
const LINES: usize = 4;
/// Transformations on a link.
const LABELS: usize = 2;

pub fn picture(report: &FieldReport, detail: Detail) -> Picture {
    let empty = Flow::default();
    let groups = Groups::of(report.flow.as_ref().unwrap_or(&empty), &report.sinks, detail.full);
    let order = groups.reached(detail.depth);
    let chosen = if detail.full { order.clone() } else { groups.telling(&order) };
    let mut picture = Picture {
        title: report.definition.flags.first().unwrap_or(&report.field).clone(),
        caption: caption(report),
        boxes: vec![flag(report)],
        links: Vec::new(),
        hidden: order.len() - chosen.len(),
        hidden_sinks: 0,
    };
    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    for &group in &chosen {
        place.insert(group, picture.boxes.len());
        picture.boxes.push(groups.boxed(group));
    }
    for &group in chosen.iter().filter(|group| groups.is_root(**group)) {
        let link = Link { from: 0, to: place[&group], label: String::new(), spawn: false, grade: Grade::Proved };
        picture.links.push(link);
    }
    for ((from, to), edges) in &groups.edges {
        // What leads back is drawn only where everything is.
        if let (Some(&from), Some(&to)) = (place.get(from), place.get(to))
            && (detail.full || from < to)
        {
            picture.links.push(linked(from, to, edges));
        }
    }
    sinks(&mut picture, report, &groups, &place, if detail.full { usize::MAX } else { SINKS });
    picture
}

fn caption(report: &FieldReport) -> String {
    let scope = summary::scope(&report.scope);
    let unit = report.unit.name.as_ref().map(|_| format!("unit {}", summary::unit(&report.unit)));
    let parts = [unit, (!scope.is_empty()).then_some(scope), report.scope.total.as_ref().map(|t| format!("total {t}"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn flag(report: &FieldReport) -> Box {
    let definition = &report.definition;
    let mut lines = vec![format!("{}:{}", definition.path.rsplit('/').next().unwrap_or_default(), definition.line)];
    if let Some(type_) = &definition.type_ {
        let default = definition.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        lines.push(format!("{}: {type_}{default}", report.field));
    }
    let title = if definition.flags.is_empty() { report.field.clone() } else { definition.flags.join(", ") };
    Box { kind: Kind::Flag, title, path: String::new(), lines, more: 0 }
}

fn linked(from: usize, to: usize, edges: &[&FlowEdge]) -> Link {
    let labels: BTreeSet<&str> = edges.iter().filter_map(|edge| edge.transform.as_deref()).collect();
    let mut shown: Vec<&str> = labels.iter().copied().take(LABELS).collect();
    if labels.len() > LABELS {
        shown.push("…");
    }
    let spawn = edges.iter().any(|edge| edge.kind == "spawn");
    // The best of several ways is what is known.
    let grade = edges.iter().map(|edge| edge.grade).max().unwrap_or_default();
    Link { from, to, label: shown.join("  "), spawn, grade }
}

/// A box for each kind of sink, linked from where the value ends in it.
fn sinks(
    picture: &mut Picture,
    report: &FieldReport,
    groups: &Groups<'_>,
    place: &FxHashMap<usize, usize>,
    most: usize,
) {
    let mut kinds: BTreeMap<&str, (BTreeSet<usize>, Vec<String>, Grade)> = BTreeMap::new();
    for sink in &report.sinks {
        let (from, lines, grade) = kinds.entry(&sink.kind).or_default();
        from.extend(groups.at(&sink.path, sink.line).filter_map(|group| place.get(&group)));
        lines.push(format!("{}: {}", sink.line, sink.code));
        *grade = (*grade).max(sink.grade);
    }
    // The surest go first; of one grade the order is that of their names.
    let mut reached: Vec<_> = kinds.into_iter().filter(|(_, (from, ..))| !from.is_empty()).collect();
    reached.sort_by_key(|(_, (.., grade))| std::cmp::Reverse(*grade));
    picture.hidden_sinks = reached.len().saturating_sub(most);
    for (kind, (from, mut lines, grade)) in reached.into_iter().take(most) {
        let to = picture.boxes.len();
        let more = lines.len().saturating_sub(2);
        lines.truncate(2);
        picture.boxes.push(Box { kind: Kind::Sink, title: kind.to_owned(), path: String::new(), lines, more });
        picture.links.extend(from.into_iter().map(|from| Link { from, to, label: String::new(), spawn: false, grade }));
    }
}

/// The flow with the nodes of a function as one.
struct Groups<'f> {
    nodes: Vec<Vec<&'f FlowNode>>,
    edges: BTreeMap<(usize, usize), Vec<&'f FlowEdge>>,
    follows: Vec<Vec<usize>>,
    sinks: &'f [Sink],
}

impl<'f> Groups<'f> {
    fn of(flow: &'f Flow, sinks: &'f [Sink], full: bool) -> Groups<'f> {
        let mut of_key: FxHashMap<(&str, &str, u32), usize> = FxHashMap::default();
        let mut of_id: FxHashMap<u32, usize> = FxHashMap::default();
        let mut nodes: Vec<Vec<&FlowNode>> = Vec::new();
        // How the record got to a read is part of the picture only where everything is.
        for node in flow.nodes.iter().filter(|node| full || node.role != "carrier") {
            let key = (node.path.as_str(), node.function.as_str(), if full { node.id } else { 0 });
            let group = *of_key.entry(key).or_insert_with(|| {
                nodes.push(Vec::new());
                nodes.len() - 1
            });
            of_id.insert(node.id, group);
            nodes[group].push(node);
        }
        let mut edges: BTreeMap<(usize, usize), Vec<&FlowEdge>> = BTreeMap::new();
        for edge in &flow.edges {
            if let (Some(&from), Some(&to)) = (of_id.get(&edge.from), of_id.get(&edge.to))
                && from != to
            {
                edges.entry((from, to)).or_default().push(edge);
            }
        }
        let mut follows = vec![Vec::new(); nodes.len()];
        edges.keys().for_each(|(from, to)| follows[*from].push(*to));
        Groups { nodes, edges, follows, sinks }
    }

    fn is_root(&self, group: usize) -> bool {
        self.nodes[group].iter().any(|node| node.role == "read")
    }

    fn at(&self, path: &str, line: u32) -> impl Iterator<Item = usize> {
        let has = move |nodes: &Vec<&FlowNode>| nodes.iter().any(|node| node.line == line && node.path == path);
        self.nodes.iter().enumerate().filter(move |(_, nodes)| has(nodes)).map(|(group, _)| group)
    }

    /// In the order in which they are reached from the flag.
    fn reached(&self, depth: Option<usize>) -> Vec<usize> {
        self.walk().into_iter().filter(|(_, _, far)| depth.is_none_or(|depth| *far <= depth)).map(|(g, ..)| g).collect()
    }

    /// Group, the one that it is first reached from, and how many links from the flag.
    fn walk(&self) -> Vec<(usize, Option<usize>, usize)> {
        let mut seen = vec![false; self.nodes.len()];
        let mut waiting: VecDeque<(usize, Option<usize>, usize)> = VecDeque::new();
        for group in (0..self.nodes.len()).filter(|group| self.is_root(*group)) {
            seen[group] = true;
            waiting.push_back((group, None, 1));
        }
        let mut walk = Vec::new();
        while let Some((group, above, far)) = waiting.pop_front() {
            walk.push((group, above, far));
            for &next in &self.follows[group] {
                if !std::mem::replace(&mut seen[next], true) {
                    waiting.push_back((next, Some(group), far + 1));
                }
            }
        }
        walk
    }

    /// The ways that tell most, as many as there is room for, in the order of `reached`.
    fn telling(&self, reached: &[usize]) -> Vec<usize> {
        let above: FxHashMap<usize, Option<usize>> = self.walk().into_iter().map(|(g, above, _)| (g, above)).collect();
        let transforms = |group: usize| {
            let own = self.nodes[group].iter().any(|node| node.role == "compute");
            own || self.edges.iter().any(|((_, to), edges)| *to == group && edges.iter().any(|e| e.transform.is_some()))
        };
        let nearest = self.nearest_ends(reached);
        let weight = |group: usize| match () {
            () if nearest.contains(&group) => 0,
            () if transforms(group) => 1,
            () if self.nodes[group].iter().any(|node| self.is_end(node)) => 2,
            () if self.is_root(group) => 3,
            () => 4,
        };
        let mut ends: Vec<(usize, usize)> = reached.iter().map(|&group| (weight(group), group)).collect();
        // Stable: of one weight the nearest goes first.
        ends.sort_by_key(|(weight, _)| *weight);
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        for (_, end) in ends {
            let way = std::iter::successors(Some(end), |group| above.get(group).copied().flatten());
            let fresh: Vec<usize> = way.take_while(|group| !chosen.contains(group)).collect();
            if chosen.len() + fresh.len() <= BOXES {
                chosen.extend(fresh);
            }
        }
        reached.iter().copied().filter(|group| chosen.contains(group)).collect()
    }

    /// For each kind of sink the group that ends in it and is reached first.
    fn nearest_ends(&self, reached: &[usize]) -> BTreeSet<usize> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        let place: FxHashMap<usize, usize> = reached.iter().enumerate().map(|(at, group)| (*group, at)).collect();
        for sink in self.sinks {
            let ends = self.at(&sink.path, sink.line).filter_map(|group| place.get(&group).copied());
            for at in ends {
                let nearest = kinds.entry(&sink.kind).or_insert(at);
                *nearest = at.min(*nearest);
            }
        }
        kinds.into_values().map(|at| reached[at]).collect()
    }

    fn is_end(&self, node: &FlowNode) -> bool {
        self.sinks.iter().any(|sink| sink.line == node.line && sink.path == node.path)
    }

    fn boxed(&self, group: usize) -> Box {
        let nodes = &self.nodes[group];
        let rank = |node: &FlowNode| match node.role.as_str() {
            _ if self.is_end(node) => 0,
            "read" => 1,
            "compute" => 2,
            "compare" => 3,
            _ => 4,
        };
        let mut by_line: BTreeMap<u32, (u8, &str)> = BTreeMap::new();
        for node in nodes {
            let entry = by_line.entry(node.line).or_insert((rank(node), &node.code));
            entry.0 = entry.0.min(rank(node));
        }
        let mut ranked: Vec<(u8, u32)> = by_line.iter().map(|(line, (rank, _))| (*rank, *line)).collect();
        ranked.sort_unstable();
        let more = ranked.len().saturating_sub(LINES);
        let shown: BTreeSet<u32> = ranked.into_iter().take(LINES).map(|(_, line)| line).collect();
        let lines = shown.iter().filter_map(|line| Some(format!("{line}: {}", by_line.get(line)?.1)));
        Box {
            kind: if self.is_root(group) { Kind::Read } else { Kind::Step },
            title: nodes.first().map_or(String::new(), |node| node.function.clone()),
            path: nodes.first().map_or(String::new(), |node| node.path.clone()),
            lines: lines.collect(),
            more,
        }
    }
}

/// The boxes of each file, in the order of the first.
pub(super) fn by_file(picture: &Picture) -> Vec<(&str, Vec<usize>)> {
    let mut files: Vec<(&str, Vec<usize>)> = Vec::new();
    for (i, drawn) in picture.boxes.iter().enumerate() {
        match files.iter_mut().find(|(path, _)| *path == drawn.path) {
            Some((_, boxes)) => boxes.push(i),
            None => files.push((&drawn.path, vec![i])),
        }
    }
    files
}
