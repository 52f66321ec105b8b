//! Any bytes as the file that declares the record, or beside a sound one as a file that reads it: every report is made.
#![no_main]

use argtrace::meaning::Analysis;
use argtrace::meaning::report::SourceInfo;
use argtrace::program::FileSet;
use argtrace::program::profile::Profile;
use libfuzzer_sys::fuzz_target;

const RECORD: &str = include_str!("../seeds/record.py");

struct Tree<'t>(Vec<(&'static str, &'t [u8])>);

impl FileSet for Tree<'_> {
    fn paths(&self) -> Vec<String> {
        self.0.iter().map(|(path, _)| (*path).to_owned()).collect()
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        Ok(self.0[index].1.to_vec())
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((first, text)) = input.split_first() else { return };
    let record = if first % 2 == 0 { RECORD.as_bytes() } else { text };
    let files = vec![("sglang/srt/engine.py", text), ("sglang/srt/server_args.py", record)];
    let Ok(profile) = Profile::builtin() else { return };
    if let Ok(analysis) = Analysis::open(&Tree(files), SourceInfo::default(), profile) {
        let fields: Vec<String> = analysis.field_names().into_iter().take(8).collect();
        let report = analysis.report(&fields);
        assert_eq!(report.fields.len(), fields.len());
    }
});
