//! The parts of a result that archives keep: heads as they went over the wire, and no secrets.

use crate::bench::{Bench, request, with_digest};
use crate::http2::TlsWeb;
use crate::per_site::{Listener, PAGE};
use messages::{Exchange, FetchOutcome, FetchReason, FetchRequest, Sha1, body};

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

#[test]
fn a_probe_asks_past_caches_and_nothing_else_does() {
    for (reason, expected) in [(FetchReason::Refresh, false), (FetchReason::Probe, true)] {
        let server = Listener::answering(PAGE);
        let request = FetchRequest { reason, ..request("http://a.test/") };
        Bench::at(server.address, &[]).fetch_request(&request);
        assert_eq!(server.heads()[0].contains("cache-control: no-cache"), expected, "{reason:?}");
    }
}
