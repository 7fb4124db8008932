//! Signed requests, as servers over TLS see them, with HTTP/1.1 and HTTP/2.

use crate::bench::Bench;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use messages::FetchOutcome;
use page::CanonicalUrl;
use rcgen::CertifiedKey;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use signatures::{SignedRequest, SigningKey, verify_request};
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use stream::Clock;
use tempfile::NamedTempFile;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The first byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;
const DIRECTORY: &str = "https://bot.example/.well-known/http-message-signatures-directory";
const ASKS: &str =
    r#"sig1=("@authority" "signature-agent";key="sig1");created;expires;keyid;tag="web-bot-auth";nonce="n1""#;
/// Names the directory in which `npm install http-message-sig` was run.
const OTHER_VERIFIER: &str = "RECRAWL_HTTP_MESSAGE_SIG";

/// A request as the server saw it.
#[derive(Clone, Debug)]
struct Seen {
    is_secure: bool,
    version: Version,
    authority: String,
    path: String,
    headers: HeaderMap,
}

impl Seen {
    fn header(&self, name: &'static str) -> Option<&str> {
        self.headers.get(HeaderName::from_static(name)).map(|value| value.to_str().unwrap())
    }

    /// Whether it verifies for this authority.
    fn is_signed_for(&self, authority: &str) -> bool {
        let (Some(input), Some(signature)) = (self.header("signature-input"), self.header("signature")) else {
            return false;
        };
        let agent = self.header("signature-agent");
        let request = SignedRequest { authority, method: "GET", path: &self.path, agent, input, signature };
        let now = crate::bench::clock().now().as_secs();
        verify_request(&request, &[key().public()], now).is_ok()
            && agent == Some(format!("sig1=\"{DIRECTORY}\"").as_str())
    }

    fn is_signed(&self) -> bool {
        self.is_signed_for(&self.authority)
    }

    fn has_no_signature(&self) -> bool {
        ["signature", "signature-input", "signature-agent"].iter().all(|name| self.header(name).is_none())
    }
}

type Answer = Response<Full<Bytes>>;
type Serve = dyn Fn(&Seen) -> Answer + Send + Sync;

/// A server of every name below `.test`, over TLS and without.
struct Server {
    address: SocketAddr,
    authority: NamedTempFile,
    key_file: NamedTempFile,
    seen: Arc<Mutex<Vec<Seen>>>,
}

fn key() -> SigningKey {
    SigningKey::from_seed(&[9; 32])
}

impl Server {
    fn start(protocol: &[u8], serve: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let names = ["own.test", "other.test"].map(str::to_owned);
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
        let (mut authority, mut key_file) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
        authority.write_all(cert.pem().as_bytes()).unwrap();
        key_file.write_all(key().to_pem().as_bytes()).unwrap();
        let private = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(cert.der().to_vec())], private)
            .unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (noted, serve): (_, Arc<Serve>) = (seen.clone(), Arc::new(serve));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(connection(stream, acceptor.clone(), serve.clone(), noted.clone()));
                }
            });
        });
        Self { address, authority, key_file, seen }
    }

    /// A fetcher that has the key.
    fn bench(&self, sign: &str) -> Bench {
        let [authority, key] = [&self.authority, &self.key_file].map(|file| file.path().display().to_string());
        let set = [
            ("fetch.extra_ca", authority.as_str()),
            ("identity.key_file", key.as_str()),
            ("identity.directory", DIRECTORY),
            ("identity.sign", sign),
        ];
        Bench::at(self.address, &set)
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests for pages, without those for robots.txt.
    fn pages(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path != "/robots.txt").collect()
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    serve: Arc<Serve>,
    noted: Arc<Mutex<Vec<Seen>>>,
) -> Option<()> {
    let mut first = [0];
    stream.peek(&mut first).await.ok()?;
    let is_secure = first[0] == TLS_HANDSHAKE;
    let service = service_fn(move |request: Request<hyper::body::Incoming>| {
        let in_header = request.headers().get("host").map(|host| host.to_str().unwrap().to_owned());
        let authority = request.uri().authority().map(|authority| authority.as_str().to_owned()).or(in_header);
        let seen = Seen {
            is_secure,
            version: request.version(),
            authority: authority.unwrap(),
            path: request.uri().path().to_owned(),
            headers: request.headers().clone(),
        };
        noted.lock().unwrap().push(seen.clone());
        let answer = if seen.path == "/robots.txt" { answer(404, &[], "") } else { serve(&seen) };
        async move { Ok::<_, hyper::Error>(answer) }
    });
    if !is_secure {
        return http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
    }
    let stream = acceptor.accept(stream).await.ok()?;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let io = TokioIo::new(stream);
    match is_http2 {
        true => http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await.ok(),
        false => http1::Builder::new().serve_connection(io, service).await.ok(),
    }
}

fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(body.as_bytes())));
    *answer.status_mut() = hyper::StatusCode::from_u16(status).unwrap();
    let header =
        |(name, value): &(&'static str, &'static str)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    answer.headers_mut().extend(headers.iter().map(header));
    answer
}

const PROTOCOLS: [&[u8]; 2] = [b"http/1.1", b"h2"];

/// A page that redirects to another site, which redirects to a page without TLS.
fn redirects(seen: &Seen) -> Answer {
    match (seen.authority.as_str(), seen.path.as_str()) {
        ("own.test", "/a") => answer(302, &[("location", "https://other.test/b")], ""),
        ("other.test", "/b") => answer(302, &[("location", "http://own.test/c")], ""),
        _ => answer(200, &[("content-type", "text/html")], "<p>hello"),
    }
}

#[test]
fn every_request_over_tls_is_signed_for_its_own_authority_and_none_without() {
    for protocol in PROTOCOLS {
        let server = Server::start(protocol, redirects);
        let result = server.bench("always").fetch("https://own.test/a");
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
        let seen = server.seen();
        let asked = seen.iter().map(|seen| (seen.is_secure, format!("{}{}", seen.authority, seen.path)));
        let expected = [
            (true, "own.test/robots.txt"),
            (true, "own.test/a"),
            (true, "other.test/robots.txt"),
            (true, "other.test/b"),
            (false, "own.test/robots.txt"),
            (false, "own.test/c"),
        ];
        assert_eq!(asked.collect::<Vec<_>>(), expected.map(|(is_secure, at)| (is_secure, at.to_owned())));
        for seen in &seen {
            assert_eq!(seen.is_signed(), seen.is_secure, "{seen:?}");
            assert_eq!(seen.has_no_signature(), !seen.is_secure, "{seen:?}");
            let other = if seen.authority == "own.test" { "other.test" } else { "own.test" };
            assert!(!seen.is_signed_for(other), "{seen:?}");
        }
        let is_http2 = seen[0].version == Version::HTTP_2;
        assert_eq!(is_http2, protocol == b"h2");
        check_with_other_verifier(&seen);
    }
}

#[test]
fn a_host_that_asks_gets_the_same_request_signed_and_others_do_not() {
    for protocol in PROTOCOLS {
        let server = Server::start(protocol, |seen| match (seen.authority.as_str(), seen.header("signature")) {
            ("own.test", None) => answer(403, &[("accept-signature", ASKS)], "who are you?"),
            _ => answer(200, &[("content-type", "text/html")], "<p>hello"),
        });
        let mut bench = server.bench("asked");
        let result = bench.fetch("https://own.test/a");
        assert_eq!((result.look.outcome, result.look.requests), (FetchOutcome::Fetched, 3), "{:?}", result.detail);
        assert_eq!(bench.fetch("https://other.test/").look.outcome, FetchOutcome::Fetched);
        assert_eq!(bench.fetch("https://own.test/b").look.outcome, FetchOutcome::Fetched);
        let pages = server.pages();
        let signed = pages.iter().map(|seen| (seen.path.as_str(), seen.is_signed(), seen.has_no_signature()));
        let expected = [("/a", false, true), ("/a", true, false), ("/", false, true), ("/b", true, false)];
        assert_eq!(signed.collect::<Vec<_>>(), expected);
        let has_nonce = |seen: &Seen| seen.header("signature-input").unwrap().contains(";nonce=\"n1\";");
        assert!(has_nonce(&pages[1]) && !has_nonce(&pages[3]), "a nonce is signed once");
    }
}

#[test]
fn without_being_asked_or_allowed_nothing_is_signed() {
    for sign in ["asked", "never"] {
        let server = Server::start(b"http/1.1", redirects);
        assert_eq!(server.bench(sign).fetch("https://own.test/a").look.outcome, FetchOutcome::Fetched);
        assert!(server.seen().iter().all(Seen::has_no_signature), "{sign}");
    }
    let server = Server::start(b"http/1.1", |_| answer(403, &[("accept-signature", ASKS)], ""));
    let result = server.bench("never").fetch("https://own.test/a");
    assert_eq!((result.look.outcome, result.look.status), (FetchOutcome::Challenged, Some(403)));
    assert_eq!(server.pages().len(), 1);
}

#[test]
fn a_host_that_refuses_the_signature_too_is_asked_once_more_and_no_further() {
    for sign in ["asked", "always"] {
        let server = Server::start(b"http/1.1", |_| answer(401, &[("accept-signature", ASKS)], ""));
        let result = server.bench(sign).fetch("https://own.test/a");
        assert_eq!((result.look.outcome, result.look.status), (FetchOutcome::Challenged, Some(401)), "{sign}");
        assert!(result.body.is_none());
        assert_eq!(server.pages().len(), 2, "{sign}");
    }
}

#[test]
fn a_challenge_is_no_content_and_its_host_is_left_alone() {
    let puzzle = "<!doctype html><head><script id=\"anubis_challenge\" type=\"application/json\">{}</script></head>";
    let server = Server::start(b"http/1.1", move |seen| match seen.path.as_str() {
        "/puzzle" => answer(200, &[("content-type", "text/html")], puzzle),
        _ => answer(402, &[("crawler-price", "USD 0.01")], ""),
    });
    let challenged = server.bench("asked").fetch("https://own.test/puzzle");
    assert_eq!((challenged.look.outcome, challenged.look.status), (FetchOutcome::Challenged, Some(200)));
    assert!(challenged.body.is_none() && challenged.look.validators.content_digest.is_none());
    assert!(challenged.detail.unwrap().contains("Anubis"));
    let mut bench = server.bench("asked");
    let priced = bench.fetch("https://own.test/");
    assert_eq!((priced.look.outcome, priced.look.status), (FetchOutcome::PaymentRequired, Some(402)));
    assert!(priced.detail.unwrap().contains("USD 0.01"));
    let next = bench.fetch("https://own.test/next");
    assert!(next.look.was_not_sent() && next.look.retry_after_s.is_some(), "{next:?}");
}

#[test]
fn a_signature_that_still_holds_is_not_archived() {
    for protocol in PROTOCOLS {
        let server = Server::start(protocol, redirects);
        let result = server.bench("always").fetch("https://other.test/");
        let [exchange] = result.exchanges.as_slice() else { panic!("{:?}", result.exchanges) };
        let head = String::from_utf8(exchange.request_head.clone()).unwrap();
        assert!(head.contains("\r\nsignature-input: sig1=(") && head.contains("\r\nsignature-agent: "), "{head}");
        assert!(!head.contains("\r\nsignature:"), "{head}");
    }
}

#[test]
fn the_word_of_a_server_on_how_long_its_answer_is_current_is_passed_on() {
    let server = Server::start(b"http/1.1", |seen| match seen.path.as_str() {
        "/day" => answer(200, &[("cache-control", "public, max-age=86400"), ("age", "400")], "a"),
        "/check" => answer(200, &[("cache-control", "max-age=600"), ("cache-control", "no-cache")], "b"),
        _ => answer(200, &[], "c"),
    });
    let mut bench = server.bench("asked");
    let mut fresh_for = |path: &str| bench.fetch(&format!("https://own.test{path}")).look.fresh_for_s;
    assert_eq!([fresh_for("/day"), fresh_for("/check"), fresh_for("/")], [Some(86_000), None, None]);
}

/// Has another implementation verify the signed requests: http-message-sig of npm, if it is installed.
fn check_with_other_verifier(seen: &[Seen]) {
    let Some(installed) = std::env::var_os(OTHER_VERIFIER) else {
        eprintln!(
            "left out: no second verifier; run `npm install http-message-sig`, and name its directory in {OTHER_VERIFIER}"
        );
        return;
    };
    let signed: Vec<_> = seen.iter().filter(|seen| seen.is_secure).collect();
    let lines = signed.iter().map(|seen| {
        let url = CanonicalUrl::parse(&format!("https://{}{}", seen.authority, seen.path)).unwrap();
        let field = |name| format!("{:?}", seen.header(name).unwrap());
        format!(
            "{{\"url\":{:?},\"key\":{:?},\"signature-agent\":{},\"signature-input\":{},\"signature\":{}}}\n",
            url.as_str(),
            key().public().x(),
            field("signature-agent"),
            field("signature-input"),
            field("signature")
        )
    });
    let lines = lines.collect::<String>();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fetcher/verify.mjs");
    let program = Command::new("node").arg(script).arg(installed).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut program = program.expect("node runs");
    program.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert_eq!(words.lines().filter(|line| *line == "verified").count(), signed.len(), "{words}");
}
