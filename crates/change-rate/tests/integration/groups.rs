//! Priors of hosts and sampling of groups (B8, B9).

use chance::{Draws, Lcg};
use change_rate::{BeliefSums, Gamma, GammaPrior, HostPriors};
use literature::sampling::adaptive::{ThompsonSampling, fitted_prior};
use literature::sampling::two_stage::{ChangedShares, SampledGroup, greedy_second_stage};

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

fn gamma(alpha: f64, beta_days: f64) -> Gamma {
    Gamma::new(alpha, beta_days).expect("both positive")
}

/// Beta(a, b) for whole or half-whole parameters, as it follows from normal numbers.
fn beta(numbers: &mut Lcg, a: f64, b: f64) -> f64 {
    let mut gamma = |shape: f64| -> f64 {
        let whole: f64 = (0..shape as usize).map(|_| numbers.exponential()).sum();
        if shape.fract() == 0.5 { whole + half_squared_normal(numbers) } else { whole }
    };
    let (x, y) = (gamma(a), gamma(b));
    x / (x + y)
}

fn half_squared_normal(numbers: &mut Lcg) -> f64 {
    numbers.exponential() * (std::f64::consts::TAU * numbers.uniform()).cos().powi(2)
}

#[test]
fn the_mean_logarithm_of_a_belief_is_as_computed() {
    // ψ(1) = -γ; ψ(4) = 1 + 1/2 + 1/3 - γ.
    close(gamma(1.0, 2.0).mean_ln(), -0.577_215_664_901_532_9 - 2.0_f64.ln(), 1e-12);
    close(gamma(4.0, 0.1).mean_ln(), 11.0 / 6.0 - 0.577_215_664_901_532_9 + 10.0_f64.ln(), 1e-12);
}

#[test]
fn a_hosts_mean_is_pulled_towards_the_other_hosts() {
    let host = |pages: usize, belief: Gamma| {
        let mut sums = BeliefSums::default();
        (0..pages).for_each(|_| sums.add(belief));
        sums
    };
    let (fast, slow) = (host(15, gamma(2.0, 2.0)), host(3, gamma(2.0, 200.0)));
    let priors = HostPriors::learned(&[fast, slow, BeliefSums::default()], GammaPrior::default());
    // Geometric mean of 1 and 0.01 a day.
    close(priors.mean_per_day(), 0.1, 1e-12);
    let mean = |sums: &BeliefSums| priors.prior_of(sums).belief().mean();
    close(mean(&fast), (15.0 + 5.0 * 0.1) / 20.0, 1e-12);
    close(mean(&slow), (3.0 * 0.01 + 5.0 * 0.1) / 8.0, 1e-12);
    close(mean(&BeliefSums::default()), 0.1, 1e-12);
    // The shape follows from the one host with ten pages, each of which is believed to be a Gamma of shape 2.
    close(priors.alpha(), 2.0, 1e-9);
    assert_eq!(priors.prior_of(&slow).alpha(), priors.alpha());
}

#[test]
fn without_pages_the_prior_stays() {
    let before = GammaPrior::new(0.7, 35.0).unwrap();
    let priors = HostPriors::learned(&[], before);
    close(priors.prior_of(&BeliefSums::default()).alpha(), 0.7, 1e-12);
    close(priors.prior_of(&BeliefSums::default()).beta_days(), 35.0, 1e-12);
}

/// Pages whose rates come from a Gamma of shape 1.5 on each host, each known exactly: the shape is found again.
#[test]
fn the_common_shape_is_found_again() {
    let mut numbers = Lcg(17);
    let hosts: Vec<BeliefSums> = (0..60)
        .map(|host| {
            let mut sums = BeliefSums::default();
            for _ in 0..100 {
                // The sum of an exponential and half a squared normal.
                let rate = numbers.exponential() + half_squared_normal(&mut numbers);
                sums.add(gamma(1e7, 1e7 / (rate * 0.1 * f64::from(1 + host))));
            }
            sums
        })
        .collect();
    close(HostPriors::learned(&hosts, GammaPrior::default()).alpha(), 1.5, 0.06);
}

#[test]
fn the_sums_of_two_hosts_are_those_of_their_pages() {
    let beliefs = [gamma(0.4, 100.0), gamma(3.0, 7.0), gamma(1.0, 1.0), gamma(20.0, 300.0)];
    let of = |beliefs: &[Gamma]| {
        let mut sums = BeliefSums::default();
        beliefs.iter().for_each(|belief| sums.add(*belief));
        sums
    };
    let mut merged = of(&beliefs[..1]);
    merged.merge(&of(&beliefs[1..]));
    let all = of(&beliefs);
    assert_eq!(merged.pages, all.pages);
    close(merged.means_per_day, all.means_per_day, 1e-14);
    close(merged.ln_means, all.ln_means, 1e-14);
    merged.replace(beliefs[1], beliefs[2]);
    close(merged.means_per_day, all.means_per_day - 3.0 / 7.0 + 1.0, 1e-14);
    close(merged.ln_means, all.ln_means - beliefs[1].mean_ln() + beliefs[2].mean_ln(), 1e-14);
}

#[test]
fn the_deepest_level_with_twenty_pages_is_believed() {
    let level = |pages: f64| BeliefSums { pages, ..BeliefSums::default() };
    assert_eq!(BeliefSums::deepest(&[level(500.0), level(50.0), level(20.0), level(19.0)]), level(20.0));
    assert_eq!(BeliefSums::deepest(&[level(5.0), level(3.0)]), level(5.0));
    assert_eq!(BeliefSums::deepest(&[]), BeliefSums::default());
}

#[test]
fn sample_sizes_are_as_computed() {
    for ([pages, budget, density, threshold, mean_above, mean], printed, best) in [
        ([100.0, 0.25, 1.0, 0.75, 0.875, 0.5], 3.33333333333, 5.0),
        ([400.0, 0.25, 1.0, 0.75, 0.875, 0.5], 6.66666666667, 10.0),
        ([400.0, 0.1, 1.0, 0.9, 0.95, 0.5], 3.8490017946, 6.32455532034),
        ([1000.0, 0.05, 0.8, 0.6, 0.7, 0.2], 3.6514837167, 13.8564064606),
        ([50.0, 0.5, 1.2, 0.4, 0.55, 0.4], 5.7735026919, 6.92820323028),
    ] {
        let shares = ChangedShares { density, threshold, mean_above, mean };
        close(shares.sample_size_as_printed(pages, budget), printed, 1e-9);
        close(shares.sample_size(pages, budget), best, 1e-9);
    }
    let tight = ChangedShares { density: 1.0, threshold: 0.5, mean_above: 0.75, mean: 0.5 };
    assert_eq!(tight.sample_size(10.0, 0.1), 1.0);
    assert_eq!(ChangedShares { mean_above: 0.500_001, ..tight }.sample_size(100.0, 0.2), 20.0);
}

#[test]
fn the_spread_of_groups_is_measured() {
    let even: Vec<f64> = (0..4000).map(|group| (f64::from(group) + 0.5) / 4000.0).collect();
    let shares = ChangedShares::of_groups(&even, 0.25).expect("groups differ");
    close(shares.density, 1.0, 0.01);
    close(shares.threshold, 0.75, 0.01);
    close(shares.mean_above, 0.875, 0.01);
    close(shares.mean, 0.5, 0.01);
    assert_eq!(ChangedShares::of_groups(&[0.5; 100], 0.25), None);
    assert_eq!(ChangedShares::of_groups(&even[..9], 0.25), None);
    assert_eq!(ChangedShares::of_groups(&even, f64::NAN), None);
}

#[test]
fn the_groups_that_changed_most_are_fetched_first() {
    let group = |sampled, changed, left| SampledGroup { sampled, changed, left };
    let groups = [group(10, 1, 90), group(10, 9, 90), group(4, 2, 96), group(10, 5, 90), group(0, 0, 7)];
    assert_eq!(greedy_second_stage(&groups, 0), [0, 0, 0, 0, 0]);
    assert_eq!(greedy_second_stage(&groups, 200), [0, 90, 96, 14, 0]);
    assert_eq!(greedy_second_stage(&groups, 1_000_000), [90, 90, 96, 90, 7]);
}

const GROUPS: usize = 500;
const PAGES: u32 = 400;

/// Share of changed pages among those fetched, by Thompson sampling with a budget of a tenth of the pages.
fn adaptive_changed_share(prior: (f64, f64), shares: &[f64], numbers: &mut Lcg) -> f64 {
    let mut sampling = ThompsonSampling::new(&[PAGES; GROUPS], prior.0, prior.1).expect("both positive");
    let (mut budget, mut found) = (GROUPS as u32 * PAGES / 10, 0);
    let all = budget;
    while budget > 0 {
        for (group, pages) in sampling.next(GROUPS / 20, || numbers.uniform()) {
            let pages = pages.min(budget);
            let changed = (0..pages).filter(|_| numbers.uniform() < shares[group]).count() as u32;
            sampling.learn(group, pages, changed);
            (budget, found) = (budget - pages, found + changed);
        }
    }
    f64::from(found) / f64::from(all)
}

fn two_stage_changed_share(sample: u32, shares: &[f64], numbers: &mut Lcg) -> f64 {
    let sampled: Vec<_> = shares
        .iter()
        .map(|share| {
            let changed = (0..sample).filter(|_| numbers.uniform() < *share).count() as u32;
            SampledGroup { sampled: sample, changed, left: PAGES - sample }
        })
        .collect();
    let all = GROUPS as u64 * u64::from(PAGES) / 10;
    let fetches = greedy_second_stage(&sampled, all - GROUPS as u64 * u64::from(sample));
    let in_samples: f64 = shares.iter().map(|share| share * f64::from(sample)).sum();
    let in_groups: f64 = shares.iter().zip(fetches).map(|(share, pages)| share * f64::from(pages)).sum();
    (in_samples + in_groups) / all as f64
}

/// Adaptive, with the prior the groups come from and with a flat one, against two stages, on three spreads of groups.
///
/// The reference values are means over four draws of 500 groups whose standard deviation is .01 for even shares and .025
/// for the others, so their standard error is .005 and .0125; three of them, and ours over 16 draws, are allowed. (Over
/// many draws the values are .882, .587, .513 for the adaptive scheme, checked by an independent program.) On the same
/// draws the gain over two stages is far clearer than that.
#[test]
fn adaptive_sampling_finds_more_than_the_best_two_stage_scheme() {
    let mut numbers = Lcg(9);
    for ((a, b), adaptive, flat, two_stage, sample) in [
        ((1.0, 1.0), 0.877, 0.874, 0.819, 7),
        ((0.5, 2.0), 0.622, 0.574, 0.560, 7),
        ((2.0, 5.0), 0.535, 0.507, 0.493, 10),
    ] {
        let draws: Vec<Vec<f64>> = (0..16).map(|_| (0..GROUPS).map(|_| beta(&mut numbers, a, b)).collect()).collect();
        let mut mean = |of: &mut dyn FnMut(&[f64], &mut Lcg) -> f64| {
            draws.iter().map(|shares| of(shares, &mut numbers)).sum::<f64>() / 16.0
        };
        let got = mean(&mut |shares, numbers| adaptive_changed_share((a, b), shares, numbers));
        let got_flat = mean(&mut |shares, numbers| adaptive_changed_share((1.0, 1.0), shares, numbers));
        let got_two_stage = mean(&mut |shares, numbers| two_stage_changed_share(sample, shares, numbers));
        let within = if (a, b) == (1.0, 1.0) { 0.018 } else { 0.042 };
        assert!((got - adaptive).abs() < within, "Beta({a}, {b}): {got}, reference {adaptive}");
        assert!((got_flat - flat).abs() < within, "Beta({a}, {b}), flat: {got_flat}, reference {flat}");
        assert!((got_two_stage - two_stage).abs() < within, "Beta({a}, {b}), two stages: {got_two_stage}");
        assert!(got > got_two_stage + 0.025, "Beta({a}, {b}): {got} against {got_two_stage}");
    }
}

#[test]
fn a_prior_fitted_to_groups_is_that_of_the_groups() {
    let mut numbers = Lcg(23);
    for (a, b) in [(1.0, 1.0), (0.5, 2.0), (2.0, 5.0)] {
        let groups: Vec<(u32, u32)> = (0..4000)
            .map(|group| {
                let (share, pages) = (beta(&mut numbers, a, b), 4 + group % 20);
                (pages, (0..pages).filter(|_| numbers.uniform() < share).count() as u32)
            })
            .collect();
        let fitted = fitted_prior(&groups).expect("groups differ");
        close(fitted.0, a, 0.1);
        close(fitted.1, b, 0.1);
    }
    assert_eq!(fitted_prior(&[(4, 2)]), None);
    assert_eq!(fitted_prior(&[(4, 0), (4, 0)]), None);
    assert_eq!(fitted_prior(&[(1, 0), (1, 1)]), None);
}

#[test]
fn a_group_gives_no_more_pages_than_it_has() {
    let mut sampling = ThompsonSampling::new(&[3, 0, 9], 1.0, 1.0).unwrap();
    let mut numbers = Lcg(1);
    let mut first = sampling.next(10, || numbers.uniform());
    first.sort_unstable();
    assert_eq!(first, [(0, 3), (2, 4)]);
    sampling.learn(0, 3, 3);
    sampling.learn(2, 4, 0);
    sampling.learn(7, 1, 1);
    assert_eq!(sampling.next(10, || numbers.uniform()), [(2, 4)]);
    assert_eq!((sampling.changed_share(0), sampling.changed_share(2)), (Some(0.8), Some(1.0 / 6.0)));
    assert_eq!(sampling.changed_share(7), None);
    assert!(ThompsonSampling::new(&[1], 0.0, 1.0).is_err());
}

#[test]
fn even_numbers_that_do_not_vary_still_end() {
    let sampling = ThompsonSampling::new(&[4, 4], 1e-4, 30.0).unwrap();
    for constant in [0.0, 0.5, 1.0, f64::NAN] {
        assert_eq!(sampling.next(2, || constant).len(), 2);
    }
}
