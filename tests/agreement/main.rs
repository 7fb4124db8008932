//! The running system and the simulator make the same decisions: one web, lived through by the services and replayed in
//! the simulator at the same budget, saves the same part of round robin's stale time, whether sweeps decide or priors
//! that siblings share. Freshness itself says little: where round robin reaches .95, a policy that does nothing for it
//! is within .01 of one that saves a fifth of the stale time.

use change_rate::{EstimatorChoice, EstimatorKind};
use page::{CanonicalUrl, Timestamp};
use policies::{PolicyKind, PolicyOptions};
use revisit::RevisitPolicy;
use simulate::changes::RecordedChanges;
use simulate::engine::{self, Run};
use simulate::population::{Pages, SimulatedPage};
use simulate::{learner, setup};
use simweb::{ChangeTrace, TimeWindow};
use std::collections::HashMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sweeps::PagePlace;
use tests::{Process, programs};

const DAYS: f64 = 120.0;
/// Days until the services have fetched every page once and the calendars have something to say. The simulator begins
/// with a copy of every page.
const SETTLED_DAYS: f64 = 40.0;
const FETCH_EVERY_DAYS: f64 = 5.0;
/// Allowed difference of stale time relative to round robin, as a fraction of the simulator's.
const ALLOWED: f64 = 0.1;

/// Each keeps a core busy for a minute or two.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn a_replay_through_the_services_and_the_simulator_agree() {
    // A sweep is worth most in its first hours. At 120 days a minute, the milliseconds that the loop takes are such hours
    // (seen: 9 % more stale time than in the simulator, at a third of the speed 1 %).
    agree(PolicyKind::Live, EstimatorChoice::Sweeps, "120s");
}

#[test]
fn they_agree_too_where_siblings_teach_through_priors() {
    agree(PolicyKind::CrawlValue, EstimatorChoice::Catalogue(EstimatorKind::GammaGrouped), "60s");
}

fn agree(policy: PolicyKind, estimator: EstimatorChoice, wall: &str) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().expect("there is room for a test");
    let corpora =
        std::env::var_os("RECRAWL_CORPORA").map_or_else(|| "../shared/corpora".into(), std::path::PathBuf::from);
    let mut command = programs().command("recrawl");
    // The simulator knows no lists, weights, rules or errors.
    command.args(["--format", "json", "demo", "--plain", "--wall", wall, "--out"]).arg(directory.path());
    command.args(["--days", &DAYS.to_string(), "--fetch-every-days", &FETCH_EVERY_DAYS.to_string()]);
    command.arg("--set").arg(format!("policy.name={}", policy.name()));
    command.arg("--set").arg(format!("estimator.name={}", estimator.name()));
    // Tests run in their package's directory, programs where they are started: here.
    let content = Path::new("..").join(&corpora).join("content");
    if content.is_dir() {
        command.env("RECRAWL_CORPORA", Path::new("..").join(&corpora));
        command.args(["--source", "scoop-main", "--pages-per-source", "800"]);
    } else {
        eprintln!(
            "left out: a source of the corpora, because there is no {}; built-in change times instead",
            content.display()
        );
        command.arg("--built-in");
    }
    Process::start(command, directory.path()).finish_within(Duration::from_secs(700)).exits_with(0);

    let start = Timestamp::from_secs(0);
    let trace = ChangeTrace::read_csv(open(directory.path(), "changes.csv"), start).expect("the demo wrote it");
    let ledger = simweb::read_ledger(open(directory.path(), "ledger.csv")).expect("the demo wrote it");
    let report: serde_json::Value = serde_json::from_reader(open(directory.path(), "report.json")).expect("it is JSON");
    let began = Timestamp::from_secs(report["virtual_start_s"].as_i64().expect("the report says when it began"));
    let ran = ChangeTrace::read_csv(open(directory.path(), "changes.csv"), began).expect("the demo wrote it");
    let scored = TimeWindow { start: began.plus_days(SETTLED_DAYS), end: began.plus_days(DAYS) };
    let lived = simweb::freshness(&ran, &ledger, scored);

    // A slow machine makes fewer fetches on a fast clock. The decisions are compared at the fetches that were made.
    let fetches_per_day = lived.fetches as f64 / (DAYS - SETTLED_DAYS);
    let budget_per_day = trace.pages.len() as f64 / FETCH_EVERY_DAYS;
    let spent = fetches_per_day / budget_per_day;
    assert!(spent > 0.8, "only {spent} of the budget was spent; is the machine busy with something else?");
    let simulated = simulate(&trace, start, policy, estimator, fetches_per_day);
    let round_robin = simulate(&trace, start, PolicyKind::Uniform, estimator, fetches_per_day);
    let relative = |freshness: f64| (1.0 - freshness) / (1.0 - round_robin);
    let (services, simulator) = (relative(lived.freshness), relative(simulated));
    eprintln!(
        "{}, {} pages: stale time relative to round robin's {:.4}: services {services:.3} ({:.0} % of the budget), \
         simulator {simulator:.3}",
        policy.name(),
        trace.pages.len(),
        1.0 - round_robin,
        100.0 * spent,
    );
    assert!(simulator < 1.0 - ALLOWED, "round robin itself would agree: {simulator}");
    assert!((services / simulator - 1.0).abs() <= ALLOWED, "services {services}, simulator {simulator}");
}

fn open(directory: &Path, name: &str) -> File {
    File::open(directory.join(name)).expect("the demo writes its books")
}

/// Freshness of the scored days in the simulator.
fn simulate(
    trace: &ChangeTrace,
    start: Timestamp,
    policy: PolicyKind,
    estimator: EstimatorChoice,
    fetches_per_day: f64,
) -> f64 {
    let mut hosts = HashMap::new();
    let infos: Vec<SimulatedPage> = trace
        .pages
        .iter()
        .map(|page| {
            let url = CanonicalUrl::parse(&page.url()).expect("the demo seeded it");
            let next = hosts.len() as u32;
            SimulatedPage {
                weight: 1.0,
                cost: 1.0,
                host: *hosts.entry(url.host().to_string()).or_insert(next),
                section: 0,
                place: PagePlace::of(url.site_key().as_str(), &url.host().to_string(), url.path()),
            }
        })
        .collect();
    let pages = Pages::new(infos, vec!["all".to_owned()]).expect("pages of weight 1 and cost 1 are valid");
    let changes = trace.pages.iter().map(|page| {
        let days = |state: &simweb::HistoryState| state.since.days_since(start);
        page.states.iter().map(days).collect::<Vec<f64>>()
    });
    let mut changes = RecordedChanges::new(changes).expect("a trace's times rise");
    let options = PolicyOptions::default();
    let mut policy: Box<dyn RevisitPolicy> = setup::build(policy, &options);
    let mut learner =
        learner::learner(estimator, &pages, change_rate::EstimatorOptions::default()).expect("defaults are valid");
    // The pages of the demo's web tell truthfully when they last changed, and only the sweeps use it.
    let last_modified_share = if estimator == EstimatorChoice::Sweeps { 1.0 } else { 0.0 };
    let run = Run { last_modified_share, ..Run::new(SETTLED_DAYS, DAYS, fetches_per_day) };
    let scores =
        engine::run(&pages, &mut changes, policy.as_mut(), learner.as_mut(), &run, &mut |_| ControlFlow::Continue(()));
    scores.expect("nothing stops it").freshness
}
