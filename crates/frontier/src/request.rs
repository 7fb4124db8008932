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
mod tests;
