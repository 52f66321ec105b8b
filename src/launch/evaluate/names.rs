//! What a name stands for while code runs: variables around, then the module, then what Python has built in.
//!
//! Modules are not run from top to bottom: a module variable is computed when it is first asked for, by the statements
//! that assign it. So an import costs nothing, and what a module does beside defining names does not happen.

use super::*;
use crate::program::resolve::Entity;
use crate::syntax::defuse::DefSite;

impl Machine<'_> {
    pub(super) fn lookup(&mut self, name: Sym) -> Abs {
        let Some(frame) = self.frame() else { return Abs::any(name.as_str()) };
        let (file, mut env) = (frame.file, Some(frame.env));
        if frame.globals.contains(&name) {
            return self.global(file, name);
        }
        while let Some(id) = env {
            let Some(Object::Env(vars)) = self.object(id) else { break };
            if let Some(slot) = vars.vars.get(&name) {
                let value = slot.value.clone();
                return self.assumed(value);
            }
            env = vars.outer;
        }
        if let Some(class) = self.frame().and_then(|f| f.class)
            && self.frame().is_some_and(|f| f.is_module)
            && let Some(value) = self.own_class_attr(class, name)
        {
            return value;
        }
        self.global(file, name)
    }

    /// What is known of a symbol on this way, else the value as it is.
    pub(super) fn assumed(&self, value: Abs) -> Abs {
        if self.state.symbols.is_empty() {
            return value;
        }
        match value.stands_for().and_then(|s| self.state.symbols.get(&s)) {
            Some(known) => known.clone(),
            None => value,
        }
    }

    /// A name of a module, or one that Python has built in.
    pub(super) fn global(&mut self, file: FileId, name: Sym) -> Abs {
        let program = self.program;
        let entities = program.exported(file, name);
        if entities.is_empty() {
            return self.without_definition(file, name);
        }
        self.entities_value(&entities)
    }

    pub(super) fn entities_value(&mut self, entities: &[Entity]) -> Abs {
        // A class that is assembled under its own name is the class.
        let record = entities.iter().find(|e| matches!(e, Entity::Class(c) if self.records.contains(c)));
        if let Some(Entity::Class(class)) = record {
            return Abs::Is(Value::Class(*class));
        }
        let mut out: Option<Abs> = None;
        for entity in entities {
            let value = self.entity_value(*entity);
            out = Some(out.map_or_else(|| value.clone(), |o| o.join(&value, &Why::of("an import that may fail"))));
        }
        out.unwrap_or_else(|| Abs::any("a name that is not resolved"))
    }

    fn entity_value(&mut self, entity: Entity) -> Abs {
        match entity {
            Entity::Func(func) => {
                Abs::Is(Value::Func(Rc::new(Closure { func, env: None, receiver: None, class: None })))
            }
            Entity::Class(class) => Abs::Is(Value::Class(class)),
            Entity::Module(file) => Abs::Is(Value::Module(file)),
            Entity::Var(file, name) => self.global_var(file, name),
            Entity::External(path) => self.external(path),
        }
    }

    fn without_definition(&mut self, file: FileId, name: Sym) -> Abs {
        if name == "__name__" {
            return Abs::str(self.program.file(file).module.as_str());
        }
        if name == "__file__" {
            return Abs::symbol("__file__", Why::of("the place of the installation"));
        }
        Abs::Is(Value::Builtin(name))
    }

    pub(super) fn module_attr(&mut self, file: FileId, name: Sym) -> Abs {
        let entities = self.program.module_attr(file, name);
        if !entities.is_empty() {
            return self.entities_value(&entities);
        }
        // PEP 562
        if let [Entity::Func(func)] = self.program.exported(file, Sym::from("__getattr__")).as_slice() {
            let closure = Closure { func: *func, env: None, receiver: None, class: None };
            let arguments = calls::Arguments::of(vec![Abs::Is(Value::Str(name))]);
            return self.invoke(&Rc::new(closure), arguments);
        }
        if name == "__name__" || name == "__file__" {
            return self.without_definition(file, name);
        }
        self.slip("AttributeError");
        Abs::any(&format!("{}.{name}", self.program.file(file).module))
    }

    pub(super) fn has_module_attr(&mut self, file: FileId, name: Sym) -> bool {
        !self.program.module_attr(file, name).is_empty()
    }

    pub(super) fn global_var(&mut self, file: FileId, name: Sym) -> Abs {
        if let Some(value) = self.state.globals.get(&(file, name)) {
            return value.clone();
        }
        if self.is_standing() && self.is_set_later(file, name) {
            return Abs::any(name.as_str());
        }
        match self.globals.get(&(file, name)) {
            Some(Some(value)) => return self.assumed(value.clone()),
            Some(None) => return Abs::any(name.as_str()),
            None => {}
        }
        self.globals.insert((file, name), None);
        let value = self.while_loading(|machine| machine.load_variable(file, name));
        self.globals.insert((file, name), Some(value.clone()));
        self.assumed(value)
    }

    /// Does a function assign the variable, so that what the module made it says nothing of what it is later?
    fn is_set_later(&self, file: FileId, name: Sym) -> bool {
        let ir = self.program.ir(file);
        self.program.global_targets(file, name).into_iter().any(|target| ir.scope_of(target) != Scope::Module)
    }

    /// Runs the statements of a module that make a variable.
    fn load_variable(&mut self, file: FileId, name: Sym) -> Abs {
        let frame = self.module_frame(file);
        let env = frame.env;
        if !self.push_frame(frame) {
            return Abs::any(name.as_str());
        }
        for stmt in self.makers(file, name) {
            self.statement(stmt);
            if !self.live && !self.recover() {
                self.resume(Some(State::default()));
            }
        }
        self.frames.pop();
        match self.object(env) {
            Some(Object::Env(vars)) => match vars.vars.get(&name) {
                Some(slot) => slot.value.clone(),
                None => Abs::any(name.as_str()),
            },
            _ => Abs::any(name.as_str()),
        }
    }

    /// The statements at the top of a module that assign a name, or add to it in place.
    fn makers(&self, file: FileId, name: Sym) -> Vec<StmtId> {
        let ir = self.program.ir(file);
        let defuse = self.program.defuse(file, Scope::Module);
        let mut out: Vec<StmtId> = Vec::new();
        for def in defuse.by_name.get(&name).map_or(&[][..], Vec::as_slice) {
            let site = defuse.defs.get(def.0 as usize).map(|d| d.site);
            let stmt = match site {
                Some(DefSite::Target(target)) => ir.stmt_of(target),
                Some(DefSite::Import(stmt, _)) => Some(stmt),
                _ => None,
            };
            out.extend(stmt.map(|s| top_of(ir, s)));
        }
        for stmt in &ir.body {
            if adds_to(ir, *stmt, name) {
                out.push(*stmt);
            }
        }
        out.sort();
        out.dedup();
        out
    }

    /// Binds a name in the running code.
    pub(super) fn bind(&mut self, name: Sym, value: Abs) {
        let Some(frame) = self.frame() else { return };
        let (file, env) = (frame.file, frame.env);
        if frame.globals.contains(&name) {
            if self.live {
                Rc::make_mut(&mut self.state.globals).insert((file, name), value);
            }
            return;
        }
        let env = if frame.nonlocals.contains(&name) { self.owner_of(env, name).unwrap_or(env) } else { env };
        self.edit(env, |object| {
            if let Object::Env(vars) = object {
                vars.vars.insert(name, value.into());
            }
        });
    }

    /// The variables around in which a name is bound.
    fn owner_of(&self, env: ObjId, name: Sym) -> Option<ObjId> {
        let mut at = match self.object(env) {
            Some(Object::Env(vars)) => vars.outer,
            _ => None,
        };
        while let Some(id) = at {
            let Some(Object::Env(vars)) = self.object(id) else { return None };
            if vars.vars.contains_key(&name) {
                return Some(id);
            }
            at = vars.outer;
        }
        None
    }

    /// The variables in which a name that the code reads is bound, if it is a variable.
    pub(super) fn variable(&self, name: Sym) -> Option<ObjId> {
        let mut at = Some(self.frame()?.env);
        while let Some(id) = at {
            let Some(Object::Env(vars)) = self.object(id) else { return None };
            if vars.vars.contains_key(&name) {
                return Some(id);
            }
            at = vars.outer;
        }
        None
    }
}

fn top_of(ir: &FileIr, mut stmt: StmtId) -> StmtId {
    while let Some((up, _)) = ir.stmt(stmt).parent {
        stmt = up;
    }
    stmt
}

/// `NAME.append(…)`, `NAME[key] = …` and `NAME += …` at the top of a module.
fn adds_to(ir: &FileIr, stmt: StmtId, name: Sym) -> bool {
    let is_it = |e: ExprId| matches!(ir.expr(e), Expr::Name(n) if *n == name);
    match &ir.stmt(stmt).kind {
        Stmt::Expr(call) => match ir.expr(*call) {
            Expr::Call { func, .. } => matches!(ir.expr(*func), Expr::Attr { base, .. } if is_it(*base)),
            _ => false,
        },
        Stmt::Assign { targets, .. } => {
            targets.iter().any(|t| matches!(ir.expr(*t), Expr::Subscript { base, .. } if is_it(*base)))
        }
        Stmt::AugAssign { target, .. } => is_it(*target),
        _ => false,
    }
}
