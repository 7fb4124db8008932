use super::*;

/// Lives between renewals at these gaps, seen at looks `looks` times with gaps from `gap`, and how many looks there were.
fn page(
    draws: &mut SplitMix64,
    looks: u32,
    mut life: impl FnMut(&mut SplitMix64) -> f64,
    gap: impl Fn(&mut SplitMix64) -> f64,
) -> Vec<Lifetime> {
    let (mut lives, mut first, mut last, mut now) = (Vec::new(), 0.0, 0.0, 0.0);
    let mut next = life(draws);
    for _ in 0..looks {
        now += gap(draws);
        if next <= now {
            lives.push(Lifetime { at_least_days: last - first, at_most_days: Some(now - first) });
            first = now;
            while next <= now {
                next += life(draws);
            }
        }
        last = now;
    }
    lives.push(Lifetime { at_least_days: now - first, at_most_days: None });
    lives
}

/// The test of 30 pages of different rates, whose lives are Weibull of this shape.
fn tested(seed: u64, shape: f64, uneven: f64) -> MemorylessResult {
    let mut draws = SplitMix64(splitmix64(seed));
    let mut test = MemorylessTest::default();
    for number in 0..30 {
        let rate = 0.3 * 1.1f64.powi(number % 10);
        let life = |draws: &mut SplitMix64| draws.exponential().powf(1.0 / shape) / rate;
        let gap = |draws: &mut SplitMix64| 1.0 + uneven * (2.0 * draws.uniform() - 1.0);
        let lives = page(&mut draws, 40, life, gap);
        if let Some(page) = PageLives::new(&lives, 40, seed * 1_000 + number as u64) {
            test.add(&page);
        }
    }
    test.result().expect("there are changes enough")
}

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}

#[test]
fn lives_without_memory_are_rejected_as_often_as_the_level_says() {
    for uneven in [0.0, 0.8] {
        let results: Vec<_> = (0..80).map(|seed| tested(seed, 1.0, uneven).p_value).collect();
        let below = |level: f64| results.iter().filter(|p| **p < level).count();
        // Expected are 4 and 40 of 80, with standard deviations of 2 and 4.5.
        assert!(below(0.05) <= 9, "{uneven}: {} of 80", below(0.05));
        assert!((29..=51).contains(&below(0.5)), "{uneven}: {} of 80", below(0.5));
    }
}

#[test]
fn bursts_and_regular_changes_are_rejected_and_the_result_says_which_they_are() {
    for seed in 0..10 {
        let [bursts, regular] = [0.5, 2.5].map(|shape| tested(seed, shape, 0.5));
        assert!(bursts.p_value < 0.001 && regular.p_value < 0.001, "{bursts:?} {regular:?}");
        assert_eq!(bursts.degrees_of_freedom, 3);
        assert!(bursts.excess_of_short_lives > 0.03 && regular.excess_of_short_lives < -0.03);
        assert!(bursts.curve[2].observed_share > bursts.curve[2].expected_share + 0.03);
        let rises = |curve: &[LifePoint]| curve.windows(2).all(|two| two[0].observed_share <= two[1].observed_share);
        assert!(bursts.curve.len() == 11 && rises(&bursts.curve), "{bursts:?}");
    }
}

#[test]
fn the_rate_is_that_of_the_looks_where_they_are_even() {
    let mut draws = SplitMix64(7);
    let lives = page(&mut draws, 50, |draws| draws.exponential() / 0.4, |_| 2.0);
    let changes = lives.len() as f64 - 1.0;
    let rate = fitted_rate_per_day(&lives).expect("there are changes");
    close(rate, -(1.0 - changes / 50.0).ln() / 2.0, 1e-9);
    assert_eq!(PageLives::new(&lives, 50, 1).map(|page| page.change_rate_per_day()), Some(rate));
    // Known to a moment, the lives' mean is the rate's inverse.
    let exact = [1.0, 2.0, 6.0].map(|days| Lifetime { at_least_days: days, at_most_days: Some(days + 1e-9) });
    close(fitted_rate_per_day(&exact).expect("there are changes"), 3.0 / 9.0, 1e-6);
}

#[test]
fn a_life_is_spread_by_the_exponential_distribution_between_its_bounds() {
    let of = |at_least: f64, at_most: Option<f64>| {
        let mut sums = [0.0; STEPS];
        add(&mut sums, at_least, at_most);
        sums
    };
    for share in of(0.0, None) {
        close(share, 1.0 / 12.0, 1e-12);
    }
    assert!(of(0.0, Some(f64::MAX)).iter().all(|share| (share - 1.0 / 12.0).abs() < 1e-12));
    let beyond_all = of(30.0, Some(31.0));
    assert_eq!((beyond_all[..STEPS - 1].iter().sum::<f64>(), beyond_all[STEPS - 1]), (0.0, 1.0));
    let at_a_moment = of(0.05, Some(0.05 + 1e-15));
    assert_eq!(at_a_moment[0], 1.0);
    // Half of the lives end by ln 2.
    let half = of(0.0, Some(std::f64::consts::LN_2));
    for share in &half[..6] {
        close(*share, 1.0 / 6.0, 1e-9);
    }
    close(half.iter().sum(), 1.0, 1e-12);
}

#[test]
fn random_orders_are_fair() {
    let mut draws = SplitMix64(3);
    let (mut places, mut counts) = (Vec::new(), [0_u32; 7]);
    for _ in 0..6_000 {
        draw_places(&mut places, 6, 2, &mut draws);
        assert!(places.len() == 2 && places[0] < places[1], "{places:?}");
        places.iter().for_each(|place| counts[*place as usize] += 1);
    }
    assert!(counts[1..].iter().all(|count| (1_850..2_150).contains(count)), "{counts:?}");
    // Two changes make three lives, of which the last goes on.
    let (means, covariance) = over_random_orders(6, 2, 1);
    close(means.iter().sum(), 3.0, 1e-12);
    assert!((0..FREE).all(|class| covariance[class][class] > 0.0), "{covariance:?}");
}

#[test]
fn pages_and_crawls_that_say_nothing_have_no_result() {
    let life = |at_least_days, at_most_days| Lifetime { at_least_days, at_most_days };
    let (seen, there) = (life(1.0, Some(2.0)), life(3.0, None));
    assert!(PageLives::new(&[seen, seen, there], 10, 1).is_some());
    for (lives, looks) in [
        (&[seen, there][..], 10),
        (&[seen, seen], 10),
        (&[seen, seen, there], 3),
        (&[seen, life(2.0, Some(2.0)), there], 10),
        (&[seen, life(f64::NAN, Some(2.0)), there], 10),
        (&[life(0.0, Some(1.0)), life(0.0, Some(1.0)), life(0.0, None)], 10),
    ] {
        assert_eq!(PageLives::new(lives, looks, 1), None, "{lives:?}");
    }
    let mut test = MemorylessTest::default();
    assert_eq!(test.result(), None);
    let page = PageLives::new(&[seen, seen, there], 10, 1).expect("it is enough");
    (0..9).for_each(|_| test.add(&page));
    assert_eq!((test.changes(), test.result()), (18, None));
    test.add(&page);
    // They all show the same, which is not what chance does.
    assert!(test.result().expect("it is enough").p_value < 1.0);
}
