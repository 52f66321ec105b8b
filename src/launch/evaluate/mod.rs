//! Runs the source's own code on a command's values, as far as it can be run without running it.
//!
//! An abstract interpreter over the IR: constants, finite sets, intervals, and unknowns with their reasons. A test that
//! cannot be decided runs both arms and joins them; what the arms leave different hangs on the test from then on. Calls
//! into the tree are followed; what lies outside the tree is unknown unless a fact answers for it. The work is counted in
//! steps and bounded, so the same input gives the same answer on any machine.
//!
//! *Invariant:* nothing is guessed. A value that is not exact has reasons, and a check counts as violated only where no
//! open test was passed on the way to it.

pub mod argparse_objects;
mod arithmetic;
mod attributes;
mod builtins;
mod calls;
mod entry;
mod expressions;
mod external;
mod methods;
mod names;
mod place;
mod refine;
mod resolution;
pub mod state;
mod statements;
mod text;
pub mod value;
pub mod world;

use crate::program::{ClassRef, ExprRef, FileId, FuncRef, Program};
use crate::syntax::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};
use state::*;
use std::rc::Rc;
use value::*;
use world::World;

/// A field of the record was given another value.
#[derive(Clone, Debug)]
pub struct Write {
    pub field: Sym,
    pub place: Place,
    /// The code of the new value.
    pub code: Option<ExprRef>,
    pub before: Abs,
    pub after: Abs,
    /// Why it is not sure that it happens; empty if it is.
    pub doubts: Why,
    /// The fields that the tests around it ask, the nearest test first.
    pub asked: Vec<Sym>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CheckKind {
    Assert,
    Raise,
    Exit,
}

/// A check of the source failed, or may fail.
#[derive(Clone, Debug)]
pub struct Check {
    pub kind: CheckKind,
    pub place: Place,
    pub error: Sym,
    pub message: Option<String>,
    pub doubts: Why,
    pub asked: Vec<Sym>,
}

/// What happened while the code ran.
#[derive(Default)]
pub struct Log {
    pub writes: Vec<Write>,
    pub checks: Vec<Check>,
    /// Fields of the record that were read.
    pub reads: FxHashSet<Sym>,
    /// Files that the source would read and that cannot be read, with why.
    pub unreadable: Vec<(String, String)>,
    /// The same in order, for telling what a test asks.
    recent: Vec<Sym>,
}

struct Guard {
    asked: Vec<Sym>,
}

#[derive(Default)]
struct Loop {
    broke: Option<State>,
    continued: Option<State>,
}

/// A call that is being run.
struct Frame {
    file: FileId,
    func: Option<FuncRef>,
    env: ObjId,
    /// The class around the code, for `super()`.
    class: Option<ClassRef>,
    /// Assignments go to the module.
    is_module: bool,
    globals: FxHashSet<Sym>,
    nonlocals: FxHashSet<Sym>,
    returned: Option<(State, Abs)>,
    loops: Vec<Loop>,
    guards: Vec<Guard>,
    /// Lambdas, functions or comprehensions that hold on to the variables.
    captured: bool,
    /// The code is looked at where it stands; nothing was run before it.
    standing: Option<place::Standing>,
}

/// A `try` that is being run.
struct Try {
    handlers: Vec<Catch>,
}

struct Catch {
    /// Names of errors; empty for all.
    errors: Vec<Sym>,
    /// It only lets the error pass on.
    rethrows: bool,
    caught: Option<State>,
}

/// Things that can fail in ways that are not seen here, met since a point.
#[derive(Clone, Default)]
struct Opaque {
    calls: Why,
    imports: Why,
}

/// After so many steps nothing more is known.
const MAX_STEPS: u32 = 1_500_000;
const MAX_CALLS: usize = 48;
const MAX_DEPTH: u32 = 120;

pub struct Machine<'p> {
    pub program: &'p Program,
    pub world: World,
    pub log: Log,
    /// How many checks had failed when the command line was parsed.
    pub checks_before_parsing: usize,
    state: State,
    /// Does the program come here at all?
    live: bool,
    /// Where to go on after a check that surely fails, as if it were not there.
    recover: Option<State>,
    frames: Vec<Frame>,
    tries: Vec<Try>,
    opaque: Opaque,
    /// The message of the error that was caught last.
    caught_message: Option<String>,
    /// Jumps out of the arms of a test: returns, breaks, continues, caught errors.
    jumps: u32,
    /// Module variables and class attributes, computed when first asked; `None` while they are.
    globals: FxHashMap<(FileId, Sym), Option<Abs>>,
    class_attrs: FxHashMap<(ClassRef, Sym), Option<Option<Abs>>>,
    module_envs: FxHashMap<FileId, ObjId>,
    /// What the modules made when they were loaded.
    base: Heap,
    next: u32,
    /// Names given to fields that are not exactly known.
    names: u32,
    steps: u32,
    depth: u32,
    /// What calls inside the test that is being evaluated gave.
    seen: Vec<(ExprRef, Abs)>,
    records: FxHashSet<ClassRef>,
    environ: ObjId,
    parser: Option<argparse_objects::ParserModel>,
    record: Option<ObjId>,
    /// Objects that stand for any of their class.
    stand_ins: FxHashMap<ClassRef, ObjId>,
    /// Expressions being evaluated where they stand.
    busy: Vec<ExprRef>,
    standing_limit: u32,
    pub dev: FxHashMap<Sym, (u32, u32)>,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, world: World, records: impl IntoIterator<Item = ClassRef>) -> Machine<'p> {
        let mut machine = Machine {
            program,
            world,
            log: Log::default(),
            checks_before_parsing: 0,
            state: State::default(),
            live: true,
            recover: None,
            frames: Vec::new(),
            tries: Vec::new(),
            opaque: Opaque::default(),
            caught_message: None,
            jumps: 0,
            globals: FxHashMap::default(),
            class_attrs: FxHashMap::default(),
            module_envs: FxHashMap::default(),
            base: Heap::default(),
            next: 0,
            names: 0,
            steps: 0,
            depth: 0,
            seen: Vec::new(),
            records: records.into_iter().collect(),
            environ: ObjId(0),
            parser: None,
            record: None,
            stand_ins: FxHashMap::default(),
            busy: Vec::new(),
            standing_limit: u32::MAX,
            dev: FxHashMap::default(),
        };
        machine.environ = machine.make_environ();
        machine
    }

    fn make_environ(&mut self) -> ObjId {
        let entries = self.world.environment.iter().map(|(name, value)| {
            let value = value.as_ref().map_or_else(|| Abs::any(&format!("${name}")), |v| Abs::str(v));
            (Value::str(name), Slot::from(value))
        });
        let dict = Dict { entries: entries.collect(), open: None };
        let id = self.fresh();
        self.base.put(id, Rc::new(Object::Dict(dict)));
        id
    }

    /// Has the work been cut?
    pub fn is_exhausted(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    pub fn steps(&self) -> u32 {
        self.steps
    }

    fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps < MAX_STEPS
    }

    // Objects

    fn fresh(&mut self) -> ObjId {
        let id = ObjId(self.next);
        self.next += 1;
        id
    }

    fn alloc(&mut self, object: Object) -> ObjId {
        let id = self.fresh();
        self.state.heap.put(id, Rc::new(object));
        id
    }

    fn new_list(&mut self, items: Vec<Abs>) -> Abs {
        Abs::Is(Value::Object(self.alloc(Object::List(Items::Known(items)))))
    }

    fn new_items(&mut self, items: Items) -> Abs {
        Abs::Is(Value::Object(self.alloc(Object::List(items))))
    }

    fn new_dict(&mut self, dict: Dict) -> Abs {
        Abs::Is(Value::Object(self.alloc(Object::Dict(dict))))
    }

    pub fn object(&self, id: ObjId) -> Option<&Object> {
        self.state.heap.get(id).or_else(|| self.base.get(id)).map(Rc::as_ref)
    }

    fn shared(&self, id: ObjId) -> Option<Rc<Object>> {
        self.state.heap.get(id).or_else(|| self.base.get(id)).cloned()
    }

    fn edit(&mut self, id: ObjId, edit: impl FnOnce(&mut Object)) {
        if !self.live {
            return;
        }
        let Some(mut object) = self.shared(id) else { return };
        self.state.heap.remove(id);
        edit(Rc::make_mut(&mut object));
        self.state.heap.put(id, object);
    }

    pub fn instance(&self, id: ObjId) -> Option<&Instance> {
        match self.object(id)? {
            Object::Instance(instance) => Some(instance),
            _ => None,
        }
    }

    // Ways

    /// The way ends here; what the program had made is handed out.
    fn leave(&mut self) -> Option<State> {
        std::mem::replace(&mut self.live, false).then(|| std::mem::take(&mut self.state))
    }

    fn resume(&mut self, state: Option<State>) {
        self.live = state.is_some();
        self.state = state.unwrap_or_default();
    }

    fn merged(&mut self, a: Option<State>, b: Option<State>) -> Option<State> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.join(b, &self.base, &mut self.names)),
            (a, b) => a.or(b),
        }
    }

    /// Goes on after a check that surely failed.
    fn recover(&mut self) -> bool {
        if !self.live && self.recover.is_some() {
            let state = self.recover.take();
            self.resume(state);
            return true;
        }
        false
    }

    /// Runs one thing where the test holds and another where it does not.
    fn branch(
        &mut self,
        test: ExprRef,
        truth: &Truth,
        then: impl FnOnce(&mut Self) -> Abs,
        otherwise: impl FnOnce(&mut Self) -> Abs,
    ) -> Abs {
        let why = match truth {
            Truth::Yes => return then(self),
            Truth::No => return otherwise(self),
            Truth::Maybe(why) => why.clone(),
        };
        if !self.live {
            return Abs::because(&why);
        }
        let before = self.state.clone();
        let seen = self.seen.clone();
        let jumps = self.jumps;
        self.refine(test, true);
        self.state.path = pass(&before.path, test, true, why.clone());
        let a = then(self);
        let way_a = self.leave();
        let jumped_a = self.jumps != jumps;

        let path = before.path.clone();
        self.resume(Some(before));
        self.seen = seen;
        let jumps = self.jumps;
        self.refine(test, false);
        self.state.path = pass(&path, test, false, why.clone());
        let b = otherwise(self);
        let way_b = self.leave();
        let jumped_b = self.jumps != jumps;

        match (way_a, way_b) {
            (Some(x), Some(y)) => {
                let joined = x.join(y, &self.base, &mut self.names);
                self.resume(Some(joined));
                a.join(&b, &why)
            }
            (Some(mut x), None) => {
                // Only errors end the other way, so that whoever gets on has come by this one.
                if !jumped_b {
                    x.path = path;
                }
                self.resume(Some(x));
                a
            }
            (None, Some(mut y)) => {
                if !jumped_a {
                    y.path = path;
                }
                self.resume(Some(y));
                b
            }
            (None, None) => Abs::because(&why),
        }
    }

    /// A check fails here. An error that is caught goes on at its handler; one that surely happens is noted, and what
    /// follows is looked at as if the check were not there; one that may happen is noted and ends this way.
    fn fail(&mut self, kind: CheckKind, place: Place, error: Sym, message: Option<String>, asked: Vec<Sym>) {
        if !self.live {
            return;
        }
        if self.goes_to_handler(error) {
            self.caught_message = message;
            return;
        }
        let doubts = self.state.doubts();
        let sure = self.state.is_sure();
        self.log.checks.push(Check { kind, place, error, message, doubts, asked });
        let state = self.leave();
        if sure {
            self.recover = state;
        }
    }

    /// An error that is not one of the source's own checks: it matters only where it is caught.
    fn slip(&mut self, error: &str) -> bool {
        self.live && self.goes_to_handler(Sym::from(error))
    }

    fn goes_to_handler(&mut self, error: Sym) -> bool {
        let names = self.error_names(error);
        let catches = |c: &Catch| c.errors.is_empty() || c.errors.iter().any(|e| names.contains(e));
        let mut found = None;
        for (i, attempt) in self.tries.iter().enumerate().rev() {
            if let Some(j) = attempt.handlers.iter().position(catches) {
                if attempt.handlers.get(j).is_some_and(|c| c.rethrows) {
                    continue;
                }
                found = Some((i, j));
                break;
            }
        }
        let Some((i, j)) = found else { return false };
        let state = self.leave();
        self.jumps += 1;
        let before = self.tries.get_mut(i).and_then(|t| t.handlers.get_mut(j)).and_then(|c| c.caught.take());
        let merged = self.merged(before, state);
        if let Some(catch) = self.tries.get_mut(i).and_then(|t| t.handlers.get_mut(j)) {
            catch.caught = merged;
        }
        true
    }

    /// Something is called of which it is not known how it can fail.
    fn note_opaque(&mut self, reason: &str) {
        self.opaque.calls = self.opaque.calls.and(&Why::of(reason));
    }

    // Frames

    fn frame(&self) -> Option<&Frame> {
        self.frames.last()
    }

    fn file(&self) -> FileId {
        self.frame().map_or(FileId(0), |f| f.file)
    }

    fn ir(&self) -> &'p FileIr {
        let program = self.program;
        program.ir(self.file())
    }

    fn here(&self, expr: ExprId) -> ExprRef {
        ExprRef { file: self.file(), expr }
    }

    /// The fields that the tests around ask, the nearest first.
    fn asked(&self) -> Vec<Sym> {
        let guards = self.frames.last().map_or(&[][..], |f| &f.guards);
        let mut out: Vec<Sym> = Vec::new();
        for field in guards.iter().rev().flat_map(|g| g.asked.iter()) {
            if !out.contains(field) {
                out.push(*field);
            }
        }
        out
    }

    /// Runs something in the state of the modules, before the program began.
    fn while_loading<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let state = std::mem::take(&mut self.state);
        let live = std::mem::replace(&mut self.live, true);
        let recover = self.recover.take();
        let tries = std::mem::take(&mut self.tries);
        let seen = std::mem::take(&mut self.seen);
        let opaque = std::mem::take(&mut self.opaque);
        let checks = self.log.checks.len();
        let result = run(self);
        self.log.checks.truncate(checks);
        let made = std::mem::replace(&mut self.state, state);
        for (id, object) in made.heap.iter() {
            self.base.put(id, object.clone());
        }
        self.live = live;
        self.recover = recover;
        self.tries = tries;
        self.seen = seen;
        self.opaque = opaque;
        result
    }

    fn push_frame(&mut self, frame: Frame) -> bool {
        if self.frames.len() >= MAX_CALLS {
            return false;
        }
        self.frames.push(frame);
        true
    }

    /// A frame for the top of a module.
    fn module_frame(&mut self, file: FileId) -> Frame {
        let env = match self.module_envs.get(&file) {
            Some(env) => *env,
            None => {
                let env = self.fresh();
                self.base.put(env, Rc::new(Object::Env(Env::default())));
                self.module_envs.insert(file, env);
                env
            }
        };
        Frame {
            file,
            func: None,
            env,
            class: None,
            is_module: true,
            globals: FxHashSet::default(),
            nonlocals: FxHashSet::default(),
            returned: None,
            loops: Vec::new(),
            guards: Vec::new(),
            captured: true,
            standing: None,
        }
    }

    fn func(&self, func: FuncRef) -> &'p Func {
        let program = self.program;
        program.func(func)
    }
}
