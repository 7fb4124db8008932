//! A crawl of 200 hosts with everything that can happen to it, judged by what the hosts have seen.

use crate::services::{Distributed, SOON, Service, kafka};
use simweb::{FaultRule, FaultScope, HostDials, HostRobots, SeededConfig, WebFault, politeness};
use std::net::TcpListener;
use std::time::Duration;
use tests::{SimulatedWeb, wait_for};

const HOSTS: usize = 200;
const PAGES_PER_HOST: usize = 100;
/// Between two requests to a host; every tenth host asks for twice as much.
const CRAWL_DELAY_MS: u64 = 50;
/// One process may see a moment a little earlier than another.
const CLOCK_SLACK_S: f64 = 0.001;

/// Hosts that are slow now and then, fail, break off, redirect to themselves and each other, ask to be left alone, and
/// forbid a tenth of their pages.
fn web() -> SimulatedWeb {
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: PAGES_PER_HOST, ..SeededConfig::default() };
    SimulatedWeb::start(seeded, 1.0, |config| {
        let dials = |robots| HostDials { robots, latency: Duration::from_millis(1), ..HostDials::default() };
        let disallow = vec!["/section-3/".to_owned()];
        config.dials = dials(HostRobots { disallow: disallow.clone(), ..HostRobots::default() });
        let slow = HostRobots { disallow, crawl_delay_s: Some(2e-3 * CRAWL_DELAY_MS as f64), ..HostRobots::default() };
        for host in (1..=HOSTS).step_by(10) {
            config.host_dials.insert(format!("host-{host:04}.test"), dials(slow.clone()));
        }
        let status = |code, retry_after_s| WebFault::Status { code, retry_after_s };
        let faults = [
            (0.05, WebFault::Latency(Duration::from_millis(60))),
            (0.02, WebFault::SlowBody(Duration::from_millis(150))),
            (0.02, WebFault::ResetMidBody),
            (0.02, status(500, None)),
            (0.005, status(503, Some(1))),
            (0.02, status(404, None)),
            (0.03, WebFault::Redirect { code: 301, hops: 2 }),
        ];
        config.faults = faults.map(|(share, fault)| FaultRule::everywhere(FaultScope::Requests(share), fault)).into();
        (1..=HOSTS).for_each(|host| config.faults.extend(redirects_of(host)));
    })
}

/// Pages of a host that redirect to other hosts, and to what these forbid. The robots.txt of every fourth does, too.
fn redirects_of(host: usize) -> Vec<FaultRule> {
    let other = |distance: usize| format!("http://host-{:04}.test", (host + distance - 1) % HOSTS + 1);
    let rule = |scope, address| {
        let fault = WebFault::RedirectTo { code: 302, address };
        FaultRule { host: Some(format!("host-{host:04}.test")), ..FaultRule::everywhere(scope, fault) }
    };
    let mut rules =
        vec![rule(FaultScope::Pages(0.05), other(7)), rule(FaultScope::Pages(0.03), other(13) + "/section-3")];
    if host.is_multiple_of(4) {
        // Those that ask for a longer delay have numbers that end in 1, and so has nobody here.
        rules.push(rule(FaultScope::Path("/robots.txt".to_owned()), other(2)));
    }
    rules
}

/// A server that must never be reached: nobody has allowed its address.
fn forbidden() -> (TcpListener, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.2:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let forms = ["127.0.0.2", "2130706434", "0x7f.0.0.2", "[::ffff:127.0.0.2]"];
    (listener, forms.map(|form| format!("http://{form}:{port}/")).into())
}

#[test]
fn hosts_have_seen_nothing_but_politeness_through_kills_and_rebalances() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let (trap, addresses) = forbidden();
    let sets = [
        ("budget.fetches_per_second", "500"),
        ("budget.burst", "1s"),
        ("budget.in_flight", "400"),
        ("politeness.crawl_delay", &format!("{CRAWL_DELAY_MS}ms")),
        ("policy.min_interval", "1h"),
        // Pages of a host that refuses are answered only when its pauses are over, which double with every refusal.
        ("politeness.backoff_base", "1s"),
        ("politeness.backoff_max", "4s"),
    ];
    let distributed = Distributed::of(&web, &brokers, &sets);
    for address in &addresses {
        distributed.ask(&["seed", address]).exits_with(0);
    }
    let mut services = distributed.start_all();
    let total = HOSTS * PAGES_PER_HOST * 9 / 10;
    let reaches = |share: usize| {
        let wanted = total * share / 10;
        wait_for(&format!("{wanted} requests"), 3 * SOON, || web.page_requests() >= wanted);
    };
    let kill = |services: &mut Vec<Service>, stage: &'static str| {
        let place = services.iter().position(|service| service.stage == stage).unwrap();
        services.remove(place).kill();
        services.push(distributed.start(stage, "0"));
    };
    reaches(1);
    let second = distributed.start("fetcher", "1");
    wait_for("the second fetcher has its share", SOON, || second.partitions() == 2);
    reaches(3);
    kill(&mut services, "scheduler");
    reaches(5);
    kill(&mut services, "fetcher");
    reaches(7);
    second.stop();
    reaches(9);
    wait_for("every page is answered", 3 * SOON, || {
        let status = services.iter().find(|service| service.stage == "scheduler").unwrap().status();
        let figures = &status["stages"][0]["figures"];
        figures["unanswered"].as_f64() == Some(0.0) && figures["in_flight"].as_f64() == Some(0.0)
    });
    services.into_iter().for_each(|service| drop(service.stop()));

    let report = politeness(&web.ledger());
    assert_eq!(report.hosts.len(), HOSTS);
    assert_eq!((report.max_in_flight_per_host, report.robots_violations, report.forbidden_requests), (1, 0, 0));
    for (number, (name, host)) in report.hosts.iter().enumerate() {
        let delay_s = 1e-3 * CRAWL_DELAY_MS as f64 * if number % 10 == 0 { 2.0 } else { 1.0 };
        let gap_s = host.min_gap_s.unwrap();
        assert!(gap_s >= delay_s - CLOCK_SLACK_S, "{name} was asked again after {gap_s} s, not {delay_s}");
    }
    assert!(trap.accept().is_err(), "a forbidden address was reached");
}
