//! How the budget is spent, by policy.

use crate::bench::{Bench, edited, failed, looked, on_host};
use messages::{ChangeEstimate, CommandKind, Demand, Encoded, FetchOutcome, topics};
use page::DAY;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

#[test]
fn partitions_share_the_budget_by_what_their_pages_are_worth_and_spend_it_together() {
    for policy in ["live", "crawl-value"] {
        let overrides = [
            ("policy.name", policy),
            ("budget.fetches_per_second", "0.01"),
            ("policy.scan_interval", "1m"),
            ("budget.burst", "10m"),
        ];
        let mut bench = Bench::with_partitions(2, &overrides);
        (0..40).for_each(|host| bench.seed(&on_host(host)));
        bench.live(DAY, |_| 10.0);
        let visits: u64 = bench.live(4 * DAY, |_| 10.0).values().sum();
        let budget = 0.01 * 86_400.0 * 4.0;
        assert!((visits as f64 / budget - 1.0).abs() < 0.05, "{policy}: {visits} of {budget}");
        let mut last = BTreeMap::new();
        for record in bench.driver.contents(&bench.names.topic(topics::DEMAND)).unwrap() {
            let demand = Demand::decode(record.value.as_deref().unwrap()).unwrap();
            last.insert(demand.stage_partition, demand);
        }
        assert_eq!(last.len(), 2);
        let together: f64 = last.values().map(|demand| demand.budget_fetches_per_day).sum();
        assert!((together / 864.0 - 1.0).abs() < 0.02, "{policy}: {together}");
        for demand in last.values() {
            let fair = 864.0 * demand.pages as f64 / 40.0;
            assert!(
                (demand.budget_fetches_per_day / fair - 1.0).abs() < 0.1,
                "{policy}: {} for {fair}",
                demand.budget_fetches_per_day
            );
        }
    }
}

#[test]
fn the_price_falls_when_all_pages_have_their_first_copy() {
    let overrides = [
        ("policy.name", "live"),
        ("budget.fetches_per_second", "10"),
        ("policy.scan_interval", "1s"),
        // What is not spent at the price is kept, and not spent for want of room to keep it.
        ("budget.burst", "10m"),
    ];
    let mut bench = Bench::with_partitions(2, &overrides);
    (0..40).for_each(|host| bench.seed(&on_host(host)));
    bench.live(Duration::from_secs(10), |_| 0.001);
    // A first copy was worth ten thousand times what these pages are.
    let visits: u64 = bench.live(Duration::from_secs(40), |_| 0.001).values().sum();
    assert!(visits > 300, "{visits} of 400");
}

#[test]
fn the_uniform_policy_visits_all_pages_equally_often_and_spends_the_whole_budget() {
    let overrides = [("policy.name", "uniform"), ("budget.fetches_per_second", "0.01"), ("policy.scan_interval", "1m")];
    let mut bench = Bench::new(&overrides);
    (0..25).for_each(|host| bench.seed(&on_host(host)));
    let visits = bench.live(5 * DAY, |url| url.len() as f64);
    let (least, most) = (visits.values().min().unwrap(), visits.values().max().unwrap());
    assert_eq!(visits.len(), 25);
    assert!(most - least <= 1 && *least >= 171, "{least} to {most}");
}

#[test]
fn policies_that_score_favour_some_pages_and_leave_none_for_good() {
    for policy in ["live", "crawl-value"] {
        let overrides = [
            ("policy.name", policy),
            ("policy.theta", "0.05"),
            ("budget.fetches_per_second", "0.0005"),
            ("policy.scan_interval", "30m"),
        ];
        let mut bench = Bench::new(&overrides);
        // From once in three years to a hundred times a day; 43 fetches a day for 50 pages.
        (0..50).for_each(|host| bench.seed(&on_host(host)));
        let rate = |url: &str| {
            let number: f64 = url.trim_start_matches("http://www.site-").split('.').next().unwrap().parse().unwrap();
            0.001 * 1e5_f64.powf(number / 49.0)
        };
        bench.live(20 * DAY, rate);
        let visits = bench.live(120 * DAY, rate);
        assert_eq!(visits.len(), 50, "{visits:?}");
        let fast: Vec<_> = (40..50).map(|host| visits[&on_host(host)]).collect();
        assert!(fast.iter().all(|count| *count >= 3), "pages too fast to keep up with are still seen: {fast:?}");
        let most = visits.values().max().unwrap();
        assert!(*most > 4 * visits[&on_host(0)], "{most} and {}", visits[&on_host(0)]);
    }
}

#[test]
fn received_bytes_are_paid_back_before_more_is_asked_for() {
    let mut bench = Bench::new(&[("budget.bytes_per_second", "1KiB")]);
    let weight = 50 << 10;
    let (mut earned, mut received, mut rounds) = (0, 0, 0);
    (0..30).for_each(|host| bench.seed(&on_host(host)));
    for _ in 0..4_000 {
        let requests = bench.tick();
        earned += 1 << 10;
        // What a page weighs is known only afterwards, so one round may overdraw; the next waits until that is paid.
        assert!(requests.is_empty() || received <= earned, "{received} received, {earned} earned");
        rounds += u64::from(!requests.is_empty());
        for request in requests {
            received += weight;
            let unchanged = looked(&request, 1.0);
            // Unpacked it is four times as long; an answer without a body weighs, too.
            let outcome = [FetchOutcome::Fetched, FetchOutcome::ServerError][usize::from(rounds % 2 == 0)];
            bench.answer(edited(unchanged, |it| {
                it.look.outcome = outcome;
                it.look.body_length = 4 * weight;
                it.look.wire_bytes = weight;
            }));
        }
    }
    assert!(rounds > 2 && received > earned / 2, "{received} of {earned} in {rounds} rounds");
}

/// Whoever seeds a thousand pages at once must not have to wait an hour for what they weigh.
#[test]
fn what_is_out_is_expected_to_weigh_as_much_as_what_has_come() {
    const RATE: i64 = 64 << 10;
    const WEIGHT: i64 = 1 << 20;
    const LATENCY: usize = 30;
    let overrides = [("budget.bytes_per_second", "64KiB"), ("budget.fetches_per_second", "1000")];
    let mut bench = Bench::new(&overrides);
    (0..400).for_each(|host| bench.seed(&on_host(host)));
    let mut out = VecDeque::from(vec![Vec::new(); LATENCY]);
    let (mut earned, mut received) = (0, 0);
    for _ in 0..4_000 {
        out.push_back(bench.tick());
        earned += RATE;
        for request in out.pop_front().unwrap() {
            received += WEIGHT;
            bench.answer(edited(looked(&request, 10.0), |it| it.look.wire_bytes = WEIGHT));
        }
        assert!(received <= earned + 20 * WEIGHT, "{received} received, {earned} earned");
    }
    assert!(received > earned * 9 / 10, "{received} of {earned}");
}

#[test]
fn a_page_forgotten_meanwhile_is_paid_for_too() {
    let mut bench = Bench::new(&[("budget.bytes_per_second", "1KiB")]);
    (0..400).for_each(|host| bench.seed(&on_host(host)));
    let (mut earned, mut received) = (0, 0);
    for _ in 0..2_000 {
        let requests = bench.tick();
        earned += 1 << 10;
        assert!(requests.is_empty() || received <= earned, "{received} received, {earned} earned");
        for request in requests {
            received += 50 << 10;
            bench.command(CommandKind::Forget, request.url.as_str(), 1.0);
            bench.answer(edited(looked(&request, 1.0), |it| it.look.wire_bytes = 50 << 10));
        }
    }
    assert!(received > earned / 2, "{received} of {earned}");
}

/// robots.txt and redirects are requests like any other, also on the way to a page that was not asked for.
#[test]
fn every_request_and_byte_is_paid_whatever_came_of_it() {
    let overrides = [
        ("budget.fetches_per_second", "0.1"),
        ("budget.bytes_per_second", "1KiB"),
        ("budget.burst", "20s"),
        ("policy.scan_interval", "1s"),
    ];
    let check = |what: &str, answer: &dyn Fn(&mut ChangeEstimate)| {
        let mut bench = Bench::new(&overrides);
        (0..400).for_each(|host| bench.seed(&on_host(host)));
        let (mut sent, mut received) = (0, 0);
        for _ in 0..4_000 {
            for request in bench.tick() {
                let estimate = edited(looked(&request, 10.0), answer);
                sent += estimate.look.requests;
                received += estimate.look.wire_bytes;
                bench.answer(estimate);
            }
        }
        // One round may overdraw. Besides, a first fetch is free.
        assert!((300..=420).contains(&sent), "{what}: {sent} requests of 400");
        assert!(received <= (4_000 << 10) + (64 << 10), "{what}: {received} bytes");
    };
    check("a page with its robots.txt and a redirect", &|estimate| {
        (estimate.look.requests, estimate.look.wire_bytes) = (4, 1_000);
    });
    check("a robots.txt that cannot be had", &|estimate| {
        estimate.look.outcome = FetchOutcome::RobotsUnavailable;
        estimate.look.status = None;
        (estimate.look.requests, estimate.look.wire_bytes, estimate.look.retry_after_s) = (1, 5_000, Some(1));
    });
    check("an answer that was cut off", &|estimate| {
        estimate.look.outcome = FetchOutcome::ConnectionLost;
        (estimate.look.requests, estimate.look.wire_bytes) = (1, 9_000);
    });
}

#[test]
fn what_was_refused_without_being_sent_costs_nothing() {
    let overrides = [("budget.fetches_per_second", "0.1"), ("budget.burst", "20s"), ("policy.scan_interval", "1s")];
    for outcome in [FetchOutcome::RobotsDisallowed, FetchOutcome::AddressRefused, FetchOutcome::DnsFailed] {
        let mut bench = Bench::new(&overrides);
        (0..400).for_each(|host| bench.seed(&on_host(host)));
        let (mut sent, mut refused) = (0, 0);
        for _ in 0..3_000 {
            for request in bench.tick() {
                if request.page_id.0[0] % 2 == 0 {
                    refused += 1;
                    bench.answer(failed(&request, outcome, None));
                } else {
                    sent += 1;
                    bench.answer(edited(looked(&request, 10.0), |it| it.look.requests = 1));
                }
            }
        }
        assert!((285..=302).contains(&sent) && refused > 100, "{outcome:?}: {sent} of 300 sent, {refused} refused");
    }
}

#[test]
fn budget_that_no_page_needs_is_left_and_so_are_audits() {
    let asked_per_day = |least_worth: &str, rate_per_day: f64| {
        let mut bench = Bench::new(&[
            ("policy.least_worth", least_worth),
            ("policy.audit_share", "0.01"),
            ("policy.min_interval", "5m"),
            ("policy.scan_interval", "5m"),
        ]);
        (0..10).for_each(|page| bench.seed(&format!("http://a.site.test/{page}")));
        let visits = bench.live(3 * DAY, |_| rate_per_day);
        visits.values().sum::<u64>() as f64 / (10.0 * 3.0)
    };
    // After t days a look is worth r t²/2: 5.9 looks a day.
    let quiet = asked_per_day("5s", 0.004);
    assert!((4.0..8.0).contains(&quiet), "{quiet} a day");
    let busy = asked_per_day("5s", 1.0);
    assert!((70.0..100.0).contains(&busy), "{busy} a day");
    let restless = asked_per_day("0s", 0.004);
    assert!(restless > 100.0, "{restless} a day, as often as policy.min_interval allows");
}
