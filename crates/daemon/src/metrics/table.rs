//! The table of all metrics. `/metrics` takes its help texts from it, and `docs/METRICS.md` is written from it.
//!
//! A figure of a stage is listed as `recrawl_<stage>_<figure>`; those common to all stages are `recrawl_stage_…` and have
//! the stage as a label. Hosts and URLs are never labels: a crawl has too many of them.

mod own;

use self::own::{DELIVERY, DETECTOR, ESTIMATOR, FETCHER, MATCHER, RANKER, SCHEDULER};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Name as in a scrape; a counter ends in `_total`, a histogram has its parts (`_bucket`, `_sum`, `_count`) behind it.
    pub name: &'static str,
    pub kind: MetricKind,
    /// The unit, or the things that are counted.
    pub unit: &'static str,
    /// Labels that each series has.
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows while the process runs.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Values counted by bucket.
    Histogram,
}

impl MetricKind {
    /// The kind in one word, as in a scrape.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

const fn counter(name: &'static str, unit: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Counter, unit, labels: &[], help }
}

const fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Gauge, unit, labels: &[], help }
}

const fn histogram(name: &'static str, unit: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Histogram, unit, labels: &[], help }
}

impl Metric {
    const fn by(self, labels: &'static [&'static str]) -> Self {
        Self { labels, ..self }
    }

    const fn by_stage(self) -> Self {
        self.by(&["stage"])
    }
}

/// All metrics, by section of the document.
pub const METRICS: &[(&str, &[Metric])] = &[
    ("Process", PROCESS),
    ("Every stage", STAGE),
    ("Scheduler", SCHEDULER),
    ("Fetcher", FETCHER),
    ("Detector", DETECTOR),
    ("Estimator", ESTIMATOR),
    ("Matcher", MATCHER),
    ("Ranker", RANKER),
    ("Delivery", DELIVERY),
];

pub(super) fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().flat_map(|(_, metrics)| *metrics).find(|metric| metric.name == name)
}

const PROCESS: &[Metric] = &[
    gauge("recrawl_build_info", "1", "always 1; the version of the program").by(&["version"]),
    counter("process_cpu_seconds_total", "seconds", "CPU time of the process, user and system"),
    gauge("process_resident_memory_bytes", "bytes", "memory of the process that is in RAM"),
    gauge("process_virtual_memory_bytes", "bytes", "address space of the process"),
    gauge("process_open_fds", "files", "open file descriptors"),
    gauge("process_max_fds", "files", "limit of open file descriptors; not shown where the system sets none"),
    gauge("process_start_time_seconds", "seconds", "start of the process, in seconds since 1970"),
    counter("recrawl_records_of_other_versions_total", "records", "records read that another version wrote")
        .by(&["record"]),
    counter("recrawl_pings_taken_total", "pages", "pages in accepted pings, written to the log as hints"),
    counter("recrawl_pings_refused_total", "pages", "pages in pings that were refused"),
    counter("recrawl_pings_ignored_total", "pings", "WebSub pings ignored because their signature is missing or wrong"),
    counter("recrawl_trace_spans_sent_total", "spans", "spans of traces that the collector took"),
    counter(
        "recrawl_trace_spans_dropped_total",
        "spans",
        "spans of traces that were lost: the collector did not take them, or more came than it took",
    ),
    counter(
        "recrawl_log_missing_writes_total",
        "writes",
        "writes known to be missing from the embedded log since its creation; power cuts may have lost more",
    ),
    gauge(
        "recrawl_log_incarnation",
        "jumps",
        "number of times the embedded log's offsets jumped ahead so that no offset is used twice",
    ),
    gauge(
        "recrawl_log_offsets_jumped",
        "1",
        "1 if offsets jumped ahead when this process opened the embedded log, because writes may be missing",
    ),
    gauge(
        "recrawl_log_power_cut",
        "1",
        "1 if the machine may have lost power before this process opened the embedded log",
    ),
];

const STAGE: &[Metric] = &[
    gauge(
        "recrawl_backlog_records",
        "records",
        "records that the stage's group has not processed, as the log says; also of partitions without an owner. Of a \
         delivery, changes that are not delivered",
    )
    .by(&["stage", "partition"]),
    gauge("recrawl_backlog_seconds", "seconds", "age of the oldest record not processed").by(&["stage", "partition"]),
    gauge("recrawl_stage_ready", "1", "1 if the stage has joined its group and restored its state").by_stage(),
    gauge("recrawl_stage_partitions", "partitions", "partitions assigned to this process and restored").by_stage(),
    gauge("recrawl_stage_partitions_restoring", "partitions", "assigned partitions whose state is not restored yet")
        .by_stage(),
    gauge(
        "recrawl_stage_restore_remaining_records",
        "records",
        "changelog records still to replay, by the offsets of the log",
    )
    .by_stage(),
    gauge("recrawl_stage_state_bytes", "bytes", "state of the assigned partitions on disk, estimated every 10 seconds")
        .by_stage(),
    gauge("recrawl_stage_failing", "1", "1 while calls to the log fail").by_stage(),
    gauge("recrawl_stage_awaits_schema", "1", "1 while a record waits for its schema").by_stage(),
    counter("recrawl_stage_processed_total", "records", "records processed").by_stage(),
    counter(
        "recrawl_stage_set_aside_total",
        "records",
        "records that could not be processed and were written to the dead letters",
    )
    .by_stage(),
    counter("recrawl_stage_commits_total", "transactions", "transactions committed").by_stage(),
    counter("recrawl_stage_log_failures_total", "calls", "calls to the log that failed").by_stage(),
    counter(
        "recrawl_stage_rebalances_total",
        "changes",
        "changes of the partitions assigned to this process: assignments and revocations",
    )
    .by_stage(),
    counter(
        "recrawl_stage_rejoins_total",
        "times",
        "times the stage left its group after a failure and joined it again",
    )
    .by_stage(),
    counter("recrawl_stage_restored_records_total", "records", "changelog records replayed into stores").by_stage(),
    counter("recrawl_stage_turns_total", "turns", "turns of the stage's loop; if it does not grow, the stage hangs")
        .by_stage(),
    counter("recrawl_stage_stores_refilled_total", "stores", "stores emptied and refilled from their changelogs")
        .by_stage(),
    counter(
        "recrawl_stage_state_set_aside_total",
        "partitions",
        "partition states set aside because they were damaged or belonged to another log",
    )
    .by_stage(),
    counter(
        "recrawl_stage_input_lost_total",
        "records",
        "input records deleted by retention before they were processed",
    )
    .by_stage(),
    counter(
        "recrawl_stage_answers_left_out_total",
        "records",
        "answers left out because they exceed the record size of their topic",
    )
    .by_stage(),
    counter("recrawl_stage_waited_for_schema_total", "records", "records that waited for their schema").by_stage(),
    histogram("recrawl_stage_batch_records", "records", "records that a poll returned, without empty polls").by_stage(),
    histogram(
        "recrawl_stage_poll_to_commit_seconds",
        "seconds",
        "time from the return of a poll to the end of the commit in the same turn of the loop",
    )
    .by_stage(),
    histogram(
        "recrawl_stage_commit_seconds",
        "seconds",
        "time of a transaction, from the first call to the log's answer",
    )
    .by_stage(),
    histogram(
        "recrawl_stage_restore_seconds",
        "seconds",
        "time from the assignment of a partition until its state is restored",
    )
    .by_stage(),
    counter(
        "recrawl_invariant_violations_total",
        "violations",
        "violations of invariants found by a stage; any value but 0 is a bug in recrawl",
    )
    .by(&["stage", "invariant"]),
    counter("recrawl_stage_questions_answered_total", "questions", "questions of operators answered").by_stage(),
    counter(
        "recrawl_stage_questions_expired_total",
        "questions",
        "questions of operators passed over because no command waits for the answer any more",
    )
    .by_stage(),
];
