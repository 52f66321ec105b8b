//! The question of an audit turned round: which value of a field is the largest that a machine can bear?
//!
//! Available is what the host has, less a reserve and a margin; each process that holds the value takes it whole. Only
//! fields that end in memory with a unit of bytes have such a value; of others it is said why not.

use super::amount;
use super::audit::{Case, Question};
use super::document::{BUDGET_SCHEMA, Budget, BudgetCheck};
use super::totals::{amount_of, holders};
use crate::meaning::definition::annotation::Shape;
use crate::meaning::report::FieldReport;
use crate::program::FileId;
use crate::syntax::ir::Sym;

/// What the machine has and what is to stay free, in bytes.
#[derive(Copy, Clone, Debug)]
pub struct Machine {
    pub host_memory: u64,
    pub reserve: u64,
    pub margin: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BudgetError {
    #[error("there is no field {0}")]
    NoField(String),
    #[error("{field} has no budget: {why}")]
    NoAmount { field: String, why: String },
    #[error("the reserve and the margin leave nothing of the host's memory")]
    NothingLeft,
    #[error("{0} is no number")]
    NoNumber(String),
}

pub fn budget(
    question: &Question<'_>,
    field: &str,
    machine: Machine,
    value: Option<&str>,
) -> Result<Budget, BudgetError> {
    let declared = question.analysis.definitions().by_name(Sym::from(field));
    let declared = declared.ok_or_else(|| BudgetError::NoField(field.to_owned()))?;
    let mut case = Case::of_sets(question);
    let report = (question.reports)(&[field.to_owned()]).into_iter().next();
    let report = report.ok_or_else(|| BudgetError::NoField(field.to_owned()))?;
    let (unit, bytes) = amount_of(&report).ok_or_else(|| no_amount(field, &report))?;
    let holders = holders(&mut case, &report).ok_or_else(|| BudgetError::NoAmount {
        field: field.to_owned(),
        why: "how many processes hold it hangs on values that are not known; give them with --set".to_owned(),
    })?;
    let left = machine.host_memory.checked_sub(machine.reserve).and_then(|l| l.checked_sub(machine.margin));
    let available = left.filter(|l| *l > 0).ok_or(BudgetError::NothingLeft)?;
    let whole = declared.type_expr.is_none_or(|at| Shape::of(question.analysis.program(), at) == Shape::Int);
    let exact = available as f64 / holders.count.max(1) as f64 / bytes as f64;
    let largest = if whole { exact.floor() } else { (exact * 100.0).floor() / 100.0 };
    let given = match value {
        Some(text) => Some(number(text, &unit)?),
        None => None,
    };
    let counted = given.unwrap_or(largest);
    let total = counted * bytes as f64 * holders.count as f64;
    let show = |bytes: u64| amount::shown(bytes as f64, &unit);
    let sizes: Vec<String> = holders.axes.iter().map(|a| format!("{} {}", a.field, a.size)).collect();
    let spread = if sizes.is_empty() { holders.count.to_string() } else { sizes.join(" * ") };
    let formula = format!(
        "({} - {} - {}) / ({spread}) = {} {unit} per process",
        show(machine.host_memory),
        show(machine.reserve),
        show(machine.margin),
        amount::number(exact),
    );
    Ok(Budget {
        schema: BUDGET_SCHEMA.to_owned(),
        source: question.analysis.source().clone(),
        field: field.to_owned(),
        formula,
        pools: report.scope.pools,
        available: show(available),
        reserve: show(machine.reserve),
        margin: show(machine.margin),
        largest: json_number(largest),
        value: given.map(json_number),
        total: amount::shown(total, &unit),
        fits: given.map(|_| total <= available as f64),
        checks: checks(&mut case, &report),
        unit,
        holders,
    })
}

/// A value with or without the field's own unit.
fn number(text: &str, unit: &str) -> Result<f64, BudgetError> {
    let refuse = || BudgetError::NoNumber(text.to_owned());
    if let Ok(plain) = text.trim().parse::<f64>() {
        return if plain.is_finite() && plain >= 0.0 { Ok(plain) } else { Err(refuse()) };
    }
    let factor = amount::bytes_of_unit(unit).ok_or_else(refuse)?;
    amount::bytes(text).map(|b| b as f64 / factor as f64).ok_or_else(refuse)
}

fn json_number(x: f64) -> serde_json::Value {
    if x.fract() == 0.0 && x.abs() < 9e15 { (x as i64).into() } else { x.into() }
}

/// Why a field has no budget.
fn no_amount(field: &str, report: &FieldReport) -> BudgetError {
    let memory = report.sinks.iter().any(|s| s.kind.ends_with("-memory"));
    let why = match (&report.unit.name, report.unit.bytes, memory) {
        (_, Some(_), true) => "no process is known to hold it whole".to_owned(),
        (Some(unit), Some(_), false) => format!("it is counted in {unit}, but it does not end in memory"),
        (Some(unit), None, _) => format!("it is counted in {unit}, which is no amount of memory"),
        (None, ..) => "its unit is not known".to_owned(),
    };
    BudgetError::NoAmount { field: field.to_owned(), why }
}

/// The checks that the code makes of the value.
fn checks(case: &mut Case<'_>, report: &FieldReport) -> Vec<BudgetCheck> {
    let kinds = ["assert", "raise", "warn", "clamp"];
    let made = report.constraints.iter().filter(|c| kinds.contains(&c.kind.as_str()));
    let checks = made.map(|c| BudgetCheck {
        kind: c.kind.clone(),
        condition: c.condition.clone(),
        message: c.message.clone(),
        path: c.path.clone(),
        line: c.line,
        trips: None,
    });
    let mut out: Vec<BudgetCheck> = checks.collect();
    for check in &mut out {
        check.trips = case.trips(&check.path, check.line);
    }
    out
}

impl Case<'_> {
    /// Does a check of the resolution fail with the values that are set?
    fn trips(&self, path: &str, line: u32) -> Option<bool> {
        let is_here = |place: (FileId, crate::syntax::ir::Span)| {
            self.program.file(place.0).path == path && place.1.line <= line && line <= place.1.end_line
        };
        let failed = self.resolved.checks.iter().find(|c| is_here(c.place))?;
        failed.doubts.is_empty().then_some(true)
    }
}
