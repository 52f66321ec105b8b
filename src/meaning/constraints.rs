//! What the value can trip: asserts, raises, choices, clamps, warnings.

use super::facts::Facts;
use super::report::Constraint;

pub fn claim(_facts: &Facts) -> Vec<Constraint> {
    Vec::new()
}
