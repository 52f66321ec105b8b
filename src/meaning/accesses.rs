//! Where the field is read and rewritten, as the report lists it.

use super::conditions;
use super::facts::Facts;
use super::report::{Grade, Read, Sees, Write};
use super::wording::all_of;
use crate::flow::access::{Access, Written};
use crate::flow::graph::Holder;
use crate::flow::guards;
use crate::program::ExprRef;

pub fn reads(facts: &Facts) -> Vec<Read> {
    let shared = facts.shared;
    facts
        .reads()
        .map(|access| Read {
            path: shared.program().file(access.at.file).path.clone(),
            line: access.place.line,
            column: access.place.column,
            function: shared.function_name(access.at),
            code: shared.program().line(access.at.file, access.place.line),
            guard: guard_texts(facts, access),
            sees: sees(facts, access),
            grade: grade(access),
        })
        .collect()
}

pub fn writes(facts: &Facts) -> Vec<Write> {
    let shared = facts.shared;
    facts
        .writes()
        .map(|access| {
            let guard = guard_texts(facts, access);
            Write {
                path: shared.program().file(access.at.file).path.clone(),
                line: access.place.line,
                column: access.place.column,
                function: shared.function_name(access.at),
                code: shared.program().line(access.at.file, access.place.line),
                to: written_text(facts, access),
                when: (!guard.is_empty()).then(|| all_of(&guard)),
                guard,
                grade: match conditions::is_called_under(shared, access.at) {
                    true => Grade::Inferred,
                    false => grade(access),
                },
            }
        })
        .collect()
}

/// In a tree that seals the record, its own attributes are the operator's input.
fn sees(facts: &Facts, access: &Access) -> Sees {
    let sealed = facts.declared.definition.namespace.is_some();
    if sealed && access.holder == Holder::Record { Sees::Raw } else { Sees::Resolved }
}

fn grade(access: &Access) -> Grade {
    if access.sure { Grade::Proved } else { Grade::Inferred }
}

fn guard_texts(facts: &Facts, access: &Access) -> Vec<String> {
    let ir = facts.shared.ir(access.at.file);
    guards::of_expr(ir, access.at.expr).iter().map(|g| facts.shared.guard_text(access.at.file, g)).collect()
}

/// The value written, as source text.
pub fn written_text(facts: &Facts, access: &Access) -> String {
    let text = |expr| facts.shared.text(ExprRef { file: access.at.file, expr });
    match access.write {
        Some(Written::Value(value)) => text(value),
        Some(Written::Augmented(op, value)) => format!("{} {} {}", facts.field(), op.text(), text(value)),
        Some(Written::Part(value)) => format!("a part of {}", text(value)),
        Some(Written::Inside(value)) => format!("{} in a part of it", text(value)),
        Some(Written::Unknown) | None => String::from("unknown"),
    }
}
