//! Hosts that answer on one port with TLS and without.
use page::Timestamp;
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};
use simweb::{FaultRule, FaultScope, SeededConfig, SimWeb, SimWebConfig, WebFault, WebSource, manual_clock};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

const HOST: &str = "host-0001.test";
const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

/// A web with TLS, and a client's settings that trust it.
fn start(fault: (&str, WebFault)) -> (SimWeb, Arc<ClientConfig>) {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([HOST.to_owned()]).unwrap();
    let (certificate, key) = (CertificateDer::from(cert.der().to_vec()), signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let server = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let server = server.with_no_client_auth();
    let server = server.with_single_cert(vec![certificate.clone()], PrivateKeyDer::try_from(key).unwrap()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    let (path, fault) = fault;
    let config = SimWebConfig {
        tls: Some(Arc::new(server)),
        faults: vec![FaultRule::everywhere(FaultScope::Path(path.to_owned()), fault)],
        ..SimWebConfig::new(WebSource::Seeded(SeededConfig { start: NOW, ..SeededConfig::default() }))
    };
    (SimWeb::start(config, manual_clock(NOW).1).unwrap(), Arc::new(client))
}

/// The answer to a request over a connection of its own.
fn get(mut stream: impl Read + Write, path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A connection that is reset ends with an error.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get_both(web: &SimWeb, client: &Arc<ClientConfig>, path: &str) -> [String; 2] {
    let connect = || TcpStream::connect(web.addr()).unwrap();
    let session = ClientConnection::new(client.clone(), HOST.try_into().unwrap()).unwrap();
    [get(connect(), path), get(StreamOwned::new(session, connect()), path)]
}

#[test]
fn a_host_serves_the_same_with_tls_and_without_and_the_ledger_reports_them_apart() {
    let (web, client) = start(("/none", WebFault::ResetMidBody));
    let [plain, secured] = get_both(&web, &client, "/");
    assert!(plain.starts_with("HTTP/1.1 200 OK\r\n") && plain == secured, "{plain}\n{secured}");
    let ledger = web.shutdown().entries();
    let seen: Vec<_> = ledger.iter().map(|entry| (&*entry.host, entry.tls, entry.version)).collect();
    assert_eq!(seen, [(HOST, false, Some(0)), (HOST, true, Some(0))]);
}

#[test]
fn a_page_redirects_to_its_address_with_tls_or_without_and_is_served_there() {
    for secure in [true, false] {
        let (web, client) = start(("/", WebFault::RedirectToScheme { code: 301, secure }));
        let [plain, secured] = get_both(&web, &client, "/");
        let (moved, served) = if secure { (plain, secured) } else { (secured, plain) };
        let location = format!("location: http{}://{HOST}/\r\n", if secure { "s" } else { "" });
        assert!(moved.starts_with("HTTP/1.1 301 ") && moved.contains(&location), "{moved}");
        assert!(served.starts_with("HTTP/1.1 200 "), "{served}");
    }
}

#[test]
fn an_answer_over_tls_breaks_off_as_dialled() {
    let (web, client) = start(("/", WebFault::ResetMidBody));
    let [plain, secured] = get_both(&web, &client, "/");
    for answer in [plain, secured] {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        assert_eq!(body.len(), length.parse::<usize>().unwrap() / 2);
    }
    assert_eq!(web.shutdown().entries().iter().filter(|entry| entry.version.is_some()).count(), 0);
}
