//! A hostile web grows for ever, and what is kept of it does not.
//!
//! The share of the fetches that good sites keep is printed: pages compete by their value, and hostile ones may be worth as much.
//! For a hundred times as many requests: `RECRAWL_TEST_REQUESTS=1000000 cargo test --release -p tests --test whole_loop growth`.

use crate::at_once::AtOnce;
use crate::hostile_web::{answer, good_pages, hostile_seeds};
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
const MAX_PAGES: usize = 500;
/// From the second day on an operator seeds another page each time that so many ticks have passed, up to as many as this.
const TICKS_PER_SEED: u32 = 12;
const OPERATORS_SEEDS: u32 = 100;
/// A page that an operator seeds is fetched within so many ticks.
const SEED_WAITS: u32 = TICKS_PER_DAY;

/// The most entries of a table, with so many pages in the partition: what its declaration says.
fn most_entries(table: &str, estimator: &str) -> usize {
    let pages = MAX_PAGES;
    match table {
        "scheduler/pages" | "detector/pages" | "detector/contents" | "detector/versions" | "detector/blind" => pages,
        "estimator/pages" | "estimator/hosts" | "detector/hosts" => pages,
        "scheduler/hosts" | "estimator/groups" => 2 * pages,
        "scheduler/outlook" => 9 * pages,
        "estimator/sweeps" => 17 * pages + 1,
        "matcher/bands" => 12 * pages,
        "ranker/accounts" | "ranker/forms" | "ranker/sites" | "ranker/focus" => 16_384,
        "ranker/totals" | "ranker/focus-totals" => 1,
        "scheduler/forgotten" => 0,
        other => panic!("{other} of a crawl with {estimator} has no figure here"),
    }
}

struct Crawl {
    estimator: &'static str,
    names: LogNames,
    driver: TestDriver,
    fetcher: AtOnce,
    topologies: Vec<StageTopology>,
    ticks: u32,
    fetches: u32,
    good_fetches: u32,
    /// Seeds that wait for their first fetch, with the tick in which they were given.
    waiting: BTreeMap<CanonicalUrl, u32>,
    /// The longest wait of a seed, in ticks.
    waited: u32,
    /// The most entries of each table so far.
    most: BTreeMap<String, usize>,
}

impl Crawl {
    fn begin(estimator: &'static str) -> Self {
        let settings = settings(estimator);
        let names = LogNames::new(&settings);
        let start = Timestamp::from_secs(1_700_000_000);
        let mut driver = TestDriver::new(&topology::topic_configs(&settings, &recrawl::stages::topologies(), 1), start);
        driver.add(scheduler::stage(&settings, &names, 1), "0");
        driver.add(detector::stage(&settings, &names, messages::ChangeForm::Avro), "0");
        driver.add(estimator::stage(&settings, &names), "0");
        driver.add(matcher::stage(&names), "0");
        driver.add(ranker::stage(&settings, &names, 1), "0");
        let fetcher = AtOnce::join(&driver.log, &names);
        let topologies = [
            scheduler::topology(),
            detector::topology(),
            estimator::topology(),
            matcher::topology(),
            ranker::topology(),
        ];
        let (waiting, most) = (BTreeMap::new(), BTreeMap::new());
        let topologies = topologies.into();
        Self {
            estimator,
            names,
            driver,
            fetcher,
            topologies,
            ticks: 0,
            fetches: 0,
            good_fetches: 0,
            waiting,
            waited: 0,
            most,
        }
    }

    fn seed(&self, url: &CanonicalUrl) {
        let issued_at = self.driver.now();
        let command = Command { kind: CommandKind::Seed, url: Some(url.clone()), host: None, weight: 1.0, issued_at };
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
        let (good_fetches, waiting) = (&mut self.good_fetches, &mut self.waiting);
        self.fetches += self.fetcher.step(now, |request| {
            *good_fetches += u32::from(request.url.as_str().starts_with("http://good-"));
            waiting.remove(&request.url);
            answer(request, now)
        });
        self.driver.run_until_idle().unwrap();
        self.waited = self.waiting.values().map(|since| tick - since).chain([self.waited]).max().unwrap_or_default();
        let late = self.waiting.iter().find(|(_, since)| tick - **since >= SEED_WAITS);
        assert_eq!(late, None, "a seed of an operator is not fetched");
        if tick.is_multiple_of(TICKS_PER_DAY) {
            self.driver.log.backend().maintain(now).unwrap();
            self.count_entries();
        }
    }

    /// Checks every table of every stage.
    fn count_entries(&mut self) {
        for topology in &self.topologies {
            let task = TaskId { stage: topology.name.to_owned(), partition: 0 };
            let store = self.driver.stores.snapshot(&task).expect("every stage has run");
            for (number, table) in topology.table_names().iter().enumerate() {
                let mut entries = 0;
                let mut one = |_: &[u8], _: &[u8]| {
                    entries += 1;
                    ControlFlow::Continue(())
                };
                store.scan(number, b"", &mut one).unwrap();
                let name = format!("{}/{table}", topology.name);
                let bound = most_entries(&name, self.estimator);
                assert!(entries <= bound, "{name}: {entries} entries after {} fetches, {bound} allowed", self.fetches);
                let most = self.most.entry(name).or_default();
                *most = entries.max(*most);
            }
        }
    }
}

/// Crawls until it is over, with the hostile web or without it.
fn crawl(estimator: &'static str, is_attacked: bool, is_over: impl Fn(&Crawl) -> bool) -> Crawl {
    let mut crawl = Crawl::begin(estimator);
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

fn grows_no_table(estimator: &'static str) {
    let fetches = std::env::var("RECRAWL_TEST_REQUESTS").map_or(10_000, |count| count.parse().expect("a number"));
    let attacked = crawl(estimator, true, |crawl| crawl.fetches >= fetches);
    let calm = crawl(estimator, false, |crawl| crawl.ticks == attacked.ticks);
    println!(
        "{estimator}: {} ticks, {} fetches, {} of good sites, which get {} without the attack; seeds wait {} ticks at most, and {}",
        attacked.ticks, attacked.fetches, attacked.good_fetches, calm.good_fetches, attacked.waited, calm.waited
    );
    attacked.most.iter().for_each(|(table, most)| println!("{table}: {most} of {}", most_entries(table, estimator)));
    assert!(attacked.ticks > 3 * TICKS_PER_DAY / 2, "{} ticks prove little", attacked.ticks);
}

#[test]
fn growth_of_a_hostile_web_grows_no_table_and_keeps_out_no_seed() {
    grows_no_table("sweeps");
}

#[test]
fn growth_of_a_hostile_web_grows_no_table_of_an_estimator_with_groups() {
    grows_no_table("gamma-grouped");
}

fn settings(estimator: &str) -> Settings {
    let overrides = [
        ("budget.fetches_per_second", (f64::from(FETCHES_PER_DAY) / 86_400.0).to_string()),
        ("budget.burst", "2h".to_owned()),
        ("crawl.discover", "anywhere".to_owned()),
        ("crawl.max_pages", MAX_PAGES.to_string()),
        ("crawl.max_pages_per_host", "50".to_owned()),
        ("detector.mirrors", "true".to_owned()),
        ("estimator.name", estimator.to_owned()),
        ("log.partitions", "1".to_owned()),
        ("policy.scan_interval", format!("{}s", TICK.as_secs())),
        ("ranker.importance", "link-value".to_owned()),
        ("ranker.interval", format!("{}s", TICK.as_secs())),
    ];
    let overrides: Vec<_> = overrides.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides })
        .expect("these settings are valid")
}
