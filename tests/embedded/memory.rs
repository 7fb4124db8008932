//! The memory of a whole crawler when all it fetches is as large as it may be.
//!
//! The peak in RAM is measured, which is what a container limits. A limit on the address space (`RLIMIT_AS`) would also
//! count stacks, arenas and unused pages of files mapped by RocksDB, and Linux has no limit on RAM for one process.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use simweb::{ChangeTrace, FaultRule, FaultScope, HistoryState, HostDials, PageHistory, SimWebConfig, StateContent};
use simweb::{HostRobots, SimWeb, TimeWindow, WebFault, WebSource, scaled_clock};
use std::sync::Arc;
use std::time::SystemTime;
use tests::{Crawl, SOON, wait_for};

/// Their pages together are longer than all memory that may be used.
const LARGE_HOSTS: usize = 80;
const LARGE_BYTES: usize = 4 << 20;
const RULED_HOSTS: usize = 200;
const ROBOTS_BYTES: usize = 500 << 10;
const MOST_MEMORY: u64 = 512 << 20;

/// A robots.txt of random rules.
fn long_robots(chance: &mut Pcg64) -> HostRobots {
    let mut disallow = Vec::new();
    // A little longer than is read. Half a rule, such as `Disallow: /`, would keep the page.
    let mut bytes = 0;
    while bytes < ROBOTS_BYTES {
        let length = chance.random_range(1..=60);
        let characters = std::iter::repeat_with(|| char::from(chance.random_range(b'a'..=b'z')));
        let rule = format!("/no-{}", characters.take(length).collect::<String>());
        bytes += "Disallow: \n".len() + rule.len();
        disallow.push(rule);
    }
    HostRobots { disallow, ..HostRobots::default() }
}

/// Two pages of noise on each of the large hosts, and one small page on each of those with a long robots.txt.
fn web() -> SimWeb {
    let window = TimeWindow::days_from(page::Timestamp::from_secs(1_700_000_000), 1.0);
    let page = |host: String, path: String| PageHistory {
        host: host.into(),
        path: path.into(),
        media_type: Arc::from("text/html"),
        states: vec![HistoryState { since: window.start, content: StateContent::Generated }],
        change_rate_per_day: None,
    };
    let large = (0..2 * LARGE_HOSTS).map(|number| page(format!("large-{}.test", number / 2), format!("/{number}")));
    let ruled = (0..RULED_HOSTS).map(|number| page(format!("ruled-{number}.test"), "/".to_owned()));
    let mut pages: Vec<_> = large.chain(ruled).collect();
    pages.sort_by(|one, other| (&one.host, &one.path).cmp(&(&other.host, &other.path)));
    let mut config = SimWebConfig::new(WebSource::Trace(ChangeTrace { window, pages }));
    config.page_bytes = 2_000;
    config.faults = (0..2 * LARGE_HOSTS)
        .map(|number| {
            let scope = FaultScope::Path(format!("/{number}"));
            FaultRule::everywhere(scope, WebFault::Noise { bytes: LARGE_BYTES })
        })
        .collect();
    let mut chance = Pcg64::seed_from_u64(1);
    for number in 0..RULED_HOSTS {
        let dials = HostDials { robots: long_robots(&mut chance), ..HostDials::default() };
        config.host_dials.insert(format!("ruled-{number}.test"), dials);
    }
    SimWeb::start(config, scaled_clock(window.start, SystemTime::now(), 1.0)).unwrap()
}

#[test]
fn a_crawl_of_pages_and_robots_txt_as_long_as_they_may_be_fits_into_bounded_memory() {
    let web = web();
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={}", web.addr()))
        .with("politeness.crawl_delay", "0s")
        .with("budget.fetches_per_second", "2000")
        .with("policy.scan_interval", "20ms")
        // A busy machine takes its time for a long page.
        .with("fetch.total_timeout", "30m")
        .with("fetch.idle_timeout", "30m")
        .with("policy.lease_timeout", "10h")
        // Huge pages round what is used up by as much as the kernel likes.
        .with_variable("MIMALLOC_ALLOW_THP", "0");
    let urls = web.page_urls();
    std::fs::write(crawl.seeds_file(), urls.join("\n")).unwrap();
    let mut process = crawl.run(&["--until-idle"]);
    let mut peak = 0;
    wait_for("every page is fetched", SOON, || {
        peak = process.peak_memory().unwrap_or(peak);
        !process.is_running()
    });
    let output = process.finish().exits_with(0);
    let summary = output.json();
    let outcomes = summary["outcomes"].as_array().unwrap();
    assert!(outcomes.len() == 1 && outcomes[0]["count"] == urls.len(), "{summary:#}");
    assert_eq!(summary["fetches_total"], urls.len(), "{summary:#}");
    assert!(peak <= MOST_MEMORY, "{} MiB", peak >> 20);
}
