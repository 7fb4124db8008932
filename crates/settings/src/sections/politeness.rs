//! The section `[politeness]`.

use super::common::{DAY, MINUTE, YEAR};
use crate::form::{Number, Span};
use std::time::Duration;

section! {
    /// Limits that protect hosts from overload.
    politeness: Politeness {
        /// Delay between the end of one request to a host and the start of the next. Zero is for loopback only.
        crawl_delay: Duration = Span(Duration::ZERO, DAY),
        /// Delay between the starts of two requests to one address, whatever their hosts.
        address_delay: Duration = Span(Duration::ZERO, DAY),
        /// Longest crawl delay that is accepted from a robots.txt.
        max_crawl_delay: Duration = Span(Duration::ZERO, DAY),
        /// Least delay as a multiple of the host's response time.
        response_time_factor: f64 = Number(0.0, 1_000.0),
        /// How long a robots.txt is used before it is fetched again.
        robots_refresh: Duration = Span(MINUTE, YEAR),
        /// Longest time for which max-age and Expires of an answer are heeded. Zero: not at all.
        max_age_cap: Duration = Span(Duration::ZERO, YEAR),
        /// Pause of a host after its first failure. Doubles with each further failure.
        backoff_base: Duration = Span(Duration::from_millis(1), YEAR),
        /// Longest pause of a failing host.
        backoff_max: Duration = Span(Duration::from_millis(1), YEAR),
    }
}
