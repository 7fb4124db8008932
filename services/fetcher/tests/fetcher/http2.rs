//! HTTP/2 and TLS: agreed on by ALPN, checked against certificates, and every way to break it.

use crate::bench::Bench;
use crate::hostile::{IMPATIENT, differing};
use crate::server_view::{CRAWL_DELAY, is_patient, seen_otherwise};
use messages::FetchOutcome;
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use simweb::hostile::{
    Asked, Ending, KEPT_BYTES, Misbehaviour, ScriptStep, SeenConnection, ServerBooks, http2_greeting,
    http2_misbehaviours,
};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;

const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;
/// The first byte of a TLS connection.
const TLS_HANDSHAKE: [u8; 1] = [0x16];

/// Plays HTTP/2 scripts over TLS, for as long as the test's process lives.
pub(crate) struct TlsWeb {
    pub(crate) address: SocketAddr,
    /// Its certificate, for the fetcher to trust.
    authority: NamedTempFile,
    site: Arc<Site>,
}

struct Site {
    config: Arc<ServerConfig>,
    cases: HashMap<String, Misbehaviour>,
    books: ServerBooks,
    /// How often each case was asked over TLS for a robots.txt, which comes first.
    robots_asked: Mutex<HashMap<String, usize>>,
}

impl TlsWeb {
    pub(crate) fn start(protocols: &[&[u8]]) -> Self {
        let cases: HashMap<_, _> = http2_misbehaviours().into_iter().map(|case| (case.name.clone(), case)).collect();
        let names: Vec<_> = cases.keys().map(|name| format!("{name}.test")).collect();
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
        let mut authority = NamedTempFile::new().unwrap();
        authority.write_all(cert.pem().as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(cert.der().to_vec())], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let site = Arc::new(Site {
            config: Arc::new(config),
            cases,
            books: ServerBooks::default(),
            robots_asked: Mutex::default(),
        });
        let played = site.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let site = site.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &site));
            }
        });
        Self { address, authority, site: played }
    }

    pub(crate) fn bench(&self, further: &[(&str, &str)]) -> Bench {
        let limits = self.limits();
        let limits: Vec<_> = limits.iter().map(|(key, value)| (*key, value.as_str())).collect();
        Bench::at(self.address, &[&limits[..], further].concat())
    }

    /// Settings that the tables are written for.
    pub(crate) fn limits(&self) -> [(&'static str, String); 3] {
        [
            ("fetch.max_body", format!("{KEPT_BYTES}B")),
            ("fetch.extra_ca", self.authority.path().display().to_string()),
            ("politeness.crawl_delay", format!("{}ms", CRAWL_DELAY.as_millis())),
        ]
    }

    pub(crate) fn books(&self) -> &ServerBooks {
        &self.site.books
    }
}

/// Sends who asks without TLS to the same host with it.
fn redirect(stream: TcpStream, site: &Site) -> Option<()> {
    let mut seen = SeenConnection::new(stream, &site.books);
    let mut head = [0; 4_096];
    loop {
        let length = seen.read(&mut head).ok().filter(|length| *length > 0)?;
        let head = String::from_utf8_lossy(&head[..length]);
        let path = head.split(' ').nth(1)?;
        let host = head.lines().find_map(|line| line.strip_prefix("host: "))?;
        let (name, _) = site.cases.get_key_value(host.split('.').next()?)?;
        seen.asked(name, &format!("{host}:80"), path);
        let status = if path == "/robots.txt" { "404 Not Found" } else { "301 Moved" };
        let answer = format!("HTTP/1.1 {status}\r\nlocation: https://{host}/\r\ncontent-length: 0\r\n\r\n");
        seen.play(&[ScriptStep::Send(answer.into_bytes()), ScriptStep::Stay]).ok()?;
    }
}

/// One connection; it ends when either side wants it to.
fn serve(stream: TcpStream, site: &Site) -> Option<()> {
    let mut first = [0];
    stream.peek(&mut first).ok()?;
    if first != TLS_HANDSHAKE {
        return redirect(stream, site);
    }
    let mut stream = StreamOwned::new(ServerConnection::new(site.config.clone()).unwrap(), stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).ok()?;
    }
    if stream.conn.alpn_protocol() == Some(b"http/1.1") {
        return serve_http1(stream);
    }
    stream.write_all(&http2_greeting()).ok()?;
    stream.flush().ok()?;
    let host = stream.conn.server_name()?.to_owned();
    let (name, case) = site.cases.get_key_value(host.split('.').next()?)?;
    let mut seen = SeenConnection::new(stream, &site.books);
    let mut received = Vec::new();
    let mut at = PREFACE_BYTES;
    loop {
        let stream = next_request(&mut seen, &mut received, &mut at)?;
        let is_robots = {
            let mut asked = site.robots_asked.lock().unwrap();
            let asked = asked.entry(name.clone()).or_default();
            *asked += 1;
            *asked <= case.robots_requests
        };
        let (reply, path) = if is_robots { (&case.robots, "/robots.txt") } else { (&case.page, "/") };
        seen.asked(name, &host, path);
        let asked = Asked { path: path.to_owned(), head: String::new(), port: 0, stream };
        if seen.play(&reply.steps(&asked)).ok()? != Ending::Stay {
            seen.get_mut().conn.send_close_notify();
            return seen.flush().ok();
        }
    }
}

/// Answers over HTTP/1.1 with a page of five bytes, and with 404 for robots.txt.
fn serve_http1(mut stream: StreamOwned<ServerConnection, TcpStream>) -> Option<()> {
    let mut head = [0; 4_096];
    loop {
        let length = stream.read(&mut head).ok().filter(|length| *length > 0)?;
        let answer = match String::from_utf8_lossy(&head[..length]).starts_with("GET /robots.txt ") {
            true => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            false => "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        };
        stream.write_all(answer.as_bytes()).ok()?;
        stream.flush().ok()?;
    }
}

/// The stream of the next HEADERS frame.
fn next_request(stream: &mut impl Read, received: &mut Vec<u8>, at: &mut usize) -> Option<u32> {
    let mut buffer = [0; 4_096];
    loop {
        while let Some(head) = received.get(*at..*at + FRAME_HEAD_BYTES) {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let (kind, number) = (head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]]));
            *at += FRAME_HEAD_BYTES + length;
            if kind == HEADERS {
                return Some(number);
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            length => received.extend_from_slice(&buffer[..length]),
        }
    }
}

#[test]
fn every_misbehaviour_over_http2_ends_as_it_should() {
    let web = TlsWeb::start(&[b"h2"]);
    let (stalling, ending): (Vec<_>, Vec<_>) = http2_misbehaviours().into_iter().partition(|case| case.stalls);
    let (mut bench, mut impatient) = (web.bench(&[]), web.bench(&IMPATIENT));
    let mut problems = differing(&mut bench, web.address.port(), &ending);
    problems.extend(differing(&mut impatient, web.address.port(), &stalling));
    problems.extend(ending.iter().chain(&stalling).filter_map(|case| seen_otherwise(web.books(), case)));
    assert!(
        problems.is_empty(),
        "{} of the web's misbehaviours end otherwise:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

/// A request that was refused is paid like any other.
#[test]
fn a_request_that_is_sent_again_counts_as_two() {
    let web = TlsWeb::start(&[b"h2"]);
    for (name, requests) in [("well-made", 2), ("refused-once-on-a-new-connection", 3), ("robots-refused-once", 3)] {
        let look = web.bench(&[]).fetch(&format!("https://http2-{name}.test/")).look;
        assert_eq!((look.outcome, look.requests), (FetchOutcome::Fetched, requests), "{name}");
    }
}

#[test]
fn a_host_that_wants_http1_is_asked_over_it_from_then_on() {
    let web = TlsWeb::start(&[b"h2", b"http/1.1"]);
    let mut bench = web.bench(&[]);
    // The first time robots.txt, the refused request, and the same once more.
    for requests in [3, 1, 1] {
        let look = bench.fetch("https://http2-reset-wants-http1.test/").look;
        assert_eq!((look.outcome, look.requests), (FetchOutcome::Fetched, requests));
        assert_eq!(look.body_length, 5);
    }
}

#[test]
fn requests_to_a_host_with_tls_and_without_take_turns() {
    let web = TlsWeb::start(&[b"h2"]);
    let mut bench = web.bench(&[]);
    let urls = ["http://", "https://"].map(|scheme| format!("{scheme}http2-well-made.test/"));
    (0..6).for_each(|number| bench.ask(&format!("{}{number}", urls[number % 2])));
    for result in bench.results(6) {
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    }
    let view = web.books().view("http2-well-made");
    // Three of them are redirected.
    assert_eq!((view.robots_requests(), view.page_requests(), view.most_requests_at_once), (2, 9, 1));
    assert!(is_patient(&view), "{:?}", view.least_gap);
}

#[test]
fn a_certificate_that_no_one_vouches_for_is_refused_unless_the_operator_does_not_mind() {
    let web = TlsWeb::start(&[b"h2"]);
    let url = "https://http2-well-made.test/";
    assert_eq!(Bench::at(web.address, &[]).fetch(url).look.outcome, FetchOutcome::TlsFailed);
    assert_eq!(web.bench(&[]).fetch("https://another-name.test/").look.outcome, FetchOutcome::TlsFailed);
    assert_eq!(web.bench(&[]).fetch(url).look.outcome, FetchOutcome::Fetched);
    let unverified = &[("fetch.tls_verify", "false")];
    let web = TlsWeb::start(&[b"h2"]);
    assert_eq!(Bench::at(web.address, unverified).fetch(url).look.outcome, FetchOutcome::Fetched);
}

#[test]
fn http2_is_spoken_only_when_both_sides_want_it() {
    let web = TlsWeb::start(&[b"h2"]);
    let result = web.bench(&[("fetch.http2", "false")]).fetch("https://http2-well-made.test/");
    assert_eq!(result.look.outcome, FetchOutcome::TlsFailed, "{:?}", result.detail);
}
