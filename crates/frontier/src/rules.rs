//! The scheduler's settings, in the units it works with.

use crate::configured;
use crate::listed_seeds::ListedSeeds;
use crate::page_record::ScheduledPage;
use crate::unseen::RetryTimes;
use change_rate::{EstimatorChoice, Gamma};
use page::{CanonicalUrl, PageId, UrlRules};
use policies::chile::Exponents;
use policies::classified::ClassifiedRule;
use policies::{PolicyAtWork, PolicyKind, PolicyOptions};
use politeness::{BackoffRule, CrawlDelay, DelayRule};
use revisit::columns::Index;
use scope::{CrawlOrders, CrawlRule, Scope};
use settings::{Discover, Settings};
use std::sync::Arc;
use std::time::Duration;

/// The settings of one partition of the scheduler.
#[derive(Clone, Debug)]
pub struct FrontierRules {
    pub(crate) policy: PolicyKind,
    /// How the scheduler follows the policy.
    pub(crate) at_work: PolicyAtWork,
    /// The score of pages. For a policy with its own account: the index for the expected freshness of its pages.
    pub(crate) index: Index,
    /// Days of freshness that a fetch of a page of mean weight must be worth.
    pub(crate) least_worth_days: f64,
    /// Share of a change's value that follows its extent; 0 for policies that do not score pages by their value.
    pub(crate) extent_share: f64,
    /// Share of the fetches that are audits.
    pub(crate) audit_share: f64,
    /// Options of a policy with its own account. Its limit per host follows from the hosts' delays.
    pub(crate) options: PolicyOptions,
    /// Factor on the weight of pages never fetched.
    pub(crate) new_page_worth: f64,
    /// Belief about a page without a look.
    pub(crate) prior: Gamma,
    /// The estimator whose priors the pages use, if it learns across siblings.
    pub(crate) siblings: Option<Siblings>,
    /// Fetches per day, all partitions together.
    pub(crate) budget_per_day: f64,
    /// Bytes per day, all partitions together, when they are limited.
    pub(crate) bytes_per_day: Option<f64>,
    /// Cap on unspent budget, in days.
    pub(crate) burst_days: f64,
    /// Maximum of requests in flight of this partition.
    pub(crate) in_flight: usize,
    /// How much of a host's own time is handed out ahead.
    pub(crate) host_ahead: Duration,
    /// Minimum time between two requests to a host.
    pub(crate) delay: DelayRule,
    /// The minimum that follows from the operator's limit of requests per host.
    pub(crate) host_interval: Duration,
    pub(crate) backoff: BackoffRule,
    pub(crate) retry_times: RetryTimes,
    pub(crate) max_interval: Duration,
    pub(crate) scan_interval: Duration,
    pub(crate) lease_timeout: Duration,
    /// Rules by which several addresses are one page.
    pub(crate) urls: UrlRules,
    pub(crate) discover: Discover,
    /// Whether a sitemap or feed that a page names becomes a page.
    pub(crate) discover_lists: bool,
    pub(crate) max_pages: u64,
    /// Most pages of all partitions together. Seeds are refused only then.
    pub(crate) max_pages_of_all: u64,
    pub(crate) max_pages_per_host: Option<u64>,
    pub(crate) max_depth: u32,
    /// The operator's rules and filters for single pages and hosts.
    pub(crate) scope: Arc<Scope>,
    /// Rules that operators have saved while the crawl runs. Of their orders the intervals count, above those of `scope`.
    pub(crate) saved: Arc<Scope>,
    /// The list of seeds that the crawl was started with. `None` if it is not known, as over Kafka.
    pub(crate) seeds: Option<ListedSeeds>,
    /// Whether pages with the same text share one stream of fetches.
    pub(crate) mirrors: bool,
    pub(crate) partitions: u32,
    /// How much faster than real time the web's time runs.
    speed: f64,
}

/// An estimator that learns priors by cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Siblings {
    /// With sweep calendars and a learned alpha.
    Sweeps,
    /// With the operator's alpha.
    GammaGrouped,
}

impl FrontierRules {
    /// The rules of one of `partitions` partitions. The settings are already checked, so every part of them is valid
    /// here.
    pub fn new(settings: &Settings, partitions: u32) -> Self {
        let politeness = &settings.politeness;
        let share = |whole: u64| whole.div_ceil(u64::from(partitions));
        let per_host = settings.budget.host_fetches_per_second;
        let theta = settings.policy.theta;
        let policy = configured::policy(settings);
        let at_work = policy.at_work();
        let at_work = at_work.expect("the settings accept no policy that is for simulations only");
        let delay_s = politeness.crawl_delay.as_secs_f64().max(per_host.map_or(0.0, |rate| 1.0 / rate));
        Self {
            policy,
            at_work,
            index: match at_work {
                PolicyAtWork::Live => Index::Live { theta, sentinel_weight: sweeps::rules::SENTINEL_WEIGHT },
                PolicyAtWork::CrawlValue => Index::CrawlValue { theta },
                PolicyAtWork::Uniform => Index::Uniform,
                PolicyAtWork::PlannedByRates(objective) => Index::CrawlValue { theta: objective.theta(theta) },
                PolicyAtWork::PlannedByNumber => Index::CrawlValue { theta: 0.0 },
            },
            least_worth_days: match at_work {
                PolicyAtWork::Live => settings.policy.least_worth.as_secs_f64() / 86_400.0,
                PolicyAtWork::CrawlValue
                | PolicyAtWork::Uniform
                | PolicyAtWork::PlannedByRates(_)
                | PolicyAtWork::PlannedByNumber => 0.0,
            },
            extent_share: match at_work {
                PolicyAtWork::Live | PolicyAtWork::CrawlValue => settings.policy.extent_share,
                PolicyAtWork::Uniform | PolicyAtWork::PlannedByRates(_) | PolicyAtWork::PlannedByNumber => 0.0,
            },
            audit_share: settings.policy.audit_share,
            options: PolicyOptions {
                theta,
                replan_days: settings.policy.replan_interval.as_secs_f64() / 86_400.0,
                new_page_share: settings.policy.new_page_share,
                extent_share: 0.0,
                host_limit_per_day: if delay_s > 0.0 { 86_400.0 / delay_s } else { f64::MAX },
                classified: ClassifiedRule {
                    fast_from_per_day: settings.policy.fast_from,
                    fast_fetches_per_day: settings.policy.fast_fetches,
                },
                chile: Exponents {
                    quality: settings.policy.quality_exponent,
                    form: settings.policy.form_exponent,
                    freshness: settings.policy.freshness_exponent,
                },
                new_page_cost: settings.policy.new_page_cost,
                period_growth: settings.policy.period_growth,
            },
            new_page_worth: settings.policy.new_page_worth,
            prior: Gamma::new(settings.estimator.prior_alpha, settings.estimator.prior_beta_days)
                .expect("the settings allow positive priors only"),
            siblings: match configured::estimator(settings) {
                EstimatorChoice::Sweeps => Some(Siblings::Sweeps),
                EstimatorChoice::Catalogue(kind) => kind.learns_from_siblings().then_some(Siblings::GammaGrouped),
            },
            budget_per_day: settings.budget.fetches_per_second * 86_400.0,
            bytes_per_day: settings.budget.bytes_per_second.map(|rate| rate as f64 * 86_400.0),
            burst_days: settings.budget.burst.as_secs_f64() / 86_400.0,
            in_flight: share(settings.budget.in_flight as u64) as usize,
            host_ahead: settings.budget.host_ahead,
            delay: DelayRule::try_new(
                CrawlDelay::at_most_a_day(politeness.crawl_delay),
                CrawlDelay::at_most_a_day(politeness.max_crawl_delay),
                politeness.response_time_factor,
            )
            .expect("the settings keep the factor in range"),
            host_interval: per_host.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate)),
            backoff: BackoffRule::at_most_a_week(politeness.backoff_base, politeness.backoff_max),
            retry_times: RetryTimes {
                min_interval: settings.policy.min_interval,
                max_interval: settings.policy.max_interval,
                least_wait: Duration::ZERO,
                earned: None,
                is_seed: true,
                robots_refresh: politeness.robots_refresh,
                retry_base: settings.policy.retry_base,
                retry_max: settings.policy.retry_max,
            },
            max_interval: settings.policy.max_interval,
            scan_interval: settings.policy.scan_interval,
            lease_timeout: settings.policy.lease_timeout,
            urls: settings.urls.rules(),
            discover: settings.crawl.discover,
            discover_lists: settings.hints.discover,
            max_pages: share(settings.crawl.max_pages),
            max_pages_of_all: settings.crawl.max_pages,
            max_pages_per_host: settings.crawl.max_pages_per_host,
            max_depth: settings.crawl.max_depth,
            scope: Arc::new(
                scope::configured(settings).expect("rules and filters were checked when the settings were loaded"),
            ),
            saved: Arc::default(),
            seeds: None,
            mirrors: settings.detector.mirrors,
            partitions,
            speed: settings.clock.speed,
        }
    }

    /// The policy that the scheduler follows, with its options.
    pub fn policy(&self) -> (PolicyKind, PolicyOptions) {
        (self.policy, self.options)
    }

    /// The same rules for a crawl that was started with this list of seeds.
    #[must_use]
    pub fn with_seeds(self, seeds: Option<ListedSeeds>) -> Self {
        Self { seeds, ..self }
    }

    /// Whether a page may be fetched by the operator's rules and list of seeds.
    pub(crate) fn allows(&self, id: PageId, url: &CanonicalUrl) -> bool {
        self.scope.allows(url) && !self.is_unlisted(id)
    }

    /// Whether a page is not fetched because only the list of seeds is.
    pub(crate) fn is_unlisted(&self, id: PageId) -> bool {
        self.seeds.as_ref().is_some_and(|seeds| seeds.is_all() && !seeds.contains(id))
    }

    /// Whether a page is a seed that the list of seeds leaves out.
    pub(crate) fn is_unlisted_seed(&self, id: PageId, page: &ScheduledPage) -> bool {
        page.depth == 0 && self.seeds.as_ref().is_some_and(|seeds| !seeds.contains(id))
    }

    /// The orders in the operator's rule for a page.
    pub(crate) fn orders(&self, url: &CanonicalUrl) -> Option<&CrawlOrders> {
        self.scope.rule(url).map(CrawlRule::orders)
    }

    /// The weight of a page: from its rule, else from its seed, else from its links. A weight of 1 counts as not set.
    pub fn own_weight(&self, page: &ScheduledPage) -> f64 {
        let given = self.orders(&page.url).and_then(|orders| orders.weight);
        given.unwrap_or(if page.weight == 1.0 { page.importance } else { page.weight })
    }

    /// Where the weight of a page comes from, in a word.
    pub(crate) fn weight_from(&self, page: &ScheduledPage) -> &'static str {
        match self.orders(&page.url).and_then(|orders| orders.weight) {
            Some(_) => "rule",
            None if page.weight != 1.0 => "seed",
            None => "links",
        }
    }

    /// The same rules below those that operators have saved.
    #[must_use]
    pub fn with_saved(self, saved: Scope) -> Self {
        Self { saved: Arc::new(saved), ..self }
    }

    /// The intervals that the rules of a page order, from the shortest to the longest. Those of a saved rule count before those of
    /// the configuration, and all that it says in place of a rule of the same name.
    fn ordered_intervals(&self, url: &CanonicalUrl) -> (Option<Duration>, Option<Duration>) {
        let intervals = |orders: &CrawlOrders| (orders.min_interval, orders.max_interval);
        let Some(saved) = self.saved.rule(url) else { return self.orders(url).map(intervals).unwrap_or_default() };
        let (least, most) = intervals(saved.orders());
        let configured = self.scope.rule(url).filter(|rule| rule.name() != saved.name());
        let (configured_least, configured_most) = configured.map(|rule| intervals(rule.orders())).unwrap_or_default();
        // A configured end that contradicts the saved one does not count.
        let least = least.or_else(|| configured_least.filter(|least| most.is_none_or(|most| *least <= most)));
        (least, most.or_else(|| configured_most.filter(|most| least.is_none_or(|least| least <= *most))))
    }

    /// Longest time between two fetches of a page, if a rule says it.
    pub(crate) fn ordered_max_interval(&self, url: &CanonicalUrl) -> Option<Duration> {
        self.ordered_intervals(url).1
    }

    /// Longest time between two fetches of a page.
    pub(crate) fn max_interval_of(&self, url: &CanonicalUrl) -> Duration {
        self.ordered_max_interval(url).unwrap_or(self.max_interval)
    }

    /// Waits of a page before it may be requested again. `earned` is the time after which a look would be worth its price.
    pub(crate) fn retry_times_of(&self, page: &ScheduledPage, earned: Option<Duration>) -> RetryTimes {
        let (ordered, longest) = self.ordered_intervals(&page.url);
        let shortest = ordered.unwrap_or(self.retry_times.min_interval);
        RetryTimes {
            // A rule that wants looks more often than the crawl's shortest interval shortens it.
            min_interval: longest.map_or(shortest, |longest| shortest.min(longest)),
            max_interval: longest.unwrap_or(self.max_interval),
            least_wait: ordered.unwrap_or_default(),
            earned,
            is_seed: page.depth == 0,
            ..self.retry_times
        }
    }

    /// Shortest time between two fetches of a page.
    pub fn min_interval_of(&self, page: &ScheduledPage) -> Duration {
        self.retry_times_of(page, None).min_interval
    }

    /// Most links from a seed to a page.
    pub(crate) fn max_depth_of(&self, url: &CanonicalUrl) -> u32 {
        self.orders(url).and_then(|orders| orders.max_depth).unwrap_or(self.max_depth)
    }

    /// Most pages of a host.
    pub(crate) fn max_pages_of(&self, host_name: &str) -> Option<u64> {
        let ordered = self.scope.host_rule(host_name).and_then(|rule| rule.orders().max_pages);
        ordered.or(self.max_pages_per_host)
    }

    pub(crate) fn own_delay_of(&self, host_name: &str) -> Option<CrawlDelay> {
        let delay = self.scope.host_rule(host_name).and_then(|rule| rule.orders().crawl_delay);
        delay.map(CrawlDelay::at_most_a_day)
    }

    /// Converts real time to time on the clock of the web; a day at most.
    pub(crate) fn web_time(&self, real: Duration) -> Duration {
        Duration::from_secs_f64((real.as_secs_f64() * self.speed).clamp(0.0, 86_400.0))
    }

    /// Audits per other fetch. The budget is an upper bound: what is not spent on pages is not spent on audits either.
    pub(crate) fn audits_per_fetch(&self) -> f64 {
        self.audit_share / (1.0 - self.audit_share)
    }

    /// Factor on the weight of a page by the extent of its changes. A page without a copy keeps its weight.
    pub(crate) fn worth_of_changes(&self, page: &ScheduledPage) -> f64 {
        match page.last_look_at {
            Some(_) => revisit::worth_of_changes(self.extent_share, f64::from(page.belief.mean_extent)),
            None => 1.0,
        }
    }

    /// Whether the policy scores pages by their value, so that a hint can add to it.
    pub(crate) fn values_hints(&self) -> bool {
        match self.at_work {
            PolicyAtWork::Live | PolicyAtWork::CrawlValue => true,
            PolicyAtWork::Uniform | PolicyAtWork::PlannedByRates(_) | PolicyAtWork::PlannedByNumber => false,
        }
    }

    /// Whether a page never fetched competes by the value of its first copy.
    pub(crate) fn values_first_copies(&self) -> bool {
        self.values_hints()
    }

    /// Whether every page is scored at each tick. Otherwise the policy has its own account.
    pub(crate) fn scores_pages(&self) -> bool {
        match self.at_work {
            PolicyAtWork::Live | PolicyAtWork::CrawlValue | PolicyAtWork::Uniform => true,
            PolicyAtWork::PlannedByRates(_) | PolicyAtWork::PlannedByNumber => false,
        }
    }
}
