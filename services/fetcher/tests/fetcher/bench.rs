//! A fetcher as a stage over a log in memory, turned by hand.

use daemon::WebClock;
use fetcher::{FetcherRules, OriginRobots, RobotsKey};
use messages::body::Packing;
use messages::topics::Topic;
use messages::{DetectorEvent, Encoded, FetchRequest, FetchResult, HostStop, Validators, topics};
use page::{CanonicalUrl, Host};
use settings::{Layers, Settings};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{Clock, InProcessLog, Log, OutputRecord, Stage, StageRunner, TableKey, TopicPartition};
use stream_testing::{MemoryBackend, MemoryStores};
use topology::LogNames;

/// Longest wait for results that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1_800);

pub(crate) fn clock() -> WebClock {
    WebClock::new(&Settings::default().clock)
}

/// Settings without delays, but for these.
pub(crate) fn settings(overrides: &[(&str, &str)]) -> Settings {
    settings_with("", overrides)
}

/// Settings without delays, with the rules of a configuration file.
fn settings_with(file: &str, overrides: &[(&str, &str)]) -> Settings {
    let fast =
        [("politeness.crawl_delay", "0s"), ("politeness.response_time_factor", "0"), ("log.batch_interval", "0s")];
    let overrides = [&fast[..], overrides].concat();
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Settings::from_layers(Layers { files: &[("recrawl.toml", file)], environment: [], overrides: &overrides }).unwrap()
}

pub(crate) struct Bench {
    log: InProcessLog<MemoryBackend>,
    settings: Settings,
    names: LogNames,
    pub(crate) stage: StageRunner,
    started: usize,
}

impl Bench {
    /// A fetcher that finds every name at one address.
    pub(crate) fn at(address: SocketAddr, overrides: &[(&str, &str)]) -> Self {
        let resolve = format!("*.test={address}");
        Self::new(&[&[("fetch.resolve", resolve.as_str())], overrides].concat())
    }

    pub(crate) fn new(overrides: &[(&str, &str)]) -> Self {
        Self::with_settings(settings(overrides))
    }

    /// A fetcher that finds every name at one address, with the rules of a configuration file.
    pub(crate) fn with_rules(address: SocketAddr, file: &str) -> Self {
        let resolve = format!("*.test={address}");
        Self::with_settings(settings_with(file, &[("fetch.resolve", resolve.as_str())]))
    }

    /// The same with nothing set but what the file says.
    pub(crate) fn with_rules_alone(address: SocketAddr, file: &str) -> Self {
        let resolve = ("fetch.resolve".to_owned(), format!("*.test={address}"));
        let files = [("recrawl.toml", file)];
        let layers = Layers { files: &files, environment: [], overrides: &[resolve] };
        Self::with_settings(Settings::from_layers(layers).unwrap())
    }

    fn with_settings(settings: Settings) -> Self {
        let names = LogNames::new(&settings);
        let log = InProcessLog::new(MemoryBackend::default());
        log.create_topics(&topology::topic_configs(&settings, &[fetcher::topology()], 1)).unwrap();
        let stage = Self::stage(&log, &settings, &names, 0);
        Self { log, settings, names, stage, started: 0 }
    }

    fn stage(log: &InProcessLog<MemoryBackend>, settings: &Settings, names: &LogNames, number: usize) -> StageRunner {
        let clock: Arc<dyn Clock> = Arc::new(WebClock::new(&settings.clock));
        let spec =
            fetcher::stage(settings, names, FetcherRules::new(settings).unwrap(), Packing::Lz4, None, clock.clone())
                .unwrap();
        let pace = topology::runner_settings(settings, spec.punctuate_every, &*clock);
        let (log, stores) = (Arc::new(log.clone()), Arc::new(MemoryStores::default()));
        StageRunner::new(spec, &format!("instance-{number}"), log, stores, clock, pace)
    }

    /// Drops the stage as a crash would, and starts another.
    pub(crate) fn crash(&mut self) {
        self.started += 1;
        self.stage = Self::stage(&self.log, &self.settings, &self.names, self.started);
    }

    pub(crate) fn send_bytes(&self, value: Vec<u8>) {
        let to = TopicPartition::new(self.names.topic(topics::FETCH_REQUESTS), 0);
        let record = OutputRecord {
            to,
            timestamp: clock().now(),
            key: b"site".to_vec(),
            value: Some(value.into()),
            trace: None,
        };
        self.log.append(&[record]).unwrap();
    }

    pub(crate) fn ask(&self, url: &str) {
        self.send_bytes(request(url).encode());
    }

    /// Sends the fetcher, as the scheduler does, that an operator stopped a host, or ended that.
    pub(crate) fn stop_host(&self, host: &str, stopped: bool) {
        let (host, taken_at) = (Host::from_authority(host), clock().now());
        let stop = HostStop { host, stopped, taken_at };
        let topic = self.names.topic(topics::HOST_STOPS);
        self.log.append(&[OutputRecord::of(&stop, topic, 1, taken_at)]).unwrap();
    }

    pub(crate) fn read<M: Encoded>(&self, topic: Topic<M>) -> Vec<M> {
        let partition = TopicPartition::new(self.names.topic(topic), 0);
        let records = self.log.reader().unwrap().read(&partition, 0, usize::MAX).unwrap().0;
        records.iter().map(|record| M::decode(record.value.as_deref().unwrap()).unwrap()).collect()
    }

    /// Writes a robots.txt into the table. The stage knows it after a crash.
    pub(crate) fn put_robots(&self, url: &str, robots: &OriginRobots) {
        let to = TopicPartition::new(self.names.topic(fetcher::ROBOTS.spec().changelog("fetcher")), 0);
        let key = RobotsKey::of(&CanonicalUrl::parse(url).unwrap()).to_bytes();
        let record =
            OutputRecord { to, timestamp: clock().now(), key, value: Some(robots.encode().into()), trace: None };
        self.log.append(&[record]).unwrap();
    }

    /// The robots.txt files in the table.
    pub(crate) fn kept_robots(&self) -> BTreeSet<RobotsKey> {
        let partition = TopicPartition::new(self.names.topic(fetcher::ROBOTS.spec().changelog("fetcher")), 0);
        let records = self.log.reader().unwrap().read(&partition, 0, usize::MAX).unwrap().0;
        let mut kept = BTreeSet::new();
        for record in records {
            // An empty key says how far the input is.
            let Some(key) = RobotsKey::from_bytes(&record.key) else { continue };
            if record.value.is_some() {
                kept.insert(key)
            } else {
                kept.remove(&key)
            };
        }
        kept
    }

    /// Turns the stage until there are `count` results.
    pub(crate) fn results(&mut self, count: usize) -> Vec<FetchResult> {
        let deadline = Instant::now() + PATIENCE;
        let partition = TopicPartition::new(self.names.topic(topics::FETCH_RESULTS), 0);
        let mut reader = self.log.reader().unwrap();
        let mut come = || reader.bounds(std::slice::from_ref(&partition)).unwrap()[0].end as usize;
        while come() < count {
            assert!(Instant::now() < deadline, "{} of {count} results came", come());
            self.stage.step().unwrap();
        }
        let results = self.read(topics::FETCH_RESULTS).into_iter().map(|event| match event {
            DetectorEvent::Result(result) => result,
            other => panic!("the fetcher sent what is no result: {other:?}"),
        });
        results.collect()
    }

    pub(crate) fn fetch(&mut self, url: &str) -> FetchResult {
        self.fetch_request(&request(url))
    }

    pub(crate) fn fetch_request(&mut self, request: &FetchRequest) -> FetchResult {
        let before = self.read(topics::FETCH_RESULTS).len();
        self.send_bytes(request.encode());
        let result = self.results(before + 1).pop().unwrap();
        assert_eq!((result.look.page_id, result.look.attempt), (request.page_id, request.attempt));
        result
    }
}

pub(crate) fn request(url: &str) -> FetchRequest {
    FetchRequest { attempt: 7, ..FetchRequest::first(CanonicalUrl::parse(url).unwrap(), clock().now()) }
}

/// A request by someone who has the body of an answer, and no validators of the server's.
pub(crate) fn with_digest(request: FetchRequest, known: &FetchResult) -> FetchRequest {
    let content_digest = known.look.validators.content_digest;
    FetchRequest { validators: Validators { content_digest, ..Validators::default() }, ..request }
}
