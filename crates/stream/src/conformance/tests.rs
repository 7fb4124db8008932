//! The log in memory is the yardstick: it passes, and so do the stages on it.

use super::{Harness, Need, run};
use crate::inprocess::{InProcessLog, LogBackend};
use crate::log::{Log, LogError};
use crate::memory::{MemoryBackend, MemoryStores};
use crate::runner::Clock;
use crate::store::StoreProvider;
use page::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp::from_micros(since.as_micros() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

struct Memory {
    log: InProcessLog<MemoryBackend>,
    clock: Arc<RealClock>,
}

impl Harness for Memory {
    fn log(&self) -> Arc<dyn Log> {
        Arc::new(self.log.clone())
    }

    fn reopen(&mut self) -> Result<(), LogError> {
        // Memory that outlives its process is all there is to a restart.
        Ok(())
    }

    fn stores(&self) -> Arc<dyn StoreProvider> {
        Arc::new(MemoryStores::default())
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
fn the_log_in_memory_conforms() {
    let make = || -> Box<dyn Harness> {
        let log = InProcessLog::new(MemoryBackend::default());
        Box::new(Memory { log, clock: Arc::new(RealClock(Instant::now())) })
    };
    run(&make, 4, &std::env::var("CONFORMANCE_ONLY").unwrap_or_default());
}
