//! C18: one budget, doubled half-way, over six shards of different sizes and rates. Every shard fetches its own pages
//! of the highest crawl value; the sharings differ in how much each shard may spend.

use super::papers::pages;
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::{Draws, RandomStream};
use revisit::Policy;
use revisit::allocate::{self, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;
use revisit::histogram::RatioHistogram;

const PAGES: usize = 6_000;
const SIZES: [f64; 6] = [0.35, 0.2, 0.15, 0.12, 0.1, 0.08];
const SHARDS: usize = SIZES.len();
const STEP_DAYS: f64 = 0.05;
const STEPS: usize = 1600;
/// Until 40 days; then twice as much.
const BUDGET_PER_DAY: f64 = 0.15 * PAGES as f64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sharing {
    /// As if there were no shards.
    None,
    /// By the demand of each shard's histogram at the common price, solved once a day.
    ByDemand,
    /// All pages above one price, which follows what was spent.
    Feedback,
    /// Proportional to the number of pages.
    BySize,
}

const MEASURED: [(Sharing, &str, [f64; 2]); 4] = [
    (Sharing::None, "no shards", [0.75713, 0.83950]),
    (Sharing::ByDemand, "shares by demand", [0.75715, 0.83955]),
    (Sharing::Feedback, "threshold with feedback", [0.75691, 0.83958]),
    (Sharing::BySize, "shares by number of pages", [0.75142, 0.83397]),
];
const BEST: [f64; 2] = [0.76156, 0.84513];

/// The loss against the best freshness, before and after the budget doubles.
pub(super) fn budget_shares(effort: &Effort) -> Vec<ReproductionRow> {
    let mut best = vec![Measurements::default(); 2];
    let mut lost = vec![Measurements::default(); 2 * MEASURED.len()];
    // The best freshness depends on six rates, so it takes many populations to know its variance.
    let populations = effort.replicates(48, 8);
    let run = effort.replicates(6, 2);
    for replicate in 0..populations {
        let population = ShardedPopulation::new(&mut effort.stream(replicate));
        let optimum = [BUDGET_PER_DAY, 2.0 * BUDGET_PER_DAY].map(|budget| {
            let rates = allocate::optimal(&population.pages, budget, 0.0).fetch_rates_per_day;
            allocate::freshness(&population.pages, &rates)
        });
        best.iter_mut().zip(optimum).for_each(|(sample, value)| sample.add(value));
        for (samples, (sharing, ..)) in lost.chunks_mut(2).zip(&MEASURED).filter(|_| replicate < run) {
            let achieved = population.run(*sharing);
            samples.iter_mut().zip(optimum).zip(achieved).for_each(|((sample, best), value)| sample.add(best - value));
        }
    }
    let phases = [("", 0.15), (", budget doubled", 0.3)];
    let best_of = |(i, (phase, budget)): (usize, (&str, f64))| {
        let row =
            ReproductionRow::sampled("C18", format!("best freshness of six shards{phase}"), BEST[i], &best[i], 1, 5e-6);
        row.policy("optimal-freshness").estimator("known").budget(budget).giving_weighted_freshness()
    };
    let mut rows: Vec<ReproductionRow> = phases.into_iter().enumerate().map(best_of).collect();
    for (samples, (_, name, references)) in lost.chunks(2).zip(&MEASURED) {
        rows.extend((0..2).map(|i| {
            let (phase, budget) = phases[i];
            let what = format!("freshness lost to the best, {name}{phase}");
            let row = ReproductionRow::sampled("C18", what, BEST[i] - references[i], &samples[i], 1, 1e-5);
            let row = row.policy("crawl-value").estimator("known").budget(budget);
            row.weighted_freshness(best[i].mean() - samples[i].mean())
        }));
    }
    rows
}

struct ShardedPopulation {
    pages: Vec<PageTerms>,
    /// The pages of each shard.
    shards: Vec<Vec<usize>>,
    /// Time of each page's last fetch, at the start.
    last_days: Vec<f64>,
}

impl ShardedPopulation {
    fn new(stream: &mut RandomStream) -> Self {
        let ln_rates = SIZES.map(|_| 0.1f64.ln() + stream.normal());
        let importance = SIZES.map(|_| (0.5 * stream.normal()).exp());
        let mut shards = vec![Vec::new(); SHARDS];
        let terms: Vec<(f64, f64)> = (0..PAGES)
            .map(|page| {
                let mut rest = stream.uniform();
                let shard = SIZES.iter().position(|size| {
                    rest -= size;
                    rest < 0.0
                });
                let shard = shard.unwrap_or(SHARDS - 1);
                shards[shard].push(page);
                let rate = (ln_rates[shard] + stream.normal()).exp();
                (rate, (stream.pareto(1.4) - 1.0 + 0.05) * importance[shard])
            })
            .collect();
        let total: f64 = terms.iter().map(|(_, weight)| weight).sum();
        let pages = pages(terms.into_iter().map(|(rate, weight)| (rate, weight / total)));
        let last_days = (0..PAGES).map(|_| -5.0 * stream.uniform()).collect();
        Self { pages, shards, last_days }
    }

    /// Price of a budget, and each shard's demand at it.
    fn demand(&self, curve: &DemandCurve, budget: f64) -> (f64, Vec<f64>) {
        let of = |pages: &Vec<usize>| {
            let mut histogram = RatioHistogram::default();
            for page in pages.iter().map(|&page| &self.pages[page]) {
                histogram.add(page.change_rate_per_day, page.weight, page.cost);
            }
            histogram
        };
        let shards: Vec<RatioHistogram> = self.shards.iter().map(of).collect();
        let mut all = RatioHistogram::default();
        shards.iter().for_each(|shard| all.merge(shard));
        let price = all.price(curve, budget);
        let policy = Policy::Optimal { theta: 0.0 };
        (price, shards.iter().map(|shard| shard.demand(&policy, price)).collect())
    }

    /// Mean freshness from day 15 to 40, and from 55 to 80.
    fn run(&self, sharing: Sharing) -> [f64; 2] {
        let curve = DemandCurve::new(Objective::FRESHNESS);
        let demands = [1.0, 2.0].map(|factor| self.demand(&curve, factor * BUDGET_PER_DAY));
        let everything = vec![(0..PAGES).collect::<Vec<usize>>()];
        let shards = if sharing == Sharing::None { &everything } else { &self.shards };
        let mut last_days = self.last_days.clone();
        let mut tokens = vec![0.0; shards.len()];
        let (mut price, mut spent_per_day) = (demands[0].0, None);
        let mut periods = [Measurements::default(), Measurements::default()];
        let mut values = vec![0.0; PAGES];
        let mut order: Vec<usize> = Vec::new();
        for step in 1..=STEPS {
            let now = step as f64 * STEP_DAYS;
            let doubled = usize::from(now >= 40.0);
            let budget = BUDGET_PER_DAY * (doubled + 1) as f64;
            let mut fresh = 0.0;
            for (page, terms) in self.pages.iter().enumerate() {
                let x = terms.change_rate_per_day * (now - last_days[page]);
                let unchanged = (-x).exp();
                // The crawl value for freshness; near zero, where digits are lost, no page is chosen.
                values[page] = terms.weight / terms.change_rate_per_day * (1.0 - unchanged - x * unchanged);
                fresh += terms.weight * unchanged;
            }
            if (now > 15.0 && now < 40.0) || now > 55.0 {
                periods[doubled].add(fresh);
            }
            if sharing == Sharing::Feedback {
                let mut fetched = 0.0;
                for page in (0..PAGES).filter(|&page| values[page] >= price) {
                    last_days[page] = now;
                    fetched += 1.0;
                }
                let rate = fetched / STEP_DAYS;
                let average = spent_per_day.map_or(rate, |before: f64| 0.9 * before + 0.1 * rate);
                spent_per_day = Some(average);
                price *= (0.05 * (average / budget - 1.0)).exp();
                continue;
            }
            for (shard, members) in shards.iter().enumerate() {
                tokens[shard] += STEP_DAYS
                    * match sharing {
                        Sharing::ByDemand => demands[doubled].1[shard],
                        _ => budget * members.len() as f64 / PAGES as f64,
                    };
                let fetches = (tokens[shard] as usize).min(members.len());
                tokens[shard] -= fetches as f64;
                if fetches > 0 {
                    order.clone_from(members);
                    order.select_nth_unstable_by(fetches - 1, |&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
                    order[..fetches].iter().for_each(|&page| last_days[page] = now);
                }
            }
        }
        periods.map(|period| period.mean())
    }
}
