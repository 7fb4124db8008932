//! The ranker as a stage over a log in memory: pages are found once, weights follow the links, and cash is never lost.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use importance::opic::{KeptShard, Shard};
use messages::{Encoded, Link, PageOutLinks, RankedPage, SchedulerEvent, topics};
use page::{CanonicalUrl, HOUR, PageId, Timestamp};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ranker::{LinkedPage, ShardTotals};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use stream::testing::TestDriver;
use stream::{Clock, StateStore, TaskId};
use topology::LogNames;

const PARTITIONS: u32 = 4;

struct Bench {
    driver: TestDriver,
    names: LogNames,
    settings: Settings,
    started: usize,
    /// Records of the scheduler's topic read so far.
    read: BTreeSet<(u32, u64)>,
}

impl Bench {
    fn new(overrides: &[(&str, &str)]) -> Self {
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        let names = LogNames::new(&settings);
        let configs = topology::topic_configs(&settings, &[ranker::topology()], PARTITIONS);
        let driver = TestDriver::new(&configs, Timestamp::from_secs(1_700_000_000));
        let mut bench = Self { driver, names, settings, started: 0, read: BTreeSet::new() };
        bench.start();
        bench
    }

    fn start(&mut self) {
        self.started += 1;
        let spec = ranker::stage(&self.settings, &self.names, PARTITIONS);
        self.driver.add(spec, &format!("instance-{}", self.started));
        self.driver.run_until_idle().unwrap();
    }

    /// A look at a page finds these links. The stage has not turned yet.
    fn send(&mut self, source: &str, targets: &[&str], is_first_look: bool, text_hash: i64) {
        let source_url = CanonicalUrl::parse(source).unwrap();
        let link =
            |target: &&str| Link { url: source_url.join(target).unwrap(), anchor: String::new(), rel: String::new() };
        let links = PageOutLinks {
            source_page_id: source_url.page_id(),
            found_at: self.driver.clock.now(),
            is_first_look,
            is_unwanted: false,
            text_hash,
            links: targets.iter().map(link).collect(),
            source_url: source_url.clone(),
        };
        let topic = self.names.topic(topics::RANKER_EVENTS);
        self.driver.send(&topic, source_url.site_key().as_str().as_bytes(), links.encode()).unwrap();
    }

    fn look(&mut self, source: &str, targets: &[&str]) -> Vec<RankedPage> {
        self.send(source, targets, true, 0);
        self.ranked()
    }

    /// What the scheduler was told since the last call, by address.
    fn ranked(&mut self) -> Vec<RankedPage> {
        self.driver.run_until_idle().unwrap();
        let mut ranked = Vec::new();
        for record in self.driver.contents(&self.names.topic(topics::SCHEDULER_EVENTS)).unwrap() {
            if !self.read.insert((record.partition, record.offset)) {
                continue;
            }
            match SchedulerEvent::decode(record.value.as_deref().unwrap()).unwrap() {
                SchedulerEvent::Ranked(pages) => {
                    assert_eq!(record.key, pages.site_key.as_str().as_bytes());
                    ranked.extend(pages.pages);
                }
                other => panic!("the ranker said {other:?}"),
            }
        }
        ranked.sort_by(|a, b| a.url.as_str().cmp(b.url.as_str()));
        ranked
    }

    /// Every page's account and the totals, as committed.
    fn books(&self) -> (BTreeMap<PageId, LinkedPage>, BTreeMap<u32, ShardTotals>) {
        let (mut pages, mut totals) = (BTreeMap::new(), BTreeMap::new());
        for partition in 0..PARTITIONS {
            let task = TaskId { stage: "ranker".to_owned(), partition };
            let Some(store) = self.driver.stores.snapshot(&task) else { continue };
            let mut page = |key: &[u8], value: &[u8]| {
                pages.insert(PageId(key.try_into().unwrap()), LinkedPage::decode(value).unwrap());
                ControlFlow::Continue(())
            };
            store.scan(0, b"", &mut page).unwrap();
            let mut total = |_: &[u8], value: &[u8]| {
                totals.insert(partition, ShardTotals::decode(value).unwrap());
                ControlFlow::Continue(())
            };
            store.scan(1, b"", &mut total).unwrap();
        }
        (pages, totals)
    }

    fn told(&self, url: &str) -> f64 {
        self.books().0[&CanonicalUrl::parse(url).unwrap().page_id()].told_importance
    }
}

fn found(ranked: &[RankedPage]) -> Vec<(&str, i32)> {
    ranked.iter().map(|page| (page.url.as_str(), page.depth)).collect()
}

#[test]
fn a_page_is_found_once_whichever_site_links_to_it() {
    let mut bench = Bench::new(&[("ranker.importance", "none")]);
    let ranked = bench.look("http://a.test/", &["/x", "http://b.test/y"]);
    assert_eq!(found(&ranked), [("http://a.test/", 0), ("http://a.test/x", 1), ("http://b.test/y", 1)]);
    assert!(ranked.iter().all(|page| page.importance == 1.0));
    let ranked = bench.look("http://b.test/y", &["http://a.test/x", "http://a.test/", "/z"]);
    assert_eq!(found(&ranked), [("http://b.test/z", 2)]);
    bench.driver.kill(0);
    bench.start();
    assert!(bench.look("http://a.test/x", &["http://b.test/z"]).is_empty());
    let (pages, totals) = bench.books();
    assert_eq!((pages.len(), totals.values().map(|totals| totals.pages).sum::<i64>()), (4, 4));
}

#[test]
fn the_page_that_many_link_to_weighs_most_and_its_own_links_do_not_count() {
    let mut bench = Bench::new(&[("ranker.interval", "1h")]);
    for round in 0..30 {
        for number in 0..9 {
            let next = format!("/{}", (number + 1) % 9);
            bench.send(&format!("http://a.test/{number}"), &["http://b.test/hub", &next], round == 0, number);
        }
        let own: Vec<String> = (0..500).map(|number| format!("/hub#{number}")).collect();
        let own: Vec<&str> = own.iter().map(String::as_str).chain(["http://a.test/0"]).collect();
        bench.send("http://b.test/hub", &own, round == 0, round);
        bench.driver.clock.advance(HOUR);
        bench.ranked();
    }
    let (hub, zero, one) =
        (bench.told("http://b.test/hub"), bench.told("http://a.test/0"), bench.told("http://a.test/1"));
    assert!(hub > 1.4 * zero && zero > 1.4 * one, "{hub} {zero} {one}");
}

#[test]
fn small_changes_of_a_weight_are_not_told() {
    let check = |min_change: &str| {
        let mut bench = Bench::new(&[("ranker.interval", "1h"), ("ranker.min_change", min_change)]);
        let mut told = 0;
        for round in 0..40 {
            for number in 0..10 {
                let targets = [format!("/{}", (number + 1) % 10), format!("/{}", (number * 3) % 10)];
                let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                bench.send(&format!("http://a.test/{number}"), &targets, round == 0, round);
            }
            bench.driver.clock.advance(HOUR);
            let ranked = bench.ranked();
            told += if round > 20 { ranked.len() } else { 0 };
        }
        told
    };
    let (all, damped) = (check("0"), check("0.2"));
    assert!(damped * 10 < all && all > 300, "{damped} of {all}");
}

#[test]
fn a_form_of_addresses_whose_pages_are_alike_loses_its_worth() {
    let mut bench = Bench::new(&[("ranker.importance", "none")]);
    for day in 0..20 {
        bench.send(&format!("http://a.test/day/{day}"), &[&format!("/day/{}", day + 1)], true, 7);
        bench.send(&format!("http://a.test/story/{day}"), &[&format!("/story/{}", day + 1)], true, 100 + day);
        bench.ranked();
    }
    assert!(bench.told("http://a.test/day/20") < 0.1, "{}", bench.told("http://a.test/day/20"));
    assert_eq!(bench.told("http://a.test/story/20"), 1.0);
}

/// Looks in random order, links that change, several instances, crashes in the middle of batches.
#[test]
fn no_cash_is_lost_or_made_by_crashes_and_the_weights_are_those_of_the_links() {
    for seed in 0..6 {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut bench = Bench::new(&[("ranker.interval", "1h")]);
        let url = |number: usize| format!("http://site-{}.test/{number}", number % 7);
        for round in 0..300 {
            for _ in 0..5 {
                let source = random.random_range(0..60);
                let targets: Vec<_> = (0..random.random_range(0..6)).map(|_| url(random.random_range(0..60))).collect();
                let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                bench.send(&url(source), &targets, false, round);
            }
            if random.random_bool(0.3) {
                bench.driver.clock.advance(HOUR);
            }
            for _ in 0..random.random_range(0..4) {
                bench.driver.step(0).unwrap();
            }
            if random.random_bool(0.1) {
                bench.driver.kill(0);
                bench.start();
            }
        }
        bench.ranked();
        let (pages, totals) = bench.books();
        assert_eq!(totals.values().map(|totals| totals.pages).sum::<i64>() as usize, pages.len());
        // Everything on its way has arrived, but for what the last broadcast split: it is in no purse and in no account.
        let mut cash: f64 = totals.values().map(|totals| totals.purse).sum();
        for (&partition, totals) in &totals {
            let ShardTotals { purse, given_per_page, noted, .. } = *totals;
            let kept =
                KeptShard { shard: partition, purse, given_per_page, number: 0, pages: totals.pages as u64, noted };
            let shard = Shard::restore(kept);
            let of_partition = pages.iter().filter(|(id, _)| partition_of(&url, **id) == partition);
            cash += of_partition.map(|(_, page)| page.account.cash(&shard)).sum::<f64>();
        }
        assert!((cash - 1.0).abs() < 1e-9, "seed {seed}: {cash}");
    }
}

/// The partition of a page by the address that its id belongs to.
fn partition_of(url: &dyn Fn(usize) -> String, id: PageId) -> u32 {
    let url = (0..60).map(|number| CanonicalUrl::parse(&url(number)).unwrap()).find(|url| url.page_id() == id).unwrap();
    stream::partitioner::partition_for(url.site_key().as_str().as_bytes(), PARTITIONS)
}
