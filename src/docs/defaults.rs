//! Is a documented default the source's?
//!
//! Values are compared as Python would compare them: `1e9` is `1000000000`, quotes do not matter, lists are compared
//! without their spaces. What is prose on one side, or computed on the other, cannot be told and is not judged.

use super::tables::Cell;

/// The documented value, where it contradicts the source's.
pub(super) fn contradiction(cell: &Cell, default: Option<&str>) -> Option<String> {
    let claimed = claimed(cell);
    let first = claimed.first()?.clone();
    let Some(default) = default else {
        // A page can write anything for what must be given, but no value.
        return claimed.iter().all(|text| is_value(text)).then_some(first);
    };
    if !is_literal(default) {
        return None;
    }
    let own = normal(default);
    claimed.iter().all(|text| normal(text) != own).then_some(first)
}

/// The values that a cell names: its code spans, else its only word.
fn claimed(cell: &Cell) -> Vec<String> {
    let codes: Vec<String> = cell.codes.iter().filter(|code| !code.starts_with("--")).cloned().collect();
    if !codes.is_empty() || !cell.codes.is_empty() {
        return codes;
    }
    match cell.text.split_whitespace().collect::<Vec<_>>().as_slice() {
        [word] if !is_blank(word) => vec![(*word).to_owned()],
        _ => Vec::new(),
    }
}

fn is_blank(word: &str) -> bool {
    const BLANKS: [&str; 6] = ["-", "–", "—", "n/a", "required", "(required)"];
    BLANKS.contains(&word.to_lowercase().as_str())
}

/// A number, a truth value or a text in quotes: no word that may be prose, and not None.
fn is_value(text: &str) -> bool {
    let normal = normal(text);
    number(&normal).is_some() || normal == "True" || normal == "False" || text.starts_with(['"', '\''])
}

/// Is the source's default written out, not made by a call or by a name?
fn is_literal(text: &str) -> bool {
    let text = text.trim();
    let quoted = text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']);
    let listed = text.starts_with(['[', '(', '{']) && !text.contains("for ") && !text.contains("lambda");
    quoted || listed || matches!(text, "None" | "True" | "False") || number(text).is_some()
}

fn normal(text: &str) -> String {
    let text = text.trim();
    if let Some(number) = number(text) {
        return number.to_string();
    }
    match text.to_lowercase().as_str() {
        "none" | "null" => return String::from("None"),
        "true" => return String::from("True"),
        "false" => return String::from("False"),
        _ => {}
    }
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect()
}

fn number(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    let begins = text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !begins {
        return None;
    }
    let power = text.split_once("**").and_then(|(base, exponent)| {
        let (base, exponent): (f64, i32) = (base.trim().parse().ok()?, exponent.trim().parse().ok()?);
        Some(base.powi(exponent))
    });
    power.or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(markdown: &str, default: Option<&str>) -> bool {
        let table = format!("| a | default |\n| - | - |\n| --x | {markdown} |\n");
        let row = super::super::tables::rows(&table).remove(0);
        contradiction(&row.default.unwrap(), default).is_none()
    }

    #[test]
    fn equal_values_are_equal_however_written() {
        for (cell, default) in [
            ("`auto`", "\"auto\""),
            ("auto", "'auto'"),
            ("1e9", "1000000000"),
            ("`30_000`", "30000"),
            ("none", "None"),
            ("`[\"a\", 'b']`", "['a','b']"),
            ("`0` (off)", "0"),
            ("`0.10`", "0.1"),
            ("", "5"),
            ("depends on the GPU", "None"),
            ("`7`", "seven()"),
            ("`\"\"`", "\"\""),
        ] {
            assert!(says(cell, Some(default)), "{cell} {default}");
        }
        assert!(says("`None`", None) && says("-", None) && says("required", None));
    }

    #[test]
    fn other_values_contradict() {
        for (cell, default) in
            [("`auto`", "None"), ("2", "1"), ("`False`", "True"), ("fcfs", "\"lpm\""), ("`None`", "0")]
        {
            assert!(!says(cell, Some(default)), "{cell} {default}");
        }
        assert!(!says("`8`", None));
    }
}
