//! Each preset does what its system is known for, as the servers saw it.

use crate::site::serve_hosts;
use page::Timestamp;
use simweb::{ChangeRates, LedgerEntry, RequestKind, SeededConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tests::{Crawl, SOON, SimulatedWeb, wait_for};

/// A day of these webs takes two seconds.
const SPEED: f64 = 43_200.0;
const DAY: Duration = Duration::from_secs(86_400);
const SLOW_PER_DAY: f64 = 0.02;

fn web(hosts: usize, pages_per_host: usize, rates: ChangeRates) -> SimulatedWeb {
    let seeded = SeededConfig { hosts, pages_per_host, rates, ..SeededConfig::default() };
    SimulatedWeb::start(seeded, SPEED, |_| {})
}

/// Half of the pages hardly change; the others often.
fn two_classes(fast_per_day: f64) -> ChangeRates {
    ChangeRates::Classes(vec![(0.5, SLOW_PER_DAY), (0.5, fast_per_day)])
}

/// The crawl at the pace of these webs, with all pages in one partition, so that one policy has them all.
fn paced(crawl: Crawl, fetches_per_day: f64) -> Crawl {
    crawl
        .with("budget.fetches_per_second", &(fetches_per_day / DAY.as_secs_f64()).to_string())
        .with("budget.burst", "1d")
        .with("budget.host_ahead", "1d")
        .with("policy.scan_interval", "20m")
        .with("policy.min_interval", "1m")
        .with("policy.lease_timeout", "30d")
        // What is a moment to the network is hours to the web.
        .with("politeness.response_time_factor", "0")
        .with("ranker.interval", "10m")
        .with("log.partitions", "1")
        .with("log.batch_interval", "10ms")
}

/// A crawl of the web.
fn crawl(web: &SimulatedWeb, fetches_per_day: f64, seeds: &[String]) -> Crawl {
    let crawl = paced(Crawl::of(web), fetches_per_day);
    std::fs::write(crawl.seeds_file(), seeds.join("\n")).unwrap();
    web.clock_settings().into_iter().fold(crawl, |crawl, (key, value)| crawl.with(key, &value))
}

/// The first `count` requests for pages of a crawl under a preset.
fn requests(web: &SimulatedWeb, crawl: &Crawl, preset: &str, count: usize) -> Vec<LedgerEntry> {
    let process = crawl.run(&["--preset", preset]);
    wait_for("the pages are fetched", SOON, || web.page_requests() >= count);
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    web.ledger().into_iter().filter(|entry| entry.kind == RequestKind::Page).take(count).collect()
}

/// Requests of each page.
fn looks(requests: &[LedgerEntry]) -> BTreeMap<String, Vec<Timestamp>> {
    let mut looks: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in requests {
        looks.entry(format!("http://{}{}", entry.host, entry.path)).or_default().push(entry.started_at);
    }
    looks
}

/// Looks at a page that changes often, for each look at a page that hardly does, in the second half of the crawl.
fn preference(web: &SimulatedWeb, requests: &[LedgerEntry]) -> f64 {
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    let late = looks(&requests[requests.len() / 2..]);
    for page in &web.trace().pages {
        let count = late.get(&page.url()).map_or(0, Vec::len) as f64;
        let rate = page.change_rate_per_day.expect("the web is made from rates");
        if rate == SLOW_PER_DAY { slow.push(count) } else { fast.push(count) }
    }
    let mean = |counts: &[f64]| counts.iter().sum::<f64>() / counts.len() as f64;
    mean(&fast) / mean(&slow)
}

#[test]
fn tianwang_spends_a_fifth_of_each_cycle_on_new_pages() {
    // All known pages are always due, and there are always more new ones.
    let web = web(1, 800, ChangeRates::Same(5.0));
    let crawl = crawl(&web, 60.0, &web.urls()[..1]).with("estimator.prior_beta_days", "0.2");
    let requests = requests(&web, &crawl, "tianwang", 480);
    let mut seen = BTreeSet::new();
    let firsts: Vec<bool> = requests.iter().map(|entry| seen.insert(entry.path.clone())).collect();
    // In the first cycles there are few known pages.
    let late = &firsts[180..];
    let share = late.iter().filter(|is_first| **is_first).count() as f64 / late.len() as f64;
    assert!((0.14..=0.26).contains(&share), "{share}");
}

#[test]
fn chile_goes_round_the_hosts_with_the_pages_that_gain_most() {
    let web = web(4, 10, two_classes(2.0));
    let crawl = crawl(&web, 20.0, &web.urls());
    let requests = requests(&web, &crawl, "chile", 400);
    let preference = preference(&web, &requests);
    assert!(preference > 2.0, "{preference}");
    // The batch is served host by host. A page that is looked at twice at once is the detector's wish, to know noise from news.
    let is_other_of_host = |pair: &&[LedgerEntry]| pair[0].host == pair[1].host && pair[0].path != pair[1].path;
    let again = requests.windows(2).filter(is_other_of_host).count() as f64;
    assert!(again < 0.1 * requests.len() as f64, "{again} of {}", requests.len());
}

#[test]
fn webfountain_reports_pages_apart_by_buckets() {
    let web = web(4, 15, two_classes(0.5));
    let crawl = crawl(&web, 30.0, &web.urls());
    let requests = requests(&web, &crawl, "webfountain", 600);
    // Pages never fetched come first.
    assert_eq!(looks(&requests[..66]).len(), 60);
    let preference = preference(&web, &requests);
    assert!(preference > 1.5, "{preference}");
}

#[test]
fn classified_adds_looks_for_the_fast_class() {
    let web = web(4, 15, two_classes(3.0));
    let crawl = crawl(&web, 60.0, &web.urls());
    let requests = requests(&web, &crawl, "classified", 720);
    // f + f0 for the fast class and f0 for the others, with f at least 2 f0.
    let preference = preference(&web, &requests);
    assert!(preference > 1.5, "{preference}");
}

#[test]
fn site_rank_visits_sites_in_ranks_by_the_links_of_others() {
    // Two pages of each site: one links to the first three sites, the other to the first six.
    let (sender, receiver) = std::sync::mpsc::channel();
    let number = AtomicU64::new(0);
    let address = serve_hosts(move |host, path| {
        if path == "/robots.txt" {
            return ("text/plain", "User-agent: *\nAllow: /\n".to_owned());
        }
        let _ = sender.send(host.to_owned());
        let number = number.fetch_add(1, Ordering::Relaxed);
        let words: String = (0..20).map(|place| format!(" {:x}w", mixed(number * 32 + place))).collect();
        let sites = if path == "/0" { 3 } else { 6 };
        let links: String = (1..=sites).map(|site| format!("<a href=http://www.s{site}.test/0>s{site}</a> ")).collect();
        ("text/html", format!("<title>{host}</title><main><h1>{host}</h1><p>{words}.</p>{links}</main>"))
    });
    let seeds: Vec<_> = (1..=9).flat_map(|site| [0, 1].map(|page| format!("http://www.s{site}.test/{page}"))).collect();
    let crawl = Crawl::default().with("fetch.resolve", &format!("*.test={address}"));
    let crawl = paced(crawl.with("politeness.crawl_delay", "0s").with("clock.speed", &SPEED.to_string()), 24.0);
    std::fs::write(crawl.seeds_file(), seeds.join("\n")).unwrap();
    let process = crawl.run(&["--preset", "site-rank"]);
    let mut visits = BTreeMap::<String, u32>::new();
    for looks in 0..400 {
        let host = receiver.recv_timeout(SOON).expect("the crawl goes on");
        // The first passes are made before all links are known.
        if looks >= 140 {
            *visits.entry(host).or_default() += 1;
        }
    }
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    let of = |sites: std::ops::RangeInclusive<u32>| -> f64 {
        sites.map(|site| f64::from(visits.get(&format!("www.s{site}.test")).copied().unwrap_or(0))).sum()
    };
    let (best, middle, rest) = (of(1..=3), of(4..=6), of(7..=9));
    // Twice as often each, but for pages that are still under way when a pass begins.
    assert!((1.25..2.7).contains(&(best / middle)) && (1.25..2.7).contains(&(middle / rest)), "{visits:?}");
}

/// A number that looks like any other. No function of `chance` gives the same, and the words of the pages follow.
fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}
