use argtrace::flow::graph::*;
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
// usage: types TREE PATH LINE: the types of every expression that starts on the line
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let tree = source::open(&args[1], &source::Options::default()).unwrap();
    let p = Program::load(&Set(tree), Profile::builtin().unwrap());
    let g = Graph::new(&p);
    let pr = argtrace::flow::process::Processes::new(&g);
    for f in p.file_ids() {
        if p.file(f).path.ends_with(&args[2]) {
            let ir = p.ir(f);
            for (i, n) in ir.exprs.iter().enumerate() {
                if n.span.line.to_string() == args[3] {
                    let at = ExprRef { file: f, expr: argtrace::syntax::ir::ExprId(i as u32) };
                    let t = g.types.of(at);
                    let s: Vec<String> = t
                        .iter()
                        .map(|t| match &t.ty {
                            argtrace::program::types::Type::Instance(c) => {
                                format!("Instance {} {}", p.class(*c).name, t.sure)
                            }
                            argtrace::program::types::Type::Class(c) => {
                                format!("Class {} {}", p.class(*c).name, t.sure)
                            }
                            argtrace::program::types::Type::Func(c) | argtrace::program::types::Type::Method(c, _) => {
                                format!("Func {} {}", p.func(*c).name, t.sure)
                            }
                            o => format!("{o:?}")[..60.min(format!("{o:?}").len())].to_string(),
                        })
                        .collect();
                    println!("{} => {:?}", p.expr_text(at).chars().take(60).collect::<String>(), s);
                    if let argtrace::syntax::ir::Expr::Call { .. } = n.kind {
                        println!(
                            "   callees {:?}",
                            g.types.callees(at).iter().map(|(f, _, s)| (p.func(*f).name, s)).collect::<Vec<_>>()
                        );
                    }
                }
            }
            println!(
                "running: {:?}",
                ir.exprs
                    .iter()
                    .enumerate()
                    .find(|(_, n)| n.span.line.to_string() == args[3])
                    .map(|(i, _)| pr.running_at(ExprRef { file: f, expr: argtrace::syntax::ir::ExprId(i as u32) }))
                    .map(|r| r
                        .shown_by
                        .iter()
                        .map(|(k, e)| format!(
                            "{k} {:?}",
                            e.map(|e| format!("{}:{}", p.file(e.file).path, p.ir(e.file).span(e.expr).line))
                        ))
                        .collect::<Vec<_>>())
            );
        }
    }
}
