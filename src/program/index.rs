//! The word index of one file: which identifiers its text holds, and what its header lines define.
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

#[derive(Default)]
pub struct FileIndex {
    words: Box<[u32]>,
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

impl FileIndex {
    pub fn of(text: &[u8]) -> FileIndex {
        let mut out = FileIndex::default();
        let mut words: Vec<u32> = Vec::with_capacity(text.len() / 12);
        let mut subject: &[u8] = &[];
        let mut before = Before::Nothing;
        let mut i = 0;
        let mut line_start = true;
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
                words.push(hash(word));
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
        words.dedup();
        out.words = words.into();
        out
    }

    pub fn has(&self, hash: u32) -> bool {
        self.words.binary_search(&hash).is_ok()
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

fn word_after(rest: &[u8]) -> &[u8] {
    let start = rest.iter().position(|b| *b != b' ' && *b != b'\t').unwrap_or(rest.len());
    let rest = &rest[start..];
    let end = rest.iter().position(|b| !is_word(*b)).unwrap_or(rest.len());
    &rest[..end]
}

fn sym(word: &[u8]) -> Sym {
    Sym::from(&String::from_utf8_lossy(word))
}
