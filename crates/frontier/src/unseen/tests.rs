use super::*;
use messages::{FetchOutcome, FetchRequest};
use page::{CanonicalUrl, HOUR, MINUTE};

const TIMES: RetryTimes = RetryTimes {
    min_interval: Duration::from_secs(300),
    robots_refresh: DAY,
    retry_base: MINUTE,
    retry_max: DAY,
    max_interval: Duration::from_secs(180 * 86_400),
    least_wait: Duration::ZERO,
    fresh_for: Duration::ZERO,
    earned: None,
    is_seed: true,
};

const MISSING_S: Option<i64> = Some(36 * 3_600);
const HELD_S: Option<i64> = Some(6 * 3_600);

/// A page, and the answer that every look at it gets.
#[derive(Clone, Copy)]
struct Away {
    outcome: FetchOutcome,
    verdict: Verdict,
    asked_s: Option<i64>,
    was_seen: bool,
}

const MISSING: Away =
    Away { outcome: FetchOutcome::NotFound, verdict: Verdict::Unknown, asked_s: MISSING_S, was_seen: true };

/// The next looks of a page that is looked at as soon as it may be, as long as it is wanted, or `most` of them.
fn looks(away: Away, times: &RetryTimes, most: usize) -> Vec<NextLook> {
    let (mut unseen, mut now, mut found) = (UnseenPage::default(), Timestamp::from_secs(0), Vec::new());
    while found.len() < most {
        let url = CanonicalUrl::parse("http://a.example/").unwrap();
        let look = Look::new(FetchRequest::first(url, now), away.outcome, now);
        let judgement = LookJudgement {
            look_again_after_s: away.asked_s,
            previous_fetched_at: away.was_seen.then_some(Timestamp::from_secs(0)),
            ..LookJudgement::new(away.verdict)
        };
        unseen = unseen.after(&look, &judgement);
        found.push(unseen.next_look(&look, &judgement, times));
        let (NextLook::Wanted(wait) | NextLook::WhenWorthIt(wait)) = found[found.len() - 1];
        now = now + wait;
    }
    found
}

fn waits_s(away: Away, times: &RetryTimes, most: usize) -> Vec<u64> {
    let wait = |look| match look {
        NextLook::Wanted(wait) | NextLook::WhenWorthIt(wait) => wait.as_secs(),
    };
    looks(away, times, most).into_iter().map(wait).collect()
}

#[test]
fn a_page_that_is_away_is_looked_at_soon_and_then_ever_later_up_to_the_wait_of_its_kind() {
    let check = |away: Away, expected: [u64; 6]| {
        assert_eq!(waits_s(away, &TIMES, 6), expected, "{:?} {:?}", away.outcome, away.asked_s);
    };
    check(MISSING, [60, 300, 3_600, 21_600, 129_600, 129_600]);
    let held = Away { outcome: FetchOutcome::Fetched, asked_s: HELD_S, ..MISSING };
    check(held, [60, 300, 3_600, 21_600, 21_600, 21_600]);
    for outcome in [FetchOutcome::ServerError, FetchOutcome::TimedOut, FetchOutcome::DnsFailed, FetchOutcome::SetAside]
    {
        check(Away { outcome, asked_s: None, ..MISSING }, [60, 300, 3_600, 21_600, 86_400, 86_400]);
    }
    // From here on it is looked at when it is worth it, like any page.
    let gone = Away { outcome: FetchOutcome::Gone, verdict: Verdict::Gone, asked_s: None, ..MISSING };
    check(gone, [60, 300, 3_600, 21_600, 300, 300]);
    assert_eq!(looks(gone, &TIMES, 5)[4], NextLook::WhenWorthIt(TIMES.min_interval));
    check(Away { outcome: FetchOutcome::RedirectedAway, ..gone }, [60, 300, 3_600, 21_600, 300, 300]);
}

#[test]
fn no_wait_is_longer_than_the_pages_longest_interval_or_shorter_than_its_rules_shortest() {
    let watched = RetryTimes { max_interval: Duration::from_secs(10), ..TIMES };
    for asked_s in [MISSING_S, None] {
        for outcome in FetchOutcome::ALL {
            if matches!(outcome.meaning().retry, RetryRule::WhenRobotsRefresh | RetryRule::Weekly) {
                continue;
            }
            let away = Away { outcome, asked_s, ..MISSING };
            assert_eq!(waits_s(away, &watched, 4), [10; 4], "{outcome:?}");
        }
    }
    let slow = RetryTimes { least_wait: HOUR, max_interval: 2 * HOUR, ..TIMES };
    assert_eq!(waits_s(MISSING, &slow, 5), [3_600, 3_600, 3_600, 7_200, 7_200]);
}

#[test]
fn a_page_whose_host_keeps_crawlers_out_is_asked_for_once_a_week_whatever_its_rate() {
    let busy = RetryTimes { earned: Some(HOUR), max_interval: HOUR, ..TIMES };
    for outcome in [FetchOutcome::PaymentRequired, FetchOutcome::Challenged] {
        let away = Away { outcome, asked_s: None, ..MISSING };
        assert_eq!(looks(away, &busy, 5), [NextLook::WhenWorthIt(WEEK); 5], "{outcome:?}");
        assert_eq!(waits_s(Away { was_seen: false, ..away }, &TIMES, 3), [7 * 86_400; 3]);
    }
}

#[test]
fn a_page_that_is_there_is_not_asked_for_while_its_server_expects_the_copy_to_be_current() {
    let there = Away { outcome: FetchOutcome::Fetched, verdict: Verdict::Unchanged, asked_s: None, was_seen: true };
    let fresh = RetryTimes { fresh_for: 2 * HOUR, ..TIMES };
    assert_eq!(looks(there, &fresh, 1), [NextLook::WhenWorthIt(2 * HOUR)]);
    let stale = RetryTimes { fresh_for: MINUTE, ..TIMES };
    assert_eq!(looks(there, &stale, 1), [NextLook::WhenWorthIt(TIMES.min_interval)]);
    // A second look, which is to show what is noise, asks past caches.
    assert_eq!(looks(Away { asked_s: Some(60), ..there }, &fresh, 1), [NextLook::Wanted(MINUTE)]);
    assert_eq!(waits_s(MISSING, &fresh, 2), [60, 300], "it is not there");
}

#[test]
fn for_three_days_a_page_that_is_away_is_looked_at_as_often_as_its_rate_earns() {
    let busy = RetryTimes { earned: Some(20 * MINUTE), ..TIMES };
    let server_error = Away { outcome: FetchOutcome::ServerError, asked_s: None, ..MISSING };
    for (away, later) in [(MISSING, 129_600), (server_error, 86_400)] {
        let waits = waits_s(away, &busy, 300);
        assert_eq!(waits[..4], [60, 300, 1_200, 1_200]);
        let as_it_earns = waits.iter().take_while(|wait| **wait <= 1_200).count();
        assert_eq!(as_it_earns, 2 + 3 * 72, "no more than if it were there");
        assert!(waits[as_it_earns..].iter().all(|wait| *wait == later), "then the wait of its kind");
    }
    let restless = RetryTimes { earned: Some(Duration::ZERO), ..TIMES };
    assert_eq!(waits_s(MISSING, &restless, 4), [60, 300, 300, 300], "policy.min_interval holds for a rate");
    let never_seen = Away { was_seen: false, ..server_error };
    assert_eq!(waits_s(never_seen, &busy, 5), [60, 300, 3_600, 21_600, 86_400]);
}

#[test]
fn a_dead_link_costs_two_looks_more_than_its_first_and_then_one_a_day_at_most() {
    let never_seen = Away { asked_s: None, was_seen: false, ..MISSING };
    let dead_link = RetryTimes { is_seed: false, ..TIMES };
    let later =
        [NextLook::Wanted(HOUR), NextLook::Wanted(6 * HOUR), NextLook::WhenWorthIt(DAY), NextLook::WhenWorthIt(DAY)];
    assert_eq!(looks(never_seen, &dead_link, 4), later);
    assert_eq!(waits_s(never_seen, &TIMES, 4), [60, 300, 3_600, 21_600], "somebody asked for this one");
    let failing = Away { outcome: FetchOutcome::ConnectFailed, ..never_seen };
    assert_eq!(looks(failing, &dead_link, 2)[0], NextLook::WhenWorthIt(MINUTE), "it competes like any new page");
}

#[test]
fn a_page_that_is_there_is_looked_at_as_before() {
    let there = Away { outcome: FetchOutcome::Fetched, verdict: Verdict::Minor, asked_s: None, was_seen: true };
    assert_eq!(looks(there, &TIMES, 2), [NextLook::WhenWorthIt(TIMES.min_interval); 2]);
    assert_eq!(looks(Away { asked_s: Some(0), ..there }, &TIMES, 1), [NextLook::Wanted(Duration::ZERO)]);
    let unread = Away { outcome: FetchOutcome::NotModified, verdict: Verdict::Unknown, asked_s: Some(0), ..there };
    assert_eq!(looks(unread, &TIMES, 2), [NextLook::Wanted(Duration::ZERO); 2], "it comes with its body at once");
    let forbidden = Away { outcome: FetchOutcome::RobotsDisallowed, verdict: Verdict::Unknown, ..there };
    assert_eq!(looks(forbidden, &TIMES, 2), [NextLook::WhenWorthIt(DAY); 2]);
}
