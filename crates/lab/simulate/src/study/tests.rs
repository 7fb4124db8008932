use super::*;
use change_rate::EstimatorKind;
use policies::BeliefSource;

fn go_on(_: StudyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn small() -> Study {
    Study {
        populations: vec![PopulationKind::Hosts],
        pages: 300,
        policies: vec![PolicyKind::Uniform, PolicyKind::CrawlValue, PolicyKind::Live, PolicyKind::Oracle],
        budgets: vec![0.1],
        warm_up_days: 20.0,
        scored_days: 20.0,
        seeds: 3,
        ..Study::default()
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let study = Study {
        changes: ChangeModel::parse("weibull-0.6+bulks+regimes+cosmetic").expect("a model"),
        policies: vec![PolicyKind::Uniform, PolicyKind::CrawlValue, PolicyKind::Live, PolicyKind::WebFountain],
        last_modified_share: 0.3,
        ..small()
    };
    let one = study.run(1, &go_on).expect("a study");
    let four = study.run(4, &go_on).expect("a study");
    assert_eq!(format!("{one:?}"), format!("{four:?}"));
    let other = Study { seed: 2, ..study }.run(4, &go_on).expect("a study");
    assert_ne!(one[1].weighted_freshness, other[1].weighted_freshness);
}

#[test]
fn the_scale_runs_from_uniform_to_the_oracle() {
    let rows = small().run(2, &go_on).expect("a study");
    let names: Vec<_> = rows.iter().map(|row| (row.policy.as_str(), row.estimator)).collect();
    assert_eq!(names, [("uniform", "none"), ("oracle", "known"), ("crawl-value", "gamma-grouped"), ("live", "sweeps")]);
    assert_eq!((rows[0].gap_closed_share, rows[1].gap_closed_share, rows[1].regret), (0.0, 1.0, 0.0));
    assert!(rows[1].weighted_freshness > rows[0].weighted_freshness + 0.02, "{rows:?}");
    for row in &rows[2..] {
        assert!(row.gap_closed_share > 0.2 && row.regret > 0.0, "{row:?}");
        assert!((row.budget_used_share - 1.0).abs() < 0.01, "{row:?}");
    }
    for row in &rows {
        assert_eq!((row.seeds, row.pages, row.budget_fetches_per_page_per_day), (3, 300, 0.1));
        assert!(row.standard_error > 0.0 && row.fetches > 0);
    }
}

#[test]
fn every_policy_runs_and_spends_no_more_than_it_has() {
    let recorded = |policy: &PolicyKind| matches!(policy.beliefs(), BeliefSource::History | BeliefSource::Future);
    let policies: Vec<PolicyKind> = PolicyKind::ALL.into_iter().filter(|policy| !recorded(policy)).collect();
    let study = Study { policies: policies.clone(), seeds: 1, pages: 200, scored_days: 30.0, ..small() };
    let rows = study.run(2, &go_on).expect("a study");
    assert_eq!(rows.len(), policies.len());
    let filled = Study { fill: true, ..study }.run(2, &go_on).expect("a study");
    assert!(filled.iter().all(|row| row.budget_used_share > 0.98), "{filled:?}");
    let names = filled.iter().filter(|row| row.policy.ends_with("+fill")).count();
    assert_eq!(names, policies.iter().filter(|policy| policy.waits()).count());
    for row in rows {
        assert!(row.budget_used_share < 1.01, "{row:?}");
        // By the default prior, Tianwang's first look at a page is due after 250 days; its preset has another.
        assert!(row.fetches > 0 || row.policy == "tianwang", "{row:?}");
        assert!(row.weighted_freshness > 0.1 && row.weighted_freshness < 1.0, "{row:?}");
        // Policies that plan their looks ahead spend the whole budget.
        let waits = PolicyKind::parse(&row.policy).is_some_and(PolicyKind::waits);
        assert!(waits || row.budget_used_share > 0.98, "{row:?}");
    }
}

#[test]
fn published_systems_spend_their_budget_with_the_constants_of_their_presets() {
    let systems: Vec<Contender> =
        Contender::presets().map(|preset| Contender::of_preset(preset, &[]).expect("a system")).collect();
    let study = Study { policies: vec![PolicyKind::Uniform], systems: systems.clone(), seeds: 1, ..small() };
    let rows = study.run(2, &go_on).expect("a study");
    assert_eq!(rows.len(), 1 + systems.len());
    for (row, system) in rows[1..].iter().zip(&systems) {
        assert_eq!((row.preset, &row.policy), (system.preset_name(), &system.name()));
        assert!((0.95..1.01).contains(&row.budget_used_share), "{row:?}");
    }
    assert!(rows[0].preset.is_none());
    // Without its prior, Tianwang waits for 250 days and fetches nothing; with it, pages are due within the run.
    let waiting = |options| {
        let tianwang = Contender { options, fill: false, ..systems[0] };
        let rows = Study { systems: vec![tianwang], ..study.clone() }.run(1, &go_on).expect("a study");
        rows[1].budget_used_share
    };
    assert_eq!(waiting(Options::default()), 0.0);
    assert!(waiting(systems[0].options) > 0.5, "{}", waiting(systems[0].options));
}

#[test]
fn every_estimator_serves_a_policy() {
    let estimators: Vec<_> = EstimatorKind::ALL.into_iter().map(EstimatorChoice::Catalogue).collect();
    let study = Study { policies: vec![PolicyKind::OptimalHarmonic], estimators, seeds: 1, ..small() };
    let rows = study.run(2, &go_on).expect("a study");
    assert_eq!(rows.len(), EstimatorKind::ALL.len());
    assert!(rows.iter().all(|row| row.weighted_freshness > 0.2), "{rows:?}");
}

#[test]
fn a_study_can_be_stopped_and_faults_are_named() {
    let stop = |progress: StudyProgress| {
        if progress.done > 0.5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(matches!(small().run(2, &stop), Err(SimulationError::Stopped { .. })));
    let fault = |study: Study| study.run(1, &go_on).expect_err("a fault").to_string();
    assert!(fault(Study { pages: 0, ..small() }).contains("no pages"));
    assert!(fault(Study { budgets: vec![0.0], ..small() }).starts_with("budget in fetches per page and day is 0"));
    assert!(fault(Study { budgets: vec![], ..small() }).starts_with("no budget given"));
    assert!(fault(Study { seeds: 0, ..small() }).starts_with("no seed given"));
    assert!(fault(Study { warm_up_days: f64::NAN, ..small() }).starts_with("warm-up, in days is NaN"));
    let gamma = vec![EstimatorChoice::Catalogue(EstimatorKind::Gamma)];
    assert!(fault(Study { estimators: gamma, ..small() }).contains("policy live has its own estimator"));
}
