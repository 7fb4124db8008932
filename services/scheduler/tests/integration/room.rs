//! A full partition: seeds have room, sites share what there is, and lists of lists have credit.

use crate::bench::Bench;
use crate::discovery::links;
use messages::{CommandKind, Link, SchedulerEvent};
use page::{CanonicalUrl, MINUTE};
use stream::partitioner::partition_for;

const LEASE: (&str, &str) = ("policy.lease_timeout", "1h");

fn show(bench: &mut Bench, source: &str, count: usize, path: &str) {
    let targets: Vec<String> = (0..count).map(|number| format!("{path}{number}")).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let site = CanonicalUrl::parse(source).unwrap().site_key();
    let event = links(source, &targets, bench.now());
    bench.send(site.as_str(), &event);
}

#[test]
fn a_seed_has_room_in_a_full_partition_and_the_largest_site_makes_it() {
    let mut bench = Bench::new(&[LEASE, ("crawl.discover", "same-site"), ("crawl.max_pages", "40")]);
    bench.seed("http://small.test/");
    bench.seed("http://large.test/");
    show(&mut bench, "http://small.test/", 3, "/s");
    show(&mut bench, "http://large.test/", 100, "/l");
    assert_eq!(bench.pages(), 40);
    for number in 0..20 {
        bench.seed(&format!("http://seed-{number}.test/"));
    }
    assert_eq!(bench.pages(), 40);
    assert!((0..20).all(|number| bench.page(&format!("http://seed-{number}.test/")).is_some()));
    assert!((0..3).all(|number| bench.page(&format!("http://small.test/s{number}")).is_some()), "the largest makes it");
    bench.crash();
    (20..60).for_each(|number| bench.seed(&format!("http://seed-{number}.test/")));
    let seeds = (0..60).filter(|number| bench.page(&format!("http://seed-{number}.test/")).is_some()).count();
    assert_eq!((bench.pages(), seeds), (40, 38), "two seeds of before, and no other page");
    bench.wait(MINUTE);
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::REFUSED_SEEDS], 22.0);
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::PAGES_LIMIT], 40.0);
}

#[test]
fn seeds_take_what_other_partitions_leave_free() {
    let mut bench = Bench::with_partitions(2, &[LEASE, ("crawl.max_pages", "20")]);
    let kept_by = |partition, count| {
        let of_partition = move |url: &String| {
            let site = CanonicalUrl::parse(url).unwrap().site_key();
            partition_for(site.as_str().as_bytes(), 2) == partition
        };
        (0..).map(|number| format!("http://seed-{number}.test/")).filter(of_partition).take(count)
    };
    // Each partition publishes its demand.
    bench.wait(MINUTE);
    kept_by(0, 25).for_each(|url| bench.seed(&url));
    bench.wait(10 * MINUTE);
    assert_eq!(bench.pages(), 20, "twice the share of a partition");
    // The other one has its share all the same.
    kept_by(1, 15).for_each(|url| bench.seed(&url));
    bench.crash();
    bench.wait(10 * MINUTE);
    assert_eq!(bench.pages(), 30);
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::REFUSED_SEEDS], 0.0, "since the crash");
    kept_by(0, 30).for_each(|url| bench.seed(&url));
    bench.wait(MINUTE);
    assert_eq!(bench.pages(), 30);
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::REFUSED_SEEDS], 10.0);
}

#[test]
fn a_site_gets_room_from_larger_ones_until_it_has_as_many_pages() {
    let mut bench = Bench::new(&[LEASE, ("crawl.discover", "same-site"), ("crawl.max_pages", "100")]);
    bench.seed("http://late.test/");
    bench.seed("http://large.test/");
    show(&mut bench, "http://large.test/", 300, "/l");
    assert_eq!(bench.pages(), 100);
    show(&mut bench, "http://late.test/", 30, "/p");
    let known = |bench: &Bench, url: &str, most: usize| {
        (0..most).filter(|number| bench.page(&format!("{url}{number}")).is_some()).count()
    };
    assert_eq!((bench.pages(), known(&bench, "http://late.test/p", 30)), (100, 30));
    show(&mut bench, "http://large.test/", 300, "/more");
    assert_eq!(known(&bench, "http://large.test/more", 300), 0, "the larger one gets none");
    bench.crash();
    show(&mut bench, "http://late.test/", 100, "/p");
    assert_eq!((bench.pages(), known(&bench, "http://late.test/p", 100)), (100, 49), "a half, the seed included");
    // Of three sites, each comes to a third.
    bench.seed("http://third.test/");
    show(&mut bench, "http://third.test/", 100, "/p");
    assert_eq!((bench.pages(), known(&bench, "http://third.test/p", 100)), (100, 32));
}

#[test]
fn no_page_makes_room_for_one_that_its_host_has_none_for() {
    let limits = [("crawl.max_pages", "10"), ("crawl.max_pages_per_host", "3")];
    let mut bench = Bench::new(&[&[LEASE, ("crawl.discover", "same-site")], &limits[..]].concat());
    bench.seed("http://late.test/");
    bench.seed("http://large.test/");
    show(&mut bench, "http://late.test/", 5, "/p");
    let hosts: Vec<String> = (0..10).map(|host| format!("http://h{host}.large.test/")).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let event = links("http://large.test/", &hosts, bench.now());
    bench.send("large.test", &event);
    assert_eq!(bench.pages(), 10);
    show(&mut bench, "http://late.test/", 5, "/more");
    assert_eq!(bench.pages(), 10, "a site with three pages has room in the partition, and none on its host");
    bench.wait(MINUTE);
    assert_eq!(bench.driver.status(0).figures[metrics::scheduler::EVICTED_PAGES], 0.0);
}

#[test]
fn a_page_that_makes_room_in_the_partition_makes_room_on_its_host_too() {
    let limits = [("crawl.max_pages", "10"), ("crawl.max_pages_per_host", "6")];
    let mut bench = Bench::new(&[&[LEASE, ("crawl.discover", "same-site")], &limits[..]].concat());
    bench.seed("http://large.test/");
    show(&mut bench, "http://large.test/", 5, "/l");
    // Seeds push the pages of the large site out.
    (0..8).for_each(|number| bench.seed(&format!("http://s{number}.test/")));
    bench.wait(MINUTE);
    let known = |bench: &Bench| (0..5).filter(|n| bench.page(&format!("http://large.test/l{n}")).is_some()).count();
    let seeds = |bench: &Bench| (0..8).filter(|n| bench.page(&format!("http://s{n}.test/")).is_some()).count();
    assert_eq!((bench.pages(), known(&bench), seeds(&bench)), (10, 1, 8));
    (0..8).for_each(|number| bench.command(CommandKind::Forget, &format!("http://s{number}.test/"), 1.0));
    // The host has room again for as many as it may have, and nothing makes room for them.
    let before = bench.driver.status(0).figures[metrics::scheduler::EVICTED_PAGES];
    show(&mut bench, "http://large.test/", 20, "/again");
    bench.wait(MINUTE);
    let evicted = bench.driver.status(0).figures[metrics::scheduler::EVICTED_PAGES] - before;
    assert_eq!((bench.pages(), evicted), (6, 0.0));
}

/// In one record, as a page with many links may show its own site the pages that it pushes out.
#[test]
fn pages_that_leave_are_not_counted_on_twice() {
    let mut bench = Bench::new(&[LEASE, ("crawl.discover", "anywhere"), ("crawl.max_pages", "40")]);
    bench.seed("http://late.test/");
    bench.seed("http://large.test/");
    show(&mut bench, "http://large.test/", 38, "/l");
    assert_eq!(bench.pages(), 40);
    let large: Vec<String> = (0..38).map(|number| format!("http://large.test/l{number}")).collect();
    let late: Vec<String> = (0..38).map(|number| format!("http://late.test/p{number}")).collect();
    let found: Vec<(&str, i32, f64)> =
        late.iter().zip(&large).flat_map(|(late, large)| [(late.as_str(), 1, 1.0), (large.as_str(), 1, 0.5)]).collect();
    let now = bench.now();
    bench.send("late.test", &crate::discovery::ranked("http://other.test/", &found, false, now));
    assert_eq!(bench.pages(), 40);
}

#[test]
fn indexes_of_lists_name_a_thousand_lists_of_a_site_until_these_prove_useful() {
    let mut bench = Bench::new(&[LEASE, ("crawl.max_pages", "100000")]);
    bench.seed("http://a.test/index.xml");
    for index in 0..3 {
        let targets: Vec<String> = (0..900).map(|list| format!("http://h{index}-{list}.a.test/map.xml")).collect();
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let SchedulerEvent::Links(mut named) = links("http://a.test/index.xml", &targets, bench.now()) else {
            unreachable!("links are links");
        };
        named.links.iter_mut().for_each(|link| link.rel = Link::INDEXED_SITEMAP.to_owned());
        bench.send("a.test", &SchedulerEvent::Links(named));
    }
    assert_eq!(bench.pages(), 1_001);
}

/// The ranker may have given up the account of a page, and with it the depth.
#[test]
fn links_of_a_known_page_are_one_link_deeper_than_it_whatever_the_ranker_says() {
    let mut bench = Bench::new(&[LEASE, ("crawl.discover", "same-site"), ("crawl.max_depth", "2")]);
    bench.seed("http://a.test/");
    show(&mut bench, "http://a.test/", 1, "/one");
    show(&mut bench, "http://a.test/one0", 1, "/two");
    let deep = crate::discovery::ranked("http://a.test/two0", &[("http://a.test/three", 1, 1.0)], false, bench.now());
    bench.send("a.test", &deep);
    assert!(bench.page("http://a.test/two0").is_some() && bench.page("http://a.test/three").is_none());
}
