//! Logs the first failure of each kind at each host, so that the log names it without a search. The others are only counted.

use messages::{AnswerKind, FetchResult};
use page::{DAY, Timestamp};
use std::collections::HashSet;
use tracing::warn;

/// Most hosts and kinds that are remembered. Beyond them, failures are only counted, until all are logged anew a day after
/// the first of them: a crawl that lives for months must not fall silent in its first hour.
const MOST_REMEMBERED: usize = 1_000;

/// The failures that were logged.
#[derive(Default)]
pub(crate) struct FirstFailures {
    logged: HashSet<(String, AnswerKind)>,
    /// When the first of them was logged.
    since: Option<Timestamp>,
    is_full: bool,
}

/// The line that is logged for an answer, if any.
#[derive(Debug, PartialEq, Eq)]
enum Saying {
    Nothing,
    /// The failure is the first of its kind at this host.
    First(String),
    /// No further host and kind is remembered until then.
    Full(Timestamp),
}

impl FirstFailures {
    /// Takes an answer in, and logs it if it is the first failure of its kind at its host.
    pub(crate) fn take(&mut self, kind: AnswerKind, result: &FetchResult) {
        let report = kind.report();
        match self.judge(kind, result) {
            Saying::Nothing => {}
            Saying::First(host) => warn!(
                host,
                outcome = report.name,
                means = report.in_words(),
                detail = result.detail,
                status = result.look.status,
                url = %result.look.url,
                "first failure of this kind at this host; the next ones are only counted",
            ),
            Saying::Full(until) => warn!(
                remembered = MOST_REMEMBERED,
                %until,
                "too many hosts fail to log the first failure of each; new ones are only counted until all are told anew",
            ),
        }
    }

    fn judge(&mut self, kind: AnswerKind, result: &FetchResult) -> Saying {
        if !kind.is_failure() {
            return Saying::Nothing;
        }
        let now = result.look.fetched_at;
        if self.logged.len() >= MOST_REMEMBERED && self.since.is_some_and(|since| now >= since + DAY) {
            *self = Self::default();
        }
        let anew_at = *self.since.get_or_insert(now) + DAY;
        let place = (result.look.answered_by().host().to_string(), kind);
        if self.logged.contains(&place) {
            return Saying::Nothing;
        }
        if self.logged.len() < MOST_REMEMBERED {
            let host = place.0.clone();
            self.logged.insert(place);
            return Saying::First(host);
        }
        if std::mem::replace(&mut self.is_full, true) { Saying::Nothing } else { Saying::Full(anew_at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::{FetchOutcome, FetchRequest, Look};
    use page::CanonicalUrl;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn judge(failures: &mut FirstFailures, url: &str, outcome: FetchOutcome) -> Saying {
        judge_at(failures, NOW, url, outcome)
    }

    fn judge_at(failures: &mut FirstFailures, now: Timestamp, url: &str, outcome: FetchOutcome) -> Saying {
        let url = CanonicalUrl::parse(url).unwrap();
        let result = FetchResult::new(Look::new(FetchRequest::first(url, now), outcome, now));
        failures.judge(AnswerKind::of(&result.look), &result)
    }

    #[test]
    fn the_first_failure_of_each_kind_at_each_host_is_reported() {
        let mut failures = FirstFailures::default();
        let first = |host: &str| Saying::First(host.to_owned());
        let mut check = |url, outcome, expected| assert_eq!(judge(&mut failures, url, outcome), expected, "{url}");
        check("http://a.test/1", FetchOutcome::Fetched, Saying::Nothing);
        check("http://a.test/1", FetchOutcome::TimedOut, first("a.test"));
        check("http://a.test/2", FetchOutcome::TimedOut, Saying::Nothing);
        check("http://a.test/2", FetchOutcome::NotFound, first("a.test"));
        check("http://b.test:8080/", FetchOutcome::TimedOut, first("b.test:8080"));
        check("http://a.test/3", FetchOutcome::NotModified, Saying::Nothing);
        // Without a status: handed back, because the host had just refused another.
        check("http://a.test/3", FetchOutcome::RateLimited, Saying::Nothing);
    }

    #[test]
    fn a_web_full_of_failing_hosts_is_reported_once_and_takes_no_more_memory() {
        let mut failures = FirstFailures::default();
        for host in 0..MOST_REMEMBERED {
            let said = judge(&mut failures, &format!("http://{host}.test/"), FetchOutcome::DnsFailed);
            assert!(matches!(said, Saying::First(_)), "{said:?}");
        }
        let mut next = |url| judge(&mut failures, url, FetchOutcome::DnsFailed);
        let full = Saying::Full(NOW + DAY);
        assert_eq!([next("http://x.test/"), next("http://y.test/")], [full, Saying::Nothing]);
        assert_eq!(failures.logged.len(), MOST_REMEMBERED);
    }

    #[test]
    fn a_day_after_the_first_of_too_many_they_are_reported_anew_and_those_of_few_hosts_are_not() {
        let mut failures = FirstFailures::default();
        let mut at = |now, url: &str| judge_at(&mut failures, now, url, FetchOutcome::DnsFailed);
        assert!(matches!(at(NOW, "http://0.test/"), Saying::First(_)));
        assert_eq!(at(NOW + 30 * DAY, "http://0.test/"), Saying::Nothing, "it was told, and there is room for others");
        let start = NOW + DAY - page::MINUTE;
        for host in 1..MOST_REMEMBERED {
            assert!(matches!(at(start, &format!("http://{host}.test/")), Saying::First(_)));
        }
        assert_eq!(at(start, "http://x.test/"), Saying::Full(NOW + DAY));
        for round in 1..4 {
            let now = NOW + round * DAY;
            assert_eq!(at(now, "http://x.test/"), Saying::First("x.test".to_owned()), "round {round}");
            for host in 1..MOST_REMEMBERED {
                assert!(matches!(at(now, &format!("http://{host}.test/")), Saying::First(_)));
            }
            assert_eq!(at(now, "http://y.test/"), Saying::Full(now + DAY));
        }
        assert_eq!(failures.logged.len(), MOST_REMEMBERED);
    }
}
