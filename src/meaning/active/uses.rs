//! What holds at every use of a value that is read.
//!
//! It follows the value itself, not what is computed from it, to where it is used up; what holds on all the ways there
//! holds for the read. A value that goes where nobody looks is never used.

use super::consumption::{Consumption, Questions};
use super::ways::All;
use crate::flow::access::Access;
use crate::flow::graph::*;
use crate::program::*;
use crate::syntax::ir::*;

/// How many nodes are looked at between a read and its uses.
const MAX_NODES: u32 = 160;
const MAX_STEPS: usize = 14;

/// One walk from a read.
struct Walk<'w, 'a, 's, 'g, 'p, 'c> {
    of: &'w Consumption<'a, 's, 'g, 'p, 'c>,
    questions: Questions,
    /// The read stands under its own name in a listing of fields.
    is_listed: bool,
}

impl Consumption<'_, '_, '_, '_, '_> {
    /// What holds at every use of what is read; `None` if it is never used.
    pub fn uses(&self, read: &Access, questions: Questions) -> Option<All> {
        self.left.set(MAX_NODES);
        let walk = Walk { of: self, questions, is_listed: self.is_listed(read.at) };
        let node = Node { slot: Slot::Expr(read.at), path: Path::default(), kind: Kind::Value };
        Some(walk.after(node, &mut Vec::new())?.and(&walk.beside(read.at)))
    }
}

impl Walk<'_, '_, '_, '_, '_, '_> {
    fn graph(&self) -> &Graph<'_> {
        self.of.facts.shared.graph
    }

    /// What else must hold for a part of a conjunction to make a difference, to its right; the guards have the left.
    fn beside(&self, at: ExprRef) -> All {
        let ir = self.of.facts.shared.ir(at.file);
        let mut out = All::default();
        let mut e = at.expr;
        while let Parent::Expr(up) = ir.exprs[e.index()].parent {
            match ir.expr(up) {
                Expr::Bool { and: true, left, right } if *left == e => {
                    let right = ExprRef { expr: *right, ..at };
                    self.of.conditions.of_test(right, true).iter().for_each(|c| out.add(c.clone()));
                }
                Expr::Lambda(_) | Expr::Comp { .. } => break,
                _ => {}
            }
            e = up;
        }
        out
    }

    fn after(&self, node: Node, busy: &mut Vec<Node>) -> Option<All> {
        if busy.contains(&node) {
            return None;
        }
        let left = self.of.left.get();
        if left == 0 || busy.len() >= MAX_STEPS {
            return Some(All::default());
        }
        self.of.left.set(left - 1);
        if let Slot::Expr(at) = node.slot
            && self.of.is_idle(at)
        {
            return None;
        }
        let steps = self.graph().steps(node);
        if !steps.dead_ends.is_empty() {
            return Some(All::default());
        }
        if steps.edges.is_empty() {
            return self.at_end(node, busy);
        }
        busy.push(node);
        let mut common: Option<All> = None;
        for edge in &steps.edges {
            if let Some(next) = self.along(&node, edge, busy) {
                let all = common.map_or_else(|| next.clone(), |c| c.shared_with(&next));
                let free = all.is_empty();
                common = Some(all);
                if free {
                    break;
                }
            }
        }
        busy.pop();
        common
    }

    fn along(&self, node: &Node, edge: &Edge, busy: &mut Vec<Node>) -> Option<All> {
        if self.is_own_question(edge) || self.is_told(node, edge) {
            return None;
        }
        if self.is_copy(edge) { self.onwards(edge, busy) } else { Some(All::default()) }
    }

    /// No step leads on: the value is used up here, unless it is held by a name that nobody reads.
    fn at_end(&self, node: Node, busy: &mut Vec<Node>) -> Option<All> {
        match node.slot {
            // A target marks the place of a store; the value goes on from the name.
            Slot::Expr(at) if self.graph().program.is_store(at.file, at.expr) => None,
            Slot::Expr(_) => Some(All::default()),
            Slot::Return(func) => {
                let sites = self.graph().return_sites(func);
                if sites.is_empty() {
                    return (!self.is_under_its_name(&node)).then(All::default);
                }
                busy.push(node);
                let mut common: Option<All> = None;
                for (call, sure) in sites {
                    let to = Node { slot: Slot::Expr(call), ..node };
                    let edge = Edge { to, kind: EdgeKind::Return, op: None, sure };
                    if let Some(next) = self.onwards(&edge, busy) {
                        common = Some(common.map_or_else(|| next.clone(), |c| c.shared_with(&next)));
                    }
                }
                busy.pop();
                common
            }
            Slot::Attr(_, name) => self.is_read_somewhere(name).then(All::default),
            Slot::Global(..) | Slot::Field(_) => Some(All::default()),
            Slot::Def(..) => None,
        }
    }

    /// Is there a read of such an attribute, of an object that can be anything?
    fn is_read_somewhere(&self, name: Sym) -> bool {
        let program = self.graph().program;
        let files = program.files_with(name);
        files.iter().any(|f| {
            program.attrs_named(*f, name).iter().any(|at| match program.ir(*f).expr(*at) {
                Expr::Attr { base, .. } if !program.is_store(*f, *at) => {
                    self.graph().types.of(ExprRef { file: *f, expr: *base }).is_empty()
                }
                _ => false,
            })
        })
    }

    /// Past an edge that carries the value: what holds where it arrives, and from there on.
    fn onwards(&self, edge: &Edge, busy: &mut Vec<Node>) -> Option<All> {
        let next = self.after(edge.to, busy)?;
        let Slot::Expr(at) = edge.to.slot else { return Some(next) };
        let here = match edge.kind {
            EdgeKind::Attribute | EdgeKind::Global => self.of.contexts.of_expr(at).common()?,
            _ => self.of.conditions.around(at),
        };
        Some(here.and(&next).and(&self.beside(at)))
    }

    /// Does the edge hand on the value itself, or a number that stands for it?
    fn is_copy(&self, edge: &Edge) -> bool {
        match edge.op {
            None => true,
            Some((_, Op::Binary { .. } | Op::Negate)) => edge.to.kind == Kind::Value,
            Some((_, Op::Compare { .. } | Op::Not | Op::Select { .. } | Op::Element | Op::Iterate)) => true,
            Some((_, Op::Call { name, .. })) => matches!(name.as_str(), "int" | "float" | "str" | "max" | "min"),
            _ => false,
        }
    }

    fn is_own_question(&self, edge: &Edge) -> bool {
        let Some((file, Op::Compare { at })) = edge.op else { return false };
        let test = ExprRef { file, expr: at };
        let asks =
            |holds| self.of.conditions.of_test(test, holds).iter().any(|c| c.is_own_amount(self.of.facts.field()));
        self.questions == Questions::Ignore && (asks(true) || asks(false))
    }

    /// Is the value, in a listing of fields, given to code that only learns of it?
    fn is_told(&self, node: &Node, edge: &Edge) -> bool {
        let Some((file, Op::Call { at: call, .. })) = edge.op else { return false };
        let Slot::Expr(at) = node.slot else { return false };
        let Expr::Call { args, .. } = self.graph().program.ir(file).expr(call) else { return false };
        let spread = args.iter().any(|a| a.value == at.expr && a.kind == ArgKind::DoubleStar);
        !spread && self.is_under_its_name(node)
    }

    fn is_under_its_name(&self, node: &Node) -> bool {
        self.is_listed && node.path.first() == Some(Proj::Key(self.of.facts.field()))
    }
}
