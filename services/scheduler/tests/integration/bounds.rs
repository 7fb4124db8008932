//! Hosts, groups and cells go with the last of their pages.

use crate::bench::{Bench, edited, failed, looked};
use messages::{CommandKind, FetchOutcome, FetchRequest, SchedulerEvent, SweepForecast};
use page::{CanonicalUrl, HOUR, MINUTE};
use std::time::Duration;
use sweeps::{CellChange, CellPriors, GroupChange, PagePlace};

const LEASE: (&str, &str) = ("policy.lease_timeout", "10m");

/// Number of entries in the table of hosts, and of hosts in memory.
fn hosts(bench: &Bench) -> (usize, f64) {
    let stored = bench.keys(scheduler::HOSTS.spec()).len();
    (stored, bench.driver.status(0).figures[metrics::scheduler::HOSTS])
}

fn fetch(bench: &mut Bench, url: &str) -> FetchRequest {
    bench.seed(url);
    let requests = bench.wait(MINUTE);
    requests.into_iter().find(|request| request.url.as_str() == url).expect("a new page is asked for at once")
}

#[test]
fn hosts_without_pages_are_forgotten_when_they_have_rested() {
    let mut bench = Bench::new(&[LEASE, ("politeness.crawl_delay", "30s"), ("politeness.max_crawl_delay", "1m")]);
    let url = |number: usize| format!("http://h{number}.site.test/");
    bench.seed("http://www.site.test/");
    for number in 0..60 {
        let request = fetch(&mut bench, &url(number));
        bench.answer(looked(&request, 0.01));
        bench.command(CommandKind::Forget, &url(number), 1.0);
        let (stored, held) = hosts(&bench);
        assert!(stored <= 12 && held <= 12.0, "{stored} {held} after {number} hosts");
        if number == 30 {
            bench.crash();
        }
    }
    bench.wait(15 * MINUTE);
    assert_eq!(hosts(&bench), (1, 1.0));
}

#[test]
fn a_host_that_asked_to_be_left_alone_is_remembered_so_long_and_one_that_is_stopped_until_it_is_resumed() {
    let mut bench = Bench::new(&[LEASE]);
    let (resting, paused, blocked) = ("http://rests.test/", "http://paused.test/", "http://blocked.test/");
    let request = fetch(&mut bench, resting);
    bench.answer(edited(failed(&request, FetchOutcome::RateLimited, Some(429)), |it| {
        it.look.retry_after_s = Some(7_200);
    }));
    for (url, kind) in [(paused, CommandKind::PauseHost), (blocked, CommandKind::BlockHost)] {
        bench.seed(url);
        bench.command(kind, url, 1.0);
    }
    [resting, paused, blocked].into_iter().for_each(|url| bench.command(CommandKind::Forget, url, 1.0));
    bench.wait(HOUR);
    assert_eq!(hosts(&bench), (3, 3.0));
    bench.seed(resting);
    assert!(bench.wait(HOUR / 2).is_empty(), "it comes back to the rest that it asked for");
    bench.command(CommandKind::Forget, resting, 1.0);
    bench.crash();
    assert!(bench.host(resting).is_some());
    bench.wait(3 * HOUR);
    assert_eq!(hosts(&bench), (2, 2.0));
    bench.command(CommandKind::ResumeHost, paused, 1.0);
    bench.command(CommandKind::UnblockHost, blocked, 1.0);
    bench.wait(15 * MINUTE);
    assert_eq!(hosts(&bench), (0, 0.0));
}

#[test]
fn no_more_hosts_rest_without_pages_than_there_may_be_pages() {
    let mut bench = Bench::new(&[LEASE, ("crawl.max_pages", "5")]);
    for number in 0..30 {
        let url = format!("http://h{number}.test/");
        let request = fetch(&mut bench, &url);
        let after = Some(3_600 * (number + 1));
        bench
            .answer(edited(failed(&request, FetchOutcome::RateLimited, Some(429)), |it| it.look.retry_after_s = after));
        bench.command(CommandKind::Forget, &url, 1.0);
        bench.tick();
        let (stored, held) = hosts(&bench);
        assert!(stored <= 5 && held <= 5.0, "{stored} {held} after {number} hosts");
    }
    assert!(
        bench.host("http://h29.test/").is_some() && bench.host("http://h1.test/").is_none(),
        "the longest rests stay"
    );
}

#[test]
fn a_page_that_finds_no_room_on_its_host_leaves_no_host_behind() {
    let mut bench = Bench::new(&[LEASE, ("crawl.discover", "same-site"), ("crawl.max_pages", "1")]);
    bench.seed("http://www.site.test/");
    let targets: Vec<String> = (0..50).map(|number| format!("http://h{number}.site.test/")).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let links = crate::discovery::links("http://www.site.test/", &targets, bench.now());
    bench.send("site.test", &links);
    bench.wait(Duration::from_secs(60));
    assert_eq!(hosts(&bench).1, 1.0);
}

#[test]
fn forecasts_of_what_has_no_pages_any_more_are_forgotten() {
    let mut bench = Bench::new(&[LEASE]);
    let place = PagePlace::of("site.test", "a.site.test", "/news/1.html");
    let site_key = CanonicalUrl::parse("http://site.test/").unwrap().site_key();
    let groups: Vec<_> = [0, 1, 2].map(|kind| place.groups[kind]).into_iter().map(group_of(place.site)).collect();
    let priors = CellPriors { own_beta_days: 7.0, plain_beta_days: 7.0 };
    let cells = vec![CellChange { cell: place.cell, site: place.site, priors }];
    let first = SweepForecast { lead: Some(1.0), groups, cells, ..SweepForecast::new(site_key, bench.now()) };
    bench.send("site.test", &SchedulerEvent::Sweeps(first.clone()));
    let kept = |bench: &Bench| bench.keys(scheduler::OUTLOOK.spec()).len();
    assert_eq!(kept(&bench), 5);
    let gone = vec![place.groups[1].cast_signed(), place.cell.cast_signed(), 12345];
    let some_gone = SweepForecast { gone, ..SweepForecast::new(first.site_key.clone(), bench.now()) };
    bench.send("site.test", &SchedulerEvent::Sweeps(some_gone));
    assert_eq!(kept(&bench), 3);
    bench.crash();
    // The site, and its group, which has the same hash. What comes with it is new.
    let gone = [0, 2].map(|kind| place.groups[kind].cast_signed()).to_vec();
    let all_gone =
        SweepForecast { gone, cells: first.cells.clone(), ..SweepForecast::new(first.site_key, bench.now()) };
    bench.send("site.test", &SchedulerEvent::Sweeps(all_gone));
    assert_eq!(bench.keys(scheduler::OUTLOOK.spec()), [[&b"c"[..], &place.cell.to_be_bytes()].concat()]);
}

fn group_of(site: u64) -> impl Fn(u64) -> GroupChange {
    move |group| GroupChange {
        group,
        site,
        pages: 9,
        oldest_bin: 20_000,
        first_bin: 20_000,
        totals: vec![0.0, 0.1],
        per_day: 0.01,
    }
}
