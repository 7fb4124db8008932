//! Refusals of hosts: which pages wait, for how long, and what a refusal counts as.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL, edited, failed, looked, on_host, seconds, urls};
use messages::{
    ChangeEstimate, CommandKind, Encoded, FetchOutcome, FetchReason, FetchRequest, SchedulerEvent, TroubleNotice,
    topics,
};
use page::{CanonicalUrl, DAY, HOUR, MINUTE, SECOND};
use stream::partitioner::partition_for;

#[test]
fn a_host_that_says_too_many_requests_is_left_alone_as_a_whole_and_others_are_not() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    let limited = failed(&first, FetchOutcome::RateLimited, Some(429));
    bench.answer(edited(limited, |it| it.look.retry_after_s = Some(600)));
    let asked_at = bench.now();
    bench.seed(SIBLING);
    bench.seed(ELSEWHERE);
    assert_eq!(bench.next(5 * SECOND).url.as_str(), ELSEWHERE);
    bench.crash();
    let sibling = bench.next(HOUR);
    assert_eq!(sibling.url.as_str(), SIBLING);
    let waited = seconds(asked_at, sibling.not_before);
    assert!((600.0..700.0).contains(&waited), "{waited} s");
}

/// The clock of the fetcher is ahead by more than a lease.
#[test]
fn looks_from_the_future_block_neither_their_page_nor_their_host() {
    let mut bench = Bench::new(&[("policy.min_interval", "1m")]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    let ahead = bench.now() + 11 * MINUTE;
    // It takes the request for one that was given up.
    let lease_over = failed(&first, FetchOutcome::RateLimited, None);
    bench.answer(edited(lease_over, |it| it.look.fetched_at = ahead));
    assert!(bench.wait(50 * SECOND).is_empty(), "the next one would come back as well");
    let second = bench.next(30 * SECOND);
    assert_eq!((second.url.as_str(), second.attempt > first.attempt), (URL, true));
    let ahead = bench.now() + 11 * MINUTE;
    bench.answer(edited(looked(&second, 1e6), |it| it.look.fetched_at = ahead));
    bench.seed(SIBLING);
    assert_eq!(bench.next(5 * SECOND).url.as_str(), SIBLING, "its host does not wait");
    assert_eq!(bench.next(5 * MINUTE).url.as_str(), URL, "nor does the page");
}

/// Link rot behind redirects, and a 429 from whom a page redirects to, are the trouble of those who answer.
#[test]
fn what_a_redirect_leads_to_is_booked_on_who_answered_and_not_on_the_host_that_redirected() {
    let mut bench = Bench::new(&[]);
    bench.seed(ELSEWHERE);
    let elsewhere = bench.next(5 * SECOND);
    bench.answer(looked(&elsewhere, 1e-4));
    for (path, outcome, status, retry_after_s) in [
        ("dead", FetchOutcome::ConnectFailed, None, None),
        ("busy", FetchOutcome::RateLimited, Some(429), Some(86_400)),
    ] {
        bench.seed(&format!("http://a.site.test/{path}"));
        let request = bench.next(5 * SECOND);
        let led_away = failed(&request, outcome, status);
        bench.answer(edited(led_away, |it| {
            it.look.final_url = Some(elsewhere.url.clone());
            it.look.retry_after_s = retry_after_s;
            it.look.robots_crawl_delay_ms = Some(60_000);
        }));
    }
    bench.seed(SIBLING);
    let sibling = bench.next(5 * SECOND);
    assert_eq!((sibling.url.as_str(), sibling.crawl_delay_ms), (SIBLING, Some(0)), "its host did nothing wrong");
    bench.answer(looked(&sibling, 1e-4));
    bench.seed("http://b.other.test/next");
    let asked_at = bench.now();
    let waited = loop {
        let next = bench.wait(HOUR).into_iter().find(|request| request.url.as_str().ends_with("/next"));
        if let Some(request) = next {
            break seconds(asked_at, request.not_before);
        }
    };
    assert!((80_000.0..100_000.0).contains(&waited), "{waited} s");
}

/// A page each of two hosts, whose sites are kept by two partitions.
fn in_two_partitions() -> [String; 2] {
    let kept_by = |partition| {
        let is_kept = |url: &String| {
            let site = CanonicalUrl::parse(url).unwrap().site_key();
            partition_for(site.as_str().as_bytes(), 2) == partition
        };
        (0..).map(on_host).find(is_kept).unwrap()
    };
    [kept_by(0), kept_by(1)]
}

fn notices(bench: &Bench) -> Vec<TroubleNotice> {
    let events = bench.driver.contents(&bench.names.topic(topics::SCHEDULER_EVENTS)).unwrap();
    let notice = |event| match event {
        SchedulerEvent::Trouble(notice) => Some(notice),
        _ => None,
    };
    events.iter().filter_map(|event| notice(SchedulerEvent::decode(event.value.as_deref()?).unwrap())).collect()
}

/// An answer that a redirect to another URL led to.
fn led_to(url: &str, estimate: ChangeEstimate) -> ChangeEstimate {
    edited(estimate, |it| it.look.final_url = Some(CanonicalUrl::parse(url).unwrap()))
}

#[test]
fn trouble_behind_a_redirect_reaches_the_books_of_the_host_in_another_partition() {
    let [here, there] = in_two_partitions();
    let mut bench = Bench::with_partitions(2, &[("policy.min_interval", "30d")]);
    bench.seed(&there);
    let known = bench.next(5 * SECOND);
    bench.answer(looked(&known, 1e-6));
    bench.seed(&here);
    let request = bench.next(5 * SECOND);
    assert_eq!(request.url.as_str(), here);
    let limited = led_to(&there, failed(&request, FetchOutcome::RateLimited, Some(429)));
    bench.answer(edited(limited, |it| it.look.retry_after_s = Some(86_400)));
    let asked_at = bench.now();
    bench.crash();
    bench.seed(&format!("{there}next"));
    bench.seed(&format!("{here}next"));
    assert_eq!(bench.next(5 * SECOND).url.as_str(), format!("{here}next"), "its host did nothing wrong");
    let waited = loop {
        let next = bench.wait(HOUR).into_iter().find(|request| request.url.as_str() == format!("{there}next"));
        if let Some(request) = next {
            break seconds(asked_at, request.not_before);
        }
    };
    assert!((86_000.0..100_000.0).contains(&waited), "{waited} s");
}

#[test]
fn a_notice_of_trouble_counts_once_however_often_it_is_read() {
    let [here, there] = in_two_partitions();
    let mut bench = Bench::with_partitions(2, &[("politeness.backoff_base", "1m"), ("policy.min_interval", "30d")]);
    bench.seed(&there);
    let known = bench.next(5 * SECOND);
    bench.answer(looked(&known, 1e-6));
    bench.seed(&here);
    let request = bench.next(5 * SECOND);
    assert_eq!(request.url.as_str(), here);
    let limited = led_to(&there, failed(&request, FetchOutcome::RateLimited, Some(429)));
    bench.answer(edited(limited, |it| it.look.retry_after_s = Some(300)));
    let [notice] = notices(&bench).try_into().unwrap();
    let booked = bench.host(&there).unwrap();
    assert_eq!((booked.troubles, notice.url.as_str()), (1, there.as_str()));
    for later in [SECOND, MINUTE, HOUR] {
        bench.wait(later);
        bench.send(notice.url.site_key().as_str(), &SchedulerEvent::Trouble(notice.clone()));
        bench.crash();
        assert_eq!(bench.host(&there).unwrap(), booked, "{later:?} later");
    }
}

#[test]
fn only_trouble_is_reported_to_other_partitions_and_only_hosts_with_pages_have_books() {
    let [here, there] = in_two_partitions();
    let mut bench = Bench::with_partitions(2, &[]);
    bench.seed(&here);
    let good = bench.next(5 * SECOND);
    bench.answer(led_to(&there, looked(&good, 50.0)));
    let missing = bench.next(HOUR);
    bench.answer(led_to(&there, failed(&missing, FetchOutcome::ServerError, Some(500))));
    assert_eq!(notices(&bench), []);
    let silent = bench.next(DAY);
    bench.answer(led_to(&there, failed(&silent, FetchOutcome::TimedOut, None)));
    assert_eq!(notices(&bench).len(), 1);
    assert_eq!(bench.host(&there), None);
    assert_eq!(bench.host(&here).unwrap().troubles, 0);
}

#[test]
fn a_host_that_cannot_be_reached_keeps_the_delay_that_its_robots_txt_asked_for() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.answer(edited(looked(&first, 1e-6), |it| it.look.robots_crawl_delay_ms = Some(30_000)));
    let delay_after = |bench: &mut Bench, url: &str, answer: &dyn Fn(&FetchRequest) -> ChangeEstimate| {
        bench.seed(url);
        let request = bench.next(HOUR);
        bench.answer(answer(&request));
        bench.host(URL).unwrap().crawl_delay_ms
    };
    let failing = |request: &FetchRequest| failed(request, FetchOutcome::ConnectFailed, None);
    assert_eq!(delay_after(&mut bench, SIBLING, &failing), 30_000);
    assert_eq!(delay_after(&mut bench, "http://a.site.test/z", &|request| looked(request, 1e-6)), 0);
}

#[test]
fn the_longest_delay_that_any_origin_of_a_host_asks_for_counts() {
    let mut bench = Bench::new(&[("policy.min_interval", "30d")]);
    for (number, (origin, asked_ms, delay_ms)) in [
        ("https://a.site.test", Some(20_000), 20_000),
        ("http://a.site.test", None, 20_000),
        ("http://a.site.test:8080", Some(30_000), 30_000),
        ("https://a.site.test", Some(20_000), 30_000),
        ("http://a.site.test:8080", Some(10_000), 10_000),
        ("https://a.site.test", Some(20_000), 20_000),
        ("https://a.site.test", None, 0),
    ]
    .into_iter()
    .enumerate()
    {
        bench.seed(&format!("{origin}/{number}"));
        let request = bench.next(HOUR);
        bench.answer(edited(looked(&request, 1e-6), |it| it.look.robots_crawl_delay_ms = asked_ms));
        assert_eq!(bench.host(URL).unwrap().crawl_delay_ms, delay_ms, "{}", request.url);
    }
}

#[test]
fn the_trouble_of_a_host_is_booked_although_the_page_was_forgotten_meanwhile() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    bench.command(CommandKind::Forget, URL, 1.0);
    let limited = failed(&first, FetchOutcome::RateLimited, Some(429));
    bench.answer(edited(limited, |it| it.look.retry_after_s = Some(600)));
    let asked_at = bench.now();
    bench.seed(SIBLING);
    let waited = seconds(asked_at, bench.next(HOUR).not_before);
    assert!((600.0..700.0).contains(&waited), "{waited} s");
}

#[test]
fn good_answers_halve_the_back_off_of_a_host_and_a_crash_forgets_none_of_it() {
    let overrides = [("politeness.backoff_base", "1m"), ("policy.retry_base", "1s"), ("policy.retry_max", "2s")];
    /// The next request, at the time when it may be sent.
    fn sent(bench: &mut Bench) -> FetchRequest {
        let request = bench.next(2 * HOUR);
        while bench.now() < request.not_before {
            bench.tick();
        }
        request
    }
    fn fail(bench: &mut Bench) {
        let request = sent(bench);
        bench.answer(failed(&request, FetchOutcome::RateLimited, Some(429)));
    }
    let pause_after = |good_answers: usize| {
        let mut bench = Bench::new(&overrides);
        bench.seed(URL);
        (0..4).for_each(|_| fail(&mut bench));
        bench.crash();
        for _ in 0..good_answers {
            let request = sent(&mut bench);
            bench.answer(looked(&request, 50.0));
        }
        fail(&mut bench);
        let failed_at = bench.now();
        seconds(failed_at, sent(&mut bench).not_before)
    };
    // 16 minutes after the fifth failure in a row, from 75 % to 125 % of it.
    for (good_answers, minutes) in [(0, 16.0), (2, 4.0)] {
        let pause = pause_after(good_answers) / 60.0;
        assert!((0.74 * minutes..1.35 * minutes).contains(&pause), "{pause} minutes after {good_answers} good answers");
    }
}

#[test]
fn what_a_refusal_stopped_is_no_failure_and_is_asked_for_when_the_back_off_ends() {
    let overrides = [
        ("budget.fetches_per_second", "0.001"),
        ("budget.burst", "5000s"),
        ("policy.scan_interval", "1m"),
        ("policy.retry_base", "6h"),
        ("politeness.backoff_base", "10m"),
    ];
    let mut bench = Bench::new(&overrides);
    bench.wait(2 * HOUR);
    let pages: Vec<_> = (0..5).map(|page| format!("http://a.site.test/{page}")).collect();
    pages.iter().for_each(|page| bench.seed(page));
    let mut requests = bench.tick();
    assert_eq!(requests.len(), 5, "the whole burst");
    let refused = requests.remove(0);
    bench.answer(failed(&refused, FetchOutcome::RateLimited, Some(429)));
    let refused_at = bench.now();
    for request in &requests {
        let unsent = failed(request, FetchOutcome::RateLimited, None);
        bench.answer(edited(unsent, |it| it.look.retry_after_s = Some(450)));
        let page = bench.page(request.url.as_str()).unwrap();
        assert_eq!((page.fetches, page.request.failures, page.outcome), (0, 0, None), "nobody has looked");
        assert_eq!(page.request.lease_until(), None);
    }
    // A fetch not made is not paid for: a budget of one in 17 minutes would not bring them back together.
    let mut again = Vec::new();
    while again.is_empty() {
        again = bench.tick();
    }
    assert_eq!(urls(&again), urls(&requests));
    let waited = seconds(refused_at, again[0].not_before);
    assert!((450.0..=810.0).contains(&waited), "{waited} s after one refusal: the first pause, not a doubled one");
    assert!(again.iter().all(|request| request.reason == FetchReason::New));
}

#[test]
fn a_request_handed_back_after_its_lease_leaves_the_next_one_alone() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let first = bench.next(5 * SECOND);
    let second = bench.next(20 * MINUTE);
    let unsent = failed(&first, FetchOutcome::RateLimited, None);
    bench.answer(edited(unsent, |it| it.look.retry_after_s = Some(3_600)));
    let page = bench.page(URL).unwrap();
    assert_eq!((page.request.lease_until(), page.request.held_until()), (Some(second.lease_until), None));
}

#[test]
fn requests_that_went_stale_while_no_fetcher_ran_come_back_unsent_and_no_page_is_lost() {
    for policy in ["live", "nutch"] {
        let overrides = [
            ("policy.name", policy),
            ("policy.lease_timeout", "2m"),
            ("policy.min_interval", "12h"),
            ("budget.burst", "1h"),
        ];
        let mut bench = Bench::new(&overrides);
        (0..20).for_each(|host| bench.seed(&on_host(host)));
        let handed_out = bench.wait(HOUR);
        assert!(handed_out.len() > 10 * 20, "{policy}: {} in an hour", handed_out.len());
        // A fetcher comes back, and looks at what is still under lease.
        let now = bench.now();
        let mut looks = Vec::new();
        for request in &handed_out {
            if request.lease_until <= now {
                bench.answer(edited(failed(request, FetchOutcome::RateLimited, None), |it| it.look.fetched_at = now));
            } else {
                bench.answer(edited(looked(request, 1e-4), |it| it.look.fetched_at = now));
                looks.push(request.url.as_str().to_owned());
            }
        }
        for request in bench.wait(5 * MINUTE) {
            bench.answer(looked(&request, 1e-4));
            looks.push(request.url.as_str().to_owned());
        }
        looks.sort();
        let mut expected: Vec<_> = (0..20).map(on_host).collect();
        expected.sort();
        assert_eq!(looks, expected, "{policy}: each page once");
        for host in 0..20 {
            let page = bench.page(&on_host(host)).unwrap();
            assert_eq!((page.fetches, page.request.failures, page.request.lease_until()), (1, 0, None), "{policy}");
        }
    }
}
