//! What other processes make of the values: nothing, a share, something else, an error, or a multiple.
//!
//! The field reports say where a value is used and under which conditions; here the conditions meet the command's values.
//! Where a test cannot be decided nothing is said, or a note.

use super::on_set;
use crate::flow::guards;
use crate::launch::amount;
use crate::launch::audit::{Case, Set};
use crate::launch::document::{Finding, Level};
use crate::launch::evaluate::value::{Truth, Value, Why};
use crate::launch::totals::{Totals, any_way, holds};
use crate::meaning::active;
use crate::meaning::report::{ActiveWhen, Constraint, FieldReport, Write};
use crate::program::{ExprRef, FileId, last_name};
use crate::syntax::ir::*;

pub fn find(case: &mut Case<'_>, sets: &[Set], totals: &Totals) {
    for set in sets.iter().filter(|s| !s.used.failed) {
        let Some(report) = case.report(set.field) else { continue };
        if let Some(dead) = dead(set, &report) {
            case.findings.push(dead);
            continue;
        }
        if let Some(inactive) = inactive(case, set, &report) {
            case.findings.push(inactive);
            continue;
        }
        let replaced = case.findings.iter().any(|f| {
            matches!(f.code.as_str(), "rewritten" | "overridden") && f.field.as_deref() == Some(set.field.as_str())
        });
        if !replaced {
            let found = overridden(case, sets, set, &report);
            case.findings.extend(found);
        }
        let found = divided(case, set, &report);
        case.findings.extend(found);
        let found = rewritten(case, set, &report);
        case.findings.extend(found);
        let found = violated(case, set, &report);
        case.findings.extend(found);
    }
    memory(case, sets, totals);
}

/// Is it code that has been run already?
fn is_resolution(case: &Case<'_>, path: &str) -> bool {
    let root = case.definitions.root;
    case.program.profile.home_kind(path).is_some() || case.program.file(root.file).path == path
}

fn dead(set: &Set, report: &FieldReport) -> Option<Finding> {
    let found = report.findings.iter().find(|f| f.code == "dead-field")?;
    let place = (Some(found.path.clone()), Some(found.line));
    Some(on_set("dead-field", set, format!("{} has no effect: {}", set.used.flag, found.message)).at(place))
}

fn inactive(case: &mut Case<'_>, set: &Set, report: &FieldReport) -> Option<Finding> {
    let value = case.resolved.effective(set.field);
    if case.resolved.machine.truth_of_value(&value) == Truth::No {
        return None;
    }
    let own = set.field.to_string();
    let mut missing: Vec<&ActiveWhen> = Vec::new();
    let mut alternatives = 0;
    for condition in &report.active_when {
        if condition.field.contains(&own) {
            continue;
        }
        alternatives += usize::from(condition.any_of.is_some());
        if !changed_since(case, condition) && holds(case, &condition.condition) == Truth::No {
            match condition.any_of {
                None => {
                    missing = vec![condition];
                    alternatives = 0;
                    break;
                }
                Some(_) => missing.push(condition),
            }
        }
    }
    // Of alternatives all must fail.
    let first = *missing.first()?;
    if alternatives > missing.len() {
        return None;
    }
    let conditions: Vec<&str> = missing.iter().map(|c| c.condition.as_str()).collect();
    let message = format!("{} has no effect with this command: it needs {}", set.used.flag, conditions.join(" or "));
    let fields = std::iter::once(own).chain(missing.iter().flat_map(|c| c.field.clone())).collect();
    let place = (Some(first.path.clone()), Some(first.line));
    Some(Finding { fields, ..on_set("inactive", set, message) }.at(place))
}

/// Does the resolution test the condition itself, on fields that it gives other values? Then it may have held there.
fn changed_since(case: &Case<'_>, condition: &ActiveWhen) -> bool {
    let written = |field: &String| case.resolved.writes.iter().any(|w| w.field == field.as_str());
    is_resolution(case, &condition.path) && condition.field.iter().any(written)
}

/// Another given argument that wins, in code that runs later; a note if it hangs on what is not known.
fn overridden(case: &mut Case<'_>, sets: &[Set], set: &Set, report: &FieldReport) -> Option<Finding> {
    let mut open = None;
    for claim in report.precedence.iter().filter(|p| p.relation == "overridden_by" && p.other_kind == "field") {
        let Some(other) = sets.iter().find(|s| s.field == claim.other.as_str()) else { continue };
        if is_resolution(case, &claim.path) {
            continue;
        }
        let decided = match &claim.when {
            Some(when) => holds(case, when),
            None => {
                let value = case.resolved.effective(other.field);
                case.resolved.machine.truth_of_value(&value)
            }
        };
        let decided = match decided {
            Truth::No => Truth::No,
            decided => match reached(case, &claim.path, claim.line) {
                Truth::Yes => decided,
                unsure => unsure,
            },
        };
        let condition = claim.when.as_deref().unwrap_or("it is set");
        let fields = vec![set.field.to_string(), other.field.to_string()];
        let place = (Some(claim.path.clone()), Some(claim.line));
        let found = |message| Finding { fields, ..on_set("overridden", set, message) }.at(place);
        match decided {
            Truth::Yes => {
                let message = format!("{} is not used: {} wins, because {condition}", set.used.flag, other.used.flag);
                return Some(found(message));
            }
            Truth::No => {}
            Truth::Maybe(why) => {
                let message = format!("{} is not used if {} wins: {condition}", set.used.flag, other.used.flag);
                let note = Finding { when: Some(case.hangs_on(&why)), ..found(message) };
                open = open.or(Some(note.level(Level::Note)));
            }
        }
    }
    open
}

/// Divisions that a worker makes.
fn divided(case: &mut Case<'_>, set: &Set, report: &FieldReport) -> Vec<Finding> {
    let mut out = Vec::new();
    // A count of ranks that is divided is the size of a group of them, and nobody's share.
    // So is the place of a machine among others.
    let profile = &case.program.profile;
    if profile.counts_ranks(&set.field) || profile.launch.positions.iter().any(|p| *p == set.field.as_str()) {
        return out;
    }
    for division in &report.scope.divided_when {
        if is_resolution(case, &division.path) {
            continue;
        }
        let Some(by) = case.resolved.effective(Sym::from(&division.by)).as_int().filter(|by| *by > 1) else { continue };
        let decided = match &division.condition {
            Some(condition) => holds(case, condition),
            None => Truth::Yes,
        };
        let value = case.resolved.effective(set.field);
        let share = value.as_int().map(|v| v.div_euclid(by));
        if share == Some(0) && value.as_int() == Some(0) {
            continue;
        }
        let shown = match (share, value.exact().and_then(Value::as_number)) {
            (Some(share), _) => format!("{} / {by} = {share}", value.as_int().unwrap_or_default()),
            (None, Some(x)) => format!("{} / {by} = {}", amount::number(x), amount::number(x / by as f64)),
            (None, None) => format!("the value / {by}"),
        };
        let message = format!("each process works with a share: {shown} ({} is {by})", division.by);
        let fields = [set.field.to_string(), division.by.clone()].into_iter().chain(division.fields.clone()).collect();
        let place = (Some(division.path.clone()), Some(division.line));
        let mut found = Finding { fields, effective: share.into(), ..on_set("divided", set, message) }.at(place);
        match decided {
            Truth::Yes => {}
            Truth::No => continue,
            Truth::Maybe(why) => {
                found.when = Some(case.hangs_on(&why));
                found.level = Level::Note;
            }
        }
        out.push(found);
    }
    out
}

fn file_of(case: &Case<'_>, path: &str) -> Option<FileId> {
    let module = path.strip_suffix(".py")?.replace('/', ".");
    let module = module.strip_suffix(".__init__").unwrap_or(&module).to_owned();
    case.program.file_by_module(Sym::from(&module))
}

/// Is the innermost statement at a line reached?
fn reached(case: &mut Case<'_>, path: &str, line: u32) -> Truth {
    let Some(file) = file_of(case, path) else { return Truth::Yes };
    let ir = case.program.ir(file);
    let around = |s: &&(usize, &StmtNode)| s.1.span.line <= line && line <= s.1.span.end_line;
    let innermost =
        ir.stmts.iter().enumerate().filter(|s| around(&s)).min_by_key(|(_, s)| s.span.end_line - s.span.line);
    match innermost {
        Some((at, _)) => happens(case, file, StmtId(at as u32)),
        None => Truth::Yes,
    }
}

/// Do all tests around a statement hold, and is its function reached?
fn happens(case: &mut Case<'_>, file: FileId, stmt: StmtId) -> Truth {
    let ir = case.program.ir(file);
    let mut out = match open_block(ir, stmt) {
        Some(block) => Truth::Maybe(Why::of(block)),
        None => Truth::Yes,
    };
    for guard in guards::of_stmt(ir, stmt) {
        let test = case.resolved.machine.truth_at(ExprRef { file, expr: guard.test });
        let test = if guard.holds { test } else { test.negated() };
        out = match (out, test) {
            (_, Truth::No) => return Truth::No,
            (Truth::Yes, other) | (other, Truth::Yes) => other,
            (Truth::Maybe(a), Truth::Maybe(b)) => Truth::Maybe(a.and(&b)),
            (Truth::No, _) => Truth::No,
        };
    }
    let Some(at) = any_expression(ir, stmt) else { return out };
    let at = ExprRef { file, expr: at };
    let ways = case.question.analysis.with_shared(|shared| active::ways_to(shared, at));
    match (any_way(case, &ways), out) {
        (Truth::No, _) => Truth::No,
        (Truth::Yes, here) => here,
        (way, Truth::Yes) => way,
        (_, here) => here,
    }
}

/// Does a process surely run the function of a statement? There must be a chain of calls from the start of one on which
/// every test, whatever it asks, is known to hold; a class that only a table names is constructed for nobody.
fn is_run(case: &mut Case<'_>, file: FileId, stmt: StmtId) -> bool {
    const MAX_FUNCTIONS: usize = 200;
    let ir = case.program.ir(file);
    let Some(at) = any_expression(ir, stmt) else { return false };
    let at = ExprRef { file, expr: at };
    let analysis = case.question.analysis;
    let Some(first) = analysis.with_shared(|shared| shared.processes.function_around(at)) else { return false };
    let mut seen = vec![first];
    let mut one_sided: Vec<(ExprRef, bool)> = Vec::new();
    let mut next = 0;
    while let Some(func) = seen.get(next).copied() {
        next += 1;
        let (is_start, sites) = analysis.with_shared(|shared| {
            let is_start = shared.processes.spawns().iter().any(|s| s.targets.contains(&func));
            let sites: Vec<_> = shared.processes.ups(func, false).to_vec();
            (is_start, sites.into_iter().map(|at| (shared.processes.function_around(at), at)).collect::<Vec<_>>())
        });
        if is_start {
            return true;
        }
        for (around, at) in sites {
            let Some(around) = around.filter(|a| !seen.contains(a) && seen.len() < MAX_FUNCTIONS) else { continue };
            let ir = case.program.ir(at.file);
            let mut open = Vec::new();
            let refuted = guards::of_expr(ir, at.expr).iter().any(|guard| {
                let test = ExprRef { file: at.file, expr: guard.test };
                let truth = case.resolved.machine.truth_at(test);
                let truth = if guard.holds { truth } else { truth.negated() };
                if matches!(truth, Truth::Maybe(_)) {
                    open.push((test, guard.holds));
                }
                truth == Truth::No
            });
            // Of a test that nobody can tell both arms may lead here.
            let holds = match (refuted, open.as_slice()) {
                (true, _) => false,
                (false, []) => true,
                (false, [(test, side)]) => {
                    let both = one_sided.contains(&(*test, !*side));
                    one_sided.push((*test, *side));
                    both
                }
                (false, _) => false,
            };
            let block = ir.stmt_of(at.expr).is_some_and(|stmt| open_block(ir, stmt).is_some());
            if holds && !block {
                seen.push(around);
            }
        }
    }
    false
}

/// A block around a statement that runs only if something happens that no test of a value tells.
fn open_block(ir: &FileIr, stmt: StmtId) -> Option<&'static str> {
    let mut at = stmt;
    while let Some((up, arm)) = ir.stmt(at).parent {
        match (&ir.stmt(up).kind, arm) {
            (Stmt::Try { .. }, Arm::Nth(_)) => return Some("an error that is caught"),
            (Stmt::Match { .. }, _) => return Some("a pattern that is matched"),
            _ => at = up,
        }
    }
    None
}

/// Is an error that a statement raises caught in its own function?
fn is_caught(ir: &FileIr, stmt: StmtId) -> bool {
    let mut at = stmt;
    while let Some((up, arm)) = ir.stmt(at).parent {
        match (&ir.stmt(up).kind, arm) {
            (Stmt::Try { handlers, .. }, Arm::Body) if !handlers.is_empty() => return true,
            _ => at = up,
        }
    }
    false
}

fn any_expression(ir: &FileIr, stmt: StmtId) -> Option<ExprId> {
    match &ir.stmt(stmt).kind {
        Stmt::Assign { value, .. } | Stmt::AugAssign { value, .. } | Stmt::Expr(value) => Some(*value),
        Stmt::Assert { test, .. } => Some(*test),
        Stmt::Raise(value) => *value,
        Stmt::If { arms, .. } => arms.first().map(|(test, _)| *test),
        _ => None,
    }
}

/// A worker writes another value to its own copy of the record.
fn rewritten(case: &mut Case<'_>, set: &Set, report: &FieldReport) -> Vec<Finding> {
    let mut out = Vec::new();
    let writes: Vec<Write> =
        report.writes.iter().flatten().filter(|w| !is_resolution(case, &w.path)).cloned().collect();
    for write in &writes {
        // A value that is put back afterwards is no lasting change.
        let in_function = writes.iter().filter(|w| w.path == write.path && w.function == write.function).count();
        let Some(file) = file_of(case, &write.path).filter(|_| in_function == 1) else { continue };
        let Some((stmt, value)) = assignment_at(case.program.ir(file), write.line, set.field) else { continue };
        let new = case.resolved.machine.value_at(ExprRef { file, expr: value });
        let old = case.resolved.effective(set.field);
        let differs = case.resolved.machine.apply_compare(CmpOp::Eq, &old, &new) == Truth::No;
        let (shown, None) = case.shown(&new) else { continue };
        if !differs {
            continue;
        }
        let decided = happens(case, file, stmt);
        let message = format!("a worker replaces {} by {shown} in its own copy of the record", set.used.flag);
        let place = (Some(write.path.clone()), Some(write.line));
        let mut found = Finding { effective: shown, ..on_set("rewritten", set, message) }.at(place);
        match decided {
            Truth::Yes => {}
            Truth::No => continue,
            Truth::Maybe(why) => {
                found.when = Some(case.hangs_on(&why));
                found.level = Level::Note;
            }
        }
        out.push(found);
    }
    out
}

fn assignment_at(ir: &FileIr, line: u32, field: Sym) -> Option<(StmtId, ExprId)> {
    ir.stmts.iter().enumerate().find_map(|(i, stmt)| match &stmt.kind {
        Stmt::Assign { targets, value } if stmt.span.line <= line && line <= stmt.span.end_line => {
            let is_it = targets.iter().any(|t| last_name(ir, *t) == Some(field));
            is_it.then_some((StmtId(i as u32), *value))
        }
        _ => None,
    })
}

/// A check in a worker that surely fails with what it gets.
fn violated(case: &mut Case<'_>, set: &Set, report: &FieldReport) -> Vec<Finding> {
    let mut out = Vec::new();
    let checks: Vec<Constraint> = report
        .constraints
        .iter()
        .filter(|c| matches!(c.kind.as_str(), "assert" | "raise") && !is_resolution(case, &c.path))
        .cloned()
        .collect();
    for check in checks {
        let Some(file) = file_of(case, &check.path) else { continue };
        let ir = case.program.ir(file);
        let Some(stmt) = check_at(ir, check.line) else { continue };
        let fails = match &ir.stmt(stmt).kind {
            Stmt::Assert { test, .. } => case.resolved.machine.truth_at(ExprRef { file, expr: *test }) == Truth::No,
            // The tests around it are all there is; without one it is no check of a value.
            Stmt::Raise(_) => !guards::of_stmt(ir, stmt).is_empty(),
            _ => false,
        };
        if !fails || is_caught(ir, stmt) || happens(case, file, stmt) != Truth::Yes || !is_run(case, file, stmt) {
            continue;
        }
        let text = check.message.clone().unwrap_or_else(|| format!("a worker needs {}", check.condition));
        let value = case.resolved.effective(set.field);
        let (effective, _) = case.shown(&value);
        let message = format!("{text} (a worker stops with {} {effective})", set.used.flag);
        let place = (Some(check.path.clone()), Some(check.line));
        out.push(Finding { effective, ..on_set("constraint-violated", set, message) }.at(place));
    }
    out
}

/// The assertion or error that a claim stands for: at its line, or under a test that begins there.
fn check_at(ir: &FileIr, line: u32) -> Option<StmtId> {
    let is_check = |s: &StmtNode| matches!(s.kind, Stmt::Assert { .. } | Stmt::Raise(_));
    let at = ir.stmts.iter().position(|s| is_check(s) && s.span.line <= line && line <= s.span.end_line);
    at.map(|i| StmtId(i as u32))
}

/// Amounts that every rank takes whole, against what the machine has.
fn memory(case: &mut Case<'_>, sets: &[Set], totals: &Totals) {
    let inactive = |case: &Case<'_>, field: Sym| {
        let without_effect = |c: &str| matches!(c, "inactive" | "dead-field" | "overridden");
        case.findings.iter().any(|f| without_effect(&f.code) && f.field.as_deref() == Some(field.as_str()))
    };
    let live: Vec<_> = totals.iter().filter(|t| !inactive(case, t.field)).cloned().collect();
    for total in &live {
        let Some(set) = sets.iter().find(|s| s.field == total.field) else { continue };
        let processes = total.holders.processes.join(", ");
        let per = if processes.is_empty() { "process".to_owned() } else { format!("{processes} process") };
        let everywhere = match total.holders.everywhere > total.holders.count {
            true => format!(" ({} in all)", total.holders.everywhere),
            false => String::new(),
        };
        let message = format!(
            "{} {} per {per}, {} of them here{everywhere}: {}",
            amount::number(total.value),
            total.unit,
            total.holders.count,
            total.shown,
        );
        let (effective, _) = case.effective(set.field);
        let place = (total.path.clone(), total.line);
        let note = Finding { effective, total: Some(total.shown.clone()), ..on_set("per-rank-total", set, message) };
        case.findings.push(note.at(place));
    }
    let Some(host) = case.host_memory else { return };
    let on_host: Vec<_> = live.iter().filter(|t| t.on_host).collect();
    let sum: f64 = on_host.iter().map(|t| t.bytes).sum();
    if sum <= host as f64 {
        return;
    }
    for total in on_host {
        let Some(set) = sets.iter().find(|s| s.field == total.field) else { continue };
        let has = amount::shown(host as f64, &total.unit);
        let together = if sum > total.bytes {
            format!("; together with others {}", amount::shown(sum, &total.unit))
        } else {
            String::new()
        };
        let message = format!(
            "{} {} per process, {} of them here: {}{together}; the host has {has}",
            amount::number(total.value),
            total.unit,
            total.holders.count,
            total.shown,
        );
        let (effective, _) = case.effective(set.field);
        let found =
            Finding { effective, total: Some(total.shown.clone()), ..on_set("exceeds-host-memory", set, message) };
        case.findings.push(found.at((total.path.clone(), total.line)));
    }
}
