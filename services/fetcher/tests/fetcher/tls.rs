//! Answers over TLS that end otherwise than they should, and passwords that stay with TLS.

use crate::bench::Bench;
use flate2::Compression;
use flate2::write::GzEncoder;
use messages::{FetchOutcome, body};
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;

const MIB: usize = 1 << 20;
/// The first byte of a TLS connection.
const TLS_HANDSHAKE: [u8; 1] = [0x16];
const NO_ROBOTS: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

/// How a server ends a connection after its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Farewell {
    /// With close_notify, as TLS asks for.
    Said,
    /// Without a word, as if the connection was cut.
    Unsaid,
}

type Serve = dyn Fn(bool, &str) -> (Vec<u8>, Farewell) + Send + Sync;

/// A server on one port, with TLS and without, that gives one answer per connection.
struct TlsServer {
    address: SocketAddr,
    authority: NamedTempFile,
    /// The heads of the requests, and whether each came over TLS.
    heads: Arc<Mutex<Vec<(bool, String)>>>,
}

impl TlsServer {
    /// `serve` receives whether a request came over TLS, and its head.
    fn start(serve: impl Fn(bool, &str) -> (Vec<u8>, Farewell) + Send + Sync + 'static) -> Self {
        Self::with_tickets(2, serve)
    }

    /// A server that sends this many tickets for later connections before each answer.
    fn with_tickets(tickets: usize, serve: impl Fn(bool, &str) -> (Vec<u8>, Farewell) + Send + Sync + 'static) -> Self {
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["own.test".to_owned()]).unwrap();
        let mut authority = NamedTempFile::new().unwrap();
        authority.write_all(cert.pem().as_bytes()).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(cert.der().to_vec())], key)
            .unwrap();
        config.send_tls13_tickets = tickets;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (config, serve, seen): (_, Arc<Serve>, _) = (Arc::new(config), Arc::new(serve), heads.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, serve, seen) = (config.clone(), serve.clone(), seen.clone());
                std::thread::spawn(move || answer(stream.unwrap(), config, &*serve, &seen));
            }
        });
        Self { address, authority, heads }
    }

    /// A server of a page and nothing else.
    fn of_page(page: Vec<u8>, farewell: Farewell) -> Self {
        Self::start(move |_, head| match path_of(head) {
            "/robots.txt" => (NO_ROBOTS.into(), Farewell::Said),
            _ => (page.clone(), farewell),
        })
    }

    fn bench(&self, further: &[(&str, &str)]) -> Bench {
        let authority = self.authority.path().display().to_string();
        Bench::at(self.address, &[&[("fetch.extra_ca", authority.as_str())], further].concat())
    }

    fn heads(&self) -> Vec<(bool, String)> {
        self.heads.lock().unwrap().clone()
    }
}

fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

fn answer(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    serve: &Serve,
    seen: &Mutex<Vec<(bool, String)>>,
) -> Option<()> {
    let mut first = [0];
    stream.peek(&mut first).ok()?;
    let is_secure = first == TLS_HANDSHAKE;
    let mut request = [0; 4_096];
    let mut next = |stream: &mut dyn Read| {
        let length = loop {
            match stream.read(&mut request) {
                // It has written tickets instead.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => break read.ok().filter(|length| *length > 0)?,
            }
        };
        let head = String::from_utf8_lossy(&request[..length]).to_lowercase();
        // Before the answer, or the asker may look for it too early.
        seen.lock().unwrap().push((is_secure, head.clone()));
        Some(serve(is_secure, &head))
    };
    if !is_secure {
        let mut stream = stream;
        let (bytes, _) = next(&mut stream)?;
        return stream.write_all(&bytes).ok();
    }
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let (bytes, farewell) = next(&mut stream)?;
    stream.write_all(&bytes).ok()?;
    if farewell == Farewell::Said {
        stream.conn.send_close_notify();
    }
    stream.flush().ok()?;
    stream.sock.shutdown(Shutdown::Write).ok()?;
    // Until the other side leaves, too: an early end with bytes unread would reset the connection.
    std::io::copy(&mut stream.sock, &mut std::io::sink()).ok().map(drop)
}

/// Text that compresses about as well as a page.
fn text(length: usize) -> Vec<u8> {
    (0_u64..).flat_map(|number| (number * number % 8_191).to_string().into_bytes()).take(length).collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn brotli(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    brotli::CompressorWriter::new(&mut packed, 4_096, 5, 22).write_all(text).unwrap();
    packed
}

fn page(headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n{headers}\r\n").as_bytes(), body].concat()
}

/// TLS has messages of its own, such as tickets, which no reader of the answer sees. They are bytes received.
#[test]
fn what_tls_receives_beneath_an_answer_is_paid() {
    // More than 64 KiB of them at once are refused.
    const TICKETS: usize = 500;
    const TICKET_BYTES: usize = 50;
    let server = TlsServer::with_tickets(TICKETS, |_, _| (page("", b"hello"), Farewell::Said));
    let mut bench = server.bench(&[]);
    for (url, least, most) in [("http://own.test/", 0, 1_000), ("https://own.test/", 2 * TICKETS * TICKET_BYTES, MIB)] {
        let result = bench.fetch(url);
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
        let received = result.look.wire_bytes as usize;
        assert!((least..=most).contains(&received), "{received} bytes for {url} and its robots.txt");
    }
}

/// Bytes that come before an answer can be refused are paid, too.
#[test]
fn a_certificate_that_is_refused_is_paid() {
    let server = TlsServer::start(|_, _| (page("", b"hello"), Farewell::Said));
    let mut bench = Bench::at(server.address, &[]);
    let result = bench.fetch("https://own.test/");
    assert_eq!(result.look.outcome, FetchOutcome::TlsFailed, "{:?}", result.detail);
    assert!(result.look.wire_bytes > 300, "{} bytes", result.look.wire_bytes);
}

/// An attacker can end a connection, but not send close_notify. What is missing is not taken for the end of the page.
#[test]
fn a_page_that_ends_without_close_notify_is_cut_whatever_its_coding() {
    let text = text(300_000);
    for (coding, packed) in [("identity", text.clone()), ("gzip", gzip(&text)), ("br", brotli(&text))] {
        let coding = format!("content-encoding: {coding}\r\n");
        let half = page(&coding, &packed[..packed.len() / 2]);
        let result = TlsServer::of_page(half.clone(), Farewell::Unsaid).bench(&[]).fetch("https://own.test/");
        assert_eq!((result.look.outcome, result.truncated), (FetchOutcome::Fetched, true), "{coding}{result:?}");
        let packed_body = result.body.unwrap();
        let body = body::unpack(&packed_body, MIB).unwrap();
        assert!(body.len() > 10_000 && text.starts_with(&body), "{coding}{}", body.len());

        let whole = TlsServer::of_page(page(&coding, &packed), Farewell::Said).bench(&[]).fetch("https://own.test/");
        assert_eq!((whole.look.outcome, whole.truncated), (FetchOutcome::Fetched, false), "{coding}");
        assert_eq!(whole.look.body_length as usize, text.len(), "{coding}");

        let short = page(&format!("{coding}content-length: {}\r\n", packed.len()), &packed[..packed.len() / 2]);
        for farewell in [Farewell::Said, Farewell::Unsaid] {
            let result = TlsServer::of_page(short.clone(), farewell).bench(&[]).fetch("https://own.test/");
            assert_eq!(result.look.outcome, FetchOutcome::ConnectionLost, "{coding}{:?}", result.detail);
        }
    }
}

#[test]
fn a_page_that_ends_without_close_notify_before_it_begins_is_no_empty_page() {
    for (headers, body) in [("", &b""[..]), ("content-encoding: gzip\r\n", &gzip(b"hello")[..5])] {
        let server = TlsServer::of_page(page(headers, body), Farewell::Unsaid);
        let result = server.bench(&[]).fetch("https://own.test/");
        assert_eq!(result.look.outcome, FetchOutcome::ConnectionLost, "{headers:?} {:?}", result.detail);
    }
}

/// The missing half may forbid what is asked for next.
#[test]
fn a_robots_txt_that_ends_without_close_notify_is_not_obeyed_by_halves() {
    let server = TlsServer::start(|_, head| match path_of(head) {
        "/robots.txt" => (page("", b"User-agent: *\nDisallow: /private\n"), Farewell::Unsaid),
        _ => (page("", b"hello"), Farewell::Said),
    });
    let result = server.bench(&[]).fetch("https://own.test/");
    assert_eq!(result.look.outcome, FetchOutcome::RobotsUnavailable, "{:?}", result.detail);
    assert!(result.look.was_not_sent() && result.look.retry_after_s.is_some(), "{result:?}");
    assert_eq!(server.heads().len(), 1);
}

#[test]
fn a_password_for_tls_does_not_follow_a_redirect_to_where_there_is_none() {
    let server = TlsServer::start(|is_secure, head| match (path_of(head), is_secure) {
        ("/robots.txt", _) => (NO_ROBOTS.into(), Farewell::Said),
        (_, true) => {
            let to = "HTTP/1.1 302 Found\r\nlocation: http://own.test/\r\ncontent-length: 0\r\n\r\n";
            (to.into(), Farewell::Said)
        }
        (_, false) => (page("content-length: 5\r\n", b"hello"), Farewell::Said),
    });
    for name in ["own.test", "https://own.test"] {
        let mut bench = server.bench(&[("fetch.authentication", &format!("{name}=Aladdin:open sesame"))]);
        let result = bench.fetch("https://own.test/");
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
        let heads = std::mem::take(&mut *server.heads.lock().unwrap());
        let has_password: Vec<_> = heads
            .iter()
            .filter(|(_, head)| path_of(head) == "/")
            .map(|(is_secure, head)| (*is_secure, head.contains("\r\nauthorization: basic ")))
            .collect();
        assert_eq!(has_password, [(true, true), (false, false)], "{name}");
        let asked_plainly = heads.iter().filter(|(is_secure, _)| !is_secure);
        assert_eq!(asked_plainly.filter(|(_, head)| head.contains("authorization")).count(), 0, "{name}");
    }
}
