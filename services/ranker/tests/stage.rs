//! The ranker as a stage over a log in memory: pages are found once, weights follow the links, and cash is never lost.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use messages::{Answer, Encoded, Link, PageOutLinks, Question, QuestionKind, RankedPage, SchedulerEvent, topics};
use page::{CanonicalUrl, HOUR, PageId, Timestamp};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ranker::{Accounts, LinkedPage, ShardTotals, TOTALS, TotalsKey};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, BTreeSet};
use stream::testing::TestDriver;
use stream::{Clock, TaskId, TaskTables};
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
            focus: None,
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

    /// Accounts and totals of the partitions that have any, as committed.
    fn books(&self) -> Vec<(u32, Accounts, ShardTotals)> {
        let read = |partition| {
            let store = self.driver.stores.snapshot(&TaskId { stage: "ranker".to_owned(), partition })?;
            let tables = TaskTables::new(Box::new(store), &ranker::topology());
            Some((partition, Accounts::read(&tables).unwrap(), tables.get(TOTALS, &TotalsKey).unwrap()?))
        };
        (0..PARTITIONS).filter_map(read).collect()
    }

    /// All cash, when nothing is on its way.
    fn cash(&self) -> f64 {
        let books = self.books();
        let untouched = (PARTITIONS as usize - books.len()) as f64 / f64::from(PARTITIONS);
        let of = |(partition, accounts, totals): &(u32, Accounts, ShardTotals)| {
            assert_eq!(totals.pages as usize, accounts.len());
            totals.purse + totals.cash_of(*partition, accounts)
        };
        untouched + books.iter().map(of).sum::<f64>()
    }

    fn pages(&self) -> BTreeMap<PageId, LinkedPage> {
        self.books().iter().flat_map(|(_, accounts, _)| accounts.pages()).collect()
    }

    fn told(&self, url: &str) -> f64 {
        self.pages()[&CanonicalUrl::parse(url).unwrap().page_id()].told_importance
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
    assert_eq!((bench.pages().len(), bench.books().iter().map(|(_, _, totals)| totals.pages).sum::<i64>()), (4, 4));
}

#[test]
fn the_page_that_many_link_to_weighs_most_and_its_own_links_do_not_count() {
    let mut bench = Bench::new(&[("ranker.interval", "1h"), ("ranker.min_change", "0.01")]);
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
    // By the links, shares of all cash: the hub h = (1 - h)/3 + v/10, where v = (1 - h)/3 + h/2 is the virtual page's; page 0
    // h/2 + v/10 and a third of page 8's; page 1 v/10 and a third of page 0's.
    let weights = [("http://b.test/hub", 0.2785_f64), ("http://a.test/0", 0.1962), ("http://a.test/1", 0.1034)];
    for (url, share) in weights {
        let (told, expected) = (bench.told(url), (10.0 * share).powf(0.7));
        assert!((told / expected - 1.0).abs() < 0.05, "{url}: {told}, and {expected} by its links");
    }
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
        let cash = bench.cash();
        assert!((cash - 1.0).abs() < 1e-9, "seed {seed}: {cash}");
    }
}

/// As many links as the detector sends, so long that no record of the scheduler's topic takes them all; half of them repeated,
/// and the page itself among them.
#[test]
fn a_page_with_ten_thousand_links_is_followed_and_nothing_is_set_aside() {
    let mut bench = Bench::new(&[]);
    let word = "x".repeat(250);
    let inside: Vec<String> = (0..6_000).map(|number| format!("/{word}/{}", number % 3_000)).collect();
    let outside: Vec<String> = (0..4_000).map(|number| format!("http://b.test/{word}/{}", number % 2_000)).collect();
    let targets: Vec<&str> = inside.iter().chain(&outside).map(String::as_str).chain(["/", "/#part"]).collect();
    let ranked = bench.look("http://a.test/", &targets);
    assert_eq!(ranked.len(), 5_001);
    let letters = bench.driver.contents(&bench.names.topic(topics::DEAD_LETTERS)).unwrap();
    assert!(letters.is_empty(), "{} records were set aside", letters.len());
    assert!((bench.cash() - 1.0).abs() < 1e-9, "{}", bench.cash());
    bench.driver.kill(0);
    bench.start();
    assert!(bench.look("http://a.test/", &targets).len() < 5_001, "all are known");
    assert_eq!(bench.pages().len(), 5_001);
}

/// Two sites of forty pages, and others that link the first page of each. The pages of one all link each other, those of
/// the other are a ring.
#[test]
fn a_site_whose_pages_all_link_each_other_gains_nothing_beside_one_that_is_a_ring() {
    const PAGES: usize = 40;
    let mut bench = Bench::new(&[("ranker.interval", "1h")]);
    let all: Vec<String> = (0..PAGES).flat_map(|number| [format!("/{number}"), format!("/{number}#part")]).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for round in 0..60 {
        for number in 0..PAGES {
            let ring: Vec<String> = (1..=6).map(|step| format!("/{}", (number + step) % PAGES)).collect();
            let ring: Vec<&str> = ring.iter().map(String::as_str).collect();
            bench.send(&format!("http://farm.test/{number}"), &all, round == 0, number as i64);
            bench.send(&format!("http://ring.test/{number}"), &ring, round == 0, number as i64);
            let other = format!("http://other-{number}.test/");
            bench.send(&other, &["http://farm.test/0", "http://ring.test/0"], round == 0, number as i64);
        }
        bench.driver.clock.advance(HOUR);
        bench.ranked();
    }
    let of_site =
        |site: &str| (0..PAGES).map(|number| bench.told(&format!("http://{site}.test/{number}"))).sum::<f64>();
    let (farm, ring) = (of_site("farm"), of_site("ring"));
    assert!(farm < 1.1 * ring, "{farm} beside {ring}");
}

#[test]
fn a_question_is_answered_by_the_partition_of_the_page_alone() {
    let mut bench = Bench::new(&[]);
    let url = CanonicalUrl::parse("http://a.test/").unwrap();
    let asked_at = bench.driver.clock.now();
    let asked = Question {
        question_id: "q".to_owned(),
        routing_key: url.site_key().as_str().to_owned(),
        about: QuestionKind::Page,
        url: Some(url),
        hosts: None,
        asked_at,
        answer_until: asked_at + HOUR,
    };
    bench.driver.send(&bench.names.topic(topics::RANKER_EVENTS), asked.routing_key.as_bytes(), asked.encode()).unwrap();
    bench.driver.run_until_idle().unwrap();
    let answers = bench.driver.contents(&bench.names.topic(topics::ANSWERS)).unwrap();
    let answers: Vec<_> =
        answers.iter().map(|record| Answer::decode(record.value.as_deref().unwrap()).unwrap()).collect();
    let partition = stream::partitioner::partition_for(asked.routing_key.as_bytes(), PARTITIONS);
    assert_eq!(answers.len(), 1);
    assert_eq!((&*answers[0].stage, answers[0].partition), ("ranker", partition as i32));
    // The crawl has no topics.
    assert_eq!(answers[0].entry::<ranker::FocusedPage>(ranker::FOCUS.name()).unwrap(), None);
}
