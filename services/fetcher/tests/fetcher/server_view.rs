//! The requests that servers of `simweb::hostile` may see of a polite fetcher, whatever they do.

use simweb::hostile::{KEPT_BYTES, Misbehaviour, ServerBooks, ServerView};
use std::time::Duration;

/// Least time between the end of an answer and the next request to the same host.
pub(crate) const CRAWL_DELAY: Duration = Duration::from_millis(20);

/// Two clocks measure it, one on each side.
const CLOCKS_DIFFER: Duration = Duration::from_millis(1);
/// Longest wait for the fetcher to leave.
const PATIENCE: Duration = Duration::from_secs(1_800);
/// Bytes that a server may have handed to its sockets beyond those that the fetcher takes: the buffers of both sides, as far
/// as the system lets them grow.
fn in_buffers() -> u64 {
    let largest = |name: &str| {
        let limits = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        limits.split_whitespace().nth(2).and_then(|bytes| bytes.parse().ok()).unwrap_or(8 << 20)
    };
    largest("tcp_rmem") + largest("tcp_wmem")
}
/// Longest request.
const REQUEST_BYTES: u64 = 4 << 10;

/// How the server's view of a case differs from the expected one; `None` if it does not. The fetcher still runs.
pub(crate) fn seen_otherwise(books: &ServerBooks, case: &Misbehaviour) -> Option<String> {
    if !books.is_quiet_within(&case.name, PATIENCE) {
        return Some(format!("{}: the connection is still open", case.name));
    }
    let view = books.view(&case.name);
    let looks = if case.again.is_some() { 2 } else { 1 };
    let expected = (case.robots_requests, looks * case.page_requests);
    let is_right = (view.robots_requests(), view.page_requests()) == expected
        && view.most_requests_at_once <= 1
        && view.most_connections_at_once <= 1
        && is_patient(&view)
        && view.sent_bytes <= KEPT_BYTES + in_buffers()
        && view.received_bytes <= view.requests.len() as u64 * REQUEST_BYTES;
    (!is_right).then(|| {
        let paths: Vec<_> = view.requests.iter().map(|request| format!("{} {}", request.host, request.path)).collect();
        let view = ServerView { requests: Vec::new(), ..view };
        format!("{}: {expected:?} requests for robots.txt and others expected; {paths:?}; {view:?}", case.name)
    })
}

/// Whether each request came no earlier than the delay allows.
pub(crate) fn is_patient(view: &ServerView) -> bool {
    view.least_gap.is_none_or(|gap| gap + CLOCKS_DIFFER >= CRAWL_DELAY)
}
