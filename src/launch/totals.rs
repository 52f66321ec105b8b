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

/// Can the code be reached by one of these ways? Ways that hang on something unknown may still leave no other between
/// them: one where it holds, one where it does not.
pub fn any_way(case: &mut Case<'_>, ways: &[Vec<String>]) -> Truth {
    let mut open: Vec<Vec<Asked>> = Vec::new();
    let mut why = Why::default();
    'ways: for way in ways {
        let mut asked = Vec::new();
        for text in way {
            match holds(case, text) {
                Truth::Yes => {}
                Truth::No => continue 'ways,
                Truth::Maybe(reasons) => {
                    why = why.and(&reasons);
                    asked.push(asks(text));
                }
            }
        }
        if asked.is_empty() {
            return Truth::Yes;
        }
        open.push(asked);
    }
    match open.is_empty() {
        true => Truth::No,
        false if leave_no_other(&open) => Truth::Yes,
        false => Truth::Maybe(why),
    }
}

/// A condition, and whether it is to hold.
type Asked<'t> = (&'t str, bool);

/// `not x` and `not (x or y)` ask the same as `x` and `x or y`.
fn asks(text: &str) -> Asked<'_> {
    let Some(rest) = text.strip_prefix("not ") else { return (text, true) };
    if !rest.contains(|c: char| c.is_whitespace() || c == '(') {
        return (rest, false);
    }
    match rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')) {
        Some(inner) if !inner.contains(['(', ')']) => (inner, false),
        _ => (text, true),
    }
}

/// Is one of the ways open whatever holds?
fn leave_no_other(ways: &[Vec<Asked<'_>>]) -> bool {
    const MAX_CONDITIONS: usize = 8;
    let mut conditions: Vec<&str> = ways.iter().flatten().map(|(text, _)| *text).collect();
    conditions.sort_unstable();
    conditions.dedup();
    if conditions.len() > MAX_CONDITIONS {
        return false;
    }
    (0..1u32 << conditions.len()).all(|world| {
        let holds = |text: &str| conditions.iter().position(|c| *c == text).is_some_and(|i| world & (1 << i) != 0);
        ways.iter().any(|way| way.iter().all(|(text, wanted)| holds(text) == *wanted))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_differ_in_one_condition_leave_no_other() {
        let ways = |texts: &[&'static [&'static str]]| -> Vec<Vec<Asked<'static>>> {
            texts.iter().map(|way| way.iter().map(|t| asks(t)).collect()).collect()
        };
        assert!(leave_no_other(&ways(&[&["a"], &["not a"]])));
        assert!(leave_no_other(&ways(&[&["a or b"], &["not (a or b)", "c"], &["not (a or b)", "not c"]])));
        assert!(!leave_no_other(&ways(&[&["a"], &["not b"]])));
        assert!(!leave_no_other(&ways(&[&["not a and b"], &["a and b"]])));
        assert_eq!(asks("not (a) or (b)"), ("not (a) or (b)", true));
    }
}
