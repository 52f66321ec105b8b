//! Real releases for tests, got as a user gets them: by `sglang==VERSION`, through pip, kept in the cache folder.

use argtrace::cli::session::{Backend, Session, installed};

/// Opens a release. `None` only where `ARGTRACE_OFFLINE=1` was set by hand and the cache has no wheel of it.
///
/// # Panics
/// If the wheel cannot be fetched: a test that did not run must not look like one that passed.
pub fn open(version: &str) -> Option<Box<dyn Session>> {
    let spec = format!("sglang=={version}");
    match installed().expect("the profile").open(Some(&spec), &|said| eprintln!("{said}")) {
        Ok(session) => Some(session),
        Err(error) if std::env::var_os("ARGTRACE_OFFLINE").is_some_and(|v| v == "1") => {
            eprintln!("not tested, offline: {error:#}");
            None
        }
        Err(error) => panic!("{error:#}\n(ARGTRACE_OFFLINE=1 leaves out the tests that need a release)"),
    }
}
