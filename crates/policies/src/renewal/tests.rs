use super::by_age::{AGES, AgeModel, AgePlan};
use super::even::{RenewalPage, best_even_looks};
use super::optimum::AgeOptimum;
use super::*;
use chance::{Draws, SplitMix64};
use revisit::allocate::{PageTerms, optimal};
use revisit::kernels::inverse_binary;

fn weibull(shape: f64) -> GapDistribution {
    GapDistribution::weibull(shape).expect("a good shape")
}

fn gamma(shape: f64) -> GapDistribution {
    GapDistribution::gamma(shape).expect("a good shape")
}

#[test]
fn without_memory_even_looks_are_the_known_optimum() {
    let terms: Vec<PageTerms> = (1..=40)
        .map(|page| {
            let rate = 0.01 * 1.3_f64.powi(page % 17);
            PageTerms { weight: f64::from(1 + page % 5), cost: f64::from(1 + page % 3), ..PageTerms::new(rate) }
        })
        .collect();
    for gaps in [GapDistribution::EXPONENTIAL, weibull(1.0), gamma(1.0)] {
        let pages: Vec<RenewalPage> = terms.iter().map(|terms| RenewalPage { terms: *terms, gaps }).collect();
        for budget in [0.5, 4.0, 30.0] {
            let known = optimal(&terms, budget, 0.0);
            let ours = best_even_looks(&pages, budget);
            assert!((ours.price / known.price - 1.0).abs() < 1e-9);
            for (ours, known) in ours.fetches_per_day.iter().zip(&known.fetch_rates_per_day) {
                assert!((ours - known).abs() <= 1e-9 * known, "{ours} {known}");
            }
        }
    }
}

#[test]
fn even_looks_spend_the_budget_and_no_shift_of_it_is_better() {
    let shapes = [weibull(0.5), weibull(2.0), weibull(4.0), gamma(0.7), gamma(6.0)];
    let page = |gaps, rate| RenewalPage { terms: PageTerms::new(rate), gaps };
    let pages: Vec<_> = shapes.into_iter().flat_map(|gaps| [0.02, 0.1, 0.4].map(|rate| page(gaps, rate))).collect();
    let plan = best_even_looks(&pages, 1.0);
    assert!((plan.fetches_per_day.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let freshness = |page: usize, looks: f64| pages[page].freshness(looks);
    for (from, looks) in plan.fetches_per_day.iter().enumerate().filter(|(_, looks)| **looks > 0.0) {
        for (to, others) in plan.fetches_per_day.iter().enumerate().filter(|(to, _)| *to != from) {
            let moved = 0.05 * looks;
            let gain = freshness(to, others + moved) - freshness(to, *others);
            assert!(gain < freshness(from, *looks) - freshness(from, looks - moved), "{from} to {to}");
        }
    }
}

#[test]
fn without_memory_the_age_says_nothing() {
    let model = AgeModel::new(&GapDistribution::EXPONENTIAL);
    let index = AgeIndex::new(&GapDistribution::EXPONENTIAL);
    for price in [0.01, 0.05, 0.3, 0.7] {
        let plan = model.best(price);
        let wait = inverse_binary(price);
        // The net rate at the optimum is the probability of freshness at the look.
        assert!((plan.net_rate - (-wait).exp()).abs() < 2e-4, "{price}: {} {}", plan.net_rate, (-wait).exp());
        for of_age in plan.waits {
            assert!((of_age / wait - 1.0).abs() < 0.01, "{price}: {of_age} for {wait}");
        }
        for age in [0.0, 0.5, 5.0] {
            assert!(
                (index.value(age, wait) / price - 1.0).abs() < 0.04,
                "{price} at {age}: {}",
                index.value(age, wait)
            );
        }
    }
    assert!(model.best(1.1).waits[0].is_infinite());
}

/// Freshness and looks per gap of one page that follows a plan and knows its ages.
fn played(plan: &AgePlan, shape: f64) -> (f64, f64) {
    let mut draws = SplitMix64(11);
    let scale = (-ln_gamma(1.0 + 1.0 / shape)).exp();
    let mut gap = || scale * draws.exponential().powf(1.0 / shape);
    let (mut now, mut changed, mut next, mut fresh, mut looks) = (0.0, 0.0, gap(), 0.0, 0.0);
    // Gaps of shape 0.5 differ so much that fewer of them are off the mean by a hundredth.
    while now < 1e6 {
        let (below, share) = by_age::place(now - changed);
        let above = plan.waits[(below + 1).min(AGES.len() - 1)];
        let later = now + plan.waits[below] + share * (above - plan.waits[below]);
        fresh += later.min(next) - now;
        while next <= later {
            (changed, next) = (next, next + gap());
        }
        (now, looks) = (later, looks + 1.0);
    }
    (fresh / now, looks / now)
}

/// ln Γ by Stirling's series above 8 and recurrence below.
fn ln_gamma(x: f64) -> f64 {
    if x < 8.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let y = x.recip();
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + y / 12.0 - y.powi(3) / 360.0 + y.powi(5) / 1260.0
}

#[test]
fn a_plan_by_age_gives_what_it_promises_and_more_than_even_looks() {
    for (shape, price) in [(0.5, 0.2), (0.5, 1.0), (2.0, 0.1), (4.0, 0.1), (4.0, 0.35)] {
        let gaps = weibull(shape);
        let plan = AgeModel::new(&gaps).best(price);
        let (fresh, looks) = played(&plan, shape);
        assert!((fresh - plan.freshness).abs() < 0.012, "{shape} {price}: {fresh}, promised {}", plan.freshness);
        // Waits between the ages of the grid are interpolated, which costs a few looks.
        assert!((looks / plan.looks_per_gap - 1.0).abs() < 0.06, "{shape} {price}: {looks} {}", plan.looks_per_gap);
        assert!((fresh - price * looks - plan.net_rate).abs() < 0.006, "{shape} {price}: {fresh} {looks}");
        let interval = gaps.time_of_value(price);
        let even = gaps.average_freshness(interval) - price / interval;
        // Bursts leave little to gain: a new copy within a burst is soon stale.
        let least = if shape < 1.0 { 0.001 } else { 0.02 };
        assert!(plan.net_rate > even + least, "{shape} {price}: {} beside {even}", plan.net_rate);
        let gained = plan.freshness - gaps.average_freshness(1.0 / plan.looks_per_gap);
        println!(
            "Weibull {shape}, {:.2} looks a gap: fresh {:.4} by age, {:.4} at even looks, gain {gained:.4}",
            plan.looks_per_gap,
            plan.freshness,
            plan.freshness - gained
        );
    }
}

#[test]
fn a_nearly_regular_page_is_looked_at_when_it_has_just_changed() {
    let plan = AgeModel::new(&weibull(20.0)).best(0.3);
    // The gap ends near 1, whatever the age at the look.
    for (age, wait) in AGES.iter().zip(plan.waits).filter(|(age, _)| **age < 0.8) {
        assert!((0.9..1.15).contains(&(age + wait)), "{age} {wait}");
    }
    assert!(plan.freshness > 0.9 && plan.looks_per_gap < 1.3, "{plan:?}");
    // Looks that ignore the age need several a gap for that.
    assert!(weibull(20.0).average_freshness(1.0 / 1.3) < 0.65);
}

#[test]
fn a_regular_page_is_recognised_and_met_after_its_changes() {
    let place = sweeps::PagePlace::of("a.example", "a.example", "/");
    let belief = Gamma::new(1.0, 10.0).expect("positive");
    let page = PolicyPage { weight: 1.0, cost: 1.0, host: 0, place, last_look_days: Some(0.0), belief };
    let mut policy = Renewal::new(0.0);
    for slot in (0..30).map(Slot::new) {
        policy.insert(slot, &page, 0.0);
        // A change every ten days, looks every two.
        for look in 1..=60_u32 {
            let at_days = 2.0 * f64::from(look);
            let outcome = if look % 5 == 0 { LookOutcome::Changed } else { LookOutcome::Unchanged };
            let belief = Gamma::new(1.0 + f64::from(look / 5), 10.0 + at_days).expect("positive");
            policy.looked(
                slot,
                &PolicyLook { at_days, interval_days: Some(2.0), outcome: Some(outcome), extent: None, belief },
            );
        }
    }
    let slot = Slot::new(3);
    assert!(policy.shape(slot).expect("a page").ln_shape().0 > 1.0, "{:?}", policy.shape(slot));
    let page = *policy.pages.get(slot).expect("a page");
    let plain = |days: f64| page.belief.crawl_value(days, 0.0);
    // Young versions are left alone; those due are looked at.
    assert!(policy.value(&page, 124.0) < 0.3 * plain(4.0));
    assert!(policy.value(&page, 132.0) > 1.2 * plain(12.0));
}

#[test]
fn failed_looks_change_nothing_and_a_fast_page_comes_several_times_between_valuations() {
    let place = sweeps::PagePlace::of("a.example", "a.example", "/");
    let page = |changes_per_day: f64, last_look_days| {
        let belief = Gamma::new(100.0, 100.0 / changes_per_day).expect("positive");
        PolicyPage { weight: 1.0, cost: 1.0, host: 0, place, last_look_days, belief }
    };
    let [fast, slow, new] = [0, 1, 2].map(Slot::new);
    let mut policy = Renewal::new(0.0);
    policy.insert(fast, &page(24.0, Some(0.0)), 0.0);
    policy.insert(slow, &page(1e-6, Some(0.0)), 0.0);
    policy.insert(new, &page(1.0, None), 0.0);
    let tick = |hour: u32| f64::from(hour) / 24.0;
    let look = |hour, outcome| {
        let belief = Gamma::new(100.0, 100.0 / 24.0).expect("positive");
        PolicyLook { at_days: tick(hour), interval_days: None, outcome, extent: None, belief }
    };
    // A page that was never fetched stays new when a request for it fails.
    for hour in 1..4 {
        policy.begin(&PolicyTick { now_days: tick(hour), days: tick(1), budget_per_day: 24.0 });
        assert_eq!(policy.next(tick(hour)), Some(new));
        policy.looked(new, &look(hour, None));
    }
    policy.remove(new);
    // The copy is as old as before after a failure.
    assert_eq!(policy.next(tick(4)), Some(fast));
    let before = policy.value(policy.pages.get(fast).expect("a page"), tick(5));
    policy.looked(fast, &look(5, None));
    assert_eq!(policy.value(policy.pages.get(fast).expect("a page"), tick(5)), before);
    let fetched = (6..12).filter(|hour| {
        policy.begin(&PolicyTick { now_days: tick(*hour), days: tick(1), budget_per_day: 24.0 });
        let next = policy.next(tick(*hour));
        next.into_iter().for_each(|slot| policy.looked(slot, &look(*hour, Some(LookOutcome::Changed))));
        next == Some(fast)
    });
    assert_eq!(fetched.count(), 6);
}

#[test]
fn the_optimum_by_age_is_the_known_one_without_memory_and_above_even_looks_with_it() {
    let terms: Vec<PageTerms> = (0..60).map(|page| PageTerms::new(0.004 * 1.1_f64.powi(page))).collect();
    let even = |gaps| {
        let pages: Vec<RenewalPage> = terms.iter().map(|terms| RenewalPage { terms: *terms, gaps }).collect();
        let plan = best_even_looks(&pages, 6.0);
        let fresh = pages.iter().zip(&plan.fetches_per_day).map(|(page, looks)| page.freshness(*looks)).sum::<f64>();
        fresh / pages.len() as f64
    };
    let by_age = |gaps: &GapDistribution| AgeOptimum::new(gaps).weighted_freshness(&terms, 6.0);
    let exponential = GapDistribution::EXPONENTIAL;
    assert!((by_age(&exponential) - even(exponential)).abs() < 2e-3, "{} {}", by_age(&exponential), even(exponential));
    for (gaps, least) in [(weibull(0.5), 0.001), (weibull(2.0), 0.01), (weibull(4.0), 0.03), (gamma(30.0), 0.03)] {
        assert!(by_age(&gaps) > even(gaps) + least, "{gaps:?}: {:.4} beside {:.4}", by_age(&gaps), even(gaps));
    }
}
