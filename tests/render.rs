//! What the renderers make of reports that were written by hand.

use argtrace::meaning::list::{FieldEntry, FieldList};
use argtrace::meaning::report::Report;
use argtrace::render::fields;
use argtrace::render::json::json;
use argtrace::render::markdown::markdown;
use argtrace::render::text::{Layout, text};

fn realistic() -> Report {
    serde_json::from_str(include_str!("reports/hicache_size.json")).unwrap()
}

/// Every string that comes from the tree is hostile.
fn hostile() -> Report {
    serde_json::from_str(include_str!("reports/hostile.json")).unwrap()
}

/// A field of which nothing is known, beside one that is divided, rewritten, deprecated and has many choices.
fn several() -> Report {
    serde_json::from_str(include_str!("reports/several.json")).unwrap()
}

fn plain(report: &Report, width: usize, all: bool) -> String {
    anstream::adapter::strip_str(&text(report, Layout { width, all })).to_string()
}

#[test]
fn text_of_one_field() {
    insta::assert_snapshot!(plain(&realistic(), 100, false));
}

#[test]
fn text_of_one_field_on_a_narrow_terminal() {
    insta::assert_snapshot!(plain(&realistic(), 60, false));
}

#[test]
fn text_of_everything() {
    insta::assert_snapshot!(plain(&realistic(), 120, true));
}

#[test]
fn text_of_several_fields() {
    insta::assert_snapshot!(plain(&several(), 100, false));
}

#[test]
fn text_with_styles() {
    insta::assert_snapshot!(text(&several(), Layout { width: 100, all: false }).replace('\x1b', "ESC"));
}

#[test]
fn markdown_of_one_field() {
    insta::assert_snapshot!(markdown(&realistic(), false));
}

#[test]
fn markdown_of_several_fields() {
    insta::assert_snapshot!(markdown(&several(), true));
}

#[test]
fn hostile_strings_are_shown_and_do_nothing() {
    let report = hostile();
    insta::assert_snapshot!("hostile_text", plain(&report, 100, true));
    insta::assert_snapshot!("hostile_markdown", markdown(&report, true));
    insta::assert_snapshot!("hostile_json", json(&report).unwrap());
}

#[test]
fn no_output_holds_a_character_that_steers() {
    let report = hostile();
    let layout = Layout { width: 100, all: true };
    let steers = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2066}';
    for output in [plain(&report, 100, true), markdown(&report, true), json(&report).unwrap()] {
        assert!(!output.contains(steers), "{output}");
        assert!(!output.lines().any(|line| line.trim_start().starts_with("::")), "{output}");
    }
    // The only escapes in styled text are those of a style.
    let styled = text(&report, layout);
    let escapes = styled.split('\x1b').skip(1);
    assert!(escapes.into_iter().all(|rest| rest.starts_with('[')
        && rest[1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')));
}

#[test]
fn text_keeps_to_the_width() {
    use unicode_width::UnicodeWidthStr;
    for report in [realistic(), hostile(), several()] {
        for (width, all) in [(40, false), (80, false), (80, true), (200, true)] {
            for line in plain(&report, width, all).lines() {
                // A place is never broken, so it may stand out where it has the line to itself.
                if line.split_whitespace().filter(|word| *word != "→").count() == 1 {
                    continue;
                }
                let escape = usize::from(line.contains("\\::"));
                assert!(line.width() <= width + escape, "{width} columns: {line}");
            }
        }
    }
}

#[test]
fn json_is_the_document() {
    let report = realistic();
    let written = json(&report).unwrap();
    assert!(written.starts_with("{\n  \"schema\": \"argtrace/report/1\"") && written.ends_with("}\n"));
    let back: Report = serde_json::from_str(&written).unwrap();
    assert_eq!(json(&back).unwrap(), written);
}

fn listed(report: Report) -> FieldList {
    let fields = report.fields.into_iter().map(FieldEntry::from).collect();
    FieldList { schema: "argtrace/fields/1".into(), source: report.source, fields }
}

fn plain_list(list: &FieldList, width: Option<usize>) -> String {
    anstream::adapter::strip_str(&fields::text(list, 9, width)).to_string()
}

#[test]
fn list_of_fields() {
    let list = listed(several());
    insta::assert_snapshot!("list_on_a_wide_terminal", plain_list(&list, Some(150)));
    insta::assert_snapshot!("list_on_a_narrow_terminal", plain_list(&list, Some(70)));
    insta::assert_snapshot!("list_in_a_pipe", plain_list(&list, None));
    insta::assert_snapshot!("list_as_markdown", fields::markdown(&list, 9));
    insta::assert_snapshot!("list_as_csv", fields::csv(&list));
}

#[test]
fn hostile_lists_are_shown_and_do_nothing() {
    let list = listed(hostile());
    insta::assert_snapshot!("hostile_list_in_a_pipe", plain_list(&list, None));
    insta::assert_snapshot!("hostile_list_as_markdown", fields::markdown(&list, 9));
    insta::assert_snapshot!("hostile_list_as_csv", fields::csv(&list));
    let steers = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2066}';
    let texts = [40, 200].map(|width| plain_list(&list, Some(width)));
    for output in texts.into_iter().chain([plain_list(&list, None), fields::markdown(&list, 9), fields::csv(&list)]) {
        assert!(!output.contains(steers), "{output}");
        assert!(!output.lines().any(|line| line.trim_start().starts_with("::")), "{output}");
    }
}

#[test]
fn no_cell_of_a_csv_is_a_formula() {
    for report in [realistic(), hostile(), several()] {
        let list = listed(report);
        let csv = fields::csv(&list);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("as many cells")).collect();
        assert_eq!(records.len(), list.fields.len());
        for cell in records.iter().flatten() {
            let evaluates = cell.trim_start().starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            assert!(!evaluates, "{cell}");
        }
    }
}
