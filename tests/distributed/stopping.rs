//! A host that an operator blocks, while requests for it are handed out.

use crate::services::{Distributed, SOON, kafka};
use simweb::SeededConfig;
use tests::{SimulatedWeb, wait_for};

#[test]
fn what_was_handed_out_for_a_host_is_not_sent_after_it_is_blocked() {
    const PAGES: usize = 100;
    let Some(brokers) = kafka() else { return };
    let config = SeededConfig { hosts: 1, pages_per_host: PAGES, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    // A scan hands out what the host takes until the scan after the next one.
    let sets = [("politeness.crawl_delay", "500ms"), ("policy.scan_interval", "20s"), ("budget.host_ahead", "1m")];
    let distributed = Distributed::of(&web, &brokers, &sets);
    let services = distributed.start_all();
    let scheduler = services.iter().find(|service| service.stage == "scheduler").unwrap();
    let in_flight = || scheduler.status()["in_flight"].as_u64();
    let mut handed_out = 0;
    wait_for("many pages are handed out, and some are fetched", SOON, || {
        handed_out = in_flight().unwrap_or(0);
        web.page_requests() >= 3 && handed_out >= 48
    });
    distributed.ask(&["block", "host-0001.test"]).exits_with(0);
    let before = web.page_requests();
    wait_for("what was handed out has come back", SOON, || in_flight() == Some(0));
    let after = (web.page_requests() - before) as u64;
    println!("stopping: {after} of {handed_out} requests were made after the host was blocked");
    // At two a second, the host would have had all of them in 24 seconds.
    assert!(after < handed_out / 4, "{after} of {handed_out} requests were made after the host was blocked");
}
