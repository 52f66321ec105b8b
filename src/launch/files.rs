//! The server commands in a file: a shell script, a Dockerfile, a compose file, Kubernetes manifests, or the server's own
//! configuration.
//!
//! A file is told by its name and, where that says nothing, by what it holds. It never runs or fetches anything; a
//! variable that only the machine knows stays open.

use super::command::token::{self, Token};
use super::shell::expand::{Var, Variables};
use super::shell::{self, Found};
use super::yaml::{self, Node};

/// A command that starts the server.
#[derive(Clone, Debug, Default)]
pub struct Command {
    pub line: Option<u32>,
    /// All of it, as it would run.
    pub words: Vec<Token>,
    /// What the server's parser gets.
    pub argv: Vec<Token>,
    /// Variables that are set; one without a value is not known.
    pub environment: Vec<(String, Option<String>)>,
    /// The file is the server's own configuration, not a command.
    pub is_config: bool,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    pub commands: Vec<Command>,
    /// Lines that could not be made sense of.
    pub notes: Vec<(u32, String)>,
}

/// Larger files are no launch scripts.
pub const MAX_BYTES: usize = 32 << 20;

enum Form {
    Shell,
    Dockerfile,
    Yaml,
}

/// The commands of a text that stands under a name. `programs` are the words by which the server is started.
pub fn commands(name: &str, source: &str, programs: &[Vec<String>]) -> Commands {
    let mut out = match form(name, source) {
        Form::Shell => of_shell(source, Variables::default(), 1, programs),
        Form::Dockerfile => of_dockerfile(source, programs),
        Form::Yaml => of_yaml(name, source, programs),
    };
    if let Some(line) = yaml::conflict(source) {
        out.notes.insert(0, (line, "a merge conflict is not resolved".into()));
    }
    out
}

fn form(name: &str, source: &str) -> Form {
    let base = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    if base.ends_with(".yaml") || base.ends_with(".yml") {
        return Form::Yaml;
    }
    let containerfile =
        base.starts_with("dockerfile") || base.starts_with("containerfile") || base.ends_with(".dockerfile");
    let first = source.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#')).unwrap_or("");
    let named = base.contains('.') || base.is_empty();
    if containerfile || !base.ends_with(".sh") && first.starts_with("FROM ") {
        return Form::Dockerfile;
    }
    let manifest = ["services:", "apiVersion:", "kind:", "version:"].iter().any(|k| first.starts_with(k));
    if (manifest || first == "---") && !(named && base.ends_with(".sh")) { Form::Yaml } else { Form::Shell }
}

// Commands

/// The server command in a list of words, if there is one: where its arguments begin.
pub fn server_at(words: &[Token], programs: &[Vec<String>]) -> Option<usize> {
    let base = |t: &Token| t.text.rsplit('/').next().unwrap_or("").to_owned();
    (0..words.len()).find_map(|at| {
        programs.iter().find_map(|program| {
            let fits = !program.is_empty()
                && program.iter().enumerate().all(|(i, want)| words.get(at + i).is_some_and(|w| base(w) == *want));
            fits.then_some(at + program.len())
        })
    })
}

/// The command that is given as an argument list, or as one text for a shell; bare flags are the server's.
pub fn of_arguments(arguments: &[String], programs: &[Vec<String>]) -> Option<Command> {
    let found = match arguments {
        [script] if script.contains(char::is_whitespace) => shell::commands(script, Variables::default(), 1).0,
        _ => vec![given(arguments)],
    };
    let flags = found.first().and_then(bare);
    let mut out = Commands::default();
    servers(found, programs, 0, &mut out);
    out.commands.into_iter().next().or(flags)
}

/// `A=b program flags`.
fn given(arguments: &[String]) -> Found {
    let mut environment = Vec::new();
    let mut words = Vec::new();
    for text in arguments.iter().map(|w| token::without_marks(w)) {
        match text.split_once('=') {
            Some((name, value)) if words.is_empty() && shell::lexer::is_name(name) => {
                environment.push((name.to_owned(), Some(value.to_owned())));
            }
            _ => words.push(Token::new(text)),
        }
    }
    Found { words, environment, line: 1 }
}

/// Flags without a program.
fn bare(found: &Found) -> Option<Command> {
    let (words, environment) = (found.words.clone(), found.environment.clone());
    let starts = words.first().is_some_and(|w| w.text.starts_with('-'));
    starts.then(|| Command { argv: words.clone(), words, environment, ..Command::default() })
}

const MAX_NESTING: u32 = 4;

/// Commands that talk of others, and run none.
const TALKERS: &[&str] = &[
    "echo", "printf", "cat", "grep", "egrep", "pgrep", "pkill", "ps", "kill", "killall", "sed", "awk", "logger",
    "alias",
];

/// The server commands among those that a script runs, also in scripts that are handed to another shell as a text.
fn servers(found: Vec<Found>, programs: &[Vec<String>], depth: u32, out: &mut Commands) {
    for command in found {
        let name = command.words.first().map_or("", |w| w.text.rsplit('/').next().unwrap_or(""));
        if TALKERS.contains(&name) {
            continue;
        }
        if let Some(at) = server_at(&command.words, programs) {
            let (before, argv) = command.words.split_at(at);
            let mut environment = command.environment;
            for (name, value) in given_variables(before) {
                environment.retain(|(n, _)| *n != name);
                environment.push((name, value));
            }
            out.commands.push(Command {
                line: Some(command.line),
                argv: argv.to_vec(),
                words: command.words,
                environment,
                is_config: false,
            });
            continue;
        }
        let last = |p: &Vec<String>| p.last().cloned().unwrap_or_default();
        let holds =
            |t: &Token| t.text.contains(char::is_whitespace) && programs.iter().any(|p| t.text.contains(&last(p)));
        if let Some(script) = command.words.iter().skip(1).find(|t| holds(t)) {
            if depth >= MAX_NESTING {
                out.notes.push((command.line, "a script in a script is nested too deep and not read".into()));
                continue;
            }
            let mut variables = Variables::default();
            for (name, value) in &command.environment {
                let value = value.clone().unwrap_or_else(|| token::unknown(&format!("${name}")));
                variables.set(name, Var::Text(value));
                variables.export(name);
            }
            let (found, notes) = shell::commands(&script.text, variables, script.line.unwrap_or(command.line));
            out.notes.extend(notes);
            servers(found, programs, depth + 1, out);
        }
    }
}

/// `env A=b`, `docker run -e A=b --env C=d`: variables that the words before the program set.
fn given_variables(before: &[Token]) -> Vec<(String, Option<String>)> {
    let mut out = Vec::new();
    let mut flagged = false;
    let env_at = before.iter().position(|t| t.text == "env" || t.text.ends_with("/env"));
    for (i, word) in before.iter().enumerate() {
        let text = word.text.strip_prefix("--env=").or(word.text.strip_prefix("-e=")).unwrap_or(&word.text);
        let named = flagged || text.len() < word.text.len() || env_at.is_some_and(|at| i > at);
        flagged = matches!(word.text.as_str(), "-e" | "--env");
        if let (true, Some((name, value))) = (named, text.split_once('='))
            && shell::lexer::is_name(name)
        {
            out.push((name.to_owned(), (!token::is_open(value)).then(|| value.to_owned())));
        }
    }
    out
}

fn of_shell(source: &str, variables: Variables, first_line: u32, programs: &[Vec<String>]) -> Commands {
    let (found, notes) = shell::commands(source, variables, first_line);
    let mut out = Commands { commands: Vec::new(), notes };
    let line_with = |what: char| source.lines().position(|l| l.contains(what)).map(|i| i as u32 + first_line);
    if let Some(line) = source.contains("\r\n").then_some(first_line) {
        out.notes
            .push((line, "the lines end in CR and LF, and are read as if in LF alone; a shell fails on them".into()));
    }
    if let Some(line) = line_with('\0') {
        out.notes.push((line, "there is a NUL byte, which a shell leaves out".into()));
    }
    servers(found, programs, 0, &mut out);
    out
}

/// Words that stand as a list, each already one argument; or as a shell and its script.
fn of_words(
    words: Vec<Token>,
    environment: Vec<(String, Option<String>)>,
    line: u32,
    programs: &[Vec<String>],
    out: &mut Commands,
) {
    servers(vec![Found { words, environment, line }], programs, 0, out);
}

// Dockerfiles

fn of_dockerfile(source: &str, programs: &[Vec<String>]) -> Commands {
    let mut out = Commands::default();
    let mut variables = Variables::default();
    let mut entrypoint: Option<Started> = None;
    let mut command: Option<Started> = None;
    for (line, instruction) in instructions(source) {
        let (word, rest) = instruction.split_once(char::is_whitespace).unwrap_or((&instruction, ""));
        match word.to_ascii_uppercase().as_str() {
            "FROM" => {
                finish(&mut entrypoint, &mut command, &variables, programs, &mut out);
                variables = Variables::default();
            }
            "ENV" => {
                let pairs = if rest.split_whitespace().next().is_some_and(|w| w.contains('=')) {
                    rest.to_owned()
                } else {
                    rest.trim_start().replacen(char::is_whitespace, "=", 1)
                };
                variables = exported(&pairs, &variables);
            }
            "ARG" => {
                // What is built in is only a default.
                let name = rest.split('=').next().unwrap_or("").trim();
                variables.set(name, Var::Text(token::unknown(&format!("${name}"))));
            }
            "ENTRYPOINT" => entrypoint = Some(started(rest, &variables, line)),
            "CMD" => command = Some(started(rest, &variables, line)),
            _ => {}
        }
    }
    finish(&mut entrypoint, &mut command, &variables, programs, &mut out);
    out
}

/// What ENTRYPOINT or CMD says.
struct Started {
    line: u32,
    words: Vec<Token>,
    /// The line for a shell that it is, if it is no list.
    script: Option<String>,
}

/// The last ENTRYPOINT and CMD of a stage make one command. A line for a shell takes no further words, and as further
/// words it is a shell and its script.
fn finish(
    entrypoint: &mut Option<Started>,
    command: &mut Option<Started>,
    variables: &Variables,
    programs: &[Vec<String>],
    out: &mut Commands,
) {
    let (entrypoint, command) = (entrypoint.take(), command.take());
    let line = entrypoint.as_ref().or(command.as_ref()).map_or(1, |s| s.line);
    let words = match (entrypoint, command) {
        (Some(first), Some(second)) if first.script.is_none() => {
            let more = match &second.script {
                Some(script) => for_a_shell(script, second.line),
                None => second.words,
            };
            first.words.into_iter().chain(more).collect()
        }
        (Some(one), _) | (None, Some(one)) => one.words,
        (None, None) => Vec::new(),
    };
    of_words(words, variables.environment(), line, programs, out);
}

/// Lines joined at the sign for it, `\` unless a directive says otherwise; comments and here-documents are left out.
fn instructions(source: &str) -> Vec<(u32, String)> {
    let escape = escape_of(source);
    let mut out: Vec<(u32, String)> = Vec::new();
    let mut open: Option<(u32, String)> = None;
    let mut documents: Vec<String> = Vec::new();
    for (i, line) in source.lines().enumerate() {
        let line_number = i as u32 + 1;
        let trimmed = line.trim();
        if let Some(end) = documents.first() {
            if trimmed == end {
                documents.remove(0);
            }
            continue;
        }
        if trimmed.starts_with('#') || trimmed.is_empty() && open.is_some() {
            continue;
        }
        let (text, continues) = match trimmed.strip_suffix(escape) {
            Some(text) => (text, true),
            None => (trimmed, false),
        };
        let (start, mut whole) = open.take().unwrap_or((line_number, String::new()));
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(text);
        match continues {
            true => open = Some((start, whole)),
            false if !whole.trim().is_empty() => {
                documents = here_documents(&whole);
                out.push((start, whole.trim().to_owned()));
            }
            false => {}
        }
    }
    out.extend(open.filter(|(_, text)| !text.trim().is_empty()));
    out
}

/// The sign that joins lines: `# escape=` among the directives at the top may name another.
fn escape_of(source: &str) -> char {
    let directives = source.lines().map_while(|l| l.trim().strip_prefix('#')).filter_map(|l| l.split_once('='));
    let mut named = directives.filter(|(name, _)| name.trim().eq_ignore_ascii_case("escape"));
    named.next().and_then(|(_, sign)| sign.trim().chars().next()).unwrap_or('\\')
}

/// The ends of the here-documents that an instruction which takes them begins.
fn here_documents(instruction: &str) -> Vec<String> {
    let takes = ["RUN", "COPY", "ADD"];
    let first = instruction.split_whitespace().next().unwrap_or("");
    if !takes.iter().any(|t| first.eq_ignore_ascii_case(t)) {
        return Vec::new();
    }
    let ends = instruction.split("<<").skip(1).map(|after| {
        let after = after.trim_start_matches('-').trim_start_matches(['"', '\'']);
        after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    });
    ends.filter(|end| !end.is_empty()).collect()
}

/// `["a", "b"]`, or a line for a shell.
fn started(rest: &str, variables: &Variables, line: u32) -> Started {
    if rest.trim_start().starts_with('[')
        && let Ok(words) = serde_json::from_str::<Vec<String>>(rest)
    {
        // No shell: variables are not put in.
        let words = words.iter().map(|w| Token::at(token::without_marks(w), line)).collect();
        return Started { line, words, script: None };
    }
    let (found, _) = shell::commands(rest, variables.clone(), line);
    let words = match found.as_slice() {
        [one] => one.words.clone(),
        _ => for_a_shell(rest, line),
    };
    Started { line, words, script: Some(rest.to_owned()) }
}

fn for_a_shell(script: &str, line: u32) -> Vec<Token> {
    ["/bin/sh", "-c", script].iter().map(|w| Token::at(token::without_marks(w), line)).collect()
}

/// Variables after `export pairs`.
fn exported(pairs: &str, variables: &Variables) -> Variables {
    let mut set = variables.clone();
    let lexed = shell::lexer::lex(pairs);
    for item in lexed.items {
        let shell::lexer::Item::Word(word) = item else { continue };
        let whole = shell::expand::text(&word, &set);
        if let Some((name, value)) = whole.split_once('=') {
            set.set(name, Var::Text(value.to_owned()));
            set.export(name);
        }
    }
    set
}

// YAML

fn of_yaml(name: &str, source: &str, programs: &[Vec<String>]) -> Commands {
    let documents = match yaml::documents(source) {
        Ok(documents) => documents,
        Err(error) => {
            return Commands { commands: Vec::new(), notes: vec![(error.line, format!("no YAML: {}", error.what))] };
        }
    };
    let mut out = Commands::default();
    let mut manifest = false;
    for document in &documents {
        if let Some(services) = document.get("services") {
            manifest = true;
            services.entries().iter().for_each(|(_, service)| compose(service, programs, &mut out));
        } else if document.get("apiVersion").is_some() || document.get("kind").is_some() {
            manifest = true;
            containers(document, 0, programs, &mut out);
        }
    }
    if !manifest
        && let [one] = documents.as_slice()
        && !one.entries().is_empty()
    {
        out.commands.push(Command {
            line: Some(1),
            argv: vec![Token::at(name, 1)],
            is_config: true,
            ..Command::default()
        });
    }
    out
}

/// A service of a compose file.
fn compose(service: &Node, programs: &[Vec<String>], out: &mut Commands) {
    let environment = compose_environment(service.get("environment"));
    let mut words = Vec::new();
    let mut line = service.line;
    for key in ["entrypoint", "command"] {
        if let Some(node) = service.get(key) {
            if words.is_empty() {
                line = node.line;
            }
            words.extend(listed(node, &interpolated));
        }
    }
    of_words(words, environment, line, programs, out);
}

fn compose_environment(node: Option<&Node>) -> Vec<(String, Option<String>)> {
    let Some(node) = node else { return Vec::new() };
    let value = |text: &str| {
        let text = interpolated(text);
        (!token::is_open(&text)).then_some(text)
    };
    let mapped = node.entries().iter().filter_map(|(k, v)| Some((k.text()?.to_owned(), v.text().and_then(value))));
    let listed = node.items().iter().filter_map(|item| {
        let text = item.text()?;
        Some(match text.split_once('=') {
            Some((name, v)) => (name.to_owned(), value(v)),
            None => (text.to_owned(), None),
        })
    });
    mapped.chain(listed).collect()
}

/// A command as a list, or as one text that is split as a shell would.
fn listed(node: &Node, put_in: &dyn Fn(&str) -> String) -> Vec<Token> {
    if let Some(text) = node.text() {
        let text = put_in(&token::without_marks(text));
        let parts = shlex::split(&text);
        let whole = || vec![token::unknown(&text)];
        return parts.unwrap_or_else(whole).into_iter().map(|w| Token::at(w, node.line)).collect();
    }
    let texts = node.items().iter().filter_map(|i| Some((i.text()?, i.line)));
    texts.map(|(text, line)| Token::at(put_in(&token::without_marks(text)), line)).collect()
}

/// `${NAME:-default}` and `$$` of compose files; what the environment would give is open.
fn interpolated(text: &str) -> String {
    interpolated_at(text, 0)
}

fn interpolated_at(text: &str, depth: u32) -> String {
    const MAX_DEFAULTS: u32 = 12;
    if depth > MAX_DEFAULTS {
        return token::unknown("a default that is nested too deep");
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let tail = tail.get(1..).unwrap_or("");
        if let Some(after) = tail.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((inner, after)) = tail.strip_prefix('{').and_then(braced) {
            let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
            let op = inner.get(end..).unwrap_or("");
            match op.strip_prefix(":-").or(op.strip_prefix('-')) {
                Some(default) => out.push_str(&interpolated_at(default, depth + 1)),
                None => out.push_str(&token::unknown(&format!("${{{inner}}}"))),
            }
            rest = after;
        } else {
            let end = tail.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(tail.len());
            let (name, after) = tail.split_at(end);
            match name.is_empty() {
                true => out.push('$'),
                false => out.push_str(&token::unknown(&format!("${name}"))),
            }
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// What stands up to the brace that closes, and what follows it.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Every container of a manifest, wherever its pod's template stands.
fn containers(node: &Node, depth: u32, programs: &[Vec<String>], out: &mut Commands) {
    const MAX_DEPTH: u32 = 40;
    if depth > MAX_DEPTH {
        out.notes.push((node.line, "it is nested too deep; what is inside is not read".into()));
        return;
    }
    for key in ["containers", "initContainers"] {
        for container in node.get(key).map_or(&[][..], Node::items) {
            kubernetes(container, programs, out);
        }
    }
    for (key, value) in node.entries() {
        if !matches!(key.text(), Some("containers" | "initContainers")) {
            containers(value, depth + 1, programs, out);
        }
    }
    node.items().iter().for_each(|item| containers(item, depth + 1, programs, out));
}

fn kubernetes(container: &Node, programs: &[Vec<String>], out: &mut Commands) {
    // A value may refer to those before it, and so double with each.
    const MAX_VALUE: usize = 1 << 16;
    let mut variables: Vec<(String, Option<String>)> = Vec::new();
    for variable in container.get("env").map_or(&[][..], Node::items) {
        let Some(name) = variable.get("name").and_then(Node::text) else { continue };
        let value = variable.get("value").and_then(Node::text).map(|text| references(text, &variables));
        let known = value.filter(|v| v.len() <= MAX_VALUE && !token::is_open(v));
        variables.push((name.to_owned(), known));
    }
    let put_in = |text: &str| references(text, &variables);
    let mut words = Vec::new();
    let mut line = container.line;
    for key in ["command", "args"] {
        if let Some(node) = container.get(key) {
            if words.is_empty() {
                line = node.line;
            }
            let texts = node.items().iter().filter_map(|i| Some((i.text()?, i.line)));
            words.extend(texts.map(|(text, line)| Token::at(put_in(&token::without_marks(text)), line)));
        }
    }
    of_words(words, variables, line, programs, out);
}

/// `$(NAME)` of Kubernetes.
fn references(text: &str, variables: &[(String, Option<String>)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once("$(") {
        out.push_str(head);
        let Some((name, after)) = tail.split_once(')').filter(|(n, _)| shell::lexer::is_name(n)) else {
            out.push_str("$(");
            rest = tail;
            continue;
        };
        match variables.iter().find(|(n, _)| n == name) {
            Some((_, Some(value))) => out.push_str(value),
            Some((_, None)) => out.push_str(&token::unknown(&format!("$({name})"))),
            // A name that the container does not set stays as it is, for a shell to make something of.
            None => out.push_str(&format!("$({name})")),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs() -> Vec<Vec<String>> {
        [["-m", "pkg.serve"], ["pkg", "serve"]].iter().map(|p| p.iter().map(|w| (*w).to_owned()).collect()).collect()
    }

    fn argv(name: &str, source: &str) -> Vec<String> {
        let found = commands(name, source, &programs());
        found.commands.iter().map(|c| c.argv.iter().map(Token::shown).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn commands_are_found_in_every_kind_of_file() {
        for (name, source, expected) in [
            ("a.sh", "docker run --gpus all -p 1:1 image python3 -m pkg.serve --n 1", vec!["--n|1"]),
            ("a.sh", "nohup bash -c \"pkg serve --n 2\" > log &", vec!["--n|2"]),
            (
                "Dockerfile",
                "FROM x\nENV N=3\nENTRYPOINT [\"python3\", \"-m\", \"pkg.serve\"]\nCMD [\"--n\", \"3\"]",
                vec!["--n|3"],
            ),
            ("Dockerfile", "FROM x\nENV N 4\nCMD python -m pkg.serve \\\n  --n $N", vec!["--n|4"]),
            ("c.yaml", "services:\n  s:\n    command: python3 -m pkg.serve --n ${N:-5} --m $M", vec!["--n|5|--m|$M"]),
            (
                "k.yaml",
                "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - env: [{name: N, value: '6'}]\n        command: [pkg, serve]\n        args: ['--n', '$(N)', '--m', '$(M)']",
                vec!["--n|6|--m|$(M)"],
            ),
            (
                "k.yaml",
                "kind: Pod\nspec:\n  containers:\n  - command: [sh, -c]\n    args:\n    - |\n      exec pkg serve \\\n        --n 7",
                vec!["--n|7"],
            ),
            ("k.yaml", "a: [", vec![]),
            ("Dockerfile", "FROM x\nENTRYPOINT pkg serve --n 8\nCMD [\"--m\", \"1\"]", vec!["--n|8"]),
            ("Dockerfile", "# escape=`\nFROM x\nCMD pkg serve `\n --n 9", vec!["--n|9"]),
            ("Dockerfile", "FROM x\nRUN <<EOT\nCMD pkg serve --n 0\nEOT\nCMD pkg serve --n 10", vec!["--n|10"]),
            ("c.yaml", "services:\n  s:\n    command: pkg serve --n ${N:-${M:-11}}", vec!["--n|11"]),
            (
                "k.yaml",
                "kind: Pod\nspec:\n  containers:\n  - env: [{name: A, value: '1'}, {name: B, value: '$(A)2'}]\n    command: [pkg, serve, --n, $(B)]",
                vec!["--n|12"],
            ),
        ] {
            assert_eq!(argv(name, source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_not_read_is_noted() {
        let notes = |name: &str, source: &str| {
            let found = commands(name, source, &programs());
            found.notes.into_iter().map(|(_, what)| what).collect::<Vec<_>>().join("; ")
        };
        let deep = (0..6).fold("pkg serve".to_owned(), |inner, _| format!("sh -c {}", quoted(&inner)));
        let evals = (0..40).fold("a b".to_owned(), |inner, _| format!("eval {inner}"));
        let grown = format!("E='eval eval eval eval'\n{}x", "$E $E $E $E $E $E $E ");
        for (name, source, expected) in [
            ("a.sh", deep.as_str(), "nested too deep"),
            ("a.sh", &evals, "nested too deep"),
            ("a.sh", &grown, "nested too deep"),
            ("a.sh", &"a;".repeat(3_000), "too many commands"),
            ("a.sh", "pkg serve --n 8\r\n", "CR and LF"),
            ("a.sh", "pkg serve --n 8\0", "NUL"),
            ("a.sh", "<<<<<<< HEAD\npkg serve\n", "merge conflict"),
            ("a.sh", "pkg serve 'a", "a quote does not end"),
        ] {
            assert!(notes(name, source).contains(expected), "{:.40}: {}", source, notes(name, source));
        }
    }

    fn quoted(text: &str) -> String {
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    #[test]
    fn values_that_double_stay_bounded() {
        let env: String = (1..60).map(|i| format!("    - {{name: V{i}, value: '$(V{0})$(V{0})'}}\n", i - 1)).collect();
        let source = format!(
            "kind: Pod\nspec:\n  containers:\n  - command: [pkg, serve, --n, $(V59)]\n    env:\n    - {{name: V0, value: ab}}\n{env}"
        );
        assert_eq!(argv("k.yaml", &source), ["--n|$(V59)"]);
    }
}
