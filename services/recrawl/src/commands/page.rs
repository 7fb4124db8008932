//! `recrawl page URL`: everything kept about one page.

use crate::Failure;
use crate::commands::{OnePageArguments, not_known};
use crate::inspect::PageReport;
use crate::output::{Format, answer};

/// Shows a page.
pub fn page(arguments: &OnePageArguments, format: Format) -> Result<(), Failure> {
    let (url, _, inspection) = arguments.open()?;
    let report = inspection.page(&url)?.ok_or_else(|| not_known(&url))?;
    answer(format, &report, text)
}

fn text(report: &PageReport) -> String {
    // The JSON form has every field with its name; for people the same, one a line.
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(report) else { return String::new() };
    let line = |(name, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(format!("{name:<26}{text}")),
        other => Some(format!("{name:<26}{other}")),
    };
    fields.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}
