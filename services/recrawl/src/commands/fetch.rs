//! `recrawl fetch URL`: fetches one page politely and prints the details.

use crate::commands::SettingsArguments;
use crate::{CommandFailure, one_fetch};
use ::page::CanonicalUrl;
use clap::Args;
use messages::{FetchOutcome, FetchResult};
use outputs::stdout::{Format, answer, print_bytes, word};
use politeness::RobotsCacheEntry;
use serde::Serialize;
use settings::Settings;
use std::path::PathBuf;

/// Arguments of `recrawl fetch`.
#[derive(Args, Debug)]
pub struct FetchArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// URL of the page.
    url: String,
    /// File for the body. With "-" the body goes to stdout instead of the answer.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct FetchOutput {
    outcome: FetchOutcome,
    status: Option<u16>,
    /// The final URL, after redirects.
    url: String,
    requested_url: String,
    hops: Vec<HopOutput>,
    robots: Option<RobotsAnswer>,
    validators: ValidatorsOutput,
    content_type: Option<String>,
    charset: Option<String>,
    timings_ms: Timings,
    bytes: Bytes,
    truncated: bool,
    content_digest: Option<String>,
    retry_after_s: Option<i64>,
    detail: Option<String>,
}

#[derive(Debug, Serialize)]
struct HopOutput {
    url: String,
    status: u16,
}

/// The verdict of the last host's robots.txt on the URL.
#[derive(Debug, Serialize)]
struct RobotsAnswer {
    allowed: bool,
    rule: Option<String>,
    line: Option<usize>,
    crawl_delay_s: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ValidatorsOutput {
    etag: Option<String>,
    last_modified: Option<String>,
}

#[derive(Debug, Serialize)]
struct Timings {
    /// Time from the request to the end of the response.
    total: i32,
}

#[derive(Debug, Serialize)]
struct Bytes {
    wire: i64,
    decoded: i64,
}

/// Fetches a page. Exit status 1 if there is no page.
pub fn fetch(arguments: &FetchArguments, format: Format) -> Result<(), CommandFailure> {
    let settings = arguments.settings.load(&[])?;
    let url = CanonicalUrl::parse(&arguments.url)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}", arguments.url)))?;
    let (result, robots) = one_fetch::page(&settings, &url)?;
    let bytes = one_fetch::unpacked_body(&settings, &result)?;
    let fetched = describe(&settings, &result, robots.as_ref(), bytes.as_deref());
    match (&arguments.body, &bytes) {
        (Some(file), Some(bytes)) if file.as_os_str() == "-" => {
            print_bytes(bytes)?;
        }
        (Some(file), Some(bytes)) => {
            std::fs::write(file, bytes)
                .map_err(|error| CommandFailure::Input(format!("{}: {error}", file.display())))?;
            answer(format, &fetched, text)?;
        }
        _ => answer(format, &fetched, text)?,
    }
    if result.look.outcome == FetchOutcome::Fetched {
        return Ok(());
    }
    let why = result.detail.clone().or_else(|| result.look.status.map(|status| format!("status {status}")));
    Err(CommandFailure::No(format!("{url}: {}", why.unwrap_or_else(|| format!("{:?}", result.look.outcome)))))
}

fn describe(
    settings: &Settings,
    result: &FetchResult,
    robots: Option<&RobotsCacheEntry>,
    bytes: Option<&[u8]>,
) -> FetchOutput {
    let url = result.look.answered_by();
    let robots = robots.map(|entry| {
        let verdict = entry.check(settings.crawl.product_token(), url.path_and_query());
        RobotsAnswer {
            allowed: verdict.allowed,
            rule: verdict.rule.map(str::to_owned),
            line: verdict.line,
            crawl_delay_s: result.look.robots_crawl_delay_ms.map(|delay| delay as f64 / 1e3),
        }
    });
    let charset = bytes.map(|bytes| document::decode(bytes, result.content_type.as_deref()).charset.to_owned());
    FetchOutput {
        outcome: result.look.outcome,
        status: result.look.status,
        url: url.to_string(),
        requested_url: result.look.url.to_string(),
        hops: result.hops.iter().map(|hop| HopOutput { url: hop.url.clone(), status: hop.status }).collect(),
        robots,
        validators: ValidatorsOutput {
            etag: result.look.validators.etag.clone(),
            last_modified: result.look.validators.last_modified.clone(),
        },
        content_type: result.content_type.clone(),
        charset,
        timings_ms: Timings { total: result.look.latency_ms },
        bytes: Bytes { wire: result.look.wire_bytes, decoded: result.look.body_length },
        truncated: result.truncated,
        content_digest: result.look.validators.content_digest.map(|digest| digest.to_string()),
        retry_after_s: result.look.retry_after_s,
        detail: result.detail.clone(),
    }
}

fn text(fetched: &FetchOutput) -> String {
    let outcome = word(&fetched.outcome);
    let status = fetched.status.map(|status| format!(" ({status})")).unwrap_or_default();
    let mut lines = vec![format!("{outcome}{status}  {}", fetched.url)];
    lines.extend(fetched.hops.iter().map(|hop| format!("  redirected by  {} ({})", hop.url, hop.status)));
    let mut line = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("  {name:<15}{value}")));
    };
    line("detail", fetched.detail.clone());
    line("type", fetched.content_type.clone());
    line("charset", fetched.charset.clone());
    line("bytes", Some(format!("{} on the wire, {} decoded", fetched.bytes.wire, fetched.bytes.decoded)));
    line("took", Some(format!("{} ms", fetched.timings_ms.total)));
    line("etag", fetched.validators.etag.clone());
    line("last modified", fetched.validators.last_modified.clone());
    line("digest", fetched.content_digest.clone());
    line(
        "crawl delay",
        fetched.robots.as_ref().and_then(|robots| robots.crawl_delay_s).map(|delay| format!("{delay} s")),
    );
    lines.join("\n")
}
