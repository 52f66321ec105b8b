//! Any text as a page with tables of arguments and blocks between markers.
#![no_main]

use argtrace::docs::{blocks, tables};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for row in tables::rows(text) {
        std::hint::black_box(row);
    }
    if let Ok(found) = blocks::blocks(text) {
        let kept = found.iter().map(|block| (block, String::new()));
        std::hint::black_box(blocks::replaced(text, kept));
    }
});
