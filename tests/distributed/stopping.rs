//! A host that an operator blocks, while requests for it are handed out.

use crate::services::{Distributed, SOON, kafka};
use simweb::SeededConfig;
use tests::{SimulatedWeb, wait_for};

#[test]
fn what_was_handed_out_for_a_host_is_not_sent_after_it_is_blocked() {
    const PAGES: usize = 100;
    const FETCHED: usize = 3;
    let Some(brokers) = kafka() else { return };
    let config = SeededConfig { hosts: 1, pages_per_host: PAGES, ..SeededConfig::default() };
    let web = SimulatedWeb::start_held(config, |_| ());
    // A scan hands out what the host takes until the scan after the next one.
    let sets = [("politeness.crawl_delay", "500ms"), ("policy.scan_interval", "20s"), ("budget.host_ahead", "1m")];
    let distributed = Distributed::of(&web, &brokers, &sets);
    let services = distributed.start_all();
    let scheduler = services.iter().find(|service| service.stage == "scheduler").unwrap();
    let in_flight = || scheduler.status()["in_flight"].as_u64();
    web.let_through(FETCHED);
    wait_for("many pages are handed out", SOON, || in_flight() >= Some(48));
    // The next request is at the server, which holds it. The host is asked for nothing else meanwhile.
    distributed.ask(&["block", "host-0001.test"]).exits_with(0);
    wait_for("what was handed out and not sent has come back", SOON, || {
        in_flight() <= Some(1) && in_flight().is_some()
    });
    web.open();
    wait_for("the request that was sent has come back", SOON, || in_flight() == Some(0));
    assert!(web.page_requests() <= FETCHED + 1, "{} requests were made", web.page_requests());
}
