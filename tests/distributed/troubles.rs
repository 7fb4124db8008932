//! A stage that stands still, a pod that dies, a rebalance and a restore: each shows in the backlog of its stage and of no
//! other, and the alert for it fires on what was scraped meanwhile.
//!
//! The crawl's clock runs fast, so that the alerts' minutes are seconds. `UPDATE=1` writes what was scraped to
//! `k8s/components/monitoring/recorded_test.yaml`, which `make k8s-check` gives to promtool.

use crate::services::{Distributed, PARTITIONS, SOON, Service, kafka};
use daemon::WebClock;
use page::Timestamp;
use simweb::SeededConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stream::{Clock, Log, OutputRecord, TopicPartition};
use tests::monitoring::{ScrapedSeries, prometheus_is_installed, scraped};
use tests::recording::{Recording, Scrape};
use tests::{SimulatedWeb, wait_for};
use topology::LogNames;

/// Seconds of the crawl in a real one. On a clock as slow as this, a machine that is busy with other tests is calm, too.
const SPEED: f64 = 30.0;
/// Real time between two scrapes. It is two minutes of the crawl.
const SCRAPE_INTERVAL: Duration = Duration::from_secs(4);
/// From this age on a backlog is old: the threshold of the alert RecrawlBacklogOld. It is 30 s of real time.
const OLD_S: f64 = 900.0;
/// A loop without trouble is well below.
const CALM_S: f64 = 300.0;
/// Records behind an old one, at 2.5 a second and partition. Without trouble there are fewer.
const MANY: f64 = 40.0;
/// Records per partition in the changelog of a stage that has lived long.
const LONG_LIFE: usize = 100_000;
/// Steps for which the last values are held, so that alerts which wait for an hour are decided.
const HELD: usize = 40;

const SETTINGS: [(&str, &str); 10] = [
    // Ten fetches in a real second.
    ("budget.fetches_per_second", "0.3333"),
    ("budget.burst", "60s"),
    ("budget.in_flight", "2000"),
    ("policy.name", "uniform"),
    ("policy.scan_interval", "12s"),
    // Nothing is asked for again while a stage stands still.
    ("policy.lease_timeout", "10h"),
    // Real time, so long that no member loses its partitions in a trouble.
    ("kafka.session_timeout", "160s"),
    ("kafka.transaction_timeout", "160s"),
    ("kafka.static_membership", "true"),
    ("fetch.record_heads", "false"),
];

/// The metrics that alerts on single stages use.
const RECORDED: [&str; 7] = [
    "recrawl_backlog_records",
    "recrawl_backlog_seconds",
    "recrawl_stage_partitions",
    "recrawl_stage_partitions_restoring",
    "recrawl_stage_ready",
    "recrawl_stage_failing",
    "recrawl_stage_rejoins_total",
];

/// The alerts on what the backlog of a stage shows.
const WATCHED: [&str; 3] = ["RecrawlBacklogOld", "RecrawlPartitionsUnowned", "RecrawlRestoreSlow"];
/// Steps without a backlog that are recorded before a trouble.
const CALM_STEPS: usize = 3;
/// It has all partitions of the detector at first.
const FIRST_DETECTOR: &str = "recrawl-detector-0";
/// It is added while the crawl runs.
const SECOND_DETECTOR: &str = "recrawl-detector-1";
/// The pod whose figures of the backlog count. No trouble touches it.
const OBSERVER: &str = "recrawl-ranker-0";

/// The expected effects of a trouble.
#[derive(Clone, Copy)]
struct Plan {
    claim: &'static str,
    stage: &'static str,
    /// Those of [`WATCHED`] that must fire for the stage. No others may, nor for another stage.
    alerts: &'static [&'static str],
}

/// A trouble that has shown.
struct Trouble {
    plan: Plan,
    /// Partitions with a backlog.
    partitions: BTreeSet<u32>,
    recording: Recording,
    /// The last step before it.
    caused_at: usize,
}

/// How a pod is kept from its work.
enum Hold {
    /// It is stopped, and answers no request.
    Still,
    /// It runs only while it is scraped, some milliseconds in four seconds.
    Throttled,
}

/// The pods of a crawl.
struct Pods {
    running: BTreeMap<String, Service>,
    held: BTreeMap<String, Hold>,
    /// Whether the second detector is to be throttled as soon as it restores.
    to_be_throttled: bool,
    /// Dropped behind the pods, which write into its directory.
    distributed: Distributed,
}

impl Pods {
    fn start(&mut self, stage: &'static str, number: usize) {
        let service = self.distributed.start(stage, &number.to_string());
        self.running.insert(format!("recrawl-{stage}-{number}"), service);
    }

    fn kill(&mut self, pod: &str) {
        self.running.remove(pod).unwrap().kill();
    }

    fn hold(&mut self, pod: &str, hold: Hold) {
        self.running[pod].signal(libc::SIGSTOP);
        self.held.insert(pod.to_owned(), hold);
    }

    fn release(&mut self, pod: &str) {
        self.running[pod].signal(libc::SIGCONT);
        self.held.remove(pod);
    }

    /// Starts a second detector, whose restore is to take as long as one of a large state.
    fn start_second_detector(&mut self) {
        self.start("detector", 1);
        self.to_be_throttled = true;
    }

    /// Throttles the second detector once it restores.
    fn throttle_restore(&mut self) {
        if self.to_be_throttled && self.of_detector(SECOND_DETECTOR, "partitions_restoring") == Some(2.0) {
            self.hold(SECOND_DETECTOR, Hold::Throttled);
            self.to_be_throttled = false;
        }
    }

    /// Ends a restore that is seen to be under way.
    fn release_restore(&mut self) {
        let remaining = self.of_detector(SECOND_DETECTOR, "restore_remaining_records").unwrap();
        println!("troubles: {remaining} records of the changelog are still to be read");
        assert!(remaining > 0.0, "what showed was no restore");
        self.release(SECOND_DETECTOR);
    }

    /// A figure of a detector.
    fn of_detector(&self, pod: &str, figure: &str) -> Option<f64> {
        let text = self.metrics(pod, &self.running[pod])?;
        let name = format!("recrawl_stage_{figure}{{stage=\"detector\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&*name)?.parse().ok())
    }

    /// The series that Prometheus would scrape, and the backlog that the observer reports.
    fn scrape(&self) -> (Scrape, Backlog) {
        let (mut scrape, mut backlog) = (Scrape::default(), Backlog::default());
        for (pod, service) in &self.running {
            let Some(text) = self.metrics(pod, service) else { continue };
            let is_recorded = |line: &&str| RECORDED.iter().any(|name| line.starts_with(&format!("{name}{{")));
            let lines: Vec<_> = text.lines().filter(is_recorded).collect();
            let mut shown = scraped(&lines.join("\n"));
            if pod == OBSERVER {
                backlog = Backlog::reported(&shown);
            } else {
                // Every pod reports the same backlog, so the observer's is enough.
                shown.retain(|series| !series.name.starts_with("recrawl_backlog_"));
            }
            scrape.add(pod, &shown);
        }
        (scrape, backlog)
    }

    /// A pod's answer to a scrape. One that is held answers late or not at all, and is not waited for.
    fn metrics(&self, pod: &str, service: &Service) -> Option<String> {
        match self.held.get(pod) {
            None => Some(service.get("/metrics")?.1),
            Some(Hold::Still) => None,
            Some(Hold::Throttled) => {
                service.signal(libc::SIGCONT);
                let answer = service.get("/metrics");
                service.signal(libc::SIGSTOP);
                Some(answer?.1)
            }
        }
    }

    /// Causes a trouble of a stage in a calm loop. Records what is scraped, from a little before until as many partitions of
    /// the stage as are `touched` show an old backlog, and no other partition does.
    fn observe(&mut self, plan: Plan, touched: usize, cause: impl FnOnce(&mut Self)) -> Trouble {
        let Plan { claim, stage, .. } = plan;
        let mut recording = Recording::every(SCRAPE_INTERVAL);
        wait_for(&format!("the loop is calm, before {claim}"), SOON, || {
            let Some(step) = recording.due() else { return false };
            let (scrape, backlog) = self.scrape();
            recording.add(step, scrape);
            if !backlog.is_calm() {
                recording = Recording::every(SCRAPE_INTERVAL);
            }
            step >= CALM_STEPS
        });
        let (caused, caused_at) = (Instant::now(), recording.last_step());
        cause(self);
        let (mut partitions, mut others) = (BTreeSet::new(), 0.0_f64);
        wait_for(&format!("{claim}: it shows at the {stage}"), SOON, || {
            self.throttle_restore();
            let Some(step) = recording.due() else { return false };
            let (scrape, backlog) = self.scrape();
            recording.add(step, scrape);
            let (own, foreign) = backlog.by_stage(stage);
            let old = own.iter().filter(|(_, waiting)| waiting.seconds > OLD_S);
            partitions = old.map(|(partition, _)| *partition).collect();
            // On a machine with other work, other stages are behind at times. The trouble stays until they are not.
            others = foreign.iter().map(|waiting| waiting.seconds).fold(0.0, f64::max);
            partitions.len() == touched
                && others <= OLD_S
                && own.iter().all(|(partition, waiting)| partitions.contains(partition) == (waiting.records >= MANY))
                && foreign.iter().all(|waiting| waiting.records < MANY)
        });
        println!(
            "troubles: {claim}: shows after {:?}; no other stage is then behind by more than {others:.0} s",
            caused.elapsed()
        );
        Trouble { plan, partitions, recording, caused_at }
    }
}

/// The backlog of partitions, by stage and number.
#[derive(Debug, Default)]
struct Backlog(BTreeMap<(String, u32), Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    records: f64,
    seconds: f64,
}

impl Backlog {
    fn reported(shown: &[ScrapedSeries]) -> Self {
        let mut backlog = Self::default();
        for series in shown.iter().filter(|series| series.name.starts_with("recrawl_backlog_")) {
            let place = (series.labels["stage"].clone(), series.labels["partition"].parse().unwrap());
            let waiting = backlog.0.entry(place).or_default();
            match series.name.as_str() {
                "recrawl_backlog_records" => waiting.records = series.value,
                _ => waiting.seconds = series.value,
            }
        }
        backlog
    }

    /// The partitions of a stage, and those of all others.
    fn by_stage(&self, stage: &str) -> (Vec<(u32, &Waiting)>, Vec<&Waiting>) {
        let of = |own: bool| self.0.iter().filter(move |((of, _), _)| (of == stage) == own);
        let own = of(true).map(|((_, partition), waiting)| (*partition, waiting));
        (own.collect(), of(false).map(|(_, waiting)| waiting).collect())
    }

    fn is_calm(&self) -> bool {
        self.0.len() == recrawl::stages::STAGES.len() * PARTITIONS as usize
            && self.0.values().all(|waiting| waiting.seconds < CALM_S && waiting.records < MANY)
    }
}

/// Makes the detector's changelog as long as a long life does: pages that were forgotten, before Kafka compacts them
/// away. A restore reads them all.
fn lengthen_changelog(distributed: &Distributed) {
    let settings = distributed.crawl.settings();
    let (names, log) = (LogNames::new(&settings), daemon::connect(&settings, "test").unwrap());
    let changelog = detector::topology().changelogs().next().unwrap();
    let now = WebClock::new(&settings.clock).now();
    for partition in 0..PARTITIONS {
        let to = TopicPartition::new(names.topic(changelog), partition);
        let forgotten: Vec<_> = (0..LONG_LIFE as u128)
            .map(|page| OutputRecord {
                to: to.clone(),
                timestamp: now,
                key: page.to_be_bytes().to_vec(),
                value: None,
                trace: None,
            })
            .collect();
        log.append(&forgotten).unwrap();
    }
}

#[test]
fn each_trouble_shows_in_the_backlog_of_its_stage_alone_and_its_alert_fires_on_what_was_scraped() {
    let Some(brokers) = kafka() else { return };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let start = Timestamp::from_secs(now as i64);
    let web = SimulatedWeb::start(
        SeededConfig { hosts: 32, pages_per_host: 20, start, ..SeededConfig::default() },
        SPEED,
        |_| (),
    );
    let clock = web.clock_settings();
    let sets = SETTINGS.into_iter().chain(clock.iter().map(|(key, value)| (*key, value.as_str())));
    let distributed = Distributed::of(&web, &brokers, &sets.collect::<Vec<_>>());
    lengthen_changelog(&distributed);
    let mut pods = Pods { running: BTreeMap::new(), held: BTreeMap::new(), to_be_throttled: false, distributed };
    recrawl::stages::STAGES.iter().for_each(|stage| pods.start(stage.name(), 0));
    pods.start("fetcher", 1);
    let share = |pods: &Pods, one: &str, other: &str| [one, other].map(|pod| pods.running[pod].partitions()) == [2, 2];
    let is_ready = |service: &Service| service.get("/readyz").is_some_and(|(status, _)| status == 200);
    wait_for("every pod is ready", SOON, || pods.running.values().all(is_ready));
    wait_for("the fetchers share", SOON, || share(&pods, "recrawl-fetcher-0", "recrawl-fetcher-1"));

    let plan =
        Plan { claim: "a stage stands still within its session", stage: "estimator", alerts: &["RecrawlBacklogOld"] };
    let slow = pods.observe(plan, PARTITIONS as usize, |pods| pods.hold("recrawl-estimator-0", Hold::Still));
    pods.release("recrawl-estimator-0");

    let plan = Plan {
        claim: "one of two pods is dead and stays away",
        stage: "fetcher",
        alerts: &["RecrawlBacklogOld", "RecrawlPartitionsUnowned"],
    };
    let dead = pods.observe(plan, 2, |pods| pods.kill("recrawl-fetcher-1"));
    pods.start("fetcher", 1);

    let plan = Plan {
        claim: "a pod is added, and refills the state that moves to it",
        stage: "detector",
        alerts: &["RecrawlBacklogOld", "RecrawlRestoreSlow"],
    };
    let rebalances = |pods: &Pods| pods.of_detector(FIRST_DETECTOR, "rebalances_total").unwrap();
    let before = rebalances(&pods);
    let moved = pods.observe(plan, 2, Pods::start_second_detector);
    assert!(rebalances(&pods) > before, "what showed was no rebalance");
    pods.release_restore();
    wait_for("the detectors share", SOON, || share(&pods, FIRST_DETECTOR, SECOND_DETECTOR));

    let plan = Plan {
        claim: "a pod has lost its disk and restores its state",
        stage: "detector",
        alerts: &["RecrawlBacklogOld", "RecrawlRestoreSlow"],
    };
    let lost = pods.observe(plan, 2, |pods| {
        pods.kill(SECOND_DETECTOR);
        std::fs::remove_dir_all(pods.distributed.data("detector", "1")).unwrap();
        pods.start_second_detector();
    });
    pods.release_restore();
    assert_eq!(lost.partitions, moved.partitions, "they are those of the pod that was added");
    wait_for("all is restored", SOON, || share(&pods, FIRST_DETECTOR, SECOND_DETECTOR));
    let ending: Vec<_> = pods.running.into_values().collect();
    ending.iter().for_each(|service| service.signal(libc::SIGTERM));
    ending.into_iter().for_each(|service| drop(service.drained()));
    check_alerts(&[slow, dead, moved, lost]);
}

/// Lets promtool decide which alerts fire on what was scraped.
fn check_alerts(troubles: &[Trouble]) {
    let monitoring = tests::workspace().join("k8s/components/monitoring");
    let text = unit_test(troubles);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(monitoring.join("recorded_test.yaml"), &text).unwrap();
    }
    if !prometheus_is_installed() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    // The same rules as in `k8s/components/monitoring`, as Prometheus reads them.
    std::fs::copy(monitoring.join("../../../compose/rules.yaml"), directory.path().join("rules.yaml")).unwrap();
    let file = directory.path().join("recorded_test.yaml");
    std::fs::write(&file, &text).unwrap();
    let output = Command::new("promtool").args(["test", "rules"]).arg(&file).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&said));
}

/// The scraped series, as a unit test of the rules.
fn unit_test(troubles: &[Trouble]) -> String {
    let date = httpdate::fmt_http_date(SystemTime::now());
    let (scrape_interval_s, step_minutes) = (SCRAPE_INTERVAL.as_secs(), SCRAPE_INTERVAL.as_secs() * SPEED as u64 / 60);
    let mut text = format!(
        "# Scraped from the processes of a crawl over Kafka by tests/distributed/troubles.rs on {date}.\n\
         # The clock of the crawl ran {SPEED} times as fast as real time, so a scrape every {scrape_interval_s} seconds is one every {step_minutes} minutes on it.\n\
         # The last {HELD} steps of each series repeat the last value scraped: an alert waits for up to an hour.\n\
         # SIGSTOP keeps the estimator from its work, and lets the pod that restores run only while it is scraped.\n\
         # `UPDATE=1 cargo test -p recrawl --test distributed troubles` scrapes anew.\n\
         rule_files: [rules.yaml]\nevaluation_interval: 1m\ntests:\n"
    );
    for Trouble { plan: Plan { claim, stage, alerts }, recording, caused_at, .. } in troubles {
        let fire: Vec<_> = alerts.iter().map(|alert| (*alert, *stage)).collect();
        text.push_str(&recording.rule_test(claim, step_minutes as usize, *caused_at, HELD, &WATCHED, &fire));
    }
    text
}
