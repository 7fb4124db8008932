//! A crawl to which everything happens, and which must end as if nothing had.

use crate::fleet::Fleet;
use crate::plan::{self, Incident, Size};
use crate::verdict::Verdict;
use crate::watch::{Requests, Watch, WebPulse, by_stage, worst};
use crate::{cluster, is_full};
use messages::{Command, CommandKind, topics};
use page::CanonicalUrl;
use simweb::{ChangeRates, SeededConfig};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{Log, OutputRecord};
use tests::services::{Distributed, PARTITIONS};
use tests::{KafkaCluster, SimulatedWeb, wait_for};
use topology::LogNames;

/// Longest time without progress of any partition of any stage while two of three nodes are up.
const LONGEST_STANDSTILL: Duration = Duration::from_secs(60);

/// Most requests out at once, all hosts together: as many are made again when a fetcher is cut off, at the most.
pub(crate) const IN_FLIGHT: usize = 100;

#[test]
fn a_crawl_ends_as_if_nothing_had_happened_whatever_dies_sleeps_comes_and_goes() {
    let Some(cluster) = cluster() else { return };
    let size = if is_full() { Size::FULL } else { Size::SHORT };
    let replay = Replay::new();
    let web = web(&size);
    let settings = settings(&size);
    let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let crawl = Distributed::of(&web, cluster.brokers(), &settings);
    let mut run = Run::new(&size, replay.seed, &web, &cluster, &crawl);
    let patience = if is_full() { Duration::from_secs(3 * 3_600) } else { Duration::from_secs(600) };
    wait_for("every page is answered as often as asked, after everything has happened", patience, || run.turn());
    run.finish();
}

/// Says how to repeat a run that fails.
struct Replay {
    seed: u64,
}

impl Replay {
    fn new() -> Self {
        let given = std::env::var("TORTURE_SEED").ok().map(|seed| seed.parse().expect("TORTURE_SEED is a number"));
        let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let seed = given.unwrap_or_else(|| if is_full() { fresh() } else { 1 });
        eprintln!("torture: seed {seed}");
        Self { seed }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.seed;
            let form = if is_full() { "full" } else { "short" };
            eprintln!(
                "torture: the same happens in the same order with: make torture TORTURE={form} TORTURE_SEED={seed}"
            );
        }
    }
}

/// Pages that change about as often as they are asked for.
fn web(size: &Size) -> SimulatedWeb {
    let rates = ChangeRates::Same(288.0);
    let seeded = SeededConfig {
        hosts: size.hosts,
        pages_per_host: size.pages_per_host,
        rates,
        days: 1.0,
        ..SeededConfig::default()
    };
    SimulatedWeb::start(seeded, 1.0, |config| config.dials.latency = Duration::from_millis(5))
}

fn settings(size: &Size) -> Vec<(&'static str, String)> {
    let settings = [
        ("kafka.replication_factor", "3"),
        ("budget.burst", "1s"),
        ("politeness.crawl_delay", "20ms"),
        // Pages are fetched when they are asked for, and only then.
        ("policy.min_interval", "100d"),
        ("policy.audit_share", "0"),
        // Whatever is lost stays lost: nothing is made good in passing.
        ("policy.lease_timeout", "12h"),
        ("detector.mirrors", "false"),
    ];
    let settings = settings.map(|(key, value)| (key, value.to_owned()));
    let sized = [
        ("budget.fetches_per_second", size.fetches_per_second.to_string()),
        ("budget.in_flight", IN_FLIGHT.to_string()),
    ];
    // For whoever looks into a failure: info,stream_kafka=debug,librdkafka=debug
    let log_filter = std::env::var("TORTURE_LOG").ok().map(|filter| ("observability.log_filter", filter));
    settings.into_iter().chain(sized).chain(log_filter).collect()
}

struct Run<'a> {
    web: &'a SimulatedWeb,
    cluster: &'a KafkaCluster,
    crawl: &'a Distributed,
    fleet: Fleet<'a>,
    log: Arc<dyn Log>,
    names: LogNames,
    watch: Watch,
    requests: Requests,
    pulse: WebPulse,
    pages: usize,
    rounds: usize,
    /// How often every page has been asked for.
    round: usize,
    queue: VecDeque<Incident>,
    incidents: usize,
    began_at: Instant,
    looked_at: Option<Instant>,
    taken_at: Instant,
}

impl<'a> Run<'a> {
    fn new(size: &Size, seed: u64, web: &'a SimulatedWeb, cluster: &'a KafkaCluster, crawl: &'a Distributed) -> Self {
        let settings = crawl.crawl.settings();
        let (names, queue) = (LogNames::new(&settings), VecDeque::from(plan::draw(size, seed)));
        let log: Arc<dyn Log> = Arc::new(daemon::connect(&settings, "torture").unwrap());
        Self {
            watch: Watch::start(&settings, &plan::STAGES),
            requests: Requests::new(web),
            pulse: WebPulse::new(),
            pages: size.pages(),
            rounds: size.rounds,
            round: 1,
            incidents: queue.len(),
            began_at: Instant::now(),
            looked_at: None,
            taken_at: Instant::now(),
            fleet: Fleet::start(crawl, cluster),
            web,
            cluster,
            crawl,
            log,
            names,
            queue,
        }
    }

    /// Goes on by a bit. True when everything has happened and is over.
    fn turn(&mut self) -> bool {
        self.fleet.turn();
        // The ledger is copied to be counted.
        if self.looked_at.is_some_and(|at| at.elapsed() < Duration::from_millis(500)) {
            return false;
        }
        self.looked_at = Some(Instant::now());
        let counts = self.requests.count(self.web);
        let done: usize = counts.iter().sum();
        self.pulse.feel(&counts, |partition| self.requests.pages[partition] * self.round);
        self.check_liveness(done);
        self.let_happen(done);
        if done < self.pages * self.round || !self.is_answered() {
            return false;
        }
        if self.round < self.rounds || !self.queue.is_empty() {
            // Asked once, and for sure: a second time would be answered, too.
            if !self.fleet.is_cluster_busy() {
                self.ask_again();
                self.round += 1;
            }
            return false;
        }
        self.fleet.is_calm()
    }

    fn let_happen(&mut self, done: usize) {
        let happened = self.incidents - self.queue.len();
        let due = (happened + 1) * self.pages * self.rounds / (self.incidents + 1);
        if done < due || self.queue.is_empty() {
            return;
        }
        // One node at a time: two of three are a majority.
        let is_busy = self.fleet.is_cluster_busy();
        let Some(place) = self.queue.iter().position(|incident| !(is_busy && incident.is_about_a_broker())) else {
            return;
        };
        let incident = self.queue.remove(place).unwrap();
        self.report(done, &format!("{incident:?}"));
        self.fleet.begin(&incident);
    }

    /// Whether the schedulers have taken in an answer for each page and each time that it was asked for.
    fn is_answered(&self) -> bool {
        self.fleet.fetches() == (self.pages * self.round) as u64
    }

    fn ask_again(&mut self) {
        let now = daemon::WebClock::new(&self.crawl.crawl.settings().clock);
        let now = stream::Clock::now(&now);
        let topic = self.names.topic(topics::SCHEDULER_EVENTS);
        let records = self.web.urls().into_iter().map(|url| {
            let url = CanonicalUrl::parse(&url).unwrap();
            let command = Command { url: Some(url), ..Command::new(CommandKind::Refetch, now) };
            OutputRecord::of(&command, topic.as_str(), PARTITIONS, now)
        });
        self.log.append(&records.collect::<Vec<_>>()).unwrap();
    }

    fn check_liveness(&mut self, done: usize) {
        let mut standstills = self.watch.longest();
        standstills.extend(self.pulse.longest());
        let (longest, whose) = worst(&standstills);
        if self.taken_at.elapsed() >= Duration::from_secs(10) {
            self.report(done, &format!("longest standstills: {}", by_stage(&standstills)));
        }
        assert!(longest <= LONGEST_STANDSTILL, "{whose} made no progress for {longest:?}\n{}", self.fleet.said(&whose));
    }

    fn report(&mut self, done: usize, what: &str) {
        self.taken_at = Instant::now();
        let (s, happened) = (self.began_at.elapsed().as_secs(), self.incidents - self.queue.len());
        let of = self.pages * self.rounds;
        eprintln!(
            "torture: {s:>4} s  {done:>6} of {of} fetches  {happened:>2} of {} incidents  {what}",
            self.incidents
        );
    }

    fn finish(mut self) {
        wait_for("no group has anything to read", Duration::from_secs(60), || {
            self.crawl.lags().iter().all(|lag| *lag == 0)
        });
        let mut standstills = self.watch.longest();
        standstills.extend(self.pulse.longest());
        self.report(self.pages * self.rounds, "stopping");
        let cut_off = self.fleet.fetchers_cut_off;
        self.fleet.stop_all();
        drop(self.watch);
        let verdict = Verdict { crawl: self.crawl, web: self.web, round: self.round };
        let found = verdict.reach(cut_off);
        let took_s = self.began_at.elapsed().as_secs();
        let rebalances = self.cluster.rebalances().len();
        eprintln!("torture: sound after {took_s} s; {rebalances} rebalances; {found}");
        eprintln!("torture: longest time without progress: {}", by_stage(&standstills));
    }
}
