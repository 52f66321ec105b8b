//! What a project looks like, as data: which class is the configuration record, how it is published and read, which
//! processes there are, which calls are sinks. The text is TOML; ours stands in `queries/`.

use serde::Deserialize;

#[derive(Debug, thiserror::Error)]
#[error("the profile cannot be read: {0}")]
pub struct ProfileError(#[from] toml::de::Error);

/// The facts of a project; see `queries/profiles/sglang.toml`, which explains each by example.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub package: String,
    /// A file that the package is known by, relative to it.
    pub marker: String,
    /// Path prefixes that do not count.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Names of the record class.
    pub root_classes: Vec<String>,
    #[serde(default)]
    pub declaration: Declaration,
    #[serde(default)]
    pub resolution: Resolution,
    /// Calls with a known effect; the ones of Python and its common libraries come first.
    #[serde(default, rename = "sink")]
    pub sinks: Vec<SinkRule>,
    /// Calls without arguments that tell the time in seconds.
    #[serde(default)]
    pub clocks: Vec<String>,
    #[serde(default)]
    pub units: UnitWords,
    #[serde(default)]
    pub process: Processes,
    #[serde(default)]
    pub checks: Checks,
    #[serde(default)]
    pub launch: Launch,
}

/// How the program starts, and what is known of the world that it asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Launch {
    /// Modules and programs that start the server, as words of a command.
    pub programs: Vec<Vec<String>>,
    /// Functions that make the record of a command line.
    pub prepare: Vec<String>,
    /// Methods of the record that the launcher runs after that, in order.
    pub steps: Vec<String>,
    /// Fields that settle a fact when they are given: field, fact.
    pub implied: Vec<(String, String)>,
    /// Functions whose answer only the machine or the model knows, with the name by which it is known.
    pub opaque: Vec<(String, String)>,
    /// Facts that are amounts of something, used in totals.
    pub amounts: Vec<String>,
    /// Flags that name a file with more arguments.
    pub config_flags: Vec<String>,
    /// How the names of the project's own variables begin.
    pub env_prefixes: Vec<String>,
    /// The field that counts machines.
    pub machines: String,
    /// Fields that say which of several a process or machine is.
    pub positions: Vec<String>,
    #[serde(rename = "fact")]
    pub facts: Vec<FactRule>,
}

impl Launch {
    /// The facts that can be told, each once.
    pub fn fact_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.facts.iter().map(|rule| &rule.name).chain(&self.amounts).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What a fact says of things outside the tree.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FactRule {
    pub name: String,
    /// The values for which this holds, `*` at either end being anything; none for all.
    pub values: Vec<String>,
    /// Those for which it does not.
    pub except: Vec<String>,
    /// What is asked, by dotted name, and the answer: a plain value, or `@none`, `@absent` (there is no such attribute),
    /// `@something` (not None), `@text`, `@list`, `@truth`, `@integer`, `@mebibytes`, `@capability` of the fact's value.
    pub answers: Vec<(String, toml::Value)>,
}

/// Calls that tell an operator something, or end the program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Checks {
    /// Dotted names, from the right.
    pub warnings: Vec<String>,
    /// Those that only inform.
    pub logs: Vec<String>,
    pub exits: Vec<String>,
}

impl Checks {
    pub fn warns(&self, name: &str) -> bool {
        Checks::has(&self.warnings, name)
    }

    pub fn logs(&self, name: &str) -> bool {
        Checks::has(&self.logs, name)
    }

    pub fn exits(&self, name: &str) -> bool {
        Checks::has(&self.exits, name)
    }

    fn has(names: &[String], name: &str) -> bool {
        names.iter().any(|n| name.strip_suffix(n.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    }
}

/// How releases with namespaces rewrite the record and publish it; every part is optional.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Resolution {
    /// Classes whose attributes are the record's fields as resolved so far.
    pub views: Vec<String>,
    /// Methods that hand out the bag of a namespace by its name: `context.config_bag("memory")`.
    pub bag_methods: Vec<String>,
    /// Classes whose attributes are the leaves of a namespace: class, namespace.
    pub bag_classes: Vec<(String, String)>,
    /// Functions whose keywords are rewrites: `declare(record, "source", field=value, **fields)`.
    pub declare: Vec<String>,
    /// Methods of a bag or a context whose keywords are rewrites.
    pub overrides: Vec<String>,
    /// Decorators of functions that get a view and return rewrites.
    pub passes: Vec<String>,
    /// Decorators of functions that return rewrites under the decorator's condition.
    pub providers: Vec<String>,
    /// Functions that call their first argument with the rest.
    pub call_through: Vec<String>,
    /// Module variables that hold such rewrites by model: `{"Model": {"field": value}}`.
    pub model_tables: Vec<String>,
    /// Attributes of a model's own configuration that tell which model it is.
    pub model_attributes: Vec<String>,
    /// How the names of classes end that carry a call of the running server.
    pub control_messages: Vec<String>,
    /// Attributes of the record that hold the operator's input as a dictionary.
    pub raw_input: Vec<String>,
    /// Attributes of the record that hold the list of what was declared.
    pub declared_list: Vec<String>,
    /// Functions that let code outside the tree fill the record; nothing is installed, so they do nothing.
    pub foreign: Vec<String>,
    /// Functions that put a field's fallback in the place of None: `f(class, name, value)`.
    pub fallback: Vec<String>,
    /// Functions that ask the providers of an architecture: `collect(architecture, record, config)`.
    pub collect: Vec<String>,
    /// Constant tables of rewrites by architecture.
    pub provider_tables: Vec<String>,
}

/// A call with a known effect.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SinkRule {
    /// The kind of sink, as in the report; `allocation` is host or device memory by its arguments, `shape` is none but
    /// gives a memory of that shape.
    pub kind: String,
    /// Dotted names of what is called, from the right: `time.sleep`; `*` ends a prefix: `logger.*`.
    pub calls: Vec<String>,
    /// Which positional arguments count; empty for all.
    pub positions: Vec<usize>,
    /// Which keywords count; empty for all, unless `positions` are given.
    pub keywords: Vec<String>,
    /// The unit of the argument.
    pub unit: Option<String>,
    /// How diluted the value may be, where the call is telling enough to differ from what its kind allows.
    pub reach: Option<u32>,
    /// Dotted names of containers: storing the value there is the sink.
    pub stores: Vec<String>,
    /// Ends of class names: storing the value in an attribute of such an object is the sink.
    pub objects: Vec<String>,
}

impl SinkRule {
    pub fn matches(&self, name: &str) -> bool {
        !self.is_shape() && self.calls.iter().any(|call| call == "*" || ends_with_parts(name, call))
    }

    /// Do its calls answer with memory, of the size or shape that they are given?
    fn makes_memory(&self) -> bool {
        self.kind == "allocation" || self.is_shape()
    }

    fn is_shape(&self) -> bool {
        self.kind == "shape"
    }

    /// Is this rule about some arguments only?
    pub fn is_particular(&self) -> bool {
        !self.positions.is_empty() || !self.keywords.is_empty()
    }

    pub fn takes(&self, position: usize, keyword: Option<&str>) -> bool {
        let any = self.positions.is_empty() && self.keywords.is_empty();
        match keyword {
            Some(keyword) => any || self.keywords.iter().any(|k| k == keyword),
            None => any || self.positions.contains(&position),
        }
    }
}

/// What kinds of thing a declared type holds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    pub number: bool,
    pub fractional: bool,
    pub text: bool,
    pub truth: bool,
    pub mapping: bool,
    pub function: bool,
}

impl Shape {
    /// Reads a type as it is written: `Optional[List[int]]`.
    pub fn of(type_: &str) -> Shape {
        let (type_, mapping) = without_mappings(type_);
        let has = |name: &str| type_.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name);
        Shape {
            number: has("int") || has("float"),
            fractional: has("float"),
            text: has("str") || has("Path") || has("Literal"),
            truth: has("bool"),
            mapping,
            function: has("Callable"),
        }
    }

    pub fn is_truth(self) -> bool {
        self == Shape { truth: true, ..Shape::default() }
    }

    fn is_unknown(self) -> bool {
        self == Shape::default()
    }
}

/// The type less its mappings with what they map, and whether it had one.
fn without_mappings(type_: &str) -> (String, bool) {
    let mut out = String::new();
    let mut rest = type_;
    let mut any = false;
    while let Some(at) = ["Dict", "dict", "Mapping"].iter().filter_map(|n| rest.find(n).map(|i| i + n.len())).min() {
        any = true;
        out.push_str(rest[..at].trim_end_matches(char::is_alphabetic));
        rest = &rest[at..];
        let mut depth = 0u32;
        let end = rest.char_indices().find(|(_, c)| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        rest = end.map_or("", |(i, _)| &rest[i..]);
    }
    out.push_str(rest);
    (out, any)
}

impl From<&str> for Shape {
    fn from(type_: &str) -> Shape {
        Shape::of(type_)
    }
}

/// Words that tell a unit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UnitWords {
    /// Phrases of a help text, lower case, first match first: phrase, unit. After `^` the text begins with it.
    pub help: Vec<(String, String)>,
    /// Parts of a field's name, between underscores, first match first: words at its end unless they start with `^`.
    pub names: Vec<(String, String)>,
    /// Parts of a counter's name, first match first, with what it counts; an empty part is any.
    pub counters: Vec<(String, String)>,
    /// Last words of names of numbers that say how often.
    pub intervals: Vec<String>,
    /// Units that only numbers have.
    pub numeric: Vec<String>,
    /// Units that only numbers with a fraction have.
    pub fractional: Vec<String>,
    /// Units that only texts have.
    pub textual: Vec<String>,
}

impl UnitWords {
    fn fits(&self, unit: &str, shape: Shape) -> bool {
        let is = |units: &[String]| units.iter().any(|u| u == unit);
        shape.is_unknown()
            || ((!is(&self.numeric) || shape.number)
                && (!is(&self.fractional) || shape.fractional)
                && (!is(&self.textual) || shape.text || shape.mapping || !shape.number))
    }

    pub fn of_help(&self, help: &str, shape: impl Into<Shape>) -> Option<&str> {
        let shape = shape.into();
        let help = help.to_lowercase();
        let says = |phrase: &str| match phrase.strip_prefix('^') {
            Some(start) => help.starts_with(start),
            None => contains_words(&help, phrase),
        };
        let found = self.help.iter().find(|(phrase, unit)| says(phrase) && self.fits(unit, shape));
        found.map(|(_, unit)| unit.as_str())
    }

    pub fn of_name(&self, name: &str, shape: Shape) -> Option<&str> {
        let found = self.names.iter().find(|(part, unit)| {
            let here = match part.strip_prefix('^') {
                Some(part) => name.split('_').any(|w| w == part) || name.starts_with(&format!("{part}_")),
                None => name == part || name.ends_with(&format!("_{part}")),
            };
            here && self.fits(unit, shape)
        });
        found.map(|(_, unit)| unit.as_str())
    }

    /// What a counter counts, by its name.
    pub fn of_counter(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        let found = self.counters.iter().find(|(part, _)| name.contains(part.as_str()));
        found.map(|(_, unit)| unit.as_str())
    }

    /// What is left where nothing tells: rounds for an interval, a factor for numbers with a fraction, else no unit.
    pub fn of_rest(&self, name: &str, shape: Shape) -> &str {
        let last = name.rsplit('_').next().unwrap_or("");
        if shape.number && self.intervals.iter().any(|w| w == last) {
            return "steps";
        }
        if shape.fractional && !shape.text { "ratio" } else { "none" }
    }
}

/// Does a dotted name end with these parts, `*` at the end of one being anything?
fn ends_with_parts(name: &str, parts: &str) -> bool {
    if !parts.contains('*') {
        return name.strip_suffix(parts).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    }
    let mut name = name.rsplit('.');
    parts.rsplit('.').all(|part| {
        name.next().is_some_and(|n| match part.strip_suffix('*') {
            Some(start) => n.starts_with(start),
            None => n == part,
        })
    })
}

/// Does the text hold the phrase between word boundaries?
fn contains_words(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(phrase)
        .any(|(i, _)| !is_word(text[..i].chars().next_back()) && !is_word(text[i + phrase.len()..].chars().next()))
}

/// How kinds of process are told apart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Processes {
    /// Parts of the name of a spawn's target, first match first, with the kind.
    pub entries: Vec<(String, String)>,
    /// Classes that are the heart of a kind of process that is not spawned by name.
    pub components: Vec<(String, String)>,
    /// Ends of dotted decorator names that register handlers.
    pub decorators: Vec<(String, String)>,
    /// Paths of programs, with the kind of process that their main part is.
    pub mains: Vec<(String, String)>,
    /// Path prefixes whose code runs in one kind of process, whoever else can call it.
    pub homes: Vec<(String, String)>,
    /// Path prefixes whose code runs in one kind of process where nothing else tells.
    pub folders: Vec<(String, String)>,
    /// Rank variables that number processes, with the field that counts them.
    pub axes: Vec<(String, String)>,
    /// Kinds of process of which there is one a rank.
    pub ranked: Vec<String>,
    /// Fields that count ranks; dividing by one shares a value out.
    pub shares: Vec<String>,
    /// Path prefixes of code that computes: a comparison there chooses how, not how much.
    pub compute: Vec<String>,
}

/// How the record's fields are declared and get their flags; every part is optional, what a tree has decides.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Declaration {
    /// A class attribute that marks a class as a part of the record and names its namespace.
    pub namespace_attribute: String,
    /// Names of `typing.Annotated`.
    pub annotated: Vec<String>,
    /// The constructor of a field's command-line metadata, inside the annotation.
    pub metadata: String,
    /// The constructor of a leaf that is computed, not given.
    pub derived: String,
    /// A module constant that lists the field names in the order of the record.
    pub order: String,
    /// Methods of the record that fill an argument parser.
    pub register: Vec<String>,
    /// Functions that register every annotated field.
    pub auto_register: Vec<String>,
    /// Functions that answer with the declared default of the field that they are given by name.
    pub declared_default: Vec<String>,
    /// How the names of `argparse` actions for retired flags begin.
    pub deprecated_actions: Vec<String>,
}

impl Profile {
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        #[derive(Deserialize)]
        struct Common {
            sink: Vec<SinkRule>,
            clocks: Vec<String>,
            units: UnitWords,
            checks: Checks,
            fact: Vec<FactRule>,
        }
        let mut profile: Profile = toml::from_str(text)?;
        let common: Common = toml::from_str(include_str!("../../queries/python/python.toml"))?;
        profile.sinks.extend(common.sink);
        profile.clocks.extend(common.clocks);
        profile.units.help.extend(common.units.help);
        profile.units.names.extend(common.units.names);
        profile.units.counters.extend(common.units.counters);
        profile.units.intervals.extend(common.units.intervals);
        profile.units.numeric.extend(common.units.numeric);
        profile.units.fractional.extend(common.units.fractional);
        profile.units.textual.extend(common.units.textual);
        profile.checks.warnings.extend(common.checks.warnings);
        profile.checks.logs.extend(common.checks.logs);
        profile.checks.exits.extend(common.checks.exits);
        profile.launch.facts.extend(common.fact);
        Ok(profile)
    }

    /// The profile that ships with argtrace.
    pub fn builtin() -> Result<Profile, ProfileError> {
        Profile::parse(include_str!("../../queries/profiles/sglang.toml"))
    }

    pub fn counts(&self, path: &str) -> bool {
        path.ends_with(".py") && !self.exclude.iter().any(|p| path.starts_with(p.as_str()))
    }

    /// The kind of process that runs a spawn's target.
    pub fn entry_kind(&self, target: &str) -> &str {
        let found = self.process.entries.iter().find(|(part, _)| target.contains(part.as_str()));
        found.map_or("other", |(_, kind)| kind)
    }

    pub fn component_kind(&self, class: &str) -> Option<&str> {
        self.process.components.iter().find(|(name, _)| name == class).map(|(_, kind)| kind.as_str())
    }

    pub fn decorator_kind(&self, name: &str) -> Option<&str> {
        self.process
            .decorators
            .iter()
            .find(|(start, _)| name.starts_with(start.as_str()))
            .map(|(_, kind)| kind.as_str())
    }

    pub fn main_kind(&self, path: &str) -> Option<&str> {
        let found = self.process.mains.iter().find(|(start, _)| path.starts_with(start.as_str()));
        Some(found.map_or("other", |(_, kind)| kind))
    }

    pub fn home_kind(&self, path: &str) -> Option<&str> {
        self.process.homes.iter().find(|(start, _)| path.starts_with(start.as_str())).map(|(_, kind)| kind.as_str())
    }

    pub fn folder_kind(&self, path: &str) -> Option<&str> {
        self.process.folders.iter().find(|(start, _)| path.starts_with(start.as_str())).map(|(_, kind)| kind.as_str())
    }

    /// Is a call of this name given a size, and does it answer with memory of that size?
    pub fn makes_memory(&self, name: &str) -> bool {
        let of_memory = self.sinks.iter().filter(|rule| rule.makes_memory());
        of_memory
            .flat_map(|rule| &rule.calls)
            .any(|call| ends_with_parts(name, call.rsplit('.').next().unwrap_or(call)))
    }

    pub fn is_axis(&self, name: &str) -> bool {
        self.process.axes.iter().any(|(axis, _)| axis == name)
    }

    /// The field that says how many ranks an axis has.
    pub fn size_of_axis(&self, axis: &str) -> Option<&str> {
        self.process.axes.iter().find(|(a, _)| a == axis).map(|(_, size)| size.as_str())
    }

    pub fn is_ranked(&self, kind: &str) -> bool {
        self.process.ranked.iter().any(|k| k == kind)
    }

    /// Does the file hold computation rather than scheduling?
    pub fn computes(&self, path: &str) -> bool {
        self.process.compute.iter().any(|start| path.starts_with(start.as_str()))
    }

    pub fn counts_ranks(&self, field: &str) -> bool {
        self.process.shares.iter().any(|f| f == field)
    }

    /// Does the attribute tell which model is served?
    pub fn tells_the_model(&self, attribute: &str) -> bool {
        self.resolution.model_attributes.iter().any(|a| a == attribute)
    }

    /// Does the class carry a call of the running server?
    pub fn is_control_message(&self, class: &str) -> bool {
        self.resolution.control_messages.iter().any(|end| class.ends_with(end))
    }

    pub fn is_root_class(&self, name: &str) -> bool {
        self.root_classes.iter().any(|c| c == name)
    }
}
