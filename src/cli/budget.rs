//! `argtrace budget FIELD [SOURCE] [VALUE]`: the largest value that a machine can bear, or what a value costs.

use clap::Args;

use super::Options;
use super::console::{Console, USUAL_WIDTH};
use super::exit::{Exit, UsageError};
use super::launching::{self, Assignment};
use super::output::Format;
use super::selection::Selection;
use super::session::{Backend, Launching, Session};
use crate::launch::amount;
use crate::launch::audit::Question;
use crate::launch::budget::{self, BudgetError, Machine};
use crate::render::budget::text;
use crate::render::json::json;
use crate::source::Naming;

/// Say the largest safe value for a machine, or what a value costs
#[derive(Args, Debug)]
#[command(override_usage = "argtrace budget [OPTIONS] --host-memory SIZE FIELD [SOURCE] [VALUE]")]
pub struct BudgetCommand {
    /// A field that ends in memory, by name, flag or alias; then the SOURCE as for a report; then a value to check
    #[arg(value_name = "FIELD", required = true, num_args = 1..=3)]
    pub operands: Vec<String>,

    /// The memory of one machine, such as 449GB or 512GiB
    #[arg(long, value_name = "SIZE")]
    pub host_memory: String,

    /// What the rest of the machine needs
    #[arg(long, value_name = "SIZE", default_value = "0GB")]
    pub reserve: String,

    /// What is to stay free
    #[arg(long, value_name = "SIZE", default_value = "0GB")]
    pub margin: String,

    /// A server argument of the launch, such as tp_size=8; may be repeated
    #[arg(long = "set", value_name = "FIELD=VALUE", action = clap::ArgAction::Append)]
    pub sets: Vec<Assignment>,
}

/// The operands, told apart.
struct Asked<'a> {
    field: &'a str,
    source: Option<&'a str>,
    value: Option<&'a str>,
}

impl BudgetCommand {
    /// # Errors
    /// If a size has no unit, the source cannot be read, the field has no budget, or the output cannot be written.
    pub fn run<B: Backend + Launching>(
        &self,
        options: &Options,
        backend: &B,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Exit> {
        let machine = self.machine()?;
        let asked = self.asked(backend)?;
        let opened = launching::open(backend, asked.source, console)?;
        let selection = Selection::new(opened.field_names(), opened.aliases());
        let field = launching::one(&selection, asked.field, &opened)?;
        let sets = launching::sets(&opened, &self.sets)?;
        let Some(analysis) = opened.analysis() else { return Ok(Exit::Clean) };
        let budget = console.while_showing(&format!("following {field}"), |_| {
            let reports = |fields: &[String]| opened.report(fields, &|_| ()).fields;
            let unread = |_: &str| Err(String::from("no file is read"));
            let question =
                Question { analysis, reports: &reports, read: &unread, facts: &[], sets: &sets, all: options.verbose };
            budget::budget(&question, &field, machine, asked.value)
        });
        console.remarks(&opened.notes());
        let budget = budget.map_err(refused)?;
        let width = |width: Option<usize>| width.unwrap_or(USUAL_WIDTH);
        options.output.deliver(
            console,
            &[(Format::Text, &|w| Ok(text(&budget, width(w)))), (Format::Json, &|_| Ok(json(&budget)?))],
        )?;
        Ok(if budget.fits == Some(false) { Exit::Findings } else { Exit::Clean })
    }

    fn machine(&self) -> Result<Machine, UsageError> {
        let size = |option: &str, text: &str| {
            amount::bytes(text).ok_or_else(|| {
                let hint = format!("write {option} {}GB or {0}GiB", number_of(text));
                UsageError::new(format!("{option} {text} is no amount of memory with its unit"), hint)
            })
        };
        Ok(Machine {
            host_memory: size("--host-memory", &self.host_memory)?,
            reserve: size("--reserve", &self.reserve)?,
            margin: size("--margin", &self.margin)?,
        })
    }

    fn asked(&self, backend: &dyn Backend) -> Result<Asked<'_>, UsageError> {
        let mut asked = Asked { field: "", source: None, value: None };
        let (mut field, mut others) = (None, Vec::new());
        for operand in &self.operands {
            match operand {
                text if asked.value.is_none() && is_amount(text) => asked.value = Some(text),
                text if !text.starts_with('-') && backend.naming(text) != Naming::Word => asked.source = Some(text),
                text if field.is_none() => field = Some(text.as_str()),
                text => others.push(text.as_str()),
            }
        }
        asked.source = asked.source.or(others.pop());
        asked.field = field.ok_or_else(|| UsageError::new("no field is named", "name one that ends in memory"))?;
        match others.is_empty() {
            true => Ok(asked),
            false => Err(UsageError::new("two fields are named", "a budget is for one")),
        }
    }
}

/// `40`, `40GB`.
fn is_amount(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite) || amount::bytes(text).is_some()
}

fn number_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    if end == 0 { "445" } else { &text[..end] }
}

fn refused(error: BudgetError) -> UsageError {
    let hint = match &error {
        BudgetError::NoField(_) => "argtrace fields lists all",
        BudgetError::NoAmount { .. } => "argtrace FIELD says what the field is",
        BudgetError::NothingLeft => "give a smaller --reserve or --margin",
        BudgetError::NoNumber(_) => "give a number in the field's own unit, or one with a unit",
    };
    UsageError::new(error.to_string(), hint)
}
