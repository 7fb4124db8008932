//! The operator's rules for single hosts: proxies, passwords, ports, kinds of content.

use crate::bench::Bench;
use crate::http2::TlsWeb;
use messages::FetchOutcome;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
const NO_ROBOTS: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// A server that gives one answer, and remembers what it was asked for beside robots.txt.
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    pub(crate) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::serving(move |stream, head| {
            let _ = stream.write_all(if asks_for_robots(head) { NO_ROBOTS.as_bytes() } else { &answer });
        })
    }

    /// A proxy that opens tunnels to one address, whatever it is asked for.
    fn tunnelling(to: SocketAddr) -> Self {
        Self::serving(move |stream, _| {
            let onward = TcpStream::connect(to).unwrap();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            for (mut from, mut to) in [(stream.try_clone(), onward.try_clone()), (Ok(onward), stream.try_clone())]
                .map(|(from, to)| (from.unwrap(), to.unwrap()))
            {
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        })
    }

    pub(crate) fn serving(serve: impl Fn(&mut TcpStream, &str) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 4_096];
                let length = stream.read(&mut head).unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..length]).to_lowercase();
                // Before the answer, or the asker may look for it too early.
                if !asks_for_robots(&head) {
                    seen.lock().unwrap().push(head.clone());
                }
                serve(&mut stream, &head);
            }
        });
        Self { address, heads }
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn asks_for_robots(head: &str) -> bool {
    head.split(' ').nth(1).is_some_and(|target| target.ends_with("/robots.txt"))
}

#[test]
fn a_password_goes_to_its_own_host_and_no_further() {
    let other = Listener::answering(PAGE);
    let to_other =
        "HTTP/1.1 302 Found\r\nlocation: http://other.test/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let own = Listener::answering(to_other);
    let resolve = format!("own.test={},other.test={}", own.address, other.address);
    let mut bench =
        Bench::new(&[("fetch.resolve", &resolve), ("fetch.authentication", "http://own.test=Aladdin:open sesame")]);
    assert_eq!(bench.fetch("http://own.test/").look.outcome, FetchOutcome::Fetched);
    // RFC 7617, section 2.
    assert!(own.heads()[0].contains("\r\nauthorization: basic qwxhzgrpbjpvcgvuihnlc2ftzq==\r\n"), "{:?}", own.heads());
    assert!(!other.heads()[0].contains("authorization"), "{:?}", other.heads());
}

#[test]
fn a_plain_request_is_handed_to_the_proxy_whole() {
    let proxy = Listener::answering(PAGE);
    let through = format!("*.test=http://me:secret@{}", proxy.address);
    let settings = [("fetch.proxy", through.as_str()), ("crawl.contact", "https://example.org/crawler")];
    let mut bench = Bench::at("198.51.101.1:80".parse().unwrap(), &settings);
    assert_eq!(bench.fetch("http://a.test:8080/x?y").look.outcome, FetchOutcome::Fetched);
    let head = proxy.heads().remove(0);
    assert!(head.starts_with("get http://a.test:8080/x?y http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nhost: a.test:8080\r\n"), "{head}");
    assert!(head.contains("\r\nproxy-authorization: basic bwu6c2vjcmv0\r\n"), "{head}");
}

#[test]
fn what_is_refused_directly_is_refused_through_a_proxy() {
    let proxy = Listener::answering(PAGE);
    let through = format!("*=http://{}", proxy.address);
    let settings = [("fetch.proxy", through.as_str()), ("crawl.contact", "https://example.org/crawler")];
    let mut bench = Bench::new(&settings);
    for url in ["http://127.0.0.1:8080/", "http://2130706433:8080/", "https://[::1]:8443/", "http://localhost:8080/"] {
        let result = bench.fetch(url);
        assert_eq!(result.look.outcome, FetchOutcome::AddressRefused, "{url}: {:?}", result.detail);
    }
    assert!(proxy.heads().is_empty());
}

#[test]
fn a_name_that_only_the_proxy_resolves_is_left_to_it_on_request() {
    let proxy = Listener::answering(PAGE);
    let through = format!("*=http://{}", proxy.address);
    let settings = [("fetch.proxy", through.as_str()), ("crawl.contact", "https://example.org/crawler")];
    let url = "http://no-such-name.invalid/";
    let refused = Bench::new(&settings).fetch(url);
    assert_eq!(refused.look.outcome, FetchOutcome::DnsFailed);
    assert!(refused.detail.unwrap().contains("fetch.proxy_resolves_names") && proxy.heads().is_empty());
    let mut trusting = Bench::new(&[&settings[..], &[("fetch.proxy_resolves_names", "true")]].concat());
    assert_eq!(trusting.fetch(url).look.outcome, FetchOutcome::Fetched);
}

#[test]
fn tls_goes_through_a_tunnel_and_is_checked_as_ever() {
    let web = TlsWeb::start(&[b"h2"]);
    let proxy = Listener::tunnelling(web.address);
    let through = format!("*.test=http://me:secret@{}", proxy.address);
    let url = "https://http2-well-made.test/";
    assert_eq!(web.bench(&[("fetch.proxy", &through)]).fetch(url).look.outcome, FetchOutcome::Fetched);
    let head = proxy.heads().remove(0);
    assert!(head.starts_with("connect http2-well-made.test:443 http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nproxy-authorization: basic bwu6c2vjcmv0\r\n") && !head.contains("user-agent"), "{head}");
    let unknown = Bench::at(web.address, &[("fetch.proxy", &through)]).fetch(url);
    assert_eq!(unknown.look.outcome, FetchOutcome::TlsFailed, "{:?}", unknown.detail);

    let refusing = Listener::answering("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let refused = web.bench(&[("fetch.proxy", &format!("*=http://{}", refusing.address))]).fetch(url);
    assert_eq!(refused.look.outcome, FetchOutcome::ConnectFailed);
    assert!(refused.detail.unwrap().contains("403"));
}

#[test]
fn a_proxy_is_asked_for_the_addresses_that_were_checked() {
    let refusing = Listener::answering("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let through = format!("*=http://{}", refusing.address);
    let settings = [("fetch.proxy", through.as_str()), ("fetch.allow_private_addresses", "localhost")];
    let refused = Bench::new(&settings).fetch("https://localhost:8443/");
    assert_eq!(refused.look.outcome, FetchOutcome::ConnectFailed, "{:?}", refused.detail);
    let heads = refusing.heads();
    assert!(heads[0].starts_with("connect 127.0.0.1:8443 http/1.1\r\n"), "{heads:?}");
    assert!(heads[1].starts_with("connect [::1]:8443 http/1.1\r\n"), "{heads:?}");
}

#[test]
fn a_port_that_is_not_allowed_is_not_connected_to() {
    let web = Listener::answering(PAGE);
    let mut bench = Bench::at(web.address, &[]);
    for port in [1, 22, 25, 110, 1_023] {
        let result = bench.fetch(&format!("http://a.test:{port}/"));
        assert_eq!(result.look.outcome, FetchOutcome::PortRefused, "{port}");
        assert!(result.detail.unwrap().contains("fetch.ports"), "{port}");
    }
    assert!(web.heads().is_empty());
    assert_eq!(bench.fetch("http://a.test:1024/").look.outcome, FetchOutcome::Fetched);
    assert_eq!(
        Bench::at(web.address, &[("fetch.ports", "25")]).fetch("http://a.test:25/").look.outcome,
        FetchOutcome::Fetched
    );
}

#[test]
fn content_of_a_kind_that_is_not_kept_is_refused_by_its_name_or_its_look() {
    let check = |headers: &str, body: &[u8], outcome| {
        let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n{headers}\r\n");
        let web = Listener::answering([head.as_bytes(), body].concat());
        let mut bench = Bench::at(web.address, &[("fetch.content_types", "text/*, application/pdf")]);
        let result = bench.fetch("http://a.test/");
        assert_eq!(result.look.outcome, outcome, "{headers:?} {body:?}");
        assert_eq!(result.body.is_some(), outcome == FetchOutcome::Fetched);
    };
    check("content-type: Text/HTML; charset=utf-8\r\n", b"<p>hello", FetchOutcome::Fetched);
    check("content-type: application/pdf\r\n", b"%PDF", FetchOutcome::Fetched);
    check("content-type: image/png\r\n", b"<p>hello", FetchOutcome::ContentRefused);
    check("", b"<p>hello", FetchOutcome::Fetched);
    check("content-type:\r\n", b"%PDF-1.7", FetchOutcome::Fetched);
    check("", b"\x89PNG\r\n\x1a\n", FetchOutcome::ContentRefused);
    check("", b"\x7fELF\x02\x01\0", FetchOutcome::ContentRefused);
}

#[test]
fn hosts_of_one_address_are_asked_one_after_the_other() {
    let webs = [0, 1, 2].map(|_| Listener::answering(PAGE));
    let delay = std::time::Duration::from_millis(60);
    let settings = [("fetch.allow_private_addresses", "127.0.0.0/8"), ("politeness.address_delay", "60ms")];
    let mut bench = Bench::new(&settings);
    webs.iter().for_each(|web| bench.ask(&format!("http://{}/", web.address)));
    let mut results = bench.results(webs.len());
    results.sort_by_key(|result| result.look.fetched_at);
    assert!(results.iter().all(|result| result.look.outcome == FetchOutcome::Fetched), "{results:?}");
    for pair in results.windows(2) {
        // A clock in microseconds may lose one.
        let gap =
            pair[1].look.fetched_at.saturating_since(pair[0].look.fetched_at) + std::time::Duration::from_micros(10);
        assert!(gap >= delay, "{gap:?}");
    }
}

#[test]
fn sitemaps_of_a_robots_txt_travel_with_the_answer_for_which_it_was_read_and_no_other() {
    let lines: String = (0..40).map(|number| format!("Sitemap: http://own.test/{number}.xml\n")).collect();
    let long = format!("Sitemap: http://own.test/{}\n", "x".repeat(3_000));
    let robots = format!("{long}{lines}");
    let own = Listener::serving(move |stream, head| {
        let length = robots.len();
        let answer = if asks_for_robots(head) {
            format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{robots}")
        } else {
            PAGE.to_owned()
        };
        let _ = stream.write_all(answer.as_bytes());
    });
    let mut bench = Bench::new(&[("fetch.resolve", &format!("own.test={}", own.address))]);
    let first = bench.fetch("http://own.test/");
    let expected: Vec<_> = (0..32).map(|number| format!("http://own.test/{number}.xml")).collect();
    assert_eq!((first.look.outcome, first.sitemaps), (FetchOutcome::Fetched, expected));
    assert_eq!(bench.fetch("http://own.test/").sitemaps, Vec::<String>::new());
}
