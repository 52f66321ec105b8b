//! The list of fields over an analysis that was written by hand.

mod by_hand;
mod console;

use argtrace::cli::Options;
use argtrace::cli::exit::Exit;
use argtrace::cli::fields::FieldsCommand;
use argtrace::cli::filter::FilterOptions;
use argtrace::cli::output::Format;
use argtrace::meaning::list::FieldList;
use by_hand::ByHand;
use console::options;

fn run_in(
    columns: Option<usize>,
    operands: &[&str],
    filter: FilterOptions,
    options: &Options,
) -> (Exit, String, String) {
    let command = FieldsCommand { operands: operands.iter().map(ToString::to_string).collect(), filter };
    console::run(columns, options, |console| command.run(options, &ByHand, console))
}

fn run(operands: &[&str], filter: FilterOptions) -> (Exit, String, String) {
    run_in(None, operands, filter, &Options { quiet: true, ..options() })
}

fn values(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

#[test]
fn without_fields_all_are_listed_a_line_each() {
    let (exit, out, err) = run(&["/src"], FilterOptions::default());
    assert_eq!((exit, err.as_str()), (Exit::Clean, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "sglang 0.5.9 (checkout): 2 fields");
    assert!(lines[2].starts_with("field") && lines[3].starts_with("hicache_size"), "{out}");
}

#[test]
fn fields_are_chosen_by_glob() {
    let (_, out, _) = run(&["*_ratio", "/src"], FilterOptions::default());
    assert!(out.starts_with("sglang 0.5.9 (checkout): 1 of 2 fields\n"), "{out}");
    let (exit, _, err) = run(&["hicahce_*", "/src"], FilterOptions::default());
    assert_eq!(exit, Exit::Unusable);
    assert!(err.contains("did you mean hicache_size or hicache_ratio?"), "{err}");
}

#[test]
fn filters_keep_what_fits_all_of_them() {
    let kept = |filter: FilterOptions| run(&["/src"], filter).1.lines().next().unwrap_or_default().to_owned();
    let all = FilterOptions {
        section: values(&["hierarchical cache"]),
        sink: values(&["log", "host-memory"]),
        unit: values(&["GB"]),
        per_rank: true,
        dead: false,
    };
    assert_eq!(kept(all.clone()), "sglang 0.5.9 (checkout): 2 fields");
    assert_eq!(kept(FilterOptions { unit: values(&["GiB"]), ..all.clone() }), "sglang 0.5.9 (checkout): 0 of 2 fields");
    assert_eq!(
        kept(FilterOptions { sink: values(&["timeout"]), ..all.clone() }),
        "sglang 0.5.9 (checkout): 0 of 2 fields"
    );
    assert_eq!(kept(FilterOptions { dead: true, ..all }), "sglang 0.5.9 (checkout): 0 of 2 fields");
}

#[test]
fn a_value_that_no_field_can_have_gets_suggestions() {
    let refused = |filter: FilterOptions| {
        let (exit, out, err) = run(&["/src"], filter);
        assert_eq!((exit, out.as_str()), (Exit::Unusable, ""));
        err
    };
    let section = refused(FilterOptions { section: values(&["Hierarchical cashe"]), ..Default::default() });
    assert_eq!(section, "argtrace: there is no section `Hierarchical cashe`\n  did you mean Hierarchical cache?\n");
    let sink = refused(FilterOptions { sink: values(&["hostmem"]), ..Default::default() });
    assert!(sink.contains("there is no kind of sink `hostmem`") && sink.contains("host-memory"), "{sink}");
    let unit = refused(FilterOptions { unit: values(&["qqqqqq"]), ..Default::default() });
    assert!(unit.contains("there is no unit `qqqqqq`") && unit.contains("there are: bytes, KB"), "{unit}");
}

#[test]
fn each_format_is_written() {
    let write = |format| {
        let mut options = Options { quiet: true, ..options() };
        options.output.format = Some(format);
        run_in(None, &["/src"], FilterOptions::default(), &options).1
    };
    let list: FieldList = serde_json::from_str(&write(Format::Json)).unwrap();
    assert_eq!((list.schema.as_str(), list.fields.len()), ("argtrace/fields/1", 2));
    assert!(write(Format::Markdown).contains("| `hicache_size` | `--hicache-size` | `int` | `0` | GB |"));
    assert!(write(Format::Csv).starts_with("field,flags,type,default,section,unit,"));
    assert!(!write(Format::Json).contains("\"reads\""));
}

#[test]
fn a_terminal_gets_a_table_or_paragraphs() {
    let options = Options { quiet: true, ..options() };
    let (_, wide, _) = run_in(Some(160), &["/src"], FilterOptions::default(), &options);
    assert!(wide.contains("─────") && wide.lines().all(|line| line.chars().count() <= 160), "{wide}");
    let (_, narrow, _) = run_in(Some(60), &["/src"], FilterOptions::default(), &options);
    assert!(narrow.contains("\nhicache_size  int = 0\n    GB; per dp/pp/tp rank;"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
}
