//! TLS sessions are taken up again, host by host.

use crate::bench::Bench;
use messages::FetchOutcome;
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;

/// More hosts than rustls remembers by itself.
const HOSTS: usize = 100;

/// A server that closes every connection after one answer and notes how each began.
struct ForgetfulWeb {
    address: SocketAddr,
    authority: NamedTempFile,
    handshakes: Arc<Mutex<Vec<HandshakeKind>>>,
}

impl ForgetfulWeb {
    fn start(version: &'static SupportedProtocolVersion) -> Self {
        let names: Vec<_> = (0..HOSTS).map(host).collect();
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
        let mut authority = NamedTempFile::new().unwrap();
        authority.write_all(cert.pem().as_bytes()).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(cert.der().to_vec())], key)
            .unwrap();
        config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
        let (config, handshakes) = (Arc::new(config), Arc::new(Mutex::default()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let noted = handshakes.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, noted) = (config.clone(), noted.clone());
                std::thread::spawn(move || serve(stream.unwrap(), config, &noted));
            }
        });
        Self { address, authority, handshakes }
    }
}

fn host(number: usize) -> String {
    format!("host-{number}.test")
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, noted: &Mutex<Vec<HandshakeKind>>) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut request = [0; 4_096];
    if stream.read(&mut request).ok()? == 0 {
        return None;
    }
    noted.lock().unwrap().push(stream.conn.handshake_kind()?);
    let answer = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
    stream.write_all(answer).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}

#[test]
fn a_host_is_greeted_as_an_old_friend_however_many_were_met_since() {
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        let web = ForgetfulWeb::start(version);
        let authority = web.authority.path().display().to_string();
        let mut bench = Bench::at(web.address, &[("fetch.extra_ca", &authority), ("fetch.http2", "false")]);
        let port = web.address.port();
        (0..HOSTS).for_each(|number| bench.ask(&format!("https://{}:{port}/", host(number))));
        bench.results(HOSTS);
        // Of the connections to a host the one for robots.txt came first.
        let first_round = std::mem::take(&mut *web.handshakes.lock().unwrap());
        let full = first_round.iter().filter(|kind| **kind != HandshakeKind::Resumed).count();
        assert_eq!((first_round.len(), full), (2 * HOSTS, HOSTS), "{version:?}");
        (0..HOSTS).for_each(|number| bench.ask(&format!("https://{}:{port}/again", host(number))));
        let results = bench.results(2 * HOSTS);
        assert!(results.iter().all(|result| result.look.outcome == FetchOutcome::Fetched), "{results:?}");
        assert_eq!(*web.handshakes.lock().unwrap(), vec![HandshakeKind::Resumed; HOSTS], "{version:?}");
    }
}
