//! When is a page looked at again, and above all one that a look did not show?
//!
//! A page that was not found, whose server failed, or in whose place something else stood may be back in a moment. So
//! the next look comes soon, and each further one later: after 1, 5, 60 and 360 times `policy.retry_base`, and then
//! after the wait of its kind. No wait is longer than the page's `max_interval`, but for a page whose host keeps crawlers
//! out: that is asked for once a week. For three days none is longer than the
//! time in which the page's own rate earns a look, so a page that is away costs no more than one that is there.

use messages::{ContentEvidence, Look, LookJudgement, RetryRule, Verdict};
use page::{DAY, Timestamp};
use politeness::WEEK;
use std::time::Duration;

/// Waits after the first looks in a row that do not show the page, in multiples of [`RetryTimes::retry_base`].
const STEPS: [u32; 4] = [1, 5, 60, 360];
/// Steps left out for a page that was found by a link and was never seen: most such pages never existed.
const STEPS_OF_DEAD_LINKS: usize = 2;
/// How long the page's own rate bounds the waits. After that time an absence is believed, too (`change::Absence`).
const RATE_COUNTS_FOR: Duration = DAY.saturating_mul(3);

/// Looks in a row that did not show a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnseenPage {
    /// Their number.
    pub looks: i32,
    /// Time of the first of them; `None` without any.
    pub since: Option<Timestamp>,
}

/// How a page comes to its next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLook {
    /// After this wait, whatever its value.
    Wanted(Duration),
    /// After this wait, when it is worth it.
    WhenWorthIt(Duration),
}

/// Waits of a page before it may be requested again.
#[derive(Clone, Copy, Debug)]
pub struct RetryTimes {
    /// After a look that showed the page.
    pub min_interval: Duration,
    /// After robots.txt forbade the page.
    pub robots_refresh: Duration,
    /// After the first look that did not show the page.
    pub retry_base: Duration,
    /// After many looks whose requests failed.
    pub retry_max: Duration,
    /// Longest wait after a look that did not show the page.
    pub max_interval: Duration,
    /// Shortest wait after such a look, where a rule sets one.
    pub least_wait: Duration,
    /// After a look that showed the page: the time in which its server expects the copy to be current.
    pub fresh_for: Duration,
    /// The time after a look at which another is worth the price. `None` if that is not known.
    pub earned: Option<Duration>,
    /// Whether somebody named the page. Otherwise a link did.
    pub is_seed: bool,
}

impl UnseenPage {
    /// Whether a look shows the page as it is: its content, and not something in its place.
    pub fn is_shown(look: &Look, judgement: &LookJudgement) -> bool {
        match look.outcome.meaning().content {
            ContentEvidence::Body | ContentEvidence::SameAsKnown => judgement.verdict != Verdict::Unknown,
            ContentEvidence::Missing { .. } | ContentEvidence::Elsewhere | ContentEvidence::Nothing => false,
        }
    }

    /// Counts a look.
    #[must_use]
    pub(crate) fn after(self, look: &Look, judgement: &LookJudgement) -> Self {
        match Self::is_shown(look, judgement) {
            true => Self::default(),
            false => Self { looks: self.looks.saturating_add(1), since: self.since.or(Some(look.fetched_at)) },
        }
    }

    /// The page's next look, after a look that is counted already.
    pub(crate) fn next_look(self, look: &Look, judgement: &LookJudgement, times: &RetryTimes) -> NextLook {
        let asked = judgement.look_again_after_s.map(|wait_s| Duration::from_secs(wait_s.max(0).unsigned_abs()));
        let retry = look.outcome.meaning().retry;
        match (asked, retry) {
            // What is open at a page that is there: whether a part of it is noise.
            (Some(wait), _) if self.looks == 0 => return NextLook::Wanted(wait),
            (None, _) if self.looks == 0 => return NextLook::WhenWorthIt(times.min_interval.max(times.fresh_for)),
            (_, RetryRule::Weekly) => return NextLook::WhenWorthIt(WEEK.max(times.least_wait)),
            (None, RetryRule::WhenRobotsRefresh) => return NextLook::WhenWorthIt(times.robots_refresh),
            _ => {}
        }
        let was_seen = judgement.previous_fetched_at.is_some();
        let is_failure = retry == RetryRule::BackOff;
        let left_out = if was_seen || is_failure || times.is_seed { 0 } else { STEPS_OF_DEAD_LINKS };
        let step = STEPS.iter().skip(left_out).nth((self.looks - 1).max(0) as usize);
        let step = step.map(|step| times.retry_base.saturating_mul(*step));
        let usual = asked.or(is_failure.then_some(times.retry_max));
        let Some(wait) = step.into_iter().chain(usual).min() else {
            // It was not found often enough. From now on it is looked at like any other page. Nothing teaches the rate of
            // a page that was never seen, so it gets a bound of its own.
            let wait = if was_seen { times.min_interval } else { times.retry_max.min(times.max_interval) };
            return NextLook::WhenWorthIt(wait);
        };
        let bounded = wait.max(times.least_wait).min(times.max_interval).min(self.earned(look, was_seen, times));
        // A failed request says nothing, so the page's value has not fallen: it needs no help to come first.
        let competes = asked.is_none() && is_failure && (step.is_none() || !was_seen);
        match asked {
            Some(Duration::ZERO) => NextLook::Wanted(Duration::ZERO),
            _ if competes => NextLook::WhenWorthIt(bounded),
            _ => NextLook::Wanted(bounded),
        }
    }

    /// The wait that the page's own rate allows. A page never seen has no rate of its own.
    fn earned(self, look: &Look, was_seen: bool, times: &RetryTimes) -> Duration {
        let lasted = self.since.map_or(Duration::ZERO, |since| look.fetched_at.saturating_since(since));
        match times.earned {
            Some(earned) if was_seen && lasted < RATE_COUNTS_FOR => earned.max(times.min_interval),
            _ => Duration::MAX,
        }
    }
}

#[cfg(test)]
mod tests;
