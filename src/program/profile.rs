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
    /// Path prefixes that do not count.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Names of the record class.
    pub root_classes: Vec<String>,
    #[serde(default)]
    pub declaration: Declaration,
    #[serde(default)]
    pub process: Processes,
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
    /// Path prefixes whose code runs in one kind of process where nothing else tells.
    pub folders: Vec<(String, String)>,
    /// Rank variables that number processes.
    pub axes: Vec<String>,
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
        Ok(toml::from_str(text)?)
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

    pub fn folder_kind(&self, path: &str) -> Option<&str> {
        self.process.folders.iter().find(|(start, _)| path.starts_with(start.as_str())).map(|(_, kind)| kind.as_str())
    }

    pub fn is_axis(&self, name: &str) -> bool {
        self.process.axes.iter().any(|a| a == name)
    }

    pub fn is_root_class(&self, name: &str) -> bool {
        self.root_classes.iter().any(|c| c == name)
    }
}
