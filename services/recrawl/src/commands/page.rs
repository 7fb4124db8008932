//! `recrawl page URL`: everything kept about one page.

use crate::Failure;
use crate::commands::SettingsArguments;
use crate::inspect::{Inspection, PageReport};
use crate::output::{Format, answer};
use clap::Args;
use page::CanonicalUrl;
use std::path::PathBuf;

/// Arguments of `recrawl page`.
#[derive(Args, Debug)]
pub struct PageArguments {
    /// The page's address.
    url: String,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
}

/// Shows a page.
pub fn page(arguments: &PageArguments, format: Format) -> Result<(), Failure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let Some(data) = &settings.crawl.data else {
        return Err(Failure::Input("which crawl? give --data DIR".to_owned()));
    };
    let url =
        CanonicalUrl::parse(&arguments.url).map_err(|error| Failure::Input(format!("{}: {error}", arguments.url)))?;
    match Inspection::open(&settings, data)?.page(&url)? {
        Some(report) => answer(format, &report, text),
        None => Err(Failure::No(format!("{url} is not known here; recrawl seed adds it"))),
    }
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
