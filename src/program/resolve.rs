//! What a name stands for: local, enclosing, module, imported.
//!
//! Imports are followed through re-exports; a name that leaves the tree becomes its dotted path.

use super::*;
use crate::syntax::defuse::{DefId, DefSite};

/// What a module-level name is.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Entity {
    Func(FuncRef),
    Class(ClassRef),
    Module(FileId),
    /// A variable of a module.
    Var(FileId, Sym),
    /// Outside the tree, by dotted path (`torch.empty`).
    External(Sym),
}

/// What a name in an expression stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum Binding {
    /// Definitions in a function or class scope.
    Local(Scope, Vec<DefId>),
    Entities(Vec<Entity>),
    /// A Python builtin, or nothing that we know.
    Builtin,
}

const MAX_IMPORT_HOPS: u32 = 12;

impl Program {
    /// What a name means where it stands.
    pub fn binding(&self, at: ExprRef) -> Binding {
        let ir = self.ir(at.file);
        let Expr::Name(name) = *ir.expr(at.expr) else { return Binding::Builtin };
        let scope = ir.scope_of(at.expr);
        if scope != Scope::Module {
            let defuse = self.defuse(at.file, scope);
            if let Some(defs) = defuse.reaching.get(&at.expr) {
                if !defs.is_empty() {
                    return Binding::Local(scope, defs.clone());
                }
                if let Some(all) = defuse.by_name.get(&name) {
                    return Binding::Local(scope, all.clone());
                }
            }
        }
        self.binding_around(at.file, scope, name)
    }

    /// What a name means that `scope` does not bind.
    pub fn binding_around(&self, file: FileId, scope: Scope, name: Sym) -> Binding {
        let ir = self.ir(file);
        let mut outer = scope;
        let mut first = true;
        loop {
            match outer {
                Scope::Module => break,
                Scope::Func(f) => {
                    if !first && let Some(defs) = self.defuse(file, outer).by_name.get(&name) {
                        return Binding::Local(outer, defs.clone());
                    }
                    outer = ir.func(f).scope;
                }
                Scope::Class(c) => outer = ir.class(c).scope,
            }
            first = false;
        }
        let entities = self.exported(file, name);
        if entities.is_empty() { Binding::Builtin } else { Binding::Entities(entities) }
    }

    /// What a name means to code of `scope`, without an expression that mentions it.
    pub fn name_in_scope(&self, file: FileId, scope: Scope, name: Sym) -> Binding {
        if scope != Scope::Module
            && let Some(defs) = self.defuse(file, scope).by_name.get(&name)
        {
            return Binding::Local(scope, defs.clone());
        }
        self.binding_around(file, scope, name)
    }

    /// What a module's name is, through re-exports.
    pub fn exported(&self, file: FileId, name: Sym) -> Vec<Entity> {
        let mut out = Vec::new();
        self.export_into(file, name, MAX_IMPORT_HOPS, &mut out);
        out
    }

    fn export_into(&self, file: FileId, name: Sym, hops: u32, out: &mut Vec<Entity>) {
        if hops == 0 || !self.has_word(file, name) && !self.has_star_import(file) {
            return;
        }
        let module = self.defuse(file, Scope::Module);
        if let Some(defs) = module.by_name.get(&name) {
            for def in defs {
                match module.defs[def.0 as usize].site {
                    DefSite::Func(func) => push(out, Entity::Func(FuncRef { file, func })),
                    DefSite::Class(class) => push(out, Entity::Class(ClassRef { file, class })),
                    DefSite::Import(stmt, i) => self.import_into(file, stmt, i, hops, out),
                    DefSite::Target(_) | DefSite::Param(_) => push(out, Entity::Var(file, name)),
                }
            }
            return;
        }
        // `from m import *`
        if let Some(defs) = module.by_name.get(&Sym::from("*")) {
            for def in defs {
                if let DefSite::Import(stmt, i) = module.defs[def.0 as usize].site
                    && let Some(from) = self.import_module(file, stmt, i)
                {
                    self.export_into(from, name, hops - 1, out);
                }
            }
        }
        if out.is_empty() && self.assigned_global(file, name) {
            push(out, Entity::Var(file, name));
        }
    }

    fn has_star_import(&self, file: FileId) -> bool {
        self.defuse(file, Scope::Module).by_name.contains_key(&Sym::from("*"))
    }

    /// Is the name declared `global` and assigned in a function of the file?
    fn assigned_global(&self, file: FileId, name: Sym) -> bool {
        let ir = self.ir(file);
        ir.stmts.iter().any(|s| matches!(&s.kind, Stmt::Global(names) if names.contains(&name)))
    }

    /// What the i-th name of an import statement is.
    pub fn imported(&self, file: FileId, stmt: StmtId, i: u32) -> Vec<Entity> {
        let mut out = Vec::new();
        self.import_into(file, stmt, i, MAX_IMPORT_HOPS, &mut out);
        out
    }

    fn import_name(&self, file: FileId, stmt: StmtId, i: u32) -> Option<&ImportName> {
        match &self.ir(file).stmt(stmt).kind {
            Stmt::Import(names) => names.get(i as usize),
            _ => None,
        }
    }

    /// The absolute dotted name of the module that an import names.
    fn absolute(&self, file: FileId, import: &ImportName) -> String {
        if import.level == 0 {
            return import.module.to_string();
        }
        let here = self.file(file);
        let mut parts: Vec<&str> = here.module.as_str().split('.').collect();
        let up = import.level as usize - usize::from(here.is_package);
        parts.truncate(parts.len().saturating_sub(up));
        if !import.module.is_empty() {
            parts.push(import.module.as_str());
        }
        parts.join(".")
    }

    fn import_module(&self, file: FileId, stmt: StmtId, i: u32) -> Option<FileId> {
        let import = self.import_name(file, stmt, i)?;
        self.file_by_module(Sym::from(&self.absolute(file, import)))
    }

    fn import_into(&self, file: FileId, stmt: StmtId, i: u32, hops: u32, out: &mut Vec<Entity>) {
        let Some(import) = self.import_name(file, stmt, i) else { return };
        let module = self.absolute(file, import);
        let Some(name) = import.name else {
            // `import a.b` binds `a`; `import a.b as c` binds the module.
            let bound =
                if module.split('.').next() == Some(import.bound.as_str()) { import.bound } else { Sym::from(&module) };
            push(out, self.module_entity(bound));
            return;
        };
        match self.file_by_module(Sym::from(&module)) {
            Some(from) => {
                let before = out.len();
                self.export_into(from, name, hops - 1, out);
                if out.len() == before {
                    let sub = format!("{module}.{name}");
                    if let Some(sub) = self.file_by_module(Sym::from(&sub)) {
                        push(out, Entity::Module(sub));
                    }
                }
            }
            None => push(out, self.module_entity(Sym::from(&format!("{module}.{name}")))),
        }
    }

    fn module_entity(&self, module: Sym) -> Entity {
        match self.file_by_module(module) {
            Some(file) => Entity::Module(file),
            None => Entity::External(module),
        }
    }

    /// The attribute of a module.
    pub fn module_attr(&self, file: FileId, name: Sym) -> Vec<Entity> {
        let mut found = self.exported(file, name);
        if found.is_empty() {
            let sub = format!("{}.{}", self.file(file).module, name);
            found.extend(self.file_by_module(Sym::from(&sub)).map(Entity::Module));
        }
        found
    }
}

fn push<T: PartialEq>(out: &mut Vec<T>, item: T) {
    if !out.contains(&item) {
        out.push(item);
    }
}
