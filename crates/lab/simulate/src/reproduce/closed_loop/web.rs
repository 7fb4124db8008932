//! Pages on hosts that change while they are fetched, step by step.

use super::FETCHES_PER_PAGE_PER_DAY;
use crate::streams::{Draws, RandomStream};
use change_rate::{
    BeliefSums, ChangeRateEstimator, CheckCounts, Gamma, GammaPrior, HalfCount, HostPriors, LawOfLargeNumbers,
    LookOutcome, NaiveRatio,
};
use revisit::kernels;

const STEP_DAYS: f64 = 0.05;
/// Steps of a run.
pub(super) const STEPS: usize = 1200;
/// How often hosts' priors are learned again, in steps: half a day.
const RELEARN_STEPS: usize = 10;
/// Rate of a page before its first look.
const USUAL_PER_DAY: f64 = 0.2;
const PRIOR_ALPHA: f64 = 1.2;

/// The pages and their change behaviour.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopWorld {
    pub(super) hosts: usize,
    pub(super) pages_per_host: usize,
    /// Share of the pages that switch to another rate per day.
    pub(super) switches_per_day: f64,
    /// Gaps between changes are Weibull of this shape; `None`: exponential, without memory.
    pub(super) weibull_shape: Option<f64>,
}

impl LoopWorld {
    fn pages(&self) -> usize {
        self.hosts * self.pages_per_host
    }

    pub(super) fn fetches_per_step(&self) -> usize {
        (FETCHES_PER_PAGE_PER_DAY * STEP_DAYS * self.pages() as f64).round() as usize
    }

    /// Whether the probability that a copy is current follows from its age and the page's rate.
    fn is_poisson(&self) -> bool {
        self.switches_per_day == 0.0 && self.weibull_shape.is_none()
    }

    /// Days between two changes of a page with this rate.
    fn gap_days(&self, stream: &mut RandomStream, rate: f64) -> f64 {
        match self.weibull_shape {
            None => stream.exponential() / rate,
            Some(shape) => {
                let mean = libm::lgamma(1.0 + 1.0 / shape).exp();
                stream.exponential().powf(1.0 / shape) / (rate * mean)
            }
        }
    }
}

/// The rule for the value of pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LoopPolicy {
    Uniform,
    Oracle,
    Naive,
    HalfCount,
    LargeNumbers,
    /// A rate drawn from the belief at every look.
    Thompson,
    Gamma {
        priors: Priors,
        /// Whether the crawl value is averaged over the belief, instead of computed at its mean.
        average_value: bool,
        forgetting_days: f64,
    },
}

/// The source of priors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Priors {
    /// The same for all pages.
    Common,
    /// Mean of the host, common shape of all hosts.
    Host,
    /// Mean of the host, fixed shape.
    HostMean,
}

pub(super) struct ClosedLoop {
    world: LoopWorld,
    policy: LoopPolicy,
    stream: RandomStream,
    host_ln_rates: Vec<f64>,
    rates: Vec<f64>,
    weights: Vec<f64>,
    last_days: Vec<f64>,
    /// When the copy becomes stale.
    stale_days: Vec<f64>,
    counts: Vec<CheckCounts>,
    priors: Vec<GammaPrior>,
    /// Evidence of a page's looks beyond its prior.
    evidence: Vec<(f64, f64)>,
    /// The rate that determines the page's value.
    believed: Vec<f64>,
}

impl ClosedLoop {
    pub(super) fn new(world: LoopWorld, mut stream: RandomStream, policy: LoopPolicy) -> Self {
        let (hosts, pages) = (world.hosts, world.pages());
        let host_ln_rates: Vec<f64> = (0..hosts).map(|_| 0.15f64.ln() + 1.2 * stream.normal()).collect();
        let rates: Vec<f64> =
            (0..pages).map(|page| (host_ln_rates[page / world.pages_per_host] + 0.7 * stream.normal()).exp()).collect();
        let mut weights: Vec<f64> = (0..pages).map(|_| stream.pareto(1.5) - 1.0 + 0.1).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let last_days: Vec<f64> = (0..pages).map(|_| -stream.uniform()).collect();
        // Without memory a copy may be stale before the start; others start current, somewhere in a gap.
        let first_stale = |(last, &rate): (&f64, &f64)| match world.weibull_shape {
            None => last + stream.exponential() / rate,
            Some(_) => world.gap_days(&mut stream, rate) * stream.uniform(),
        };
        let stale_days = last_days.iter().zip(&rates).map(first_stale).collect();
        let believed = match policy {
            LoopPolicy::Oracle => rates.clone(),
            LoopPolicy::Thompson => {
                (0..pages).map(|_| stream.gamma(PRIOR_ALPHA) * USUAL_PER_DAY / PRIOR_ALPHA).collect()
            }
            _ => vec![USUAL_PER_DAY; pages],
        };
        let prior = GammaPrior::new(PRIOR_ALPHA, PRIOR_ALPHA / USUAL_PER_DAY).expect("positive");
        Self {
            world,
            policy,
            stream,
            host_ln_rates,
            rates,
            weights,
            last_days,
            stale_days,
            counts: vec![CheckCounts::default(); pages],
            priors: vec![prior; hosts],
            evidence: vec![(0.0, 0.0); pages],
            believed,
        }
    }

    pub(super) fn run(mut self) -> f64 {
        let mut freshness = 0.0;
        let fetches = self.world.fetches_per_step();
        let mut values: Vec<(f64, usize)> = vec![(0.0, 0); self.world.pages()];
        for step in 1..=STEPS {
            let now = step as f64 * STEP_DAYS;
            if self.world.switches_per_day > 0.0 {
                self.switch_rates(now);
            }
            freshness += self.freshness(now);
            for (page, value) in values.iter_mut().enumerate() {
                *value = (self.value(page, now - self.last_days[page]), page);
            }
            values.select_nth_unstable_by(fetches, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for &(_, page) in &values[..fetches] {
                self.look(page, now);
            }
            if let Some(priors) = self.relearned().filter(|_| step % RELEARN_STEPS == 0) {
                self.relearn(priors);
            }
        }
        freshness / STEPS as f64
    }

    /// Weighted share of current copies: expected, or actual where changes have a memory.
    fn freshness(&self, now: f64) -> f64 {
        let fresh = |page: usize| {
            if self.world.is_poisson() {
                (-self.rates[page] * (now - self.last_days[page])).exp()
            } else {
                f64::from(u8::from(self.stale_days[page] > now))
            }
        };
        (0..self.world.pages()).map(|page| self.weights[page] * fresh(page)).sum()
    }

    fn value(&self, page: usize, days: f64) -> f64 {
        match self.policy {
            LoopPolicy::Uniform => days,
            LoopPolicy::Gamma { average_value: true, .. } => {
                self.weights[page] * self.belief(page).crawl_value_binary(days)
            }
            _ => self.weights[page] * kernels::binary(self.believed[page] * days) / self.believed[page],
        }
    }

    /// The kind of priors, if they are learned.
    fn relearned(&self) -> Option<Priors> {
        match self.policy {
            LoopPolicy::Gamma { priors, .. } => Some(priors).filter(|priors| *priors != Priors::Common),
            _ => None,
        }
    }

    fn belief(&self, page: usize) -> Gamma {
        let (prior, (alpha, beta)) = (self.priors[page / self.world.pages_per_host], self.evidence[page]);
        Gamma::new(prior.alpha() + alpha, prior.beta_days() + beta).expect("a prior and what was added to it")
    }

    fn look(&mut self, page: usize, now: f64) {
        let interval = now - self.last_days[page];
        let outcome = if self.stale_days[page] <= now { LookOutcome::Changed } else { LookOutcome::Unchanged };
        self.last_days[page] = now;
        self.stale_days[page] = self.next_stale_days(page, now);
        let counts = &mut self.counts[page];
        counts.add(interval, outcome);
        let watched = f64::from(counts.watched_days).max(1e-9);
        // A page never seen to change is not abandoned.
        match self.policy {
            LoopPolicy::Uniform | LoopPolicy::Oracle => {}
            LoopPolicy::Naive => self.believed[page] = NaiveRatio.change_rate_per_day(counts).max(0.1 / watched),
            LoopPolicy::HalfCount => self.believed[page] = HalfCount.change_rate_per_day(counts).max(0.05 / watched),
            LoopPolicy::LargeNumbers => {
                self.believed[page] = LawOfLargeNumbers.change_rate_per_day(counts).max(0.05 / watched);
            }
            LoopPolicy::Thompson | LoopPolicy::Gamma { .. } => {
                if let LoopPolicy::Gamma { forgetting_days, .. } = self.policy {
                    let kept = (-interval / forgetting_days).exp();
                    self.evidence[page].0 *= kept;
                    self.evidence[page].1 *= kept;
                }
                let belief = self.belief(page).after(interval, outcome);
                let prior = self.priors[page / self.world.pages_per_host];
                self.evidence[page] = (belief.alpha() - prior.alpha(), belief.beta_days() - prior.beta_days());
                self.believed[page] = if self.policy == LoopPolicy::Thompson {
                    self.stream.gamma(belief.alpha()) / belief.beta_days()
                } else {
                    belief.mean()
                };
            }
        }
    }

    /// When a copy taken now becomes stale: at any time without memory, else at the end of the current gap.
    fn next_stale_days(&mut self, page: usize, now: f64) -> f64 {
        let (world, rate) = (self.world, self.rates[page]);
        if world.weibull_shape.is_none() {
            return now + world.gap_days(&mut self.stream, rate);
        }
        let mut next = self.stale_days[page];
        while next <= now {
            next += world.gap_days(&mut self.stream, rate);
        }
        next
    }

    /// Learns the priors of all hosts from the beliefs about their pages.
    fn relearn(&mut self, kind: Priors) {
        let mut hosts = vec![BeliefSums::default(); self.world.hosts];
        for page in (0..self.world.pages()).filter(|&page| self.counts[page].looks > 0.0) {
            hosts[page / self.world.pages_per_host].add(self.belief(page));
        }
        let before = GammaPrior::new(PRIOR_ALPHA, PRIOR_ALPHA / USUAL_PER_DAY).expect("positive");
        let priors = HostPriors::learned(&hosts, before);
        let prior_of = |host: &BeliefSums| {
            let learned = priors.prior_of(host);
            if kind == Priors::Host {
                return learned;
            }
            GammaPrior::new(PRIOR_ALPHA, PRIOR_ALPHA * learned.beta_days() / learned.alpha()).expect("positive")
        };
        self.priors = hosts.iter().map(prior_of).collect();
        for page in 0..self.world.pages() {
            self.believed[page] = self.belief(page).mean();
        }
    }

    /// Switches the rates of some pages, within the usual range of their host.
    fn switch_rates(&mut self, now: f64) {
        let probability = self.world.switches_per_day * STEP_DAYS;
        // Number of pages to skip until the next switch: geometric.
        let skip = |stream: &mut RandomStream| (stream.uniform().ln() / (-probability).ln_1p()) as usize;
        let mut page = skip(&mut self.stream);
        while page < self.world.pages() {
            let rate = (self.host_ln_rates[page / self.world.pages_per_host] + 1.2 * self.stream.normal()).exp();
            self.rates[page] = rate;
            if self.policy == LoopPolicy::Oracle {
                self.believed[page] = rate;
            }
            if self.stale_days[page] > now {
                self.stale_days[page] = now + self.stream.exponential() / rate;
            }
            page += 1 + skip(&mut self.stream);
        }
    }
}
