//! Fetches one page or robots.txt politely, for the tools.

use crate::CommandFailure;
use daemon::WebClock;
use messages::{FetchReason, FetchRequest, FetchResult, body};
use page::CanonicalUrl;
use politeness::{RobotsCacheEntry, RobotsFile};
use settings::Settings;
use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;
use stream::Clock;

/// Fetches a page once with the loop's rules: robots.txt, private addresses, limits on time and size.
pub fn page(
    settings: &Settings,
    url: &CanonicalUrl,
) -> Result<(FetchResult, Option<RobotsCacheEntry>), CommandFailure> {
    let clock: Arc<dyn Clock> = Arc::new(WebClock::new(&settings.clock));
    let request = FetchRequest { reason: FetchReason::Command, ..FetchRequest::first(url.clone(), clock.now()) };
    Ok(fetcher::fetch_one(request, rules(settings)?, &clock)?)
}

/// Input of a tool.
pub struct Given {
    /// Content of the file or page.
    pub bytes: Vec<u8>,
    /// URL they were fetched from, after redirects. `None` for a file.
    pub url: Option<CanonicalUrl>,
    /// Content-Type of the response. `None` for a file.
    pub content_type: Option<String>,
}

/// The address that an argument gives.
pub fn parsed(address: &str) -> Result<CanonicalUrl, CommandFailure> {
    CanonicalUrl::parse(address).map_err(|error| CommandFailure::Input(format!("{address}: {error}")))
}

/// Whether an argument is a URL rather than a file name.
pub fn is_address(argument: &str) -> bool {
    argument.starts_with("http://") || argument.starts_with("https://")
}

/// Reads a file ("-" is stdin), or fetches a URL.
pub fn file_or_address(settings: &Settings, argument: &str) -> Result<Given, CommandFailure> {
    let mut bytes = Vec::new();
    if argument == "-" {
        std::io::stdin().read_to_end(&mut bytes)?;
        return Ok(Given { bytes, url: None, content_type: None });
    }
    if !is_address(argument) {
        let bytes = std::fs::read(argument)
            .map_err(|error| CommandFailure::Input(format!("{argument}: {error}; give a file or a URL")))?;
        return Ok(Given { bytes, url: None, content_type: None });
    }
    let url = parsed(argument)?;
    let (result, _) = page(settings, &url)?;
    let Some(bytes) = unpacked_body(settings, &result)? else {
        let why = result.detail.or_else(|| result.look.status.map(|status| format!("status {status}")));
        return Err(CommandFailure::World(format!("{argument}: {}", why.unwrap_or_else(|| "no page".to_owned()))));
    };
    Ok(Given { bytes, url: Some(result.look.final_url.unwrap_or(url)), content_type: result.content_type })
}

/// The unpacked body of a result, if it has one.
pub fn unpacked_body(settings: &Settings, result: &FetchResult) -> Result<Option<Vec<u8>>, CommandFailure> {
    let most = usize::try_from(settings.fetch.max_body).unwrap_or(usize::MAX);
    let bytes = result.body.as_deref().map(|packed| body::unpack(packed, most).map(Cow::into_owned)).transpose();
    bytes.map_err(|error| CommandFailure::World(error.to_string()))
}

/// Fetches the robots.txt of a URL.
pub fn robots(settings: &Settings, address: &str) -> Result<RobotsFile, CommandFailure> {
    let url = parsed(address)?;
    let clock: Arc<dyn Clock> = Arc::new(WebClock::new(&settings.clock));
    let (entry, failure) = fetcher::fetch_robots(&url, &rules(settings)?, &clock)?;
    match (entry.unreachable_since(), failure) {
        (Some(_), why) => {
            let why = why.unwrap_or_else(|| "the server failed".to_owned());
            Err(CommandFailure::World(format!(
                "cannot read robots.txt of {}, so nothing may be fetched: {why}",
                url.host()
            )))
        }
        (None, _) => Ok(entry.robots().cloned().unwrap_or_default()),
    }
}

fn rules(settings: &Settings) -> Result<fetcher::FetcherRules, CommandFailure> {
    fetcher::FetcherRules::new(settings).map_err(|error| CommandFailure::Input(error.to_string()))
}
