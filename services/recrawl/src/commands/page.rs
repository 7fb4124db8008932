//! `recrawl page URL`: everything kept about one page, or its text.

use crate::Failure;
use crate::commands::{OnePageArguments, not_known};
use crate::inspect::PageReport;
use crate::output::{Format, answer, print};
use clap::Args;

/// Arguments of `recrawl page`.
#[derive(Args, Debug)]
pub struct PageArguments {
    #[command(flatten)]
    page: OnePageArguments,
    /// Gives the text of the kept copy instead: what a reader saw of the last accepted version, its first 32 KiB.
    #[arg(long)]
    text: bool,
}

/// Shows a page.
pub fn page(arguments: &PageArguments, format: Format) -> Result<(), Failure> {
    let (url, _, inspection) = arguments.page.open()?;
    if arguments.text {
        let missing = || Failure::No(format!("no text of {url} is kept; has it been fetched, and does it have one?"));
        return print(inspection.text(&url)?.ok_or_else(missing)?.trim_end());
    }
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
