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
    let p = Program::load(&Set(tree), Profile::builtin().unwrap());
    let d = Definitions::find(&p).unwrap();
    let ns = d.fields.iter().filter_map(|d| Some((d.field, d.definition.namespace.as_deref()?.into()))).collect();
    let graph = Graph::with_namespaces(&p, ns);
    let shared = Shared::new(&graph, &d);
    let names: Vec<String> = if args[2] == "all" { d.fields.iter().map(|f| f.field.to_string()).collect() } else { args[2..].to_vec() };
    for f in &names {
        let Some(declared) = d.by_name(f.as_str().into()) else { continue };
        let t = cpu();
        let facts = Facts::of(&shared, declared);
        let t1 = cpu();
        let out = precedence::claim(&facts);
        eprintln!("{f}: facts {:.0} ms precedence {:.0} ms", (t1 - t) * 1e3, (cpu() - t1) * 1e3);
        for c in out {
            println!("{f}\t{}\t{}\t{}\t{}:{}\t{:?}\t{}", c.relation, c.other, c.other_kind, c.path.trim_start_matches("sglang/"), c.line, c.grade, c.when.unwrap_or_default());
        }
    }
}
fn cpu() -> f64 {
    let mut s = String::new();
    use std::io::Read;
    std::fs::File::open("/proc/self/schedstat").unwrap().read_to_string(&mut s).unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
