//! Any text as a shell script, a Dockerfile, a manifest or a configuration: finding its commands ends.
#![no_main]

use argtrace::launch::files;
use argtrace::program::profile::Profile;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static PROGRAMS: LazyLock<Vec<Vec<String>>> =
    LazyLock::new(|| Profile::builtin().expect("the profile that ships with the crate").launch.programs);

const NAMES: [&str; 4] = ["run.sh", "Dockerfile", "pods.yaml", "config.yml"];

fuzz_target!(|input: (u8, &str)| {
    let (which, text) = input;
    let found = files::commands(NAMES[usize::from(which) % NAMES.len()], text, &PROGRAMS);
    let lines = 1 + text.matches(['\n', '\r']).count() as u32;
    for token in found.commands.iter().flat_map(|command| &command.argv) {
        assert!(token.line.is_none_or(|line| line <= lines));
    }
});
