//! Crawls a hostile web that grows without end. All tables stay within their bounds, and good sites keep their fetches.
//!
//! `make growth` makes a million requests (`RECRAWL_TEST_REQUESTS`).

use crate::at_once::AtOnce;
use crate::hostile_web::{answer, good_pages, hostile_seeds, is_hostile, version};
use crate::simulation::Now;
use messages::{Command, CommandKind, Encoded, topics};
use page::{CanonicalUrl, Timestamp};
use scheduler::PAGES;
use settings::{Layers, Settings};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;
use stream::{LogBackend, StageTopology, StateStore, TaskId, TaskTables};
use stream_testing::TestDriver;
use topology::LogNames;

const TICK: Duration = Duration::from_secs(600);
const TICKS_PER_DAY: u32 = 144;
const FETCHES_PER_DAY: u32 = 4_000;
const MAX_PAGES: usize = 300;
const MOST_PAGES_PER_HOST: u64 = 50;
/// From the second day on an operator seeds another page each time that so many ticks have passed, up to as many as this.
const TICKS_PER_SEED: u32 = 12;
const OPERATORS_SEEDS: u32 = 100;
/// A page that an operator seeds is fetched within so many ticks.
const SEED_WAITS: u32 = TICKS_PER_DAY;

/// The ranker keeps as much where its share of `crawl.max_pages` allows less.
const MOST_RANKED: usize = 16_384;
/// The least share of their fetches that good sites keep, and how much less fresh their pages may be.
const KEPT: f64 = 0.95;
/// The same of these and the pages that an operator added, together. The three hostile seeds are an operator's pages, too, and take the
/// share of fast ones.
const KEPT_WITH_SEEDS: f64 = 0.93;
const STALER: f64 = 0.025;

/// The settings in which the crawls differ.
#[derive(Clone, Copy, Debug)]
struct Kind {
    estimator: &'static str,
    discover: &'static str,
    importance: &'static str,
}

/// The most bytes of the tables of a stage, keys included.
fn most_bytes(stage: &str) -> usize {
    match stage {
        "scheduler" | "estimator" | "matcher" => 2_000 * MAX_PAGES,
        "detector" => 12_000 * MAX_PAGES,
        "ranker" => 250 * MOST_RANKED,
        other => panic!("{other} has no figure here"),
    }
}

/// The most entries of a table, with so many pages in the partition: what its declaration says.
fn most_entries(table: &str) -> usize {
    let pages = MAX_PAGES;
    match table {
        "scheduler/pages" | "detector/pages" | "detector/contents" | "detector/versions" | "detector/blind" => pages,
        "estimator/pages" | "estimator/hosts" | "detector/hosts" | "detector/copies" => pages,
        // `detector.history`.
        "detector/history" => 20 * pages,
        "scheduler/hosts" | "estimator/groups" => 2 * pages,
        "scheduler/outlook" => 9 * pages,
        "estimator/sweeps" => 17 * pages + 1,
        "matcher/bands" => 12 * pages,
        "ranker/accounts" | "ranker/forms" | "ranker/sites" | "ranker/neighbours" | "ranker/focus" => MOST_RANKED,
        "ranker/totals" | "ranker/focus-totals" => 1,
        "scheduler/forgotten" => 0,
        other => panic!("{other} has no figure here"),
    }
}

struct Crawl {
    names: LogNames,
    driver: TestDriver,
    fetcher: AtOnce,
    topologies: Vec<StageTopology>,
    ticks: u32,
    fetches: u32,
    /// Those of pages of good sites, and of pages that an operator added.
    good_fetches: u32,
    operators_fetches: u32,
    /// The version of each page of a good site that was fetched last, and over all ticks how many of these were the last.
    versions: BTreeMap<CanonicalUrl, i64>,
    fresh_pages: u64,
    /// Requests by the kind of their site and by their reason.
    reasons: BTreeMap<(&'static str, String), u32>,
    /// Seeds that wait for their first fetch, with the tick in which they were given.
    waiting: BTreeMap<CanonicalUrl, u32>,
    /// The longest wait of a seed, in ticks.
    waited: u32,
    /// The most entries of each table so far, and the most bytes of the tables of each stage.
    most: BTreeMap<String, usize>,
    most_bytes: BTreeMap<String, usize>,
}

impl Crawl {
    fn begin(kind: Kind) -> Self {
        let settings = settings(kind);
        let names = LogNames::new(&settings);
        let start = Timestamp::from_secs(1_700_000_000);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &recrawl::stages::topologies(), 1), start);
        driver.add(scheduler::stage(&settings, &names, 1, None), "0");
        driver.add(detector::stage(&settings, &names, 1, messages::ChangeForm::Avro), "0");
        driver.add(estimator::stage(&settings, &names), "0");
        driver.add(matcher::stage(&settings, &names), "0");
        driver.add(ranker::stage(&settings, &names, 1), "0");
        let fetcher = AtOnce::join(&driver.log, &names);
        let topologies = [
            scheduler::topology(),
            detector::topology(),
            estimator::topology(),
            matcher::topology(),
            ranker::topology(),
        ];
        let topologies = topologies.into();
        Self {
            names,
            driver,
            fetcher,
            topologies,
            ticks: 0,
            fetches: 0,
            good_fetches: 0,
            operators_fetches: 0,
            versions: BTreeMap::new(),
            fresh_pages: 0,
            reasons: BTreeMap::new(),
            waiting: BTreeMap::new(),
            waited: 0,
            most: BTreeMap::new(),
            most_bytes: BTreeMap::new(),
        }
    }

    fn seed(&self, url: &CanonicalUrl) {
        let issued_at = self.driver.now();
        let command = Command { url: Some(url.clone()), ..Command::new(CommandKind::Seed, issued_at) };
        let topic = self.names.topic(topics::SCHEDULER_EVENTS);
        self.driver.send(&topic, url.site_key().as_str().as_bytes(), command.encode()).unwrap();
    }

    fn pages(&self) -> TaskTables {
        let task = TaskId { stage: "scheduler".to_owned(), partition: 0 };
        let store = self.driver.stores.snapshot(&task).expect("the scheduler has run");
        TaskTables::new(Box::new(store), &scheduler::topology())
    }

    fn tick(&mut self) {
        let tick = self.ticks;
        self.ticks += 1;
        self.driver.clock.advance(TICK);
        let now = self.driver.now();
        let seeds = tick.saturating_sub(TICKS_PER_DAY) / TICKS_PER_SEED;
        if tick.is_multiple_of(TICKS_PER_SEED) && (1..=OPERATORS_SEEDS).contains(&seeds) {
            let url = CanonicalUrl::parse(&format!("http://operator-{tick}.test/")).unwrap();
            self.seed(&url);
            self.driver.run_until_idle().unwrap();
            assert!(self.pages().get(PAGES, &url.page_id()).unwrap().is_some(), "{url} is not taken in");
            self.waiting.insert(url, tick);
        }
        self.driver.run_until_idle().unwrap();
        self.answer_requests(now);
        self.driver.run_until_idle().unwrap();
        self.waited = self.waiting.values().map(|since| tick - since).chain([self.waited]).max().unwrap_or_default();
        let late = self.waiting.iter().find(|(_, since)| tick - **since >= SEED_WAITS);
        assert_eq!(late, None, "a seed of an operator is not fetched");
        if tick.is_multiple_of(TICKS_PER_DAY) {
            self.driver.log.backend().maintain(now).unwrap();
            self.count_entries();
        }
    }

    fn answer_requests(&mut self, now: Timestamp) {
        self.fresh_pages += self.versions.iter().filter(|(url, known)| version(url, now) == **known).count() as u64;
        let Self { waiting, versions, reasons, good_fetches, operators_fetches, .. } = self;
        self.fetches += self.fetcher.step(now, |request| {
            let kind = if is_hostile(&request.url) {
                "hostile"
            } else if request.url.as_str().starts_with("http://good-") {
                *good_fetches += 1;
                versions.insert(request.url.clone(), version(&request.url, now));
                "good"
            } else {
                *operators_fetches += 1;
                "operator's"
            };
            *reasons.entry((kind, format!("{:?}", request.reason))).or_default() += 1;
            waiting.remove(&request.url);
            answer(request, now)
        });
    }

    /// The share of the pages of good sites that were current, tick by tick.
    fn freshness(&self) -> f64 {
        self.fresh_pages as f64 / f64::from(self.ticks) / good_pages().count() as f64
    }

    /// Checks every table of every stage.
    fn count_entries(&mut self) {
        for topology in &self.topologies {
            let task = TaskId { stage: topology.name.to_owned(), partition: 0 };
            let store = self.driver.stores.snapshot(&task).expect("every stage has run");
            let mut bytes = 0;
            for (number, table) in topology.table_names().iter().enumerate() {
                let mut entries = 0;
                let mut one = |key: &[u8], value: &[u8]| {
                    entries += 1;
                    bytes += key.len() + value.len();
                    ControlFlow::Continue(())
                };
                store.scan(number, b"", &mut one).unwrap();
                let name = format!("{}/{table}", topology.name);
                let bound = most_entries(&name);
                assert!(entries <= bound, "{name}: {entries} entries after {} fetches, {bound} allowed", self.fetches);
                let most = self.most.entry(name).or_default();
                *most = entries.max(*most);
            }
            let bound = most_bytes(topology.name);
            assert!(bytes <= bound, "{}: {bytes} bytes after {} fetches, {bound} allowed", topology.name, self.fetches);
            let most = self.most_bytes.entry(topology.name.to_owned()).or_default();
            *most = bytes.max(*most);
        }
    }
}

/// Crawls until it is over, with the hostile web or without it.
fn crawl(kind: Kind, is_attacked: bool, is_over: impl Fn(&Crawl) -> bool) -> Crawl {
    let mut crawl = Crawl::begin(kind);
    good_pages().for_each(|url| crawl.seed(&url));
    if is_attacked {
        hostile_seeds().for_each(|url| crawl.seed(&url));
    }
    while !is_over(&crawl) {
        crawl.tick();
    }
    crawl.count_entries();
    crawl
}

fn grows_no_table(kind: Kind) {
    let fetches = std::env::var("RECRAWL_TEST_REQUESTS").map_or(45_000, |count| count.parse().expect("a number"));
    let attacked = crawl(kind, true, |crawl| crawl.fetches >= fetches);
    let calm = crawl(kind, false, |crawl| crawl.ticks == attacked.ticks);
    for (name, crawl) in [("attacked", &attacked), ("calm", &calm)] {
        let Crawl { ticks, fetches, good_fetches, operators_fetches, waited, .. } = crawl;
        println!(
            "{name}, {kind:?}: {ticks} ticks, {fetches} fetches, {good_fetches} of good sites, {operators_fetches} of pages \
             that an operator added, which wait {waited} ticks at most; good pages are fresh {:.4} of the time",
            crawl.freshness()
        );
        println!("{:?}", crawl.reasons);
    }
    attacked.most.iter().for_each(|(table, most)| println!("{table}: {most} of {}", most_entries(table)));
    attacked.most_bytes.iter().for_each(|(stage, most)| {
        println!("{stage}: {most} bytes of {}", most_bytes(stage));
    });
    assert!(attacked.ticks > 3 * TICKS_PER_DAY / 2, "{} ticks prove little", attacked.ticks);
    let kept = f64::from(attacked.good_fetches) / f64::from(calm.good_fetches);
    assert!(kept >= KEPT, "good sites keep {kept:.3} of their fetches");
    let honest = |crawl: &Crawl| f64::from(crawl.good_fetches + crawl.operators_fetches);
    let kept = honest(&attacked) / honest(&calm);
    assert!(kept >= KEPT_WITH_SEEDS, "good sites and the pages that an operator added keep {kept:.3} of their fetches");
    let (fresh, without) = (attacked.freshness(), calm.freshness());
    assert!(
        fresh >= without - STALER,
        "good pages are fresh {fresh:.4} of the time, and {without:.4} without the attack"
    );
}

#[test]
fn growth_of_a_hostile_web_grows_no_table_and_takes_no_fetches_and_no_seed_from_others() {
    grows_no_table(Kind { estimator: "sweeps", discover: "anywhere", importance: "link-value" });
}

#[test]
fn growth_of_hostile_sites_neither_where_their_groups_teach_and_links_are_followed_within_sites() {
    grows_no_table(Kind { estimator: "gamma-grouped", discover: "same-site", importance: "opic" });
}

fn settings(kind: Kind) -> Settings {
    let overrides = [
        ("budget.fetches_per_second", (f64::from(FETCHES_PER_DAY) / 86_400.0).to_string()),
        ("budget.burst", "2h".to_owned()),
        ("crawl.discover", kind.discover.to_owned()),
        ("crawl.max_pages", MAX_PAGES.to_string()),
        ("crawl.max_pages_per_host", MOST_PAGES_PER_HOST.to_string()),
        ("detector.mirrors", "true".to_owned()),
        ("estimator.name", kind.estimator.to_owned()),
        ("log.partitions", "1".to_owned()),
        ("policy.scan_interval", format!("{}s", TICK.as_secs())),
        ("ranker.importance", kind.importance.to_owned()),
        ("ranker.interval", format!("{}s", TICK.as_secs())),
    ];
    let overrides: Vec<_> = overrides.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides })
        .expect("these settings are valid")
}
