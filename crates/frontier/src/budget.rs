//! What may be fetched, as far as this partition has earned it.

use page::Timestamp;

/// Unspent budget of this partition.
pub(crate) struct Budget {
    pub(crate) tokens: f64,
    /// Bytes that may still be received, when they are limited. What a page weighs is known only afterwards, so this may
    /// fall below zero; nothing is handed out until it has risen again.
    pub(crate) bytes: f64,
    filled_at: Option<Timestamp>,
    /// The most that fits, and what the last tick has earned.
    most: f64,
    earned: f64,
}

/// One fetch may go out at once; a restart must not cost a wait, nor cause a burst.
impl Default for Budget {
    fn default() -> Self {
        Self { tokens: 1.0, bytes: 0.0, filled_at: None, most: 2.0, earned: 0.0 }
    }
}

impl Budget {
    /// Adds what time has earned, up to the burst, and never less than room for two fetches: with room for one, the
    /// fraction left over at every fetch would be lost, a sixth of a small budget at a long scan interval.
    /// Returns how many fetches that was.
    pub(crate) fn fill(
        &mut self,
        now: Timestamp,
        fetches_per_day: f64,
        bytes_per_day: Option<f64>,
        burst_days: f64,
    ) -> f64 {
        let days = self.filled_at.map_or(0.0, |filled_at| now.days_since(filled_at).max(0.0));
        self.filled_at = Some(now);
        self.most = (fetches_per_day * burst_days).max(2.0);
        self.earned = days * fetches_per_day;
        let before = self.tokens;
        self.tokens = (self.tokens + self.earned).min(self.most);
        self.bytes = match bytes_per_day {
            Some(rate) => (self.bytes + days * rate).min(rate * burst_days),
            None => 0.0,
        };
        self.tokens - before
    }

    /// Fetches that another tick like the last would not find room for.
    pub(crate) fn surplus(&self) -> f64 {
        (self.tokens + self.earned - self.most).min(self.tokens)
    }

    /// Gives back a fetch that was handed out and not made.
    pub(crate) fn refund(&mut self) {
        self.tokens = (self.tokens + 1.0).min(self.most);
    }

    /// Takes off what a page has weighed.
    pub(crate) fn pay_bytes(&mut self, bytes: i64) {
        self.bytes -= bytes.max(0) as f64;
    }
}
