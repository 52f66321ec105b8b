//! The source's own parser as an object: `argparse.ArgumentParser()`, what is registered on it, and what it parses.
//!
//! Registrations come from [`crate::meaning::definition`], so `add_argument` itself need not run. Converters and custom
//! actions are run; what they do to the namespace is done to the namespace.

use super::calls::Arguments;
use super::*;
use crate::launch::command::Parsed;
use crate::launch::command::parser::{self, Host, Nargs, Refusal, Spec};
use crate::launch::command::token::{self, Token};
use crate::meaning::definition::Definitions;
use crate::meaning::definition::action::{Action, Effect};
use crate::meaning::definition::registration::{Registration, Unset};
use crate::program::constants;
use crate::program::resolve::Binding;

/// What the parser knows.
pub struct ParserModel {
    specs: Vec<Spec>,
    /// In the order of `specs`; the first spec is `--help`.
    registrations: Vec<Registration>,
    /// The object of a custom action, once it is made.
    actions: Vec<Option<Abs>>,
    namespace: Option<ObjId>,
    /// Stand-ins for what must not be shown.
    pub parsed: Option<Parsed>,
    allow_abbrev: bool,
}

impl ParserModel {
    pub fn of(definitions: &Definitions) -> ParserModel {
        let help = Spec {
            flags: vec!["-h".into(), "--help".into()],
            dest: Sym::from("help"),
            required: false,
            registration: None,
            own: None,
        };
        let specs = definitions.registrations.iter().enumerate().map(|(i, r)| Spec {
            flags: r.flags.clone(),
            dest: r.dest,
            required: r.required,
            registration: Some(i),
            own: r.field.map(|f| format!("--{}", f.replace('_', "-"))),
        });
        ParserModel {
            specs: std::iter::once(help).chain(specs).collect(),
            registrations: definitions.registrations.clone(),
            actions: vec![None; definitions.registrations.len()],
            namespace: None,
            parsed: None,
            allow_abbrev: true,
        }
    }
}

impl Machine<'_> {
    pub fn set_parser(&mut self, model: ParserModel) {
        self.parser = Some(model);
    }

    /// What the parser stored for a destination.
    pub fn parsed_value(&self, dest: Sym) -> Abs {
        let namespace = self.parser.as_ref().and_then(|p| p.namespace).and_then(|id| self.instance(id));
        match namespace.and_then(|n| n.attrs.get(&dest)) {
            Some(slot) => slot.value.clone(),
            None => Abs::any(&format!("the value of {dest}")),
        }
    }

    /// The class default of a field.
    pub fn default_of_field(&mut self, field: Sym) -> Abs {
        match self.world.defaults.iter().find(|(n, _)| *n == field).copied() {
            Some((_, Some(default))) => self.evaluated_default(field, default),
            _ => Abs::NONE,
        }
    }

    pub fn parsed(&self) -> Option<&Parsed> {
        self.parser.as_ref().and_then(|p| p.parsed.as_ref())
    }

    pub(super) fn parser_object(&mut self) -> Abs {
        Abs::Is(Value::Object(self.alloc(Object::Instance(Instance::new(None, Kind::Parser)))))
    }

    pub(super) fn parser_method(&mut self, name: &str, arguments: &Arguments) -> Abs {
        match name {
            "parse_args" | "parse_known_args" => {
                let given = arguments.get(0, "args").cloned().unwrap_or(Abs::NONE);
                let namespace = match self.iterate(&given) {
                    Items::Known(items) => {
                        let argv = items.iter().map(|item| match item.as_str() {
                            Some(text) => Token::new(text.as_str()),
                            None => Token::new(token::unknown("an argument that is computed")),
                        });
                        let argv = argv.collect::<Vec<_>>();
                        self.parse(&argv)
                    }
                    // Without the file that should be merged in, the command is still there.
                    Items::Open(_) => {
                        let argv = self.world.argv.clone();
                        self.parse(&argv)
                    }
                };
                match name {
                    "parse_args" => namespace,
                    _ => {
                        let rest = self.new_list(Vec::new());
                        Abs::Is(Value::Tuple(Rc::from([namespace, rest])))
                    }
                }
            }
            "error" | "exit" => {
                let message = arguments.positional.first().and_then(Abs::as_str).map(|m| m.to_string());
                let place = self.place_of(arguments);
                let asked = self.asked();
                self.fail(CheckKind::Exit, place, Sym::from("SystemExit"), message, asked);
                Abs::NONE
            }
            _ => Abs::any(&format!("the parser's {name}()")),
        }
    }

    /// Parses a command line and gives the namespace.
    pub fn parse(&mut self, argv: &[Token]) -> Abs {
        let namespace = self.alloc(Object::Instance(Instance::new(None, Kind::Namespace)));
        self.checks_before_parsing = self.log.checks.len();
        let Some(mut model) = self.parser.take() else { return Abs::any("a parser that is not known") };
        model.namespace = Some(namespace);
        let specs = model.specs.clone();
        let allow_abbrev = model.allow_abbrev;
        self.parser = Some(model);
        self.put_defaults(namespace);
        let mut host = Values { machine: self, namespace };
        let parsed = parser::parse(&specs, allow_abbrev, argv, &mut host);
        self.finish_defaults(namespace, &parsed);
        if let Some(model) = &mut self.parser {
            model.parsed = Some(parsed);
        }
        Abs::Is(Value::Object(namespace))
    }

    fn registration(&self, option: usize) -> Option<Registration> {
        let model = self.parser.as_ref()?;
        let index = model.specs.get(option)?.registration?;
        model.registrations.get(index).cloned()
    }

    /// Of options with one destination the first gives the default.
    fn put_defaults(&mut self, namespace: ObjId) {
        let registrations = self.parser.as_ref().map(|p| p.registrations.clone()).unwrap_or_default();
        for registration in &registrations {
            let known = self.instance(namespace).is_some_and(|n| n.attrs.contains_key(&registration.dest));
            if known {
                continue;
            }
            if let Some(value) = self.default_value(registration) {
                self.put_attr(namespace, registration.dest, value, None);
            }
        }
    }

    fn default_value(&mut self, registration: &Registration) -> Option<Abs> {
        Some(match &registration.default {
            Unset::OfField(field) => {
                let default = self.world.defaults.iter().find(|(n, _)| n == field).and_then(|(_, e)| *e)?;
                self.evaluated_default(*field, default)
            }
            Unset::OfClass => return None,
            Unset::Expr(at) => self.eval_in_module(at.file, at.expr),
            Unset::Implied(value) => self.constant_value(value),
        })
    }

    fn evaluated_default(&mut self, field: Sym, default: ExprRef) -> Abs {
        let holder = self.alloc(Object::Instance(Instance::new(None, Kind::Plain)));
        self.fill_fields(holder, &[(field, Some(default))], Arguments::default());
        let value = self.instance(holder).and_then(|i| i.attrs.get(&field)).map(|s| s.value.clone());
        value.unwrap_or(Abs::NONE)
    }

    /// A default that is a text is converted like a value.
    fn finish_defaults(&mut self, namespace: ObjId, parsed: &Parsed) {
        let registrations = self.parser.as_ref().map(|p| p.registrations.clone()).unwrap_or_default();
        for (i, registration) in registrations.iter().enumerate() {
            let given = parsed.uses.iter().any(|u| u.registration == i);
            let plain = registration.type_text.as_deref().is_none_or(|t| t == "str");
            let value = self.instance(namespace).and_then(|n| n.attrs.get(&registration.dest)).map(|s| s.value.clone());
            let text = value.and_then(|v| v.as_str()).filter(|_| !given && !plain && registration.action.takes_value());
            if let Some(text) = text
                && let Ok(value) = self.converted(registration, &Token::new(text.as_str()))
            {
                self.put_attr(namespace, registration.dest, value, None);
            }
        }
        for problem in &parsed.problems {
            // A value that was given wrongly is not the default.
            let wrong =
                matches!(problem.code, "invalid-value" | "invalid-choice" | "missing-value" | "required-missing");
            if let (true, Some(dest)) = (wrong, problem.dest) {
                self.put_attr(namespace, dest, Abs::any(&format!("the value of {}", problem.flag)), None);
            }
        }
    }

    fn constant_value(&mut self, value: &constants::Value) -> Abs {
        match value {
            constants::Value::None => Abs::NONE,
            constants::Value::Bool(b) => Abs::bool(*b),
            constants::Value::Int(i) => Abs::int(*i),
            constants::Value::Float(x) => Abs::Is(Value::Float(*x)),
            constants::Value::Str(s) => Abs::Is(Value::Str(*s)),
            constants::Value::List(items) => {
                let items = items.iter().map(|i| self.constant_value(i)).collect();
                self.new_list(items)
            }
            constants::Value::Tuple(items) => {
                let items: Vec<Abs> = items.iter().map(|i| self.constant_value(i)).collect();
                Abs::Is(Value::Tuple(items.into()))
            }
            constants::Value::Member(class, name, _) => self.class_attr(*class, *name),
            _ => Abs::any("a constant"),
        }
    }

    /// `type=` applied to what was typed.
    fn converted(&mut self, registration: &Registration, typed: &Token) -> Result<Abs, String> {
        if let Some(source) = token::source_of(&typed.text) {
            return Ok(Abs::any(source));
        }
        let text = Abs::str(&typed.text);
        let converter = match (registration.type_expr, registration.type_text.as_deref()) {
            (_, None | Some("str")) => return Ok(text),
            (_, Some(plain @ ("int" | "float" | "bool"))) => Abs::Is(Value::Builtin(Sym::from(plain))),
            (Some(at), Some(_)) => self.eval_in_module(at.file, at.expr),
            (None, Some(_)) => return Ok(text),
        };
        let (value, error) = self.attempt(|m| m.call_value(&converter, Arguments::of(vec![text])));
        match error {
            None => Ok(value),
            Some(message) => Err(message.unwrap_or_default()),
        }
    }

    /// Runs something; an error in it is handed back with its message.
    fn attempt(&mut self, run: impl FnOnce(&mut Self) -> Abs) -> (Abs, Option<Option<String>>) {
        let before = self.state.clone();
        let outer = std::mem::take(&mut self.tries);
        self.caught_message = None;
        self.tries.push(Try { handlers: vec![Catch { errors: Vec::new(), rethrows: false, caught: None }] });
        let value = run(self);
        let caught = self.tries.pop().and_then(|t| t.handlers.into_iter().next()).and_then(|c| c.caught);
        self.tries = outer;
        let message = self.caught_message.take();
        // An error that surely happened leaves no way on; one that only may happen is not held against the value.
        if !self.live && caught.is_some() {
            self.resume(Some(before));
            return (value, Some(message));
        }
        if !self.live {
            self.resume(Some(before));
        }
        (value, None)
    }

    /// Is the value one of the choices? Choices that are not all known refuse nothing.
    fn refused_choice(&mut self, registration: &Registration, value: &Abs) -> Option<Vec<String>> {
        let choices = &registration.choices;
        if !choices.given {
            return None;
        }
        let known = match choices.open {
            false => choices.values.iter().map(|v| self.constant_value(v)).collect::<Vec<_>>(),
            true => {
                let at = registration.choices_expr?;
                if self.names_local(at) {
                    return None;
                }
                let list = self.eval_in_module(at.file, at.expr);
                match self.iterate(&list) {
                    Items::Known(items) => items,
                    Items::Open(_) => return None,
                }
            }
        };
        let known_value = Abs::Is(Value::Tuple(known.clone().into()));
        match self.contains(&known_value, value) {
            Truth::No => Some(known.iter().filter_map(|k| self.text_of(k)).collect()),
            _ => None,
        }
    }

    fn names_local(&self, at: ExprRef) -> bool {
        let program = self.program;
        let ir = program.ir(at.file);
        let own = matches!(ir.expr(at.expr), Expr::Name(_)) && matches!(program.binding(at), Binding::Local(..));
        own || ir.children(at.expr).into_iter().any(|e| self.names_local(ExprRef { file: at.file, expr: e }))
    }

    // Actions as objects

    /// `parser._actions`
    pub(super) fn parser_actions(&mut self) -> Abs {
        let count = self.parser.as_ref().map_or(0, |p| p.specs.len());
        let actions = (0..count).map(|option| self.action_object(option)).collect();
        self.new_list(actions)
    }

    fn action_object(&mut self, option: usize) -> Abs {
        let Some(spec) = self.parser.as_ref().and_then(|p| p.specs.get(option)).cloned() else { return Abs::NONE };
        let Some(registration) = self.registration(option) else {
            return self.plain_action(&spec, "_HelpAction", Abs::int(0));
        };
        if let Action::Custom(Some(class)) = registration.action {
            return self.custom_action(option, class, &registration);
        }
        let (kind, nargs) = match registration.action {
            Action::Store => ("_StoreAction", registration.nargs.clone().map(|n| self.constant_value(&n))),
            Action::StoreConst => ("_StoreConstAction", Some(Abs::int(0))),
            Action::StoreTrue => ("_StoreTrueAction", Some(Abs::int(0))),
            Action::StoreFalse => ("_StoreFalseAction", Some(Abs::int(0))),
            Action::Append => ("_AppendAction", registration.nargs.clone().map(|n| self.constant_value(&n))),
            Action::AppendConst => ("_AppendConstAction", Some(Abs::int(0))),
            Action::Extend => ("_ExtendAction", registration.nargs.clone().map(|n| self.constant_value(&n))),
            Action::Count => ("_CountAction", Some(Abs::int(0))),
            Action::Help => ("_HelpAction", Some(Abs::int(0))),
            Action::Version => ("_VersionAction", Some(Abs::int(0))),
            Action::BooleanOptional => ("BooleanOptionalAction", Some(Abs::int(0))),
            Action::Custom(_) => ("Action", registration.nargs.clone().map(|n| self.constant_value(&n))),
        };
        self.plain_action(&spec, kind, nargs.unwrap_or(Abs::NONE))
    }

    fn plain_action(&mut self, spec: &Spec, kind: &str, nargs: Abs) -> Abs {
        let flags = spec.flags.iter().filter(|f| f.starts_with('-')).map(|f| Abs::str(f)).collect();
        let flags = self.new_list(flags);
        let mut action = Instance::new(None, Kind::Plain);
        for (name, value) in [
            ("option_strings", flags),
            ("dest", Abs::Is(Value::Str(spec.dest))),
            ("nargs", nargs),
            (ACTION_KIND, Abs::str(kind)),
        ] {
            action.attrs.insert(Sym::from(name), value.into());
        }
        Abs::Is(Value::Object(self.alloc(Object::Instance(action))))
    }

    /// The class of argparse that an action object is of.
    pub(super) fn action_kind<'i>(&self, instance: &'i Instance) -> Option<&'i str> {
        match &instance.attrs.get(&Sym::from(ACTION_KIND))?.value {
            Abs::Is(Value::Str(kind)) => Some(kind.as_str()),
            _ => None,
        }
    }

    /// The class of argparse that an action class of the tree is made from, if it has no other base outside the tree.
    pub(super) fn base_action(&self, class: ClassRef) -> Option<&'static str> {
        let order = self.program.mro(class);
        let mut bases = order.iter().flat_map(|c| self.program.external_bases(*c));
        let base = bases.next()?.as_str().strip_prefix("argparse.")?;
        bases.next().is_none().then_some(base)
    }

    fn custom_action(&mut self, option: usize, class: ClassRef, registration: &Registration) -> Abs {
        let place = option.saturating_sub(1);
        if let Some(Some(made)) = self.parser.as_ref().and_then(|p| p.actions.get(place)) {
            return made.clone();
        }
        let flags = registration.flags.iter().map(|f| Abs::str(f)).collect();
        let mut named: Vec<(Sym, Slot, Option<ExprRef>)> = Vec::new();
        let mut name = |name: &str, value: Abs| named.push((Sym::from(name), value.into(), None));
        let flags = self.new_list(flags);
        name("option_strings", flags);
        name("dest", Abs::Is(Value::Str(registration.dest)));
        if let Some(nargs) = &registration.nargs {
            let nargs = self.constant_value(nargs);
            name("nargs", nargs);
        }
        if let Some(at) = registration.constant {
            let value = self.eval_in_module(at.file, at.expr);
            name("const", value);
        }
        if !matches!(registration.default, Unset::OfClass | Unset::Implied(_))
            && let Some(value) = self.default_value(registration)
        {
            name("default", value);
        }
        if let Some(help) = &registration.help {
            name("help", Abs::str(help));
        }
        for (extra, at) in &registration.extra {
            let value = self.eval_in_module(at.file, at.expr);
            name(extra.as_str(), value);
        }
        let made = self.construct(class, Arguments { named, ..Arguments::default() });
        if let Some(slot) = self.parser.as_mut().and_then(|p| p.actions.get_mut(place)) {
            *slot = Some(made.clone());
        }
        made
    }
}

/// Under this name an action object keeps its class.
const ACTION_KIND: &str = "argparse class";

/// What the options of the source's parser do.
struct Values<'m, 'p> {
    machine: &'m mut Machine<'p>,
    namespace: ObjId,
}

impl Host for Values<'_, '_> {
    fn nargs(&mut self, option: usize) -> Nargs {
        let Some(registration) = self.machine.registration(option) else { return Nargs::Count(0) };
        let fixed = match registration.action {
            Action::StoreConst
            | Action::StoreTrue
            | Action::StoreFalse
            | Action::AppendConst
            | Action::Count
            | Action::Help
            | Action::Version
            | Action::BooleanOptional => return Nargs::Count(0),
            Action::Custom(Some(class)) => {
                let object = self.machine.custom_action(option, class, &registration);
                let id = object.object();
                let nargs = id.and_then(|id| self.machine.instance(id)).and_then(|i| i.attrs.get(&Sym::from("nargs")));
                match nargs.map(|slot| slot.value.clone()) {
                    Some(Abs::Is(Value::None)) => return Nargs::One,
                    Some(value) => value.exact().cloned(),
                    None => None,
                }
            }
            _ => None,
        };
        let text = match (&fixed, &registration.nargs) {
            (Some(Value::Int(n)), _) => return Nargs::Count(usize::try_from(*n).unwrap_or(0)),
            (Some(Value::Str(s)), _) => Some(*s),
            (_, Some(constants::Value::Int(n))) => return Nargs::Count(usize::try_from(*n).unwrap_or(0)),
            (_, Some(constants::Value::Str(s))) => Some(*s),
            _ => None,
        };
        match text.as_ref().map(|t| t.as_str()) {
            Some("?") => Nargs::Optional,
            Some("*") => Nargs::Any,
            Some("+") => Nargs::Some,
            Some("...") => Nargs::Remainder,
            _ => Nargs::One,
        }
    }

    fn store(&mut self, option: usize, spelling: &str, values: &[Token]) -> Result<(), Refusal> {
        let Some(registration) = self.machine.registration(option) else { return Ok(()) };
        let nargs = self.nargs(option);
        let value = self.value(&registration, spelling, nargs, values)?;
        let machine = &mut *self.machine;
        let dest = registration.dest;
        match registration.action {
            Action::Append | Action::Extend | Action::AppendConst => {
                let before = machine.instance(self.namespace).and_then(|n| n.attrs.get(&dest)).map(|s| s.value.clone());
                let mut items = match before.filter(|b| !b.is_none()) {
                    Some(before) => match machine.iterate(&before) {
                        Items::Known(items) => items,
                        Items::Open(_) => Vec::new(),
                    },
                    None => Vec::new(),
                };
                match (registration.action, machine.iterate(&value)) {
                    (Action::Extend, Items::Known(more)) => items.extend(more),
                    _ => items.push(value),
                }
                let list = machine.new_list(items);
                machine.put_attr(self.namespace, dest, list, None);
            }
            Action::Count => {
                let before = machine.instance(self.namespace).and_then(|n| n.attrs.get(&dest)).map(|s| s.value.clone());
                let count = before.and_then(|b| b.as_int()).unwrap_or(0) + 1;
                machine.put_attr(self.namespace, dest, Abs::int(count), None);
            }
            Action::Custom(Some(class)) => return self.act(option, class, &registration, spelling, value),
            _ => machine.put_attr(self.namespace, dest, value, None),
        }
        Ok(())
    }
}

impl Values<'_, '_> {
    /// What the values come to (`_get_values`).
    fn value(
        &mut self,
        registration: &Registration,
        spelling: &str,
        nargs: Nargs,
        values: &[Token],
    ) -> Result<Abs, Refusal> {
        let constant = |machine: &mut Machine<'_>| match registration.constant {
            Some(at) => machine.eval_in_module(at.file, at.expr),
            None => Abs::NONE,
        };
        match registration.action {
            Action::StoreTrue => return Ok(Abs::bool(true)),
            Action::StoreFalse => return Ok(Abs::bool(false)),
            Action::StoreConst | Action::AppendConst => return Ok(constant(self.machine)),
            Action::BooleanOptional => return Ok(Abs::bool(!spelling.starts_with("--no-"))),
            Action::Count | Action::Help | Action::Version => return Ok(Abs::NONE),
            _ => {}
        }
        match (nargs, values) {
            (Nargs::Count(0), _) => Ok(self.machine.new_list(Vec::new())),
            (Nargs::Optional, []) => Ok(constant(self.machine)),
            (Nargs::One | Nargs::Optional, [value, ..]) => self.one(registration, value),
            _ => {
                let mut items = Vec::new();
                for value in values {
                    items.push(self.one(registration, value)?);
                }
                Ok(self.machine.new_list(items))
            }
        }
    }

    fn one(&mut self, registration: &Registration, typed: &Token) -> Result<Abs, Refusal> {
        let value = self.machine.converted(registration, typed).map_err(|why| {
            let kind = registration.type_text.as_deref().unwrap_or("str");
            let because = if why.is_empty() { String::new() } else { format!(": {why}") };
            Refusal { code: "invalid-value", message: format!("{:?} is no {kind}{because}", typed.shown()) }
        })?;
        match self.machine.refused_choice(registration, &value) {
            Some(choices) => {
                let message = format!("{:?} is none of {}", typed.shown(), choices.join(", "));
                Err(Refusal { code: "invalid-choice", message })
            }
            None => Ok(value),
        }
    }

    /// A custom action is called with what argparse would hand it.
    fn act(
        &mut self,
        option: usize,
        class: ClassRef,
        registration: &Registration,
        spelling: &str,
        value: Abs,
    ) -> Result<(), Refusal> {
        let machine = &mut *self.machine;
        let object = machine.custom_action(option, class, registration);
        let parser = machine.parser_object();
        let namespace = Abs::Is(Value::Object(self.namespace));
        let arguments = Arguments::of(vec![parser, namespace, value, Abs::str(spelling)]);
        let method = machine.get_attr(&object, Sym::from("__call__"));
        let (_, error) = machine.attempt(|m| m.call_value(&method, arguments));
        match error {
            None => Ok(()),
            Some(message) => {
                let retired = registration.effect == Effect::Fails;
                let code = if retired { "deprecated-flag" } else { "invalid-value" };
                Err(Refusal { code, message: message.unwrap_or_else(|| format!("{spelling} is refused")) })
            }
        }
    }
}
