//! The log in memory is the reference: it passes the suite, and so do stages on it.

use page::Timestamp;
use std::sync::Arc;
use stream::Clock;
use stream::inprocess::{InProcessLog, LogBackend};
use stream::log::{Log, LogError, StateIn};
use stream::store::StoreProvider;
use stream_testing::conformance::{Harness, Need, run};
use stream_testing::{MemoryBackend, MemoryLogStores, MemoryStores, RealClock};

struct Memory {
    log: InProcessLog<MemoryBackend>,
    clock: Arc<RealClock>,
}

impl Harness for Memory {
    fn log(&self) -> Arc<dyn Log> {
        Arc::new(self.log.clone())
    }

    fn reopen(&mut self) -> Result<(), LogError> {
        // Memory outlives the simulated process, so a restart has nothing to do.
        Ok(())
    }

    fn stores(&self) -> Arc<dyn StoreProvider> {
        match self.log.state_in() {
            StateIn::Changelogs => Arc::new(MemoryStores::default()),
            StateIn::Log => Arc::new(MemoryLogStores(self.log.backend().clone())),
        }
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    fn can(&self, need: Need) -> bool {
        !matches!(need, Need::Changelogs | Need::CompactedChangelogs) || self.log.state_in() == StateIn::Changelogs
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        self.log.backend().maintain(now)
    }
}

fn conforms(backend: fn() -> MemoryBackend) {
    let make = move || -> Box<dyn Harness> {
        let log = InProcessLog::new(backend());
        Box::new(Memory { log, clock: Arc::new(RealClock::default()) })
    };
    run(&make, 4, &std::env::var("CONFORMANCE_ONLY").unwrap_or_default());
}

#[test]
fn the_log_in_memory_conforms() {
    conforms(MemoryBackend::default);
}

#[test]
fn the_log_in_memory_that_keeps_state_itself_conforms() {
    conforms(MemoryBackend::with_state);
}

#[test]
fn the_log_in_memory_with_commit_markers_conforms() {
    conforms(MemoryBackend::with_commit_markers);
}
