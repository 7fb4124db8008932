//! The web as a value: hosts, pages, bodies and dials. It has no sockets and no clock.

use crate::blobs::BlobStore;
use crate::config::SimWebConfig;
use crate::corpus::{CorpusError, ReplayConfig};
use crate::dials::{FaultRule, HostDials};
use crate::seeded::SeededConfig;
use crate::seeds::hash;
use crate::text::{Recipe, render};
use crate::trace::{ChangeTrace, PageHistory, StateContent};
use hyper::body::Bytes;
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

#[derive(Clone, Debug)]
pub enum WebSource {
    /// Pages made from a seed.
    Seeded(SeededConfig),
    /// A corpus directory.
    Replay(ReplayConfig),
    /// Change times; the text is generated.
    Trace(ChangeTrace),
}

/// The pages, bodies and dials that are served.
pub struct Web {
    pub(crate) trace: ChangeTrace,
    pub(crate) hosts: HashMap<Arc<str>, HostTable>,
    pub(crate) faults: Vec<FaultRule>,
    pub(crate) seed: u64,
    /// Number of requests so far for each page; determines the per-request faults.
    pub(crate) requests: Vec<AtomicU32>,
    page_bytes: usize,
    blobs: BlobStore,
}

/// One host: its pages, its dials, and its requests in progress.
pub(crate) struct HostTable {
    pub(crate) name: Arc<str>,
    /// Page numbers in the order of the trace; the first is the root of the link tree.
    members: Vec<u32>,
    /// Index in `members` by path.
    by_path: HashMap<Arc<str>, u32>,
    pub(crate) dials: HostDials,
    pub(crate) in_flight: AtomicU32,
}

impl HostTable {
    /// All pages.
    pub(crate) fn pages(&self) -> impl Iterator<Item = u32> {
        self.members.iter().copied()
    }

    pub(crate) fn page(&self, path: &str) -> Option<u32> {
        self.by_path.get(path).map(|rank| self.members[*rank as usize])
    }
}

/// Number of links from a page to its children in the tree of its host's pages.
const CHILDREN: usize = 16;

impl Web {
    /// Opens the source.
    ///
    /// # Errors
    /// When a corpus cannot be read.
    pub fn open(config: SimWebConfig) -> Result<Self, CorpusError> {
        let (trace, blobs) = match config.source {
            WebSource::Seeded(seeded) => (seeded.trace(), BlobStore::default()),
            WebSource::Replay(replay) => replay.open()?,
            WebSource::Trace(trace) => (trace, BlobStore::default()),
        };
        let dials = |host: &str| config.host_dials.get(host).unwrap_or(&config.dials).clone();
        let mut hosts: HashMap<Arc<str>, HostTable> = HashMap::new();
        for (number, page) in trace.pages.iter().enumerate() {
            let table = hosts.entry(Arc::clone(&page.host)).or_insert_with(|| HostTable {
                name: Arc::clone(&page.host),
                members: Vec::new(),
                by_path: HashMap::new(),
                dials: dials(&page.host).misleading(&page.host, config.misleading_sitemaps, config.seed),
                in_flight: AtomicU32::new(0),
            });
            table.by_path.insert(Arc::clone(&page.path), table.members.len() as u32);
            table.members.push(number as u32);
        }
        let requests = trace.pages.iter().map(|_| AtomicU32::new(0)).collect();
        let (faults, seed, page_bytes) = (config.faults, config.seed, config.page_bytes);
        Ok(Self { trace, hosts, faults, seed, requests, page_bytes, blobs })
    }

    /// Pages and change times, as served.
    pub fn trace(&self) -> &ChangeTrace {
        &self.trace
    }

    /// The pages that robots.txt allows: the ones to judge a crawler by.
    pub fn allowed_trace(&self) -> ChangeTrace {
        let allowed = |page: &&PageHistory| !self.hosts[&page.host].dials.robots.disallows(&page.path);
        ChangeTrace { window: self.trace.window, pages: self.trace.pages.iter().filter(allowed).cloned().collect() }
    }

    /// The dials of a host; `None` when it is not part of the web.
    pub fn dials(&self, host: &str) -> Option<&HostDials> {
        self.hosts.get(host).map(|table| &table.dials)
    }

    /// The bytes of a version; empty where the page is gone. An error is a failure to read the unpacked corpus.
    pub fn body(&self, page_number: usize, version: u32) -> io::Result<Bytes> {
        let page = &self.trace.pages[page_number];
        match page.states[version as usize].content {
            StateContent::Gone => Ok(Bytes::new()),
            StateContent::Blob(blob) => self.blobs.read(blob),
            StateContent::Generated => Ok(self.generate(page, version).into()),
        }
    }

    fn generate(&self, page: &PageHistory, version: u32) -> Vec<u8> {
        let table = &self.hosts[&page.host];
        let rank = table.by_path[&page.path] as usize;
        let count = table.members.len();
        let children = (rank * CHILDREN + 1..=rank * CHILDREN + CHILDREN).filter(|child| *child < count);
        let links: Vec<&str> = std::iter::once(0)
            .chain(children)
            .map(|rank| &*self.trace.pages[table.members[rank] as usize].path)
            .collect();
        // Lengths vary by page from half to one and a half of the dial.
        let spread = hash(&[&page.path, "length"]) % 1_000;
        let bytes = self.page_bytes / 2 + self.page_bytes * spread as usize / 1_000;
        render(&Recipe { host: &page.host, path: &page.path, version, bytes, links: &links })
    }

    /// An identifier of the bytes of a version, without quotes.
    pub(crate) fn etag(&self, page_number: usize, version: u32) -> u64 {
        let page = &self.trace.pages[page_number];
        let generated = || hash(&[&page.host, &page.path]) ^ u64::from(version);
        self.content_digest(page_number, version).unwrap_or_else(generated)
    }

    /// The digest of a version's bytes from the corpus: the first 64 bits of their SHA-256. `None` for generated text.
    pub fn content_digest(&self, page_number: usize, version: u32) -> Option<u64> {
        match self.trace.pages[page_number].states[version as usize].content {
            StateContent::Blob(blob) => Some(self.blobs.digest(blob)),
            _ => None,
        }
    }

    /// Hosts that are loopback addresses.
    pub(crate) fn loopback_hosts(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.hosts.keys().filter_map(|host| host.parse().ok()).filter(Ipv4Addr::is_loopback)
    }
}
