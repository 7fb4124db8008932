//! `/metrics`: the figures of a process in OpenMetrics text.
//!
//! Names are `recrawl_<stage>_<what>_<unit>`; counters end in `_total` and count what this process did. Figures common
//! to all stages have the stage as a label.

use crate::board::{Board, ShownBacklog};
use crate::freshness::CalibratedFreshness;
use crate::hints::PingCounts;
use messages::{AnswerKind, AnswerReport, word};
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
            help: "writes known to be missing from the log since its creation; power cuts may have lost more",
            is_counter: true,
            value: log.missing_writes() as f64,
        },
        gauge(
            "recrawl_log_incarnation",
            "number of times the log's offsets jumped ahead so that no offset is used twice",
            f64::from(opened.incarnation),
        ),
        flag(
            "recrawl_log_offsets_jumped",
            "1 if offsets jumped ahead when this process opened the log, because writes may be missing",
            opened.jump.is_some(),
        ),
        flag(
            "recrawl_log_power_cut",
            "1 if the machine may have lost power before this process opened the log",
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
            "violations of invariants found by a stage; any value but 0 is a bug in recrawl",
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
            "records read that were written by another version",
            None,
            MetricType::Counter,
        )?;
        for (record, count) in messages::schemas::read_of_other_versions() {
            ConstCounter::new(count).encode(of_others.encode_family(&[("record", record)])?)?;
        }
        encode_calibrated(self.status().calibrated_freshness, &mut encoder)?;
        encode_outcomes(&stages, &mut encoder)?;
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
        ("ready", "1 if the stage has joined its group and restored its state", flag(stage.ready)),
        ("partitions", "partitions assigned to this process", stage.partitions.len() as f64),
        ("partitions_restoring", "assigned partitions whose state is not restored yet", stage.restoring.len() as f64),
        ("awaits_schema", "1 while a record waits for its schema", flag(stage.waits_for.is_some())),
        ("failing", "1 while calls to the log fail", flag(stage.last_error.is_some())),
    ];
    let counters = [
        ("processed", "records processed", stage.processed_total),
        (
            "set_aside",
            "records that could not be processed and were written to the dead letters",
            stage.set_aside_total,
        ),
        ("commits", "transactions committed", stage.commits_total),
        ("log_failures", "calls to the log that failed", stage.failures_total),
        ("rejoins", "times the stage left its group after a failure and joined it again", stage.rejoins_total),
        ("restored_records", "changelog records replayed into stores", stage.restored_records_total),
        ("turns", "turns of the stage's loop; if it does not grow, the stage hangs", stage.turns_total),
        ("stores_refilled", "stores that were emptied and refilled from their changelogs", stage.stores_refilled_total),
        (
            "state_set_aside",
            "partition states set aside because they were damaged or belonged to another log",
            stage.state_set_aside_total,
        ),
        ("input_lost", "input records deleted by retention before they were processed", stage.input_lost_total),
        (
            "answers_left_out",
            "answers left out because they exceed the record size of their topic",
            stage.answers_left_out_total,
        ),
        ("waited_for_schema", "records that waited for their schema", stage.held_total),
    ];
    let name = |what: &str| format!("recrawl_{}_{what}", stage.name);
    for (what, help, value) in gauges {
        encode_one(encoder, &name(what), help, false, value)?;
    }
    for (what, help, value) in counters {
        encode_one(encoder, &name(what), help, true, value as f64)?;
    }
    for (figure, value) in stage.figures.iter().filter(|(name, _)| !name.starts_with(AnswerReport::FIGURE)) {
        let counter = figure.strip_suffix("_total");
        encode_one(encoder, &name(counter.unwrap_or(figure)), help_of(figure), counter.is_some(), *value)?;
    }
    for (what, durations) in &stage.durations {
        let help = match *what {
            "batch" => "time from the arrival of records to the end of their commit",
            "commit" => "time of a transaction, from the first call to the log's answer",
            "fetch" => "time from the request to the last byte of the response",
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

/// The calibrated freshness with its interval, once there was an audit.
fn encode_calibrated(calibrated: Option<CalibratedFreshness>, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let Some(CalibratedFreshness { mean, low, high, .. }) = calibrated else { return Ok(()) };
    let gauges = [
        ("", "expected share of pages whose copy is current, corrected by recent audits", mean),
        ("_low", "lower end of the 95 % interval of the calibrated freshness", low),
        ("_high", "upper end of the 95 % interval of the calibrated freshness", high),
    ];
    gauges.into_iter().try_for_each(|(end, help, value)| {
        encode_one(encoder, &format!("recrawl_scheduler_calibrated_freshness{end}"), help, false, value)
    })
}

/// Answers by kind, each from the start, so that an alert finds the series before the first failure.
fn encode_outcomes(stages: &[StageStatus], encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let has_some = |stage: &&StageStatus| stage.figures.keys().any(|name| name.starts_with(AnswerReport::FIGURE));
    let Some(stage) = stages.iter().find(has_some) else { return Ok(()) };
    let mut metric = encoder.encode_descriptor(
        "recrawl_fetcher_outcomes",
        "requests answered, by what they came to; those of class not_sent are no fetches",
        None,
        MetricType::Counter,
    )?;
    AnswerKind::all().try_for_each(|kind| {
        let report = kind.report();
        let count = stage.figures.get(report.figure).copied().unwrap_or(0.0);
        let labels = [("class", word(&report.class)), ("outcome", report.name().to_owned())];
        ConstCounter::new(count as u64).encode(metric.encode_family(&labels)?)
    })
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
        "records that the stage's group has not processed, as reported by the log; also for partitions without an \
         owner",
        |backlog| backlog.records as f64,
    )?;
    of_partitions("recrawl_backlog_seconds", "age of the oldest unprocessed record in seconds", |backlog| {
        backlog.oldest_s
    })
}

/// Help text of a figure without a description. A test fails if it finds it.
const NO_HELP: &str = "a figure of the stage";

/// Help text of a processor's figure, which covers all partitions of the process.
fn help_of(figure: &str) -> &'static str {
    match figure {
        "age_days_sum" => "sum over pages of the expected days since the copy went stale; 0 for a current copy",
        "answers_total" => "answers to requests processed",
        "audit_fresh" => "audits (fetches of random pages) that found the copy current",
        "audit_looks" => "audits (fetches of random pages)",
        "audit_recent_expected" => "recent audits that were expected to find the copy current; older ones count less",
        "audit_recent_fresh" => "recent audits that found the copy current; older ones count less",
        "audit_recent_looks" => "recent audits; older ones count less",
        "bad_topic_orders_total" => "orders about topics that could not be read",
        "bands_total" => "bands of texts processed",
        "changes" => "changes seen on the known pages, including those seen by earlier processes",
        "changes_seen_total" | "changes_total" => "changes seen",
        "comparisons_total" => "comparisons of pages that share a band",
        "copies" => "pages with a stored copy",
        "due" => "pages whose value reaches the current price",
        "fetches" => "fetches of the known pages, including those of earlier processes",
        "fetches_seen_total" => "fetches answered: requests that were sent",
        "fetches_spared_by_mirrors_total" => "fetches spared because another page has the same text",
        "foreign_entries_total" => "entries of sitemaps and feeds that belong to other sites",
        "fresh_pages" => "expected number of pages whose copy is current",
        "full_buckets_total" => "bands shared by too many pages to compare them",
        "groups" => "groups of pages with learned parameters",
        "held_total" => "looks without a verdict yet, because the whole host may have failed",
        "hints_total" => "hints that a page may have changed",
        "hosts" => "hosts known",
        "in_flight" => "requests handed out and not answered yet",
        "judged_pages" => "pages looked at and judged by the topics of the crawl",
        "late_answers_total" => "answers that arrived after their lease had expired",
        "leases_expired_total" => "requests whose lease expired before the answer arrived",
        "link_looks_total" => "looks at pages whose links were followed",
        "linked_pages" => "pages with links or linked to",
        "links_left_out_total" => "links not followed because their page has too many",
        "links_pruned_total" => "links not followed because they promise nothing for the topics of the crawl",
        "links_total" => "links followed",
        "lists_total" => "sitemaps and feeds read",
        "matches_total" => "pages found to be copies of another",
        "mirrors" => "pages whose content is fetched through another page",
        "never_fetched" => "pages never fetched",
        "evicted_pages_total" => "pages forgotten to make room for others of their host",
        "pages_found_total" => "pages first seen as the target of a link",
        "weights_told_total" => "pages whose new weight was told to the scheduler",
        "forgotten_pages" => "pages that operators have forgotten and that only a seed brings back",
        "forgotten_links_total" => "links to forgotten pages, not taken in",
        "pages_removed_total" => "pages deleted because they were forgotten or made room for others",
        "pages_out_of_scope_total" => "pages not taken in because a rule, a filter or a block leaves them out",
        "observations_total" => "looks used for learning",
        "on_topic_pages" => "pages looked at that are about a topic of the crawl",
        "on_the_wire" => "requests sent to a server and not answered yet",
        "pages" => "pages known",
        "price_sum" => "sum of the partitions' prices of a fetch",
        "questions_answered_total" => "questions of operators answered",
        "questions_expired_total" => "questions of operators passed over because nobody waits for the answer any more",
        "refused_pages_total" => "discovered pages refused because of their URL or the limits of the crawl",
        "repeats_total" => "duplicate results dropped",
        "results_total" => "fetch results processed",
        "targets_found" => "pages looked at that a topic names as examples",
        "topic_targets" => "pages that the topics of the crawl name as examples",
        "topics" => "topics that pages are judged by",
        "topics_left_out" => "topics that pages are not judged by, because there are too many",
        "triggers_fired_total" => "triggers of watch rules that fired",
        "unanswered" => "pages that were never answered",
        "unknown_pages_total" => "answers and hints for unknown pages",
        "untriggered_changes_total" => "changes not told because their watch rule wants only those that fire a trigger",
        "waiting_for_hosts" => "requests waiting for their host",
        "waiting_for_hosts_s" => "longest time that a request has waited for its host, in seconds",
        "watch_misses_total" => "looks at a page that lacked a part that its rule watches",
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
        let figures = BTreeMap::from([("outcome_fetched", 2.0), ("outcome_port_refused", 0.0)]);
        let fetcher = StageStatus { name: "fetcher".to_owned(), figures, ..StageStatus::default() };
        let board = Board::new(vec![Arc::new(Mutex::new(status)), Arc::new(Mutex::new(fetcher))], 1.0);
        let of =
            |partition, records, second| Backlog { partition, records, oldest: Some(Timestamp::from_secs(second)) };
        board.show_backlogs([("scheduler", vec![of(0, 1, 90), of(1, 1, 70)])].into(), Timestamp::from_secs(100));
        board.show_figures(vec![Figure { name: "recrawl_log_x", help: "x", is_counter: true, value: 2.0 }]);
        let text = text(&board, Some(PingCounts { taken: 5, ..PingCounts::default() }));
        for line in [
            "recrawl_backlog_records{stage=\"scheduler\",partition=\"1\"} 1.0",
            "recrawl_backlog_seconds{stage=\"scheduler\",partition=\"1\"} 30.0",
            "# HELP recrawl_scheduler_answers answers to requests processed",
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
            "recrawl_fetcher_outcomes_total{class=\"fetched\",outcome=\"fetched\"} 2",
            "recrawl_fetcher_outcomes_total{class=\"not_sent\",outcome=\"port_refused\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
