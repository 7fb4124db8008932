use super::*;

fn small() -> Versus {
    Versus {
        populations: vec![PopulationKind::Gamma],
        pages: 400,
        budgets: vec![0.02, 0.1, 0.2],
        tick_days: 0.25,
        warm_up_days: 60.0,
        scored_days: 60.0,
        peers: vec![
            PeerCrawler { warm_up_days: 60.0, scored_days: 60.0, ..Versus::default().peers[1] },
            PeerCrawler { warm_up_days: 60.0, scored_days: 60.0, ..Versus::default().peers[3] },
        ],
        seeds: 2,
        ..Versus::default()
    }
}

#[test]
fn a_comparison_says_what_others_pay() {
    let go_on = |_: StudyProgress| ControlFlow::Continue(());
    let report = small().run(1, &go_on).expect("a comparison");
    assert_eq!(report, small().run(3, &go_on).expect("a comparison"));
    assert_eq!((report.ours.len(), report.peers.len()), (3, 2));
    for row in &report.ours {
        assert!(row.share_of_optimum > 0.4 && row.share_of_optimum < 1.02, "{row:?}");
        assert!(row.weighted_freshness < row.optimum_weighted_freshness + 0.005, "{row:?}");
    }
    assert_eq!(report.ours[1].claimed_share, Some(0.95));
    assert_eq!((report.ours[1].estimator, report.ours[1].fetches), ("gamma-grouped", 2 * 60 * 40));
    assert_eq!(report.peers[1].fetches, 2 * 60 * 40);
    for row in &report.peers {
        assert!(
            row.freshness > 0.2 && row.freshness < 1.0 && row.age_days > 0.1 && row.standard_error > 0.0,
            "{row:?}"
        );
        assert_eq!(row.estimator, "none");
        assert!(row.fetch_ratio > 1.2 && row.fetch_ratio_to_optimum > row.fetch_ratio * 0.98, "{row:?}");
    }
    assert_eq!(
        (report.peers[0].budget_fetches_per_page_per_day, report.peers[1].fetches_per_page_per_day),
        (None, 0.1)
    );
    let fault = Versus { budgets: vec![0.1], ..small() }.run(1, &go_on).expect_err("a fault").to_string();
    assert!(fault.contains("two budgets"), "{fault}");
    let classified = Contender::of_preset(settings::Preset::Classified, &[]).expect("a system");
    let report = Versus { ours: classified, seeds: 1, ..small() }.run(2, &go_on).expect("a comparison");
    let ours = &report.ours[1];
    assert_eq!((ours.policy.as_str(), ours.preset, ours.estimator), ("classified", Some("classified"), "half-count"));
}

#[test]
fn between_runs_freshness_is_linear_in_the_logarithm_of_the_fetches() {
    let curve = [(0.01, 0.4), (0.04, 0.6), (0.16, 0.8)];
    for (freshness, fetches) in [(0.5, 0.02), (0.6, 0.04), (0.7, 0.08), (0.1, 0.01), (0.9, 0.16)] {
        assert!((fetches_for(&curve, freshness) / fetches - 1.0).abs() < 1e-12, "{freshness}");
    }
}

#[test]
fn the_optimum_needs_what_it_was_given() {
    let optimum = Optimum::of(&PopulationKind::Wide.draw(500, 1).expect("pages"));
    assert!((optimum.needs(optimum.freshness(0.07)) / 0.07 - 1.0).abs() < 1e-3);
}

#[test]
fn what_evenly_spaced_looks_reach_is_what_a_run_finds() {
    let population = PopulationKind::Gamma.draw(400, 1).expect("pages");
    let run = Run { tick_days: PEER_TICK_DAYS, ..Run::new(20.0, 420.0, 0.1 * 400.0) };
    let uniform_looks = Contender::usual(PolicyKind::Uniform);
    let scores = simulate(&population, &uniform_looks, &run, &mut |_| ControlFlow::Continue(()));
    let (scores, computed) = (scores.expect("a run"), uniform(&population, 0.1, 400.0));
    assert_eq!(scores.fetches, computed.total_fetches);
    let pairs = [
        (scores.freshness, computed.freshness),
        (scores.weighted_freshness, computed.weighted_freshness),
        (scores.age_days, computed.age_days),
    ];
    for (found, expected) in pairs {
        assert!((found / expected - 1.0).abs() < 0.02, "{pairs:?}");
    }
}

#[test]
fn on_a_recording_ours_is_the_live_default() {
    use crate::trace::{JudgedTrace, TracePage};
    use sweeps::PagePlace;
    let page = |number: u32| TracePage {
        source: 0,
        host: 0,
        place: PagePlace::of("a.test", "a.test", &format!("/{number}.html")),
        // A fifth of the pages is busy; the others never change.
        changes_days: (1..=if number.is_multiple_of(5) { 180 } else { 0 }).map(|n| f64::from(n) * 4.0 + 0.01).collect(),
        extents: vec![],
        changed_before_days: None,
    };
    let trace = JudgedTrace { pages: (0..50).map(page).collect(), sources: vec!["one".into()], left_out: vec![] };
    let versus = RecordedVersus { budgets: vec![0.01, 0.05, 0.1, 0.2, 0.5], ..RecordedVersus::default() };
    let run = |run: &RecordedRun| run.run(&trace, &mut |_| ControlFlow::Continue(())).expect("a run");
    let scores: Vec<Scores> = versus.runs().iter().map(run).collect();
    let rows = versus.rows(&scores).expect("every run");
    assert_eq!(rows.len(), versus.peers.len());
    assert!(rows.iter().any(|row| row.policy == "nutch+fill") && rows.iter().all(|row| row.ours == "live"));
    let uniform = rows.iter().find(|row| row.policy == "uniform").expect("round robin");
    assert!(uniform.bound.is_none() && uniform.fetch_ratio > 1.5, "{uniform:?}");
    let spent = uniform.fetches_per_page_per_day / uniform.our_fetches_per_page_per_day;
    assert!((uniform.fetch_ratio - spent).abs() < 1e-12, "{uniform:?}");
    assert!(versus.rows(&scores[1..]).is_err());
    assert!(RecordedVersus { budgets: vec![0.1], ..versus }.rows(&scores).is_err());
}
