//! Copies that their servers say are current (max-age, Expires), and what it costs to believe them.

use crate::bench::{Bench, URL, edited, looked, on_host, seconds};
use crate::live::hint;
use chance::splitmix64;
use messages::{CommandKind, FetchReason, FetchRequest, HintKind, Verdict};
use page::{DAY, HOUR, MINUTE, Timestamp};
use std::time::Duration;

/// A page that is worth a look every few minutes.
const BUSY: f64 = 100.0;

fn bench(further: &[(&str, &str)]) -> Bench {
    let slowly = [("policy.scan_interval", "1m"), ("policy.lease_timeout", "10m")];
    let mut bench = Bench::new(&[&slowly[..], further].concat());
    bench.seed(URL);
    bench
}

/// Answers the next request, with a word on how long the answer is current. Returns the request.
fn answered(bench: &mut Bench, fresh_for: Option<Duration>) -> FetchRequest {
    let request = bench.next(3 * DAY);
    let fresh_for_s = fresh_for.map(|fresh_for| fresh_for.as_secs() as i64);
    bench.answer(edited(looked(&request, BUSY), |it| it.look.fresh_for_s = fresh_for_s));
    request
}

fn wait_after(bench: &mut Bench, fresh_for: Option<Duration>) -> f64 {
    let first = answered(bench, fresh_for);
    let second = answered(bench, None);
    seconds(first.not_before, second.not_before)
}

#[test]
fn a_page_is_not_asked_for_while_its_server_says_that_the_copy_is_current_for_a_day_at_most() {
    let wait = |fresh_for, further: &[(&str, &str)]| wait_after(&mut bench(further), fresh_for);
    assert!(wait(None, &[]) < 600.0);
    let checked = wait(Some(2 * HOUR), &[]);
    assert!((7_200.0..7_800.0).contains(&checked), "{checked} s");
    let capped = wait(Some(30 * DAY), &[]);
    assert!((86_400.0..87_000.0).contains(&capped), "{capped} s");
    let by_setting = wait(Some(30 * DAY), &[("politeness.max_age_cap", "1h")]);
    assert!((3_600.0..4_200.0).contains(&by_setting), "{by_setting} s");
    assert!(wait(Some(30 * DAY), &[("politeness.max_age_cap", "0s")]) < 600.0);
    let longest = wait(Some(30 * DAY), &[("policy.max_interval", "3h")]);
    assert!((10_800.0..11_400.0).contains(&longest), "{longest} s");
}

#[test]
fn an_order_and_a_hint_come_before_a_max_age() {
    let orders: [&dyn Fn(&mut Bench); 2] =
        [&|bench| bench.command(CommandKind::Refetch, URL, 1.0), &|bench| hint(bench, URL, HintKind::Ping)];
    for order in orders {
        let mut bench = bench(&[]);
        answered(&mut bench, Some(DAY));
        assert!(bench.wait(HOUR).is_empty());
        order(&mut bench);
        assert_eq!(bench.next(20 * MINUTE).url.as_str(), URL);
    }
}

#[test]
fn audits_measure_also_copies_that_their_servers_say_are_current() {
    let mut bench = bench(&[("policy.audit_share", "0.5"), ("budget.fetches_per_second", "0.01")]);
    bench.seed("http://b.other.test/");
    let (mut audits, mut others) = (0, 0);
    for _ in 0..48 * 60 {
        for request in bench.tick() {
            let is_held = request.url.as_str() == URL;
            audits += u64::from(is_held && request.reason == FetchReason::Audit);
            others += u64::from(is_held && request.reason != FetchReason::Audit);
            bench.answer(edited(looked(&request, BUSY), |it| it.look.fresh_for_s = is_held.then_some(86_400)));
        }
    }
    assert!(audits > 5, "{audits} audits");
    assert!(others <= 3, "{others} other looks in two days");
}

/// Pages of the web below, one to a host.
const PAGES: usize = 120;
const DAYS: u32 = 12;

/// Shares of the time in which copies are current, with servers that say so of each page for a time.
fn freshness(max_age_of: impl Fn(usize) -> Option<Duration>) -> f64 {
    let six_a_day = format!("{}", 6.0 * PAGES as f64 / 86_400.0);
    let slowly = [
        ("policy.scan_interval", "10m"),
        ("policy.lease_timeout", "1h"),
        ("budget.fetches_per_second", six_a_day.as_str()),
        ("budget.burst", "1h"),
    ];
    let mut bench = Bench::new(&slowly);
    // From one change in ten days to ten a day, each page with changes at chance times of its own.
    let rate = |page: usize| 0.1 * 100.0_f64.powf(page as f64 / (PAGES - 1) as f64);
    let mut draws = 0;
    let mut waits_days = |rate: f64| {
        draws += 1;
        let chance = (splitmix64(draws) >> 11) as f64 / (1_u64 << 53) as f64;
        -(1.0 - chance).ln() / rate
    };
    let start = bench.now();
    let days = |at: Timestamp| at.days_since(start);
    let urls: Vec<_> = (0..PAGES).map(on_host).collect();
    urls.iter().for_each(|url| bench.seed(url));
    // When each copy became stale, or will; and the days that were fresh since the second day.
    let mut stale_from: Vec<f64> = vec![0.0; PAGES];
    let mut copied_at: Vec<f64> = vec![0.0; PAGES];
    let mut fresh_days = 0.0;
    let end = f64::from(DAYS);
    let mut over = |copied_at: f64, stale_from: f64, until: f64| {
        fresh_days += (stale_from.min(until).min(end) - copied_at.max(2.0)).max(0.0);
    };
    while days(bench.now()) < end {
        for request in bench.tick() {
            let page = urls.iter().position(|url| *url == request.url.as_str()).unwrap();
            let now = days(request.not_before);
            over(copied_at[page], stale_from[page], now);
            let changed = stale_from[page] <= now;
            (copied_at[page], stale_from[page]) = (now, now + waits_days(rate(page)));
            bench.answer(edited(looked(&request, rate(page)), |it| {
                it.judgement.verdict = if changed { Verdict::Minor } else { Verdict::Unchanged };
                it.look.fresh_for_s = max_age_of(page).map(|max_age| max_age.as_secs() as i64);
            }));
        }
    }
    (0..PAGES).for_each(|page| over(copied_at[page], stale_from[page], end));
    fresh_days / ((end - 2.0) * PAGES as f64)
}

/// Servers that err: their word has nothing to do with how often the page changes.
#[test]
fn to_believe_a_max_age_costs_freshness_in_bounds() {
    let none = freshness(|_| None);
    let ten_minutes = freshness(|_| Some(10 * MINUTE));
    let hour = freshness(|_| Some(HOUR));
    let day = freshness(|_| Some(DAY));
    let mixed = freshness(|page| [None, None, None, Some(10 * MINUTE), Some(HOUR), Some(DAY)][page % 6]);
    println!("copies current: {none:.3} without a word, {ten_minutes:.3} with ten minutes, {hour:.3} with an hour");
    println!("{day:.3} with a day, {mixed:.3} if a sixth of the pages each say ten minutes, an hour and a day");
    assert!(none > 0.5 && (none - ten_minutes).abs() < 0.03, "{none} {ten_minutes}");
    assert!(hour <= none + 0.01 && day < hour && day < none - 0.05, "{none} {hour} {day}");
    assert!((day..none).contains(&mixed), "{mixed}");
}
