//! `recrawl history URL`: the versions of a page that are kept.

use crate::CommandFailure;
use crate::commands::OnePageArguments;
use clap::Args;
use detector::VersionFacts;
use messages::word;
use operate::not_known;
use operate::state::CrawlState;
use outputs::stdout::{Format, answer, answers};
use page::CanonicalUrl;

/// Arguments of `recrawl history`.
#[derive(Args, Debug)]
pub struct HistoryArguments {
    #[command(flatten)]
    page: OnePageArguments,
}

pub fn history(arguments: &HistoryArguments, format: Format) -> Result<(), CommandFailure> {
    let (url, state) = arguments.page.open()?;
    let versions = kept_versions(&*state, &url)?;
    match format {
        Format::Text => answer(format, &versions, |versions| text(versions)),
        Format::Json | Format::Jsonl => answers(format, &versions, |_| String::new()),
    }
}

/// The kept versions of a page, the oldest first. One at least.
pub(super) fn kept_versions(state: &dyn CrawlState, url: &CanonicalUrl) -> Result<Vec<VersionFacts>, CommandFailure> {
    let versions = state.history(url)?;
    if !versions.is_empty() {
        return Ok(versions);
    }
    let parts = state.page(url)?;
    Err(match parts.page {
        None => not_known(url, parts.forgotten),
        Some(_) => CommandFailure::No(format!(
            "no version of {url} is kept; it was not fetched yet or is gone, detector.contents is \"none\", or there was no room \
             (detector.max_contents)"
        )),
    })
}

fn text(versions: &[VersionFacts]) -> String {
    let (first, last) = ("first seen", "last seen");
    let mut lines =
        vec![format!("version {first:<27} {last:<27} {:>6} {:<9} {:>9}  title", "looks", "came as", "bytes")];
    lines.extend(versions.iter().map(|version| {
        let VersionFacts { number, seen_at, last_seen_at, looks, length, .. } = version;
        let (verdict, title) = (word(&version.verdict), version.title.as_deref().unwrap_or(""));
        let (seen_at, last_seen_at) = (seen_at.to_string(), last_seen_at.to_string());
        format!("{number:>7} {seen_at:<27} {last_seen_at:<27} {looks:>6} {verdict:<9} {length:>9}  {title}")
            .trim_end()
            .to_owned()
    }));
    if versions.last().is_some_and(|version| !version.is_last) {
        lines.push("the page is gone, or its last version is not kept".to_owned());
    }
    lines.join("\n")
}
