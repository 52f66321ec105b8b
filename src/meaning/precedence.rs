//! Which other field, variable or request wins over this one, or gives way to it.

use super::facts::Facts;
use super::report::Precedence;

pub fn claim(_facts: &Facts) -> Vec<Precedence> {
    Vec::new()
}
