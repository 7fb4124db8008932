//! When something that was not delivered is tried again.

use std::time::{Duration, Instant};

/// Wait after the first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Longest wait that is not asked for by the receiver.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The first attempt at a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstTry {
    pub(crate) at: Instant,
    pub(crate) give_up_after: Duration,
}

/// The step after a failure: another attempt after this wait, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextTry {
    In(Duration),
    /// Give up, and why.
    Never(String),
}

impl FirstTry {
    /// Decides the step after the failure of this attempt. `asked` is the wait that the receiver asks for (`Retry-After`).
    /// `chance`, from 0 to 1, spreads the attempts of several senders.
    pub(crate) fn next(self, attempt: u32, now: Instant, asked: Option<Duration>, chance: f64) -> NextTry {
        let passed = now.saturating_duration_since(self.at);
        let reported = |duration: Duration| humantime::format_duration(Duration::from_secs(duration.as_secs()));
        if passed >= self.give_up_after {
            return NextTry::Never(format!("given up after {attempt} attempts in {}", reported(passed)));
        }
        let left = self.give_up_after - passed;
        if let Some(asked) = asked {
            return match asked <= left {
                true => NextTry::In(asked),
                false => NextTry::Never(format!(
                    "given up, because it asks to wait {}, longer than --give-up-after",
                    reported(asked)
                )),
            };
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(LONGEST_WAIT);
        // The last attempt is at the end of the time.
        NextTry::In(doubled.mul_f64(0.5 + chance / 2.0).min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn next(attempt: u32, passed: Duration, asked: Option<Duration>, chance: f64) -> NextTry {
        let at = Instant::now();
        FirstTry { at, give_up_after: HOUR }.next(attempt, at + passed, asked, chance)
    }

    #[test]
    fn waits_double_up_to_a_minute_and_vary_by_half() {
        let waits = |chance| [1, 2, 3, 20, 4_000_000].map(|attempt| next(attempt, Duration::ZERO, None, chance));
        assert_eq!(waits(1.0), [500, 1_000, 2_000, 60_000, 60_000].map(|ms| NextTry::In(Duration::from_millis(ms))));
        assert_eq!(waits(0.0), [250, 500, 1_000, 30_000, 30_000].map(|ms| NextTry::In(Duration::from_millis(ms))));
    }

    #[test]
    fn the_last_attempt_is_at_the_end_of_the_time() {
        let nearly = HOUR - Duration::from_secs(7);
        assert_eq!(next(50, nearly, None, 1.0), NextTry::In(Duration::from_secs(7)));
        assert_eq!(next(51, HOUR, None, 1.0), NextTry::Never("given up after 51 attempts in 1h".to_owned()));
    }

    #[test]
    fn what_the_receiver_asks_for_is_kept_unless_it_takes_too_long() {
        assert_eq!(next(1, Duration::ZERO, Some(Duration::from_secs(90)), 0.3), NextTry::In(Duration::from_secs(90)));
        let late = next(2, HOUR / 2, Some(HOUR), 0.3);
        assert!(
            matches!(&late, NextTry::Never(why) if why.contains("wait 1h, longer than --give-up-after")),
            "{late:?}"
        );
    }
}
