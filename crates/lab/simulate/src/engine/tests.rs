use super::*;
use crate::changes::{ChangeModel, RecordedChanges, SyntheticChanges};
use crate::learner::KnownRates;
use crate::population::SimulatedPage;
use std::collections::VecDeque;
use sweeps::PagePlace;

/// Every page in turn.
#[derive(Default)]
struct InTurn(VecDeque<Slot>);

impl RevisitPolicy for InTurn {
    fn insert(&mut self, slot: Slot, _: &PolicyPage, _: f64) {
        self.0.push_back(slot);
    }
    fn remove(&mut self, _: Slot) {}
    fn begin(&mut self, _: &PolicyTick) {}
    fn next(&mut self, _: f64) -> Option<Slot> {
        self.0.pop_front()
    }
    fn put_back(&mut self, slot: Slot) {
        self.0.push_front(slot);
    }
    fn looked(&mut self, slot: Slot, _: &PolicyLook) {
        self.0.push_back(slot);
    }
}

/// The first page, at the given times.
struct At(Vec<f64>, Vec<PolicyLook>);

impl RevisitPolicy for At {
    fn insert(&mut self, _: Slot, _: &PolicyPage, _: f64) {}
    fn remove(&mut self, _: Slot) {}
    fn begin(&mut self, _: &PolicyTick) {}
    fn next(&mut self, now_days: f64) -> Option<Slot> {
        (self.0.first()? <= &now_days).then(|| {
            self.0.remove(0);
            Slot::new(0)
        })
    }
    fn put_back(&mut self, _: Slot) {}
    fn looked(&mut self, _: Slot, look: &PolicyLook) {
        self.1.push(*look);
    }
}

fn pages(count: usize, cost: f64) -> Pages {
    let place = PagePlace::of("a.test", "a.test", "/");
    let page = SimulatedPage { weight: 1.0, cost, host: 0, section: 0, place };
    Pages::new((0..count).map(|_| page), vec!["all".into()]).expect("good pages")
}

fn go_on(_: RunProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Two changes of .2 and .5 at days 1 and 3, seen together at day 4; one of .1 at day 5 that is never seen.
#[test]
fn copies_miss_the_extent_of_changes_until_a_look() {
    let changes = RecordedChanges::new([[1.0, 3.0, 5.0]]).expect("sorted");
    let mut changes = changes.with_extents([0.2, 0.5, 0.1]).expect("one for each");
    let mut policy = At(vec![3.9], Vec::new());
    let run = Run { tick_days: 0.5, ..Run::new(0.0, 10.0, 2.0) };
    let mut learner = KnownRates::new([0.3]);
    let scores = super::run(&pages(1, 1.0), &mut changes, &mut policy, &mut learner, &run, &mut go_on).expect("a run");
    let at_days = policy.1[0].at_days;
    assert_eq!(policy.1[0].extent, Some(0.5), "the larger one of the two");
    let missed = scores.missed_extent.expect("the changes have extents");
    let apart = 1.0 - 0.8 * 0.5;
    let tenth = f64::from(0.1f32);
    assert!((missed.largest * 10.0 - (0.2 * 2.0 + 0.5 * (at_days - 3.0) + tenth * 5.0)).abs() < 1e-6, "{missed:?}");
    assert!((missed.together * 10.0 - (0.2 * 2.0 + apart * (at_days - 3.0) + tenth * 5.0)).abs() < 1e-6, "{missed:?}");
}

#[test]
fn the_unit_trace_has_the_values_of_the_notes() {
    let mut changes = RecordedChanges::new([[1.0, 3.0, 5.0, 9.5, 12.0]]).expect("sorted");
    let mut policy = At(vec![4.0, 10.0], Vec::new());
    // Ticks so short that a look comes at its time.
    let run_ = Run { tick_days: 1e-4, ..Run::new(0.0, 15.0, 1e4) };
    let scores =
        run(&pages(1, 1.0), &mut changes, &mut policy, &mut KnownRates::new([1.0]), &run_, &mut go_on).expect("a run");
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-4, "{value}, not {expected}");
    near(scores.freshness, 4.0 / 15.0);
    near(scores.weighted_freshness, 4.0 / 15.0);
    near(scores.age_days, 1.433_333_333_333);
    near(scores.weighted_harmonic_penalty, 0.783_333_333_333);
    near(scores.weighted_missed_changes, 0.833_333_333_333);
    near(scores.delay_days.mean, 2.375);
    assert!((scores.delay_days.p95 / 5.0 - 1.0).abs() < 0.09, "{:?}", scores.delay_days);
    assert_eq!((scores.changes, scores.fetches, scores.useful_fetches_share), (5, 2, 1.0));
    near(scores.unnoticed_share, 0.2);
    near(scores.overwritten_share, 0.4);
    assert_eq!(scores.over_30_days_share, 0.0);
    let by_day: f64 = scores.freshness_by_day.iter().sum();
    near(by_day, 4.0);
    near(scores.freshness_by_day[11], 1.0);
    near(scores.freshness_by_day[9], 0.0);
    assert!(policy.1.iter().all(|look| look.outcome == Some(LookOutcome::Changed)));
    near(policy.1[1].interval_days.expect("a look before"), 6.0);
}

/// Records the dates that first looks report: slot, time of the change, time of the look.
struct Reported(Vec<(usize, f64, f64)>);

impl RevisitPolicy for Reported {
    fn insert(&mut self, _: Slot, _: &PolicyPage, _: f64) {}
    fn remove(&mut self, _: Slot) {}
    fn begin(&mut self, _: &PolicyTick) {}
    fn next(&mut self, _: f64) -> Option<Slot> {
        None
    }
    fn put_back(&mut self, _: Slot) {}
    fn looked(&mut self, _: Slot, _: &PolicyLook) {}
    fn dated(&mut self, slot: Slot, changed_days: f64, at_days: f64) {
        self.0.push((slot.index(), changed_days, at_days));
    }
}

#[test]
fn first_looks_report_the_last_change_before_the_start() {
    let reported = |last_modified_share| {
        let mut changes = RecordedChanges::new([vec![-20.0, 3.0, 12.0], vec![], vec![11.0]]).expect("sorted");
        let mut policy = Reported(Vec::new());
        let run_ = Run { start_days: 10.0, last_modified_share, ..Run::new(10.0, 15.0, 1.0) };
        run(&pages(3, 1.0), &mut changes, &mut policy, &mut KnownRates::new([1.0; 3]), &run_, &mut go_on)
            .expect("a run");
        policy.0
    };
    assert_eq!(reported(1.0), [(0, 3.0, 10.0)]);
    assert_eq!(reported(0.0), []);
}

#[test]
fn a_window_counts_only_what_lies_in_it() {
    let mut changes = RecordedChanges::new([[1.0, 50.0]]).expect("sorted");
    let mut policy = At(vec![41.0], Vec::new());
    let run_ = Run { tick_days: 1e-3, last_modified_share: 1.0, ..Run::new(30.0, 60.0, 1e3) };
    let scores =
        run(&pages(1, 1.0), &mut changes, &mut policy, &mut KnownRates::new([1.0]), &run_, &mut go_on).expect("a run");
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-3, "{value}, not {expected}");
    // Stale from day 1 to 41 and from day 50 on.
    near(scores.freshness, 9.0 / 30.0);
    near(scores.age_days, ((40.0f64.powi(2) - 29.0f64.powi(2)) / 2.0 + 50.0) / 30.0);
    near(scores.over_30_days_share, 10.0 / 30.0);
    assert_eq!((scores.changes, scores.fetches), (1, 1));
    assert!(matches!(policy.1[0].outcome, Some(LookOutcome::ChangedAt { age_days }) if (age_days - 40.0).abs() < 2e-3));
}

#[test]
fn uniform_looks_reach_the_closed_form() {
    // Pages with r = 1/4, 1 and 4 changes a look.
    let rates: Vec<f64> = (0..3000).map(|page| [0.05, 0.2, 0.8][page % 3]).collect();
    let pages = pages(3000, 1.0);
    let mut freshness = Vec::new();
    for seed in 0..4 {
        let mut changes =
            SyntheticChanges::new(&pages, &rates, ChangeModel::default(), seed, 105.0).expect("good rates");
        let run_ = Run::new(5.0, 105.0, 0.2 * 3000.0);
        let scores =
            run(&pages, &mut changes, &mut InTurn::default(), &mut KnownRates::new(rates.clone()), &run_, &mut go_on)
                .expect("a run");
        assert_eq!(scores.budget_used_share, 1.0);
        assert_eq!(scores.fetches, 60_000);
        freshness.push(scores.freshness);
    }
    let expected = [0.25f64, 1.0, 4.0].map(|r| -(-r).exp_m1() / r).iter().sum::<f64>() / 3.0;
    let mean = freshness.iter().sum::<f64>() / 4.0;
    let standard_error = (freshness.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 12.0).sqrt();
    assert!((mean - expected).abs() < 3.0 * standard_error.max(2e-4), "{mean} +- {standard_error}, not {expected}");
}

#[test]
fn expected_freshness_is_that_of_the_changes_and_varies_less() {
    let rates: Vec<f64> = (0..200).map(|page| [0.05, 0.2, 0.8][page % 3]).collect();
    let pages = pages(200, 1.0);
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for seed in 0..24 {
        let mut changes =
            SyntheticChanges::new(&pages, &rates, ChangeModel::default(), seed, 60.0).expect("good rates");
        let run_ = Run::new(10.0, 60.0, 0.2 * 200.0);
        let mut learner = KnownRates::new(rates.clone());
        let scores = run(&pages, &mut changes, &mut InTurn::default(), &mut learner, &run_, &mut go_on).expect("a run");
        found.push(scores.freshness);
        // Looks in turn come at the same times whatever changes.
        expected.push(scores.expected_freshness.expect("Poisson changes"));
    }
    assert!(expected.windows(2).all(|pair| pair[0] == pair[1]), "{expected:?}");
    let r = [0.25f64, 1.0, 4.0];
    let shares = [67.0, 67.0, 66.0];
    let closed = r.iter().zip(shares).map(|(r, share)| share / 200.0 * -(-r).exp_m1() / r).sum::<f64>();
    assert!((expected[0] - closed).abs() < 2e-4, "{} not {closed}", expected[0]);
    let mean = found.iter().sum::<f64>() / 24.0;
    let standard_error = (found.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / (24.0 * 23.0)).sqrt();
    assert!(standard_error > 1e-4 && (mean - expected[0]).abs() < 3.0 * standard_error, "{mean} +- {standard_error}");
    // Without known rates nothing is predicted.
    let mut recorded = RecordedChanges::new(vec![vec![20.0]; 200]).expect("sorted");
    let scores = run(
        &pages,
        &mut recorded,
        &mut InTurn::default(),
        &mut KnownRates::new(rates),
        &Run::new(10.0, 60.0, 40.0),
        &mut go_on,
    );
    let scores = scores.expect("a run");
    assert_eq!((scores.expected_freshness, scores.expected_weighted_freshness), (None, None));
    // Ten looks at the only host in a quarter of a day, evenly: never two in a second.
    assert_eq!((scores.peaks.per_second, scores.peaks.per_host_and_second, scores.peaks.per_host_and_day), (1, 1, 40));
}

#[test]
fn what_a_look_costs_is_taken_from_the_budget() {
    for (cost, budget) in [(0.5, 3.0), (2.5, 3.0), (1.0, 0.3), (7.0, 1.0)] {
        let pages = pages(10, cost);
        let mut changes = RecordedChanges::new([[0.0; 0]; 10]).expect("no changes");
        let run_ = Run::new(10.0, 1010.0, budget);
        let scores =
            run(&pages, &mut changes, &mut InTurn::default(), &mut KnownRates::new([0.0; 10]), &run_, &mut go_on)
                .expect("a run");
        assert!((scores.budget_used_share - 1.0).abs() < 0.01, "cost {cost}: {}", scores.budget_used_share);
        assert!((scores.fetches as f64 * cost / (1000.0 * budget) - 1.0).abs() < 0.01);
        assert_eq!(scores.freshness, 1.0);
    }
}

#[test]
fn noise_fools_looks_but_not_the_scores() {
    struct Counting(u64, u64);
    impl Learner for Counting {
        fn belief(&self, _: usize) -> change_rate::Gamma {
            change_rate::Gamma::new(1.0, 1.0).expect("positive")
        }
        fn look(&mut self, page: usize, _: f64, outcome: LookOutcome) -> change_rate::Gamma {
            self.0 += u64::from(outcome.is_change());
            self.1 += 1;
            self.belief(page)
        }
    }
    let pages = pages(1000, 1.0);
    let mut changes = RecordedChanges::new(vec![vec![]; 1000]).expect("no changes");
    let noise = CosmeticNoise { page_share: 0.4, probability: 0.25 };
    let run_ = Run { cosmetic_noise: Some(noise), ..Run::new(0.0, 100.0, 200.0) };
    let mut learner = Counting(0, 0);
    let scores = run(&pages, &mut changes, &mut InTurn::default(), &mut learner, &run_, &mut go_on).expect("a run");
    assert_eq!((scores.freshness, scores.useful_fetches_share, learner.1), (1.0, 0.0, 20_000));
    assert!((learner.0 as f64 / 20_000.0 - 0.1).abs() < 0.012, "{}", learner.0);
}

#[test]
fn a_run_can_be_stopped_and_bad_rules_are_named() {
    let pages = pages(2, 1.0);
    let attempt = |run_: Run, stop: bool| {
        let mut changes = RecordedChanges::new([[0.0; 0]; 2]).expect("no changes");
        let mut watch = |progress: RunProgress| {
            if stop && progress.now_days >= 1.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut learner = KnownRates::new([0.0; 2]);
        run(&pages, &mut changes, &mut InTurn::default(), &mut learner, &run_, &mut watch).map(|scores| scores.fetches)
    };
    let good = Run::new(0.0, 10.0, 1.0);
    assert_eq!(attempt(good, false), Ok(10));
    assert_eq!(attempt(good, true), Err(SimulationError::Stopped { at_days: 1.0 }));
    let fault = |run_: Run| attempt(run_, false).expect_err("a fault").to_string();
    assert_eq!(fault(Run { budget_per_day: 0.0, ..good }), "budget per day is 0; it must be a positive, finite number");
    assert!(fault(Run { budget_per_day: f64::NAN, ..good }).starts_with("budget per day is NaN"));
    assert!(fault(Run { tick_days: -1.0, ..good }).starts_with("tick, in days is -1"));
    assert!(fault(Run { end_days: 0.0, ..good }).starts_with("end, in days is 0"));
    assert!(fault(Run { score_from_days: f64::NAN, ..good }).starts_with("beginning of the scored time"));
    let mut too_few = RecordedChanges::new([[0.0; 0]]).expect("no changes");
    let attempt = run(&pages, &mut too_few, &mut InTurn::default(), &mut KnownRates::new([0.0; 2]), &good, &mut go_on);
    assert_eq!(attempt.err(), Some(SimulationError::Lengths { what: "change times", pages: 2, entries: 1 }));
}

/// Notes the beliefs about the second page that it is given.
struct Listening(InTurn, Vec<(f64, f64)>, f64);

impl RevisitPolicy for Listening {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.0.insert(slot, page, now_days);
    }
    fn remove(&mut self, _: Slot) {}
    fn begin(&mut self, tick: &PolicyTick) {
        self.2 = tick.now_days;
    }
    fn next(&mut self, _: f64) -> Option<Slot> {
        Some(Slot::new(0))
    }
    fn put_back(&mut self, _: Slot) {}
    fn looked(&mut self, _: Slot, _: &PolicyLook) {}
    fn believe(&mut self, slot: Slot, belief: change_rate::Gamma) {
        if slot.index() == 1 {
            self.1.push((self.2, belief.mean()));
        }
    }
}

#[test]
fn once_a_day_pages_learn_from_looks_at_their_siblings() {
    for (grouped, days) in [(true, 9), (false, 0)] {
        let pages = pages(2, 1.0);
        let busy = (0..40).map(|i| 0.1 + 0.25 * f64::from(i)).collect::<Vec<f64>>();
        let mut changes = RecordedChanges::new([busy, vec![]]).expect("sorted");
        let mut learner = crate::learner::GammaLearner::new(&pages, Default::default(), grouped).expect("good options");
        let mut policy = Listening(InTurn::default(), Vec::new(), 0.0);
        run(&pages, &mut changes, &mut policy, &mut learner, &Run::new(0.0, 10.0, 4.0), &mut go_on).expect("a run");
        assert_eq!(policy.1.len(), days);
        assert!(
            policy.1.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1.0 && pair[1].1 > pair[0].1),
            "{:?}",
            policy.1
        );
    }
}

#[test]
fn a_slot_with_nothing_to_fetch_does_not_end_the_tick() {
    // Four slots a day, at an eighth of a day and every quarter after it. Nothing is due in the first two.
    let mut changes = RecordedChanges::new([[0.5]]).expect("sorted");
    let mut policy = At(vec![0.5, 0.8], Vec::new());
    let run_ = Run { tick_days: 1.0, ..Run::new(0.0, 2.0, 4.0) };
    run(&pages(1, 1.0), &mut changes, &mut policy, &mut KnownRates::new([1.0]), &run_, &mut go_on).expect("a run");
    let looks: Vec<f64> = policy.1.iter().map(|look| look.at_days).collect();
    assert_eq!(looks, [0.625, 0.875]);
}

#[test]
fn a_slot_with_nothing_to_fetch_leaves_its_budget_to_later_ones() {
    // Two slots in each of four ticks a day. The third tick has the budget of the two idle ones, too.
    let mut changes = RecordedChanges::new([[0.1]]).expect("sorted");
    let due = vec![0.5; 12];
    let mut policy = At(due, Vec::new());
    run(&pages(1, 1.0), &mut changes, &mut policy, &mut KnownRates::new([1.0]), &Run::new(0.0, 1.0, 8.0), &mut go_on)
        .expect("a run");
    let looks: Vec<f64> = policy.1.iter().map(|look| look.at_days).collect();
    assert_eq!(looks.len(), 8);
    assert!(looks[5] < 0.75 && looks[6] >= 0.75, "{looks:?}");
}
