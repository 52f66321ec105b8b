//! From a command line to the record at the end of its own resolution.
//!
//! The source's own steps are run in their order, as the profile names them: the function that parses and makes the
//! record, then the methods that resolve and check it. A tree without such a function gets its record straight from the
//! parser.

use super::command::Parsed;
use super::command::token::Token;
use super::evaluate::argparse_objects::ParserModel;
use super::evaluate::value::{Abs, ObjId};
use super::evaluate::world::World;
use super::evaluate::{Check, Machine, Write};
use crate::meaning::definition::Definitions;
use crate::program::Program;
use crate::syntax::ir::Sym;
use rustc_hash::FxHashSet;

/// What is known before the program starts.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub argv: Vec<Token>,
    /// Variables that are set; one without a value is set to something that is not known.
    pub environment: Vec<(String, Option<String>)>,
    pub facts: Vec<(String, String)>,
    /// Files that the source reads, by the path on the command line.
    pub files: Vec<(String, Result<String, String>)>,
}

/// What became of it.
pub struct Resolved<'p> {
    pub machine: Machine<'p>,
    pub record: Option<ObjId>,
    pub parsed: Parsed,
    pub writes: Vec<Write>,
    pub checks: Vec<Check>,
    pub reads: FxHashSet<Sym>,
    /// How many checks failed before the command line was parsed.
    pub checks_before_parsing: usize,
    /// Files that the source would read and that cannot be read, with why.
    pub unreadable: Vec<(String, String)>,
    /// Facts that the profile does not know.
    pub unknown_facts: Vec<String>,
}

impl Resolved<'_> {
    /// A field at the end of its resolution.
    pub fn effective(&mut self, field: Sym) -> Abs {
        match self.record {
            Some(record) => self.machine.published(record, field),
            None => Abs::any("the record, which is not made"),
        }
    }
}

pub fn run<'p>(program: &'p Program, definitions: &Definitions, given: &Given) -> Resolved<'p> {
    let launch = &program.profile.launch;
    let (mut world, unknown_facts) = World::with_facts(&program.profile, &given.facts);
    world.fields = definitions.fields.iter().map(|d| d.field).collect();
    world.defaults = definitions.fields.iter().map(|d| (d.field, d.default_expr)).collect();
    world.fallbacks = definitions.fields.iter().filter_map(|d| Some((d.field, d.fallback?))).collect();
    world.is_assembled = definitions.parts.len() > 1;
    world.environment = given.environment.clone();
    world.argv = given.argv.clone();
    world.files = given.files.iter().cloned().collect();
    let mut machine = Machine::new(program, world, [definitions.root]);
    machine.set_parser(ParserModel::of(definitions));

    let prepared = launch.prepare.iter().find_map(|name| machine.prepare(name, &given.argv));
    let record = match prepared.or_else(|| machine.direct(definitions, &given.argv)) {
        Some(record) => record,
        None => return finished(machine, None, unknown_facts),
    };
    for step in &launch.steps {
        machine.call_step(record, Sym::from(step));
    }
    finished(machine, Some(record), unknown_facts)
}

fn finished(mut machine: Machine<'_>, record: Option<ObjId>, unknown_facts: Vec<String>) -> Resolved<'_> {
    let parsed = machine.parsed().cloned().unwrap_or_default();
    let log = std::mem::take(&mut machine.log);
    Resolved {
        record,
        parsed,
        writes: log.writes,
        checks_before_parsing: machine.checks_before_parsing.min(log.checks.len()),
        checks: log.checks,
        reads: log.reads,
        unreadable: log.unreadable,
        unknown_facts,
        machine,
    }
}
