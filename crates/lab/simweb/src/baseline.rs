//! Baselines, computed for the same budget and change times: round robin, and the best fixed plan.
//!
//! Both start as a crawler does, without any copy, and fetch at even intervals from the window's start. They need no
//! politeness and lose nothing to errors, so their results are bounds for their kind.

use crate::freshness::{changes_in, is_judged};
use crate::looks::{LedgerLook, Looks};
use crate::trace::{ChangeTrace, TimeWindow};
use page::Timestamp;
use policies::edf::EarliestDeadline;
use revisit::allocate::{PageTerms, freshness as expected_freshness, optimal};

/// Every page of the trace in turn, at `budget_per_day` fetches a day in all.
pub fn round_robin(trace: &ChangeTrace, window: TimeWindow, budget_per_day: f64) -> Looks {
    let slots = slots(window, budget_per_day).zip((0..trace.pages.len()).cycle());
    run(trace, slots)
}

/// The best fixed plan. It knows each judged page's number of changes in the window beforehand. It fetches every page
/// once, valuable ones first, and then at the optimal rates for Poisson changes at those frequencies and for pages of
/// these weights (Cho & Garcia-Molina 2003), evenly spaced, earliest deadline first. It does not know
/// *when* pages change, so on changes that come in bursts a policy that learns can do better.
pub fn oracle(trace: &ChangeTrace, weights: &[f64], window: TimeWindow, budget_per_day: f64) -> Looks {
    let judged: Vec<usize> = (0..trace.pages.len()).filter(|page| is_judged(&trace.pages[*page], window)).collect();
    let rate_per_day = |page: &usize| changes_in(&trace.pages[*page], window).count() as f64 / window.days();
    let weight = |page: usize| weights.get(page).copied().unwrap_or(1.0);
    let term = |page: &usize| PageTerms { weight: weight(*page), ..PageTerms::new(rate_per_day(page)) };
    let terms: Vec<PageTerms> = judged.iter().map(term).collect();
    let fetch_rates_per_day = optimal(&terms, budget_per_day, 0.0).fetch_rates_per_day;

    // The value of a first copy is the time it will stay fresh; a page that never changes stays fresh without another
    // fetch.
    let worth = |rank: usize| {
        let fresh_share = match rate_per_day(&judged[rank]) {
            0.0 => 1.0,
            _ => expected_freshness(&terms[rank..=rank], &fetch_rates_per_day[rank..=rank]),
        };
        terms[rank].weight * fresh_share
    };
    let mut first_looks: Vec<(f64, usize)> = (0..judged.len()).map(|rank| (worth(rank), rank)).collect();
    first_looks.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));

    // Multiples of the golden ratio spread the phases evenly, whatever the number of pages.
    let revisits = EarliestDeadline::with_phases(&fetch_rates_per_day, |rank| (rank as f64 * 0.618_033_988_75).fract());
    let order = first_looks.into_iter().map(|(_, rank)| rank).chain(revisits.map(|deadline| deadline.page));
    run(trace, slots(window, budget_per_day).zip(order.map(|rank| judged[rank])))
}

/// Times of the fetches: evenly spaced from the window's start.
fn slots(window: TimeWindow, budget_per_day: f64) -> impl Iterator<Item = Timestamp> {
    let count = (window.days() * budget_per_day).floor().max(0.0) as u64;
    (0..count).map(move |slot| window.start.plus_days(slot as f64 / budget_per_day))
}

fn run(trace: &ChangeTrace, fetches: impl Iterator<Item = (Timestamp, usize)>) -> Looks {
    let mut looks = Looks::none_at(trace.pages.len());
    for (at, page) in fetches {
        if let Some(version) = trace.pages[page].version_at(at) {
            looks.push(page, LedgerLook { at, version });
        }
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::{ChangeRates, SeededConfig};

    fn web(rates: ChangeRates) -> ChangeTrace {
        SeededConfig { rates, hosts: 10, pages_per_host: 100, days: 400.0, ..SeededConfig::default() }.trace()
    }

    /// After the first sweep, so that theory applies: the last 300 days.
    fn settled(trace: &ChangeTrace) -> TimeWindow {
        TimeWindow { start: trace.window.start.plus_days(100.0), end: trace.window.end }
    }

    #[test]
    fn round_robin_on_poisson_changes_has_the_freshness_of_theory() {
        let trace = web(ChangeRates::Same(0.1));
        // A fetch every 5 days; the first sweep costs half a sweep's time of the window.
        let report = round_robin(&trace, settled(&trace), 200.0).freshness(&trace, settled(&trace));
        let theory = (1.0 - (-0.5f64).exp()) / 0.5;
        let expected = theory * (1.0 - 2.5 / 300.0);
        assert!((report.freshness - expected).abs() < 0.005, "{report:?}, expected {expected}");
        assert_eq!(report.fetches, 60_000);
    }

    #[test]
    fn the_oracle_is_ahead_where_pages_differ() {
        let trace = web(ChangeRates::LogNormal { median_per_day: 0.1, log_deviation: 1.8 });
        for budget_per_day in [30.0, 100.0, 300.0] {
            let weights = vec![1.0; trace.pages.len()];
            let plain = round_robin(&trace, trace.window, budget_per_day).freshness(&trace, trace.window);
            let best = oracle(&trace, &weights, trace.window, budget_per_day).freshness(&trace, trace.window);
            assert_eq!(plain.fetches, best.fetches);
            assert!(best.freshness > plain.freshness + 0.01, "{budget_per_day}: {plain:?} {best:?}");
        }
    }

    #[test]
    fn without_budget_nothing_is_fresh() {
        let trace = web(ChangeRates::Same(0.1));
        let fresh = |looks: Looks| looks.freshness(&trace, trace.window).freshness;
        assert_eq!(fresh(round_robin(&trace, trace.window, 0.0)), 0.0);
        assert_eq!(fresh(oracle(&trace, &[], trace.window, 0.0)), 0.0);
    }
}
