//! The section `[budget]`.

use super::common::{DAY, SECOND};
use crate::form::{Count, Number, Optional, Size, Span};
use std::time::Duration;

section! {
    /// How much may be fetched.
    budget: Budget {
        /// Requests per second, all hosts together.
        fetches_per_second: f64 = RATE,
        /// Bytes received per second, all hosts together; `None` for no limit.
        bytes_per_second: Option<u64> = Optional(Size(1 << 10, 1 << 40)),
        /// Requests per second per host; `None` when only the crawl delay limits it.
        host_fetches_per_second: Option<f64> = Optional(RATE),
        /// How much unspent budget may pile up: at most this long a time's worth.
        burst: Duration = Span(SECOND, DAY),
        /// Most requests handed out and unanswered.
        in_flight: usize = Count::new(1, 10_000_000),
        /// How much of a host's own time is handed out ahead of it.
        host_ahead: Duration = Span(Duration::ZERO, DAY),
    }
}

const RATE: Number = Number(0.000_001, 1_000_000.0);
