//! The report command over an analysis that was written by hand.

mod by_hand;
mod console;

use argtrace::cli::Options;
use argtrace::cli::exit::Exit;
use argtrace::cli::output::{Format, Output};
use argtrace::cli::report::ReportCommand;
use argtrace::meaning::report::Report;
use by_hand::ByHand;
use console::options;

fn run(operands: &[&str], options: &Options) -> (Exit, String, String) {
    let command = ReportCommand { operands: operands.iter().map(ToString::to_string).collect(), brief: false };
    console::run(Some(80), options, |console| command.run(options, &ByHand, console))
}

#[test]
fn the_source_is_named_only_where_it_was_left_out() {
    let quiet = Options { quiet: true, ..options() };
    let (exit, out, err) = run(&["--hicache-size"], &options());
    assert_eq!(exit, Exit::Clean);
    assert!(out.contains("per scheduler process: dp_rank x pp_rank x tp_rank"));
    assert!(err.starts_with("argtrace: reading sglang 0.5.9 (checkout at /src)\nargtrace: skipped bad0.py\n"), "{err}");
    assert!(err.ends_with("argtrace: … 3 more remarks, -v shows all\n"), "{err}");
    assert!(!run(&["hicache_size", "/src"], &options()).2.contains("reading"));
    assert_eq!(run(&["hicache_size"], &quiet), (Exit::Clean, out, String::new()));
}

#[test]
fn an_unknown_field_gets_suggestions() {
    let (exit, out, err) = run(&["/src", "--hicache-sise"], &options());
    assert_eq!((exit, out.as_str()), (Exit::Unusable, ""));
    assert_eq!(
        err,
        "argtrace: no field of sglang 0.5.9 (checkout at /src) matches `--hicache-sise`\n  \
         did you mean --hicache-size or hicache_ratio?\n"
    );
}

#[test]
fn errors_are_one_inert_line() {
    let (exit, _, err) = run(&["hicache_size", "/broken"], &options());
    assert_eq!((exit, err.as_str()), (Exit::Unusable, "argtrace: opening /broken: \\u{202e}it is\\nno source\n"));
    assert!(run(&["/src"], &options()).2.contains("no field is named"));
    assert!(run(&["hicache_size", "/src", "/other"], &options()).2.contains("two sources are named, /src and /other"));
}

#[test]
fn each_output_has_its_format() {
    let folder = tempfile::tempdir().unwrap();
    let [json, markdown] = ["r.json", "r.md"].map(|name| folder.path().join(name));
    let mut options = options();
    options.output.format = Some(Format::Markdown);
    options.output.outputs = vec![
        Output { format: Some(Format::Json), file: json.clone() },
        Output { format: None, file: markdown.clone() },
        Output { format: Some(Format::Text), file: "-".into() },
    ];
    let (exit, out, _) = run(&["hicache_*", "/src"], &options);
    assert_eq!(exit, Exit::Clean);
    assert!(out.starts_with("sglang 0.5.9 (checkout)\n"));
    let report: Report = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(report.fields.len(), 2);
    assert!(std::fs::read_to_string(markdown).unwrap().contains("### `--hicache-size`"));
}

#[test]
fn a_field_that_is_also_a_folder_is_not_read_silently() {
    // A folder with the package in it is the source, and the other reading is told.
    let (exit, out, err) = run(&["hicache_size", "hicache_ratio"], &options());
    assert_eq!((exit, out.matches("--hicache-size").count()), (Exit::Clean, 1), "{out}");
    assert!(
        err.contains("`hicache_ratio` is read as the folder of that name; the field is written --hicache_ratio"),
        "{err}"
    );
    assert!(
        run(&["hicache_ratio"], &options()).2.contains("a field of the name hicache_ratio is written --hicache_ratio")
    );
    // Beside a source by form it is a field.
    let (exit, _, err) = run(&["hicache_ratio", "/src"], &options());
    assert_eq!((exit, err.contains("is read as the folder")), (Exit::Clean, false), "{err}");
    // A folder of another name needs no word.
    assert!(!run(&["hicache_size", "folder"], &options()).2.contains("is read as"));
    // A path without the package is a field, or nothing.
    let (exit, _, err) = run(&["LICENSE"], &options());
    assert_eq!(exit, Exit::Unusable);
    assert!(
        err.contains("no field of sglang 0.5.9 (checkout at /src) matches `LICENSE`") && err.contains("./LICENSE"),
        "{err}"
    );
}

#[test]
fn an_option_that_was_mistyped_is_suggested() {
    let (exit, _, err) = run(&["hicache_size", "--fromat", "/src"], &options());
    assert_eq!(exit, Exit::Unusable);
    assert!(err.contains("argtrace's own option is --format"), "{err}");
}
