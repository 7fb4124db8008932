//! Ways to share a budget among pages.

use crate::allocate::{self, AccessTime, Distance, Horizon, PartitionKey, PolledPage, PollingOrder, integer_looks};
use crate::classified::{AlikePages, ClassifiedRule};
use revisit::allocate::{Objective, PageTerms, optimal_for, proportional_fetches_per_day, uniform_fetches_per_day};
use revisit::demand_curve::DemandCurve;

/// The average number of looks at a page in the horizon of [`RatePlan::MarkedPoint`].
const LOOKS_PER_PAGE: f64 = 4.0;

/// The rule for how often each page is fetched.
pub enum RatePlan {
    /// All equally often (C1).
    Uniform,
    /// Proportional to change rates (C2).
    Proportional,
    /// The best rates for an objective (C8, C9, C14).
    Optimal(DemandCurve),
    /// The best rates for freshness if looks happened at random times (C13).
    Azar,
    /// Proportional to weights (LambdaCrawlApprox, C14).
    ByWeight,
    /// The polling model in even order, with these access times, scaled to the budget (C10).
    Polling(AccessTime),
    /// Whole numbers of looks within a repeated horizon, long enough for four looks a page (C11).
    MarkedPoint,
    /// By groups of similar pages (C12).
    Partitioned {
        key: PartitionKey,
        groups: usize,
        /// Rounds of k-means that refine the groups.
        rounds: u32,
    },
    /// The best rates with a maximum per host and day (C15).
    HostCapped {
        /// The objective, as a table.
        curve: DemandCurve,
        /// Budget that the pages of one host may spend per day.
        host_limit_per_day: f64,
    },
    /// Two classes by the rule of Wen & Lu (C3).
    Classified(ClassifiedRule),
    /// Rates by a function of the pages and the budget per day, in the order given.
    Rule(fn(&[PageTerms], f64) -> Vec<f64>),
}

impl RatePlan {
    /// The best rates for an objective.
    pub fn optimal(objective: Objective) -> Self {
        RatePlan::Optimal(DemandCurve::new(objective))
    }

    /// Fetches per day of each page, in the order given; `hosts` holds the host of each. All zero without a budget.
    pub fn fetch_rates_per_day(&self, pages: &[PageTerms], hosts: &[u32], budget_per_day: f64) -> Vec<f64> {
        if pages.is_empty() || budget_per_day.is_nan() || budget_per_day <= 0.0 {
            return vec![0.0; pages.len()];
        }
        let fetches_per_day = uniform_fetches_per_day(pages, budget_per_day) * pages.len() as f64;
        match self {
            RatePlan::Uniform => vec![uniform_fetches_per_day(pages, budget_per_day); pages.len()],
            RatePlan::Proportional => proportional_fetches_per_day(pages, budget_per_day),
            RatePlan::Azar => allocate::azar(pages, budget_per_day).fetch_rates_per_day,
            RatePlan::Optimal(curve) => optimal_for(curve, pages, budget_per_day).fetch_rates_per_day,
            RatePlan::ByWeight => allocate::lambda_crawl_approx(pages, budget_per_day),
            RatePlan::Polling(access_time) => polling(*access_time, pages, fetches_per_day),
            RatePlan::MarkedPoint => marked_point(pages, fetches_per_day),
            RatePlan::Partitioned { key, groups, rounds } => {
                allocate::partitioned(pages, budget_per_day, *key, *groups, Distance::Logarithms, *rounds)
            }
            RatePlan::HostCapped { curve, host_limit_per_day } => {
                let limit = |_| *host_limit_per_day;
                allocate::host_capped(curve, pages, hosts, limit, budget_per_day).fetch_rates_per_day
            }
            RatePlan::Classified(rule) => {
                let alike: Vec<_> = pages.iter().map(AlikePages::from).collect();
                let plan = rule.plan(&alike, budget_per_day);
                pages.iter().map(|page| plan.fetches_per_day(page.change_rate_per_day)).collect()
            }
            RatePlan::Rule(rule) => rule(pages, budget_per_day),
        }
    }
}

fn polling(access_time: AccessTime, pages: &[PageTerms], fetches_per_day: f64) -> Vec<f64> {
    let polled: Vec<PolledPage> = pages
        .iter()
        .map(|page| PolledPage {
            weight: page.weight,
            ..PolledPage::new(page.change_rate_per_day / fetches_per_day, access_time)
        })
        .collect();
    let frequencies = allocate::polling_frequencies(&polled, PollingOrder::Even);
    frequencies.into_iter().map(|frequency| frequency * fetches_per_day).collect()
}

fn marked_point(pages: &[PageTerms], fetches_per_day: f64) -> Vec<f64> {
    let looks = LOOKS_PER_PAGE * pages.len() as f64;
    let horizon_days = looks / fetches_per_day;
    let planned = integer_looks(pages, horizon_days, Horizon::Repeated, looks as u64, u32::MAX);
    planned.into_iter().map(|looks| f64::from(looks) / horizon_days).collect()
}
