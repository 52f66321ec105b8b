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
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let t0 = std::time::Instant::now();
    let tree = source::open(&args[1], &source::Options::of("sglang", "srt/server_args.py")).unwrap();
    let p = Program::load(&Set(tree), Profile::builtin().unwrap());
    eprintln!("load {:?}", t0.elapsed());
    let g = Graph::new(&p);
    for f in &args[2..] {
        let t = std::time::Instant::now();
        let acc = access::of_field(&g, (*f).as_str().into());
        for a in &acc {
            println!(
                "{} {}:{} {}",
                if a.write.is_some() { "W" } else { "R" },
                p.file(a.at.file).path,
                a.place.line,
                a.sure
            );
        }
        eprintln!("access {:?} parsed {}", t.elapsed(), p.parsed_files());
        let starts: Vec<_> = acc.iter().filter(|a| a.is_read()).map(|a| (a.at, Kind::Value)).collect();
        let tr = Trace::from(&g, &starts);
        eprintln!("trace {:?} parsed {} states {} cut {}", t.elapsed(), p.parsed_files(), tr.states.len(), tr.cut);
        let mut lines: Vec<_> = tr
            .states
            .iter()
            .filter_map(|s| match s.node.slot {
                Slot::Expr(e) => Some((s.distance, p.file(e.file).path.clone(), p.ir(e.file).place(e.expr).line)),
                _ => None,
            })
            .collect();
        lines.sort();
        lines.dedup_by_key(|l| (l.1.clone(), l.2));
        if std::env::var("FLOW").is_ok() {
            for l in lines {
                println!("  {} {}:{}", l.0, l.1, l.2);
            }
            for (_, d) in &tr.dead_ends {
                println!("  DEAD {}:{} {}", p.file(d.at.file).path, p.ir(d.at.file).span(d.at.expr).line, d.why);
            }
        }
    }
}
