//! Exponential back-off for hosts that fail: they answer 429 or 503, or not at all.
//!
//! The pause doubles with each failure up to a cap, and never ends before the host's own `Retry-After`. Each good answer
//! halves the next pause, and after a quiet time the count starts again. Answers to requests that were in flight when the
//! first one failed are no new evidence, so answers during a pause change nothing.

use page::{HOUR, MINUTE, Timestamp};
use std::time::Duration;
use thiserror::Error;

/// How pauses grow and when failures are forgotten. Invariant: 0 < first ≤ cap ≤ 7 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffRule {
    first: Duration,
    cap: Duration,
    forget_after: Duration,
}

/// Why a back-off rule is refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BackoffProblem {
    /// Zero stays zero when doubled.
    #[error("first back-off pause is zero; give at least a second")]
    ZeroFirst,
    /// The first pause exceeds the cap.
    #[error("first back-off pause is longer than the longest one; lower the first or raise the longest")]
    FirstAboveCap,
    /// The cap exceeds a week: the recovery of a host should be noticed within a week.
    #[error("longest back-off pause is longer than 7 days; pause the host instead")]
    CapTooLong,
}

impl BackoffRule {
    const LONGEST_CAP: Duration = WEEK;

    /// `first` is the pause after the first failure, `cap` the longest pause. The count starts again when
    /// `forget_after` has passed since the end of a pause without a new failure.
    pub fn try_new(first: Duration, cap: Duration, forget_after: Duration) -> Result<Self, BackoffProblem> {
        if first.is_zero() {
            Err(BackoffProblem::ZeroFirst)
        } else if first > cap {
            Err(BackoffProblem::FirstAboveCap)
        } else if cap > Self::LONGEST_CAP {
            Err(BackoffProblem::CapTooLong)
        } else {
            Ok(Self { first, cap, forget_after })
        }
    }

    /// A rule from an operator's settings. Caps longer than a week are a week, and failures are forgotten after a quiet
    /// hour. Values that are not a valid rule give the default.
    pub fn at_most_a_week(first: Duration, cap: Duration) -> Self {
        let default = Self::default();
        Self::try_new(first, cap.min(Self::LONGEST_CAP), default.forget_after).unwrap_or(default)
    }

    /// The shortest pause after a failure, whatever the jitter.
    pub fn least_pause(&self) -> Duration {
        self.first.mul_f64(LEAST_SHARE)
    }
}

/// Challenges in a row after which a host is taken to keep crawlers out of all its pages.
pub const CHALLENGES: u32 = 3;
/// How long a page or host that keeps crawlers out is left alone.
pub const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// Jitter: a pause lasts at least this share of its nominal length, plus up to `SPREAD` of it.
const LEAST_SHARE: f64 = 0.75;
const SPREAD: f64 = 0.5;

/// Half a minute, doubling to six hours, forgotten after a quiet hour.
impl Default for BackoffRule {
    fn default() -> Self {
        Self { first: MINUTE / 2, cap: 6 * HOUR, forget_after: HOUR }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBackoff {
    /// Failures minus good answers, without those during a pause. The next pause doubles as often.
    pub troubles: u32,
    /// Answers by which the host kept crawlers out, since the last good one.
    pub challenges: u32,
    /// End of the last pause.
    pub until: Timestamp,
}

/// A host without recent failures.
impl Default for HostBackoff {
    fn default() -> Self {
        Self { troubles: 0, challenges: 0, until: Timestamp::MIN }
    }
}

impl HostBackoff {
    /// The state after a 429, a 503 or a failure to connect at `now`. `retry_after` is the wait that the host asked
    /// for. `chance` in \[0, 1) is the jitter, which spreads hosts that failed together: the pause lies between 75 %
    /// and 125 % of its nominal length.
    #[must_use]
    pub fn after_trouble(
        self,
        rule: &BackoffRule,
        retry_after: Option<Duration>,
        chance: f64,
        now: Timestamp,
    ) -> HostBackoff {
        let asked = now + retry_after.unwrap_or_default();
        if now < self.until {
            return HostBackoff { until: self.until.max(asked), ..self };
        }
        let troubles = if self.is_forgotten(rule, now) { 1 } else { self.troubles.saturating_add(1) };
        let doublings = (troubles - 1).min(31);
        let nominal = rule.first.saturating_mul(1 << doublings).min(rule.cap);
        // NaN or a value out of range must not make an extreme pause.
        let chance = if chance.is_nan() { 0.5 } else { chance.clamp(0.0, 1.0) };
        let pause = nominal.mul_f64(LEAST_SHARE + SPREAD * chance).min(rule.cap);
        HostBackoff { troubles, until: asked.max(now + pause), ..self }
    }

    /// The state after an answer at `now` by which the host keeps crawlers out (402, a challenge). It is trouble like any
    /// other, until [`CHALLENGES`] have come without a good answer between them: then the pause is a week. One page of a host may
    /// be walled off while the others are not.
    #[must_use]
    pub fn after_challenge(
        self,
        rule: &BackoffRule,
        retry_after: Option<Duration>,
        chance: f64,
        now: Timestamp,
    ) -> HostBackoff {
        let after = self.after_trouble(rule, retry_after, chance, now);
        if now < self.until {
            return after;
        }
        let challenges = self.challenges.saturating_add(1);
        let until = if challenges >= CHALLENGES { after.until.max(now + WEEK) } else { after.until };
        HostBackoff { challenges, until, ..after }
    }

    /// The state after a good answer at `now`: the next pause is half as long.
    #[must_use]
    pub fn after_answer(self, now: Timestamp) -> HostBackoff {
        if now < self.until {
            return self;
        }
        HostBackoff { troubles: self.troubles.saturating_sub(1), challenges: 0, ..self }
    }

    /// The end of the pause, or `None` if the host may be asked at `now`.
    pub fn pause_until(&self, now: Timestamp) -> Option<Timestamp> {
        (now < self.until).then_some(self.until)
    }

    /// Whether the quiet time has passed, so that this state equals the default and may be dropped.
    pub fn is_forgotten(&self, rule: &BackoffRule, now: Timestamp) -> bool {
        self.troubles == 0 || now >= self.until + rule.forget_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn rule() -> BackoffRule {
        BackoffRule::try_new(MINUTE, 10 * MINUTE, HOUR).unwrap()
    }

    /// The pauses if every request fails as soon as the last pause ends.
    fn pauses(count: usize) -> Vec<Duration> {
        let (mut state, mut now) = (HostBackoff::default(), NOW);
        let pause = || {
            state = state.after_trouble(&rule(), None, 0.5, now);
            let pause = state.until.saturating_since(now);
            now = state.until;
            pause
        };
        std::iter::repeat_with(pause).take(count).collect()
    }

    #[test]
    fn pauses_double_up_to_the_cap() {
        assert_eq!(pauses(6), [1, 2, 4, 8, 10, 10].map(|minutes| minutes * MINUTE));
    }

    #[test]
    fn no_pause_without_a_word_of_the_hosts_is_shorter_than_the_least() {
        let pause =
            |chance| HostBackoff::default().after_trouble(&rule(), None, chance, NOW).until.saturating_since(NOW);
        assert_eq!((pause(0.0), rule().least_pause()), (MINUTE * 3 / 4, MINUTE * 3 / 4));
        assert_eq!(pause(1.0), MINUTE * 5 / 4);
    }

    #[test]
    fn an_operators_pauses_are_a_week_at_most() {
        let week = 7 * 24 * HOUR;
        assert_eq!(BackoffRule::at_most_a_week(MINUTE, 10 * MINUTE), rule());
        assert_eq!(BackoffRule::at_most_a_week(MINUTE, 2 * week), BackoffRule::try_new(MINUTE, week, HOUR).unwrap());
        assert_eq!(BackoffRule::at_most_a_week(Duration::ZERO, HOUR), BackoffRule::default());
    }

    #[test]
    fn each_good_answer_halves_the_next_pause() {
        let mut state = HostBackoff::default();
        for _ in 0..3 {
            state = state.after_trouble(&rule(), None, 0.5, state.until.max(NOW));
        }
        let now = state.until;
        assert_eq!(state.after_answer(now - MINUTE), state, "a request sent before the pause");
        let pause = |state: HostBackoff| state.after_trouble(&rule(), None, 0.5, now).until.saturating_since(now);
        let after = |answers| (0..answers).fold(state, |state, _| state.after_answer(now));
        assert_eq!([0, 1, 2, 3, 9].map(|answers| pause(after(answers))), [8, 4, 2, 1, 1].map(|it| it * MINUTE));
    }

    #[test]
    fn a_host_rests_for_a_week_after_three_challenges_in_a_row() {
        let challenged = |state: HostBackoff| {
            let now = state.until.max(NOW);
            let after = state.after_challenge(&rule(), None, 0.5, now);
            (after, after.until.saturating_since(now))
        };
        let (first, pause) = challenged(HostBackoff::default());
        assert_eq!(pause, MINUTE);
        let (second, pause) = challenged(first);
        assert_eq!(pause, 2 * MINUTE);
        let (third, pause) = challenged(second);
        assert_eq!((pause, challenged(third).1), (WEEK, WEEK));
        // An answer that shows a page comes between them.
        let open = second.after_answer(second.until);
        assert_eq!(challenged(open).1, 2 * MINUTE);
        assert!(challenged(third.after_answer(third.until)).1 < WEEK, "also after a week");
        // Failures of other kinds do not count.
        let failed = first.after_trouble(&rule(), None, 0.5, first.until);
        let failed = failed.after_trouble(&rule(), None, 0.5, failed.until);
        assert!(challenged(failed).1 < WEEK);
        // An answer to a request that was under way adds nothing.
        assert_eq!(second.after_challenge(&rule(), None, 0.5, second.until - MINUTE / 2), second);
    }

    #[test]
    fn trouble_during_a_pause_reports_nothing_new() {
        let state = HostBackoff::default().after_trouble(&rule(), None, 0.5, NOW);
        assert_eq!(state.after_trouble(&rule(), None, 0.5, NOW + MINUTE / 2), state);
    }

    #[test]
    fn the_hosts_own_word_is_kept() {
        let state = HostBackoff::default().after_trouble(&rule(), Some(HOUR), 0.5, NOW);
        assert_eq!(state.pause_until(NOW), Some(NOW + HOUR));
        let longer = state.after_trouble(&rule(), Some(2 * HOUR), 0.5, NOW + MINUTE);
        assert_eq!(longer.pause_until(NOW), Some(NOW + MINUTE + 2 * HOUR));
        assert_eq!(state.pause_until(NOW + HOUR), None);
    }

    #[test]
    fn quiet_makes_a_host_like_new() {
        let mut state = HostBackoff::default();
        assert!(state.is_forgotten(&rule(), NOW));
        state = state.after_trouble(&rule(), None, 0.5, NOW);
        state = state.after_trouble(&rule(), None, 0.5, NOW + MINUTE);
        let quiet = NOW + 3 * MINUTE + HOUR;
        assert!(!state.is_forgotten(&rule(), NOW + HOUR));
        assert!(state.is_forgotten(&rule(), quiet));
        assert_eq!(state.after_trouble(&rule(), None, 0.5, quiet).pause_until(quiet), Some(quiet + MINUTE));
    }

    #[test]
    fn a_rule_that_makes_no_sense_is_refused() {
        let check = |first, cap, problem| assert_eq!(BackoffRule::try_new(first, cap, HOUR), Err(problem));
        check(Duration::ZERO, HOUR, BackoffProblem::ZeroFirst);
        check(2 * HOUR, HOUR, BackoffProblem::FirstAboveCap);
        check(HOUR, 1_000 * HOUR, BackoffProblem::CapTooLong);
    }

    proptest! {
        #[test]
        fn no_pause_is_shorter_than_asked_or_longer_than_the_cap_of_all_that_may_lengthen_it(
            steps in proptest::collection::vec((0u64..20_000, proptest::option::of(0u64..90_000), any::<f64>()), 1..40)
        ) {
            let (mut state, mut now) = (HostBackoff::default(), NOW);
            for (elapsed, asked, chance) in steps {
                now = now + Duration::from_secs(elapsed);
                let asked = asked.map(Duration::from_secs);
                let before = state.until;
                state = state.after_trouble(&rule(), asked, chance, now);
                prop_assert!(state.until >= now + asked.unwrap_or_default());
                prop_assert!(state.until <= before.max(now + asked.unwrap_or_default().max(rule().cap)));
            }
        }
    }
}
