//! Lowers the syntax tree of one file to its [`FileIr`].
//!
//! Parsing never fails: a statement that does not parse becomes `Unknown`, as does what is nested deeper than
//! [`MAX_DEPTH`], and both are listed in `skipped`. Nothing is resolved here and nothing is evaluated.

use super::ir::*;
use super::lines::Lines;
use super::nesting;
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as ast, Expr as Node, Stmt as Statement};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};
use std::borrow::Cow;

/// How deep statements and expressions may nest before the rest is skipped. Real code stays under 60; the cap keeps
/// hostile nesting from using up the stack.
pub const MAX_DEPTH: u32 = 180;

/// Lowers the text of a file. Bytes that are not UTF-8 are replaced, so that one bad string does not cost the file.
pub fn lower(bytes: &[u8]) -> FileIr {
    let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    if nesting::is_too_deep(&text) || u32::try_from(text.len()).is_err() {
        let end_line = memchr::memchr_iter(b'\n', bytes).count() as u32 + 1;
        let all = Span { line: 1, column: 1, end_line, start: 0, end: text.len() as u32 };
        return FileIr { skipped: vec![all], ..FileIr::default() };
    }
    let parsed = parse_unchecked(&text, ParseOptions::from(Mode::Module));
    let mut errors: Vec<TextRange> = parsed.errors().iter().map(|e| e.location).collect();
    errors.sort_by_key(|e| (e.start(), e.end()));
    // What is broken is not looked into, however deep it is.
    let is_deep = !errors.is_empty();
    let ir = FileIr { lines: Lines::of(&text), ..FileIr::default() };
    let mut lowering = Lowering { text: &text, errors, ir, depth: 0, is_deep };
    lowering.comments(&parsed);
    if let ast::Mod::Module(module) = parsed.syntax() {
        lowering.ir.body = lowering.block(&module.body, Scope::Module, None);
    }
    for error in std::mem::take(&mut lowering.errors) {
        lowering.skip(error);
    }
    let Lowering { mut ir, is_deep, .. } = lowering;
    ir.skipped.sort_by_key(|s| s.start);
    ir.exprs.shrink_to_fit();
    ir.stmts.shrink_to_fit();
    if is_deep {
        // Dropping a tree takes as much stack as it is deep, and only hostile ones are.
        std::mem::forget(parsed);
    }
    ir
}

struct Lowering<'a> {
    text: &'a str,
    /// Where the parser stumbled, in order.
    errors: Vec<TextRange>,
    ir: FileIr,
    depth: u32,
    /// Has the tree parts that nobody measures, or is it deeper than we go?
    is_deep: bool,
}

impl Lowering<'_> {
    fn span(&self, range: TextRange) -> Span {
        self.ir.lines.span(bytes(range))
    }

    fn skip(&mut self, range: TextRange) {
        let span = self.span(range);
        self.ir.skipped.push(span);
    }

    /// Comments that have a line for themselves, outside brackets.
    fn comments(&mut self, parsed: &ruff_python_parser::Parsed<ast::Mod>) {
        let mut brackets = 0i32;
        for token in parsed.tokens().iter() {
            match token.kind() {
                TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => brackets += 1,
                TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => brackets -= 1,
                TokenKind::Comment if brackets <= 0 => {
                    let start = token.start().to_usize();
                    let line = self.ir.lines.line(token.start().to_u32());
                    let first = self.ir.lines.start(line).map_or(start, |first| first as usize);
                    if self.text.get(first..start).is_some_and(|s| s.trim().is_empty()) {
                        let text = self.text.get(token.range().to_std_range()).unwrap_or("");
                        self.ir.comments.push((line, text.trim_start_matches('#').trim().to_owned()));
                    }
                }
                _ => {}
            }
        }
    }

    /// Is there an error inside, or where the end is missed?
    fn is_broken(&self, range: TextRange) -> bool {
        let first = self.errors.partition_point(|e| e.end() < range.start());
        let mut near = self.errors.iter().skip(first).take_while(|e| e.start() <= range.end());
        near.any(|e| e.end() > range.start() || e.is_empty())
    }

    /// Past white space, comments and continued lines.
    fn next_token(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(at) {
            match byte {
                b' ' | b'\t' | b'\x0c' | b'\r' | b'\n' | b'\\' => at += 1,
                b'#' => at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n),
                _ => break,
            }
        }
        at
    }

    /// The end of an expression with the brackets around it.
    fn end_with_brackets(&self, end: TextSize) -> TextSize {
        let mut end = end;
        loop {
            let next = self.next_token(end.to_usize());
            if self.text.as_bytes().get(next) != Some(&b')') {
                return end;
            }
            end = TextSize::new(next as u32 + 1);
        }
    }

    // Statements

    fn block(&mut self, body: &[Statement], scope: Scope, parent: Option<(StmtId, Arm)>) -> Block {
        let statements = body.iter().enumerate();
        statements.map(|(i, node)| self.statement(node, scope, parent, i as u32)).collect()
    }

    fn statement(&mut self, node: &Statement, scope: Scope, parent: Option<(StmtId, Arm)>, index: u32) -> StmtId {
        let id = StmtId(self.ir.stmts.len() as u32);
        let span = self.span(node.range());
        self.ir.stmts.push(StmtNode { kind: Stmt::Unknown, span, scope, parent, index });
        if self.depth >= MAX_DEPTH {
            self.is_deep = true;
            self.ir.skipped.push(span);
            return id;
        }
        self.depth += 1;
        let kind = self.statement_kind(node, id, scope);
        self.depth -= 1;
        self.ir.stmts[id.index()].kind = kind;
        id
    }

    fn statement_kind(&mut self, node: &Statement, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        match node {
            Statement::FunctionDef(def) => self.function(def, id, scope),
            Statement::ClassDef(def) => self.class(def, id, scope),
            Statement::If(node) => self.if_statement(node, id, scope),
            Statement::While(node) => Stmt::While {
                test: self.expr(&node.test, here),
                body: self.block(&node.body, scope, Some((id, Arm::Body))),
                orelse: self.block(&node.orelse, scope, Some((id, Arm::Else))),
            },
            Statement::For(node) => Stmt::For {
                target: self.expr(&node.target, here),
                iter: self.expr(&node.iter, here),
                body: self.block(&node.body, scope, Some((id, Arm::Body))),
                orelse: self.block(&node.orelse, scope, Some((id, Arm::Else))),
            },
            Statement::With(node) => {
                let mut items = Vec::new();
                for item in &node.items {
                    let context = self.expr(&item.context_expr, here);
                    items.push((context, item.optional_vars.as_ref().map(|target| self.expr(target, here))));
                }
                Stmt::With { items: items.into(), body: self.block(&node.body, scope, Some((id, Arm::Body))) }
            }
            Statement::Try(node) => self.try_statement(node, id, scope),
            Statement::Match(node) => self.match_statement(node, id, scope),
            simple if self.is_broken(simple.range()) => Stmt::Unknown,
            Statement::Expr(node) => Stmt::Expr(self.expr(&node.value, here)),
            Statement::Assign(node) => {
                Stmt::Assign { targets: self.exprs(&node.targets, here), value: self.expr(&node.value, here) }
            }
            Statement::AnnAssign(node) => Stmt::AnnAssign {
                target: self.expr(&node.target, here),
                annotation: self.expr(&node.annotation, here),
                value: node.value.as_ref().map(|value| self.expr(value, here)),
            },
            Statement::AugAssign(node) => Stmt::AugAssign {
                target: self.expr(&node.target, here),
                op: bin_op(node.op),
                value: self.expr(&node.value, here),
            },
            Statement::Return(node) => Stmt::Return(node.value.as_ref().map(|value| self.expr(value, here))),
            Statement::Raise(node) => Stmt::Raise(node.exc.as_ref().map(|value| self.expr(value, here))),
            Statement::Assert(node) => Stmt::Assert {
                test: self.expr(&node.test, here),
                message: node.msg.as_ref().map(|message| self.expr(message, here)),
            },
            Statement::Delete(node) => Stmt::Delete(self.exprs(&node.targets, here)),
            Statement::Global(node) => Stmt::Global(node.names.iter().map(sym).collect()),
            Statement::Nonlocal(node) => Stmt::Nonlocal(node.names.iter().map(sym).collect()),
            Statement::Import(node) => Stmt::Import(node.names.iter().map(import).collect()),
            Statement::ImportFrom(node) => {
                Stmt::Import(node.names.iter().map(|name| import_from(node, name)).collect())
            }
            Statement::Pass(_) => Stmt::Pass,
            Statement::Break(_) => Stmt::Break,
            Statement::Continue(_) => Stmt::Continue,
            Statement::TypeAlias(_) => {
                self.is_deep = true;
                Stmt::Unknown
            }
            Statement::IpyEscapeCommand(_) => Stmt::Unknown,
        }
    }

    fn if_statement(&mut self, node: &ast::StmtIf, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let test = self.expr(&node.test, here);
        let mut arms = vec![(test, self.block(&node.body, scope, Some((id, Arm::Nth(0)))))];
        let mut orelse = Box::default();
        for clause in &node.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    let test = self.expr(test, here);
                    let arm = Arm::Nth(arms.len() as u32);
                    arms.push((test, self.block(&clause.body, scope, Some((id, arm)))));
                }
                None => orelse = self.block(&clause.body, scope, Some((id, Arm::Else))),
            }
        }
        Stmt::If { arms: arms.into(), orelse }
    }

    fn try_statement(&mut self, node: &ast::StmtTry, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let body = self.block(&node.body, scope, Some((id, Arm::Body)));
        let mut handlers = Vec::new();
        for ast::ExceptHandler::ExceptHandler(handler) in &node.handlers {
            let kind = handler.type_.as_ref().map(|kind| self.expr(kind, here));
            let name = handler.name.as_ref().map(|name| self.name(name, here));
            let arm = Arm::Nth(handlers.len() as u32);
            handlers.push(Handler { kind, name, body: self.block(&handler.body, scope, Some((id, arm))) });
        }
        let orelse = self.block(&node.orelse, scope, Some((id, Arm::Else)));
        let finally = self.block(&node.finalbody, scope, Some((id, Arm::Finally)));
        Stmt::Try { body, handlers: handlers.into(), orelse, finally }
    }

    fn match_statement(&mut self, node: &ast::StmtMatch, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let subject = self.expr(&node.subject, here);
        let mut cases = Vec::new();
        for case in &node.cases {
            let patterns = Box::new([self.pattern(&case.pattern, here)]);
            let guard = case.guard.as_ref().map(|guard| self.expr(guard, here));
            let arm = Arm::Nth(cases.len() as u32);
            cases.push(Case { patterns, guard, body: self.block(&case.body, scope, Some((id, arm))) });
        }
        Stmt::Match { subject, cases: cases.into() }
    }

    // Definitions

    /// The range of a definition without its decorators.
    fn undecorated(&self, range: TextRange, decorators: &[ast::Decorator]) -> TextRange {
        match decorators.last() {
            Some(last) => {
                let start = self.next_token(self.end_with_brackets(last.end()).to_usize());
                TextRange::new(TextSize::new(start as u32).min(range.end()), range.end())
            }
            None => range,
        }
    }

    fn function(&mut self, node: &ast::StmtFunctionDef, stmt: StmtId, scope: Scope) -> Stmt {
        self.is_deep |= node.type_params.is_some();
        let id = self.push_func(Func {
            name: sym(&node.name),
            params: Box::default(),
            returns: None,
            decorators: Box::default(),
            body: Box::default(),
            scope,
            stmt: Some(stmt),
            is_async: node.is_async,
            span: self.span(self.undecorated(node.range, &node.decorator_list)),
            name_span: self.span(node.name.range),
        });
        let at = Parent::Func(id);
        let decorators = node.decorator_list.iter().map(|d| self.expr(&d.expression, at)).collect();
        let params = self.params(&node.parameters, at);
        let returns = node.returns.as_ref().map(|returns| self.expr(returns, at));
        let body = self.block(&node.body, Scope::Func(id), None);
        let func = &mut self.ir.funcs[id.index()];
        (func.decorators, func.params, func.returns, func.body) = (decorators, params, returns, body);
        Stmt::Func(id)
    }

    fn push_func(&mut self, func: Func) -> FuncId {
        self.ir.funcs.push(func);
        FuncId(self.ir.funcs.len() as u32 - 1)
    }

    fn params(&mut self, node: &ast::Parameters, at: Parent) -> Box<[Param]> {
        let mut params = Vec::new();
        for p in node.posonlyargs.iter().chain(&node.args) {
            params.push(self.param(&p.parameter, p.default.as_deref(), ParamKind::Positional, at));
        }
        params.extend(node.vararg.as_ref().map(|p| self.param(p, None, ParamKind::Star, at)));
        for p in &node.kwonlyargs {
            params.push(self.param(&p.parameter, p.default.as_deref(), ParamKind::KeywordOnly, at));
        }
        params.extend(node.kwarg.as_ref().map(|p| self.param(p, None, ParamKind::DoubleStar, at)));
        params.into()
    }

    fn param(&mut self, node: &ast::Parameter, default: Option<&Node>, kind: ParamKind, at: Parent) -> Param {
        let annotation = node.annotation.as_ref().map(|annotation| self.expr(annotation, at));
        let default = default.map(|default| self.expr(default, at));
        Param { name: sym(&node.name), kind, annotation, default, span: self.span(node.name.range) }
    }

    fn class(&mut self, node: &ast::StmtClassDef, stmt: StmtId, scope: Scope) -> Stmt {
        self.is_deep |= node.type_params.is_some();
        let id = ClassId(self.ir.classes.len() as u32);
        let span = self.span(self.undecorated(node.range, &node.decorator_list));
        self.ir.classes.push(Class {
            name: sym(&node.name),
            bases: Box::default(),
            keywords: Box::default(),
            decorators: Box::default(),
            body: Box::default(),
            scope,
            stmt: Some(stmt),
            span,
            name_span: self.span(node.name.range),
        });
        let at = Parent::Class(id);
        let (mut bases, mut keywords) = (Vec::new(), Vec::new());
        for argument in node.arguments.iter().flat_map(|a| a.iter_source_order()) {
            match argument {
                ast::ArgOrKeyword::Arg(base) => bases.push(self.expr(base, at)),
                ast::ArgOrKeyword::Keyword(keyword) => {
                    let value = self.expr(&keyword.value, at);
                    keywords.extend(keyword.arg.as_ref().map(|name| (sym(name), value)));
                }
            }
        }
        let decorators = node.decorator_list.iter().map(|d| self.expr(&d.expression, at)).collect();
        let body = self.block(&node.body, Scope::Class(id), None);
        let class = &mut self.ir.classes[id.index()];
        (class.bases, class.keywords) = (bases.into(), keywords.into());
        (class.decorators, class.body) = (decorators, body);
        Stmt::Class(id)
    }

    // Expressions

    fn push_expr(&mut self, range: TextRange, parent: Parent) -> ExprId {
        self.ir.exprs.push(ExprNode { kind: Expr::Unknown, range: bytes(range), parent });
        ExprId(self.ir.exprs.len() as u32 - 1)
    }

    fn exprs<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>, parent: Parent) -> Box<[ExprId]> {
        nodes.into_iter().map(|node| self.expr(node, parent)).collect()
    }

    fn name(&mut self, name: &ast::Identifier, parent: Parent) -> ExprId {
        let id = self.push_expr(name.range, parent);
        self.ir.exprs[id.index()].kind = Expr::Name(sym(name));
        id
    }

    fn expr(&mut self, node: &Node, parent: Parent) -> ExprId {
        self.nested(node.range(), parent, |this, id| this.expr_kind(node, id))
    }

    /// An expression one level further in.
    fn nested(&mut self, range: TextRange, parent: Parent, kind: impl FnOnce(&mut Self, ExprId) -> Expr) -> ExprId {
        let id = self.push_expr(range, parent);
        if self.depth >= MAX_DEPTH {
            self.is_deep = true;
            self.skip(range);
            return id;
        }
        self.depth += 1;
        let kind = kind(self, id);
        self.depth -= 1;
        self.ir.exprs[id.index()].kind = kind;
        id
    }

    fn expr_kind(&mut self, node: &Node, id: ExprId) -> Expr {
        let here = Parent::Expr(id);
        match node {
            Node::Name(node) if node.is_invalid() => Expr::Unknown,
            Node::Name(node) => Expr::Name(Sym::from(node.id.as_str())),
            Node::Attribute(node) => {
                Expr::Attr { base: self.expr(&node.value, here), attr: sym(&node.attr), at: node.attr.start().to_u32() }
            }
            Node::Call(node) => {
                let func = self.expr(&node.func, here);
                let args = node.arguments.iter_source_order();
                Expr::Call { func, args: args.map(|a| self.argument(a, here)).collect() }
            }
            Node::Subscript(node) => {
                Expr::Subscript { base: self.expr(&node.value, here), index: self.expr(&node.slice, here) }
            }
            Node::Slice(node) => {
                let parts = [&node.lower, &node.upper, &node.step];
                Expr::Slice { parts: self.exprs(parts.into_iter().flatten().map(|p| &**p), here) }
            }
            Node::BinOp(node) => Expr::Bin {
                op: bin_op(node.op),
                left: self.expr(&node.left, here),
                right: self.expr(&node.right, here),
            },
            Node::BoolOp(node) => self.conjuncts(node, &node.values, here),
            Node::UnaryOp(node) => {
                let op = match node.op {
                    ast::UnaryOp::Not => UnaryOp::Not,
                    ast::UnaryOp::USub => UnaryOp::Neg,
                    ast::UnaryOp::UAdd => UnaryOp::Pos,
                    ast::UnaryOp::Invert => UnaryOp::Invert,
                };
                Expr::Unary { op, operand: self.expr(&node.operand, here) }
            }
            Node::Compare(node) => {
                let left = self.expr(&node.left, here);
                let rest = node.ops.iter().zip(&node.comparators);
                Expr::Compare { left, rest: rest.map(|(op, other)| (cmp_op(*op), self.expr(other, here))).collect() }
            }
            Node::If(node) => {
                let (body, test) = (self.expr(&node.body, here), self.expr(&node.test, here));
                Expr::IfExp { test, body, orelse: self.expr(&node.orelse, here) }
            }
            Node::Lambda(node) => self.lambda(node, id),
            Node::Tuple(node) => Expr::Tuple(self.exprs(&node.elts, here)),
            Node::List(node) => Expr::List(self.exprs(&node.elts, here)),
            Node::Set(node) => Expr::Set(self.exprs(&node.elts, here)),
            Node::Dict(node) => {
                let mut items = Vec::new();
                for item in &node.items {
                    let key = item.key.as_ref().map(|key| self.expr(key, here));
                    items.push((key, self.expr(&item.value, here)));
                }
                Expr::Dict(items.into())
            }
            Node::ListComp(node) => self.comprehension(CompKind::List, &node.elt, None, &node.generators, here),
            Node::SetComp(node) => self.comprehension(CompKind::Set, &node.elt, None, &node.generators, here),
            Node::Generator(node) => self.comprehension(CompKind::Generator, &node.elt, None, &node.generators, here),
            Node::DictComp(node) => {
                let (element, value) = match &node.key {
                    Some(key) => (&**key, Some(&*node.value)),
                    None => (&*node.value, None),
                };
                self.comprehension(CompKind::Dict, element, value, &node.generators, here)
            }
            Node::StringLiteral(node) => Expr::Str(Sym::from(node.value.to_str())),
            Node::BytesLiteral(_) => Expr::Bytes,
            Node::FString(node) => self.fstring(&node.value, here),
            Node::NumberLiteral(node) => match &node.value {
                ast::Number::Int(int) => int.as_i64().map_or(Expr::Unknown, Expr::Int),
                ast::Number::Float(float) => Expr::Float(*float),
                ast::Number::Complex { .. } => Expr::Unknown,
            },
            Node::BooleanLiteral(node) if node.value => Expr::True,
            Node::BooleanLiteral(_) => Expr::False,
            Node::NoneLiteral(_) => Expr::None,
            Node::EllipsisLiteral(_) => Expr::Ellipsis,
            Node::Starred(node) => Expr::Starred(self.expr(&node.value, here)),
            Node::Await(node) => Expr::Await(self.expr(&node.value, here)),
            Node::Yield(node) => {
                Expr::Yield { value: node.value.as_ref().map(|value| self.expr(value, here)), from: false }
            }
            Node::YieldFrom(node) => Expr::Yield { value: Some(self.expr(&node.value, here)), from: true },
            Node::Named(node) => {
                Expr::Walrus { target: self.expr(&node.target, here), value: self.expr(&node.value, here) }
            }
            Node::TString(_) => {
                self.is_deep = true;
                Expr::Unknown
            }
            Node::IpyEscapeCommand(_) => Expr::Unknown,
        }
    }

    fn argument(&mut self, node: ast::ArgOrKeyword, parent: Parent) -> Arg {
        let at = bytes(node.range());
        let (kind, value) = match node {
            ast::ArgOrKeyword::Arg(Node::Starred(star)) => (ArgKind::Star, &*star.value),
            ast::ArgOrKeyword::Arg(value) => (ArgKind::Positional, value),
            ast::ArgOrKeyword::Keyword(keyword) => match &keyword.arg {
                Some(name) => (ArgKind::Keyword(sym(name)), &keyword.value),
                None => (ArgKind::DoubleStar, &keyword.value),
            },
        };
        Arg { kind, value: self.expr(value, parent), at }
    }

    /// `a and b and c` as `(a and b) and c`.
    fn conjuncts(&mut self, node: &ast::ExprBoolOp, values: &[Node], here: Parent) -> Expr {
        let and = node.op == ast::BoolOp::And;
        match values {
            [left, right] => Expr::Bool { and, left: self.expr(left, here), right: self.expr(right, here) },
            [before @ .., right] if before.len() > 1 => {
                let end = before.last().map_or(node.end(), |last| self.end_with_brackets(last.end()));
                let range = TextRange::new(node.start(), end.max(node.start()));
                let left = self.nested(range, here, |this, id| this.conjuncts(node, before, Parent::Expr(id)));
                Expr::Bool { and, left, right: self.expr(right, here) }
            }
            _ => Expr::Unknown,
        }
    }

    fn lambda(&mut self, node: &ast::ExprLambda, id: ExprId) -> Expr {
        let scope = self.ir.scope_of(id);
        let stmt = self.ir.stmt_of(id);
        let span = self.span(node.range);
        let func = self.push_func(Func {
            name: Sym::from("<lambda>"),
            params: Box::default(),
            returns: None,
            decorators: Box::default(),
            body: Box::default(),
            scope,
            stmt,
            is_async: false,
            span,
            name_span: span,
        });
        let at = Parent::Func(func);
        let params = node.parameters.as_ref().map_or(Box::default(), |params| self.params(params, at));
        let ret = StmtId(self.ir.stmts.len() as u32);
        let span = self.span(node.body.range());
        let scope = Scope::Func(func);
        self.ir.stmts.push(StmtNode { kind: Stmt::Return(None), span, scope, parent: None, index: 0 });
        let value = self.expr(&node.body, Parent::Stmt(ret));
        self.ir.stmts[ret.index()].kind = Stmt::Return(Some(value));
        let lowered = &mut self.ir.funcs[func.index()];
        (lowered.params, lowered.body) = (params, Box::new([ret]));
        Expr::Lambda(func)
    }

    fn comprehension(
        &mut self,
        kind: CompKind,
        element: &Node,
        value: Option<&Node>,
        generators: &[ast::Comprehension],
        here: Parent,
    ) -> Expr {
        let element = self.expr(element, here);
        let value = value.map(|value| self.expr(value, here));
        let mut clauses = Vec::new();
        for part in generators {
            let (target, iter) = (self.expr(&part.target, here), self.expr(&part.iter, here));
            clauses.push(CompFor { target, iter, ifs: self.exprs(&part.ifs, here) });
        }
        Expr::Comp(Box::new(Comp { kind, element, value, clauses: clauses.into() }))
    }

    fn fstring(&mut self, value: &ast::FStringValue, here: Parent) -> Expr {
        let (mut text, mut parts) = (String::new(), Vec::new());
        for part in value {
            match part {
                ast::FStringPart::Literal(literal) => text.push_str(&literal.value),
                ast::FStringPart::FString(formatted) => {
                    for element in &formatted.elements {
                        match element {
                            ast::InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                            ast::InterpolatedStringElement::Interpolation(inner) => {
                                text.push_str("{}");
                                self.interpolation(inner, here, &mut parts);
                            }
                        }
                    }
                }
            }
        }
        match parts.is_empty() {
            true => Expr::Str(Sym::from(&text)),
            false => Expr::FString(Box::new(FString { text: Sym::from(&text), parts: parts.into() })),
        }
    }

    /// The value, and those in its format.
    fn interpolation(&mut self, node: &ast::InterpolatedElement, here: Parent, parts: &mut Vec<ExprId>) {
        parts.push(self.expr(&node.expression, here));
        if self.depth >= MAX_DEPTH {
            self.is_deep = true;
            return;
        }
        self.depth += 1;
        for element in node.format_spec.iter().flat_map(|spec| &spec.elements) {
            if let ast::InterpolatedStringElement::Interpolation(inner) = element {
                self.interpolation(inner, here, parts);
            }
        }
        self.depth -= 1;
    }

    /// What a `case` compares with; classes and mappings are not told.
    fn pattern(&mut self, node: &ast::Pattern, parent: Parent) -> ExprId {
        self.nested(node.range(), parent, |this, id| this.pattern_kind(node, id))
    }

    fn pattern_kind(&mut self, node: &ast::Pattern, id: ExprId) -> Expr {
        let here = Parent::Expr(id);
        match node {
            ast::Pattern::MatchValue(node) => self.expr_kind(&node.value, id),
            ast::Pattern::MatchSingleton(node) => match node.value {
                ast::Singleton::None => Expr::None,
                ast::Singleton::True => Expr::True,
                ast::Singleton::False => Expr::False,
            },
            ast::Pattern::MatchSequence(node) => {
                Expr::List(node.patterns.iter().map(|pattern| self.pattern(pattern, here)).collect())
            }
            ast::Pattern::MatchOr(node) => {
                Expr::Set(node.patterns.iter().map(|pattern| self.pattern(pattern, here)).collect())
            }
            ast::Pattern::MatchAs(node) => match (&node.pattern, &node.name) {
                (Some(pattern), _) => self.pattern_kind(pattern, id),
                (None, Some(name)) => Expr::Name(sym(name)),
                (None, None) => Expr::Unknown,
            },
            ast::Pattern::MatchStar(node) => match &node.name {
                Some(name) => Expr::Starred(self.name(name, here)),
                None => Expr::Unknown,
            },
            ast::Pattern::MatchMapping(_) | ast::Pattern::MatchClass(_) => {
                self.is_deep = true;
                Expr::Unknown
            }
        }
    }
}

fn bytes(range: TextRange) -> ByteRange {
    ByteRange { start: range.start().to_u32(), end: range.end().to_u32() }
}

fn sym(name: &ast::Identifier) -> Sym {
    Sym::from(name.id.as_str())
}

/// `import a.b` binds `a`; `import a.b as c` binds the module.
fn import(node: &ast::Alias) -> ImportName {
    let module = sym(&node.name);
    let bound = match &node.asname {
        Some(alias) => sym(alias),
        None => Sym::from(module.split('.').next().unwrap_or("")),
    };
    ImportName { name: None, bound, module, level: 0 }
}

fn import_from(node: &ast::StmtImportFrom, item: &ast::Alias) -> ImportName {
    let name = sym(&item.name);
    ImportName {
        name: (name != "*").then_some(name),
        bound: item.asname.as_ref().map_or(name, sym),
        module: node.module.as_ref().map_or(Sym::from(""), sym),
        level: node.level,
    }
}

fn cmp_op(op: ast::CmpOp) -> CmpOp {
    match op {
        ast::CmpOp::Eq => CmpOp::Eq,
        ast::CmpOp::NotEq => CmpOp::Ne,
        ast::CmpOp::Lt => CmpOp::Lt,
        ast::CmpOp::LtE => CmpOp::Le,
        ast::CmpOp::Gt => CmpOp::Gt,
        ast::CmpOp::GtE => CmpOp::Ge,
        ast::CmpOp::Is => CmpOp::Is,
        ast::CmpOp::IsNot => CmpOp::IsNot,
        ast::CmpOp::In => CmpOp::In,
        ast::CmpOp::NotIn => CmpOp::NotIn,
    }
}

fn bin_op(op: ast::Operator) -> BinOp {
    match op {
        ast::Operator::Add => BinOp::Add,
        ast::Operator::Sub => BinOp::Sub,
        ast::Operator::Mult => BinOp::Mul,
        ast::Operator::Div => BinOp::Div,
        ast::Operator::FloorDiv => BinOp::FloorDiv,
        ast::Operator::Mod => BinOp::Mod,
        ast::Operator::Pow => BinOp::Pow,
        ast::Operator::MatMult => BinOp::MatMul,
        ast::Operator::LShift => BinOp::Shl,
        ast::Operator::RShift => BinOp::Shr,
        ast::Operator::BitAnd => BinOp::BitAnd,
        ast::Operator::BitOr => BinOp::BitOr,
        ast::Operator::BitXor => BinOp::BitXor,
    }
}

const BIN_OPS: [(&str, BinOp); 13] = [
    ("+", BinOp::Add),
    ("-", BinOp::Sub),
    ("*", BinOp::Mul),
    ("/", BinOp::Div),
    ("//", BinOp::FloorDiv),
    ("%", BinOp::Mod),
    ("**", BinOp::Pow),
    ("@", BinOp::MatMul),
    ("<<", BinOp::Shl),
    (">>", BinOp::Shr),
    ("&", BinOp::BitAnd),
    ("|", BinOp::BitOr),
    ("^", BinOp::BitXor),
];

impl BinOp {
    pub fn text(self) -> &'static str {
        BIN_OPS.iter().find(|(_, op)| *op == self).map_or("?", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::lower;
    use crate::syntax::ir::Stmt;

    /// Each shape below the limit of nesting and above it, with the stack that a worker has.
    #[test]
    fn deep_code_is_skipped_and_the_rest_stays() {
        let shapes: [(&str, &str, &str); 12] = [
            ("x = ", "(", ""),
            ("x = ", "[", ""),
            ("x = ", "f(", ""),
            ("x = 1", ".a", ""),
            ("x = 1", "[0]", ""),
            ("x = 1", " + 1", ""),
            ("x = ", "not ", "y"),
            ("x = ", "lambda: ", "y"),
            ("x = ", "y if z else ", "y"),
            ("x = y", " and y", ""),
            ("x = ", "f'{", "1"),
            ("def f[T: ", "(", "int"),
        ];
        let check = move || {
            for (start, part, end) in shapes {
                for count in [150, 1_900, 15_000, 100_000] {
                    let text = format!("before = 1\n{start}{}{end}\nafter = 2\n", part.repeat(count));
                    let ir = lower(text.as_bytes());
                    let reads_on = ir.body.iter().any(|s| matches!(ir.stmt(*s).kind, Stmt::Assign { .. }));
                    assert!(reads_on || !ir.skipped.is_empty(), "{part} {count}");
                }
            }
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(check).expect("a thread").join().expect("no panic");
    }

    #[test]
    fn a_broken_statement_costs_itself_alone() {
        let ir = lower(b"a = 1\nb = = 2\nprint 'old'\n<<<<<<< HEAD\nc = 3\n=======\nc = 4\n>>>>>>> other\ndef f():\n    d = (\n    return 5\n");
        let assigned = ir.body.iter().filter(|s| matches!(ir.stmt(**s).kind, Stmt::Assign { .. })).count();
        assert_eq!(assigned, 3);
        assert!(ir.skipped.iter().any(|s| s.line == 2) && ir.skipped.iter().any(|s| s.line == 3));
        assert_eq!(ir.funcs.len(), 1);
    }
}
