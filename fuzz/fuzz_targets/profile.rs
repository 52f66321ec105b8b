//! Any text as a profile.
#![no_main]

use argtrace::program::profile::Profile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(profile) = Profile::parse(text) {
        profile.counts("sglang/srt/server_args.py");
    }
});
