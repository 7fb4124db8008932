//! A history: the stages, the fetcher and the web, tick by tick, with crashes.

use crate::fetcher::{FakeFetcher, FetchLog};
use crate::web::Web;
use detector::PageSketch;
use estimator::PageBelief;
use messages::{Command, CommandKind, Encoded, FetchRequest, FetchResult, topics};
use page::{CanonicalUrl, Host, PageId, Timestamp};
use policies::PolicyKind;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ranker::{Accounts, LinkedPage, ShardTotals};
use scheduler::ScheduledPage;
use settings::{Discover, Layers, Settings};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;
use stream::{InputRecord, LogBackend, StageSpec, StateStore, TaskId, TaskTables};
use stream_testing::{MemoryStore, TestDriver};
use topology::LogNames;

pub(crate) const TICK: Duration = Duration::from_secs(600);
pub(crate) const LEASE_TIMEOUT: Duration = Duration::from_secs(3_600);
/// A late answer comes after its lease.
pub(crate) const LATE: Duration = Duration::from_secs(2 * 3_600);
pub(crate) const CRAWL_DELAY: Duration = Duration::from_secs(300);
pub(crate) const MAX_INTERVAL: Duration = Duration::from_secs(3 * 86_400);
/// Four looks a day at every page, on average.
pub(crate) const FETCHES_PER_DAY: f64 = 288.0;
const START: Timestamp = Timestamp::from_secs(1_700_000_000);
const PARTITIONS: u32 = 4;
/// The matcher only where mirrors are looked for, the ranker where links are followed.
const STAGES: [&str; 5] = ["scheduler", "detector", "estimator", "matcher", "ranker"];

/// The events that happen in a history.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) days: u32,
    /// Stages and the fetcher die, come back with their disk, an older one, or none, and get company.
    pub(crate) crashes: bool,
    /// Requests are lost, answers late or repeated, hosts fail.
    pub(crate) trouble: bool,
    /// On this day the first page is forgotten and, some ticks later, seeded again.
    pub(crate) forget_on_day: Option<u32>,
    pub(crate) backoff_base: Duration,
    /// The host that answers 429 until this day.
    pub(crate) refusing: Option<(&'static str, u32)>,
    /// Whether one site is a mirror of another ([`Web::mirror_first_site`]), and whether the loop looks for mirrors.
    pub(crate) mirrors: Mirrors,
    /// Whether pages link each other ([`Web::link_pages`]), and links are followed. Then the first page alone is a seed.
    pub(crate) links: bool,
    pub(crate) max_pages_per_host: u64,
    pub(crate) fetches_per_day: f64,
    pub(crate) max_interval: Duration,
    pub(crate) policy: PolicyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mirrors {
    None,
    Unnoticed,
    Shared,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            days: 21,
            crashes: true,
            trouble: true,
            forget_on_day: None,
            backoff_base: TICK,
            refusing: None,
            mirrors: Mirrors::None,
            links: false,
            max_pages_per_host: 1_000,
            fetches_per_day: FETCHES_PER_DAY,
            max_interval: MAX_INTERVAL,
            policy: PolicyKind::Live,
        }
    }
}

impl Plan {
    /// Whether a host answers 429 now.
    pub(crate) fn refuses(&self, host: &Host, now: Timestamp) -> bool {
        self.refusing.is_some_and(|(name, until_day)| host.as_str() == name && now < START.plus_days(until_day.into()))
    }
}

/// One page in the books of all stages.
pub(crate) struct Page {
    pub(crate) scheduler: ScheduledPage,
    pub(crate) detector_fetches: i64,
    pub(crate) estimator_fetches: i64,
}

/// The records, answers and state at the end of a simulation.
pub(crate) struct History {
    pub(crate) web: Web,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    /// In the order of their partition and offset.
    pub(crate) requests: Vec<FetchRequest>,
    /// In the order they were given.
    pub(crate) answers: Vec<FetchResult>,
    pub(crate) lost: Vec<(PageId, i64)>,
    pub(crate) crashes: u32,
    pub(crate) late_answers: u32,
    pub(crate) repeated_answers: u32,
    pub(crate) page_changes: Vec<InputRecord>,
    /// Inputs of the detector since the start of the last day.
    pub(crate) fetch_results: Vec<InputRecord>,
    pub(crate) pages: BTreeMap<PageId, Page>,
    /// The ranker's pages, if links are followed.
    pub(crate) linked: BTreeMap<PageId, LinkedPage>,
    /// All cash of the ranker, and all cash from trusted pages, at the end of each tick: in accounts, and in purses.
    pub(crate) cash: Vec<[(f64, f64); 2]>,
    /// Every key and value of every store.
    pub(crate) stores: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Lets a history happen.
pub(crate) fn simulate(plan: Plan) -> History {
    let settings = settings(&plan);
    let names = LogNames::new(&settings);
    let start = START;
    let mut random = Pcg64::seed_from_u64(plan.seed);
    let mut web = Web::new(&mut random, start, plan.days);
    if plan.mirrors != Mirrors::None {
        web.mirror_first_site(start);
    }
    if plan.links {
        web.link_pages();
    }
    let driver =
        TestDriver::new(&topology::topic_configs(&settings, &recrawl::stages::topologies(), PARTITIONS), start);
    let mut loop_ = Loop { settings, names, driver, running: Vec::new(), older: BTreeMap::new(), crashes: 0 };
    for stage in loop_.stages() {
        loop_.start(stage, "0");
    }
    for page in &web.pages[..if plan.links { 1 } else { web.pages.len() }] {
        loop_.command(CommandKind::Seed, &page.url);
    }
    let mut fetcher = FakeFetcher::join(&loop_.driver.log, &loop_.names);
    let (mut log, mut cash) = (FetchLog::default(), Vec::new());
    let ticks_per_day = (86_400 / TICK.as_secs()) as u32;
    for tick in 0..plan.days * ticks_per_day {
        loop_.driver.clock.advance(TICK);
        if plan.forget_on_day.map(|day| day * ticks_per_day) == Some(tick + 3) {
            loop_.command(CommandKind::Forget, &web.pages[0].url);
        }
        if plan.forget_on_day.map(|day| day * ticks_per_day) == Some(tick + 1) {
            loop_.command(CommandKind::Seed, &web.pages[0].url);
        }
        if plan.crashes {
            loop_.crash(&mut random);
            if random.random_bool(0.01) {
                // The old one leaves first: it is the only one of its name.
                drop(fetcher);
                fetcher = FakeFetcher::join(&loop_.driver.log, &loop_.names);
                loop_.crashes += 1;
            }
        }
        loop_.driver.run_until_idle().unwrap();
        fetcher.step(&web, loop_.driver.now(), &mut random, &plan, &mut log);
        loop_.driver.run_until_idle().unwrap();
        if plan.links {
            cash.push(loop_.cash());
        }
        if tick % ticks_per_day == 0 {
            loop_.driver.log.backend().maintain(loop_.driver.now()).unwrap();
        }
    }
    loop_.close(web, start, log, cash)
}

struct Loop {
    settings: Settings,
    names: LogNames,
    driver: TestDriver,
    /// Stages and their instances, in the driver's order.
    running: Vec<(&'static str, &'static str)>,
    /// Copies of disks from earlier.
    older: BTreeMap<(&'static str, u32), MemoryStore>,
    crashes: u32,
}

pub(crate) trait Now {
    fn now(&self) -> Timestamp;
}

impl Now for TestDriver {
    fn now(&self) -> Timestamp {
        stream::Clock::now(&*self.clock)
    }
}

impl Loop {
    fn stages(&self) -> Vec<&'static str> {
        let is_wanted = |stage: &&str| match *stage {
            "matcher" => self.settings.detector.mirrors,
            "ranker" => self.settings.crawl.discover != Discover::None,
            _ => true,
        };
        STAGES.into_iter().filter(is_wanted).collect()
    }

    fn start(&mut self, stage: &'static str, instance: &'static str) {
        self.driver.add(self.spec(stage), instance);
        self.running.push((stage, instance));
    }

    fn spec(&self, stage: &str) -> StageSpec {
        match stage {
            "scheduler" => scheduler::stage(&self.settings, &self.names, PARTITIONS, None),
            "detector" => detector::stage(&self.settings, &self.names, PARTITIONS, messages::ChangeForm::Avro),
            "estimator" => estimator::stage(&self.settings, &self.names),
            "matcher" => matcher::stage(&self.settings, &self.names),
            "ranker" => ranker::stage(&self.settings, &self.names, PARTITIONS),
            other => panic!("{other} is not a stage of this loop"),
        }
    }

    /// The ranker's accounts and totals on the disk of each partition that has any.
    fn books(&self) -> Vec<(u32, Accounts, ShardTotals)> {
        let read = |partition| {
            let store = self.driver.stores.snapshot(&task("ranker", partition))?;
            let tables = TaskTables::new(Box::new(store), &ranker::topology());
            Some((
                partition,
                Accounts::read(&tables).unwrap(),
                tables.get(ranker::TOTALS, &ranker::TotalsKey).unwrap()?,
            ))
        };
        (0..PARTITIONS).filter_map(read).collect()
    }

    /// Cash and trust in the accounts of all pages, and in all purses. Nothing is on its way while all stages are idle.
    fn cash(&self) -> [(f64, f64); 2] {
        // A partition that has not worked yet has its part in the purse.
        let books = self.books();
        let untouched = (PARTITIONS as usize - books.len()) as f64 / f64::from(PARTITIONS);
        books.iter().fold([(0.0, untouched); 2], |[cash, trust], (partition, accounts, totals)| {
            let cash = (cash.0 + totals.cash_of(*partition, accounts), cash.1 + totals.purse);
            [cash, (trust.0 + totals.trust_of(*partition, accounts), trust.1 + totals.trust_purse)]
        })
    }

    fn command(&self, kind: CommandKind, url: &CanonicalUrl) {
        let issued_at = self.driver.now();
        let command = Command { url: Some(url.clone()), ..Command::new(kind, issued_at) };
        let topic = self.names.topic(topics::SCHEDULER_EVENTS);
        self.driver.send(&topic, url.site_key().as_str().as_bytes(), command.encode()).unwrap();
    }

    /// Perhaps something dies, or gets company.
    fn crash(&mut self, random: &mut Pcg64) {
        if random.random_bool(0.05) {
            // In the middle of things: after some steps of some stages, not only between ticks.
            for _ in 0..random.random_range(0..6) {
                let stage = random.random_range(0..self.running.len());
                self.driver.step(stage).unwrap();
            }
            let victim = random.random_range(0..self.running.len());
            let (stage, instance) = self.running.remove(victim);
            self.driver.kill(victim);
            self.crashes += 1;
            let alone = !self.running.iter().any(|(other, _)| *other == stage);
            if alone {
                self.change_disk(stage, random.random_range(0..4));
                self.start(stage, instance);
            }
        }
        if random.random_bool(0.01) {
            let stages = self.stages();
            let stage = stages[random.random_range(0..stages.len())];
            let free = ["0", "1"].into_iter().find(|name| !self.running.contains(&(stage, name)));
            if let Some(instance) = free {
                self.start(stage, instance);
            }
        }
        if random.random_bool(0.02) {
            for stage in self.stages() {
                for partition in 0..PARTITIONS {
                    let copy = self.driver.stores.snapshot(&task(stage, partition));
                    self.older.extend(copy.map(|copy| ((stage, partition), copy)));
                }
            }
        }
    }

    /// A stage comes back with its disk as it was, as it was some time ago, or with an empty one.
    fn change_disk(&mut self, stage: &'static str, chance: u32) {
        for partition in 0..PARTITIONS {
            let disk = match chance {
                0 => Some(MemoryStore::new(self.spec(stage).stores.len())),
                1 => self.older.get(&(stage, partition)).cloned(),
                _ => None,
            };
            if let Some(disk) = disk {
                self.driver.stores.put_back(&task(stage, partition), disk);
            }
        }
    }

    fn close(self, web: Web, start: Timestamp, log: FetchLog, cash: Vec<[(f64, f64); 2]>) -> History {
        let mut pages = BTreeMap::new();
        let mut stores = Vec::new();
        let mut each = |stage: &str, visit: &mut dyn FnMut(PageId, &[u8])| {
            for partition in 0..PARTITIONS {
                let store = self.driver.stores.snapshot(&task(stage, partition)).expect("every task has run");
                for number in 0..self.spec(stage).stores.len() {
                    let mut one = |key: &[u8], value: &[u8]| {
                        stores.push((key.to_vec(), value.to_vec()));
                        if number == 0 && stage != "ranker" {
                            visit(PageId(key.try_into().expect("keys are page ids")), value);
                        }
                        ControlFlow::Continue(())
                    };
                    store.scan(number, b"", &mut one).unwrap();
                }
            }
        };
        each("scheduler", &mut |id, value| {
            let scheduler = ScheduledPage::decode(value).unwrap();
            pages.insert(id, Page { scheduler, detector_fetches: 0, estimator_fetches: 0 });
        });
        each("detector", &mut |id, value| {
            pages.get_mut(&id).unwrap().detector_fetches = PageSketch::decode(value).unwrap().fetches;
        });
        each("estimator", &mut |id, value| {
            pages.get_mut(&id).unwrap().estimator_fetches = PageBelief::decode(value).unwrap().fetches;
        });
        let mut linked = BTreeMap::new();
        if self.stages().contains(&"ranker") {
            each("ranker", &mut |_, _| {});
            linked.extend(self.books().iter().flat_map(|(_, accounts, _)| accounts.pages()));
        }
        History {
            web,
            start,
            linked,
            cash,
            end: self.driver.now(),
            requests: log.requests.into_values().collect(),
            answers: log.answers,
            lost: log.lost,
            crashes: self.crashes,
            late_answers: log.late_answers,
            repeated_answers: log.repeated_answers,
            page_changes: self.driver.contents(&self.names.topic(topics::PAGE_CHANGES)).unwrap(),
            fetch_results: self.driver.contents(&self.names.topic(topics::FETCH_RESULTS)).unwrap(),
            pages,
            stores,
        }
    }
}

fn task(stage: &str, partition: u32) -> TaskId {
    TaskId { stage: stage.to_owned(), partition }
}

fn settings(plan: &Plan) -> Settings {
    let seconds = |duration: Duration| format!("{}s", duration.as_secs());
    let estimator = plan.policy.beliefs().usual_estimator().expect("an operator may choose it");
    let overrides = [
        ("budget.fetches_per_second", (plan.fetches_per_day / 86_400.0).to_string()),
        ("budget.burst", "1d".to_owned()),
        ("politeness.crawl_delay", seconds(CRAWL_DELAY)),
        ("politeness.max_crawl_delay", "10m".to_owned()),
        ("politeness.backoff_base", seconds(plan.backoff_base)),
        ("policy.scan_interval", seconds(TICK)),
        ("policy.lease_timeout", seconds(LEASE_TIMEOUT)),
        ("policy.min_interval", "30m".to_owned()),
        ("policy.max_interval", seconds(plan.max_interval)),
        ("policy.retry_base", "30m".to_owned()),
        ("policy.retry_max", "6h".to_owned()),
        ("policy.name", plan.policy.name().to_owned()),
        ("estimator.name", estimator.name().to_owned()),
        ("log.partitions", PARTITIONS.to_string()),
        // The published verdicts are compared with those of the observations, which never say `missing`.
        ("detector.missing", "false".to_owned()),
        ("detector.mirrors", (plan.mirrors == Mirrors::Shared).to_string()),
        ("crawl.discover", if plan.links { "anywhere" } else { "none" }.to_owned()),
        ("crawl.max_pages_per_host", plan.max_pages_per_host.to_string()),
        ("ranker.interval", seconds(TICK)),
        ("ranker.trusted", if plan.links { "[\"*.test/page-0\"]" } else { "[]" }.to_owned()),
    ];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value));
    Settings::from_layers(Layers {
        files: &[],
        environment: std::iter::empty::<(String, String)>(),
        overrides: &overrides,
    })
    .expect("these settings are valid")
}
