//! A web with everything that can happen to a crawl, of hosts that answer with TLS and without, and what its ledger says of
//! the crawler's politeness.

use crate::SimulatedWeb;
use page::Timestamp;
use simweb::{FaultRule, FaultScope, HostDials, HostRobots, LedgerEntry, SeededConfig, WebFault, politeness};
use std::collections::BTreeMap;
use std::time::Duration;

/// Between two requests to a host; every tenth host asks for twice as much.
const CRAWL_DELAY_MS: u64 = 50;
/// One process may see a moment a little earlier than another.
const CLOCK_SLACK_S: f64 = 0.001;

/// Hosts that are slow now and then, fail, break off, redirect to themselves with TLS or without and to each other, ask to
/// be left alone, and forbid a tenth of their pages.
pub fn mixed_web(hosts: usize, pages_per_host: usize) -> SimulatedWeb {
    let seeded = SeededConfig { hosts, pages_per_host, ..SeededConfig::default() };
    SimulatedWeb::start_with_tls(seeded, 1.0, |config| {
        let dials = |robots| HostDials { robots, latency: Duration::from_millis(1), ..HostDials::default() };
        let disallow = vec!["/section-3/".to_owned()];
        config.dials = dials(HostRobots { disallow: disallow.clone(), ..HostRobots::default() });
        let slow = HostRobots { disallow, crawl_delay_s: Some(2e-3 * CRAWL_DELAY_MS as f64), ..HostRobots::default() };
        for host in (1..=hosts).step_by(10) {
            config.host_dials.insert(name(host), dials(slow.clone()));
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
        for secure in [true, false] {
            let fault = WebFault::RedirectToScheme { code: 301, secure };
            config.faults.push(FaultRule::everywhere(FaultScope::Pages(0.1), fault));
        }
        (1..=hosts).for_each(|host| config.faults.extend(redirects_of(host, hosts)));
    })
}

fn name(host: usize) -> String {
    format!("host-{host:04}.test")
}

/// Pages of a host that redirect to other hosts, and to what these forbid. The robots.txt of every fourth does, too.
fn redirects_of(host: usize, hosts: usize) -> Vec<FaultRule> {
    let other = |scheme, distance: usize| format!("{scheme}://{}", name((host + distance - 1) % hosts + 1));
    let rule = |scope, address| {
        let fault = WebFault::RedirectTo { code: 302, address };
        FaultRule { host: Some(name(host)), ..FaultRule::everywhere(scope, fault) }
    };
    let mut rules = vec![
        rule(FaultScope::Pages(0.05), other("https", 7)),
        rule(FaultScope::Pages(0.03), other("http", 13) + "/section-3"),
    ];
    if host.is_multiple_of(4) {
        // Hosts that ask for a longer delay have numbers that end in 1, so none of them is here.
        let scheme = if host.is_multiple_of(8) { "https" } else { "http" };
        rules.push(rule(FaultScope::Path("/robots.txt".to_owned()), other(scheme, 2)));
    }
    rules
}

/// Settings for a crawl of it.
pub fn settings_for_mixed_web() -> [(&'static str, String); 5] {
    [
        ("budget.fetches_per_second", "500".to_owned()),
        ("budget.burst", "1s".to_owned()),
        ("politeness.crawl_delay", format!("{CRAWL_DELAY_MS}ms")),
        // Pages of a host that refuses are answered only when its pauses are over, which double with every refusal.
        ("politeness.backoff_base", "1s".to_owned()),
        ("politeness.backoff_max", "4s".to_owned()),
    ]
}

/// Complaints of such a web about the crawl, by its own ledger.
pub fn impoliteness(ledger: &[LedgerEntry], hosts: usize) -> Vec<String> {
    let report = politeness(ledger);
    let mut complaints = Vec::new();
    let mut expect = |holds: bool, complaint: String| complaints.extend((!holds).then_some(complaint));
    expect(report.hosts.len() == hosts, format!("{} hosts were asked, not {hosts}", report.hosts.len()));
    let trespass = (report.max_in_flight_per_host, report.robots_violations, report.forbidden_requests);
    expect(trespass == (1, 0, 0), format!("requests at once, forbidden by robots.txt, of strangers: {trespass:?}"));
    let mut by_host: BTreeMap<&str, Vec<&LedgerEntry>> = BTreeMap::new();
    ledger.iter().for_each(|entry| by_host.entry(&entry.host).or_default().push(entry));
    for (number, (name, host)) in report.hosts.iter().enumerate() {
        let delay_s = |times: f64| 1e-3 * CRAWL_DELAY_MS as f64 * times - CLOCK_SLACK_S;
        let gap_s = host.min_gap_s.unwrap_or(0.0);
        let times = if number % 10 == 0 { 2.0 } else { 1.0 };
        expect(gap_s >= delay_s(times), format!("{name} was asked for pages again after {gap_s} s"));
        let entries = by_host.get_mut(&**name).map(std::mem::take).unwrap_or_default();
        // Over TLS and without, robots.txt included.
        let gap_s = smallest_gap_s(&entries);
        expect(gap_s >= delay_s(1.0), format!("{name} was asked again after {gap_s} s"));
        for tls in [false, true] {
            let answered = entries.iter().filter(|entry| entry.tls == tls && entry.version.is_some()).count();
            expect(answered > 0, format!("{name} has given no page {} TLS", if tls { "with" } else { "without" }));
        }
    }
    complaints
}

/// From the end of any request to the start of the next.
fn smallest_gap_s(entries: &[&LedgerEntry]) -> f64 {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| entry.started_at);
    let mut end = Timestamp::MIN;
    entries.iter().fold(f64::INFINITY, |smallest, entry| {
        let gap =
            if end == Timestamp::MIN { f64::INFINITY } else { entry.started_at.saturating_since(end).as_secs_f64() };
        end = end.max(entry.ended_at);
        smallest.min(gap)
    })
}
