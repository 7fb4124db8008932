//! `/metrics`: the figures of a process in OpenMetrics text.
//!
//! Names are `recrawl_<stage>_<what>_<unit>`; counters end in `_total` and count what this process did. Figures common
//! to all stages have the stage as a label.

use crate::board::{Board, ShownBacklog};
use crate::hints::PingCounts;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;
use stream::{Durations, StageStatus};
use stream_rocksdb::EmbeddedBackend;

/// A figure of the process that belongs to no stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Metric name; for a counter, without `_total`.
    pub name: &'static str,
    /// Help text.
    pub help: &'static str,
    /// Whether it is a counter.
    pub is_counter: bool,
    /// Current value.
    pub value: f64,
}

/// Figures about damage found when an embedded log was opened.
pub fn log_figures(log: &EmbeddedBackend) -> Vec<Figure> {
    let opened = log.opened();
    let gauge = |name, help, value| Figure { name, help, is_counter: false, value };
    let flag = |name, help, is_so: bool| gauge(name, help, f64::from(u8::from(is_so)));
    vec![
        Figure {
            name: "recrawl_log_missing_writes",
            help: "writes that are known to be missing from the log, since it was made; a power cut may have cost more",
            is_counter: true,
            value: log.missing_writes() as f64,
        },
        gauge(
            "recrawl_log_incarnation",
            "how often offsets of the log had to jump, so that none was given twice",
            f64::from(opened.incarnation),
        ),
        flag(
            "recrawl_log_offsets_jumped",
            "1 when offsets jumped as this process opened the log, because writes may be missing",
            opened.jump.is_some(),
        ),
        flag(
            "recrawl_log_power_cut",
            "1 when the machine may have lost power before this process opened the log",
            opened.jump.is_some_and(|jump| jump.power_cut),
        ),
    ]
}

/// All figures in OpenMetrics text, including pings if this process accepts them.
pub(crate) fn text(board: &Board, pings: Option<PingCounts>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(board.clone()));
    if let Some(pings) = pings {
        registry.register_collector(Box::new(pings));
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

impl Collector for Board {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stages = self.stages();
        for stage in &stages {
            encode_stage(stage, &mut encoder)?;
        }
        let mut violations = encoder.encode_descriptor(
            "recrawl_invariant_violations",
            "promises that a stage has found broken; anything but 0 is a fault of recrawl",
            None,
            MetricType::Counter,
        )?;
        for stage in &stages {
            for (invariant, count) in &stage.violations {
                let labels = [("stage", stage.name.as_str()), ("invariant", *invariant)];
                ConstCounter::new(*count).encode(violations.encode_family(&labels)?)?;
            }
        }
        let mut of_others = encoder.encode_descriptor(
            "recrawl_records_of_other_versions",
            "records read that another version wrote",
            None,
            MetricType::Counter,
        )?;
        for (record, count) in messages::schemas::read_of_other_versions() {
            ConstCounter::new(count).encode(of_others.encode_family(&[("record", record)])?)?;
        }
        encode_backlogs(&self.backlogs(), &mut encoder)?;
        for Figure { name, help, is_counter, value } in self.figures() {
            encode_one(&mut encoder, name, help, is_counter, value)?;
        }
        Ok(())
    }
}

fn encode_one(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    is_counter: bool,
    value: f64,
) -> fmt::Result {
    if is_counter {
        ConstCounter::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
    } else {
        ConstGauge::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
    }
}

fn encode_stage(stage: &StageStatus, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let flag = |is_so: bool| f64::from(u8::from(is_so));
    let gauges = [
        ("ready", "1 when the stage has joined and restored its state", flag(stage.ready)),
        ("partitions", "partitions assigned to this process", stage.partitions.len() as f64),
        ("partitions_restoring", "partitions assigned and not restored yet", stage.restoring.len() as f64),
        ("awaits_schema", "1 while a record waits for its schema", flag(stage.waits_for.is_some())),
        ("failing", "1 while the log fails", flag(stage.last_error.is_some())),
    ];
    let counters = [
        ("processed", "records taken in", stage.processed_total),
        ("set_aside", "records that could not be worked on and are among the dead letters", stage.set_aside_total),
        ("commits", "transactions committed", stage.commits_total),
        ("log_failures", "calls to the log that failed", stage.failures_total),
        ("rejoins", "memberships given up after a failure, to join the group anew", stage.rejoins_total),
        ("restored_records", "records of changelogs replayed into stores", stage.restored_records_total),
        ("turns", "turns of the loop; a stage at which this stands still hangs", stage.turns_total),
        ("stores_refilled", "stores that were emptied and refilled from their changelogs", stage.stores_refilled_total),
        ("state_set_aside", "states of partitions that were damaged or another's", stage.state_set_aside_total),
        ("input_lost", "records that retention took before they were taken in", stage.input_lost_total),
        ("answers_left_out", "answers that were larger than their topic takes", stage.answers_left_out_total),
        ("waited_for_schema", "records that had to wait for their schema", stage.held_total),
    ];
    let name = |what: &str| format!("recrawl_{}_{what}", stage.name);
    for (what, help, value) in gauges {
        encode_one(encoder, &name(what), help, false, value)?;
    }
    for (what, help, value) in counters {
        encode_one(encoder, &name(what), help, true, value as f64)?;
    }
    for (figure, value) in &stage.figures {
        let counter = figure.strip_suffix("_total");
        encode_one(encoder, &name(counter.unwrap_or(figure)), help_of(figure), counter.is_some(), *value)?;
    }
    for (what, durations) in &stage.durations {
        let help = match *what {
            "batch" => "from the arrival of records to the end of their commit",
            "commit" => "one transaction, from the first call to the log's answer",
            "fetch" => "from the request to the last byte of the answer",
            other => other,
        };
        encode_durations(encoder, &name(&format!("{what}_seconds")), help, durations)?;
    }
    Ok(())
}

fn encode_durations(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, durations: &Durations) -> fmt::Result {
    let classes: Vec<_> = durations.classes().collect();
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(durations.sum_s(), durations.count(), &classes, None)
}

fn encode_backlogs(backlogs: &[ShownBacklog], encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
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

/// Help text of a figure without a description. A test fails if it finds it.
const NO_HELP: &str = "a figure of the stage";

/// Help text of a processor's figure, which covers all partitions of the process.
fn help_of(figure: &str) -> &'static str {
    match figure {
        "address_refused_total" => "requests whose address must not be fetched from",
        "age_days_sum" => "expected days since copies stopped being current, added up; nothing for current ones",
        "answers_total" => "answers to requests taken in",
        "audit_fresh" => "looks at pages drawn at random that found the copy current",
        "audit_looks" => "looks at pages drawn at random",
        "bands_total" => "bands of texts taken in",
        "changes" => "changes seen at the pages known, earlier processes included",
        "changes_seen_total" | "changes_total" => "changes seen",
        "comparisons_total" => "pages compared because they have a band in common",
        "copies" => "pages of which there is a copy",
        "due" => "pages worth a fetch at the going price",
        "failed_total" => "fetches that failed",
        "fetched_total" => "fetches that brought a body",
        "fetches" => "fetches of the pages known, earlier processes included",
        "fetches_spared_by_mirrors_total" => "fetches spared because another page has the same text",
        "foreign_entries_total" => "entries of sitemaps and feeds that speak of other sites",
        "fresh_pages" => "expected number of pages whose copy is current",
        "full_buckets_total" => "bands that too many pages have in common to be compared",
        "groups" => "groups of pages of which something was learned",
        "held_total" => "looks that say nothing yet, because the whole host may be at fault",
        "hints_left_out_total" => "hints left out of a sitemap or feed because there were too many",
        "hints_total" => "hints that pages may have changed",
        "hosts" => "hosts known",
        "in_flight" => "requests handed out and unanswered",
        "late_answers_total" => "answers that came after their lease had run out",
        "leases_expired_total" => "requests whose lease ran out before an answer came",
        "lists_total" => "sitemaps and feeds read",
        "matches_total" => "pages found to be copies of another",
        "mirrors" => "pages fetched by another page's name",
        "never_fetched" => "pages never fetched",
        "not_found_total" => "fetches of pages that are not there",
        "not_modified_total" => "fetches answered 304",
        "not_sent_total" => "requests handed back unsent",
        "observations_total" => "looks learned from",
        "on_the_wire" => "requests sent and unanswered",
        "pages" => "pages known",
        "price_sum" => "price of a fetch, added up over partitions",
        "rate_limited_total" => "fetches refused by a host that asked to be left alone",
        "refused_pages_total" => "pages refused because of their address or the crawl's bounds",
        "repeats_total" => "results taken in before",
        "results_total" => "results of fetches taken in",
        "robots_refused_total" => "requests that robots.txt does not allow",
        "same_content_total" => "fetches that brought the body known",
        "too_large_total" => "fetches given up because of their size",
        "unanswered" => "pages without an answer so far",
        "unknown_pages_total" => "answers and hints for pages not known",
        "waiting_for_hosts" => "requests that wait for their host's turn",
        "waiting_for_hosts_s" => "how long the first of them has waited, in seconds",
        _ => NO_HELP,
    }
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
    fn metrics_carry_the_figures_under_the_stages_name() {
        let mut durations = Durations::default();
        durations.add(Duration::from_millis(3));
        let status = StageStatus {
            name: "scheduler".to_owned(),
            figures: BTreeMap::from([("pages", 4.0), ("answers_total", 7.0)]),
            violations: BTreeMap::from([("positions_never_go_back", 0)]),
            durations: BTreeMap::from([("commit", durations)]),
            ..StageStatus::default()
        };
        let board = Board::new(vec![Arc::new(Mutex::new(status))], 1.0);
        let of =
            |partition, records, second| Backlog { partition, records, oldest: Some(Timestamp::from_secs(second)) };
        board.show_backlogs([("scheduler", vec![of(0, 1, 90), of(1, 1, 70)])].into(), Timestamp::from_secs(100));
        board.show_figures(vec![Figure { name: "recrawl_log_x", help: "x", is_counter: true, value: 2.0 }]);
        let text = text(&board, Some(PingCounts { taken: 5, ..PingCounts::default() }));
        for line in [
            "recrawl_backlog_records{stage=\"scheduler\",partition=\"1\"} 1.0",
            "recrawl_backlog_seconds{stage=\"scheduler\",partition=\"1\"} 30.0",
            "# HELP recrawl_scheduler_answers answers to requests taken in",
            "# TYPE recrawl_scheduler_answers counter",
            "recrawl_scheduler_answers_total 7.0",
            "recrawl_scheduler_pages 4.0",
            "recrawl_scheduler_commit_seconds_bucket{le=\"0.002\"} 0",
            "recrawl_scheduler_commit_seconds_bucket{le=\"0.005\"} 1",
            "recrawl_scheduler_commit_seconds_bucket{le=\"+Inf\"} 1",
            "recrawl_scheduler_commit_seconds_count 1",
            "recrawl_invariant_violations_total{stage=\"scheduler\",invariant=\"positions_never_go_back\"} 0",
            "recrawl_log_x_total 2.0",
            "recrawl_pings_taken_total 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
