use super::*;
use crate::setup;
use change_rate::EstimatorChoice;
use sweeps::PagePlace;

fn trace(pages: &[&[f64]]) -> JudgedTrace {
    let page = |(number, changes): (usize, &&[f64])| TracePage {
        source: 0,
        host: 0,
        place: PagePlace::of("a.test", "a.test", &format!("/{number}.html")),
        changes_days: changes.to_vec(),
        extents: vec![],
        changed_before_days: None,
    };
    JudgedTrace { pages: pages.iter().enumerate().map(page).collect(), sources: vec!["one".into()], left_out: vec![] }
}

fn replay(policy: PolicyKind) -> TraceReplay {
    TraceReplay {
        contender: Contender::usual(policy),
        knowledge: Knowledge::History,
        frozen: false,
        dates_share: 0.0,
        fetches_per_page_per_day: 0.5,
        importance_shape: None,
        lists: None,
        until_days: None,
        seed: 1,
    }
}

#[test]
fn an_imported_year_is_one_look_a_day_at_every_page() {
    let trace = trace(&[&[0.2, 0.9, 1.0, 1.5, 365.0, 365.5], &[]]);
    let mut looks = Vec::new();
    trace
        .daily_looks(&mut |_| ControlFlow::Continue(()), |page, day, changed| looks.push((page, day, changed)))
        .unwrap();
    assert_eq!(looks.len(), 2 * 365);
    let changed: Vec<_> = looks.iter().filter(|look| look.2).map(|look| (look.0, look.1)).collect();
    assert_eq!(changed, [(0, 1.0), (0, 2.0), (0, 365.0)]);
}

#[test]
fn a_stopped_replay_says_when() {
    for policy in [PolicyKind::Live, PolicyKind::Uniform] {
        let stopped = replay(policy).run(&trace(&[&[3.0], &[]]), &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(SimulationError::Stopped { .. })), "{stopped:?}");
    }
}

#[test]
fn only_the_scored_year_counts() {
    // One page, current until it changes 36.5 days before the end, and never looked at again: stale for a tenth of the
    // year. What happened before the schedule starts does not count.
    let change = WINDOW_DAYS - 36.5;
    let oracle = TraceReplay { fetches_per_page_per_day: 1e-3, ..replay(PolicyKind::Uniform) };
    let scores = oracle.run(&trace(&[&[5.0, 300.0, change]]), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((scores.fetches, scores.changes), (0, 1));
    assert!((scores.freshness - 0.9).abs() < 1e-12, "{}", scores.freshness);
    assert!((scores.age_days - 36.5 * 36.5 / 2.0 / 365.0).abs() < 1e-9, "{}", scores.age_days);
}

#[test]
fn importance_is_drawn_on_demand_and_the_same_for_all_policies() {
    let trace = trace(&[&[400.0, 500.0, 600.0], &[450.0], &[470.0, 480.0], &[700.0]]);
    let scores = |policy, importance_shape| {
        let replay = TraceReplay { importance_shape, fetches_per_page_per_day: 0.05, ..replay(policy) };
        replay.run(&trace, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let equal = scores(PolicyKind::Uniform, None);
    assert!((equal.weighted_freshness - equal.freshness).abs() < 1e-12, "{equal:?}");
    let drawn = scores(PolicyKind::Uniform, Some(1.2));
    assert_eq!(drawn.freshness, equal.freshness);
    assert!((drawn.weighted_freshness - drawn.freshness).abs() > 1e-3, "{drawn:?}");
    let bad = TraceReplay { importance_shape: Some(0.0), ..replay(PolicyKind::Uniform) };
    assert!(bad.check().is_err());
}

#[test]
fn the_oracle_is_the_same_whatever_the_others_know() {
    let trace = trace(&[&[5.0], &[400.0, 500.0, 600.0]]);
    let scores = |knowledge| {
        let oracle = TraceReplay { knowledge, ..replay(PolicyKind::Oracle) };
        oracle.run(&trace, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    assert_eq!(scores(Knowledge::Fetches), scores(Knowledge::History));
    assert!(scores(Knowledge::Fetches).freshness > 0.99);
}

#[test]
fn an_estimator_that_does_not_go_with_the_policy_gives_way() {
    let gamma = setup::estimator("gamma").unwrap();
    let named = |policy, estimator| {
        let contender = Contender::usual(policy).with_estimator(estimator);
        TraceReplay { contender, ..replay(policy) }.estimator_name()
    };
    assert_eq!(named(PolicyKind::Live, None), "sweeps");
    assert_eq!(named(PolicyKind::Live, Some(gamma)), "sweeps");
    assert_eq!(named(PolicyKind::CrawlValue, Some(gamma)), "gamma");
    assert_eq!(named(PolicyKind::CrawlValue, Some(EstimatorChoice::Sweeps)), "gamma-grouped");
    assert_eq!(named(PolicyKind::Uniform, Some(gamma)), "none");
    assert_eq!(named(PolicyKind::Smoothed, None), "smoothed");
    assert_eq!(named(PolicyKind::Oracle, None), "known");
}

#[test]
fn combinations_without_meaning_are_refused() {
    let fetches = |policy| TraceReplay { knowledge: Knowledge::Fetches, ..replay(policy) };
    assert!(fetches(PolicyKind::Live).check().is_ok());
    assert!(fetches(PolicyKind::Smoothed).check().is_err());
    assert!(TraceReplay { frozen: true, ..fetches(PolicyKind::Live) }.check().is_err());
    assert!(TraceReplay { frozen: true, ..replay(PolicyKind::Live) }.check().is_ok());
    assert!(TraceReplay { frozen: true, ..replay(PolicyKind::Nutch) }.check().is_err());
    for budget in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(TraceReplay { fetches_per_page_per_day: budget, ..replay(PolicyKind::Live) }.check().is_err());
    }
}

#[test]
fn filled_slots_spend_the_budget_and_renew_copies() {
    let pages: Vec<Vec<f64>> = (0..30).map(|page| vec![370.0 + page as f64, 500.0 + 3.0 * page as f64]).collect();
    let trace = trace(&pages.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let scores = |policy, fill| {
        let contender = Contender { fill, ..Contender::usual(policy) };
        let replay = TraceReplay { contender, fetches_per_page_per_day: 1.0, ..replay(policy) };
        replay.run(&trace, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    for policy in PolicyKind::ALL {
        let (idle, filled) = (scores(policy, false), scores(policy, true));
        if policy.waits() {
            assert!(idle.budget_used_share < 0.95, "{}: {}", policy.name(), idle.budget_used_share);
            assert!((filled.budget_used_share - 1.0).abs() < 1e-3, "{}: {}", policy.name(), filled.budget_used_share);
            assert!(filled.freshness > idle.freshness, "{}", policy.name());
        } else {
            assert_eq!(idle, filled, "{}", policy.name());
        }
    }
}

#[test]
fn dates_at_the_first_look_distinguish_busy_pages_from_quiet_ones() {
    // A third of the pages changes every six days, each at its own time; the others have stood for months.
    let first_days = |page: usize| 0.1 * page as f64;
    let changes = |page: usize| (0..120).map(|change| first_days(page) + 6.0 * f64::from(change) + 0.01).collect();
    let pages: Vec<Vec<f64>> = (0..60).map(|page| if page % 3 == 0 { changes(page) } else { Vec::new() }).collect();
    let mut trace = trace(&pages.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for (number, page) in trace.pages.iter_mut().enumerate() {
        let is_busy = number.is_multiple_of(3);
        page.changed_before_days = Some(if is_busy { first_days(number) - 6.0 } else { -200.0 - number as f64 });
    }
    let stale = |dates_share| {
        let replay = TraceReplay {
            knowledge: Knowledge::None,
            dates_share,
            fetches_per_page_per_day: 1.0 / 15.0,
            ..replay(PolicyKind::Live)
        };
        replay.run(&trace, &mut |_| ControlFlow::Continue(())).unwrap().stale_share(0..30)
    };
    let (dated, undated) = (stale(1.0), stale(0.0));
    assert!(dated < 0.95 * undated, "{dated} with dates, {undated} without");
    let share = TraceReplay { dates_share: 1.5, ..replay(PolicyKind::Live) };
    assert!(share.check().is_err());
}

#[test]
fn without_knowledge_the_first_year_is_scored() {
    // Current until day 90, then stale: nothing is fetched at this budget.
    let trace = trace(&[&[90.0, 500.0]]);
    let replay =
        TraceReplay { knowledge: Knowledge::None, fetches_per_page_per_day: 1e-3, ..replay(PolicyKind::Uniform) };
    let scores = replay.run(&trace, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!((scores.freshness - 90.0 / 365.0).abs() < 1e-12, "{}", scores.freshness);
    let stale = [30, 120, 365].map(|days| scores.stale_share(0..days));
    for (stale, expected) in stale.into_iter().zip([0.0, 0.25, 275.0 / 365.0]) {
        assert!((stale - expected).abs() < 1e-9, "{stale}, not {expected}");
    }
    for (policy, runs) in [
        (PolicyKind::Live, true),
        (PolicyKind::Oracle, true),
        (PolicyKind::Clairvoyant, true),
        (PolicyKind::Smoothed, false),
        (PolicyKind::SweepReport, false),
    ] {
        assert_eq!(
            TraceReplay { contender: Contender::usual(policy), ..replay }.check().is_ok(),
            runs,
            "{}",
            policy.name()
        );
    }
    assert!(TraceReplay { frozen: true, ..replay }.check().is_err());
}
