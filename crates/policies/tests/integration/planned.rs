//! Policies that plan rates: rates are kept, places are kept, nothing starves.

use change_rate::{Gamma, LookOutcome};
use policies::allocate::{AccessTime, PartitionKey};
use policies::planned::{PlannedPolicy, RatePlan};
use proptest::prelude::*;
use revisit::allocate::{Objective, PageTerms, optimal};
use revisit::columns::Slot;
use revisit::demand_curve::DemandCurve;
use revisit::{PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use sweeps::PagePlace;

fn known(change_rate_per_day: f64) -> Gamma {
    Gamma::new(1e6, 1e6 / change_rate_per_day).expect("both positive")
}

fn page(change_rate_per_day: f64, weight: f64) -> PolicyPage {
    let place = PagePlace::of("example.org", "www.example.org", "/");
    PolicyPage { weight, cost: 1.0, host: 0, place, last_look_days: Some(0.0), belief: known(change_rate_per_day) }
}

fn look(at_days: f64, change_rate_per_day: f64) -> PolicyLook {
    let outcome = Some(LookOutcome::Unchanged);
    PolicyLook { at_days, interval_days: Some(1.0), outcome, extent: None, belief: known(change_rate_per_day) }
}

fn slot(index: usize) -> Slot {
    Slot::new(index as u32)
}

fn with_pages(plan: RatePlan, replan_days: f64, pages: &[PolicyPage]) -> PlannedPolicy {
    let mut policy = PlannedPolicy::new(plan, replan_days);
    pages.iter().enumerate().for_each(|(i, page)| policy.insert(slot(i), page, 0.0));
    policy
}

/// Runs a policy with the true rates, a tick at a time, and counts the fetches of each page.
fn run(policy: &mut PlannedPolicy, pages: &[PolicyPage], budget_per_day: f64, days: u32) -> Vec<f64> {
    let mut fetches = vec![0.0; pages.len()];
    let mut owed = 0.0;
    for tick in 0..days * 4 {
        let now_days = f64::from(tick) * 0.25;
        policy.begin(&PolicyTick { now_days, days: 0.25, budget_per_day });
        owed += 0.25 * budget_per_day;
        while owed >= 1.0 {
            let Some(next) = policy.next(now_days) else { break };
            owed -= 1.0;
            fetches[next.index()] += 1.0;
            policy.looked(next, &look(now_days, pages[next.index()].belief.mean()));
        }
    }
    fetches
}

fn five() -> Vec<PolicyPage> {
    [1.0, 2.0, 3.0, 4.0, 5.0].map(|rate| page(rate, 1.0)).to_vec()
}

fn plans() -> Vec<RatePlan> {
    vec![
        RatePlan::Uniform,
        RatePlan::Proportional,
        RatePlan::optimal(Objective::FRESHNESS),
        RatePlan::optimal(Objective::Mixed { theta: 0.05 }),
        RatePlan::optimal(Objective::Age),
        RatePlan::optimal(Objective::HARMONIC),
        RatePlan::optimal(Objective::RandomHarmonic),
        RatePlan::Azar,
        RatePlan::ByWeight,
        RatePlan::Polling(AccessTime::Constant),
        RatePlan::MarkedPoint,
        RatePlan::Partitioned { key: PartitionKey::PerceivedFreshness, groups: 3, rounds: 12 },
        RatePlan::HostCapped { curve: DemandCurve::new(Objective::FRESHNESS), host_limit_per_day: 4.0 },
        RatePlan::Rule(|pages, budget| vec![budget / pages.len() as f64; pages.len()]),
    ]
}

#[test]
fn pages_are_fetched_as_often_as_planned() {
    let terms: Vec<PageTerms> = [1.0, 2.0, 3.0, 4.0, 5.0].map(PageTerms::new).to_vec();
    for (chairman, replan_days) in [(false, 1.0), (false, 1e9), (true, 1.0), (true, 1e9)] {
        for plan in plans() {
            let planned = plan.fetch_rates_per_day(&terms, &[0; 5], 5.0);
            let share: f64 = planned.iter().sum::<f64>() / 5.0;
            let mut policy = with_pages(plan, replan_days, &five());
            if chairman {
                policy = policy.with_chairman();
            }
            let fetches = run(&mut policy, &five(), 5.0, 400);
            for (fetches, planned) in fetches.iter().zip(planned) {
                let expected = 400.0 * planned / share;
                assert!((fetches - expected).abs() <= 2.0, "{fetches} fetches, {expected} planned");
            }
        }
    }
}

#[test]
fn the_plan_is_the_best_one() {
    let mut policy = with_pages(RatePlan::optimal(Objective::FRESHNESS), 1.0, &five());
    policy.begin(&PolicyTick { now_days: 0.0, days: 1.0, budget_per_day: 5.0 });
    let expected = [1.14989227348, 1.35841194741, 1.35383531792, 1.13786046119, 0.0];
    for (i, expected) in expected.into_iter().enumerate() {
        // What a page is believed to change is kept in single precision.
        assert!((policy.fetches_per_day(slot(i)) - expected).abs() < 1e-6);
    }
    assert_eq!(policy.due_days(slot(4)), None);
    assert!(policy.due_days(slot(0)).is_some_and(|due| (0.0..1.0).contains(&due)));
}

#[test]
fn pages_never_fetched_come_first_in_the_order_of_their_discovery() {
    let mut policy = with_pages(RatePlan::Uniform, 1.0, &five());
    let fresh = PolicyPage { last_look_days: None, ..page(1.0, 1.0) };
    policy.insert(slot(9), &fresh, 1.0);
    policy.insert(slot(7), &fresh, 2.0);
    policy.insert(slot(8), &fresh, 1.5);
    policy.begin(&PolicyTick { now_days: 3.0, days: 1.0, budget_per_day: 5.0 });
    assert_eq!([policy.next(3.0), policy.next(3.0)], [Some(slot(9)), Some(slot(8))]);
    // One that could not be fetched keeps its place before the others.
    policy.put_back(slot(9));
    assert_eq!([policy.next(3.0), policy.next(3.0)], [Some(slot(9)), Some(slot(7))]);
    assert!(policy.next(3.0).is_some_and(|next| next.index() < 5));
    policy.looked(slot(9), &look(3.0, 1.0));
    policy.begin(&PolicyTick { now_days: 3.25, days: 1.0, budget_per_day: 5.0 });
    assert!(policy.fetches_per_day(slot(9)) > 0.0, "more than a tenth of the pages are new: planned at once");
}

#[test]
fn a_page_put_back_is_the_next_one_and_one_in_flight_is_not_offered() {
    let mut policy = with_pages(RatePlan::Uniform, 1.0, &five());
    policy.begin(&PolicyTick { now_days: 0.0, days: 1.0, budget_per_day: 5.0 });
    let first = policy.next(0.0).unwrap();
    let second = policy.next(0.0).unwrap();
    policy.put_back(first);
    policy.put_back(second);
    assert_eq!([policy.next(0.0), policy.next(0.0)], [Some(first), Some(second)]);
    let rest: Vec<Slot> = std::iter::from_fn(|| policy.next(0.0)).collect();
    assert_eq!(rest.len(), 3);
    assert!(!rest.contains(&first) && !rest.contains(&second));
    policy.looked(first, &look(0.0, 1.0));
    assert_eq!([policy.next(0.0), policy.next(0.0)], [Some(first), None]);
}

#[test]
fn removed_pages_are_not_offered_and_their_slots_serve_new_ones() {
    for chairman in [false, true] {
        let mut policy = with_pages(RatePlan::Uniform, 1e9, &five());
        if chairman {
            policy = policy.with_chairman();
        }
        policy.begin(&PolicyTick { now_days: 0.0, days: 1.0, budget_per_day: 5.0 });
        (0..4).for_each(|i| policy.remove(slot(i)));
        assert_eq!([policy.next(0.0), policy.next(0.0)], [Some(slot(4)), None]);
        policy.looked(slot(4), &look(0.0, 1.0));
        policy.remove(slot(4));
        assert_eq!(policy.next(0.0), None);
        policy.insert(slot(2), &page(1.0, 1.0), 0.0);
        policy.begin(&PolicyTick { now_days: 0.0, days: 1.0, budget_per_day: 5.0 });
        assert_eq!([policy.next(0.0), policy.next(0.0)], [Some(slot(2)), None]);
        // Slots that were never there have no page.
        policy.remove(slot(99));
        policy.put_back(slot(99));
        policy.looked(slot(99), &look(0.0, 1.0));
        assert_eq!(policy.due_days(slot(99)), None);
    }
}

#[test]
fn a_new_rate_stretches_what_is_left_until_the_deadline() {
    let rate = |pages: &[PageTerms], budget: f64| vec![budget / pages.len() as f64; pages.len()];
    let mut policy = with_pages(RatePlan::Rule(rate), 1e9, &five());
    let tick = |budget_per_day| PolicyTick { now_days: 10.0, days: 1.0, budget_per_day };
    policy.begin(&tick(5.0));
    let due = |policy: &PlannedPolicy| [0, 1, 2, 3, 4].map(|i| policy.due_days(slot(i)).unwrap() - 10.0);
    let before = due(&policy);
    policy.begin(&tick(2.5));
    for (before, after) in before.into_iter().zip(due(&policy)) {
        assert!((after - 2.0 * before).abs() < 1e-12, "half the budget, twice the wait");
    }
    // Without a budget there are no deadlines; the places come back with it.
    policy.begin(&tick(0.0));
    assert_eq!((policy.next(10.0), policy.due_days(slot(0))), (None, None));
    policy.begin(&tick(5.0));
    for (before, after) in before.into_iter().zip(due(&policy)) {
        assert!((after - before).abs() < 1e-12);
    }
}

#[test]
fn deadlines_missed_are_left_out() {
    let mut policy = with_pages(RatePlan::Uniform, 1e9, &five());
    policy.begin(&PolicyTick { now_days: 0.0, days: 1.0, budget_per_day: 5.0 });
    let away = policy.next(0.0).unwrap();
    // Its host does not answer while the others are fetched twenty times.
    for _ in 0..80 {
        let next = policy.next(0.0).unwrap();
        policy.looked(next, &look(0.0, 1.0));
    }
    policy.looked(away, &look(0.0, 1.0));
    let next: Vec<Slot> = (0..10)
        .map(|_| {
            let next = policy.next(0.0).unwrap();
            policy.looked(next, &look(0.0, 1.0));
            next
        })
        .collect();
    assert_eq!(next.iter().filter(|&&next| next == away).count(), 2, "{next:?}");
}

#[test]
fn every_plan_copes_with_nothing_and_with_worthless_pages() {
    for plan in plans() {
        let empty = plan.fetch_rates_per_day(&[], &[], 5.0);
        assert!(empty.is_empty());
        let terms = [0.0, 0.0, 1.0].map(|weight| PageTerms { weight, ..PageTerms::new(weight) });
        for budget in [0.0, -1.0, f64::NAN] {
            assert_eq!(plan.fetch_rates_per_day(&terms, &[0; 3], budget), [0.0; 3]);
        }
        for weights in [&terms[..], &terms[..2]] {
            let rates = plan.fetch_rates_per_day(weights, &[0; 3], 1.0);
            assert!(rates.iter().all(|rate| *rate >= 0.0 && rate.is_finite()), "{rates:?}");
        }
        let mut policy = PlannedPolicy::new(plan, 1.0);
        policy.begin(&PolicyTick { now_days: 0.0, days: 1.0, budget_per_day: 1.0 });
        assert_eq!(policy.next(0.0), None);
        policy.insert(slot(0), &page(1.0, f64::NAN), 0.0);
        policy.begin(&PolicyTick { now_days: 1.0, days: 1.0, budget_per_day: 1.0 });
        // Fetched or not, but no panic and no endless loop.
        while policy.next(1.0).is_some() {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_page_with_a_rate_starves_and_every_page_stays_known(
        rates in prop::collection::vec((-4.0..2.0f64).prop_map(f64::exp), 2..30), chairman: bool,
    ) {
        let pages: Vec<PolicyPage> = rates.iter().map(|&rate| page(rate, 1.0)).collect();
        let terms: Vec<PageTerms> = rates.iter().map(|&rate| PageTerms::new(rate)).collect();
        let budget = rates.len() as f64 * 0.5;
        let planned = optimal(&terms, budget, 0.05).fetch_rates_per_day;
        let mut policy = with_pages(RatePlan::optimal(Objective::Mixed { theta: 0.05 }), 3.0, &pages);
        if chairman {
            policy = policy.with_chairman();
        }
        let fetches = run(&mut policy, &pages, budget, 120);
        for (fetches, planned) in fetches.iter().zip(planned) {
            let expected = 120.0 * planned;
            prop_assert!((fetches - expected).abs() <= 2.0 + 0.02 * expected, "{} fetches, {} planned", fetches, expected);
        }
        // All of them are offered exactly once while none comes back.
        let mut offered: Vec<usize> = std::iter::from_fn(|| policy.next(120.0)).map(Slot::index).collect();
        offered.sort_unstable();
        prop_assert_eq!(offered, (0..rates.len()).collect::<Vec<_>>());
    }
}
