//! The section `[politeness]`.

use super::common::{DAY, MINUTE, YEAR};
use crate::form::{Number, Span};
use std::time::Duration;

section! {
    /// How not to be a burden.
    politeness: Politeness {
        /// Pause between the end of one request to a host and the start of the next. Zero is for loopback only.
        crawl_delay: Duration = Span(Duration::ZERO, DAY),
        /// Pause between the starts of two requests to one address, whatever their hosts.
        address_delay: Duration = Span(Duration::ZERO, DAY),
        /// Longest crawl delay of a robots.txt that is honoured as asked.
        max_crawl_delay: Duration = Span(Duration::ZERO, DAY),
        /// Least pause as a multiple of the host's response time.
        response_time_factor: f64 = Number(0.0, 1_000.0),
        /// How long a robots.txt is relied on.
        robots_refresh: Duration = Span(MINUTE, YEAR),
        /// Pause for a host after its first failure; doubled with each further one.
        backoff_base: Duration = Span(Duration::from_millis(1), YEAR),
        /// Longest pause for a failing host.
        backoff_max: Duration = Span(Duration::from_millis(1), YEAR),
    }
}
