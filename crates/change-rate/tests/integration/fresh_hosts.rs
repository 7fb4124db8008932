//! Fresh hosts, with many pages that were never fetched: how soon does a crawl learn what their pages are like?
//!
//! The published form samples groups (Cho & Ntoulas 2002, as Thompson sampling): a few pages of each host are looked at, and the
//! others are taken to be like them. Here the pages of a host teach each other through the prior of their group
//! ([`GroupSums`]), and no sample is set apart: the first pages that are fetched are one. `cargo test -p change-rate --test
//! fresh_hosts -- --nocapture` prints the figures.

use chance::{Draws, Lcg, spread};
use change_rate::{ChangeRateEstimator, Gamma, GammaFilter, GammaPrior, GammaState, GroupSums, LookOutcome};

const HOSTS: usize = 40;
const PAGES_PER_HOST: usize = 100;
const PAGES: usize = HOSTS * PAGES_PER_HOST;
const DAYS: usize = 60;
const STEPS_PER_DAY: usize = 4;
const FETCHES_PER_STEP: usize = PAGES / 10 / STEPS_PER_DAY;
/// As in the default policy.
const AGE_SHARE: f64 = 0.05;
/// Pages of each host that the two-stage form samples, in its first days.
const SAMPLE: usize = 4;
const SAMPLING_DAYS: usize = 8;

/// The belief about a page without looks of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Learning {
    /// Like any page.
    Alone,
    /// As its host's pages are, by the prior of their group: the running system.
    Siblings,
    /// As a draw from what is believed of the host, a new one each day: Thompson sampling of groups.
    Thompson,
    /// As the mean of the pages of its host that were sampled in the first days.
    TwoStages,
    /// By its true rate.
    Known,
}

struct Numbers(Lcg);

impl Numbers {
    fn normal(&mut self) -> f64 {
        (-2.0 * self.0.midpoint().ln()).sqrt() * (std::f64::consts::TAU * self.0.midpoint()).cos()
    }

    /// Marsaglia & Tsang 2000. It rounds otherwise than that of `chance`, and the figures below follow from it.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.0.midpoint().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && self.0.midpoint().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

/// Median rate of a page, and the spread of the logarithms of rates.
#[derive(Clone, Copy)]
struct World {
    median_per_day: f64,
    of_hosts: f64,
    of_pages: f64,
}

struct Page {
    rate: f64,
    last_look: Option<f64>,
    evidence: GammaState,
}

struct Crawl {
    learning: Learning,
    numbers: Numbers,
    pages: Vec<Page>,
    hosts: Vec<GroupSums>,
    priors: Vec<GammaPrior>,
}

impl Crawl {
    fn new(world: World, learning: Learning, seed: u64) -> Self {
        let mut numbers = Numbers(Lcg(spread(seed)));
        let mut pages = Vec::new();
        for _ in 0..HOSTS {
            let host = world.median_per_day.ln() + world.of_hosts * numbers.normal();
            pages.extend((0..PAGES_PER_HOST).map(|_| Page {
                rate: (host + world.of_pages * numbers.normal()).exp(),
                last_look: None,
                evidence: GammaState::default(),
            }));
        }
        let (hosts, priors) = (vec![GroupSums::default(); HOSTS], vec![GammaPrior::default(); HOSTS]);
        Self { learning, numbers, pages, hosts, priors }
    }

    /// The share of days in which copies are current, over all pages; a page without a copy has none.
    fn run(mut self) -> f64 {
        let mut fresh = 0.0;
        for step in 0..DAYS * STEPS_PER_DAY {
            let now = step as f64 / STEPS_PER_DAY as f64;
            if step % STEPS_PER_DAY == 0 {
                self.teach(step / STEPS_PER_DAY);
            }
            let mut values: Vec<_> = (0..PAGES).map(|number| (self.value(number, now), number)).collect();
            values.select_nth_unstable_by(FETCHES_PER_STEP, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            values[..FETCHES_PER_STEP].iter().for_each(|(_, number)| self.look(*number, now));
            let is_fresh = |page: &Page| page.last_look.map_or(0.0, |last| (-page.rate * (now - last)).exp());
            fresh += self.pages.iter().map(is_fresh).sum::<f64>() / PAGES as f64;
        }
        fresh / (DAYS * STEPS_PER_DAY) as f64
    }

    /// Once a day hosts' priors are learned.
    fn teach(&mut self, day: usize) {
        let usual = GammaPrior::default();
        for (host, prior) in self.priors.iter_mut().enumerate() {
            let sums = self.hosts[host];
            let of_mean = |mean: f64| GammaPrior::new(usual.alpha(), usual.alpha() / mean).unwrap_or(usual);
            match self.learning {
                Learning::Alone | Learning::Known => {}
                Learning::Siblings => *prior = usual.within(&[sums]),
                Learning::Thompson => {
                    let shape = self.numbers.gamma(usual.alpha() + sums.changes);
                    *prior = of_mean((shape / (usual.beta_days() + sums.page_days)).max(1e-6));
                }
                Learning::TwoStages if day == SAMPLING_DAYS => {
                    *prior = of_mean((sums.changes + usual.alpha()) / (sums.page_days + usual.beta_days()));
                }
                Learning::TwoStages => {}
            }
        }
    }

    fn belief(&self, number: usize) -> Gamma {
        let (prior, page) = (self.priors[number / PAGES_PER_HOST], &self.pages[number]);
        let beyond = |number: f32| f64::from(number);
        let alpha = prior.alpha() + beyond(page.evidence.delta_alpha);
        Gamma::new(alpha, prior.beta_days() + beyond(page.evidence.delta_beta_days)).unwrap()
    }

    /// As the running system values a fetch, of a first copy, too.
    fn value(&self, number: usize, now: f64) -> f64 {
        let page = &self.pages[number];
        let is_sampled = number % PAGES_PER_HOST < SAMPLE && now < SAMPLING_DAYS as f64;
        if self.learning == Learning::TwoStages && is_sampled {
            // Looked at once a day, before all others.
            return if page.last_look.is_none_or(|last| now - last >= 1.0) { f64::MAX } else { 0.0 };
        }
        let known = Gamma::new(1e6, 1e6 / page.rate).unwrap();
        let belief = if self.learning == Learning::Known { known } else { self.belief(number) };
        match page.last_look {
            // The days that it is expected to stay current, a month at most, and those that it has waited.
            None => belief.mean().recip().min(30.0) + now.min(30.0) + 30.0 * (now / 30.0).max(1.0).ln(),
            Some(last) => belief.crawl_value(now - last, AGE_SHARE),
        }
    }

    fn look(&mut self, number: usize, now: f64) {
        let chance = self.numbers.0.midpoint();
        let page = &mut self.pages[number];
        let Some(last) = page.last_look.replace(now) else { return };
        let days = now - last;
        let has_changed = chance < -(-page.rate * days).exp_m1();
        let outcome = if has_changed { LookOutcome::Changed } else { LookOutcome::Unchanged };
        let before = page.evidence;
        let prior = self.priors[number / PAGES_PER_HOST];
        GammaFilter::new(prior, Some(1_000.0)).unwrap().update(&mut page.evidence, days, outcome);
        let host = &mut self.hosts[number / PAGES_PER_HOST];
        let is_in_sample = number % PAGES_PER_HOST < SAMPLE && now < SAMPLING_DAYS as f64;
        if self.learning == Learning::Siblings {
            host.replace_even(&before, &page.evidence);
        } else if self.learning != Learning::TwoStages || is_in_sample {
            host.replace(&before, &page.evidence);
        }
    }
}

/// Freshness lost to a crawl that knows all rates: alone, siblings, Thompson, two stages.
fn lost(world: World) -> [f64; 4] {
    const SEEDS: u64 = 6;
    let fresh =
        |learning| (0..SEEDS).map(|seed| Crawl::new(world, learning, seed + 1).run()).sum::<f64>() / SEEDS as f64;
    let known = fresh(Learning::Known);
    let lost =
        [Learning::Alone, Learning::Siblings, Learning::Thompson, Learning::TwoStages].map(|it| known - fresh(it));
    let World { median_per_day, of_hosts, of_pages } = world;
    println!("{median_per_day} a day, spread {of_hosts} and {of_pages}: {known:.4} with known rates; lost {lost:.4?}");
    lost
}

/// On webs whose rates are about what the operator's prior says, .4 changes in 100 days.
#[test]
fn pages_that_teach_each_other_do_what_sampling_of_groups_does() {
    for (of_hosts, of_pages) in [(1.0, 0.5), (2.0, 0.5), (2.0, 1.5)] {
        let [alone, siblings, thompson, two_stages] = lost(World { median_per_day: 0.004, of_hosts, of_pages });
        assert!(siblings < thompson + 0.001, "{siblings} beside {thompson}");
        assert!(siblings < 0.85 * alone && siblings < 0.5 * two_stages, "{siblings} beside {alone} and {two_stages}");
    }
}

/// Where pages change ten times as often as the prior says, a host's prior takes longer to follow than a sample does, because the
/// operator's counts like ten changes (`PRIOR_STRENGTH`). Nothing that teaches pages is then better than their own looks, at first.
#[test]
fn a_prior_that_is_far_off_costs_more_than_any_sharing_gains() {
    let [alone, siblings, thompson, two_stages] = lost(World { median_per_day: 0.05, of_hosts: 1.5, of_pages: 0.5 });
    assert!(alone < thompson && thompson < siblings && siblings < two_stages);
    assert!(siblings < alone + 0.02, "{siblings} beside {alone}");
}
