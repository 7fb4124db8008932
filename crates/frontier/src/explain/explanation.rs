//! The explanation of a decision, as it is serialized.

use messages::HintKind;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The decision about one page. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Explanation {
    /// Canonical URL of the page.
    pub url: String,
    /// Name of the revisit policy in use.
    pub policy: String,
    /// Whether it may be fetched: `never_fetched`, `ready`, `in_flight`, `held`, `excluded`.
    pub state: Cow<'static, str>,
    /// Where it stands in the plan of a policy with a plan, in a sentence: its class, rank, bucket or cycle. Only the running
    /// process knows it.
    pub plan: Option<String>,
    /// When its value reaches the price, from what is known now; absent when that takes more than ten years, and while the
    /// page is out of scope or its host is paused or blocked.
    pub due_at: Option<String>,
    /// Value of a fetch now, in days of weighted freshness; absent without a copy.
    pub crawl_value: Option<f64>,
    /// The value at which pages are fetched now; absent before the first one is computed.
    pub price: Option<f64>,
    /// The weight that it competes with; 1 is ordinary.
    pub weight: f64,
    /// The source of its weight: `rule`, `seed` or `links`.
    pub weight_from: Cow<'static, str>,
    /// Its weight by the links that lead to it; 1 is average.
    pub importance: f64,
    /// Estimated change rate, own changes and sweeps together.
    pub change_rate_per_day: RateRange,
    /// Mean share of its text that one of its changes changes; absent without a copy, and where changes count alike.
    pub mean_extent: Option<f64>,
    /// Probability that the copy is current; absent without a copy.
    pub expected_freshness: Option<f64>,
    /// Days since the last look; absent before the first.
    pub days_since_look: Option<f64>,
    /// Expected number of its own changes since the last look.
    pub own_hazard: Option<f64>,
    /// The groups it changes together with.
    pub sweep_hazards: Vec<SweepHazard>,
    /// Its value as the first look into groups not looked into for long; part of the value it competes with.
    pub sentinel_value: Option<f64>,
    /// Weight of the belief with sweeps against own rates alone, for its site, 0 to 1.
    pub trust: Option<f64>,
    /// The politeness limits of its host.
    pub host: HostCap,
    /// The hints since the last look.
    pub hints: Hints,
    /// URL of the page fetched in its place, because their texts are the same.
    pub mirror_of: Option<String>,
    /// Number of pages it is fetched for. It carries their weight.
    pub mirrors: usize,
    /// The explanation in sentences.
    pub reasons: Vec<String>,
    /// Whether and when it is fetched, and what decides it, in one sentence or two.
    pub answer: String,
}

/// An estimated change rate with its range.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RateRange {
    /// Expected changes per day.
    pub mean: f64,
    /// 5th percentile.
    pub p05: f64,
    /// 95th percentile.
    pub p95: f64,
}

/// One group of the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SweepHazard {
    /// The feature that its pages share.
    pub group: Cow<'static, str>,
    /// Number of pages in it.
    pub pages: u32,
    /// -ln of the probability that the sweeps of the group since the last look spared the page.
    pub hazard: f64,
    /// Expected share of its pages that sweeps change per day.
    pub per_day: f64,
}

/// The limits to fetches from the page's host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostCap {
    /// Authority of the host.
    pub name: String,
    /// Earliest time of the next request.
    pub next_permitted_at: Option<String>,
    /// Milliseconds between two requests.
    pub crawl_delay_ms: Option<i64>,
    /// Whether an operator paused the host.
    pub paused: bool,
    /// Whether an operator blocked the host.
    pub blocked: bool,
}

/// Hints since the last look, and the quality of the host's hints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hints {
    /// Number of kinds of hints that announce a change.
    pub kinds: u32,
    /// Probability that the hints are right.
    pub probability: f64,
    /// Quality of each kind that was ever judged by a look at a page of the host.
    pub host: Vec<HintQuality>,
    /// Known pages that this page lists, when it is a sitemap or feed.
    pub listed: i64,
}

/// How far hints of one kind can be trusted on a host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HintQuality {
    /// The kind: `sitemap`, `feed`, `ping`, `websub`.
    pub kind: HintKind,
    /// Probability that a hint has a change behind it that would not be there without the hint.
    pub precision: f64,
    /// Share of changes that are announced.
    pub recall: f64,
}
