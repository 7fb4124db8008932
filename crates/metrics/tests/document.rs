//! `docs/METRICS.md` is written from the tables.

use metrics::{METRICS, Metric, MetricKind};
use std::fmt::Write;

const HEAD: &str = "\
# Metrics

<!-- Written from crates/metrics/src by `UPDATE=1 cargo test -p metrics`, do not edit. -->

Every process answers `GET /metrics` with these series in the format of OpenMetrics, which Prometheus reads. A process has
those of its own stages; `recrawl run` has all of them. `recrawl changes --serve` has those of a delivery, which is shown as the stage
`delivery`.

* A counter ends in `_total`, counts what this process did, and begins at 0 with it. A gauge may be the total of a state that
  moves between processes with its partitions: `sum` it over processes, but do not take its `rate`.
* Durations are in seconds, sizes in bytes. A histogram has `_bucket`, `_sum` and `_count` behind its name.
* No label is a host or a URL. What a host or a page is doing, `recrawl hosts`, `recrawl page` and `recrawl explain` show.
* Series on `recrawl_stage_…` and `recrawl_backlog_…` have the label `stage`: `sum by (stage) (…)` compares the stages.

The alerts and dashboards of `k8s/components/monitoring` use them; [OPERATIONS.md](OPERATIONS.md) says what to do about an alert.
`rules.yaml` there also records ratios over all processes, such as `recrawl:budget_use:ratio`.
";

fn document() -> String {
    let mut text = HEAD.to_owned();
    for (section, metrics) in METRICS {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {section}\n\n| name | type | unit | labels | meaning |\n|---|---|---|---|---|\n");
        for metric in *metrics {
            let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            let (name, kind, unit, help) = (metric.name, metric.kind.name(), metric.unit, metric.help);
            let _ = writeln!(text, "| `{name}` | {kind} | {unit} | {} | {help} |", labels.join(", "));
        }
    }
    text
}

#[test]
fn the_document_is_the_table() {
    let path = corpora::workspace().join("docs/METRICS.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, document()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == document(), "docs/METRICS.md is stale: UPDATE=1 cargo test -p metrics");
}

#[test]
fn names_say_what_kind_a_metric_is_and_what_its_unit_is() {
    let mut names: Vec<_> = metrics::all().map(|metric| metric.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), metrics::all().count(), "a name twice");
    for Metric { name, kind, unit, labels, help, .. } in metrics::all() {
        let base = name.strip_suffix("_total").unwrap_or(name);
        assert_eq!(*kind == MetricKind::Counter, base != *name, "{name}: counters and no others end in _total");
        for base_unit in ["seconds", "bytes"] {
            assert_eq!(base.ends_with(&format!("_{base_unit}")), *unit == base_unit, "{name}: {unit}");
        }
        for other in ["_s", "_ms", "_milliseconds", "_minutes", "_hours", "_days", "_kb", "_mb", "_percent"] {
            assert!(!base.ends_with(other), "{name}: not a base unit");
        }
        assert!(!labels.iter().any(|label| ["host", "url", "page"].contains(label)), "{name}: {labels:?}");
        assert!(!help.is_empty() && !help.contains('|'), "{name}: {help}");
        let is_ours = name.starts_with("recrawl_") || name.starts_with("process_");
        assert!(is_ours && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    }
}
