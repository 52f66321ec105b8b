//! The conditions without which the value has no effect.

use super::facts::Facts;
use super::report::ActiveWhen;

pub fn claim(_facts: &Facts) -> Vec<ActiveWhen> {
    Vec::new()
}
