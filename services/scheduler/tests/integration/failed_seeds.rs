//! Seeds of which the first request brings no page.

use crate::bench::{Bench, ELSEWHERE, URL, edited, failed, looked};
use messages::{DetectorEvent, FetchOutcome, SeedFailure, Verdict, topics};
use page::{CanonicalUrl, DAY, SECOND};

fn failures(bench: &Bench) -> Vec<SeedFailure> {
    let failure = |event| if let DetectorEvent::SeedFailure(failure) = event { Some(failure) } else { None };
    bench.read(topics::FETCH_RESULTS).into_iter().filter_map(failure).collect()
}

#[test]
fn a_seed_that_fails_at_its_first_look_is_reported_once_and_counted_until_it_is_seen() {
    for (outcome, status) in [
        (FetchOutcome::NotFound, Some(404)),
        (FetchOutcome::DnsFailed, None),
        (FetchOutcome::RobotsDisallowed, None),
        (FetchOutcome::TlsFailed, None),
    ] {
        let mut bench = Bench::new(&[]);
        bench.seed(URL);
        let request = bench.next(5 * SECOND);
        let first = failed(&request, outcome, status);
        let failed_at = first.look.fetched_at;
        bench.answer(first);
        let url = CanonicalUrl::parse(URL).unwrap();
        assert_eq!(failures(&bench), [SeedFailure { url, failed_at, outcome, status, is_redirected: false }]);
        assert!(bench.page(URL).unwrap().is_failed_seed());
        bench.crash();
        let again = bench.next(3 * DAY);
        bench.answer(failed(&again, outcome, status));
        assert_eq!(failures(&bench).len(), 1, "{outcome:?}");
        let seen = bench.next(3 * DAY);
        bench.answer(edited(looked(&seen, 0.1), |it| {
            (it.look.outcome, it.judgement.verdict) = (FetchOutcome::Fetched, Verdict::First);
            it.look.validators.content_digest = Some(messages::Digest([7; 32]));
        }));
        assert!(!bench.page(URL).unwrap().is_failed_seed());
        assert_eq!(failures(&bench).len(), 1, "{outcome:?}");
    }
}

#[test]
fn a_seed_that_was_seen_first_or_not_asked_for_yet_has_not_failed() {
    let mut bench = Bench::new(&[]);
    bench.seed(ELSEWHERE);
    let request = bench.next(5 * SECOND);
    // Its host rests, so the request comes back to be sent again.
    bench.answer(edited(failed(&request, FetchOutcome::RateLimited, None), |it| it.look.retry_after_s = Some(60)));
    let request = bench.next(DAY);
    bench.answer(looked(&request, 0.1));
    let request = bench.next(90 * DAY);
    bench.answer(failed(&request, FetchOutcome::NotFound, Some(404)));
    assert_eq!(failures(&bench), []);
}
