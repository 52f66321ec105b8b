//! What is said of the units in small trees, held against the comments in those trees.
//!
//! `# expect: unit NAME GRADE` stands on the line of the field.

mod fixture;

#[test]
fn fixtures_say_what_their_comments_claim() {
    fixture::check("unit", 30, |report, claim, place| {
        let (path, line) = place.expect("a claim about a field stands on its line");
        let field = report.fields.iter().find(|f| f.definition.path == path && f.definition.line == line);
        let unit = &field.expect("a field on the line").unit;
        let grade = serde_json::to_value(unit.grade).expect("json");
        let said = format!("unit {} {}", unit.name.as_deref().unwrap_or("unknown"), grade.as_str().unwrap_or(""));
        (said == claim, said)
    });
}
