//! Time in microseconds since the Unix epoch. Formulas convert it to days.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

pub const SECOND: Duration = Duration::from_secs(1);
pub const MINUTE: Duration = Duration::from_secs(60);
pub const HOUR: Duration = Duration::from_secs(3_600);
/// One day of 24 hours.
pub const DAY: Duration = Duration::from_secs(86_400);

const MICROS_PER_DAY: f64 = 86_400e6;

/// A point in time: microseconds since 1970-01-01T00:00:00Z. It may come from a real or a simulated clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest time, before all others.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// The latest time. As a due time it means "never".
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since the epoch, rounded down.
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Seconds since the epoch, rounded down.
    pub const fn as_secs(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    pub fn as_days(self) -> f64 {
        self.0 as f64 / MICROS_PER_DAY
    }

    /// Days since `earlier`, negative if `earlier` is later.
    pub fn days_since(self, earlier: Timestamp) -> f64 {
        (self.0 as f64 - earlier.0 as f64) / MICROS_PER_DAY
    }

    /// The time since `earlier`, or zero if `earlier` is later.
    pub fn saturating_since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0).max(0) as u64)
    }

    /// Adds a number of days, which may be negative. Saturates.
    pub fn plus_days(self, days: f64) -> Timestamp {
        Self(self.0.saturating_add((days * MICROS_PER_DAY) as i64))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, duration: Duration) -> Timestamp {
        Self(self.0.saturating_sub(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }
}

/// RFC 3339 in UTC, to the millisecond: `2026-11-20T20:25:47.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.as_millis();
        let (days, in_day) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (in_day / 3_600_000, in_day / 60_000 % 60, in_day / 1_000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", in_day % 1_000)
    }
}

/// Proleptic Gregorian date of a day number since the epoch (Hinnant, "chrono-compatible low-level date algorithms").
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_as_rfc_3339() {
        let check = |seconds, text: &str| assert_eq!(Timestamp::from_secs(seconds).to_string(), text);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400, "2000-02-29T00:00:00.000Z");
        check(1_795_206_347, "2026-11-20T20:25:47.000Z");
        check(-1, "1969-12-31T23:59:59.000Z");
    }

    #[test]
    fn days_and_durations_agree() {
        let start = Timestamp::from_secs(1_000);
        assert_eq!((start + DAY).days_since(start), 1.0);
        assert_eq!(start.plus_days(0.5), start + 12 * HOUR);
        assert_eq!(start.saturating_since(start + DAY), Duration::ZERO);
    }
}
