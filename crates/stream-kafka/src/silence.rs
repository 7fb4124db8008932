//! How long a member has had no sign of life from its own client.

use std::time::{Duration, Instant};

/// A member with neither a record nor a commit for this long checks its client.
const CHECK_AFTER: Duration = Duration::from_secs(15);

/// And again after this long, as long as there is a fault.
const CHECK_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// A fault of the client, and how long it may last before the member is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientFault {
    pub(crate) what: String,
    pub(crate) patience: Duration,
}

/// The consequence of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There is no fault, or it may be over at once.
    GoOn,
    Wait(String),
    Replace(String),
}

/// Times of the last signs of life and of the first sign of a fault. Callers pass the current time.
#[derive(Debug)]
pub(crate) struct Silence {
    alive_at: Instant,
    checked_at: Instant,
    faulty_since: Option<Instant>,
    /// The fault, once two checks have found one.
    fault: Option<String>,
}

impl Silence {
    pub(crate) fn new(now: Instant) -> Self {
        Self { alive_at: now, checked_at: now, faulty_since: None, fault: None }
    }

    /// Notes a record or a commit.
    pub(crate) fn alive(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    pub(crate) fn is_check_due(&self, now: Instant) -> bool {
        let (since, wait) = match self.faulty_since {
            Some(_) => (self.checked_at, CHECK_AGAIN_AFTER),
            None => (self.checked_at.max(self.alive_at), CHECK_AFTER),
        };
        now.saturating_duration_since(since) >= wait
    }

    /// The fault that the client is waited for with.
    pub(crate) fn standing_fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Notes the result of a check.
    pub(crate) fn checked(&mut self, fault: Option<ClientFault>, now: Instant) -> Verdict {
        self.checked_at = now;
        let Some(ClientFault { what, patience }) = fault else {
            (self.faulty_since, self.fault) = (None, None);
            return Verdict::GoOn;
        };
        let Some(since) = self.faulty_since else {
            self.faulty_since = Some(now);
            return Verdict::GoOn;
        };
        self.fault = Some(what.clone());
        match now.saturating_duration_since(since) >= patience {
            true => Verdict::Replace(what),
            false => Verdict::Wait(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_lasts_replaces_the_client_and_one_that_passes_does_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let fault = || Some(ClientFault { what: "no answer".to_owned(), patience: Duration::from_secs(30) });
        let mut silence = Silence::new(start);
        assert!(!silence.is_check_due(at(14)) && silence.is_check_due(at(15)));
        assert_eq!(silence.checked(None, at(15)), Verdict::GoOn);
        assert!(!silence.is_check_due(at(29)) && silence.is_check_due(at(30)));
        assert_eq!(silence.checked(fault(), at(30)), Verdict::GoOn, "it may be over at once");
        assert!(!silence.is_check_due(at(34)) && silence.is_check_due(at(35)));
        assert_eq!(silence.checked(fault(), at(35)), Verdict::Wait("no answer".to_owned()));
        assert_eq!(silence.standing_fault(), Some("no answer"));
        assert_eq!(silence.checked(None, at(40)), Verdict::GoOn);
        assert_eq!(silence.standing_fault(), None);
        assert_eq!(silence.checked(fault(), at(60)), Verdict::GoOn, "another one");
        assert_eq!(silence.checked(fault(), at(89)), Verdict::Wait("no answer".to_owned()));
        assert_eq!(silence.checked(fault(), at(90)), Verdict::Replace("no answer".to_owned()));
    }

    #[test]
    fn records_and_commits_are_signs_of_life() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut silence = Silence::new(start);
        silence.alive(at(10));
        assert!(!silence.is_check_due(at(24)) && silence.is_check_due(at(25)));
    }
}
