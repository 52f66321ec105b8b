//! Cuts a shell script into words and operators (POSIX.1-2017, 2.2 to 2.10, with bash's arrays and `$'…'`).
//!
//! Nothing is expanded here; a word is kept as its parts. The bodies of here-documents are text and are skipped. Lexing
//! never fails: what is not closed ends with the text, and is noted.

#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// Text; `quoted` text is not split.
    Text { text: String, quoted: bool },
    /// `$name` and `${…}`: what stands between the braces.
    Param { inner: String, quoted: bool },
    /// `$(…)` and `` `…` ``, with the source.
    Command { source: String, quoted: bool },
    /// `$((…))`
    Arithmetic { inner: String },
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Word {
    pub parts: Vec<Part>,
    pub line: u32,
    /// As it stands in the script.
    pub source: String,
}

impl Word {
    /// The text of a word that is one unquoted literal.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    Word(Word),
    /// `name=(…)`, `name+=(…)`
    Array {
        name: String,
        adds: bool,
        words: Vec<Word>,
    },
    /// `;`, `&`, `|`, `&&`, `||`, `;;`, newline, `(`, `)`
    Operator(String),
}

/// What was cut, and what could not be made sense of.
#[derive(Default, Debug)]
pub struct Lexed {
    pub items: Vec<Item>,
    pub notes: Vec<(u32, String)>,
}

/// More items than this are no script that anyone wrote.
const MAX_ITEMS: usize = 400_000;
const MAX_NESTING: u32 = 40;

pub fn lex(text: &str) -> Lexed {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        chars: &chars,
        at: 0,
        line: 1,
        depth: 0,
        out: Lexed::default(),
        heredocs: Vec::new(),
        redirected: false,
    };
    lexer.all();
    lexer.out
}

struct Lexer<'c> {
    chars: &'c [char],
    at: usize,
    line: u32,
    depth: u32,
    out: Lexed,
    /// Ends of here-documents that begin after this line; with `true` tabs before the end are skipped.
    heredocs: Vec<(String, bool)>,
    /// The next word is the target of a redirection.
    redirected: bool,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn note(&mut self, line: u32, what: &str) {
        const MAX_NOTES: usize = 20;
        if self.out.notes.len() < MAX_NOTES {
            self.out.notes.push((line, what.to_owned()));
        }
    }

    fn all(&mut self) {
        while let Some(c) = self.peek(0) {
            if self.out.items.len() >= MAX_ITEMS {
                self.note(self.line, "the script is too long; the rest is not read");
                return;
            }
            match c {
                '\n' => {
                    self.next();
                    self.operator("\n");
                    self.skip_heredocs();
                }
                ' ' | '\t' | '\r' => {
                    self.next();
                }
                '\\' if self.peek(1) == Some('\n') => {
                    self.next();
                    self.next();
                }
                '\\' if self.peek(1) == Some('\r') && self.peek(2) == Some('\n') => {
                    self.at += 2;
                    self.next();
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                ';' | '&' | '|' | '(' | ')' => self.operators(c),
                '<' | '>' => self.redirection(),
                _ => self.word(),
            }
        }
        if !self.heredocs.is_empty() {
            self.note(self.line, "a here-document does not end");
        }
    }

    fn operator(&mut self, text: &str) {
        self.redirected = false;
        self.out.items.push(Item::Operator(text.to_owned()));
    }

    fn operators(&mut self, c: char) {
        if c == '&' && self.peek(1) == Some('>') {
            // `&>file`
            self.next();
            self.redirection();
            return;
        }
        self.next();
        let double = matches!(c, ';' | '&' | '|') && self.peek(0) == Some(c);
        if double || c == '|' && self.peek(0) == Some('&') {
            self.next();
        }
        let text: String = std::iter::repeat_n(c, if double { 2 } else { 1 }).collect();
        self.operator(&text);
    }

    /// A redirection says nothing of the command; its target is dropped with it.
    fn redirection(&mut self) {
        // A number right before it is a file descriptor.
        if let Some(Item::Word(word)) = self.out.items.last() {
            let is_number = word.bare().is_some_and(|t| t.len() <= 2 && t.bytes().all(|b| b.is_ascii_digit()));
            if is_number && self.at > 0 && self.chars.get(self.at - 1).is_some_and(char::is_ascii_digit) {
                self.out.items.pop();
            }
        }
        let first = self.next();
        match (first, self.peek(0)) {
            (Some('<'), Some('<')) => {
                self.next();
                if self.peek(0) == Some('<') {
                    self.next();
                    self.redirected = true;
                    return;
                }
                let tabs = self.peek(0) == Some('-');
                if tabs {
                    self.next();
                }
                self.heredoc_start(tabs);
                return;
            }
            (_, Some('(')) => {
                // `<(command)` is a word.
                self.next();
                self.balanced(')');
                return;
            }
            (_, Some('>' | '|')) => {
                self.next();
            }
            (_, Some('&')) => {
                self.next();
                // `2>&1`
                while self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
                    self.next();
                }
                return;
            }
            _ => {}
        }
        self.redirected = true;
    }

    fn heredoc_start(&mut self, tabs: bool) {
        while self.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            self.next();
        }
        let mut end = String::new();
        let mut quote = None;
        while let Some(c) = self.peek(0) {
            match (quote, c) {
                (None, '\'' | '"') => quote = Some(c),
                (Some(q), c) if q == c => quote = None,
                (None, '\\') => {}
                (None, c) if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')') => break,
                (_, '\n') => break,
                (_, c) => end.push(c),
            }
            self.next();
        }
        self.heredocs.push((end, tabs));
    }

    fn skip_heredocs(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.heredocs) {
            let start = self.line;
            loop {
                if self.peek(0).is_none() {
                    self.note(start, "a here-document does not end");
                    break;
                }
                let mut text = String::new();
                while let Some(c) = self.peek(0) {
                    if c == '\n' {
                        break;
                    }
                    // Only the end mark matters.
                    if text.len() <= end.len() + 64 {
                        text.push(c);
                    }
                    self.next();
                }
                self.next();
                let text = if tabs { text.trim_start_matches('\t') } else { &text };
                if text.trim_end_matches('\r') == end {
                    break;
                }
            }
        }
    }

    fn word(&mut self) {
        let (start, line) = (self.at, self.line);
        let mut parts: Vec<Part> = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                '(' => {
                    let name = text.strip_suffix('=').map(|n| (n.trim_end_matches('+').to_owned(), n.ends_with('+')));
                    match name {
                        Some((name, adds)) if parts.is_empty() && is_name(&name) => {
                            self.next();
                            self.array(name, adds);
                            return;
                        }
                        _ => break,
                    }
                }
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some('\r') if self.peek(0) == Some('\n') => {
                            self.next();
                        }
                        Some(c) => {
                            flush(&mut parts, &mut text, false);
                            parts.push(Part::Text { text: c.to_string(), quoted: true });
                        }
                    }
                }
                '\'' => {
                    self.next();
                    flush(&mut parts, &mut text, false);
                    let quoted = self.until_quote();
                    parts.push(Part::Text { text: quoted, quoted: true });
                }
                '"' => {
                    self.next();
                    flush(&mut parts, &mut text, false);
                    self.double_quoted(&mut parts);
                }
                '$' => {
                    flush(&mut parts, &mut text, false);
                    self.dollar(&mut parts, false);
                }
                '`' => {
                    flush(&mut parts, &mut text, false);
                    self.next();
                    let inner = self.until('`');
                    parts.push(Part::Command { source: format!("`{inner}`"), quoted: false });
                }
                c => {
                    text.push(c);
                    self.next();
                }
            }
        }
        flush(&mut parts, &mut text, false);
        if self.at == start {
            // A character that begins nothing.
            self.next();
            return;
        }
        if std::mem::take(&mut self.redirected) {
            return;
        }
        let source: String = self.chars.get(start..self.at).unwrap_or_default().iter().take(200).collect();
        self.out.items.push(Item::Word(Word { parts, line, source }));
    }

    fn array(&mut self, name: String, adds: bool) {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            self.note(self.line, "it is nested too deep");
            self.depth -= 1;
            return;
        }
        let start = self.out.items.len();
        let line = self.line;
        loop {
            match self.peek(0) {
                None => {
                    self.note(line, "an array does not end");
                    break;
                }
                Some(')') => {
                    self.next();
                    break;
                }
                Some(c) if c.is_whitespace() => {
                    self.next();
                }
                Some('#') => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                Some('\\') if self.peek(1) == Some('\n') => {
                    self.next();
                    self.next();
                }
                Some(';' | '&' | '|' | '<' | '>' | '(') => {
                    self.next();
                }
                Some(_) => self.word(),
            }
            if self.out.items.len() >= MAX_ITEMS {
                break;
            }
        }
        self.depth -= 1;
        let words = self.out.items.split_off(start.min(self.out.items.len()));
        let words = words.into_iter().filter_map(|i| match i {
            Item::Word(word) => Some(word),
            _ => None,
        });
        let words = words.collect();
        self.out.items.push(Item::Array { name, adds, words });
    }

    fn until_quote(&mut self) -> String {
        let line = self.line;
        let mut out = String::new();
        loop {
            match self.next() {
                Some('\'') => return out,
                Some(c) => out.push(c),
                None => {
                    self.note(line, "a quote does not end");
                    return out;
                }
            }
        }
    }

    fn until(&mut self, end: char) -> String {
        let line = self.line;
        let mut out = String::new();
        loop {
            match self.next() {
                Some(c) if c == end => return out,
                Some('\\') => {
                    if let Some(c) = self.next() {
                        out.push('\\');
                        out.push(c);
                    }
                }
                Some(c) => out.push(c),
                None => {
                    self.note(line, "a quote does not end");
                    return out;
                }
            }
        }
    }

    fn double_quoted(&mut self, parts: &mut Vec<Part>) {
        let line = self.line;
        let mut text = String::new();
        loop {
            match self.peek(0) {
                None => {
                    self.note(line, "a quote does not end");
                    break;
                }
                Some('"') => {
                    self.next();
                    break;
                }
                Some('\\') => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                        Some(c) => {
                            text.push('\\');
                            text.push(c);
                        }
                    }
                }
                Some('$') => {
                    flush(parts, &mut text, true);
                    self.dollar(parts, true);
                }
                Some('`') => {
                    flush(parts, &mut text, true);
                    self.next();
                    let inner = self.until('`');
                    parts.push(Part::Command { source: format!("`{inner}`"), quoted: true });
                }
                Some(c) => {
                    text.push(c);
                    self.next();
                }
            }
        }
        // `""` is a word, though an empty one.
        if !text.is_empty() || parts.is_empty() {
            parts.push(Part::Text { text, quoted: true });
        }
    }

    fn dollar(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        self.next();
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => {
                self.next();
                self.next();
                let inner = self.balanced(')');
                if self.peek(0) == Some(')') {
                    self.next();
                }
                parts.push(Part::Arithmetic { inner });
            }
            Some('(') => {
                self.next();
                let inner = self.balanced(')');
                parts.push(Part::Command { source: format!("$({inner})"), quoted });
            }
            Some('{') => {
                self.next();
                let inner = self.balanced('}');
                parts.push(Part::Param { inner, quoted });
            }
            Some('\'') if !quoted => {
                self.next();
                let inner = self.until('\'');
                parts.push(Part::Text { text: ansi(&inner), quoted: true });
            }
            // `$"…"` is a text that may be translated: the quote that follows says what it is.
            Some('"') if !quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek(0).filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.next();
                }
                parts.push(Part::Param { inner: name, quoted });
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-') => {
                self.next();
                parts.push(Part::Param { inner: c.to_string(), quoted });
            }
            _ => parts.push(Part::Text { text: "$".into(), quoted }),
        }
    }

    /// What stands up to the end mark, with whatever is nested or quoted in it.
    fn balanced(&mut self, end: char) -> String {
        let open = if end == ')' { '(' } else { '{' };
        let line = self.line;
        let mut out = String::new();
        let mut depth = 0u32;
        let mut quote: Option<char> = None;
        loop {
            let Some(c) = self.next() else {
                self.note(line, "a parenthesis or brace does not end");
                return out;
            };
            match (quote, c) {
                (_, '\\') => {
                    out.push(c);
                    if let Some(next) = self.next() {
                        out.push(next);
                    }
                    continue;
                }
                (Some(q), c) if c == q => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(c),
                (None, c) if c == open => depth += 1,
                (None, c) if c == end => match depth {
                    0 => return out,
                    _ => depth -= 1,
                },
                _ => {}
            }
            out.push(c);
        }
    }
}

fn flush(parts: &mut Vec<Part>, text: &mut String, quoted: bool) {
    if !text.is_empty() {
        parts.push(Part::Text { text: std::mem::take(text), quoted });
    }
}

/// `$'…'`: bytes by their number in octal or hexadecimal, characters by theirs, and letters that stand for one.
fn ansi(text: &str) -> String {
    const LETTERS: &[(char, u8)] = &[
        ('a', 0x07),
        ('b', 0x08),
        ('e', 0x1b),
        ('E', 0x1b),
        ('f', 0x0c),
        ('n', b'\n'),
        ('r', b'\r'),
        ('t', b'\t'),
        ('v', 0x0b),
        ('\\', b'\\'),
        ('\'', b'\''),
        ('"', b'"'),
        ('?', b'?'),
    ];
    let mut out: Vec<u8> = Vec::new();
    let put = |out: &mut Vec<u8>, c: char| out.extend(c.encode_utf8(&mut [0; 4]).bytes());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or("");
        let Some(escaped) = rest.chars().next().filter(|_| c == '\\') else {
            put(&mut out, c);
            continue;
        };
        let after = rest.get(escaped.len_utf8()..).unwrap_or("");
        // Where the digits begin, how many they are at most, and their base.
        let (digits, most, base) = match escaped {
            '0'..='7' => (rest, 3, 8),
            'x' => (after, 2, 16),
            'u' => (after, 4, 16),
            'U' => (after, 8, 16),
            _ => {
                match LETTERS.iter().find(|(letter, _)| *letter == escaped) {
                    Some((_, byte)) => out.push(*byte),
                    None => {
                        out.push(b'\\');
                        put(&mut out, escaped);
                    }
                }
                rest = after;
                continue;
            }
        };
        let length = digits.chars().take(most).take_while(|c| c.is_digit(base)).count();
        let (number, left) = digits.split_at(length);
        match u32::from_str_radix(number, base) {
            Ok(byte) if matches!(escaped, '0'..='7' | 'x') => out.push(byte as u8),
            Ok(code) => put(&mut out, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
            Err(_) => {
                out.push(b'\\');
                put(&mut out, escaped);
            }
        }
        rest = left;
    }
    // What follows a zero is no part of a shell's text.
    let end = out.iter().position(|b| *b == 0).unwrap_or(out.len());
    String::from_utf8_lossy(out.get(..end).unwrap_or_default()).into_owned()
}

pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
