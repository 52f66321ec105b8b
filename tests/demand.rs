//! Speed is not bought with what is missed: a field asked alone, of a tree of which nothing is parsed yet, says what it
//! says among all the others, and the word index that chooses the files to parse knows every word that a parse finds.

mod release;

use argtrace::program::index::{FileIndex, Uses, hash};
use argtrace::program::profile::Profile;
use argtrace::source;
use argtrace::syntax::ir::*;
use argtrace::syntax::lower::lower;
use rayon::prelude::*;

#[test]
fn fifty_fields_alone_and_among_all() {
    alone_and_among_all("0.5.9", 50);
}

#[test]
fn fields_of_a_large_release_alone_and_among_all() {
    alone_and_among_all("0.5.23", 8);
}

fn alone_and_among_all(version: &str, count: usize) {
    let Some(session) = release::open(version) else { return };
    let names = session.field_names();
    let among_all = session.report(&names, &|_| ()).fields;
    let step = among_all.len() / count;
    among_all.par_iter().step_by(step).for_each(|among_all| {
        let fresh = release::open(version).expect("opened before");
        let alone = fresh.report(std::slice::from_ref(&among_all.field), &|_| ()).fields;
        let json = |report| serde_json::to_string_pretty(report).expect("JSON");
        assert_same(&json(&alone[0]), &json(among_all), &among_all.field);
    });
}

fn assert_same(alone: &str, among_all: &str, field: &str) {
    let differing = alone.lines().zip(among_all.lines()).find(|(a, b)| a != b);
    assert!(alone == among_all, "{field}: alone and among all differ, first at {differing:?}");
}

#[test]
fn the_index_knows_every_word_that_a_parse_finds() {
    if release::open("0.5.9").is_none() {
        return;
    }
    let profile = Profile::builtin().expect("profile");
    let options = source::Options::of(&profile.package, &profile.marker);
    let tree = source::open("sglang==0.5.9", &options).expect("opened before");
    (0..tree.files().len()).into_par_iter().for_each(|i| {
        let text = tree.read(i).expect("readable");
        let index = FileIndex::of(&text);
        let ir = lower(&text);
        let known = |word: Sym, uses: Uses| {
            let found = index.has_use(hash(word.as_bytes()), uses);
            assert!(found, "{}: the index misses {word}", tree.files()[i].path);
        };
        let called: Vec<ExprId> = ir.exprs.iter().filter_map(|node| callee(&node.kind)).collect();
        for (id, node) in ir.exprs.iter().enumerate() {
            let called = called.contains(&ExprId(id as u32));
            match &node.kind {
                Expr::Name(name) if called => known(*name, Uses::CALL),
                Expr::Name(name) => known(*name, Uses::BARE),
                Expr::Attr { attr, .. } if called => known(*attr, Uses::METHOD),
                Expr::Attr { attr, .. } => known(*attr, Uses::ATTRIBUTE),
                Expr::Call { args, .. } => args.iter().for_each(|arg| {
                    if let ArgKind::Keyword(name) = arg.kind {
                        known(name, Uses::BARE);
                    }
                }),
                Expr::Str(text) if is_name(text) => known(*text, Uses::QUOTED),
                _ => {}
            }
        }
        for func in ir.funcs.iter().filter(|f| is_name(&f.name)) {
            assert!(index.functions.contains(&func.name), "{}: def {}", tree.files()[i].path, func.name);
        }
        for class in &ir.classes {
            assert!(
                index.classes.iter().any(|c| c.name == class.name),
                "{}: class {}",
                tree.files()[i].path,
                class.name
            );
        }
    });
}

fn callee(expr: &Expr) -> Option<ExprId> {
    match expr {
        Expr::Call { func, .. } => Some(*func),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
