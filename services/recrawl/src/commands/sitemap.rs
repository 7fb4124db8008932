//! `recrawl sitemap FILE|URL`: lists the entries of a sitemap or feed, and its problems.

use crate::commands::SettingsArguments;
use crate::{CommandFailure, one_fetch};
use clap::Args;
use outputs::stdout::{Format, answer, answers};
use sitemaps::{Sitemap, SitemapEntry, SitemapKind};

/// Arguments of `recrawl sitemap`.
#[derive(Args, Debug)]
pub struct SitemapArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// A sitemap, index, feed or list, gzipped or not: a file ("-" is stdin) or a URL.
    #[arg(value_name = "FILE|URL")]
    source: String,
    /// Prints the addresses alone, one per line, as `recrawl seed --file -` takes them.
    #[arg(long)]
    urls: bool,
}

/// Lists the entries of a sitemap. Exit status 1 if the file is not a sitemap.
pub fn sitemap(arguments: &SitemapArguments, format: Format) -> Result<(), CommandFailure> {
    let settings = arguments.settings.load(&[])?;
    let given = one_fetch::file_or_address(&settings, &arguments.source)?;
    let sitemap = sitemaps::read_at(&given.bytes, given.url.as_ref());
    match arguments.urls {
        true => {
            let urls: Vec<&str> = sitemap.entries.iter().map(|entry| entry.url.as_str()).collect();
            answers(format, &urls, |url| (*url).to_owned())?;
        }
        false => answer(format, &sitemap, text)?,
    }
    if arguments.urls && sitemap.kind == Some(SitemapKind::Index) {
        eprintln!(
            "recrawl: {} lists sitemaps, not pages; list the pages of all with: recrawl sitemap {0} --urls | xargs -n 1 recrawl sitemap --urls",
            arguments.source
        );
    }
    match sitemap.kind {
        Some(_) => Ok(()),
        None => Err(CommandFailure::No(format!("{} is neither a sitemap nor a feed", arguments.source))),
    }
}

fn text(sitemap: &Sitemap) -> String {
    let line = |entry: &SitemapEntry| {
        let date = entry.last_modified.as_deref().unwrap_or("-");
        let frequency = entry.change_frequency.as_deref().unwrap_or("-");
        let priority = entry.priority.map_or("-".to_owned(), |priority| priority.to_string());
        format!("{date:<20}  {frequency:<8}{priority:<5}{}", entry.url)
    };
    let mut lines: Vec<_> = sitemap.entries.iter().map(line).collect();
    lines.extend(sitemap.problems.iter().map(|problem| format!("problem: {problem}")));
    if sitemap.further_problems > 0 {
        lines.push(format!("and {} more problems", sitemap.further_problems));
    }
    lines.join("\n")
}
