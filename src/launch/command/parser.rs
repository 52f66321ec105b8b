//! `argparse.ArgumentParser.parse_args` of Python 3.11: which argument is an option, and which values does it take?
//!
//! The algorithm is argparse's own (`_parse_known_args`): each argument is an option (`O`) or a value (`A`), an option
//! takes as many values after it as its `nargs` allows. A token shaped like an option is never a value, unless it is a
//! negative number and no option looks like one. What the values become is the host's business.

use super::token::Token;
use super::{Parsed, Problem, Spelling, Use};
use crate::syntax::ir::Sym;

/// How many values an option takes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Nargs {
    One,
    /// `?`
    Optional,
    /// `*`
    Any,
    /// `+`
    Some,
    /// `...`
    Remainder,
    Count(usize),
}

/// An option, or a positional if its only name has no dash.
#[derive(Clone, Debug)]
pub struct Spec {
    pub flags: Vec<String>,
    pub dest: Sym,
    pub required: bool,
    /// `None` for `--help`.
    pub registration: Option<usize>,
    /// The field's own spelling, which is no alias.
    pub own: Option<String>,
}

/// Why values are not taken.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
}

/// What the options mean.
pub trait Host {
    fn nargs(&mut self, option: usize) -> Nargs;
    /// Stores the values of an option under the spelling that was found.
    fn store(&mut self, option: usize, spelling: &str, values: &[Token]) -> Result<(), Refusal>;
}

/// An argument that looks like an option.
enum Looks {
    Option { option: usize, spelling: String, value: Option<String> },
    Ambiguous(Vec<String>),
    Unknown,
}

pub fn parse(specs: &[Spec], allow_abbrev: bool, argv: &[Token], host: &mut dyn Host) -> Parsed {
    let mut run = Run { specs, allow_abbrev, argv, host, out: Parsed::default(), extras: Vec::new() };
    run.out.argv = argv.to_vec();
    run.all();
    run.out
}

struct Run<'a> {
    specs: &'a [Spec],
    allow_abbrev: bool,
    argv: &'a [Token],
    host: &'a mut dyn Host,
    out: Parsed,
    /// Arguments that belong to nothing.
    extras: Vec<usize>,
}

impl Run<'_> {
    fn all(&mut self) {
        let mut looks: Vec<Option<Looks>> = Vec::with_capacity(self.argv.len());
        let mut only_values = false;
        for token in self.argv {
            let look = if only_values { None } else { self.looks(&token.text) };
            only_values |= token.text == "--";
            looks.push(look);
        }
        let is_value = |looks: &[Option<Looks>], i: usize| looks.get(i).is_some_and(Option::is_none);
        let mut at = 0;
        while at < self.argv.len() {
            // Values are counted up to the next option; `--` is skipped where values are.
            let mut after = at + 1;
            while after < self.argv.len() && is_value(&looks, after) {
                after += 1;
            }
            match looks.get_mut(at).and_then(Option::take) {
                None => {
                    self.extra_values(at);
                    at += 1;
                }
                Some(Looks::Unknown) => {
                    self.unknown(at);
                    at = after;
                }
                Some(Looks::Ambiguous(matches)) => {
                    self.ambiguous(at, &matches);
                    at = after;
                }
                Some(Looks::Option { option, spelling, value }) => {
                    at = self.option(at, after, option, &spelling, value);
                }
            }
        }
        self.stray();
        self.missing();
        self.repeated();
    }

    /// What an argument looks like; nothing if it is a value (`_parse_optional`).
    fn looks(&self, text: &str) -> Option<Looks> {
        if !text.starts_with('-') {
            return None;
        }
        if text == "--" {
            return None;
        }
        if let Some(option) = self.by_flag(text) {
            return Some(Looks::Option { option, spelling: text.to_owned(), value: None });
        }
        if text.len() == 1 {
            return None;
        }
        if let Some((flag, value)) = text.split_once('=')
            && let Some(option) = self.by_flag(flag)
        {
            return Some(Looks::Option { option, spelling: flag.to_owned(), value: Some(value.to_owned()) });
        }
        let mut found = self.prefixes(text);
        match found.len() {
            0 => {}
            1 => {
                let (option, spelling, value) = found.pop()?;
                return Some(Looks::Option { option, spelling, value });
            }
            _ => return Some(Looks::Ambiguous(found.into_iter().map(|(_, spelling, _)| spelling).collect())),
        }
        if is_negative_number(text) && !self.has_negative_options() {
            return None;
        }
        if text.contains(' ') {
            return None;
        }
        Some(Looks::Unknown)
    }

    fn by_flag(&self, flag: &str) -> Option<usize> {
        self.specs.iter().position(|s| flag.starts_with('-') && s.flags.iter().any(|f| f == flag))
    }

    fn options(&self) -> impl Iterator<Item = (usize, &String)> {
        self.specs
            .iter()
            .enumerate()
            .flat_map(|(i, s)| s.flags.iter().filter(|f| f.starts_with('-')).map(move |f| (i, f)))
    }

    /// Spellings that begin so (`_get_option_tuples`).
    fn prefixes(&self, text: &str) -> Vec<(usize, String, Option<String>)> {
        if text.starts_with("--") {
            if !self.allow_abbrev {
                return Vec::new();
            }
            let (prefix, value) = match text.split_once('=') {
                Some((prefix, value)) => (prefix, Some(value.to_owned())),
                None => (text, None),
            };
            let matching = self.options().filter(|(_, f)| f.starts_with(prefix));
            return matching.map(|(i, f)| (i, f.clone(), value.clone())).collect();
        }
        // `-xvalue` and `-long`.
        let short: String = text.chars().take(2).collect();
        let rest = text.get(short.len()..).unwrap_or("").to_owned();
        let mut out = Vec::new();
        for (i, flag) in self.options() {
            if *flag == short {
                out.push((i, flag.clone(), Some(rest.clone())));
            } else if flag.starts_with(text) {
                out.push((i, flag.clone(), None));
            }
        }
        out
    }

    fn has_negative_options(&self) -> bool {
        self.options().any(|(_, f)| is_negative_number(f))
    }

    fn option(&mut self, at: usize, after: usize, option: usize, spelling: &str, value: Option<String>) -> usize {
        let nargs = self.host.nargs(option);
        let typed = self.typed(at);
        if let Some(value) = value {
            // `-xvalue` of a switch is several switches in one; no server has such, so it is a value that is not taken.
            let takes = !matches!(nargs, Nargs::Count(n) if n != 1);
            let line = self.argv.get(at).and_then(|t| t.line);
            let values = vec![Token { text: value, line }];
            match takes {
                true => self.take(at, option, spelling, &typed, values),
                false => {
                    let shown = values.first().map(Token::shown).unwrap_or_default();
                    let message = format!("{typed} takes no value, but it was given {shown:?}");
                    self.problem("invalid-value", &typed, Some(option), message, at);
                }
            }
            return at + 1;
        }
        let available = self.argv.get(at + 1..after).unwrap_or_default();
        // `--` between values is no value.
        let values: Vec<Token> = available.iter().filter(|t| t.text != "--").cloned().collect();
        let (least, most) = match nargs {
            Nargs::One => (1, 1),
            Nargs::Optional => (0, 1),
            Nargs::Any => (0, usize::MAX),
            Nargs::Some => (1, usize::MAX),
            Nargs::Remainder => (0, usize::MAX),
            Nargs::Count(n) => (n, n),
        };
        if nargs == Nargs::Remainder {
            let rest = self.argv.get(at + 1..).unwrap_or_default().to_vec();
            self.take(at, option, spelling, &typed, rest);
            return self.argv.len();
        }
        if values.len() < least {
            let wanted = match nargs {
                Nargs::One => "one value".to_owned(),
                Nargs::Some => "at least one value".to_owned(),
                _ => format!("{least} values"),
            };
            let next = self.argv.get(after).map(Token::shown);
            let instead = match next {
                Some(next) if values.is_empty() => format!("; {next} after it looks like a flag, so it is no value"),
                _ => String::new(),
            };
            self.problem("missing-value", &typed, Some(option), format!("{typed} takes {wanted}{instead}"), at);
            return after;
        }
        let taken: Vec<Token> = values.into_iter().take(most).collect();
        let mut end = at + 1;
        let mut left = taken.len();
        while left > 0 && end < after {
            if self.argv.get(end).is_some_and(|t| t.text != "--") {
                left -= 1;
            }
            end += 1;
        }
        self.take(at, option, spelling, &typed, taken);
        end
    }

    /// As typed, without `=value`.
    fn typed(&self, at: usize) -> String {
        let text = self.argv.get(at).map_or("", |t| t.text.as_str());
        let flag = match text.split_once('=') {
            Some((flag, _)) if text.starts_with("--") => flag,
            _ => text,
        };
        super::token::shown(flag)
    }

    fn take(&mut self, at: usize, option: usize, spelling: &str, typed: &str, values: Vec<Token>) {
        let result = self.host.store(option, spelling, &values);
        let failed = result.is_err();
        if let Err(refusal) = result {
            self.problem(refusal.code, typed, Some(option), refusal.message, at);
        }
        let Some(spec) = self.specs.get(option) else { return };
        let Some(registration) = spec.registration else {
            self.out.only_answers = true;
            return;
        };
        let how = if typed != spelling {
            Spelling::Abbreviation
        } else if spec.flags.first().is_some_and(|f| f == spelling) || spec.own.as_deref() == Some(spelling) {
            Spelling::Exact
        } else {
            Spelling::Alias
        };
        if how == Spelling::Abbreviation {
            let message =
                format!("{typed} is short for {spelling}; a release that adds another flag with this start refuses it");
            self.problem("abbreviated-flag", typed, Some(option), message, at);
        }
        self.out.uses.push(Use {
            flag: typed.to_owned(),
            option: spelling.to_owned(),
            registration,
            spelling: how,
            values,
            index: at,
            failed,
        });
    }

    fn extra_values(&mut self, at: usize) {
        if self.argv.get(at).is_some_and(|t| t.text != "--") {
            self.extras.push(at);
        }
    }

    fn unknown(&mut self, at: usize) {
        let typed = self.typed(at);
        let near = self.nearest(&typed);
        let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        self.problem("unknown-flag", &typed, None, format!("the parser of this release has no flag {typed}{hint}"), at);
    }

    fn ambiguous(&mut self, at: usize, matches: &[String]) {
        let typed = self.typed(at);
        let message = format!("{typed} can be short for {}", matches.join(", "));
        self.problem("ambiguous-flag", &typed, None, message, at);
    }

    /// Values that no option takes.
    fn stray(&mut self) {
        for at in std::mem::take(&mut self.extras) {
            let shown = self.argv.get(at).map(Token::shown).unwrap_or_default();
            if self.argv.get(at).is_some_and(Token::is_open) {
                let message = format!("{shown} is put in when the command runs; flags in it are not seen here");
                self.problem("unresolved-value", &shown, None, message, at);
                continue;
            }
            let before = self.out.uses.iter().rev().find(|u| u.index < at && u.index + 1 + u.values.len() == at);
            let (flag, message) = match before.filter(|u| u.values.is_empty()) {
                Some(before) => (
                    before.flag.clone(),
                    format!("{} takes no value, so {shown:?} after it belongs to nothing", before.flag),
                ),
                None => (shown.clone(), format!("{shown:?} belongs to no flag")),
            };
            self.problem("stray-positional", &flag, None, message, at);
        }
    }

    fn missing(&mut self) {
        let unseen = self.out.problems.iter().any(|p| p.code == "unresolved-value");
        if self.out.only_answers || unseen {
            return;
        }
        for (i, spec) in self.specs.iter().enumerate() {
            let given = |r: usize| self.out.uses.iter().any(|u| u.registration == r);
            if spec.required && spec.registration.is_some_and(|r| !given(r)) {
                // A flag that was given wrongly has its own problem.
                let wrong = self.out.problems.iter().any(|p| p.registration == spec.registration);
                let flag = spec.flags.first().cloned().unwrap_or_default();
                if !wrong {
                    self.problem("required-missing", &flag, Some(i), format!("{flag} is required"), self.argv.len());
                }
            }
        }
    }

    /// Of an option that is given more than once the last one counts.
    fn repeated(&mut self) {
        let mut found: Vec<(String, usize, String, usize)> = Vec::new();
        for (i, last) in self.out.uses.iter().enumerate() {
            let Some(spec) = self.specs.iter().find(|s| s.registration == Some(last.registration)) else { continue };
            let same = |u: &Use| {
                let other = self.specs.iter().find(|s| s.registration == Some(u.registration));
                other.is_some_and(|o| o.dest == spec.dest)
            };
            let earlier: Vec<&Use> = self.out.uses.get(..i).unwrap_or_default().iter().filter(|u| same(u)).collect();
            let later = self.out.uses.get(i + 1..).unwrap_or_default().iter().any(same);
            let differs = earlier.iter().any(|u| u.values != last.values);
            if !later && differs {
                let message = format!("given {} times; the last one counts", earlier.len() + 1);
                found.push((last.flag.clone(), last.index, message, last.registration));
            }
        }
        for (flag, index, message, registration) in found {
            let option = self.specs.iter().position(|s| s.registration == Some(registration));
            self.problem("repeated-flag", &flag, option, message, index);
        }
    }

    fn problem(&mut self, code: &'static str, flag: &str, option: Option<usize>, message: String, index: usize) {
        let spec = option.and_then(|o| self.specs.get(o));
        self.out.problems.push(Problem {
            code,
            flag: flag.to_owned(),
            dest: spec.map(|s| s.dest),
            registration: spec.and_then(|s| s.registration),
            message,
            index,
        });
    }

    /// The flag that may have been meant.
    fn nearest(&self, typed: &str) -> Option<String> {
        const NEAR: f64 = 0.8;
        let dashed = typed.replace('_', "-");
        if self.by_flag(&dashed).is_some() {
            return Some(dashed);
        }
        let scored = self.options().map(|(_, f)| (strsim::jaro_winkler(&dashed, f), f));
        let best = scored.filter(|(s, _)| *s > NEAR).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, f)| f.clone())
    }
}

/// `^-\d+$|^-\d*\.\d+$`
fn is_negative_number(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-') else { return false };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    match rest.split_once('.') {
        Some((whole, part)) => digits(whole) && !part.is_empty() && digits(part),
        None => !rest.is_empty() && digits(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores nothing; options take values by their name's last letter.
    struct Plain;

    impl Host for Plain {
        fn nargs(&mut self, option: usize) -> Nargs {
            [Nargs::One, Nargs::Count(0), Nargs::Some, Nargs::One, Nargs::One, Nargs::One][option]
        }
        fn store(&mut self, _: usize, _: &str, values: &[Token]) -> Result<(), Refusal> {
            match values.iter().any(|v| v.text == "bad") {
                true => Err(Refusal { code: "invalid-value", message: String::new() }),
                false => Ok(()),
            }
        }
    }

    fn run(line: &str) -> (Vec<String>, Vec<String>) {
        let specs: Vec<Spec> = ["--model-path --model", "--switch", "--list", "--size", "--size-two", "--other"]
            .iter()
            .enumerate()
            .map(|(i, flags)| Spec {
                flags: flags.split(' ').map(str::to_owned).collect(),
                dest: Sym::from(&i.to_string()),
                required: i == 0,
                registration: Some(i),
                own: None,
            })
            .collect();
        let argv: Vec<Token> = line.split_whitespace().map(Token::new).collect();
        let parsed = parse(&specs, true, &argv, &mut Plain);
        let values = |u: &Use| u.values.iter().map(|v| v.text.clone()).collect::<Vec<_>>().join(",");
        let uses = parsed.uses.iter().map(|u| format!("{}={}", u.option, values(u))).collect();
        (uses, parsed.problems.iter().map(|p| format!("{} {}", p.code, p.flag)).collect())
    }

    #[test]
    fn options_take_values_as_argparse_has_it() {
        let cases: [(&str, &[&str], &[&str]); 14] = [
            ("--model m", &["--model=m"], &[]),
            ("--model-path=m --size -1", &["--model-path=m", "--size=-1"], &[]),
            ("--model m --list a b --switch", &["--model=m", "--list=a,b", "--switch="], &[]),
            ("--model m --other --size 1", &["--model=m", "--size=1"], &["missing-value --other"]),
            ("--model m --switch true", &["--model=m", "--switch="], &["stray-positional --switch"]),
            ("--model m --switch=true", &["--model=m"], &["invalid-value --switch"]),
            ("--model m --sw", &["--model=m", "--switch="], &["abbreviated-flag --sw"]),
            ("--model m --si 3", &["--model=m"], &["ambiguous-flag --si"]),
            ("--model m --size 3", &["--model=m", "--size=3"], &[]),
            ("--model m --nothing 3", &["--model=m"], &["unknown-flag --nothing"]),
            ("--size bad", &["--size=bad"], &["invalid-value --size", "required-missing --model-path"]),
            ("--model m --size 1 --size 2", &["--model=m", "--size=1", "--size=2"], &["repeated-flag --size"]),
            ("--model m --list", &["--model=m"], &["missing-value --list"]),
            ("--model m -- --size", &["--model=m"], &["stray-positional --size"]),
        ];
        for (line, uses, problems) in cases {
            let (got, wrong) = run(line);
            assert_eq!(got, uses, "{line}");
            assert_eq!(wrong, problems, "{line}");
        }
    }
}
