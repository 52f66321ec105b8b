//! Lowers the concrete tree of one file to its [`FileIr`].
//!
//! Parsing never fails: a region that does not parse, or that is nested deeper than [`MAX_DEPTH`], becomes `Unknown` and
//! is listed in `skipped`. Nothing is resolved here and nothing is evaluated.

use super::ir::*;
use tree_sitter::{Node, Parser};

/// How deep statements and expressions may nest before the rest is skipped. Real code stays under 60; the cap keeps
/// hostile nesting from using up the stack.
pub const MAX_DEPTH: u32 = 180;

/// Lowers the text of a file. Bytes that are not UTF-8 are replaced, so that one bad string does not cost the file.
pub fn lower(bytes: &[u8]) -> FileIr {
    let text = String::from_utf8_lossy(bytes);
    let mut parser = Parser::new();
    let language = tree_sitter_python::LANGUAGE.into();
    let mut ir = FileIr::default();
    let tree = match parser.set_language(&language) {
        Ok(()) => parser.parse(text.as_bytes(), None),
        Err(_) => None,
    };
    let Some(tree) = tree else {
        ir.skipped.push(Span { line: 1, column: 1, end_line: 1, start: 0, end: text.len() as u32 });
        return ir;
    };
    let mut lowering = Lowering { text: &text, ascii: text.is_ascii(), ir, depth: 0 };
    lowering.ir.body = lowering.block(&named(tree.root_node()), Scope::Module, None);
    lowering.ir.exprs.shrink_to_fit();
    lowering.ir.stmts.shrink_to_fit();
    lowering.ir
}

struct Lowering<'a> {
    text: &'a str,
    ascii: bool,
    ir: FileIr,
    depth: u32,
}

/// The named children, comments left in.
fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).filter(|n| n.is_named()).collect()
}

impl<'a> Lowering<'a> {
    fn span(&self, node: Node) -> Span {
        let (start, end) = (node.start_position(), node.end_position());
        let mut column = start.column;
        if !self.ascii {
            let from = node.start_byte() - start.column;
            column = self.text.get(from..node.start_byte()).map_or(column, |s| s.chars().count());
        }
        Span {
            line: start.row as u32 + 1,
            column: column as u32 + 1,
            end_line: end.row as u32 + 1,
            start: node.start_byte() as u32,
            end: node.end_byte() as u32,
        }
    }

    fn str(&self, node: Node) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn sym(&self, node: Node) -> Sym {
        Sym::from(self.str(node))
    }

    fn skip(&mut self, node: Node) {
        let span = self.span(node);
        self.ir.skipped.push(span);
    }

    // Statements

    fn block(&mut self, nodes: &[Node], scope: Scope, parent: Option<(StmtId, Arm)>) -> Block {
        let mut out = Vec::new();
        self.block_into(nodes, scope, parent, &mut out);
        out.into()
    }

    fn block_into(&mut self, nodes: &[Node], scope: Scope, parent: Option<(StmtId, Arm)>, out: &mut Vec<StmtId>) {
        for &node in nodes {
            match node.kind() {
                "comment" => self.comment(node),
                "ERROR" => {
                    self.skip(node);
                    if self.depth < MAX_DEPTH {
                        self.depth += 1;
                        let inner: Vec<_> = named(node).into_iter().filter(|n| is_statement(n.kind())).collect();
                        self.block_into(&inner, scope, parent, out);
                        self.depth -= 1;
                    }
                }
                "block" | "module" => self.block_into(&named(node), scope, parent, out),
                _ => {
                    let id = self.statement(node, scope, parent, out.len() as u32);
                    out.push(id);
                }
            }
        }
    }

    fn comment(&mut self, node: Node) {
        let start = node.start_byte();
        let line_start = start - node.start_position().column;
        if self.text.get(line_start..start).is_some_and(|s| s.trim().is_empty()) {
            let text = self.str(node).trim_start_matches('#').trim().to_owned();
            self.ir.comments.push((node.start_position().row as u32 + 1, text));
        }
    }

    fn body(&mut self, node: Option<Node>, scope: Scope, parent: Option<(StmtId, Arm)>) -> Block {
        match node {
            Some(node) => self.block(&named(node), scope, parent),
            None => Box::default(),
        }
    }

    fn statement(&mut self, node: Node, scope: Scope, parent: Option<(StmtId, Arm)>, index: u32) -> StmtId {
        let id = StmtId(self.ir.stmts.len() as u32);
        let span = self.span(node);
        self.ir.stmts.push(StmtNode { kind: Stmt::Unknown, span, scope, parent, index });
        if self.depth >= MAX_DEPTH {
            self.ir.skipped.push(span);
            return id;
        }
        self.depth += 1;
        let kind = self.statement_kind(node, id, scope);
        self.depth -= 1;
        self.ir.stmts[id.index()].kind = kind;
        id
    }

    fn statement_kind(&mut self, node: Node, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        match node.kind() {
            "expression_statement" => {
                let children: Vec<_> = named(node).into_iter().filter(|n| n.kind() != "comment").collect();
                match children.as_slice() {
                    [only] => match only.kind() {
                        "assignment" => self.assignment(*only, id),
                        "augmented_assignment" => self.augmented(*only, id),
                        _ => Stmt::Expr(self.expr(*only, here)),
                    },
                    many => {
                        let tuple = self.push_expr(node, here);
                        let items = self.exprs(many, Parent::Expr(tuple));
                        self.set(tuple, Expr::Tuple(items));
                        Stmt::Expr(tuple)
                    }
                }
            }
            "if_statement" => self.if_statement(node, id, scope),
            "while_statement" => Stmt::While {
                test: self.expr_field(node, "condition", here),
                body: self.body(field(node, "body"), scope, Some((id, Arm::Body))),
                orelse: self.else_body(node, id, scope),
            },
            "for_statement" => Stmt::For {
                target: self.expr_field(node, "left", here),
                iter: self.expr_field(node, "right", here),
                body: self.body(field(node, "body"), scope, Some((id, Arm::Body))),
                orelse: self.else_body(node, id, scope),
            },
            "with_statement" => self.with_statement(node, id, scope),
            "try_statement" => self.try_statement(node, id, scope),
            "match_statement" => self.match_statement(node, id, scope),
            "return_statement" => Stmt::Return(self.only_child(node, here)),
            "raise_statement" => Stmt::Raise(self.only_child(node, here)),
            "assert_statement" => {
                let children: Vec<_> = named(node).into_iter().filter(|n| n.kind() != "comment").collect();
                match children.as_slice() {
                    [] => Stmt::Unknown,
                    [test, rest @ ..] => Stmt::Assert {
                        test: self.expr(*test, here),
                        message: rest.first().map(|n| self.expr(*n, here)),
                    },
                }
            }
            "delete_statement" => {
                let children = named(node);
                Stmt::Delete(self.exprs(&children, here))
            }
            "global_statement" => Stmt::Global(named(node).into_iter().map(|n| self.sym(n)).collect()),
            "nonlocal_statement" => Stmt::Nonlocal(named(node).into_iter().map(|n| self.sym(n)).collect()),
            "import_statement" | "import_from_statement" | "future_import_statement" => self.import(node),
            "function_definition" => self.function(node, &[], id, scope),
            "class_definition" => self.class(node, &[], id, scope),
            "decorated_definition" => {
                let decorators: Vec<_> = named(node).into_iter().filter(|n| n.kind() == "decorator").collect();
                match field(node, "definition") {
                    Some(def) if def.kind() == "class_definition" => self.class(def, &decorators, id, scope),
                    Some(def) => self.function(def, &decorators, id, scope),
                    None => Stmt::Unknown,
                }
            }
            "pass_statement" => Stmt::Pass,
            "break_statement" => Stmt::Break,
            "continue_statement" => Stmt::Continue,
            _ => {
                self.skip(node);
                Stmt::Unknown
            }
        }
    }

    fn only_child(&mut self, node: Node, parent: Parent) -> Option<ExprId> {
        let child = named(node).into_iter().find(|n| n.kind() != "comment")?;
        Some(self.expr(child, parent))
    }

    fn assignment(&mut self, node: Node, id: StmtId) -> Stmt {
        let here = Parent::Stmt(id);
        if let Some(annotation) = field(node, "type") {
            return Stmt::AnnAssign {
                target: self.expr_field(node, "left", here),
                annotation: self.expr(annotation, here),
                value: field(node, "right").map(|n| self.expr(n, here)),
            };
        }
        let mut targets = Vec::new();
        let mut node = node;
        loop {
            targets.push(self.expr_field(node, "left", here));
            match field(node, "right") {
                Some(right) if right.kind() == "assignment" => node = right,
                Some(right) => {
                    let value = self.expr(right, here);
                    return Stmt::Assign { targets: targets.into(), value };
                }
                None => return Stmt::Unknown,
            }
        }
    }

    fn augmented(&mut self, node: Node, id: StmtId) -> Stmt {
        let here = Parent::Stmt(id);
        let op = field(node, "operator").map_or("", |n| self.str(n)).trim_end_matches('=');
        match bin_op(op) {
            Some(op) => Stmt::AugAssign {
                target: self.expr_field(node, "left", here),
                op,
                value: self.expr_field(node, "right", here),
            },
            None => Stmt::Unknown,
        }
    }

    fn if_statement(&mut self, node: Node, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let mut arms = Vec::new();
        let test = self.expr_field(node, "condition", here);
        arms.push((test, self.body(field(node, "consequence"), scope, Some((id, Arm::Nth(0))))));
        let mut orelse = Box::default();
        for alternative in fields(node, "alternative") {
            if alternative.kind() == "elif_clause" {
                let test = self.expr_field(alternative, "condition", here);
                let arm = Arm::Nth(arms.len() as u32);
                arms.push((test, self.body(field(alternative, "consequence"), scope, Some((id, arm)))));
            } else {
                orelse = self.body(field(alternative, "body"), scope, Some((id, Arm::Else)));
            }
        }
        Stmt::If { arms: arms.into(), orelse }
    }

    fn else_body(&mut self, node: Node, id: StmtId, scope: Scope) -> Block {
        let clause = field(node, "alternative");
        self.body(clause.and_then(|c| field(c, "body")), scope, Some((id, Arm::Else)))
    }

    fn with_statement(&mut self, node: Node, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let mut items = Vec::new();
        for clause in named(node).into_iter().filter(|n| n.kind() == "with_clause") {
            for item in named(clause).into_iter().filter(|n| n.kind() == "with_item") {
                let Some(value) = field(item, "value") else { continue };
                if value.kind() == "as_pattern" {
                    let parts = named(value);
                    if let Some(first) = parts.first() {
                        let context = self.expr(*first, here);
                        let alias = field(value, "alias").or(parts.get(1).copied());
                        let target = alias.and_then(|n| named(n).first().copied().or(Some(n)));
                        items.push((context, target.map(|n| self.expr(n, here))));
                    }
                } else {
                    items.push((self.expr(value, here), None));
                }
            }
        }
        let body = self.body(field(node, "body"), scope, Some((id, Arm::Body)));
        Stmt::With { items: items.into(), body }
    }

    fn try_statement(&mut self, node: Node, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let body = self.body(field(node, "body"), scope, Some((id, Arm::Body)));
        let mut handlers: Vec<Handler> = Vec::new();
        let (mut orelse, mut finally) = (Box::default(), Box::default());
        for clause in named(node) {
            match clause.kind() {
                "except_clause" | "except_group_clause" => {
                    let (mut kind, mut name, mut block) = (None, None, None);
                    for part in named(clause) {
                        match part.kind() {
                            "block" => block = Some(part),
                            "comment" => {}
                            "as_pattern" => {
                                let parts = named(part);
                                kind = parts.first().map(|n| self.expr(*n, here));
                                let alias = parts.get(1).map(|n| named(*n).first().copied().unwrap_or(*n));
                                name = alias.map(|n| self.expr(n, here));
                            }
                            _ if kind.is_none() => kind = Some(self.expr(part, here)),
                            _ if name.is_none() => name = Some(self.expr(part, here)),
                            _ => {}
                        }
                    }
                    let arm = Arm::Nth(handlers.len() as u32);
                    handlers.push(Handler { kind, name, body: self.body(block, scope, Some((id, arm))) });
                }
                "else_clause" => orelse = self.body(field(clause, "body"), scope, Some((id, Arm::Else))),
                "finally_clause" => {
                    let block = named(clause).into_iter().find(|n| n.kind() == "block");
                    finally = self.body(block, scope, Some((id, Arm::Finally)));
                }
                _ => {}
            }
        }
        Stmt::Try { body, handlers: handlers.into(), orelse, finally }
    }

    fn match_statement(&mut self, node: Node, id: StmtId, scope: Scope) -> Stmt {
        let here = Parent::Stmt(id);
        let subject = self.expr_field(node, "subject", here);
        let mut cases = Vec::new();
        let clauses = field(node, "body").map(named).unwrap_or_default();
        for clause in clauses.into_iter().filter(|n| n.kind() == "case_clause") {
            let patterns: Vec<_> = named(clause)
                .into_iter()
                .filter(|n| n.kind() == "case_pattern")
                .map(|n| self.expr(named(n).first().copied().unwrap_or(n), here))
                .collect();
            let guard = field(clause, "guard").and_then(|n| named(n).first().copied()).map(|n| self.expr(n, here));
            let arm = Arm::Nth(cases.len() as u32);
            let body = self.body(field(clause, "consequence"), scope, Some((id, arm)));
            cases.push(Case { patterns: patterns.into(), guard, body });
        }
        Stmt::Match { subject, cases: cases.into() }
    }

    fn import(&mut self, node: Node) -> Stmt {
        let from = node.kind() != "import_statement";
        let mut level = 0;
        let mut module = Sym::from("");
        if let Some(name) = field(node, "module_name") {
            if name.kind() == "relative_import" {
                for part in named(name) {
                    match part.kind() {
                        "import_prefix" => level = self.str(part).matches('.').count() as u32,
                        _ => module = self.sym(part),
                    }
                }
            } else {
                module = self.sym(name);
            }
        } else if from {
            module = Sym::from("__future__");
        }
        let mut names = Vec::new();
        for item in fields(node, "name") {
            let (name, alias) = match item.kind() {
                "aliased_import" => (field(item, "name").unwrap_or(item), field(item, "alias")),
                _ => (item, None),
            };
            let dotted = self.sym(name);
            names.push(if from {
                let bound = alias.map_or(dotted, |a| self.sym(a));
                ImportName { name: Some(dotted), bound, module, level }
            } else {
                match alias {
                    Some(alias) => ImportName { name: None, bound: self.sym(alias), module: dotted, level: 0 },
                    None => {
                        let first = Sym::from(dotted.split('.').next().unwrap_or(""));
                        ImportName { name: None, bound: first, module: dotted, level: 0 }
                    }
                }
            });
        }
        if named(node).iter().any(|n| n.kind() == "wildcard_import") {
            names.push(ImportName { name: None, bound: Sym::from("*"), module, level });
        }
        Stmt::Import(names.into())
    }

    // Definitions

    fn function(&mut self, node: Node, decorators: &[Node], stmt: StmtId, scope: Scope) -> Stmt {
        let name = field(node, "name");
        let id = self.push_func(Func {
            name: name.map_or(Sym::from(""), |n| self.sym(n)),
            params: Box::default(),
            returns: None,
            decorators: Box::default(),
            body: Box::default(),
            scope,
            stmt: Some(stmt),
            is_async: node.child(0).is_some_and(|n| n.kind() == "async"),
            span: self.span(node),
            name_span: name.map_or(Span::default(), |n| self.span(n)),
        });
        let at = Parent::Func(id);
        let decorators: Box<[_]> =
            decorators.iter().filter_map(|d| named(*d).first().copied()).map(|n| self.expr(n, at)).collect();
        let params = field(node, "parameters").map_or(Box::default(), |n| self.params(n, at));
        let returns = field(node, "return_type").map(|n| self.expr(n, at));
        let body = self.body(field(node, "body"), Scope::Func(id), None);
        let func = &mut self.ir.funcs[id.index()];
        (func.decorators, func.params, func.returns, func.body) = (decorators, params, returns, body);
        Stmt::Func(id)
    }

    fn push_func(&mut self, func: Func) -> FuncId {
        self.ir.funcs.push(func);
        FuncId(self.ir.funcs.len() as u32 - 1)
    }

    fn params(&mut self, node: Node, at: Parent) -> Box<[Param]> {
        let mut kind = ParamKind::Positional;
        let mut params = Vec::new();
        for part in named(node) {
            let (mut name, mut this) = (part, kind);
            let mut annotation = None;
            let mut default = None;
            match part.kind() {
                "keyword_separator" => {
                    kind = ParamKind::KeywordOnly;
                    continue;
                }
                "default_parameter" | "typed_default_parameter" => {
                    name = field(part, "name").unwrap_or(part);
                    annotation = field(part, "type");
                    default = field(part, "value");
                }
                "typed_parameter" => {
                    name = named(part).first().copied().unwrap_or(part);
                    annotation = field(part, "type");
                }
                "identifier" | "list_splat_pattern" | "dictionary_splat_pattern" => {}
                _ => continue,
            }
            match name.kind() {
                "list_splat_pattern" => {
                    this = ParamKind::Star;
                    kind = ParamKind::KeywordOnly;
                    name = named(name).first().copied().unwrap_or(name);
                }
                "dictionary_splat_pattern" => {
                    this = ParamKind::DoubleStar;
                    name = named(name).first().copied().unwrap_or(name);
                }
                _ => {}
            }
            let (name_sym, span) = (self.sym(name), self.span(name));
            let annotation = annotation.map(|n| self.expr(n, at));
            let default = default.map(|n| self.expr(n, at));
            params.push(Param { name: name_sym, kind: this, annotation, default, span });
        }
        params.into()
    }

    fn class(&mut self, node: Node, decorators: &[Node], stmt: StmtId, scope: Scope) -> Stmt {
        let id = ClassId(self.ir.classes.len() as u32);
        let name = field(node, "name");
        self.ir.classes.push(Class {
            name: name.map_or(Sym::from(""), |n| self.sym(n)),
            bases: Box::default(),
            keywords: Box::default(),
            decorators: Box::default(),
            body: Box::default(),
            scope,
            stmt: Some(stmt),
            span: self.span(node),
            name_span: name.map_or(Span::default(), |n| self.span(n)),
        });
        let at = Parent::Class(id);
        let (mut bases, mut keywords) = (Vec::new(), Vec::new());
        for part in field(node, "superclasses").map(named).unwrap_or_default() {
            match part.kind() {
                "keyword_argument" => {
                    if let (Some(name), Some(value)) = (field(part, "name"), field(part, "value")) {
                        keywords.push((self.sym(name), self.expr(value, at)));
                    }
                }
                "comment" => {}
                _ => bases.push(self.expr(part, at)),
            }
        }
        let decorators: Box<[_]> =
            decorators.iter().filter_map(|d| named(*d).first().copied()).map(|n| self.expr(n, at)).collect();
        // A comment between the head and the first statement stands outside the block.
        named(node).into_iter().filter(|n| n.kind() == "comment").for_each(|n| self.comment(n));
        let body = self.body(field(node, "body"), Scope::Class(id), None);
        let class = &mut self.ir.classes[id.index()];
        (class.bases, class.keywords) = (bases.into(), keywords.into());
        (class.decorators, class.body) = (decorators, body);
        Stmt::Class(id)
    }

    // Expressions

    fn push_expr(&mut self, node: Node, parent: Parent) -> ExprId {
        let span = self.span(node);
        self.ir.exprs.push(ExprNode { kind: Expr::Unknown, span, parent });
        ExprId(self.ir.exprs.len() as u32 - 1)
    }

    fn set(&mut self, id: ExprId, kind: Expr) {
        self.ir.exprs[id.index()].kind = kind;
    }

    fn exprs(&mut self, nodes: &[Node], parent: Parent) -> Box<[ExprId]> {
        nodes.iter().filter(|n| n.kind() != "comment").map(|n| self.expr(*n, parent)).collect()
    }

    fn expr_field(&mut self, node: Node, name: &str, parent: Parent) -> ExprId {
        match field(node, name) {
            Some(child) => self.expr(child, parent),
            None => self.push_expr(node, parent),
        }
    }

    fn expr(&mut self, node: Node, parent: Parent) -> ExprId {
        let mut node = node;
        // Parentheses and type wrappers mean nothing by themselves.
        while matches!(node.kind(), "parenthesized_expression" | "type" | "case_pattern") {
            match named(node).into_iter().find(|n| n.kind() != "comment") {
                Some(inner) => node = inner,
                None => break,
            }
        }
        let id = self.push_expr(node, parent);
        if self.depth >= MAX_DEPTH {
            self.skip(node);
            return id;
        }
        self.depth += 1;
        let kind = self.expr_kind(node, id);
        self.depth -= 1;
        self.set(id, kind);
        id
    }

    fn expr_kind(&mut self, node: Node, id: ExprId) -> Expr {
        let here = Parent::Expr(id);
        match node.kind() {
            "identifier" | "keyword_identifier" => Expr::Name(self.sym(node)),
            "attribute" | "member_type" => match (field(node, "object"), field(node, "attribute")) {
                (Some(object), Some(attr)) => {
                    let base = self.expr(object, here);
                    Expr::Attr { base, attr: self.sym(attr), at: self.span(attr) }
                }
                _ => Expr::Unknown,
            },
            "call" => {
                let func = self.expr_field(node, "function", here);
                let mut args = Vec::new();
                if let Some(list) = field(node, "arguments") {
                    if list.kind() == "generator_expression" {
                        args.push(Arg { kind: ArgKind::Positional, value: self.expr(list, here), at: self.span(list) });
                    } else {
                        for part in named(list) {
                            args.extend(self.argument(part, here));
                        }
                    }
                }
                Expr::Call { func, args: args.into() }
            }
            "subscript" => {
                let base = self.expr_field(node, "value", here);
                let indices = fields(node, "subscript");
                let index = match indices.as_slice() {
                    [one] => self.expr(*one, here),
                    many => self.tuple(node, many, here),
                };
                Expr::Subscript { base, index }
            }
            "generic_type" => {
                let parts = named(node);
                match parts.as_slice() {
                    [base, params, ..] => {
                        let base = self.expr(*base, here);
                        let inner = named(*params);
                        let index = match inner.as_slice() {
                            [one] => self.expr(*one, here),
                            many => self.tuple(*params, many, here),
                        };
                        Expr::Subscript { base, index }
                    }
                    _ => Expr::Unknown,
                }
            }
            "slice" => {
                let parts = named(node);
                Expr::Slice { parts: self.exprs(&parts, here) }
            }
            "binary_operator" | "union_type" => {
                let op = field(node, "operator").map_or("|", |n| self.str(n));
                match (bin_op(op), field(node, "left"), field(node, "right"), named(node).as_slice()) {
                    (Some(op), Some(left), Some(right), _) | (Some(op), None, None, &[left, right]) => {
                        Expr::Bin { op, left: self.expr(left, here), right: self.expr(right, here) }
                    }
                    _ => Expr::Unknown,
                }
            }
            "boolean_operator" => Expr::Bool {
                and: field(node, "operator").is_some_and(|n| n.kind() == "and"),
                left: self.expr_field(node, "left", here),
                right: self.expr_field(node, "right", here),
            },
            "not_operator" => Expr::Unary { op: UnaryOp::Not, operand: self.expr_field(node, "argument", here) },
            "unary_operator" => self.unary(node, here),
            "comparison_operator" => self.comparison(node, here),
            "conditional_expression" => {
                let parts: Vec<_> = named(node).into_iter().filter(|n| n.kind() != "comment").collect();
                match parts.as_slice() {
                    &[body, test, orelse] => {
                        let (body, test) = (self.expr(body, here), self.expr(test, here));
                        Expr::IfExp { test, body, orelse: self.expr(orelse, here) }
                    }
                    _ => Expr::Unknown,
                }
            }
            "lambda" => self.lambda(node, id),
            "tuple" | "expression_list" | "pattern_list" | "tuple_pattern" => {
                let parts = named(node);
                Expr::Tuple(self.exprs(&parts, here))
            }
            "list" | "list_pattern" => {
                let parts = named(node);
                Expr::List(self.exprs(&parts, here))
            }
            "set" => {
                let parts = named(node);
                Expr::Set(self.exprs(&parts, here))
            }
            "dictionary" => self.dictionary(node, here),
            "list_comprehension" => self.comprehension(node, CompKind::List, here),
            "set_comprehension" => self.comprehension(node, CompKind::Set, here),
            "dictionary_comprehension" => self.comprehension(node, CompKind::Dict, here),
            "generator_expression" => self.comprehension(node, CompKind::Generator, here),
            "string" | "concatenated_string" => self.string(node, here),
            "integer" => integer(self.str(node)),
            "float" => self.str(node).replace('_', "").parse().map_or(Expr::Unknown, Expr::Float),
            "true" => Expr::True,
            "false" => Expr::False,
            "none" => Expr::None,
            "ellipsis" => Expr::Ellipsis,
            "list_splat" | "dictionary_splat" | "list_splat_pattern" | "splat_type" | "splat_pattern" => {
                match named(node).first() {
                    Some(inner) => Expr::Starred(self.expr(*inner, here)),
                    None => Expr::Unknown,
                }
            }
            "await" => match self.only_child(node, here) {
                Some(inner) => Expr::Await(inner),
                None => Expr::Unknown,
            },
            "yield" => {
                let mut cursor = node.walk();
                let from = node.children(&mut cursor).any(|n| n.kind() == "from");
                Expr::Yield { value: self.only_child(node, here), from }
            }
            "named_expression" => Expr::Walrus {
                target: self.expr_field(node, "name", here),
                value: self.expr_field(node, "value", here),
            },
            "dotted_name" => self.dotted(node, here),
            "as_pattern" | "as_pattern_target" => match named(node).first() {
                Some(inner) => self.expr_kind(*inner, id),
                None => Expr::Unknown,
            },
            "union_pattern" => {
                let parts = named(node);
                Expr::Set(self.exprs(&parts, here))
            }
            "assignment" => Expr::Unknown,
            _ => {
                if node.is_error() {
                    self.skip(node);
                }
                Expr::Unknown
            }
        }
    }

    fn tuple(&mut self, at: Node, nodes: &[Node], parent: Parent) -> ExprId {
        let id = self.push_expr(at, parent);
        let items = self.exprs(nodes, Parent::Expr(id));
        self.set(id, Expr::Tuple(items));
        id
    }

    fn argument(&mut self, node: Node, parent: Parent) -> Option<Arg> {
        let (kind, value) = match node.kind() {
            "comment" => return None,
            "keyword_argument" => (ArgKind::Keyword(self.sym(field(node, "name")?)), field(node, "value")?),
            "list_splat" => (ArgKind::Star, *named(node).first()?),
            "dictionary_splat" => (ArgKind::DoubleStar, *named(node).first()?),
            _ => (ArgKind::Positional, node),
        };
        Some(Arg { kind, value: self.expr(value, parent), at: self.span(node) })
    }

    fn unary(&mut self, node: Node, here: Parent) -> Expr {
        let op = match field(node, "operator").map_or("", |n| self.str(n)) {
            "-" => UnaryOp::Neg,
            "+" => UnaryOp::Pos,
            "~" => UnaryOp::Invert,
            _ => return Expr::Unknown,
        };
        Expr::Unary { op, operand: self.expr_field(node, "argument", here) }
    }

    fn comparison(&mut self, node: Node, here: Parent) -> Expr {
        let operators = {
            let mut cursor = node.walk();
            node.children_by_field_name("operators", &mut cursor).map(|n| n.kind()).collect::<Vec<_>>()
        };
        let operands: Vec<_> =
            named(node).into_iter().filter(|n| !matches!(n.kind(), "comment" | "not in" | "is not")).collect();
        let Some((first, others)) = operands.split_first() else { return Expr::Unknown };
        let left = self.expr(*first, here);
        let mut rest = Vec::new();
        for (operator, operand) in operators.iter().zip(others) {
            let op = match *operator {
                "==" => CmpOp::Eq,
                "!=" | "<>" => CmpOp::Ne,
                "<" => CmpOp::Lt,
                "<=" => CmpOp::Le,
                ">" => CmpOp::Gt,
                ">=" => CmpOp::Ge,
                "is" => CmpOp::Is,
                "is not" => CmpOp::IsNot,
                "in" => CmpOp::In,
                "not in" => CmpOp::NotIn,
                _ => return Expr::Unknown,
            };
            rest.push((op, self.expr(*operand, here)));
        }
        Expr::Compare { left, rest: rest.into() }
    }

    fn lambda(&mut self, node: Node, id: ExprId) -> Expr {
        let scope = self.ir.scope_of(id);
        let stmt = self.ir.stmt_of(id);
        let span = self.span(node);
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
        let params = field(node, "parameters").map_or(Box::default(), |n| self.params(n, Parent::Func(func)));
        let ret = StmtId(self.ir.stmts.len() as u32);
        let body_span = field(node, "body").map_or(span, |n| self.span(n));
        self.ir.stmts.push(StmtNode {
            kind: Stmt::Return(None),
            span: body_span,
            scope: Scope::Func(func),
            parent: None,
            index: 0,
        });
        let value = self.expr_field(node, "body", Parent::Stmt(ret));
        self.ir.stmts[ret.index()].kind = Stmt::Return(Some(value));
        let lowered = &mut self.ir.funcs[func.index()];
        (lowered.params, lowered.body) = (params, Box::new([ret]));
        Expr::Lambda(func)
    }

    fn dictionary(&mut self, node: Node, here: Parent) -> Expr {
        let mut items = Vec::new();
        for part in named(node) {
            match part.kind() {
                "pair" => {
                    if let (Some(key), Some(value)) = (field(part, "key"), field(part, "value")) {
                        items.push((Some(self.expr(key, here)), self.expr(value, here)));
                    }
                }
                "dictionary_splat" => {
                    if let Some(inner) = named(part).first() {
                        items.push((None, self.expr(*inner, here)));
                    }
                }
                _ => {}
            }
        }
        Expr::Dict(items.into())
    }

    fn comprehension(&mut self, node: Node, kind: CompKind, here: Parent) -> Expr {
        let Some(body) = field(node, "body") else { return Expr::Unknown };
        let (element, value) = match (field(body, "key"), field(body, "value")) {
            (Some(key), Some(value)) if body.kind() == "pair" => (self.expr(key, here), Some(self.expr(value, here))),
            _ => (self.expr(body, here), None),
        };
        let mut clauses: Vec<(ExprId, ExprId, Vec<ExprId>)> = Vec::new();
        for part in named(node) {
            match part.kind() {
                "for_in_clause" => {
                    let target = self.expr_field(part, "left", here);
                    let rights = fields(part, "right");
                    let iter = match rights.as_slice() {
                        [one] => self.expr(*one, here),
                        many => self.tuple(part, many, here),
                    };
                    clauses.push((target, iter, Vec::new()));
                }
                "if_clause" => {
                    if let (Some(test), Some(last)) = (self.only_child(part, here), clauses.last_mut()) {
                        last.2.push(test);
                    }
                }
                _ => {}
            }
        }
        let clauses =
            clauses.into_iter().map(|(target, iter, ifs)| CompFor { target, iter, ifs: ifs.into() }).collect();
        Expr::Comp { kind, element, value, clauses }
    }

    fn string(&mut self, node: Node, here: Parent) -> Expr {
        let mut text = String::new();
        let mut parts = Vec::new();
        let mut bytes = false;
        let pieces = if node.kind() == "concatenated_string" { named(node) } else { vec![node] };
        for piece in pieces.into_iter().filter(|n| n.kind() == "string") {
            let mut raw = false;
            for part in named(piece) {
                match part.kind() {
                    "string_start" => {
                        let prefix = self.str(part).to_ascii_lowercase();
                        raw = prefix.contains('r');
                        bytes |= prefix.contains('b');
                    }
                    "string_content" if raw => text.push_str(self.str(part)),
                    "string_content" => unescape(self.str(part), &mut text),
                    "interpolation" => {
                        text.push_str("{}");
                        if let Some(inner) = field(part, "expression") {
                            parts.push(self.expr(inner, here));
                        }
                        for spec in named(part).into_iter().filter(|n| n.kind() == "format_specifier") {
                            for nested in named(spec) {
                                if let Some(inner) = field(nested, "expression") {
                                    parts.push(self.expr(inner, here));
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if bytes {
            Expr::Bytes
        } else if parts.is_empty() {
            Expr::Str(Sym::from(&text))
        } else {
            Expr::FString { text: Sym::from(&text), parts: parts.into() }
        }
    }

    /// Decorators and patterns may hold a dotted name as one node.
    fn dotted(&mut self, node: Node, here: Parent) -> Expr {
        let parts = named(node);
        let Some((last, before)) = parts.split_last() else { return Expr::Unknown };
        if before.is_empty() {
            return Expr::Name(self.sym(*last));
        }
        let mut base = None;
        for part in before {
            let id = self.push_expr(*part, here);
            let kind = match base {
                None => Expr::Name(self.sym(*part)),
                Some(inner) => {
                    self.ir.exprs[ExprId::index(inner)].parent = Parent::Expr(id);
                    Expr::Attr { base: inner, attr: self.sym(*part), at: self.span(*part) }
                }
            };
            self.set(id, kind);
            base = Some(id);
        }
        match base {
            Some(base) => Expr::Attr { base, attr: self.sym(*last), at: self.span(*last) },
            None => Expr::Unknown,
        }
    }
}

fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement") || kind.ends_with("_definition")
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

fn bin_op(text: &str) -> Option<BinOp> {
    BIN_OPS.iter().find(|(name, _)| *name == text).map(|(_, op)| *op)
}

impl BinOp {
    pub fn text(self) -> &'static str {
        BIN_OPS.iter().find(|(_, op)| *op == self).map_or("?", |(name, _)| name)
    }
}

fn integer(text: &str) -> Expr {
    let text = text.replace('_', "").to_ascii_lowercase();
    let parsed = match text.get(..2) {
        Some("0x") => i64::from_str_radix(&text[2..], 16),
        Some("0b") => i64::from_str_radix(&text[2..], 2),
        Some("0o") => i64::from_str_radix(&text[2..], 8),
        _ => text.parse(),
    };
    parsed.map_or(Expr::Unknown, Expr::Int)
}

/// Python's simple escapes; the rest is kept as written.
fn unescape(text: &str, out: &mut String) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('\n') => {}
            Some(c @ ('\\' | '\'' | '"')) => out.push(c),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
}
