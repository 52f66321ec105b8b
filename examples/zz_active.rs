use argtrace::flow::graph::*;
use argtrace::meaning::{
    active,
    definition::Definitions,
    facts::{Facts, Shared},
};
use argtrace::program::{profile::Profile, *};
use argtrace::source;
use argtrace::syntax::ir::Sym;
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
    let tree = source::open(&args[1], &source::Options::default()).unwrap();
    let p = Program::load(&Set(tree), Profile::builtin().unwrap());
    let d = Definitions::find(&p).unwrap();
    let ns = d.fields.iter().filter_map(|d| Some((d.field, Sym::from(d.definition.namespace.as_deref()?)))).collect();
    let g = Graph::with_namespaces(&p, ns);
    let shared = Shared::new(&g, &d);
    let all: Vec<Sym> = d.fields.iter().map(|f| f.field).collect();
    let every = args.get(2).and_then(|a| a.strip_prefix('/')).and_then(|n| n.parse::<usize>().ok());
    let wanted: Vec<Sym> = match every {
        Some(n) => {
            let off: usize = args.get(3).map_or(0, |a| a.parse().unwrap());
            all.into_iter().skip(off).step_by(n).collect()
        }
        None => args[2..].iter().map(|a| Sym::from(a)).collect(),
    };
    for f in wanted {
        let Some(declared) = d.by_name(f) else {
            println!("{f}: no such field");
            continue;
        };
        let t = std::time::Instant::now();
        let facts = Facts::of(&shared, declared);
        let t1 = t.elapsed();
        let claims = active::claim(&facts);
        println!("{f} reads {} [{:.1?} + {:.1?}]", facts.reads().count(), t1, t.elapsed() - t1);
        for c in claims {
            println!(
                "    {}{} {:?}   {}:{} {:?}",
                c.any_of.map_or(String::new(), |a| a + ": "),
                c.condition,
                c.field,
                c.path,
                c.line,
                c.grade
            );
        }
    }
}
