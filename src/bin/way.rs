use argtrace::flow::{access, graph::*, trace::*};
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
// usage: way TREE FIELD PATHEND LINE: states on the line, with cost, and the shortest way
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let tree = source::open(&args[1], &source::Options::default()).unwrap();
    let p = Program::load(&Set(tree), Profile::builtin().unwrap());
    let defs = argtrace::meaning::definition::Definitions::find(&p).unwrap();
    let g = Graph::with_namespaces(&p, defs.fields.iter().filter_map(|d| Some((d.field, d.definition.namespace.as_deref()?.into()))).collect());
    let acc = access::of_field(&g, args[2].as_str().into());
    let starts: Vec<_> = acc.iter().filter(|a| a.is_read()).map(|a| (a.at, Kind::Value)).collect();
    let tr = Trace::from(&g, &starts);
    eprintln!("states {} cut {}", tr.states.len(), tr.cut);
    let show = |n: &Node| match n.slot {
        Slot::Expr(e) => format!("{}:{} `{}`", p.file(e.file).path, p.ir(e.file).place(e.expr).line, p.expr_text(e).chars().take(50).collect::<String>()),
        Slot::Def(f, _, d) => format!("def {} {:?}", p.file(f).path, d),
        Slot::Attr(c, a) => format!("attr {}.{}", p.class(c).name, a),
        Slot::Global(f, n) => format!("global {} {}", p.file(f).path, n),
        Slot::Return(f) => format!("return {}", p.func(f).name),
        Slot::Field(f) => format!("field {f}"),
    };
    if args.len() < 5 {
        let mut by: std::collections::BTreeMap<(u32, String), usize> = Default::default();
        for id in tr.ids() {
            let s = tr.state(id);
            let k = match s.node.slot { Slot::Attr(..) | Slot::Return(_) => show(&s.node), Slot::Expr(e) if args.len() > 3 && p.file(e.file).path.contains(&args[3]) => show(&s.node), Slot::Expr(e) => p.file(e.file).path.clone(), _ => continue };
            *by.entry((s.cost, k)).or_default() += 1;
        }
        for ((c, k), n) in by { println!("{c} {n} {k}"); }
        return;
    }
    for id in tr.ids() {
        let s = tr.state(id);
        let Slot::Expr(e) = s.node.slot else { continue };
        if !p.file(e.file).path.ends_with(&args[3]) || p.ir(e.file).place(e.expr).line.to_string() != args[4] {
            continue;
        }
        println!("== {:?} cost {} dist {} path {:?} {}", s.node.kind, s.cost, s.distance, s.node.path, show(&s.node));
        if args.len() > 5 && s.node.path == Path::default() {
            for w in tr.way_to(id) {
                let s = tr.state(w);
                println!("   {} {} {:?} {}", s.cost, s.distance, s.node.kind, show(&s.node));
            }
        }
    }
}
