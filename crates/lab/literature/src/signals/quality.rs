//! How far a host's signals can be trusted, learned from looks.

use thiserror::Error;

/// Recall and precision of signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalQuality {
    recall: f64,
    precision: f64,
}

/// A recall or precision outside 0..=1.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{name} is {value}; it must lie in 0..=1")]
pub struct InvalidQuality {
    name: &'static str,
    value: f64,
}

impl SignalQuality {
    /// `recall`: share of changes that are announced; `precision`: share of signals with a change behind them. Without
    /// true signals no change is announced: with a precision of 0 the recall counts as 0, and the reverse.
    pub fn new(recall: f64, precision: f64) -> Result<Self, InvalidQuality> {
        for (name, value) in [("recall", recall), ("precision", precision)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(InvalidQuality { name, value });
            }
        }
        let useless = recall == 0.0 || precision == 0.0;
        Ok(if useless { Self { recall: 0.0, precision: 0.0 } } else { Self { recall, precision } })
    }

    /// The quality of signals with `false_signals_per_day` besides the true ones.
    pub fn from_rates(
        change_rate_per_day: f64,
        recall: f64,
        false_signals_per_day: f64,
    ) -> Result<Self, InvalidQuality> {
        let true_signals = recall * change_rate_per_day;
        let precision = if true_signals > 0.0 { true_signals / (true_signals + false_signals_per_day) } else { 0.0 };
        Self::new(recall, precision)
    }

    /// Share of changes that are announced.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// Share of signals with a change behind them.
    pub fn precision(&self) -> f64 {
        self.precision
    }

    /// Expected number of unseen changes that one signal adds, -ln(1 - precision): infinite when signals are always
    /// true.
    pub fn signal_exponent(&self) -> f64 {
        -(-self.precision).ln_1p()
    }
}

/// Whether a signal is news. A signal within the site's typical delay after a look is probably about a change that the
/// look has seen.
pub fn signal_counts(signal_days: f64, last_look_days: f64, typical_delay_days: f64) -> bool {
    signal_days - last_look_days >= typical_delay_days
}

/// The evidence of looks about a host's signals: expected counts, which add up over hosts and partitions.
///
/// A look that finds a page changed does not show whether a signal announced the change. By expectation maximisation,
/// each look is split according to the quality believed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SignalCounts {
    /// Signals that announced a change.
    pub true_signals: f64,
    /// Signals that announced nothing.
    pub false_signals: f64,
    /// Changes that no signal announced.
    pub silent_changes: f64,
}

impl SignalCounts {
    /// Prior belief about signals: half of all changes announced, one signal in five true.
    const PRIOR: SignalCounts = SignalCounts { true_signals: 0.4, false_signals: 1.6, silent_changes: 0.4 };

    /// Number of signals that all hosts together count for in the belief about one of them.
    const POOL_STRENGTH: f64 = 5.0;

    /// Factor by which each look reduces the weight of earlier ones, so that first guesses are forgotten.
    const KEPT: f64 = 0.999;

    /// The believed quality of a host, given the evidence of all hosts.
    pub fn quality(&self, pool: &SignalCounts) -> SignalQuality {
        let pool = pool.merged(&Self::PRIOR);
        let signals = pool.true_signals + pool.false_signals;
        let changes = pool.true_signals + pool.silent_changes;
        let posterior = |hits: f64, misses: f64, prior: f64| {
            (hits + Self::POOL_STRENGTH * prior) / (hits + misses + Self::POOL_STRENGTH)
        };
        SignalQuality {
            recall: posterior(self.true_signals, self.silent_changes, pool.true_signals / changes),
            precision: posterior(self.true_signals, self.false_signals, pool.true_signals / signals),
        }
    }

    /// Takes in a look `interval_days` after the previous one, at a page with this change rate, with this many signals
    /// in between. `quality` is the belief before it.
    pub fn observe(
        &mut self,
        quality: SignalQuality,
        change_rate_per_day: f64,
        interval_days: f64,
        signals: u32,
        changed: bool,
    ) {
        let silent = ((1.0 - quality.recall()) * change_rate_per_day * interval_days).clamp(0.0, 1e6);
        let signals = f64::from(signals);
        *self = self.scaled(Self::KEPT);
        if !changed {
            self.false_signals += signals;
            return;
        }
        let changed_probability = -(-silent - signals * quality.signal_exponent()).exp_m1();
        if changed_probability > 0.0 {
            let true_signals = (signals * quality.precision() / changed_probability).min(signals);
            self.true_signals += true_signals;
            self.false_signals += signals - true_signals;
            self.silent_changes += silent / changed_probability;
        } else {
            self.silent_changes += 1.0;
        }
    }

    /// The sum of both counts.
    #[must_use]
    pub fn merged(&self, other: &SignalCounts) -> SignalCounts {
        SignalCounts {
            true_signals: self.true_signals + other.true_signals,
            false_signals: self.false_signals + other.false_signals,
            silent_changes: self.silent_changes + other.silent_changes,
        }
    }

    fn scaled(&self, share: f64) -> SignalCounts {
        SignalCounts {
            true_signals: share * self.true_signals,
            false_signals: share * self.false_signals,
            silent_changes: share * self.silent_changes,
        }
    }
}
