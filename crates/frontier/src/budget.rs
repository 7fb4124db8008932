//! The fetches and bytes that this partition has earned and not spent.

use page::Timestamp;

/// Most fetches that may be owed, if no more can be saved up. One look may take dozens of requests.
const MOST_DEBT: f64 = 100.0;

pub(crate) struct FetchBudget {
    pub(crate) tokens: f64,
    /// Bytes that may still be received, when they are limited. The weight of a page is known only after its fetch, so
    /// this may fall below zero. Nothing is handed out until it has risen again.
    pub(crate) bytes: f64,
    filled_at: Option<Timestamp>,
    /// The cap on `tokens`, and what the last tick earned.
    most: f64,
    earned: f64,
}

/// One fetch may go out at once: a restart must cost no wait and cause no burst.
impl Default for FetchBudget {
    fn default() -> Self {
        Self { tokens: 1.0, bytes: 0.0, filled_at: None, most: 2.0, earned: 0.0 }
    }
}

impl FetchBudget {
    /// Adds what the time since the last call has earned, up to the burst. There is always
    /// room for two fetches: with room for one, the fraction left over at every fetch would be lost, a sixth of a small
    /// budget at a long scan interval.
    pub(crate) fn fill(&mut self, now: Timestamp, fetches_per_day: f64, bytes_per_day: Option<f64>, burst_days: f64) {
        let days = self.filled_at.map_or(0.0, |filled_at| now.days_since(filled_at).max(0.0));
        self.filled_at = Some(now);
        self.most = (fetches_per_day * burst_days).max(2.0);
        self.earned = days * fetches_per_day;
        self.tokens = (self.tokens + self.earned).min(self.most);
        self.bytes = match bytes_per_day {
            Some(rate) => (self.bytes + days * rate).min(rate * burst_days),
            None => 0.0,
        };
    }

    /// Fetches that would overflow the cap at another tick like the last.
    pub(crate) fn surplus(&self) -> f64 {
        (self.tokens + self.earned - self.most).min(self.tokens)
    }

    /// Gives back a fetch that was handed out but not made.
    pub(crate) fn refund(&mut self) {
        self.tokens = (self.tokens + 1.0).min(self.most);
    }

    /// Subtracts what an answer has cost beyond the fetch that was handed out: the bytes received, and the requests for
    /// redirects and robots.txt.
    pub(crate) fn pay(&mut self, bytes: i64, further_requests: i32) {
        self.bytes -= bytes.max(0) as f64;
        self.tokens = (self.tokens - f64::from(further_requests.max(0))).max(-MOST_DEBT.max(self.most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::HOUR;

    #[test]
    fn no_look_makes_more_than_a_bounded_debt() {
        let mut budget = FetchBudget::default();
        let start = Timestamp::from_secs(0);
        budget.fill(start, 24.0, None, 0.0);
        budget.pay(0, 5);
        assert!((-4.0..=-3.0).contains(&budget.tokens), "{}", budget.tokens);
        (0..3).for_each(|_| budget.pay(0, i32::MAX));
        budget.pay(0, i32::MIN);
        budget.fill(start + 101 * HOUR, 24.0, None, 0.0);
        assert!((0.5..=2.0).contains(&budget.tokens), "one fetch an hour has paid off {MOST_DEBT}: {}", budget.tokens);
    }
}
