//! Chooses what of a flow a reader is shown, and as what tree.
//!
//! The flow is a graph that may have cycles and hundreds of nodes; an outline is a forest over some of them. Each node
//! hangs under the step by which it is first reached from a read, values before gates. An outline never invents an
//! edge: a step that skips nodes keeps all their transformations, and no better grade than the worst of them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::meaning::report::{Flow, FlowEdge, FlowNode, Grade};

pub struct Outline<'a> {
    /// In reading order: a node, then what hangs under it.
    pub steps: Vec<Step<'a>>,
    /// Nodes that were left out.
    pub hidden: usize,
}

pub struct Step<'a> {
    pub node: &'a FlowNode,
    /// Grows only where the tree branches, so that a long chain stays readable.
    pub depth: usize,
    /// The step begins a tree.
    pub root: bool,
    /// What happens to the value on the way here from the step above.
    pub transforms: Vec<&'a str>,
    /// The worst grade on the way here; `Proved` for a root.
    pub grade: Grade,
}

/// The whole flow, or at most `limit` nodes: whole ways from a read to a sink first, of these the nodes that do something.
pub fn outline(flow: &Flow, limit: Option<usize>) -> Outline<'_> {
    let forest = Forest::of(flow, limit.is_none());
    let chosen = match limit {
        Some(limit) => forest.choose(limit),
        None => vec![true; flow.nodes.len()],
    };
    let steps = forest.steps(&chosen);
    Outline { hidden: flow.nodes.len() - steps.len(), steps }
}

struct Forest<'a> {
    nodes: &'a [FlowNode],
    /// The nodes reached, each after the one that it hangs under.
    order: Vec<usize>,
    /// For each node the node above it and the edge between.
    above: Vec<Option<(usize, &'a FlowEdge)>>,
}

impl<'a> Forest<'a> {
    fn of(flow: &'a Flow, whole: bool) -> Self {
        let nodes = flow.nodes.as_slice();
        let position: FxHashMap<u32, usize> = nodes.iter().enumerate().map(|(i, node)| (node.id, i)).collect();
        let mut outgoing: Vec<Vec<(usize, &FlowEdge)>> = vec![Vec::new(); nodes.len()];
        let mut entered = vec![false; nodes.len()];
        for edge in &flow.edges {
            if let (Some(&from), Some(&to)) = (position.get(&edge.from), position.get(&edge.to)) {
                outgoing[from].push((to, edge));
                entered[to] |= from != to;
            }
        }

        let mut forest = Forest { nodes, order: Vec::new(), above: vec![None; nodes.len()] };
        let mut reached = vec![false; nodes.len()];
        let reads = |i: &usize| nodes[*i].role == "read";
        let starts = |i: &usize| !entered[*i];
        let has_reads = nodes.iter().any(|node| node.role == "read");
        // What led the record to a read belongs to the whole picture only.
        if whole {
            forest.grow((0..nodes.len()).filter(starts), &outgoing, &mut reached);
        }
        forest.grow((0..nodes.len()).filter(reads), &outgoing, &mut reached);
        if whole || !has_reads {
            forest.grow((0..nodes.len()).filter(starts), &outgoing, &mut reached);
            for i in 0..nodes.len() {
                forest.grow(std::iter::once(i), &outgoing, &mut reached);
            }
        }
        forest
    }

    /// Adds the trees under `roots`, breadth first. A gate is taken only when no value leads further.
    fn grow(
        &mut self,
        roots: impl Iterator<Item = usize>,
        outgoing: &[Vec<(usize, &'a FlowEdge)>],
        reached: &mut [bool],
    ) {
        let mut values: VecDeque<(usize, Option<(usize, &FlowEdge)>)> = roots.map(|root| (root, None)).collect();
        let mut gates = VecDeque::new();
        while let Some((node, above)) = values.pop_front().or_else(|| gates.pop_front()) {
            if std::mem::replace(&mut reached[node], true) {
                continue;
            }
            self.order.push(node);
            self.above[node] = above;
            for &(to, edge) in &outgoing[node] {
                let queue = if edge.kind == "gate" { &mut gates } else { &mut values };
                queue.push_back((to, Some((node, edge))));
            }
        }
    }

    fn choose(&self, limit: usize) -> Vec<bool> {
        let mut chosen = vec![false; self.nodes.len()];
        let mut count = 0;
        let mut choose = |chosen: &mut Vec<bool>, nodes: &[usize]| {
            let new: Vec<usize> = nodes.iter().copied().filter(|&i| !chosen[i]).collect();
            let fits = count + new.len() <= limit;
            if fits {
                count += new.len();
                new.iter().for_each(|&i| chosen[i] = true);
            }
            fits
        };
        let mut leaf = vec![true; self.nodes.len()];
        for &node in &self.order {
            if let Some((above, _)) = self.above[node] {
                leaf[above] = false;
            }
        }
        let is_sink = |i: &usize| self.nodes[*i].role == "sink";
        let mut ends: Vec<usize> = self.order.iter().copied().filter(|i| leaf[*i] || is_sink(i)).collect();
        ends.sort_by_key(|&i| match self.nodes[i].role.as_str() {
            "sink" => 0,
            "compute" | "compare" => 1,
            "read" => 3,
            _ => 2,
        });
        for &end in &ends {
            let way = self.way(end);
            let telling: Vec<usize> = way.iter().copied().filter(|&i| i == end || self.tells(i)).collect();
            if !choose(&mut chosen, &telling)
                && let Some(&root) = way.last()
            {
                choose(&mut chosen, &[root, end]);
            }
        }
        for end in ends.into_iter().filter(|&end| is_sink(&end)) {
            for node in self.way(end) {
                choose(&mut chosen, &[node]);
            }
        }
        chosen
    }

    /// The node, then all above it.
    fn way(&self, node: usize) -> Vec<usize> {
        std::iter::successors(Some(node), |&i| self.above[i].map(|(above, _)| above)).collect()
    }

    /// The node does something to the value or with it, beyond passing it on.
    fn tells(&self, node: usize) -> bool {
        const TELLING: &[&str] = &["read", "compute", "compare", "sink"];
        let Some((_, edge)) = self.above[node] else {
            return true;
        };
        TELLING.contains(&self.nodes[node].role.as_str()) || edge.transform.is_some() || edge.kind == "spawn"
    }

    fn steps(&self, chosen: &[bool]) -> Vec<Step<'a>> {
        let mut under: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        let mut hangs: Vec<(Vec<&str>, Grade)> = vec![(Vec::new(), Grade::Proved); self.nodes.len()];
        for &node in self.order.iter().filter(|&&node| chosen[node]) {
            let mut transforms = Vec::new();
            let mut grade = Grade::Proved;
            let mut at = node;
            let parent = loop {
                let Some((above, edge)) = self.above[at] else {
                    break None;
                };
                transforms.extend(edge.transform.as_deref());
                grade = grade.min(edge.grade);
                if chosen[above] {
                    break Some(above);
                }
                at = above;
            };
            transforms.reverse();
            hangs[node] = (transforms, grade);
            match parent {
                Some(parent) => under[parent].push(node),
                None => roots.push(node),
            }
        }

        let mut steps = Vec::new();
        let mut stack: Vec<(usize, usize)> = roots.iter().rev().map(|&root| (root, 0)).collect();
        while let Some((node, depth)) = stack.pop() {
            let (transforms, grade) = std::mem::replace(&mut hangs[node], (Vec::new(), Grade::Proved));
            let root = depth == 0 && roots.contains(&node);
            steps.push(Step { node: &self.nodes[node], depth, root, transforms, grade });
            let branch = usize::from(under[node].len() > 1);
            stack.extend(under[node].iter().rev().map(|&next| (next, depth + branch)));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32, role: &str) -> FlowNode {
        FlowNode { id, path: "p.py".into(), line: id, function: "f".into(), code: format!("n{id}"), role: role.into() }
    }

    fn edge(from: u32, to: u32, kind: &str, transform: Option<&str>) -> FlowEdge {
        FlowEdge { from, to, kind: kind.into(), transform: transform.map(Into::into), grade: Grade::Proved }
    }

    fn lines(outline: &Outline<'_>) -> Vec<(u32, usize, String)> {
        outline.steps.iter().map(|step| (step.node.line, step.depth, step.transforms.join(" "))).collect()
    }

    #[test]
    fn a_short_outline_keeps_what_tells_and_all_transformations() {
        let mut nodes = vec![node(0, "carrier"), node(1, "read")];
        nodes.extend((2..9).map(|id| node(id, "pass")));
        nodes.push(node(9, "sink"));
        let mut edges = vec![edge(0, 1, "argument", None)];
        edges.extend((1..9).map(|id| edge(id, id + 1, "argument", (id == 4).then_some("* 1e9"))));
        edges[3].grade = Grade::Inferred;
        let flow = Flow { nodes, edges };
        let short = outline(&flow, Some(3));
        assert_eq!(lines(&short), [(1, 0, String::new()), (5, 0, "* 1e9".into()), (9, 0, String::new())]);
        assert_eq!((short.hidden, short.steps[1].grade), (7, Grade::Inferred));
        assert_eq!(outline(&flow, None).steps.len(), 10);
    }

    #[test]
    fn branches_indent_and_a_cycle_ends() {
        let nodes = vec![node(1, "read"), node(2, "sink"), node(3, "sink")];
        let edges = vec![edge(1, 2, "local", None), edge(1, 3, "local", None), edge(3, 1, "local", None)];
        let flow = Flow { nodes, edges };
        let depths: Vec<usize> = outline(&flow, Some(12)).steps.iter().map(|step| step.depth).collect();
        assert_eq!(depths, [0, 1, 1]);
        assert_eq!(outline(&flow, None).hidden, 0);
    }

    #[test]
    fn a_value_is_shown_before_a_gate() {
        let nodes = vec![node(1, "read"), node(2, "compute"), node(3, "sink")];
        let edges = vec![edge(1, 3, "gate", None), edge(1, 2, "local", None), edge(2, 3, "local", Some("* 2"))];
        let flow = Flow { nodes, edges };
        assert_eq!(lines(&outline(&flow, Some(12)))[2], (3, 0, "* 2".into()));
    }
}
