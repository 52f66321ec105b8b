//! Calls: arguments to parameters, functions run, classes constructed.

use super::attributes::short;
use super::*;
use crate::program::last_name;

/// What a call hands over.
#[derive(Clone, Default)]
pub(super) struct Arguments {
    pub positional: Vec<Abs>,
    /// Name, value and the code of the value.
    pub named: Vec<(Sym, Slot, Option<ExprRef>)>,
    /// There can be others.
    pub open: Option<Why>,
    pub at: Option<ExprRef>,
}

impl Arguments {
    pub fn of(positional: Vec<Abs>) -> Arguments {
        Arguments { positional, ..Arguments::default() }
    }
    pub fn is_open(&mut self, why: &Why) {
        let why = if why.is_empty() { Why::of("arguments that are not known") } else { why.clone() };
        self.open = Some(self.open.as_ref().map_or_else(|| why.clone(), |w| w.and(&why)));
    }
    pub fn get(&self, index: usize, name: &str) -> Option<&Abs> {
        self.positional.get(index).or_else(|| self.keyword(name))
    }
    pub fn keyword(&self, name: &str) -> Option<&Abs> {
        self.named.iter().find(|(n, _, _)| n == name).map(|(_, slot, _)| &slot.value)
    }
    pub fn reasons(&self) -> Why {
        let named = self.named.iter().map(|(_, slot, _)| slot.value.reasons());
        let all = self.positional.iter().map(Abs::reasons).chain(named).chain(self.open.clone());
        all.fold(Why::default(), |a, b| a.and(&b))
    }
    /// The arguments as text, where each is a plain value.
    fn shown(&self) -> Option<String> {
        if self.open.is_some() {
            return None;
        }
        let positional = self.positional.iter().map(|a| short(a.exact()?));
        let named = self.named.iter().map(|(n, slot, _)| Some(format!("{n}={}", short(slot.value.exact()?)?)));
        let all: Option<Vec<String>> = positional.chain(named).collect();
        all.map(|a| a.join(", "))
    }
}

impl Machine<'_> {
    pub(super) fn call_value(&mut self, callee: &Abs, arguments: Arguments) -> Abs {
        match callee {
            Abs::Is(value) => {
                let value = value.clone();
                self.call_one(&value, arguments)
            }
            Abs::OneOf(values, vague) => {
                let callables: Vec<Value> = values.iter().filter(|v| !v.is_none()).cloned().collect();
                let why = vague.why.clone();
                self.call_any(&callables, arguments, &why)
            }
            other => {
                let why = other.reasons().and(&arguments.reasons());
                self.note_opaque("a call that is not resolved");
                match (other.stands_for(), arguments.shown()) {
                    (Some(symbol), Some(shown)) => self.symbol_called(symbol, &shown, why),
                    _ => Abs::because(&if why.is_empty() { Why::of("a call that is not resolved") } else { why }),
                }
            }
        }
    }

    /// Whichever of these is called.
    fn call_any(&mut self, callables: &[Value], arguments: Arguments, why: &Why) -> Abs {
        let Some((first, rest)) = callables.split_first() else { return Abs::because(why) };
        if rest.is_empty() {
            return self.call_one(first, arguments);
        }
        let at = arguments.at.unwrap_or(ExprRef { file: self.file(), expr: ExprId(0) });
        let others = arguments.clone();
        self.branch(at, &Truth::Maybe(why.clone()), |m| m.call_one(first, arguments), |m| m.call_any(rest, others, why))
    }

    fn call_one(&mut self, callee: &Value, mut arguments: Arguments) -> Abs {
        match callee {
            Value::Func(closure) => self.call_function(closure, arguments),
            Value::Class(class) => self.construct(*class, arguments),
            Value::Builtin(name) => self.call_builtin(*name, arguments),
            Value::External(path) => self.call_external(*path, arguments),
            Value::Method(method) => {
                let (receiver, name) = (method.0.clone(), method.1);
                self.call_method(&receiver, name, arguments)
            }
            Value::Partial(partial) => {
                let mut all = partial.positional.clone();
                all.append(&mut arguments.positional);
                arguments.positional = all;
                for (name, value) in &partial.named {
                    if arguments.keyword(name.as_str()).is_none() {
                        arguments.named.push((*name, value.clone().into(), None));
                    }
                }
                self.call_value(&partial.callee, arguments)
            }
            Value::Object(_) => {
                let method = self.get_attr(&Abs::Is(callee.clone()), Sym::from("__call__"));
                match &method {
                    Abs::Is(Value::Func(_)) => self.call_value(&method, arguments),
                    _ => {
                        self.note_opaque("the call of an object");
                        Abs::because(&arguments.reasons().and(&Why::of("the call of an object")))
                    }
                }
            }
            _ => Abs::any("a call of something that is no function"),
        }
    }

    /// What a call of something outside the tree gives.
    pub(super) fn symbol_called(&mut self, path: Sym, shown: &str, why: Why) -> Abs {
        let name = format!("{path}({shown})");
        if let Some(known) = self.state.symbols.get(&Sym::from(&name)) {
            return known.clone();
        }
        let answer = self.world.answer(&name).or_else(|| self.world.answer(&format!("{path}()")));
        match answer {
            Some(answer) => self.answered(&answer),
            None => {
                let why = if why.is_empty() { Why::of(&format!("{path}()")) } else { why };
                Abs::symbol(&name, why)
            }
        }
    }

    fn call_function(&mut self, closure: &Rc<Closure>, arguments: Arguments) -> Abs {
        let name = self.func(closure.func).name;
        if let Some(result) = self.call_primitive(closure, name, &arguments) {
            return result;
        }
        if let Some(published) = self.published_by(closure.func) {
            return published;
        }
        if self.is_too_large_to_follow(closure.func) {
            return Abs::because(&arguments.reasons().and(&Why::of(&format!("{name}()"))));
        }
        if let Some(symbol) = self.world.opaque_call(name.as_str()) {
            let path = Sym::from(symbol);
            if let Some(known) = self.state.symbols.get(&path) {
                return known.clone();
            }
            return match self.world.answer(symbol) {
                Some(answer) => self.answered(&answer),
                None => Abs::symbol(symbol, Why::of(symbol)),
            };
        }
        if self.is_not_run(closure.func) {
            self.note_opaque(&format!("{name}()"));
            return Abs::because(&arguments.reasons().and(&Why::of(&format!("{name}()"))));
        }
        // A question without an object in it has one answer, which an assumption can settle.
        let symbol = match (closure.receiver.is_none() && closure.env.is_none(), arguments.shown()) {
            (true, Some(shown)) => Some(Sym::from(&format!("{name}({shown})"))),
            _ => None,
        };
        if let Some(known) = symbol.and_then(|s| self.state.symbols.get(&s)) {
            return known.clone();
        }
        let result = self.invoke(closure, arguments);
        match symbol {
            Some(symbol) => result.named(symbol),
            None => result,
        }
    }

    /// Functions that are no plain computation: generators, coroutines, context managers, wrapped ones.
    fn is_not_run(&self, func: FuncRef) -> bool {
        let f = self.func(func);
        if f.is_async || self.program.has_decorator(func, &["contextmanager", "asynccontextmanager", "overload"]) {
            return true;
        }
        let ir = self.program.ir(func.file);
        let yields = self.program.returns(func).iter().any(|r| {
            let Parent::Stmt(stmt) = ir.exprs.get(r.index()).map_or(Parent::Expr(*r), |n| n.parent) else {
                return true;
            };
            !matches!(ir.stmt(stmt).kind, Stmt::Return(_))
        });
        yields || f.decorators.iter().any(|d| !self.is_transparent(func.file, *d))
    }

    /// Does a decorator leave the function as it is?
    fn is_transparent(&self, file: FileId, decorator: ExprId) -> bool {
        use crate::program::resolve::Entity;
        let program = self.program;
        let ir = program.ir(file);
        let callee = match ir.expr(decorator) {
            Expr::Call { func, .. } => *func,
            _ => decorator,
        };
        let Some(name) = last_name(ir, callee) else { return false };
        if TRANSPARENT.contains(&name.as_str()) {
            return true;
        }
        program.entities(ExprRef { file, expr: callee }).iter().all(|entity| match entity {
            // `def decorator(fn): …; return fn`, also one level down.
            Entity::Func(func) => {
                let outer = program.func(*func);
                let returns_own = |f: &Func, returns: &[ExprId], ir: &FileIr| {
                    returns
                        .iter()
                        .any(|r| matches!(ir.expr(*r), Expr::Name(n) if f.params.iter().any(|p| p.name == *n)))
                };
                let ir = program.ir(func.file);
                returns_own(outer, program.returns(*func), ir)
                    || ir.funcs.iter().enumerate().any(|(i, inner)| {
                        let inner_ref = FuncRef { file: func.file, func: FuncId(i as u32) };
                        inner.scope == Scope::Func(func.func) && returns_own(inner, program.returns(inner_ref), ir)
                    })
            }
            _ => false,
        })
    }

    /// Runs a function of the tree.
    pub(super) fn invoke(&mut self, closure: &Rc<Closure>, arguments: Arguments) -> Abs {
        let name = self.func(closure.func).name;
        if !self.live {
            return Abs::any("code that is not reached");
        }
        if self.frames.len() >= MAX_CALLS || self.depth >= MAX_DEPTH {
            return Abs::any(&format!("{name}(), called too deep"));
        }
        if self.recurs_in_the_dark(closure, &arguments) {
            return Abs::because(&arguments.reasons().and(&Why::of(&format!("{name}(), which calls itself"))));
        }
        let vars = self.bind_parameters(closure, arguments);
        let env = self.alloc(Object::Env(Env { vars, outer: closure.env }));
        let frame = Frame {
            file: closure.func.file,
            func: Some(closure.func),
            env,
            class: closure.class,
            is_module: false,
            globals: FxHashSet::default(),
            nonlocals: FxHashSet::default(),
            returned: None,
            loops: Vec::new(),
            guards: Vec::new(),
            captured: false,
            standing: None,
        };
        if !self.push_frame(frame) {
            return Abs::any(&format!("{name}(), called too deep"));
        }
        let jumps = self.jumps;
        let dev = self.steps;
        let seen = std::mem::take(&mut self.seen);
        self.block(&self.func(closure.func).body);
        let failed = self.recover();
        {
            let e = self.dev.entry(name).or_default();
            e.0 += 1;
            e.1 += self.steps - dev;
        }
        if self.live {
            let result = if failed { Abs::any("a check that failed") } else { Abs::NONE };
            self.give_back(result);
        }
        self.seen = seen;
        let Some(frame) = self.frames.pop() else { return Abs::any(name.as_str()) };
        match frame.returned {
            Some((state, value)) => {
                self.resume(Some(state));
                self.jumps = jumps;
                if !frame.captured {
                    self.state.heap.remove(env);
                }
                value
            }
            None => Abs::any("a call that does not return"),
        }
    }

    /// Does a function call itself again and again on what is not known? Then every way through it would be taken anew.
    fn recurs_in_the_dark(&self, closure: &Rc<Closure>, arguments: &Arguments) -> bool {
        const MAX_TIMES: usize = 2;
        let times = self.frames.iter().filter(|f| f.func == Some(closure.func)).count();
        let named = arguments.named.iter().map(|(_, slot, _)| &slot.value);
        let dark = arguments.open.is_some()
            || arguments
                .positional
                .iter()
                .chain(named)
                .any(|a| a.exact().is_none_or(|v| matches!(v, Value::External(_))));
        times >= MAX_TIMES && dark
    }

    fn bind_parameters(&mut self, closure: &Rc<Closure>, arguments: Arguments) -> Attrs {
        let func = self.func(closure.func);
        let mut vars = Attrs::default();
        let mut positional =
            closure.receiver.iter().cloned().chain(arguments.positional).collect::<Vec<_>>().into_iter();
        let mut named = arguments.named;
        for param in &func.params {
            let value = match param.kind {
                ParamKind::Star => {
                    let rest: Vec<Abs> = positional.by_ref().collect();
                    match &arguments.open {
                        Some(why) => Abs::because(why),
                        None => Abs::Is(Value::Tuple(rest.into())),
                    }
                }
                ParamKind::DoubleStar => {
                    let entries = named.drain(..).map(|(n, slot, _)| (Value::Str(n), slot)).collect();
                    self.new_dict(Dict { entries, open: arguments.open.clone() })
                }
                ParamKind::Positional | ParamKind::KeywordOnly => {
                    let by_place = if param.kind == ParamKind::Positional { positional.next() } else { None };
                    let by_name = named.iter().position(|(n, _, _)| *n == param.name).map(|i| named.remove(i).1);
                    match (by_place, by_name) {
                        (Some(value), _) => value,
                        (None, Some(Slot { value, maybe: None, .. })) => value,
                        (None, Some(Slot { value, maybe: Some(why), .. })) => {
                            self.default_of(closure, param).join(&value, &why)
                        }
                        (None, None) => match &arguments.open {
                            Some(why) => Abs::because(why),
                            None => self.default_of(closure, param),
                        },
                    }
                }
            };
            vars.insert(param.name, value.into());
        }
        vars
    }

    fn default_of(&mut self, closure: &Rc<Closure>, param: &Param) -> Abs {
        let Some(default) = param.default else {
            return Abs::any(&format!("the parameter {}", param.name));
        };
        let mut frame = self.module_frame(closure.func.file);
        if let Some(env) = closure.env {
            (frame.env, frame.is_module) = (env, false);
        }
        frame.class = closure.class;
        if !self.push_frame(frame) {
            return Abs::any("a default");
        }
        let value = self.eval(default);
        self.frames.pop();
        value
    }

    // Classes

    pub(super) fn construct(&mut self, class: ClassRef, arguments: Arguments) -> Abs {
        if let Some(members) = self.enum_members(class) {
            return self.member_by_value(class, members, &arguments);
        }
        let name = self.program.class(class).name;
        if self.records.contains(&class) {
            return self.construct_record(class, arguments);
        }
        if self.program.profile.resolution.views.iter().any(|v| *v == name.as_str()) {
            return self.construct_view(class, arguments);
        }
        let mut instance = Instance::new(Some(class), Kind::Plain);
        if self.has_outside_base(class) {
            instance.open = Some(Why::of(&format!("a base class of {name} outside the tree")));
        }
        let id = self.alloc(Object::Instance(instance));
        let object = Abs::Is(Value::Object(id));
        match self.program.method(class, Sym::from("__init__")) {
            Some(init) => {
                let owner = self.program.method_class(init);
                let receiver = Some(object.clone());
                self.invoke(&Rc::new(Closure { func: init, env: None, receiver, class: owner }), arguments);
            }
            None if self.base_action(class).is_some() => self.keep_arguments(id, &arguments),
            None if self.program.is_record_like(class) => self.fill_record_like(id, class, arguments),
            None => {
                if !arguments.positional.is_empty() || !arguments.named.is_empty() {
                    let why = Why::of(&format!("{name}()"));
                    self.edit(id, |object| {
                        if let Object::Instance(instance) = object {
                            instance.open.get_or_insert(why);
                        }
                    });
                }
            }
        }
        for (attr, answer) in self.world.attributes_of(name.as_str()) {
            let value = self.answered(&answer);
            self.put_attr(id, Sym::from(&attr), value, None);
        }
        object
    }

    fn member_by_value(&mut self, class: ClassRef, members: Vec<Abs>, arguments: &Arguments) -> Abs {
        let name = self.program.class(class).name;
        let Some(wanted) = arguments.positional.first().cloned() else { return Abs::any(name.as_str()) };
        let mut found: Vec<Value> = Vec::new();
        for member in &members {
            let Abs::Is(Value::Member(m)) = member else { continue };
            let value = Abs::Is(m.value.clone());
            let fits = match wanted.exact() {
                Some(Value::Member(w)) => w.class == m.class && w.name == m.name,
                _ => self.equal(&value, &wanted) != Truth::No,
            };
            if fits {
                found.push(Value::Member(m.clone()));
            }
        }
        if found.is_empty() {
            self.slip("ValueError");
            return Abs::any(&format!("{name}()"));
        }
        Abs::one_of(found, &wanted.reasons())
    }

    /// A dataclass or the like gets its fields.
    fn fill_record_like(&mut self, id: ObjId, class: ClassRef, arguments: Arguments) {
        let fields: Vec<(Sym, Option<ExprRef>)> = self
            .program
            .record_fields(class)
            .into_iter()
            .map(|(name, class, stmt)| {
                let value = match self.program.ir(class.file).stmt(stmt).kind {
                    Stmt::AnnAssign { value, .. } => value,
                    _ => None,
                };
                (name, value.map(|expr| ExprRef { file: class.file, expr }))
            })
            .collect();
        self.fill_fields(id, &fields, arguments);
        self.post_init(id, class);
    }

    pub(super) fn post_init(&mut self, id: ObjId, class: ClassRef) {
        if let Some(func) = self.program.method(class, Sym::from("__post_init__")) {
            let owner = self.program.method_class(func);
            let receiver = Some(Abs::Is(Value::Object(id)));
            self.invoke(&Rc::new(Closure { func, env: None, receiver, class: owner }), Arguments::default());
        }
    }

    pub(super) fn fill_fields(&mut self, id: ObjId, fields: &[(Sym, Option<ExprRef>)], arguments: Arguments) {
        let mut positional = arguments.positional.into_iter();
        for (name, default) in fields {
            let given = arguments.named.iter().find(|(n, _, _)| n == name).map(|(_, slot, _)| slot.clone());
            let value = match (positional.next(), given, &arguments.open) {
                (Some(value), _, _) => value,
                (None, Some(Slot { value, maybe: None, .. }), _) => value,
                (None, Some(Slot { value, maybe: Some(why), .. }), _) => {
                    self.field_default(*name, *default).join(&value, &why)
                }
                (None, None, Some(why)) => Abs::because(why),
                (None, None, None) => self.field_default(*name, *default),
            };
            let value = named(value, *name, &mut self.names);
            self.put_attr(id, *name, value, None);
        }
    }

    /// The default of a field, through `field(default=…)` and `field(default_factory=…)`.
    fn field_default(&mut self, name: Sym, default: Option<ExprRef>) -> Abs {
        let Some(default) = default else { return Abs::any(&format!("the field {name}")) };
        let frame = self.module_frame(default.file);
        if !self.push_frame(frame) {
            return Abs::any(&format!("the field {name}"));
        }
        let ir = self.program.ir(default.file);
        let value = match ir.expr(default.expr) {
            Expr::Call { func, args } if last_name(ir, *func).is_some_and(|n| n == "field") => {
                let find = |name: &str| args.iter().find(|a| a.kind == ArgKind::Keyword(Sym::from(name)));
                match (find("default"), find("default_factory")) {
                    (Some(value), _) => self.eval(value.value),
                    (None, Some(factory)) => {
                        let factory = self.eval(factory.value);
                        self.call_value(&factory, Arguments::default())
                    }
                    (None, None) => Abs::any(&format!("the field {name}")),
                }
            }
            _ => self.eval(default.expr),
        };
        self.frames.pop();
        value
    }
}

/// Decorators that leave what a function computes as it is.
const TRANSPARENT: [&str; 16] = [
    "staticmethod",
    "classmethod",
    "property",
    "cached_property",
    "lru_cache",
    "cache",
    "wraps",
    "abstractmethod",
    "override",
    "final",
    "no_grad",
    "setter",
    "deprecated",
    "functools",
    "total_ordering",
    "singledispatch",
];
