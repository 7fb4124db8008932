//! How polite was the crawler? Computed from the ledger alone.

use crate::ledger::{LedgerEntry, RequestKind};
use page::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The load on hosts. Times are virtual. Gaps are between requests for pages (known or not), because robots.txt is
/// fetched before the crawl delay is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostLoad {
    /// Smallest time on any host from the end of one request to the start of the next, in seconds; 0 when they
    /// overlapped. `None` when no host had two requests.
    pub min_gap_s: Option<f64>,
    /// Smallest time on any host from start to start, in seconds. Delays of the server itself can shorten it.
    pub min_start_gap_s: Option<f64>,
    /// Maximum of requests in progress on one host.
    pub max_in_flight_per_host: u32,
    /// Requests for pages that the host's robots.txt forbids.
    pub robots_violations: u64,
    /// Requests to hosts outside the web.
    pub forbidden_requests: u64,
    /// The same figures by host.
    pub hosts: BTreeMap<Arc<str>, HostPoliteness>,
}

/// The load on one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostPoliteness {
    /// Requests for pages.
    pub requests: u64,
    /// As in [`HostLoad::min_gap_s`].
    pub min_gap_s: Option<f64>,
    /// As in [`HostLoad::min_start_gap_s`].
    pub min_start_gap_s: Option<f64>,
    /// Maximum of requests in progress, robots.txt included.
    pub max_in_flight: u32,
    /// Requests that robots.txt forbids.
    pub robots_violations: u64,
}

/// Computes the load on hosts from a ledger.
pub fn politeness(entries: &[LedgerEntry]) -> HostLoad {
    let mut in_order: Vec<&LedgerEntry> =
        entries.iter().filter(|entry| entry.kind != RequestKind::UnknownHost).collect();
    in_order.sort_by(|one, other| (&one.host, one.started_at).cmp(&(&other.host, other.started_at)));
    let hosts: BTreeMap<Arc<str>, HostPoliteness> = in_order
        .chunk_by(|one, other| one.host == other.host)
        .map(|of_host| (Arc::clone(&of_host[0].host), of_one_host(of_host)))
        .collect();
    let smallest = |gap: fn(&HostPoliteness) -> Option<f64>| hosts.values().filter_map(gap).reduce(f64::min);
    HostLoad {
        min_gap_s: smallest(|host| host.min_gap_s),
        min_start_gap_s: smallest(|host| host.min_start_gap_s),
        max_in_flight_per_host: hosts.values().map(|host| host.max_in_flight).max().unwrap_or(0),
        robots_violations: hosts.values().map(|host| host.robots_violations).sum(),
        forbidden_requests: (entries.len() - in_order.len()) as u64,
        hosts,
    }
}

fn of_one_host(entries: &[&LedgerEntry]) -> HostPoliteness {
    let mut host = HostPoliteness::default();
    // Start of the previous page request, and the latest end so far: an earlier request may outlast a later one.
    let mut before: Option<(Timestamp, Timestamp)> = None;
    for entry in entries {
        host.max_in_flight = host.max_in_flight.max(entry.in_flight);
        if entry.kind == RequestKind::Robots {
            continue;
        }
        host.requests += 1;
        host.robots_violations += u64::from(entry.disallowed);
        if let Some((start, end)) = before {
            let since = |moment| entry.started_at.saturating_since(moment).as_secs_f64();
            host.min_gap_s = Some(host.min_gap_s.map_or(since(end), |gap| gap.min(since(end))));
            host.min_start_gap_s = Some(host.min_start_gap_s.map_or(since(start), |gap| gap.min(since(start))));
        }
        let latest_end = before.map_or(entry.ended_at, |(_, end)| end.max(entry.ended_at));
        before = Some((entry.started_at, latest_end));
    }
    host
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(host: &str, start_s: i64, end_s: i64, kind: RequestKind) -> LedgerEntry {
        LedgerEntry {
            started_at: Timestamp::from_secs(start_s),
            ended_at: Timestamp::from_secs(end_s),
            host: host.into(),
            path: "/".into(),
            kind,
            status: 200,
            version: Some(0),
            bytes: 1,
            in_flight: 1,
            disallowed: false,
            tls: false,
        }
    }

    #[test]
    fn gaps_are_per_host_and_between_pages() {
        let page = RequestKind::Page;
        let report = politeness(&[
            entry("a.test", 0, 2, page),
            entry("b.test", 3, 4, page),
            entry("a.test", 4, 5, RequestKind::Robots),
            entry("a.test", 7, 8, page),
            entry("b.test", 20, 21, page),
        ]);
        assert_eq!((report.min_gap_s, report.min_start_gap_s), (Some(5.0), Some(7.0)));
        assert_eq!(report.hosts["b.test"].min_gap_s, Some(16.0));
        assert_eq!(report.hosts["a.test"].requests, 2);
    }

    #[test]
    fn overlapping_requests_have_no_gap_even_behind_a_short_one() {
        let page = RequestKind::Page;
        let crowded = LedgerEntry { in_flight: 3, ..entry("a.test", 3, 4, page) };
        let report = politeness(&[entry("a.test", 0, 10, page), entry("a.test", 1, 2, page), crowded]);
        assert_eq!((report.min_gap_s, report.min_start_gap_s), (Some(0.0), Some(1.0)));
        assert_eq!(report.max_in_flight_per_host, 3);
    }

    #[test]
    fn trespass_is_counted() {
        let forbidden = LedgerEntry { disallowed: true, ..entry("a.test", 0, 1, RequestKind::Page) };
        let report = politeness(&[forbidden, entry("elsewhere.test", 0, 1, RequestKind::UnknownHost)]);
        assert_eq!((report.robots_violations, report.forbidden_requests), (1, 1));
        assert_eq!((report.min_gap_s, report.max_in_flight_per_host), (None, 1));
    }
}
