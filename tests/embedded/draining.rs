//! A crawl that gets SIGTERM in the middle of its work lets hosts finish their answers.

use crate::operating::shown_status;
use simweb::SeededConfig;
use std::time::Duration;
use tests::{Crawl, SOON, SimulatedWeb, wait_for};

/// One request each is under way at a time.
const HOSTS: usize = 400;
/// Least number of requests under way when it gets SIGTERM.
const IN_FLIGHT: usize = 300;

#[test]
fn of_several_hundred_requests_under_way_at_a_sigterm_at_most_one_in_a_hundred_is_made_again() {
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: 4, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |config| config.dials.latency = Duration::from_secs(2));
    let crawl = Crawl::of(&web)
        .with("budget.in_flight", "4000")
        .with("fetch.connections", "1000")
        // As long as a slow machine needs for it.
        .with("log.drain_timeout", "5m")
        .with("policy.min_interval", "1h");
    let on_the_wire = || {
        let status = shown_status(&crawl);
        let stages = status["stages"].as_array().into_iter().flatten();
        let fetcher = stages.filter(|stage| stage["name"] == "fetcher");
        fetcher.filter_map(|stage| stage["figures"]["on_the_wire"].as_f64()).sum::<f64>() as usize
    };
    let process = crawl.run(&[]);
    let mut in_flight = 0;
    wait_for("several hundred requests for pages are under way", SOON, || {
        in_flight = on_the_wire();
        // The first that is asked of a host is its robots.txt.
        in_flight >= IN_FLIGHT && web.page_requests() >= HOSTS / 2
    });
    let answered_before = web.page_requests();
    process.signal(libc::SIGTERM);
    process.finish().exits_with(0);
    let answered = web.page_requests() - answered_before;
    assert!(
        answered >= IN_FLIGHT / 2,
        "{in_flight} were under way and {answered} answered: this run has shown nothing"
    );

    crawl.run(&["--until-idle"]).finish_within(2 * SOON).exits_with(0);
    assert!(web.page_requests() >= web.urls().len(), "not every page was asked for");
    let twice = web.pages_asked_for_again();
    assert!(twice * 100 <= in_flight, "{twice} of {in_flight} were fetched twice");
}
