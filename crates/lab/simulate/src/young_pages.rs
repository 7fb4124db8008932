//! Which young pages become important? Popularity now, and quality by its growth (eq 18–23 of Meng et al.; Cho, Roy & Adams 2005; D7
//! of the algorithm notes), judged by the links that the pages have later.
//!
//! A cohort is the pages that are young on a day. Each is valued by its in-links until then, as a crawler would have counted them at
//! regular looks; the order of these values is compared with that of the in-links after a horizon.

mod correlation;
mod users;

pub use self::correlation::{kendall, spearman};
pub use self::users::UsersWeb;

use literature::quality::{Trend, popularity};

/// The number of in-links of a page over time.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkHistory {
    /// When the page was born.
    pub born_days: f64,
    /// The last day of the page; infinity if it stays.
    pub gone_days: f64,
    /// (day, in-links from then on), with rising days.
    counts: Vec<(f64, u32)>,
}

impl LinkHistory {
    /// From the days on which links to the page were made or lost, with +1 or -1, in any order.
    pub fn of_events(born_days: f64, gone_days: f64, mut events: Vec<(f64, i32)>) -> Self {
        events.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut count = 0i32;
        let counts = events.into_iter().map(|(days, change)| {
            count += change;
            (days, count.max(0) as u32)
        });
        Self { born_days, gone_days, counts: counts.collect() }
    }

    /// In-links on a day.
    pub fn links(&self, at_days: f64) -> u32 {
        let made = self.counts.partition_point(|count| count.0 <= at_days);
        made.checked_sub(1).map_or(0, |last| self.counts[last].1)
    }
}

/// How cohorts are valued and judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CohortRules {
    /// Age up to which a page is young.
    pub young_days: f64,
    /// Days from the valuation to the judgement.
    pub horizon_days: f64,
    /// Days between two looks at a page. A page with fewer than three looks has no quality, and is left out.
    pub look_every_days: f64,
}

/// How young pages are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By in-links now.
    Popularity,
    /// By in-links a day of age.
    Growth,
    /// By quality (eq 21, by the slope of the logarithm).
    Quality,
    /// By the popularity that eq 20 foresees at the horizon for that quality.
    Forecast,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Popularity, Self::Growth, Self::Quality, Self::Forecast];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Popularity => "popularity",
            Self::Growth => "in-links a day of age",
            Self::Quality => "quality",
            Self::Forecast => "popularity foreseen",
        }
    }
}

/// How well an order foresaw the in-links of young pages: means over cohorts, weighted by their pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrderScore {
    /// Young pages of all cohorts.
    pub pages: usize,
    /// Spearman's rank correlation with the later in-links, -1 to 1.
    pub spearman: f64,
    /// Kendall's tau-b with them.
    pub kendall: f64,
    /// Share of the tenth of the pages with the most later in-links that is in the first tenth of the order.
    pub top_tenth_share: f64,
}

/// Fewest pages of a cohort that count: with fewer, a rank correlation says little.
const LEAST_PAGES: usize = 10;
/// Values of r, visits per user and day, from which the best is chosen on earlier cohorts.
const VISIT_RATES: [f64; 12] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];

/// A page, and its later in-links.
type Valued = ([f64; Order::ALL.len()], f64);

/// The visit rate r by which quality orders the pages of these cohorts best. A crawl would learn it so from its past.
pub fn best_visit_rate(histories: &[LinkHistory], cohorts: &[f64], rules: &CohortRules) -> f64 {
    let spearman = |rate: &f64| judge(histories, cohorts, rules, *rate)[2].spearman;
    let best = VISIT_RATES.into_iter().max_by(|one, other| spearman(one).total_cmp(&spearman(other)));
    best.unwrap_or(1.0)
}

/// Scores of each order over the cohorts of these days, in the order of [`Order::ALL`].
pub fn judge(
    histories: &[LinkHistory],
    cohorts: &[f64],
    rules: &CohortRules,
    visit_rate_per_day: f64,
) -> [OrderScore; Order::ALL.len()] {
    let mut scores = [OrderScore::default(); Order::ALL.len()];
    for &at_days in cohorts {
        let pages = value(histories, at_days, rules, visit_rate_per_day);
        if pages.len() < LEAST_PAGES {
            continue;
        }
        let later: Vec<f64> = pages.iter().map(|page| page.1).collect();
        for (order, score) in scores.iter_mut().enumerate() {
            let values: Vec<f64> = pages.iter().map(|page| page.0[order]).collect();
            let weight = pages.len() as f64;
            score.pages += pages.len();
            score.spearman += weight * spearman(&values, &later);
            score.kendall += weight * kendall(&values, &later);
            score.top_tenth_share += weight * top_tenth_share(&values, &later);
        }
    }
    for score in &mut scores {
        let pages = score.pages.max(1) as f64;
        score.spearman /= pages;
        score.kendall /= pages;
        score.top_tenth_share /= pages;
    }
    scores
}

/// The pages that are young on a day, valued by each order.
fn value(histories: &[LinkHistory], at_days: f64, rules: &CohortRules, visit_rate_per_day: f64) -> Vec<Valued> {
    // A page is known by a link, so it counts one more: a logarithm needs that, too.
    let links = |history: &LinkHistory, days: f64| f64::from(history.links(days)) + 1.0;
    let there = |history: &&LinkHistory| history.born_days <= at_days && history.gone_days > at_days;
    // Popularity is a share: of those who could link, as many as link the most popular page.
    let most = histories.iter().filter(there).map(|history| links(history, at_days)).fold(1.0, f64::max);
    let later_days = at_days + rules.horizon_days;
    let young = histories
        .iter()
        .filter(there)
        .filter(|history| history.born_days > at_days - rules.young_days && history.gone_days > later_days);
    young
        .filter_map(|history| {
            let looked = |days: f64| links(history, days) / most;
            let (fast, slow) = (2.0 * rules.look_every_days, 6.0 * rules.look_every_days);
            let mut trend = Trend::new(fast, slow, history.born_days, looked(history.born_days))?;
            let mut days = history.born_days + rules.look_every_days;
            while days <= at_days {
                trend.look(days, looked(days));
                days += rules.look_every_days;
            }
            let now = looked(at_days);
            // Not clamped: only the order counts, and quality far above popularity is what is looked for.
            let quality = trend.slope()? / visit_rate_per_day + now;
            let foreseen = popularity(quality.max(now / 4.0), now, visit_rate_per_day, rules.horizon_days);
            let age_days = at_days - history.born_days;
            Some(([now, now / age_days, quality, foreseen], links(history, later_days)))
        })
        .collect()
}

/// Share of the tenth with the largest results that is in the tenth with the largest values; ties by the order given.
fn top_tenth_share(values: &[f64], results: &[f64]) -> f64 {
    let tenth = values.len().div_ceil(10);
    let first = |numbers: &[f64]| {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|one, other| numbers[*other].total_cmp(&numbers[*one]));
        order.truncate(tenth);
        order
    };
    let best = first(results);
    first(values).iter().filter(|page| best.contains(page)).count() as f64 / tenth.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CohortRules = CohortRules { young_days: 100.0, horizon_days: 100.0, look_every_days: 2.0 };

    /// Pages of one age whose in-links follow eq 20 without chance, each with a quality of its own.
    fn by_the_formula() -> Vec<LinkHistory> {
        let page = |number: u32| {
            let (quality, start) = (0.1 + f64::from(number % 10) / 10.0, 0.001 * f64::from(1 + number % 7));
            let links = |day: u32| (10_000.0 * popularity(quality, start, 0.06, f64::from(day))) as usize;
            let events = (0..400).flat_map(|day: u32| {
                let made = links(day) - if day > 0 { links(day - 1) } else { 0 };
                std::iter::repeat_n((f64::from(day), 1), made)
            });
            LinkHistory::of_events(0.0, f64::INFINITY, events.collect())
        };
        (0..70).map(page).collect()
    }

    #[test]
    fn where_the_model_holds_quality_foresees_what_popularity_does_not() {
        let histories = by_the_formula();
        let rate = best_visit_rate(&histories, &[30.0], &RULES);
        assert!((0.003..=0.1).contains(&rate), "{rate}");
        let [popularity, _, quality, foreseen] = judge(&histories, &[30.0], &RULES, rate);
        assert_eq!(popularity.pages, 70);
        assert!(quality.spearman > 0.97 && quality.kendall > 0.9, "{quality:?}");
        assert!(foreseen.spearman > 0.97 && foreseen.kendall > 0.9, "{foreseen:?}");
        assert!(popularity.spearman < 0.85 && popularity.kendall < 0.7, "{popularity:?}");
    }

    #[test]
    fn only_pages_that_are_young_and_stay_are_valued() {
        let page = |born_days, gone_days| LinkHistory::of_events(born_days, gone_days, vec![(born_days + 1.0, 1)]);
        let stays = f64::INFINITY;
        let pages = [page(0.0, stays), page(150.0, stays), page(150.0, 250.0), page(197.0, stays), page(210.0, stays)];
        // Too old; young; gone before the horizon; too few looks; not born.
        assert_eq!(value(&pages, 200.0, &RULES, 0.1).len(), 1);
        assert_eq!(judge(&pages, &[200.0], &RULES, 0.1)[0], OrderScore::default());
        let lost = LinkHistory::of_events(0.0, stays, vec![(3.0, -1), (1.0, 1), (2.0, 1)]);
        assert_eq!([0.5, 1.0, 2.5, 3.0].map(|days| lost.links(days)), [0, 1, 2, 1]);
    }
}
