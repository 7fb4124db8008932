//! Every policy that an operator may choose spends the budget that the operator gave.

use crate::simulation::{Plan, TICK, simulate};
use policies::PolicyKind;
use std::time::Duration;

/// One look a day at every page, on average.
const FETCHES_PER_DAY: f64 = 72.0;
const DAYS: u32 = 14;

#[test]
fn every_policy_spends_its_budget() {
    let budget = FETCHES_PER_DAY * f64::from(DAYS);
    let mut frugal = Vec::new();
    for (name, policy) in PolicyKind::for_operators() {
        let history = simulate(Plan {
            days: DAYS,
            crashes: false,
            trouble: false,
            // So long that the policy decides, and not the longest interval.
            max_interval: Duration::from_secs(365 * 86_400),
            backoff_base: TICK,
            fetches_per_day: FETCHES_PER_DAY,
            policy,
            ..Plan::default()
        });
        let spent = history.requests.len() as f64 / budget;
        eprintln!("{name}: {:.1} % of the budget", 100.0 * spent);
        assert!(spent <= 1.05, "{name} spent {spent} of its budget");
        if spent < 0.95 {
            frugal.push(format!("{name} {spent:.3}"));
        }
    }
    assert!(frugal.is_empty(), "left more than a twentieth: {frugal:?}");
}
