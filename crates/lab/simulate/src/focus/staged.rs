//! A crawl by the stages of the running system: the detector judges pages and their links, the ranker weighs the targets, and
//! the scheduler chooses. Only the fetcher is simulated.

use super::web::FocusWeb;
use crate::error::SimulationError;
use crate::stages::{CrawlStages, limit_by_budget_alone};
use focus::Focus;
use messages::{Digest, FetchOutcome, FetchRequest, FetchResult, Look, body};
use page::{CanonicalUrl, PageId, Timestamp};
use settings::{Discover, Settings};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Length of a tick. The budget is one fetch in each, so that the next page is chosen when the links of the last are known.
const TICK: Duration = Duration::from_secs(1);
/// The crawl ends after this number of ticks in a row without a page that it had not fetched before.
const MOST_IDLE_TICKS: usize = 100;
/// Time at the start.
const START: Timestamp = Timestamp::from_secs(1_700_000_000);

/// Fetches the first `most` pages that the system chooses. Returns their places in the web.
///
/// # Errors
/// If a stage fails or sets a record aside.
pub(super) fn crawl(web: &FocusWeb, focus: &Focus, most: usize) -> Result<Vec<usize>, SimulationError> {
    let numbers = numbers(web);
    let mut stages = CrawlStages::start(&settings(), START)?;
    stages.order_focus(focus)?;
    let mut seeds = web.seeds().iter().filter_map(|seed| CanonicalUrl::parse(&web.pages()[*seed].url).ok());
    seeds.try_for_each(|url| stages.seed(&url))?;
    let mut is_fetched = HashSet::new();
    let (mut fetched, mut idle_ticks) = (Vec::new(), 0);
    while fetched.len() < most && idle_ticks < MOST_IDLE_TICKS {
        idle_ticks += 1;
        for request in stages.tick(TICK)? {
            let number = numbers.get(&request.page_id).copied();
            if let Some(number) = number.filter(|number| is_fetched.insert(*number)) {
                idle_ticks = 0;
                fetched.push(number);
            }
            let html = number.map(|number| web.pages()[number].html.as_str());
            stages.answer(&answer(request, html, stages.now()))?;
        }
        stages.settle()?;
    }
    fetched.truncate(most);
    Ok(fetched)
}

/// Pages of the web by the addresses that a crawl gives them. Of several pages with one address the first counts.
fn numbers(web: &FocusWeb) -> HashMap<PageId, usize> {
    let mut numbers = HashMap::new();
    for (number, page) in web.pages().iter().enumerate() {
        if let Ok(url) = CanonicalUrl::parse(&page.url) {
            numbers.entry(url.page_id()).or_insert(number);
        }
    }
    numbers
}

/// The defaults, with a budget of one page at a time and without audits.
fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.crawl.discover = Discover::Anywhere;
    settings.crawl.max_depth = 1_000;
    settings.policy.audit_share = 0.0;
    settings.budget.fetches_per_second = 1.0 / TICK.as_secs_f64();
    settings.budget.burst = 2 * TICK;
    limit_by_budget_alone(&mut settings, TICK);
    settings
}

/// The fetcher's answer to a request: the page, or 404 for an address that is not in the web.
fn answer(request: FetchRequest, html: Option<&str>, now: Timestamp) -> FetchResult {
    let Some(html) = html else {
        let look = Look { status: Some(404), requests: 1, ..Look::new(request, FetchOutcome::NotFound, now) };
        return FetchResult::new(look);
    };
    let mut look = Look { status: Some(200), requests: 1, ..Look::new(request, FetchOutcome::Fetched, now) };
    look.validators.content_digest = Some(Digest::of(html.as_bytes()));
    look.body_length = html.len() as i64;
    FetchResult {
        content_type: Some("text/html; charset=utf-8".to_owned()),
        body: Some(body::pack(html.as_bytes(), body::Packing::None)),
        ..FetchResult::new(look)
    }
}
