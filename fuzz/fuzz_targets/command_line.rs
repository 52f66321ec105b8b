//! Any words as the arguments of a server command: an audit of them ends in a document.
#![no_main]

use argtrace::launch::audit::{Question, audit};
use argtrace::launch::files;
use argtrace::meaning::Analysis;
use argtrace::meaning::report::{FieldReport, SourceInfo};
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

const RECORD: &str = include_str!("../seeds/record.py");

struct Tree;

impl FileSet for Tree {
    fn paths(&self) -> Vec<String> {
        vec!["sglang/srt/server_args.py".to_owned()]
    }

    fn read(&self, _: usize) -> Result<Vec<u8>, String> {
        Ok(RECORD.as_bytes().to_vec())
    }
}

thread_local! {
    static ANALYSIS: Analysis = {
        let profile = Profile::builtin().expect("the profile that ships with the crate");
        Analysis::open(&Tree, SourceInfo::default(), profile).expect("a sound record")
    };
    static REPORTS: RefCell<Option<Vec<FieldReport>>> = const { RefCell::new(None) };
}

fuzz_target!(|input: (&str, &str)| {
    let (words, config) = input;
    ANALYSIS.with(|analysis| {
        let reports = |fields: &[String]| {
            REPORTS.with_borrow_mut(|known| {
                let all = known.get_or_insert_with(|| analysis.report(&analysis.field_names()).fields);
                all.iter().filter(|report| fields.contains(&report.field)).cloned().collect()
            })
        };
        let read = |_: &str| Ok(config.to_owned());
        let question = Question { analysis, reports: &reports, read: &read, facts: &[], sets: &[], all: true };
        let programs = &[vec!["serve".to_owned()]];
        let arguments: Vec<String> = std::iter::once("serve").chain(words.split('\n')).map(str::to_owned).collect();
        if let Some(command) = files::of_arguments(&arguments, programs) {
            assert_eq!(audit(&question, &[command], None).launches.len(), 1);
        }
    });
});
