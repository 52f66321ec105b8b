//! The tree as one program: files parsed on demand, names resolved across them.
//!
//! A *word index*, made in one pass over the bytes, says which files can mention a name, so that a question about one
//! name parses only those. It knows nothing of configuration fields; that is the business of `flow` and `meaning`.

pub mod classes;
pub mod constants;
pub mod index;
pub mod profile;
pub mod resolve;
pub mod solver;
pub mod types;

use crate::syntax::defuse::DefUse;
use crate::syntax::ir::*;
use crate::syntax::lower::lower;
pub use index::Uses;
use index::{FileIndex, Header};
use profile::Profile;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// A file of the program.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A function of the program.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FuncRef {
    pub file: FileId,
    pub func: FuncId,
}

/// A class of the program.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClassRef {
    pub file: FileId,
    pub class: ClassId,
}

/// An expression of the program.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ExprRef {
    pub file: FileId,
    pub expr: ExprId,
}

/// Where the texts come from. `source::Tree` is one; tests make their own.
pub trait FileSet: Sync {
    fn paths(&self) -> Vec<String>;
    fn read(&self, index: usize) -> Result<Vec<u8>, String>;
    /// Was a file left out when the tree was listed (too big, a link out of the tree)?
    fn is_incomplete(&self) -> bool {
        false
    }
}

pub struct File {
    pub path: String,
    /// Dotted name; a package's `__init__` has the package's.
    pub module: Sym,
    pub is_package: bool,
    pub text: Vec<u8>,
    index: FileIndex,
    unit: OnceLock<Unit>,
    /// Where each line starts.
    lines: OnceLock<Box<[u32]>>,
}

/// How an expression mentions a word.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mention {
    Name,
    Attr,
    /// A string that is the word.
    Str,
    /// A call with a keyword of this name.
    Keyword,
}

struct Unit {
    ir: FileIr,
    defuse: Mutex<FxHashMap<Scope, Arc<DefUse>>>,
    calls: OnceLock<FxHashMap<Sym, Vec<ExprId>>>,
    attrs: OnceLock<FxHashMap<Sym, Vec<ExprId>>>,
    part_stores: OnceLock<Vec<ExprId>>,
    mentions: OnceLock<FxHashMap<Sym, Vec<(ExprId, Mention)>>>,
    returns: OnceLock<FxHashMap<FuncId, Vec<ExprId>>>,
}

/// A name, and the file that defines it.
type Defined = (FileId, Sym);

pub struct Program {
    pub profile: Profile,
    files: Vec<File>,
    modules: FxHashMap<Sym, FileId>,
    /// Classes by the last name of a base, from the word index.
    subclass_headers: FxHashMap<Sym, Vec<(FileId, Header)>>,
    /// Function definitions by name.
    function_headers: FxHashMap<Sym, Vec<FileId>>,
    class_headers: FxHashMap<Sym, Vec<FileId>>,
    hints: FxHashMap<Sym, Vec<(Sym, u32)>>,
    memo: classes::ClassMemo,
    mentioning: Mutex<FxHashMap<Sym, Arc<[FileId]>>>,
    naming: Mutex<FxHashMap<Defined, Arc<[FileId]>>>,
    /// Files that could not be read, each with why.
    pub unread: Vec<(String, String)>,
    /// Files were left out before that.
    left_out: bool,
}

impl Program {
    /// Reads every file once and indexes its words; parses none.
    pub fn load(set: &dyn FileSet, profile: Profile) -> Program {
        let paths = set.paths();
        let wanted: Vec<(usize, String)> = paths.into_iter().enumerate().filter(|(_, p)| profile.counts(p)).collect();
        let read: Vec<_> = wanted
            .into_par_iter()
            .map(|(i, path)| match set.read(i) {
                // Python refuses it too; UTF-16 is the usual case.
                Ok(text) if text.contains(&0) => Err((path, "it holds NUL bytes, so it is not Python".to_owned())),
                Ok(text) => {
                    let index = FileIndex::of(&text);
                    Ok((path, text, index))
                }
                Err(why) => Err((path, why)),
            })
            .collect();
        let mut program = Program {
            profile,
            files: Vec::new(),
            modules: FxHashMap::default(),
            subclass_headers: FxHashMap::default(),
            function_headers: FxHashMap::default(),
            class_headers: FxHashMap::default(),
            hints: FxHashMap::default(),
            memo: classes::ClassMemo::default(),
            mentioning: Mutex::default(),
            naming: Mutex::default(),
            unread: Vec::new(),
            left_out: set.is_incomplete(),
        };
        for item in read {
            match item {
                Ok((path, text, index)) => program.add(path, text, index),
                Err(unread) => program.unread.push(unread),
            }
        }
        program
    }

    fn add(&mut self, path: String, text: Vec<u8>, mut index: FileIndex) {
        let id = FileId(self.files.len() as u32);
        let stem = path.strip_suffix(".py").unwrap_or(&path);
        let (stem, is_package) = match stem.strip_suffix("/__init__") {
            Some(package) => (package, true),
            None => (stem, false),
        };
        let module = Sym::from(&stem.replace('/', "."));
        self.modules.insert(module, id);
        for header in index.classes.drain(..) {
            self.class_headers.entry(header.name).or_default().push(id);
            for base in &header.bases {
                self.subclass_headers.entry(*base).or_default().push((id, header.clone()));
            }
        }
        for name in index.functions.drain(..) {
            let files = self.function_headers.entry(name).or_default();
            files.push(id);
        }
        for (name, class) in index.hints.drain(..) {
            let known = self.hints.entry(name).or_default();
            match known.iter_mut().find(|(c, _)| *c == class) {
                Some((_, count)) => *count += 1,
                None => known.push((class, 1)),
            }
        }
        self.files.push(File { path, module, is_package, text, index, unit: OnceLock::new(), lines: OnceLock::new() });
    }

    pub fn file_ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    pub fn file_by_module(&self, module: Sym) -> Option<FileId> {
        self.modules.get(&module).copied()
    }

    fn unit(&self, id: FileId) -> &Unit {
        let file = self.file(id);
        file.unit.get_or_init(|| Unit {
            ir: lower(&file.text),
            defuse: Mutex::default(),
            calls: OnceLock::new(),
            attrs: OnceLock::new(),
            part_stores: OnceLock::new(),
            mentions: OnceLock::new(),
            returns: OnceLock::new(),
        })
    }

    /// The file's representation; parses it the first time.
    pub fn ir(&self, id: FileId) -> &FileIr {
        &self.unit(id).ir
    }

    /// Does the tree hold files that nobody looked at?
    pub fn is_incomplete(&self) -> bool {
        self.left_out || !self.unread.is_empty()
    }

    pub fn parsed_files(&self) -> usize {
        self.files.iter().filter(|f| f.unit.get().is_some()).count()
    }

    /// Of the files parsed so far, the first region of each that did not parse, and how many more there are.
    pub fn skipped_regions(&self) -> Vec<(&str, u32, usize)> {
        let parsed = self.files.iter().filter_map(|f| f.unit.get().map(|u| (f, u)));
        parsed
            .filter_map(|(f, u)| u.ir.skipped.first().map(|s| (f.path.as_str(), s.line, u.ir.skipped.len() - 1)))
            .collect()
    }

    /// Parses the given files in parallel.
    pub fn parse_all(&self, files: &[FileId]) {
        files.par_iter().for_each(|f| {
            self.unit(*f);
        });
    }

    pub fn defuse(&self, file: FileId, scope: Scope) -> Arc<DefUse> {
        let unit = self.unit(file);
        if let Some(known) = unit.defuse.lock().unwrap_or_else(|e| e.into_inner()).get(&scope) {
            return known.clone();
        }
        let made = Arc::new(DefUse::of(&unit.ir, scope));
        unit.defuse.lock().unwrap_or_else(|e| e.into_inner()).insert(scope, made.clone());
        made
    }

    /// The calls of a file by the last name of what is called.
    pub fn calls_named(&self, file: FileId, name: Sym) -> &[ExprId] {
        let unit = self.unit(file);
        let calls = unit.calls.get_or_init(|| {
            let mut by_name: FxHashMap<Sym, Vec<ExprId>> = FxHashMap::default();
            for (i, node) in unit.ir.exprs.iter().enumerate() {
                if let Expr::Call { func, .. } = node.kind
                    && let Some(name) = last_name(&unit.ir, func)
                {
                    by_name.entry(name).or_default().push(ExprId(i as u32));
                }
            }
            by_name
        });
        calls.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Expressions that mention a name as a value: not as what a call calls, not as a target.
    pub fn value_mentions(&self, name: Sym) -> Vec<ExprRef> {
        let mut out = Vec::new();
        for file in self.files_with(name).iter().copied() {
            let ir = self.ir(file);
            for expr in self.named(file, name) {
                let called = matches!(ir.exprs[expr.index()].parent, Parent::Expr(up)
                    if matches!(ir.expr(up), Expr::Call { func, .. } if *func == expr));
                if !called && !self.is_store(file, expr) {
                    out.push(ExprRef { file, expr });
                }
            }
        }
        out
    }

    /// The expressions of a file that mention a word, in the order of the arena.
    pub fn mentions(&self, file: FileId, word: Sym) -> &[(ExprId, Mention)] {
        let unit = self.unit(file);
        let mentions = unit.mentions.get_or_init(|| {
            let mut by_word: FxHashMap<Sym, Vec<(ExprId, Mention)>> = FxHashMap::default();
            let mut push = |word: Sym, i: usize, how| by_word.entry(word).or_default().push((ExprId(i as u32), how));
            for (i, node) in unit.ir.exprs.iter().enumerate() {
                match &node.kind {
                    Expr::Name(name) => push(*name, i, Mention::Name),
                    Expr::Attr { attr, .. } => push(*attr, i, Mention::Attr),
                    Expr::Str(text) if text.len() < 80 => push(*text, i, Mention::Str),
                    Expr::Call { args, .. } => {
                        for arg in args {
                            if let ArgKind::Keyword(name) = arg.kind {
                                push(name, i, Mention::Keyword);
                            }
                        }
                    }
                    _ => {}
                }
            }
            by_word
        });
        mentions.get(&word).map_or(&[], Vec::as_slice)
    }

    /// The names and attributes of a file that are the word.
    pub fn named(&self, file: FileId, word: Sym) -> impl Iterator<Item = ExprId> + use<'_> {
        let named = self.mentions(file, word).iter().filter(|(_, how)| matches!(how, Mention::Name | Mention::Attr));
        named.map(|(at, _)| *at)
    }

    /// Where a file stores to an attribute or an element, other than to an attribute of a method's own object.
    pub fn part_stores(&self, file: FileId) -> &[ExprId] {
        let unit = self.unit(file);
        unit.part_stores.get_or_init(|| {
            let ir = &unit.ir;
            let own = |base: ExprId| matches!(ir.expr(base), Expr::Name(n) if n == "self" || n == "cls");
            let is_part = |at: &ExprId| match ir.expr(*at) {
                Expr::Attr { base, .. } | Expr::Subscript { base, .. } => !own(*base) && self.is_store(file, *at),
                _ => false,
            };
            (0..ir.exprs.len() as u32).map(ExprId).filter(is_part).collect()
        })
    }

    /// The attribute expressions `….name` of a file.
    pub fn attrs_named(&self, file: FileId, name: Sym) -> &[ExprId] {
        let unit = self.unit(file);
        let attrs = unit.attrs.get_or_init(|| {
            let mut by_name: FxHashMap<Sym, Vec<ExprId>> = FxHashMap::default();
            for (i, node) in unit.ir.exprs.iter().enumerate() {
                if let Expr::Attr { attr, .. } = node.kind {
                    by_name.entry(attr).or_default().push(ExprId(i as u32));
                }
            }
            by_name
        });
        attrs.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The files whose text holds this identifier, in order.
    pub fn files_with(&self, word: Sym) -> Arc<[FileId]> {
        if let Some(known) = self.mentioning.lock().unwrap_or_else(|e| e.into_inner()).get(&word) {
            return known.clone();
        }
        let hash = index::hash(word.as_bytes());
        let found: Arc<[FileId]> = self.file_ids().filter(|f| self.file(*f).index.has(hash)).collect();
        self.mentioning.lock().unwrap_or_else(|e| e.into_inner()).insert(word, found.clone());
        found
    }

    /// The files in which a word stands in one of these ways, in order.
    pub fn files_using(&self, word: Sym, uses: Uses) -> Vec<FileId> {
        let hash = index::hash(word.as_bytes());
        self.files_with(word).iter().copied().filter(|f| self.file(*f).index.has_use(hash, uses)).collect()
    }

    /// The files that can name what one file defines at its top level, in order: to import it, a file must name the
    /// module, or another one that imports it.
    pub fn files_naming(&self, defined_in: FileId, name: Sym) -> Arc<[FileId]> {
        let key = (defined_in, name);
        if let Some(known) = self.naming.lock().unwrap_or_else(|e| e.into_inner()).get(&key) {
            return known.clone();
        }
        let hash = index::hash(name.as_bytes());
        let uses = |f: &FileId, uses| self.file(*f).index.has_use(hash, uses);
        let takes_all = |f: &FileId| self.file(*f).index.imports_all;
        let mut open: Vec<FileId> = self.files_with(name).to_vec();
        open.extend(self.file_ids().filter(|f| takes_all(f) && !self.has_word(*f, name)));
        open.retain(|f| *f != defined_in);
        let mut known = vec![defined_in];
        // Those that name it as a part of a module have no name of their own to hand on.
        let mut users = Vec::new();
        let mut next = 0;
        while let Some(from) = known.get(next).copied() {
            next += 1;
            let module = self.file(from).module;
            let word = Sym::from(module.rsplit('.').next().unwrap_or_default());
            let of_module = index::hash(word.as_bytes());
            let package = if self.file(from).is_package { Some(format!("{module}.")) } else { None };
            open.retain(|f| {
                let sibling = package.as_ref().is_some_and(|p| self.file(*f).module.starts_with(p.as_str()));
                if !sibling && !self.has_word(*f, word) {
                    return true;
                }
                if uses(f, Uses::IMPORTED.or(Uses::QUOTED)) || takes_all(f) {
                    known.push(*f);
                    return false;
                }
                let has_module = self.file(*f).index.has_use(of_module, Uses::IMPORTED.or(Uses::ATTRIBUTE));
                let is_part = (has_module || sibling) && uses(f, Uses::ATTRIBUTE.or(Uses::METHOD));
                if is_part {
                    users.push(*f);
                }
                !is_part
            });
        }
        known.append(&mut users);
        known.retain(|f| self.has_word(*f, name));
        known.sort();
        let found: Arc<[FileId]> = known.into();
        self.naming.lock().unwrap_or_else(|e| e.into_inner()).insert(key, found.clone());
        found
    }

    /// The `return` (and `yield`) expressions of a function, in source order.
    pub fn returns(&self, func: FuncRef) -> &[ExprId] {
        let unit = self.unit(func.file);
        let returns = unit.returns.get_or_init(|| {
            let mut by_func: FxHashMap<FuncId, Vec<ExprId>> = FxHashMap::default();
            for stmt in &unit.ir.stmts {
                let Scope::Func(func) = stmt.scope else { continue };
                let value = match &stmt.kind {
                    Stmt::Return(value) => *value,
                    Stmt::Expr(e) => match unit.ir.expr(*e) {
                        Expr::Yield { value, .. } => *value,
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(value) = value {
                    by_func.entry(func).or_default().push(value);
                }
            }
            by_func
        });
        returns.get(&func.func).map_or(&[], Vec::as_slice)
    }

    /// For each name, the classes that annotations and constructor calls suggest, with how often.
    pub fn hints(&self) -> impl Iterator<Item = (&Sym, &Vec<(Sym, u32)>)> {
        self.hints.iter()
    }

    pub fn has_word(&self, file: FileId, word: Sym) -> bool {
        self.file(file).index.has(index::hash(word.as_bytes()))
    }

    /// The files that define a function of this name.
    pub fn files_defining_function(&self, name: Sym) -> &[FileId] {
        self.function_headers.get(&name).map_or(&[], Vec::as_slice)
    }

    pub fn files_defining_class(&self, name: Sym) -> &[FileId] {
        self.class_headers.get(&name).map_or(&[], Vec::as_slice)
    }

    /// One line of a file, trimmed.
    pub fn line(&self, file: FileId, line: u32) -> String {
        let file = self.file(file);
        let text = &file.text;
        let starts = file
            .lines
            .get_or_init(|| std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|i| i as u32 + 1)).collect());
        let start = starts.get(line.saturating_sub(1) as usize).map_or(text.len(), |s| *s as usize);
        let end = starts.get(line as usize).map_or(text.len(), |s| *s as usize);
        let line = text.get(start..end).unwrap_or(&[]);
        String::from_utf8_lossy(line).trim().to_owned()
    }

    /// The source of a range, without comments, white space folded.
    pub fn text(&self, file: FileId, range: ByteRange) -> String {
        let text = &self.file(file).text;
        let bytes = text.get(range.start as usize..(range.end as usize).min(text.len())).unwrap_or(&[]);
        let text = String::from_utf8_lossy(bytes);
        let text = if text.contains('#') { without_comments(&text) } else { text };
        let mut out = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            if !out.is_empty() && !out.ends_with(['(', '[']) && !word.starts_with([')', ']']) {
                out.push(' ');
            }
            out.push_str(word);
        }
        out
    }

    pub fn expr_text(&self, at: ExprRef) -> String {
        self.text(at.file, self.ir(at.file).range(at.expr))
    }
}

/// What is left of a piece of source without its comments. A string with a quote of its own kind inside ends early;
/// then more stays than should.
fn without_comments(text: &str) -> std::borrow::Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut escaped, mut comment) = (None, false, false);
    for c in text.chars() {
        match (quote, c) {
            _ if comment && c != '\n' => continue,
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') => {
                comment = true;
                continue;
            }
            (Some(_), '\\') if !escaped => {
                escaped = true;
                out.push(c);
                continue;
            }
            (Some(q), _) if q == c && !escaped => quote = None,
            _ => {}
        }
        (escaped, comment) = (false, false);
        out.push(c);
    }
    out.into()
}

/// `c` of `a.b.c`, `f` of `f`.
pub fn last_name(ir: &FileIr, id: ExprId) -> Option<Sym> {
    match ir.expr(id) {
        Expr::Name(name) => Some(*name),
        Expr::Attr { attr, .. } => Some(*attr),
        _ => None,
    }
}

/// `a.b.c` as text, where the expression is such a chain.
pub fn dotted_name(ir: &FileIr, id: ExprId) -> Option<String> {
    match ir.expr(id) {
        Expr::Name(name) => Some(name.to_string()),
        Expr::Attr { base, attr, .. } => Some(format!("{}.{}", dotted_name(ir, *base)?, attr)),
        _ => None,
    }
}
