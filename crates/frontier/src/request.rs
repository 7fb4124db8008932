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
//! A page has at most one request in flight. Each request has a number, `attempt`, which only grows. An answer to an
//! older number is late and changes no state. The reason for a request stays open until it is answered.

use crate::unseen::{NextLook, RetryTimes, UnseenPage};
use messages::{ContentEvidence, FetchReason, Look, LookJudgement};
use page::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The state of the requests for one page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "StoredRequest", try_from = "StoredRequest")]
pub struct PageRequest {
    /// Number of the last request handed out.
    pub attempt: i64,
    /// Highest number answered. Below `attempt` while a request is in flight, and after one was lost.
    pub answered: i64,
    /// Consecutive answers that showed nothing about the content.
    pub failures: i32,
    /// Consecutive answers that did not show the page.
    pub unseen: UnseenPage,
    /// Why the page is wanted next, whatever its value.
    pub wanted: WantedReason,
    pub state: RequestState,
}

/// Whether a page may be requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestState {
    /// It may be requested.
    Idle,
    /// It may not be requested before a time.
    Held { until: Timestamp },
    /// A request was handed out and has no answer yet.
    InFlight {
        /// End of the lease: after this the request counts as lost.
        lease_until: Timestamp,
        /// If the request is an audit (the page was drawn at random to measure freshness): the probability, when it was
        /// handed out, that the copy was current.
        audited: Option<f64>,
        /// Why the page was wanted when the request was handed out.
        serves: WantedReason,
    },
}

/// Why a page is wanted next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedReason {
    /// It is not: it competes by its value.
    #[default]
    No,
    /// An operator asked for it, or a hint that the policy cannot value.
    Command,
    /// The last look was inconclusive.
    Probe,
}

/// Whether an answer came in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerFate {
    /// It answers the newest request.
    Current {
        /// If the request was an audit: the probability, when it was handed out, that the copy was current.
        audited: Option<f64>,
    },
    /// Its lease ran out before it came, and another request is in flight.
    Late,
}

impl PageRequest {
    /// The same, where a page that waits may be requested from this time on at the latest.
    #[must_use]
    pub fn held_until_at_most(self, latest: Timestamp) -> Self {
        match self.state {
            RequestState::Held { until } if until > latest => {
                Self { state: RequestState::Held { until: latest }, ..self }
            }
            RequestState::Held { .. } | RequestState::Idle | RequestState::InFlight { .. } => self,
        }
    }

    /// For a page that was never requested. Its attempts are counted from `attempt`, which no request has had.
    pub fn new(attempt: i64) -> Self {
        Self {
            attempt,
            answered: attempt,
            failures: 0,
            unseen: UnseenPage::default(),
            wanted: WantedReason::No,
            state: RequestState::Idle,
        }
    }

    /// End of the lease of the request in flight.
    pub fn lease_until(&self) -> Option<Timestamp> {
        match self.state {
            RequestState::InFlight { lease_until, .. } => Some(lease_until),
            RequestState::Idle | RequestState::Held { .. } => None,
        }
    }

    /// End of the current wait.
    pub fn held_until(&self) -> Option<Timestamp> {
        match self.state {
            RequestState::Held { until } => Some(until),
            RequestState::Idle | RequestState::InFlight { .. } => None,
        }
    }

    pub fn is_in_flight(&self) -> bool {
        self.lease_until().is_some()
    }

    /// Whether no answer is to come any more. One may come late, after the lease.
    pub fn is_answered(&self) -> bool {
        self.answered >= self.attempt
    }

    /// Hands out a request. For an audit, `audited` is the probability that the copy is current.
    #[must_use]
    pub fn hand_out(self, lease_until: Timestamp, audited: Option<f64>) -> Self {
        let state = RequestState::InFlight { lease_until, audited, serves: self.wanted };
        Self { attempt: self.attempt + 1, wanted: WantedReason::No, state, ..self }
    }

    /// The reason of the request in flight, given whether the page was looked at before.
    pub fn reason(&self, was_looked_at: bool) -> FetchReason {
        let (audited, serves) = match self.state {
            RequestState::InFlight { audited, serves, .. } => (audited, serves),
            RequestState::Idle | RequestState::Held { .. } => (None, self.wanted),
        };
        match serves {
            _ if audited.is_some() => FetchReason::Audit,
            WantedReason::Probe => FetchReason::Probe,
            WantedReason::Command => FetchReason::Command,
            WantedReason::No if self.failures > 0 => FetchReason::Retry,
            WantedReason::No if was_looked_at => FetchReason::Refresh,
            WantedReason::No => FetchReason::New,
        }
    }

    /// Handles an answer: the page's next state, and whether the answer came in time.
    #[must_use]
    pub fn answer(self, look: &Look, judgement: &LookJudgement, times: &RetryTimes) -> (Self, AnswerFate) {
        let reports = look.outcome.meaning().content != ContentEvidence::Nothing;
        let failures = if reports { 0 } else { self.failures.saturating_add(1) };
        let unseen = self.unseen.after(look, judgement);
        let answered = self.answered.max(look.attempt);
        if look.attempt < self.attempt {
            return (Self { answered, failures, unseen, ..self }, AnswerFate::Late);
        }
        let audited = match self.state {
            RequestState::InFlight { audited, .. } => audited,
            RequestState::Idle | RequestState::Held { .. } => None,
        };
        let (wanted, wait) = match unseen.next_look(look, judgement, times) {
            NextLook::Wanted(wait) => (WantedReason::Probe, wait),
            NextLook::WhenWorthIt(wait) => (self.wanted, wait),
        };
        let state = match wait {
            Duration::ZERO => RequestState::Idle,
            wait => RequestState::Held { until: look.fetched_at + wait },
        };
        (Self { answered, failures, unseen, wanted, state, ..self }, AnswerFate::Current { audited })
    }

    /// Takes back a request that was not sent. The page is as it was before, and waits until its host may be asked.
    #[must_use]
    pub fn take_back(self, attempt: i64, until: Timestamp) -> (Self, AnswerFate) {
        let answered = self.answered.max(attempt);
        if attempt < self.attempt {
            return (Self { answered, ..self }, AnswerFate::Late);
        }
        let lost = Self { answered, ..self.lose() };
        // Without a wait, too, it ends at a tick, which informs policies that plan.
        (Self { state: RequestState::Held { until }, ..lost }, AnswerFate::Current { audited: None })
    }

    /// Ends a request whose lease ran out: fetcher or network lost it, or its answer comes late.
    #[must_use]
    pub fn expire(self) -> Self {
        self.lose()
    }

    /// Ends the wait.
    #[must_use]
    pub fn release(self) -> Self {
        match self.state {
            RequestState::Held { .. } => Self { state: RequestState::Idle, ..self },
            RequestState::Idle | RequestState::InFlight { .. } => self,
        }
    }

    /// Makes the page wanted next.
    #[must_use]
    pub fn want(self, wanted: WantedReason) -> Self {
        Self { wanted: self.wanted.max(wanted), ..self }
    }

    /// Makes the page wanted next for an operator, and ends its wait.
    #[must_use]
    pub fn command(self) -> Self {
        self.want(WantedReason::Command).release()
    }

    /// A hint says that the page changed. One that was away may be back, so its wait ends.
    #[must_use]
    pub fn hinted(self) -> Self {
        if self.unseen.looks > 0 { self.release() } else { self }
    }

    fn lose(self) -> Self {
        match self.state {
            RequestState::InFlight { serves, .. } => Self { state: RequestState::Idle, ..self.want(serves) },
            RequestState::Idle | RequestState::Held { .. } => self,
        }
    }
}

/// The stored form: Avro has no enum with fields.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename = "PageRequest")]
struct StoredRequest {
    attempt: i64,
    answered: i64,
    failures: i32,
    unseen_looks: i32,
    unseen_since: Option<Timestamp>,
    wanted: WantedReason,
    held_until: Option<Timestamp>,
    lease_until: Option<Timestamp>,
    audited: Option<f64>,
    serves: WantedReason,
}

impl From<PageRequest> for StoredRequest {
    fn from(request: PageRequest) -> Self {
        let (audited, serves) = match request.state {
            RequestState::InFlight { audited, serves, .. } => (audited, serves),
            RequestState::Idle | RequestState::Held { .. } => (None, WantedReason::No),
        };
        Self {
            attempt: request.attempt,
            answered: request.answered,
            failures: request.failures,
            unseen_looks: request.unseen.looks,
            unseen_since: request.unseen.since,
            wanted: request.wanted,
            held_until: request.held_until(),
            lease_until: request.lease_until(),
            audited,
            serves,
        }
    }
}

/// A stored record in a state that no transition leads to.
#[derive(Debug, thiserror::Error)]
#[error("a page is held and in flight at once")]
struct HeldInFlight;

impl TryFrom<StoredRequest> for PageRequest {
    type Error = HeldInFlight;

    fn try_from(stored: StoredRequest) -> Result<Self, HeldInFlight> {
        let StoredRequest { attempt, answered, failures, wanted, held_until, lease_until, audited, serves, .. } =
            stored;
        let unseen = UnseenPage { looks: stored.unseen_looks, since: stored.unseen_since };
        let state = match (held_until, lease_until) {
            (None, None) => RequestState::Idle,
            (Some(until), None) => RequestState::Held { until },
            (None, Some(lease_until)) => RequestState::InFlight { lease_until, audited, serves },
            (Some(_), Some(_)) => return Err(HeldInFlight),
        };
        Ok(Self { attempt, answered, failures, unseen, wanted, state })
    }
}

#[cfg(test)]
mod tests;
