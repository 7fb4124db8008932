//! Killed at any moment, the loop loses nothing, counts nothing twice, and stays polite.

use messages::FetchOutcome;
use page::{CanonicalUrl, PageId};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;
use simweb::{FaultRule, FaultScope, RequestKind, SeededConfig, WebFault, politeness};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tests::{Crawl, Process, SOON, SimulatedWeb, books, programs, wait_for};

const KILLS: usize = 10;

/// Another seed, for a longer search by hand: `RECRAWL_TEST_SEED=$RANDOM cargo test -p recrawl --test embedded`.
fn seed() -> u64 {
    std::env::var("RECRAWL_TEST_SEED").map_or(7, |seed| seed.parse().expect("RECRAWL_TEST_SEED is a number"))
}

#[test]
fn a_crawl_killed_ten_times_loses_nothing_counts_everything_once_and_stays_polite() {
    kill_ten_times(Results::InMemory);
}

#[test]
fn a_crawl_that_retains_results_and_is_killed_ten_times_has_each_of_them() {
    kill_ten_times(Results::Retained);
}

/// Where the results of fetches are until the detector has read them.
#[derive(Clone, Copy, PartialEq)]
enum Results {
    /// Nowhere else. A kill loses them.
    InMemory,
    /// In the log, where they can be counted.
    Retained,
}

fn kill_ten_times(results: Results) {
    let seeded = SeededConfig { hosts: 12, pages_per_host: 40, seed: seed(), ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |config| {
        let requests = |share, fault| FaultRule::everywhere(FaultScope::Requests(share), fault);
        config.faults = vec![
            requests(0.05, WebFault::Status { code: 503, retry_after_s: None }),
            requests(0.05, WebFault::ResetMidBody),
            requests(0.05, WebFault::SlowBody(Duration::from_millis(60))),
        ];
        config.dials.latency = Duration::from_millis(2);
        config.dials.robots.disallow = vec!["/section-3/".to_owned()];
    });
    let busy = Crawl::of(&web)
        .with("politeness.crawl_delay", "20ms")
        .with("politeness.backoff_base", "50ms")
        .with("politeness.backoff_max", "200ms")
        .with("policy.retry_base", "1s")
        .with("policy.retry_max", "1s")
        .with("policy.min_interval", "1s")
        .with("observability.log_filter", "warn");
    let busy = if results == Results::Retained { busy.with("log.retention_results", "1d") } else { busy };

    let mut random = Pcg64::seed_from_u64(seed());
    for kill in 0..KILLS {
        let mut process = busy.run(&[]);
        let moment = Duration::from_millis(random.random_range(20..900));
        std::thread::sleep(moment);
        if kill % 2 == 1 {
            // Chance alone may miss all requests: here one has just been answered, and the answer is not in the books
            // yet.
            let before = web.page_requests();
            wait_for("a request", SOON, || web.page_requests() > before);
        }
        assert!(process.is_running(), "it ended by itself:\n{}", process.stderr());
        // Warnings about failures of the web are expected. The crawl itself must not fail.
        let stderr = process.stderr();
        let warnings: Vec<_> = stderr.lines().filter(|line| line.contains("WARN")).collect();
        assert!(warnings.iter().all(|line| line.contains("first failure of this kind")), "{warnings:#?}");
        process.kill();
    }
    // Leases are ten minutes long: a request that was lost would still be in flight at the end, or never fetched.
    let calm = busy.with("policy.min_interval", "1h");
    for _ in 0..5 {
        let summary = calm.run(&["--until-idle"]).finish().exits_with(0).json();
        assert_eq!((summary["ended"].as_str(), summary["in_flight"].as_u64()), (Some("idle"), Some(0)), "{summary:#}");
        if books::read(&calm).values().all(|page| is_settled(&page.scheduler)) {
            break;
        }
    }

    let pages = books::read(&calm);
    let handed_back = (results == Results::Retained).then(|| unsent_requests(&calm));
    for url in web.urls() {
        let url = CanonicalUrl::parse(&url).unwrap();
        let page = pages.get(&url.page_id()).unwrap_or_else(|| panic!("{url} is lost"));
        assert!(is_settled(&page.scheduler), "{url} was not fetched: {page:?}");
        assert_eq!(page.scheduler.request.lease_until(), None, "{url} is still in flight: {page:?}");
        let counts = (page.scheduler.fetches, page.detector_fetches, page.estimator_fetches);
        assert!(counts.0 == counts.1 && counts.1 == counts.2, "{url} is counted differently by the stages: {counts:?}");
        // Every request was answered once or handed back unsent, and none was given up.
        assert_eq!(page.scheduler.request.attempt, page.scheduler.request.answered, "{url}");
        let requests = page.scheduler.request.attempt - page.scheduler.discovered_at.as_micros();
        assert!(requests >= counts.0, "{url}: {requests} requests, {counts:?} answers");
        if let Some(handed_back) = &handed_back {
            let unsent = handed_back.get(&url.page_id().to_string()).copied().unwrap_or(0);
            assert_eq!(requests, counts.0 + unsent, "{url}");
        }
    }
    assert_eq!(pages.len(), web.urls().len());
    every_answer_was_asked_for(&web, &pages);

    let ledger = web.ledger();
    let report = politeness(&ledger);
    assert_eq!((report.robots_violations, report.forbidden_requests), (0, 0));
    assert_eq!(report.max_in_flight_per_host, 1, "{report:#?}");
    assert!(report.min_gap_s.unwrap() >= 0.020, "{:?}", report.min_gap_s);
}

/// Requests that were not sent because their host had just refused another or robots.txt forbids them, by page.
fn unsent_requests(crawl: &Crawl) -> BTreeMap<String, i64> {
    let mut command = programs().command("recrawl");
    command.args(["--format", "jsonl", "export", "jsonl", "--no-body", "--data"]).arg(crawl.data()).args(crawl.flags());
    let lines = Process::start(command, crawl.directory.path()).finish().exits_with(0).stdout;
    let (mut answered, mut seen_back) = (BTreeSet::new(), false);
    let mut handed_back: BTreeMap<String, i64> = BTreeMap::new();
    for line in lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (page, attempt) = (line["page_id"].as_str().unwrap(), line["attempt"].as_i64().unwrap());
        let is_handed_back = line["outcome"] == "rate_limited" && line["status"].is_null();
        let is_unsent = is_handed_back || line["outcome"] == "robots_disallowed";
        seen_back |= is_handed_back;
        // A fetcher that was killed may answer again, and otherwise: the first answer counts.
        if answered.insert((page.to_owned(), attempt)) && is_unsent {
            *handed_back.entry(page.to_owned()).or_default() += 1;
        }
    }
    assert!(seen_back, "hosts refused, and nothing that had been handed out was handed back");
    handed_back
}

/// Fetched, or forbidden by robots.txt.
fn is_settled(page: &scheduler::ScheduledPage) -> bool {
    page.last_look_at.is_some() || page.outcome == Some(FetchOutcome::RobotsDisallowed)
}

/// The web saw at least as many requests for each page as the books have answers for it: at-least-once.
fn every_answer_was_asked_for(web: &SimulatedWeb, pages: &BTreeMap<PageId, books::Entry>) {
    let mut requests: BTreeMap<PageId, i64> = BTreeMap::new();
    for entry in web.ledger().iter().filter(|entry| entry.kind == RequestKind::Page) {
        let url = CanonicalUrl::parse(&format!("http://{}{}", entry.host, entry.path)).unwrap();
        *requests.entry(url.page_id()).or_default() += 1;
    }
    let (mut asked_in_all, mut seen_in_all) = (0, 0);
    for (id, page) in pages {
        let (asked, seen) = (requests.get(id).copied().unwrap_or(0), page.scheduler.fetches);
        if page.scheduler.outcome != Some(FetchOutcome::RobotsDisallowed) {
            assert!(asked >= seen, "{}: {seen} answers to {asked} requests", page.scheduler.url);
            (asked_in_all, seen_in_all) = (asked_in_all + asked, seen_in_all + seen);
        }
    }
    assert!(asked_in_all > seen_in_all, "no kill hit a request under way: this run has shown nothing");
}
