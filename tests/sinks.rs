//! What is said of the sinks of small trees, held against the comments in those trees.
//!
//! `# expect: sink FIELD KIND` stands on the line of the sink; `# expect-not: sink FIELD KIND` is about the whole tree.

mod fixture;

#[test]
fn fixtures_say_what_their_comments_claim() {
    fixture::check("sinks", 20, |report, claim, place| {
        let mut words = claim.split(' ');
        let (Some("sink"), Some(field), Some(kind)) = (words.next(), words.next(), words.next()) else {
            panic!("no such claim: {claim}");
        };
        let field = report.fields.iter().find(|f| f.field == field).expect("a field of the fixture");
        let of_kind = field.sinks.iter().filter(|s| s.kind == kind);
        let here = of_kind.filter(|s| place.is_none_or(|(path, line)| s.path == path && s.line == line)).count();
        let all: Vec<_> = field.sinks.iter().map(|s| format!("{} {}:{}", s.kind, s.path, s.line)).collect();
        (here > 0, all.join(", "))
    });
}
