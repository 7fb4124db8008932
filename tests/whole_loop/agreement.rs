//! The running stages and the simulator make the same decisions: one web, lived through by the stages and replayed in
//! the simulator at the same budget, saves the same part of round robin's stale time, whether sweeps decide or priors
//! that siblings share. Freshness itself says little: where round robin reaches .95, a policy that does nothing for it
//! is within .01 of one that saves a fifth of the stale time.

use crate::lived_web::{LivedWeb, changes_days, simulated_pages};
use change_rate::{EstimatorChoice, EstimatorKind};
use page::Timestamp;
use policies::{PolicyKind, PolicyOptions};
use simulate::changes::RecordedChanges;
use simulate::engine::{self, Run};
use simulate::{learner, setup};
use simweb::{ChangeTrace, ReplayConfig, SimWebConfig, TimeWindow, Web, WebSource};
use std::ops::ControlFlow;
use std::time::Duration;

const START: Timestamp = Timestamp::from_secs(1_735_689_600);
const DAYS: f64 = 120.0;
/// Days until the stages have fetched every page once and the calendars have something to say. The simulator begins
/// with a copy of every page.
const SETTLED_DAYS: f64 = 40.0;
const FETCH_EVERY_DAYS: f64 = 5.0;
/// A sweep is worth most in its first hours.
const TICK: Duration = Duration::from_secs(900);
/// Allowed difference of stale time relative to round robin, as a fraction of the simulator's.
const ALLOWED: f64 = 0.1;

#[test]
fn a_replay_through_the_stages_and_the_simulator_agree() {
    agree(PolicyKind::Live, EstimatorChoice::Sweeps);
}

#[test]
fn they_agree_too_where_siblings_teach_through_priors() {
    agree(PolicyKind::CrawlValue, EstimatorChoice::Catalogue(EstimatorKind::GammaGrouped));
}

/// A source of the corpora with its bytes, or the built-in change times with generated text.
fn web() -> Web {
    let source = match corpora::find("content") {
        Some(content) => WebSource::Replay(ReplayConfig {
            days: DAYS,
            max_pages_per_source: 800,
            sources: vec!["scoop-main".to_owned()],
            start: START,
            ..ReplayConfig::new(content)
        }),
        None => WebSource::Trace(ChangeTrace::built_in(START)),
    };
    Web::open(SimWebConfig::new(source)).unwrap()
}

fn agree(policy: PolicyKind, estimator: EstimatorChoice) {
    let web = web();
    let window = TimeWindow::days_from(START, DAYS);
    // The simulator knows no pages that come or go.
    let mut trace = web.trace().clone();
    trace.window = window;
    trace.pages.retain(|page| page.exists_at(window.start) && page.exists_at(window.end));
    let chosen = [("policy.name", policy.name()), ("estimator.name", estimator.name())];
    let crawled = LivedWeb::crawl(&web, &trace.pages, START, DAYS, TICK, FETCH_EVERY_DAYS, &chosen);

    let scored = TimeWindow { start: START.plus_days(SETTLED_DAYS), end: window.end };
    let lived = simweb::freshness(&trace, &crawled.ledger, scored);
    let fetches_per_day = lived.fetches as f64 / scored.days();
    let spent = fetches_per_day / (trace.pages.len() as f64 / FETCH_EVERY_DAYS);
    assert!((0.95..1.05).contains(&spent), "{spent} of the budget was spent");
    let simulated = simulate(&trace, policy, estimator, fetches_per_day);
    let round_robin = simulate(&trace, PolicyKind::Uniform, estimator, fetches_per_day);
    let relative = |freshness: f64| (1.0 - freshness) / (1.0 - round_robin);
    let (stages, simulator) = (relative(lived.freshness), relative(simulated));
    println!(
        "{}, {} pages: stale time relative to round robin's {:.4}: stages {stages:.3} ({:.0} % of the budget), \
         simulator {simulator:.3}",
        policy.name(),
        trace.pages.len(),
        1.0 - round_robin,
        100.0 * spent,
    );
    assert!(simulator < 1.0 - ALLOWED, "round robin itself would agree: {simulator}");
    assert!((stages / simulator - 1.0).abs() <= ALLOWED, "stages {stages}, simulator {simulator}");
}

/// Freshness of the scored days in the simulator.
fn simulate(trace: &ChangeTrace, policy: PolicyKind, estimator: EstimatorChoice, fetches_per_day: f64) -> f64 {
    let pages = simulated_pages(trace);
    let mut changes = RecordedChanges::new(trace.pages.iter().map(|page| changes_days(page, START))).unwrap();
    let mut policy = setup::build(policy, &PolicyOptions::default());
    let mut learner = learner::learner(estimator, &pages, change_rate::EstimatorOptions::default()).unwrap();
    // The pages state truthfully when they last changed, and only the sweeps use it.
    let last_modified_share = if estimator == EstimatorChoice::Sweeps { 1.0 } else { 0.0 };
    let run = Run { last_modified_share, ..Run::new(SETTLED_DAYS, DAYS, fetches_per_day) };
    let mut go_on = |_| ControlFlow::Continue(());
    engine::run(&pages, &mut changes, policy.as_mut(), learner.as_mut(), &run, &mut go_on).unwrap().freshness
}
