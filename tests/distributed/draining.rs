//! A fetcher that gets SIGTERM in the middle of its work lets hosts finish their answers, and its successor fetches the rest.

use crate::services::{Distributed, SOON, Service, kafka};
use simweb::SeededConfig;
use std::time::Duration;
use tests::{SimulatedWeb, wait_for};

/// One request each is under way at a time.
const HOSTS: usize = 400;
/// Least number of requests under way when it gets SIGTERM.
const IN_FLIGHT: usize = 300;
/// Long beside the second by which the figure of those under way may be late.
const LATENCY: Duration = Duration::from_secs(4);

fn on_the_wire(fetcher: &Service) -> usize {
    fetcher.status()["stages"][0]["figures"]["on_the_wire"].as_f64().unwrap_or(0.0) as usize
}

#[test]
fn of_several_hundred_requests_under_way_at_a_sigterm_at_most_one_in_a_hundred_is_made_again() {
    let Some(brokers) = kafka() else { return };
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: 4, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |config| config.dials.latency = LATENCY);
    let sets = [
        ("budget.in_flight", "4000"),
        ("fetch.connections", "1000"),
        ("policy.min_interval", "1h"),
        ("log.drain_timeout", "5m"),
    ];
    let distributed = Distributed::of(&web, &brokers, &sets);
    let mut services = distributed.start_all();
    let fetcher = services.remove(services.iter().position(|service| service.stage == "fetcher").unwrap());
    let mut in_flight = 0;
    wait_for("several hundred requests for pages are under way", SOON, || {
        in_flight = on_the_wire(&fetcher);
        // The first that is asked of a host is its robots.txt.
        in_flight >= IN_FLIGHT && web.page_requests() >= HOSTS / 2
    });
    let answered_before = web.page_requests();
    fetcher.stop();
    let answered = web.page_requests() - answered_before;
    assert!(
        answered >= IN_FLIGHT / 2,
        "{in_flight} were under way and {answered} answered: this run has shown nothing"
    );

    services.push(distributed.start("fetcher", "1"));
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
    let twice = web.pages_asked_for_again();
    assert!(twice * 100 <= in_flight, "{twice} of {in_flight} were fetched twice");
}
