//! What the program has made by a point: its objects, what is assumed of the unknown, and the open tests passed.
//!
//! States are cheap to copy (copy on write, in chunks), so that both arms of a test that cannot be decided run on a state
//! of their own and are joined after it. Objects keep their handle across the arms; a join works object by object.

use super::value::*;
use crate::program::{ClassRef, ExprRef, FileId};
use crate::syntax::ir::{Span, Sym};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A value that may be missing.
#[derive(Clone, Debug)]
pub struct Slot {
    pub value: Abs,
    /// Only on some ways has it been set, for these reasons.
    pub maybe: Option<Why>,
    /// Where it was put, for entries of dictionaries.
    pub place: Option<Place>,
}

/// Where code stands.
pub type Place = (FileId, Span);

impl From<Abs> for Slot {
    fn from(value: Abs) -> Slot {
        Slot { value, maybe: None, place: None }
    }
}

pub type Attrs = FxHashMap<Sym, Slot>;

#[derive(Clone, Debug)]
pub struct Instance {
    pub class: Option<ClassRef>,
    pub kind: Kind,
    pub attrs: Attrs,
    /// Fields that a record declares to have another value than was given.
    pub declared: FxHashMap<Sym, Abs>,
    /// It can have attributes that are not known here, for these reasons.
    pub open: Option<Why>,
}

impl Instance {
    pub fn new(class: Option<ClassRef>, kind: Kind) -> Instance {
        Instance { class, kind, attrs: Attrs::default(), declared: FxHashMap::default(), open: None }
    }
}

/// Objects with a meaning of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Plain,
    /// The record of the arguments.
    Record,
    /// Attributes are the record's fields, as declared by now.
    View(ObjId),
    /// The list of what the record declares.
    Declarations(ObjId),
    /// Any object of its class.
    StandIn,
    /// The argument parser, and what it parsed.
    Parser,
    Namespace,
}

#[derive(Clone, Debug)]
pub enum Items {
    Known(Vec<Abs>),
    /// Which and how many hangs on the reasons.
    Open(Why),
}

#[derive(Clone, Debug, Default)]
pub struct Dict {
    pub entries: Vec<(Value, Slot)>,
    /// There can be others.
    pub open: Option<Why>,
}

#[derive(Clone, Debug, Default)]
pub struct Env {
    pub vars: Attrs,
    pub outer: Option<ObjId>,
}

#[derive(Clone, Debug)]
pub enum Object {
    Instance(Instance),
    List(Items),
    Set(Items),
    Dict(Dict),
    Env(Env),
}

const CHUNK: usize = 32;
type Chunk = Vec<Option<Rc<Object>>>;

/// Objects by handle. A copy shares all chunks until one is written.
#[derive(Clone, Default)]
pub struct Heap {
    chunks: Vec<Option<Rc<Chunk>>>,
}

impl Heap {
    pub fn get(&self, id: ObjId) -> Option<&Rc<Object>> {
        let (chunk, place) = split(id);
        self.chunks.get(chunk)?.as_ref()?.get(place)?.as_ref()
    }

    pub fn put(&mut self, id: ObjId, object: Rc<Object>) {
        let (chunk, place) = split(id);
        if self.chunks.len() <= chunk {
            self.chunks.resize(chunk + 1, None);
        }
        let Some(chunk) = self.chunks.get_mut(chunk) else { return };
        let chunk = chunk.get_or_insert_with(|| Rc::new(vec![None; CHUNK]));
        if let Some(slot) = Rc::make_mut(chunk).get_mut(place) {
            *slot = Some(object);
        }
    }

    pub fn remove(&mut self, id: ObjId) {
        let (chunk, place) = split(id);
        if self.get(id).is_some()
            && let Some(Some(chunk)) = self.chunks.get_mut(chunk)
            && let Some(slot) = Rc::make_mut(chunk).get_mut(place)
        {
            *slot = None;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (ObjId, &Rc<Object>)> {
        let chunks = self.chunks.iter().enumerate().filter_map(|(i, c)| c.as_ref().map(|c| (i, c)));
        chunks.flat_map(|(i, chunk)| {
            let objects = chunk.iter().enumerate();
            objects.filter_map(move |(j, o)| o.as_ref().map(|o| (ObjId((i * CHUNK + j) as u32), o)))
        })
    }
}

fn split(id: ObjId) -> (usize, usize) {
    (id.0 as usize / CHUNK, id.0 as usize % CHUNK)
}

/// A test that cannot be decided, on the way to here.
#[derive(Debug)]
pub struct Passed {
    pub test: ExprRef,
    pub holds: bool,
    pub why: Why,
    pub before: Path,
    depth: u32,
}

/// The open tests passed, the last first.
pub type Path = Option<Rc<Passed>>;

pub fn pass(before: &Path, test: ExprRef, holds: bool, why: Why) -> Path {
    let depth = before.as_ref().map_or(0, |p| p.depth) + 1;
    Some(Rc::new(Passed { test, holds, why, before: before.clone(), depth }))
}

/// What both ways have in common.
fn common(a: &Path, b: &Path) -> Path {
    let (mut a, mut b) = (a.clone(), b.clone());
    loop {
        match (&a, &b) {
            (Some(x), Some(y)) if Rc::ptr_eq(x, y) => return a,
            (Some(x), Some(y)) => {
                let (deep_a, deep_b) = (x.depth >= y.depth, y.depth >= x.depth);
                let (up_a, up_b) = (x.before.clone(), y.before.clone());
                if deep_a {
                    a = up_a;
                }
                if deep_b {
                    b = up_b;
                }
            }
            _ => return None,
        }
    }
}

/// The reasons of the open tests passed since a point.
fn between(since: &Path, mut at: &Path) -> Why {
    let mut out = Why::default();
    while let Some(passed) = at {
        if since.as_ref().is_some_and(|s| Rc::ptr_eq(s, passed)) {
            break;
        }
        out = out.and(&passed.why);
        at = &passed.before;
    }
    out
}

#[derive(Clone, Default)]
pub struct State {
    pub heap: Heap,
    /// What is known of symbols on this way.
    pub symbols: Rc<FxHashMap<Sym, Abs>>,
    /// Module variables that were assigned since the modules were loaded.
    pub globals: Rc<FxHashMap<(FileId, Sym), Abs>>,
    pub path: Path,
}

impl State {
    /// Why it is not sure that the program comes here; empty if it is.
    pub fn doubts(&self) -> Why {
        between(&None, &self.path)
    }

    pub fn is_sure(&self) -> bool {
        self.path.is_none()
    }

    /// Either state; which one hangs on the open tests that only one of them has passed.
    pub fn join(self, other: State, base: &Heap, names: &mut u32) -> State {
        self.join_with(other, base, names).0
    }

    /// The same, and the reasons. What the record's fields have after it gets names of its own, by the counter.
    pub fn join_with(mut self, other: State, base: &Heap, names: &mut u32) -> (State, Why) {
        let path = common(&self.path, &other.path);
        let why = between(&path, &self.path).and(&between(&path, &other.path));
        let why = if why.is_empty() { Why::of("a condition that is not resolved") } else { why };
        let why = &why;
        self.path = path;
        if !Rc::ptr_eq(&self.symbols, &other.symbols) {
            let both = |key: &Sym, value: &Abs| other.symbols.get(key).is_some_and(|v| v.same(value));
            Rc::make_mut(&mut self.symbols).retain(|key, value| both(key, value));
        }
        if !Rc::ptr_eq(&self.globals, &other.globals) {
            let mine = Rc::make_mut(&mut self.globals);
            for (key, value) in other.globals.iter() {
                mine.entry(*key).and_modify(|v| *v = v.join(value, why)).or_insert_with(|| value.clone().also(why));
            }
        }
        for (i, theirs) in other.heap.chunks.iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            match self.heap.chunks.get(i) {
                Some(Some(mine)) if Rc::ptr_eq(mine, theirs) => {}
                Some(Some(_)) => self.join_chunk(i, theirs, why, base, names),
                _ => {
                    for (j, object) in theirs.iter().enumerate() {
                        if let Some(object) = object {
                            self.heap.put(ObjId((i * CHUNK + j) as u32), against_base(object, i, j, why, base, names));
                        }
                    }
                }
            }
        }
        // What only this side has changed of the base.
        for i in 0..self.heap.chunks.len() {
            let theirs = other.heap.chunks.get(i).and_then(Option::as_ref);
            let Some(Some(mine)) = self.heap.chunks.get(i) else { continue };
            if theirs.is_some_and(|t| Rc::ptr_eq(mine, t)) {
                continue;
            }
            let mine = mine.clone();
            for (j, object) in mine.iter().enumerate() {
                let missing = theirs.is_none_or(|t| t.get(j).is_none_or(Option::is_none));
                if let (Some(object), true) = (object, missing) {
                    let id = ObjId((i * CHUNK + j) as u32);
                    if base.get(id).is_some() {
                        self.heap.put(id, against_base(object, i, j, why, base, names));
                    }
                }
            }
        }
        let why = why.clone();
        (self, why)
    }

    fn join_chunk(&mut self, i: usize, theirs: &Rc<Chunk>, why: &Why, base: &Heap, names: &mut u32) {
        let Some(Some(mine)) = self.heap.chunks.get(i).cloned() else { return };
        for (j, (mine, theirs)) in mine.iter().zip(theirs.iter()).enumerate() {
            let id = ObjId((i * CHUNK + j) as u32);
            match (mine, theirs) {
                (Some(mine), Some(theirs)) if !Rc::ptr_eq(mine, theirs) => {
                    self.heap.put(id, Rc::new(join_objects(mine, theirs, why, names)));
                }
                (None, Some(theirs)) => self.heap.put(id, against_base(theirs, i, j, why, base, names)),
                _ => {}
            }
        }
    }
}

/// An object that one side changed, while the other has it as the modules made it.
fn against_base(object: &Rc<Object>, i: usize, j: usize, why: &Why, base: &Heap, names: &mut u32) -> Rc<Object> {
    match base.get(ObjId((i * CHUNK + j) as u32)) {
        Some(before) if !Rc::ptr_eq(before, object) => Rc::new(join_objects(object, before, why, names)),
        _ => object.clone(),
    }
}

fn join_objects(a: &Object, b: &Object, why: &Why, names: &mut u32) -> Object {
    match (a, b) {
        (Object::Instance(a), Object::Instance(b)) => Object::Instance(join_instances(a, b, why, names)),
        (Object::List(a), Object::List(b)) => Object::List(join_items(a, b, why)),
        (Object::Set(a), Object::Set(b)) => Object::Set(join_items(a, b, why)),
        (Object::Dict(a), Object::Dict(b)) => Object::Dict(join_dicts(a, b, why)),
        (Object::Env(a), Object::Env(b)) => {
            Object::Env(Env { vars: join_attrs(&a.vars, &b.vars, why), outer: a.outer })
        }
        // One handle is one kind of object.
        _ => a.clone(),
    }
}

fn join_instances(a: &Instance, b: &Instance, why: &Why, names: &mut u32) -> Instance {
    let mut attrs = join_attrs(&a.attrs, &b.attrs, why);
    if a.kind == Kind::Record {
        let mut new: Vec<&Sym> = attrs.iter().filter(|(_, slot)| is_nameless(&slot.value)).map(|(n, _)| n).collect();
        new.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        for field in new.into_iter().copied().collect::<Vec<_>>() {
            if let Some(slot) = attrs.get_mut(&field) {
                slot.value = named(slot.value.clone(), field, names);
            }
        }
    }
    let mut declared = FxHashMap::default();
    let given = |side: &Instance, field: &Sym| side.attrs.get(field).map(|slot| slot.value.clone());
    let mut fields: Vec<&Sym> = a.declared.keys().chain(b.declared.keys()).collect();
    fields.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    for field in fields {
        if declared.contains_key(field) {
            continue;
        }
        let of = |side: &Instance| side.declared.get(field).cloned().or_else(|| given(side, field));
        let joined = match (of(a), of(b)) {
            (Some(a), Some(b)) => a.join(&b, why),
            (Some(one), None) | (None, Some(one)) => one.also(why),
            (None, None) => continue,
        };
        declared.insert(*field, named(joined, *field, names));
    }
    let open = match (&a.open, &b.open) {
        (Some(a), Some(b)) => Some(a.and(b)),
        (a, b) => a.clone().or(b.clone()),
    };
    Instance { class: a.class, kind: a.kind.clone(), attrs, declared, open }
}

fn is_nameless(value: &Abs) -> bool {
    value.vague().is_some_and(|v| v.symbol.is_none())
}

/// A field that is not exactly known is the same whenever it is read: it gets a name.
pub fn named(value: Abs, field: Sym, names: &mut u32) -> Abs {
    if !is_nameless(&value) {
        return value;
    }
    *names += 1;
    value.named(Sym::from(&format!("{field}#{names}")))
}

fn join_slots(a: &Slot, b: &Slot, why: &Why) -> Slot {
    let maybe = match (&a.maybe, &b.maybe) {
        (Some(a), Some(b)) => Some(a.and(b)),
        (a, b) => a.clone().or(b.clone()),
    };
    Slot { value: a.value.join(&b.value, why), maybe, place: if a.value.same(&b.value) { a.place } else { b.place } }
}

fn only_one(slot: &Slot, why: &Why) -> Slot {
    let maybe = slot.maybe.as_ref().map_or_else(|| why.clone(), |m| m.and(why));
    Slot { value: slot.value.clone(), maybe: Some(maybe), place: slot.place }
}

fn join_attrs(a: &Attrs, b: &Attrs, why: &Why) -> Attrs {
    let mut out = a.clone();
    for (name, theirs) in b {
        match out.get_mut(name) {
            Some(mine) => {
                if !(mine.value.same(&theirs.value) && mine.maybe == theirs.maybe) {
                    *mine = join_slots(mine, theirs, why);
                }
            }
            None => {
                out.insert(*name, only_one(theirs, why));
            }
        }
    }
    for (name, mine) in &mut out {
        if !b.contains_key(name) {
            *mine = only_one(mine, why);
        }
    }
    out
}

fn join_items(a: &Items, b: &Items, why: &Why) -> Items {
    match (a, b) {
        (Items::Known(a), Items::Known(b)) if a.len() == b.len() => {
            Items::Known(a.iter().zip(b).map(|(a, b)| a.join(b, why)).collect())
        }
        (Items::Open(a), Items::Open(b)) => Items::Open(a.and(b)),
        (Items::Open(open), _) | (_, Items::Open(open)) => Items::Open(open.and(why)),
        _ => Items::Open(why.clone()),
    }
}

fn join_dicts(a: &Dict, b: &Dict, why: &Why) -> Dict {
    let find = |dict: &Dict, key: &Value| dict.entries.iter().position(|(k, _)| k.same(key));
    let mut entries: Vec<(Value, Slot)> = Vec::new();
    for (key, mine) in &a.entries {
        let joined = match find(b, key).and_then(|i| b.entries.get(i)) {
            Some((_, theirs)) => join_slots(mine, theirs, why),
            None => only_one(mine, why),
        };
        entries.push((key.clone(), joined));
    }
    for (key, theirs) in &b.entries {
        if find(a, key).is_none() {
            entries.push((key.clone(), only_one(theirs, why)));
        }
    }
    let open = match (&a.open, &b.open) {
        (Some(a), Some(b)) => Some(a.and(b)),
        (a, b) => a.clone().or(b.clone()),
    };
    Dict { entries, open }
}
