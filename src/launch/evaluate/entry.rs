//! Where a run begins and what is asked at its end.

use super::calls::Arguments;
use super::*;
use crate::launch::command::token::Token;
use crate::meaning::definition::Definitions;

impl Machine<'_> {
    /// Runs a function of the tree that makes the record of a command line.
    pub fn prepare(&mut self, name: &str, argv: &[Token]) -> Option<ObjId> {
        let func = self.named_function(name)?;
        let items = argv.iter().map(|t| Abs::str(&t.text)).collect();
        let list = self.new_list(items);
        let closure = Rc::new(Closure { func, env: None, receiver: None, class: None });
        self.with_base(|m| m.invoke(&closure, Arguments::of(vec![list])));
        self.record
    }

    /// Makes the record straight from what the parser gives.
    pub fn direct(&mut self, definitions: &Definitions, argv: &[Token]) -> Option<ObjId> {
        let namespace = self.with_base(|m| m.parse(argv)).object()?;
        let mut named = Vec::new();
        for registration in &definitions.registrations {
            let Some(field) = registration.field else { continue };
            let slot = self.instance(namespace).and_then(|n| n.attrs.get(&registration.dest)).cloned();
            if let Some(slot) = slot
                && !named.iter().any(|(n, _, _)| *n == field)
            {
                named.push((field, slot, None));
            }
        }
        let class = definitions.root;
        self.with_base(|m| m.construct(class, Arguments { named, ..Arguments::default() })).object()
    }

    /// Calls a method of the record, if it has one of this name.
    pub fn call_step(&mut self, record: ObjId, name: Sym) {
        let Some(class) = self.instance(record).and_then(|i| i.class) else { return };
        let Some(func) = self.program.method(class, name) else { return };
        let owner = self.program.method_class(func);
        let receiver = Some(Abs::Is(Value::Object(record)));
        let closure = Rc::new(Closure { func, env: None, receiver, class: owner });
        self.with_base(|m| m.invoke(&closure, Arguments::default()));
    }

    /// Runs something at the top, and goes on whatever happened in it.
    fn with_base(&mut self, run: impl FnOnce(&mut Self) -> Abs) -> Abs {
        let file = self.program.file_ids().next().unwrap_or(FileId(0));
        let frame = self.module_frame(file);
        self.push_frame(frame);
        let before = self.state.clone();
        let value = run(self);
        self.frames.pop();
        if !self.live && !self.recover() {
            self.resume(Some(before));
        }
        self.state.path = None;
        value
    }

    /// A field as whoever reads the record after publication sees it.
    pub fn published(&mut self, record: ObjId, field: Sym) -> Abs {
        if self.is_exhausted() {
            return Abs::any("more steps than are taken");
        }
        let value = self.field_value(record, field);
        self.or_fallback(field, value)
    }
}

/// Operators for whoever has values and no code.
impl Machine<'_> {
    pub fn truth_of_value(&mut self, value: &Abs) -> Truth {
        self.truth(value)
    }

    pub fn apply_compare(&mut self, op: CmpOp, a: &Abs, b: &Abs) -> Truth {
        self.compare(op, a, b)
    }

    pub fn apply_binary(&mut self, op: BinOp, a: &Abs, b: &Abs) -> Abs {
        self.binary(op, a, b)
    }

    pub fn apply_unary(&mut self, op: UnaryOp, value: &Abs) -> Abs {
        self.unary(op, value)
    }
}
