//! The delay between two fetches of one host.

use page::DAY;
use std::time::Duration;
use thiserror::Error;

/// A delay between two fetches of one host. Invariant: at most a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrawlDelay(Duration);

/// Why a delay or a delay rule is refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DelayProblem {
    /// Longer than a day.
    #[error("crawl delay of {} s is longer than a day; pause the host instead", .0.as_secs_f64())]
    TooLong(Duration),
    /// NaN, negative, or over 1,000.
    #[error("response factor {0} is not between 0 and 1000")]
    BadFactor(f64),
}

impl CrawlDelay {
    /// The longest delay: a day.
    pub const MAX: CrawlDelay = CrawlDelay(DAY);
    /// No delay. Only for one's own hosts.
    pub const ZERO: CrawlDelay = CrawlDelay(Duration::ZERO);

    /// Fails for more than a day.
    pub fn try_new(delay: Duration) -> Result<Self, DelayProblem> {
        if delay > DAY { Err(DelayProblem::TooLong(delay)) } else { Ok(Self(delay)) }
    }

    /// Caps the delay at a day.
    pub fn at_most_a_day(delay: Duration) -> Self {
        Self(delay.min(DAY))
    }

    pub const fn as_duration(self) -> Duration {
        self.0
    }
}

/// Parameters of a host's delay. Validated, so that later arithmetic cannot overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRule {
    configured: CrawlDelay,
    robots_cap: CrawlDelay,
    response_factor: f64,
}

impl DelayRule {
    /// `configured` is the least delay, and `robots_cap` the longest that a robots.txt may ask for. `response_factor`
    /// times the last response time is also a least delay, so that slow hosts are asked less often (0 disables it).
    pub fn try_new(configured: CrawlDelay, robots_cap: CrawlDelay, response_factor: f64) -> Result<Self, DelayProblem> {
        if (0.0..=1_000.0).contains(&response_factor) {
            Ok(Self { configured, robots_cap, response_factor })
        } else {
            Err(DelayProblem::BadFactor(response_factor))
        }
    }

    /// The rule with another least delay.
    #[must_use]
    pub fn with_configured(self, configured: CrawlDelay) -> Self {
        Self { configured, ..self }
    }

    /// The delay after a fetch: max(configured, min(robots crawl-delay, cap), factor × last response time), capped at a
    /// day.
    pub fn delay_after(&self, robots_crawl_delay: Option<Duration>, last_response_time: Duration) -> CrawlDelay {
        let asked = robots_crawl_delay.unwrap_or_default().min(self.robots_cap.0);
        // A day times the largest factor is still far from overflow.
        let slowness = last_response_time.min(DAY).mul_f64(self.response_factor);
        CrawlDelay::at_most_a_day(self.configured.0.max(asked).max(slowness))
    }
}

/// At least one second, at most five minutes for a robots.txt, and five times the response time.
impl Default for DelayRule {
    fn default() -> Self {
        Self {
            configured: CrawlDelay(Duration::from_secs(1)),
            robots_cap: CrawlDelay(Duration::from_secs(300)),
            response_factor: 5.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn delay(seconds: f64) -> CrawlDelay {
        CrawlDelay::try_new(Duration::from_secs_f64(seconds)).unwrap()
    }

    #[test]
    fn the_longest_of_three_wishes_counts() {
        let rule = DelayRule::try_new(delay(1.0), delay(60.0), 10.0).unwrap();
        let check = |robots: Option<u64>, response_ms, seconds| {
            let got = rule.delay_after(robots.map(Duration::from_secs), Duration::from_millis(response_ms));
            assert_eq!(got, delay(seconds), "{robots:?} {response_ms}");
        };
        check(None, 20, 1.0);
        check(Some(5), 20, 5.0);
        check(Some(3_600), 20, 60.0);
        check(Some(5), 900, 9.0);
        check(None, 100_000, 1_000.0);
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        assert!(matches!(CrawlDelay::try_new(DAY * 2), Err(DelayProblem::TooLong(_))));
        for factor in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(DelayRule::try_new(CrawlDelay::ZERO, CrawlDelay::ZERO, factor).is_err());
        }
    }

    proptest! {
        #[test]
        fn a_delay_is_never_below_the_configured_one_nor_above_a_day(
            configured in 0u64..86_400, robots in proptest::option::of(any::<u64>()), response in any::<u64>(), factor in 0.0..1_000.0
        ) {
            let configured = CrawlDelay::try_new(Duration::from_secs(configured)).unwrap();
            let rule = DelayRule::try_new(configured, CrawlDelay::MAX, factor).unwrap();
            let got = rule.delay_after(robots.map(Duration::from_secs), Duration::from_millis(response));
            prop_assert!(configured <= got && got <= CrawlDelay::MAX);
        }
    }
}
