//! Each preset does what its system is known for, as the servers saw it.

use crate::site::serve_hosts;
use page::Timestamp;
use simweb::{ChangeRates, LedgerEntry, RequestKind, SeededConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tests::{Crawl, Process, SOON, SimulatedWeb, programs, wait_for};

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

/// The crawl at the pace of these webs.
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

/// A web whose time runs from its start at a speed, and that remembers when each path was asked for.
struct TimedSite {
    address: std::net::SocketAddr,
    requests: std::sync::mpsc::Receiver<(String, f64)>,
}

/// Serves what `page` makes of a host, a path and the days since the start.
fn serve_timed(speed: f64, page: impl Fn(&str, &str, f64) -> String + Send + 'static) -> TimedSite {
    let (sender, requests) = std::sync::mpsc::channel();
    let start = std::time::Instant::now();
    let address = serve_hosts(move |host, path| {
        if path == "/robots.txt" {
            return ("text/plain", "User-agent: *\nAllow: /\n".to_owned());
        }
        let days = start.elapsed().as_secs_f64() * speed / DAY.as_secs_f64();
        let _ = sender.send((format!("http://{host}{path}"), days));
        ("text/html", page(host, path, days))
    });
    TimedSite { address, requests }
}

/// Crawls a timed site under a preset, and returns its first `count` requests with their days.
fn crawl_timed(
    site: &TimedSite,
    preset: &str,
    (speed, fetches_per_day): (f64, f64),
    seeds: &[String],
    count: usize,
) -> Vec<(String, f64)> {
    let crawl = Crawl::default().with("fetch.resolve", &format!("*.test={}", site.address));
    let crawl =
        paced(crawl.with("politeness.crawl_delay", "0s").with("clock.speed", &speed.to_string()), fetches_per_day);
    std::fs::write(crawl.seeds_file(), seeds.join("\n")).unwrap();
    let process = crawl.run(&["--preset", preset]);
    let next = || site.requests.recv_timeout(SOON).expect("the crawl goes on");
    let requests = (0..count).map(|_| next()).collect();
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    requests
}

/// Requests of each page among these.
fn counts(requests: &[(String, f64)]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    requests.iter().for_each(|(url, _)| *counts.entry(&**url).or_insert(0) += 1);
    counts
}

/// Table 1 of Wen & Lu: changes per hour of ten pages.
const TABLE_1: [f64; 10] = [1.0, 0.8, 0.9, 1.1, 1.2, 1.0 / 12.0, 0.1, 1.0 / 9.0, 1.0 / 11.0, 0.125];

/// Number of changes of a page in so many days, as a Poisson process of its own.
fn changes(page: u64, rate_per_day: f64, days: f64) -> u64 {
    let mut at = 0.0;
    (0..)
        .take_while(|number| {
            let uniform = (mixed(page * 100_000 + number) as f64 + 0.5) / f64::from(1 << 24);
            at -= uniform.ln() / rate_per_day;
            at < days
        })
        .count() as u64
}

#[test]
fn classified_has_the_two_classes_of_the_papers_own_table() {
    // A day takes sixteen seconds, so that a fast page comes back every half second: a busy machine keeps up with that. At 150
    // fetches a day the base rate is 1/8 an hour, and five pages are fast. Much above that an estimate of the slowest of them could
    // come near twice the base rate, below which they are slow.
    let speed = DAY.as_secs_f64() / 16.0;
    let site = serve_timed(speed, |host, _, days| {
        let number: u64 = host.trim_start_matches("www.p").split('.').next().unwrap().parse().unwrap();
        let seen = changes(number, 24.0 * TABLE_1[number as usize - 1], days);
        let words: String = (0..20).map(|place| format!(" {:x}w", mixed((number << 32) + seen * 32 + place))).collect();
        format!("<title>{number}</title><main><h1>{number}</h1><p>{words}.</p></main>")
    });
    let seeds: Vec<_> = (1..=10).map(|page| format!("http://www.p{page}.test/")).collect();
    let requests = crawl_timed(&site, "classified", (speed, 150.0), &seeds, 700);
    let counts = counts(&requests[350..]);
    let of = |page: &usize| counts.get(&*format!("http://www.p{page}.test/")).copied().unwrap_or(0) as f64;
    let (fast, slow): (Vec<f64>, Vec<f64>) =
        ((1..=5).map(|page| of(&page)).collect(), (6..=10).map(|page| of(&page)).collect());
    let most = slow.iter().copied().fold(0.0, f64::max);
    assert!(fast.iter().filter(|looks| **looks > most).count() >= 4, "{counts:?}");
    // f + f0 beside f0, 9/8 beside 1/8 of them an hour in the end. The first plans are made with fewer looks.
    let ratio = fast.iter().sum::<f64>() / slow.iter().sum::<f64>();
    assert!((2.0..14.0).contains(&ratio), "{ratio}: {counts:?}");
}

#[test]
fn site_rank_keeps_its_ranks_on_pages_that_never_change() {
    // Two pages of each site: one links to the first three sites, the other to the first six.
    let site = serve_timed(SPEED, |host, path, _| {
        let sites = if path == "/0" { 3 } else { 6 };
        let links: String = (1..=sites).map(|site| format!("<a href=http://www.s{site}.test/0>s{site}</a> ")).collect();
        format!("<title>{host}</title><main><h1>{host}</h1><p>The words of {host}{path}.</p>{links}</main>")
    });
    let seeds: Vec<_> = (1..=9).flat_map(|site| [0, 1].map(|page| format!("http://www.s{site}.test/{page}"))).collect();
    let requests = crawl_timed(&site, "site-rank", (SPEED, 60.0), &seeds, 3_000);
    // Soon after all links are known, and in the end, when the values have grown for a month.
    for part in [&requests[500..1_500], &requests[2_000..]] {
        let counts = counts(part);
        let of = |sites: std::ops::RangeInclusive<u32>| -> f64 {
            let pages = sites.flat_map(|site| [0, 1].map(|page| format!("http://www.s{site}.test/{page}")));
            pages.map(|page| counts.get(&*page).copied().unwrap_or(0) as f64).sum()
        };
        let (best, middle, rest) = (of(1..=3), of(4..=6), of(7..=9));
        // Twice as often each, but for pages that are still under way when a pass begins.
        assert!((1.5..2.5).contains(&(best / middle)) && (1.5..2.5).contains(&(middle / rest)), "{counts:?}");
    }
}

#[test]
fn tianwang_follows_index_pages_for_new_addresses() {
    // The front page shows four new articles a day. It links to 60 other pages, which never change. The budget is a third of
    // what a round of all takes a day.
    const ARTICLES_PER_DAY: f64 = 4.0;
    let site = serve_timed(SPEED, |_, path, days| {
        let news = (days * ARTICLES_PER_DAY) as u64;
        let link = |page: String| format!("<a href={page}>{page}</a> ");
        let links: String = match path {
            "/" => (0..60)
                .map(|page| link(format!("/old/{page}")))
                .chain((0..=news).map(|page| link(format!("/news/{page}"))))
                .collect(),
            _ => String::new(),
        };
        format!("<title>{path}</title><main><h1>{path}</h1><p>The words of {path}.</p>{links}</main>")
    });
    let requests = crawl_timed(&site, "tianwang", (SPEED, 20.0), &["http://www.index.test/".to_owned()], 700);
    let mut first = BTreeMap::<u64, f64>::new();
    for (url, days) in &requests {
        if let Some(article) = url.strip_prefix("http://www.index.test/news/") {
            first.entry(article.parse().unwrap()).or_insert(*days);
        }
    }
    // Once the old pages are known, an article waits for the next cycle, or the one after it.
    let last_days = requests.last().map_or(0.0, |(_, days)| *days);
    let born = |article: &u64| *article as f64 / ARTICLES_PER_DAY;
    let late = |article: &u64| (last_days / 2.0..last_days - 5.0).contains(&born(article));
    let mut waits: Vec<f64> =
        first.iter().filter(|(article, _)| late(article)).map(|(article, days)| days - born(article)).collect();
    waits.sort_by(f64::total_cmp);
    let expected = (last_days / 2.0 - 5.0) * ARTICLES_PER_DAY;
    assert!(waits.len() as f64 > 0.9 * expected, "{} of {expected} were fetched", waits.len());
    let median = waits[waits.len() / 2];
    assert!(median < 3.0, "{median} days: {waits:?}");
}

/// A number that looks like any other. No function of `chance` gives the same, and the words of the pages follow.
fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

#[test]
fn a_state_directory_keeps_its_preset_until_another_is_given() {
    let web = web(2, 4, ChangeRates::Same(0.5));
    // Less than a cycle has pages, so that its plan is never empty for long.
    let crawl = crawl(&web, 4.0, &web.urls());
    let policy = |crawl: &Crawl| {
        let printed = crawl.ask("run", &["--print-config"]).exits_with(0).stdout;
        printed.parse::<toml::Table>().unwrap()["policy"]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(policy(&crawl), "live");
    crawl.run(&["--preset", "tianwang", "--for", "1s"]).finish().exits_with(0);
    assert_eq!(policy(&crawl), "tianwang");
    // Valid only where links are followed, as they are under the preset.
    let searches = ["--set", "search.templates=http://search.test/{query}", "--set", "search.queries=news"];
    let printed = || crawl.ask("run", &[&["--print-config"], &searches[..]].concat());
    printed().exits_with(0);

    // A later start and what reads the directory meanwhile go by it, and so does the copy of a running crawl.
    let running = crawl.run(&[]);
    wait_for("the start says it", SOON, || running.stderr().contains("the preset is tianwang"));
    let planned = || {
        let status = crawl.ask("status", &[]).exits_with(0).json();
        let stages = status["stages"].as_array().unwrap().clone();
        stages.iter().filter_map(|stage| stage["figures"]["planned_pages"].as_f64()).sum::<f64>()
    };
    wait_for("pages are in the plan of the cycle", SOON, || planned() > 0.0);
    let shown = crawl.ask("status", &["--format", "text"]).exits_with(0).stdout;
    assert!(shown.contains("planned pages"), "{shown}");
    let made_while = |name: &str| {
        let copy = crawl.directory.path().join(name);
        let mut backup = programs().command("recrawl");
        backup.arg("backup").arg(&copy).arg("--data").arg(crawl.data());
        Process::start(backup, crawl.directory.path()).finish().exits_with(0);
        std::fs::read_to_string(copy.join("preset")).unwrap()
    };
    assert_eq!(made_while("running"), "tianwang\n");
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
    assert_eq!(made_while("stopped"), "tianwang\n");

    crawl.ask("run", &["--preset", "none", "--for", "1s"]).exits_with(0);
    assert_eq!(policy(&crawl), "live");
    printed().exits_with(2);
    std::fs::write(crawl.data().join("preset"), "google").unwrap();
    crawl.ask("run", &["--for", "1s"]).exits_with(2).says(&["no preset google", "--preset none"]);
}
