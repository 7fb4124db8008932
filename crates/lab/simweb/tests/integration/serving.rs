//! The web as a client on a socket sees it, and the ledger beside it.
use page::Timestamp;
use simweb::{
    ChangeRates, ChangeTrace, FaultRule, FaultScope, HostDials, HostNames, HostRobots, HostSitemap, LedgerEntry,
    RequestKind, SeededConfig, SimWeb, SimWebConfig, ValidatorSupport, WebFault, WebSource, freshness, manual_clock,
    politeness,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);

/// A plain client with one connection, which knows as little as possible of HTTP.
struct Client(TcpStream);

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Client {
    fn new(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self(stream)
    }

    fn get(&mut self, host: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.ask("GET", host, path, headers).unwrap()
    }

    fn ask(&mut self, method: &str, host: &str, path: &str, headers: &[(&str, &str)]) -> std::io::Result<Reply> {
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        // In one piece: small writes would wait for each other's acknowledgement.
        self.0.write_all(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").as_bytes())?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let reply = Reply { status: head[9..12].parse().unwrap(), head, body: Vec::new() };
        let length = match reply.header("content-length") {
            Some(length) if method != "HEAD" => length.parse().unwrap(),
            _ => 0,
        };
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(Reply { body, ..reply })
    }
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

fn seeded() -> SeededConfig {
    SeededConfig {
        hosts: 3,
        pages_per_host: 20,
        rates: ChangeRates::Same(0.5),
        start: START,
        days: 30.0,
        ..SeededConfig::default()
    }
}

fn start(config: SimWebConfig) -> (SimWeb, Arc<AtomicI64>) {
    let (now, clock) = manual_clock(START);
    (SimWeb::start(config, clock).unwrap(), now)
}

fn start_seeded() -> (SimWeb, Arc<AtomicI64>) {
    start(SimWebConfig::new(WebSource::Seeded(seeded())))
}

fn set(now: &AtomicI64, moment: Timestamp) {
    now.store(moment.as_micros(), Ordering::SeqCst);
}

/// A request is over a moment after its last byte has arrived.
fn wait_for_entries(web: &SimWeb, count: usize) -> Vec<LedgerEntry> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while web.ledger().len() < count {
        assert!(Instant::now() < deadline, "{} entries, expected {count}", web.ledger().len());
        std::thread::yield_now();
    }
    web.ledger().entries()
}

fn fault_on(path: &str, fault: WebFault) -> FaultRule {
    FaultRule::everywhere(FaultScope::Path(path.into()), fault)
}

#[test]
fn the_same_seed_serves_the_same_bytes() {
    let (one, _) = start_seeded();
    let (other, _) = start_seeded();
    let (mut to_one, mut to_other) = (Client::new(one.addr()), Client::new(other.addr()));
    for page in &one.web().trace().pages {
        let reply = to_one.get(&page.host, &page.path, &[]);
        assert_eq!(reply.status, 200);
        assert_eq!(reply.body, to_other.get(&page.host, &page.path, &[]).body);
    }
}

#[test]
fn every_page_of_a_host_is_found_from_its_root() {
    let (web, _) = start_seeded();
    let mut client = Client::new(web.addr());
    let mut found = vec!["/".to_owned()];
    let mut next = 0;
    while next < found.len() {
        let text = String::from_utf8(client.get("host-0002.test", &found[next], &[]).body).unwrap();
        for link in text.split("href=\"").skip(1).map(|rest| rest[..rest.find('"').unwrap()].to_owned()) {
            if !found.contains(&link) {
                found.push(link);
            }
        }
        next += 1;
    }
    assert_eq!(found.len(), 20);
}

#[test]
fn a_copy_that_is_current_is_answered_304_and_one_that_is_not_is_replaced() {
    let (web, now) = start_seeded();
    let page = web.web().trace().pages[5].clone();
    let mut client = Client::new(web.addr());
    let first = client.get(&page.host, &page.path, &[]);
    let (etag, modified) = (first.header("etag").unwrap(), first.header("last-modified").unwrap());
    let weak = format!("\"other\", W/{etag}");
    let check = |client: &mut Client, headers: &[(&str, &str)], status| {
        let reply = client.get(&page.host, &page.path, headers);
        assert_eq!(reply.status, status, "{headers:?}");
        assert_eq!(reply.body.is_empty(), status == 304);
    };
    check(&mut client, &[("If-None-Match", etag)], 304);
    check(&mut client, &[("If-None-Match", &weak)], 304);
    check(&mut client, &[("If-None-Match", "\"other\"")], 200);
    check(&mut client, &[("If-Modified-Since", modified)], 304);
    // The entity tag alone decides when there is one.
    check(&mut client, &[("If-None-Match", "\"other\""), ("If-Modified-Since", modified)], 200);
    set(&now, page.states[1].since);
    check(&mut client, &[("If-None-Match", etag)], 200);
    check(&mut client, &[("If-Modified-Since", modified)], 200);
}

#[test]
fn a_host_without_validators_sends_and_honours_none() {
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded()));
    let silent =
        HostDials { validators: ValidatorSupport { etag: false, last_modified: false }, ..HostDials::default() };
    config.host_dials.insert("host-0001.test".into(), silent);
    let (web, _) = start(config);
    let mut client = Client::new(web.addr());
    let reply = client.get("host-0001.test", "/", &[("If-None-Match", "*")]);
    assert_eq!((reply.status, reply.header("etag"), reply.header("last-modified")), (200, None, None));
    assert_eq!(client.get("host-0002.test", "/", &[("If-None-Match", "*")]).status, 304);
}

#[test]
fn a_page_is_404_before_it_appears_and_after_it_is_gone() {
    let text = "host,path,states,days=2\na.test,/x,A10 M10 D10,\n";
    let (web, now) = start(SimWebConfig::new(WebSource::Trace(ChangeTrace::read_csv(text.as_bytes(), START).unwrap())));
    let mut client = Client::new(web.addr());
    let mut check = |second: u64, status, version| {
        set(&now, START + Duration::from_secs(second));
        assert_eq!(client.get("a.test", "/x", &[]).status, status, "at second {second}");
        let entry = wait_for_entries(&web, 1).pop().unwrap();
        assert_eq!((entry.version, entry.kind), (version, RequestKind::Page), "at second {second}");
    };
    check(9, 404, None);
    check(10, 200, Some(0));
    check(20, 200, Some(1));
    check(30, 404, Some(2));
}

#[test]
fn the_ledger_has_every_request_once() {
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded()));
    config.dials.robots = HostRobots { disallow: vec!["/section-3/".into()], crawl_delay_s: Some(2.5), status: 200 };
    let (web, now) = start(config);
    let mut client = Client::new(web.addr());
    let mut sent = 0;
    let mut bytes = 0;
    for host in ["host-0001.test", "host-0002.test:8080", "HOST-0003.test"] {
        let robots = client.get(host, "/robots.txt", &[]);
        assert_eq!(String::from_utf8(robots.body).unwrap(), "User-agent: *\nDisallow: /section-3/\nCrawl-delay: 2.5\n");
        for path in ["/", "/section-1/page-00001.html", "/section-3/page-00003.html", "/nowhere"] {
            set(&now, START + Duration::from_secs(sent));
            bytes += client.get(host, path, &[]).body.len() as u64;
            sent += 1;
        }
    }
    assert_eq!(client.get("elsewhere.test", "/", &[]).status, 421);
    let head = client.ask("HEAD", "host-0001.test", "/", &[]).unwrap();
    assert!(head.status == 200 && head.header("content-length").unwrap() != "0");
    let entries = wait_for_entries(&web, 17);
    assert_eq!(entries.len(), 17);
    let count = |kind| entries.iter().filter(|entry| entry.kind == kind).count();
    assert_eq!(count(RequestKind::Robots), 3);
    assert_eq!(count(RequestKind::UnknownPath), 3);
    assert_eq!(count(RequestKind::UnknownHost), 1);
    assert_eq!(count(RequestKind::Page), 10);
    let pages = entries.iter().filter(|entry| matches!(entry.kind, RequestKind::Page | RequestKind::UnknownPath));
    assert_eq!(pages.map(|entry| entry.bytes).sum::<u64>(), bytes);
    let report = politeness(&entries);
    assert_eq!((report.robots_violations, report.forbidden_requests, report.max_in_flight_per_host), (3, 1, 1));
    assert_eq!(report.min_start_gap_s, Some(1.0));
    // Two of the twenty pages of each host are in the section that is closed.
    assert_eq!(web.web().allowed_trace().pages.len(), 54);
}

#[test]
fn a_sitemap_is_named_in_robots_txt_dated_and_confirmed() {
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded()));
    config.dials.sitemap = HostSitemap::Truthful;
    let (web, _) = start(config);
    let mut client = Client::new(web.addr());
    let robots = String::from_utf8(client.get("host-0001.test", "/robots.txt", &[]).body).unwrap();
    assert!(robots.ends_with("\nSitemap: http://host-0001.test/sitemap.xml\n"), "{robots}");
    let list = client.get("host-0001.test", "/sitemap.xml", &[]);
    let text = String::from_utf8(list.body.clone()).unwrap();
    assert_eq!((list.status, text.matches("<lastmod>").count()), (200, 20));
    let date = list.header("last-modified").unwrap().to_owned();
    assert_eq!(client.get("host-0001.test", "/sitemap.xml", &[("if-modified-since", &date)]).status, 304);
    let kinds: Vec<_> = wait_for_entries(&web, 3).iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [RequestKind::Robots, RequestKind::Sitemap, RequestKind::Sitemap]);
    assert_eq!(web.ledger().pages(), 2);
}

#[test]
fn the_ledger_alone_reports_freshness() {
    let (web, now) = start_seeded();
    let trace = web.web().trace().clone();
    let mut client = Client::new(web.addr());
    // All pages at the start, and once more in the middle: stale from each change to the next fetch.
    for day in [0.0, 15.0] {
        set(&now, START.plus_days(day));
        trace.pages.iter().for_each(|page| assert_eq!(client.get(&page.host, &page.path, &[]).status, 200));
    }
    let report = freshness(&trace, &wait_for_entries(&web, 120), trace.window);
    let fresh_days = |page: &simweb::PageHistory, from: f64| {
        let change = page.states.iter().find(|state| state.since > START.plus_days(from));
        change.map_or(15.0, |state| state.since.days_since(START.plus_days(from)).min(15.0))
    };
    let sum: f64 = trace.pages.iter().map(|page| fresh_days(page, 0.0) + fresh_days(page, 15.0)).sum();
    assert!((report.freshness - sum / 30.0 / 60.0).abs() < 1e-9, "{report:?}");
    assert_eq!((report.pages, report.fetches), (60, 120));
}

#[test]
fn faults_come_as_dialled() {
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded()));
    let page = |number: usize| format!("/section-{}/page-{number:05}.html", number % 10);
    config.faults = vec![
        fault_on(&page(1), WebFault::Status { code: 503, retry_after_s: Some(120) }),
        fault_on(&page(2), WebFault::Redirect { code: 301, hops: 2 }),
        fault_on(&page(3), WebFault::RedirectLoop { code: 302 }),
        fault_on(&page(4), WebFault::ResetMidBody),
        fault_on(&page(5), WebFault::SlowBody(Duration::from_millis(100))),
        fault_on(&page(6), WebFault::WrongCharset),
        fault_on(&page(7), WebFault::Latency(Duration::from_millis(50))),
        fault_on(&page(8), WebFault::OversizeBody { bytes: 1 << 20 }),
        fault_on("/robots.txt", WebFault::Status { code: 500, retry_after_s: None }),
    ];
    let (web, _) = start(config);
    let host = "host-0001.test";
    let mut client = Client::new(web.addr());

    let reply = client.get(host, &page(1), &[]);
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("120")));
    assert_eq!(client.get(host, "/robots.txt", &[]).status, 500);

    let mut path = page(2);
    for status in [301, 301, 200] {
        let reply = client.get(host, &path, &[]);
        assert_eq!(reply.status, status);
        path = reply.header("location").unwrap_or_default().to_owned();
    }
    let mut path = page(3);
    let mut seen = Vec::new();
    for _ in 0..8 {
        seen.push(path.clone());
        path = client.get(host, &path, &[]).header("location").unwrap().to_owned();
    }
    assert!(seen[..4].contains(&path), "{path} is part of the circle {seen:?}");

    let before = Instant::now();
    assert_eq!(client.get(host, &page(5), &[]).status, 200);
    assert!(before.elapsed() >= Duration::from_millis(90));
    let reply = client.get(host, &page(6), &[]);
    assert!(reply.header("content-type").unwrap().contains("utf-8") && String::from_utf8(reply.body).is_err());
    let before = Instant::now();
    assert_eq!(client.get(host, &page(7), &[]).status, 200);
    assert!(before.elapsed() >= Duration::from_millis(50));

    let problem = client.ask("GET", host, &page(4), &[]).map(|reply| reply.status).unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::ConnectionReset, "{problem}");

    let mut client = Client::new(web.addr());
    let reply = client.get(host, &page(8), &[]);
    assert_eq!(reply.header("transfer-encoding"), Some("chunked"));
    let mut rest = 0;
    let mut chunk = [0; 65_536];
    while rest < 1 << 20 {
        rest += client.0.read(&mut chunk).unwrap();
    }

    let entries = wait_for_entries(&web, 17);
    let of = |number: usize| entries.iter().filter(|entry| *entry.path == *page(number)).collect::<Vec<_>>();
    assert_eq!(of(2).iter().map(|entry| entry.version.is_some()).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(of(4)[0].version, None, "half a body is no copy");
    assert_eq!((of(8)[0].version, of(8)[0].bytes), (None, 1 << 20), "filler is no copy");
    assert!(of(5)[0].version.is_some());
}

#[test]
fn faults_hit_the_share_of_pages_or_requests_that_was_dialled_in_the_time_that_was() {
    let status = |code| WebFault::Status { code, retry_after_s: None };
    let mut config = SimWebConfig::new(WebSource::Seeded(SeededConfig { pages_per_host: 200, ..seeded() }));
    config.page_bytes = 100;
    config.faults = vec![
        FaultRule {
            host: Some("host-0003.test".into()),
            until: START.plus_days(1.0),
            ..FaultRule::everywhere(FaultScope::Pages(1.0), status(503))
        },
        FaultRule::everywhere(FaultScope::Pages(0.2), status(410)),
        FaultRule::everywhere(FaultScope::Requests(0.3), status(500)),
    ];
    let (web, now) = start(config);
    let trace = web.web().trace().clone();
    let mut client = Client::new(web.addr());
    let mut round =
        || -> Vec<u16> { trace.pages.iter().map(|page| client.get(&page.host, &page.path, &[]).status).collect() };
    let count = |statuses: &[u16], status| statuses.iter().filter(|seen| **seen == status).count();
    let (first, second) = (round(), round());
    assert_eq!((count(&first, 503), count(&second, 503)), (200, 200));
    let gone = |statuses: &[u16]| statuses[..400].iter().map(|status| *status == 410).collect::<Vec<_>>();
    assert_eq!(gone(&first), gone(&second), "the same pages each time");
    assert!((50..110).contains(&count(&first, 410)), "{}", count(&first, 410));
    assert!((65..130).contains(&count(&first, 500)), "{}", count(&first, 500));
    assert_ne!(first, second, "other requests each time");
    set(&now, START.plus_days(1.0));
    assert_eq!(count(&round(), 503), 0);
}

#[test]
fn loopback_hosts_are_reached_by_their_addresses() {
    let config = SeededConfig { host_names: HostNames::Loopback, ..seeded() };
    let (web, _) = start(SimWebConfig::new(WebSource::Seeded(config)));
    let port = web.addr().port();
    assert!(web.page_urls().contains(&format!("http://127.0.0.3:{port}/")));
    for ip in ["127.0.0.1", "127.0.0.2", "127.0.0.3"] {
        let authority = format!("{ip}:{port}");
        let mut client = Client::new(authority.parse().unwrap());
        assert_eq!(client.get(&authority, "/", &[]).status, 200);
    }
    let hosts: Vec<_> = wait_for_entries(&web, 3).iter().map(|entry| entry.host.to_string()).collect();
    assert_eq!(hosts, ["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
}

#[test]
fn a_client_that_leaves_is_in_the_ledger_and_no_longer_in_flight() {
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded()));
    config.faults = vec![fault_on("/", WebFault::SlowBody(Duration::from_secs(3_600)))];
    let (web, _) = start(config);
    let mut leaving = Client::new(web.addr());
    write!(leaving.0, "GET / HTTP/1.1\r\nHost: host-0001.test\r\n\r\n").unwrap();
    leaving.0.read_exact(&mut [0]).unwrap();
    let mut other = Client::new(web.addr());
    other.get("host-0001.test", "/section-1/page-00001.html", &[]);
    assert_eq!(wait_for_entries(&web, 1)[0].in_flight, 2);
    drop(leaving);
    let left = wait_for_entries(&web, 2).pop().unwrap();
    assert_eq!((&*left.path, left.version), ("/", None));
    other.get("host-0001.test", "/section-1/page-00001.html", &[]);
    assert_eq!(wait_for_entries(&web, 3)[2].in_flight, 1);
}

#[test]
fn stopping_ends_requests_in_progress_and_keeps_them_in_the_ledger() {
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded()));
    config.faults = vec![fault_on("/", WebFault::SlowBody(Duration::from_secs(3_600)))];
    let (web, _) = start(config);
    let mut client = Client::new(web.addr());
    write!(client.0, "GET / HTTP/1.1\r\nHost: host-0001.test\r\n\r\n").unwrap();
    client.0.read_exact(&mut [0]).unwrap();
    assert_eq!(web.shutdown().len(), 1);
}
