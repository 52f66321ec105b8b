//! The word index of one file: which identifiers its text holds and how, and what its header lines define.
//!
//! One pass over the bytes, no parser. It may say too much (words in comments and strings count, hashes may collide) but
//! never too little.

use crate::syntax::ir::Sym;

/// A class header: `class name(bases...)`, bases by their last name.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: Sym,
    pub bases: Vec<Sym>,
}

/// The ways in which a word stands in a text; several may be asked for at once.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Uses(u8);

impl Uses {
    /// `word`, neither an attribute nor what a `def` or `class` names.
    pub const BARE: Uses = Uses(1);
    /// `.word`, not called.
    pub const ATTRIBUTE: Uses = Uses(2);
    /// `word(`
    pub const CALL: Uses = Uses(4);
    /// `.word(`
    pub const METHOD: Uses = Uses(8);
    /// `"word`, which can be the name of an attribute.
    pub const QUOTED: Uses = Uses(16);
    const DEFINED: Uses = Uses(32);
    /// In an `import` statement, beside the others.
    pub const IMPORTED: Uses = Uses(64);

    pub const fn or(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }
}

#[derive(Default)]
pub struct FileIndex {
    /// Sorted by hash, with the uses of each word in `uses`.
    words: Box<[u32]>,
    uses: Box<[Uses]>,
    /// Does it import all that some module has?
    pub imports_all: bool,
    pub classes: Vec<Header>,
    pub functions: Vec<Sym>,
    /// `name: Class`, `name = Class(`: the name and the class it suggests.
    pub hints: Vec<(Sym, Sym)>,
}

/// FNV-1a; collisions only cost a file looked at in vain.
pub fn hash(word: &[u8]) -> u32 {
    word.iter().fold(0x811c_9dc5, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193))
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// What stands before an identifier, as far as hints need it.
#[derive(Copy, Clone, PartialEq)]
enum Before {
    Nothing,
    /// `name:` or `name: Optional[`
    Annotation,
    /// `name =`
    Assignment,
}

/// How far an import statement goes: to the end of the line, or of the brackets.
#[derive(Copy, Clone, PartialEq)]
enum Import {
    None,
    Line,
    Brackets,
}

impl FileIndex {
    pub fn of(text: &[u8]) -> FileIndex {
        let mut out = FileIndex::default();
        let mut words: Vec<(u32, u8)> = Vec::with_capacity(text.len() / 12);
        let mut defines = false;
        let mut subject: &[u8] = &[];
        let mut before = Before::Nothing;
        let mut i = 0;
        let mut line_start = true;
        let mut import = Import::None;
        while i < text.len() {
            let b = text[i];
            if is_word(b) {
                let start = i;
                while i < text.len() && is_word(text[i]) {
                    i += 1;
                }
                let word = &text[start..i];
                if word[0].is_ascii_digit() {
                    line_start = false;
                    continue;
                }
                let use_ = if defines { Uses::DEFINED } else { use_of(text, start, i) };
                if line_start && (word == b"import" || word == b"from") {
                    import = Import::Line;
                }
                let use_ = if import == Import::None { use_ } else { use_.or(Uses::IMPORTED) };
                words.push((hash(word), use_.0));
                defines = word == b"def" || word == b"class";
                out.imports_all |= word == b"import" && text[i..].trim_ascii_start().first() == Some(&b'*');
                if line_start && word == b"class" {
                    out.class_header(&text[i..]);
                } else if word == b"def" {
                    let name: &[u8] = word_after(&text[i..]);
                    if !name.is_empty() {
                        out.functions.push(sym(name));
                    }
                }
                let next = text.get(i).copied().unwrap_or(b'\n');
                if word[0].is_ascii_uppercase() && before != Before::Nothing {
                    let wrapper = next == b'[';
                    let call = next == b'(';
                    if !wrapper && (before == Before::Annotation || call) && !subject.is_empty() && next != b'.' {
                        out.hints.push((sym(subject), sym(word)));
                        before = Before::Nothing;
                    }
                } else {
                    // `a.B` keeps what stood before `a`; anything else starts anew.
                    if next != b'.' || before == Before::Nothing {
                        subject = word;
                        before = Before::Nothing;
                    }
                }
                line_start = false;
                continue;
            }
            defines &= matches!(b, b' ' | b'\t' | b'\\') || (b == b'\n' && text[..i].ends_with(b"\\"));
            import = match (import, b) {
                (Import::Line, b'(') => Import::Brackets,
                (Import::Line, b'\n') if !text[..i].trim_ascii_end().ends_with(b"\\") => Import::None,
                (Import::Brackets, b')') => Import::None,
                (same, _) => same,
            };
            match b {
                b'\n' => {
                    line_start = true;
                    before = Before::Nothing;
                    subject = &[];
                }
                b' ' | b'\t' | b'"' | b'\'' | b'.' | b'[' => {}
                b':' => before = Before::Annotation,
                b'=' if text.get(i + 1) != Some(&b'=') && before != Before::Assignment => before = Before::Assignment,
                _ => {
                    before = Before::Nothing;
                    subject = &[];
                }
            }
            if b != b' ' && b != b'\t' && b != b'\n' {
                line_start = false;
            }
            i += 1;
        }
        words.sort_unstable();
        words.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 |= later.1;
            }
            same
        });
        out.words = words.iter().map(|(hash, _)| *hash).collect();
        out.uses = words.iter().map(|(_, uses)| Uses(*uses)).collect();
        out
    }

    pub fn has(&self, hash: u32) -> bool {
        self.position(hash).is_some()
    }

    /// Where the word stands in the sorted list. Hashes spread evenly, so it is near where its size says.
    fn position(&self, hash: u32) -> Option<usize> {
        const NEAR: usize = 12;
        let words = &self.words;
        let guess = ((u64::from(hash) * words.len() as u64) >> 32) as usize;
        let (from, to) = (guess.saturating_sub(NEAR), (guess + NEAR).min(words.len()));
        let near = words.get(from..to)?;
        match (near.first(), near.last()) {
            (Some(first), Some(last)) if *first <= hash && hash <= *last => {
                near.iter().position(|w| *w == hash).map(|i| from + i)
            }
            _ => words.binary_search(&hash).ok(),
        }
    }

    /// Does the word stand there in one of these ways?
    pub fn has_use(&self, hash: u32, uses: Uses) -> bool {
        let found = self.position(hash).and_then(|i| self.uses.get(i));
        found.is_some_and(|found| found.0 & uses.0 != 0)
    }

    fn class_header(&mut self, rest: &[u8]) {
        let name = word_after(rest);
        if name.is_empty() {
            return;
        }
        let mut header = Header { name: sym(name), bases: Vec::new() };
        let limit = rest.len().min(2000);
        let open = rest[..limit].iter().position(|b| matches!(b, b'(' | b':'));
        if let Some(open) = open.filter(|o| rest[*o] == b'(') {
            let close = rest[open..limit].iter().position(|b| matches!(b, b':')).map_or(limit, |c| open + c);
            for part in rest[open..close].split(|b| !is_word(*b)) {
                if part.first().is_some_and(|b| !b.is_ascii_digit()) {
                    header.bases.push(sym(part));
                }
            }
        }
        self.classes.push(header);
    }
}

/// How the word from `start` to `end` stands there. What ends the line before it may belong to a comment.
fn use_of(text: &[u8], start: usize, end: usize) -> Uses {
    let head = &text[..start];
    let before = head.iter().rposition(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'\\'));
    let mut after = text[end..].iter().filter(|b| **b != b' ');
    let (bare, attribute) = match after.next() {
        Some(b'(') => (Uses::CALL.or(Uses::BARE), Uses::METHOD),
        // `(name)(`
        Some(b')') if after.find(|b| **b != b')') == Some(&b'(') => {
            (Uses::CALL.or(Uses::BARE), Uses::METHOD.or(Uses::ATTRIBUTE))
        }
        _ => (Uses::BARE, Uses::ATTRIBUTE),
    };
    match before.map(|at| (head[at], head[at..].contains(&b'\n'))) {
        Some((b'.', false)) => attribute,
        Some((b'.', true)) => attribute.or(bare),
        Some((b'"' | b'\'', _)) => Uses::QUOTED.or(bare),
        _ => bare,
    }
}

fn word_after(rest: &[u8]) -> &[u8] {
    let start = rest.iter().position(|b| *b != b' ' && *b != b'\t').unwrap_or(rest.len());
    let rest = &rest[start..];
    let end = rest.iter().position(|b| !is_word(*b)).unwrap_or(rest.len());
    &rest[..end]
}

fn sym(word: &[u8]) -> Sym {
    Sym::from(&String::from_utf8_lossy(word))
}
