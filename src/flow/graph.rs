//! The nodes and edges of the value-flow graph: where does a value at a place go next?
//!
//! Answers one step at a time; `trace` strings the steps together. A step that cannot be resolved is an edge to nowhere
//! with its reason, never silence.

use crate::program::index::Uses as WordUses;
use crate::program::resolve::{Binding, Entity};
use crate::program::types::{Type, TypeSystem, Types};
use crate::program::*;
use crate::syntax::defuse::{DefId, DefSite};
use crate::syntax::ir::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Where a value can be.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Slot {
    Expr(ExprRef),
    /// A definition of a local name or parameter.
    Def(FileId, Scope, DefId),
    /// An attribute, as stored by methods of this class.
    Attr(ClassRef, Sym),
    /// A module variable.
    Global(FileId, Sym),
    Return(FuncRef),
    /// Another field of the record, that a write gives this value to; the walk ends there.
    Field(Sym),
}

/// One step into a container.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Proj {
    Index(u32),
    Key(Sym),
    /// Some element.
    Elem,
}

/// The way into a container at a slot, outermost first; longer ways are cut to their outer two steps.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Path([Option<Proj>; 2]);

impl Path {
    pub fn is_empty(self) -> bool {
        self.0[0].is_none()
    }
    pub fn first(self) -> Option<Proj> {
        self.0[0]
    }
    fn push(self, proj: Proj) -> Path {
        Path([Some(proj), self.0[0]])
    }
    fn pop(self) -> Path {
        Path([self.0[1], None])
    }
    /// What is left after taking one element; `None` if it is not the one that holds the value.
    fn take(self, proj: Proj) -> Option<Path> {
        match (self.0[0], proj) {
            (None, _) => Some(self),
            (Some(Proj::Elem), _) | (Some(_), Proj::Elem) => Some(self.pop()),
            (Some(here), there) => (here == there).then(|| self.pop()),
        }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The value, or a number, string or collection computed from it.
    Value,
    /// A truth value that depends on it.
    Predicate,
    /// An object made with it (a buffer of that size).
    Object,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node {
    pub slot: Slot,
    pub path: Path,
    pub kind: Kind,
}

/// What happens to the value on an edge. The expression is the whole operation.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Op {
    /// `value op other`, or `other op value` if not `left`.
    Binary {
        op: BinOp,
        other: ExprId,
        left: bool,
        at: ExprId,
    },
    /// A call whose callee is not in the tree: `int(value)`, `torch.empty(value)`.
    Call {
        name: Sym,
        at: ExprId,
    },
    /// A method of the value: `value.split(",")`.
    Method {
        name: Sym,
        at: ExprId,
    },
    Compare {
        at: ExprId,
    },
    Not,
    Negate,
    /// The value chooses: `a if value else b`, `table[value]`.
    Select {
        at: ExprId,
    },
    Element,
    Iterate,
    Format,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    Local,
    /// Into a parameter; the call is the expression.
    Argument(ExprRef),
    /// Into the parameter of something started in another process or thread.
    Spawn(ExprRef),
    Return,
    Attribute,
    Global,
    Compute,
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub to: Node,
    pub kind: EdgeKind,
    pub op: Option<(FileId, Op)>,
    pub sure: bool,
}

/// What a field is read from.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Holder {
    Record,
    /// The record with the rewrites declared so far.
    View,
    /// What was published after resolution.
    Bag,
}

/// A step that leads nowhere we know.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DeadEnd {
    pub at: ExprRef,
    pub why: &'static str,
}

#[derive(Default)]
pub struct Steps {
    pub edges: Vec<Edge>,
    pub dead_ends: Vec<DeadEnd>,
}

/// Places that use something, each with whether that is sure.
type Uses = Rc<[(ExprRef, bool)]>;

pub struct Graph<'p> {
    pub program: &'p Program,
    pub types: TypeSystem<'p>,
    memo: RefCell<FxHashMap<Node, Rc<Steps>>>,
    attr_reads: RefCell<FxHashMap<(ClassRef, Sym), Uses>>,
    single: RefCell<FxHashMap<ClassRef, bool>>,
    givers: RefCell<FxHashMap<(ClassRef, Sym), usize>>,
    /// The namespace of each field that has one.
    namespaces: FxHashMap<Sym, Sym>,
}

/// What tells the size of an object.
const MEASURES: [&str; 6] = ["len", "shape", "size", "numel", "nbytes", "element_size"];

/// Above this many files that mention an attribute's name, only those that also mention the class, or a name that the
/// tree annotates with it, are looked at.
const MANY_FILES: usize = 24;

impl<'p> Graph<'p> {
    pub fn new(program: &'p Program) -> Self {
        Graph::with_namespaces(program, FxHashMap::default())
    }

    /// For a tree whose accessors hand out the fields by namespace.
    pub fn with_namespaces(program: &'p Program, namespaces: FxHashMap<Sym, Sym>) -> Self {
        let types = TypeSystem::new(program);
        Graph {
            program,
            types,
            memo: RefCell::default(),
            attr_reads: RefCell::default(),
            single: RefCell::default(),
            givers: RefCell::default(),
            namespaces,
        }
    }

    /// The steps out of a node.
    pub fn steps(&self, node: Node) -> Rc<Steps> {
        if let Some(known) = self.memo.borrow().get(&node) {
            return known.clone();
        }
        let mut out = Stepper { graph: self, node, steps: Steps::default() };
        match node.slot {
            Slot::Expr(at) => out.steps_of_expr(at),
            Slot::Def(file, scope, def) => out.steps_of_def(file, scope, def),
            Slot::Attr(class, attr) => out.steps_of_attr(class, attr),
            Slot::Global(file, name) => out.steps_of_global(file, name),
            Slot::Return(_) | Slot::Field(_) => {}
        }
        let steps = Rc::new(out.steps);
        self.memo.borrow_mut().insert(node, steps.clone());
        steps
    }

    pub fn is_record(&self, types: &Types) -> Option<bool> {
        types.iter().filter(|t| self.is_record_type(&t.ty)).map(|t| t.sure).max()
    }

    fn is_record_type(&self, ty: &Type) -> bool {
        match ty {
            Type::Instance(class) => self.is_record_class(*class),
            _ => false,
        }
    }

    pub fn is_record_class(&self, class: ClassRef) -> bool {
        let mro = self.program.mro(class);
        mro.iter().any(|c| {
            let name = self.program.class(*c).name;
            self.program.profile.is_root_class(&name) || self.is_view_name(&name)
        })
    }

    fn is_view_name(&self, class: &str) -> bool {
        self.program.profile.resolution.views.iter().any(|v| v == class)
    }

    /// Is the attribute `field` of such an object the field of the record? And what does a read of it see?
    pub fn holds_field(&self, types: &Types, field: Sym) -> Option<(bool, Holder)> {
        let namespace = self.namespaces.get(&field);
        let mut found = None;
        for typed in types.iter() {
            let holder = match &typed.ty {
                Type::Instance(class) if self.is_record_class(*class) => {
                    let name = self.program.class(*class).name;
                    if self.is_view_name(&name) { Holder::View } else { Holder::Record }
                }
                Type::Instance(class) => {
                    let name = self.program.class(*class).name;
                    let bags = &self.program.profile.resolution.bag_classes;
                    let path = bags.iter().find(|(c, _)| *c == name.as_str()).map(|(_, path)| path.as_str());
                    if path.is_none() || path != namespace.map(|n| n.as_str()) {
                        continue;
                    }
                    Holder::Bag
                }
                Type::Bag(path) if namespace == Some(path) => Holder::Bag,
                _ => continue,
            };
            found = found.max(Some((typed.sure, holder)));
        }
        found
    }

    pub fn is_namespaced(&self, field: Sym) -> bool {
        self.namespaces.contains_key(&field)
    }

    /// Every place that reads `attr` of an instance of the class or a relative.
    pub fn reads_of_attr(&self, class: ClassRef, attr: Sym) -> Uses {
        if let Some(known) = self.attr_reads.borrow().get(&(class, attr)) {
            return known.clone();
        }
        let program = self.program;
        let files = self.files_with_attr(class, attr);
        let mut out = Vec::new();
        for file in files.iter().copied() {
            let ir = program.ir(file);
            for at in program.attrs_named(file, attr) {
                let Expr::Attr { base, .. } = ir.expr(*at) else { continue };
                let augmented = matches!(ir.exprs[at.index()].parent, Parent::Stmt(s)
                    if matches!(ir.stmt(s).kind, Stmt::AugAssign { .. }));
                if program.is_store(file, *at) && !augmented {
                    continue;
                }
                if let Some(sure) = self.may_be(ExprRef { file, expr: *base }, class) {
                    out.push((ExprRef { file, expr: *at }, sure));
                }
            }
            for call in program.calls_named(file, Sym::from("getattr")) {
                let Expr::Call { args, .. } = ir.expr(*call) else { continue };
                let (Some(base), Some(name)) = (args.first(), args.get(1)) else { continue };
                if ir.str_value(name.value) == Some(attr)
                    && let Some(sure) = self.may_be(ExprRef { file, expr: base.value }, class)
                {
                    out.push((ExprRef { file, expr: *call }, sure));
                }
            }
        }
        let out: Rc<[_]> = out.into();
        self.attr_reads.borrow_mut().insert((class, attr), out.clone());
        out
    }

    /// The files that can mention an attribute of the class, parsed.
    fn files_with_attr(&self, class: ClassRef, attr: Sym) -> Vec<FileId> {
        let program = self.program;
        let mut files = program.files_using(attr, WordUses::ATTRIBUTE.or(WordUses::QUOTED));
        if files.len() > MANY_FILES {
            let names = self.names_of(class);
            files.retain(|f| names.iter().any(|n| program.has_word(*f, *n)));
        }
        program.parse_all(&files);
        files
    }

    /// At how many places is an attribute of a record given a value: by its constructor, or by a store from outside?
    pub fn givers(&self, class: ClassRef, attr: Sym) -> usize {
        if let Some(known) = self.givers.borrow().get(&(class, attr)) {
            return *known;
        }
        let program = self.program;
        let name = program.class(class).name;
        let position = program.record_fields(class).iter().position(|f| f.0 == attr);
        let gives = |args: &[Arg]| {
            args.iter().any(|a| a.kind == ArgKind::Keyword(attr) || a.kind == ArgKind::DoubleStar)
                || position.is_some_and(|p| args.get(p).is_some_and(|a| a.kind == ArgKind::Positional))
        };
        let mut found = 0;
        for file in program.files_with(name).iter().copied() {
            let ir = program.ir(file);
            let calls = program.calls_named(file, name).iter();
            found += calls.filter(|c| matches!(ir.expr(**c), Expr::Call { args, .. } if gives(args))).count();
        }
        for file in self.files_with_attr(class, attr) {
            let ir = program.ir(file);
            let stores = program.attrs_named(file, attr).iter().filter(|at| program.is_store(file, **at));
            found += stores
                .filter(|at| match ir.expr(**at) {
                    Expr::Attr { base, .. } => self.may_be(ExprRef { file, expr: *base }, class).is_some(),
                    _ => false,
                })
                .count();
        }
        self.givers.borrow_mut().insert((class, attr), found);
        found
    }

    /// Is the class (or a subclass) constructed at one place of the tree at most?
    fn is_single(&self, class: ClassRef) -> bool {
        if let Some(known) = self.single.borrow().get(&class) {
            return *known;
        }
        let program = self.program;
        let mut sites = 0;
        let subclasses = program.subclasses(class);
        for c in std::iter::once(&class).chain(subclasses.iter()) {
            let name = program.class(*c).name;
            for file in program.files_with(name).iter().copied() {
                sites += program.calls_named(file, name).len();
            }
        }
        self.single.borrow_mut().insert(class, sites <= 1);
        sites <= 1
    }

    /// Can the expression be an instance of the class? `Some(sure)`.
    fn may_be(&self, at: ExprRef, class: ClassRef) -> Option<bool> {
        let types = self.types.of(at);
        let fits = types.iter().filter(|t| match t.ty {
            Type::Instance(c) | Type::Class(c) => self.program.related(class, c),
            Type::Super(_, c) => self.program.related(class, c),
            _ => false,
        });
        fits.map(|t| t.sure).max()
    }

    /// The names under which instances of a class go: its own and its relatives', and what the tree annotates with them.
    pub fn names_of(&self, class: ClassRef) -> Vec<Sym> {
        let program = self.program;
        let mut classes: Vec<ClassRef> = program.mro(class).to_vec();
        for sub in program.subclasses(class).iter() {
            classes.extend(program.mro(*sub).iter());
        }
        let mut names: Vec<Sym> = classes.iter().map(|c| program.class(*c).name).collect();
        names.extend(program.hinted_names(&names));
        names.sort();
        names.dedup();
        names
    }
}

impl Program {
    /// Names that the tree annotates with, or assigns from, one of these classes.
    fn hinted_names(&self, classes: &[Sym]) -> Vec<Sym> {
        self.hints().filter(|(_, cs)| cs.iter().any(|(c, _)| classes.contains(c))).map(|(n, _)| *n).collect()
    }
}

struct Stepper<'g, 'p> {
    graph: &'g Graph<'p>,
    node: Node,
    steps: Steps,
}

impl<'p> Stepper<'_, 'p> {
    fn program(&self) -> &'p Program {
        self.graph.program
    }

    fn push(&mut self, slot: Slot, path: Path, kind: EdgeKind, op: Option<(FileId, Op)>, sure: bool) {
        let to = Node { slot, path, kind: self.node.kind };
        self.push_node(to, kind, op, sure);
    }

    fn push_node(&mut self, to: Node, kind: EdgeKind, op: Option<(FileId, Op)>, sure: bool) {
        self.steps.edges.push(Edge { to, kind, op, sure });
    }

    fn dead_end(&mut self, at: ExprRef, why: &'static str) {
        let end = DeadEnd { at, why };
        if !self.steps.dead_ends.contains(&end) {
            self.steps.dead_ends.push(end);
        }
    }

    /// On to the expression around, with an operation.
    fn outer(&mut self, file: FileId, to: ExprId, path: Path, op: Option<Op>) {
        let kind = match op {
            Some(Op::Compare { .. } | Op::Not) => Kind::Predicate,
            Some(Op::Call { name, .. }) if self.program().profile.makes_memory(&name) => Kind::Object,
            Some(Op::Call { name, .. } | Op::Method { name, .. })
                if self.node.kind == Kind::Object && MEASURES.contains(&name.as_str()) =>
            {
                Kind::Value
            }
            _ => self.node.kind,
        };
        let node = Node { slot: Slot::Expr(ExprRef { file, expr: to }), path, kind };
        let edge = if op.is_some() { EdgeKind::Compute } else { EdgeKind::Local };
        self.push_node(node, edge, op.map(|o| (file, o)), true);
    }

    fn steps_of_def(&mut self, file: FileId, scope: Scope, def: DefId) {
        let defuse = self.program().defuse(file, scope);
        let path = self.node.path;
        for use_ in defuse.uses.get(def.0 as usize).into_iter().flatten() {
            self.push(Slot::Expr(ExprRef { file, expr: *use_ }), path, EdgeKind::Local, None, true);
        }
        if let Some(name) = defuse.defs.get(def.0 as usize).map(|d| d.name) {
            for inner in &defuse.inner {
                self.captured(file, *inner, name, 0);
            }
        }
    }

    /// Uses of an outer name in a function inside.
    fn captured(&mut self, file: FileId, func: FuncId, name: Sym, depth: u32) {
        let defuse = self.program().defuse(file, Scope::Func(func));
        for use_ in defuse.free.get(&name).into_iter().flatten() {
            self.push(Slot::Expr(ExprRef { file, expr: *use_ }), self.node.path, EdgeKind::Local, None, true);
        }
        if depth < 8 && !defuse.by_name.contains_key(&name) {
            for inner in &defuse.inner {
                self.captured(file, *inner, name, depth + 1);
            }
        }
    }

    fn steps_of_attr(&mut self, class: ClassRef, attr: Sym) {
        // Objects of one class share the slot; where several are made, a read may be of another one.
        let single = self.graph.is_single(class);
        for (read, sure) in self.graph.reads_of_attr(class, attr).iter() {
            self.push(Slot::Expr(*read), self.node.path, EdgeKind::Attribute, None, *sure && single);
        }
    }

    fn steps_of_global(&mut self, file: FileId, name: Sym) {
        let program = self.program();
        let path = self.node.path;
        let files = program.files_with(name);
        program.parse_all(&files);
        for at in files.iter().copied() {
            let ir = program.ir(at);
            for expr in program.named(at, name) {
                let here = ExprRef { file: at, expr };
                let found = match ir.expr(expr) {
                    Expr::Name(_) => match program.binding(here) {
                        Binding::Entities(all) => all.contains(&Entity::Var(file, name)),
                        Binding::Local(scope, defs) => {
                            let defuse = program.defuse(at, scope);
                            let global = at == file && (scope == Scope::Module || defuse.globals.contains(&name));
                            global
                                || defs.iter().any(|d| match defuse.defs[d.0 as usize].site {
                                    DefSite::Import(stmt, i) => {
                                        program.imported(at, stmt, i).contains(&Entity::Var(file, name))
                                    }
                                    _ => false,
                                })
                        }
                        Binding::Builtin => false,
                    },
                    _ => program.entities(here).contains(&Entity::Var(file, name)),
                };
                if found && !program.is_store(at, expr) {
                    self.push(Slot::Expr(here), path, EdgeKind::Global, None, true);
                }
            }
        }
    }

    fn steps_of_expr(&mut self, at: ExprRef) {
        let ir = self.program().ir(at.file);
        match ir.exprs[at.expr.index()].parent {
            Parent::Expr(up) => self.through_expr(at, up),
            Parent::Stmt(stmt) => self.through_stmt(at, stmt),
            Parent::Func(func) => {
                let params = &ir.func(func).params;
                if let Some(i) = params.iter().position(|p| p.default == Some(at.expr)) {
                    self.push(
                        Slot::Def(at.file, Scope::Func(func), DefId(i as u32)),
                        self.node.path,
                        EdgeKind::Local,
                        None,
                        true,
                    );
                }
            }
            Parent::Class(_) => {}
        }
    }

    fn through_expr(&mut self, at: ExprRef, up: ExprId) {
        let ir = self.program().ir(at.file);
        let (e, path, file) = (at.expr, self.node.path, at.file);
        match ir.expr(up) {
            Expr::Attr { attr, .. } => self.through_attr(at, up, *attr),
            Expr::Call { func, args } => {
                if *func == e {
                    return;
                }
                if let Some(i) = args.iter().position(|a| a.value == e) {
                    self.argument(ExprRef { file, expr: up }, *func, args, i);
                }
            }
            Expr::Subscript { base, index } => {
                if *index == e {
                    self.outer(file, up, Path::default(), Some(Op::Select { at: up }));
                } else {
                    let proj = match ir.expr(*index) {
                        Expr::Int(i) if *i >= 0 => Proj::Index(*i as u32),
                        Expr::Str(s) => Proj::Key(*s),
                        _ => Proj::Elem,
                    };
                    debug_assert_eq!(*base, e);
                    // A slice of a container is such a container.
                    if matches!(ir.expr(*index), Expr::Slice { .. }) {
                        self.outer(file, up, path, Some(Op::Element));
                    } else if let Some(rest) = path.take(proj) {
                        let op = path.is_empty().then_some(Op::Element);
                        self.outer(file, up, rest, op);
                    }
                }
            }
            Expr::Slice { .. } => self.outer(file, up, Path::default(), None),
            Expr::Bin { op, left, right } => {
                let is_left = *left == e;
                let other = if is_left { *right } else { *left };
                self.outer(file, up, path, Some(Op::Binary { op: *op, other, left: is_left, at: up }));
            }
            Expr::Bool { .. } => self.outer(file, up, path, None),
            Expr::Unary { op, .. } => {
                let op = if *op == UnaryOp::Not { Op::Not } else { Op::Negate };
                self.outer(file, up, path, Some(op));
            }
            Expr::Compare { .. } => self.outer(file, up, Path::default(), Some(Op::Compare { at: up })),
            Expr::IfExp { test, .. } => {
                let op = (*test == e).then_some(Op::Select { at: up });
                self.outer(file, up, if op.is_some() { Path::default() } else { path }, op);
            }
            Expr::Tuple(items) | Expr::List(items) => {
                let i = items.iter().position(|i| *i == e).unwrap_or(0);
                // What stands before `*name` takes as many places as the name's literal has.
                let before: usize = items[..i].iter().map(|item| self.width(file, *item)).sum();
                let path = match (ir.expr(e), path.first()) {
                    (Expr::Starred(_), Some(Proj::Index(n))) => path.pop().push(Proj::Index(before as u32 + n)),
                    (Expr::Starred(_), _) => path,
                    _ => path.push(Proj::Index(before as u32)),
                };
                self.outer(file, up, path, None);
            }
            Expr::Set(_) => self.outer(file, up, path.push(Proj::Elem), None),
            Expr::Dict(items) => {
                let Some((key, _)) = items.iter().find(|(_, v)| *v == e) else { return };
                let path = match key.map(|k| ir.expr(k)) {
                    Some(Expr::Str(s)) => path.push(Proj::Key(*s)),
                    Some(_) => path.push(Proj::Elem),
                    None => path,
                };
                self.outer(file, up, path, None);
            }
            Expr::Comp(comp) => {
                let Comp { element, value, clauses, .. } = &**comp;
                if *element == e || *value == Some(e) {
                    self.outer(file, up, path.push(Proj::Elem), None);
                } else if let Some(clause) = clauses.iter().find(|c| c.iter == e) {
                    if let Some(rest) = path.take(Proj::Elem) {
                        self.assign(file, clause.target, rest, Some(Op::Iterate));
                    }
                } else if clauses.iter().any(|c| c.ifs.contains(&e)) {
                    self.outer(file, up, Path::default(), Some(Op::Select { at: up }));
                }
            }
            Expr::FString(_) => self.outer(file, up, Path::default(), Some(Op::Format)),
            Expr::Starred(_) | Expr::Await(_) => self.outer(file, up, path, None),
            Expr::Yield { .. } => {
                if let Scope::Func(func) = ir.scope_of(up) {
                    self.push(
                        Slot::Return(FuncRef { file, func }),
                        path.push(Proj::Elem),
                        EdgeKind::Return,
                        None,
                        true,
                    );
                }
            }
            Expr::Walrus { target, .. } => {
                self.outer(file, up, path, None);
                self.assign(file, *target, path, None);
            }
            _ => {}
        }
    }

    /// How many elements an item of a literal stands for.
    fn width(&self, file: FileId, item: ExprId) -> usize {
        match self.program().ir(file).expr(item) {
            Expr::Starred(inner) => {
                let literals = self.program().tuple_literals(ExprRef { file, expr: *inner });
                literals.first().map_or(1, Vec::len)
            }
            _ => 1,
        }
    }

    /// `value.attr`: a method call on the value, or a part of it.
    fn through_attr(&mut self, at: ExprRef, up: ExprId, attr: Sym) {
        let ir = self.program().ir(at.file);
        let (file, path) = (at.file, self.node.path);
        let call = match ir.exprs[up.index()].parent {
            Parent::Expr(call) if matches!(ir.expr(call), Expr::Call { func, .. } if *func == up) => call,
            _ => {
                if path.is_empty() {
                    self.outer(file, up, path, Some(Op::Method { name: attr, at: up }));
                }
                return;
            }
        };
        let Expr::Call { args, .. } = ir.expr(call) else { return };
        let key = args.first().and_then(|a| ir.str_value(a.value));
        let rest = match attr.as_str() {
            "get" | "pop" | "setdefault" if !path.is_empty() => match key {
                Some(key) => path.take(Proj::Key(key)),
                None => path.take(Proj::Elem),
            },
            "items" if !path.is_empty() => Some(path.pop().push(Proj::Index(1)).push(Proj::Elem)),
            "values" | "copy" | "result" => Some(path),
            _ if path.is_empty() => Some(path),
            _ => None,
        };
        if let Some(rest) = rest {
            self.outer(file, call, rest, Some(Op::Method { name: attr, at: call }));
        }
    }

    fn through_stmt(&mut self, at: ExprRef, stmt: StmtId) {
        let ir = self.program().ir(at.file);
        let (e, path, file) = (at.expr, self.node.path, at.file);
        let node = ir.stmt(stmt);
        match &node.kind {
            Stmt::Assign { targets, value } if *value == e => {
                for target in targets {
                    self.assign(file, *target, path, None);
                }
            }
            Stmt::AnnAssign { target, value, .. } if *value == Some(e) => self.assign(file, *target, path, None),
            Stmt::AugAssign { target, op, value } => {
                // `x += value` and `value += x`: both end in the target.
                let (other, left) = if *value == e { (*target, false) } else { (*value, true) };
                let op = Op::Binary { op: *op, other, left, at: *target };
                self.assign(file, *target, path, Some(op));
            }
            Stmt::For { target, iter, .. } if *iter == e => {
                if let Some(rest) = path.take(Proj::Elem) {
                    self.assign(file, *target, rest, Some(Op::Iterate));
                }
            }
            Stmt::With { items, .. } => {
                for (_, target) in items.iter().filter(|(c, _)| *c == e) {
                    if let Some(target) = target {
                        self.assign(file, *target, path, None);
                    }
                }
            }
            Stmt::Return(Some(_)) => {
                if let Scope::Func(func) = node.scope {
                    self.push(Slot::Return(FuncRef { file, func }), path, EdgeKind::Return, None, true);
                }
            }
            _ => {}
        }
    }

    /// The value arrives at an assignment target.
    fn assign(&mut self, file: FileId, target: ExprId, path: Path, op: Option<Op>) {
        let program = self.program();
        let ir = program.ir(file);
        let op_at = op.map(|o| (file, o));
        let here = ExprRef { file, expr: target };
        let augmented = matches!(ir.exprs[target.index()].parent, Parent::Stmt(s)
            if matches!(ir.stmt(s).kind, Stmt::AugAssign { .. }));
        if matches!(ir.expr(target), Expr::Name(_) | Expr::Attr { .. }) && !augmented {
            // The target itself, for its place; nothing goes on from it.
            self.push(Slot::Expr(here), path, EdgeKind::Local, op_at, true);
        }
        match ir.expr(target) {
            Expr::Name(name) => {
                let scope = ir.scope_of(target);
                let defuse = program.defuse(file, scope);
                if scope == Scope::Module || defuse.globals.contains(name) {
                    self.push(Slot::Global(file, *name), path, EdgeKind::Global, op_at, true);
                }
                if scope != Scope::Module {
                    if let Some(def) = defuse.by_target.get(&target) {
                        self.push(Slot::Def(file, scope, *def), path, EdgeKind::Local, op_at, true);
                    }
                    if let Scope::Class(class) = scope {
                        let class = ClassRef { file, class };
                        self.push(Slot::Attr(class, *name), path, EdgeKind::Attribute, op_at, true);
                    }
                }
            }
            Expr::Attr { base, attr, .. } => self.store_attr(here, *base, *attr, path, op_at),
            Expr::Subscript { base, index } => {
                let proj = match ir.expr(*index) {
                    Expr::Str(s) => Proj::Key(*s),
                    Expr::Int(i) if *i >= 0 => Proj::Index(*i as u32),
                    _ => Proj::Elem,
                };
                self.put_in_container(file, *base, path.push(proj), op_at);
            }
            Expr::Tuple(items) | Expr::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    if let Some(rest) = path.take(Proj::Index(i as u32)) {
                        self.assign(file, *item, rest, op);
                    }
                }
            }
            Expr::Starred(inner) => self.assign(file, *inner, path, op),
            _ => {}
        }
    }

    fn store_attr(&mut self, at: ExprRef, base: ExprId, attr: Sym, path: Path, op: Option<(FileId, Op)>) {
        let types = self.graph.types.of(ExprRef { file: at.file, expr: base });
        if self.graph.is_record(&types).is_some() {
            // What a write of another field means is a matter of precedence, not of flow.
            self.push(Slot::Field(attr), path, EdgeKind::Attribute, op, true);
            return;
        }
        let mut any = false;
        for typed in types.iter() {
            match typed.ty {
                Type::Instance(class) | Type::Class(class) | Type::Super(_, class) => {
                    any = true;
                    self.push(Slot::Attr(class, attr), path, EdgeKind::Attribute, op, typed.sure);
                }
                Type::Module(file) => {
                    any = true;
                    self.push(Slot::Global(file, attr), path, EdgeKind::Global, op, typed.sure);
                }
                // It leaves the tree, as an argument of a foreign call does.
                Type::External(_) | Type::ExternalInstance(_) => any = true,
                _ => {}
            }
        }
        if !any {
            self.dead_end(at, "stored in an attribute of an object whose class is unknown");
        }
    }

    /// The value becomes an element of a container that an expression names.
    fn put_in_container(&mut self, file: FileId, base: ExprId, path: Path, op: Option<(FileId, Op)>) {
        let program = self.program();
        let ir = program.ir(file);
        let here = ExprRef { file, expr: base };
        match ir.expr(base) {
            Expr::Name(name) => match program.binding(here) {
                Binding::Local(scope, defs) => {
                    for def in defs {
                        self.push(Slot::Def(file, scope, def), path, EdgeKind::Local, op, true);
                    }
                    if scope == Scope::Module {
                        self.push(Slot::Global(file, *name), path, EdgeKind::Global, op, true);
                    }
                }
                Binding::Entities(all) => {
                    for entity in all {
                        if let Entity::Var(file, name) = entity {
                            self.push(Slot::Global(file, name), path, EdgeKind::Global, op, true);
                        }
                    }
                }
                Binding::Builtin => {}
            },
            Expr::Attr { base, attr, .. } => self.store_attr(here, *base, *attr, path, op),
            Expr::Subscript { base, .. } => self.put_in_container(file, *base, path.push(Proj::Elem), op),
            _ => {}
        }
    }

    // Calls

    fn argument(&mut self, call: ExprRef, func: ExprId, args: &[Arg], i: usize) {
        let program = self.program();
        let ir = program.ir(call.file);
        let name = last_name(ir, func).unwrap_or_default();
        if let ArgKind::Keyword(field) = args[i].kind
            && self.rewrites(name, field)
        {
            self.push(Slot::Field(field), self.node.path, EdgeKind::Attribute, None, true);
            return;
        }
        let callees = self.graph.types.callees(call);
        let mut entered = false;
        for (callee, _, sure) in &callees {
            entered |= self.enter(call, *callee, args, i, *sure);
        }
        let func_types = self.graph.types.of(ExprRef { file: call.file, expr: func });
        for typed in func_types.iter() {
            if let Type::Class(class) = typed.ty
                && callees.iter().all(|(_, c, _)| *c != Some(class))
                && program.is_record_like(class)
            {
                entered |= self.fill_record(class, args, i, typed.sure);
            }
        }
        if entered {
            return;
        }
        if self.start_callable(call, args, i) || self.container_method(call, func, args, i, name) {
            return;
        }
        let in_tree = !callees.is_empty() || func_types.iter().any(|t| matches!(t.ty, Type::Class(_)));
        if in_tree {
            self.dead_end(call, "passed to a parameter that cannot be told");
            return;
        }
        if func_types.is_empty() && !matches!(ir.expr(func), Expr::Attr { .. }) {
            self.dead_end(call, "passed to a callable that is unknown");
        }
        // `dict(key=value)` is a literal in another dress.
        let path = self.node.path;
        let path = match (name.as_str(), args[i].kind) {
            ("dict", ArgKind::Keyword(key)) => path.push(Proj::Key(key)),
            ("dict" | "list" | "tuple" | "sorted" | "reversed" | "iter" | "deepcopy" | "copy", _) => path,
            ("enumerate", _) => path.push(Proj::Index(1)),
            ("next", _) => path.pop(),
            _ => Path::default(),
        };
        self.outer(call.file, call.expr, path, Some(Op::Call { name, at: call.expr }));
    }

    /// Is it a call that declares another value of a field: `override("source", field=value)`?
    fn rewrites(&self, name: Sym, field: Sym) -> bool {
        let resolution = &self.program().profile.resolution;
        let names = resolution.declare.iter().chain(&resolution.overrides);
        self.graph.is_namespaced(field) && names.into_iter().any(|n| name == n.as_str())
    }

    /// Into the parameter of a function of the tree.
    fn enter(&mut self, call: ExprRef, callee: FuncRef, args: &[Arg], i: usize, sure: bool) -> bool {
        let program = self.program();
        let params = &program.func(callee).params;
        let path = self.node.path;
        let scope = Scope::Func(callee.func);
        let into = |this: &mut Self, param: u32, path: Path| {
            let slot = Slot::Def(callee.file, scope, DefId(param));
            this.push(slot, path, EdgeKind::Argument(call), None, sure);
        };
        match args[i].kind {
            ArgKind::Positional | ArgKind::Keyword(_) => {
                let Some(param) = self.graph.types.param_for(call, callee, i) else { return false };
                let path = match (params[param as usize].kind, args[i].kind) {
                    (ParamKind::Star, _) => path.push(Proj::Elem),
                    (ParamKind::DoubleStar, ArgKind::Keyword(key)) => path.push(Proj::Key(key)),
                    _ => path,
                };
                into(self, param, path);
                true
            }
            ArgKind::DoubleStar => {
                let mut any = false;
                for (p, param) in params.iter().enumerate() {
                    match param.kind {
                        ParamKind::DoubleStar => {
                            into(self, p as u32, path);
                            any = true;
                        }
                        ParamKind::Positional | ParamKind::KeywordOnly => {
                            if path.first() == Some(Proj::Key(param.name)) {
                                into(self, p as u32, path.pop());
                                return true;
                            }
                        }
                        ParamKind::Star => {}
                    }
                }
                any
            }
            ArgKind::Star => {
                let skip = usize::from(self.graph.types.takes_receiver(call, callee));
                let before = args[..i].iter().filter(|a| a.kind == ArgKind::Positional).count() + skip;
                let star = params.iter().position(|p| p.kind == ParamKind::Star);
                match path.first() {
                    Some(Proj::Index(n))
                        if params.get(before + n as usize).is_some_and(|p| p.kind == ParamKind::Positional) =>
                    {
                        into(self, (before + n as usize) as u32, path.pop());
                        true
                    }
                    _ => match star {
                        Some(p) => {
                            into(self, p as u32, path);
                            true
                        }
                        None => false,
                    },
                }
            }
        }
    }

    /// The generated constructor of a dataclass or struct stores its arguments.
    fn fill_record(&mut self, class: ClassRef, args: &[Arg], i: usize, sure: bool) -> bool {
        let fields = self.program().record_fields(class);
        let path = self.node.path;
        let (name, path) = match args[i].kind {
            ArgKind::Keyword(name) => (Some(name), path),
            ArgKind::Positional => (fields.get(i).map(|f| f.0), path),
            ArgKind::DoubleStar => match path.first() {
                Some(Proj::Key(name)) => (Some(name), path.pop()),
                _ => (None, path),
            },
            ArgKind::Star => (None, path),
        };
        if self.graph.is_record_class(class) {
            return true;
        }
        match name.filter(|n| fields.iter().any(|f| f.0 == *n)) {
            Some(name) => {
                self.push(Slot::Attr(class, name), path, EdgeKind::Attribute, None, sure);
                true
            }
            None => false,
        }
    }

    /// A call outside the tree that is given a callable of the tree, and this value for it: a process or thread
    /// (`target=`, `args=`), an executor (`submit(f, value)`), `partial(f, value)`.
    fn start_callable(&mut self, call: ExprRef, args: &[Arg], i: usize) -> bool {
        let path = self.node.path;
        let Some((target, is_keyword)) = self.graph.callable_argument(call, i) else { return false };
        let file = call.file;
        let mut any = false;
        for (callee, bound, sure) in self.graph.functions_of(ExprRef { file, expr: args[target].value }) {
            let params = &self.program().func(callee).params;
            let skip = usize::from(bound);
            let is_class = self.program().func(callee).name == "__init__";
            let keyword = match args[i].kind {
                ArgKind::Keyword(k) => Some(k),
                _ => None,
            };
            let (param, path) = match (is_keyword, keyword.map(|k| k.to_string()).as_deref(), path.first()) {
                (true, Some("args"), Some(Proj::Index(n))) => (Some(n as usize + skip), path.pop()),
                (true, Some("kwargs"), Some(Proj::Key(k))) => (params.iter().position(|p| p.name == k), path.pop()),
                (false, Some(k), _) => (params.iter().position(|p| p.name == k), path),
                // A class that is handed over is constructed with keywords.
                (false, None, _) if i > target && !is_class => (Some(i - target - 1 + skip), path),
                _ => (None, path),
            };
            if let Some(param) = param.filter(|p| *p < params.len()) {
                any = true;
                let slot = Slot::Def(callee.file, Scope::Func(callee.func), DefId(param as u32));
                self.push(slot, path, EdgeKind::Spawn(call), None, sure);
            }
        }
        any
    }

    /// `items.append(value)` and the like put the value into the receiver.
    fn container_method(&mut self, call: ExprRef, func: ExprId, args: &[Arg], i: usize, name: Sym) -> bool {
        let ir = self.program().ir(call.file);
        let Expr::Attr { base, .. } = ir.expr(func) else { return false };
        let path = self.node.path;
        let path = match (name.as_str(), args[i].kind) {
            ("append" | "add" | "put" | "put_nowait" | "insert" | "appendleft" | "push", _) => path.push(Proj::Elem),
            ("extend", _) => path,
            ("update", ArgKind::Keyword(key)) => path.push(Proj::Key(key)),
            ("update", _) => path,
            ("setdefault", _) if i == 1 => match ir.str_value(args[0].value) {
                Some(key) => path.push(Proj::Key(key)),
                None => path.push(Proj::Elem),
            },
            _ => return false,
        };
        self.put_in_container(call.file, *base, path, None);
        true
    }
}

impl Graph<'_> {
    /// The argument of a foreign call that is a callable of the tree, other than the i-th; and whether it is `target=`.
    pub fn callable_argument(&self, call: ExprRef, i: usize) -> Option<(usize, bool)> {
        let ir = self.program.ir(call.file);
        let Expr::Call { args, .. } = ir.expr(call.expr) else { return None };
        let target = args.iter().position(|a| matches!(a.kind, ArgKind::Keyword(k) if k == "target"));
        if let Some(target) = target {
            return (target != i).then_some((target, true));
        }
        let upto = i.min(args.len());
        (0..upto)
            .find(|j| {
                args[*j].kind == ArgKind::Positional
                    && matches!(ir.expr(args[*j].value), Expr::Name(_) | Expr::Attr { .. })
                    && !self.functions_of(ExprRef { file: call.file, expr: args[*j].value }).is_empty()
            })
            .map(|j| (j, false))
    }

    /// The functions that an expression can be, whether their first parameter is bound, and how sure that is.
    pub fn functions_of(&self, at: ExprRef) -> Vec<(FuncRef, bool, bool)> {
        let types = self.types.of(at);
        types
            .iter()
            .filter_map(|t| match t.ty {
                Type::Func(f) => Some((f, false, t.sure)),
                Type::Method(f, _) => Some((f, self.program.method_class(f).is_some(), t.sure)),
                Type::Class(c) => self.program.method(c, Sym::from("__init__")).map(|f| (f, true, t.sure)),
                _ => None,
            })
            .collect()
    }
}
