use super::*;
use crate::population::SimulatedPage;
use proptest::prelude::*;
use sweeps::PagePlace;

const PAGES: usize = 500;
const HORIZON_DAYS: f64 = 400.0;

fn pages(count: usize, hosts: usize) -> Pages {
    let place = PagePlace::of("a.test", "a.test", "/");
    let page = |page: usize| SimulatedPage { weight: 1.0, cost: 1.0, host: (page % hosts) as u32, section: 0, place };
    Pages::new((0..count).map(page), vec!["all".into()]).expect("good pages")
}

/// All changes of all pages up to the horizon.
fn draw(model: &str, rate: f64) -> Vec<Vec<f64>> {
    let model = ChangeModel::parse(model).expect("a model");
    let pages = pages(PAGES, 5);
    let mut changes = SyntheticChanges::new(&pages, &[rate; PAGES], model, 11, HORIZON_DAYS).expect("good rates");
    (0..PAGES)
        .map(|page| {
            let mut times = Vec::new();
            while changes.next_change_days(page) < HORIZON_DAYS {
                times.push(changes.next_change_days(page));
                changes.take_change(page);
            }
            times
        })
        .collect()
}

fn rate_of(changes: &[Vec<f64>]) -> f64 {
    changes.iter().map(Vec::len).sum::<usize>() as f64 / (PAGES as f64 * HORIZON_DAYS)
}

/// Standard deviation over mean of the gaps between changes.
fn gap_variation(changes: &[Vec<f64>]) -> f64 {
    let gaps: Vec<f64> = changes.iter().flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0])).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt() / mean
}

#[test]
fn gaps_have_the_mean_and_spread_of_their_model() {
    // Standard deviation over mean of Weibull gaps: sqrt(Γ(1 + 2/k) / Γ(1 + 1/k)² - 1).
    let gamma_function = |x: f64| libm::lgamma(x).exp();
    let weibull = |k: f64| (gamma_function(1.0 + 2.0 / k) / gamma_function(1.0 + 1.0 / k).powi(2) - 1.0).sqrt();
    for (model, variation) in
        [("poisson", 1.0), ("weibull-0.6", weibull(0.6)), ("weibull-3", weibull(3.0)), ("gamma-4", 0.5)]
    {
        let changes = draw(model, 0.5);
        assert!((rate_of(&changes) / 0.5 - 1.0).abs() < 0.02, "{model}: {}", rate_of(&changes));
        // Long gaps are cut off at the end.
        assert!((gap_variation(&changes) / variation - 1.0).abs() < 0.03, "{model}: {}", gap_variation(&changes));
    }
}

#[test]
fn the_first_gap_is_as_if_the_process_had_always_run() {
    // Changes in the first ten days, where a freshly started renewal process would have too many or too few.
    for model in ["weibull-0.6", "weibull-3", "gamma-4", "bursts"] {
        let changes = draw(model, 0.05);
        let early = changes.iter().flatten().filter(|&&days| days < 10.0).count() as f64;
        let expected = 10.0 * 0.05 * PAGES as f64;
        assert!((early - expected).abs() < 5.0 * (5.0 * expected).sqrt(), "{model}: {early}, not {expected}");
        assert!((rate_of(&changes) / 0.05 - 1.0).abs() < 0.06, "{model}: {}", rate_of(&changes));
    }
    let regular = draw("weibull-3", 0.05);
    let early = regular.iter().flatten().filter(|&&days| days < 10.0).count() as f64;
    assert!((early / 250.0 - 1.0).abs() < 0.25, "{early}");
}

#[test]
fn bursts_are_short_gaps_and_long_pauses() {
    let changes = draw("bursts", 0.5);
    let gaps: Vec<f64> = changes.iter().flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0])).collect();
    let short = gaps.iter().filter(|&&gap| gap < 0.5).count() as f64 / gaps.len() as f64;
    // Four of five gaps are within a burst, and a twentieth of the pauses is as short.
    assert!((short - 0.81).abs() < 0.02, "{short}");
    // A page too fast for bursts has none, but the right rate.
    assert!((rate_of(&draw("bursts", 30.0)) / 30.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_push_changes_its_share_of_the_host_at_one_moment() {
    let model = ChangeModel { bulks: Some(Bulks { pushes_per_day: 0.1, page_share: 0.5 }), ..ChangeModel::default() };
    let pages = pages(PAGES, 5);
    let mut changes = SyntheticChanges::new(&pages, &[0.0; PAGES], model.clone(), 3, HORIZON_DAYS).expect("good rates");
    assert!((changes.mean_change_rates_per_day()[7] - 0.05).abs() < 1e-12);
    let mut by_time = std::collections::BTreeMap::<u64, Vec<usize>>::new();
    for page in 0..PAGES {
        while changes.next_change_days(page).is_finite() {
            by_time.entry(changes.next_change_days(page).to_bits()).or_default().push(page);
            changes.take_change(page);
        }
    }
    // 0.1 a day and host: 40 pushes each.
    assert!((by_time.len() as f64 - 200.0).abs() < 45.0, "{}", by_time.len());
    let mut touched = 0;
    for together in by_time.values() {
        assert!(together.iter().all(|page| page % 5 == together[0] % 5), "one host at a time");
        assert!((25..=75).contains(&together.len()), "{}", together.len());
        touched += together.len();
    }
    let share = touched as f64 / (by_time.len() * PAGES / 5) as f64;
    assert!((share - 0.5).abs() < 0.02, "{share}");
    // Different pages every time.
    let mut sets = by_time.values();
    assert_ne!(sets.next(), sets.next());
}

#[test]
fn regimes_make_counts_vary_more_than_chance() {
    let dispersion = |model: &str| {
        let changes = draw(model, 0.5);
        assert!((rate_of(&changes) / 0.5 - 1.0).abs() < 0.2, "{model}: {}", rate_of(&changes));
        let counts: Vec<f64> = changes
            .iter()
            .flat_map(|times| (0..16).map(|part| times.iter().filter(|&&t| (t / 25.0) as usize == part).count() as f64))
            .collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64 / mean
    };
    assert!((dispersion("poisson") - 1.0).abs() < 0.1);
    assert!(dispersion("regimes") > 5.0, "{}", dispersion("regimes"));
}

#[test]
fn cycles_move_changes_to_busy_hours() {
    let changes = draw("cycles+weibull-0.6", 0.5);
    assert!((rate_of(&changes) / 0.5 - 1.0).abs() < 0.03);
    let all: Vec<f64> = changes.into_iter().flatten().filter(|&days| days < 399.0).collect();
    let office = |days: &f64| (9..18).contains(&((days.fract() * 24.0) as usize));
    let share = all.iter().filter(|days| office(days)).count() as f64 / all.len() as f64;
    assert!((share - 90.0 / 105.0).abs() < 0.01, "{share}");
    let weekdays = all.iter().filter(|days| days.rem_euclid(7.0) < 5.0).count() as f64 / all.len() as f64;
    assert!((weekdays - 15.0 / 17.0).abs() < 0.01, "{weekdays}");
}

#[test]
fn bad_rates_are_named() {
    let fault = |rates: &[f64]| {
        SyntheticChanges::new(&pages(2, 1), rates, ChangeModel::default(), 1, 10.0).expect_err("a fault").to_string()
    };
    assert_eq!(fault(&[1.0, -1.0]), "page 1: change rate per day is -1; it must be a finite number, not negative");
    assert!(fault(&[f64::NAN, 1.0]).starts_with("page 0: change rate per day is NaN"));
    assert_eq!(fault(&[1.0]), "2 pages, but 1 entries of change rates; give one for each page");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn changes_come_in_order_and_do_not_depend_on_when_they_are_asked_for(
        seed: u64,
        rate in 0.001..5.0,
        model in prop::sample::select(vec!["poisson", "weibull-0.6+bulks", "bursts+regimes", "bulks+regimes+cycles"]),
    ) {
        let pages = pages(4, 2);
        let model = ChangeModel::parse(model).expect("a model");
        let new = || SyntheticChanges::new(&pages, &[rate; 4], model.clone(), seed, 100.0).expect("good rates");
        let take = |changes: &mut SyntheticChanges, page: usize| {
            let at = changes.next_change_days(page);
            changes.take_change(page);
            at
        };
        let (mut one_by_one, mut in_turn) = (new(), new());
        let first: Vec<Vec<f64>> = (0..4).map(|p| (0..50).map(|_| take(&mut one_by_one, p)).collect()).collect();
        let mut second = vec![Vec::new(); 4];
        for _ in 0..50 {
            for page in [3, 1, 0, 2] {
                second[page].push(take(&mut in_turn, page));
            }
        }
        prop_assert_eq!(&first, &second);
        for times in first {
            prop_assert!(times[0] >= 0.0 && times.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", times);
        }
    }
}
