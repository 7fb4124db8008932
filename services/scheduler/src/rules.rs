//! The scheduler's part of the settings, in the units it works with.

use change_rate::Gamma;
use politeness::{BackoffRule, CrawlDelay, DelayRule};
use revisit::Policy;
use settings::{Discover, PolicyName, Settings};
use std::time::Duration;

/// What a partition of the scheduler goes by.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) policy: Policy,
    /// Belief about a page never looked at.
    pub(crate) prior: Gamma,
    /// Fetches per day, all partitions together.
    pub(crate) budget_per_day: f64,
    /// Bytes per day, all partitions together, when they are limited.
    pub(crate) bytes_per_day: Option<f64>,
    /// How many days' worth of unspent budget may pile up.
    pub(crate) burst_days: f64,
    /// Most requests of this partition in flight.
    pub(crate) in_flight: usize,
    /// Most requests per host in flight.
    pub(crate) host_in_flight: u32,
    /// Least time between two requests to a host.
    pub(crate) delay: DelayRule,
    /// The same, when the operator limits requests per host.
    pub(crate) host_interval: Duration,
    pub(crate) backoff: BackoffRule,
    pub(crate) robots_refresh: Duration,
    pub(crate) min_interval: Duration,
    pub(crate) max_interval: Duration,
    pub(crate) scan_interval: Duration,
    pub(crate) lease_timeout: Duration,
    pub(crate) retry_base: Duration,
    pub(crate) retry_max: Duration,
    pub(crate) discover: Discover,
    pub(crate) max_pages: u64,
    pub(crate) max_depth: u32,
    pub(crate) partitions: u32,
}

impl Rules {
    /// The rules of one of `partitions` partitions. The settings are checked, so every part of them is valid here.
    pub fn new(settings: &Settings, partitions: u32) -> Self {
        let politeness = &settings.politeness;
        let share = |whole: u64| whole.div_ceil(u64::from(partitions));
        let per_host = settings.budget.host_fetches_per_second;
        Self {
            policy: match settings.policy.name {
                PolicyName::Optimal => Policy::Optimal { theta: settings.policy.theta },
                PolicyName::Uniform => Policy::Uniform,
            },
            prior: Gamma::new(settings.estimator.prior_alpha, settings.estimator.prior_beta_days)
                .expect("the settings allow positive priors only"),
            budget_per_day: settings.budget.fetches_per_second * 86_400.0,
            bytes_per_day: settings.budget.bytes_per_second.map(|rate| rate as f64 * 86_400.0),
            burst_days: settings.budget.burst.as_secs_f64() / 86_400.0,
            in_flight: share(settings.budget.in_flight as u64) as usize,
            host_in_flight: u32::try_from(settings.budget.host_in_flight).unwrap_or(u32::MAX),
            delay: DelayRule::try_new(
                CrawlDelay::at_most_a_day(politeness.crawl_delay),
                CrawlDelay::at_most_a_day(politeness.max_crawl_delay),
                politeness.response_time_factor,
            )
            .expect("the settings keep the factor in range"),
            host_interval: per_host.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate)),
            backoff: BackoffRule::try_new(
                politeness.backoff_base,
                politeness.backoff_max.min(7 * page::DAY),
                page::HOUR,
            )
            .unwrap_or_default(),
            robots_refresh: politeness.robots_refresh,
            min_interval: settings.policy.min_interval,
            max_interval: settings.policy.max_interval,
            scan_interval: settings.policy.scan_interval,
            lease_timeout: settings.policy.lease_timeout,
            retry_base: settings.policy.retry_base,
            retry_max: settings.policy.retry_max,
            discover: settings.crawl.discover,
            max_pages: share(settings.crawl.max_pages),
            max_depth: settings.crawl.max_depth,
            partitions,
        }
    }
}
