//! Reads claims off the value-flow graph: what a field's value is, who holds it, what it does, what bends it.
//!
//! A claim carries its grade and its evidence; what the graph does not show is `unknown`. Nothing here reads files or
//! prints, and no field is special.

pub mod accesses;
pub mod active;
pub mod beside;
mod conditions;
pub mod constraints;
pub mod coverage;
pub mod definition;
pub mod facts;
pub mod findings;
pub mod flow_view;
pub mod list;
pub mod precedence;
pub mod report;
pub mod scope;
mod setup;
pub mod sinks;
pub mod startup;
pub mod unit;
mod uses;
mod wording;

use crate::flow::graph::Graph;
use crate::program::profile::Profile;
use crate::program::{FileSet, Program};
use crate::syntax::ir::Sym;
use beside::{Beside, Meanings, RetiredFlag};
use definition::{DefinitionError, Definitions};
use facts::{Facts, Shared};
use list::{FieldEntry, FieldList};
use report::{FieldReport, Report, SourceInfo};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tree, ready to be asked.
pub struct Analysis {
    program: Program,
    definitions: Definitions,
    source: SourceInfo,
}

impl Analysis {
    /// Reads the tree and finds the fields.
    ///
    /// # Errors
    /// If the tree holds no record class.
    pub fn open(set: &dyn FileSet, source: SourceInfo, profile: Profile) -> Result<Analysis, DefinitionError> {
        let program = Program::load(set, profile);
        let definitions = Definitions::find(&program)?;
        Ok(Analysis { program, definitions, source })
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    pub fn source(&self) -> &SourceInfo {
        &self.source
    }

    /// Gives `run` what all fields share.
    pub fn with_shared<T>(&self, run: impl FnOnce(&Shared) -> T) -> T {
        let of_namespace = |d: &definition::Declared| Some((d.field, Sym::from(d.definition.namespace.as_deref()?)));
        let namespaces = self.definitions.fields.iter().filter_map(of_namespace).collect();
        let graph = Graph::with_namespaces(&self.program, namespaces);
        run(&Shared::new(&graph, &self.definitions))
    }

    /// In the order of declaration.
    pub fn field_names(&self) -> Vec<String> {
        self.definitions.fields.iter().map(|d| d.field.to_string()).collect()
    }

    /// Every field with the heading that it is declared under.
    pub fn sections(&self) -> Vec<(String, Option<String>)> {
        self.definitions.fields.iter().map(|d| (d.field.to_string(), d.definition.section.clone())).collect()
    }

    /// Every spelling of every flag with its field.
    pub fn spellings(&self) -> Vec<(String, String)> {
        self.definitions.spellings().into_iter().map(|(flag, field)| (flag, field.to_string())).collect()
    }

    /// Files that were skipped, and regions that did not parse in those that were needed.
    pub fn notes(&self) -> Vec<String> {
        let mut out: Vec<String> =
            self.program.unread.iter().map(|(path, why)| format!("{path}: skipped: {why}")).collect();
        for (path, line, more) in self.program.skipped_regions() {
            let also = if more > 0 { format!(" and {more} more") } else { String::new() };
            out.push(format!("{path}:{line}: a region does not parse and was skipped{also}"));
        }
        out
    }

    /// The report on these fields; unknown names are left out.
    pub fn report(&self, fields: &[String]) -> Report {
        self.report_telling(fields, &|_| ())
    }

    /// The same; `begin` is told each field that is begun.
    pub fn report_telling(&self, fields: &[String], begin: Begin) -> Report {
        let say = |facts: &Facts| {
            let mut report = meaning(facts);
            report.flow = Some(flow_view::flow(facts, &report));
            report
        };
        let fields = self.each(fields, begin, || say);
        Report { schema: report::SCHEMA.to_owned(), source: self.source.clone(), fields }
    }

    /// What bears on the values of a launch.
    pub fn bearing(&self, fields: &[String], begin: Begin) -> Vec<FieldReport> {
        self.each(fields, begin, || bearing)
    }

    /// The same fields as a list, without the places on their ways.
    pub fn list(&self, fields: &[String], begin: Begin) -> FieldList {
        let fields = self.each(fields, begin, || |facts: &Facts| FieldEntry::from(meaning(facts)));
        FieldList { schema: list::SCHEMA.to_owned(), source: self.source.clone(), fields }
    }

    /// All fields, with what a comparison needs beside the claims. Where only some are `wanted`, the others have their
    /// declaration alone.
    pub fn meanings(&self, wanted: Option<&[String]>, begin: Begin) -> Meanings {
        let names = self.field_names();
        let said = self.each(wanted.unwrap_or(&names), begin, || {
            let setup = setup::Setup::default();
            move |facts: &Facts| {
                let report = meaning(facts);
                let around = setup.around(facts.shared, &report);
                (report, Beside { uses: uses::of(facts), rewritten_when: setup::rewritten_when(facts), around })
            }
        });
        let mut said: FxHashMap<String, _> = said.into_iter().map(|pair| (pair.0.field.clone(), pair)).collect();
        let declared = |d: &definition::Declared| FieldReport {
            field: d.field.to_string(),
            definition: d.definition.clone(),
            ..FieldReport::default()
        };
        let of = |d: &definition::Declared| {
            said.remove(d.field.as_str()).unwrap_or_else(|| (declared(d), Beside::default()))
        };
        let (fields, beside) = self.definitions.fields.iter().map(of).unzip();
        let report = Report { schema: report::SCHEMA.to_owned(), source: self.source.clone(), fields };
        Meanings { report, beside, retired_flags: self.retired_flags() }
    }

    /// Flags that are taken and set no field.
    fn retired_flags(&self) -> Vec<RetiredFlag> {
        let retired = self.definitions.deprecated.iter().map(|flag| RetiredFlag {
            flag: flag.flag.clone(),
            text: flag.text.clone(),
            fails: flag.fails,
            path: self.program.file(flag.place.0).path.clone(),
            line: flag.place.1.line,
        });
        retired.collect()
    }

    /// What is said of each field, in their order. Fields that are looked at by one thread share a graph.
    fn each<T: Send, S: Fn(&Facts) -> T>(
        &self,
        fields: &[String],
        begin: Begin,
        sayer: impl Fn() -> S + Sync,
    ) -> Vec<T> {
        let declared: Vec<_> = fields.iter().filter_map(|name| self.definitions.by_name(Sym::from(name))).collect();
        let threads = rayon::current_num_threads().min(declared.len() / FIELDS_PER_THREAD).max(1);
        let next = AtomicUsize::new(0);
        let work = |tell: &dyn Fn(Told<T>)| {
            self.with_shared(|shared| {
                let say = sayer();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(declared) = declared.get(i) else { break };
                    tell(Told::Begun(declared.field));
                    tell(Told::Said(i, say(&Facts::of(shared, declared))));
                }
            });
        };
        let said = RefCell::new(Vec::new());
        let hear = |told: Told<T>| match told {
            Told::Begun(field) => begin(field.as_str()),
            Told::Said(i, what) => said.borrow_mut().push((i, what)),
        };
        if threads > 1 {
            std::thread::scope(|scope| {
                let (sender, receiver) = std::sync::mpsc::channel();
                for _ in 0..threads {
                    let (sender, work) = (sender.clone(), &work);
                    // A receiver that is gone has heard enough.
                    let run = move || work(&|told| drop(sender.send(told)));
                    let thread = std::thread::Builder::new().stack_size(STACK);
                    if thread.spawn_scoped(scope, run).is_err() {
                        break;
                    }
                }
                drop(sender);
                receiver.into_iter().for_each(&hear);
            });
        }
        // All of it, or what is left where no thread could be started.
        if next.load(Ordering::Relaxed) < declared.len() {
            work(&hear);
        }
        let mut said = said.into_inner();
        said.sort_by_key(|(i, _)| *i);
        said.into_iter().map(|(_, what)| what).collect()
    }
}

/// With fewer fields than this for each, threads would only work out the same things twice.
const FIELDS_PER_THREAD: usize = 24;
/// As much as a main thread has.
const STACK: usize = 8 << 20;

/// What a thread tells of its work.
enum Told<T> {
    Begun(Sym),
    Said(usize, T),
}

/// Told the name of each field before it is looked at.
pub type Begin<'a> = &'a dyn Fn(&str);

/// All claims on one field; the picture of its flow apart.
fn meaning(facts: &Facts) -> FieldReport {
    let unit = unit::claim(facts);
    let sinks = sinks::claim(facts);
    let scope = scope::claim(facts, &unit, &sinks);
    let precedence = precedence::claim(facts);
    let active_when = active::claim(facts);
    let constraints = constraints::claim(facts, &active_when);
    let mut report = FieldReport {
        field: facts.field().to_string(),
        definition: facts.declared.definition.clone(),
        reads: Some(accesses::reads(facts)),
        writes: Some(accesses::writes(facts)),
        flow: None,
        unit,
        scope,
        sinks,
        precedence,
        active_when,
        constraints,
        findings: Vec::new(),
        coverage: Some(coverage::of(facts)),
    };
    report.findings = findings::claim(facts, &report);
    report
}

/// The claims that a value given at a launch can meet, and no others: only an amount of memory has a total, so where
/// the value ends is asked of such amounts alone.
fn bearing(facts: &Facts) -> FieldReport {
    let unit = unit::claim(facts);
    let sinks = if unit.bytes.is_some() { sinks::claim(facts) } else { Vec::new() };
    let scope = scope::claim(facts, &unit, &sinks);
    let active_when = active::claim(facts);
    let constraints = constraints::claim(facts, &active_when);
    FieldReport {
        field: facts.field().to_string(),
        definition: facts.declared.definition.clone(),
        writes: Some(accesses::writes(facts)),
        unit,
        scope,
        sinks,
        precedence: precedence::claim(facts),
        active_when,
        constraints,
        findings: findings::dead_field(facts).into_iter().collect(),
        ..FieldReport::default()
    }
}
