//! The ranker as a stage over a log in memory, with a clock set by hand. Tests play the detector and read the messages to the
//! scheduler.

use messages::{Encoded, Link, PageFocus, PageOutLinks, RankedPage, SchedulerEvent, topics};
use page::{CanonicalUrl, PageId, Timestamp};
use ranker::{Accounts, FORMS, FormYield, LinkedPage, ShardTotals, TOTALS, TotalsKey};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, BTreeSet};
use stream::{Clock, TableError, TaskId, TaskTables};
use stream_testing::TestDriver;
use topology::LogNames;

pub(crate) const PARTITIONS: u32 = 4;

pub(crate) struct Bench {
    pub(crate) driver: TestDriver,
    pub(crate) names: LogNames,
    pub(crate) settings: Settings,
    started: usize,
    /// Records of the scheduler's topic read so far.
    read: BTreeSet<(u32, u64)>,
}

impl Bench {
    pub(crate) fn new(overrides: &[(&str, &str)]) -> Self {
        let settings = settings(overrides);
        let names = LogNames::new(&settings);
        let configs = topology::topic_configs(&settings, &[ranker::topology()], PARTITIONS);
        let driver = TestDriver::new(&configs, Timestamp::from_secs(1_700_000_000));
        let mut bench = Self { driver, names, settings, started: 0, read: BTreeSet::new() };
        bench.start();
        bench
    }

    /// The stage is killed and starts with these settings.
    pub(crate) fn restart(&mut self, overrides: &[(&str, &str)]) {
        self.settings = settings(overrides);
        self.driver.kill(0);
        self.start();
    }

    pub(crate) fn start(&mut self) {
        self.started += 1;
        let spec = ranker::stage(&self.settings, &self.names, PARTITIONS);
        self.driver.add(spec, &format!("instance-{}", self.started));
        self.driver.run_until_idle().unwrap();
    }

    /// A look at a page finds these links. The stage has not turned yet.
    pub(crate) fn send(&mut self, source: &str, targets: &[&str], is_first_look: bool, text_hash: i64) {
        self.send_judged(source, targets, is_first_look, text_hash, None);
    }

    /// The same, with what topics say of the page and its links.
    pub(crate) fn send_judged(
        &mut self,
        source: &str,
        targets: &[&str],
        is_first_look: bool,
        text_hash: i64,
        focus: Option<PageFocus>,
    ) {
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
            focus,
            is_repeated: false,
            repeated_sites: Vec::new(),
            source_url: source_url.clone(),
        };
        let topic = self.names.topic(topics::RANKER_EVENTS);
        self.driver.send(&topic, source_url.site_key().as_str().as_bytes(), links.encode()).unwrap();
    }

    pub(crate) fn look(&mut self, source: &str, targets: &[&str]) -> Vec<RankedPage> {
        self.send(source, targets, true, 0);
        self.ranked()
    }

    /// The pages sent to the scheduler since the last call, by address.
    pub(crate) fn ranked(&mut self) -> Vec<RankedPage> {
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
    pub(crate) fn books(&self) -> Vec<(u32, Accounts, ShardTotals)> {
        let read = |partition| {
            let store = self.driver.stores.snapshot(&TaskId { stage: "ranker".to_owned(), partition })?;
            let tables = TaskTables::new(Box::new(store), &ranker::topology());
            Some((partition, Accounts::read(&tables).unwrap(), tables.get(TOTALS, &TotalsKey).unwrap()?))
        };
        (0..PARTITIONS).filter_map(read).collect()
    }

    /// The yields of forms of addresses, as committed.
    pub(crate) fn forms(&self) -> Vec<FormYield> {
        let mut forms = Vec::new();
        for partition in 0..PARTITIONS {
            let Some(store) = self.driver.stores.snapshot(&TaskId { stage: "ranker".to_owned(), partition }) else {
                continue;
            };
            let tables = TaskTables::new(Box::new(store), &ranker::topology());
            let mut keep = |_, form| -> Result<(), TableError> {
                forms.push(form);
                Ok(())
            };
            tables.scan(FORMS, b"", &mut keep).unwrap();
        }
        forms
    }

    /// The tables of the partitions that have any, as committed.
    pub(crate) fn tables(&self) -> Vec<TaskTables> {
        let store = |partition| self.driver.stores.snapshot(&TaskId { stage: "ranker".to_owned(), partition });
        let stores = (0..PARTITIONS).filter_map(store);
        stores.map(|store| TaskTables::new(Box::new(store), &ranker::topology())).collect()
    }

    /// All cash and all cash from trusted pages, when nothing is on its way.
    pub(crate) fn cash(&self) -> [f64; 2] {
        let books = self.books();
        let untouched = (PARTITIONS as usize - books.len()) as f64 / f64::from(PARTITIONS);
        books.iter().fold([untouched; 2], |[cash, trust], (partition, accounts, totals)| {
            assert_eq!(totals.pages as usize, accounts.len());
            assert_eq!(
                totals.trusted_pages as usize,
                accounts.pages().filter(|(_, page)| page.trust.is_trusted()).count()
            );
            let cash = cash + totals.purse + totals.cash_of(*partition, accounts);
            [cash, trust + totals.trust_purse + totals.trust_of(*partition, accounts)]
        })
    }

    #[track_caller]
    pub(crate) fn check_cash(&self) {
        let all = self.cash();
        assert!(all.iter().all(|sum| (sum - 1.0).abs() < 1e-9), "all cash, and all cash from trusted pages: {all:?}");
    }

    pub(crate) fn pages(&self) -> BTreeMap<PageId, LinkedPage> {
        self.books().iter().flat_map(|(_, accounts, _)| accounts.pages()).collect()
    }

    pub(crate) fn reported(&self, url: &str) -> f64 {
        self.pages()[&CanonicalUrl::parse(url).unwrap().page_id()].sent_importance
    }
}

fn settings(overrides: &[(&str, &str)]) -> Settings {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap()
}
