//! What an expression can be: classes, functions, modules, containers of them.
//!
//! A demand-driven backwards analysis over assignments, annotations, constructors, attributes, returns and containers.
//! It answers with a small set; an empty set means *unknown*, never *nothing*. An answer that rests on a name (a parameter
//! called `scheduler` where every annotated `scheduler` of the tree is a `Scheduler`) is marked not `sure`.

use super::resolve::{Binding, Entity};
use super::solver::{Answer, Solver};
use super::*;
use crate::syntax::defuse::{DefId, DefSite};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Instance(ClassRef),
    Class(ClassRef),
    Func(FuncRef),
    /// A method bound to an instance (of the class, where known).
    Method(FuncRef, ClassRef),
    Module(FileId),
    /// Something outside the tree, by dotted path.
    External(Sym),
    /// An instance of a class outside the tree.
    ExternalInstance(Sym),
    /// The bag of a namespace of the record, by dotted path.
    Bag(Sym),
    /// `super()` in a method of the first class, on a receiver of the second.
    Super(ClassRef, ClassRef),
    /// A container whose elements are known one by one.
    Tuple(Rc<[Types]>),
    /// A container of such elements.
    Many(Types),
    Str(Sym),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Typed {
    pub ty: Type,
    pub sure: bool,
}

pub type Types = Rc<[Typed]>;

const MAX_SET: usize = 64;
/// Containers in containers; what is deeper is unknown, or `x = [x]` would never end.
const MAX_NESTING: u32 = 3;
/// In how many files a class of one name is looked for.
const MAX_NAMESAKES: usize = 4;
/// A name that stands for more classes than this says nothing.
const MAX_HINTS: usize = 8;
/// The same before it is known which of them are classes.
const MANY_HINTS: usize = 2 * MAX_HINTS;
/// A parameter's type is looked up at its call sites only where few files can hold them.
const MAX_CALLER_FILES: usize = 30;
/// How many times in a row a type is asked of call sites.
const MAX_CALLER_HOPS: u8 = 3;
/// The same for parameters annotated as callables, which are few and travel far.
const MAX_CALLABLE_HOPS: u8 = 8;

/// The analysis, with what it has found so far.
pub struct TypeSystem<'p> {
    pub program: &'p Program,
    solver: Solver<Question, Found>,
    hint_memo: RefCell<FxHashMap<Sym, Types>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Question {
    Expr(ExprRef),
    Attr(ClassRef, Sym),
    Def(FileId, Scope, DefId),
    Global(FileId, Sym),
    Return(FuncRef),
    Callers(FuncRef),
}

#[derive(Clone, PartialEq, Debug, Default)]
enum Found {
    #[default]
    Nothing,
    Types(Types),
    Callers(Rc<[CallSite]>),
}

impl Answer for Found {
    fn joined(self, other: &Self) -> Self {
        match (self, other) {
            (Found::Types(new), Found::Types(old)) => {
                let mut all = old.to_vec();
                add(&mut all, &new, true);
                Found::Types(all.into())
            }
            (Found::Callers(new), Found::Callers(old)) => {
                let mut all = old.to_vec();
                new.iter().for_each(|s| push_site(&mut all, s.call, s.sure));
                Found::Callers(all.into())
            }
            (new, _) => new,
        }
    }
}

/// A call that can reach a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallSite {
    pub call: ExprRef,
    pub sure: bool,
}

fn sure(ty: Type) -> Typed {
    Typed { ty, sure: true }
}

fn none() -> Types {
    Rc::from([])
}

fn one(ty: Type) -> Types {
    Rc::from([sure(ty)])
}

fn add(out: &mut Vec<Typed>, more: &[Typed], as_sure: bool) {
    for typed in more {
        if out.len() >= MAX_SET {
            return;
        }
        let sure = typed.sure && as_sure;
        match out.iter_mut().find(|t| t.ty == typed.ty) {
            Some(known) => known.sure |= sure,
            None => out.push(Typed { ty: typed.ty.clone(), sure }),
        }
    }
}

/// The types without the containers that are nested deeper.
fn flattened(types: Types, levels: u32) -> Types {
    if !nests_deeper(&types, levels) {
        return types;
    }
    let mut out = Vec::new();
    for typed in types.iter() {
        let ty = match &typed.ty {
            Type::Many(_) | Type::Tuple(_) if levels == 0 => continue,
            Type::Many(items) => Type::Many(flattened(items.clone(), levels - 1)),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|p| flattened(p.clone(), levels - 1)).collect()),
            plain => plain.clone(),
        };
        add(&mut out, &[Typed { ty, sure: typed.sure }], true);
    }
    out.into()
}

fn nests_deeper(types: &Types, levels: u32) -> bool {
    types.iter().any(|t| match &t.ty {
        Type::Many(_) | Type::Tuple(_) if levels == 0 => true,
        Type::Many(items) => nests_deeper(items, levels - 1),
        Type::Tuple(parts) => parts.iter().any(|p| nests_deeper(p, levels - 1)),
        _ => false,
    })
}

impl<'p> TypeSystem<'p> {
    pub fn new(program: &'p Program) -> Self {
        TypeSystem { program, solver: Solver::default(), hint_memo: RefCell::default() }
    }

    fn ask(&self, question: Question) -> Found {
        self.solver.ask(question, &|question| {
            let types = match question {
                Question::Expr(at) => self.compute(*at),
                Question::Attr(class, attr) => self.find_instance_attr(*class, *attr),
                Question::Def(file, scope, def) => self.find_def(*file, *scope, *def),
                Question::Global(file, name) => self.find_global(*file, *name),
                Question::Return(func) => self.find_return(*func),
                Question::Callers(func) => return Found::Callers(self.find_callers(*func)),
            };
            Found::Types(flattened(types, MAX_NESTING))
        })
    }

    fn types(&self, question: Question) -> Types {
        match self.ask(question) {
            Found::Types(types) => types,
            _ => none(),
        }
    }

    /// What the expression can be.
    pub fn of(&self, at: ExprRef) -> Types {
        self.types(Question::Expr(at))
    }

    fn compute(&self, at: ExprRef) -> Types {
        let program = self.program;
        let ir = program.ir(at.file);
        let sub = |expr: ExprId| self.of(ExprRef { file: at.file, expr });
        match ir.expr(at.expr) {
            Expr::Name(name) => {
                let found = self.of_binding(at.file, &program.binding(at), *name);
                if found.is_empty() { self.hint(*name) } else { found }
            }
            Expr::Attr { base, attr, .. } => {
                let base = sub(*base);
                let found = self.attr_of(&base, *attr);
                let outside = |t: &Typed| matches!(t.ty, Type::External(_) | Type::ExternalInstance(_));
                if found.is_empty() || base.iter().all(outside) {
                    // Attributes put on foreign objects (`app.state.x`) have no declaration to look at.
                    let hint = self.hint(*attr);
                    if !hint.is_empty() {
                        return hint;
                    }
                }
                found
            }
            Expr::Call { func, args } => self.of_call(at, *func, args),
            Expr::Subscript { base, index } => self.element(&sub(*base), Some((at.file, *index))),
            Expr::IfExp { body, orelse, .. } => {
                let mut out = sub(*body).to_vec();
                add(&mut out, &sub(*orelse), true);
                out.into()
            }
            Expr::Bool { left, right, .. } => {
                let mut out = sub(*left).to_vec();
                add(&mut out, &sub(*right), true);
                out.into()
            }
            Expr::Await(inner) | Expr::Starred(inner) => sub(*inner),
            Expr::Walrus { value, .. } => sub(*value),
            Expr::Lambda(func) => one(Type::Func(FuncRef { file: at.file, func: *func })),
            Expr::Tuple(items) | Expr::List(items) if items.len() <= 64 => {
                one(Type::Tuple(items.iter().map(|e| sub(*e)).collect()))
            }
            Expr::Dict(items) if items.len() <= 256 => {
                let mut out = Vec::new();
                items.iter().for_each(|(_, v)| add(&mut out, &sub(*v), true));
                one(Type::Many(out.into()))
            }
            Expr::Comp(comp) => one(Type::Many(sub(comp.value.unwrap_or(comp.element)))),
            Expr::Str(s) => one(Type::Str(*s)),
            _ => none(),
        }
    }

    fn of_binding(&self, file: FileId, binding: &Binding, name: Sym) -> Types {
        match binding {
            Binding::Local(scope, defs) => {
                let mut out = Vec::new();
                for def in defs {
                    add(&mut out, &self.of_def(file, *scope, *def), true);
                }
                out.into()
            }
            Binding::Entities(entities) => {
                let mut out = Vec::new();
                entities.iter().for_each(|e| add(&mut out, &self.of_entity(*e), true));
                out.into()
            }
            Binding::Builtin => one(Type::External(name)),
        }
    }

    pub fn of_entity(&self, entity: Entity) -> Types {
        match entity {
            Entity::Func(f) => one(Type::Func(f)),
            Entity::Class(c) => one(Type::Class(c)),
            Entity::Module(m) => one(Type::Module(m)),
            Entity::External(path) => one(Type::External(path)),
            Entity::Var(file, name) => self.of_global(file, name),
        }
    }

    /// All that is ever assigned to a module variable, in the module or under `global`.
    pub fn of_global(&self, file: FileId, name: Sym) -> Types {
        self.types(Question::Global(file, name))
    }

    fn find_global(&self, file: FileId, name: Sym) -> Types {
        let mut out = Vec::new();
        for target in self.program.global_targets(file, name) {
            add(&mut out, &self.of_target(file, target), true);
        }
        // Entries put into a module-level registry.
        let mut elements = Vec::new();
        for value in self.program.global_entries(file, name) {
            add(&mut elements, &self.of(ExprRef { file, expr: value }), true);
        }
        if !elements.is_empty() {
            add(&mut out, &[sure(Type::Many(elements.into()))], true);
        }
        out.into()
    }

    pub fn of_def(&self, file: FileId, scope: Scope, def: DefId) -> Types {
        self.types(Question::Def(file, scope, def))
    }

    fn find_def(&self, file: FileId, scope: Scope, def: DefId) -> Types {
        match self.program.defuse(file, scope).defs[def.0 as usize].site {
            DefSite::Param(i) => match scope {
                Scope::Func(func) => self.of_param(FuncRef { file, func }, i),
                _ => none(),
            },
            DefSite::Func(func) => one(Type::Func(FuncRef { file, func })),
            DefSite::Class(class) => one(Type::Class(ClassRef { file, class })),
            DefSite::Import(stmt, i) => {
                let mut out = Vec::new();
                for entity in self.program.imported(file, stmt, i) {
                    add(&mut out, &self.of_entity(entity), true);
                }
                out.into()
            }
            DefSite::Target(target) => self.of_target(file, target),
        }
    }

    /// What an assigned name gets, from the statement or comprehension around it.
    fn of_target(&self, file: FileId, target: ExprId) -> Types {
        let ir = self.program.ir(file);
        let sub = |expr: ExprId| self.of(ExprRef { file, expr });
        // The way from the target out to the statement, as tuple positions.
        let mut path = Vec::new();
        let mut at = target;
        let whole = loop {
            match ir.exprs[at.index()].parent {
                Parent::Expr(up) => match ir.expr(up) {
                    Expr::Tuple(items) | Expr::List(items) => {
                        path.push(items.iter().position(|i| *i == at));
                        at = up;
                    }
                    Expr::Starred(_) => at = up,
                    Expr::Walrus { value, .. } => break sub(*value),
                    Expr::Comp(comp) => {
                        let Some(clause) = comp.clauses.iter().find(|c| c.target == at) else { return none() };
                        break self.element(&sub(clause.iter), None);
                    }
                    _ => return none(),
                },
                Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
                    Stmt::Assign { value, .. } => break sub(*value),
                    Stmt::AnnAssign { annotation, value, .. } => {
                        let declared = self.of_annotation(file, ir.stmt(stmt).scope, *annotation);
                        if declared.is_empty() {
                            break value.map_or(none(), sub);
                        }
                        break declared;
                    }
                    Stmt::For { iter, .. } => break self.element(&sub(*iter), None),
                    Stmt::With { items, .. } => {
                        let Some((context, _)) = items.iter().find(|(_, t)| *t == Some(at)) else { return none() };
                        break sub(*context);
                    }
                    _ => return none(),
                },
                _ => return none(),
            }
        };
        let mut types = whole;
        for position in path.into_iter().rev() {
            types = self.position(&types, position);
        }
        types
    }

    fn position(&self, types: &Types, position: Option<usize>) -> Types {
        let mut out = Vec::new();
        for typed in types.iter() {
            match (&typed.ty, position) {
                (Type::Tuple(items), Some(i)) => {
                    if let Some(item) = items.get(i) {
                        add(&mut out, item, typed.sure);
                    }
                }
                (Type::Many(items), _) => add(&mut out, items, typed.sure),
                _ => {}
            }
        }
        out.into()
    }

    /// The elements of a container, of one place in it where the index is a literal.
    fn element(&self, types: &Types, index: Option<(FileId, ExprId)>) -> Types {
        let mut out = Vec::new();
        let literal = index.and_then(|(file, e)| match self.program.ir(file).expr(e) {
            Expr::Int(i) => usize::try_from(*i).ok(),
            _ => None,
        });
        for typed in types.iter() {
            match &typed.ty {
                // A loop takes them all, an index one of them.
                Type::Many(items) => {
                    add(&mut out, items, typed.sure && (index.is_none() || self.is_one_family(items)));
                }
                Type::Tuple(items) => match literal.and_then(|i| items.get(i)) {
                    Some(item) => add(&mut out, item, typed.sure),
                    None => items.iter().for_each(|item| add(&mut out, item, typed.sure)),
                },
                _ => {}
            }
        }
        out.into()
    }

    /// Have the classes among these a base in common? Else an element of a table of them is not surely any of them.
    fn is_one_family(&self, items: &[Typed]) -> bool {
        let mut classes = items.iter().filter_map(|t| match t.ty {
            Type::Class(class) | Type::Instance(class) => Some(class),
            _ => None,
        });
        let Some(first) = classes.next() else { return true };
        let bases = self.program.mro(first);
        classes.all(|class| self.program.mro(class).iter().any(|base| bases.contains(base)))
    }

    /// What the tree's annotations and constructor calls say of a name, where they agree.
    fn hint(&self, name: Sym) -> Types {
        if let Some(known) = self.hint_memo.borrow().get(&name) {
            return known.clone();
        }
        let found = self.find_hint(name);
        self.hint_memo.borrow_mut().insert(name, found.clone());
        found
    }

    fn find_hint(&self, name: Sym) -> Types {
        let Some(hints) = self.program.hints.get(&name) else { return none() };
        let says_something = |class: &Sym| !matches!(class.as_str(), "Any" | "None" | "True" | "False" | "Callable");
        let total: u32 = hints.iter().filter(|(c, _)| says_something(c)).map(|(_, n)| n).sum();
        // Names like `config` are annotated with dozens of classes: no need to open their files.
        let defined = hints.iter().filter(|(class, _)| !self.program.files_defining_class(*class).is_empty());
        let (classes, uses) = defined.fold((0, 0), |(classes, uses), (_, n)| (classes + 1, uses + n));
        if uses * 4 < total * 3 || classes > MANY_HINTS {
            return none();
        }
        let mut out: Vec<Typed> = Vec::new();
        let mut resolved = 0;
        for (class, count) in hints {
            // The word index also takes a class that a docstring shows for one.
            let files = self.program.files_defining_class(*class).iter().take(MAX_NAMESAKES + 1);
            let mut defining = files.map(|file| self.program.classes_named(*file, *class)).filter(|c| !c.is_empty());
            if let (Some(classes), None) = (defining.next(), defining.next()) {
                for class in classes {
                    add(&mut out, &[Typed { ty: Type::Instance(class), sure: false }], false);
                }
                resolved += count;
            }
        }
        if resolved * 4 < total * 3 || out.len() > MAX_HINTS {
            return none();
        }
        out.into()
    }

    /// Type of a parameter: its annotation, the class around it for `self`, its default, its call sites, its name.
    pub fn of_param(&self, func: FuncRef, index: u32) -> Types {
        let program = self.program;
        let f = program.func(func);
        let Some(param) = f.params.get(index as usize) else { return none() };
        let mut out = Vec::new();
        if let Some(annotation) = param.annotation {
            add(&mut out, &self.of_annotation(func.file, f.scope, annotation), true);
            match param.kind {
                ParamKind::Star | ParamKind::DoubleStar => return one(Type::Many(out.into())),
                _ => {}
            }
        } else if index == 0
            && let (Some(class), false) = (program.method_class(func), program.has_decorator(func, &["staticmethod"]))
        {
            let meta = program.has_decorator(func, &["classmethod"]) || f.name == "__new__";
            return one(if meta { Type::Class(class) } else { Type::Instance(class) });
        }
        let useful = |out: &[Typed]| out.iter().any(|t| !matches!(t.ty, Type::External(_) | Type::ExternalInstance(_)));
        if let Some(default) = param.default {
            add(&mut out, &self.of(ExprRef { file: func.file, expr: default }), true);
            out.retain(|t| !matches!(t.ty, Type::Str(_)));
        }
        let vague =
            |t: &Typed| matches!(&t.ty, Type::ExternalInstance(p) if matches!(p.as_str(), "typing.Any" | "object"));
        // A name that the whole tree uses for one class is as good as its call sites, and cheaper; others come last.
        let hinted = if out.iter().all(vague) { self.hint(param.name) } else { none() };
        if hinted.len() == 1 {
            add(&mut out, &hinted, false);
        }
        if index == 0
            && (program.has_decorator(func, &names(&program.profile.resolution.passes)) || self.derives_a_leaf(func))
        {
            add(&mut out, &self.view(), true);
        }
        if !useful(&out) && matches!(param.kind, ParamKind::Positional | ParamKind::KeywordOnly) {
            let plain = out.iter().any(|t| matches!(&t.ty, Type::ExternalInstance(p) if is_plain(p)));
            let hops = self.solver.level();
            let callable = out.iter().any(|t| matches!(&t.ty, Type::ExternalInstance(p) if p.ends_with("Callable")));
            let limit = if callable { MAX_CALLABLE_HOPS } else { MAX_CALLER_HOPS };
            if !plain && hops >= limit {
                self.solver.stopped();
            } else if !plain && self.caller_files(func) <= MAX_CALLER_FILES {
                self.solver.at_level(hops + 1, || {
                    for site in self.callers(func).iter() {
                        if let Some(arg) = self.argument_for(site.call, func, index) {
                            add(&mut out, &self.of(arg), site.sure);
                        }
                    }
                    for arg in self.started_with(func, index) {
                        add(&mut out, &self.of(arg), true);
                    }
                });
            }
        }
        if !useful(&out) {
            add(&mut out, &hinted, false);
        }
        out.into()
    }

    /// Is the function named, by its dotted path, as the one that computes a leaf: `name = Derived(fn="module.function")`?
    fn derives_a_leaf(&self, func: FuncRef) -> bool {
        let program = self.program;
        let derived = &program.profile.declaration.derived;
        if derived.is_empty() || program.method_class(func).is_some() {
            return false;
        }
        let derived = Sym::from(derived);
        let name = program.func(func).name;
        let path = format!("{}.{name}", program.file(func.file).module);
        program.files_with(name).iter().filter(|file| program.has_word(**file, derived)).any(|file| {
            let ir = program.ir(*file);
            program.calls_named(*file, derived).iter().any(|call| match ir.expr(*call) {
                Expr::Call { args, .. } => {
                    args.iter().any(|arg| ir.str_value(arg.value).is_some_and(|text| text == path.as_str()))
                }
                _ => false,
            })
        })
    }

    /// An instance of the view class, where the tree has one.
    fn view(&self) -> Types {
        let program = self.program;
        let Some(name) = program.profile.resolution.views.first() else { return none() };
        let name = Sym::from(name);
        let files = program.files_defining_class(name);
        let classes = files.iter().flat_map(|f| program.classes_named(*f, name));
        classes.map(|c| sure(Type::Instance(c))).collect()
    }

    /// The types that an annotation names.
    pub fn of_annotation(&self, file: FileId, scope: Scope, annotation: ExprId) -> Types {
        let mut out = Vec::new();
        self.annotation_into(file, scope, self.program.ir(file), annotation, &mut out, 0);
        out.into()
    }

    fn annotation_into(&self, file: FileId, scope: Scope, ir: &FileIr, at: ExprId, out: &mut Vec<Typed>, depth: u32) {
        if depth > 12 {
            return;
        }
        let go = |inner: ExprId, out: &mut Vec<Typed>| self.annotation_into(file, scope, ir, inner, out, depth + 1);
        match ir.expr(at) {
            Expr::Name(_) | Expr::Attr { .. } => {
                let Some(path) = dotted_name(ir, at) else { return };
                let mut parts = path.split('.');
                let Some(first) = parts.next() else { return };
                let mut types = match self.program.name_in_scope(file, scope, Sym::from(first)) {
                    Binding::Builtin => one(Type::External(Sym::from(first))),
                    binding => self.of_binding(file, &binding, Sym::from(first)),
                };
                for part in parts {
                    types = self.attr_of(&types, Sym::from(part));
                }
                for typed in types.iter() {
                    match &typed.ty {
                        Type::Class(c) => add(out, &[sure(Type::Instance(*c))], typed.sure),
                        Type::External(p) => add(out, &[sure(Type::ExternalInstance(*p))], typed.sure),
                        // An alias such as `Pool = Union[A, B]`.
                        Type::Many(inner) => add(out, inner, typed.sure),
                        _ => {}
                    }
                }
            }
            Expr::Str(text) => {
                let inner = lower(text.as_bytes());
                if let Some(Stmt::Expr(e)) = inner.body.first().map(|s| &inner.stmt(*s).kind) {
                    self.annotation_into(file, scope, &inner, *e, out, depth + 1);
                }
            }
            Expr::Bin { op: BinOp::BitOr, left, right } => {
                go(*left, out);
                go(*right, out);
            }
            Expr::Subscript { base, index } => {
                let name = last_name(ir, *base).map(|n| n.to_string()).unwrap_or_default();
                let items: Vec<ExprId> = match ir.expr(*index) {
                    Expr::Tuple(items) => items.to_vec(),
                    _ => vec![*index],
                };
                match name.as_str() {
                    "Optional" | "Annotated" | "A" | "ClassVar" | "Final" | "Required" | "NotRequired" => {
                        items.first().into_iter().for_each(|i| go(*i, out))
                    }
                    "Union" => items.iter().for_each(|i| go(*i, out)),
                    "Type" | "type" => {
                        let mut inner = Vec::new();
                        items.iter().for_each(|i| go(*i, &mut inner));
                        for typed in inner {
                            if let Type::Instance(c) = typed.ty {
                                add(out, &[sure(Type::Class(c))], typed.sure);
                            }
                        }
                    }
                    "Tuple" | "tuple" => {
                        let parts = items.iter().map(|i| {
                            let mut inner = Vec::new();
                            go(*i, &mut inner);
                            Types::from(inner)
                        });
                        add(out, &[sure(Type::Tuple(parts.collect()))], true);
                    }
                    "Callable" | "Literal" => {}
                    _ => {
                        let mut inner = Vec::new();
                        items.last().into_iter().for_each(|i| go(*i, &mut inner));
                        add(out, &[sure(Type::Many(inner.into()))], true);
                        go(*base, out);
                    }
                }
            }
            _ => {}
        }
    }

    /// The attribute of any of these.
    pub fn attr_of(&self, types: &Types, attr: Sym) -> Types {
        let mut out = Vec::new();
        for typed in types.iter() {
            match &typed.ty {
                Type::Instance(class) => add(&mut out, &self.instance_attr(*class, attr), typed.sure),
                Type::Class(class) => {
                    if let Some(method) = self.program.method(*class, attr) {
                        let ty = if self.program.has_decorator(method, &["classmethod"]) {
                            Type::Method(method, *class)
                        } else {
                            Type::Func(method)
                        };
                        add(&mut out, &[sure(ty)], typed.sure);
                    } else {
                        add(&mut out, &self.class_attr(*class, attr), typed.sure);
                    }
                }
                Type::Module(file) => {
                    for entity in self.program.module_attr(*file, attr) {
                        add(&mut out, &self.of_entity(entity), typed.sure);
                    }
                }
                Type::External(path) | Type::ExternalInstance(path) => {
                    let ty = Type::External(Sym::from(&format!("{path}.{attr}")));
                    add(&mut out, &[sure(ty)], typed.sure);
                }
                Type::Bag(path) => {
                    let inner = Type::Bag(Sym::from(&format!("{path}.{attr}")));
                    add(&mut out, &[sure(inner)], typed.sure);
                }
                Type::Super(inside, receiver) => {
                    if let Some(method) = self.program.super_method(*inside, *receiver, attr) {
                        add(&mut out, &[sure(Type::Method(method, *receiver))], typed.sure);
                    }
                }
                Type::Many(items) => match attr.as_str() {
                    // Methods of dict and list that hand out elements.
                    "get" | "pop" | "values" | "setdefault" | "popitem" | "items" | "copy" => {
                        add(&mut out, &[sure(Type::Many(items.clone()))], typed.sure)
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        out.into()
    }

    fn instance_attr(&self, class: ClassRef, attr: Sym) -> Types {
        self.types(Question::Attr(class, attr))
    }

    fn find_instance_attr(&self, class: ClassRef, attr: Sym) -> Types {
        if let Some(method) = self.program.method(class, attr) {
            if self.program.is_property(method) {
                return self.of_return(method);
            }
            let mut out = vec![sure(Type::Method(method, class))];
            // The receiver may be a subclass that overrides the method.
            for sub in self.program.subclasses(class).iter() {
                if let Some(own) = self.program.own_method(*sub, attr) {
                    add(&mut out, &[sure(Type::Method(own, *sub))], true);
                }
            }
            return out.into();
        }
        let mut out = self.class_attr(class, attr).to_vec();
        let useful = |out: &[Typed]| out.iter().any(|t| !matches!(t.ty, Type::External(_)));
        if !useful(&out) {
            for c in self.program.mro(class).iter() {
                self.stored_into(*c, attr, &mut out);
            }
        }
        if out.is_empty() {
            // A mixin reads what its host, or a sibling in the host, stores.
            for sub in self.program.subclasses(class).iter().take(12) {
                for c in self.program.mro(*sub).iter() {
                    if let Some(method) = self.program.own_method(*c, attr) {
                        add(&mut out, &[sure(Type::Method(method, *c))], true);
                    }
                    self.stored_into(*c, attr, &mut out);
                }
            }
        }
        out.into()
    }

    /// What the methods of one class store in `self.attr`.
    fn stored_into(&self, class: ClassRef, attr: Sym, out: &mut Vec<Typed>) {
        for store in self.program.self_stores(class, attr) {
            add(out, &self.of_target(class.file, store), true);
        }
    }

    /// Declared or assigned in a class body, in resolution order.
    fn class_attr(&self, class: ClassRef, attr: Sym) -> Types {
        for c in self.program.mro(class).iter() {
            let ir = self.program.ir(c.file);
            let mut out = Vec::new();
            for stmt in &self.program.class(*c).body {
                let (target, annotation, value) = match &ir.stmt(*stmt).kind {
                    Stmt::AnnAssign { target, annotation, value } => (*target, Some(*annotation), *value),
                    Stmt::Assign { targets, value } if targets.len() == 1 => (targets[0], None, Some(*value)),
                    _ => continue,
                };
                if !matches!(ir.expr(target), Expr::Name(n) if *n == attr) {
                    continue;
                }
                if let Some(annotation) = annotation {
                    add(&mut out, &self.of_annotation(c.file, Scope::Class(c.class), annotation), true);
                }
                if let Some(value) = value {
                    add(&mut out, &self.of(ExprRef { file: c.file, expr: value }), true);
                }
            }
            out.retain(|t| !matches!(t.ty, Type::Str(_)));
            if !out.is_empty() {
                return out.into();
            }
        }
        none()
    }

    fn of_call(&self, at: ExprRef, func: ExprId, args: &[Arg]) -> Types {
        let program = self.program;
        let ir = program.ir(at.file);
        let sub = |expr: ExprId| self.of(ExprRef { file: at.file, expr });
        let first = args.iter().find(|a| a.kind == ArgKind::Positional).map(|a| a.value);
        if let Expr::Name(name) = ir.expr(func) {
            match (name.as_str(), first) {
                ("super", _) => return self.super_type(at),
                ("type", Some(arg)) => {
                    let instances = sub(arg);
                    let classes = instances.iter().filter_map(|t| match t.ty {
                        Type::Instance(c) => Some(Typed { ty: Type::Class(c), sure: t.sure }),
                        _ => None,
                    });
                    return classes.collect();
                }
                ("getattr", Some(base)) => {
                    return match args.get(1).map(|a| ir.expr(a.value)) {
                        Some(Expr::Str(name)) => self.attr_of(&sub(base), *name),
                        _ => none(),
                    };
                }
                (
                    "staticmethod" | "classmethod" | "list" | "tuple" | "sorted" | "reversed" | "iter" | "next",
                    Some(arg),
                ) => {
                    let inner = sub(arg);
                    return if *name == "next" { self.element(&inner, None) } else { inner };
                }
                ("defaultdict", Some(factory)) => {
                    // What the factory makes, and what the initial mapping holds.
                    let mut elements = Vec::new();
                    for made in sub(factory).iter() {
                        match made.ty {
                            Type::Func(f) => add(&mut elements, &self.of_return(f), made.sure),
                            Type::Class(c) => add(&mut elements, &[sure(Type::Instance(c))], made.sure),
                            _ => {}
                        }
                    }
                    for typed in args.get(1).map_or(none(), |a| sub(a.value)).iter() {
                        if let Type::Many(items) = &typed.ty {
                            add(&mut elements, items, typed.sure);
                        }
                    }
                    return if elements.is_empty() { none() } else { one(Type::Many(elements.into())) };
                }
                ("cast", _) => {
                    return args.first().map_or(none(), |a| self.of_annotation(at.file, ir.scope_of(at.expr), a.value));
                }
                _ => {}
            }
        }
        let mut out = Vec::new();
        for typed in sub(func).iter() {
            match &typed.ty {
                Type::Class(class) => add(&mut out, &[sure(Type::Instance(*class))], typed.sure),
                Type::Func(f) | Type::Method(f, _) => add(&mut out, &self.of_return(*f), typed.sure),
                Type::Instance(class) => {
                    if let Some(call) = program.method(*class, Sym::from("__call__")) {
                        add(&mut out, &self.of_return(call), typed.sure);
                    }
                }
                Type::Many(items) => {
                    // `registry.get(name)`: a method of a container, typed as the container.
                    let method = last_name(ir, func).map(|n| n.to_string());
                    match method.as_deref() {
                        Some("items") => {
                            let pair = sure(Type::Tuple(Rc::from([none(), items.clone()])));
                            add(&mut out, &[sure(Type::Many(Rc::from([pair])))], typed.sure);
                        }
                        Some("values" | "copy") => add(&mut out, std::slice::from_ref(typed), true),
                        _ => add(&mut out, items, typed.sure && self.is_one_family(items)),
                    }
                }
                Type::External(path) => {
                    let last = path.rsplit('.').next().unwrap_or("");
                    match (last, first) {
                        ("defaultdict" | "OrderedDict" | "dict" | "MappingProxyType", _) => {
                            let items = self.of_mapping(at.file, args);
                            add(&mut out, &[sure(Type::Many(items))], typed.sure);
                        }
                        ("deepcopy" | "copy" | "replace" | "partial", Some(arg)) => {
                            add(&mut out, &sub(arg), typed.sure)
                        }
                        _ if last.starts_with(|c: char| c.is_ascii_uppercase()) => {
                            add(&mut out, &[sure(Type::ExternalInstance(*path))], typed.sure)
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        out.into()
    }

    /// The values of a mapping made by a call: what the default factory returns, what the mappings given hold.
    fn of_mapping(&self, file: FileId, args: &[Arg]) -> Types {
        let mut out = Vec::new();
        for arg in args {
            for typed in self.of(ExprRef { file, expr: arg.value }).iter() {
                match &typed.ty {
                    Type::Many(items) => add(&mut out, items, typed.sure),
                    Type::Func(f) | Type::Method(f, _) if arg.kind == ArgKind::Positional => {
                        add(&mut out, &self.of_return(*f), typed.sure)
                    }
                    _ => {}
                }
            }
        }
        out.into()
    }

    fn super_type(&self, at: ExprRef) -> Types {
        let ir = self.program.ir(at.file);
        match ir.class_around(ir.scope_of(at.expr)) {
            Some(class) => {
                let class = ClassRef { file: at.file, class };
                one(Type::Super(class, class))
            }
            None => none(),
        }
    }

    /// What a function returns: its annotation where that names something of the tree, else its `return` expressions.
    pub fn of_return(&self, func: FuncRef) -> Types {
        self.types(Question::Return(func))
    }

    fn find_return(&self, func: FuncRef) -> Types {
        let program = self.program;
        let f = program.func(func);
        let mut out = Vec::new();
        if let Some(path) = program.bag_path(func) {
            return one(Type::Bag(path));
        }
        if let Some(returns) = f.returns {
            add(&mut out, &self.of_annotation(func.file, f.scope, returns), true);
        }
        let known =
            out.iter().any(|t| matches!(t.ty, Type::Instance(_) | Type::Class(_) | Type::Many(_) | Type::Tuple(_)));
        if !known {
            for value in program.returns(func) {
                add(&mut out, &self.of(ExprRef { file: func.file, expr: *value }), true);
            }
        }
        out.retain(|t| !matches!(t.ty, Type::Str(_)));
        out.into()
    }

    // Calls

    /// The functions that a call can run, with the class constructed where it is a constructor.
    pub fn callees(&self, call: ExprRef) -> Vec<(FuncRef, Option<ClassRef>, bool)> {
        let Expr::Call { func, .. } = self.program.ir(call.file).expr(call.expr) else { return Vec::new() };
        let mut out = Vec::new();
        for typed in self.of(ExprRef { file: call.file, expr: *func }).iter() {
            match &typed.ty {
                Type::Func(f) => out.push((*f, None, typed.sure)),
                Type::Method(f, _) => out.push((*f, None, typed.sure)),
                Type::Class(class) => {
                    if let Some(init) = self.program.method(*class, Sym::from("__init__")) {
                        out.push((init, Some(*class), typed.sure));
                    }
                }
                Type::Instance(class) => {
                    if let Some(f) = self.program.method(*class, Sym::from("__call__")) {
                        out.push((f, None, typed.sure));
                    }
                }
                _ => {}
            }
        }
        if out.is_empty() {
            out.extend(self.callee_by_name(call.file, *func));
        }
        out
    }

    /// A method whose receiver is unknown, where the tree has one function of that name only.
    fn callee_by_name(&self, file: FileId, func: ExprId) -> Option<(FuncRef, Option<ClassRef>, bool)> {
        let Expr::Attr { attr, base, .. } = self.program.ir(file).expr(func) else { return None };
        if attr.len() < 8 || !self.of(ExprRef { file, expr: *base }).is_empty() {
            return None;
        }
        let &[only] = self.program.files_defining_function(*attr) else { return None };
        let funcs = &self.program.ir(only).funcs;
        let at = funcs.iter().position(|f| f.name == *attr)?;
        Some((FuncRef { file: only, func: FuncId(at as u32) }, None, false))
    }

    /// Is the first parameter filled by the receiver rather than by an argument?
    pub fn takes_receiver(&self, call: ExprRef, func: FuncRef) -> bool {
        let program = self.program;
        if program.method_class(func).is_none() || program.has_decorator(func, &["staticmethod"]) {
            return false;
        }
        if program.has_decorator(func, &["classmethod"]) || program.func(func).name == "__init__" {
            // `Base.__init__(self, ...)` passes it.
            return !self.names_class_method(call);
        }
        !self.names_class_method(call)
    }

    /// `Class.method(instance, ...)`, for an ordinary method.
    fn names_class_method(&self, call: ExprRef) -> bool {
        let ir = self.program.ir(call.file);
        let Expr::Call { func, .. } = ir.expr(call.expr) else { return false };
        let Expr::Attr { base, .. } = ir.expr(*func) else { return false };
        let base = self.of(ExprRef { file: call.file, expr: *base });
        let callee = self.of(ExprRef { file: call.file, expr: *func });
        base.iter().any(|t| matches!(t.ty, Type::Class(_))) && callee.iter().any(|t| matches!(t.ty, Type::Func(_)))
    }

    /// The parameter that an argument of a call fills.
    pub fn param_for(&self, call: ExprRef, func: FuncRef, arg_index: usize) -> Option<u32> {
        let program = self.program;
        let Expr::Call { args, .. } = program.ir(call.file).expr(call.expr) else { return None };
        let params = &program.func(func).params;
        let skip = usize::from(self.takes_receiver(call, func));
        match args.get(arg_index)?.kind {
            ArgKind::Positional => {
                if args[..arg_index].iter().any(|a| a.kind == ArgKind::Star) {
                    return None;
                }
                let position = args[..arg_index].iter().filter(|a| a.kind == ArgKind::Positional).count() + skip;
                let param = params.get(position).filter(|p| p.kind == ParamKind::Positional);
                match param {
                    Some(_) => Some(position as u32),
                    None => params.iter().position(|p| p.kind == ParamKind::Star).map(|i| i as u32),
                }
            }
            ArgKind::Keyword(name) => params
                .iter()
                .position(|p| p.name == name && matches!(p.kind, ParamKind::Positional | ParamKind::KeywordOnly))
                .or_else(|| params.iter().position(|p| p.kind == ParamKind::DoubleStar))
                .map(|i| i as u32),
            ArgKind::Star | ArgKind::DoubleStar => None,
        }
    }

    /// The argument that fills a parameter at a call.
    pub fn argument_for(&self, call: ExprRef, func: FuncRef, param: u32) -> Option<ExprRef> {
        let Expr::Call { args, .. } = self.program.ir(call.file).expr(call.expr) else { return None };
        (0..args.len())
            .find(|i| self.param_for(call, func, *i) == Some(param))
            .map(|i| ExprRef { file: call.file, expr: args[i].value })
    }

    /// What a parameter gets where the function is started: `Process(target=function, args=(…), kwargs={…})`.
    fn started_with(&self, func: FuncRef, param: u32) -> Vec<ExprRef> {
        let program = self.program;
        let f = program.func(func);
        let Some(name) = f.params.get(param as usize).map(|p| p.name) else { return Vec::new() };
        let skip = u32::from(program.method_class(func).is_some());
        let mut out = Vec::new();
        for file in program.files_with(f.name).iter().copied() {
            let starts = ["Process", "Thread"].iter().any(|word| program.has_word(file, Sym::from(word)));
            if !starts || !program.has_word(file, Sym::from("target")) {
                continue;
            }
            let ir = program.ir(file);
            for call in ["Process", "Thread"].iter().flat_map(|n| program.calls_named(file, Sym::from(n))) {
                let Expr::Call { args, .. } = ir.expr(*call) else { continue };
                let keyword = |key: &str| args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == key));
                if keyword("target").and_then(|t| last_name(ir, t.value)) != Some(f.name) {
                    continue;
                }
                if let (Some(args), Some(i)) = (keyword("args"), param.checked_sub(skip)) {
                    for items in program.tuple_literals(ExprRef { file, expr: args.value }) {
                        out.extend(items.get(i as usize).map(|expr| ExprRef { file, expr: *expr }));
                    }
                }
                match keyword("kwargs").map(|a| ir.expr(a.value)) {
                    Some(Expr::Call { args, .. }) => {
                        let arg = args.iter().find(|a| a.kind == ArgKind::Keyword(name));
                        out.extend(arg.map(|a| ExprRef { file, expr: a.value }));
                    }
                    Some(Expr::Dict(items)) => {
                        let item = items.iter().find(|(k, _)| k.and_then(|k| ir.str_value(k)) == Some(name));
                        out.extend(item.map(|(_, v)| ExprRef { file, expr: *v }));
                    }
                    _ => {}
                }
            }
        }
        out
    }

    fn caller_files(&self, func: FuncRef) -> usize {
        let names = self.caller_names(func);
        names.iter().filter(|n| **n != "__init__").map(|n| self.program.files_with(*n).len()).sum()
    }

    /// The names by which a call can reach the function.
    fn caller_names(&self, func: FuncRef) -> Vec<Sym> {
        let program = self.program;
        let name = program.func(func).name;
        match (name.as_str(), program.method_class(func)) {
            ("__init__" | "__post_init__" | "__new__", Some(class)) => {
                let mut names = vec![program.class(class).name, Sym::from("__init__")];
                names.extend(program.subclasses(class).iter().map(|c| program.class(*c).name));
                names
            }
            _ => vec![name],
        }
    }

    /// The calls that can reach a function by name: direct, through an instance, a class, `super()` or an import.
    pub fn callers(&self, func: FuncRef) -> Rc<[CallSite]> {
        match self.ask(Question::Callers(func)) {
            Found::Callers(sites) => sites,
            _ => Rc::from([]),
        }
    }

    fn find_callers(&self, func: FuncRef) -> Rc<[CallSite]> {
        let program = self.program;
        if program.func(func).name == "<lambda>" {
            return self.lambda_callers(func);
        }
        let class = program.method_class(func);
        let mut out: Vec<CallSite> = Vec::new();
        for name in self.caller_names(func) {
            let is_init_call = name == "__init__";
            let files = match (is_init_call, class) {
                // `super().__init__` stands in subclasses only.
                (true, Some(class)) => {
                    let mut files: Vec<FileId> = program.subclasses(class).iter().map(|c| c.file).collect();
                    files.sort();
                    files.dedup();
                    files.into()
                }
                (false, Some(class)) if name == program.class(class).name => program.files_naming(class.file, name),
                (_, Some(_)) => program.files_using(name, Uses::METHOD.or(Uses::CALL)).into(),
                (_, None) => program.files_naming(func.file, name),
            };
            program.parse_all(&files);
            for file in files.iter().copied() {
                for call in program.calls_named(file, name) {
                    let call = ExprRef { file, expr: *call };
                    let found = self.callees(call).into_iter().find(|(f, _, _)| *f == func);
                    if let Some((_, _, sure)) = found {
                        push_site(&mut out, call, sure);
                    }
                }
            }
        }
        if out.is_empty() && class.is_none_or(|_| program.func(func).name != "__init__") {
            self.calls_under_other_names(func, &mut out);
        }
        out.into()
    }

    /// A lambda has no name: the calls of locals and elements in its own file that can be it.
    fn lambda_callers(&self, func: FuncRef) -> Rc<[CallSite]> {
        let file = func.file;
        let ir = self.program.ir(file);
        let mut out = Vec::new();
        for (i, node) in ir.exprs.iter().enumerate() {
            let Expr::Call { func: callee, .. } = node.kind else { continue };
            let call = ExprRef { file, expr: ExprId(i as u32) };
            let at = ExprRef { file, expr: callee };
            let held = match ir.expr(callee) {
                Expr::Name(_) => matches!(self.program.binding(at), Binding::Local(..)),
                Expr::Subscript { .. } | Expr::Lambda(_) => true,
                _ => false,
            };
            if held && let Some((_, _, sure)) = self.callees(call).into_iter().find(|(f, _, _)| *f == func) {
                push_site(&mut out, call, sure);
            }
        }
        out.into()
    }

    /// Calls of a function that is only handed around: under the name of the parameter, attribute or variable it got.
    fn calls_under_other_names(&self, func: FuncRef, out: &mut Vec<CallSite>) {
        const MAX_NAMES: usize = 4;
        let program = self.program;
        let name = program.func(func).name;
        if program.files_with(name).len() > MAX_CALLER_FILES {
            return;
        }
        let mut names: Vec<Given> = Vec::new();
        for mention in program.value_mentions(name) {
            let is_it = self.of(mention).iter().any(|t| match t.ty {
                Type::Func(f) | Type::Method(f, _) => f == func,
                _ => false,
            });
            if let Some(given) = is_it.then(|| self.name_given(mention)).flatten()
                && !names.contains(&given)
            {
                names.push(given);
            }
        }
        for Given { name, by } in names.into_iter().take(MAX_NAMES) {
            let files = program.files_with(name);
            let files = match (files.len() > MAX_CALLER_FILES, &by) {
                (false, _) => &files[..],
                // A name that is everywhere is looked for where it was given.
                (true, by) => by.as_slice(),
            };
            for file in files.iter().copied() {
                for call in program.calls_named(file, name) {
                    let call = ExprRef { file, expr: *call };
                    if let Some((_, _, sure)) = self.callees(call).into_iter().find(|(f, _, _)| *f == func) {
                        push_site(out, call, sure);
                    }
                }
            }
        }
    }

    /// The name that a value goes by after the expression: of a keyword, a parameter, an assignment's target.
    fn name_given(&self, at: ExprRef) -> Option<Given> {
        let ir = self.program.ir(at.file);
        match ir.exprs[at.expr.index()].parent {
            Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
                Stmt::Assign { targets, .. } => Some(Given { name: last_name(ir, *targets.first()?)?, by: None }),
                _ => None,
            },
            Parent::Expr(up) => {
                let Expr::Call { args, .. } = ir.expr(up) else { return None };
                let i = args.iter().position(|a| a.value == at.expr)?;
                let call = ExprRef { file: at.file, expr: up };
                let callee = self.callees(call).first().map(|(callee, _, _)| *callee);
                if let ArgKind::Keyword(name) = args[i].kind {
                    return Some(Given { name, by: callee.map(|callee| callee.file) });
                }
                let callee = callee?;
                let param = self.param_for(call, callee, i)?;
                let name = self.program.func(callee).params.get(param as usize)?.name;
                Some(Given { name, by: Some(callee.file) })
            }
            _ => None,
        }
    }
}

/// The name that a function goes by where it is handed to, and the file that gives it the name.
#[derive(PartialEq, Eq)]
struct Given {
    name: Sym,
    by: Option<FileId>,
}

fn names(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn push_site(out: &mut Vec<CallSite>, call: ExprRef, sure: bool) {
    if !out.iter().any(|s| s.call == call) {
        out.push(CallSite { call, sure });
    }
}

/// Builtin value types: no use asking the call sites what else they could be.
fn is_plain(path: &str) -> bool {
    matches!(path, "int" | "float" | "str" | "bool" | "bytes" | "dict" | "list" | "torch.Tensor" | "torch.dtype")
}
