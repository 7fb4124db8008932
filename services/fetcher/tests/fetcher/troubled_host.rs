//! The real scheduler and the real fetcher on a fast clock, and a host that is well, then refuses, then is slow, then
//! is well again: its own books of all that.

use daemon::WebClock;
use fetcher::FetcherRules;
use messages::{
    ChangeBelief, ChangeEstimate, Command, CommandKind, DetectorEvent, Encoded, FetchOutcome, FetchResult,
    LookJudgement, SchedulerEvent, Verdict, topics,
};
use page::{CanonicalUrl, HOUR, MINUTE, Timestamp};
use settings::{Layers, Settings};
use simweb::{
    ChangeRates, FaultRule, FaultScope, LedgerEntry, RequestKind, SeededConfig, SimWeb, SimWebConfig, WebFault,
    WebSource,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{Clock, InProcessLog, Log, OutputRecord, Stage, StageRunner, TopicPartition};
use stream_testing::{MemoryBackend, MemoryStores};
use topology::LogNames;

/// Seconds of the web in a real one.
const SPEED: f64 = 600.0;
pub(crate) const CRAWL_DELAY: Duration = Duration::from_secs(30);
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(900);
/// How long an answer takes while the host is slow.
pub(crate) const SLOWNESS: Duration = Duration::from_secs(90);
/// Requests after which the host counts as well again.
const WELL_REQUESTS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(1_800);

/// When the host is in which trouble.
pub(crate) struct Plan {
    pub(crate) start: Timestamp,
    pub(crate) refuses_from: Timestamp,
    pub(crate) slow_from: Timestamp,
    pub(crate) well_from: Timestamp,
}

fn settings() -> Settings {
    let overrides = [
        ("policy.name", "uniform"),
        ("policy.scan_interval", "5s"),
        ("policy.min_interval", "1s"),
        ("policy.retry_base", "1s"),
        ("policy.retry_max", "1m"),
        ("policy.lease_timeout", "1d"),
        ("politeness.crawl_delay", "30s"),
        ("politeness.backoff_base", "1m"),
        ("log.batch_interval", "0s"),
    ];
    let speed = SPEED.to_string();
    // Response times are real ones: the factor is the speed of the clock.
    let of_speed = [("clock.speed", speed.as_str()), ("politeness.response_time_factor", &speed)];
    let overrides = overrides.iter().chain(&of_speed);
    let overrides: Vec<_> = overrides.map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap()
}

fn troubled_web(plan: &Plan, clock: &Arc<WebClock>) -> SimWeb {
    let seeded =
        SeededConfig { hosts: 1, pages_per_host: 40, rates: ChangeRates::Same(0.0), ..SeededConfig::default() };
    let mut config = SimWebConfig::new(WebSource::Seeded(seeded));
    config.page_bytes = 2_000;
    let rule = |from, until, fault| FaultRule { from, until, ..FaultRule::everywhere(FaultScope::Pages(1.0), fault) };
    let refusal = WebFault::Status { code: 503, retry_after_s: Some(RETRY_AFTER.as_secs() as u32) };
    config.faults.push(rule(plan.refuses_from, plan.slow_from, refusal));
    config.faults.push(rule(plan.slow_from, plan.well_from, WebFault::Latency(SLOWNESS.div_f64(SPEED))));
    let clock = clock.clone();
    SimWeb::start(config, Arc::new(move || clock.now())).unwrap()
}

/// The estimate that the detector and the estimator would send of a page that never changes.
fn estimate_of(result: FetchResult) -> ChangeEstimate {
    let looked =
        matches!(result.look.outcome, FetchOutcome::Fetched | FetchOutcome::NotModified | FetchOutcome::SameContent);
    let verdict = if looked { Verdict::Unchanged } else { Verdict::Unknown };
    let belief = ChangeBelief {
        observations: 1,
        own_alpha: 1.0,
        own_beta_days: 0.01,
        plain_alpha: 1.0,
        plain_beta_days: 0.01,
        ..ChangeBelief::new(1.0, 0.01)
    };
    ChangeEstimate { look: result.look, judgement: LookJudgement::new(verdict), belief }
}

struct Loop {
    log: InProcessLog<MemoryBackend>,
    names: LogNames,
    clock: Arc<WebClock>,
    scheduler: StageRunner,
    fetcher: StageRunner,
    read: u64,
}

impl Loop {
    fn start(settings: &Settings, clock: &Arc<WebClock>, web: &SimWeb) -> Self {
        let mut settings = settings.clone();
        settings.fetch.resolve.insert("*.test".to_owned(), web.addr());
        let names = LogNames::new(&settings);
        let log = InProcessLog::new(MemoryBackend::default());
        log.create_topics(&topology::topic_configs(&settings, &[fetcher::topology(), scheduler::topology()], 1))
            .unwrap();
        let shared: Arc<dyn Log> = Arc::new(log.clone());
        let spec = scheduler::stage(&settings, &names, 1, None);
        let rules = FetcherRules::new(&settings).unwrap();
        let fetching =
            fetcher::stage(&settings, &names, rules, messages::body::Packing::None, None, clock.clone()).unwrap();
        let [scheduler, fetcher] = [spec, fetching].map(|spec| {
            let pace = topology::runner_settings(&settings, spec.punctuate_every, &**clock);
            let stores = Arc::new(MemoryStores::default());
            StageRunner::new(spec, "test", shared.clone(), stores, clock.clone(), pace)
        });
        let this = Self { log, names, clock: clock.clone(), scheduler, fetcher, read: 0 };
        for url in web.page_urls() {
            let url = CanonicalUrl::parse(&url).unwrap();
            let command = Command { url: Some(url), ..Command::new(CommandKind::Seed, clock.now()) };
            this.report(&SchedulerEvent::Command(command));
        }
        this
    }

    fn report(&self, event: &SchedulerEvent) {
        let to = TopicPartition::new(self.names.topic(topics::SCHEDULER_EVENTS), 0);
        let value = Some(event.encode().into());
        self.log
            .append(&[OutputRecord { to, timestamp: self.clock.now(), key: b"site".to_vec(), value, trace: None }])
            .unwrap();
    }

    /// Once round: what the fetcher answered goes home as an estimate.
    fn turn(&mut self) {
        self.scheduler.step().unwrap();
        self.fetcher.step().unwrap();
        let results = TopicPartition::new(self.names.topic(topics::FETCH_RESULTS), 0);
        let (records, next) = self.log.reader().unwrap().read(&results, self.read, usize::MAX).unwrap();
        self.read = next;
        for record in records {
            // The scheduler's notices of failed seeds are on the topic, too.
            if let DetectorEvent::Result(result) = DetectorEvent::decode(record.value.as_deref().unwrap()).unwrap() {
                self.report(&SchedulerEvent::Estimate(estimate_of(result)));
            }
        }
    }
}

/// Page requests that began in a span of time, in order.
pub(crate) fn begun(ledger: &[LedgerEntry], from: Timestamp, until: Timestamp) -> Vec<LedgerEntry> {
    let is_page = |entry: &&LedgerEntry| entry.kind == RequestKind::Page && (from..until).contains(&entry.started_at);
    let mut begun: Vec<_> = ledger.iter().filter(is_page).cloned().collect();
    begun.sort_by_key(|entry| entry.started_at);
    begun
}

/// The requests that the host saw, and when it was in which trouble.
pub(crate) fn crawl() -> (Vec<LedgerEntry>, Plan) {
    let settings = settings();
    let clock = Arc::new(WebClock::new(&settings.clock));
    let start = clock.now();
    let plan = Plan {
        start,
        refuses_from: start + 15 * MINUTE,
        slow_from: start + HOUR,
        well_from: start + HOUR + 20 * MINUTE,
    };
    let web = troubled_web(&plan, &clock);
    let mut running = Loop::start(&settings, &clock, &web);
    let deadline = Instant::now() + PATIENCE;
    while begun(&web.ledger().entries(), plan.well_from, Timestamp::MAX).len() < WELL_REQUESTS {
        assert!(Instant::now() < deadline, "{} requests in all", web.ledger().len());
        running.turn();
    }
    (web.ledger().entries(), plan)
}
