//! What an expression somewhere in the program comes to, once the record is resolved.
//!
//! The other way round than a run: it starts at an expression of a worker and goes back through locals, parameters and
//! attributes of its object until it meets the record. What has several origins is one of their values; an object that
//! nobody here made is not known. It never follows more than a small number of steps.

use super::calls::Arguments;
use super::*;
use crate::program::resolve::{Binding, Entity};
use crate::syntax::defuse::{DefId, DefSite};

/// Steps that one question may take.
const MAX_STEPS_OF_ONE: u32 = 6_000;
/// A name or an attribute that gets its value at more places than this is not followed.
const MAX_ORIGINS: usize = 4;

/// Code that is looked at by itself, not run.
#[derive(Clone)]
pub(super) struct Standing {
    /// The object that stands for `self`.
    pub receiver: Option<ObjId>,
}

impl Machine<'_> {
    /// The value of an expression where it stands.
    pub fn value_at(&mut self, at: ExprRef) -> Abs {
        let before = (self.live, self.recover.take(), std::mem::take(&mut self.tries));
        let state = self.state.clone();
        let writes = self.log.writes.len();
        self.live = true;
        self.standing_limit = self.steps.saturating_add(MAX_STEPS_OF_ONE);
        let checks = self.log.checks.len();
        let value = self.stand(at, None);
        self.log.checks.truncate(checks);
        self.log.writes.truncate(writes);
        // What was made on the way stays for whoever looks at the value; what was changed does not.
        let made = std::mem::replace(&mut self.state, state);
        for (id, object) in made.heap.iter() {
            if self.object(id).is_none() {
                self.base.put(id, object.clone());
            }
        }
        (self.live, self.recover, self.tries) = before;
        self.standing_limit = u32::MAX;
        value
    }

    /// Does a test hold where it stands?
    pub fn truth_at(&mut self, at: ExprRef) -> Truth {
        let value = self.value_at(at);
        self.truth(&value)
    }

    fn stand(&mut self, at: ExprRef, receiver: Option<ObjId>) -> Abs {
        let ir = self.program.ir(at.file);
        let scope = ir.scope_of(at.expr);
        let receiver = receiver.or_else(|| self.stand_in(at.file, scope));
        let mut frame = self.module_frame(at.file);
        frame.is_module = false;
        frame.env = self.alloc(Object::Env(Env::default()));
        frame.standing = Some(Standing { receiver });
        if !self.push_frame(frame) {
            return Abs::any("code that is nested too deep");
        }
        let value = self.eval(at.expr);
        self.frames.pop();
        value
    }

    /// An object for the class around a method.
    fn stand_in(&mut self, file: FileId, scope: Scope) -> Option<ObjId> {
        let class = self.program.ir(file).class_around(scope)?;
        let class = ClassRef { file, class };
        if let Some(known) = self.stand_ins.get(&class) {
            return Some(*known);
        }
        let kind = Kind::StandIn;
        let id = self.fresh();
        self.base.put(id, Rc::new(Object::Instance(Instance::new(Some(class), kind))));
        self.stand_ins.insert(class, id);
        Some(id)
    }

    pub(super) fn out_of_steps(&self) -> bool {
        self.steps >= self.standing_limit
    }

    /// A name in code that is not run: what it was given.
    pub(super) fn standing_name(&mut self, at: ExprId, name: Sym) -> Option<Abs> {
        let standing = self.frame()?.standing.clone()?;
        let here = self.here(at);
        match self.program.binding(here) {
            Binding::Local(scope, defs) => Some(self.of_definitions(here.file, scope, &defs, name, standing.receiver)),
            _ => None,
        }
    }

    fn of_definitions(
        &mut self,
        file: FileId,
        scope: Scope,
        defs: &[DefId],
        name: Sym,
        receiver: Option<ObjId>,
    ) -> Abs {
        let unknown = || Abs::any(&format!("the local {name}"));
        if defs.is_empty() || defs.len() > MAX_ORIGINS || self.out_of_steps() {
            return unknown();
        }
        let defuse = self.program.defuse(file, scope);
        let mut out: Option<Abs> = None;
        for def in defs {
            let value = match defuse.defs.get(def.0 as usize).map(|d| d.site) {
                Some(DefSite::Param(i)) => self.parameter(file, scope, i, receiver),
                Some(DefSite::Target(target)) => {
                    match crate::flow::origin::assigned_value(self.program.ir(file), target) {
                        Some(value) if self.is_plain_assignment(file, target) => {
                            self.once(ExprRef { file, expr: value }, receiver)
                        }
                        _ => unknown(),
                    }
                }
                Some(DefSite::Import(stmt, i)) => {
                    let entities = self.program.imported(file, stmt, i);
                    match entities.is_empty() {
                        true => unknown(),
                        false => self.entities_value(&entities),
                    }
                }
                Some(DefSite::Func(func)) => {
                    let closure = Closure { func: FuncRef { file, func }, env: None, receiver: None, class: None };
                    Abs::Is(Value::Func(Rc::new(closure)))
                }
                Some(DefSite::Class(class)) => Abs::Is(Value::Class(ClassRef { file, class })),
                None => unknown(),
            };
            out = Some(out.map_or_else(|| value.clone(), |o| o.join(&value, &Why::of(&format!("the local {name}")))));
        }
        out.unwrap_or_else(unknown)
    }

    /// `name = value` and nothing that adds to it.
    fn is_plain_assignment(&self, file: FileId, target: ExprId) -> bool {
        let ir = self.program.ir(file);
        match ir.exprs.get(target.index()).map(|n| n.parent) {
            Some(Parent::Stmt(stmt)) => matches!(ir.stmt(stmt).kind, Stmt::Assign { .. } | Stmt::AnnAssign { .. }),
            Some(Parent::Expr(_)) => true,
            _ => false,
        }
    }

    /// Evaluates where something is assigned, unless it is being evaluated already.
    fn once(&mut self, at: ExprRef, receiver: Option<ObjId>) -> Abs {
        if self.busy.contains(&at) || self.busy.len() > 40 || self.out_of_steps() {
            return Abs::any("a value that hangs on itself");
        }
        self.busy.push(at);
        let value = self.stand(at, receiver);
        self.busy.pop();
        value
    }

    fn parameter(&mut self, file: FileId, scope: Scope, index: u32, receiver: Option<ObjId>) -> Abs {
        let Scope::Func(func) = scope else { return Abs::any("a parameter") };
        let program = self.program;
        let function = program.func(FuncRef { file, func });
        let Some(param) = function.params.get(index as usize) else { return Abs::any("a parameter") };
        let is_method = matches!(function.scope, Scope::Class(_));
        if index == 0
            && is_method
            && !program.has_decorator(FuncRef { file, func }, &["staticmethod"])
            && let Some(id) = receiver
        {
            return Abs::Is(Value::Object(id));
        }
        if let (Some(annotation), Some(record)) = (param.annotation, self.record)
            && self.names_record(ExprRef { file, expr: annotation })
        {
            return Abs::Is(Value::Object(record));
        }
        Abs::any(&format!("the parameter {}", param.name))
    }

    /// Is an annotation the record's class, also as a text?
    fn names_record(&self, at: ExprRef) -> bool {
        let ir = self.program.ir(at.file);
        match ir.expr(at.expr) {
            Expr::Str(text) => self.program.profile.is_root_class(text.as_str()),
            _ => self.program.entities(at).iter().any(|e| matches!(e, Entity::Class(c) if self.records.contains(c))),
        }
    }

    /// An attribute of an object that stands for all of its class: what the class stores in it.
    pub(super) fn stand_in_attr(&mut self, id: ObjId, class: ClassRef, attr: Sym) -> Abs {
        let unknown = Abs::any(&format!("the attribute {attr}"));
        if self.out_of_steps() {
            return unknown;
        }
        if let Some(method) = self.program.method(class, attr) {
            return self.bound(method, Value::Object(id), class);
        }
        let program = self.program;
        let mut hosts = program.mro(class).to_vec();
        let mut stores: Vec<(FileId, ExprId)> = Vec::new();
        for class in &hosts {
            stores.extend(program.self_stores(*class, attr).into_iter().map(|e| (class.file, e)));
        }
        if stores.is_empty() {
            hosts = program.subclasses(class).iter().take(4).copied().collect();
            for class in &hosts {
                stores.extend(program.self_stores(*class, attr).into_iter().map(|e| (class.file, e)));
            }
        }
        if stores.len() > MAX_ORIGINS {
            return unknown;
        }
        let mut out: Option<Abs> = None;
        for (file, target) in stores {
            let ir = program.ir(file);
            let value = match crate::flow::origin::assigned_value(ir, target) {
                Some(value) if self.is_plain_assignment(file, target) => {
                    // `self.a, self.b = f()` gives `a` a part of the value.
                    self.once(ExprRef { file, expr: value }, Some(id))
                }
                _ => unknown.clone(),
            };
            out = Some(out.map_or_else(|| value.clone(), |o| o.join(&value, &unknown.why())));
        }
        match out {
            Some(value) => value,
            None => self.inherited_class_attr(class, attr).unwrap_or(unknown),
        }
    }

    /// Functions that hand out the record, or a namespace of it, once it is published.
    pub(super) fn published_by(&mut self, func: FuncRef) -> Option<Abs> {
        let record = self.record.filter(|_| self.frame().is_some_and(|f| f.standing.is_some()))?;
        let program = self.program;
        if program.bag_path(func).is_some() || self.gives_bag(func) {
            let view = Instance::new(None, Kind::View(record));
            return Some(Abs::Is(Value::Object(self.alloc(Object::Instance(view)))));
        }
        let returns = program.func(func).returns?;
        let is_method = program.method_class(func).is_some();
        let names = self.names_record(ExprRef { file: func.file, expr: returns });
        (names && !is_method).then_some(Abs::Is(Value::Object(record)))
    }

    /// A function that hands out a bag by its class.
    fn gives_bag(&self, func: FuncRef) -> bool {
        let program = self.program;
        let ir = program.ir(func.file);
        let classes = &program.profile.resolution.bag_classes;
        program.func(func).returns.is_some_and(|r| {
            crate::program::last_name(ir, r).is_some_and(|n| classes.iter().any(|(class, _)| *class == n.as_str()))
        })
    }

    /// Arguments of a call in code that is not run are of no use to a function that is not small.
    pub(super) fn is_too_large_to_follow(&self, func: FuncRef) -> bool {
        const MAX_STATEMENTS: usize = 12;
        let standing = self.frame().is_some_and(|f| f.standing.is_some());
        let ir = self.program.ir(func.file);
        standing && ir.stmts.iter().filter(|s| s.scope == Scope::Func(func.func)).count() > MAX_STATEMENTS
    }

    /// How many turns a loop over this takes.
    pub fn count_at(&mut self, at: ExprRef) -> Abs {
        let value = self.value_at(at);
        let at = Some(at);
        self.call_builtin(Sym::from("len"), Arguments { positional: vec![value], at, ..Arguments::default() })
    }
}
