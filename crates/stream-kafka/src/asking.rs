//! Repeats requests that brokers refuse because the leader has changed, after a metadata refresh.
//!
//! A client caches the leader of each partition and the leader's epoch. A client that only sends requests and never
//! fetches learns of a change only when a request is refused: after a broker restart, the first request for every
//! partition is. That is no reason to leave a group.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::time::{Duration, Instant};

/// Pause before the first repetition; doubled for each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

pub(crate) trait RequestClock {
    /// Time since the first attempt.
    fn elapsed(&self) -> Duration;

    fn pause(&self, duration: Duration);
}

impl RequestClock for Instant {
    fn elapsed(&self) -> Duration {
        Instant::elapsed(self)
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Whether such a refusal passes once the client knows the leader, or once there is one.
pub(crate) fn is_passing(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::FencedLeaderEpoch
            | Code::UnknownLeaderEpoch
            | Code::NotLeaderForPartition
            | Code::LeaderNotAvailable
            | Code::ReplicaNotAvailable
            | Code::OffsetNotAvailable
            | Code::BrokerNotAvailable
            | Code::KafkaStorageError
            | Code::CoordinatorLoadInProgress
            | Code::CoordinatorNotAvailable
            | Code::NotCoordinator
            | Code::UnstableOffsetCommit
            // librdkafka's code for partitions without a leader it knows: those of a dead broker.
            | Code::UnknownPartition
    )
}

/// Repeats a request until the answer is not a passing refusal, or until the timeout. `question` and `refresh` receive
/// the time left. Returns the last refusal if there was no answer.
pub(crate) fn ask<T>(
    pace: &impl RequestClock,
    timeout: Duration,
    mut question: impl FnMut(Duration) -> Result<T, KafkaError>,
    mut refresh: impl FnMut(Duration),
) -> Result<T, KafkaError> {
    let mut pause = FIRST_PAUSE;
    loop {
        // A request with a timeout of zero cannot succeed.
        let left = || timeout.saturating_sub(pace.elapsed()).max(Duration::from_millis(1));
        let refused = match question(left()) {
            Err(error) if error.rdkafka_error_code().is_some_and(is_passing) => error,
            answer => return answer,
        };
        if pace.elapsed() + pause >= timeout {
            return Err(refused);
        }
        pace.pause(pause);
        refresh(left());
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Advances only by hand.
    #[derive(Default)]
    struct PlannedClock(Cell<Duration>);

    impl RequestClock for PlannedClock {
        fn elapsed(&self) -> Duration {
            self.0.get()
        }

        fn pause(&self, duration: Duration) {
            self.0.set(self.0.get() + duration);
        }
    }

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn refusal(code: RDKafkaErrorCode) -> KafkaError {
        KafkaError::OffsetFetch(code)
    }

    #[test]
    fn a_stale_leader_is_looked_up_and_asked_again() {
        let (time, asked, refreshed) = (PlannedClock::default(), Cell::new(0), Cell::new(0));
        let question = |_| {
            asked.set(asked.get() + 1);
            match refreshed.get() {
                0 => Err(refusal(RDKafkaErrorCode::FencedLeaderEpoch)),
                1 => Err(refusal(RDKafkaErrorCode::LeaderNotAvailable)),
                _ => Ok("answer"),
            }
        };
        let answer = ask(&time, TIMEOUT, question, |_| refreshed.set(refreshed.get() + 1));
        assert_eq!((answer.unwrap(), asked.get(), refreshed.get()), ("answer", 3, 2));
        assert!(time.elapsed() < Duration::from_millis(100), "{:?}", time.elapsed());
    }

    #[test]
    fn partitions_whose_leader_died_get_another() {
        let (time, refreshed) = (PlannedClock::default(), Cell::new(0));
        let question = |_| match refreshed.get() {
            0 => Err(refusal(RDKafkaErrorCode::UnknownPartition)),
            _ => Ok("answer"),
        };
        assert_eq!(ask(&time, TIMEOUT, question, |_| refreshed.set(1)).unwrap(), "answer");
        // Nor does the stage stop if that takes longer.
        assert_eq!(crate::error::kind_of(RDKafkaErrorCode::UnknownPartition), stream::ErrorKind::Retry);
    }

    #[test]
    fn other_failures_are_answers() {
        for code in [RDKafkaErrorCode::TopicAuthorizationFailed, RDKafkaErrorCode::OperationTimedOut] {
            let time = PlannedClock::default();
            let answer = ask(&time, TIMEOUT, |_| Err::<(), _>(refusal(code)), |_| panic!("nothing to look up"));
            assert_eq!((answer.unwrap_err().rdkafka_error_code(), time.elapsed()), (Some(code), Duration::ZERO));
        }
    }

    #[test]
    fn after_the_timeout_the_last_refusal_is_reported() {
        let (time, asked) = (PlannedClock::default(), Cell::new(0_u32));
        let question = |left: Duration| {
            assert!(left <= TIMEOUT - time.elapsed(), "{left:?} at {:?}", time.elapsed());
            asked.set(asked.get() + 1);
            Err::<(), _>(refusal(RDKafkaErrorCode::NotLeaderForPartition))
        };
        let error = ask(&time, TIMEOUT, question, |_| {}).unwrap_err();
        assert_eq!(error.rdkafka_error_code(), Some(RDKafkaErrorCode::NotLeaderForPartition));
        assert!(time.elapsed() < TIMEOUT && time.elapsed() >= TIMEOUT - LONGEST_PAUSE, "{:?}", time.elapsed());
        assert!((15..40).contains(&asked.get()), "asked {} times", asked.get());
    }

    #[test]
    fn a_question_that_took_all_the_time_is_not_asked_again() {
        let time = PlannedClock::default();
        let question = |_| {
            time.pause(TIMEOUT);
            Err::<(), _>(refusal(RDKafkaErrorCode::FencedLeaderEpoch))
        };
        ask(&time, TIMEOUT, question, |_| panic!("there is no time")).unwrap_err();
    }
}
