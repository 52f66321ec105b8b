//! Attributes and items: of instances, classes, enumerations, modules, containers, and of the record.
//!
//! Reads and writes of the record's fields are noted here, whichever way they are spelled.

use super::calls::Arguments;
use super::expressions::{equal_keys, put_entry};
use super::*;
use crate::program::last_name;

impl Machine<'_> {
    pub(super) fn get_attr(&mut self, object: &Abs, attr: Sym) -> Abs {
        match object {
            Abs::Is(value) => {
                let value = value.clone();
                let found = self.attr_of(&value, attr);
                self.assumed(found)
            }
            Abs::OneOf(values, vague) => {
                let (values, why) = (values.clone(), vague.why.clone());
                let mut out: Option<Abs> = None;
                // Nothing has attributes on None: on that way the program ends.
                for value in values.iter().filter(|v| !v.is_none()) {
                    let found = self.attr_of(value, attr);
                    out = Some(out.map_or_else(|| found.clone(), |o| o.join(&found, &why)));
                }
                out.unwrap_or_else(|| Abs::because(&why))
            }
            Abs::Range(..) => Abs::Is(Value::Method(Rc::new((object.clone(), attr)))),
            Abs::Any(vague, _) => match vague.symbol {
                Some(symbol) => self.attr_of_symbol(symbol, attr, &vague.why),
                None => Abs::because(&vague.why),
            },
        }
    }

    /// `name.attr` of something outside the tree.
    fn attr_of_symbol(&mut self, symbol: Sym, attr: Sym, why: &Why) -> Abs {
        let path = Sym::from(&format!("{symbol}.{attr}"));
        if let Some(known) = self.state.symbols.get(&path) {
            return known.clone();
        }
        match self.world.answer(path.as_str()) {
            Some(answer) => self.answered(&answer),
            None => Abs::symbol(path.as_str(), if why.is_empty() { Why::of(path.as_str()) } else { why.clone() }),
        }
    }

    fn attr_of(&mut self, value: &Value, attr: Sym) -> Abs {
        match value {
            Value::Object(id) => self.object_attr(*id, attr),
            Value::Class(class) => self.class_attr(*class, attr),
            Value::Module(file) => self.module_attr(*file, attr),
            Value::External(path) => {
                let path = Sym::from(&format!("{path}.{attr}"));
                self.external(path)
            }
            Value::Member(member) => self.member_attr(member, attr),
            Value::Builtin(name) => Abs::Is(Value::Builtin(Sym::from(&format!("{name}.{attr}")))),
            Value::Super(class, id) => self.super_attr(*class, *id, attr),
            Value::Func(closure) if matches!(attr.as_str(), "__name__" | "__qualname__") => {
                Abs::Is(Value::Str(self.func(closure.func).name))
            }
            Value::Partial(partial) if attr == "func" => partial.callee.clone(),
            Value::None => {
                self.slip("AttributeError");
                Abs::any(&format!("None.{attr}"))
            }
            other => Abs::Is(Value::Method(Rc::new((Abs::Is(other.clone()), attr)))),
        }
    }

    fn object_attr(&mut self, id: ObjId, attr: Sym) -> Abs {
        let Some(object) = self.shared(id) else { return Abs::any(attr.as_str()) };
        let instance = match object.as_ref() {
            Object::Instance(instance) => instance,
            _ => return Abs::Is(Value::Method(Rc::new((Abs::Is(Value::Object(id)), attr)))),
        };
        match instance.kind {
            Kind::Record => return self.record_attr(id, instance, attr),
            Kind::View(record) => return self.view_attr(instance, record, attr),
            Kind::Declarations(_) | Kind::Parser => {
                if let Some(slot) = instance.attrs.get(&attr) {
                    return slot.value.clone();
                }
                if instance.kind == Kind::Parser && attr == "_actions" {
                    return self.parser_actions();
                }
                return Abs::Is(Value::Method(Rc::new((Abs::Is(Value::Object(id)), attr))));
            }
            Kind::StandIn => {
                return match (instance.attrs.get(&attr), instance.class) {
                    (Some(slot), _) => slot.value.clone(),
                    (None, Some(class)) => self.stand_in_attr(id, class, attr),
                    (None, None) => Abs::any(attr.as_str()),
                };
            }
            Kind::Plain | Kind::Namespace => {}
        }
        if let Some(slot) = instance.attrs.get(&attr) {
            return slot.value.clone();
        }
        if attr == "__dict__" {
            return self.dict_of(instance);
        }
        if attr == "__class__" {
            return instance.class.map_or_else(|| Abs::any("a class"), |c| Abs::Is(Value::Class(c)));
        }
        let Some(class) = instance.class else { return self.missing_attr(instance, attr) };
        if let Some(found) = self.through_class(id, class, attr) {
            return found;
        }
        if let Some(getter) = self.program.method(class, Sym::from("__getattr__")) {
            let owner = self.program.method_class(getter);
            let receiver = Some(Abs::Is(Value::Object(id)));
            let closure = Rc::new(Closure { func: getter, env: None, receiver, class: owner });
            return self.invoke(&closure, Arguments::of(vec![Abs::Is(Value::Str(attr))]));
        }
        self.missing_attr(instance, attr)
    }

    fn missing_attr(&mut self, instance: &Instance, attr: Sym) -> Abs {
        if instance.kind == Kind::Namespace {
            self.slip("AttributeError");
        }
        let why = instance.open.clone().unwrap_or_else(|| Why::of(&format!("the attribute {attr}")));
        Abs::because(&why)
    }

    fn dict_of(&mut self, instance: &Instance) -> Abs {
        let mut names: Vec<_> = instance.attrs.iter().collect();
        names.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
        let entries = names.into_iter().map(|(n, slot)| (Value::Str(*n), slot.clone())).collect();
        self.new_dict(Dict { entries, open: instance.open.clone() })
    }

    /// What an instance gets from its class: a property's value, a bound method, a class variable.
    fn through_class(&mut self, id: ObjId, class: ClassRef, attr: Sym) -> Option<Abs> {
        if let Some(method) = self.program.method(class, attr) {
            return Some(self.bound(method, Value::Object(id), class));
        }
        self.inherited_class_attr(class, attr)
    }

    /// A method as an attribute of an object; a property is called.
    pub(super) fn bound(&mut self, method: FuncRef, receiver: Value, class: ClassRef) -> Abs {
        let owner = self.program.method_class(method).or(Some(class));
        let receiver = match () {
            () if self.program.has_decorator(method, &["staticmethod"]) => None,
            () if self.program.has_decorator(method, &["classmethod"]) => Some(Abs::Is(Value::Class(class))),
            () => Some(Abs::Is(receiver)),
        };
        let closure = Rc::new(Closure { func: method, env: None, receiver, class: owner });
        match self.program.is_property(method) {
            true => self.invoke(&closure, Arguments::default()),
            false => Abs::Is(Value::Func(closure)),
        }
    }

    pub(super) fn note_read(&mut self, field: Sym) {
        if self.live && self.world.fields.contains(&field) {
            self.log.reads.insert(field);
            self.log.recent.push(field);
        }
    }

    fn record_attr(&mut self, id: ObjId, record: &Instance, attr: Sym) -> Abs {
        if let Some(slot) = record.attrs.get(&attr) {
            self.note_read(attr);
            return slot.value.clone();
        }
        let resolution = &self.program.profile.resolution;
        if resolution.declared_list.iter().any(|n| *n == attr.as_str()) {
            return self.declarations_of(id);
        }
        if attr == "__dict__" {
            return self.dict_of(record);
        }
        let Some(class) = record.class else { return Abs::any(attr.as_str()) };
        if attr == "__class__" {
            return Abs::Is(Value::Class(class));
        }
        if let Some(found) = self.through_class(id, class, attr) {
            return found;
        }
        match self.world.fields.contains(&attr) {
            true => {
                self.note_read(attr);
                Abs::any(&format!("the field {attr}"))
            }
            false => {
                self.slip("AttributeError");
                Abs::any(&format!("the attribute {attr}"))
            }
        }
    }

    fn view_attr(&mut self, view: &Instance, record: ObjId, attr: Sym) -> Abs {
        if let Some(slot) = view.attrs.get(&attr) {
            return slot.value.clone();
        }
        // A snapshot holds on to what was declared when it was taken.
        let snapshot = view.attrs.values().find_map(|slot| match slot.value.object().and_then(|id| self.object(id)) {
            Some(Object::Dict(dict)) => Some(dict.clone()),
            _ => None,
        });
        let key = Value::Str(attr);
        let declared = match &snapshot {
            Some(dict) => dict.entries.iter().find(|(k, _)| equal_keys(k, &key)).map(|(_, slot)| slot.value.clone()),
            None => self.instance(record).and_then(|r| r.declared.get(&attr).cloned()),
        };
        if let Some(value) = declared {
            self.note_read(attr);
            return value;
        }
        let Some(object) = self.shared(record) else { return Abs::any(attr.as_str()) };
        match object.as_ref() {
            Object::Instance(instance) => self.record_attr(record, instance, attr),
            _ => Abs::any(attr.as_str()),
        }
    }

    // Classes

    pub(super) fn class_attr(&mut self, class: ClassRef, attr: Sym) -> Abs {
        // A worker that asks the record's class gets a default, which says nothing of the launch.
        if self.records.contains(&class) && self.frame().is_some_and(|f| f.standing.is_some()) {
            return Abs::any("a class default");
        }
        if let Some(members) = self.enum_members(class) {
            let found = members.iter().find(|m| matches!(m, Abs::Is(Value::Member(m)) if m.name == attr));
            if let Some(member) = found {
                return member.clone();
            }
            if attr == "__members__" {
                let entries = members.iter().filter_map(|m| match m {
                    Abs::Is(Value::Member(member)) => Some((Value::Str(member.name), Slot::from(m.clone()))),
                    _ => None,
                });
                let dict = Dict { entries: entries.collect(), open: None };
                return self.new_dict(dict);
            }
        }
        if matches!(attr.as_str(), "__name__" | "__qualname__") {
            return Abs::Is(Value::Str(self.program.class(class).name));
        }
        if let Some(method) = self.program.method(class, attr) {
            let bound = self.program.has_decorator(method, &["classmethod"]);
            let receiver = bound.then_some(Abs::Is(Value::Class(class)));
            let owner = self.program.method_class(method);
            return Abs::Is(Value::Func(Rc::new(Closure { func: method, env: None, receiver, class: owner })));
        }
        if let Some(found) = self.inherited_class_attr(class, attr) {
            return found;
        }
        Abs::any(&format!("{}.{attr}", self.program.class(class).name))
    }

    pub(super) fn inherited_class_attr(&mut self, class: ClassRef, attr: Sym) -> Option<Abs> {
        let order = self.program.mro(class);
        order.iter().find_map(|c| self.own_class_attr(*c, attr))
    }

    /// A variable of a class body.
    pub(super) fn own_class_attr(&mut self, class: ClassRef, attr: Sym) -> Option<Abs> {
        match self.class_attrs.get(&(class, attr)) {
            Some(Some(known)) => return known.clone(),
            Some(None) => return Some(Abs::any(attr.as_str())),
            None => {}
        }
        if !self.program.has_word(class.file, attr) {
            return None;
        }
        let value = class_variable(self.program.ir(class.file), self.program.class(class), attr);
        let Some(value) = value else {
            // A class in a class.
            let nested = self.program.classes_named(class.file, attr);
            let inner = nested.into_iter().find(|c| self.program.class(*c).scope == Scope::Class(class.class));
            let found = inner.map(|c| Abs::Is(Value::Class(c)));
            self.class_attrs.insert((class, attr), Some(found.clone()));
            return found;
        };
        self.class_attrs.insert((class, attr), None);
        let found = self.while_loading(|m| {
            let mut frame = m.module_frame(class.file);
            frame.class = Some(class);
            if !m.push_frame(frame) {
                return Abs::any(attr.as_str());
            }
            let found = m.eval(value);
            m.frames.pop();
            m.name_descriptor(class, attr, &found);
            found
        });
        self.class_attrs.insert((class, attr), Some(Some(found.clone())));
        Some(found)
    }

    /// `__set_name__` of what is assigned in a class body.
    fn name_descriptor(&mut self, owner: ClassRef, attr: Sym, value: &Abs) {
        let class = value.object().and_then(|id| self.instance(id)).and_then(|i| i.class);
        let hook = class.and_then(|c| self.program.method(c, Sym::from("__set_name__")));
        if let Some(func) = hook {
            let owner_class = self.program.method_class(func);
            let closure = Rc::new(Closure { func, env: None, receiver: Some(value.clone()), class: owner_class });
            let arguments = vec![Abs::Is(Value::Class(owner)), Abs::Is(Value::Str(attr))];
            self.invoke(&closure, Arguments::of(arguments));
        }
    }

    /// The members of an enumeration, in order.
    pub(super) fn enum_members(&mut self, class: ClassRef) -> Option<Vec<Abs>> {
        let (is_enum, mixed) = self.enum_kind(class)?;
        if !is_enum {
            return None;
        }
        let program = self.program;
        let ir = program.ir(class.file);
        let mut out: Vec<Abs> = Vec::new();
        let mut last = 0i64;
        for stmt in &program.class(class).body {
            let (target, value) = match &ir.stmt(*stmt).kind {
                Stmt::Assign { targets, value } => (targets.first().copied(), *value),
                Stmt::AnnAssign { target, value: Some(value), .. } => (Some(*target), *value),
                _ => continue,
            };
            let Some(Expr::Name(name)) = target.map(|t| ir.expr(t)) else { continue };
            if name.starts_with('_') {
                continue;
            }
            let auto = matches!(ir.expr(value), Expr::Call { func, args }
                if args.is_empty() && last_name(ir, *func).is_some_and(|n| n == "auto"));
            let value = match auto {
                true if mixed == Mixed::Text => Value::str(&name.to_lowercase()),
                true => Value::Int(last + 1),
                false => match self.own_class_attr(class, *name)? {
                    Abs::Is(value) => value,
                    _ => Value::Builtin(*name),
                },
            };
            last = value.as_int().unwrap_or(last);
            let member = Member { class, name: *name, value, mixed: mixed != Mixed::No };
            out.push(Abs::Is(Value::Member(Rc::new(member))));
        }
        Some(out)
    }

    fn enum_kind(&self, class: ClassRef) -> Option<(bool, Mixed)> {
        let program = self.program;
        let mut is_enum = false;
        let mut mixed = Mixed::No;
        for class in program.mro(class).iter() {
            let ir = program.ir(class.file);
            for base in &program.class(*class).bases {
                match last_name(ir, *base)?.as_str() {
                    "Enum" | "Flag" => is_enum = true,
                    "IntEnum" | "IntFlag" => (is_enum, mixed) = (true, Mixed::Number),
                    "StrEnum" => (is_enum, mixed) = (true, Mixed::Text),
                    "str" => mixed = Mixed::Text,
                    "int" => mixed = Mixed::Number,
                    _ => {}
                }
            }
        }
        Some((is_enum, mixed))
    }

    fn member_attr(&mut self, member: &Rc<Member>, attr: Sym) -> Abs {
        match attr.as_str() {
            "name" | "_name_" => return Abs::Is(Value::Str(member.name)),
            "value" | "_value_" => return Abs::Is(member.value.clone()),
            "__class__" => return Abs::Is(Value::Class(member.class)),
            _ => {}
        }
        if let Some(method) = self.program.method(member.class, attr) {
            return self.bound(method, Value::Member(member.clone()), member.class);
        }
        let known = self.inherited_class_attr(member.class, attr);
        known.unwrap_or_else(|| Abs::Is(Value::Method(Rc::new((Abs::Is(member.value.clone()), attr)))))
    }

    fn super_attr(&mut self, inside: ClassRef, id: ObjId, attr: Sym) -> Abs {
        let receiver = self.instance(id).and_then(|i| i.class).unwrap_or(inside);
        match self.program.super_method(inside, receiver, attr) {
            Some(method) => self.bound(method, Value::Object(id), receiver),
            None => {
                let receiver = Abs::Is(Value::Object(id));
                let outside = Abs::Is(Value::Builtin(Sym::from("super.")));
                Abs::Is(Value::Partial(Rc::new(Partial {
                    callee: outside,
                    positional: vec![receiver, Abs::Is(Value::Str(attr))],
                    named: Vec::new(),
                })))
            }
        }
    }

    // Tests and stores

    pub(super) fn has_attr(&mut self, object: &Abs, attr: Sym) -> Truth {
        match object {
            Abs::Is(Value::Object(id)) => {
                let Some(object) = self.shared(*id) else { return Truth::Maybe(Why::of(attr.as_str())) };
                let Object::Instance(instance) = object.as_ref() else {
                    return Truth::Maybe(Why::of("the methods of a container"));
                };
                if let Kind::View(record) = instance.kind {
                    return self.has_attr(&Abs::Is(Value::Object(record)), attr);
                }
                match instance.attrs.get(&attr) {
                    Some(Slot { maybe: None, .. }) => return Truth::Yes,
                    Some(Slot { maybe: Some(why), .. }) => return Truth::Maybe(why.clone()),
                    None => {}
                }
                let Some(class) = instance.class else {
                    return instance.open.clone().map_or(Truth::No, Truth::Maybe);
                };
                if self.program.method(class, attr).is_some() || self.inherited_class_attr(class, attr).is_some() {
                    return Truth::Yes;
                }
                if instance.kind == Kind::StandIn {
                    return Truth::Maybe(Why::of(&format!("the attribute {attr}")));
                }
                if instance.kind == Kind::Record {
                    return Truth::of(Some(self.world.fields.contains(&attr)), Why::default);
                }
                match instance.open.clone() {
                    Some(why) => Truth::Maybe(why),
                    None if self.has_outside_base(class) => Truth::Maybe(Why::of(&format!("the attribute {attr}"))),
                    None => Truth::No,
                }
            }
            Abs::Is(Value::Module(file)) => Truth::of(Some(self.has_module_attr(*file, attr)), Why::default),
            Abs::Is(Value::None) => Truth::No,
            Abs::Is(Value::Class(class)) => {
                let known =
                    self.program.method(*class, attr).is_some() || self.inherited_class_attr(*class, attr).is_some();
                if known { Truth::Yes } else { Truth::Maybe(Why::of(&format!("the attribute {attr}"))) }
            }
            other => match other.stands_for() {
                Some(symbol) => {
                    let path = format!("{symbol}.{attr}");
                    match self.world.answer(&path) {
                        Some(world::Answer::Absent) => Truth::No,
                        Some(_) => Truth::Yes,
                        None => match self.world.answer(&format!("{symbol}.*")) {
                            Some(world::Answer::Absent) => Truth::No,
                            _ => Truth::Maybe(Why::of(&path)),
                        },
                    }
                }
                None => Truth::Maybe(other.reasons().and(&Why::of(&format!("the attribute {attr}")))),
            },
        }
    }

    /// Has the class a base outside the tree that brings attributes with it?
    pub(super) fn has_outside_base(&self, class: ClassRef) -> bool {
        let order = self.program.mro(class);
        order.iter().any(|c| {
            let bases = self.program.external_bases(*c);
            bases.iter().any(|b| !PLAIN_BASES.iter().any(|p| b.as_str() == *p || b.ends_with(&format!(".{p}"))))
        })
    }

    pub(super) fn set_attr(&mut self, object: &Abs, attr: Sym, value: Abs, code: Option<ExprRef>, place: Place) {
        match object {
            Abs::Is(Value::Object(id)) => self.set_object_attr(*id, attr, value, code, place, None),
            Abs::OneOf(values, vague) => {
                let (values, why) = (values.clone(), vague.why.clone());
                for id in values.iter().filter_map(|v| match v {
                    Value::Object(id) => Some(*id),
                    _ => None,
                }) {
                    self.set_object_attr(id, attr, value.clone(), code, place, Some(&why));
                }
            }
            Abs::Is(Value::Module(file)) if self.live => {
                Rc::make_mut(&mut self.state.globals).insert((*file, attr), value);
            }
            other => {
                if let (Some(symbol), true) = (other.stands_for(), self.live) {
                    let path = Sym::from(&format!("{symbol}.{attr}"));
                    Rc::make_mut(&mut self.state.symbols).insert(path, value);
                }
            }
        }
    }

    fn set_object_attr(
        &mut self,
        id: ObjId,
        attr: Sym,
        value: Abs,
        code: Option<ExprRef>,
        place: Place,
        doubt: Option<&Why>,
    ) {
        let Some(instance) = self.instance(id) else { return };
        let (kind, class) = (instance.kind.clone(), instance.class);
        let before = instance.attrs.get(&attr).map(|slot| slot.value.clone());
        if kind == Kind::Record {
            if self.program.profile.resolution.declared_list.iter().any(|n| *n == attr.as_str()) {
                return;
            }
            if self.world.fields.contains(&attr) {
                let before = before.clone().unwrap_or(Abs::NONE);
                let mut doubts = self.state.doubts();
                if let Some(why) = doubt {
                    doubts = doubts.and(why);
                }
                self.note_write(attr, place, code, before, value.clone(), doubts);
                let value = named(value, attr, &mut self.names);
                self.put_attr(id, attr, value, doubt);
                return;
            }
        } else if let Some(setter) = class.and_then(|c| self.program.method(c, Sym::from("__setattr__"))) {
            let owner = self.program.method_class(setter);
            let receiver = Some(Abs::Is(Value::Object(id)));
            let closure = Rc::new(Closure { func: setter, env: None, receiver, class: owner });
            self.invoke(&closure, Arguments::of(vec![Abs::Is(Value::Str(attr)), value]));
            return;
        }
        self.put_attr(id, attr, value, doubt);
    }

    /// Stores an attribute, whatever the class has to say.
    pub(super) fn put_attr(&mut self, id: ObjId, attr: Sym, value: Abs, doubt: Option<&Why>) {
        self.edit(id, |object| {
            if let Object::Instance(instance) = object {
                let new = match (doubt, instance.attrs.get(&attr)) {
                    (Some(why), Some(old)) => old.value.join(&value, why),
                    _ => value,
                };
                instance.attrs.insert(attr, new.into());
            }
        });
    }

    pub(super) fn note_write(
        &mut self,
        field: Sym,
        place: Place,
        code: Option<ExprRef>,
        before: Abs,
        after: Abs,
        doubts: Why,
    ) {
        if self.live {
            let asked = self.asked();
            self.log.writes.push(Write { field, place, code, before, after, doubts, asked });
        }
    }

    // Items

    pub(super) fn get_item(&mut self, object: &Abs, key: &Abs) -> Abs {
        if let Some(values) = object.values().filter(|v| v.len() > 1) {
            let values = values.to_vec();
            let why = object.why();
            let mut out: Option<Abs> = None;
            for value in values.into_iter().filter(|v| !v.is_none()) {
                let item = self.get_item(&Abs::Is(value), key);
                out = Some(out.map_or_else(|| item.clone(), |o| o.join(&item, &why)));
            }
            return out.unwrap_or_else(|| Abs::because(&why));
        }
        let why = object.reasons().and(&key.reasons());
        match object {
            Abs::Is(Value::Tuple(items)) => {
                let items = items.clone();
                self.at_index(&items, key)
            }
            Abs::Is(Value::Str(text)) => {
                let chars: Vec<Abs> = text.chars().take(4096).map(|c| Abs::str(&c.to_string())).collect();
                self.at_index(&chars, key)
            }
            Abs::Is(Value::Object(id)) => {
                let Some(object) = self.shared(*id) else { return Abs::because(&why) };
                match object.as_ref() {
                    Object::List(Items::Known(items)) => self.at_index(items, key),
                    Object::List(Items::Open(open)) => Abs::because(&open.and(&key.reasons())),
                    Object::Dict(dict) => self.entry(dict, key, None),
                    Object::Instance(instance) => {
                        let getter = instance.class.and_then(|c| self.program.method(c, Sym::from("__getitem__")));
                        match getter {
                            Some(func) => {
                                let owner = self.program.method_class(func);
                                let receiver = Some(Abs::Is(Value::Object(*id)));
                                let closure = Rc::new(Closure { func, env: None, receiver, class: owner });
                                self.invoke(&closure, Arguments::of(vec![key.clone()]))
                            }
                            None => Abs::any("an object's items"),
                        }
                    }
                    _ => Abs::because(&why),
                }
            }
            Abs::Is(Value::Class(class)) => match (self.enum_members(*class), key.as_str()) {
                (Some(members), Some(name)) => {
                    let found = members.into_iter().find(|m| matches!(m, Abs::Is(Value::Member(m)) if m.name == name));
                    found.unwrap_or_else(|| {
                        self.slip("KeyError");
                        Abs::any("a member of an enumeration")
                    })
                }
                // A generic class with its arguments.
                _ => object.clone(),
            },
            Abs::Is(Value::Builtin(_)) => object.clone(),
            other => match (other.stands_for(), key.exact().and_then(short)) {
                (Some(symbol), Some(key)) => {
                    let path = format!("{symbol}[{key}]");
                    match self.world.answer(&path) {
                        Some(answer) => self.answered(&answer),
                        None => Abs::symbol(&path, why),
                    }
                }
                _ => Abs::because(&why),
            },
        }
    }

    fn at_index(&mut self, items: &[Abs], key: &Abs) -> Abs {
        let Some(keys) = key.values() else { return Abs::because(&key.reasons()) };
        let keys = keys.to_vec();
        let mut out: Option<Abs> = None;
        for key_value in keys {
            let index = key_value.as_int().map(|i| if i < 0 { i + items.len() as i64 } else { i });
            let item = index.and_then(|i| usize::try_from(i).ok()).and_then(|i| items.get(i)).cloned();
            let item = item.unwrap_or_else(|| {
                self.slip("IndexError");
                Abs::any("an index out of range")
            });
            out = Some(out.map_or_else(|| item.clone(), |o| o.join(&item, &key.why())));
        }
        out.unwrap_or_else(|| Abs::any("an index"))
    }

    /// The value under a key; `default` if there may be none.
    pub(super) fn entry(&mut self, dict: &Dict, key: &Abs, default: Option<Abs>) -> Abs {
        let Some(keys) = key.values() else {
            let why = key.reasons();
            let mut out = default.unwrap_or_else(|| Abs::because(&why));
            for (_, slot) in &dict.entries {
                out = out.join(&slot.value, &why);
            }
            return match &dict.open {
                Some(open) => out.join(&Abs::because(open), &why),
                None if dict.entries.is_empty() => out,
                None => out.also(&why),
            };
        };
        let keys = keys.to_vec();
        let mut out: Option<Abs> = None;
        for one in &keys {
            let found = dict.entries.iter().find(|(k, _)| equal_keys(k, one)).map(|(_, slot)| slot.clone());
            let value = match (found, &dict.open) {
                (Some(Slot { value, maybe: None, .. }), _) => value,
                (Some(Slot { value, maybe: Some(why), .. }), _) => match &default {
                    Some(default) => value.join(default, &why),
                    None => value,
                },
                (None, Some(why)) => Abs::because(why),
                (None, None) => match &default {
                    Some(default) => default.clone(),
                    None => {
                        self.slip("KeyError");
                        Abs::any("a key that is not there")
                    }
                },
            };
            out = Some(out.map_or_else(|| value.clone(), |o| o.join(&value, &key.why())));
        }
        out.unwrap_or_else(|| Abs::any("a key"))
    }

    pub(super) fn set_item(&mut self, object: &Abs, key: &Abs, value: Abs, place: Place) {
        let Some(id) = object.object() else { return };
        let key = key.clone();
        self.edit(id, |object| match object {
            Object::Dict(dict) => put_entry(dict, &key, value, Some(place)),
            Object::List(Items::Known(items)) => {
                let index = key.as_int().map(|i| if i < 0 { i + items.len() as i64 } else { i });
                match index.and_then(|i| usize::try_from(i).ok()).and_then(|i| items.get_mut(i)) {
                    Some(slot) => *slot = value,
                    None => {
                        let why = key.reasons().and(&Why::of("an index"));
                        *object = Object::List(Items::Open(why));
                    }
                }
            }
            _ => {}
        });
    }

    pub(super) fn delete_item(&mut self, object: &Abs, key: &Abs) {
        let (Some(id), Some(key)) = (object.object(), key.exact().cloned()) else { return };
        self.edit(id, |object| {
            if let Object::Dict(dict) = object {
                dict.entries.retain(|(k, _)| !equal_keys(k, &key));
            }
        });
    }

    pub(super) fn slice(&mut self, object: &Abs, index: ExprId, parts: &[ExprId]) -> Abs {
        let text = self.program.expr_text(self.here(index));
        let bounds: Vec<&str> = text.split(':').map(str::trim).collect();
        let mut values = parts.iter();
        let mut read = |m: &mut Self, given: Option<&&str>| match given {
            Some(text) if !text.is_empty() => values.next().map(|e| m.eval(*e)),
            _ => None,
        };
        let (start, stop, step) = (read(self, bounds.first()), read(self, bounds.get(1)), read(self, bounds.get(2)));
        let int = |v: &Option<Abs>| match v {
            None => Some(None),
            Some(v) if v.is_none() => Some(None),
            Some(v) => v.as_int().map(Some),
        };
        let (Some(start), Some(stop), None) = (int(&start), int(&stop), step) else {
            return Abs::any("a slice");
        };
        let cut = |len: usize| {
            let place = |i: Option<i64>, otherwise: usize| match i {
                None => otherwise,
                Some(i) if i < 0 => (len as i64 + i).max(0) as usize,
                Some(i) => (i as usize).min(len),
            };
            let (from, to) = (place(start, 0), place(stop, len));
            from..to.max(from)
        };
        match object {
            Abs::Is(Value::Str(text)) => {
                let chars: Vec<char> = text.chars().collect();
                Abs::str(&chars.get(cut(chars.len())).unwrap_or_default().iter().collect::<String>())
            }
            Abs::Is(Value::Tuple(items)) => {
                Abs::Is(Value::Tuple(items.get(cut(items.len())).unwrap_or_default().into()))
            }
            Abs::Is(Value::Object(id)) => match self.shared(*id).as_deref() {
                Some(Object::List(Items::Known(items))) => {
                    let part = items.get(cut(items.len())).unwrap_or_default().to_vec();
                    self.new_list(part)
                }
                Some(Object::List(Items::Open(why))) => {
                    let why = why.clone();
                    self.new_items(Items::Open(why))
                }
                _ => Abs::any("a slice"),
            },
            other => Abs::because(&other.reasons()),
        }
    }

    // Sequences

    /// What a loop over a value gives.
    pub(super) fn iterate(&mut self, value: &Abs) -> Items {
        match value {
            Abs::Is(Value::Tuple(items)) => Items::Known(items.to_vec()),
            Abs::Is(Value::Str(text)) => Items::Known(text.chars().map(|c| Abs::str(&c.to_string())).collect()),
            Abs::Is(Value::Object(id)) => match self.shared(*id).as_deref() {
                Some(Object::List(items) | Object::Set(items)) => items.clone(),
                Some(Object::Dict(dict)) => {
                    let doubt = dict.entries.iter().find_map(|(_, slot)| slot.maybe.clone()).or(dict.open.clone());
                    match doubt {
                        Some(why) => Items::Open(why),
                        None => Items::Known(dict.entries.iter().map(|(k, _)| Abs::Is(k.clone())).collect()),
                    }
                }
                Some(Object::Instance(instance)) => match instance.kind {
                    Kind::Declarations(record) => Items::Known(vec![self.declared_entry(record)]),
                    _ => match instance.class.filter(|c| self.is_named_tuple(*c)) {
                        Some(class) => {
                            let fields = self.program.record_fields(class);
                            let values = fields.iter().filter_map(|f| instance.attrs.get(&f.0));
                            Items::Known(values.map(|s| s.value.clone()).collect())
                        }
                        None => Items::Open(Why::of("an object's items")),
                    },
                },
                _ => Items::Open(Why::of("an object's items")),
            },
            Abs::Is(Value::Class(class)) => match self.enum_members(*class) {
                Some(members) => Items::Known(members),
                None => Items::Open(Why::of("a class's items")),
            },
            Abs::OneOf(..) => Items::Open(value.why()),
            other => {
                let why = other.reasons();
                Items::Open(if why.is_empty() { Why::of("what is looped over") } else { why })
            }
        }
    }

    fn is_named_tuple(&self, class: ClassRef) -> bool {
        let ir = self.program.ir(class.file);
        self.program.class(class).bases.iter().any(|b| last_name(ir, *b).is_some_and(|n| n == "NamedTuple"))
    }

    pub(super) fn extend_list(&mut self, id: ObjId, more: Items) {
        self.edit(id, |object| {
            if let Object::List(items) = object {
                match (&mut *items, more) {
                    (Items::Known(items), Items::Known(more)) => items.extend(more),
                    (_, Items::Open(why)) => *items = Items::Open(why),
                    (Items::Open(_), Items::Known(_)) => {}
                }
            }
        });
    }

    pub(super) fn update_dict(&mut self, dict: &mut Dict, more: &Abs) {
        match more.object().and_then(|id| self.shared(id)).as_deref() {
            Some(Object::Dict(other)) => {
                for (key, slot) in &other.entries {
                    match (dict.entries.iter_mut().find(|(k, _)| equal_keys(k, key)), &slot.maybe) {
                        (Some((_, old)), None) => *old = slot.clone(),
                        (Some((_, old)), Some(why)) => old.value = old.value.join(&slot.value, why),
                        (None, _) => dict.entries.push((key.clone(), slot.clone())),
                    }
                }
                if let Some(why) = &other.open {
                    dict.open = Some(dict.open.as_ref().map_or_else(|| why.clone(), |w| w.and(why)));
                }
            }
            _ => {
                let why = more.reasons();
                dict.open = Some(if why.is_empty() { Why::of("what a dictionary is filled with") } else { why });
            }
        }
    }

    pub(super) fn new_set(&mut self, items: Items) -> Abs {
        let items = match items {
            Items::Known(items) => {
                let mut unique: Vec<Abs> = Vec::new();
                for item in items {
                    let known = unique.iter().any(|u| match (u.exact(), item.exact()) {
                        (Some(a), Some(b)) => equal_keys(a, b),
                        _ => false,
                    });
                    if !known {
                        unique.push(item);
                    }
                }
                Items::Known(unique)
            }
            open => open,
        };
        Abs::Is(Value::Object(self.alloc(Object::Set(items))))
    }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Mixed {
    No,
    Text,
    Number,
}

/// Bases outside the tree that bring no attributes worth asking for.
const PLAIN_BASES: [&str; 12] = [
    "object",
    "ABC",
    "Protocol",
    "Generic",
    "Struct",
    "NamedTuple",
    "Enum",
    "IntEnum",
    "str",
    "Exception",
    "Action",
    "TypedDict",
];

/// The last value that a class body assigns to a name.
fn class_variable(ir: &FileIr, class: &Class, name: Sym) -> Option<ExprId> {
    let mut found = None;
    for stmt in &class.body {
        let (targets, value) = match &ir.stmt(*stmt).kind {
            Stmt::Assign { targets, value } => (&targets[..], *value),
            Stmt::AnnAssign { target, value: Some(value), .. } => (std::slice::from_ref(target), *value),
            _ => continue,
        };
        if targets.iter().any(|t| matches!(ir.expr(*t), Expr::Name(n) if *n == name)) {
            found = Some(value);
        }
    }
    found
}

/// A key as part of a name.
pub(super) fn short(value: &Value) -> Option<String> {
    const MAX: usize = 40;
    match value {
        Value::None => Some("None".into()),
        Value::Bool(b) => Some(if *b { "True".into() } else { "False".into() }),
        Value::Int(i) => Some(i.to_string()),
        Value::Float(x) => Some(x.to_string()),
        Value::Str(s) if s.len() <= MAX => Some(format!("'{s}'")),
        _ => None,
    }
}
