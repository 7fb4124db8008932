//! How the stages of this process are doing, for people and machines.

use crate::backlog::Backlogs;
use crate::hints::PingCounts;
use crate::pulse::Pulse;
use page::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stream::StageStatus;

/// The stages' status handles, gathered.
#[derive(Clone)]
pub struct Board {
    stages: Arc<Mutex<Vec<Arc<Mutex<StageStatus>>>>>,
    started: Instant,
    speed: f64,
    backlogs: Arc<Mutex<Vec<ShownBacklog>>>,
    pulse: Arc<Mutex<Pulse>>,
}

/// What one stage has not taken in of one partition.
#[derive(Clone, Debug, PartialEq)]
struct ShownBacklog {
    stage: &'static str,
    partition: u32,
    records: u64,
    oldest_s: f64,
}

/// Figures of the whole process, as `/status` and `recrawl status` give them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    /// Pages known.
    pub pages: u64,
    /// Pages never fetched.
    pub never_fetched: u64,
    /// Pages worth a fetch at the going price.
    pub due: u64,
    /// Requests handed out and unanswered.
    pub in_flight: u64,
    /// Answers received.
    pub fetches_total: u64,
    /// Changes seen.
    pub changes_total: u64,
    /// Answers per second since this process started, on the clock of the web.
    pub fetch_rate_per_s: f64,
    /// Expected share of pages whose copy is current; absent while nothing is known.
    pub estimated_freshness: Option<f64>,
    /// Expected time since a copy stopped being current, mean over all copies, nothing for current ones; absent while
    /// there is no copy.
    #[serde(default)]
    pub estimated_age_days: Option<f64>,
    /// Share of current copies by looks at pages drawn at random; absent before the first of them.
    #[serde(default)]
    pub audited_freshness: Option<AuditedFreshness>,
    /// The stages.
    pub stages: Vec<StageLag>,
}

/// Freshness as random looks have found it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditedFreshness {
    /// Share of the looks that found the copy current.
    pub mean: f64,
    /// Lower end of the 95 % interval (Wilson 1927).
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Looks at pages drawn at random.
    pub looks: u64,
}

impl AuditedFreshness {
    /// From so many looks, of which so many found the copy current; `None` without any.
    pub fn of(looks: u64, fresh: u64) -> Option<Self> {
        /// The 97.5 % point of the normal distribution.
        const Z: f64 = 1.959_963_984_540_054;
        if looks == 0 {
            return None;
        }
        let n = looks as f64;
        let mean = fresh as f64 / n;
        let centre = (mean + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some(Self { mean, low: (centre - half).max(0.0), high: (centre + half).min(1.0), looks })
    }
}

/// One stage.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StageLag {
    /// Its name.
    pub name: String,
    /// Records not yet taken in.
    pub lag_records: u64,
    /// How long the first of them has waited, in seconds on the clock of the web.
    pub lag_s: f64,
    /// Whether it is at work.
    pub ready: bool,
    /// Partitions assigned.
    pub partitions: usize,
    /// Records processed since start.
    pub processed_total: u64,
    /// Records set aside since start.
    pub set_aside_total: u64,
    /// Its last failure, while it lasts.
    pub last_error: Option<String>,
    /// What is waited for, while something cannot be read for want of its schema.
    #[serde(default)]
    pub waits_for: Option<String>,
    /// Further figures by name.
    pub figures: BTreeMap<String, f64>,
}

impl Board {
    /// A board of these stages. `speed`: seconds of the web per real second.
    pub fn new(stages: Vec<Arc<Mutex<StageStatus>>>, speed: f64) -> Self {
        Self {
            stages: Arc::new(Mutex::new(stages)),
            started: Instant::now(),
            speed,
            backlogs: Arc::default(),
            pulse: Arc::default(),
        }
    }

    /// Shows these stages from now on, in place of those before.
    pub fn replace(&self, stages: Vec<Arc<Mutex<StageStatus>>>) {
        *self.stages.lock().unwrap_or_else(PoisonError::into_inner) = stages;
    }

    /// Shows what the log says of the stages' backlog at this moment of the web.
    pub fn show_backlogs(&self, backlogs: Backlogs, now: Timestamp) {
        let shown = backlogs.into_iter().flat_map(|(stage, partitions)| {
            partitions.into_iter().map(move |of| {
                let oldest_s = of.oldest.map_or(0.0, |oldest| now.saturating_since(oldest).as_secs_f64());
                ShownBacklog { stage, partition: of.partition, records: of.records, oldest_s }
            })
        });
        *self.backlogs.lock().unwrap_or_else(PoisonError::into_inner) = shown.collect();
    }

    fn backlogs(&self) -> Vec<ShownBacklog> {
        self.backlogs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says which stage has not turned its loop for longer than `limit`, counted from when this was first asked.
    pub fn hung_stage(&self, limit: Duration) -> Option<String> {
        let stages = self.stages();
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner).feel(&stages, Instant::now(), limit)
    }

    /// A copy of each stage's status.
    pub fn stages(&self) -> Vec<StageStatus> {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages.iter().map(|stage| stage.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect()
    }

    /// Whether all stages have joined and restored their state.
    pub fn is_ready(&self) -> bool {
        self.stages().iter().all(|stage| stage.ready)
    }

    /// The figures of the process.
    pub fn status(&self) -> Status {
        let stages = self.stages();
        let figure = |stage: &str, name: &str| {
            let stage = stages.iter().find(|status| status.name == stage);
            stage.and_then(|status| status.figures.get(name)).copied().unwrap_or(0.0)
        };
        let scheduler = |name: &str| figure("scheduler", name);
        let pages = scheduler("pages");
        let copies = scheduler("copies");
        let elapsed_s = self.started.elapsed().as_secs_f64() * self.speed;
        let backlogs = self.backlogs();
        Status {
            pages: pages as u64,
            never_fetched: scheduler("never_fetched") as u64,
            due: scheduler("due") as u64,
            in_flight: scheduler("in_flight") as u64,
            fetches_total: scheduler("fetches") as u64,
            changes_total: scheduler("changes") as u64,
            fetch_rate_per_s: scheduler("answers_total") / elapsed_s.max(1e-3),
            estimated_freshness: (pages > 0.0).then(|| scheduler("fresh_pages") / pages),
            estimated_age_days: (copies > 0.0).then(|| scheduler("age_days_sum") / copies),
            audited_freshness: AuditedFreshness::of(scheduler("audit_looks") as u64, scheduler("audit_fresh") as u64),
            stages: stages.into_iter().map(|stage| StageLag::of(stage, &backlogs)).collect(),
        }
    }

    /// The figures in OpenMetrics text, with those of pings if they are taken here.
    pub fn metrics(&self, pings: Option<PingCounts>) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self.clone()));
        if let Some(pings) = pings {
            registry.register_collector(Box::new(pings));
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }
}

impl StageLag {
    fn of(status: StageStatus, backlogs: &[ShownBacklog]) -> Self {
        let own = || backlogs.iter().filter(|backlog| backlog.stage == status.name);
        Self {
            lag_records: own().map(|backlog| backlog.records).sum(),
            lag_s: own().map(|backlog| backlog.oldest_s).fold(0.0, f64::max),
            name: status.name,
            ready: status.ready,
            partitions: status.partitions.len(),
            processed_total: status.processed_total,
            set_aside_total: status.set_aside_total,
            last_error: status.last_error,
            waits_for: status.waits_for,
            figures: status.figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("stages", &self.stages().len()).finish()
    }
}

/// Metrics are `recrawl_<service>_<what>_<unit>`; counters end in `_total`.
impl Collector for Board {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for stage in self.stages() {
            let mut gauge = |what: &str, help: &str, value: f64| {
                let name = format!("recrawl_{}_{what}", stage.name);
                let metric = encoder.encode_descriptor(&name, help, None, MetricType::Gauge)?;
                ConstGauge::new(value).encode(metric)
            };
            gauge("ready", "1 when the stage has joined and restored its state", f64::from(u8::from(stage.ready)))?;
            gauge("partitions", "partitions assigned to this process", stage.partitions.len() as f64)?;
            gauge("partitions_restoring", "partitions assigned and not restored yet", stage.restoring.len() as f64)?;
            gauge(
                "awaits_schema",
                "1 while a record waits for its schema",
                f64::from(u8::from(stage.waits_for.is_some())),
            )?;
            gauge("failing", "1 while the log fails", f64::from(u8::from(stage.last_error.is_some())))?;
            for (name, value) in stage.figures.iter().filter(|(name, _)| !name.ends_with("_total")) {
                gauge(name, "see the service's documentation", *value)?;
            }
            let own = [
                ("processed", stage.processed_total as f64),
                ("set_aside", stage.set_aside_total as f64),
                ("commits", stage.commits_total as f64),
                ("log_failures", stage.failures_total as f64),
                ("rejoins", stage.rejoins_total as f64),
                ("restored_records", stage.restored_records_total as f64),
                ("turns", stage.turns_total as f64),
                ("stores_refilled", stage.stores_refilled_total as f64),
                ("state_set_aside", stage.state_set_aside_total as f64),
                ("input_lost", stage.input_lost_total as f64),
                ("answers_left_out", stage.answers_left_out_total as f64),
                ("held", stage.held_total as f64),
            ];
            let figures = stage.figures.iter().filter_map(|(name, value)| Some((name.strip_suffix("_total")?, *value)));
            for (what, value) in own.into_iter().chain(figures) {
                let name = format!("recrawl_{}_{what}", stage.name);
                let metric = encoder.encode_descriptor(&name, "since start", None, MetricType::Counter)?;
                ConstCounter::new(value).encode(metric)?;
            }
        }
        let (name, help) =
            ("recrawl_records_of_other_versions", "records read that another version wrote, since start");
        let mut of_others = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (record, count) in messages::schemas::read_of_other_versions() {
            ConstCounter::new(count).encode(of_others.encode_family(&[("record", record)])?)?;
        }
        let backlogs = self.backlogs();
        let mut of_partitions = |name: &str, help: &str, value: fn(&ShownBacklog) -> f64| -> fmt::Result {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            backlogs.iter().try_for_each(|backlog| {
                let labels = [("stage", backlog.stage.to_owned()), ("partition", backlog.partition.to_string())];
                ConstGauge::new(value(backlog)).encode(metric.encode_family(&labels)?)
            })
        };
        of_partitions(
            "recrawl_backlog_records",
            "records that the stage's group has not taken in, asked of the log: also when no process owns the partition",
            |backlog| backlog.records as f64,
        )?;
        of_partitions("recrawl_backlog_seconds", "how long the first of them has waited", |backlog| backlog.oldest_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::Backlog;

    fn board() -> Board {
        let figures = BTreeMap::from([("pages", 4.0), ("fresh_pages", 3.0), ("answers_total", 7.0)]);
        let status = StageStatus { name: "scheduler".to_owned(), ready: true, figures, ..StageStatus::default() };
        let board = Board::new(vec![Arc::new(Mutex::new(status))], 1.0);
        let of =
            |partition, records, second| Backlog { partition, records, oldest: Some(Timestamp::from_secs(second)) };
        board.show_backlogs([("scheduler", vec![of(0, 1, 90), of(1, 1, 70)])].into(), Timestamp::from_secs(100));
        board
    }

    #[test]
    fn metrics_carry_lag_and_figures_under_the_stages_name() {
        let text = board().metrics(Some(PingCounts { taken: 5, ..PingCounts::default() }));
        for line in [
            "recrawl_backlog_records{stage=\"scheduler\",partition=\"1\"} 1.0",
            "recrawl_backlog_seconds{stage=\"scheduler\",partition=\"1\"} 30.0",
            "recrawl_scheduler_answers_total 7.0",
            "recrawl_scheduler_pages 4.0",
            "recrawl_pings_taken_total 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }

    /// Wilson's interval for 8 of 10 and for 0 of 10, as in Brown, Cai & DasGupta (2001), section 3.
    #[test]
    fn audited_freshness_has_wilsons_interval() {
        assert_eq!(AuditedFreshness::of(0, 0), None);
        let check = |looks, fresh, low: f64, high: f64| {
            let audited = AuditedFreshness::of(looks, fresh).unwrap();
            assert!((audited.low - low).abs() < 1e-4 && (audited.high - high).abs() < 1e-4, "{audited:?}");
        };
        check(10, 8, 0.4902, 0.9433);
        check(10, 0, 0.0, 0.2775);
        check(100, 100, 0.9630, 1.0);
    }

    #[test]
    fn status_tells_expected_freshness_as_a_share() {
        assert_eq!(board().status().estimated_freshness, Some(0.75));
        assert_eq!(Board::new(Vec::new(), 1.0).status().estimated_freshness, None);
    }
}
