//! State shared by all connections of a process: rules, DNS cache, gates of hosts and addresses, robots.txt.

use crate::address::is_of_this_machine;
use crate::browsers::Browsers;
use crate::crashes::CrashJournal;
use crate::gate::{AddressGate, HostGates};
use crate::identity::Signer;
use crate::memory::BodyMemory;
use crate::places::Places;
use crate::resolver::Resolver;
use crate::robots::RobotsBook;
use crate::route::has_no_file_left;
use crate::rules::FetcherRules;
use crate::traffic::Traffic;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::Clock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// One per network thread.
pub(crate) struct Network {
    pub(crate) rules: Arc<FetcherRules>,
    pub(crate) resolver: Resolver,
    /// Whether an interface of this machine has an address.
    pub(crate) is_of_this_machine: fn(IpAddr) -> bool,
    /// Whether a connection failed because this process or this machine has as many open files as it may have.
    pub(crate) has_no_file_left: fn(&io::Error) -> bool,
    pub(crate) gates: HostGates,
    pub(crate) addresses: AddressGate,
    pub(crate) robots: Arc<RobotsBook>,
    /// `None` for a single fetch from the command line, where a crash is seen by the user.
    pub(crate) crashes: Option<Arc<CrashJournal>>,
    /// The right to ask for a page that is suspected of crashes.
    pub(crate) suspects: Arc<Semaphore>,
    pub(crate) started: Instant,
    pub(crate) places: Places,
    pub(crate) memory: BodyMemory,
    pub(crate) buffers: Rc<Buffers>,
    pub(crate) traffic: Arc<Traffic>,
    /// Hosts that an operator blocked or paused.
    pub(crate) stopped: RefCell<HashSet<String>>,
    pub(crate) without_http2: RefCell<WithoutHttp2>,
    pub(crate) signer: Signer,
    pub(crate) browsers: Browsers,
    /// When the log last said that there are too few open files.
    pub(crate) warned_of_files: Cell<Option<Instant>>,
}

/// Origins that refused a request over HTTP/2 and want HTTP/1.1. Forgotten with the process: each costs one request more.
#[derive(Default)]
pub(crate) struct WithoutHttp2(HashSet<String>);

impl WithoutHttp2 {
    /// Most origins kept. When there are more, all are forgotten.
    const MOST: usize = 10_000;

    pub(crate) fn note(&mut self, origin: &str) {
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        self.0.insert(origin.to_owned());
    }

    pub(crate) fn has(&self, origin: &str) -> bool {
        self.0.contains(origin)
    }
}

/// How long after the start pages that are suspected of crashes wait. Until then the others are fetched, and a process
/// that is killed again and again does not meet the same pages each time.
const SUSPECTS_WAIT: Duration = Duration::from_secs(10);
/// Time between two warnings of the same.
const WARN_EVERY: Duration = Duration::from_secs(60);
/// Least wait for another suspect.
const SUSPECTS_POLL: Duration = Duration::from_millis(100);
/// Least size of a read buffer.
const BUFFER_BYTES: usize = 64 << 10;
/// Most free buffers kept for reuse.
const KEPT_BUFFERS: usize = 16;

/// A pool of read buffers.
pub(crate) struct Buffers {
    size: usize,
    free: RefCell<Vec<Box<[u8]>>>,
}

impl Buffers {
    /// Buffers large enough for a head of `max_head` bytes.
    pub(crate) fn for_heads_of(max_head: usize) -> Self {
        Self { size: max_head.max(BUFFER_BYTES), free: RefCell::default() }
    }

    /// Length of each.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn lend(&self) -> Box<[u8]> {
        self.free.borrow_mut().pop().unwrap_or_else(|| vec![0; self.size].into_boxed_slice())
    }

    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.free.borrow().len()
    }

    pub(crate) fn take_back(&self, buffer: Box<[u8]>) {
        let mut free = self.free.borrow_mut();
        if free.len() < KEPT_BUFFERS {
            free.push(buffer);
        }
    }
}

impl Network {
    /// Stops or resumes a host.
    pub(crate) fn stop(&self, host: &str, stopped: bool) {
        match stopped {
            true => self.stopped.borrow_mut().insert(host.to_owned()),
            false => self.stopped.borrow_mut().remove(host),
        };
    }

    /// Whether nothing may be requested from a host.
    pub(crate) fn is_stopped(&self, host: &str) -> bool {
        self.stopped.borrow().contains(host)
    }

    /// The right to ask for a page that is suspected of crashes, if it can be had.
    pub(crate) fn suspects_turn(&self) -> Option<OwnedSemaphorePermit> {
        if self.started.elapsed() < SUSPECTS_WAIT {
            return None;
        }
        self.suspects.clone().try_acquire_owned().ok()
    }

    /// How long the next such turn is away at least. `None` if it is there.
    pub(crate) fn time_to_suspects_turn(&self) -> Option<Duration> {
        let left = SUSPECTS_WAIT.saturating_sub(self.started.elapsed());
        let is_taken = self.suspects.available_permits() == 0;
        (is_taken || !left.is_zero()).then(|| left.max(SUSPECTS_POLL))
    }

    /// Warns the operator that requests go back for want of open files.
    pub(crate) fn warn_of_files(&self) {
        if self.warned_of_files.get().is_none_or(|warned| warned.elapsed() >= WARN_EVERY) {
            self.warned_of_files.set(Some(Instant::now()));
            tracing::warn!(
                "requests go back unsent because no open file is left for their connections; raise the hard limit of open \
                 files (`ulimit -Hn`, LimitNOFILE= of a systemd unit), or lower fetch.connections"
            );
        }
    }

    pub(crate) fn new(rules: Arc<FetcherRules>, clock: Arc<dyn Clock>) -> Self {
        let addresses = AddressGate::new(clock.clone(), rules.address_delay);
        let buffers = Rc::new(Buffers::for_heads_of(rules.max_head()));
        Self {
            resolver: Resolver::system(),
            is_of_this_machine,
            has_no_file_left,
            browsers: Browsers::new(&rules),
            signer: Signer::new(rules.identity.clone(), clock.clone()),
            gates: HostGates::new(clock),
            addresses,
            robots: Arc::default(),
            crashes: None,
            suspects: Arc::new(Semaphore::new(1)),
            started: Instant::now(),
            places: Places::of(rules.fetch.connections),
            memory: BodyMemory::of(rules.fetch.memory),
            buffers,
            traffic: Arc::default(),
            stopped: RefCell::default(),
            without_http2: RefCell::default(),
            warned_of_files: Cell::default(),
            rules,
        }
    }
}
