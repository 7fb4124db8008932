//! The section `[log]`.

use super::common::{HOUR, MINUTE, SECOND, TEN_YEARS};
use crate::form::{Count, Optional, OrWord, Size, Span};
use std::time::Duration;

section! {
    /// The log between the stages.
    log: Log {
        /// Partitions of each embedded topic.
        partitions: u32 = Count::new(1, 4_096),
        /// Longest wait before a smaller batch is taken. `None` means a time that fits the log.
        batch_interval: Option<Duration> = Optional(Span(Duration::ZERO, MINUTE)),
        /// Longest wait for requests in flight on shutdown.
        drain_timeout: Duration = Span(Duration::ZERO, HOUR),
        /// Least retention of fetch results. `None` means as long as the loop needs them.
        retention_results: Option<Duration> = Optional(RETENTION),
        /// Least retention of page changes.
        retention_changes: Duration = RETENTION,
        /// Least retention of records that were set aside because no stage can read them.
        retention_dead_letters: Duration = RETENTION,
        /// Least retention of the records of orders.
        retention_audit: Duration = RETENTION,
        /// Memory of a service's state store over Kafka. `None` means a tenth of what the process may use.
        state_memory: Option<u64> = Optional(Size(16 << 20, 1 << 40)),
        /// Bytes of the disk that must stay free for new work, 0 for none. `None` means 1 GiB or a tenth of the file system,
        /// whichever is less.
        min_free_disk: Option<u64> = Optional(Size(0, 1 << 60)),
        /// Interval between syncs of the embedded log to disk. `None` means never.
        sync: Option<Duration> = OrWord("never", Span(Duration::from_millis(10), HOUR)),
    }
}

const RETENTION: Span = Span(SECOND, TEN_YEARS);
