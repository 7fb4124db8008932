//! By which rules do crawlers choose the next page? Ours and those of others, each by its name.
//!
//! The table below is the registry of revisit policies. The settings take their names from it, the scheduler and the
//! simulator their policies, and `recrawl simulate list` its lines. To add a policy, add a file, its `mod` line and its
//! entry here.
//!
//! | system | module | source |
//! |---|---|---|
//! | StormCrawler, Nutch, news-crawl | [`adaptive`] | their adaptive schedules, with the settings they ship |
//! | two rate classes | [`classified`] | Wen & Lu; C3 of the algorithm notes |
//! | ranks 4/2/1 by the value of a site | [`site_ranks`] | Ni et al.; C4 |
//! | Tianwang | [`tianwang`] | Meng et al.; C5 |
//! | University of Chile (WIRE) | [`chile`] | Castillo & Baeza-Yates; C6 |
//! | WebFountain | [`webfountain`] | Edwards, McCurley & Tomlin; C7 |
//! | rates that are planned again from time to time | [`planned`], [`allocate`], [`chairman`] | C8 to C15 |
//!
//! [`edf`] turns fixed rates into evenly spaced fetches. [`foresight`] has yardsticks that know what no crawler can.
//!
//! This crate never reads a clock and draws no random number.

use crate::BeliefSource::{Estimator, Future, History, Itself, LooksAlone, Nothing, Truth};
use crate::PolicyAtWork::{PlannedByNumber, PlannedByRates};
use crate::adaptive::{Adaptive, AdaptiveOptions};
use crate::allocate::{AccessTime, PartitionKey};
use crate::chile::{Chile, ChileOptions};
use crate::entry::{PolicyEntry, policies};
use crate::foresight::{Reported, SweepReport};
use crate::planned::{PlannedPolicy, RatePlan};
use crate::site_ranks::{Phases, SiteRanks};
use crate::tianwang::{CycleOptions, Tianwang, TianwangOptions};
use crate::webfountain::{WebFountain, WebFountainOptions};
use revisit::RevisitPolicy;
use revisit::allocate::Objective;
use revisit::demand_curve::DemandCurve;
use revisit::live::{CrawlValue, Live};

pub use crate::entry::{BeliefSource, PlanObjective, PolicyAtWork, PolicyOptions};
pub use crate::filled::Filled;

pub mod adaptive;
pub mod allocate;
pub mod chairman;
pub mod chile;
pub mod classified;
pub mod edf;
mod entry;
mod filled;
pub mod foresight;
mod pages;
pub mod planned;
pub mod site_ranks;
pub mod tianwang;
pub mod webfountain;

// Name, summary, how the running scheduler follows it (`None`: for simulations only), the source of its beliefs, and
// the constructor of a policy without pages.
policies! {
    Live: "live", "the live default: page rates, sweep calendars and sentinels",
        Some(PolicyAtWork::Live), Itself, |options| Box::new(Live::new(options.theta).with_extent_share(options.extent_share));
    Uniform: "uniform", "every page equally often",
        Some(PolicyAtWork::Uniform), Nothing, |options| planned(RatePlan::Uniform, options);
    Proportional: "proportional", "as often as a page changes",
        Some(PlannedByNumber), Estimator, |options| planned(RatePlan::Proportional, options);
    Classified: "classified", "two classes, fast pages more often (Wen & Lu)",
        Some(PlannedByNumber), Estimator, |options| planned(RatePlan::Classified(options.classified), options);
    ClassifiedTuned: "classified-tuned", "two classes with the best split and rates",
        Some(PlannedByNumber), Estimator, |options| planned(RatePlan::Rule(classified::tuned_rates), options);
    SiteRanks: "site-ranks", "sites in ranks 4, 2, 1 by link value (Ni et al.)",
        Some(PlannedByNumber), Nothing, |_| Box::new(SiteRanks::new(Phases::Hashed));
    Tianwang: "tianwang", "the Tianwang cycle",
        Some(PlannedByNumber), Estimator, |options| {
            let cycle = CycleOptions { new_share: options.new_page_share, ..TianwangOptions::default().cycle };
            Box::new(Tianwang::new(TianwangOptions { cycle_days: options.replan_days, cycle }))
        };
    Chile: "chile", "daily batch by gain, then by host (Univ. Chile)",
        Some(PlannedByNumber), Estimator,
        |options| Box::new(Chile::new(ChileOptions { period_days: options.replan_days, exponents: options.chile }));
    WebFountain: "webfountain", "buckets and periods by linear programming (WebFountain)",
        Some(PlannedByNumber), Estimator, |options| Box::new(WebFountain::new(WebFountainOptions {
            new_page_cost: options.new_page_cost,
            period_growth: options.period_growth,
            ..WebFountainOptions::default()
        }));
    OptimalFreshness: "optimal-freshness", "best rates for freshness (Cho & Garcia-Molina)",
        Some(PlannedByRates(PlanObjective::Staleness)), Estimator, |options| optimal(Objective::FRESHNESS, options);
    OptimalAge: "optimal-age", "best rates for age (Cho & Garcia-Molina)",
        Some(PlannedByNumber), Estimator, |options| optimal(Objective::Age, options);
    OptimalHarmonic: "optimal-harmonic", "best rates for the harmonic penalty",
        Some(PlannedByRates(PlanObjective::HarmonicPenalty)), Estimator,
        |options| optimal(Objective::HARMONIC, options);
    Polling: "polling", "the polling model (Coffman, Liu & Weber)",
        Some(PlannedByNumber), Estimator, |options| planned(RatePlan::Polling(AccessTime::Constant), options);
    MarkedPoint: "marked-point", "whole numbers of looks (Wolf et al.)",
        Some(PlannedByNumber), Estimator, |options| planned(RatePlan::MarkedPoint, options);
    Partitioned: "partitioned", "one rate for each group of pages (Carney, Lee & Zdonik)",
        Some(PlannedByNumber), Estimator, |options| {
            let key = PartitionKey::PerceivedFreshness;
            planned(RatePlan::Partitioned { key, groups: 50, rounds: 20 }, options)
        };
    Azar: "azar", "best rates for random moments, spaced evenly (Azar et al.)",
        Some(PlannedByNumber), Estimator,
        |options| Box::new(PlannedPolicy::new(RatePlan::Azar, options.replan_days).with_chairman());
    LambdaCrawl: "lambda-crawl", "best rates for the harmonic penalty at random moments (Kolobov et al.)",
        Some(PlannedByNumber), Estimator, |options| optimal(Objective::RandomHarmonic, options);
    LambdaCrawlApprox: "lambda-crawl-approx", "in proportion to importance (Kolobov et al.)",
        Some(PlannedByNumber), Nothing, |options| planned(RatePlan::ByWeight, options);
    HostCapped: "host-capped", "best rates under a limit for every host (Kolobov et al.)",
        Some(PlannedByRates(PlanObjective::Mixed)), Estimator, |options| {
            let curve = DemandCurve::new(Objective::Mixed { theta: options.theta });
            planned(RatePlan::HostCapped { curve, host_limit_per_day: options.host_limit_per_day }, options)
        };
    CrawlValue: "crawl-value", "the most valuable fetch now, by Gamma belief",
        Some(PolicyAtWork::CrawlValue), Estimator, |options| Box::new(CrawlValue::new(options.theta));
    StormCrawler: "stormcrawler", "StormCrawler's adaptive scheduler",
        Some(PlannedByNumber), LooksAlone, |_| Box::new(Adaptive::new(AdaptiveOptions::STORMCRAWLER));
    Nutch: "nutch", "Nutch's adaptive fetch schedule",
        Some(PlannedByNumber), LooksAlone, |_| Box::new(Adaptive::new(AdaptiveOptions::NUTCH));
    NutchNoSync: "nutch-nosync", "Nutch's adaptive fetch schedule, sync_delta off",
        Some(PlannedByNumber), LooksAlone, |_| Box::new(Adaptive::new(AdaptiveOptions::NUTCH_NO_SYNC));
    NewsCrawl: "news-crawl", "StormCrawler's scheduler with news-crawl's settings",
        Some(PlannedByNumber), LooksAlone, |_| Box::new(Adaptive::new(AdaptiveOptions::NEWS_CRAWL));
    Smoothed: "smoothed", "best rates for freshness, learned once from a history",
        None, History, |options| optimal(Objective::FRESHNESS, options);
    Oracle: "oracle", "best rates for freshness from the true rates",
        None, Truth, |options| optimal(Objective::FRESHNESS, options);
    Clairvoyant: "clairvoyant", "yardstick: knows every future change, and fetches the longest-lived stale page first",
        None, Future, |_| Box::new(Reported::default());
    Reported: "reported", "yardstick: knows every change as it happens",
        None, Future, |_| Box::new(Reported::default());
    SweepReport: "sweep-reported", "yardstick: knows changes that hit three pages of a site within an hour",
        None, Future, |_| Box::new(SweepReport::default());
}

fn planned(plan: RatePlan, options: &PolicyOptions) -> Box<dyn RevisitPolicy> {
    Box::new(PlannedPolicy::new(plan, options.replan_days))
}

fn optimal(objective: Objective, options: &PolicyOptions) -> Box<dyn RevisitPolicy> {
    planned(RatePlan::optimal(objective), options)
}

impl PolicyKind {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// A summary in one line.
    pub fn summary(self) -> &'static str {
        self.entry().summary
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How the running scheduler follows it; `None` for policies that know what only a simulation can.
    pub fn at_work(self) -> Option<PolicyAtWork> {
        self.entry().at_work
    }

    pub fn beliefs(self) -> BeliefSource {
        self.entry().beliefs
    }

    /// Whether it waits for due dates and leaves budget unspent until then. [`Filled`] spends it.
    pub fn waits(self) -> bool {
        self.beliefs() == LooksAlone || self == PolicyKind::Tianwang
    }

    /// Its name with idle slots filled, `+fill`, where there are any.
    pub fn filled_name(self, fill: bool) -> String {
        if fill && self.waits() { format!("{}+fill", self.name()) } else { self.name().to_owned() }
    }

    /// Makes the policy, without pages.
    pub fn build(self, options: &PolicyOptions) -> Box<dyn RevisitPolicy> {
        (self.entry().build)(options)
    }

    /// The policies for operators, with their names: first those for which the scheduler scores the pages itself.
    pub fn for_operators() -> Vec<(&'static str, PolicyKind)> {
        let place = |at_work| match at_work {
            PolicyAtWork::Live => 0,
            PolicyAtWork::CrawlValue => 1,
            PolicyAtWork::Uniform => 2,
            PlannedByRates(_) | PlannedByNumber => 3,
        };
        let mut all: Vec<_> = Self::ALL.into_iter().filter_map(|kind| Some((place(kind.at_work()?), kind))).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, kind)| (kind.name(), kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_policy_has_a_name_of_its_own_and_can_be_made() {
        for kind in PolicyKind::ALL {
            assert_eq!(PolicyKind::parse(kind.name()), Some(kind));
            assert!(!kind.summary().is_empty());
            kind.build(&PolicyOptions::default());
        }
        let names: BTreeSet<_> = PolicyKind::ALL.map(PolicyKind::name).into();
        assert_eq!(names.len(), PolicyKind::ALL.len());
        assert_eq!(PolicyKind::parse("optimal"), None);
    }

    #[test]
    fn an_operator_may_choose_what_needs_no_foresight() {
        let offered = PolicyKind::for_operators();
        let names: Vec<_> = offered.iter().take(4).map(|(name, _)| *name).collect();
        assert_eq!(names, ["live", "crawl-value", "uniform", "proportional"]);
        let left_out: Vec<_> =
            PolicyKind::ALL.into_iter().filter(|kind| offered.iter().all(|(_, other)| other != kind)).collect();
        let simulated = ["smoothed", "oracle", "clairvoyant", "reported", "sweep-reported"];
        assert_eq!(left_out.iter().map(|kind| kind.name()).collect::<Vec<_>>(), simulated);
    }
}
