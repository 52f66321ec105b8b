//! Writes a budget for a terminal: the answer, the sum that leads to it, and what the code itself would check.

use anstyle::{AnsiColor, Style};

use super::summary;
use super::untrusted::{inert, without_log_commands};
use super::wrap::{Span, lay};
use crate::launch::document::{Budget, BudgetCheck};

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const CODE: Style = AnsiColor::Cyan.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

const LABEL: usize = 11;

pub fn text(budget: &Budget, width: usize) -> String {
    let mut out = String::new();
    lay(&mut out, &[], 0, &[Span::new(inert(&summary::source(&budget.source)), FAINT)], width);
    let unit = &budget.unit;
    let answer = match (&budget.value, budget.fits) {
        (Some(value), Some(true)) => Span::new(format!("{value} {unit} fits"), STRONG),
        (Some(value), _) => Span::new(format!("{value} {unit} does not fit"), BAD),
        (None, _) => Span::new(format!("at most {} {unit}", budget.largest), STRONG),
    };
    let spans = [Span::new(inert(&budget.field), STRONG), Span::new(": ", PLAIN), answer];
    lay(&mut out, &[], 2, &spans, width);
    let mut row = |label: &str, text: &str| {
        let first = [Span::new(format!("  {label:LABEL$}"), FAINT)];
        lay(&mut out, &first, 2 + LABEL, &[Span::new(inert(text), PLAIN)], width);
    };
    row("formula", &budget.formula);
    row("total", &format!("{} of {} available", budget.total, budget.available));
    if budget.value.is_some() {
        row("largest", &format!("{} {unit}", budget.largest));
    }
    row("free", &format!("{} reserved, {} margin", budget.reserve, budget.margin));
    row("holders", &budget.holders.why);
    match budget.pools {
        Some(1) => {}
        Some(pools) => row("pools", &format!("one process allocates it {pools} times, out of the same amount")),
        None => row("pools", "how often one process allocates it hangs on the model"),
    }
    budget.checks.iter().for_each(|check| of_check(&mut out, check, width));
    without_log_commands(out)
}

fn of_check(out: &mut String, check: &BudgetCheck, width: usize) {
    let first = [Span::new(format!("  {:LABEL$}", check.kind), FAINT)];
    let trips = match check.trips {
        Some(true) => Span::new("trips: ", BAD),
        Some(false) => Span::new("passes: ", PLAIN),
        None => Span::new("", PLAIN),
    };
    let mut spans = vec![trips, Span::new(inert(&check.condition), CODE)];
    spans.extend(check.message.as_ref().map(|message| Span::new(format!("  {}", inert(message)), PLAIN)));
    spans.push(Span::whole(format!("  {}:{}", inert(&check.path), check.line), FAINT));
    lay(out, &first, 2 + LABEL, &spans, width);
}
