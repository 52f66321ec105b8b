//! Tells a bug of argtrace's own in one line instead of a backtrace.
//!
//! It never hides one: the line says where it happened and where to report it, and the process ends with 2.

use std::io::Write;
use std::sync::Once;

use super::exit::Exit;
use crate::render::untrusted::inert;

const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

/// From here on a panic, in any thread, prints one line and ends the process.
pub fn report_in_one_line() {
    static FIRST: Once = Once::new();
    std::panic::set_hook(Box::new(|panic| {
        // Threads that panic together tell it once; the others wait here for the end.
        FIRST.call_once(|| {
            let payload = panic.payload();
            let formatted = payload.downcast_ref::<String>().map(String::as_str);
            let message = formatted.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
            let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
            let _ = writeln!(
                std::io::stderr(),
                "argtrace: this is a bug in argtrace {}: {}{place}; please report this line and the command at {ISSUES}",
                env!("CARGO_PKG_VERSION"),
                inert(message),
            );
            std::process::exit(Exit::Unusable as i32);
        });
    }));
}
