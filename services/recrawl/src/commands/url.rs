//! `recrawl url URL…`: shows how recrawl identifies a URL: canonical form, page id, host and site.

use crate::CommandFailure;
use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use ::page::{CanonicalUrl, UrlRules, whatwg_href};
use clap::Args;
use outputs::stdout::{Format, answer, answers};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Arguments of `recrawl url`.
#[derive(Args, Debug)]
pub struct UrlArguments {
    /// URLs to analyse.
    #[arg(required_unless_present = "batch")]
    urls: Vec<String>,
    /// Base of relative URLs.
    #[arg(long)]
    base: Option<String>,
    /// Questions, one {"url":…, "base":…} per line; "-" is stdin.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["urls", "base"])]
    batch: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Deserialize)]
struct UrlQuery {
    url: String,
    base: Option<String>,
}

/// The parts of a URL, or why it cannot be crawled.
#[derive(Debug, Default, Serialize)]
struct UrlOutput {
    url: String,
    /// The URL as parsed by the WHATWG standard, before our normalisation. Absent if it does not parse.
    parsed: Option<String>,
    canonical: Option<String>,
    host: Option<String>,
    site_key: Option<String>,
    page_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Analyses URLs. Exit status 1 if one of them cannot be crawled.
pub fn url(arguments: &UrlArguments, format: Format) -> Result<(), CommandFailure> {
    let rules = arguments.settings.load(&[])?.urls.rules();
    if let Some(file) = &arguments.batch {
        return answer_lines(file, |UrlQuery { url, base }| Ok(address(url, base.as_deref(), &rules)));
    }
    let base = arguments.base.as_deref();
    let addresses: Vec<_> = arguments.urls.iter().map(|url| address(url.clone(), base, &rules)).collect();
    match addresses.as_slice() {
        [one] => answer(format, one, text)?,
        all => answers(format, all, text)?,
    }
    match addresses.iter().find_map(|address| Some((&address.url, address.error.as_ref()?))) {
        Some((url, error)) => Err(CommandFailure::No(format!("{url}: {error}"))),
        None => Ok(()),
    }
}

fn address(text: String, base: Option<&str>, rules: &UrlRules) -> UrlOutput {
    if let Some(Err(error)) = base.map(|base| whatwg_href(base, None)) {
        let error = Some(format!("base: {error}"));
        return UrlOutput { url: text, error, ..UrlOutput::default() };
    }
    let parsed = whatwg_href(&text, base);
    let canonical = parsed.as_deref().map_err(Clone::clone).and_then(CanonicalUrl::parse);
    let whatwg = parsed.ok();
    match canonical.map(|url| rules.apply(url)) {
        Ok(canonical) => UrlOutput {
            url: text,
            parsed: whatwg,
            host: Some(canonical.host().to_string()),
            site_key: Some(canonical.site_key().to_string()),
            page_id: Some(canonical.page_id().to_string()),
            canonical: Some(canonical.to_string()),
            error: None,
        },
        Err(error) => UrlOutput { url: text, parsed: whatwg, error: Some(error.to_string()), ..UrlOutput::default() },
    }
}

fn text(address: &UrlOutput) -> String {
    let field = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name:<13}{value}"));
    let fields = [
        Some(address.url.clone()),
        field("  canonical", &address.canonical),
        field("  host", &address.host),
        field("  site_key", &address.site_key),
        field("  page_id", &address.page_id),
        field("  error", &address.error),
    ];
    fields.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_or_refused_with_what_the_standard_makes_of_it() {
        let address = |text, base| address(text, base, &settings::Settings::default().urls.rules());
        let one = address("../b?x#f".to_owned(), Some("https://u:p@WWW.example.co.uk:443/a/c"));
        assert_eq!(one.parsed.as_deref(), Some("https://u:p@www.example.co.uk/b?x#f"));
        assert_eq!(one.canonical.as_deref(), Some("https://www.example.co.uk/b?x"));
        assert_eq!(one.host.as_deref(), Some("www.example.co.uk"));
        assert_eq!(one.site_key.as_deref(), Some("example.co.uk"));
        assert!(one.page_id.is_some_and(|id| id.len() == 32) && one.error.is_none());

        let mail = address("mailto:a@b".to_owned(), None);
        assert_eq!(mail.parsed.as_deref(), Some("mailto:a@b"));
        assert!(mail.canonical.is_none() && mail.error.is_some_and(|error| error.contains("mailto")));
        let bad = address("https://".to_owned(), None);
        assert!(bad.parsed.is_none() && bad.error.is_some());
        assert!(address("x".to_owned(), Some("nowhere")).error.is_some_and(|error| error.contains("base")));
    }
}
