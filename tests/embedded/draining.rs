//! A crawl that gets SIGTERM in the middle of its work lets hosts finish their answers.

use simweb::SeededConfig;
use tests::{Crawl, SOON, SimulatedWeb, wait_for};

/// One request each is under way at a time.
const HOSTS: usize = 400;
/// Least number of requests under way when it gets SIGTERM.
const IN_FLIGHT: usize = 300;

#[test]
fn of_several_hundred_requests_under_way_at_a_sigterm_at_most_one_in_a_hundred_is_made_again() {
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: 4, ..SeededConfig::default() };
    let web = SimulatedWeb::start_held(seeded, |_| ());
    let crawl = Crawl::of(&web)
        .with("budget.in_flight", "4000")
        .with("fetch.connections", "1000")
        // As long as a slow machine needs for it.
        .with("log.drain_timeout", "5m")
        .with("fetch.total_timeout", "1h")
        .with("fetch.idle_timeout", "1h")
        .with("policy.lease_timeout", "6h")
        .with("policy.min_interval", "1h");
    let process = crawl.run(&[]);
    wait_for("several hundred requests for pages are under way", SOON, || web.held() >= IN_FLIGHT);
    let received_before = web.pages_received();
    process.signal(libc::SIGTERM);
    web.open();
    process.finish().exits_with(0);
    let received = web.pages_received() - received_before;
    assert!(received >= IN_FLIGHT, "only {received} of {IN_FLIGHT} pages under way were received");

    crawl.run(&["--until-idle"]).finish_within(2 * SOON).exits_with(0);
    assert!(web.page_requests() >= web.urls().len(), "not every page was asked for");
    let twice = web.pages_asked_for_again();
    assert!(twice * 100 <= received, "{twice} of {received} were fetched twice");
}
