//! Runs statements.
//!
//! Each kind is as Python has it, on a state that may stand for several: arms that cannot be decided are both run, loops
//! over what is not known are run twice and widened, and an error goes to the handler that would catch it.

use super::*;

/// How often a loop is run whose end is known.
const MAX_TURNS: usize = 3000;

impl Machine<'_> {
    pub(super) fn block(&mut self, block: &[StmtId]) {
        for stmt in block {
            if !self.live {
                return;
            }
            self.statement(*stmt);
        }
    }

    pub(super) fn statement(&mut self, id: StmtId) {
        if !self.live || !self.step() {
            return;
        }
        let ir = self.ir();
        let node = ir.stmt(id);
        let place = (self.file(), node.span);
        match &node.kind {
            Stmt::Expr(e) => {
                if !matches!(ir.expr(*e), Expr::Str(_)) {
                    self.eval(*e);
                }
            }
            Stmt::Assign { targets, value } => {
                let result = self.eval(*value);
                for target in targets {
                    self.assign(*target, result.clone(), Some(*value), place);
                }
            }
            Stmt::AnnAssign { target, value: Some(value), .. } => {
                let result = self.eval(*value);
                self.assign(*target, result, Some(*value), place);
            }
            Stmt::AugAssign { target, op, value } => self.augment(*target, *op, *value, place),
            Stmt::If { arms, orelse } => {
                self.if_arms(arms, orelse);
                self.recover();
            }
            Stmt::While { test, body, orelse } => self.while_loop(*test, body, orelse),
            Stmt::For { target, iter, body, orelse } => self.for_loop(*target, *iter, body, orelse),
            Stmt::With { items, body } => {
                for (context, target) in items {
                    let value = self.eval(*context);
                    let entered = self.enter_context(value);
                    if let Some(target) = target {
                        self.assign(*target, entered, None, place);
                    }
                }
                self.block(body);
                self.recover();
            }
            Stmt::Try { body, handlers, orelse, finally } => self.try_block(body, handlers, orelse, finally),
            Stmt::Match { subject, cases } => {
                let value = self.eval(*subject);
                self.match_cases(*subject, &value, cases);
                self.recover();
            }
            Stmt::Return(value) => {
                let value = value.map_or(Abs::NONE, |v| self.eval(v));
                self.give_back(value);
            }
            Stmt::Raise(error) => self.raise(*error, place),
            Stmt::Assert { test, message } => self.assert(*test, *message, place),
            Stmt::Delete(targets) => targets.iter().for_each(|t| self.delete(*t)),
            Stmt::Global(names) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.globals.extend(names.iter().copied());
                }
            }
            Stmt::Nonlocal(names) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.nonlocals.extend(names.iter().copied());
                }
            }
            Stmt::Import(names) => self.import(id, names),
            Stmt::Func(func) => self.define(*func),
            Stmt::Class(class) => {
                let name = ir.class(*class).name;
                let class = ClassRef { file: self.file(), class: *class };
                self.bind(name, Abs::Is(Value::Class(class)));
            }
            Stmt::Break | Stmt::Continue => {
                let breaks = matches!(node.kind, Stmt::Break);
                self.jump_in_loop(breaks);
            }
            Stmt::AnnAssign { value: None, .. } | Stmt::Pass | Stmt::Unknown => {}
        }
    }

    /// The value of a test, and the fields that it asks.
    pub(super) fn test(&mut self, test: ExprId) -> (Truth, Vec<Sym>) {
        let start = self.log.recent.len();
        self.seen.clear();
        let value = self.eval(test);
        let mut asked: Vec<Sym> = Vec::new();
        for field in self.log.recent.get(start..).unwrap_or_default() {
            if !asked.contains(field) {
                asked.push(*field);
            }
        }
        // What was read long ago is of no use to anyone.
        if self.frames.len() <= 1 && self.log.recent.len() > 4096 {
            self.log.recent.clear();
        }
        (self.truth(&value), asked)
    }

    fn guarded(&mut self, asked: &[Sym], run: impl FnOnce(&mut Self)) {
        let depth = self.frames.len();
        if let Some(frame) = self.frames.last_mut() {
            frame.guards.push(Guard { asked: asked.to_vec() });
        }
        run(self);
        if let Some(frame) = self.frames.get_mut(depth.saturating_sub(1)) {
            frame.guards.pop();
        }
    }

    fn if_arms(&mut self, arms: &[(ExprId, Block)], orelse: &[StmtId]) {
        let Some(((test, body), rest)) = arms.split_first() else {
            self.block(orelse);
            return;
        };
        let (truth, asked) = self.test(*test);
        if !self.live {
            return;
        }
        let at = self.here(*test);
        self.branch(
            at,
            &truth,
            |m| {
                m.guarded(&asked, |m| m.block(body));
                Abs::NONE
            },
            |m| {
                m.guarded(&asked, |m| m.if_arms(rest, orelse));
                Abs::NONE
            },
        );
    }

    // Loops

    fn enter_loop(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.push(Loop::default());
        }
    }

    /// Where the turns end that `continue` cut short.
    fn end_turn(&mut self) {
        self.recover();
        let continued = self.frames.last_mut().and_then(|f| f.loops.last_mut()).and_then(|l| l.continued.take());
        let here = self.leave();
        let merged = self.merged(here, continued);
        self.resume(merged);
    }

    fn leave_loop(&mut self, orelse: &[StmtId]) {
        let ended = self.frames.last_mut().and_then(|f| f.loops.pop());
        self.block(orelse);
        let here = self.leave();
        let merged = self.merged(here, ended.and_then(|l| l.broke));
        self.resume(merged);
    }

    fn jump_in_loop(&mut self, breaks: bool) {
        let state = self.leave();
        self.jumps += 1;
        let before = match self.frames.last_mut().and_then(|f| f.loops.last_mut()) {
            Some(l) if breaks => l.broke.take(),
            Some(l) => l.continued.take(),
            None => None,
        };
        let merged = self.merged(before, state);
        if let Some(l) = self.frames.last_mut().and_then(|f| f.loops.last_mut()) {
            *(if breaks { &mut l.broke } else { &mut l.continued }) = merged;
        }
    }

    fn for_loop(&mut self, target: ExprId, iter: ExprId, body: &[StmtId], orelse: &[StmtId]) {
        let sequence = self.eval(iter);
        let items = self.iterate(&sequence);
        let place = (self.file(), self.ir().span(target));
        self.enter_loop();
        match items {
            Items::Known(items) => {
                for item in items.into_iter().take(MAX_TURNS) {
                    if !self.live {
                        break;
                    }
                    self.assign(target, item, None, place);
                    self.block(body);
                    self.end_turn();
                }
            }
            Items::Open(why) => self.open_loop(self.here(iter), &why, |m| {
                m.assign(target, Abs::because(&why), None, place);
                m.block(body);
            }),
        }
        self.leave_loop(orelse);
    }

    fn while_loop(&mut self, test: ExprId, body: &[StmtId], orelse: &[StmtId]) {
        self.enter_loop();
        let mut turns = 0;
        let mut after_exit = 0;
        while self.live && turns < MAX_TURNS {
            turns += 1;
            // A loop that may have been left goes on for no more than another turn or two.
            after_exit += u32::from(self.frame().and_then(|f| f.loops.last()).is_some_and(|l| l.broke.is_some()));
            if after_exit > 2 {
                self.leave();
                break;
            }
            let (truth, asked) = self.test(test);
            match truth {
                Truth::No => break,
                Truth::Yes => {
                    self.guarded(&asked, |m| m.block(body));
                    self.end_turn();
                }
                Truth::Maybe(why) => {
                    self.open_loop(self.here(test), &why, |m| m.block(body));
                    break;
                }
            }
        }
        self.leave_loop(orelse);
    }

    /// A loop of which it is not known how often it runs: not at all, once, or more often with whatever values.
    fn open_loop(&mut self, at: ExprRef, why: &Why, mut turn: impl FnMut(&mut Self)) {
        for _ in 0..2 {
            if !self.live {
                return;
            }
            let before = self.state.clone();
            let path = before.path.clone();
            self.state.path = pass(&path, at, true, why.clone());
            turn(self);
            self.end_turn();
            let after = self.leave();
            let mut stays = before;
            stays.path = pass(&path, at, false, why.clone());
            let merged = self.merged(Some(stays), after).map(|mut s| {
                s.path = path;
                s
            });
            self.resume(merged);
        }
    }

    // Errors

    fn raise(&mut self, error: Option<ExprId>, place: Place) {
        let Some(error) = error else {
            // What was caught goes on; it has been noted where it arose.
            self.leave();
            return;
        };
        let ir = self.ir();
        let (name, message) = match ir.expr(error) {
            Expr::Call { func, args } => {
                let message = args.first().map(|a| self.message(a.value));
                (last_part(ir, *func), message)
            }
            _ => (last_part(ir, error), None),
        };
        let asked = self.asked();
        self.fail(CheckKind::Raise, place, name, message.flatten(), asked);
    }

    fn assert(&mut self, test: ExprId, message: Option<ExprId>, place: Place) {
        let (truth, mut asked) = self.test(test);
        for field in self.asked() {
            if !asked.contains(&field) {
                asked.push(field);
            }
        }
        let at = self.here(test);
        self.branch(
            at,
            &truth,
            |_| Abs::NONE,
            |m| {
                let message = message.and_then(|e| m.message(e));
                m.fail(CheckKind::Assert, place, Sym::from("AssertionError"), message, asked.clone());
                Abs::NONE
            },
        );
        self.recover();
    }

    /// An error's message as far as it is known; what is not known stands as in the source.
    fn message(&mut self, at: ExprId) -> Option<String> {
        let before = self.live;
        let value = self.eval(at);
        if before && !self.live {
            return None;
        }
        match value.as_str() {
            Some(text) => Some(text.to_string()),
            None => crate::meaning::definition::registration::text(self.program, self.here(at)),
        }
    }

    /// All names by which an error is caught.
    pub(super) fn error_names(&self, error: Sym) -> Vec<Sym> {
        let mut out = vec![error];
        let mut i = 0;
        while let Some(name) = out.get(i).copied() {
            i += 1;
            for (child, parent) in ERRORS {
                let parent = Sym::from(parent);
                if *child == name.as_str() && !out.contains(&parent) {
                    out.push(parent);
                }
            }
            for file in self.program.files_defining_class(name).iter().take(3) {
                for class in self.program.classes_named(*file, name) {
                    let ir = self.program.ir(*file);
                    let bases = self.program.class(class).bases.iter().map(|b| last_part(ir, *b));
                    bases.for_each(|b| {
                        if !out.contains(&b) && out.len() < 32 {
                            out.push(b);
                        }
                    });
                }
            }
        }
        out.extend(["Exception", "BaseException"].map(Sym::from));
        out
    }

    fn try_block(&mut self, body: &[StmtId], handlers: &[Handler], orelse: &[StmtId], finally: &[StmtId]) {
        let ir = self.ir();
        let catches = handlers.iter().map(|h| Catch {
            errors: h.kind.map(|k| caught_names(ir, k)).unwrap_or_default(),
            rethrows: rethrows(ir, &h.body),
            caught: None,
        });
        let before = self.state.clone();
        let opaque = std::mem::take(&mut self.opaque);
        self.tries.push(Try { handlers: catches.collect() });
        self.block(body);
        let catches = self.tries.pop().map(|t| t.handlers).unwrap_or_default();
        let met = std::mem::replace(&mut self.opaque, opaque.clone());
        self.opaque.calls = opaque.calls.and(&met.calls);
        self.opaque.imports = opaque.imports.and(&met.imports);

        let body_ended = self.live;
        let after_body = self.live.then(|| self.state.clone());
        let first = body.first().and_then(|s| test_of(ir, *s));
        let mut ways: Vec<Option<State>> = Vec::new();
        for (handler, catch) in handlers.iter().zip(catches) {
            let mut state = catch.caught;
            let only_imports = !catch.errors.is_empty()
                && catch.errors.iter().all(|e| matches!(e.as_str(), "ImportError" | "ModuleNotFoundError"));
            let why = if only_imports { met.imports.clone() } else { met.calls.and(&met.imports) };
            if !why.is_empty()
                && !catch.rethrows
                && let Some(at) = first
            {
                // It can fail anywhere between the start and the end.
                let at = self.here(at);
                let mut start = before.clone();
                start.path = pass(&before.path, at, false, why.clone());
                let end = after_body.clone().map(|mut s| {
                    s.path = pass(&s.path, at, false, why.clone());
                    s
                });
                let open = self.merged(Some(start), end).map(|mut s| {
                    s.path = pass(&before.path, at, false, why.clone());
                    s
                });
                state = self.merged(state, open);
            }
            if state.is_none() {
                continue;
            }
            let here = self.leave();
            self.resume(state);
            if let Some(name) = handler.name {
                self.assign(name, Abs::any("the error"), None, (self.file(), ir.span(name)));
            }
            self.block(&handler.body);
            self.recover();
            let handled = self.leave();
            ways.push(handled);
            self.resume(here);
        }
        if body_ended {
            self.block(orelse);
        }
        let mut merged = self.leave();
        let alone = merged.is_some() && ways.iter().all(Option::is_none);
        for way in ways {
            merged = self.merged(merged, way);
        }
        if let (Some(state), false) = (&mut merged, alone) {
            state.path = before.path.clone();
        }
        self.resume(merged);
        if !self.live {
            self.recover();
        }
        self.block(finally);
    }

    fn enter_context(&mut self, context: Abs) -> Abs {
        let Some(id) = context.object() else { return context };
        let enter =
            self.instance(id).and_then(|i| i.class).and_then(|c| self.program.method(c, Sym::from("__enter__")));
        match enter {
            Some(_) => {
                let method = self.get_attr(&context, Sym::from("__enter__"));
                self.call_value(&method, calls::Arguments::default())
            }
            None => context,
        }
    }

    // Names and targets

    fn import(&mut self, stmt: StmtId, names: &[ImportName]) {
        for (i, name) in names.iter().enumerate() {
            if name.bound == "*" {
                continue;
            }
            let entities = self.program.imported(self.file(), stmt, i as u32);
            let outside = entities.is_empty()
                || entities.iter().any(|e| matches!(e, crate::program::resolve::Entity::External(_)));
            if outside {
                let module = if name.module.is_empty() { name.bound } else { name.module };
                if !is_standard(module.as_str()) {
                    self.opaque.imports = self.opaque.imports.and(&Why::of(&format!("import {module}")));
                }
            }
            let value = match entities.is_empty() {
                true => Abs::any(&format!("{}.{}", name.module, name.bound)),
                false => self.entities_value(&entities),
            };
            self.bind(name.bound, value);
        }
    }

    fn define(&mut self, func: FuncId) {
        let file = self.file();
        let name = self.program.ir(file).func(func).name;
        let value = self.closure(FuncRef { file, func });
        self.bind(name, value);
    }

    /// A function with the variables around it.
    pub(super) fn closure(&mut self, func: FuncRef) -> Abs {
        let Some(frame) = self.frames.last_mut() else { return Abs::any("a function") };
        frame.captured = true;
        let env = (!frame.is_module).then_some(frame.env);
        let class = frame.class;
        Abs::Is(Value::Func(Rc::new(Closure { func, env, receiver: None, class })))
    }

    pub(super) fn give_back(&mut self, value: Abs) {
        let state = self.leave();
        self.jumps += 1;
        let Some(state) = state else { return };
        let before = self.frames.last_mut().and_then(|f| f.returned.take());
        let merged = match before {
            None => (state, value),
            Some((other, theirs)) => {
                let merged = other.join_with(state, &self.base, &mut self.names);
                (merged.0, theirs.join(&value, &merged.1))
            }
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.returned = Some(merged);
        }
    }

    pub(super) fn assign(&mut self, target: ExprId, value: Abs, code: Option<ExprId>, place: Place) {
        let ir = self.ir();
        match ir.expr(target) {
            Expr::Name(name) => self.bind(*name, value),
            Expr::Attr { base, attr, .. } => {
                let object = self.eval(*base);
                let code = code.map(|c| self.here(c));
                self.set_attr(&object, *attr, value, code, place);
            }
            Expr::Subscript { base, index } => {
                let object = self.eval(*base);
                let key = self.eval(*index);
                self.set_item(&object, &key, value, place);
            }
            Expr::Tuple(targets) | Expr::List(targets) => self.unpack(targets, &value, place),
            Expr::Starred(inner) => self.assign(*inner, value, code, place),
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &[ExprId], value: &Abs, place: Place) {
        let ir = self.ir();
        let items = self.iterate(value);
        let star = targets.iter().position(|t| matches!(ir.expr(*t), Expr::Starred(_)));
        match (items, star) {
            (Items::Known(items), None) if items.len() == targets.len() => {
                for (target, item) in targets.iter().zip(items) {
                    self.assign(*target, item, None, place);
                }
            }
            (Items::Known(items), Some(star)) if items.len() + 1 >= targets.len() => {
                let after = targets.len() - star - 1;
                let middle = items.len() - after;
                for (i, target) in targets.iter().enumerate() {
                    let item = match i.cmp(&star) {
                        std::cmp::Ordering::Less => items.get(i).cloned(),
                        std::cmp::Ordering::Equal => {
                            let rest = items.get(star..middle).unwrap_or_default().to_vec();
                            Some(self.new_list(rest))
                        }
                        std::cmp::Ordering::Greater => items.get(middle + i - star - 1).cloned(),
                    };
                    self.assign(*target, item.unwrap_or_else(|| Abs::any("unpacking")), None, place);
                }
            }
            (items, _) => {
                let why = match items {
                    Items::Open(why) => why,
                    Items::Known(_) => {
                        self.slip("ValueError");
                        Why::of("unpacking")
                    }
                };
                for target in targets {
                    self.assign(*target, Abs::because(&why), None, place);
                }
            }
        }
    }

    fn augment(&mut self, target: ExprId, op: BinOp, value: ExprId, place: Place) {
        let old = self.eval(target);
        let operand = self.eval(value);
        // A list grows in place.
        if let (BinOp::Add, Some(id)) = (op, old.object())
            && matches!(self.object(id), Some(Object::List(_)))
        {
            let more = self.iterate(&operand);
            self.extend_list(id, more);
            return;
        }
        let new = self.binary(op, &old, &operand);
        self.assign(target, new, Some(value), place);
    }

    fn delete(&mut self, target: ExprId) {
        let ir = self.ir();
        match ir.expr(target) {
            Expr::Name(name) => {
                if let Some(env) = self.variable(*name) {
                    self.edit(env, |object| {
                        if let Object::Env(vars) = object {
                            vars.vars.remove(name);
                        }
                    });
                }
            }
            Expr::Subscript { base, index } => {
                let object = self.eval(*base);
                let key = self.eval(*index);
                self.delete_item(&object, &key);
            }
            Expr::Attr { base, attr, .. } => {
                if let Some(id) = self.eval(*base).object() {
                    self.edit(id, |object| {
                        if let Object::Instance(instance) = object {
                            instance.attrs.remove(attr);
                        }
                    });
                }
            }
            _ => {}
        }
    }

    fn match_cases(&mut self, subject: ExprId, value: &Abs, cases: &[Case]) {
        let Some((case, rest)) = cases.split_first() else { return };
        let mut truth = Truth::No;
        for pattern in &case.patterns {
            truth = match (truth, self.matches(*pattern, value)) {
                (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
                (Truth::No, other) | (other, Truth::No) => other,
                (Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
            };
        }
        if let (Some(guard), true) = (case.guard, truth != Truth::No) {
            let (guard, _) = self.test(guard);
            truth = match (truth, guard) {
                (_, Truth::No) => Truth::No,
                (Truth::Yes, other) | (other, Truth::Yes) => other,
                (Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
                (Truth::No, _) => Truth::No,
            };
        }
        let at = self.here(subject);
        self.branch(
            at,
            &truth,
            |m| {
                m.block(&case.body);
                Abs::NONE
            },
            |m| {
                m.match_cases(subject, value, rest);
                Abs::NONE
            },
        );
    }

    fn matches(&mut self, pattern: ExprId, value: &Abs) -> Truth {
        let ir = self.ir();
        match ir.expr(pattern) {
            Expr::Name(name) if *name == "_" => Truth::Yes,
            Expr::Name(name) => {
                self.bind(*name, value.clone());
                Truth::Yes
            }
            Expr::Str(_)
            | Expr::Int(_)
            | Expr::Float(_)
            | Expr::True
            | Expr::False
            | Expr::None
            | Expr::Attr { .. } => {
                let constant = self.eval(pattern);
                self.equal(value, &constant)
            }
            _ => Truth::Maybe(Why::of("a pattern that is not understood")),
        }
    }
}

/// What an error's class is called.
fn last_part(ir: &FileIr, at: ExprId) -> Sym {
    crate::program::last_name(ir, at).unwrap_or_else(|| Sym::from("Exception"))
}

fn caught_names(ir: &FileIr, kind: ExprId) -> Vec<Sym> {
    match ir.expr(kind) {
        Expr::Tuple(items) => items.iter().map(|i| last_part(ir, *i)).collect(),
        _ => vec![last_part(ir, kind)],
    }
}

/// Does a handler end by letting the error pass on?
fn rethrows(ir: &FileIr, body: &[StmtId]) -> bool {
    body.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Raise(None)))
}

/// An expression to stand for a statement in the list of tests passed.
fn test_of(ir: &FileIr, stmt: StmtId) -> Option<ExprId> {
    match &ir.stmt(stmt).kind {
        Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Raise(Some(e)) => Some(*e),
        Stmt::Assign { value, .. } | Stmt::AugAssign { value, .. } => Some(*value),
        Stmt::AnnAssign { target, .. } => Some(*target),
        Stmt::If { arms, .. } => arms.first().map(|a| a.0),
        Stmt::For { iter, .. } => Some(*iter),
        Stmt::While { test, .. } | Stmt::Assert { test, .. } => Some(*test),
        Stmt::With { items, .. } => items.first().map(|i| i.0),
        // Any will do: it only tells one attempt from another.
        _ => Some(ExprId(0)),
    }
}

/// Modules that come with Python: importing one does not fail.
fn is_standard(module: &str) -> bool {
    let first = module.split('.').next().unwrap_or(module);
    STANDARD.contains(&first)
}

const STANDARD: [&str; 44] = [
    "__future__",
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "glob",
    "hashlib",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "logging",
    "math",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "random",
    "re",
    "shutil",
    "signal",
    "socket",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "typing",
    "uuid",
    "warnings",
];

/// Built-in errors with what they are a kind of.
const ERRORS: &[(&str, &str)] = &[
    ("KeyError", "LookupError"),
    ("IndexError", "LookupError"),
    ("ModuleNotFoundError", "ImportError"),
    ("JSONDecodeError", "ValueError"),
    ("UnicodeError", "ValueError"),
    ("UnicodeDecodeError", "UnicodeError"),
    ("FileNotFoundError", "OSError"),
    ("PermissionError", "OSError"),
    ("ConnectionError", "OSError"),
    ("TimeoutError", "OSError"),
    ("IOError", "OSError"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
];
