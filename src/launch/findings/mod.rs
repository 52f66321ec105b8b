//! What is wrong with a command, or worth knowing of it.
//!
//! [`parsing`] is about the command line itself, [`values`] about what the record's own resolution makes of it,
//! [`workers`] about what other processes do with the result. Each code is a row of [`table`].

pub mod parsing;
pub mod table;
pub mod values;
pub mod workers;

use super::audit::Set;
use super::document::{Finding, Level};
use crate::syntax::ir::Sym;

/// A finding with its usual level and nothing else known.
pub fn finding(code: &str, message: String) -> Finding {
    Finding {
        code: code.to_owned(),
        level: table::level(code),
        flag: None,
        field: None,
        fields: Vec::new(),
        effective: serde_json::Value::Null,
        when: None,
        total: None,
        message,
        path: None,
        line: None,
    }
}

/// A finding on a field that was given.
fn on_set(code: &str, set: &Set, message: String) -> Finding {
    let field = set.field.to_string();
    Finding {
        flag: Some(set.used.flag.clone()),
        field: Some(field.clone()),
        fields: vec![field],
        ..finding(code, message)
    }
}

/// A finding on several fields: it is about the first of them that was given.
fn on_fields(code: &str, sets: &[Set], fields: &[Sym], message: String) -> Finding {
    let set = fields.iter().find_map(|f| sets.iter().find(|s| s.field == *f));
    let field = set.map(|s| s.field).or(fields.first().copied());
    Finding {
        flag: set.map(|s| s.used.flag.clone()),
        field: field.map(|f| f.to_string()),
        fields: fields.iter().map(|f| f.to_string()).collect(),
        ..finding(code, message)
    }
}

impl Finding {
    fn level(mut self, level: Level) -> Finding {
        self.level = level;
        self
    }

    fn at(mut self, (path, line): (Option<String>, Option<u32>)) -> Finding {
        (self.path, self.line) = (path, line);
        self
    }
}
