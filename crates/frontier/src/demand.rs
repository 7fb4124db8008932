//! The price that all partitions share without a coordinator. Each publishes how much it wants at which price, adds up
//! the latest demand of all, and solves for the same price (C17 of the algorithm notes).

use crate::page_index::PageIndex;
use crate::rules::FrontierRules;
use messages::{Demand, RateBin};
use page::{MINUTE, Timestamp};
use policies::PolicyAtWork;
use revisit::budget_curve::BudgetCurve;
use revisit::columns::{Index, ValueHistogram};
use revisit::histogram::RatioHistogram;
use revisit::{PlanValues, Policy};
use std::collections::BTreeMap;
use std::time::Duration;
use sweeps::Outlook;

/// How often a partition publishes its demand.
const PUBLISH_EVERY: Duration = MINUTE;
/// … but at most once in this many ticks: in a replay a minute may be shorter than a tick.
const PUBLISH_TICKS: u32 = 32;
/// Shares settle faster while the frontier fills: (number of first rounds, ticks per round).
const FIRST_ROUNDS: (u32, u32) = (16, 4);
/// When looks at siblings change the worth of a page, the price is that of a moment ahead. Pages are counted that will
/// want a fetch by then, up to this fraction of all pages …
const PART_AHEAD: f64 = 0.5;
/// … and at most this many days ahead.
const DAYS_AHEAD: f64 = 1.0;

/// Step by which the share moves to its new value. A few pages more or less above the price are chance; a partition
/// given too large a share for a while would find nothing worth it.
const SHARE_STEP: f64 = 0.25;
/// The same while the frontier fills.
const FIRST_SHARE_STEP: f64 = 0.75;

/// Demand for fetches by price.
#[derive(Clone, Debug)]
enum DemandHistogram {
    /// By the ratio of cost, rate and weight.
    Ratios(Box<RatioHistogram>),
    /// By value, this many days ahead.
    Values(ValueHistogram, f64),
}

impl DemandHistogram {
    fn merge(&mut self, other: &DemandHistogram) {
        match (self, other) {
            (DemandHistogram::Ratios(all), DemandHistogram::Ratios(other)) => all.merge(other),
            (DemandHistogram::Values(all, _), DemandHistogram::Values(other, _)) => all.merge(other),
            (DemandHistogram::Ratios(_), DemandHistogram::Values(..))
            | (DemandHistogram::Values(..), DemandHistogram::Ratios(_)) => {}
        }
    }

    fn solve(&self, rules: &FrontierRules, budget_per_day: f64) -> f64 {
        match self {
            DemandHistogram::Ratios(histogram) => histogram.solve(&ratio_policy(rules), budget_per_day),
            DemandHistogram::Values(histogram, days) => histogram.price_for(budget_per_day * days),
        }
    }

    fn at(&self, rules: &FrontierRules, price: f64) -> f64 {
        match self {
            DemandHistogram::Ratios(histogram) => histogram.demand(&ratio_policy(rules), price),
            DemandHistogram::Values(histogram, _) => histogram.at_or_above(price),
        }
    }

    fn to_bins(&self) -> Vec<f32> {
        match self {
            DemandHistogram::Ratios(histogram) => histogram.to_bins(),
            DemandHistogram::Values(histogram, _) => histogram.to_bins(),
        }
    }
}

/// The policy under which pages compete by their rates. A policy with its own account of pages competes by their
/// number.
fn ratio_policy(rules: &FrontierRules) -> Policy {
    match (rules.at_work, rules.index) {
        (PolicyAtWork::CrawlValue | PolicyAtWork::PlannedByRates(_), Index::CrawlValue { theta }) => {
            Policy::Optimal { theta }
        }
        (_, Index::Live { .. } | Index::Uniform)
        | (PolicyAtWork::Live | PolicyAtWork::Uniform | PolicyAtWork::PlannedByNumber, Index::CrawlValue { .. }) => {
            Policy::Uniform
        }
    }
}

/// The plan of a policy that keeps its own account, as other partitions must know it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanShare {
    pub(crate) values: PlanValues,
    /// Budget that the plan wants. 0: partitions share the budget by their histograms.
    pub(crate) demand: f64,
}

/// The last publication of a partition.
#[derive(Clone, Debug)]
struct PublishedDemand {
    histogram: DemandHistogram,
    plan: PlanShare,
    pages: i64,
}

/// The latest demand of all partitions.
pub(crate) struct SharedDemand {
    others: BTreeMap<u32, PublishedDemand>,
    /// Demand that this partition published last. Shares are computed from published demand, so that they add up to one.
    published: Option<PublishedDemand>,
    partitions: u32,
    published_at: Timestamp,
    ticks: u32,
    /// How often this partition has published.
    rounds: u32,
    /// Pages counted at the last publication, and how many of them had no copy.
    pages: usize,
    never_fetched: usize,
    /// Whether the demand had changed at the last publication. The price is that of the publication before, so another
    /// one has to follow soon.
    has_changed: bool,
    price: f64,
    /// This partition's share of the budget.
    share: f64,
}

impl SharedDemand {
    pub(crate) fn new(rules: &FrontierRules) -> Self {
        Self {
            others: BTreeMap::new(),
            published: None,
            partitions: rules.partitions,
            published_at: Timestamp::MIN,
            ticks: 0,
            rounds: 0,
            pages: 0,
            never_fetched: 0,
            has_changed: false,
            price: 0.0,
            share: 1.0 / f64::from(rules.partitions),
        }
    }

    /// Takes in the demand of a partition. This partition's own records are skipped, because it knows its own demand
    /// better. Records of another policy are skipped, too: their demand cannot be added to its own.
    pub(crate) fn receive(&mut self, demand: &Demand, own_partition: u32, rules: &FrontierRules) {
        let Ok(partition) = u32::try_from(demand.stage_partition) else { return };
        let wanted = match rules.index {
            Index::Live { .. } => {
                ValueHistogram::from_bins(&demand.histogram).map(|bins| DemandHistogram::Values(bins, 0.0))
            }
            _ => RatioHistogram::from_bins(&demand.histogram).map(|bins| DemandHistogram::Ratios(Box::new(bins))),
        };
        let alike = demand.policy == rules.policy.name();
        if let Some(histogram) = wanted.filter(|_| alike && partition != own_partition && partition < self.partitions) {
            let values = PlanValues::received(demand.plan_count, &demand.plan_values).unwrap_or_default();
            let demanded = if demand.plan_demand > 0.0 { demand.plan_demand.min(f64::MAX) } else { 0.0 };
            let plan = PlanShare { values, demand: demanded };
            self.others.insert(partition, PublishedDemand { histogram, plan, pages: demand.pages });
        }
    }

    /// The values that the plans of the other partitions rank by, and the share of all partitions that is known with this one.
    pub(crate) fn plan_values_of_others(&self) -> (Vec<PlanValues>, f64) {
        let values: Vec<_> = self.others.values().map(|other| other.plan.values.clone()).collect();
        let known = (values.len() + 1) as f64 / f64::from(self.partitions);
        (values, known)
    }

    /// Pages of all other partitions, as last published. Those that have published nothing yet count as full.
    pub(crate) fn pages_of_others(&self, rules: &FrontierRules) -> u64 {
        let known: u64 = self.others.values().map(|other| u64::try_from(other.pages).unwrap_or(0)).sum();
        let unknown = u64::from(self.partitions).saturating_sub(self.others.len() as u64 + 1);
        known + unknown * rules.max_pages
    }

    pub(crate) fn price(&self) -> f64 {
        self.price
    }

    /// The price; `None` before the first publication.
    pub(crate) fn known_price(&self) -> Option<f64> {
        (self.published_at > Timestamp::MIN).then_some(self.price)
    }

    pub(crate) fn partitions(&self) -> u32 {
        self.partitions
    }

    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Solves for the price, and for this partition's share of the budget at that price. Partitions whose demand was not
    /// received yet are assumed to want an equal share. `least` is the least worth of a fetch: the price where the budget
    /// exceeds the need.
    fn solve(&mut self, own: &PublishedDemand, rules: &FrontierRules, least: f64) {
        let mut all = own.histogram.clone();
        self.others.values().for_each(|other| all.merge(&other.histogram));
        let known = self.others.len() as u32 + 1;
        let known_budget = rules.budget_per_day * f64::from(known) / f64::from(self.partitions);
        self.price = all.solve(rules, known_budget).max(least);
        let at = self.price.max(f64::MIN_POSITIVE);
        // A partition without pages wants nothing by any measure.
        let all_partitions = || self.others.values().chain([own]);
        let have_plans = all_partitions().all(|known| known.plan.demand > 0.0 || known.pages == 0);
        let planned: f64 = all_partitions().map(|known| known.plan.demand).sum();
        let (own_wants, all_want) = match have_plans && planned > 0.0 {
            true => (own.plan.demand, planned),
            false => (own.histogram.at(rules, at), all.at(rules, at)),
        };
        let of_known = if all_want > 0.0 { own_wants / all_want } else { 1.0 / f64::from(known) };
        let share = of_known * f64::from(known) / f64::from(self.partitions);
        let step = if self.rounds <= FIRST_ROUNDS.0 { FIRST_SHARE_STEP } else { SHARE_STEP };
        // Shares that add up to one still do after this step.
        self.share += step * (share - self.share);
    }

    /// How far ahead pages are counted. A whole power of two, so that partitions that know slightly different numbers
    /// of pages use the same horizon.
    fn days_ahead(&self, own_pages: usize, rules: &FrontierRules) -> f64 {
        let others: i64 = self.others.values().map(|other| other.pages.max(0)).sum();
        let pages = own_pages as f64 + others as f64;
        let days = (PART_AHEAD * pages / rules.budget_per_day).clamp(1e-6, DAYS_AHEAD);
        days.log2().floor().exp2()
    }

    /// Counts this partition's demand and solves for the price, when that is due. Returns the demand to publish. `plan` is asked
    /// only then.
    pub(crate) fn publish(
        &mut self,
        pages: &PageIndex,
        rules: &FrontierRules,
        outlook: &Outlook,
        plan: impl FnOnce() -> PlanShare,
        partition: u32,
        now: Timestamp,
    ) -> Option<Demand> {
        self.ticks = self.ticks.saturating_add(1);
        let first = self.published_at == Timestamp::MIN;
        // A frontier that has grown by a tenth has a different demand. So has one where a tenth of the pages got their first
        // copy: these are worth a multiple of all others, and at their price nothing else would be fetched.
        let differs = |now: usize, then: usize| now.abs_diff(then) * 10 > self.pages;
        let has_changed = differs(pages.pages(), self.pages) || differs(pages.never_fetched(), self.never_fetched);
        let due = has_changed || self.has_changed || now.saturating_since(self.published_at) >= PUBLISH_EVERY;
        let ticks = if self.rounds < FIRST_ROUNDS.0 { FIRST_ROUNDS.1 } else { PUBLISH_TICKS };
        if !first && (!due || self.ticks < ticks) {
            return None;
        }
        self.rounds = self.rounds.saturating_add(1);
        (self.published_at, self.ticks, self.has_changed) = (now, 0, has_changed);
        (self.pages, self.never_fetched) = (pages.pages(), pages.never_fetched());
        let columns = &pages.columns;
        let own = match rules.index {
            Index::Live { .. } => {
                let days = self.days_ahead(self.pages, rules);
                let values = columns.value_histogram(now.plus_days(days), &rules.index, outlook);
                DemandHistogram::Values(values, days)
            }
            _ => DemandHistogram::Ratios(Box::new(columns.demand_histogram(&ratio_policy(rules)))),
        };
        let histogram = own.to_bins();
        let plan = plan();
        let kept = |value: &f64| *value as f32;
        let (plan_count, plan_values) = (plan.values.count() as i64, plan.values.values().iter().map(kept).collect());
        let plan_demand = plan.demand;
        let own = PublishedDemand { histogram: own, plan, pages: pages.pages() as i64 };
        let least = pages.least_worth(rules);
        if rules.partitions == 1 {
            self.solve(&own, rules, least);
        } else if let Some(said) = self.published.replace(own) {
            // The others have read the last publication, and have since published theirs to match.
            self.solve(&said, rules, least);
        }
        Some(Demand {
            stage_partition: partition as i32,
            published_at: now,
            pages: pages.pages() as i64,
            never_fetched: pages.never_fetched() as i64,
            budget_fetches_per_day: rules.budget_per_day * self.share,
            histogram,
            policy: rules.policy.name().to_owned(),
            price: self.price,
            rate_bins: rate_bins(&columns.budget_curve()),
            plan_count,
            plan_values,
            plan_demand,
        })
    }
}

fn rate_bins(curve: &BudgetCurve) -> Vec<RateBin> {
    let bin = |(bin, sums): (usize, &revisit::budget_curve::RateBin)| RateBin {
        bin: bin as i32,
        pages: sums.pages,
        change_rate_per_day: sums.change_rate_per_day,
        weight: sums.weight,
    };
    curve.bins().map(bin).collect()
}
