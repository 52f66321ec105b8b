//! The value of an expression that the source fixes: literals, names of constants across modules, `a + b`, `list(...)`,
//! `[*A, "x"]`, dict keys, enum members, simple comprehensions.
//!
//! It never guesses: an expression whose value depends on anything at run time has none. [`Program::elements`] answers
//! for a list that is only partly fixed, and says that it is. Work is bounded, so hostile nesting costs nothing.

use super::resolve::{Binding, Entity};
use super::*;
use crate::syntax::defuse::{DefId, DefSite};

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Sym),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Set(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// A member of an enum: its class, its name and its value.
    Member(ClassRef, Sym, Box<Value>),
    /// Something that is not a constant, inside a container.
    Opaque(ExprRef),
}

/// What is known of a container's elements.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Elements {
    pub known: Vec<Value>,
    /// There can be more: some are computed, or code adds to the container.
    pub open: bool,
}

impl Value {
    /// As Python prints it.
    pub fn repr(&self) -> Option<String> {
        let all = |items: &[Value]| items.iter().map(Value::repr).collect::<Option<Vec<_>>>().map(|v| v.join(", "));
        Some(match self {
            Value::None => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Int(i) => i.to_string(),
            Value::Float(f) => format!("{f:?}"),
            Value::Str(s) => format!("'{s}'"),
            Value::List(items) => format!("[{}]", all(items)?),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", all(items)?),
            Value::Tuple(items) => format!("({})", all(items)?),
            Value::Set(items) => format!("{{{}}}", all(items)?),
            Value::Dict(items) => {
                let pairs = items.iter().map(|(k, v)| Some(format!("{}: {}", k.repr()?, v.repr()?)));
                format!("{{{}}}", pairs.collect::<Option<Vec<_>>>()?.join(", "))
            }
            Value::Member(..) | Value::Opaque(_) => return None,
        })
    }

    /// As `str()` gives it.
    pub fn display(&self) -> Option<String> {
        match self {
            Value::Str(s) => Some(s.to_string()),
            other => other.repr(),
        }
    }

    pub fn as_str(&self) -> Option<Sym> {
        match self {
            Value::Str(s) => Some(*s),
            Value::Member(_, _, value) => value.as_str(),
            _ => None,
        }
    }

    pub fn to_json(&self) -> Option<serde_json::Value> {
        Some(match self {
            Value::None => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(i) => (*i).into(),
            Value::Float(f) => (*f).into(),
            Value::Str(s) => s.as_str().into(),
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
                items.iter().map(Value::to_json).collect::<Option<Vec<_>>>()?.into()
            }
            Value::Member(_, _, value) => value.to_json()?,
            Value::Dict(_) | Value::Opaque(_) => return None,
        })
    }

    /// Equal as Python's `==` sees it: `300 == 300.0`.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Int(i), Value::Float(f)) | (Value::Float(f), Value::Int(i)) => *i as f64 == *f,
            _ => self == other,
        }
    }

    fn is_opaque(&self) -> bool {
        matches!(self, Value::Opaque(_))
    }

    /// What iterating over it gives.
    fn into_items(self) -> Option<Vec<Value>> {
        match self {
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => Some(items),
            Value::Dict(items) => Some(items.into_iter().map(|(k, _)| k).collect()),
            _ => None,
        }
    }
}

const MAX_DEPTH: u32 = 24;
const MAX_STEPS: u32 = 4000;
const MAX_ITEMS: usize = 2000;

/// Methods that add to a container in place.
const ADDERS: [&str; 6] = ["append", "extend", "insert", "add", "update", "setdefault"];

impl Program {
    /// The value of an expression, if the source fixes it.
    pub fn constant(&self, at: ExprRef) -> Option<Value> {
        Folder::new(self).fold(at).filter(|v| !v.is_opaque())
    }

    /// The elements of a container expression, as far as the source fixes them.
    pub fn elements(&self, at: ExprRef) -> Elements {
        let mut folder = Folder::new(self);
        let known = folder.items(at);
        Elements { known: known.into_iter().filter(|v| !v.is_opaque()).collect(), open: folder.open }
    }

    /// Does code of the tree add to this module-level container in place, or hand out a method that does?
    pub fn is_extended(&self, file: FileId, name: Sym) -> bool {
        let entity = Entity::Var(file, name);
        self.files_with(name).iter().copied().any(|user| {
            let ir = self.ir(user);
            let names_it = |expr: ExprId| {
                matches!(ir.expr(expr), Expr::Name(_) | Expr::Attr { .. })
                    && last_name(ir, expr) == Some(name)
                    && self.entities(ExprRef { file: user, expr }).contains(&entity)
            };
            let methods = ADDERS.iter().flat_map(|adder| self.attrs_named(user, Sym::from(adder)));
            methods.copied().any(|m| matches!(ir.expr(m), Expr::Attr { base, .. } if names_it(*base)))
                || ir.stmts.iter().any(|s| matches!(s.kind, Stmt::AugAssign { target, .. } if names_it(target)))
        })
    }
}

struct Folder<'p> {
    program: &'p Program,
    depth: u32,
    steps: u32,
    /// Was an element of a container left out?
    open: bool,
    /// Are names read when the container is built at run time, so that additions to them count?
    live: bool,
    /// Variables of the comprehensions around.
    bound: Vec<(Sym, Value)>,
}

impl<'p> Folder<'p> {
    fn new(program: &'p Program) -> Self {
        Folder { program, depth: 0, steps: 0, open: false, live: true, bound: Vec::new() }
    }

    fn enter<T>(&mut self, run: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.steps >= MAX_STEPS {
            return None;
        }
        self.depth += 1;
        let out = run(self);
        self.depth -= 1;
        out
    }

    fn fold(&mut self, at: ExprRef) -> Option<Value> {
        self.enter(|f| f.fold_kind(at))
    }

    /// A container keeps its place for an element that is no constant.
    fn fold_or_opaque(&mut self, at: ExprRef) -> Value {
        self.fold(at).unwrap_or(Value::Opaque(at))
    }

    fn fold_kind(&mut self, at: ExprRef) -> Option<Value> {
        let program = self.program;
        let ir = program.ir(at.file);
        let here = |expr: ExprId| ExprRef { file: at.file, expr };
        Some(match ir.expr(at.expr) {
            Expr::None => Value::None,
            Expr::True => Value::Bool(true),
            Expr::False => Value::Bool(false),
            Expr::Int(i) => Value::Int(*i),
            Expr::Float(x) => Value::Float(*x),
            Expr::Str(s) => Value::Str(*s),
            Expr::FString(formatted) => {
                let parts: Option<Vec<_>> = formatted.parts.iter().map(|p| self.fold(here(*p))?.display()).collect();
                Value::Str(Sym::from(&filled(formatted.text.as_str(), &parts?)))
            }
            Expr::List(items) => Value::List(self.fold_all(at.file, items)?),
            Expr::Tuple(items) => Value::Tuple(self.fold_all(at.file, items)?),
            Expr::Set(items) => Value::Set(self.fold_all(at.file, items)?),
            Expr::Dict(items) => {
                let mut out = Vec::new();
                for (key, value) in items {
                    match key {
                        Some(key) => out.push((self.fold(here(*key))?, self.fold_or_opaque(here(*value)))),
                        None => match self.fold(here(*value))? {
                            Value::Dict(more) => out.extend(more),
                            _ => return None,
                        },
                    }
                }
                Value::Dict(out)
            }
            Expr::Unary { op, operand } => match (op, self.fold(here(*operand))?) {
                (UnaryOp::Neg, Value::Int(i)) => Value::Int(i.checked_neg()?),
                (UnaryOp::Neg, Value::Float(x)) => Value::Float(-x),
                (UnaryOp::Pos, value @ (Value::Int(_) | Value::Float(_))) => value,
                (UnaryOp::Not, Value::Bool(b)) => Value::Bool(!b),
                _ => return None,
            },
            Expr::Bin { op, left, right } => {
                let (left, right) = (self.fold(here(*left))?, self.fold(here(*right))?);
                binary(*op, left, right)?
            }
            Expr::Name(name) => {
                if let Some((_, value)) = self.bound.iter().rev().find(|(n, _)| n == name) {
                    return Some(value.clone());
                }
                match program.binding(at) {
                    Binding::Local(scope, defs) => self.local(at.file, scope, &defs)?,
                    Binding::Entities(entities) => self.entity(&entities)?,
                    Binding::Builtin => return None,
                }
            }
            Expr::Attr { base, attr, .. } => self.attribute(at, *base, *attr)?,
            Expr::Subscript { base, index } => {
                let index = self.fold(here(*index))?;
                match (self.fold(here(*base))?, index) {
                    (Value::List(items) | Value::Tuple(items), Value::Int(i)) => {
                        let i = if i < 0 { i + items.len() as i64 } else { i };
                        items.into_iter().nth(usize::try_from(i).ok()?)?
                    }
                    (Value::Dict(items), key) => items.into_iter().find(|(k, _)| *k == key)?.1,
                    _ => return None,
                }
            }
            Expr::Call { func, args } => self.call(at.file, *func, args)?,
            Expr::Comp(comp) => self.comprehension(at.file, comp)?,
            _ => return None,
        })
    }

    fn fold_all(&mut self, file: FileId, items: &[ExprId]) -> Option<Vec<Value>> {
        let ir = self.program.ir(file);
        let mut out = Vec::new();
        for item in items {
            match ir.expr(*item) {
                Expr::Starred(inner) => out.extend(self.iterate(ExprRef { file, expr: *inner })?),
                _ => out.push(self.fold(ExprRef { file, expr: *item })?),
            }
            if out.len() > MAX_ITEMS {
                return None;
            }
        }
        Some(out)
    }

    /// What `for x in expression` gives.
    fn iterate(&mut self, at: ExprRef) -> Option<Vec<Value>> {
        for entity in self.program.entities(at) {
            if let Entity::Class(class) = entity {
                return self.members(class);
            }
        }
        self.fold(at)?.into_items()
    }

    /// The one value that a local name can have.
    fn local(&mut self, file: FileId, scope: Scope, defs: &[DefId]) -> Option<Value> {
        let defuse = self.program.defuse(file, scope);
        let [def] = defs else { return None };
        match defuse.defs.get(def.0 as usize)?.site {
            DefSite::Target(target) => {
                let value = assigned(self.program.ir(file), target)?;
                self.fold(ExprRef { file, expr: value })
            }
            DefSite::Import(stmt, i) => {
                let entities = self.program.imported(file, stmt, i);
                self.entity(&entities)
            }
            _ => None,
        }
    }

    fn entity(&mut self, entities: &[Entity]) -> Option<Value> {
        let [Entity::Var(file, name)] = entities else { return None };
        let target = single_target(self.program, *file, *name)?;
        let value = assigned(self.program.ir(*file), target)?;
        self.fold(ExprRef { file: *file, expr: value })
    }

    fn attribute(&mut self, at: ExprRef, base: ExprId, attr: Sym) -> Option<Value> {
        let base = ExprRef { file: at.file, expr: base };
        let entities = self.program.entities(at);
        if !entities.is_empty() {
            return self.entity(&entities);
        }
        for entity in self.program.entities(base) {
            match entity {
                Entity::Class(class) => return self.class_attribute(class, attr),
                Entity::Func(func) if attr == "__doc__" => return docstring(self.program, func).map(Value::Str),
                _ => {}
            }
        }
        match (self.fold(base)?, attr.as_str()) {
            (Value::Member(_, name, _), "name") => Some(Value::Str(name)),
            (Value::Member(_, _, value), "value") => Some(*value),
            _ => None,
        }
    }

    /// `Class.NAME`: an enum member or a class variable.
    fn class_attribute(&mut self, class: ClassRef, attr: Sym) -> Option<Value> {
        if is_enum(self.program, class) {
            let members = self.members(class)?;
            return members.into_iter().find(|m| matches!(m, Value::Member(_, name, _) if *name == attr));
        }
        for class in self.program.mro(class).iter() {
            if let Some(value) = class_assignments(self.program, *class).find(|(name, _)| *name == attr) {
                return self.fold(ExprRef { file: class.file, expr: value.1 });
            }
        }
        None
    }

    fn members(&mut self, class: ClassRef) -> Option<Vec<Value>> {
        if !is_enum(self.program, class) {
            return None;
        }
        let members: Vec<_> = class_assignments(self.program, class).collect();
        let mut out = Vec::new();
        for (i, (name, expr)) in members.into_iter().enumerate().filter(|(_, (n, _))| !n.starts_with('_')) {
            let ir = self.program.ir(class.file);
            let auto = matches!(ir.expr(expr), Expr::Call { func, args } if args.is_empty()
                && last_name(ir, *func).is_some_and(|n| n == "auto"));
            let value = match auto {
                true => Value::Int(i as i64 + 1),
                false => self.fold_or_opaque(ExprRef { file: class.file, expr }),
            };
            out.push(Value::Member(class, name, Box::new(value)));
        }
        Some(out)
    }

    fn call(&mut self, file: FileId, func: ExprId, args: &[Arg]) -> Option<Value> {
        let ir = self.program.ir(file);
        let at = ExprRef { file, expr: func };
        if let (Expr::Attr { base, attr, .. }, []) = (ir.expr(func), args) {
            let receiver = self.fold(ExprRef { file, expr: *base });
            match (receiver, attr.as_str()) {
                (Some(Value::Dict(items)), "keys") => {
                    return Some(Value::List(items.into_iter().map(|i| i.0).collect()));
                }
                (Some(Value::Dict(items)), "values") => {
                    return Some(Value::List(items.into_iter().map(|i| i.1).collect()));
                }
                (Some(Value::Str(s)), "lower") => return Some(Value::Str(Sym::from(&s.to_lowercase()))),
                (Some(Value::Str(s)), "upper") => return Some(Value::Str(Sym::from(&s.to_uppercase()))),
                (Some(Value::Str(s)), "strip") => return Some(Value::Str(Sym::from(s.trim()))),
                (Some(Value::List(s)), "copy") => return Some(Value::List(s)),
                _ => {}
            }
        }
        if let (Expr::Name(name), Binding::Builtin, [arg]) = (ir.expr(func), self.program.binding(at), args) {
            let arg = ExprRef { file, expr: arg.value };
            return match name.as_str() {
                "list" | "sorted" | "tuple" | "set" | "frozenset" => {
                    let mut items = self.iterate(arg)?;
                    if *name == "sorted" {
                        items.sort_by_key(|v| v.as_str().map(|s| s.as_str()));
                    }
                    Some(match name.as_str() {
                        "list" | "sorted" => Value::List(items),
                        "tuple" => Value::Tuple(items),
                        _ => Value::Set(items),
                    })
                }
                "str" => Some(Value::Str(Sym::from(&self.fold(arg)?.display()?))),
                "int" => match self.fold(arg)? {
                    value @ Value::Int(_) => Some(value),
                    _ => None,
                },
                "float" => match self.fold(arg)? {
                    Value::Int(i) => Some(Value::Float(i as f64)),
                    value @ Value::Float(_) => Some(value),
                    _ => None,
                },
                _ => None,
            };
        }
        // A function of nothing that always returns the same.
        if args.is_empty() {
            let returns = self.returns_of(at)?;
            let mut values = returns.into_iter().map(|r| self.fold(r));
            let first = values.next()??;
            return values.all(|v| v.as_ref() == Some(&first)).then_some(first);
        }
        None
    }

    /// The `return` expressions of a function that is called without arguments.
    fn returns_of(&self, callee: ExprRef) -> Option<Vec<ExprRef>> {
        match self.program.entities(callee).as_slice() {
            [Entity::Func(func)] if self.program.func(*func).params.is_empty() => {
                Some(self.program.returns(*func).iter().map(|expr| ExprRef { file: func.file, expr: *expr }).collect())
            }
            _ => None,
        }
    }

    fn comprehension(&mut self, file: FileId, comp: &Comp) -> Option<Value> {
        let Comp { kind, element, value, ref clauses } = *comp;
        let [clause] = &clauses[..] else { return None };
        let Expr::Name(name) = *self.program.ir(file).expr(clause.target) else { return None };
        if !clause.ifs.is_empty() {
            return None;
        }
        let items = self.iterate(ExprRef { file, expr: clause.iter })?;
        let mut out = Vec::new();
        let mut pairs = Vec::new();
        for item in items {
            self.bound.push((name, item));
            let key = self.fold(ExprRef { file, expr: element });
            let val = value.map(|v| self.fold_or_opaque(ExprRef { file, expr: v }));
            self.bound.pop();
            match val {
                Some(val) => pairs.push((key?, val)),
                None => out.push(key?),
            }
        }
        Some(match kind {
            CompKind::Dict => Value::Dict(pairs),
            CompKind::Set => Value::Set(out),
            CompKind::List | CompKind::Generator => Value::List(out),
        })
    }

    // Containers of which only a part is known

    /// The elements that are known; sets `open` if there can be others.
    fn items(&mut self, at: ExprRef) -> Vec<Value> {
        match self.enter(|f| Some(f.items_of(at))) {
            Some(items) => items,
            None => {
                self.open = true;
                Vec::new()
            }
        }
    }

    fn items_of(&mut self, at: ExprRef) -> Vec<Value> {
        let program = self.program;
        let ir = program.ir(at.file);
        let here = |expr: ExprId| ExprRef { file: at.file, expr };
        match ir.expr(at.expr) {
            Expr::List(items) | Expr::Tuple(items) | Expr::Set(items) => {
                let mut out = Vec::new();
                for item in items {
                    match ir.expr(*item) {
                        Expr::Starred(inner) => out.extend(self.items(here(*inner))),
                        _ => match self.fold(here(*item)) {
                            Some(value) => out.push(value),
                            None => self.open = true,
                        },
                    }
                }
                out
            }
            Expr::Bin { op: BinOp::Add | BinOp::BitOr, left, right } => {
                let mut out = self.items(here(*left));
                out.extend(self.items(here(*right)));
                out
            }
            Expr::Bool { left, right, .. } | Expr::IfExp { body: left, orelse: right, .. } => {
                let mut out = self.items(here(*left));
                for value in self.items(here(*right)) {
                    if !out.contains(&value) {
                        out.push(value);
                    }
                }
                self.open = true;
                out
            }
            Expr::Name(_) => match program.binding(at) {
                Binding::Local(scope, defs) => self.local_items(at, scope, &defs),
                Binding::Entities(entities) => self.entity_items(&entities),
                Binding::Builtin => self.whole(at),
            },
            Expr::Attr { .. } => {
                let entities = program.entities(at);
                match entities.as_slice() {
                    [Entity::Var(..)] => self.entity_items(&entities),
                    _ => self.whole(at),
                }
            }
            Expr::Call { func, args } => {
                let wrapper = matches!(ir.expr(*func), Expr::Name(n)
                    if matches!(n.as_str(), "list" | "tuple" | "set" | "sorted" | "frozenset"));
                match args.as_ref() {
                    [arg] if wrapper => match self.iterate(here(arg.value)) {
                        Some(items) => {
                            self.note_extension(here(arg.value));
                            items
                        }
                        None => self.items(here(arg.value)),
                    },
                    [] => match self.returns_of(here(*func)) {
                        Some(returns) if !returns.is_empty() => {
                            let mut out = Vec::new();
                            for value in returns.into_iter().flat_map(|r| self.items(r)).collect::<Vec<_>>() {
                                if !out.contains(&value) {
                                    out.push(value);
                                }
                            }
                            out
                        }
                        _ => self.whole(at),
                    },
                    _ => self.whole(at),
                }
            }
            _ => self.whole(at),
        }
    }

    /// All or nothing.
    fn whole(&mut self, at: ExprRef) -> Vec<Value> {
        match self.iterate(at) {
            Some(items) => items,
            None => {
                self.open = true;
                Vec::new()
            }
        }
    }

    fn local_items(&mut self, at: ExprRef, scope: Scope, defs: &[DefId]) -> Vec<Value> {
        let program = self.program;
        let ir = program.ir(at.file);
        let defuse = program.defuse(at.file, scope);
        let mut out = Vec::new();
        for def in defs {
            let Some(def) = defuse.defs.get(def.0 as usize) else { continue };
            let items = match def.site {
                DefSite::Target(target) => match assigned(ir, target) {
                    Some(value) => self.items(ExprRef { file: at.file, expr: value }),
                    None => {
                        self.open = true;
                        Vec::new()
                    }
                },
                DefSite::Import(stmt, i) => {
                    let entities = program.imported(at.file, stmt, i);
                    self.entity_items(&entities)
                }
                _ => {
                    self.open = true;
                    Vec::new()
                }
            };
            for item in items {
                if !out.contains(&item) {
                    out.push(item);
                }
            }
            // Additions to the local, before it is used or after.
            let added = ADDERS.iter().flat_map(|a| program.attrs_named(at.file, Sym::from(a))).any(|m| {
                matches!(ir.expr(*m), Expr::Attr { base, .. }
                    if matches!(ir.expr(*base), Expr::Name(n) if *n == def.name) && ir.scope_of(*m) == scope)
            });
            self.open |= added;
        }
        self.open |= defs.len() > 1;
        out
    }

    fn entity_items(&mut self, entities: &[Entity]) -> Vec<Value> {
        let program = self.program;
        match entities {
            [Entity::Class(class)] => match self.members(*class) {
                Some(members) => members,
                None => {
                    self.open = true;
                    Vec::new()
                }
            },
            [Entity::Var(file, name)] => {
                if self.live && program.is_extended(*file, *name) {
                    self.open = true;
                }
                let value = single_target(program, *file, *name).and_then(|t| assigned(program.ir(*file), t));
                let Some(value) = value else {
                    self.open = true;
                    return Vec::new();
                };
                // A copy made on import does not see what is added later; another name for the same list does.
                let alias = matches!(program.ir(*file).expr(value), Expr::Name(_) | Expr::Attr { .. });
                let live = self.live;
                self.live &= alias;
                let items = self.items(ExprRef { file: *file, expr: value });
                self.live = live;
                items
            }
            _ => {
                self.open = true;
                Vec::new()
            }
        }
    }

    /// A copy made at run time has what was added to the original by then.
    fn note_extension(&mut self, at: ExprRef) {
        if let ([Entity::Var(file, name)], true) = (self.program.entities(at).as_slice(), self.live) {
            self.open |= self.program.is_extended(*file, *name);
        }
    }
}

fn docstring(program: &Program, func: FuncRef) -> Option<Sym> {
    let ir = program.ir(func.file);
    match ir.stmt(*program.func(func).body.first()?).kind {
        Stmt::Expr(text) => ir.str_value(text),
        _ => None,
    }
}

fn single_target(program: &Program, file: FileId, name: Sym) -> Option<ExprId> {
    match program.global_targets(file, name).as_slice() {
        [target] => Some(*target),
        _ => None,
    }
}

/// The whole value of `target = value`; nothing for a tuple target, a loop or an augmented assignment.
fn assigned(ir: &FileIr, target: ExprId) -> Option<ExprId> {
    match ir.exprs.get(target.index())?.parent {
        Parent::Stmt(stmt) => match &ir.stmt(stmt).kind {
            Stmt::Assign { value, .. } => Some(*value),
            Stmt::AnnAssign { value, .. } => *value,
            _ => None,
        },
        Parent::Expr(up) => match ir.expr(up) {
            Expr::Walrus { value, .. } => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

/// `NAME = value` directly in a class body, in order.
fn class_assignments(program: &Program, class: ClassRef) -> impl Iterator<Item = (Sym, ExprId)> + '_ {
    let ir = program.ir(class.file);
    program.class(class).body.iter().filter_map(move |stmt| {
        let (target, value) = match &ir.stmt(*stmt).kind {
            Stmt::Assign { targets, value } => (*targets.first()?, *value),
            Stmt::AnnAssign { target, value, .. } => (*target, (*value)?),
            _ => return None,
        };
        match ir.expr(target) {
            Expr::Name(name) => Some((*name, value)),
            _ => None,
        }
    })
}

const ENUM_BASES: [&str; 5] = ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];

fn is_enum(program: &Program, class: ClassRef) -> bool {
    program.mro(class).iter().any(|c| {
        let ir = program.ir(c.file);
        program.class(*c).bases.iter().any(|b| last_name(ir, *b).is_some_and(|n| ENUM_BASES.contains(&n.as_str())))
    })
}

fn binary(op: BinOp, left: Value, right: Value) -> Option<Value> {
    use Value::{Dict, Float, Int, List, Set, Str, Tuple};
    Some(match (op, left, right) {
        (BinOp::Add, Str(a), Str(b)) => Str(Sym::from(&format!("{a}{b}"))),
        (BinOp::Add, List(mut a), List(b)) => {
            a.extend(b);
            List(a)
        }
        (BinOp::Add, Tuple(mut a), Tuple(b)) => {
            a.extend(b);
            Tuple(a)
        }
        (BinOp::BitOr, Set(mut a), Set(b)) => {
            a.extend(b.into_iter().filter(|v| !a.contains(v)).collect::<Vec<_>>());
            Set(a)
        }
        (BinOp::BitOr, Dict(mut a), Dict(b)) => {
            a.retain(|(k, _)| !b.iter().any(|(other, _)| other == k));
            a.extend(b);
            Dict(a)
        }
        (BinOp::Add, Int(a), Int(b)) => Int(a.checked_add(b)?),
        (BinOp::Sub, Int(a), Int(b)) => Int(a.checked_sub(b)?),
        (BinOp::Mul, Int(a), Int(b)) => Int(a.checked_mul(b)?),
        (BinOp::Pow, Int(a), Int(b)) => Int(a.checked_pow(u32::try_from(b).ok()?)?),
        (BinOp::Shl, Int(a), Int(b)) => Int(a.checked_mul(1i64.checked_shl(u32::try_from(b).ok()?)?)?),
        (BinOp::FloorDiv, Int(a), Int(b)) if b != 0 => {
            let rounds_down = a.checked_rem(b)? != 0 && (a < 0) != (b < 0);
            Int(a.checked_div(b)? - i64::from(rounds_down))
        }
        (BinOp::Div, Int(a), Int(b)) if b != 0 => Float(a as f64 / b as f64),
        (op, Float(a), Float(b)) => Float(float(op, a, b)?),
        (op, Float(a), Int(b)) => Float(float(op, a, b as f64)?),
        (op, Int(a), Float(b)) => Float(float(op, a as f64, b)?),
        _ => return None,
    })
}

fn float(op: BinOp, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div if b != 0.0 => a / b,
        BinOp::Pow => a.powf(b),
        _ => return None,
    })
}

/// The text of an f-string with its `{}` filled in, in order.
pub fn filled(text: &str, parts: &[String]) -> String {
    let mut out = String::new();
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find("{}") else { break };
        out.push_str(&rest[..at]);
        out.push_str(part);
        rest = &rest[at + 2..];
    }
    out.push_str(rest);
    out
}
