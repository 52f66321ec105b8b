//! Is a text nested so deep that parsing it would take more stack than a file is worth?
//!
//! The parser goes down a level for each bracket and each operator before an operand. It is asked of the bytes, before
//! parsing, and errs on the side of parsing: what stands in strings and comments counts as well, but no file that people
//! write comes near.

/// Open brackets at one place.
const MAX_BRACKETS: usize = 2_000;
/// Operators that take what follows as their operand, in one statement without a comma.
const MAX_OPERATORS: usize = 20_000;
/// The words that are such operators; `lambda` is counted by itself, as a comma does not end one.
const WORDS: [&[u8]; 4] = [b"not", b"else", b"await", b"lambda"];

/// Which bytes count, or start a word that may.
const COUNTS: [bool; 256] = {
    let mut counts = [false; 256];
    let bytes = b"()[]{}-+~*,\nneal";
    let mut i = 0;
    while i < bytes.len() {
        counts[bytes[i] as usize] = true;
        i += 1;
    }
    counts
};

pub fn is_too_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut brackets, mut operators, mut lambdas) = (0usize, 0usize, 0usize);
    let mut before = b'\n';
    for (i, byte) in bytes.iter().enumerate() {
        // `1jelse` are two words.
        let starts = !(before.is_ascii_alphabetic() && before != b'j' && before != b'J') && before != b'_';
        before = *byte;
        if !COUNTS[usize::from(*byte)] {
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            b'-' | b'+' | b'~' | b'*' => operators += 1,
            b',' => operators = 0,
            b'\n' if brackets == 0 => (operators, lambdas) = (0, 0),
            b'\n' => continue,
            _ if !starts => continue,
            _ => match WORDS.iter().find(|word| bytes[i..].starts_with(word)) {
                Some(&b"lambda") => lambdas += 1,
                Some(_) => operators += 1,
                None => continue,
            },
        }
        if brackets > MAX_BRACKETS || operators.max(lambdas) > MAX_OPERATORS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_too_deep;

    #[test]
    fn chains_of_each_kind() {
        for part in ["(", "[", "f({", "not ", "- ", "await ", "lambda: ", "lambda a, b: ", "x ** ", "x if y else "] {
            assert!(is_too_deep(&format!("x = {}1\n", part.repeat(30_000))), "{part}");
            assert!(!is_too_deep(&format!("x = {}1\n", part.repeat(900))), "{part}");
        }
    }

    #[test]
    fn tables_and_banners() {
        assert!(!is_too_deep(&format!("x = [{}]\n", "-1, not y, lambda: 2,\n".repeat(10_000))));
        assert!(!is_too_deep(&format!("{}\n", "# ---- (\n".repeat(1_000))));
        assert!(!is_too_deep(&"x = -1 + y\n".repeat(100_000)));
    }
}
