//! The life of a page's requests: a state machine of values.
//!
//! ```text
//!            hand_out                answer, take_back
//!   Idle ───────────────▶ InFlight ───────────────────▶ Held ──▶ Idle
//!                            │            release                 ▲
//!                            └────────────────────────────────────┘
//!                              expire: the lease ran out
//! ```
//!
//! At most one request of a page is in flight. Each has a number, `attempt`, that only grows; an answer to an older number
//! is late and ends nothing. Whatever a request was made for stays wanted until it is answered.

use messages::{ContentEvidence, FetchReason, Look, LookJudgement, RetryRule};
use page::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The requests for one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "StoredRequest", try_from = "StoredRequest")]
pub struct PageRequest {
    /// Number of the last request handed out.
    pub attempt: i64,
    /// Highest number answered; below `attempt` while a request is in flight, and after one was lost.
    pub answered: i64,
    /// Answers in a row that told nothing of the content.
    pub failures: i32,
    /// Why the page is wanted next, whatever it is worth.
    pub wanted: Wanted,
    /// Where the page stands now.
    pub state: RequestState,
}

/// Whether a page may be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// It may be.
    Idle,
    /// Not before a moment.
    Held {
        /// That moment.
        until: Timestamp,
    },
    /// It has been, and the answer is awaited.
    InFlight {
        /// The request counts as lost after this.
        lease_until: Timestamp,
        /// It measures freshness: the page was drawn at random.
        audit: bool,
        /// Why the page was wanted.
        serves: Wanted,
    },
}

/// Why a page is wanted next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// It competes by its value.
    #[default]
    No,
    /// An operator asked for it, or a hint that the policy cannot value.
    Command,
    /// The last look left something open.
    Probe,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFate {
    /// It answers the newest request.
    Current {
        /// Whether that measured freshness.
        audit: bool,
    },
    /// A lease ran out before it came, and another request is in flight.
    Late,
}

/// When a page may be requested again.
#[derive(Clone, Copy, Debug)]
pub struct RetryTimes {
    /// After a look that told of the content.
    pub min_interval: Duration,
    /// After robots.txt forbade the page.
    pub robots_refresh: Duration,
    /// After the first failure; doubles with each one in a row …
    pub retry_base: Duration,
    /// … up to this.
    pub retry_max: Duration,
}

impl RetryTimes {
    fn wait(&self, rule: RetryRule, failures: i32) -> Duration {
        match rule {
            RetryRule::WhenWorthIt => self.min_interval,
            RetryRule::WhenRobotsRefresh => self.robots_refresh,
            RetryRule::BackOff => {
                let doublings = (failures - 1).clamp(0, 20) as u32;
                self.retry_base.saturating_mul(1 << doublings).min(self.retry_max)
            }
        }
    }
}

impl PageRequest {
    /// Of a page that was not requested yet. Requests are counted from `attempt`, which none has had.
    pub fn new(attempt: i64) -> Self {
        Self { attempt, answered: attempt, failures: 0, wanted: Wanted::No, state: RequestState::Idle }
    }

    /// The lease of the request in flight.
    pub fn lease_until(&self) -> Option<Timestamp> {
        match self.state {
            RequestState::InFlight { lease_until, .. } => Some(lease_until),
            RequestState::Idle | RequestState::Held { .. } => None,
        }
    }

    /// The moment before which the page is not to be requested.
    pub fn held_until(&self) -> Option<Timestamp> {
        match self.state {
            RequestState::Held { until } => Some(until),
            RequestState::Idle | RequestState::InFlight { .. } => None,
        }
    }

    /// Whether a request is in flight.
    pub fn is_in_flight(&self) -> bool {
        self.lease_until().is_some()
    }

    /// A request goes out.
    #[must_use]
    pub fn hand_out(self, lease_until: Timestamp, audit: bool) -> Self {
        let state = RequestState::InFlight { lease_until, audit, serves: self.wanted };
        Self { attempt: self.attempt + 1, wanted: Wanted::No, state, ..self }
    }

    /// Why the request in flight was made, for a page that was looked at before or not.
    pub fn reason(&self, was_looked_at: bool) -> FetchReason {
        let (audit, serves) = match self.state {
            RequestState::InFlight { audit, serves, .. } => (audit, serves),
            RequestState::Idle | RequestState::Held { .. } => (false, self.wanted),
        };
        match serves {
            _ if audit => FetchReason::Audit,
            Wanted::Probe => FetchReason::Probe,
            Wanted::Command => FetchReason::Command,
            Wanted::No if self.failures > 0 => FetchReason::Retry,
            Wanted::No if was_looked_at => FetchReason::Refresh,
            Wanted::No => FetchReason::New,
        }
    }

    /// An answer has come.
    #[must_use]
    pub fn answer(self, look: &Look, judgement: &LookJudgement, times: &RetryTimes) -> (Self, AnswerFate) {
        let meaning = look.outcome.meaning();
        let tells = meaning.content != ContentEvidence::Nothing;
        let failures = if tells { 0 } else { self.failures.saturating_add(1) };
        let answered = self.answered.max(look.attempt);
        if look.attempt < self.attempt {
            return (Self { answered, failures, ..self }, AnswerFate::Late);
        }
        let audit = matches!(self.state, RequestState::InFlight { audit: true, .. });
        let (wanted, wait) = match judgement.look_again_after_s {
            // It settles what this look left open, whatever the page is worth.
            Some(wait_s) => (Wanted::Probe, Duration::from_secs(wait_s.max(0).unsigned_abs())),
            None => (self.wanted, times.wait(meaning.retry, failures)),
        };
        let state = match wait {
            Duration::ZERO => RequestState::Idle,
            wait => RequestState::Held { until: look.fetched_at + wait },
        };
        (Self { answered, failures, wanted, state, ..self }, AnswerFate::Current { audit })
    }

    /// A request was handed back unsent: the page is as it was before, and waits until its host may be asked.
    #[must_use]
    pub fn take_back(self, attempt: i64, until: Timestamp) -> (Self, AnswerFate) {
        let answered = self.answered.max(attempt);
        if attempt < self.attempt {
            return (Self { answered, ..self }, AnswerFate::Late);
        }
        let lost = Self { answered, ..self.lose() };
        // Also without a wait it ends at a tick, which tells policies that plan.
        (Self { state: RequestState::Held { until }, ..lost }, AnswerFate::Current { audit: false })
    }

    /// The lease of the request in flight ran out: fetcher or network lost it, or its answer comes late.
    #[must_use]
    pub fn expire(self) -> Self {
        self.lose()
    }

    /// The wait is over.
    #[must_use]
    pub fn release(self) -> Self {
        match self.state {
            RequestState::Held { .. } => Self { state: RequestState::Idle, ..self },
            RequestState::Idle | RequestState::InFlight { .. } => self,
        }
    }

    /// The page is wanted next.
    #[must_use]
    pub fn want(self, wanted: Wanted) -> Self {
        Self { wanted: self.wanted.max(wanted), ..self }
    }

    /// An operator wants it: it need not wait.
    #[must_use]
    pub fn command(self) -> Self {
        self.want(Wanted::Command).release()
    }

    fn lose(self) -> Self {
        match self.state {
            RequestState::InFlight { serves, .. } => Self { state: RequestState::Idle, ..self.want(serves) },
            RequestState::Idle | RequestState::Held { .. } => self,
        }
    }
}

/// The same as it is kept: Avro has no enum with fields.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename = "PageRequest")]
struct StoredRequest {
    attempt: i64,
    answered: i64,
    failures: i32,
    wanted: Wanted,
    held_until: Option<Timestamp>,
    lease_until: Option<Timestamp>,
    audit: bool,
    serves: Wanted,
}

impl From<PageRequest> for StoredRequest {
    fn from(request: PageRequest) -> Self {
        let (audit, serves) = match request.state {
            RequestState::InFlight { audit, serves, .. } => (audit, serves),
            RequestState::Idle | RequestState::Held { .. } => (false, Wanted::No),
        };
        Self {
            attempt: request.attempt,
            answered: request.answered,
            failures: request.failures,
            wanted: request.wanted,
            held_until: request.held_until(),
            lease_until: request.lease_until(),
            audit,
            serves,
        }
    }
}

/// A record that no transition leads to.
#[derive(Debug, thiserror::Error)]
#[error("a page is held and in flight at once")]
struct HeldInFlight;

impl TryFrom<StoredRequest> for PageRequest {
    type Error = HeldInFlight;

    fn try_from(stored: StoredRequest) -> Result<Self, HeldInFlight> {
        let StoredRequest { attempt, answered, failures, wanted, held_until, lease_until, audit, serves } = stored;
        let state = match (held_until, lease_until) {
            (None, None) => RequestState::Idle,
            (Some(until), None) => RequestState::Held { until },
            (None, Some(lease_until)) => RequestState::InFlight { lease_until, audit, serves },
            (Some(_), Some(_)) => return Err(HeldInFlight),
        };
        Ok(Self { attempt, answered, failures, wanted, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::{FetchOutcome, FetchRequest, Verdict};
    use page::CanonicalUrl;
    use proptest::prelude::*;

    const TIMES: RetryTimes = RetryTimes {
        min_interval: Duration::from_secs(60),
        robots_refresh: Duration::from_secs(86_400),
        retry_base: Duration::from_secs(300),
        retry_max: Duration::from_secs(3_600),
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    fn look(attempt: i64, outcome: FetchOutcome, seconds: i64) -> Look {
        let url = CanonicalUrl::parse("http://a.example/").unwrap();
        Look::new(FetchRequest { attempt, ..FetchRequest::first(url, at(seconds)) }, outcome, at(seconds))
    }

    fn judgement(look_again_after_s: Option<i64>) -> LookJudgement {
        LookJudgement { look_again_after_s, ..LookJudgement::new(Verdict::Unchanged) }
    }

    fn answered(request: PageRequest, outcome: FetchOutcome, seconds: i64) -> (PageRequest, AnswerFate) {
        request.answer(&look(request.attempt, outcome, seconds), &judgement(None), &TIMES)
    }

    #[test]
    fn failures_in_a_row_wait_twice_as_long_each_time_and_a_look_ends_them() {
        let mut request = PageRequest::new(7);
        for (failures, wait) in [(1, 300), (2, 600), (3, 1_200), (4, 2_400), (5, 3_600), (6, 3_600)] {
            (request, _) = answered(request.hand_out(at(10), false), FetchOutcome::TimedOut, 0);
            assert_eq!((request.failures, request.held_until()), (failures, Some(at(wait))));
        }
        assert_eq!(request.hand_out(at(10), false).reason(true), FetchReason::Retry);
        (request, _) = answered(request.hand_out(at(10), false), FetchOutcome::NotModified, 0);
        assert_eq!((request.failures, request.held_until()), (0, Some(at(60))));
    }

    #[test]
    fn what_was_commanded_is_wanted_until_it_is_answered() {
        let request = PageRequest::new(0).command().hand_out(at(10), false);
        assert_eq!((request.wanted, request.reason(true)), (Wanted::No, FetchReason::Command));
        assert_eq!(request.expire().wanted, Wanted::Command);
        assert_eq!(request.take_back(1, at(20)).0.wanted, Wanted::Command);
        assert_eq!(answered(request, FetchOutcome::Fetched, 0).0.wanted, Wanted::No);
        let commanded_again = request.command();
        assert_eq!(answered(commanded_again, FetchOutcome::Fetched, 0).0.wanted, Wanted::Command);
    }

    #[test]
    fn a_late_answer_ends_no_newer_request() {
        let request = PageRequest::new(0).hand_out(at(10), false).expire().hand_out(at(30), true);
        let (after, fate) = request.answer(&look(1, FetchOutcome::Fetched, 20), &judgement(Some(0)), &TIMES);
        assert_eq!((after, fate), (PageRequest { answered: 1, ..request }, AnswerFate::Late));
        assert_eq!(request.take_back(1, at(20)), (after, AnswerFate::Late));
        assert_eq!(answered(request, FetchOutcome::Fetched, 25).1, AnswerFate::Current { audit: true });
    }

    #[test]
    fn a_question_left_open_is_asked_next() {
        let request = PageRequest::new(0).hand_out(at(10), false);
        let (request, _) = request.answer(&look(1, FetchOutcome::NotFound, 5), &judgement(Some(100)), &TIMES);
        assert_eq!((request.held_until(), request.reason(true)), (Some(at(105)), FetchReason::Probe));
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        HandOut(bool),
        Answer { behind: i64, failed: bool, look_again: Option<i64> },
        TakeBack { behind: i64 },
        Expire,
        Release,
        Command,
        Probe,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let answer = (0..3i64, any::<bool>(), prop::option::of(0..9i64));
        let step = prop_oneof![
            any::<bool>().prop_map(Step::HandOut),
            answer.prop_map(|(behind, failed, look_again)| Step::Answer { behind, failed, look_again }),
            (0..3i64).prop_map(|behind| Step::TakeBack { behind }),
            Just(Step::Expire),
            Just(Step::Release),
            Just(Step::Command),
            Just(Step::Probe),
        ];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn whatever_happens_numbers_grow_and_no_wish_is_lost(steps in steps()) {
            let mut request = PageRequest::new(100);
            // Whether an operator still waits: a command counts until an answer to a request made after it.
            let (mut waits, mut served) = (false, false);
            for (now, step) in steps.into_iter().enumerate() {
                let (before, now) = (request, now as i64);
                match step {
                    // Only an idle page is handed out.
                    Step::HandOut(audit) if request.state == RequestState::Idle => {
                        request = request.hand_out(at(now + 5), audit);
                        prop_assert_eq!(request.attempt, before.attempt + 1);
                        served = waits;
                    }
                    Step::HandOut(_) => {}
                    Step::Answer { behind, failed, look_again } => {
                        let outcome = if failed { FetchOutcome::DnsFailed } else { FetchOutcome::Fetched };
                        let look = look(request.attempt - behind, outcome, now);
                        let (after, fate) = request.answer(&look, &judgement(look_again), &TIMES);
                        request = after;
                        match fate {
                            AnswerFate::Late => prop_assert_eq!(request.state, before.state),
                            AnswerFate::Current { .. } => {
                                prop_assert!(!request.is_in_flight());
                                waits &= !(served && before.is_in_flight());
                            }
                        }
                    }
                    Step::TakeBack { behind } => {
                        request = request.take_back(request.attempt - behind, at(now)).0;
                    }
                    Step::Expire => request = request.expire(),
                    Step::Release => request = request.release(),
                    Step::Command => {
                        request = request.command();
                        (waits, served) = (true, false);
                    }
                    Step::Probe => request = request.want(Wanted::Probe),
                }
                prop_assert!(request.attempt >= before.attempt && request.answered >= before.answered);
                prop_assert!(request.answered <= request.attempt);
                let is_served = matches!(request.state, RequestState::InFlight { serves, .. } if serves != Wanted::No);
                prop_assert!(!waits || request.wanted != Wanted::No || is_served);
                let kept = StoredRequest::from(request);
                prop_assert_eq!(PageRequest::try_from(kept).unwrap(), request);
            }
        }
    }
}
