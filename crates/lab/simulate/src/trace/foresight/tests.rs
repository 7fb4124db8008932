use super::*;
use crate::contender::Contender;
use crate::trace::{Cut, Knowledge, Recording, TraceReplay, TraceTable};
use policies::BeliefSource;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use sweeps::PagePlace;

fn page(site: &str, number: usize, changes_days: Vec<f64>) -> TracePage {
    let place = PagePlace::of(site, site, &format!("/{number}.html"));
    TracePage { source: 0, host: 0, place, changes_days, extents: vec![], changed_before_days: None }
}

fn trace(pages: Vec<TracePage>) -> JudgedTrace {
    JudgedTrace { pages, sources: vec!["one".into()], left_out: vec![] }
}

fn freshness(trace: &JudgedTrace, policy: PolicyKind, fetches_per_page_per_day: f64) -> f64 {
    let replay = TraceReplay {
        contender: Contender::usual(policy),
        knowledge: Knowledge::History,
        frozen: false,
        dates_share: 0.0,
        fetches_per_page_per_day,
        importance_shape: None,
        lists: None,
        until_days: None,
        seed: 1,
    };
    replay.run(trace, &mut |_| ControlFlow::Continue(())).unwrap().freshness
}

#[test]
fn a_sweep_is_three_pages_of_a_site_within_an_hour() {
    let minutes = |minutes: f64| 400.0 + minutes / 1440.0;
    let pages = vec![
        page("a.test", 0, vec![10.0, minutes(0.0), 500.0]),
        page("a.test", 1, vec![minutes(30.0), 500.01, 600.0]),
        // The third page within an hour; then a third change, but by one of two pages.
        page("a.test", 2, vec![minutes(59.0), 600.01, 600.02]),
        // More than an hour after the first, but not after the second.
        page("a.test", 3, vec![minutes(70.0), 700.0]),
        page("b.test", 4, vec![minutes(5.0), 700.0]),
    ];
    let expected = [
        vec![false, true, false],
        vec![true, false, false],
        vec![true, false, false],
        vec![true, false],
        vec![false, false],
    ];
    assert_eq!(trace(pages).sweeps(), expected);
}

/// Sixty pages of one site that are swept every 50 days and have changes of their own, at different rates.
fn small_web() -> JudgedTrace {
    let changes = |number: usize| {
        let every = 9.0 + 7.0 * number as f64;
        let own = (1..).map(|n| f64::from(n) * every + 0.37 * number as f64).take_while(|at| *at < WINDOW_DAYS);
        let sweeps = (1..14).map(|n| f64::from(n) * 50.0 + 0.2 + number as f64 / 10_000.0);
        let mut changes: Vec<f64> = own.chain(sweeps).collect();
        changes.sort_by(f64::total_cmp);
        changes
    };
    trace((0..60).map(|number| page("a.test", number, changes(number))).collect())
}

#[test]
fn who_knows_more_does_better() {
    let web = small_web();
    for budget in [1.0 / 60.0, 1.0 / 15.0, 1.0 / 3.0] {
        let freshness = |policy| freshness(&web, policy, budget);
        let (clairvoyant, reported) = (freshness(PolicyKind::Clairvoyant), freshness(PolicyKind::Reported));
        // With budget to spare there is nothing to choose.
        let spare = budget > 0.05;
        assert!(
            if spare { clairvoyant > reported - 1e-9 } else { clairvoyant > reported },
            "{clairvoyant}, reported {reported}"
        );
        for policy in PolicyKind::ALL {
            if policy.beliefs() != BeliefSource::Future || policy == PolicyKind::SweepReport {
                let other = freshness(policy);
                assert!(reported > other, "{budget}: reported {reported}, {} {other}", policy.name());
            }
        }
        let (sweep_reported, smoothed) = (freshness(PolicyKind::SweepReport), freshness(PolicyKind::Smoothed));
        assert!(sweep_reported > smoothed, "{budget}: {sweep_reported}, smoothed {smoothed}");
    }
}

#[test]
fn with_budget_to_spare_a_reported_page_waits_for_the_next_slot_only() {
    let web = small_web();
    // Ten slots a page and day; a page waits half a slot for itself, and for pages swept with it.
    let (fresh, blind) = (freshness(&web, PolicyKind::Reported, 10.0), freshness(&web, PolicyKind::Uniform, 10.0));
    assert!(fresh > 0.9995 && blind < fresh, "{fresh}, uniform {blind}");
}

/// Another program measured these on the same recording, with another draw of pages: the clairvoyant with ticks of 15
/// minutes, in which it too hardly ever waits for the next tick.
#[test]
fn the_ceilings_of_the_recording_are_reproduced() {
    let Some(directory) = corpora::find("trace") else { return };
    let recording = Recording::read(unpacked(&directory, "pages.csv"), unpacked(&directory, "changes.csv")).unwrap();
    let trace = JudgedTrace::cut(&recording, &Cut { sources: vec![], max_pages_per_source: 1500, draw: 1 }).unwrap();
    let budgets = [1.0 / 180.0, 1.0 / 60.0, 1.0 / 15.0, 1.0 / 3.0];
    // A draw has a standard error of .005 at the least budget, and less at the others.
    let allowed = [0.006, 0.004, 0.001, 0.0004];
    let ceilings = [
        (PolicyKind::Clairvoyant, [0.9699, 0.9955, 0.9998, 0.9999]),
        (PolicyKind::SweepReport, [0.9432, 0.9831, 0.9957, 0.9990]),
    ];
    for (policy, expected) in ceilings {
        for ((budget, expected), allowed) in budgets.into_iter().zip(expected).zip(allowed) {
            let found = freshness(&trace, policy, budget);
            eprintln!("{} at 1/{:.0} d: {found:.4}, there {expected}", policy.name(), 1.0 / budget);
            assert!((found - expected).abs() <= allowed, "{} {budget}: {found}, not {expected}", policy.name());
        }
    }
}

fn unpacked(directory: &Path, name: &str) -> TraceTable<Box<dyn Read>> {
    let file = std::fs::File::open(directory.join(format!("{name}.zst"))).unwrap();
    TraceTable { name: name.to_owned(), bytes: Box::new(zstd::Decoder::new(file).unwrap()) }
}
