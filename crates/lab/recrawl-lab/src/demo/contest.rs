//! recrawl beside others on the same pages, changes and budget: stale time, and the budget that a freshness needs.

use super::books::Books;
use policies::{Filled, PolicyKind, PolicyOptions};
use serde::Serialize;
use simulate::versus::fetches_for;
use simweb::{Freshness, Looks, TimeWindow, TrialStart, trial};

/// Number of points on the curves over time.
const POINTS: usize = 40;
/// Multiples of the demo's budget that are simulated, rising. One of them is 1.
const BUDGETS: [f64; 11] = [0.1, 0.15, 0.22, 0.33, 0.5, 0.7, 1.0, 1.5, 2.2, 3.3, 5.0];
/// Values of policy.theta that are simulated, to show what they trade.
const THETAS: [f64; 4] = [0.0, 0.01, 0.3, 1.0];

/// Something for each crawler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct ByCrawler<T> {
    /// The live replay.
    pub(super) recrawl: T,
    /// All pages in turn.
    pub(super) round_robin: T,
    /// StormCrawler's adaptive rule, with idle slots filled.
    pub(super) stormcrawler: T,
    /// A fixed plan that knows each page's change rate.
    pub(super) oracle: T,
    /// A policy that knows when each page changes.
    pub(super) clairvoyant: T,
}

impl<T> ByCrawler<T> {
    pub(super) fn map<U>(&self, mut of: impl FnMut(&T) -> U) -> ByCrawler<U> {
        ByCrawler {
            recrawl: of(&self.recrawl),
            round_robin: of(&self.round_robin),
            stormcrawler: of(&self.stormcrawler),
            oracle: of(&self.oracle),
            clairvoyant: of(&self.clairvoyant),
        }
    }

    /// Each with its name for readers and its name in the style sheet.
    pub(super) fn named(&self) -> [(&'static str, &'static str, &T); 5] {
        [
            ("recrawl", "recrawl", &self.recrawl),
            ("round robin", "round-robin", &self.round_robin),
            ("StormCrawler's rule", "stormcrawler", &self.stormcrawler),
            ("oracle", "oracle", &self.oracle),
            ("clairvoyant", "clairvoyant", &self.clairvoyant),
        ]
    }
}

/// Stale shares in one period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct StalePoint {
    /// Middle of the period.
    pub(super) day: f64,
    pub(super) stale_share: ByCrawler<f64>,
}

/// Stale shares of two policies at one budget, in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct BudgetPoint {
    pub(super) fetches_per_page_per_day: f64,
    pub(super) live: f64,
    pub(super) round_robin: f64,
}

/// Stale share and mean age of the copies at one value of policy.theta, in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct ThetaPoint {
    pub(super) theta: f64,
    pub(super) stale_share: f64,
    pub(super) age_days: f64,
}

/// Fetches for a freshness, as a multiple of others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Needed {
    pub(super) times: f64,
    /// `at least` or `at most` if the freshness lies beyond the simulated budgets, so that the number is a bound.
    pub(super) bound: Option<&'static str>,
}

/// The looks of all crawlers at the pages of the books.
pub(super) struct Contest<'a> {
    books: &'a Books,
    window: TimeWindow,
    budget_per_day: f64,
    looks: ByCrawler<Looks>,
}

impl<'a> Contest<'a> {
    /// Runs the others at the budget of the live replay. As it did, they begin without copies.
    pub(super) fn new(books: &'a Books, window: TimeWindow, budget_per_day: f64) -> Self {
        let Books { judged, ledger, weights } = books;
        let mut storm = Filled::new(PolicyKind::StormCrawler.build(&PolicyOptions::default()));
        let looks = ByCrawler {
            recrawl: Looks::of_ledger(judged, ledger),
            round_robin: simweb::round_robin(judged, window, budget_per_day),
            stormcrawler: trial(judged, weights, window, budget_per_day, TrialStart::Empty, &mut storm),
            oracle: simweb::oracle(judged, weights, window, budget_per_day),
            clairvoyant: simweb::clairvoyant(judged, weights, window, budget_per_day),
        };
        Self { books, window, budget_per_day, looks }
    }

    pub(super) fn looks(&self) -> &ByCrawler<Looks> {
        &self.looks
    }

    /// Plain averages over the whole window, in which all pages count alike.
    pub(super) fn freshness(&self) -> ByCrawler<Freshness> {
        self.looks.map(|looks| looks.freshness(&self.books.judged, self.window))
    }

    /// Share of the time that a copy is stale, by weight.
    pub(super) fn stale(&self, window: TimeWindow) -> ByCrawler<f64> {
        self.looks.map(|looks| looks.stale_share(&self.books.judged, &self.books.weights, window))
    }

    /// The same as curves over the whole window.
    pub(super) fn curves(&self) -> Vec<StalePoint> {
        let day = |point: usize| self.window.days() * point as f64 / POINTS as f64;
        let start = self.window.start;
        let part = |from: f64, to: f64| TimeWindow { start: start.plus_days(from), end: start.plus_days(to) };
        (0..POINTS)
            .map(|point| {
                let (from, to) = (day(point), day(point + 1));
                StalePoint { day: (from + to) / 2.0, stale_share: self.stale(part(from, to)) }
            })
            .collect()
    }

    /// The looks of the live default or of round robin in the simulator, at a multiple of the budget. They begin with a
    /// copy of every page, because with little budget first copies alone would take most of the time.
    fn simulated(&self, kind: PolicyKind, theta: f64, times: f64) -> Looks {
        let Books { judged, weights, .. } = self.books;
        let mut policy = kind.build(&PolicyOptions { theta, ..PolicyOptions::default() });
        let budget_per_day = times * self.budget_per_day;
        trial(judged, weights, self.window, budget_per_day, TrialStart::Copies, policy.as_mut())
    }

    /// Stale shares by budget.
    pub(super) fn by_budget(&self, theta: f64, scored: TimeWindow) -> Vec<BudgetPoint> {
        let Books { judged, weights, .. } = self.books;
        let stale = |kind, times| self.simulated(kind, theta, times).stale_share(judged, weights, scored);
        let point = |times: &f64| BudgetPoint {
            fetches_per_page_per_day: times * self.budget_per_day / judged.pages.len().max(1) as f64,
            live: stale(PolicyKind::Live, *times),
            round_robin: stale(PolicyKind::Uniform, *times),
        };
        BUDGETS.iter().map(point).collect()
    }

    /// Stale share and mean age for several values of policy.theta, which trades one for the other, at the demo's budget.
    pub(super) fn by_theta(&self, scored: TimeWindow) -> Vec<ThetaPoint> {
        let Books { judged, weights, .. } = self.books;
        let point = |theta: &f64| {
            let looks = self.simulated(PolicyKind::Live, *theta, 1.0);
            let stale_share = looks.stale_share(judged, weights, scored);
            ThetaPoint { theta: *theta, stale_share, age_days: looks.freshness(judged, scored).age_days }
        };
        THETAS.iter().map(point).collect()
    }
}

/// The fetches that the live default needs for round robin's freshness at the demo's budget, as a multiple of that
/// budget.
pub(super) fn same_freshness(curve: &[BudgetPoint]) -> Option<Needed> {
    let at_budget = BUDGETS.iter().position(|times| *times == 1.0).and_then(|place| curve.get(place))?;
    needed(curve, |point| point.live, at_budget.round_robin)
}

/// The fetches that round robin needs for this stale share, as a multiple of the demo's budget.
pub(super) fn round_robin_needs(curve: &[BudgetPoint], stale_share: f64) -> Option<Needed> {
    needed(curve, |point| point.round_robin, stale_share)
}

fn needed(curve: &[BudgetPoint], stale: impl Fn(&BudgetPoint) -> f64, wanted: f64) -> Option<Needed> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (times, point) in BUDGETS.iter().zip(curve) {
        // More budget must not seem to make a copy worse: by chance it can, a little.
        let before = points.last().map_or(f64::NEG_INFINITY, |point| point.1);
        points.push((*times, before.max(1.0 - stale(point))));
    }
    let (least, most) = (points.first()?.1, points.last()?.1);
    let freshness = 1.0 - wanted;
    let bound = match freshness {
        less if less < least => Some("at most"),
        more if more > most => Some("at least"),
        _ => None,
    };
    Some(Needed { times: fetches_for(&points, freshness), bound })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(live: impl Fn(f64) -> f64, round_robin: impl Fn(f64) -> f64) -> Vec<BudgetPoint> {
        let point = |times: &f64| BudgetPoint {
            fetches_per_page_per_day: *times,
            live: live(*times),
            round_robin: round_robin(*times),
        };
        BUDGETS.iter().map(point).collect()
    }

    #[test]
    fn the_headline_is_where_the_curve_reaches_round_robin() {
        // Ours needs half the fetches: its curve at x is that of round robin at 2 x.
        let halved = curve(|times| 0.1 / (2.0 * times), |times| 0.1 / times);
        let needed = same_freshness(&halved).expect("there are points");
        assert!((needed.times - 0.5).abs() < 1e-9 && needed.bound.is_none(), "{needed:?}");
        let round_robin = round_robin_needs(&halved, 0.05).expect("there are points");
        assert!((round_robin.times - 2.0).abs() < 0.1, "{round_robin:?}");
    }

    #[test]
    fn beyond_the_simulated_budgets_there_is_a_bound() {
        let far = curve(|_| 0.01, |times| 0.3 / (1.0 + times));
        assert_eq!(same_freshness(&far), Some(Needed { times: 0.1, bound: Some("at most") }));
        assert_eq!(round_robin_needs(&far, 0.001), Some(Needed { times: 5.0, bound: Some("at least") }));
        assert_eq!(same_freshness(&[]), None);
    }

    #[test]
    fn a_curve_that_falls_a_little_is_read_as_level() {
        let bumpy = curve(|times| if times == 0.33 { 0.06 } else { 0.05 / times.max(0.22) }, |_| 0.1);
        let needed = same_freshness(&bumpy).expect("there are points");
        assert!(needed.times.is_finite() && needed.times > 0.1, "{needed:?}");
    }
}
