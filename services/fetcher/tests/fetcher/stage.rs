//! The fetcher as a stage against a web on loopback: what it asks for, what it makes of the answers, what it commits.

use crate::bench::{Bench, clock, request, with_digest};
use messages::{DeadLetter, Digest, Encoded, FetchOutcome, FetchRequest, body, topics};
use page::Timestamp;
use simweb::{
    ChangeRates, FaultRule, FaultScope, HostDials, HostRobots, LedgerEntry, RequestKind, SeededConfig, SimWeb,
    SimWebConfig, ValidatorSupport, WebFault, WebSource, politeness,
};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{Clock, Stage};

pub(crate) const PAGE: &str = "http://host-0001.test/section-1/page-00001.html";
pub(crate) const OTHER_PAGE: &str = "http://host-0001.test/section-2/page-00002.html";
pub(crate) const OTHER_HOST: &str = "http://host-0002.test/section-1/page-00001.html";
pub(crate) const PATH: &str = "/section-1/page-00001.html";

/// Two hosts of ten pages that never change.
pub(crate) fn web(change: impl FnOnce(&mut SimWebConfig)) -> SimWeb {
    let source =
        SeededConfig { hosts: 2, pages_per_host: 10, rates: ChangeRates::Same(0.0), ..SeededConfig::default() };
    let mut config = SimWebConfig::new(WebSource::Seeded(source));
    config.page_bytes = 2_000;
    change(&mut config);
    let clock = clock();
    SimWeb::start(config, Arc::new(move || clock.now())).unwrap()
}

pub(crate) fn with_fault(fault: WebFault) -> SimWeb {
    web(|config| config.faults.push(FaultRule::everywhere(FaultScope::Path(PATH.to_owned()), fault)))
}

pub(crate) fn asked_for_pages(web: &SimWeb) -> Vec<LedgerEntry> {
    web.ledger().entries().into_iter().filter(|entry| entry.kind != RequestKind::Robots).collect()
}

/// A server without robots.txt that gives the same bytes to whoever connects, and closes.
pub(crate) fn raw_server(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4_096];
            let length = stream.read(&mut head).unwrap_or(0);
            let none = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let is_robots = head[..length].starts_with(b"GET /robots.txt ");
            let _ = stream.write_all(if is_robots { none.as_bytes() } else { &answer });
        }
    });
    address
}

#[test]
fn a_page_comes_with_its_body_digest_and_validators() {
    let web = web(|_| ());
    let result = Bench::at(web.addr(), &[]).fetch(PAGE);
    assert_eq!((result.look.outcome, result.look.status), (FetchOutcome::Fetched, Some(200)));
    let packed = result.body.unwrap();
    let content = body::unpack(&packed, 1 << 20).unwrap();
    assert_eq!(result.look.validators.content_digest, Some(Digest::of(&content)));
    assert_eq!((result.look.body_length as usize, result.truncated), (content.len(), false));
    assert!(result.look.validators.etag.is_some() && result.look.validators.last_modified.is_some());
    assert!(result.look.wire_bytes > result.look.body_length);
    assert!(result.hops.is_empty() && result.look.final_url.is_none());
}

#[test]
fn a_page_that_robots_txt_forbids_is_never_asked_for() {
    let robots = HostRobots { disallow: vec!["/section-1/".to_owned()], ..HostRobots::default() };
    let web = web(|config| config.dials.robots = robots);
    let mut bench = Bench::at(web.addr(), &[]);
    assert_eq!(bench.fetch(PAGE).look.outcome, FetchOutcome::RobotsDisallowed);
    assert_eq!(bench.fetch(OTHER_PAGE).look.outcome, FetchOutcome::Fetched);
    let asked = asked_for_pages(&web);
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].disallowed);
    assert_eq!(web.ledger().len(), 2, "robots.txt is asked for once");
}

#[test]
fn nothing_is_asked_of_a_host_whose_robots_txt_fails() {
    let web = web(|config| config.dials.robots = HostRobots { status: 503, ..HostRobots::default() });
    let mut bench = Bench::at(web.addr(), &[]);
    assert_eq!(bench.fetch(PAGE).look.outcome, FetchOutcome::RobotsUnavailable);
    assert_eq!(bench.fetch(OTHER_PAGE).look.outcome, FetchOutcome::RobotsUnavailable);
    assert!(asked_for_pages(&web).is_empty());
}

#[test]
fn a_host_without_robots_txt_forbids_nothing() {
    let web = web(|config| config.dials.robots = HostRobots { status: 404, ..HostRobots::default() });
    assert_eq!(Bench::at(web.addr(), &[]).fetch(PAGE).look.outcome, FetchOutcome::Fetched);
}

#[test]
fn each_validator_is_sent_and_a_304_is_not_modified() {
    for validators in
        [ValidatorSupport { etag: true, last_modified: false }, ValidatorSupport { etag: false, last_modified: true }]
    {
        let web = web(|config| config.dials.validators = validators);
        let mut bench = Bench::at(web.addr(), &[]);
        let first = bench.fetch(PAGE);
        assert_eq!(
            (first.look.validators.etag.is_some(), first.look.validators.last_modified.is_some()),
            (validators.etag, validators.last_modified)
        );
        let again = FetchRequest { validators: first.look.validators, ..request(PAGE) };
        let second = bench.fetch_request(&again);
        assert_eq!((second.look.outcome, second.look.status), (FetchOutcome::NotModified, Some(304)), "{validators:?}");
        assert!(second.body.is_none());
    }
}

#[test]
fn an_identical_body_does_not_travel() {
    let web = web(|config| config.dials.validators = ValidatorSupport { etag: false, last_modified: false });
    let mut bench = Bench::at(web.addr(), &[]);
    let first = bench.fetch(PAGE);
    let again = with_digest(request(PAGE), &first);
    let second = bench.fetch_request(&again);
    assert_eq!((second.look.outcome, second.look.status), (FetchOutcome::SameContent, Some(200)));
    assert!(second.body.is_none());
    assert_eq!(
        (second.look.validators.content_digest, second.look.body_length),
        (first.look.validators.content_digest, first.look.body_length)
    );
}

#[test]
fn a_body_longer_than_allowed_is_cut_and_marked_and_the_next_page_still_comes() {
    let web = with_fault(WebFault::OversizeBody { bytes: 10_000_000 });
    let mut bench = Bench::at(web.addr(), &[("fetch.max_body", "10KiB")]);
    let result = bench.fetch(PAGE);
    assert_eq!(
        (result.look.outcome, result.truncated, result.look.body_length),
        (FetchOutcome::Fetched, true, 10 << 10)
    );
    assert_eq!(body::unpack(&result.body.unwrap(), 10 << 10).unwrap().len(), 10 << 10);
    let next = bench.fetch(OTHER_PAGE);
    assert_eq!((next.look.outcome, next.truncated), (FetchOutcome::Fetched, false));
}

#[test]
fn redirects_are_followed_to_the_end_and_reported() {
    let web = with_fault(WebFault::Redirect { code: 301, hops: 3 });
    let result = Bench::at(web.addr(), &[]).fetch(PAGE);
    assert_eq!(result.look.outcome, FetchOutcome::Fetched);
    assert_eq!(result.hops.len(), 3);
    assert!(result.hops.iter().all(|hop| hop.status == 301));
    assert_eq!(result.hops[0].url, PAGE);
    assert_eq!(result.look.final_url.unwrap().as_str(), format!("{PAGE}?hop=3"));
    assert_eq!(result.look.url.as_str(), PAGE, "the page keeps its name");
}

#[test]
fn a_redirect_loop_ends_after_the_redirects_allowed() {
    let web = with_fault(WebFault::RedirectLoop { code: 302 });
    let result = Bench::at(web.addr(), &[("fetch.max_redirects", "4")]).fetch(PAGE);
    assert_eq!((result.look.outcome, result.hops.len()), (FetchOutcome::TooManyRedirects, 5));
    assert_eq!(asked_for_pages(&web).len(), 5);
}

#[test]
fn a_redirect_to_another_host_obeys_that_hosts_robots_txt() {
    let forbidding = HostDials {
        robots: HostRobots { disallow: vec!["/section-2/".to_owned()], ..HostRobots::default() },
        ..HostDials::default()
    };
    let web = web(|config| {
        config.host_dials.insert("host-0002.test".to_owned(), forbidding);
    });
    let to = |location: &str| {
        raw_server(format!(
            "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ))
    };
    let (allowed, forbidden) = (to(OTHER_HOST), to("http://host-0002.test/section-2/page-00002.html"));
    let resolve = format!("*.test={},allowed.test={allowed},forbidden.test={forbidden}", web.addr());
    let mut bench = Bench::new(&[("fetch.resolve", &resolve)]);

    let result = bench.fetch("http://allowed.test/x");
    assert_eq!(result.look.outcome, FetchOutcome::Fetched);
    assert_eq!(result.hops.len(), 1);
    assert_eq!(result.look.final_url.unwrap().as_str(), OTHER_HOST);
    let result = bench.fetch("http://forbidden.test/x");
    assert_eq!(result.look.outcome, FetchOutcome::RobotsDisallowed);
    let asked = asked_for_pages(&web);
    assert_eq!(asked.len(), 1);
    assert_eq!((&*asked[0].host, &*asked[0].path), ("host-0002.test", PATH));
}

#[test]
fn a_connection_that_breaks_in_mid_body_is_lost_and_the_next_page_comes_over_a_new_one() {
    let web = with_fault(WebFault::ResetMidBody);
    let mut bench = Bench::at(web.addr(), &[]);
    let result = bench.fetch(PAGE);
    assert_eq!((result.look.outcome, result.body), (FetchOutcome::ConnectionLost, None));
    assert!(result.detail.is_some());
    assert_eq!(bench.fetch(OTHER_PAGE).look.outcome, FetchOutcome::Fetched);
}

#[test]
fn a_slow_answer_times_out_within_its_limit() {
    // The server is done after an hour, and so is what has no limit of its own.
    const HOUR: Duration = Duration::from_secs(3_600);
    const OTHERS: [(&str, &str); 3] =
        [("fetch.total_timeout", "1h"), ("fetch.idle_timeout", "1h"), ("policy.lease_timeout", "6h")];
    for (fault, limit) in [
        (WebFault::SlowBody(HOUR), ("fetch.total_timeout", "300ms")),
        (WebFault::SlowBody(HOUR), ("fetch.idle_timeout", "300ms")),
        (WebFault::Latency(HOUR), ("fetch.total_timeout", "300ms")),
    ] {
        let web = with_fault(fault.clone());
        let mut bench = Bench::at(web.addr(), &[&OTHERS[..], &[limit]].concat());
        let result = bench.fetch(PAGE);
        assert_eq!(result.look.outcome, FetchOutcome::TimedOut, "{fault:?} {limit:?}");
        assert!(result.look.latency_ms >= 250, "{fault:?} {limit:?}: {} ms", result.look.latency_ms);
    }
}

#[test]
fn answers_that_are_not_http_or_packed_otherwise_than_asked_are_refused() {
    let check = |answer: &str, outcome| {
        let mut bench = Bench::at(raw_server(answer), &[]);
        assert_eq!(bench.fetch("http://raw.test/x").look.outcome, outcome, "{answer:?}");
    };
    check("220 mail.test ESMTP ready\r\n", FetchOutcome::MalformedResponse);
    let packed = |coding| {
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc")
    };
    check(&packed("compress"), FetchOutcome::ContentRefused);
    check(&packed("deflate"), FetchOutcome::MalformedResponse);
    check(&packed("gzip"), FetchOutcome::MalformedResponse);
}

#[test]
fn a_packed_body_arrives_unpacked_and_both_lengths_are_reported() {
    let body = "<p>The same sentence again and again.</p>\n".repeat(500);
    let packed = zstd::encode_all(body.as_bytes(), 3).unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        packed.len()
    );
    let mut bench = Bench::at(raw_server([head.as_bytes(), &packed].concat()), &[("fetch.max_pack_ratio", "1000")]);
    let result = bench.fetch("http://raw.test/x");
    assert_eq!((result.look.outcome, result.look.body_length), (FetchOutcome::Fetched, body.len() as i64));
    assert_eq!(result.look.validators.content_digest, Some(Digest::of(body.as_bytes())));
    assert_eq!(body::unpack(&result.body.unwrap(), 1 << 20).unwrap(), body.as_bytes());
    let with_robots = result.look.wire_bytes as usize;
    let again = bench.fetch("http://raw.test/y").look.wire_bytes as usize;
    assert!(again == head.len() + packed.len() && with_robots > again, "{again} and {with_robots}");
}

#[test]
fn a_host_has_one_request_at_a_time_and_its_delay_between_two() {
    let robots = HostRobots { crawl_delay_s: Some(0.12), ..HostRobots::default() };
    let web = web(|config| {
        config
            .host_dials
            .insert("host-0002.test".to_owned(), HostDials { robots, ..HostDials::default() })
            .map_or((), |_| ())
    });
    let mut bench = Bench::at(web.addr(), &[("politeness.crawl_delay", "60ms")]);
    for host in ["host-0001.test", "host-0002.test"] {
        for page in 1..=8 {
            bench.ask(&format!("http://{host}/section-{page}/page-{page:05}.html"));
        }
    }
    let results = bench.results(16);
    assert!(results.iter().all(|result| result.look.outcome == FetchOutcome::Fetched));
    let seen = politeness(&web.ledger().entries());
    assert_eq!(seen.max_in_flight_per_host, 1);
    for (host, least_s) in [("host-0001.test", 0.06), ("host-0002.test", 0.12)] {
        let of_host = &seen.hosts[host];
        assert_eq!(of_host.requests, 8);
        assert!(of_host.min_gap_s.unwrap() >= least_s, "{host}: {:?}", of_host.min_gap_s);
    }
    assert!(results.iter().any(|result| result.look.robots_crawl_delay_ms == Some(120)));
}

#[test]
fn a_request_does_not_go_out_before_its_time_nor_faster_than_it_says() {
    let web = web(|_| ());
    let mut bench = Bench::at(web.addr(), &[]);
    let start = clock().now();
    let first = FetchRequest { not_before: start + Duration::from_millis(250), ..request(PAGE) };
    let second = FetchRequest { not_before: start, crawl_delay_ms: Some(200), ..request(OTHER_PAGE) };
    bench.send_bytes(first.encode());
    bench.send_bytes(second.encode());
    bench.results(2);
    let asked = asked_for_pages(&web);
    assert_eq!(asked.len(), 2);
    assert!(asked[0].started_at >= first.not_before, "{:?}", asked[0]);
    assert!(asked[1].started_at >= asked[0].ended_at + Duration::from_millis(200), "{asked:?}");
}

#[test]
fn a_request_that_cannot_be_read_is_set_aside_and_the_rest_goes_on() {
    let web = web(|_| ());
    let mut bench = Bench::at(web.addr(), &[]);
    bench.ask(PAGE);
    bench.send_bytes(b"no request".to_vec());
    bench.ask(OTHER_PAGE);
    assert_eq!(bench.results(2).len(), 2);
    let dead_letters: Vec<DeadLetter> = bench.read(topics::DEAD_LETTERS);
    assert_eq!(dead_letters.len(), 1);
    assert_eq!((dead_letters[0].stage.as_str(), dead_letters[0].offset), ("fetcher", 1));
    assert_eq!(dead_letters[0].value.as_deref(), Some(&b"no request"[..]));
}

#[test]
fn what_a_killed_fetcher_had_answered_behind_a_slow_host_is_not_fetched_again_by_the_next() {
    // The first request is slow, so that the position cannot move past it.
    let web = web(|config| {
        let slow = WebFault::Latency(Duration::from_secs(2));
        config.faults.push(FaultRule {
            host: Some("host-0001.test".to_owned()),
            ..FaultRule::everywhere(FaultScope::Path(PATH.to_owned()), slow)
        });
    });
    let mut bench = Bench::at(web.addr(), &[]);
    let fast: Vec<_> = (1..5).map(|page| format!("http://host-0002.test/section-{page}/page-{page:05}.html")).collect();
    bench.ask(OTHER_PAGE);
    bench.results(1);
    bench.ask(PAGE);
    fast.iter().for_each(|url| bench.ask(url));
    bench.results(1 + fast.len());
    bench.crash();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for result in bench.results(1 + fast.len() + 1) {
        assert_eq!(result.look.outcome, FetchOutcome::Fetched);
        *counts.entry(result.look.url.as_str().to_owned()).or_default() += 1;
    }
    assert_eq!(counts[OTHER_PAGE], 1, "committed, so not fetched again");
    assert_eq!(counts[PAGE], 1);
    assert!(fast.iter().all(|url| counts[url] == 1), "{counts:?}");
    // Everything is answered and committed now: a third fetcher finds nothing to do.
    let asked = web.ledger().len();
    bench.stage.step().unwrap();
    bench.crash();
    for _ in 0..5 {
        bench.stage.step().unwrap();
    }
    assert_eq!(web.ledger().len(), asked);
}

#[test]
fn no_more_requests_are_taken_in_than_may_be_in_flight() {
    let web = web(|config| config.dials.latency = Duration::from_millis(20));
    let mut bench = Bench::at(web.addr(), &[("budget.in_flight", "2")]);
    for page in 1..=6 {
        bench.ask(&format!("http://host-0001.test/section-{page}/page-{page:05}.html"));
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while bench.read(topics::FETCH_RESULTS).len() < 6 {
        assert!(Instant::now() < deadline);
        bench.stage.step().unwrap();
        let status = bench.stage.status();
        let status = status.lock().unwrap();
        let answered = bench.read(topics::FETCH_RESULTS).len() as u64;
        assert!(status.processed_total <= answered + 2 + 1, "{} taken, {answered} answered", status.processed_total);
    }
}

#[test]
fn a_timestamp_of_the_fetch_is_when_the_request_went_out() {
    let web = with_fault(WebFault::Latency(Duration::from_millis(200)));
    let before = clock().now();
    let result = Bench::at(web.addr(), &[]).fetch(PAGE);
    let asked = &asked_for_pages(&web)[0];
    assert!(result.look.fetched_at <= asked.started_at, "{} and {}", result.look.fetched_at, asked.started_at);
    assert!(result.look.fetched_at >= before, "{} and {before}", result.look.fetched_at);
    assert!(result.look.latency_ms >= 200);
    assert!(result.look.fetched_at > Timestamp::default());
}
