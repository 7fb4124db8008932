//! The embedded log, and stages with their state on disk, pass the suite that every log must pass.

use page::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stream::{Clock, InProcessLog, Log, LogBackend, LogError, StoreProvider};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores, RocksStores, StoreMemory, open_log};
use stream_testing::conformance::{Harness, Need, run};
use stream_testing::{MemoryBackend, RealClock};
use tempfile::TempDir;

struct Embedded {
    log: Option<InProcessLog<EmbeddedBackend>>,
    clock: Arc<RealClock>,
    directory: TempDir,
}

impl Embedded {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let log = Some(open_log(&directory.path().join("data")).unwrap());
        Self { log, clock: Arc::new(RealClock::default()), directory }
    }

    fn opened(&self) -> &InProcessLog<EmbeddedBackend> {
        self.log.as_ref().expect("only reopening takes it")
    }

    fn data_dir(&self) -> PathBuf {
        self.directory.path().join("data")
    }
}

impl Harness for Embedded {
    fn log(&self) -> Arc<dyn Log> {
        Arc::new(self.opened().clone())
    }

    fn reopen(&mut self) -> Result<(), LogError> {
        drop(self.log.take());
        self.log = Some(open_log(&self.data_dir())?);
        Ok(())
    }

    fn stores(&self) -> Arc<dyn StoreProvider> {
        Arc::new(EmbeddedStores::new(self.opened().backend().clone()))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    fn can(&self, need: Need) -> bool {
        !matches!(need, Need::Changelogs | Need::CompactedChangelogs)
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        self.opened().backend().maintain(now)
    }
}

#[test]
fn the_embedded_log_conforms() {
    run(&|| Box::new(Embedded::new()), 4, &std::env::var("CONFORMANCE_ONLY").unwrap_or_default());
}

/// A log in memory that keeps state in changelogs, with the state itself on disk.
struct StateOnDisk {
    log: InProcessLog<MemoryBackend>,
    clock: Arc<RealClock>,
    disks: AtomicU32,
    directory: TempDir,
}

impl Harness for StateOnDisk {
    fn log(&self) -> Arc<dyn Log> {
        Arc::new(self.log.clone())
    }

    fn reopen(&mut self) -> Result<(), LogError> {
        Ok(())
    }

    fn stores(&self) -> Arc<dyn StoreProvider> {
        let disk = self.directory.path().join(format!("disk-{}", self.disks.fetch_add(1, Ordering::SeqCst)));
        Arc::new(RocksStores::new(&disk, StoreMemory::default()))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    fn can(&self, _: Need) -> bool {
        true
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        self.log.backend().maintain(now)
    }
}

#[test]
fn stages_with_state_on_disk_conform() {
    let make = || -> Box<dyn Harness> {
        Box::new(StateOnDisk {
            log: InProcessLog::new(MemoryBackend::default()),
            clock: Arc::new(RealClock::default()),
            disks: AtomicU32::new(0),
            directory: TempDir::new().unwrap(),
        })
    };
    run(&make, 4, &std::env::var("CONFORMANCE_ONLY").unwrap_or_default());
}
