//! Answers questions that depend on one another, cycles included, each as often as its answer still changes.
//!
//! A top-down solver (Le Charlier and Van Hentenryck, 1992; Seidl and Vogler, 2018): a question is worked out when it is
//! first asked, and whoever reads its answer is noted. In a cycle a reader gets the answer so far; when that changes, its
//! readers are worked out again, until nothing changes. What is found does not depend on the order of asking.
//!
//! A question is asked at a *level*, for analyses that stop following something after a number of levels; an answer that
//! no such stop has bent stands for all levels.

use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::hash::Hash;

/// An answer; the default is what is known before anything is.
pub trait Answer: Clone + PartialEq + Default {
    /// Both answers as one, for a question whose answer does not settle by itself.
    fn joined(self, other: &Self) -> Self;
}

/// How deep questions may nest before the rest is worked out from the top again.
const MAX_DEPTH: usize = 48;
/// After so many changes the old answer is kept beside the new one; after so many more the answer stands as it is.
const MAX_CHANGES: u8 = 8;

pub struct Solver<Q, A> {
    inner: RefCell<Inner<Q, A>>,
    level: Cell<u8>,
}

struct Inner<Q, A> {
    /// Answers that stand, whatever the level.
    settled: FxHashMap<Q, A>,
    ids: FxHashMap<(Q, u8), usize>,
    entries: Vec<Entry<Q, A>>,
    /// The questions being worked out, each with whether a stop has bent its answer.
    stack: Vec<(usize, bool)>,
    /// Questions that were asked too deep.
    pending: Vec<usize>,
    /// The entries that were worked out since the first question of the stack was asked.
    fresh: Vec<usize>,
}

struct Entry<Q, A> {
    question: Q,
    level: u8,
    answer: A,
    /// Has the answer been worked out, and nothing that it rests on changed since?
    stable: bool,
    running: bool,
    bent: bool,
    changes: u8,
    readers: Vec<usize>,
}

impl<Q, A> Default for Solver<Q, A> {
    fn default() -> Self {
        let inner = Inner {
            settled: FxHashMap::default(),
            ids: FxHashMap::default(),
            entries: Vec::new(),
            stack: Vec::new(),
            pending: Vec::new(),
            fresh: Vec::new(),
        };
        Solver { inner: RefCell::new(inner), level: Cell::new(0) }
    }
}

impl<Q: Clone + Eq + Hash, A: Answer> Solver<Q, A> {
    /// The answer to a question; `work_out` may ask others.
    pub fn ask(&self, question: Q, work_out: &dyn Fn(&Q) -> A) -> A {
        if let Some(known) = self.inner.borrow().settled.get(&question) {
            return known.clone();
        }
        let (id, nested, ready, deep) = {
            let inner = &mut *self.inner.borrow_mut();
            let id = inner.entry(question, self.level.get());
            let entry = &inner.entries[id];
            let depth = inner.stack.len();
            (id, depth > 0, entry.stable || entry.running, depth >= MAX_DEPTH)
        };
        if !ready && deep {
            self.inner.borrow_mut().pending.push(id);
        } else if !ready {
            self.solve(id, work_out);
        }
        if !nested {
            self.finish(id, work_out);
        }
        self.inner.borrow_mut().read(id)
    }

    pub fn level(&self) -> u8 {
        self.level.get()
    }

    /// Runs something at another level.
    pub fn at_level<T>(&self, level: u8, run: impl FnOnce() -> T) -> T {
        let before = self.level.replace(level);
        let out = run();
        self.level.set(before);
        out
    }

    /// Says that the question being worked out was not followed further, because of its level.
    pub fn stopped(&self) {
        if let Some((_, bent)) = self.inner.borrow_mut().stack.last_mut() {
            *bent = true;
        }
    }

    fn solve(&self, id: usize, work_out: &dyn Fn(&Q) -> A) {
        loop {
            let (question, level) = self.inner.borrow_mut().start(id);
            let answer = self.at_level(level, || work_out(&question));
            if self.inner.borrow_mut().end(id, answer) {
                return;
            }
        }
    }

    /// Works out what was put off, and the question at the top again if that changed it.
    fn finish(&self, id: usize, work_out: &dyn Fn(&Q) -> A) {
        loop {
            let next = {
                let inner = &mut *self.inner.borrow_mut();
                let put_off = inner.pending.pop();
                match put_off {
                    Some(put_off) if inner.entries[put_off].stable => continue,
                    None if inner.entries[id].stable => break,
                    Some(put_off) => put_off,
                    None => id,
                }
            };
            self.solve(next, work_out);
        }
        self.inner.borrow_mut().settle();
    }
}

impl<Q: Clone + Eq + Hash, A: Answer> Inner<Q, A> {
    fn entry(&mut self, question: Q, level: u8) -> usize {
        let next = self.entries.len();
        let id = *self.ids.entry((question.clone(), level)).or_insert(next);
        if id == next {
            let answer = A::default();
            let readers = Vec::new();
            let entry =
                Entry { question, level, answer, stable: false, running: false, bent: false, changes: 0, readers };
            self.entries.push(entry);
        }
        id
    }

    /// The answer so far, with the question being worked out as its reader.
    fn read(&mut self, id: usize) -> A {
        let entry = &mut self.entries[id];
        if let Some((reader, bent)) = self.stack.last_mut() {
            *bent |= entry.bent;
            if !entry.readers.contains(reader) {
                entry.readers.push(*reader);
            }
        }
        entry.answer.clone()
    }

    fn start(&mut self, id: usize) -> (Q, u8) {
        self.stack.push((id, false));
        self.fresh.push(id);
        let entry = &mut self.entries[id];
        entry.stable = true;
        entry.running = true;
        (entry.question.clone(), entry.level)
    }

    /// Takes an answer in; does it stand?
    fn end(&mut self, id: usize, answer: A) -> bool {
        let bent = self.stack.pop().is_some_and(|(_, bent)| bent);
        let entry = &mut self.entries[id];
        entry.running = false;
        if answer != entry.answer || bent != entry.bent {
            entry.changes = entry.changes.saturating_add(1);
            if entry.changes > 4 * MAX_CHANGES {
                entry.stable = true;
                return true;
            }
            let keep = entry.changes > MAX_CHANGES;
            entry.answer = if keep { answer.joined(&entry.answer) } else { answer };
            entry.bent = bent;
            self.unsettle_readers(id);
        }
        self.entries[id].stable
    }

    fn unsettle_readers(&mut self, id: usize) {
        let mut open = std::mem::take(&mut self.entries[id].readers);
        while let Some(reader) = open.pop() {
            let entry = &mut self.entries[reader];
            entry.stable = false;
            open.append(&mut entry.readers);
        }
    }

    /// With nothing being worked out, what is stable stands for good.
    fn settle(&mut self) {
        for id in std::mem::take(&mut self.fresh) {
            let entry = &mut self.entries[id];
            entry.readers = Vec::new();
            entry.changes = 0;
            if entry.stable && !entry.bent {
                self.settled.insert(entry.question.clone(), entry.answer.clone());
            }
        }
    }
}
