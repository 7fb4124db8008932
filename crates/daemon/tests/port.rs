//! The port as its visitors find it: who may address it, and what a visitor can hold.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use daemon::http::{HttpSite, TextResponse, serve};
use daemon::{Background, Board, HintIntake, StopSignal, WebClock};
use settings::{Layers, Settings};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use topology::LogNames;

/// Connections served at once.
const CONNECTIONS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);

/// A port that takes commands and pings. Dropping the first part closes it.
fn port() -> (Background, SocketAddr) {
    let overrides = [("hints.token", "a-token-of-some-length"), ("http.names", "[\"recrawl.example.org\"]")];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
    let stop = StopSignal::default();
    let mut background = Background::new(&stop);
    let clock = Arc::new(WebClock::new(&settings.clock));
    let site = HttpSite {
        board: Board::new(Vec::new(), 1.0),
        commands: Some(Arc::new(|path, body| Some(TextResponse::text(200, format!("{path} {}", body.len()))))),
        hints: HintIntake::new(&settings, &LogNames::new(&settings), clock),
        names: settings.http.names,
        hung_after: PATIENCE,
    };
    let address = serve("127.0.0.1:0".parse().unwrap(), site, &stop, &mut background).unwrap();
    (background, address)
}

fn connection(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The status of the answer to what was sent.
fn status(mut stream: &TcpStream) -> u16 {
    let mut start = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut start).unwrap();
    std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}

fn answer(address: SocketAddr, request: &str) -> u16 {
    let mut stream = connection(address);
    stream.write_all(request.as_bytes()).unwrap();
    status(&stream)
}

#[test]
fn only_addresses_localhost_and_configured_names_may_be_addressed() {
    let (_open, address) = port();
    let ask = |host: &str| answer(address, &format!("GET /status HTTP/1.1\r\nhost: {host}\r\n\r\n"));
    for host in ["127.0.0.1", "10.1.2.3:9464", "[::1]:9464", "localhost", "LocalHost:9464", "recrawl.example.org:80"] {
        assert_eq!(ask(host), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "example.org", ""] {
        assert_eq!(ask(host), 421, "{host:?}");
    }
    let command =
        |host| format!("POST /refetch HTTP/1.1\r\nhost: {host}\r\nx-recrawl-command: 1\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(answer(address, &command("evil.example")), 421);
    assert_eq!(answer(address, &command("localhost")), 200);
    assert_eq!(answer(address, "GET /status HTTP/1.0\r\n\r\n"), 200);
}

#[test]
fn a_ping_without_the_token_is_refused_before_its_body_has_come() {
    let (_open, address) = port();
    let head = "POST /hints HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n";
    assert_eq!(answer(address, head), 401);
}

#[test]
fn connections_beyond_the_limit_wait_until_another_ends() {
    let (_open, address) = port();
    let request = b"GET /status HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut held: Vec<_> = (0..CONNECTIONS).map(|_| connection(address)).collect();
    for stream in &mut held {
        stream.write_all(request).unwrap();
        assert_eq!(status(stream), 200);
    }
    let mut further = connection(address);
    further.write_all(request).unwrap();
    further.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let waits = further.read(&mut [0]).unwrap_err();
    assert!(matches!(waits.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{waits}");
    held.pop();
    further.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(status(&further), 200);
}
