//! The decision about a page, as it is told.

use messages::HintKind;
use serde::Serialize;

/// The decision about one page. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The page.
    pub url: String,
    /// The revisit policy that decides.
    pub policy: String,
    /// Whether it may be fetched: `never_fetched`, `ready`, `in_flight`, `held`.
    pub state: &'static str,
    /// When its value reaches the price as far as is known now; absent when that is never, or not for the next ten years.
    pub due_at: Option<String>,
    /// What a fetch now is worth, in days of weighted freshness; absent without a copy.
    pub crawl_value: Option<f64>,
    /// The value at which pages are fetched now; absent before it was first worked out.
    pub price: Option<f64>,
    /// Importance; 1 is ordinary.
    pub weight: f64,
    /// What is believed of its change rate, whatever the cause of the changes.
    pub change_rate_per_day: RateRange,
    /// Probability that the copy is current; absent without a copy.
    pub expected_freshness: Option<f64>,
    /// Days since the last look.
    pub days_since_look: Option<f64>,
    /// Changes of its own to be expected since the last look.
    pub own_hazard: Option<f64>,
    /// The groups it changes together with.
    pub sweep_hazards: Vec<SweepHazard>,
    /// What it is worth as the first look into groups long not looked into; part of the value it competes with.
    pub sentinel_value: Option<f64>,
    /// Weight of the belief with sweeps against own rates alone at its site, 0 to 1.
    pub trust: Option<f64>,
    /// Its host.
    pub host: HostCap,
    /// What hints since the last look say.
    pub hints: Hints,
    /// The page that is fetched for it, because its text is the same.
    pub mirror_of: Option<String>,
    /// How many pages it is fetched for, whose weight it carries.
    pub mirrors: usize,
    /// The same in plain words.
    pub reasons: Vec<String>,
}

/// A believed change rate.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RateRange {
    /// Expected changes per day.
    pub mean: f64,
    /// With 5 % probability it is below.
    pub p05: f64,
    /// With 5 % probability it is above.
    pub p95: f64,
}

/// One group of the page.
#[derive(Clone, Debug, Serialize)]
pub struct SweepHazard {
    /// What its pages have in common.
    pub group: &'static str,
    /// How many they are.
    pub pages: u32,
    /// -ln of the probability that what changed the group since the last look spared the page.
    pub hazard: f64,
    /// Expected share of its pages changed at once per day.
    pub per_day: f64,
}

/// What limits fetches from the page's host.
#[derive(Clone, Debug, Serialize)]
pub struct HostCap {
    /// Its name.
    pub name: String,
    /// No request before this.
    pub next_permitted_at: Option<String>,
    /// Milliseconds between two requests.
    pub crawl_delay_ms: Option<i64>,
    /// An operator paused it.
    pub paused: bool,
}

/// Hints since the last look, and what those of the host are worth.
#[derive(Clone, Debug, Serialize)]
pub struct Hints {
    /// How many kinds of hints speak of a change.
    pub kinds: u32,
    /// Probability that they are right.
    pub probability: f64,
    /// Kinds that were ever judged by a look at a page of the host.
    pub host: Vec<HintQuality>,
    /// Known pages that this page lists, when it is a sitemap or feed.
    pub listed: i64,
}

/// How far hints of one kind can be trusted on a host.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HintQuality {
    /// The kind: `sitemap`, `feed`, `ping`, `websub`.
    pub kind: HintKind,
    /// Probability that there is a change behind a hint that would not be there without it.
    pub precision: f64,
    /// Share of changes that are announced.
    pub recall: f64,
}
