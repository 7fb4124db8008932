//! `recrawl text FILE|URL`: reads a page: main text, title, links and the rest.

use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use crate::{CommandFailure, documents, one_fetch};
use clap::Args;
use outputs::stdout::{Format, answer};
use reading::PageReading;
use serde::Deserialize;
use std::path::PathBuf;

/// Arguments of `recrawl text`.
#[derive(Args, Debug)]
pub struct TextArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// A page: a file ("-" is stdin) or a URL.
    #[arg(value_name = "FILE|URL", required_unless_present = "batch")]
    source: Option<String>,
    /// URL that a file was fetched from, the base of its links.
    #[arg(long)]
    url: Option<String>,
    /// Content-Type that a file was sent with.
    #[arg(long)]
    content_type: Option<String>,
    /// Questions, one {"file":…, "url":…, "content_type":…} per line; "-" is stdin.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["source", "url", "content_type"])]
    batch: Option<PathBuf>,
}

#[derive(Deserialize)]
struct TextQuery {
    file: PathBuf,
    url: Option<String>,
    content_type: Option<String>,
}

pub fn text(arguments: &TextArguments, format: Format) -> Result<(), CommandFailure> {
    if let Some(file) = &arguments.batch {
        return answer_lines(file, |TextQuery { file, url, content_type }| {
            let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            Ok(documents::read(&bytes, content_type.as_deref(), url.as_deref()))
        });
    }
    let settings = arguments.settings.load(&[])?;
    let given = one_fetch::file_or_address(&settings, arguments.source.as_deref().unwrap_or_default())?;
    let url = arguments.url.clone().or_else(|| given.url.as_ref().map(ToString::to_string));
    let content_type = arguments.content_type.as_ref().or(given.content_type.as_ref());
    let reading = documents::read(&given.bytes, content_type.map(String::as_str), url.as_deref());
    answer(format, &reading, for_people)
}

/// Title and main text.
fn for_people(reading: &PageReading) -> String {
    format!("{}\n\n{}", reading.title, reading.text)
}
