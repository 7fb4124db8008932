//! B12: learning while fetching. Every twentieth of a day the pages of the highest crawl value are fetched; what is
//! found teaches the estimator, which decides what is fetched next.

use super::row::Sample;
use super::{Effort, Row};
use crate::chance::Stream;
use change_rate::{
    BeliefSums, ChangeRateEstimator, CheckCounts, Gamma, GammaPrior, HalfCount, HostPriors, LawOfLargeNumbers,
    NaiveRatio, Outcome,
};
use revisit::kernels;

const HOSTS: usize = 100;
const PAGES_PER_HOST: usize = 50;
const PAGES: usize = HOSTS * PAGES_PER_HOST;
const STEP_DAYS: f64 = 0.05;
const STEPS: usize = 1200;
/// 0.2 fetches per page and day.
const FETCHES_PER_STEP: usize = 50;
/// How often hosts' priors are learned anew, in steps: half a day.
const RELEARN_STEPS: usize = 10;
/// Rate of a page before its first look.
const USUAL_PER_DAY: f64 = 0.2;
const PRIOR_ALPHA: f64 = 1.2;

/// How pages are valued.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Policy {
    Uniform,
    Oracle,
    Naive,
    HalfCount,
    LargeNumbers,
    /// A rate drawn from the belief at every look.
    Thompson,
    Gamma {
        by_host: bool,
        average_value: bool,
        forgetting_days: f64,
    },
}

const GAMMA: Policy = Policy::Gamma { by_host: false, average_value: false, forgetting_days: f64::INFINITY };
const BY_HOST: Policy = Policy::Gamma { by_host: true, average_value: false, forgetting_days: f64::INFINITY };
const BY_VALUE: Policy = Policy::Gamma { by_host: true, average_value: true, forgetting_days: f64::INFINITY };
const FORGETFUL: Policy = Policy::Gamma { by_host: true, average_value: true, forgetting_days: 20.0 };

/// The oracle comes first: the others are compared with it.
const STATIONARY: &[(Policy, &str, f64)] = &[
    (Policy::Oracle, "true rates", 0.8158),
    (Policy::Uniform, "uniform", 0.6577),
    (Policy::LargeNumbers, "law of large numbers", 0.7906),
    (Policy::HalfCount, "half counts", 0.7921),
    (Policy::Thompson, "Thompson sampling", 0.7937),
    (Policy::Naive, "naive ratio", 0.7995),
    (GAMMA, "Gamma filter", 0.8070),
    (BY_HOST, "Gamma filter, priors per host", 0.8098),
    (BY_VALUE, "Gamma filter, priors per host, crawl value", 0.8100),
];

const SWITCHING: &[(Policy, &str, f64)] = &[
    (Policy::Oracle, "true rates", 0.8047),
    (Policy::HalfCount, "half counts", 0.7782),
    (BY_HOST, "Gamma filter, priors per host", 0.7939),
    (FORGETFUL, "Gamma filter, priors per host, crawl value, forgetting 20 d", 0.7965),
];

/// Mean weighted freshness of 60 days from a cold start: of the oracle itself, and what the others lose to it.
pub(super) fn learning(effort: &Effort) -> Vec<Row> {
    const SEEDS: usize = 6;
    let mut rows = Vec::new();
    for (title, switches_per_day, contestants) in
        [("steady rates", 0.0, STATIONARY), ("4 % of the rates change every day", 0.04, SWITCHING)]
    {
        let mut samples = vec![Sample::default(); contestants.len()];
        for replicate in 0..effort.replicates(SEEDS, 2) {
            let mut oracle = 0.0;
            for (sample, &(policy, ..)) in samples.iter_mut().zip(contestants) {
                let freshness = Loop::new(effort.stream(replicate), policy, switches_per_day).run();
                if policy == Policy::Oracle {
                    oracle = freshness;
                    sample.add(freshness);
                } else {
                    sample.add(oracle - freshness);
                }
            }
        }
        let oracle = contestants[0].2;
        for (sample, &(policy, name, reference)) in samples.iter().zip(contestants) {
            rows.push(if policy == Policy::Oracle {
                Row::sampled("B12", format!("freshness, {name}, {title}"), reference, sample, SEEDS, 5e-5)
            } else {
                let what = format!("freshness lost to true rates, {name}, {title}");
                Row::sampled("B12", what, oracle - reference, sample, SEEDS, 1e-4)
            });
        }
    }
    rows
}

struct Loop {
    policy: Policy,
    switches_per_day: f64,
    stream: Stream,
    host_ln_rates: Vec<f64>,
    rates: Vec<f64>,
    weights: Vec<f64>,
    last_days: Vec<f64>,
    /// When the copy goes stale.
    stale_days: Vec<f64>,
    counts: Vec<CheckCounts>,
    priors: Vec<GammaPrior>,
    /// What a page's looks added to its prior.
    evidence: Vec<(f64, f64)>,
    /// The rate that the page is valued by.
    believed: Vec<f64>,
}

impl Loop {
    fn new(mut stream: Stream, policy: Policy, switches_per_day: f64) -> Self {
        let host_ln_rates: Vec<f64> = (0..HOSTS).map(|_| 0.15f64.ln() + 1.2 * stream.normal()).collect();
        let rates: Vec<f64> =
            (0..PAGES).map(|page| (host_ln_rates[page / PAGES_PER_HOST] + 0.7 * stream.normal()).exp()).collect();
        let mut weights: Vec<f64> = (0..PAGES).map(|_| stream.pareto(1.5) - 1.0 + 0.1).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let last_days: Vec<f64> = (0..PAGES).map(|_| -stream.uniform()).collect();
        let stale_days = last_days.iter().zip(&rates).map(|(last, rate)| last + stream.exponential() / rate).collect();
        let believed = match policy {
            Policy::Oracle => rates.clone(),
            Policy::Thompson => (0..PAGES).map(|_| stream.gamma(PRIOR_ALPHA) * USUAL_PER_DAY / PRIOR_ALPHA).collect(),
            _ => vec![USUAL_PER_DAY; PAGES],
        };
        let prior = GammaPrior::new(PRIOR_ALPHA, PRIOR_ALPHA / USUAL_PER_DAY).expect("positive");
        Self {
            policy,
            switches_per_day,
            stream,
            host_ln_rates,
            rates,
            weights,
            last_days,
            stale_days,
            counts: vec![CheckCounts::default(); PAGES],
            priors: vec![prior; HOSTS],
            evidence: vec![(0.0, 0.0); PAGES],
            believed,
        }
    }

    fn run(mut self) -> f64 {
        let mut freshness = 0.0;
        let mut values: Vec<(f64, usize)> = vec![(0.0, 0); PAGES];
        for step in 1..=STEPS {
            let now = step as f64 * STEP_DAYS;
            if self.switches_per_day > 0.0 {
                self.switch_rates(now);
            }
            freshness += self.freshness(now);
            for (page, value) in values.iter_mut().enumerate() {
                *value = (self.value(page, now - self.last_days[page]), page);
            }
            values.select_nth_unstable_by(FETCHES_PER_STEP, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for &(_, page) in &values[..FETCHES_PER_STEP] {
                self.look(page, now);
            }
            if step % RELEARN_STEPS == 0 && self.by_host() {
                self.relearn();
            }
        }
        freshness / STEPS as f64
    }

    /// Weighted share of the copies that are current: as expected, or as it is where rates change.
    fn freshness(&self, now: f64) -> f64 {
        let fresh = |page: usize| {
            if self.switches_per_day > 0.0 {
                f64::from(u8::from(self.stale_days[page] > now))
            } else {
                (-self.rates[page] * (now - self.last_days[page])).exp()
            }
        };
        (0..PAGES).map(|page| self.weights[page] * fresh(page)).sum()
    }

    fn value(&self, page: usize, days: f64) -> f64 {
        match self.policy {
            Policy::Uniform => days,
            Policy::Gamma { average_value: true, .. } => {
                self.weights[page] * self.belief(page).crawl_value_binary(days)
            }
            _ => self.weights[page] * kernels::binary(self.believed[page] * days) / self.believed[page],
        }
    }

    fn by_host(&self) -> bool {
        matches!(self.policy, Policy::Gamma { by_host: true, .. })
    }

    fn belief(&self, page: usize) -> Gamma {
        let (prior, (alpha, beta)) = (self.priors[page / PAGES_PER_HOST], self.evidence[page]);
        Gamma::new(prior.alpha() + alpha, prior.beta_days() + beta).expect("a prior and what was added to it")
    }

    fn look(&mut self, page: usize, now: f64) {
        let interval = now - self.last_days[page];
        let outcome = if self.stale_days[page] <= now { Outcome::Changed } else { Outcome::Unchanged };
        self.last_days[page] = now;
        self.stale_days[page] = now + self.stream.exponential() / self.rates[page];
        let counts = &mut self.counts[page];
        counts.add(interval, outcome);
        let watched = f64::from(counts.watched_days).max(1e-9);
        // A page never seen to change is not given up.
        match self.policy {
            Policy::Uniform | Policy::Oracle => {}
            Policy::Naive => self.believed[page] = NaiveRatio.change_rate_per_day(counts).max(0.1 / watched),
            Policy::HalfCount => self.believed[page] = HalfCount.change_rate_per_day(counts).max(0.05 / watched),
            Policy::LargeNumbers => {
                self.believed[page] = LawOfLargeNumbers.change_rate_per_day(counts).max(0.05 / watched);
            }
            Policy::Thompson | Policy::Gamma { .. } => {
                if let Policy::Gamma { forgetting_days, .. } = self.policy {
                    let kept = (-interval / forgetting_days).exp();
                    self.evidence[page].0 *= kept;
                    self.evidence[page].1 *= kept;
                }
                let belief = self.belief(page).after(interval, outcome);
                let prior = self.priors[page / PAGES_PER_HOST];
                self.evidence[page] = (belief.alpha() - prior.alpha(), belief.beta_days() - prior.beta_days());
                self.believed[page] = if self.policy == Policy::Thompson {
                    self.stream.gamma(belief.alpha()) / belief.beta_days()
                } else {
                    belief.mean()
                };
            }
        }
    }

    /// Priors of all hosts from the beliefs about their pages.
    fn relearn(&mut self) {
        let mut hosts = vec![BeliefSums::default(); HOSTS];
        for page in (0..PAGES).filter(|&page| self.counts[page].looks > 0.0) {
            hosts[page / PAGES_PER_HOST].add(self.belief(page));
        }
        let before = GammaPrior::new(PRIOR_ALPHA, PRIOR_ALPHA / USUAL_PER_DAY).expect("positive");
        let priors = HostPriors::learned(&hosts, before);
        self.priors = hosts.iter().map(|host| priors.prior_of(host)).collect();
        for page in 0..PAGES {
            self.believed[page] = self.belief(page).mean();
        }
    }

    /// Some pages change their habits, within what is usual on their host.
    fn switch_rates(&mut self, now: f64) {
        let probability = self.switches_per_day * STEP_DAYS;
        // Pages to skip until the next that does: geometric.
        let skip = |stream: &mut Stream| (stream.uniform().ln() / (-probability).ln_1p()) as usize;
        let mut page = skip(&mut self.stream);
        while page < PAGES {
            let rate = (self.host_ln_rates[page / PAGES_PER_HOST] + 1.2 * self.stream.normal()).exp();
            self.rates[page] = rate;
            if self.policy == Policy::Oracle {
                self.believed[page] = rate;
            }
            if self.stale_days[page] > now {
                self.stale_days[page] = now + self.stream.exponential() / rate;
            }
            page += 1 + skip(&mut self.stream);
        }
    }
}
