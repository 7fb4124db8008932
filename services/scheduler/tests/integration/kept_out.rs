//! Hosts that keep crawlers out: by a challenge, or by a demand to be paid.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL, failed, looked, seconds};
use crate::live::hint;
use messages::{CommandKind, FetchOutcome, FetchRequest, HintKind};
use page::{DAY, HOUR, MINUTE, SECOND};

const WEEK_S: f64 = 7.0 * 86_400.0;
/// Few ticks: the tests are about weeks.
const SLOWLY: [(&str, &str); 3] =
    [("policy.scan_interval", "10m"), ("policy.lease_timeout", "1h"), ("politeness.backoff_max", "1h")];

fn challenged(bench: &mut Bench, request: &FetchRequest) {
    bench.answer(failed(request, FetchOutcome::Challenged, Some(403)));
}

#[test]
fn a_page_behind_a_challenge_is_asked_for_once_a_week_and_a_hint_does_not_change_that() {
    for outcome in [FetchOutcome::Challenged, FetchOutcome::PaymentRequired] {
        let mut bench = Bench::new(&SLOWLY);
        bench.seed(URL);
        let first = bench.next(HOUR);
        // It was seen before the wall stood.
        bench.answer(looked(&first, 24.0));
        let second = bench.next(DAY);
        bench.answer(failed(&second, outcome, Some(402)));
        assert!(bench.wait(3 * DAY).is_empty());
        hint(&mut bench, URL, HintKind::Sitemap);
        let third = bench.next(5 * DAY);
        let waited = seconds(second.not_before, third.not_before);
        assert!((WEEK_S..WEEK_S + 7_200.0).contains(&waited), "{waited} s");
        bench.answer(looked(&third, 24.0));
        assert_eq!(bench.next(DAY).url.as_str(), URL, "it is a page like any other again");
    }
}

#[test]
fn one_page_behind_a_challenge_does_not_stop_its_host_and_three_in_a_row_do() {
    let mut bench = Bench::new(&SLOWLY);
    bench.seed(URL);
    let first = bench.next(HOUR);
    challenged(&mut bench, &first);
    bench.seed(SIBLING);
    let sibling = bench.next(HOUR);
    assert_eq!(sibling.url.as_str(), SIBLING, "its host goes on after a pause");
    challenged(&mut bench, &sibling);
    bench.seed("http://a.site.test/third");
    let third = bench.next(HOUR);
    challenged(&mut bench, &third);
    bench.seed("http://a.site.test/fourth");
    bench.seed(ELSEWHERE);
    let elsewhere = bench.next(HOUR);
    assert_eq!(elsewhere.url.as_str(), ELSEWHERE, "other hosts do not wait");
    bench.answer(looked(&elsewhere, 1e-6));
    // It would fill every tick.
    bench.command(CommandKind::Forget, ELSEWHERE, 1.0);
    bench.crash();
    let next = bench.next(9 * DAY);
    assert_eq!(next.url.host_name(), "a.site.test");
    let waited = seconds(third.not_before, next.not_before);
    assert!((WEEK_S..WEEK_S + 7_200.0).contains(&waited), "{waited} s");
}

#[test]
fn an_operator_who_resumes_a_host_ends_its_week() {
    let mut bench = Bench::new(&SLOWLY);
    for url in [URL, SIBLING, "http://a.site.test/third"] {
        bench.seed(url);
        let request = bench.next(HOUR);
        challenged(&mut bench, &request);
    }
    bench.seed("http://a.site.test/fourth");
    assert!(bench.wait(DAY).is_empty());
    bench.command(CommandKind::ResumeHost, URL, 1.0);
    assert_eq!(bench.next(HOUR).url.as_str(), "http://a.site.test/fourth");
}

#[test]
fn an_operators_order_is_carried_out_whatever_the_week() {
    let mut bench = Bench::new(&[("politeness.backoff_max", "1m")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    challenged(&mut bench, &first);
    assert!(bench.wait(2 * MINUTE).is_empty());
    bench.command(CommandKind::Refetch, URL, 1.0);
    assert_eq!(bench.next(5 * SECOND).url.as_str(), URL);
}
