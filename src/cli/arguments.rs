//! A pass over the arguments before clap, so that SGLang's flags can be written as they stand in a launch command.
//!
//! Where a command takes fields, a long flag that is none of argtrace's own becomes a field; where no command is named,
//! it is `report`. The pass knows the options only from clap's own definition, and never refuses anything: what makes
//! no sense is left for clap or for the command to say.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// The name of the command that is meant where none is named.
const DEFAULT: &str = "report";
/// What is answered without a command.
const ANSWERED: &[&str] = &["-h", "--help", "-V", "--version"];
/// The positional whose values may be flags of SGLang's.
const FIELD: &str = "FIELD";

/// `arguments`, the program's name first, such that clap takes them as they are meant.
pub fn normalise(arguments: Vec<OsString>, cli: &Command) -> Vec<OsString> {
    let mut arguments = arguments.into_iter();
    let mut normal: Vec<OsString> = arguments.next().into_iter().collect();
    let arguments: Vec<OsString> = arguments.collect();

    let Some(first) = first_operand(&arguments, cli) else {
        // Options alone lack a field, unless they ask for an answer of the program's own.
        if !arguments.is_empty() && !arguments.iter().any(|argument| ANSWERED.iter().any(|&it| argument == it)) {
            normal.push(DEFAULT.into());
        }
        normal.extend(arguments);
        return normal;
    };
    let named = arguments[first].to_str().and_then(|name| cli.find_subcommand(name));
    let Some(command) = named.or_else(|| cli.find_subcommand(DEFAULT)) else {
        normal.extend(arguments);
        return normal;
    };
    if !command.get_positionals().any(takes_fields) {
        normal.extend(arguments);
        return normal;
    }

    let mut operands = Vec::new();
    normal.push(command.get_name().into());
    let mut own = Own { cli, command, value_follows: false };
    for (i, argument) in arguments.iter().enumerate() {
        if named.is_some() && i == first {
            continue;
        }
        match own.kind(argument) {
            Kind::End => {
                operands.extend(arguments[i + 1..].iter().cloned());
                break;
            }
            Kind::Option => normal.push(argument.clone()),
            Kind::Operand => operands.push(argument.clone()),
        }
    }
    if !operands.is_empty() {
        normal.push("--".into());
        normal.extend(operands);
    }
    normal
}

fn takes_fields(positional: &Arg) -> bool {
    positional.get_value_names().is_some_and(|names| names.iter().any(|name| name == FIELD))
}

/// The first argument that is neither an option nor its value: the command, if one is named.
fn first_operand(arguments: &[OsString], cli: &Command) -> Option<usize> {
    let mut own = Own { cli, command: cli, value_follows: false };
    arguments.iter().position(|argument| matches!(own.kind(argument), Kind::Operand | Kind::End))
}

enum Kind {
    /// argtrace's own option, or its value, or something in the shape of a short option.
    Option,
    Operand,
    /// `--`: all that follows are operands.
    End,
}

/// Tells argtrace's own options from operands, argument by argument.
struct Own<'a> {
    cli: &'a Command,
    command: &'a Command,
    value_follows: bool,
}

impl Own<'_> {
    fn kind(&mut self, argument: &OsStr) -> Kind {
        if std::mem::take(&mut self.value_follows) {
            return Kind::Option;
        }
        // What is not UTF-8 can only be a path.
        let Some(text) = argument.to_str() else {
            return Kind::Operand;
        };
        if text == "--" {
            return Kind::End;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            return match self.long(name) {
                Some(takes_value) => {
                    self.value_follows = takes_value && value.is_none();
                    Kind::Option
                }
                None => Kind::Operand,
            };
        }
        let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
            return Kind::Operand;
        };
        for (at, short) in cluster.char_indices() {
            if self.short(short) == Some(true) {
                self.value_follows = at + short.len_utf8() == cluster.len();
                break;
            }
        }
        Kind::Option
    }

    /// Whether the option takes a value; `None` if there is no such option.
    fn long(&self, name: &str) -> Option<bool> {
        if matches!(name, "help" | "version") {
            return Some(false);
        }
        self.arguments().find(|arg| arg.get_long() == Some(name)).map(|arg| arg.get_action().takes_values())
    }

    fn short(&self, name: char) -> Option<bool> {
        self.arguments().find(|arg| arg.get_short() == Some(name)).map(|arg| arg.get_action().takes_values())
    }

    fn arguments(&self) -> impl Iterator<Item = &Arg> {
        self.cli.get_arguments().chain(self.command.get_arguments())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn normal(line: &str) -> String {
        let arguments = std::iter::once("argtrace").chain(line.split_whitespace()).map(OsString::from).collect();
        let normal = normalise(arguments, &crate::cli::Cli::command());
        let words: Vec<String> = normal.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn flags_of_the_tree_become_operands() {
        let cases = [
            ("hicache_size", "report -- hicache_size"),
            ("--hicache-size --tp /src", "report -- --hicache-size --tp /src"),
            ("--tp --format json -v /src", "report --format json -v -- --tp /src"),
            ("--format=json --tp -o json=x", "report --format=json -o json=x -- --tp"),
            ("--format json", "report --format json"),
            ("-vo x --tp", "report -vo x -- --tp"),
            ("report --tp", "report -- --tp"),
            // A field that has the name of a command.
            ("--schema", "report -- --schema"),
            ("tp schema", "report -- tp schema"),
            ("-q -- schema --color", "report -q -- schema --color"),
        ];
        for (line, expected) in cases {
            assert_eq!(normal(line), expected, "for {line}");
        }
    }

    #[test]
    fn what_takes_no_fields_is_left_alone() {
        for line in ["", "--help", "-V", "schema report", "--format json schema report", "schema --nonsense"] {
            assert_eq!(normal(line), line);
        }
    }
}
