// why TREE FIELD PATHPART : states of the trace at a file
use argtrace::flow::graph::*;
use argtrace::meaning::constraints::tripped;
use argtrace::meaning::definition::Definitions;
use argtrace::meaning::facts::{Facts, Shared};
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
    let defs = Definitions::find(&p).unwrap();
    let ns = defs.fields.iter().filter_map(|d| Some((d.field, Sym::from(d.definition.namespace.as_deref()?)))).collect();
    let g = Graph::with_namespaces(&p, ns);
    let shared = Shared::new(&g, &defs);
    let d = defs.by_name(Sym::from(args[2].as_str())).unwrap();
    let facts = Facts::of(&shared, d);
    let pat = &args[3];
    let show = |id: argtrace::flow::trace::StateId| {
        let s = facts.trace.state(id);
        match s.node.slot {
            Slot::Expr(e) => format!("{}:{} `{}`", p.file(e.file).path, p.ir(e.file).place(e.expr).line, p.expr_text(e).chars().take(50).collect::<String>()),
            Slot::Attr(c, a) => format!("attr {}.{a}", p.class(c).name),
            o => format!("{o:?}"),
        }
    };
    for (id, at) in facts.reached() {
        if !p.file(at.file).path.contains(pat.as_str()) { continue }
        let s = facts.trace.state(id);
        println!("{} cost {} dist {} {:?} path {:?}", show(id), s.cost, s.distance, s.node.kind, s.node.path);
        if args.len() > 4 && args[4] == p.ir(at.file).place(at.expr).line.to_string() {
            for w in facts.trace.way_to(id) { let st = facts.trace.state(w); println!("     {} cost {} {:?}", show(w), st.cost, st.node.kind); }
        }
    }
    println!("tests:");
    for t in tripped::tests(&facts) {
        if !p.file(t.at.file).path.contains(pat.as_str()) { continue }
        println!("{}:{} cost {} stores {} start {} {}", p.file(t.at.file).path, p.ir(t.at.file).place(t.leaf.expr).line, t.cost, t.carried.stores, t.at_start, p.expr_text(t.at));
    }
    println!("states {} cut {}", facts.trace.states.len(), facts.trace.cut);
}
