//! Is the field limited to a list of choices, and where does that list stand?

use super::super::facts::Facts;
use super::super::report::Grade;
use super::{Found, cut};
use crate::program::FileId;
use crate::syntax::ir::*;

pub fn find(facts: &Facts) -> Vec<Found> {
    let definitions = facts.shared.definitions;
    let registrations = facts.declared.registrations.iter().filter_map(|i| definitions.registrations.get(*i));
    let limited = registrations.filter(|r| r.choices.given);
    let Some(flag) = limited.min_by_key(|r| r.derived) else { return Vec::new() };
    let values: Vec<String> = flag.choices.values.iter().filter_map(|v| v.repr()).collect();
    let condition = match (values.is_empty(), flag.choices.open) {
        (true, _) => String::from("one of a list that is made at run time"),
        (false, true) => format!("one of {}, or one that is added at run time", values.join(", ")),
        (false, false) => format!("one of {}", values.join(", ")),
    };
    let (file, span) = match flag.derived {
        true => facts.declared.place,
        false => flag.place,
    };
    let line = list_line(facts, file, span).unwrap_or(span.line);
    vec![Found { kind: "choices", file, line, condition: cut(condition), message: None, grade: Grade::Proved }]
}

/// The line of `choices=` in the call that has the flag's spelling as an argument.
fn list_line(facts: &Facts, file: FileId, flag: Span) -> Option<u32> {
    let ir = facts.shared.ir(file);
    let spelling = ir.exprs.iter().find(|e| e.range == flag.into() && matches!(e.kind, Expr::Str(_)))?;
    let Parent::Expr(call) = spelling.parent else { return None };
    let Expr::Call { args, .. } = ir.expr(call) else { return None };
    let choices = args.iter().find(|a| matches!(a.kind, ArgKind::Keyword(k) if k == "choices"))?;
    Some(ir.place(choices.value).line)
}
