//! How much memory an argument takes on one machine: the value, times the processes there that each hold it whole.
//!
//! Which axes multiply comes from the field's scope; an axis whose loop does not run with this command adds nothing. The
//! ranks are spread evenly over the machines, as every release checks.

use super::amount;
use super::audit::{Case, Set};
use super::condition;
use super::document::{Axis, Holders};
use super::evaluate::value::{Truth, Value, Why};
use crate::meaning::active;
use crate::meaning::report::FieldReport;
use crate::program::ExprRef;
use crate::syntax::ir::*;

/// The memory that a given field takes.
#[derive(Clone, Debug)]
pub struct Total {
    pub field: Sym,
    pub per: Vec<String>,
    pub holders: Holders,
    /// Of one process.
    pub value: f64,
    pub unit: String,
    /// On one machine.
    pub bytes: f64,
    pub shown: String,
    /// Is it memory of the host, not of a device?
    pub on_host: bool,
    pub path: Option<String>,
    pub line: Option<u32>,
}

#[derive(Default)]
pub struct Totals(Vec<Total>);

impl Totals {
    pub fn of(case: &mut Case<'_>, sets: &[Set]) -> Totals {
        let mut out = Vec::new();
        for set in sets.iter().filter(|s| !s.used.failed) {
            out.extend(total(case, set));
        }
        Totals(out)
    }

    pub fn of_field(&self, field: Sym) -> Option<&Total> {
        self.0.iter().find(|t| t.field == field)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Total> {
        self.0.iter()
    }
}

fn total(case: &mut Case<'_>, set: &Set) -> Option<Total> {
    let value = case.resolved.effective(set.field).exact().and_then(Value::as_number).filter(|v| *v > 0.0)?;
    let registration = case.registration(set.used.registration)?;
    if !registration.action.takes_value() {
        return None;
    }
    let report = case.report(set.field)?;
    let (unit, bytes) = amount_of(&report)?;
    let holders = holders(case, &report)?;
    let here = value * bytes as f64 * holders.count as f64;
    let place = report.scope.evidence.first();
    Some(Total {
        field: set.field,
        per: report.scope.per.clone(),
        shown: amount::shown(here, &unit),
        value,
        unit,
        bytes: here,
        on_host: report.sinks.iter().any(|s| s.kind == "host-memory"),
        path: place.map(|p| p.path.clone()),
        line: place.map(|p| p.line),
        holders,
    })
}

/// The unit and its bytes, if the field is an amount of memory that several processes each hold whole.
pub fn amount_of(report: &FieldReport) -> Option<(String, u64)> {
    report.scope.total.as_ref()?;
    Some((report.unit.name.clone()?, report.unit.bytes?))
}

/// How many processes hold the value, on one machine and in all.
pub fn holders(case: &mut Case<'_>, report: &FieldReport) -> Option<Holders> {
    let profile = &case.program.profile;
    let mut axes: Vec<Axis> = Vec::new();
    for axis in &report.scope.per {
        let field = profile.size_of_axis(axis)?;
        let size = case.resolved.effective(Sym::from(field)).as_int()?;
        axes.push(Axis { axis: axis.clone(), field: field.to_owned(), size });
    }
    if axes.iter().filter(|a| a.size > 1).count() > 1 {
        let mut kept = Vec::new();
        for axis in axes {
            if axis.size == 1 || runs(case, Sym::from(&axis.axis)) {
                kept.push(axis);
            }
        }
        axes = kept;
    }
    let everywhere = axes.iter().try_fold(1i64, |all, a| all.checked_mul(a.size))?;
    let machines =
        case.resolved.effective(Sym::from(&profile.launch.machines)).as_int().filter(|n| *n > 0).unwrap_or(1);
    let count = if everywhere % machines == 0 { everywhere / machines } else { everywhere };
    let shown: Vec<String> = axes.iter().filter(|a| a.size > 1).map(|a| format!("{} = {}", a.field, a.size)).collect();
    let over = if machines > 1 { format!(" over {} machines", machines) } else { String::new() };
    let why = match shown.is_empty() {
        true => "there is one such process".to_owned(),
        false => format!("one process for each rank: {}{over}", shown.join(" x ")),
    };
    Some(Holders { count, everywhere, processes: report.scope.processes.clone(), axes, why })
}

/// Does a loop over this axis run with the command?
fn runs(case: &mut Case<'_>, axis: Sym) -> bool {
    let program = case.program;
    let mut loops: Vec<ExprRef> = Vec::new();
    for file in program.files_with(axis).iter().copied() {
        let ir = program.ir(file);
        for stmt in &ir.stmts {
            if let Stmt::For { target, iter, .. } = &stmt.kind
                && matches!(ir.expr(*target), Expr::Name(name) if *name == axis)
            {
                loops.push(ExprRef { file, expr: *iter });
            }
        }
    }
    let ways: Vec<Vec<Vec<String>>> =
        case.question.analysis.with_shared(|shared| loops.iter().map(|at| active::ways_to(shared, *at)).collect());
    ways.is_empty() || ways.iter().any(|ways| any_way(case, ways) != Truth::No)
}

/// Can the code be reached by one of these ways?
pub fn any_way(case: &mut Case<'_>, ways: &[Vec<String>]) -> Truth {
    let mut out = Truth::No;
    for way in ways {
        let mut whole = Truth::Yes;
        for text in way {
            whole = match (whole, holds(case, text)) {
                (Truth::No, _) | (_, Truth::No) => Truth::No,
                (Truth::Yes, other) | (other, Truth::Yes) => other,
                (Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
            };
        }
        out = match (out, whole) {
            (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
            (Truth::No, other) | (other, Truth::No) => other,
            (Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
        };
    }
    out
}

/// Does a condition on fields hold at the end of the resolution?
pub fn holds(case: &mut Case<'_>, text: &str) -> Truth {
    let record = case.resolved.record;
    let definitions = case.definitions;
    let Some(record) = record else { return Truth::Maybe(Why::of("the record")) };
    condition::truth(text, &mut case.resolved.machine, &mut |machine, name| {
        definitions.by_name(name).map(|d| machine.published(record, d.field))
    })
}
