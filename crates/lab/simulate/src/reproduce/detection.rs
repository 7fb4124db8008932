//! R4. Cho & Garcia-Molina, TOIT 2003: number of changes found with fetches proportional to estimated rates.
//!
//! Fetches proportional to the true rates would find the most changes. The paper let crawlers of 4,000 sites adapt to
//! their estimates and counted: uniform 100 %, by the naive estimate 193 %, by theirs 228 %. Its pages are not
//! available, so only the order counts.

use super::row::in_order;
use super::{Effort, ReproductionRow};
use crate::streams::Draws;
use change_rate::{ChangeRateEstimator, CheckCounts, HalfCount, LookOutcome, NaiveRatio};
use revisit::allocate::{self, PageTerms};

/// Changes found in a day with the estimates from five looks, one look in two days on average.
pub(super) fn changes_found(effort: &Effort) -> Vec<ReproductionRow> {
    const HOSTS: usize = 400;
    const PAGES_PER_HOST: usize = 50;
    const LOOKS: usize = 10;
    const INTERVAL_DAYS: f64 = 2.0;
    let mut found = [0.0; 3];
    for replicate in 0..effort.replicates(4, 1) {
        let mut stream = effort.stream(replicate);
        let mut rates = Vec::with_capacity(HOSTS * PAGES_PER_HOST);
        for _ in 0..HOSTS {
            let ln_rate = 0.15f64.ln() + 1.2 * stream.normal();
            rates.extend((0..PAGES_PER_HOST).map(|_| (ln_rate + 0.7 * stream.normal()).exp()));
        }
        let budget = rates.len() as f64 / INTERVAL_DAYS;
        let counts: Vec<CheckCounts> = rates
            .iter()
            .map(|rate| {
                let mut counts = CheckCounts::default();
                for _ in 0..LOOKS {
                    let changed = stream.exponential() < rate * INTERVAL_DAYS;
                    counts.add(INTERVAL_DAYS, if changed { LookOutcome::Changed } else { LookOutcome::Unchanged });
                }
                counts
            })
            .collect();
        let estimated = |rate: &dyn Fn(&CheckCounts) -> f64| {
            let pages: Vec<PageTerms> = counts.iter().map(|counts| PageTerms::new(rate(counts))).collect();
            allocate::proportional_fetches_per_day(&pages, budget)
        };
        let schedules = [
            vec![1.0 / INTERVAL_DAYS; rates.len()],
            estimated(&|counts| NaiveRatio.change_rate_per_day(counts)),
            estimated(&|counts| HalfCount.change_rate_per_day(counts)),
        ];
        for (found, schedule) in found.iter_mut().zip(schedules) {
            let changes = rates.iter().zip(schedule).filter(|(_, fetches)| *fetches > 0.0);
            *found -= changes.map(|(rate, fetches)| fetches * (-rate / fetches).exp_m1()).sum::<f64>();
        }
    }
    let share = |i: usize| found[i] / found[0];
    let rows = in_order(
        "R4",
        &[
            ("changes found, uniform", "100 %", 1.0, share(0)),
            ("changes found, naive ratio", "193 %", 1.93, share(1)),
            ("changes found, half counts", "228 %", 2.28, share(2)),
        ],
    );
    let contestants = [("uniform", "none"), ("proportional", "naive"), ("proportional", "half-count")];
    let named = |(row, (policy, estimator)): (ReproductionRow, (_, _))| row.policy(policy).estimator(estimator);
    rows.into_iter().zip(contestants).map(named).map(|row| row.budget(1.0 / INTERVAL_DAYS)).collect()
}
