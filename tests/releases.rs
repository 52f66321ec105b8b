//! Every field of nine real releases, held against plain text searches of the same files that know nothing of Python
//! but its lines: as many fields as are declared, a valid report of each, no read missed altogether, no field called
//! dead that the text shows alive.

mod release;

use argtrace::cli::session::Session;
use argtrace::meaning::list::FieldList;
use argtrace::meaning::report::{FieldReport, Report};
use argtrace::program::profile::Profile;
use argtrace::source;
use std::collections::BTreeSet;

#[test]
fn release_0_4_6() {
    hold("0.4.6");
}

#[test]
fn release_0_4_10() {
    hold("0.4.10");
}

#[test]
fn release_0_5_3() {
    hold("0.5.3");
}

#[test]
fn release_0_5_6() {
    hold("0.5.6");
}

#[test]
fn release_0_5_8() {
    hold("0.5.8");
}

#[test]
fn release_0_5_9() {
    hold("0.5.9");
}

#[test]
fn release_0_5_12() {
    hold("0.5.12");
}

#[test]
fn release_0_5_20() {
    hold("0.5.20");
}

#[test]
fn release_0_5_23() {
    hold("0.5.23");
}

fn hold(version: &str) {
    let Some(session) = release::open(version) else { return };
    let texts = texts(version);
    let declared = declared(&texts);
    let fields = session.field_names();
    let (found, counted): (BTreeSet<_>, BTreeSet<_>) =
        (fields.iter().collect(), declared.iter().map(|d| &d.name).collect());
    let differing: Vec<_> = found.symmetric_difference(&counted).collect();
    assert!(differing.is_empty(), "fields against lines of class bodies: {differing:?}");
    assert_eq!(fields.len(), declared.len(), "a field is declared once");

    let report = session.report(&fields, &|_| ());
    let reported: Vec<&String> = report.fields.iter().map(|f| &f.field).collect();
    assert_eq!(reported, fields.iter().collect::<Vec<_>>(), "every field has its report");
    is_valid(&report);
    is_listed(&session.list(&fields[..1], &|_| ()), &report);
    definitions_stand_where_they_say(&report, &texts);

    let mut wrong = Vec::new();
    for (field, declared) in report.fields.iter().map(|f| (f, declared.iter().find(|d| d.name == f.field))) {
        let namespace = declared.and_then(|d| d.namespace.as_deref());
        let read = texts.iter().flat_map(|text| text.reads_of(&field.field, namespace)).next();
        if let (true, Some(read)) = (reads(field).is_empty(), &read) {
            wrong.push(format!("{}: no read is found, yet there is {read}", field.field));
        }
        let is_dead = field.findings.iter().any(|finding| finding.code == "dead-field");
        let mention = || texts.iter().flat_map(|text| text.mentions_of(&field.field)).next();
        if let (true, Some(mention)) = (is_dead, read.or_else(mention)) {
            wrong.push(format!("{}: is called dead, yet there is {mention}", field.field));
        }
    }
    assert!(wrong.is_empty(), "{version}:\n{}", wrong.join("\n"));
}

fn reads(field: &FieldReport) -> &[argtrace::meaning::report::Read] {
    field.reads.as_deref().unwrap_or_default()
}

/// The document is what the published schema says, unit and sink vocabularies included.
fn is_valid(report: &Report) {
    let schema = serde_json::to_value(schemars::schema_for!(Report)).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let document = serde_json::to_value(report).expect("a report is JSON");
    let errors: Vec<String> =
        validator.iter_errors(&document).take(5).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "against `argtrace schema report`: {errors:#?}");
}

/// The list says of a field what the report says.
fn is_listed(list: &FieldList, report: &Report) {
    let schema = serde_json::to_value(schemars::schema_for!(FieldList)).expect("a schema is JSON");
    let document = serde_json::to_value(list).expect("a list is JSON");
    assert!(jsonschema::is_valid(&schema, &document), "against `argtrace schema fields`");
    let reported = serde_json::to_value(&report.fields[0]).expect("a report is JSON");
    let listed = document["fields"][0].as_object().expect("an entry");
    for (key, said) in listed.iter().filter(|(key, _)| *key != "marks") {
        assert_eq!(said, &reported[key], "{key}");
    }
}

fn definitions_stand_where_they_say(report: &Report, texts: &[Text]) {
    let mut flags = BTreeSet::new();
    for field in &report.fields {
        let definition = &field.definition;
        let text = texts.iter().find(|text| text.path == definition.path).expect("a file of the tree");
        let line = text.whole.lines().nth(definition.line as usize - 1).unwrap_or("");
        assert!(line.trim_start().starts_with(&field.field), "{}: declared at `{line}`", field.field);
        for flag in &definition.flags {
            assert!(flags.insert(flag), "{flag} belongs to one field");
        }
    }
    let flagged = report.fields.iter().filter(|f| !f.definition.flags.is_empty()).count();
    assert!(flagged * 10 > report.fields.len() * 9, "only {flagged} fields have a flag");
}

/// A file as lines.
struct Text {
    path: String,
    whole: String,
    /// Without comments and texts in triple quotes, numbered from 1.
    code: Vec<(usize, String)>,
}

/// The files that count.
fn texts(version: &str) -> Vec<Text> {
    let profile = Profile::builtin().expect("profile");
    let options = source::Options::of(&profile.package, &profile.marker);
    let tree = source::open(&format!("sglang=={version}"), &options).expect("opened before");
    let paths = tree.files().iter().enumerate().filter(|(_, file)| profile.counts(&file.path));
    let texts = paths.map(|(i, file)| {
        let whole = String::from_utf8_lossy(&tree.read(i).expect("readable")).into_owned();
        Text { path: file.path.clone(), code: code(&whole), whole }
    });
    texts.collect()
}

fn code(whole: &str) -> Vec<(usize, String)> {
    let mut quotes = 0;
    let mut code = Vec::new();
    for (i, line) in whole.lines().enumerate() {
        let inside = quotes % 2 == 1;
        quotes += line.matches("\"\"\"").count() + line.matches("'''").count();
        let line = line.split_once("  # ").map_or(line, |(code, _)| code);
        if !inside && quotes % 2 == 0 && !line.trim_start().starts_with('#') {
            code.push((i + 1, line.to_owned()));
        }
    }
    code
}

struct Declaration {
    name: String,
    /// Of the class, where it says one.
    namespace: Option<String>,
}

/// The `    name: type` lines of the record class, and of the classes that name a namespace.
fn declared(texts: &[Text]) -> Vec<Declaration> {
    let mut out = Vec::new();
    for text in texts {
        let is_record = text.path == "sglang/srt/server_args.py";
        if !is_record && !text.path.starts_with("sglang/srt/arg_groups/fields/") {
            continue;
        }
        let mut wanted = false;
        let mut namespace = None;
        for (_, line) in &text.code {
            if !line.starts_with([' ', ')', ']', '}']) && !line.is_empty() {
                let class = line.strip_prefix("class ");
                wanted = is_record && class.is_some_and(|class| class.starts_with("ServerArgs:"));
                namespace = None;
            } else if let Some(path) = line.strip_prefix("    _NS_PATH = ") {
                (wanted, namespace) = (true, Some(path.trim_matches('"').to_owned()));
            } else if line.starts_with("    def ") || line.starts_with("    @") {
                wanted = false;
            } else if let Some(name) =
                line.strip_prefix("    ").and_then(|line| line.split_once(':')).map(|(name, _)| name)
                && wanted
                && !name.is_empty()
                && name.chars().all(is_word)
            {
                out.push(Declaration { name: name.to_owned(), namespace: namespace.clone() });
            }
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Text {
    /// Where the value is read, in the spellings that cannot be anything else.
    fn reads_of(&self, field: &str, namespace: Option<&str>) -> Vec<String> {
        let mut before: Vec<String> =
            ["server_args.", "get_global_server_args().", "global_server_args_dict[\""].map(str::to_owned).to_vec();
        if let Some(path) = namespace {
            let (first, rest) = path.split_once('.').map_or((path, ""), |(first, rest)| (first, rest));
            let rest = if rest.is_empty() { String::new() } else { format!("{rest}.") };
            before.push(format!("get_{first}().{rest}"));
        }
        self.found(field, |lead, _| before.iter().any(|before| lead.ends_with(before.as_str())))
    }

    /// Where an object that goes by a name of the record's has the attribute, or the name stands as a text by itself.
    fn mentions_of(&self, field: &str) -> Vec<String> {
        const HOLDERS: [&str; 6] = ["server_args.", "args.", "cfg.", "view.", "config.", "get_global_server_args()."];
        let is_own = self.path.ends_with("srt/server_args.py");
        self.found(field, |lead, rest| {
            let held = HOLDERS.iter().any(|holder| lead.ends_with(holder)) || is_own && lead.ends_with("self.");
            let asked = lead.contains("getattr(") && lead.ends_with('"') && rest.starts_with('"');
            held || asked
        })
    }

    /// `path:line` and code of the occurrences of a word that are read and not written, by what stands around them.
    fn found(&self, word: &str, is_it: impl Fn(&str, &str) -> bool) -> Vec<String> {
        let mut out = Vec::new();
        if !self.whole.contains(word) {
            return out;
        }
        for (number, line) in &self.code {
            for (at, _) in line.match_indices(word) {
                let (lead, rest) = (&line[..at], &line[at + word.len()..]);
                let whole = !lead.ends_with(is_word) && !rest.starts_with(is_word);
                if whole && !is_target(lead, rest) && is_it(lead, rest) {
                    out.push(format!("{}:{number}: {}", self.path, line.trim()));
                }
            }
        }
        out
    }
}

/// Is what stands between the two assigned to?
fn is_target(lead: &str, rest: &str) -> bool {
    let assigned = rest.find(" = ").or_else(|| rest.ends_with(" =").then_some(0));
    let assigned = assigned.is_some_and(|at| !rest[..at].contains(['(', '=']));
    assigned && !lead.contains(" = ") && !lead.contains("if ") && !lead.trim_start().contains('(')
}

/// The searches above find what they are for.
#[test]
fn the_searches_tell_reads_from_writes() {
    let code = |line: &str| Text { path: "x.py".into(), whole: line.into(), code: code(line) };
    let is_read = |line: &str| !code(line).reads_of("size", Some("exec.moe")).is_empty();
    for line in
        ["a = server_args.size", "if server_args.size == 1:", "f(x, y=get_exec().moe.size)", "server_args.size,"]
    {
        assert!(is_read(line), "{line}");
    }
    for line in ["server_args.size = 1", "self.server_args.size, b = 1, 2", "server_args.sizes", "# server_args.size"] {
        assert!(!is_read(line), "{line}");
    }
}
