//! Peaks of a schedule: the most fetches in any second, and the most at any one host (F1 of the algorithm notes).

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The most fetches in a period. Seconds and days are those of the clock, not sliding windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Peaks {
    pub per_second: u32,
    /// Most fetches at one host in a second.
    pub per_host_and_second: u32,
    /// Most fetches at one host in a day, to compare with the host's limit.
    pub per_host_and_day: u32,
}

/// Counts the fetches of the current second (or day).
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    period: u32,
    count: u32,
}

impl Counter {
    /// Adds a fetch in this period. Returns the number of fetches in it.
    fn add(&mut self, period: u32) -> u32 {
        if self.period != period {
            *self = Self { period, count: 0 };
        }
        self.count += 1;
        self.count
    }
}

/// Finds peaks among fetches in the order of time: 16 bytes a host.
#[derive(Clone, Debug, Default)]
pub(super) struct PeakCounter {
    second: Counter,
    hosts: Vec<(Counter, Counter)>,
    peaks: Peaks,
}

impl PeakCounter {
    /// Adds a fetch at a host, `days` (not negative) after the start.
    pub(super) fn add(&mut self, host: u32, days: f64) {
        let (second, day) = ((days * SECONDS_PER_DAY) as u32, days as u32);
        let host = host as usize;
        if host >= self.hosts.len() {
            self.hosts.resize(host + 1, Default::default());
        }
        let (host_second, host_day) = &mut self.hosts[host];
        let peaks = &mut self.peaks;
        peaks.per_second = peaks.per_second.max(self.second.add(second));
        peaks.per_host_and_second = peaks.per_host_and_second.max(host_second.add(second));
        peaks.per_host_and_day = peaks.per_host_and_day.max(host_day.add(day));
    }

    pub(super) fn peaks(&self) -> Peaks {
        self.peaks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_second_and_the_busiest_host_are_found() {
        let mut counter = PeakCounter::default();
        assert_eq!(counter.peaks(), Peaks::default());
        let second = 1.0 / SECONDS_PER_DAY;
        // Three in a second, of which two at host 7; five at host 1 over a day; one the day after.
        for (host, days) in [(7, 0.1), (7, 0.1 + 0.2 * second), (2, 0.1 + 0.4 * second)] {
            counter.add(host, days);
        }
        (0..5).for_each(|i| counter.add(1, 0.2 + 0.1 * f64::from(i)));
        counter.add(1, 1.5);
        assert_eq!(counter.peaks(), Peaks { per_second: 3, per_host_and_second: 2, per_host_and_day: 5 });
    }
}
