//! robots.txt across restarts, and as an errand between the fetchers of two sites.

use crate::bench::request;
use crate::one_host::{DELAY, HeldServer, PAGE, bench, file, moved};
use fetcher::{OriginRobots, RobotsKey};
use messages::{FetchOutcome, Keyed, topics};
use std::sync::atomic::{AtomicUsize, Ordering};
use stream::Clock;

#[test]
fn a_robots_txt_is_asked_for_once_whatever_restarts() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        (_, "/robots.txt") => file("User-agent: *\nDisallow: /private\n"),
        ("one.test", "/moved") => moved("http://www.one.test/private"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    for _ in 0..3 {
        assert_eq!(bench.fetch("http://one.test/page").look.outcome, FetchOutcome::Fetched);
        assert_eq!(bench.fetch("http://one.test/private").look.outcome, FetchOutcome::RobotsDisallowed);
        let moved = bench.fetch("http://one.test/moved").look;
        assert_eq!(moved.outcome, FetchOutcome::RobotsDisallowed, "the file of the host it leads to is known, too");
        bench.crash();
    }
    let asked = |host: &str, path: &str| server.asked_politely(host, DELAY).iter().filter(|at| *at == path).count();
    assert_eq!([asked("one.test", "/robots.txt"), asked("www.one.test", "/robots.txt")], [1, 1]);
    assert_eq!([asked("one.test", "/page"), asked("www.one.test", "/private")], [3, 0]);
}

#[test]
fn the_last_good_rules_hold_after_a_restart_while_the_file_cannot_be_had() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let (address, _server) = HeldServer::start(|_, path| match path {
        "/robots.txt" if ASKED.fetch_add(1, Ordering::Relaxed) == 0 => file("User-agent: *\nDisallow: /private\n"),
        "/robots.txt" => "HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => PAGE.to_owned(),
    });
    // The server holds each request for six minutes of this clock.
    let mut bench = bench(address, &[("politeness.robots_refresh", "1m"), ("clock.speed", "3600")]);
    for _ in 0..3 {
        assert_eq!(bench.fetch("http://one.test/page").look.outcome, FetchOutcome::Fetched);
        assert_eq!(bench.fetch("http://one.test/private").look.outcome, FetchOutcome::RobotsDisallowed);
        bench.crash();
    }
    assert!(ASKED.load(Ordering::Relaxed) > 1);
}

/// The request travels to the fetcher of the other site, whose turns and rules it obeys, and comes back with the answer.
#[test]
fn a_robots_txt_that_redirects_to_another_site_is_an_errand_of_its_fetcher() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("one.test", "/robots.txt") => moved("http://two.test/rules"),
        ("two.test", "/robots.txt") => file("User-agent: *\nDisallow: /private\nCrawl-delay: 0.2\n"),
        ("two.test", "/rules") => moved("http://www.two.test/of-one"),
        ("www.two.test", "/of-one") => file("User-agent: *\nDisallow: /secret\n"),
        ("www.two.test", _) => moved("/nowhere"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    ["/secret", "/a", "/b"].iter().for_each(|path| bench.ask(&format!("http://one.test{path}")));
    for result in bench.results(3) {
        let is_secret = result.look.url.as_str().ends_with("/secret");
        let expected = if is_secret { FetchOutcome::RobotsDisallowed } else { FetchOutcome::Fetched };
        assert_eq!(result.look.outcome, expected, "{:?}", result.detail);
        assert_eq!(result.look.final_url, None);
    }
    let keys: Vec<_> = bench.read(topics::FETCH_REQUESTS).iter().map(|request| request.key()).collect();
    assert_eq!(keys, [&b"one.test"[..], b"one.test", b"one.test", b"two.test", b"one.test"]);
    assert_eq!(server.asked_politely("one.test", DELAY), ["/robots.txt", "/a", "/b"]);
    assert_eq!(server.asked_politely("two.test", 2 * DELAY), ["/robots.txt", "/rules"]);
    bench.crash();
    assert_eq!(bench.fetch_request(&request("http://one.test/secret")).look.outcome, FetchOutcome::RobotsDisallowed);
    assert_eq!(server.asked_politely("one.test", DELAY).len(), 3, "what came back is kept");
}

/// A host that rests for a moment does not make those unreachable whose robots.txt redirect to it.
#[test]
fn an_errand_waits_for_the_end_of_a_short_rest() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("one.test", "/robots.txt") => moved("http://two.test/robots.txt"),
        ("two.test", "/busy") => "HTTP/1.1 503 Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n".to_owned(),
        (_, "/robots.txt") => file("User-agent: *\nDisallow: /private\n"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    assert_eq!(bench.fetch("http://two.test/busy").look.outcome, FetchOutcome::RateLimited);
    assert_eq!(bench.fetch("http://one.test/page").look.outcome, FetchOutcome::Fetched);
    assert_eq!(server.asked_politely("one.test", DELAY), ["/robots.txt", "/page"]);
    assert_eq!(server.asked_politely("two.test", DELAY), ["/robots.txt", "/busy", "/robots.txt"]);
}

/// Only the request that tried has met the failure. The others were not sent, and say nothing of their pages.
#[test]
fn a_host_that_cannot_be_reached_fails_one_request_and_hands_the_others_back() {
    let mut bench = crate::bench::Bench::new(&[("fetch.resolve", "*.test=127.0.0.1:9")]);
    ["/1", "/2", "/3"].iter().for_each(|path| bench.ask(&format!("http://one.test{path}")));
    let outcomes: Vec<_> =
        bench.results(3).iter().map(|result| (result.look.outcome, result.look.was_not_sent())).collect();
    let unavailable = (FetchOutcome::RobotsUnavailable, true);
    assert_eq!(outcomes, [(FetchOutcome::ConnectFailed, false), unavailable, unavailable]);
}

/// The server invents a host for each redirect.
#[test]
fn invented_hosts_leave_few_files() {
    static INVENTED: AtomicUsize = AtomicUsize::new(0);
    let (address, _server) = HeldServer::start(|_, path| match path {
        "/robots.txt" => file("User-agent: *\nDisallow: /private\n"),
        _ => moved(&format!("http://h{}.one.test/", INVENTED.fetch_add(1, Ordering::Relaxed))),
    });
    let mut bench = bench(address, &[]);
    (0..8).for_each(|page| bench.ask(&format!("http://one.test/{page}")));
    bench.results(8);
    assert!(INVENTED.load(Ordering::Relaxed) > 30);
    let kept = bench.kept_robots();
    assert_eq!(kept.len(), 16);
    assert!(kept.iter().any(|key| key.host_name() == "one.test"), "the host of the pages is among them");
}

#[test]
fn files_of_a_site_without_pages_are_not_kept() {
    let (address, _server) = HeldServer::start(|host, path| match (host, path) {
        (_, "/robots.txt") => file("User-agent: *\nDisallow: /private\n"),
        ("one.test", _) => moved("http://two.test/"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    assert_eq!(bench.fetch("http://one.test/").look.outcome, FetchOutcome::Fetched);
    assert_eq!(bench.kept_robots().iter().map(RobotsKey::host_name).collect::<Vec<_>>(), ["one.test"]);
    assert_eq!(bench.fetch("http://two.test/").look.outcome, FetchOutcome::Fetched);
    // It is known here from the redirect, so it is asked for and kept when it is due again.
    assert_eq!(bench.kept_robots().len(), 1);
}

#[test]
fn files_that_are_not_asked_for_are_deleted_after_a_month_whosever_they_are() {
    let (address, _server) = HeldServer::start(|_, path| match path {
        "/robots.txt" => file("User-agent: *\nDisallow: /private\n"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    let now = crate::bench::clock().now();
    for number in 0..7 {
        let age = if number == 3 { 20 * page::DAY } else { 40 * page::DAY };
        let robots = OriginRobots {
            product_token: "recrawl".to_owned(),
            robots_txt: None,
            allows_all: true,
            expires_at: now - age,
            unreachable_since: None,
        };
        bench.put_robots(&format!("http://old.site-{number}.test/"), &robots);
    }
    bench.crash();
    for page in 0..6 {
        assert_eq!(bench.fetch(&format!("http://one.test/{page}")).look.outcome, FetchOutcome::Fetched);
    }
    let kept = bench.kept_robots();
    let names: Vec<_> = kept.iter().map(RobotsKey::host_name).collect();
    assert_eq!(names, ["one.test", "old.site-3.test"]);
}
