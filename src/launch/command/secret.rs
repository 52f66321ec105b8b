//! Which flags and variables hold something that must not be shown?
//!
//! It goes by the last word of the name: `api_key`, `SSL_KEYFILE_PASSWORD`, `HF_TOKEN`. A name that only counts or names
//! such things (`max_tokens`, `tokenizer`) holds none. A secret never enters the analysis; a stand-in does.

/// What is shown in place of a secret.
pub const HIDDEN: &str = "***";

const WORDS: [&str; 13] = [
    "key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
    "pwd",
    "auth",
    "authorization",
    "bearer",
];

/// Does a flag, field or variable of this name hold a secret?
pub fn holds(name: &str) -> bool {
    let lower = name.trim_start_matches('-').to_ascii_lowercase();
    let words: Vec<&str> = lower.split(['-', '_', '.']).filter(|w| !w.is_empty()).collect();
    // `watermark_key_b`, `token_2`: a short mark at the end does not change what it is.
    let last = words.iter().rev().find(|w| w.len() > 1 && !w.bytes().all(|b| b.is_ascii_digit()));
    last.is_some_and(|last| WORDS.contains(last))
}

/// A text with what is secret in it hidden: the password of a URL, values under secret names in JSON.
pub fn without(text: &str) -> String {
    let text = without_passwords(text);
    if !text.trim_start().starts_with(['{', '[']) {
        return text;
    }
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(data) if has_secret(&data, 0) => hidden(&data, 0).to_string(),
        _ => text,
    }
}

/// `scheme://user:password@host`
fn without_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let end = tail.find(['/', '?', '#', ' ', ',', '"', '\'']).unwrap_or(tail.len());
        let (authority, after) = tail.split_at(end);
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                let user = user.split(':').next().unwrap_or("");
                out.push_str(&format!("{user}:{HIDDEN}@{host}"));
            }
            None => out.push_str(authority),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

const MAX_NESTING: u32 = 64;

fn has_secret(data: &serde_json::Value, depth: u32) -> bool {
    match data {
        serde_json::Value::Object(map) => {
            map.iter().any(|(k, v)| holds(k) && !v.is_object() || depth < MAX_NESTING && has_secret(v, depth + 1))
        }
        serde_json::Value::Array(items) => depth < MAX_NESTING && items.iter().any(|i| has_secret(i, depth + 1)),
        _ => false,
    }
}

/// Data with the values under secret names hidden.
pub fn hidden(data: &serde_json::Value, depth: u32) -> serde_json::Value {
    match data {
        serde_json::Value::Object(map) => serde_json::Value::Object(
            map.iter()
                .map(|(k, v)| {
                    let value = match holds(k) && !v.is_object() {
                        true => HIDDEN.into(),
                        false if depth < MAX_NESTING => hidden(v, depth + 1),
                        false => HIDDEN.into(),
                    };
                    (k.clone(), value)
                })
                .collect(),
        ),
        serde_json::Value::Array(items) if depth < MAX_NESTING => {
            items.iter().map(|i| hidden(i, depth + 1)).collect::<Vec<_>>().into()
        }
        serde_json::Value::String(text) => without_passwords(text).into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_by_its_name() {
        for name in ["--api-key", "admin_api_key", "HF_TOKEN", "ssl_keyfile_password", "watermark_key_b", "--api_key"] {
            assert!(holds(name), "{name}");
        }
        for name in ["--max-total-tokens", "tokenizer_path", "ssl_keyfile", "key_value_heads", "--keyframes"] {
            assert!(!holds(name), "{name}");
        }
    }

    #[test]
    fn secrets_inside_values_are_hidden() {
        assert_eq!(without("redis://me:pw@host:1/0"), "redis://me:***@host:1/0");
        assert_eq!(without("http://host/a"), "http://host/a");
        assert_eq!(without(r#"{"access_key": "x", "n": 1}"#), r#"{"access_key":"***","n":1}"#);
        assert_eq!(without(r#"{"n": 1}"#), r#"{"n": 1}"#);
    }
}
