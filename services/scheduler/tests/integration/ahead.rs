//! How much is handed out ahead of the hosts: enough to keep each busy, and no more than it will soon take.

use crate::bench::{Bench, edited, looked};
use messages::FetchRequest;
use page::{Host, MINUTE, SECOND, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

fn seed_pages(bench: &mut Bench, hosts: usize, pages: usize) {
    for host in 0..hosts {
        (0..pages).for_each(|page| bench.seed(&format!("http://www.site-{host}.test/{page}")));
    }
}

/// Hosts that answer one request at a time, each after some time, and are then left alone for the delay that the request
/// speaks of. As the fetcher does it.
struct Hosts {
    answer_time: Duration,
    /// From when on each may be asked again.
    free_at: BTreeMap<Host, Timestamp>,
    under_way: Vec<(Timestamp, FetchRequest)>,
    /// Answers by host.
    answered: BTreeMap<Host, usize>,
    /// The most requests that any host had out after a tick, the one under way included.
    most_out: usize,
}

impl Hosts {
    fn answering_in(answer_time: Duration) -> Self {
        Self { answer_time, free_at: BTreeMap::new(), under_way: Vec::new(), answered: BTreeMap::new(), most_out: 0 }
    }

    /// Runs `ticks` further ticks.
    fn live(&mut self, bench: &mut Bench, ticks: usize) {
        for _ in 0..ticks {
            let handed_out = bench.tick();
            let now = bench.now();
            handed_out.into_iter().for_each(|request| self.take(request, now));
            self.answer(bench, now);
            let mut out: BTreeMap<Host, usize> = BTreeMap::new();
            self.under_way.iter().for_each(|(_, request)| *out.entry(request.url.host()).or_default() += 1);
            self.most_out = self.most_out.max(out.values().copied().max().unwrap_or(0));
        }
    }

    fn take(&mut self, request: FetchRequest, now: Timestamp) {
        let free_at = self.free_at.entry(request.url.host()).or_insert(now);
        let ended_at = now.max(*free_at).max(request.not_before) + self.answer_time;
        *free_at = ended_at + Duration::from_millis(request.crawl_delay_ms.unwrap() as u64);
        self.under_way.push((ended_at, request));
    }

    fn answer(&mut self, bench: &mut Bench, now: Timestamp) {
        let (due, left): (Vec<_>, _) = self.under_way.drain(..).partition(|(ended_at, _)| *ended_at <= now);
        self.under_way = left;
        for (ended_at, request) in due {
            *self.answered.entry(request.url.host()).or_default() += 1;
            let latency_ms = self.answer_time.as_millis() as i32;
            let fetched_at = Timestamp::from_micros(ended_at.as_micros() - self.answer_time.as_micros() as i64);
            bench.answer(edited(looked(&request, 1e-6), |it| {
                it.look.latency_ms = latency_ms;
                it.look.fetched_at = fetched_at;
            }));
        }
    }
}

#[test]
fn a_host_with_a_delay_of_five_seconds_has_two_requests_out_however_long_it_is_silent() {
    let mut bench = Bench::new(&[("politeness.crawl_delay", "5s")]);
    seed_pages(&mut bench, 1, 50);
    assert_eq!(bench.wait(5 * MINUTE).len(), 2);
}

#[test]
fn a_host_slower_than_all_that_is_handed_out_ahead_still_has_a_request_to_follow() {
    let mut bench = Bench::new(&[("politeness.crawl_delay", "1m"), ("budget.host_ahead", "0s")]);
    seed_pages(&mut bench, 1, 50);
    assert_eq!(bench.wait(5 * MINUTE).len(), 2);
}

#[test]
fn a_silent_host_without_a_delay_does_not_take_all_that_may_be_in_flight() {
    let mut bench = Bench::new(&[("budget.fetches_per_second", "100")]);
    seed_pages(&mut bench, 1, 200);
    assert_eq!(bench.wait(MINUTE).len(), 64);
}

#[test]
fn a_fast_host_is_kept_busy_between_two_ticks() {
    let overrides =
        [("politeness.crawl_delay", "100ms"), ("budget.fetches_per_second", "1000"), ("policy.min_interval", "1d")];
    let mut bench = Bench::new(&overrides);
    seed_pages(&mut bench, 1, 400);
    let mut hosts = Hosts::answering_in(Duration::from_millis(20));
    hosts.live(&mut bench, 40);
    let answered: usize = hosts.answered.values().sum();
    let possible = 40.0 / 0.12;
    assert!(answered as f64 > 0.9 * possible, "{answered} of {possible}");
}

#[test]
fn a_fast_clock_keeps_hosts_busy_although_a_tick_is_long() {
    // A tick of an hour is a second of real time.
    let overrides = [
        ("clock.speed", "3600"),
        ("policy.scan_interval", "1h"),
        ("politeness.crawl_delay", "3m"),
        ("politeness.max_crawl_delay", "3m"),
        ("budget.burst", "1d"),
        ("policy.lease_timeout", "1d"),
        ("policy.min_interval", "30d"),
    ];
    let mut bench = Bench::new(&overrides);
    seed_pages(&mut bench, 1, 400);
    let mut hosts = Hosts::answering_in(Duration::ZERO);
    hosts.live(&mut bench, 15);
    let answered: usize = hosts.answered.values().sum();
    assert!(answered >= 15 * 20 * 9 / 10, "{answered} of 20 an hour");
}

#[test]
fn what_waits_at_the_fetcher_for_slow_hosts_stays_near_two_requests_a_host_and_all_stay_busy() {
    const HOSTS: usize = 60;
    const TICKS: usize = 100;
    let overrides = [
        ("politeness.crawl_delay", "1s"),
        ("politeness.response_time_factor", "1"),
        ("budget.fetches_per_second", "100"),
        ("policy.min_interval", "1d"),
    ];
    let mut bench = Bench::new(&overrides);
    seed_pages(&mut bench, HOSTS, 50);
    // The first answers teach how slow the hosts are.
    let mut hosts = Hosts::answering_in(Duration::from_millis(1_500));
    hosts.live(&mut bench, 20);
    hosts.most_out = 0;
    let before: usize = hosts.answered.values().sum();
    hosts.live(&mut bench, TICKS);
    let answered = hosts.answered.values().sum::<usize>() - before;
    let possible = (HOSTS * TICKS) as f64 / 3.0;
    assert!(answered as f64 > 0.9 * possible, "{answered} of {possible}");
    assert!(hosts.most_out <= 3, "{} out at a host", hosts.most_out);
}

#[test]
fn what_a_host_has_out_shrinks_when_it_becomes_slow() {
    let overrides = [("politeness.response_time_factor", "1"), ("policy.min_interval", "1d")];
    let mut bench = Bench::new(&overrides);
    seed_pages(&mut bench, 1, 400);
    let mut hosts = Hosts::answering_in(Duration::from_millis(200));
    hosts.live(&mut bench, 20);
    hosts.answer_time = 20 * SECOND;
    hosts.live(&mut bench, 400);
    hosts.most_out = 0;
    hosts.live(&mut bench, 200);
    assert_eq!(hosts.most_out, 2);
}

/// A request that waited for its turn longer than its lease would be handed out, and asked for, again.
#[test]
fn a_slow_host_has_no_more_out_than_it_answers_within_half_a_lease() {
    let overrides = [("budget.host_ahead", "1h"), ("policy.lease_timeout", "10m"), ("politeness.crawl_delay", "1s")];
    let mut bench = Bench::new(&overrides);
    seed_pages(&mut bench, 1, 200);
    // The first answers teach how slow the host is.
    let mut hosts = Hosts::answering_in(Duration::from_secs(29));
    hosts.live(&mut bench, 3_000);
    hosts.most_out = 0;
    hosts.live(&mut bench, 3_000);
    assert!((5..=10).contains(&hosts.most_out), "{}", hosts.most_out);
}
