//! The intermediate representation of one Python file: statements and expressions kept whole, in arenas.
//!
//! It never resolves a name and never looks at another file. Every node knows its place and its parent, so that an
//! analysis can start at any expression and walk outwards (what is this value used for?) as well as inwards.
//! Ids are indices into the arenas of one [`FileIr`]; names are interned for the whole process.

use super::lines::Lines;

pub use ustr::Ustr as Sym;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
id! {
    /// An expression of one file.
    ExprId,
    /// A statement of one file.
    StmtId,
    /// A function, method or lambda of one file.
    FuncId,
    /// A class of one file.
    ClassId,
}

/// Where a node stands. Lines and columns count from 1, columns in characters; `start..end` are byte offsets.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub start: u32,
    pub end: u32,
}

/// A piece of a file's text, in bytes.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct ByteRange {
    pub start: u32,
    pub end: u32,
}

impl ByteRange {
    pub fn contains(self, inner: ByteRange) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }
}

impl From<Span> for ByteRange {
    fn from(span: Span) -> ByteRange {
        ByteRange { start: span.start, end: span.end }
    }
}

/// What encloses an expression directly.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Parent {
    Expr(ExprId),
    Stmt(StmtId),
    /// A default value, annotation or decorator of a function.
    Func(FuncId),
    /// A base, keyword or decorator of a class.
    Class(ClassId),
}

/// The namespace that code runs in.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scope {
    Module,
    Class(ClassId),
    Func(FuncId),
}

#[derive(Clone, Debug)]
pub struct ExprNode {
    pub kind: Expr,
    pub range: ByteRange,
    pub parent: Parent,
}

// There are millions of them.
const _: () = assert!(size_of::<ExprNode>() == 40);

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    MatMul,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Not,
    Neg,
    Pos,
    Invert,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Is,
    IsNot,
    In,
    NotIn,
}

impl CmpOp {
    pub fn is_ordered(self) -> bool {
        matches!(self, CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge)
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ArgKind {
    Positional,
    Keyword(Sym),
    /// `*value`
    Star,
    /// `**value`
    DoubleStar,
}

#[derive(Copy, Clone, Debug)]
pub struct Arg {
    pub kind: ArgKind,
    pub value: ExprId,
    /// The whole argument; a keyword's name stands at its start.
    pub at: ByteRange,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CompKind {
    List,
    Set,
    Dict,
    Generator,
}

#[derive(Clone, Debug)]
pub struct CompFor {
    pub target: ExprId,
    pub iter: ExprId,
    pub ifs: Box<[ExprId]>,
}

/// `element for clauses`, or `element: value for clauses`.
#[derive(Clone, Debug)]
pub struct Comp {
    pub kind: CompKind,
    pub element: ExprId,
    pub value: Option<ExprId>,
    pub clauses: Box<[CompFor]>,
}

/// The interpolated expressions; `text` is the literal text with `{}` for each.
#[derive(Clone, Debug)]
pub struct FString {
    pub text: Sym,
    pub parts: Box<[ExprId]>,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Name(Sym),
    /// `base.attr`; the node's range is the whole expression, the name token starts `at` and ends with it.
    Attr {
        base: ExprId,
        attr: Sym,
        at: u32,
    },
    Call {
        func: ExprId,
        args: Box<[Arg]>,
    },
    Subscript {
        base: ExprId,
        index: ExprId,
    },
    Slice {
        parts: Box<[ExprId]>,
    },
    Bin {
        op: BinOp,
        left: ExprId,
        right: ExprId,
    },
    /// `and` (true) or `or` (false), left-associative as parsed.
    Bool {
        and: bool,
        left: ExprId,
        right: ExprId,
    },
    Unary {
        op: UnaryOp,
        operand: ExprId,
    },
    /// `a < b <= c` is one node with two operators.
    Compare {
        left: ExprId,
        rest: Box<[(CmpOp, ExprId)]>,
    },
    IfExp {
        test: ExprId,
        body: ExprId,
        orelse: ExprId,
    },
    Lambda(FuncId),
    Tuple(Box<[ExprId]>),
    List(Box<[ExprId]>),
    Set(Box<[ExprId]>),
    /// A key of `None` is `**value`.
    Dict(Box<[(Option<ExprId>, ExprId)]>),
    Comp(Box<Comp>),
    FString(Box<FString>),
    Str(Sym),
    Bytes,
    Int(i64),
    Float(f64),
    True,
    False,
    None,
    Ellipsis,
    Starred(ExprId),
    Await(ExprId),
    Yield {
        value: Option<ExprId>,
        from: bool,
    },
    Walrus {
        target: ExprId,
        value: ExprId,
    },
    /// A region that did not parse, or one nested deeper than the lowering goes.
    Unknown,
}

pub type Block = Box<[StmtId]>;

#[derive(Clone, Debug)]
pub struct StmtNode {
    pub kind: Stmt,
    pub span: Span,
    pub scope: Scope,
    /// The statement whose block this one stands in, and which of its blocks; `None` at the top of a scope.
    pub parent: Option<(StmtId, Arm)>,
    /// The place in that block.
    pub index: u32,
}

/// Which block of a compound statement.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Arm {
    /// The n-th `if`/`elif`, `except` or `case` block.
    Nth(u32),
    Body,
    Else,
    Finally,
}

#[derive(Clone, Debug)]
pub struct Handler {
    pub kind: Option<ExprId>,
    pub name: Option<ExprId>,
    pub body: Block,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub patterns: Box<[ExprId]>,
    pub guard: Option<ExprId>,
    pub body: Block,
}

#[derive(Clone, Debug)]
pub struct ImportName {
    /// The name as the module defines it; `None` imports the module itself.
    pub name: Option<Sym>,
    /// The name bound here.
    pub bound: Sym,
    /// The module's dotted name, without leading dots.
    pub module: Sym,
    /// Leading dots of a relative import.
    pub level: u32,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Expr(ExprId),
    Assign {
        targets: Box<[ExprId]>,
        value: ExprId,
    },
    AnnAssign {
        target: ExprId,
        annotation: ExprId,
        value: Option<ExprId>,
    },
    AugAssign {
        target: ExprId,
        op: BinOp,
        value: ExprId,
    },
    If {
        arms: Box<[(ExprId, Block)]>,
        orelse: Block,
    },
    While {
        test: ExprId,
        body: Block,
        orelse: Block,
    },
    For {
        target: ExprId,
        iter: ExprId,
        body: Block,
        orelse: Block,
    },
    With {
        items: Box<[(ExprId, Option<ExprId>)]>,
        body: Block,
    },
    Try {
        body: Block,
        handlers: Box<[Handler]>,
        orelse: Block,
        finally: Block,
    },
    Match {
        subject: ExprId,
        cases: Box<[Case]>,
    },
    Return(Option<ExprId>),
    Raise(Option<ExprId>),
    Assert {
        test: ExprId,
        message: Option<ExprId>,
    },
    Delete(Box<[ExprId]>),
    Global(Box<[Sym]>),
    Nonlocal(Box<[Sym]>),
    /// `from module import *` has one name with `bound` "*".
    Import(Box<[ImportName]>),
    Func(FuncId),
    Class(ClassId),
    Pass,
    Break,
    Continue,
    /// A region that did not parse.
    Unknown,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ParamKind {
    Positional,
    KeywordOnly,
    /// `*args`
    Star,
    /// `**kwargs`
    DoubleStar,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: Sym,
    pub kind: ParamKind,
    pub annotation: Option<ExprId>,
    pub default: Option<ExprId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Func {
    /// `<lambda>` for a lambda, whose body is one synthetic `return`.
    pub name: Sym,
    pub params: Box<[Param]>,
    pub returns: Option<ExprId>,
    pub decorators: Box<[ExprId]>,
    pub body: Block,
    /// The scope that the definition stands in.
    pub scope: Scope,
    /// The `def` statement; for a lambda the statement around it.
    pub stmt: Option<StmtId>,
    pub is_async: bool,
    /// The whole definition; `name_span` is the name token's.
    pub span: Span,
    pub name_span: Span,
}

#[derive(Clone, Debug)]
pub struct Class {
    pub name: Sym,
    pub bases: Box<[ExprId]>,
    pub keywords: Box<[(Sym, ExprId)]>,
    pub decorators: Box<[ExprId]>,
    pub body: Block,
    pub scope: Scope,
    pub stmt: Option<StmtId>,
    pub span: Span,
    pub name_span: Span,
}

/// One file, lowered.
#[derive(Clone, Default, Debug)]
pub struct FileIr {
    pub exprs: Vec<ExprNode>,
    pub stmts: Vec<StmtNode>,
    pub funcs: Vec<Func>,
    pub classes: Vec<Class>,
    pub body: Block,
    /// Lines that hold a comment alone: line and text after the `#`.
    pub comments: Vec<(u32, String)>,
    /// Regions that did not parse or were nested too deep.
    pub skipped: Vec<Span>,
    pub lines: Lines,
}

impl FileIr {
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()].kind
    }
    pub fn span(&self, id: ExprId) -> Span {
        self.lines.span(self.range(id))
    }
    pub fn range(&self, id: ExprId) -> ByteRange {
        self.exprs[id.index()].range
    }
    pub fn stmt(&self, id: StmtId) -> &StmtNode {
        &self.stmts[id.index()]
    }
    pub fn func(&self, id: FuncId) -> &Func {
        &self.funcs[id.index()]
    }
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }
    pub fn str_value(&self, id: ExprId) -> Option<Sym> {
        match self.expr(id) {
            Expr::Str(s) => Some(*s),
            _ => None,
        }
    }
    /// The place that stands for an expression in evidence: its name token for `a.b.name`, else its start.
    pub fn place(&self, id: ExprId) -> Span {
        match self.expr(id) {
            Expr::Attr { at, .. } => self.lines.span(ByteRange { start: *at, ..self.range(id) }),
            _ => self.span(id),
        }
    }
    /// The statement around an expression, if it stands in one.
    pub fn stmt_of(&self, mut id: ExprId) -> Option<StmtId> {
        loop {
            match self.exprs[id.index()].parent {
                Parent::Expr(up) => id = up,
                Parent::Stmt(stmt) => return Some(stmt),
                Parent::Func(f) => return self.func(f).stmt,
                Parent::Class(c) => return self.class(c).stmt,
            }
        }
    }
    /// The scope that an expression is evaluated in.
    pub fn scope_of(&self, mut id: ExprId) -> Scope {
        loop {
            match self.exprs[id.index()].parent {
                Parent::Expr(up) => id = up,
                Parent::Stmt(stmt) => return self.stmt(stmt).scope,
                Parent::Func(f) => return self.func(f).scope,
                Parent::Class(c) => return self.class(c).scope,
            }
        }
    }
    /// The nearest class around a scope, through functions.
    pub fn class_around(&self, mut scope: Scope) -> Option<ClassId> {
        loop {
            match scope {
                Scope::Module => return None,
                Scope::Class(c) => return Some(c),
                Scope::Func(f) => scope = self.func(f).scope,
            }
        }
    }
    /// `Outer.method` or `function`, for people.
    pub fn qualified_name(&self, scope: Scope) -> String {
        match scope {
            Scope::Module => String::from("<module>"),
            Scope::Class(c) => self.join(self.class(c).scope, self.class(c).name),
            Scope::Func(f) => self.join(self.func(f).scope, self.func(f).name),
        }
    }
    fn join(&self, outer: Scope, name: Sym) -> String {
        match outer {
            Scope::Module => name.to_string(),
            _ => format!("{}.{}", self.qualified_name(outer), name),
        }
    }
    /// The expressions directly inside one.
    pub fn children(&self, id: ExprId) -> Vec<ExprId> {
        match self.expr(id) {
            Expr::Attr { base, .. } => vec![*base],
            Expr::Call { func, args } => std::iter::once(*func).chain(args.iter().map(|a| a.value)).collect(),
            Expr::Subscript { base, index } => vec![*base, *index],
            Expr::Bin { left, right, .. } | Expr::Bool { left, right, .. } => vec![*left, *right],
            Expr::Unary { operand, .. } => vec![*operand],
            Expr::Compare { left, rest } => std::iter::once(*left).chain(rest.iter().map(|r| r.1)).collect(),
            Expr::IfExp { test, body, orelse } => vec![*test, *body, *orelse],
            Expr::Tuple(items) | Expr::List(items) | Expr::Set(items) | Expr::Slice { parts: items } => items.to_vec(),
            Expr::Dict(items) => items.iter().flat_map(|(k, v)| k.iter().copied().chain([*v])).collect(),
            Expr::Comp(comp) => {
                let mut all = vec![comp.element];
                all.extend(comp.value);
                for clause in &comp.clauses {
                    all.extend([clause.target, clause.iter]);
                    all.extend(clause.ifs.iter());
                }
                all
            }
            Expr::FString(formatted) => formatted.parts.to_vec(),
            Expr::Starred(e) | Expr::Await(e) => vec![*e],
            Expr::Yield { value, .. } => value.iter().copied().collect(),
            Expr::Walrus { target, value } => vec![*target, *value],
            Expr::Lambda(_)
            | Expr::Name(_)
            | Expr::Str(_)
            | Expr::Bytes
            | Expr::Int(_)
            | Expr::Float(_)
            | Expr::True
            | Expr::False
            | Expr::None
            | Expr::Ellipsis
            | Expr::Unknown => Vec::new(),
        }
    }
    /// Is `inner` the same as `outer`, or somewhere inside it?
    pub fn contains(&self, outer: ExprId, mut inner: ExprId) -> bool {
        loop {
            if inner == outer {
                return true;
            }
            match self.exprs[inner.index()].parent {
                Parent::Expr(up) => inner = up,
                _ => return false,
            }
        }
    }
}
