//! Runs hundreds of seeds, and mutants that must be found.
//!
//! `SIM_SEEDS` is the number of seeds for each kind of log, `SIM_FROM` the first seed; `SIM_SEED`, `SIM_KIND` and
//! `SIM_MUTANT` repeat one run.

use super::points::Coverage;
use super::{LogKind, Mutant, RunOutcome, run};
use std::str::FromStr;

const SEEDS: u64 = 300;
/// Maximum number of seeds in which a mutant must be found.
const SEEDS_FOR_MUTANTS: u64 = 200;
/// Fewer seeds may miss a rare point.
const SEEDS_FOR_COVERAGE: u64 = 200;
/// One failure explains most; a few more show whether there is a second one.
const FAILURES_REPORTED: usize = 20;
const SHOWN_EVENTS: usize = 150;

fn asked<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn is_meant(name: &str, value: &str) -> bool {
    std::env::var(name).map_or(true, |asked| asked == value)
}

fn story(seed: u64, kind: LogKind, mutant: Option<Mutant>, broken: &str, trace: &[String]) -> String {
    // A request for one seed shows the whole trace.
    let shown = asked::<u64>("SIM_SEED").map_or(SHOWN_EVENTS, |_| trace.len());
    let last = trace[trace.len().saturating_sub(shown)..].join("\n");
    let mutant = mutant.map_or(String::new(), |mutant| format!(" SIM_MUTANT={mutant:?}"));
    let again = format!(
        "SIM_SEED={seed} SIM_KIND={kind:?}{mutant} cargo test -p stream --test integration simulation -- --nocapture"
    );
    format!("{last}\n\nseed {seed} on {kind:?}: {broken}\nonce more: {again}")
}

fn simulate(kind: LogKind) {
    if !is_meant("SIM_KIND", &format!("{kind:?}")) || std::env::var("SIM_MUTANT").is_ok() {
        return;
    }
    let one = asked::<u64>("SIM_SEED");
    let from = one.or_else(|| asked("SIM_FROM")).unwrap_or(0);
    let count = if one.is_some() { 1 } else { asked("SIM_SEEDS").unwrap_or(SEEDS) };
    let mut coverage = Coverage::default();
    let mut failures: Vec<String> = Vec::new();
    for seed in from..from + count {
        let RunOutcome { broken, trace, coverage: covered } = run(seed, kind, None);
        coverage.add(&covered);
        if let Some(broken) = broken {
            if failures.is_empty() {
                println!("{}", story(seed, kind, None, &broken, &trace));
            }
            failures.push(format!("seed {seed} on {kind:?}: {broken}"));
        } else if one.is_some() {
            println!("{}", trace.join("\n"));
        }
        if failures.len() == FAILURES_REPORTED {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{count} seeds from {from} on\n{}", coverage.table(kind));
    let missing = coverage.missing(kind);
    assert!(count < SEEDS_FOR_COVERAGE || missing.is_empty(), "never happened on {kind:?}: {}", missing.join(", "));
}

#[test]
fn stages_over_changelogs_keep_their_promises() {
    simulate(LogKind::Changelogs);
}

#[test]
fn stages_over_changelogs_with_commit_markers_keep_their_promises() {
    simulate(LogKind::CommitMarkers);
}

#[test]
fn stages_over_a_log_that_keeps_their_state_keep_their_promises() {
    simulate(LogKind::StateInLog);
}

#[test]
fn a_seed_reports_the_same_story_twice() {
    for kind in [LogKind::Changelogs, LogKind::CommitMarkers, LogKind::StateInLog] {
        let (one, other) = (run(7, kind, None), run(7, kind, None));
        assert_eq!((one.broken, one.trace), (other.broken, other.trace));
    }
}

/// The first seed that finds a mutant.
fn find(kind: LogKind, mutant: Mutant) {
    if !is_meant("SIM_MUTANT", &format!("{mutant:?}")) || !is_meant("SIM_KIND", &format!("{kind:?}")) {
        return;
    }
    let one = asked::<u64>("SIM_SEED");
    let seeds = one.map_or(0..SEEDS_FOR_MUTANTS, |seed| seed..seed + 1);
    for seed in seeds {
        let RunOutcome { broken, trace, .. } = run(seed, kind, Some(mutant));
        if let Some(broken) = broken {
            println!("{mutant:?} is found by seed {seed} on {kind:?}: {broken}");
            if one.is_some() {
                println!("{}", story(seed, kind, Some(mutant), &broken, &trace));
            }
            return;
        }
    }
    panic!("{mutant:?} is not found by {SEEDS_FOR_MUTANTS} seeds on {kind:?}");
}

#[test]
fn work_of_tasks_that_went_elsewhere_is_found() {
    find(LogKind::Changelogs, Mutant::ZombieCommit);
    find(LogKind::StateInLog, Mutant::ZombieCommit);
}

#[test]
fn partitions_that_are_never_started_are_found() {
    find(LogKind::CommitMarkers, Mutant::LostAssignment);
    find(LogKind::Changelogs, Mutant::LostRestore);
    find(LogKind::CommitMarkers, Mutant::LostRestore);
}

#[test]
fn positions_that_go_back_are_found() {
    find(LogKind::CommitMarkers, Mutant::StaleCommit);
    find(LogKind::StateInLog, Mutant::StaleCommit);
}

#[test]
fn an_interrupted_restore_that_claims_to_be_complete_is_found() {
    find(LogKind::Changelogs, Mutant::YoungRestore);
    find(LogKind::CommitMarkers, Mutant::YoungRestore);
}

#[test]
fn a_store_that_is_empty_though_its_checkpoint_says_it_is_full_is_found() {
    find(LogKind::Changelogs, Mutant::EmptyFamily);
}
