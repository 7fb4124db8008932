//! The price that all partitions share without a coordinator: each publishes how much it wants at which price, adds up
//! the latest of all, and solves for the same price (C17 of the algorithm notes).

use crate::rules::Rules;
use crate::{DEMAND, Scheduler};
use messages::{Demand, Message};
use page::{MINUTE, Timestamp};
use revisit::histogram::RatioHistogram;
use std::collections::BTreeMap;
use std::time::Duration;
use stream::Context;

/// How often a partition says what it wants.
const PUBLISH_EVERY: Duration = MINUTE;
/// … but not more often than once in so many ticks: in a replay a minute may be shorter than a tick.
const PUBLISH_TICKS: u32 = 32;
/// While the frontier fills, shares are settled faster: the first so many rounds take so many ticks each.
const FIRST_ROUNDS: (u32, u32) = (16, 4);

/// What is known of all partitions' demand.
pub(crate) struct SharedDemand {
    others: BTreeMap<u32, RatioHistogram>,
    /// What this partition said last. Shares are worked out from what all have said, so that they add up to the whole.
    published: Option<RatioHistogram>,
    partitions: u32,
    published_at: Timestamp,
    ticks: u32,
    /// How often it has spoken.
    rounds: u32,
    /// Pages counted last time.
    pages: usize,
    price: f64,
    /// This partition's part of the budget.
    share: f64,
}

impl SharedDemand {
    pub(crate) fn new(rules: &Rules) -> Self {
        Self {
            others: BTreeMap::new(),
            published: None,
            partitions: rules.partitions,
            published_at: Timestamp::MIN,
            ticks: 0,
            rounds: 0,
            pages: 0,
            price: 0.0,
            share: 1.0 / f64::from(rules.partitions),
        }
    }

    /// Takes in what a partition says. What this one said itself is known better here.
    pub(crate) fn hear(&mut self, demand: &Demand, own_partition: u32) {
        let (Ok(partition), Some(histogram)) =
            (u32::try_from(demand.stage_partition), RatioHistogram::from_bins(&demand.histogram))
        else {
            return;
        };
        if partition != own_partition && partition < self.partitions {
            self.others.insert(partition, histogram);
        }
    }

    pub(crate) fn price(&self) -> f64 {
        self.price
    }

    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Solves for the price, and for this partition's share of the budget at that price. Partitions not heard of yet
    /// are taken to want an equal share.
    fn solve(&mut self, own: &RatioHistogram, rules: &Rules) {
        let mut all = own.clone();
        self.others.values().for_each(|other| all.merge(other));
        let known = self.others.len() as u32 + 1;
        let known_budget = rules.budget_per_day * f64::from(known) / f64::from(self.partitions);
        self.price = all.solve(&rules.policy, known_budget);
        let at = self.price.max(f64::MIN_POSITIVE);
        let (own_wants, all_want) = (own.demand(&rules.policy, at), all.demand(&rules.policy, at));
        let of_known = if all_want > 0.0 { own_wants / all_want } else { 1.0 / f64::from(known) };
        self.share = of_known * f64::from(known) / f64::from(self.partitions);
    }
}

impl Scheduler {
    /// Every so often: count what this partition wants, solve for the price, and tell the others.
    pub(crate) fn publish_demand(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let demand = &mut self.demand;
        demand.ticks = demand.ticks.saturating_add(1);
        let first = demand.published_at == Timestamp::MIN;
        // A frontier that has grown by a tenth wants something else than it did.
        let grown = self.frontier.pages().abs_diff(demand.pages) * 10 > demand.pages;
        let due = grown || now.saturating_since(demand.published_at) >= PUBLISH_EVERY;
        let ticks = if demand.rounds < FIRST_ROUNDS.0 { FIRST_ROUNDS.1 } else { PUBLISH_TICKS };
        if !first && (!due || demand.ticks < ticks) {
            return;
        }
        demand.rounds = demand.rounds.saturating_add(1);
        (demand.published_at, demand.ticks, demand.pages) = (now, 0, self.frontier.pages());
        let own = self.frontier.columns.demand_histogram(&self.rules.policy);
        if self.rules.partitions == 1 {
            demand.solve(&own, &self.rules);
            return;
        }
        // The others have heard what was said last time, and have said what goes with it since.
        if let Some(said) = demand.published.replace(own.clone()) {
            demand.solve(&said, &self.rules);
        }
        let message = Demand {
            stage_partition: context.task().partition as i32,
            published_at: now,
            pages: self.frontier.pages() as i64,
            never_fetched: self.frontier.never_fetched() as i64,
            budget_fetches_per_day: self.rules.budget_per_day * self.demand.share,
            histogram: own.to_bins(),
            policy: match self.rules.policy {
                revisit::Policy::Uniform => "uniform".to_owned(),
                revisit::Policy::Optimal { .. } => "optimal".to_owned(),
            },
        };
        context.emit(DEMAND, context.task().partition.to_string(), message.encode());
    }
}
