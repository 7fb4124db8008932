//! The scheduler as a stage over a log in memory, with a clock set by hand; the tests play the rest of the loop.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL, edited, failed, looked, on_host, seconds, urls};
use messages::{Command, CommandKind, DeadLetter, Encoded, FetchOutcome, FetchReason, SchedulerEvent, topics};
use page::{DAY, HOUR, Host, MINUTE, SECOND};
use scheduler::ScheduledPage;
use std::collections::BTreeSet;

#[test]
fn every_seed_is_asked_for_once_within_the_budget() {
    let mut bench = Bench::new(&[("budget.fetches_per_second", "2"), ("budget.burst", "5s")]);
    (0..40).for_each(|host| bench.seed(&on_host(host)));
    let mut requests = Vec::new();
    for second in 1..=60 {
        requests.extend(bench.tick());
        assert!(requests.len() <= 2 * second + 10, "{} in {second} s", requests.len());
    }
    assert_eq!((requests.len(), urls(&requests).len()), (40, 40));
    assert!(requests.iter().all(|request| request.reason == FetchReason::New && request.validators.etag.is_none()));
    assert!(requests.iter().all(|request| request.lease_until > request.not_before));
}

#[test]
fn after_a_lull_no_more_than_the_burst_goes_out_at_once() {
    let mut bench = Bench::new(&[("budget.fetches_per_second", "2"), ("budget.burst", "5s")]);
    bench.wait(10 * MINUTE);
    (0..40).for_each(|host| bench.seed(&on_host(host)));
    let first = bench.tick().len();
    assert_eq!(first, 10);
    assert!(bench.wait(5 * SECOND).len() <= 10);
}

#[test]
fn requests_of_a_host_are_spaced_by_its_delay_also_across_a_crash() {
    let mut bench = Bench::new(&[("politeness.crawl_delay", "10s"), ("budget.host_ahead", "2m")]);
    (0..8).for_each(|page| bench.seed(&format!("http://a.site.test/{page}")));
    let mut requests = bench.wait(25 * SECOND);
    let before = requests.len();
    bench.crash();
    requests.extend(bench.wait(100 * SECOND));
    assert!(before >= 2 && before < requests.len());
    assert_eq!((requests.len(), urls(&requests).len()), (8, 8));
    for pair in requests.windows(2) {
        assert!(
            pair[1].not_before >= pair[0].not_before + 10 * SECOND,
            "{} {}",
            pair[0].not_before,
            pair[1].not_before
        );
        assert_eq!(pair[1].crawl_delay_ms, Some(10_000));
    }
}

#[test]
fn a_longer_delay_in_robots_txt_holds_for_what_is_asked_next() {
    let mut bench = Bench::new(&[("politeness.crawl_delay", "1s")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.answer(edited(looked(&first, 1.0), |it| it.look.robots_crawl_delay_ms = Some(30_000)));
    bench.seed(SIBLING);
    let second = bench.next(60 * SECOND);
    assert!(seconds(first.not_before, second.not_before) >= 30.0);
    assert_eq!(second.crawl_delay_ms, Some(30_000));
}

#[test]
fn a_lease_that_runs_out_is_handed_out_again_and_a_late_answer_does_not_end_the_newer_one() {
    let mut bench = Bench::new(&[("policy.lease_timeout", "2m")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    assert!(bench.wait(110 * SECOND).is_empty(), "it is under lease");
    let second = bench.next(30 * SECOND);
    assert_eq!(second.attempt, first.attempt + 1);

    bench.answer(looked(&first, 50.0));
    let page = bench.page(URL).unwrap();
    assert_eq!((page.request.lease_until(), page.fetches), (Some(second.lease_until), 1));
    assert!(bench.wait(60 * SECOND).is_empty(), "the newer lease holds");
    bench.answer(looked(&second, 50.0));
    assert_eq!(bench.page(URL).unwrap().request.lease_until(), None);
    let third = bench.next(60 * SECOND);
    assert_eq!((third.attempt, third.reason), (second.attempt + 1, FetchReason::Refresh));
    assert_eq!(third.validators.etag.as_deref(), Some("\"1\""));
}

#[test]
fn what_a_look_left_open_is_settled_by_another_when_that_reports_most() {
    let mut bench = Bench::new(&[("policy.min_interval", "12h")]);
    bench.seed(URL);
    let mut request = bench.next(5 * SECOND);
    for (wait_s, least, most) in [(0, 0.0, 60.0), (3 * 3_600, 10_800.0, 10_860.0)] {
        // The page hardly changes, so nothing else would bring it up.
        bench.answer(edited(looked(&request, 1e-4), |it| it.judgement.look_again_after_s = Some(wait_s)));
        bench.crash();
        let next = bench.next(4 * HOUR);
        assert_eq!(next.reason, FetchReason::Probe);
        let waited = seconds(request.not_before, next.not_before);
        assert!((least..=most).contains(&waited), "{waited} s after {wait_s} s were asked for");
        request = next;
    }
    bench.answer(looked(&request, 1e-4));
    assert!(bench.wait(11 * HOUR).is_empty(), "nothing is open");
}

#[test]
fn what_was_commanded_is_wanted_until_it_is_answered() {
    let mut bench = Bench::new(&[("policy.lease_timeout", "2m"), ("policy.min_interval", "12h")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.answer(looked(&first, 1e-4));
    bench.command(CommandKind::Refetch, URL, 1.0);
    let lost = bench.next(MINUTE);
    assert_eq!(lost.reason, FetchReason::Command);
    bench.crash();
    // The lease runs out; then the host refuses another page, and the request comes back unsent.
    let unsent = bench.next(3 * MINUTE);
    assert_eq!((unsent.reason, unsent.attempt), (FetchReason::Command, lost.attempt + 1));
    let handed_back = failed(&unsent, FetchOutcome::RateLimited, None);
    bench.answer(edited(handed_back, |it| it.look.retry_after_s = Some(60)));
    bench.crash();
    let made = bench.next(3 * MINUTE);
    assert_eq!((made.reason, made.attempt), (FetchReason::Command, unsent.attempt + 1));
    // A command while a request is under way asks for one more.
    bench.command(CommandKind::Refetch, URL, 1.0);
    bench.answer(looked(&made, 1e-4));
    let last = bench.next(13 * HOUR);
    assert_eq!(last.reason, FetchReason::Command);
    bench.answer(looked(&last, 1e-4));
    assert!(bench.wait(11 * HOUR).is_empty(), "nothing is wanted");
}

#[test]
fn a_lease_outlives_a_crash() {
    let mut bench = Bench::new(&[("policy.lease_timeout", "2m")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.crash();
    assert!(bench.wait(100 * SECOND).is_empty());
    assert_eq!(bench.next(60 * SECOND).attempt, first.attempt + 1);
}

#[test]
fn failures_wait_ever_longer_up_to_the_longest_wait_and_keep_what_was_learned() {
    let mut bench = Bench::new(&[("policy.retry_base", "1m"), ("policy.retry_max", "70m")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.answer(looked(&first, 50.0));
    let mut request = bench.next(HOUR);
    for wait_minutes in [1.0, 5.0, 60.0, 70.0, 70.0] {
        bench.answer(edited(failed(&request, FetchOutcome::ServerError, Some(500)), |it| {
            it.belief.alpha = 100.0;
            it.belief.beta_days = 2.0;
        }));
        let next = bench.next(2 * HOUR);
        let waited = seconds(request.not_before, next.not_before) / 60.0;
        assert!((wait_minutes..wait_minutes + 1.0).contains(&waited), "{waited} min instead of {wait_minutes}");
        assert_eq!(next.reason, FetchReason::Retry);
        assert_eq!(next.validators.etag, None, "what failed with conditions is not repeated with them");
        let page = bench.page(URL).unwrap();
        assert_eq!((page.belief.alpha, page.belief.beta_days), (100.0, 2.0));
        assert_eq!(page.last_look_at, Some(first.not_before), "a failure is no look");
        request = next;
    }
    bench.answer(looked(&request, 50.0));
    assert_eq!(bench.page(URL).unwrap().request.failures, 0);
    assert_eq!(bench.next(HOUR).reason, FetchReason::Refresh);
}

#[test]
fn a_page_that_robots_txt_forbids_waits_until_robots_txt_is_read_again() {
    let mut bench = Bench::new(&[("politeness.robots_refresh", "6h"), ("policy.scan_interval", "1m")]);
    bench.seed(URL);
    let first = bench.next(5 * MINUTE);
    bench.answer(failed(&first, FetchOutcome::RobotsDisallowed, None));
    let next = bench.next(DAY);
    let waited_hours = seconds(first.not_before, next.not_before) / 3_600.0;
    assert!((6.0..6.1).contains(&waited_hours), "{waited_hours}");
}

#[test]
fn a_paused_host_is_left_alone_until_it_is_resumed_also_across_a_crash() {
    let mut bench = Bench::new(&[]);
    bench.command(CommandKind::PauseHost, URL, 1.0);
    bench.seed(URL);
    bench.seed(ELSEWHERE);
    assert_eq!(urls(&bench.wait(MINUTE)), BTreeSet::from([ELSEWHERE]));
    bench.crash();
    assert!(bench.wait(MINUTE).is_empty());
    bench.command(CommandKind::ResumeHost, URL, 1.0);
    assert_eq!(bench.next(5 * SECOND).url.as_str(), URL);
}

#[test]
fn pages_of_paused_and_blocked_hosts_are_not_counted_as_due() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let request = bench.next(5 * SECOND);
    bench.answer(looked(&request, 50.0));
    let due = |bench: &mut Bench| {
        bench.pass(DAY);
        bench.wait(MINUTE);
        bench.driver.status(0).figures[metrics::scheduler::DUE]
    };
    bench.command(CommandKind::PauseHost, URL, 1.0);
    assert_eq!(due(&mut bench), 0.0);
    bench.command(CommandKind::BlockHost, URL, 1.0);
    bench.command(CommandKind::ResumeHost, URL, 1.0);
    assert_eq!(due(&mut bench), 0.0);
}

/// The fetcher has one turn for a host name, whatever the scheme and port. So has the scheduler.
#[test]
fn all_ports_and_schemes_of_a_host_share_its_delay_its_bounds_and_its_pauses() {
    let ports = ["http://a.site.test/", "https://a.site.test/", "http://a.site.test:8080/"];
    let mut bench = Bench::new(&[("politeness.crawl_delay", "10s")]);
    ports.iter().for_each(|url| bench.seed(url));
    assert_eq!(bench.wait(MINUTE).len(), 2, "two requests are out for one host");
    let mut bench = Bench::new(&[("politeness.crawl_delay", "10s"), ("budget.host_ahead", "1m")]);
    ports.iter().for_each(|url| bench.seed(url));
    let requests = bench.wait(MINUTE);
    assert_eq!(requests.len(), 3);
    for pair in requests.windows(2) {
        assert!(seconds(pair[0].not_before, pair[1].not_before) >= 10.0, "{} {}", pair[0].url, pair[1].url);
    }
    for paused in ports {
        let mut bench = Bench::new(&[]);
        bench.command(CommandKind::PauseHost, paused, 1.0);
        ports.iter().for_each(|url| bench.seed(url));
        assert!(bench.wait(MINUTE).is_empty(), "{paused}");
        bench.command(CommandKind::ResumeHost, ports[0], 1.0);
        assert_eq!(bench.wait(MINUTE).len(), 3, "{paused}");
    }
}

#[test]
fn a_forgotten_page_is_asked_for_no_more_and_a_new_life_counts_on() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.command(CommandKind::Forget, URL, 1.0);
    bench.answer(looked(&first, 50.0));
    assert_eq!(bench.page(URL), None);
    bench.crash();
    assert!(bench.wait(20 * MINUTE).is_empty());
    bench.seed(URL);
    let again = bench.next(5 * SECOND);
    assert_eq!(again.reason, FetchReason::New);
    assert!(again.attempt > first.attempt, "the detector would take it for a repeat");
}

#[test]
fn a_new_life_counts_on_also_when_the_clock_was_set_back() {
    for (is_restarted, is_sibling_known) in [(false, false), (true, false), (true, true)] {
        let mut bench = Bench::new(&[]);
        bench.seed(URL);
        if is_sibling_known {
            bench.seed(SIBLING);
        }
        let requests = bench.wait(5 * SECOND);
        let first = requests.iter().find(|request| request.url.as_str() == URL).unwrap();
        requests.iter().for_each(|request| bench.answer(looked(request, 1e-6)));
        bench.command(CommandKind::Forget, URL, 1.0);
        bench.driver.clock.set_back(HOUR);
        if is_restarted {
            bench.crash();
        }
        bench.seed(URL);
        let again = bench.next(2 * HOUR);
        assert_eq!(again.url.as_str(), URL);
        assert!(again.attempt > first.attempt, "the detector would take it for a repeat");
    }
}

#[test]
fn a_page_an_operator_wants_comes_next_whatever_it_is_worth() {
    let mut bench = Bench::new(&[("budget.fetches_per_second", "0.001"), ("policy.scan_interval", "1m")]);
    (0..20).for_each(|host| bench.seed(&on_host(host)));
    bench.seed(URL);
    bench.live(DAY, |url| if url == URL { 1e-6 } else { 20.0 });
    bench.command(CommandKind::Refetch, URL, 1.0);
    let next = bench.next(2 * HOUR);
    assert_eq!((next.url.as_str(), next.reason), (URL, FetchReason::Command));
    bench.answer(looked(&next, 1e-6));
    assert_eq!(bench.page(URL).unwrap().request.wanted, frontier::WantedReason::No);
}

#[test]
fn a_page_seeded_again_keeps_what_is_known_of_it_and_takes_the_new_weight() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.answer(looked(&first, 0.5));
    let before = bench.page(URL).unwrap();
    bench.command(CommandKind::Seed, URL, 3.0);
    assert_eq!(bench.page(URL), Some(ScheduledPage { weight: 3.0, ..before }));
}

#[test]
fn what_cannot_be_read_is_set_aside_and_the_rest_goes_on() {
    let mut bench = Bench::new(&[]);
    let topic = bench.names.topic(topics::SCHEDULER_EVENTS);
    bench.driver.send(&topic, b"site.test", b"no event".to_vec()).unwrap();
    let nameless = Command::new(CommandKind::Seed, bench.now());
    bench.send("site.test", &SchedulerEvent::Command(nameless));
    bench.seed(URL);
    assert_eq!(bench.next(5 * SECOND).url.as_str(), URL);
    let messages = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    let messages: Vec<_> =
        messages.iter().map(|message| DeadLetter::decode(message.value.as_deref().unwrap()).unwrap()).collect();
    assert_eq!(messages.len(), 2);
    assert!(messages.iter().all(|message| message.stage == "scheduler"));
    assert!(messages[1].reason.contains("has no url"), "{}", messages[1].reason);
}

#[test]
fn no_more_is_in_flight_than_allowed_overall() {
    let mut bench = Bench::new(&[("budget.in_flight", "7")]);
    (0..20).for_each(|host| bench.seed(&on_host(host)));
    let requests = bench.wait(MINUTE);
    assert_eq!(requests.len(), 7);
    bench.answer(looked(&requests[0], 1e-6));
    assert_eq!(bench.wait(MINUTE).len(), 1);
}

#[test]
fn a_page_left_longer_than_the_longest_interval_is_wanted_whatever_it_is_worth() {
    let overrides =
        [("policy.max_interval", "2d"), ("budget.fetches_per_second", "0.0005"), ("policy.scan_interval", "10m")];
    let mut bench = Bench::new(&overrides);
    (0..10).for_each(|host| bench.command(CommandKind::Seed, &on_host(host), 100.0));
    bench.seed(URL);
    let visits = bench.live(40 * DAY, |url| if url == URL { 1e-6 } else { 20.0 });
    assert!((17..=22).contains(&visits[URL]), "{}", visits[URL]);
}

#[test]
fn a_crash_at_any_moment_loses_no_page_and_asks_for_none_twice_at_a_time() {
    let mut bench = Bench::new(&[("policy.lease_timeout", "10m"), ("budget.fetches_per_second", "1")]);
    (0..30).for_each(|host| bench.seed(&on_host(host)));
    let mut requests = Vec::new();
    for _ in 0..10 {
        requests.extend(bench.wait(5 * SECOND));
        bench.crash();
    }
    assert_eq!((requests.len(), urls(&requests).len()), (30, 30));
    assert_eq!(bench.pages(), 30);
    let hosts: BTreeSet<Host> = requests.iter().map(|request| request.url.host()).collect();
    assert_eq!(hosts.len(), 30);
}
