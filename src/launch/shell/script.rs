//! Follows a script's commands with what its variables hold.
//!
//! Tests are not evaluated: all branches are followed, each from the same start, and what they leave different is open
//! afterwards. A loop's body is followed once, with what it assigns open. A function is followed where it is called.

use super::expand::{Var, Variables, text, words};
use super::lexer::{Item, Word, is_name, lex};
use crate::launch::command::token::{self, Token};

/// A command that the script runs.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub words: Vec<Token>,
    /// Variables that it sees.
    pub environment: Vec<(String, Option<String>)>,
    pub line: u32,
}

/// All commands of a script in the order in which they run, and what was not understood.
pub fn commands(source: &str, variables: Variables, first_line: u32) -> (Vec<Found>, Vec<(u32, String)>) {
    let lexed = lex(source);
    let mut run = Run { variables, ..Run::default() };
    run.all(&lexed.items);
    let shift = |line: u32| line + first_line.saturating_sub(1);
    let mut found = run.found;
    for command in &mut found {
        command.line = shift(command.line);
        for word in &mut command.words {
            word.line = word.line.map(shift);
        }
    }
    let notes = lexed.notes.into_iter().chain(run.notes);
    (found, notes.map(|(line, what)| (shift(line), what)).collect())
}

#[derive(Default)]
struct Run {
    variables: Variables,
    functions: Vec<Function>,
    found: Vec<Found>,
    depth: u32,
    steps: u32,
    /// What was not followed.
    notes: Vec<(u32, String)>,
}

struct Function {
    name: String,
    body: Vec<Item>,
    called: bool,
}

const MAX_DEPTH: u32 = 24;
const MAX_STEPS: u32 = 200_000;
const MAX_FOUND: usize = 2_000;

const TOO_DEEP: &str = "it is nested too deep; what is inside is not read";

/// The line of the first word from a place on.
fn line_of(items: &[Item], at: usize) -> u32 {
    let words = items.iter().skip(at);
    let mut lines = words.filter_map(|item| if let Item::Word(word) = item { Some(word.line) } else { None });
    lines.next().unwrap_or(1)
}

/// Words that open and close a compound command.
const OPENERS: [&str; 6] = ["if", "for", "while", "until", "case", "select"];
const CLOSERS: [&str; 3] = ["fi", "done", "esac"];
/// Commands whose arguments assign.
const DECLARING: [&str; 5] = ["export", "declare", "local", "readonly", "typeset"];

impl Run {
    fn all(&mut self, items: &[Item]) {
        self.block(items);
        // Functions that nothing here calls may be called from elsewhere.
        for i in 0..self.functions.len() {
            let Some(function) = self.functions.get_mut(i).filter(|f| !f.called) else { continue };
            function.called = true;
            let body = function.body.clone();
            let before = self.variables.clone();
            self.variables.positional = None;
            self.block(&body);
            self.variables = before;
        }
    }

    fn block(&mut self, items: &[Item]) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.note(line_of(items, 0), TOO_DEEP);
        } else {
            let mut at = 0;
            while at < items.len() && self.steps < MAX_STEPS && self.found.len() < MAX_FOUND {
                self.steps += 1;
                at = self.command(items, at);
            }
            if at < items.len() {
                self.note(line_of(items, at), "too many commands are run; the rest is not read");
            }
        }
        self.depth -= 1;
    }

    /// Says once what was not followed.
    fn note(&mut self, line: u32, what: &str) {
        if self.notes.iter().all(|(_, said)| said != what) {
            self.notes.push((line, what.to_owned()));
        }
    }

    /// One command from a place on; gives the place after it.
    fn command(&mut self, items: &[Item], at: usize) -> usize {
        match items.get(at) {
            Some(Item::Operator(_)) => at + 1,
            Some(Item::Array { .. }) => self.simple(items, at),
            Some(Item::Word(word)) => match word.bare() {
                Some("if") => self.compound(items, at, "fi", &["then", "elif", "else"], false),
                Some("while" | "until") => self.compound(items, at, "done", &["do"], true),
                Some("for" | "select") => self.for_loop(items, at),
                Some("case") => self.compound(items, at, "esac", &["in"], false),
                Some("function") => self.function(items, at + 1),
                Some("{" | "}" | "!" | "then" | "do" | "else" | "elif" | "fi" | "done" | "esac" | "time") => at + 1,
                _ if self.is_function(items, at) => self.function(items, at),
                _ => self.simple(items, at),
            },
            None => at + 1,
        }
    }

    /// `name ()`
    fn is_function(&self, items: &[Item], at: usize) -> bool {
        let is = |i: usize, op: &str| matches!(items.get(i), Some(Item::Operator(o)) if o == op);
        is(at + 1, "(") && is(at + 2, ")")
    }

    fn function(&mut self, items: &[Item], at: usize) -> usize {
        let Some(Item::Word(word)) = items.get(at) else { return at + 1 };
        let name = word.bare().unwrap_or("").to_owned();
        let mut body = at + 1;
        let is_sign = |i: usize| match items.get(i) {
            Some(Item::Operator(o)) => matches!(o.as_str(), "(" | ")" | "\n"),
            Some(Item::Word(w)) => w.bare() == Some("{"),
            _ => false,
        };
        let mut braced = false;
        while is_sign(body) {
            braced |= matches!(items.get(body), Some(Item::Word(_)));
            body += 1;
            if braced {
                break;
            }
        }
        if !braced {
            return body;
        }
        let end = matching_brace(items, body);
        let body = items.get(body..end).unwrap_or_default().to_vec();
        self.functions.retain(|f| f.name != name);
        self.functions.push(Function { name, body, called: false });
        end + 1
    }

    /// `if … fi`, `while … done`, `case … esac`: every block from the same start.
    fn compound(&mut self, items: &[Item], at: usize, close: &str, parts: &[&str], loops: bool) -> usize {
        let end = matching_end(items, at, close);
        let inner = items.get(at + 1..end).unwrap_or_default();
        let mut start = self.variables.clone();
        let mut ways = Vec::new();
        let mut has_else = false;
        for (part, block) in blocks(inner, parts, close == "esac") {
            has_else |= part == Part::Else;
            self.variables = start.clone();
            if loops {
                self.forget_assigned(block);
            }
            self.block(block);
            // What a condition assigns stays, whichever way is taken then.
            match part {
                Part::Condition => start = self.variables.clone(),
                Part::Body | Part::Else => ways.push(self.variables.clone()),
            }
        }
        if !has_else {
            ways.push(start);
        }
        self.variables = Variables::joined(ways);
        end + 1
    }

    fn for_loop(&mut self, items: &[Item], at: usize) -> usize {
        let end = matching_end(items, at, "done");
        let inner = items.get(at + 1..end).unwrap_or_default();
        let start = self.variables.clone();
        if let Some(Item::Word(word)) = inner.first()
            && let Some(name) = word.bare()
        {
            self.variables.set(name, Var::Text(token::unknown(&format!("${name}"))));
        }
        let body = inner.iter().position(|i| matches!(i, Item::Word(w) if w.bare() == Some("do")));
        let body = body.and_then(|b| inner.get(b + 1..)).unwrap_or_default();
        self.forget_assigned(body);
        self.block(body);
        self.variables = Variables::joined(vec![start, self.variables.clone()]);
        end + 1
    }

    /// What a loop assigns is not known in its body.
    fn forget_assigned(&mut self, body: &[Item]) {
        for item in body {
            let name = match item {
                Item::Array { name, .. } => Some(name.clone()),
                Item::Word(word) => assignment(word).map(|(name, _)| name),
                Item::Operator(_) => None,
            };
            if let Some(name) = name {
                self.variables.set(&name, Var::Text(token::unknown(&format!("${name}"))));
            }
        }
    }

    /// A simple command up to the next operator.
    fn simple(&mut self, items: &[Item], at: usize) -> usize {
        let mut end = at;
        while end < items.len() && !matches!(items.get(end), Some(Item::Operator(_))) {
            end += 1;
        }
        let items = items.get(at..end).unwrap_or_default();
        let leading = items.iter().take_while(|i| match i {
            Item::Array { .. } => true,
            Item::Word(word) => assignment(word).is_some(),
            Item::Operator(_) => false,
        });
        let leading = leading.count();
        let (assigned, rest) = items.split_at(leading);
        if rest.is_empty() {
            assigned.iter().for_each(|i| self.assign(i));
            return end.max(at + 1);
        }
        // Assignments before a command hold for it alone.
        let before = (!assigned.is_empty()).then(|| self.variables.clone());
        let mut own: Vec<(String, Option<String>)> = Vec::new();
        for item in assigned {
            if let Item::Word(word) = item
                && let Some((name, value)) = assignment(word)
            {
                let value = text(&value, &self.variables);
                own.push((name, (!token::is_open(&value)).then_some(value)));
            }
        }
        let first = match rest.first() {
            Some(Item::Word(word)) => word.bare().unwrap_or("").to_owned(),
            _ => String::new(),
        };
        if DECLARING.contains(&first.as_str()) {
            self.declare(&first, rest.get(1..).unwrap_or_default());
            return end.max(at + 1);
        }
        let mut tokens: Vec<Token> = Vec::new();
        let mut line = 0;
        for item in rest {
            if let Item::Word(word) = item {
                if line == 0 {
                    line = word.line;
                }
                tokens.extend(words(word, &self.variables));
            }
        }
        self.run(tokens, own, line);
        if let Some(before) = before {
            self.variables = before;
        }
        end.max(at + 1)
    }

    fn declare(&mut self, command: &str, items: &[Item]) {
        for item in items {
            match item {
                Item::Array { .. } => self.assign(item),
                Item::Word(word) => match assignment(word) {
                    Some((name, _)) => {
                        self.assign(item);
                        if command == "export" || command == "declare" {
                            self.variables.export(&name);
                        }
                    }
                    None => {
                        if let (Some(name), "export") = (word.bare(), command) {
                            self.variables.export(name);
                        }
                    }
                },
                Item::Operator(_) => {}
            }
        }
    }

    fn assign(&mut self, item: &Item) {
        match item {
            Item::Word(word) => {
                let Some((name, value)) = assignment(word) else { return };
                let adds = word.bare_start().contains("+=");
                let new = text(&value, &self.variables);
                let new = match (adds, self.variables.get(&name)) {
                    (true, Some(Var::Text(old))) => format!("{old}{new}"),
                    (true, Some(Var::Array(_))) => token::unknown(&format!("${name}")),
                    _ => new,
                };
                self.variables.set(&name, Var::Text(new));
            }
            Item::Array { name, adds, words: items } => {
                let mut all: Vec<String> = match (adds, self.variables.get(name)) {
                    (true, Some(Var::Array(old))) => old.clone(),
                    (true, Some(Var::Text(old))) => vec![old.clone()],
                    (true, None) => Vec::new(),
                    (false, _) => Vec::new(),
                };
                all.extend(items.iter().flat_map(|w| words(w, &self.variables)).map(|t| t.text));
                self.variables.set(name, Var::Array(all));
            }
            Item::Operator(_) => {}
        }
    }

    fn run(&mut self, tokens: Vec<Token>, own: Vec<(String, Option<String>)>, line: u32) {
        let first = tokens.first().map(|t| t.text.clone()).unwrap_or_default();
        match first.as_str() {
            "unset" => tokens.iter().skip(1).for_each(|t| self.variables.unset(&t.text)),
            "read" | "mapfile" | "readarray" | "getopts" => {
                for name in tokens.iter().skip(1).map(|t| &t.text).filter(|n| is_name(n)) {
                    self.variables.set(name, Var::Text(token::unknown(&format!("${name}"))));
                }
            }
            "set" if tokens.get(1).is_some_and(|t| t.text == "--") => {
                self.variables.positional = Some(tokens.iter().skip(2).map(|t| t.text.clone()).collect());
            }
            "shift" => {
                let count = tokens.get(1).map_or(Some(1), |t| t.text.parse().ok());
                self.variables.positional = match (self.variables.positional.take(), count) {
                    (Some(args), Some(n)) => Some(args.into_iter().skip(n).collect()),
                    _ => None,
                };
            }
            "eval" => {
                let source = tokens.iter().skip(1).map(|t| t.text.as_str()).collect::<Vec<_>>().join(" ");
                self.nested(&source, line);
            }
            name if self.functions.iter().any(|f| f.name == name) => {
                let args = tokens.iter().skip(1).map(|t| t.text.clone()).collect();
                self.call(name, args);
            }
            _ => {
                let mut environment = self.variables.environment();
                for (name, value) in own {
                    environment.retain(|(n, _)| *n != name);
                    environment.push((name, value));
                }
                self.found.push(Found { words: tokens, environment, line });
            }
        }
    }

    fn call(&mut self, name: &str, args: Vec<String>) {
        let Some(function) = self.functions.iter_mut().find(|f| f.name == name) else { return };
        function.called = true;
        let body = function.body.clone();
        let outer = self.variables.positional.replace(args);
        self.block(&body);
        self.variables.positional = outer;
    }

    /// A text that is run as a script of its own, with the same variables.
    fn nested(&mut self, source: &str, line: u32) {
        if token::is_open(source) {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.note(line, TOO_DEEP);
            return;
        }
        let lexed = lex(source);
        lexed.notes.iter().for_each(|(_, what)| self.note(line, what));
        let start = self.found.len();
        self.block(&lexed.items);
        for command in self.found.iter_mut().skip(start) {
            command.line = line;
            command.words.iter_mut().for_each(|w| w.line = Some(line));
        }
    }
}

/// `name=value` or `name+=value` as a word: the name and the word of the value.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let start = word.bare_start();
    let (name, _) = start.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    // `name[3]=value` changes an array that is then not known; it is no simple variable.
    if !is_name(name) {
        return None;
    }
    let mut value = word.clone();
    if let Some(super::lexer::Part::Text { text, .. }) = value.parts.first_mut() {
        *text = text.split_once('=').map(|(_, v)| v.to_owned()).unwrap_or_default();
    }
    Some((name.to_owned(), value))
}

impl Word {
    /// The literal text at the start.
    fn bare_start(&self) -> &str {
        match self.parts.first() {
            Some(super::lexer::Part::Text { text, quoted: false }) => text,
            _ => "",
        }
    }
}

/// The place of the word that ends a compound command.
fn matching_end(items: &[Item], at: usize, close: &str) -> usize {
    let mut depth = 0u32;
    let mut starts = true;
    for (i, item) in items.iter().enumerate().skip(at) {
        if let Item::Word(word) = item {
            match word.bare() {
                Some(w) if starts && OPENERS.contains(&w) => depth += 1,
                Some(w) if starts && CLOSERS.contains(&w) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && w == close {
                        return i;
                    }
                    if depth == 0 {
                        return i;
                    }
                }
                _ => {}
            }
            starts = matches!(
                word.bare(),
                Some("then" | "do" | "else" | "elif" | "if" | "while" | "until" | "!" | "{" | "time")
            );
        } else {
            starts = matches!(item, Item::Operator(_));
        }
    }
    items.len()
}

fn matching_brace(items: &[Item], from: usize) -> usize {
    let mut depth = 1u32;
    for (i, item) in items.iter().enumerate().skip(from) {
        if let Item::Word(word) = item {
            match word.bare() {
                Some("{") => depth += 1,
                Some("}") => {
                    depth -= 1;
                    if depth == 0 {
                        return i;
                    }
                }
                _ => {}
            }
        }
    }
    items.len()
}

/// What a block of a compound command is for.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Part {
    Condition,
    Body,
    Else,
}

/// The blocks of a compound command.
fn blocks<'i>(inner: &'i [Item], parts: &[&str], is_case: bool) -> Vec<(Part, &'i [Item])> {
    let mut cuts: Vec<(usize, Part)> = vec![(0, Part::Condition)];
    let mut depth = 0u32;
    let mut starts = true;
    for (i, item) in inner.iter().enumerate() {
        match item {
            Item::Word(word) => {
                let bare = word.bare().unwrap_or("");
                if starts && OPENERS.contains(&bare) {
                    depth += 1;
                } else if starts && CLOSERS.contains(&bare) {
                    depth = depth.saturating_sub(1);
                } else if depth == 0 && parts.contains(&bare) && (starts || is_case) {
                    let part = match bare {
                        "elif" => Part::Condition,
                        "else" => Part::Else,
                        _ => Part::Body,
                    };
                    cuts.push((i + 1, part));
                }
                starts = matches!(bare, "then" | "do" | "else" | "elif" | "if" | "while" | "until" | "!" | "{" | "in");
            }
            Item::Operator(op) => {
                starts = true;
                if is_case && depth == 0 && (op == ";;" || op == ")") {
                    cuts.push((i + 1, Part::Body));
                }
            }
            Item::Array { .. } => starts = false,
        }
    }
    let ends = cuts.iter().skip(1).map(|(i, _)| *i).chain([inner.len()]);
    cuts.iter().zip(ends).map(|((from, part), to)| (*part, inner.get(*from..to).unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: &str) -> Vec<String> {
        let (found, _) = commands(source, Variables::default(), 1);
        found.iter().map(|f| f.words.iter().map(Token::shown).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn words_are_what_a_shell_makes_of_them() {
        for (source, expected) in [
            ("a 'b c' \"d $X\" e\\ f", vec!["a|b c|d $X|e f"]),
            ("X=1; run --n $X --m=${X}2 \"$X\"", vec!["run|--n|1|--m=12|1"]),
            ("A=(--x 1 '2 3'); A+=(--y); run \"${A[@]}\"", vec!["run|--x|1|2 3|--y"]),
            ("F='--x 1'; run $F \"$F\"", vec!["run|--x|1|--x 1"]),
            ("run ${N:-8} ${N:+7} ${N-9}", vec!["run|8|9"]),
            ("TP=4; run $((TP * 2)) $((NO + 1))", vec!["run|8|$((NO + 1))"]),
            ("run a > log 2>&1 < in & next", vec!["run|a", "next"]),
            ("cat <<'EOF' > f\nrun --bad\nEOF\nrun good", vec!["cat", "run|good"]),
            ("run \\\n  --a 1 \\\n  --b # no\n", vec!["run|--a|1|--b"]),
            ("run $(nproc) `date`", vec!["run|$(nproc)|`date`"]),
            (r#"run $'\x41\102\u00e9\xc3\xa9\t\q' $"b c" "$'d'""#, vec!["run|ABéé\t\\q|b c|$'d'"]),
            (r#"run "${X:-"a  b"}" ${Y:-'c d'}"#, vec!["run|a  b|${Y:-'c d'}"]),
            ("CMD=\"run --a 1\"\n$CMD --b\neval \"$CMD --c\"", vec!["run|--a|1|--b", "run|--a|1|--c"]),
        ] {
            assert_eq!(run(source), expected, "{source}");
        }
    }

    #[test]
    fn what_grows_without_end_is_open() {
        let list = format!("A=(--tp 8)\n{}run \"${{A[@]}}\"", "A=(\"${A[@]}\" \"${A[@]}\")\n".repeat(60));
        let text = format!("B=8\n{}run $B", "B=$B$B\n".repeat(60));
        for source in [list, text] {
            let found = run(&source);
            let longest = found.iter().map(String::len).max();
            assert!(found.len() == 1 && longest < Some(64 << 20), "{longest:?}");
        }
        let line = format!("run {}", "--x 1 ".repeat(1_700_000));
        assert!(run(&line).len() <= 1);
        for source in
            ["cat <<EOF\nrun --tp 8", "run 'a", "run \"$(a \"b", &"$(".repeat(50_000), "<<<<<<< HEAD\nrun a\n======="]
        {
            run(source);
        }
    }

    #[test]
    fn what_branches_and_loops_set_is_open() {
        let open = run("if test x; then N=1; else N=2; fi\nrun $N");
        assert_eq!(open.last().map(String::as_str), Some("run|$N"));
        let same = run("if test x; then N=1; else N=1; fi\nrun $N");
        assert_eq!(same.last().map(String::as_str), Some("run|1"));
        let looped = run("for i in 1 2; do P=$((P+1)); run $i $P; done");
        assert_eq!(looped.last().map(String::as_str), Some("run|$i|$((P+1))"));
        let called = run("go() { run --n \"$1\" \"${@}\"; }\ngo 5 6");
        assert_eq!(called, ["run|--n|5|5|6"]);
        let never = run("go() { run --n $1; }");
        assert_eq!(never, ["run|--n|$1"]);
    }

    #[test]
    fn malformed_scripts_end() {
        for source in ["'", "\"$(", "${", "$((", "a=(", "if x; then", "f() {", "<<", "cat <<E", "}", ";;", "((((", "\\"]
        {
            run(source);
        }
        run(&"$(".repeat(5000));
        run(&"f() { f; }; f; ".repeat(50));
        run(&"x".repeat(2_000_000));
    }
}
