//! The report command over an analysis that was written by hand.

use argtrace::cli::console::Console;
use argtrace::cli::exit::{Exit, told};
use argtrace::cli::output::{Format, Output};
use argtrace::cli::report::ReportCommand;
use argtrace::cli::session::{Backend, Session};
use argtrace::cli::{ColorWhen, Options};
use argtrace::meaning::report::Report;

struct ByHand;

impl Backend for ByHand {
    fn looks_like_source(&self, operand: &str) -> bool {
        operand.contains('/')
    }

    fn open(&self, source: Option<&str>, _: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        match source {
            Some("/broken") => anyhow::bail!("opening /broken: \u{202e}it is\nno source"),
            _ => Ok(Box::new(ByHand)),
        }
    }
}

impl Session for ByHand {
    fn source(&self) -> String {
        "sglang 0.5.9 (checkout at /src)".into()
    }

    fn field_names(&self) -> Vec<String> {
        ["hicache_size", "hicache_ratio"].map(String::from).to_vec()
    }

    fn aliases(&self) -> Vec<(String, String)> {
        vec![("--hicache-size".into(), "hicache_size".into())]
    }

    fn report(&self, fields: &[String]) -> Report {
        let mut report: Report = serde_json::from_str(include_str!("reports/hicache_size.json")).unwrap();
        report.fields = fields.iter().flat_map(|_| report.fields.clone()).collect();
        report
    }

    fn notes(&self) -> Vec<String> {
        (0..8).map(|i| format!("skipped bad{i}.py")).collect()
    }
}

fn options() -> Options {
    Options { color: ColorWhen::Never, ..Options::default() }
}

fn run(operands: &[&str], options: &Options) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut console = Console::new(&mut out, &mut err, options, 80);
    let command = ReportCommand { operands: operands.iter().map(ToString::to_string).collect() };
    let result = command.run(options, &ByHand, &mut console);
    let exit = told(result, &mut console);
    let plain = |bytes| anstream::adapter::strip_str(&String::from_utf8(bytes).unwrap()).to_string();
    (exit, plain(out), plain(err))
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
