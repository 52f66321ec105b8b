//! Any bytes as a wheel or an sdist: what can be listed can be read, and nothing leads out of it.
#![no_main]

use argtrace::program::profile::Profile;
use argtrace::source;
use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|input: (bool, &[u8])| {
    let (wheel, bytes) = input;
    let suffix = if wheel { ".whl" } else { ".tar.gz" };
    let Ok(mut file) = tempfile::Builder::new().suffix(suffix).tempfile() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let profile = Profile::builtin().expect("the profile that ships with the crate");
    let options = source::Options::of(&profile.package, &profile.marker);
    let Ok(tree) = source::open(&file.path().to_string_lossy(), &options) else { return };
    for (i, file) in tree.files().iter().enumerate() {
        assert!(!file.path.starts_with('/') && !file.path.split('/').any(|part| part == ".."));
        let _ = tree.read(i);
    }
});
