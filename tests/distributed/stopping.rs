//! A host that an operator blocks, while requests for it are handed out.

use crate::services::{Distributed, SOON, kafka};
use simweb::SeededConfig;
use std::time::Duration;
use tests::{SimulatedWeb, wait_for};

/// From the end of the command to the last request. The rest is a reserve for a busy machine.
const STOPPED_WITHIN: Duration = Duration::from_secs(3);

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
    let in_flight = || scheduler.status()["in_flight"].as_u64().unwrap();
    wait_for("many pages are handed out, and some are fetched", SOON, || web.page_requests() >= 3 && in_flight() >= 48);
    distributed.ask(&["block", "host-0001.test"]).exits_with(0);
    let blocked_at = web.now();
    wait_for("what was handed out has come back", SOON, || in_flight() == 0);
    let last = web.ledger().iter().map(|entry| entry.started_at).max().unwrap();
    // At two a second, 48 would take 24 seconds.
    let late = last.saturating_since(blocked_at);
    assert!(late < STOPPED_WITHIN, "the last request began {late:?} after the host was blocked");
}
