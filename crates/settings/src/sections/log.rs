//! The section `[log]`.

use super::common::{HOUR, MINUTE, SECOND, TEN_YEARS};
use crate::form::{Count, Optional, OrWord, Span};
use std::time::Duration;

section! {
    /// The log between the stages.
    log: Log {
        /// Partitions of each embedded topic.
        partitions: u32 = Count::new(1, 4_096),
        /// Most records in one transaction.
        batch_records: usize = Count::new(1, 1_000_000),
        /// Bytes of records after which a batch takes no further one.
        batch_bytes: u64 = Count::new(1 << 20, 1 << 30),
        /// Longest wait until a smaller batch is taken.
        batch_interval: Duration = Span(Duration::ZERO, MINUTE),
        /// Longest wait at the end for what is under way.
        drain_timeout: Duration = Span(Duration::ZERO, HOUR),
        /// Least time fetch results are kept; `None` for as long as the loop needs them.
        retention_results: Option<Duration> = Optional(RETENTION),
        /// Least time page changes are kept.
        retention_changes: Duration = RETENTION,
        /// Least time dead letters are kept.
        retention_dead_letters: Duration = RETENTION,
        /// How often the embedded log is synced to its disk; `None` for never.
        sync: Option<Duration> = OrWord("never", Span(Duration::from_millis(10), HOUR)),
    }
}

const RETENTION: Span = Span(SECOND, TEN_YEARS);
