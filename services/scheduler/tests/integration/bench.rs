//! The scheduler as a stage over a log in memory, with a clock set by hand; the tests play the rest of the loop.

use messages::{
    ChangeBelief, ChangeEstimate, Command, CommandKind, CommandSubject, Encoded, FetchOutcome, FetchRequest, Look,
    LookJudgement, SchedulerEvent, Validators, Verdict, topics,
};
use page::{CanonicalUrl, HostName, Timestamp};
use scheduler::explain::{Explanation, explain};
use scheduler::{FrontierRules, HostSchedule, ListedSeeds, ScheduledPage};
use settings::{Layers, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use stream::{Clock, Log, StoreProvider, TableSpec, TaskId, TaskTables, TopicPartition};
use stream_testing::{MemoryStores, TestDriver};
use topology::LogNames;

pub(crate) const URL: &str = "http://a.site.test/x";
pub(crate) const SIBLING: &str = "http://a.site.test/y";
pub(crate) const ELSEWHERE: &str = "http://b.other.test/z";

/// Seconds from one time to another.
pub(crate) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.days_since(from) * 86_400.0
}

pub(crate) struct Bench {
    pub(crate) driver: TestDriver,
    pub(crate) names: LogNames,
    pub(crate) settings: Settings,
    pub(crate) partitions: u32,
    /// The list of seeds of the next start.
    pub(crate) seeds: Option<ListedSeeds>,
    pub(crate) tick: Duration,
    pub(crate) started: usize,
    /// Requests read so far, by partition.
    pub(crate) read: Vec<u64>,
}

impl Bench {
    pub(crate) fn new(overrides: &[(&str, &str)]) -> Self {
        Self::with_partitions(1, overrides)
    }

    /// No crawl delay, no audit, no least worth, and a second between looks, unless the test is about them.
    pub(crate) fn with_partitions(partitions: u32, overrides: &[(&str, &str)]) -> Self {
        Self::with_rules("", partitions, overrides)
    }

    /// With the rules of a configuration file.
    pub(crate) fn with_rules(file: &str, partitions: u32, overrides: &[(&str, &str)]) -> Self {
        let plain = [
            ("politeness.crawl_delay", "0s"),
            ("politeness.response_time_factor", "0"),
            ("policy.min_interval", "1s"),
            ("policy.audit_share", "0"),
            ("policy.least_worth", "0s"),
        ];
        let overrides = [&plain[..], overrides].concat();
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let settings =
            Settings::from_layers(Layers { files: &[("recrawl.toml", file)], environment: [], overrides: &overrides })
                .unwrap();
        let names = LogNames::new(&settings);
        let start = Timestamp::from_secs(1_700_000_000);
        let driver = TestDriver::new(
            &topology::topic_configs(&settings, &[scheduler::topology(), estimator::topology()], partitions),
            start,
        );
        let tick = settings.policy.scan_interval;
        let read = vec![0; partitions as usize];
        let mut bench = Self { driver, names, settings, partitions, seeds: None, tick, started: 0, read };
        bench.start();
        bench
    }

    pub(crate) fn start(&mut self) {
        self.started += 1;
        let seeds = self.seeds.clone();
        let spec = scheduler::stage(&self.settings, &self.names, self.partitions, seeds);
        self.driver.add(spec, &format!("instance-{}", self.started));
        self.driver.run_until_idle().unwrap();
    }

    /// A crash that also takes the state directory.
    pub(crate) fn crash(&mut self) {
        self.driver.kill(0);
        self.driver.stores = MemoryStores::default();
        self.start();
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.driver.clock.now()
    }

    pub(crate) fn send(&mut self, key: &str, event: &SchedulerEvent) {
        self.driver.send(&self.names.topic(topics::SCHEDULER_EVENTS), key.as_bytes(), event.encode()).unwrap();
        self.driver.run_until_idle().unwrap();
    }

    pub(crate) fn command(&mut self, kind: CommandKind, url: &str, weight: f64) {
        let url = CanonicalUrl::parse(url).unwrap();
        let host = (kind.subject() == CommandSubject::Hosts).then(|| url.host());
        let site = url.site_key();
        let url = host.is_none().then_some(url);
        let command = Command { url, host, weight, ..Command::new(kind, self.now()) };
        self.send(site.as_str(), &SchedulerEvent::Command(command));
    }

    /// All messages of a topic with one partition.
    pub(crate) fn read<M: Encoded>(&self, topic: topics::Topic<M>) -> Vec<M> {
        let records = self.driver.contents(&self.names.topic(topic)).unwrap();
        records.iter().map(|record| M::decode(record.value.as_deref().unwrap()).unwrap()).collect()
    }

    pub(crate) fn seed(&mut self, url: &str) {
        self.command(CommandKind::Seed, url, 1.0);
    }

    /// One tick; the requests that came of it.
    pub(crate) fn tick(&mut self) -> Vec<FetchRequest> {
        self.driver.clock.advance(self.tick);
        self.driver.run_until_idle().unwrap();
        let topic = self.names.topic(topics::FETCH_REQUESTS);
        let mut reader = self.driver.log.reader().unwrap();
        let mut requests = Vec::new();
        for (partition, next) in self.read.iter_mut().enumerate() {
            let partition = TopicPartition::new(topic.as_str(), partition as u32);
            for record in reader.read(&partition, *next, usize::MAX).unwrap().0 {
                *next = record.offset + 1;
                requests.push(FetchRequest::decode(record.value.as_deref().unwrap()).unwrap());
            }
        }
        requests
    }

    /// So much time, tick by tick; the requests that came of it.
    pub(crate) fn wait(&mut self, duration: Duration) -> Vec<FetchRequest> {
        let until = self.now() + duration;
        let mut requests = Vec::new();
        while self.now() < until {
            requests.extend(self.tick());
        }
        requests
    }

    /// The next request, which must come within an amount of time.
    pub(crate) fn next(&mut self, within: Duration) -> FetchRequest {
        let until = self.now() + within;
        while self.now() < until {
            if let Some(request) = self.tick().pop() {
                return request;
            }
        }
        panic!("no request within {within:?}");
    }

    pub(crate) fn answer(&mut self, estimate: ChangeEstimate) {
        let site = estimate.look.site_key.clone();
        self.send(site.as_str(), &SchedulerEvent::Estimate(estimate));
    }

    /// Lives on for so long, answering every request at once; how often each page was asked for.
    pub(crate) fn live(&mut self, duration: Duration, rate: impl Fn(&str) -> f64) -> BTreeMap<String, u64> {
        let until = self.now() + duration;
        let mut visits = BTreeMap::new();
        while self.now() < until {
            for request in self.tick() {
                *visits.entry(request.url.as_str().to_owned()).or_default() += 1;
                self.answer(looked(&request, rate(request.url.as_str())));
            }
        }
        visits
    }

    /// So much time in which no request is answered.
    pub(crate) fn pass(&mut self, duration: Duration) {
        self.driver.clock.advance(duration);
    }

    /// A look at a page now that finds this, asked for or not.
    pub(crate) fn look_now(&mut self, url: &str, verdict: Verdict) {
        let page = self.page(url).unwrap();
        let request = FetchRequest { attempt: page.request.attempt, ..FetchRequest::first(page.url, self.now()) };
        let request = &request;
        self.answer(edited(looked(request, 0.05), |it| {
            it.judgement.verdict = verdict;
            it.look.fetched_at = request.issued_at;
        }));
    }

    /// Why the page is due or not, from what is stored.
    pub(crate) fn explained(&self, url: &str, price: Option<f64>) -> Explanation {
        let task = TaskId { stage: "scheduler".to_owned(), partition: 0 };
        let topology = scheduler::topology();
        let store = self.driver.stores.open("memory", &task, &topology.table_names()).unwrap();
        let rules = FrontierRules::new(&self.settings, self.partitions).with_seeds(self.seeds.clone());
        let url = CanonicalUrl::parse(url).unwrap();
        explain(&TaskTables::new(store, &topology), &rules, &url, price, self.now()).unwrap().unwrap()
    }

    pub(crate) fn page(&self, url: &str) -> Option<ScheduledPage> {
        let key = CanonicalUrl::parse(url).unwrap().page_id().0;
        let records = self.driver.contents(&self.names.topic(scheduler::PAGES.spec().changelog("scheduler"))).unwrap();
        let last = records.iter().rfind(|record| record.key == key)?;
        last.value.as_deref().map(|value| ScheduledPage::decode(value).unwrap())
    }

    /// The schedule of a URL's host, if one is kept.
    pub(crate) fn host(&self, url: &str) -> Option<HostSchedule> {
        let name = HostName::of(&CanonicalUrl::parse(url).unwrap());
        let records = self.driver.contents(&self.names.topic(scheduler::HOSTS.spec().changelog("scheduler"))).unwrap();
        let last = records.iter().rfind(|record| record.key == name.as_str().as_bytes())?;
        last.value.as_deref().map(|value| HostSchedule::decode(value).unwrap())
    }

    /// Pages that are known.
    pub(crate) fn pages(&self) -> usize {
        self.keys(scheduler::PAGES.spec()).len()
    }

    /// The keys of a table, in order.
    pub(crate) fn keys(&self, table: TableSpec) -> Vec<Vec<u8>> {
        let records = self.driver.contents(&self.names.topic(table.changelog("scheduler"))).unwrap();
        // An empty key says how far the input is.
        let entries = records.into_iter().filter(|record| !record.key.is_empty());
        let last: BTreeMap<_, _> = entries.map(|record| (record.key, record.value)).collect();
        last.into_iter().filter_map(|(key, value)| value.map(|_| key)).collect()
    }
}

/// A look that found the page unchanged, a second after the request was due, of a page known to change so often.
pub(crate) fn looked(request: &FetchRequest, rate_per_day: f64) -> ChangeEstimate {
    // Of what is sent as evidence, the prior is left out.
    let (evidence_alpha, evidence_beta_days) = (1e4 - 0.4, 1e4 / rate_per_day - 100.0);
    let look = Look {
        status: Some(304),
        validators: Validators { etag: Some("\"1\"".to_owned()), ..Validators::default() },
        ..Look::new(request.clone(), FetchOutcome::NotModified, request.not_before)
    };
    let belief = ChangeBelief {
        alpha: 100.0,
        beta_days: 100.0 / rate_per_day,
        observations: 1,
        changes: 0,
        own_alpha: evidence_alpha as f32,
        own_beta_days: evidence_beta_days as f32,
        plain_alpha: evidence_alpha as f32,
        plain_beta_days: evidence_beta_days as f32,
        mean_extent: 0.15,
    };
    ChangeEstimate { look, judgement: LookJudgement::new(Verdict::Unchanged), belief }
}

/// The same with something else in it.
pub(crate) fn edited<T>(mut it: T, edit: impl FnOnce(&mut T)) -> T {
    edit(&mut it);
    it
}

/// The same with another outcome, which says nothing of the content.
pub(crate) fn failed(request: &FetchRequest, outcome: FetchOutcome, status: Option<u16>) -> ChangeEstimate {
    let looked = looked(request, 2.0);
    let look = Look { outcome, status, validators: Validators::default(), ..looked.look };
    ChangeEstimate { look, judgement: LookJudgement::new(Verdict::Unknown), ..looked }
}

pub(crate) fn urls(requests: &[FetchRequest]) -> BTreeSet<&str> {
    requests.iter().map(|request| request.url.as_str()).collect()
}

pub(crate) fn on_host(number: usize) -> String {
    format!("http://www.site-{number}.test/")
}
