//! Which addresses are connected to.

use crate::bench::Bench;
use crate::stage::{PAGE, raw_server, web};
use messages::FetchOutcome;
use std::io::ErrorKind;
use std::net::TcpListener;

#[test]
fn a_private_address_is_refused_however_it_is_written_and_sees_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut bench = Bench::new(&[("crawl.contact", "https://example.org/crawler")]);
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"] {
        let result = bench.fetch(&format!("http://{host}:{port}/"));
        assert_eq!(result.look.outcome, FetchOutcome::AddressRefused, "{host}: {:?}", result.detail);
        assert!(result.detail.unwrap().contains("fetch.allow_private_addresses"), "{host}");
        assert_eq!(result.look.requests, 0, "{host}: nobody pays for what was not sent");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn no_one_pays_for_a_request_to_a_name_without_an_address() {
    let result = Bench::new(&[("crawl.contact", "https://example.org/crawler")]).fetch("http://nowhere.invalid/");
    assert_eq!((result.look.outcome, result.look.requests), (FetchOutcome::DnsFailed, 0), "{:?}", result.detail);
}

#[test]
fn a_private_address_that_is_allowed_is_fetched() {
    let address = raw_server("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    let mut bench = Bench::new(&[("fetch.allow_private_addresses", "127.0.0.0/8")]);
    assert_eq!(bench.fetch(&format!("http://{address}/")).look.outcome, FetchOutcome::Fetched);
}

#[test]
fn a_redirect_cannot_lead_to_a_private_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let location = format!("http://{}/metadata", listener.local_addr().unwrap());
    let address = raw_server(format!(
        "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    ));
    let result = Bench::at(address, &[]).fetch("http://lure.test/");
    assert_eq!(result.look.outcome, FetchOutcome::AddressRefused);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn without_a_contact_only_this_machine_is_visited() {
    // An address for documentation: nothing would answer there, and nothing is sent.
    let result = Bench::at("192.0.2.1:80".parse().unwrap(), &[]).fetch(PAGE);
    assert_eq!(result.look.outcome, FetchOutcome::ContactMissing);
    assert!(result.detail.unwrap().contains("crawl.contact"));
}

#[test]
fn a_host_that_cannot_be_connected_to_says_why() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(Bench::at(closed, &[]).fetch(PAGE).look.outcome, FetchOutcome::ConnectFailed);
    let web = web(|_| ());
    let result = Bench::at(web.addr(), &[]).fetch(&PAGE.replace("http:", "https:"));
    assert_eq!(result.look.outcome, FetchOutcome::TlsFailed, "{:?}", result.detail);
    assert!(web.ledger().is_empty());
}
