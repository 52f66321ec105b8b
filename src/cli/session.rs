//! What the commands need of the analysis, and where they get it.
//!
//! This is the one place where `cli` meets `source` and `meaning`, so that commands can be tested with reports written
//! by hand.

use super::compared::{Comparable, Comparing, FromFile, FromTree};
use super::launching;
use crate::meaning::list::{self, FieldList};
use crate::meaning::report::{self, FieldReport, Report, SourceInfo};
use crate::meaning::{Analysis, Begin};
use crate::program::FileSet;
use crate::program::profile::Profile;
use crate::source::{self, Naming, SourceError, Tree};
use crate::store::{Store, Texts, TreeKey};
use anyhow::Context;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Opens sources.
pub trait Backend {
    /// Whether an operand names a source, or can.
    fn naming(&self, operand: &str) -> Naming;

    /// Opens a source, or without a name the SGLang of the current folder, else of the active Python environment.
    /// `say` is told of anything that takes seconds.
    ///
    /// # Errors
    /// If there is no such source, or it cannot be read.
    fn open(&self, source: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>>;
}

/// One source, opened.
pub trait Session {
    /// What was opened, for a message: package, version, kind and place.
    fn source(&self) -> String;
    /// In the order of declaration.
    fn field_names(&self) -> Vec<String>;
    /// Every spelling of every flag (`--tp`), with its field.
    fn aliases(&self) -> Vec<(String, String)>;
    /// Every field, in the order of declaration, with the heading that it is declared under.
    fn sections(&self) -> Vec<(String, Option<String>)>;
    /// The fields must be of [`Session::field_names`]; `begin` is told each that is begun.
    fn report(&self, fields: &[String], begin: Begin) -> Report;
    /// The same fields as a list.
    fn list(&self, fields: &[String], begin: Begin) -> FieldList;
    /// The text of a file that was read, by the path that claims give.
    fn text(&self, path: &str) -> Option<String>;
    /// What was skipped, and why.
    fn notes(&self) -> Vec<String>;
}

/// Opens sources for questions about launches, which need the code itself.
pub trait Launching {
    /// # Errors
    /// If there is no such source, or it cannot be read.
    fn whole(&self, source: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Arc<Opened>>;

    /// The text of a file that a launch command names.
    ///
    /// # Errors
    /// If it cannot be read, or may not be.
    fn read(&self, path: &str) -> anyhow::Result<String>;
}

/// The backend of the binary.
///
/// # Errors
/// If the profile that ships with argtrace cannot be read, which is a bug.
pub fn installed(use_store: bool) -> anyhow::Result<impl Backend + Comparing + Launching> {
    Ok(Installed { profile: Profile::builtin()?, use_store })
}

/// Opens sources and analyses them.
struct Installed {
    profile: Profile,
    /// Are answers kept, and taken from those that were kept?
    use_store: bool,
}

impl Installed {
    fn options(&self) -> source::Options<'_> {
        source::Options::of(&self.profile.package, &self.profile.marker)
    }
}

/// The tree as the analysis reads it.
struct Files<'t>(&'t Tree);

impl FileSet for Files<'_> {
    fn paths(&self) -> Vec<String> {
        self.0.files().iter().map(|f| f.path.clone()).collect()
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        self.0.read(index).map_err(|e| e.to_string())
    }

    fn is_incomplete(&self) -> bool {
        self.0.is_incomplete()
    }
}

/// A tree, and what is known of it: answers that were kept, and an analysis once one of them is missing.
pub struct Opened {
    shown: String,
    info: SourceInfo,
    profile: Profile,
    texts: Texts,
    store: Option<Store>,
    outline: Outline,
    analysis: OnceLock<Analysis>,
    notes: Mutex<BTreeSet<String>>,
}

/// What is known of a tree before anything is asked about a field.
#[derive(Serialize, Deserialize)]
struct Outline {
    sections: Vec<(String, Option<String>)>,
    spellings: Vec<(String, String)>,
}

/// An answer, with what was skipped to find it.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    answer: T,
    notes: Vec<String>,
}

impl Opened {
    fn new(tree: &Tree, profile: Profile, store: impl Fn(&TreeKey) -> Option<Store>) -> anyhow::Result<Opened> {
        let version = tree.version().unwrap_or("of unknown version");
        let shown = format!("{} {} ({} {})", tree.package(), version, tree.kind(), tree.display());
        let info = SourceInfo {
            package: tree.package().to_owned(),
            version: tree.version().map(str::to_owned),
            kind: tree.kind().as_str().to_owned(),
        };
        let texts = Texts::read(&Files(tree), |path| profile.counts(path));
        let store = store(&TreeKey::of(&texts));
        let known: Option<Kept<Outline>> = store.as_ref().and_then(|store| store.get("outline"));
        let mut notes: BTreeSet<String> = tree.notes().iter().cloned().collect();
        let analysis = OnceLock::new();
        let outline = match known {
            Some(known) => {
                notes.extend(known.notes);
                known.answer
            }
            None => {
                let found = Analysis::open(&texts, info.clone(), profile.clone())
                    .with_context(|| format!("reading {shown}"))?;
                let outline = Outline { sections: found.sections(), spellings: found.spellings() };
                let kept = Kept { answer: outline, notes: found.notes() };
                if let Some(store) = &store {
                    store.keep("outline", &kept);
                }
                let _ = analysis.set(found);
                kept.answer
            }
        };
        Ok(Opened { shown, info, profile, texts, store, outline, analysis, notes: Mutex::new(notes) })
    }

    /// The answer to a question about the whole tree, if it was kept.
    pub fn known<T: DeserializeOwned>(&self, question: &str) -> Option<T> {
        self.store.as_ref()?.get(question)
    }

    /// Keeps an answer to a question about the whole tree.
    pub fn keep<T: Serialize>(&self, question: &str, answer: &T) {
        if let Some(store) = &self.store {
            store.keep(question, answer);
        }
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    pub fn info(&self) -> &SourceInfo {
        &self.info
    }

    pub fn analysis(&self) -> Option<&Analysis> {
        if self.analysis.get().is_none() {
            // The outline came from the same texts, so this cannot fail; if it did, there would be nothing to add.
            let found = Analysis::open(&self.texts, self.info.clone(), self.profile.clone()).ok()?;
            let _ = self.analysis.set(found);
        }
        self.analysis.get()
    }

    fn notes_kept(&self) -> MutexGuard<'_, BTreeSet<String>> {
        // A set is whole after each extension, whatever became of the one who extended it.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What bears on the values of a launch.
    pub fn bearing(&self, fields: &[String], begin: Begin) -> Vec<FieldReport> {
        self.each("bearing", fields, |analysis, missing| analysis.bearing(missing, begin))
    }

    /// The answer for each field: kept ones, and the others worked out together and kept.
    fn each<T: Serialize + DeserializeOwned + Send + Sync>(
        &self,
        kind: &str,
        fields: &[String],
        work_out: impl Fn(&Analysis, &[String]) -> Vec<T>,
    ) -> Vec<T> {
        let question = |field: &str| format!("{kind} {field}");
        let store = self.store.as_ref();
        let kept = |field: &String| store.and_then(|s| s.get::<Kept<T>>(&question(field)));
        let known: Vec<Option<Kept<T>>> = fields.par_iter().map(kept).collect();
        let missing: Vec<String> =
            fields.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(field, _)| field.clone()).collect();
        let mut found = Vec::new();
        if !missing.is_empty()
            && let Some(analysis) = self.analysis()
        {
            found = work_out(analysis, &missing);
            self.notes_kept().extend(analysis.notes());
        }
        let notes: Vec<String> = self.analysis.get().map(Analysis::notes).unwrap_or_default();
        let found: Vec<Kept<T>> = found.into_iter().map(|answer| Kept { answer, notes: notes.clone() }).collect();
        if let (Some(store), false) = (&self.store, found.is_empty()) {
            missing.par_iter().zip(&found).for_each(|(field, kept)| store.keep(&question(field), kept));
            store.make_room();
        }
        let mut found = found.into_iter();
        let mut out = Vec::new();
        for known in known {
            if let Some(kept) = known.or_else(|| found.next()) {
                self.notes_kept().extend(kept.notes);
                out.push(kept.answer);
            }
        }
        out
    }
}

impl Backend for Installed {
    fn naming(&self, operand: &str) -> Naming {
        source::naming(operand, &self.options())
    }

    fn open(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        Ok(Box::new(self.opened(&self.tree(spec, say)?)?))
    }
}

impl Comparing for Installed {
    fn comparable(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Comparable>> {
        if let Some(spec) = spec.filter(|spec| FromFile::names(spec)) {
            return Ok(Box::new(FromFile::open(spec)?));
        }
        Ok(Box::new(FromTree::new(self.whole(spec, say)?)))
    }

    fn releases(&self, from: &str, to: &str, say: &dyn Fn(&str)) -> anyhow::Result<Vec<String>> {
        let options = source::Options { progress: Some(say), ..self.options() };
        Ok(source::releases(from, to, &options)?)
    }
}

impl Launching for Installed {
    fn whole(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> anyhow::Result<Arc<Opened>> {
        Ok(Arc::new(self.opened(&self.tree(spec, say)?)?))
    }

    fn read(&self, path: &str) -> anyhow::Result<String> {
        launching::read_file(path)
    }
}

impl Installed {
    fn tree(&self, spec: Option<&str>, say: &dyn Fn(&str)) -> Result<Tree, SourceError> {
        let options = source::Options { progress: Some(say), ..self.options() };
        match spec {
            Some(spec) => source::open(spec, &options),
            None => source::open_current(&options),
        }
    }

    fn opened(&self, tree: &Tree) -> anyhow::Result<Opened> {
        let cache = if self.use_store { source::cache_folder(&self.options()).ok() } else { None };
        Opened::new(tree, self.profile.clone(), |key| Some(Store::of(cache.as_ref()?, key)))
    }
}

impl Session for Opened {
    fn source(&self) -> String {
        self.shown.clone()
    }

    fn field_names(&self) -> Vec<String> {
        self.outline.sections.iter().map(|(field, _)| field.clone()).collect()
    }

    fn aliases(&self) -> Vec<(String, String)> {
        self.outline.spellings.clone()
    }

    fn sections(&self) -> Vec<(String, Option<String>)> {
        self.outline.sections.clone()
    }

    fn report(&self, fields: &[String], begin: Begin) -> Report {
        let fields = self.each("report", fields, |analysis, missing| analysis.report_telling(missing, begin).fields);
        Report { schema: report::SCHEMA.to_owned(), source: self.info.clone(), fields }
    }

    fn list(&self, fields: &[String], begin: Begin) -> FieldList {
        let fields = self.each("entry", fields, |analysis, missing| analysis.list(missing, begin).fields);
        FieldList { schema: list::SCHEMA.to_owned(), source: self.info.clone(), fields }
    }

    fn text(&self, path: &str) -> Option<String> {
        self.texts.text(path)
    }

    fn notes(&self) -> Vec<String> {
        self.notes_kept().iter().cloned().collect()
    }
}
