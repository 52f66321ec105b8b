//! Under what does code stand: the tests around a statement, and for a step of resolution those around its calls.

use super::facts::Shared;
use super::wording::all_of;
use crate::flow::guards::{self, Guard};
use crate::program::{ExprRef, FileId, FuncRef};
use crate::syntax::ir::*;

/// How many early exits before a statement a condition shows, nearest first.
const NEAREST: usize = 2;

/// How many levels of callers, and how many calls of a function, a condition takes in.
const MAX_LEVELS: u32 = 3;
const MAX_CALLS: usize = 3;

/// The tests around a statement, outer first, after the nearest of those that ask arguments and leave the function before it.
pub fn nearest_guards(shared: &Shared, file: FileId, stmt: StmtId) -> Vec<String> {
    let ir = shared.ir(file);
    let before: Vec<Guard> = guards::of_stmt(ir, stmt).into_iter().filter(|g| g.early_exit && returns(ir, g)).collect();
    let asks = |g: &&Guard| {
        let origins = shared.origins.of(ExprRef { file, expr: g.test });
        origins.iter().any(|o| o.hops <= 1)
    };
    let before: Vec<&Guard> = before.iter().filter(asks).collect();
    let nearest = before.iter().skip(before.len().saturating_sub(NEAREST));
    let mut out: Vec<String> = nearest.map(|g| shared.guard_text(file, g)).collect();
    out.extend(tests_around(shared, file, stmt));
    out
}

/// The tests around a statement, outer first.
pub fn tests_around(shared: &Shared, file: FileId, stmt: StmtId) -> Vec<String> {
    let ir = shared.ir(file);
    let around: Vec<Guard> = guards::of_stmt(ir, stmt).into_iter().filter(|g| !g.early_exit).collect();
    // `elif x == 2`: that x is not 1 needs no words.
    let says = |g: &&Guard| g.holds || !around.iter().any(|o| o.holds && asks_the_same(shared, file, o.test, g.test));
    around.iter().filter(says).map(|g| shared.guard_text(file, g)).collect()
}

/// Do two tests compare the same thing, as arms of one statement?
fn asks_the_same(shared: &Shared, file: FileId, a: ExprId, b: ExprId) -> bool {
    let ir = shared.ir(file);
    match (ir.expr(a), ir.expr(b)) {
        (Expr::Compare { left: a_left, .. }, Expr::Compare { left: b_left, .. }) => {
            let text = |expr| shared.text(ExprRef { file, expr });
            ir.exprs[a.index()].parent == ir.exprs[b.index()].parent && text(*a_left) == text(*b_left)
        }
        _ => false,
    }
}

/// Does the statement of the test end the function without an error?
fn returns(ir: &FileIr, guard: &Guard) -> bool {
    let Parent::Stmt(stmt) = ir.exprs[guard.test.index()].parent else { return false };
    let Stmt::If { arms, orelse } = &ir.stmt(stmt).kind else { return false };
    let block = if guard.holds { Some(orelse) } else { arms.iter().find(|(t, _)| *t == guard.test).map(|(_, b)| b) };
    block.and_then(|b| b.last()).is_some_and(|s| matches!(ir.stmt(*s).kind, Stmt::Return(_)))
}

/// What a step of resolution stands under where it is called, and the models that it is registered for.
pub fn called_under(shared: &Shared, file: FileId, stmt: StmtId) -> Vec<String> {
    match shared.ir(file).stmt(stmt).scope {
        Scope::Func(func) => under_calls(shared, FuncRef { file, func }, 0),
        _ => Vec::new(),
    }
}

/// Is a step of resolution called under a test, or for some models only, so that the tests around its code do not say
/// all? What ends a resolution early goes without saying.
pub fn is_called_under(shared: &Shared, at: ExprRef) -> bool {
    let ir = shared.ir(at.file);
    match ir.stmt_of(at.expr).map(|stmt| ir.stmt(stmt).scope) {
        Some(Scope::Func(func)) => is_under_tests(shared, FuncRef { file: at.file, func }, 0),
        _ => false,
    }
}

fn is_under_tests(shared: &Shared, func: FuncRef, level: u32) -> bool {
    if level >= MAX_LEVELS || !shared.startup.resolves(func) {
        return false;
    }
    let calls = calls_of(shared, func);
    let is_under = |call: &ExprRef| {
        let ir = shared.ir(call.file);
        let tested = ir.stmt_of(call.expr).is_some_and(|stmt| !tests_around(shared, call.file, stmt).is_empty());
        let above = || match ir.scope_of(call.expr) {
            Scope::Func(func) => is_under_tests(shared, FuncRef { file: call.file, func }, level + 1),
            _ => false,
        };
        tested || above()
    };
    registered_for(shared, func).is_some() || !calls.is_empty() && calls.iter().all(is_under)
}

/// The models that a step is registered for.
fn registered_for(shared: &Shared, func: FuncRef) -> Option<ExprRef> {
    let program = shared.program();
    let providers: Vec<&str> = program.profile.resolution.providers.iter().map(String::as_str).collect();
    program.decorator(func, &providers)
}

fn under_calls(shared: &Shared, func: FuncRef, level: u32) -> Vec<String> {
    if level >= MAX_LEVELS || !shared.startup.resolves(func) {
        return Vec::new();
    }
    if let Some(registered) = registered_for(shared, func) {
        return vec![shared.text(registered)];
    }
    let calls = calls_of(shared, func);
    let mut ways: Vec<Vec<String>> = calls.iter().map(|call| around_call(shared, *call, level)).collect();
    ways.dedup();
    match &mut ways[..] {
        [] => Vec::new(),
        [only] => std::mem::take(only),
        several if several.iter().any(Vec::is_empty) => Vec::new(),
        several => {
            let several: Vec<String> = several.iter().map(|way| format!("({})", all_of(way))).collect();
            vec![several.join(" or ")]
        }
    }
}

fn around_call(shared: &Shared, call: ExprRef, level: u32) -> Vec<String> {
    let ir = shared.ir(call.file);
    let mut out = match ir.scope_of(call.expr) {
        Scope::Func(func) => under_calls(shared, FuncRef { file: call.file, func }, level + 1),
        _ => Vec::new(),
    };
    out.extend(ir.stmt_of(call.expr).map(|stmt| nearest_guards(shared, call.file, stmt)).unwrap_or_default());
    out
}

/// The calls of a function that is called at few places.
fn calls_of(shared: &Shared, func: FuncRef) -> Vec<ExprRef> {
    let program = shared.program();
    if program.files_with(program.func(func).name).len() > MANY_FILES {
        return Vec::new();
    }
    let callers = shared.graph.types.callers(func);
    if callers.len() > MAX_CALLS { Vec::new() } else { callers.iter().map(|site| site.call).collect() }
}

/// The call of a function that is called at one place.
pub fn only_call(shared: &Shared, func: FuncRef) -> Option<ExprRef> {
    match calls_of(shared, func)[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Functions with names as common as this are asked no callers.
const MANY_FILES: usize = 40;

/// Does what is said of a line leave out nothing that decides whether the line is reached? Only of the steps that resolve
/// the record itself is every caller known, and only where no earlier exit was left unsaid.
pub fn is_whole(shared: &Shared, file: FileId, line: u32) -> bool {
    let ir = shared.ir(file);
    let around = |func: &&(usize, &Func)| func.1.span.line <= line && line <= func.1.span.end_line;
    let Some((i, _)) = ir.funcs.iter().enumerate().filter(|f| around(&f)).max_by_key(|(_, f)| f.span.line) else {
        return true;
    };
    let stmt = ir.stmts.iter().position(|stmt| stmt.span.line == line);
    let says_exits = stmt.is_none_or(|stmt| {
        let stmt = StmtId(stmt as u32);
        let exits = guards::of_stmt(ir, stmt).iter().filter(|g| g.early_exit && returns(ir, g)).count();
        exits <= nearest_guards(shared, file, stmt).len() - tests_around(shared, file, stmt).len()
    });
    says_exits && is_called_whole(shared, FuncRef { file, func: FuncId(i as u32) }, 0)
}

fn is_called_whole(shared: &Shared, func: FuncRef, level: u32) -> bool {
    let program = shared.program();
    let foreign = program.method_class(func).is_some_and(|class| !shared.graph.is_record_class(class));
    if level >= MAX_LEVELS || foreign || !shared.startup.resolves(func) {
        return false;
    }
    let callers = shared.graph.types.callers(func);
    callers.len() <= MAX_CALLS
        && callers.iter().all(|site| match shared.ir(site.call.file).scope_of(site.call.expr) {
            Scope::Func(func) => is_called_whole(shared, FuncRef { file: site.call.file, func }, level + 1),
            _ => true,
        })
}
