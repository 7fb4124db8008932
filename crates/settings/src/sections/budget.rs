//! The section `[budget]`.

use super::common::{DAY, SECOND};
use crate::form::{Count, Number, Optional, Size, Span};
use std::time::Duration;

section! {
    /// Limits on the amount fetched.
    budget: Budget {
        /// Requests per second, over all hosts.
        fetches_per_second: f64 = RATE,
        /// Bytes received per second, over all hosts. `None` means no limit.
        bytes_per_second: Option<u64> = Optional(Size(1 << 10, 1 << 40)),
        /// Requests per second per host. `None` means that only the crawl delay limits it.
        host_fetches_per_second: Option<f64> = Optional(RATE),
        /// Largest unspent budget that accumulates, as a time.
        burst: Duration = Span(SECOND, DAY),
        /// Most requests in flight: handed out and unanswered.
        in_flight: usize = Count::new(1, 10_000_000),
        /// How much work is handed out ahead to one host, as that host's own time.
        host_ahead: Duration = Span(Duration::ZERO, DAY),
    }
}

const RATE: Number = Number(0.000_001, 1_000_000.0);
