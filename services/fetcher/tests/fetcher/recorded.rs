//! The parts of a result that archives keep: heads as they went over the wire, and no secrets.

use crate::bench::{Bench, request, with_digest};
use crate::http2::TlsWeb;
use crate::per_site::{Listener, PAGE};
use flate2::Compression;
use flate2::write::GzEncoder;
use messages::{Exchange, FetchOutcome, FetchReason, FetchRequest, Sha1, body};
use std::io::Write;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn only(exchanges: &[Exchange]) -> &Exchange {
    assert_eq!(exchanges.len(), 1, "{exchanges:?}");
    &exchanges[0]
}

#[test]
fn heads_are_recorded_byte_for_byte() {
    let head =
        b"HTTP/1.1 200 Fine Enough\r\nSet-Cookie: a=1\r\nX-CASE:  v\xe4 \r\nset-cookie: b=2\r\nConnection: close\r\n";
    let server = Listener::answering([head.as_slice(), b"\r\na page"].concat());
    let result = Bench::at(server.address, &[]).fetch("http://a.test/x?y");
    assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    let exchange = only(&result.exchanges);
    assert_eq!(exchange.response_head, head, "{}", text(&exchange.response_head));
    assert_eq!(format!("{}\r\n", text(&exchange.request_head)).to_lowercase(), server.heads()[0]);
    assert_eq!((exchange.url.as_str(), exchange.requested_at), ("http://a.test/x?y", result.look.fetched_at));
    assert_eq!((exchange.address.as_deref(), exchange.protocol.as_str()), (Some("127.0.0.1"), "http/1.1"));
    assert_eq!((exchange.is_cut, exchange.received_bytes), (false, 6));
    assert_eq!(result.payload_sha1, None, "the body is here");
}

#[test]
fn a_long_head_is_cut_and_says_so() {
    let filler = "X-Filler: 0123456789012345678901234567890123456789\r\n".repeat(500);
    let server = Listener::answering(format!("HTTP/1.1 200 OK\r\n{filler}Connection: close\r\n\r\na page"));
    let result = Bench::at(server.address, &[]).fetch("http://a.test/");
    assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    let exchange = only(&result.exchanges);
    assert!(exchange.is_cut && exchange.response_head.len() <= 16 << 10 && exchange.response_head.ends_with(b"\r\n"));
}

#[test]
fn names_and_passwords_never_travel_with_a_result() {
    let own = Listener::answering(PAGE);
    let settings = [("fetch.authentication", "http://a.test=Aladdin:sesame")];
    let result = Bench::at(own.address, &settings).fetch("http://a.test/");
    assert!(own.heads()[0].contains("authorization: basic"), "it was sent");
    let proxy = Listener::answering(PAGE);
    let through = format!("*.test=http://Aladdin:sesame@{}", proxy.address);
    let settings = [("fetch.proxy", through.as_str()), ("crawl.contact", "https://example.org/crawler")];
    let proxied = Bench::at("198.51.101.1:80".parse().unwrap(), &settings).fetch("http://a.test/");
    assert!(proxy.heads()[0].contains("proxy-authorization: basic"), "it was sent");
    for exchange in [only(&result.exchanges), only(&proxied.exchanges)] {
        let head = text(&exchange.request_head).to_lowercase();
        assert!(head.contains("\r\nuser-agent: ") && !head.contains("authorization"), "{head}");
    }
    assert!(text(&only(&proxied.exchanges).request_head).starts_with("GET http://a.test/ HTTP/1.1\r\n"));
    assert_eq!(only(&proxied.exchanges).address, None, "only the proxy knows it");
}

#[test]
fn an_identical_body_is_named_for_archives() {
    let server = Listener::answering(PAGE);
    let mut bench = Bench::at(server.address, &[]);
    let first = bench.fetch("http://a.test/");
    let content = body::unpack(first.body.as_ref().unwrap(), 1 << 20).unwrap();
    let again = with_digest(request("http://a.test/"), &first);
    let second = bench.fetch_request(&again);
    assert_eq!((second.look.outcome, second.payload_sha1), (FetchOutcome::SameContent, Some(Sha1::of(&content))));
}

#[test]
fn over_http2_heads_are_recorded_in_the_words_of_its_elder() {
    let web = TlsWeb::start(&[b"h2"]);
    let result = web.bench(&[]).fetch("https://http2-well-made.test/");
    let exchange = only(&result.exchanges);
    assert_eq!((exchange.protocol.as_str(), exchange.address.as_deref()), ("h2", Some("127.0.0.1")));
    let host = "GET / HTTP/1.1\r\nhost: http2-well-made.test\r\nuser-agent: ";
    assert!(text(&exchange.request_head).starts_with(host), "{}", text(&exchange.request_head));
    assert!(exchange.response_head.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", text(&exchange.response_head));
}

#[test]
fn nothing_is_recorded_when_no_one_wants_it() {
    let server = Listener::answering(PAGE);
    let mut bench = Bench::at(server.address, &[("fetch.record_heads", "false")]);
    let first = bench.fetch("http://a.test/");
    let again = with_digest(request("http://a.test/"), &first);
    let second = bench.fetch_request(&again);
    assert_eq!(second.look.outcome, FetchOutcome::SameContent);
    assert!(first.exchanges.is_empty() && second.exchanges.is_empty() && second.payload_sha1.is_none());
}

/// A server whose page is a redirect to an error, each with a body.
fn failing() -> Listener {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"it is gone").unwrap();
    let packed = packed.finish().unwrap();
    Listener::serving(move |stream, head| {
        let (head, body): (_, &[u8]) = match head.split(' ').nth(1).unwrap_or_default() {
            "/robots.txt" => ("200 OK\r\n", b"User-agent: *\nDisallow: /x\n"),
            "/" => ("301 Moved\r\nLocation: /gone\r\n", b"it has moved"),
            "/gone" => ("404 Not Found\r\nContent-Encoding: gzip\r\n", &packed),
            "/long" => ("500 Error\r\n", &[b'x'; 100_000]),
            _ => ("500 Error\r\nContent-Encoding: gzip\r\n", b"not gzip"),
        };
        let head = format!("HTTP/1.1 {head}Connection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        // The fetcher does not read the long one to its end.
        let _ = stream.write_all(&[head.as_bytes(), body].concat());
    })
}

/// Addresses and bodies of exchanges.
fn recorded(exchanges: &[Exchange]) -> Vec<(&str, Option<Vec<u8>>)> {
    let body = |exchange: &Exchange| Some(body::unpack(exchange.body.as_deref()?, 1 << 20).unwrap().into_owned());
    exchanges.iter().map(|exchange| (exchange.url.as_str(), body(exchange))).collect()
}

#[test]
fn bodies_of_robots_txt_redirects_and_errors_are_recorded_where_wanted() {
    let server = failing();
    let kept = |text: &str| Some(text.as_bytes().to_vec());
    let mut bench = Bench::at(server.address, &[("fetch.record_failures", "true")]);
    let result = bench.fetch("http://a.test/");
    assert_eq!((result.look.outcome, &result.body), (FetchOutcome::NotFound, &None));
    let expected = [
        ("http://a.test/robots.txt", kept("User-agent: *\nDisallow: /x\n")),
        ("http://a.test/", kept("it has moved")),
        ("http://a.test/gone", kept("it is gone")),
    ];
    assert_eq!(recorded(&result.exchanges), expected);
    assert!(result.exchanges.iter().all(|exchange| !exchange.body_is_cut));
    let result = bench.fetch("http://a.test/x");
    assert_eq!((result.look.outcome, result.exchanges.len()), (FetchOutcome::RobotsDisallowed, 0));

    let result = bench.fetch("http://a.test/long");
    let exchange = only(&result.exchanges);
    assert_eq!(recorded(&result.exchanges)[0].1.as_ref().map(Vec::len), Some(64 << 10));
    assert!(exchange.body_is_cut, "{exchange:?}");
    let result = bench.fetch("http://a.test/broken");
    assert_eq!(recorded(&result.exchanges), [("http://a.test/broken", None)], "it does not unpack");

    let result = Bench::at(server.address, &[]).fetch("http://a.test/");
    assert_eq!(recorded(&result.exchanges), [("http://a.test/", None), ("http://a.test/gone", None)]);
}

#[test]
fn the_bodies_recorded_of_one_fetch_have_a_limit() {
    // Not to be compressed.
    let noise: Vec<u8> = std::iter::successors(Some(1_u32), |seed| Some(seed.wrapping_mul(1_664_525).wrapping_add(7)))
        .map(|value| (value >> 24) as u8)
        .take(60_000)
        .collect();
    let server = Listener::serving(move |stream, head| {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let next = format!("{path}a");
        let status = if path == "/robots.txt" { "404 Not Found" } else { "302 Found" };
        let head =
            format!("HTTP/1.1 {status}\r\nLocation: {next}\r\nConnection: close\r\nContent-Length: 60000\r\n\r\n");
        let _ = stream.write_all(&[head.as_bytes(), &noise].concat());
    });
    let settings = [("fetch.record_failures", "true"), ("fetch.max_redirects", "20")];
    let result = Bench::at(server.address, &settings).fetch("http://a.test/");
    assert_eq!(result.look.outcome, FetchOutcome::TooManyRedirects, "{:?}", result.detail);
    let bodies: Vec<_> = recorded(&result.exchanges).into_iter().map(|(_, body)| body.is_some()).collect();
    assert_eq!((bodies.len(), bodies.iter().filter(|is_kept| **is_kept).count()), (22, 6), "{bodies:?}");
}

#[test]
fn over_http2_they_are_recorded_too() {
    let web = TlsWeb::start(&[b"h2"]);
    let site = "https://http2-error-with-body.test/";
    let result = web.bench(&[("fetch.record_failures", "true")]).fetch(site);
    let robots = format!("{site}robots.txt");
    assert_eq!(recorded(&result.exchanges), [(robots.as_str(), None), (site, Some(b"it is gone".to_vec()))]);
    assert!(result.exchanges.iter().all(|exchange| exchange.protocol == "h2"), "{:?}", result.exchanges);
}

#[test]
fn a_probe_asks_past_caches_and_nothing_else_does() {
    for (reason, expected) in [(FetchReason::Refresh, false), (FetchReason::Probe, true)] {
        let server = Listener::answering(PAGE);
        let request = FetchRequest { reason, ..request("http://a.test/") };
        Bench::at(server.address, &[]).fetch_request(&request);
        assert_eq!(server.heads()[0].contains("cache-control: no-cache"), expected, "{reason:?}");
    }
}
