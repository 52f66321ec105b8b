//! Conditions of the tree as one text that means what they mean together.

/// All of these conditions hold.
pub fn all_of<T: AsRef<str>>(texts: &[T]) -> String {
    match texts {
        [one] => one.as_ref().to_owned(),
        _ => texts.iter().map(|t| conjunct(t.as_ref())).collect::<Vec<_>>().join(" and "),
    }
}

/// In brackets, if it binds less than `and` does.
fn conjunct(text: &str) -> String {
    let mut depth = 0i32;
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ' ') if depth == 0 => {
                let rest = &text[i..];
                if [" or ", " if ", " := "].iter().any(|op| rest.starts_with(op)) {
                    return format!("({text})");
                }
            }
            _ => {}
        }
    }
    text.to_owned()
}
