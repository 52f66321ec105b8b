//! The ways from a read to the uses of its value.
//!
//! It follows the value itself, not what is computed from it, to where it is used up. A value that goes where nobody
//! looks is never used.

use super::condition::Condition;
use super::consumption::{Consumption, Questions};
use super::ways::{All, Ways};
use crate::flow::graph::*;
use crate::program::*;
use crate::syntax::ir::*;
use std::rc::Rc;

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
    /// The ways from the read to a use; none if it is never used.
    pub fn uses(&self, read: ExprRef, questions: Questions) -> Ways {
        self.left.set(MAX_NODES);
        let walk = Walk { of: self, questions, is_listed: self.is_listed(read) };
        let node = Node { slot: Slot::Expr(read), path: Path::default(), kind: Kind::Value };
        walk.after(node, &mut Vec::new()).with(&walk.beside(read))
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
                Expr::Lambda(_) | Expr::Comp(_) => break,
                _ => {}
            }
            e = up;
        }
        out
    }

    fn after(&self, node: Node, busy: &mut Vec<Node>) -> Ways {
        if busy.contains(&node) {
            return Ways::default();
        }
        let left = self.of.left.get();
        if left == 0 || busy.len() >= MAX_STEPS {
            return Ways::free();
        }
        self.of.left.set(left - 1);
        if let Slot::Expr(at) = node.slot
            && self.of.is_idle(at)
        {
            return Ways::default();
        }
        let steps = self.steps(node);
        if !steps.dead_ends.is_empty() {
            return Ways::free();
        }
        if steps.edges.is_empty() {
            return self.at_end(node, busy);
        }
        busy.push(node);
        let mut out = Ways::default();
        for edge in &steps.edges {
            out.add_all(&self.along(&node, edge, busy));
            if out.is_free() {
                break;
            }
        }
        busy.pop();
        out
    }

    /// The steps of the graph; `Mode(value)` hands on the value, where the graph makes an object of it.
    fn steps(&self, node: Node) -> Rc<Steps> {
        if let Slot::Expr(at) = node.slot
            && let Parent::Expr(call) = self.graph().program.ir(at.file).exprs[at.expr.index()].parent
        {
            let call = ExprRef { expr: call, ..at };
            if self.of.conditions.undressed(call) == Some(at) {
                let to = Node { slot: Slot::Expr(call), ..node };
                let edges = vec![Edge { to, kind: EdgeKind::Local, op: None, sure: true }];
                return Rc::new(Steps { edges, dead_ends: Vec::new() });
            }
        }
        self.graph().steps(node)
    }

    fn along(&self, node: &Node, edge: &Edge, busy: &mut Vec<Node>) -> Ways {
        if self.is_ignored(edge) || self.is_told(node, edge) {
            return Ways::default();
        }
        if self.is_copy(edge) { self.onwards(edge, busy) } else { Ways::free() }
    }

    /// No step leads on: the value is used up here, unless it is held by a name that nobody reads.
    fn at_end(&self, node: Node, busy: &mut Vec<Node>) -> Ways {
        let free_if = |used: bool| if used { Ways::free() } else { Ways::default() };
        match node.slot {
            Slot::Expr(at) if self.questions == Questions::IgnoreTests && self.is_test(at) => Ways::default(),
            // A target marks the place of a store; the value goes on from the name.
            Slot::Expr(at) => free_if(!self.graph().program.is_store(at.file, at.expr)),
            Slot::Return(func) => {
                let sites = self.graph().return_sites(func);
                if sites.is_empty() {
                    return free_if(!self.is_under_its_name(&node));
                }
                busy.push(node);
                let mut out = Ways::default();
                for (call, sure) in sites {
                    let to = Node { slot: Slot::Expr(call), ..node };
                    out.add_all(&self.onwards(&Edge { to, kind: EdgeKind::Return, op: None, sure }, busy));
                }
                busy.pop();
                out
            }
            Slot::Attr(_, name) => free_if(self.is_read_somewhere(name)),
            Slot::Global(..) | Slot::Field(_) => Ways::free(),
            Slot::Def(..) => Ways::default(),
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
    fn onwards(&self, edge: &Edge, busy: &mut Vec<Node>) -> Ways {
        let next = self.after(edge.to, busy);
        let Slot::Expr(at) = edge.to.slot else { return next };
        let next = next.with(&self.beside(at));
        match edge.kind {
            _ if next.is_none() => next,
            EdgeKind::Attribute | EdgeKind::Global => self.of.contexts.of_expr(at).and(&next),
            _ => next.with(&self.of.conditions.around(at)),
        }
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

    fn is_ignored(&self, edge: &Edge) -> bool {
        match (self.questions, edge.op) {
            (Questions::IgnoreOwnAmount, Some((file, Op::Compare { at }))) => {
                let own = |c: &Condition| c.is_own_amount(self.of.facts.field());
                let asks = |holds| self.of.conditions.of_test(ExprRef { file, expr: at }, holds).iter().any(own);
                asks(true) || asks(false)
            }
            (Questions::IgnoreTests, op) => {
                matches!(op, Some((_, Op::Compare { .. } | Op::Not | Op::Select { .. })))
                    || self.of.field_of(&edge.to).is_some()
            }
            _ => false,
        }
    }

    fn is_test(&self, at: ExprRef) -> bool {
        let ir = self.graph().program.ir(at.file);
        let Parent::Stmt(stmt) = ir.exprs[at.expr.index()].parent else { return false };
        matches!(ir.stmt(stmt).kind, Stmt::If { .. } | Stmt::While { .. })
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
