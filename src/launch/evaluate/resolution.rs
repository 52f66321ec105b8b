//! The primitives by which a release resolves its record, as its profile names them: declarations, steps called through
//! a registry, providers chosen by the model.
//!
//! Everything else about resolution is plain Python and needs no word here.

use super::calls::Arguments;
use super::*;
use crate::program::resolve::Entity;

impl Machine<'_> {
    /// Calls of functions that the profile gives a meaning.
    pub(super) fn call_primitive(&mut self, closure: &Rc<Closure>, name: Sym, arguments: &Arguments) -> Option<Abs> {
        let resolution = &self.program.profile.resolution;
        let is = |list: &[String]| list.iter().any(|n| *n == name.as_str());
        let declaration = &self.program.profile.declaration;
        if is(&declaration.register) || is(&declaration.auto_register) {
            // What is registered is known already.
            let parser = arguments.positional.iter().filter_map(Abs::object).filter_map(|id| self.instance(id));
            return parser.into_iter().any(|i| i.kind == Kind::Parser).then_some(Abs::NONE);
        }
        if closure.receiver.is_some() {
            return None;
        }
        if is(&resolution.declare) {
            self.declare(arguments);
            return Some(Abs::NONE);
        }
        if is(&resolution.call_through) {
            let callee = arguments.positional.first()?.clone();
            let rest = arguments.positional.get(1..).unwrap_or_default().to_vec();
            return Some(self.call_value(&callee, Arguments { positional: rest, ..arguments.clone() }));
        }
        if is(&resolution.foreign) {
            return Some(Abs::NONE);
        }
        if is(&resolution.fallback) {
            let field = arguments.get(1, "name").and_then(Abs::as_str)?;
            let value = arguments.get(2, "value")?.clone();
            return Some(self.or_fallback(field, value));
        }
        if is(&resolution.collect) {
            return Some(self.collect(arguments));
        }
        None
    }

    /// The record behind a record or a view of it.
    pub(super) fn record_of(&self, value: &Abs) -> Option<ObjId> {
        let id = value.object()?;
        match self.instance(id)?.kind {
            Kind::Record => Some(id),
            Kind::View(record) => Some(record),
            _ => None,
        }
    }

    /// `declare(record, "source", field=value)`
    fn declare(&mut self, arguments: &Arguments) {
        let Some(record) = arguments.positional.first().and_then(|r| self.record_of(r)) else { return };
        let at = arguments.at.map(|at| (at.file, self.program.ir(at.file).span(at.expr)));
        for (field, slot, code) in arguments.named.clone() {
            let place = slot.place.or(at).unwrap_or((self.file(), Span::default()));
            self.declare_field(record, field, slot, code, place);
        }
        if let Some(why) = &arguments.open {
            self.log_unknown_declaration(why);
        }
    }

    /// Fields that are not known by name may have been declared; nothing is said of which.
    fn log_unknown_declaration(&mut self, why: &Why) {
        self.note_opaque(&why.iter().collect::<Vec<_>>().join(", "));
    }

    fn declare_field(&mut self, record: ObjId, field: Sym, slot: Slot, code: Option<ExprRef>, place: Place) {
        if !self.world.fields.contains(&field) {
            return;
        }
        let before = self.field_value(record, field);
        let (mut doubts, mut value) = (self.state.doubts(), slot.value);
        if let Some(why) = &slot.maybe {
            doubts = doubts.and(why);
            value = before.join(&value, why);
        }
        self.note_write(field, place, code, before, value.clone(), doubts);
        let value = named(value, field, &mut self.names);
        self.edit(record, |object| {
            if let Object::Instance(record) = object {
                record.declared.insert(field, value);
            }
        });
    }

    /// A field as it is declared by now, else as it was given.
    pub(super) fn field_value(&self, record: ObjId, field: Sym) -> Abs {
        let Some(record) = self.instance(record) else { return Abs::any("the record") };
        let declared = record.declared.get(&field).cloned();
        declared.or_else(|| record.attrs.get(&field).map(|s| s.value.clone())).unwrap_or(Abs::NONE)
    }

    /// The declared fallback in the place of None.
    pub(super) fn or_fallback(&mut self, field: Sym, value: Abs) -> Abs {
        let Some((_, at)) = self.world.fallbacks.iter().find(|(f, _)| *f == field).copied() else { return value };
        match &value {
            Abs::Is(Value::None) => self.eval_in_module(at.file, at.expr),
            Abs::OneOf(values, vague) if values.iter().any(Value::is_none) => {
                let fallback = self.eval_in_module(at.file, at.expr);
                let others: Vec<Value> = values.iter().filter(|v| !v.is_none()).cloned().collect();
                Abs::among(others, vague.clone()).join(&fallback, &vague.why)
            }
            _ => value,
        }
    }

    /// The list in which a record keeps its declarations.
    pub(super) fn declarations_of(&mut self, record: ObjId) -> Abs {
        let list = Instance::new(None, Kind::Declarations(record));
        Abs::Is(Value::Object(self.alloc(Object::Instance(list))))
    }

    /// All declarations as one entry of that list.
    pub(super) fn declared_entry(&mut self, record: ObjId) -> Abs {
        let mut declared: Vec<(Sym, Abs)> = match self.instance(record) {
            Some(record) => record.declared.iter().map(|(f, v)| (*f, v.clone())).collect(),
            None => Vec::new(),
        };
        declared.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
        let entries = declared.into_iter().map(|(f, v)| (Value::Str(f), v.into())).collect();
        let dict = self.new_dict(Dict { entries, open: None });
        Abs::Is(Value::Tuple(Rc::from([Abs::str("declarations"), dict])))
    }

    /// `record._declared.append((source, {field: value}))`, and `extend` of several.
    pub(super) fn call_declarations(&mut self, record: ObjId, method: &str, arguments: &Arguments) -> Abs {
        let Some(argument) = arguments.positional.first() else { return Abs::NONE };
        let entries = match method {
            "append" => Items::Known(vec![argument.clone()]),
            "extend" => self.iterate(argument),
            _ => return Abs::any("what the record declares"),
        };
        let Items::Known(entries) = entries else { return Abs::NONE };
        for entry in entries {
            let Abs::Is(Value::Tuple(pair)) = &entry else { continue };
            let dict = pair.get(1).and_then(Abs::object).and_then(|id| self.shared(id));
            if let Some(Object::Dict(dict)) = dict.as_deref() {
                self.declare_all(record, dict);
            }
        }
        Abs::NONE
    }

    fn declare_all(&mut self, record: ObjId, dict: &Dict) {
        for (key, slot) in &dict.entries {
            if let Some(field) = key.as_str() {
                let place = slot.place.unwrap_or((self.file(), Span::default()));
                self.declare_field(record, field, slot.clone(), None, place);
            }
        }
    }

    pub(super) fn construct_view(&mut self, class: ClassRef, arguments: Arguments) -> Abs {
        let all = || arguments.positional.iter().chain(arguments.named.iter().map(|(_, slot, _)| &slot.value));
        let Some(record) = all().find_map(|a| self.record_of(a)) else {
            return Abs::because(&arguments.reasons().and(&Why::of("a view of the record")));
        };
        let id = self.alloc(Object::Instance(Instance::new(Some(class), Kind::View(record))));
        let object = Abs::Is(Value::Object(id));
        if let Some(init) = self.program.method(class, Sym::from("__init__")) {
            let owner = self.program.method_class(init);
            let receiver = Some(object.clone());
            self.invoke(&Rc::new(Closure { func: init, env: None, receiver, class: owner }), arguments);
        }
        object
    }

    pub(super) fn construct_record(&mut self, class: ClassRef, arguments: Arguments) -> Abs {
        let id = self.alloc(Object::Instance(Instance::new(Some(class), Kind::Record)));
        let fields = self.world.defaults.clone();
        self.fill_fields(id, &fields, arguments);
        self.record = Some(id);
        self.post_init(id, class);
        Abs::Is(Value::Object(id))
    }

    // Providers

    /// `collect(architecture, record, config)`: what the functions that are registered for an architecture return is
    /// declared here and now; the caller gets an empty list.
    fn collect(&mut self, arguments: &Arguments) -> Abs {
        let empty = self.new_list(Vec::new());
        let (Some(architecture), Some(record)) =
            (arguments.positional.first().cloned(), arguments.positional.get(1).and_then(|r| self.record_of(r)))
        else {
            return empty;
        };
        let rest = Arguments::of(arguments.positional.get(1..).unwrap_or_default().to_vec());
        let at = arguments.at.unwrap_or(ExprRef { file: self.file(), expr: ExprId(0) });
        for provider in self.providers() {
            if !self.live {
                break;
            }
            let applies = self.applies(&provider, &architecture);
            let rest = rest.clone();
            self.branch(
                at,
                &applies,
                |m| {
                    let result = match provider.made {
                        Made::By(func) => {
                            let closure = Rc::new(Closure { func, env: None, receiver: None, class: None });
                            m.invoke(&closure, rest)
                        }
                        Made::Entry(file, value) => m.eval_in_module(file, value),
                    };
                    if let Some(Object::Dict(dict)) = result.object().and_then(|id| m.shared(id)).as_deref() {
                        m.declare_all(record, dict);
                    }
                    Abs::NONE
                },
                |_| Abs::NONE,
            );
        }
        empty
    }

    /// Does a provider's decorator name this architecture, or its predicate take it?
    fn applies(&mut self, provider: &Provider, architecture: &Abs) -> Truth {
        let mut out = Truth::No;
        for argument in &provider.asked {
            let frame = self.module_frame(argument.file);
            if !self.push_frame(frame) {
                return Truth::Maybe(Why::of("the architecture"));
            }
            let value = self.eval(argument.expr);
            let truth = match &value {
                Abs::Is(Value::Func(_)) => {
                    let answer = self.call_value(&value, Arguments::of(vec![architecture.clone()]));
                    self.truth(&answer)
                }
                _ => self.equal(&value, architecture),
            };
            self.frames.pop();
            out = match (out, truth) {
                (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
                (Truth::No, other) | (other, Truth::No) => other,
                (Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
            };
        }
        out
    }

    pub(super) fn eval_in_module(&mut self, file: FileId, expr: ExprId) -> Abs {
        let frame = self.module_frame(file);
        if !self.push_frame(frame) {
            return Abs::any("a module's value");
        }
        let value = self.eval(expr);
        self.frames.pop();
        value
    }

    /// The entries of the constant tables, then the registered functions, each group in the order of the source.
    fn providers(&self) -> Vec<Provider> {
        let program = self.program;
        let resolution = &program.profile.resolution;
        let mut out = Vec::new();
        for table in &resolution.provider_tables {
            let name = Sym::from(table);
            for file in program.files_with(name).iter().copied() {
                let ir = program.ir(file);
                for target in program.global_targets(file, name) {
                    let Some(stmt) = ir.stmt_of(target) else { continue };
                    let (Stmt::Assign { value, .. } | Stmt::AnnAssign { value: Some(value), .. }) = &ir.stmt(stmt).kind
                    else {
                        continue;
                    };
                    let Expr::Dict(items) = ir.expr(*value) else { continue };
                    for (key, value) in items {
                        let Some(key) = key else { continue };
                        let asked = vec![ExprRef { file, expr: *key }];
                        out.push(Provider { asked, made: Made::Entry(file, *value) });
                    }
                }
            }
        }
        let mut functions: Vec<(FuncRef, Vec<ExprRef>)> = Vec::new();
        for decorator in &resolution.providers {
            let name = Sym::from(decorator);
            for file in program.files_with(name).iter().copied() {
                let ir = program.ir(file);
                for (i, func) in ir.funcs.iter().enumerate() {
                    for d in &func.decorators {
                        let Expr::Call { func: callee, args } = ir.expr(*d) else { continue };
                        if crate::program::last_name(ir, *callee) != Some(name) {
                            continue;
                        }
                        let asked = args.iter().map(|a| ExprRef { file, expr: a.value }).collect();
                        functions.push((FuncRef { file, func: FuncId(i as u32) }, asked));
                    }
                }
            }
        }
        functions.sort_by_key(|(func, _)| *func);
        out.extend(functions.into_iter().map(|(func, asked)| Provider { asked, made: Made::By(func) }));
        out
    }

    /// Is a class, or what an entity names, the record's?
    pub(super) fn is_record_class(&self, value: &Abs) -> bool {
        matches!(value, Abs::Is(Value::Class(c)) if self.records.contains(c))
    }

    pub(super) fn named_function(&self, name: &str) -> Option<FuncRef> {
        let name = Sym::from(name);
        self.program.files_defining_function(name).iter().find_map(|file| {
            let found = self.program.exported(*file, name);
            found.into_iter().find_map(|e| match e {
                Entity::Func(func) => Some(func),
                _ => None,
            })
        })
    }
}

/// Something that declares fields for some architectures.
struct Provider {
    /// Architectures, or predicates of one.
    asked: Vec<ExprRef>,
    made: Made,
}

enum Made {
    By(FuncRef),
    Entry(FileId, ExprId),
}
