//! B12: freshness of the best allocation for rates that were estimated from a few looks.

mod measured;

use self::measured::MEASURED;
use super::papers::pages;
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::{Draws, RandomStream};
use change_rate::{
    BeliefSums, ChangeRateEstimator, CheckCounts, Gamma, GammaPrior, HalfCount, HostPriors, LawOfLargeNumbers,
    LookOutcome, MaximumLikelihood, MomentMatching, NaiveRatio, Regularisation,
};
use revisit::allocate::{self, Objective, PageTerms};
use revisit::demand_curve::DemandCurve;

/// The reference took one population five times as large.
const HOSTS: usize = 80;
const REFERENCE_REPLICATES: usize = 5;
const PAGES_PER_HOST: usize = 50;
/// Mean interval between looks.
const INTERVAL_DAYS: f64 = 2.0;
/// Fetches per page and day.
const BUDGETS: [f64; 2] = [0.1, 0.5];
/// Best, uniform and proportional freshness at these budgets.
const KNOWN: [[f64; 3]; 2] = [[0.7173, 0.5059, 0.2667], [0.8949, 0.7940, 0.7096]];

const NAMES: [&str; 9] = [
    "naive ratio",
    "half counts",
    "law of large numbers",
    "moment matching",
    "maximum likelihood, pseudo looks of .5",
    "Gamma filter, vague prior",
    "Gamma filter, learned prior",
    "Gamma filter, learned prior per host",
    "Gamma filter, learned prior per host, crawl value",
];

/// Names of the estimators in the catalogue.
const CATALOGUE_NAMES: [&str; 9] = [
    "naive",
    "half-count",
    "lln",
    "moment-matching",
    "maximum-likelihood",
    "gamma",
    "gamma",
    "gamma-grouped",
    "gamma-grouped",
];

/// The loss against known rates. Both are paired, because populations differ more than estimators do.
pub(super) fn by_estimated_rates(effort: &Effort) -> Vec<ReproductionRow> {
    let curve = DemandCurve::new(Objective::FRESHNESS);
    let mut known = vec![Measurements::default(); 6];
    let mut lost = vec![vec![vec![Measurements::default(); 2]; NAMES.len()]; MEASURED.len()];
    for replicate in 0..effort.replicates(16, 2) {
        let mut stream = effort.stream(replicate);
        let population = population(&mut stream);
        let best: Vec<f64> = (0..2)
            .map(|budget| {
                let per_day = BUDGETS[budget] * population.len() as f64;
                let fresh = |rates: &[f64]| allocate::freshness(&population, rates);
                let best = fresh(&allocate::optimal_for(&curve, &population, per_day).fetch_rates_per_day);
                let others = [
                    best,
                    fresh(&vec![BUDGETS[budget]; population.len()]),
                    fresh(&allocate::proportional_fetches_per_day(&population, per_day)),
                ];
                others.into_iter().enumerate().for_each(|(i, value)| known[3 * budget + i].add(value));
                best
            })
            .collect();
        for (regular, looks) in [true, false].into_iter().flat_map(|regular| [3, 10, 40].map(|looks| (regular, looks)))
        {
            let study = AllocationStudy::new(&population, &mut stream, regular, looks);
            for (row, &(of_looks, budget, references)) in MEASURED.iter().enumerate() {
                if of_looks != looks {
                    continue;
                }
                for (estimator, reference) in references.iter().enumerate() {
                    if reference[0].is_finite() {
                        let rates = study.fetch_rates(&curve, estimator, BUDGETS[budget]);
                        let fresh = allocate::freshness(&population, &rates);
                        lost[row][estimator][usize::from(!regular)].add(best[budget] - fresh);
                    }
                }
            }
        }
    }

    let mut rows = Vec::new();
    for (budget, references) in KNOWN.iter().enumerate() {
        for (i, name) in ["best", "uniform", "proportional"].into_iter().enumerate() {
            let what = format!("freshness, {name} by true rates, {} fetches per page and day", BUDGETS[budget]);
            let sample = &known[3 * budget + i];
            let row = ReproductionRow::sampled("B12", what, references[i], sample, REFERENCE_REPLICATES, 5e-5);
            let policy = ["optimal-freshness", "uniform", "proportional"][i];
            rows.push(row.policy(policy).estimator("known").budget(BUDGETS[budget]).giving_weighted_freshness());
        }
    }
    for (row, (looks, budget, references)) in MEASURED.iter().enumerate() {
        for (estimator, reference) in references.iter().enumerate() {
            for (i, order) in ["regular", "exponential"].into_iter().enumerate().filter(|_| reference[0].is_finite()) {
                let what = format!(
                    "freshness lost to true rates, {}, {looks} {order} looks, {} fetches per page and day",
                    NAMES[estimator], BUDGETS[*budget]
                );
                let (sample, reference) = (&lost[row][estimator][i], KNOWN[*budget][0] - reference[i]);
                let measured = ReproductionRow::sampled("B12", what, reference, sample, REFERENCE_REPLICATES, 1e-4);
                let reached = known[3 * budget].mean() - sample.mean();
                let policy = if estimator == NAMES.len() - 1 { "crawl-value" } else { "optimal-freshness" };
                let measured = measured.policy(policy).estimator(CATALOGUE_NAMES[estimator]);
                rows.push(measured.budget(BUDGETS[*budget]).weighted_freshness(reached));
            }
        }
    }
    rows
}

/// Hosts of different rates, pages of similar ones; heavy-tailed weights.
fn population(stream: &mut RandomStream) -> Vec<PageTerms> {
    let mut terms = Vec::with_capacity(HOSTS * PAGES_PER_HOST);
    for _ in 0..HOSTS {
        let ln_rate = 0.15f64.ln() + 1.2 * stream.normal();
        terms.extend((0..PAGES_PER_HOST).map(|_| ((ln_rate + 0.7 * stream.normal()).exp(), 0.0)));
    }
    terms.iter_mut().for_each(|(_, weight)| *weight = stream.pareto(1.5) - 1.0 + 0.1);
    pages(terms)
}

/// The observations of every page.
struct AllocationStudy<'a> {
    population: &'a [PageTerms],
    looks: Vec<Vec<(f64, LookOutcome)>>,
    /// By estimator without beliefs, and page.
    point_estimates: Vec<Vec<f64>>,
    vague: Vec<Gamma>,
    learned: Vec<Gamma>,
    by_host: Vec<Gamma>,
}

impl<'a> AllocationStudy<'a> {
    fn new(population: &'a [PageTerms], stream: &mut RandomStream, regular: bool, looks: usize) -> Self {
        let mut look = |rate: f64| {
            let interval = INTERVAL_DAYS * if regular { 1.0 } else { stream.exponential() };
            let changed = stream.exponential() < rate * interval;
            (interval, if changed { LookOutcome::Changed } else { LookOutcome::Unchanged })
        };
        let looks =
            population.iter().map(|page| (0..looks).map(|_| look(page.change_rate_per_day)).collect()).collect();
        let vague = GammaPrior::new(1.0, 0.5 * INTERVAL_DAYS).expect("positive");
        let mut study = Self {
            population,
            looks,
            point_estimates: Vec::new(),
            vague: Vec::new(),
            learned: Vec::new(),
            by_host: Vec::new(),
        };
        let pseudo_looks = Regularisation::PseudoLooks { days: 0.5 };
        let pseudo_looks = MaximumLikelihood::new(pseudo_looks).expect("half a day is a length");
        study.point_estimates = (0..5)
            .map(|estimator| study.looks.iter().map(|looks| point_estimate(estimator, &pseudo_looks, looks)).collect())
            .collect();
        study.vague = study.beliefs(|_| vague);
        let mut learned = vague;
        for _ in 0..6 {
            let all = sums(&study.beliefs(|_| learned));
            let priors = HostPriors::learned([&all], learned);
            learned = prior(priors.alpha(), priors.mean_per_day());
        }
        study.learned = study.beliefs(|_| learned);
        let mut by_host = vec![learned; HOSTS];
        for round in 0..6 {
            study.by_host = study.beliefs(|host| by_host[host]);
            if round < 5 {
                let hosts: Vec<BeliefSums> = study.by_host.chunks(PAGES_PER_HOST).map(sums).collect();
                let alpha = HostPriors::learned(&hosts, learned).alpha();
                by_host = hosts.iter().map(|host| prior(alpha, host.means_per_day / host.pages)).collect();
            }
        }
        study
    }

    fn beliefs(&self, prior: impl Fn(usize) -> GammaPrior) -> Vec<Gamma> {
        let belief = |(page, looks): (usize, &Vec<(f64, LookOutcome)>)| {
            let belief = prior(page / PAGES_PER_HOST).belief();
            looks.iter().fold(belief, |belief, &(interval, outcome)| belief.after(interval, outcome))
        };
        self.looks.iter().enumerate().map(belief).collect()
    }

    /// Fetches per day of every page by the estimator at this index in [`NAMES`].
    fn fetch_rates(&self, curve: &DemandCurve, estimator: usize, per_page: f64) -> Vec<f64> {
        let budget = per_page * self.population.len() as f64;
        if estimator == 8 {
            return by_crawl_value(self.population, &self.by_host, budget);
        }
        let means = |beliefs: &[Gamma]| beliefs.iter().map(|belief| belief.mean()).collect();
        let rates: Vec<f64> = match estimator {
            5 => means(&self.vague),
            6 => means(&self.learned),
            7 => means(&self.by_host),
            _ => self.point_estimates[estimator].clone(),
        };
        let estimated: Vec<PageTerms> = self
            .population
            .iter()
            .zip(rates)
            .map(|(page, change_rate_per_day)| PageTerms { change_rate_per_day, ..*page })
            .collect();
        allocate::optimal_for(curve, &estimated, budget).fetch_rates_per_day
    }
}

/// By the estimator at this index in [`NAMES`].
fn point_estimate(estimator: usize, pseudo_looks: &MaximumLikelihood, looks: &[(f64, LookOutcome)]) -> f64 {
    let mut counts = CheckCounts::default();
    looks.iter().for_each(|&(interval, outcome)| counts.add(interval, outcome));
    let rate = match estimator {
        0 => NaiveRatio.change_rate_per_day(&counts),
        1 => HalfCount.change_rate_per_day(&counts),
        2 => LawOfLargeNumbers.change_rate_per_day(&counts),
        3 => MomentMatching { half_counts: false }.rate_of_looks(looks).min(10.0 / INTERVAL_DAYS),
        _ => pseudo_looks.rate_of_looks(looks),
    };
    // No page is abandoned, and none is fetched all the time.
    rate.clamp(0.02 / (looks.len() as f64 * INTERVAL_DAYS), 50.0 / INTERVAL_DAYS)
}

fn prior(alpha: f64, mean_per_day: f64) -> GammaPrior {
    GammaPrior::new(alpha, alpha / mean_per_day).expect("means of positive rates are positive")
}

fn sums(beliefs: &[Gamma]) -> BeliefSums {
    let mut sums = BeliefSums::default();
    beliefs.iter().for_each(|&belief| sums.add(belief));
    sums
}

/// Fetches every page when its crawl value, averaged over the belief, reaches one common price. Pages whose value never
/// does are not fetched.
fn by_crawl_value(pages: &[PageTerms], beliefs: &[Gamma], budget: f64) -> Vec<f64> {
    const LN_DAYS_MAX: f64 = 18.0;
    let ln_days = |page: &PageTerms, belief: &Gamma, price: f64| {
        let (mut low, mut high) = (-LN_DAYS_MAX, LN_DAYS_MAX);
        while high - low > 1e-4 {
            let middle = 0.5 * (low + high);
            if page.weight * belief.crawl_value_binary(middle.exp()) < price {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    };
    let rates = |ln_price: f64| -> Vec<f64> {
        let rate = |(page, belief)| {
            let ln_days = ln_days(page, belief, f64::exp(ln_price));
            if ln_days < LN_DAYS_MAX - 1e-3 { (-ln_days).exp() } else { 0.0 }
        };
        pages.iter().zip(beliefs).map(rate).collect()
    };
    let (mut low, mut high) = (-12.0, 12.0);
    while high - low > 1e-4 {
        let middle = 0.5 * (low + high);
        if rates(middle).iter().sum::<f64>() > budget {
            low = middle;
        } else {
            high = middle;
        }
    }
    rates(high)
}
