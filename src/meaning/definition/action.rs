//! What does an argparse `action` do: how many values it takes, what it stores, whether it stores at all?
//!
//! The actions of argparse are a table; a class of the tree is judged by its `__call__`. It never runs one.

use crate::program::resolve::Entity;
use crate::program::*;
use crate::syntax::ir::*;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    Store,
    StoreConst,
    StoreTrue,
    StoreFalse,
    Append,
    AppendConst,
    Extend,
    Count,
    Help,
    Version,
    /// `--x` and `--no-x`
    BooleanOptional,
    Custom(Option<ClassRef>),
}

/// What giving the flag comes to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    Stores,
    /// It only prints.
    Ignored,
    /// It ends the launch.
    Fails,
}

const ACTIONS: [(&str, Action); 11] = [
    ("store", Action::Store),
    ("store_const", Action::StoreConst),
    ("store_true", Action::StoreTrue),
    ("store_false", Action::StoreFalse),
    ("append", Action::Append),
    ("append_const", Action::AppendConst),
    ("extend", Action::Extend),
    ("count", Action::Count),
    ("help", Action::Help),
    ("version", Action::Version),
    ("BooleanOptionalAction", Action::BooleanOptional),
];

impl Action {
    pub fn named(name: &str) -> Option<Action> {
        ACTIONS.iter().find(|(n, _)| *n == name).map(|(_, a)| *a)
    }

    pub fn read(program: &Program, at: ExprRef) -> Action {
        let ir = program.ir(at.file);
        let class = program.entities(at).into_iter().find_map(|e| match e {
            Entity::Class(class) => Some(class),
            _ => None,
        });
        if class.is_some() {
            return Action::Custom(class);
        }
        let name = ir.str_value(at.expr).or_else(|| last_name(ir, at.expr));
        name.and_then(|n| Action::named(n.as_str())).unwrap_or(Action::Custom(None))
    }

    /// Does the command line give a value that argparse converts?
    pub fn takes_value(self) -> bool {
        matches!(self, Action::Store | Action::Append | Action::Extend)
    }
}

/// What a custom action does with the namespace, given the keywords that it was registered with.
pub fn effect(program: &Program, action: Action, keywords: &[Sym]) -> Effect {
    let Action::Custom(Some(class)) = action else { return Effect::Stores };
    let Some(call) = program.method(class, Sym::from("__call__")) else { return Effect::Stores };
    let ir = program.ir(call.file);
    let scope = Scope::Func(call.func);
    let in_body = |e: &ExprId| ir.scope_of(*e) == scope;
    let setattr = program.calls_named(call.file, Sym::from("setattr")).iter().any(in_body);
    let passes_on = program.calls_named(call.file, Sym::from("__call__")).iter().any(in_body);
    let dest = program.attrs_named(call.file, Sym::from("__dict__")).iter().any(in_body);
    if setattr || passes_on || dest {
        return Effect::Stores;
    }
    let errors = program.calls_named(call.file, Sym::from("error")).iter().copied().filter(in_body);
    let errors = errors.filter(|e| {
        matches!(ir.expr(*e), Expr::Call { func, .. }
        if matches!(ir.expr(*func), Expr::Attr { base, .. } if is_parser(ir, *base, call)))
    });
    let raises = ir.stmts.iter().enumerate().filter(|(_, s)| s.scope == scope && matches!(s.kind, Stmt::Raise(_)));
    let mut stops = errors.filter_map(|e| ir.stmt_of(e)).chain(raises.map(|(i, _)| StmtId(i as u32)));
    if stops.any(|stop| happens(ir, stop, keywords)) { Effect::Fails } else { Effect::Ignored }
}

/// The default that the action class gives an absent flag: its `__init__` may have one.
pub fn own_default(program: &Program, action: Action) -> Option<ExprRef> {
    let Action::Custom(Some(class)) = action else { return None };
    let init = program.method(class, Sym::from("__init__"))?;
    let default = program.func(init).params.iter().find(|p| p.name == "default")?.default?;
    Some(ExprRef { file: init.file, expr: default })
}

/// Is it the parser that the action was called with?
fn is_parser(ir: &FileIr, base: ExprId, call: FuncRef) -> bool {
    let parser = ir.func(call.func).params.get(1).map(|p| p.name);
    matches!(ir.expr(base), Expr::Name(name) if Some(*name) == parser)
}

/// Is a statement under no test, or under one on a keyword that was given?
fn happens(ir: &FileIr, stop: StmtId, keywords: &[Sym]) -> bool {
    let mut at = stop;
    while let Some((up, _)) = ir.stmt(at).parent {
        if let Stmt::If { arms, .. } = &ir.stmt(up).kind {
            let tests_given = arms.iter().any(|(test, _)| mentions(ir, *test, keywords));
            if !tests_given {
                return false;
            }
        }
        at = up;
    }
    true
}

fn mentions(ir: &FileIr, at: ExprId, attrs: &[Sym]) -> bool {
    match ir.expr(at) {
        Expr::Attr { attr, .. } if attrs.contains(attr) => true,
        _ => ir.children(at).into_iter().any(|e| mentions(ir, e, attrs)),
    }
}
