//! A whole real release: every declared field is found, and every one gets a report.

mod release;

use argtrace::source;
use std::collections::BTreeSet;

const VERSION: &str = "0.5.9";

#[test]
fn every_declared_field_gets_a_report() {
    let Some(session) = release::open(VERSION) else { return };
    let tree = source::open(&format!("sglang=={VERSION}"), &source::Options::default()).expect("opened before");
    let file = tree.files().iter().position(|f| f.path == "sglang/srt/server_args.py").expect("the record's file");
    let text = String::from_utf8(tree.read(file).expect("readable")).expect("UTF-8");

    let fields = session.field_names();
    let counted = declared(&text, "ServerArgs");
    let (said, lines): (BTreeSet<_>, BTreeSet<_>) = (fields.iter().collect(), counted.iter().collect());
    let differing: Vec<_> = said.symmetric_difference(&lines).collect();
    assert!(differing.is_empty(), "fields against lines of the class body: {differing:?}");
    assert_eq!(fields.len(), counted.len(), "a field is declared once");

    let report = session.report(&fields);
    let reported: Vec<&str> = report.fields.iter().map(|f| f.field.as_str()).collect();
    assert_eq!(reported, fields);

    let lines: Vec<&str> = text.lines().collect();
    for field in &report.fields {
        let definition = &field.definition;
        let line = lines.get(definition.line as usize - 1).unwrap_or(&"");
        assert!(line.trim_start().starts_with(&field.field), "{}: declared at `{line}`", field.field);
    }
    let flags: Vec<&String> = report.fields.iter().flat_map(|f| &f.definition.flags).collect();
    let distinct: BTreeSet<&&String> = flags.iter().collect();
    assert_eq!(distinct.len(), flags.len(), "a flag belongs to one field");
    assert!(report.fields.iter().filter(|f| !f.definition.flags.is_empty()).count() * 10 > fields.len() * 9);
    let read = report.fields.iter().filter(|f| f.reads.as_ref().is_some_and(|r| !r.is_empty())).count();
    assert!(read * 100 > fields.len() * 95, "only {read} of {} fields are read anywhere", fields.len());
}

/// The names in `    name: type` lines of a class body, up to its first method. Knows nothing of Python but that.
fn declared(text: &str, class: &str) -> Vec<String> {
    let head = format!("class {class}");
    let body = text.lines().skip_while(|line| !line.starts_with(&head)).skip(1);
    // The docstring may hold lines of the same form.
    let mut quotes = 0;
    let body = body.filter(|line| {
        let inside = quotes % 2 == 1;
        quotes += line.matches("\"\"\"").count();
        !inside
    });
    let body = body.take_while(|line| !line.starts_with("    def ") && !line.starts_with("    @"));
    let names = body.filter_map(|line| {
        let (name, _) = line.strip_prefix("    ")?.split_once(": ")?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| name.to_owned())
    });
    names.collect()
}
