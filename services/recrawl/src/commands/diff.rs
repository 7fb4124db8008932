//! `recrawl diff OLD NEW`: what a reader would notice between two versions of a page.

use crate::CommandFailure;
use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use crate::one_fetch::{Given, file_or_address};
use crate::output::{Format, answer, word};
use change::{Diff, Version, diff as compare};
use clap::Args;
use page::UrlRules;
use serde::Deserialize;
use std::path::PathBuf;

/// Arguments of `recrawl diff`.
#[derive(Args, Debug)]
pub struct DiffArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// The older version: a file ("-" is stdin) or a URL.
    #[arg(required_unless_present = "batch")]
    old: Option<String>,
    /// The newer version.
    #[arg(required_unless_present = "batch")]
    new: Option<String>,
    /// URL of the page, the base of its links.
    #[arg(long)]
    url: Option<String>,
    /// Content-Type of both versions.
    #[arg(long)]
    content_type: Option<String>,
    /// Questions, one {"old":…, "new":…, "url":…, "content_type":…} per line; "-" is stdin.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["old", "new", "url", "content_type"])]
    batch: Option<PathBuf>,
}

#[derive(Deserialize)]
struct DiffQuery {
    old: PathBuf,
    new: PathBuf,
    url: Option<String>,
    content_type: Option<String>,
}

/// Compares two versions.
pub fn diff(arguments: &DiffArguments, format: Format) -> Result<(), CommandFailure> {
    let settings = arguments.settings.load(&[])?;
    let urls = settings.urls.rules();
    if let Some(file) = &arguments.batch {
        return answer_lines(file, |question| answer_one(question, &urls));
    }
    let given = |source: &Option<String>| file_or_address(&settings, source.as_deref().unwrap_or_default());
    let (old, new) = (given(&arguments.old)?, given(&arguments.new)?);
    let version = |given: &Given| {
        let url = arguments.url.clone().or_else(|| given.url.as_ref().map(ToString::to_string));
        let content_type = arguments.content_type.as_ref().or(given.content_type.as_ref());
        Version::new(&given.bytes, content_type.map(String::as_str), url.as_deref(), &urls)
    };
    answer(format, &compare(&version(&old), &version(&new)), text)
}

fn answer_one(question: DiffQuery, urls: &UrlRules) -> Result<Diff, String> {
    let DiffQuery { old, new, url, content_type } = question;
    let version = |file: PathBuf| {
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok::<_, String>(Version::new(&bytes, content_type.as_deref(), url.as_deref(), urls))
    };
    Ok(compare(&version(old)?, &version(new)?))
}

fn text(diff: &Diff) -> String {
    let mut lines = vec![format!("{}, magnitude {:.3}", word(&diff.verdict), diff.magnitude)];
    let parts =
        [("- ", &diff.removed), ("+ ", &diff.added), ("- link ", &diff.links_removed), ("+ link ", &diff.links_added)];
    for (mark, passages) in parts {
        lines.extend(passages.iter().map(|passage| format!("{mark}{passage}")));
    }
    lines.join("\n")
}
