//! Tests the pool against a scripted server.

use super::*;
use crate::job::Done;
use messages::{FetchOutcome, FetchRequest};
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;
use stream::RequestTag;
use stream_testing::ManualClock;

const PATIENCE: Duration = Duration::from_secs(300);
const START: Timestamp = Timestamp::from_secs(1_000);
const NO_ROBOTS: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";

fn pool(port: u16) -> (FetchPool, Arc<ManualClock>) {
    pool_with(port, &[])
}

fn pool_with(port: u16, further: &[(&str, &str)]) -> (FetchPool, Arc<ManualClock>) {
    let resolve = format!("*.test=127.0.0.1:{port}");
    let overrides = [&[("fetch.resolve", resolve.as_str()), ("politeness.crawl_delay", "0s")], further].concat();
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
    let rules = Arc::new(FetcherRules::new(&settings).unwrap());
    let clock = ManualClock::at(START);
    (FetchPool::start(rules, clock.clone(), None).unwrap(), clock)
}

fn job(epoch: u64, path: &str) -> FetchJob {
    asked(epoch, &request_for(&format!("http://a.test{path}")))
}

fn request_for(url: &str) -> FetchRequest {
    FetchRequest::first(CanonicalUrl::parse(url).unwrap(), Timestamp::from_secs(0))
}

/// The next answer.
fn receive(pool: &mut FetchPool, patience: Duration) -> Option<Done> {
    pool.answers.receive(patience).map(|answer| match answer {
        Answer::Done(done) => *done,
        Answer::Redirected { request, .. } => panic!("{request:?}"),
    })
}

fn asked(epoch: u64, request: &FetchRequest) -> FetchJob {
    FetchJob::new(RequestTag { partition: 0, offset: epoch, timestamp: Timestamp::MIN, epoch }, request.clone())
}

/// Waits until a condition holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// A pool with two requests to a host: the first is on the wire, and the second waits.
struct OneOnTheWire {
    server: TcpListener,
    pool: FetchPool,
    clock: Arc<ManualClock>,
    stream: TcpStream,
}

impl OneOnTheWire {
    fn start() -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let (pool, clock) = pool(server.local_addr().unwrap().port());
        pool.begin(1);
        pool.submit(job(1, "/first"));
        pool.submit(job(1, "/second"));
        let (mut stream, _) = server.accept().unwrap();
        assert!(request(&mut stream).contains("/robots.txt"));
        stream.write_all(NO_ROBOTS).unwrap();
        assert!(request(&mut stream).contains("/first"));
        Self { server, pool, clock, stream }
    }
}

/// The request line of the next request on a connection. Empty when the connection was closed.
fn request(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = [0; 4_096];
    let length = stream.read(&mut head).unwrap_or(0);
    String::from_utf8_lossy(&head[..length]).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn what_is_withdrawn_is_broken_off_and_what_waited_behind_it_is_never_asked_for() {
    let OneOnTheWire { server, mut pool, mut stream, .. } = OneOnTheWire::start();
    pool.withdraw(vec![1]);
    assert_eq!(request(&mut stream), "", "the request is still under way");
    pool.submit(job(1, "/late"));
    pool.begin(2);
    pool.submit(job(2, "/third"));
    let (mut stream, _) = server.accept().unwrap();
    assert!(request(&mut stream).contains("/third"));
    stream.write_all(PAGE).unwrap();
    let done = receive(&mut pool, PATIENCE).unwrap();
    assert_eq!((done.tag.epoch, done.result.look.body_length), (2, 2));
}

#[test]
fn what_is_past_its_lease_is_handed_back_unsent() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut pool, clock) = pool(server.local_addr().unwrap().port());
    pool.begin(1);
    let stale = FetchRequest { lease_until: START, ..request_for("http://a.test/stale") };
    pool.submit(asked(1, &stale));
    let done = receive(&mut pool, PATIENCE).unwrap();
    assert!(done.result.look.was_not_sent());
    assert_eq!((done.result.look.url.as_str(), done.result.look.attempt), ("http://a.test/stale", stale.attempt));
    assert_eq!(done.result.look.retry_after_s, None, "the host has refused nothing");
    // A request whose lease ends while it waits for its turn is not sent either.
    let (not_before, lease_until) = (START + Duration::from_millis(100), START + Duration::from_secs(1));
    pool.submit(asked(1, &FetchRequest { not_before, lease_until, ..request_for("http://a.test/slow") }));
    clock.advance(Duration::from_secs(2));
    let done = receive(&mut pool, PATIENCE).unwrap();
    assert!(done.result.look.was_not_sent());
    assert!(done.result.detail.is_some_and(|detail| detail.contains("lease")));
    drop(pool);
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "the host was asked");
}

#[test]
fn what_waits_for_its_host_and_what_is_on_the_wire_are_counted() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut pool, clock) = pool(server.local_addr().unwrap().port());
    let figures = |pool: &FetchPool| (pool.waiting_for_hosts(), pool.longest_wait(), pool.on_the_wire());
    assert_eq!(figures(&pool), (0, None, 0));
    pool.begin(1);
    pool.submit(job(1, "/first"));
    let (mut stream, _) = server.accept().unwrap();
    assert!(request(&mut stream).contains("/robots.txt"));
    assert_eq!(figures(&pool), (0, None, 1));
    pool.submit(job(1, "/second"));
    clock.advance(Duration::from_secs(5));
    pool.submit(job(1, "/third"));
    clock.advance(Duration::from_secs(2));
    assert_eq!(figures(&pool), (2, Some(Duration::from_secs(7)), 1));
    stream.write_all(NO_ROBOTS).unwrap();
    for (path, left) in [("/first", 2), ("/second", 1), ("/third", 0)] {
        assert!(request(&mut stream).contains(path));
        assert_eq!((pool.waiting_for_hosts(), pool.on_the_wire()), (left, 1));
        stream.write_all(PAGE).unwrap();
        receive(&mut pool, PATIENCE).unwrap();
    }
    until("something stays on the wire", || pool.on_the_wire() == 0);
    assert_eq!(figures(&pool), (0, None, 0));
}

#[test]
fn a_pool_that_is_drained_answers_what_is_on_the_wire_and_sends_nothing_more() {
    let OneOnTheWire { server, mut pool, clock, mut stream } = OneOnTheWire::start();
    let later = FetchRequest { not_before: START + Duration::from_millis(50), ..request_for("http://b.test/") };
    pool.submit(asked(1, &later));
    pool.drain();
    assert_eq!((pool.waiting_for_hosts(), pool.on_the_wire()), (0, 1));
    pool.submit(job(1, "/third"));
    assert_eq!(pool.waiting_for_hosts(), 0);
    clock.advance(Duration::from_secs(1));
    stream.write_all(PAGE).unwrap();
    until("the answer never came", || pool.on_the_wire() == 0);
    let done = receive(&mut pool, Duration::ZERO).expect("what was on the wire has its answer");
    assert_eq!(done.result.look.url.as_str(), "http://a.test/first");
    pool.withdraw(vec![1]);
    assert!(receive(&mut pool, Duration::ZERO).is_none());
    drop(pool);
    assert_eq!(request(&mut stream), "", "another request was sent");
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "the other host was asked");
}

#[test]
fn what_is_on_the_wire_is_answered_while_others_are_held_back_until_an_epoch_begins() {
    let OneOnTheWire { server: _server, mut pool, mut stream, .. } = OneOnTheWire::start();
    pool.hold_back();
    pool.submit(job(1, "/third"));
    stream.write_all(PAGE).unwrap();
    assert_eq!(receive(&mut pool, PATIENCE).unwrap().result.look.body_length, 2);
    until("something stays on the wire", || pool.on_the_wire() == 0);
    assert_eq!(pool.waiting_for_hosts(), 0);
    pool.withdraw(vec![1]);
    pool.begin(2);
    pool.submit(job(2, "/fourth"));
    assert!(request(&mut stream).contains("/fourth"), "the others were sent");
    stream.write_all(PAGE).unwrap();
    assert_eq!(receive(&mut pool, PATIENCE).unwrap().tag.epoch, 2);
}

#[test]
fn a_robots_txt_that_redirects_to_what_it_forbids_is_read_again_when_it_is_due() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut pool, clock) = pool(server.local_addr().unwrap().port());
    pool.begin(1);
    for day in 0..3 {
        let request_of_day = FetchRequest { lease_until: clock.now() + page::DAY, ..request_for("http://a.test/page") };
        pool.submit(asked(1, &request_of_day));
        let (mut stream, _) = server.accept().unwrap();
        assert!(request(&mut stream).contains("/robots.txt"), "day {day}");
        stream.write_all(b"HTTP/1.1 301 Moved\r\nlocation: /rules/robots.txt\r\ncontent-length: 0\r\n\r\n").unwrap();
        assert!(request(&mut stream).contains("/rules/robots.txt"), "day {day}");
        let file = "User-agent: *\nDisallow: /\n";
        let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{file}", file.len());
        stream.write_all(answer.as_bytes()).unwrap();
        let done = receive(&mut pool, PATIENCE).unwrap();
        assert_eq!(done.result.look.outcome, FetchOutcome::RobotsDisallowed, "day {day}");
        clock.advance(page::DAY);
    }
}

/// Servers that begin a short body and are silent then must not take all the memory of bodies.
#[test]
fn slow_bodies_of_known_length_hold_up_no_other() {
    const SLOW_HOSTS: usize = 16;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let begun = Arc::new(AtomicUsize::new(0));
    let seen = begun.clone();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let (mut stream, seen) = (stream.unwrap(), seen.clone());
            std::thread::spawn(move || {
                loop {
                    let line = request(&mut stream);
                    let answer = match line.split(' ').nth(1) {
                        Some("/robots.txt") => NO_ROBOTS,
                        Some("/slow") => b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello",
                        Some(_) => PAGE,
                        None => return,
                    };
                    let _ = stream.write_all(answer);
                    seen.fetch_add(usize::from(line.contains("/slow")), Ordering::Relaxed);
                }
            });
        }
    });
    // Half of the memory is for bodies that begin: four of unknown length.
    let (mut pool, _) = pool_with(port, &[("fetch.max_body", "1MiB"), ("fetch.memory", "4MiB")]);
    pool.begin(1);
    (0..SLOW_HOSTS).for_each(|host| pool.submit(asked(1, &request_for(&format!("http://s{host}.test/slow")))));
    until("the slow bodies are begun", || begun.load(Ordering::Relaxed) == SLOW_HOSTS);
    pool.submit(asked(1, &request_for("http://a.test/page")));
    let done = receive(&mut pool, PATIENCE).expect("the others are not in its way");
    assert_eq!(done.result.look.url.as_str(), "http://a.test/page");
}

/// Whoever would give memory back may have stopped before.
#[test]
fn a_body_that_waits_for_memory_is_given_up_when_the_pool_drains() {
    const BODY_BYTES: usize = 1 << 20;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let asked_for = Arc::new(AtomicUsize::new(0));
    let seen = asked_for.clone();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let (mut stream, seen) = (stream.unwrap(), seen.clone());
            std::thread::spawn(move || {
                let page = format!("HTTP/1.1 200 OK\r\ncontent-length: {BODY_BYTES}\r\n\r\n{}", "x".repeat(BODY_BYTES));
                loop {
                    let line = request(&mut stream);
                    let is_page = !line.contains("/robots.txt");
                    seen.fetch_add(usize::from(is_page && !line.is_empty()), Ordering::Relaxed);
                    let answer = if is_page { page.as_bytes() } else { NO_ROBOTS };
                    if line.is_empty() || stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    // Half of the memory is for two bodies that were read.
    let (mut pool, _) = pool_with(port, &[("fetch.max_body", "1MiB"), ("fetch.memory", "4MiB")]);
    pool.begin(1);
    ["a", "b", "c"].iter().for_each(|host| pool.submit(asked(1, &request_for(&format!("http://{host}.test/")))));
    let read = [0; 2].map(|_| receive(&mut pool, PATIENCE).unwrap());
    until("the third page is asked for", || asked_for.load(Ordering::Relaxed) == 3);
    pool.drain();
    until("the third page is given up", || pool.on_the_wire() == 0);
    assert!(receive(&mut pool, Duration::ZERO).is_none());
    drop(read);
}
