//! HTTP/2 and TLS: agreed on by ALPN, checked against certificates, and every way to break it.

use crate::bench::Bench;
use crate::hostile::{IMPATIENT, IN_BUFFERS, differing};
use messages::FetchOutcome;
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use simweb::hostile::{Asked, Ending, KEPT_BYTES, Misbehaviour, ScriptStep, http2_greeting, http2_misbehaviours, play};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;

/// Longest wait for the fetcher to leave.
const PATIENCE: Duration = Duration::from_secs(10);

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
    seen: Mutex<HashMap<String, Seen>>,
}

/// What the server saw of a case.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Requests, the first of which is for robots.txt.
    requests: u64,
    /// Requests that have not been answered yet, and most of them at once.
    waiting: u64,
    most_waiting: u64,
    /// Answers that are being sent.
    playing: u64,
    sent_bytes: u64,
}

impl Site {
    fn note<T>(&self, name: &str, change: impl FnOnce(&mut Seen) -> T) -> T {
        change(self.seen.lock().unwrap().entry(name.to_owned()).or_default())
    }
}

/// Counts what a client takes.
struct Counted<'a, T> {
    stream: &'a mut T,
    site: &'a Site,
    name: &'a str,
}

impl<T: Read> Read for Counted<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl<T: Write> Write for Counted<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.stream.write(bytes)?;
        self.site.note(self.name, |seen| seen.sent_bytes += length as u64);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
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
        let site = Arc::new(Site { config: Arc::new(config), cases, seen: Mutex::default() });
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
        let kept = format!("{KEPT_BYTES}B");
        let authority = self.authority.path().display().to_string();
        let limits = [("fetch.max_body", kept.as_str()), ("fetch.extra_ca", authority.as_str())];
        Bench::at(self.address, &[&limits[..], further].concat())
    }
}

/// One connection; it ends when either side wants it to.
fn serve(stream: TcpStream, site: &Site) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(site.config.clone()).unwrap(), stream);
    stream.write_all(&http2_greeting()).ok()?;
    stream.flush().ok()?;
    let host = stream.conn.server_name()?.to_owned();
    let (name, case) = site.cases.get_key_value(host.split('.').next()?)?;
    let mut received = Vec::new();
    let mut at = PREFACE_BYTES;
    loop {
        let stream_number = next_request(&mut stream, &mut received, &mut at)?;
        let is_robots = site.note(name, |seen| {
            (seen.requests, seen.waiting) = (seen.requests + 1, seen.waiting + 1);
            seen.most_waiting = seen.most_waiting.max(seen.waiting);
            seen.requests == 1
        });
        let reply = if is_robots { &case.robots } else { &case.page };
        let asked = Asked { path: "/".to_owned(), head: String::new(), port: 0, stream: stream_number };
        let steps: Vec<ScriptStep> = reply.steps(&asked);
        // The client knows of no answer before it begins.
        site.note(name, |seen| (seen.waiting, seen.playing) = (seen.waiting - 1, seen.playing + 1));
        let ending = play(&steps, &mut Counted { stream: &mut stream, site, name });
        site.note(name, |seen| seen.playing -= 1);
        if ending.ok()? != Ending::Stay {
            stream.conn.send_close_notify();
            return stream.flush().ok();
        }
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

/// What the server saw of a case and should not have: requests too many or at once, and a connection that is kept however
/// much comes over it. The fetcher still runs.
fn seen_otherwise(site: &Site, case: &Misbehaviour) -> Option<String> {
    let deadline = Instant::now() + PATIENCE;
    while site.note(&case.name, |seen| seen.playing) > 0 {
        if Instant::now() > deadline {
            return Some(format!("{}: the connection is still open", case.name));
        }
        std::thread::yield_now();
    }
    let seen = site.note(&case.name, |seen| *seen);
    let expected = if case.is_asked_again { 3 } else { 2 };
    let is_right = seen.requests == expected && seen.most_waiting == 1 && seen.sent_bytes <= KEPT_BYTES + IN_BUFFERS;
    (!is_right).then(|| {
        let Seen { requests, most_waiting, sent_bytes, .. } = seen;
        format!("{}: {requests} requests, {expected} expected; {most_waiting} at once; {sent_bytes} bytes", case.name)
    })
}

#[test]
fn every_misbehaviour_over_http2_ends_as_it_should() {
    let web = TlsWeb::start(&[b"h2"]);
    let (stalling, ending): (Vec<_>, Vec<_>) = http2_misbehaviours().into_iter().partition(|case| case.stalls);
    let (mut bench, mut impatient) = (web.bench(&[]), web.bench(&IMPATIENT));
    let mut problems = differing(&mut bench, web.address.port(), &ending);
    problems.extend(differing(&mut impatient, web.address.port(), &stalling));
    problems.extend(ending.iter().chain(&stalling).filter_map(|case| seen_otherwise(&web.site, case)));
    assert!(
        problems.is_empty(),
        "{} of the web's misbehaviours end otherwise:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_unless_the_operator_does_not_mind() {
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
