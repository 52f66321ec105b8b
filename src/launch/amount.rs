//! Amounts of memory with their unit: `445GB`, `40 GiB`.
//!
//! GB is 1000 ** 3 bytes and GiB is 1024 ** 3, and one is never taken for the other. A number without a unit is no amount.

const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Bytes of an amount; nothing if it has no unit, or none that is known.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let number: f64 = number.trim().replace(['_', ','], "").parse().ok()?;
    let factor = bytes_of_unit(unit.trim())?;
    let bytes = number * factor as f64;
    (bytes.is_finite() && (0.0..1e19).contains(&bytes)).then_some(bytes.round() as u64)
}

/// Bytes of one unit; its letters may be of either case.
pub fn bytes_of_unit(unit: &str) -> Option<u64> {
    let exact = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, bytes)| *bytes);
    exact.or_else(|| if unit.eq_ignore_ascii_case("bytes") { Some(1) } else { None })
}

/// An amount in the unit that it was computed in: `800 GB`.
pub fn shown(bytes: f64, unit: &str) -> String {
    let factor = bytes_of_unit(unit).unwrap_or(1) as f64;
    format!("{} {unit}", number(bytes / factor))
}

/// A number without needless digits.
pub fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        return format!("{x:.0}");
    }
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units_are_told_apart() {
        assert_eq!(bytes("445GB"), Some(445_000_000_000));
        assert_eq!(bytes("40 GiB"), Some(40 << 30));
        assert_eq!(bytes("1.5TiB"), Some(3 << 39));
        assert_eq!(bytes("512mib"), Some(512 << 20));
        for bad in ["445", "", "GB", "-1GB", "12 parsecs", "1e400GB"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
        assert_eq!(shown(800e9, "GB"), "800 GB");
        assert_eq!(number(7.7777), "7.78");
    }
}
