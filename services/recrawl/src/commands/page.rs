//! `recrawl page URL`: prints everything stored about one page, or its stored copy.

use crate::CommandFailure;
use crate::commands::OnePageArguments;
use crate::documents;
use crate::kept_copy::unpacked;
use clap::Args;
use messages::{CopyKind, PageContent};
use operate::PageReport;
use operate::state::CrawlState;
use outputs::stdout::{Format, answer, print, print_bytes};
use page::CanonicalUrl;
use stream::partitioner::partition_for;

/// Arguments of `recrawl page`.
#[derive(Args, Debug)]
pub struct PageArguments {
    #[command(flatten)]
    page: OnePageArguments,
    /// Prints the text of the stored copy instead: the visible text of the last accepted version.
    #[arg(long)]
    text: bool,
    /// Prints the stored copy as received instead, if `detector.contents` is "body".
    #[arg(long, conflicts_with = "text")]
    body: bool,
    /// With --text or --body: the version with this number in `recrawl history`.
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
}

pub fn page(arguments: &PageArguments, format: Format) -> Result<(), CommandFailure> {
    let (url, state) = arguments.page.open()?;
    if arguments.text || arguments.body {
        let kept = match arguments.version {
            Some(number) => kept_version(&*state, &url, number)?,
            None => state.copy(&url)?.ok_or_else(|| {
                CommandFailure::No(format!(
                    "there is no stored copy of {url}; it was not fetched yet, detector.contents is \"none\", or there was no room \
                     (detector.max_contents)"
                ))
            })?,
        };
        let content = unpacked(&kept, usize::MAX)?;
        return match kept.kind {
            CopyKind::Text if arguments.body => Err(CommandFailure::No(format!(
                "only the text of {url} is stored; set detector.contents = \"body\" to store the bytes of later \
                 versions"
            ))),
            CopyKind::Body if arguments.text => {
                print(documents::text(&content, kept.content_type.as_deref(), Some(url.as_str())).text.trim_end())
            }
            CopyKind::Text => print(String::from_utf8_lossy(&content).trim_end()),
            CopyKind::Body => print_bytes(&content),
        };
    }
    if arguments.version.is_some() {
        return Err(CommandFailure::Input("--version needs --text or --body".to_owned()));
    }
    let partition = partition_for(url.site_key().as_str().as_bytes(), state.partitions().max(1));
    answer(format, &PageReport::new(&url, partition, state.page(&url)?)?, text)
}

/// The copy of a version of a page.
pub(super) fn kept_version(
    state: &dyn CrawlState,
    url: &CanonicalUrl,
    number: u32,
) -> Result<PageContent, CommandFailure> {
    let missing = || format!("no version {number} of {url} is kept; recrawl history {url} lists those that are");
    state.version(url, number)?.ok_or_else(|| CommandFailure::No(missing()))
}

fn text(report: &PageReport) -> String {
    // Print the fields of the JSON form, one per line.
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(report) else { return String::new() };
    let line = |(name, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(format!("{name:<26}{text}")),
        serde_json::Value::Array(items) if items.is_empty() => None,
        other => Some(format!("{name:<26}{other}")),
    };
    fields.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}
