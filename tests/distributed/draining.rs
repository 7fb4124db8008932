//! A fetcher that gets SIGTERM in the middle of its work lets hosts finish their answers, and its successor fetches the rest.

use crate::services::{Distributed, SOON, kafka};
use simweb::SeededConfig;
use tests::{SimulatedWeb, wait_for};

/// One request each is under way at a time.
const HOSTS: usize = 400;
/// Least number of requests under way when it gets SIGTERM.
const IN_FLIGHT: usize = 300;

#[test]
fn of_several_hundred_requests_under_way_at_a_sigterm_at_most_one_in_a_hundred_is_made_again() {
    let Some(brokers) = kafka() else { return };
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: 4, ..SeededConfig::default() };
    let web = SimulatedWeb::start_held(seeded, |_| ());
    let sets = [
        ("budget.in_flight", "4000"),
        ("fetch.connections", "1000"),
        ("policy.min_interval", "1h"),
        ("log.drain_timeout", "5m"),
        ("fetch.total_timeout", "1h"),
        ("fetch.idle_timeout", "1h"),
        ("policy.lease_timeout", "6h"),
    ];
    let distributed = Distributed::of(&web, &brokers, &sets);
    let mut services = distributed.start_all();
    let fetcher = services.remove(services.iter().position(|service| service.stage == "fetcher").unwrap());
    wait_for("several hundred requests for pages are under way", SOON, || web.held() >= IN_FLIGHT);
    let received_before = web.pages_received();
    fetcher.signal(libc::SIGTERM);
    wait_for("the fetcher drains", SOON, || fetcher.said().contains("draining"));
    assert!(web.held() >= IN_FLIGHT, "it left requests that were under way");
    web.open();
    fetcher.drained();
    let received = web.pages_received() - received_before;
    assert!(received >= IN_FLIGHT, "only {received} of {IN_FLIGHT} pages under way were received");

    services.push(distributed.start("fetcher", "1"));
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
    let twice = web.pages_asked_for_again();
    assert!(twice * 100 <= received, "{twice} of {received} were fetched twice");
}
