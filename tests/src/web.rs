//! A simulated web in the test's own process, so that its ledger survives whatever happens to the crawler.

use crate::process::{SOON, wait_for};
use page::Timestamp;
use rcgen::{CertifiedKey, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use simweb::{LedgerEntry, PageGate, RequestKind, SeededConfig, SimWeb, SimWebConfig, WebSource, scaled_clock};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::{NamedTempFile, TempDir};

/// A web and the clock it runs on.
pub struct SimulatedWeb {
    web: SimWeb,
    origin: Timestamp,
    anchor: SystemTime,
    speed: f64,
    gate: Option<Arc<PageGate>>,
    /// The certificate, if hosts also answer with TLS.
    authority: Option<NamedTempFile>,
}

impl SimulatedWeb {
    /// The same as [`start`](Self::start), of hosts that answer with TLS, too. Every other page has an https address.
    pub fn start_with_tls(seeded: SeededConfig, speed: f64, dial: impl FnOnce(&mut SimWebConfig)) -> Self {
        let names = seeded.trace().pages.into_iter().map(|page| page.host.to_string());
        let (tls, authority) = certified(names.collect::<BTreeSet<_>>().into_iter().collect());
        let web = Self::start(seeded, speed, |config| {
            config.tls = Some(tls);
            dial(config);
        });
        Self { authority: Some(authority), ..web }
    }

    /// A seeded web whose time runs `speed` times as fast as real time, from the start of its change times on.
    pub fn start(seeded: SeededConfig, speed: f64, dial: impl FnOnce(&mut SimWebConfig)) -> Self {
        let origin = seeded.start;
        let mut config = SimWebConfig::new(WebSource::Seeded(seeded));
        config.page_bytes = 2_000;
        dial(&mut config);
        let gate = config.gate.clone();
        let anchor = SystemTime::now();
        let web = SimWeb::start(config, scaled_clock(origin, anchor, speed)).expect("loopback has a free port");
        Self { web, origin, anchor, speed, gate, authority: None }
    }

    /// A seeded web in real time that answers no request for a page before it is [let through](Self::let_through): the
    /// crawl waits for the test, and is never over too soon.
    pub fn start_held(seeded: SeededConfig, dial: impl FnOnce(&mut SimWebConfig)) -> Self {
        Self::start(seeded, 1.0, |config| {
            config.gate = Some(Arc::new(PageGate::closed()));
            dial(config);
        })
    }

    /// Lets this many more requests for pages through, and waits until they are answered.
    pub fn let_through(&self, requests: usize) {
        let wanted = self.page_requests() + requests;
        self.permit(requests);
        wait_for(&format!("{requests} more requests"), SOON, || self.page_requests() >= wanted);
    }

    /// Lets this many more requests for pages through, whenever they come.
    pub fn permit(&self, requests: usize) {
        self.gate().let_through(requests);
    }

    /// Lets all requests through from now on.
    pub fn open(&self) {
        self.gate().open();
    }

    /// Requests for pages that wait to be let through.
    pub fn held(&self) -> usize {
        self.gate().held()
    }

    fn gate(&self) -> &PageGate {
        self.gate.as_ref().expect("it was started with a gate")
    }

    /// The time of the web.
    pub fn now(&self) -> Timestamp {
        scaled_clock(self.origin, self.anchor, self.speed)()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.web.addr()
    }

    /// Addresses of all pages.
    pub fn urls(&self) -> Vec<String> {
        let mut urls = self.web.page_urls();
        if self.authority.is_some() {
            urls.iter_mut().skip(1).step_by(2).for_each(|url| url.insert("http".len(), 's'));
        }
        urls
    }

    /// Names of all hosts.
    pub fn hosts(&self) -> Vec<String> {
        self.web.web().trace().hosts().iter().map(ToString::to_string).collect()
    }

    /// A file with the certificate to trust, if hosts answer with TLS.
    pub fn authority(&self) -> Option<&Path> {
        self.authority.as_ref().map(NamedTempFile::path)
    }

    /// Its answers so far.
    pub fn ledger(&self) -> Vec<LedgerEntry> {
        self.web.ledger().entries()
    }

    /// Requests for pages so far.
    pub fn page_requests(&self) -> usize {
        self.ledger().iter().filter(|entry| entry.kind == RequestKind::Page).count()
    }

    /// Pages that clients have received whole so far.
    pub fn pages_received(&self) -> usize {
        let pages = self.ledger().into_iter().filter(|entry| entry.kind == RequestKind::Page);
        pages.filter(|entry| entry.version.is_some()).count()
    }

    /// Requests for pages beyond the first for each.
    pub fn pages_asked_for_again(&self) -> usize {
        let mut seen = BTreeSet::new();
        let pages = self.ledger().into_iter().filter(|entry| entry.kind == RequestKind::Page);
        pages.filter(|entry| !seen.insert((entry.host.clone(), entry.path.clone()))).count()
    }

    /// The pages with their change times.
    pub fn trace(&self) -> simweb::ChangeTrace {
        self.web.web().trace().clone()
    }

    /// The bytes of a version of a page, both counted from 0.
    pub fn body(&self, page: usize, version: usize) -> Vec<u8> {
        let version = u32::try_from(version).expect("pages have fewer versions");
        self.web.web().body(page, version).expect("generated text needs no file").to_vec()
    }

    /// Settings that put a crawler on this web's clock.
    pub fn clock_settings(&self) -> [(&'static str, String); 3] {
        let anchor_s = self.anchor.duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs_f64();
        [
            ("clock.speed", self.speed.to_string()),
            ("clock.origin", self.origin.as_secs().to_string()),
            ("clock.anchor", anchor_s.to_string()),
        ]
    }
}

fn self_signed(names: Vec<String>) -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(names).expect("names of a web are names of hosts")
}

/// TLS for hosts of these names, and a file with the certificate.
pub(crate) fn certified(names: Vec<String>) -> (Arc<ServerConfig>, NamedTempFile) {
    let CertifiedKey { cert, signing_key } = self_signed(names);
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("the key was just made");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_no_client_auth())
        .and_then(|builder| builder.with_single_cert(vec![CertificateDer::from(cert.der().to_vec())], key))
        .expect("key and certificate belong together");
    let mut file = NamedTempFile::new().expect("there is room for a test");
    file.write_all(cert.pem().as_bytes()).expect("a temporary file takes a certificate");
    (Arc::new(config), file)
}

/// Files with a new certificate, which is its own authority, and its key, in a directory of their own.
pub fn authority_files(names: Vec<String>) -> (TempDir, [PathBuf; 2]) {
    let CertifiedKey { cert, signing_key } = self_signed(names);
    let directory = tempfile::tempdir().expect("there is room for a test");
    let files = [("certificate.pem", cert.pem()), ("key.pem", signing_key.serialize_pem())].map(|(name, text)| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("the directory takes files");
        path
    });
    (directory, files)
}
