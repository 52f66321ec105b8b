//! An analysis that was written by hand, for tests of commands.

use argtrace::cli::session::{Backend, Session};
use argtrace::meaning::Begin;
use argtrace::meaning::list::FieldList;
use argtrace::meaning::report::Report;
use argtrace::source::Naming;

/// A tree of two fields.
pub struct ByHand;

impl Backend for ByHand {
    fn naming(&self, operand: &str) -> Naming {
        match operand {
            "folder" | "hicache_ratio" => Naming::Package,
            "LICENSE" => Naming::Path,
            _ if operand.contains('/') => Naming::Source,
            _ => Naming::Word,
        }
    }

    fn open(&self, source: Option<&str>, _: &dyn Fn(&str)) -> anyhow::Result<Box<dyn Session>> {
        match source {
            Some("/broken") => anyhow::bail!("opening /broken: \u{202e}it is\nno source"),
            _ => Ok(Box::new(ByHand)),
        }
    }
}

impl Session for ByHand {
    fn source(&self) -> String {
        "sglang 0.5.9 (checkout at /src)".into()
    }

    fn field_names(&self) -> Vec<String> {
        ["hicache_size", "hicache_ratio"].map(String::from).to_vec()
    }

    fn aliases(&self) -> Vec<(String, String)> {
        vec![("--hicache-size".into(), "hicache_size".into())]
    }

    fn sections(&self) -> Vec<(String, Option<String>)> {
        self.field_names().into_iter().map(|field| (field, Some("Hierarchical cache".into()))).collect()
    }

    fn list(&self, fields: &[String], begin: Begin) -> FieldList {
        let Report { source, fields, .. } = self.report(fields, begin);
        FieldList { schema: "argtrace/fields/1".into(), source, fields: fields.into_iter().map(Into::into).collect() }
    }

    fn report(&self, fields: &[String], _: Begin) -> Report {
        let mut report: Report = serde_json::from_str(include_str!("../reports/hicache_size.json")).unwrap();
        report.fields = fields.iter().flat_map(|_| report.fields.clone()).collect();
        report
    }

    fn text(&self, _: &str) -> Option<String> {
        None
    }

    fn notes(&self) -> Vec<String> {
        (0..8).map(|i| format!("skipped bad{i}.py")).collect()
    }
}
