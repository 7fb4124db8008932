//! A simulated web in the test's own process, so that its ledger survives whatever happens to the crawler.

use crate::process::programs;
use page::Timestamp;
use simweb::{LedgerEntry, RequestKind, SeededConfig, SimWeb, SimWebConfig, WebSource, scaled_clock};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A web and the clock it runs on.
pub struct SimulatedWeb {
    web: SimWeb,
    origin: Timestamp,
    anchor: SystemTime,
    speed: f64,
}

impl SimulatedWeb {
    /// A seeded web whose time runs `speed` times as fast as real time, from the start of its change times on.
    pub fn start(seeded: SeededConfig, speed: f64, dial: impl FnOnce(&mut SimWebConfig)) -> Self {
        // Building the programs can take longer than the web lives: its time must not pass meanwhile.
        programs();
        let origin = seeded.start;
        let mut config = SimWebConfig::new(WebSource::Seeded(seeded));
        config.page_bytes = 2_000;
        dial(&mut config);
        let anchor = SystemTime::now();
        let web = SimWeb::start(config, scaled_clock(origin, anchor, speed)).expect("loopback has a free port");
        Self { web, origin, anchor, speed }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.web.addr()
    }

    /// Addresses of all pages.
    pub fn urls(&self) -> Vec<String> {
        self.web.page_urls()
    }

    /// What it has served so far.
    pub fn ledger(&self) -> Vec<LedgerEntry> {
        self.web.ledger().entries()
    }

    /// Requests for pages so far.
    pub fn page_requests(&self) -> usize {
        self.ledger().iter().filter(|entry| entry.kind == RequestKind::Page).count()
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
