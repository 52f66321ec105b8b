//! How long each stage of a report takes, and how many files were parsed by its end.
use argtrace::flow::graph::Graph;
use argtrace::meaning::{definition::Definitions, facts::*, *};
use argtrace::program::{profile::Profile, *};
use argtrace::source;
struct Set(source::Tree);
impl FileSet for Set {
    fn paths(&self) -> Vec<String> {
        self.0.files().iter().map(|f| f.path.clone()).collect()
    }
    fn read(&self, i: usize) -> Result<Vec<u8>, String> {
        self.0.read(i).map_err(|e| e.to_string())
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let tree = source::open(&args[1], &source::Options::of("sglang", "srt/server_args.py")).unwrap();
    let mut t = cpu();
    let p = Program::load(&Set(tree), Profile::builtin().unwrap());
    let mut step = |what: &str, p: &Program| {
        let now = cpu();
        eprintln!("{what:12} {:7.1} ms  parsed {}", (now - t) * 1e3, p.parsed_files());
        t = cpu();
    };
    step("load", &p);
    let d = Definitions::find(&p).unwrap();
    step("definitions", &p);
    let ns = d.fields.iter().filter_map(|d| Some((d.field, d.definition.namespace.as_deref()?.into()))).collect();
    let graph = Graph::with_namespaces(&p, ns);
    let shared = Shared::new(&graph, &d);
    for f in &args[2..] {
        eprintln!("-- {f}");
        let declared = d.by_name(f.as_str().into()).unwrap();
        let facts = Facts::of(&shared, declared);
        step("facts", &p);
        let unit = unit::claim(&facts);
        step("unit", &p);
        let sinks = sinks::claim(&facts);
        step("sinks", &p);
        let _ = scope::claim(&facts, &unit, &sinks);
        step("scope", &p);
        let _ = precedence::claim(&facts);
        step("precedence", &p);
        let active = active::claim(&facts);
        step("active", &p);
        let _ = constraints::claim(&facts, &active);
        step("constraints", &p);
    }
}
fn cpu() -> f64 {
    let mut s = String::new();
    use std::io::Read;
    std::fs::File::open("/proc/self/schedstat").unwrap().read_to_string(&mut s).unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
