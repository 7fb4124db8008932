//! `/metrics`: the figures of a process in OpenMetrics text.

mod process;

use crate::backlog::shown::ShownBacklog;
use crate::board::{Board, shown_figures};
use crate::disk::DiskSpace;
use crate::hints::PingCounts;
use messages::{AnswerKind, word};
use metrics::{Figure, Metric, MetricKind, backlog, fetcher, scheduler, stage};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt;
use stream::{Histogram, StageStatus};
use stream_rocksdb::EmbeddedBackend;

/// The series that `/metrics` shows.
#[derive(Debug, Default)]
pub(crate) struct Samples(BTreeMap<&'static Metric, Vec<Sample>>);

/// One series, or one histogram.
#[derive(Debug)]
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: SampleValue,
}

#[derive(Debug)]
enum SampleValue {
    Number(f64),
    Histogram(Histogram),
}

impl Samples {
    /// Adds a series of a counter or a gauge. `labels` are the values of its labels, in order; those beyond its labels are
    /// left out.
    pub(crate) fn add(&mut self, metric: &'static Metric, labels: &[&str], value: f64) {
        self.push(metric, labels, SampleValue::Number(value));
    }

    fn push(&mut self, metric: &'static Metric, labels: &[&str], value: SampleValue) {
        let labels = metric.labels.iter().copied().zip(labels.iter().map(|value| (*value).to_owned())).collect();
        self.0.entry(metric).or_default().push(Sample { labels, value });
    }

    fn text(self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }
}

impl Collector for Samples {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (metric, samples) in &self.0 {
            let kind = match metric.kind {
                MetricKind::Counter => MetricType::Counter,
                MetricKind::Gauge => MetricType::Gauge,
                MetricKind::Histogram => MetricType::Histogram,
            };
            let is_counter = metric.kind == MetricKind::Counter;
            let base = metric.name.strip_suffix("_total").unwrap_or(metric.name);
            let mut encoder = encoder.encode_descriptor(base, metric.help, None, kind)?;
            for Sample { labels, value } in samples {
                // Text shows an empty set of labels as `{}`.
                if labels.is_empty() {
                    value.encode(&mut encoder, is_counter)?;
                } else {
                    value.encode(&mut encoder.encode_family(labels)?, is_counter)?;
                }
            }
        }
        Ok(())
    }
}

impl SampleValue {
    fn encode(&self, encoder: &mut MetricEncoder<'_>, is_counter: bool) -> fmt::Result {
        match self {
            // Counts are whole; a sum of seconds is not.
            Self::Number(value) if is_counter && value.fract() == 0.0 => {
                encoder.encode_counter::<NoLabelSet, _, u64>(&(*value as u64), None)
            }
            Self::Number(value) if is_counter => encoder.encode_counter::<NoLabelSet, _, u64>(value, None),
            Self::Number(value) => encoder.encode_gauge(value),
            Self::Histogram(histogram) => {
                let buckets: Vec<_> = histogram.buckets().collect();
                encoder.encode_histogram::<NoLabelSet>(histogram.sum(), histogram.count(), &buckets, None)
            }
        }
    }
}

/// Figures about damage found when an embedded log was opened.
pub fn log_figures(log: &EmbeddedBackend) -> Vec<Figure> {
    let opened = log.opened();
    vec![
        (metrics::process::LOG_MISSING_WRITES, log.missing_writes() as f64),
        (metrics::process::LOG_INCARNATION, f64::from(opened.incarnation)),
        (metrics::process::LOG_OFFSETS_JUMPED, flag(opened.jump.is_some())),
        (metrics::process::LOG_POWER_CUT, flag(opened.jump.is_some_and(|jump| jump.power_cut))),
    ]
}

/// All figures in OpenMetrics text, including pings if this process accepts them. The version is that of the
/// program, or empty.
pub(crate) fn text(board: &Board, pings: Option<PingCounts>, shows_version: bool) -> String {
    let mut samples = Samples::default();
    process::collect(&mut samples, shows_version);
    for (record, count) in messages::schemas::read_of_other_versions() {
        samples.add(metrics::process::RECORDS_OF_OTHER_VERSIONS, &[record], count as f64);
    }
    if let Some(pings) = pings {
        pings.collect(&mut samples);
    }
    board.figures().into_iter().for_each(|(metric, value)| samples.add(metric, &[], value));
    if let Some(disk) = board.disk() {
        collect_disk(&disk, &mut samples);
    }
    if let Some(clock) = board.clock() {
        samples.add(metrics::process::CLOCK_AHEAD_SECONDS, &[], clock.ahead_s);
    }
    samples.add(metrics::process::TOPIC_PROBLEMS, &[], board.topic_problems().len() as f64);
    samples.add(metrics::process::TRACE_SPANS_SENT, &[], board.spans().sent() as f64);
    samples.add(metrics::process::TRACE_SPANS_DROPPED, &[], board.spans().dropped() as f64);
    for ShownBacklog { stage, partition, records, oldest_s } in board.backlogs() {
        let labels = [stage, &partition.to_string()];
        samples.add(backlog::RECORDS, &labels, records as f64);
        samples.add(backlog::SECONDS, &labels, oldest_s);
    }
    for stage in board.stages() {
        collect_common(&stage, &mut samples);
        collect_own(&stage, &mut samples);
    }
    collect_freshness(board, &mut samples);
    samples.text()
}

/// Collects how full the disk is.
fn collect_disk(disk: &DiskSpace, samples: &mut Samples) {
    use metrics::process;
    samples.add(process::DISK_FREE_BYTES, &[], disk.free_bytes as f64);
    samples.add(process::DISK_SIZE_BYTES, &[], disk.size_bytes as f64);
    samples.add(process::DISK_MIN_FREE_BYTES, &[], disk.min_free_bytes as f64);
    samples.add(process::DISK_SHORT, &[], flag(disk.is_short));
    if let Some((free, least)) = disk.free_inodes.zip(disk.min_free_inodes) {
        samples.add(process::DISK_FREE_INODES, &[], free as f64);
        samples.add(process::DISK_MIN_FREE_INODES, &[], least as f64);
    }
}

/// Collects the metrics that every stage has, with the stage as a label.
fn collect_common(status: &StageStatus, samples: &mut Samples) {
    let labels = [status.name.as_str()];
    for (metric, value) in [
        (stage::READY, flag(status.ready)),
        (stage::PARTITIONS, status.partitions.len() as f64),
        (stage::PARTITIONS_RESTORING, status.restoring.len() as f64),
        (stage::INPUT_AHEAD_SECONDS, status.input_ahead.as_secs_f64()),
        (stage::RESTORE_REMAINING_RECORDS, status.restore_remaining_records as f64),
        (stage::STATE_BYTES, status.state_bytes as f64),
        (stage::AWAITS_SCHEMA, flag(status.waits_for.is_some())),
        (stage::FAILING, flag(status.last_error.is_some())),
        (stage::PROCESSED, status.processed_total as f64),
        (stage::SET_ASIDE, status.set_aside_total as f64),
        (stage::COMMITS, status.commits_total as f64),
        (stage::LOG_FAILURES, status.failures_total as f64),
        (stage::REBALANCES, status.rebalances_total as f64),
        (stage::REJOINS, status.rejoins_total as f64),
        (stage::RESTORED_RECORDS, status.restored_records_total as f64),
        (stage::TURNS, status.turns_total as f64),
        (stage::STORES_REFILLED, status.stores_refilled_total as f64),
        (stage::STATE_SET_ASIDE, status.state_set_aside_total as f64),
        (stage::INPUT_LOST, status.input_lost_total as f64),
        (stage::ANSWERS_LEFT_OUT, status.answers_left_out_total as f64),
        (stage::WAITED_FOR_SCHEMA, status.held_total as f64),
    ] {
        samples.add(metric, &labels, value);
    }
    for (invariant, count) in &status.violations {
        samples.add(metrics::process::INVARIANT_VIOLATIONS, &[&status.name, invariant], *count as f64);
    }
}

/// Collects the figures and histograms that a stage has returned. Those of every stage have its name as a label.
fn collect_own(status: &StageStatus, samples: &mut Samples) {
    for (&metric, histogram) in &status.histograms {
        samples.push(metric, &[&status.name], SampleValue::Histogram(histogram.clone()));
    }
    for (metric, value) in shown_figures(status) {
        samples.add(metric, &[&status.name], value);
    }
    if !status.answers.is_empty() {
        // Each kind from the start, so that an alert finds the series before the first failure.
        for report in AnswerKind::all().map(AnswerKind::report) {
            let count = status.answers.get(report.name).copied().unwrap_or(0);
            samples.add(fetcher::OUTCOMES, &[&word(&report.class), report.name], count as f64);
        }
    }
}

/// Freshness as the status reports it. Ratios have no value before there is something to divide by.
fn collect_freshness(board: &Board, samples: &mut Samples) {
    use scheduler::{AUDITED_FRESHNESS, AUDITED_FRESHNESS_HIGH, AUDITED_FRESHNESS_LOW};
    use scheduler::{CALIBRATED_FRESHNESS, CALIBRATED_FRESHNESS_HIGH, CALIBRATED_FRESHNESS_LOW, ESTIMATED_FRESHNESS};
    let status = board.status();
    let audited = status.audited_freshness.map(|audited| [audited.mean, audited.low, audited.high]);
    let calibrated = status.calibrated_freshness.map(|calibrated| [calibrated.mean, calibrated.low, calibrated.high]);
    if let Some(estimated) = status.estimated_freshness {
        samples.add(ESTIMATED_FRESHNESS, &[], estimated);
    }
    for (metrics, values) in [
        ([AUDITED_FRESHNESS, AUDITED_FRESHNESS_LOW, AUDITED_FRESHNESS_HIGH], audited),
        ([CALIBRATED_FRESHNESS, CALIBRATED_FRESHNESS_LOW, CALIBRATED_FRESHNESS_HIGH], calibrated),
    ] {
        for (metric, value) in metrics.into_iter().zip(values.into_iter().flatten()) {
            samples.add(metric, &[], value);
        }
    }
}

fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::Timestamp;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use stream::Backlog;

    #[test]
    fn metrics_carry_the_figures_of_all_stages() {
        let mut commits = Histogram::new(Histogram::SECONDS);
        commits.add_duration(Duration::from_millis(3));
        let mut fetches = Histogram::new(Histogram::SECONDS);
        fetches.add_duration(Duration::from_millis(700));
        let status = StageStatus {
            name: "scheduler".to_owned(),
            figures: BTreeMap::from([(scheduler::PAGES, 4.0), (scheduler::ANSWERS, 7.0), (scheduler::PRICE, 3.0)]),
            violations: BTreeMap::from([("positions_never_go_back", 0)]),
            partitions: vec![0, 1],
            histograms: BTreeMap::from([(stage::COMMIT_SECONDS, commits)]),
            ..StageStatus::default()
        };
        let answers = BTreeMap::from([("fetched", 2), ("port_refused", 0)]);
        let histograms = BTreeMap::from([(fetcher::FETCH_SECONDS, fetches)]);
        let fetcher = StageStatus { name: "fetcher".to_owned(), answers, histograms, ..StageStatus::default() };
        let board = Board::new(vec![Arc::new(Mutex::new(status)), Arc::new(Mutex::new(fetcher))], 1.0);
        let of =
            |partition, records, second| Backlog { partition, records, oldest: Some(Timestamp::from_secs(second)) };
        board.show_backlogs([("scheduler", vec![of(0, 1, 90), of(1, 1, 70)])].into(), Timestamp::from_secs(100));
        board.show_figures(vec![(metrics::process::LOG_MISSING_WRITES, 2.0)]);
        let text = text(&board, Some(PingCounts { taken: 5, ..PingCounts::default() }), true);
        for line in [
            "recrawl_backlog_records{stage=\"scheduler\",partition=\"1\"} 1.0",
            "recrawl_backlog_seconds{stage=\"scheduler\",partition=\"1\"} 30.0",
            "# HELP recrawl_scheduler_answers answers to requests processed",
            "# TYPE recrawl_scheduler_answers counter",
            "recrawl_scheduler_answers_total 7",
            "recrawl_scheduler_pages 4.0",
            "recrawl_scheduler_price 1.5",
            "recrawl_stage_partitions{stage=\"scheduler\"} 2.0",
            "recrawl_stage_partitions{stage=\"fetcher\"} 0.0",
            "recrawl_fetcher_fetch_seconds_count 1",
            "recrawl_stage_commit_seconds_bucket{le=\"0.002\",stage=\"scheduler\"} 0",
            "recrawl_stage_commit_seconds_bucket{le=\"0.005\",stage=\"scheduler\"} 1",
            "recrawl_stage_commit_seconds_bucket{le=\"+Inf\",stage=\"scheduler\"} 1",
            "recrawl_stage_commit_seconds_count{stage=\"scheduler\"} 1",
            "recrawl_invariant_violations_total{stage=\"scheduler\",invariant=\"positions_never_go_back\"} 0",
            "recrawl_log_missing_writes_total 2",
            "recrawl_pings_taken_total 5",
            "recrawl_fetcher_outcomes_total{class=\"fetched\",outcome=\"fetched\"} 2",
            "recrawl_fetcher_outcomes_total{class=\"not_sent\",outcome=\"port_refused\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn the_process_reports_its_version_and_what_it_uses() {
        let text = text(&Board::new(Vec::new(), 1.0), None, true);
        let version = format!("recrawl_build_info{{version=\"{}\"}} 1.0", env!("CARGO_PKG_VERSION"));
        assert!(text.lines().any(|line| line == version), "{text}");
        if cfg!(target_os = "linux") {
            let value = |name: &str| -> f64 {
                let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
                line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
            };
            let now_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
            assert!((now_s - 86_400.0..now_s + 60.0).contains(&value("process_start_time_seconds")), "{text}");
            assert!(value("process_resident_memory_bytes") > 1e6, "{text}");
            assert!(value("process_open_fds") >= 3.0 && value("process_cpu_seconds_total") >= 0.0, "{text}");
        }
    }
}
