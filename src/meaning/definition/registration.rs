//! Which flags does the record's parser get by hand?
//!
//! The calls `parser.add_argument(...)` are followed from the record's own method through argument groups and through
//! functions that take the parser. It never looks at parsers of other programs, and never parses a command line.

use super::action::{self, Action, Effect};
use super::deprecation;
use super::record::Record;
use crate::program::constants::{Value, filled};
use crate::program::resolve::Entity;
use crate::program::*;
use crate::syntax::ir::*;
use rustc_hash::FxHashSet;

/// The choices of a flag.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Choices {
    pub values: Vec<Value>,
    /// There can be others.
    pub open: bool,
    /// Is the flag limited to choices at all?
    pub given: bool,
}

impl Choices {
    pub fn of(program: &Program, at: Option<ExprRef>) -> Choices {
        let Some(at) = at.filter(|e| !matches!(program.ir(e.file).expr(e.expr), Expr::None)) else {
            return Choices::default();
        };
        let elements = program.elements(at);
        Choices { values: elements.known, open: elements.open, given: true }
    }
}

/// What argparse stores for an absent flag.
#[derive(Clone, PartialEq, Debug)]
pub enum Unset {
    /// The class default of a field, by name.
    OfField(Sym),
    /// Nothing, so that the class default applies.
    OfClass,
    Expr(ExprRef),
    /// What argparse takes for itself.
    Implied(Value),
}

/// One `add_argument`, by hand or derived from a declaration.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Every spelling, `--no-x` of a boolean option included.
    pub flags: Vec<String>,
    pub dest: Sym,
    /// The field that it sets, or would set if its action stored.
    pub field: Option<Sym>,
    pub action: Action,
    pub effect: Effect,
    pub nargs: Option<Value>,
    /// `type=` as source text; `None` leaves the string as it is.
    pub type_text: Option<String>,
    pub type_expr: Option<ExprRef>,
    pub default: Unset,
    pub choices: Choices,
    pub choices_expr: Option<ExprRef>,
    pub constant: Option<ExprRef>,
    pub required: bool,
    pub help: Option<String>,
    pub deprecated: Option<String>,
    /// The first spelling, where it is written.
    pub place: (FileId, Span),
    /// Keywords that an action class of the tree takes beside those of argparse.
    pub extra: Vec<(Sym, ExprRef)>,
    /// From the declaration, not by hand.
    pub derived: bool,
}

/// What the record's parser gets.
#[derive(Default)]
pub struct Parser {
    pub registrations: Vec<Registration>,
    /// Calls that register the annotated fields.
    pub automatic: Vec<ExprRef>,
    pub unresolved: Vec<(FileId, Span)>,
}

pub fn collect(program: &Program, record: &Record) -> Parser {
    let mut walk = Walk { program, record, out: Parser::default(), seen: FxHashSet::default() };
    for name in &program.profile.declaration.register {
        if let Some(func) = program.method(record.root, Sym::from(name)) {
            let bound = program.method_class(func).is_some() && !program.has_decorator(func, &["staticmethod"]);
            if let Some(param) = program.func(func).params.get(usize::from(bound)) {
                walk.function(func, param.name);
            }
        }
    }
    walk.out
}

/// Where the record is built from the parsed namespace, the names that change: `args.field = args.dest`, and
/// `Record(field=args.dest)`. Pairs of dest and field.
pub fn renames(program: &Program, record: &Record) -> Vec<(Sym, Sym)> {
    let ir = program.ir(record.root.file);
    let in_root = |scope: Scope| match scope {
        Scope::Func(f) => ir.func(f).scope == Scope::Class(record.root.class),
        _ => false,
    };
    let mut out = Vec::new();
    for stmt in ir.stmts.iter().filter(|s| in_root(s.scope)) {
        let Stmt::Assign { targets, value } = &stmt.kind else { continue };
        let Some((from, dest)) = namespace_read(program, record.root.file, *value) else { continue };
        for target in targets {
            if let Expr::Attr { base, attr, .. } = ir.expr(*target)
                && matches!(ir.expr(*base), Expr::Name(n) if *n == from)
                && *attr != dest
            {
                out.push((dest, *attr));
            }
        }
    }
    let name = program.class(record.root).name;
    for callee in [Sym::from("cls"), name] {
        for call in program.calls_named(record.root.file, callee) {
            let (Expr::Call { args, .. }, true) = (ir.expr(*call), in_root(ir.scope_of(*call))) else { continue };
            for arg in args {
                let ArgKind::Keyword(field) = arg.kind else { continue };
                if let Some((_, dest)) = namespace_read(program, record.root.file, arg.value)
                    && dest != field
                {
                    out.push((dest, field));
                }
            }
        }
    }
    out
}

/// `args.dest` and `getattr(args, "dest")` where `args` is a parameter: the parameter and the dest.
fn namespace_read(program: &Program, file: FileId, at: ExprId) -> Option<(Sym, Sym)> {
    let ir = program.ir(file);
    let (base, dest) = match ir.expr(at) {
        Expr::Attr { base, attr, .. } => (*base, *attr),
        Expr::Call { func, args } if last_name(ir, *func)? == "getattr" => {
            let (first, second) = (args.first()?, args.get(1)?);
            (first.value, ir.str_value(second.value)?)
        }
        _ => return None,
    };
    let (Expr::Name(name), Scope::Func(func)) = (ir.expr(base), ir.scope_of(at)) else { return None };
    // `self.a = self.b` copies fields, not a namespace.
    let receiver = ir.func(func).params.first().map(|p| p.name);
    let is_param = ir.func(func).params.iter().any(|p| p.name == *name);
    let is_self = receiver == Some(*name) && (*name == "self" || *name == "cls");
    (is_param && !is_self).then_some((*name, dest))
}

/// The dest that argparse makes of the spellings: the first long one, else the first.
pub fn dest_of(flags: &[String]) -> Option<Sym> {
    let long = flags.iter().find(|f| f.starts_with("--")).or(flags.first())?;
    Some(Sym::from(&long.trim_start_matches('-').replace('-', "_")))
}

/// A text as far as the source fixes it; what an f-string computes stays as written, in braces.
pub fn text(program: &Program, at: ExprRef) -> Option<String> {
    if let Some(value) = program.constant(at) {
        return value.as_str().map(|s| s.to_string());
    }
    let ir = program.ir(at.file);
    let here = |expr: ExprId| ExprRef { file: at.file, expr };
    match ir.expr(at.expr) {
        Expr::FString(formatted) => {
            let FString { text, parts } = &**formatted;
            let shown = |p: &ExprId| program.constant(here(*p)).and_then(|v| v.display());
            let parts: Vec<String> = parts
                .iter()
                .map(|p| shown(p).unwrap_or_else(|| format!("{{{}}}", program.expr_text(here(*p)))))
                .collect();
            Some(filled(text.as_str(), &parts))
        }
        Expr::Bin { op: BinOp::Add, left, right } => {
            Some(format!("{}{}", self::text(program, here(*left))?, self::text(program, here(*right))?))
        }
        _ => None,
    }
}

struct Walk<'p> {
    program: &'p Program,
    record: &'p Record,
    out: Parser,
    seen: FxHashSet<(FuncRef, Sym)>,
}

/// What makes a group of a parser.
const GROUPS: [&str; 2] = ["add_argument_group", "add_mutually_exclusive_group"];

impl Walk<'_> {
    /// Everything that a function registers on the parser that it has under this name.
    fn function(&mut self, func: FuncRef, parser: Sym) {
        if !self.seen.insert((func, parser)) {
            return;
        }
        let program = self.program;
        let file = func.file;
        let ir = program.ir(file);
        let mut names = vec![parser];
        let mut calls: Vec<ExprId> = (0..ir.exprs.len() as u32)
            .map(ExprId)
            .filter(|e| matches!(ir.expr(*e), Expr::Call { .. }) && within(ir, *e, func))
            .collect();
        calls.sort_by_key(|e| ir.range(*e).start);
        for call in calls {
            let Expr::Call { func: callee, args } = ir.expr(call) else { continue };
            let method = match ir.expr(*callee) {
                Expr::Attr { base, attr, .. } if is_parser(ir, *base, &names) => Some(*attr),
                _ => None,
            };
            match method.as_ref().map(|m| m.as_str()) {
                Some("add_argument") => self.register(file, call, args),
                Some(name) if GROUPS.contains(&name) => {
                    if let Some(group) = bound_name(ir, call) {
                        names.push(group);
                    }
                }
                Some(_) => {}
                None => self.pass_on(ExprRef { file, expr: call }, *callee, args, &names),
            }
        }
    }

    /// A call that gets the parser.
    fn pass_on(&mut self, call: ExprRef, callee: ExprId, args: &[Arg], names: &[Sym]) {
        let program = self.program;
        let ir = program.ir(call.file);
        let Some((position, kind)) = args
            .iter()
            .enumerate()
            .find(|(_, a)| matches!(ir.expr(a.value), Expr::Name(n) if names.contains(n)))
            .map(|(i, a)| (i, a.kind))
        else {
            return;
        };
        if last_name(ir, callee)
            .is_some_and(|n| program.profile.declaration.auto_register.iter().any(|a| n == a.as_str()))
        {
            self.out.automatic.push(call);
            return;
        }
        for func in callees(program, ExprRef { file: call.file, expr: callee }) {
            let f = program.func(func);
            let bound = program.method_class(func).is_some() && !program.has_decorator(func, &["staticmethod"]);
            let param = match kind {
                ArgKind::Keyword(name) => f.params.iter().find(|p| p.name == name),
                _ => f.params.get(position + usize::from(bound)),
            };
            if let Some(param) = param {
                self.function(func, param.name);
            }
        }
    }

    fn register(&mut self, file: FileId, call: ExprId, args: &[Arg]) {
        let program = self.program;
        let ir = program.ir(file);
        let here = |expr: ExprId| ExprRef { file, expr };
        let keyword = |name: &str| {
            let arg = args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == name))?;
            Some(here(arg.value))
        };
        let mut flags = Vec::new();
        let mut place = ir.span(call);
        for arg in args.iter().filter(|a| a.kind == ArgKind::Positional) {
            match program.constant(here(arg.value)).and_then(|v| v.as_str()) {
                Some(flag) => {
                    if flags.is_empty() {
                        place = ir.span(arg.value);
                    }
                    flags.push(flag.to_string());
                }
                None => self.out.unresolved.push((file, ir.span(arg.value))),
            }
        }
        let dest = keyword("dest").and_then(|e| program.constant(e)).and_then(|v| v.as_str()).or(dest_of(&flags));
        let Some(dest) = dest else { return };
        let action = keyword("action").map_or(Action::Store, |e| Action::read(program, e));
        let names: Vec<Sym> = args
            .iter()
            .filter_map(|a| match a.kind {
                ArgKind::Keyword(k) => Some(k),
                _ => None,
            })
            .collect();
        if action == Action::BooleanOptional {
            add_negations(&mut flags);
        }
        let help = keyword("help").and_then(|e| text(program, e));
        let effect = action::effect(program, action, &names);
        let retired = keyword("action")
            .and_then(|e| last_name(ir, e.expr))
            .is_some_and(|n| program.profile.declaration.deprecated_actions.iter().any(|d| n.starts_with(d.as_str())));
        let deprecated = match retired || effect != Effect::Stores {
            true => Some(help.clone().unwrap_or_else(|| "deprecated".to_owned())),
            false => help.as_deref().and_then(|h| deprecation::notice(h, &flags)),
        };
        let default = self.default(keyword("default"), action);
        let extra = args.iter().filter_map(|a| match a.kind {
            ArgKind::Keyword(k) if !ARGPARSE_KEYWORDS.contains(&k.as_str()) => Some((k, here(a.value))),
            _ => None,
        });
        let type_expr = keyword("type");
        self.out.registrations.push(Registration {
            dest,
            field: None,
            action,
            effect,
            nargs: keyword("nargs").and_then(|e| program.constant(e)),
            type_text: type_expr.map(|e| program.expr_text(e)),
            type_expr,
            default,
            choices: Choices::of(program, keyword("choices")),
            choices_expr: keyword("choices"),
            constant: keyword("const"),
            required: keyword("required").and_then(|e| program.constant(e)) == Some(Value::Bool(true)),
            help,
            deprecated,
            place: (file, place),
            extra: extra.collect(),
            derived: false,
            flags,
        });
    }

    fn default(&self, given: Option<ExprRef>, action: Action) -> Unset {
        let program = self.program;
        let Some(at) = given else {
            return match action {
                Action::StoreTrue => Unset::Implied(Value::Bool(false)),
                Action::StoreFalse => Unset::Implied(Value::Bool(true)),
                _ => match action::own_default(program, action) {
                    Some(expr) => Unset::Expr(expr),
                    None => Unset::Implied(Value::None),
                },
            };
        };
        let ir = program.ir(at.file);
        match ir.expr(at.expr) {
            Expr::Attr { attr, .. } if *attr == "SUPPRESS" => Unset::OfClass,
            Expr::Attr { base, attr, .. } => {
                let class = Entity::Class(self.record.root);
                match program.entities(ExprRef { file: at.file, expr: *base }).contains(&class) {
                    true => Unset::OfField(*attr),
                    false => Unset::Expr(at),
                }
            }
            Expr::Call { func, args } => {
                let asks = last_name(ir, *func)
                    .is_some_and(|n| program.profile.declaration.declared_default.iter().any(|d| n == d.as_str()));
                match (asks, args.first().and_then(|a| ir.str_value(a.value))) {
                    (true, Some(field)) => Unset::OfField(field),
                    _ => Unset::Expr(at),
                }
            }
            _ => Unset::Expr(at),
        }
    }
}

/// What `add_argument` itself takes.
pub const ARGPARSE_KEYWORDS: [&str; 11] =
    ["action", "nargs", "const", "default", "type", "choices", "required", "help", "metavar", "dest", "version"];

/// `--x` gets its `--no-x`, as `argparse.BooleanOptionalAction` does.
pub fn add_negations(flags: &mut Vec<String>) {
    let negated: Vec<String> = flags.iter().filter_map(|f| f.strip_prefix("--")).map(|f| format!("--no-{f}")).collect();
    flags.extend(negated);
}

/// Does an expression stand in the body of the function, nested ones left out?
fn within(ir: &FileIr, at: ExprId, func: FuncRef) -> bool {
    let (outer, inner) = (ir.func(func.func).span, ir.span(at));
    inner.start >= outer.start && inner.end <= outer.end && ir.scope_of(at) == Scope::Func(func.func)
}

fn is_parser(ir: &FileIr, at: ExprId, names: &[Sym]) -> bool {
    match ir.expr(at) {
        Expr::Name(name) => names.contains(name),
        Expr::Call { func, .. } => matches!(ir.expr(*func), Expr::Attr { base, attr, .. }
            if GROUPS.contains(&attr.as_str()) && is_parser(ir, *base, names)),
        _ => false,
    }
}

/// The name that a call's result is assigned to.
fn bound_name(ir: &FileIr, call: ExprId) -> Option<Sym> {
    let Parent::Stmt(stmt) = ir.exprs.get(call.index())?.parent else { return None };
    let Stmt::Assign { targets, .. } = &ir.stmt(stmt).kind else { return None };
    match ir.expr(*targets.first()?) {
        Expr::Name(name) => Some(*name),
        _ => None,
    }
}

/// The functions of the tree that a call reaches: `f(...)`, `module.f(...)`, `Class.f(...)`.
fn callees(program: &Program, callee: ExprRef) -> Vec<FuncRef> {
    let mut out = Vec::new();
    for entity in program.entities(callee) {
        if let Entity::Func(func) = entity {
            out.push(func);
        }
    }
    if let Expr::Attr { base, attr, .. } = program.ir(callee.file).expr(callee.expr) {
        for entity in program.entities(ExprRef { file: callee.file, expr: *base }) {
            if let Entity::Class(class) = entity {
                out.extend(program.method(class, *attr));
            }
        }
    }
    out
}
