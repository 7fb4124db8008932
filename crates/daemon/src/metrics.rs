//! `/metrics`: the figures of a process in OpenMetrics text.

#[cfg(test)]
mod document;
mod process;
mod table;

pub use table::{METRICS, Metric, MetricKind};

use crate::board::{Board, ShownBacklog};
use crate::hints::PingCounts;
use messages::{AnswerKind, AnswerReport, word};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt;
use stream::{Histogram, StageStatus};
use stream_rocksdb::EmbeddedBackend;

/// Help text of a metric that is missing in the table. A test fails if a crawl shows one.
const NO_HELP: &str = "not described";
/// The sum of the partitions' prices. Shown as their mean.
const PRICE_SUM: &str = "price_sum";

/// The series that `/metrics` shows, by name of the metric.
#[derive(Debug, Default)]
pub(crate) struct Samples(BTreeMap<String, Vec<Sample>>);

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
    /// Adds a counter (a name in `_total`) or a gauge.
    pub(crate) fn add(&mut self, name: &str, labels: &[(&'static str, &str)], value: f64) {
        self.push(name, labels, SampleValue::Number(value));
    }

    fn add_histogram(&mut self, name: &str, labels: &[(&'static str, &str)], histogram: Histogram) {
        self.push(name, labels, SampleValue::Histogram(histogram));
    }

    fn push(&mut self, name: &str, labels: &[(&'static str, &str)], value: SampleValue) {
        let labels = labels.iter().map(|(label, value)| (*label, (*value).to_owned())).collect();
        self.0.entry(name.to_owned()).or_default().push(Sample { labels, value });
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
        for (name, samples) in &self.0 {
            let help = table::metric(name).map_or(NO_HELP, |metric| metric.help);
            let counter = name.strip_suffix("_total");
            let kind = match samples.first().map(|sample| &sample.value) {
                Some(SampleValue::Histogram(_)) => MetricType::Histogram,
                _ if counter.is_some() => MetricType::Counter,
                _ => MetricType::Gauge,
            };
            let mut metric = encoder.encode_descriptor(counter.unwrap_or(name), help, None, kind)?;
            for Sample { labels, value } in samples {
                // Text shows an empty set of labels as `{}`.
                if labels.is_empty() {
                    value.encode(&mut metric, counter.is_some())?;
                } else {
                    value.encode(&mut metric.encode_family(labels)?, counter.is_some())?;
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

/// A figure of the process that belongs to no stage, by name of its metric.
pub type Figure = (&'static str, f64);

/// Figures about damage found when an embedded log was opened.
pub fn log_figures(log: &EmbeddedBackend) -> Vec<Figure> {
    let opened = log.opened();
    vec![
        ("recrawl_log_missing_writes_total", log.missing_writes() as f64),
        ("recrawl_log_incarnation", f64::from(opened.incarnation)),
        ("recrawl_log_offsets_jumped", flag(opened.jump.is_some())),
        ("recrawl_log_power_cut", flag(opened.jump.is_some_and(|jump| jump.power_cut))),
    ]
}

/// All figures in OpenMetrics text, including pings if this process accepts them.
pub(crate) fn text(board: &Board, pings: Option<PingCounts>) -> String {
    let mut samples = Samples::default();
    process::collect(&mut samples);
    for (record, count) in messages::schemas::read_of_other_versions() {
        samples.add("recrawl_records_of_other_versions_total", &[("record", record)], count as f64);
    }
    if let Some(pings) = pings {
        pings.collect(&mut samples);
    }
    board.figures().into_iter().for_each(|(name, value)| samples.add(name, &[], value));
    samples.add("recrawl_trace_spans_sent_total", &[], board.spans().sent() as f64);
    samples.add("recrawl_trace_spans_dropped_total", &[], board.spans().dropped() as f64);
    for ShownBacklog { stage, partition, records, oldest_s } in board.backlogs() {
        let labels = [("stage", stage), ("partition", &partition.to_string())];
        samples.add("recrawl_backlog_records", &labels, records as f64);
        samples.add("recrawl_backlog_seconds", &labels, oldest_s);
    }
    for stage in board.stages() {
        collect_common(&stage, &mut samples);
        collect_own(stage, &mut samples);
    }
    collect_freshness(board, &mut samples);
    samples.text()
}

/// Collects the metrics that every stage has, with the stage as a label.
fn collect_common(stage: &StageStatus, samples: &mut Samples) {
    let labels = [("stage", stage.name.as_str())];
    for (what, value) in [
        ("ready", flag(stage.ready)),
        ("partitions", stage.partitions.len() as f64),
        ("partitions_restoring", stage.restoring.len() as f64),
        ("restore_remaining_records", stage.restore_remaining_records as f64),
        ("state_bytes", stage.state_bytes as f64),
        ("awaits_schema", flag(stage.waits_for.is_some())),
        ("failing", flag(stage.last_error.is_some())),
        ("processed_total", stage.processed_total as f64),
        ("set_aside_total", stage.set_aside_total as f64),
        ("commits_total", stage.commits_total as f64),
        ("log_failures_total", stage.failures_total as f64),
        ("rebalances_total", stage.rebalances_total as f64),
        ("rejoins_total", stage.rejoins_total as f64),
        ("restored_records_total", stage.restored_records_total as f64),
        ("turns_total", stage.turns_total as f64),
        ("stores_refilled_total", stage.stores_refilled_total as f64),
        ("state_set_aside_total", stage.state_set_aside_total as f64),
        ("input_lost_total", stage.input_lost_total as f64),
        ("answers_left_out_total", stage.answers_left_out_total as f64),
        ("waited_for_schema_total", stage.held_total as f64),
    ] {
        samples.add(&format!("recrawl_stage_{what}"), &labels, value);
    }
    for (invariant, count) in &stage.violations {
        let labels = [("stage", stage.name.as_str()), ("invariant", *invariant)];
        samples.add("recrawl_invariant_violations_total", &labels, *count as f64);
    }
}

/// Figures and histograms that belong to one kind of stage, and the histograms that all have.
fn collect_own(stage: StageStatus, samples: &mut Samples) {
    let StageStatus { name, figures, histograms, partitions, .. } = stage;
    for (what, histogram) in histograms {
        let common = format!("recrawl_stage_{what}");
        match table::metric(&common) {
            Some(_) => samples.add_histogram(&common, &[("stage", &name)], histogram),
            None => samples.add_histogram(&format!("recrawl_{name}_{what}"), &[], histogram),
        }
    }
    if figures.keys().any(|figure| figure.starts_with(AnswerReport::FIGURE)) {
        // Each kind from the start, so that an alert finds the series before the first failure.
        for report in AnswerKind::all().map(AnswerKind::report) {
            let count = figures.get(report.figure).copied().unwrap_or(0.0);
            let labels = [("class", &*word(&report.class)), ("outcome", report.name())];
            samples.add("recrawl_fetcher_outcomes_total", &labels, count);
        }
    }
    for (figure, value) in figures {
        if figure == PRICE_SUM {
            if !partitions.is_empty() {
                samples.add("recrawl_scheduler_price", &[], value / partitions.len() as f64);
            }
        } else if !figure.starts_with(AnswerReport::FIGURE) {
            let common = format!("recrawl_stage_{figure}");
            match table::metric(&common) {
                Some(_) => samples.add(&common, &[("stage", &name)], value),
                None => samples.add(&format!("recrawl_{name}_{figure}"), &[], value),
            }
        }
    }
}

/// Freshness as the status reports it. Ratios have no value before there is something to divide by.
fn collect_freshness(board: &Board, samples: &mut Samples) {
    let status = board.status();
    let audited = status.audited_freshness.map(|audited| (audited.mean, audited.low, audited.high));
    let calibrated = status.calibrated_freshness.map(|calibrated| (calibrated.mean, calibrated.low, calibrated.high));
    if let Some(estimated) = status.estimated_freshness {
        samples.add("recrawl_scheduler_estimated_freshness", &[], estimated);
    }
    for (kind, interval) in [("audited", audited), ("calibrated", calibrated)] {
        let Some((mean, low, high)) = interval else { continue };
        for (end, value) in [("", mean), ("_low", low), ("_high", high)] {
            samples.add(&format!("recrawl_scheduler_{kind}_freshness{end}"), &[], value);
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
            figures: BTreeMap::from([("pages", 4.0), ("answers_total", 7.0), ("price_sum", 3.0)]),
            violations: BTreeMap::from([("positions_never_go_back", 0)]),
            partitions: vec![0, 1],
            histograms: BTreeMap::from([("commit_seconds", commits)]),
            ..StageStatus::default()
        };
        let figures = BTreeMap::from([("outcome_fetched", 2.0), ("outcome_port_refused", 0.0)]);
        let histograms = BTreeMap::from([("fetch_seconds", fetches)]);
        let fetcher = StageStatus { name: "fetcher".to_owned(), figures, histograms, ..StageStatus::default() };
        let board = Board::new(vec![Arc::new(Mutex::new(status)), Arc::new(Mutex::new(fetcher))], 1.0);
        let of =
            |partition, records, second| Backlog { partition, records, oldest: Some(Timestamp::from_secs(second)) };
        board.show_backlogs([("scheduler", vec![of(0, 1, 90), of(1, 1, 70)])].into(), Timestamp::from_secs(100));
        board.show_figures(vec![("recrawl_log_missing_writes_total", 2.0)]);
        let text = text(&board, Some(PingCounts { taken: 5, ..PingCounts::default() }));
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
        let text = text(&Board::new(Vec::new(), 1.0), None);
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
