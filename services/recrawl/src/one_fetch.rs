//! One polite fetch for a tool that needs a page or a robots.txt now.

use crate::Failure;
use daemon::WebClock;
use messages::{FetchReason, FetchRequest, FetchResult};
use page::CanonicalUrl;
use politeness::{Robots, RobotsCacheEntry};
use settings::Settings;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;

/// Fetches a page once, as the loop would: robots.txt obeyed, private addresses refused, bounded in time and size.
pub fn page(settings: &Settings, url: &CanonicalUrl) -> Result<(FetchResult, Option<RobotsCacheEntry>), Failure> {
    let clock: Arc<dyn Clock> = Arc::new(WebClock::new(&settings.clock));
    let now = clock.now();
    let request = FetchRequest {
        page_id: url.page_id(),
        url: url.clone(),
        site_key: url.site_key(),
        attempt: 1,
        issued_at: now,
        not_before: now,
        lease_until: now + Duration::from_secs(3_600),
        reason: FetchReason::Command,
        etag: None,
        last_modified: None,
        content_digest: None,
        crawl_delay_ms: None,
    };
    Ok(fetcher::fetch_one(request, rules(settings)?, &clock)?)
}

/// Fetches the robots.txt of an address.
pub fn robots(settings: &Settings, address: &str) -> Result<Robots, Failure> {
    let url = CanonicalUrl::parse(address).map_err(|error| Failure::Input(format!("{address}: {error}")))?;
    let (entry, failure) = fetcher::fetch_robots(&url, &rules(settings)?, &WebClock::new(&settings.clock))?;
    match (entry.unreachable_since(), failure) {
        (Some(_), why) => {
            let why = why.unwrap_or_else(|| "the server has trouble".to_owned());
            Err(Failure::World(format!(
                "robots.txt of {} cannot be read, so nothing may be fetched: {why}",
                url.host()
            )))
        }
        (None, _) => Ok(entry.robots().cloned().unwrap_or_default()),
    }
}

fn rules(settings: &Settings) -> Result<fetcher::Rules, Failure> {
    fetcher::Rules::new(settings).map_err(|error| Failure::Input(error.to_string()))
}
