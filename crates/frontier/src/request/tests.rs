use super::*;
use crate::unseen::UnseenPage;
use messages::{FetchOutcome, FetchRequest, Verdict};
use page::CanonicalUrl;
use proptest::prelude::*;

const TIMES: RetryTimes = RetryTimes {
    min_interval: Duration::from_secs(60),
    robots_refresh: Duration::from_secs(86_400),
    retry_base: Duration::from_secs(60),
    retry_max: Duration::from_secs(7_200),
    max_interval: Duration::from_secs(864_000),
    least_wait: Duration::ZERO,
    fresh_for: Duration::ZERO,
    earned: None,
    is_seed: true,
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
fn failures_in_a_row_wait_longer_each_time_and_a_look_ends_them() {
    let mut request = PageRequest::new(7);
    for (failures, wait) in [(1, 60), (2, 300), (3, 3_600), (4, 7_200), (5, 7_200)] {
        (request, _) = answered(request.hand_out(at(10), None), FetchOutcome::TimedOut, 0);
        assert_eq!((request.failures, request.held_until()), (failures, Some(at(wait))));
        assert_eq!(request.unseen, UnseenPage { looks: failures, since: Some(at(0)) });
    }
    assert_eq!(request.hand_out(at(10), None).reason(true), FetchReason::Retry);
    (request, _) = answered(request.hand_out(at(10), None), FetchOutcome::NotModified, 0);
    assert_eq!((request.failures, request.held_until()), (0, Some(at(60))));
    assert_eq!(request.unseen, UnseenPage::default());
}

#[test]
fn what_was_commanded_is_wanted_until_it_is_answered() {
    let request = PageRequest::new(0).command().hand_out(at(10), None);
    assert_eq!((request.wanted, request.reason(true)), (WantedReason::No, FetchReason::Command));
    assert_eq!(request.expire().wanted, WantedReason::Command);
    assert_eq!(request.take_back(1, at(20)).0.wanted, WantedReason::Command);
    assert_eq!(answered(request, FetchOutcome::Fetched, 0).0.wanted, WantedReason::No);
    let commanded_again = request.command();
    assert_eq!(answered(commanded_again, FetchOutcome::Fetched, 0).0.wanted, WantedReason::Command);
}

#[test]
fn a_late_answer_ends_no_newer_request() {
    let request = PageRequest::new(0).hand_out(at(10), None).expire().hand_out(at(30), Some(0.75));
    let (after, fate) = request.answer(&look(1, FetchOutcome::Fetched, 20), &judgement(Some(0)), &TIMES);
    assert_eq!((after, fate), (PageRequest { answered: 1, ..request }, AnswerFate::Late));
    assert_eq!(request.take_back(1, at(20)), (after, AnswerFate::Late));
    assert_eq!(answered(request, FetchOutcome::Fetched, 25).1, AnswerFate::Current { audited: Some(0.75) });
}

#[test]
fn a_question_left_open_is_asked_next() {
    let request = PageRequest::new(0).hand_out(at(10), None);
    let (request, _) = request.answer(&look(1, FetchOutcome::NotFound, 5), &judgement(Some(100)), &TIMES);
    assert_eq!((request.held_until(), request.reason(true)), (Some(at(65)), FetchReason::Probe));
}

#[test]
fn a_hint_ends_the_wait_of_a_page_that_is_away_and_of_no_other() {
    let request = PageRequest::new(0).hand_out(at(10), None);
    let (away, _) = request.answer(&look(1, FetchOutcome::NotFound, 5), &judgement(Some(100)), &TIMES);
    assert_eq!((away.hinted().state, away.hinted().wanted), (RequestState::Idle, WantedReason::Probe));
    let (there, _) = answered(request, FetchOutcome::Fetched, 5);
    assert_eq!(there.hinted(), there);
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
        // Whether an operator still waits: a command stays open until an answer to a request made after it.
        let (mut waits, mut served) = (false, false);
        for (now, step) in steps.into_iter().enumerate() {
            let (before, now) = (request, now as i64);
            match step {
                // Only an idle page is handed out.
                Step::HandOut(audit) if request.state == RequestState::Idle => {
                    request = request.hand_out(at(now + 5), audit.then_some(0.5));
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
                Step::Probe => request = request.want(WantedReason::Probe),
            }
            prop_assert!(request.attempt >= before.attempt && request.answered >= before.answered);
            prop_assert!(request.answered <= request.attempt);
            let is_served =
                matches!(request.state, RequestState::InFlight { serves, .. } if serves != WantedReason::No);
            prop_assert!(!waits || request.wanted != WantedReason::No || is_served);
            let kept = StoredRequest::from(request);
            prop_assert_eq!(PageRequest::try_from(kept).unwrap(), request);
        }
    }
}
