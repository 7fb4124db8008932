//! Refusals of hosts, and the requests that are then handed back unsent.

use crate::bench::{Bench, PATIENCE, clock, request};
use crate::stage::{OTHER_HOST, OTHER_PAGE, PAGE, asked_for_pages, web, with_fault};
use messages::{Encoded, FetchOutcome, FetchRequest};
use page::Timestamp;
use simweb::{FaultRule, FaultScope, WebFault};
use std::time::{Duration, Instant};
use stream::Clock;

#[test]
fn statuses_become_the_outcomes_they_mean() {
    use FetchOutcome as O;
    let check = |code, retry_after_s, outcome, reported: Option<i64>| {
        let web = with_fault(WebFault::Status { code, retry_after_s });
        let result = Bench::at(web.addr(), &[]).fetch(PAGE);
        assert_eq!((result.look.outcome, result.look.status), (outcome, Some(code)));
        assert_eq!(result.look.retry_after_s, reported, "{code}");
        assert!(result.body.is_none() && result.look.validators.content_digest.is_none(), "{code}");
    };
    check(404, None, O::NotFound, None);
    check(410, None, O::Gone, None);
    check(403, None, O::ClientError, None);
    check(429, None, O::RateLimited, None);
    check(429, Some(30), O::RateLimited, Some(30));
    check(500, None, O::ServerError, None);
    check(503, None, O::ServerError, None);
    check(503, Some(120), O::RateLimited, Some(120));
}

#[test]
fn a_host_that_said_when_to_come_back_is_not_asked_before_by_what_was_handed_out_already() {
    let web = web(|config| {
        let refusal = WebFault::Status { code: 503, retry_after_s: Some(120) };
        let rule = FaultRule::everywhere(FaultScope::Pages(1.0), refusal);
        config.faults.push(FaultRule { host: Some("host-0001.test".to_owned()), ..rule });
    });
    let mut bench = Bench::at(web.addr(), &[]);
    assert_eq!(bench.fetch(PAGE).look.outcome, FetchOutcome::RateLimited);
    let next = bench.fetch(OTHER_PAGE);
    assert_eq!((next.look.outcome, next.look.status), (FetchOutcome::RateLimited, None));
    assert!(next.look.retry_after_s.is_some_and(|wait| (60..=120).contains(&wait)), "{next:?}");
    assert_eq!(asked_for_pages(&web).len(), 1);
    assert_eq!(bench.fetch(OTHER_HOST).look.outcome, FetchOutcome::Fetched);
}

#[test]
fn one_refusal_without_a_word_of_when_stops_what_was_handed_out_already() {
    for code in [429, 503] {
        let web = web(|config| {
            let refusal = WebFault::Status { code, retry_after_s: None };
            config.faults.push(FaultRule::everywhere(FaultScope::Pages(1.0), refusal));
        });
        let mut bench = Bench::at(web.addr(), &[("politeness.backoff_base", "40s")]);
        (0..3).for_each(|_| bench.ask(PAGE));
        let results = bench.results(3);
        assert_eq!(results[0].look.status, Some(code));
        assert!(!results[0].look.was_not_sent());
        for next in &results[1..] {
            assert!(next.look.was_not_sent(), "{next:?}");
            assert!(next.look.retry_after_s.is_some_and(|rest| (1..=30).contains(&rest)), "{next:?}");
        }
        assert_eq!(asked_for_pages(&web).len(), 1);
    }
}

#[test]
fn a_request_that_is_meant_for_after_the_rest_is_sent_then() {
    let web = web(|config| {
        let refusal = WebFault::Status { code: 429, retry_after_s: None };
        config.faults.push(FaultRule::everywhere(FaultScope::Pages(1.0), refusal));
    });
    let backoff_base = Duration::from_millis(200);
    let mut bench = Bench::at(web.addr(), &[("politeness.backoff_base", "200ms")]);
    bench.fetch(PAGE);
    let later = FetchRequest { not_before: clock().now() + backoff_base, ..request(OTHER_PAGE) };
    assert_eq!(bench.fetch_request(&later).look.status, Some(429), "sent, and refused in its turn");
    assert_eq!(asked_for_pages(&web).len(), 2);
}

#[test]
fn requests_to_a_stopped_host_are_handed_back_unsent() {
    let web = web(|_| ());
    let mut bench = Bench::at(web.addr(), &[]);
    bench.stop_host("host-0001.test", true);
    bench.ask(PAGE);
    assert!(bench.results(1)[0].look.was_not_sent());
    assert_eq!(web.ledger().len(), 0, "not even robots.txt is asked for");
    bench.crash();
    bench.ask(OTHER_PAGE);
    let result = bench.results(2).pop().unwrap();
    assert!(result.look.was_not_sent(), "a new process knows before its first request: {result:?}");
    bench.stop_host("host-0001.test", false);
    let deadline = Instant::now() + PATIENCE;
    for count in 3.. {
        assert!(Instant::now() < deadline, "the host is asked again");
        bench.ask(PAGE);
        if bench.results(count).pop().unwrap().look.outcome == FetchOutcome::Fetched {
            break;
        }
    }
}

#[test]
fn what_became_stale_while_no_fetcher_ran_is_handed_back_and_only_the_newest_request_is_sent() {
    let web = web(|_| ());
    let mut bench = Bench::at(web.addr(), &[]);
    let (now, minutes) = (clock().now(), |count: u64| Duration::from_secs(60 * count));
    // Ten hours, a lease of ten minutes after the other.
    let age = |attempt: u64| minutes(10 * (60 - attempt));
    for attempt in 1..=60 {
        let issued_at = Timestamp::from_micros(now.as_micros() - age(attempt).as_micros() as i64);
        let (not_before, lease_until) = (issued_at, issued_at + minutes(10));
        let newest = FetchRequest { attempt: attempt as i64, issued_at, not_before, lease_until, ..request(PAGE) };
        bench.send_bytes(newest.encode());
    }
    let results = bench.results(60);
    let attempts: Vec<_> = results.iter().map(|result| result.look.attempt).collect();
    assert_eq!(attempts, (1..=60).collect::<Vec<_>>());
    let (newest, stale) = results.split_last().unwrap();
    assert!(stale.iter().all(|result| result.look.was_not_sent() && result.look.retry_after_s.is_none()));
    assert_eq!(newest.look.outcome, FetchOutcome::Fetched);
    assert_eq!(asked_for_pages(&web).len(), 1);
}
