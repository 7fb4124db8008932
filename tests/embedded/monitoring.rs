//! The metrics of a crawl at `/metrics`: all that its document lists, and all that alerts and dashboards use.

use crate::hints::request;
use crate::operating::{fetches, stop};
use recrawl::stages::{STAGES, StageEntry};
use simweb::SeededConfig;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;
use tests::monitoring::{Monitoring, ScrapedSeries, metric_of, scraped, unlisted};
use tests::{Crawl, HttpAnswer, Process, SOON, SimulatedWeb, wait_for};

const PAGES: u64 = 40;

/// A crawl that shows every metric: it takes pings, it has audited, and its changes are delivered.
pub(crate) struct MeasuredCrawl {
    pub(crate) crawl: Crawl,
    pub(crate) running: Process,
    delivery: Process,
    _web: SimulatedWeb,
}

impl MeasuredCrawl {
    pub(crate) fn start() -> Self {
        let config = SeededConfig { hosts: 4, pages_per_host: 10, ..SeededConfig::default() };
        let web = SimulatedWeb::start(config, 1.0, |config| config.dials.latency = Duration::from_millis(5));
        let crawl = Crawl::of(&web)
            .with("policy.audit_share", "0.5")
            .with("policy.min_interval", "1s")
            .with("hints.token", "a-token-of-some-length");
        let running = crawl.run(&[]);
        wait_for("every page is fetched", SOON, || fetches(&crawl) >= PAGES);
        wait_for("there was an audit", SOON, || {
            metrics(&crawl).lines().any(|line| line.starts_with("recrawl_scheduler_calibrated_freshness "))
        });
        let delivery = crawl.start("changes", &["--follow", "--serve", "--exec", "true"]);
        let measured = Self { crawl, running, delivery, _web: web };
        wait_for("its backlog is told", SOON, || {
            measured.delivery_metrics().is_some_and(|text| text.contains("recrawl_backlog_seconds{stage=\"delivery\""))
        });
        measured
    }

    /// Where the delivery shows its health.
    pub(crate) fn delivery_address(&self) -> Option<SocketAddr> {
        let said = self.delivery.stderr();
        let (_, rest) = said.split_once("health and metrics are at http://")?;
        rest.split_once('/')?.0.parse().ok()
    }

    fn delivery_metrics(&self) -> Option<String> {
        Some(HttpAnswer::to(self.delivery_address()?, "/metrics")?.body)
    }
}

/// Shown by processes over Kafka alone; the test of wrong clocks sees it.
pub(crate) const OVER_KAFKA: &str = "recrawl_clock_ahead_seconds";

fn metrics(crawl: &Crawl) -> String {
    request(crawl, "GET", "/metrics", "", "").1
}

#[test]
fn a_crawl_shows_what_the_document_lists_and_what_alerts_and_dashboards_use() {
    let measured = MeasuredCrawl::start();
    let text = metrics(&measured.crawl);
    let of_delivery = measured.delivery_metrics().unwrap();
    let of_crawl = scraped(&text);
    let series = [of_crawl.clone(), scraped(&of_delivery)].concat();
    assert_eq!(unlisted(&series), [""; 0], "docs/METRICS.md lists the others");
    let shown: BTreeSet<_> =
        series.iter().filter_map(|series| metric_of(&series.name)).map(|metric| metric.name).collect();
    let listed: BTreeSet<_> = metrics::all().map(|metric| metric.name).collect();
    let missing: Vec<_> = listed.difference(&shown).collect();
    // A machine may have no limit, and a crawl in one process has no broker whose clock could be read.
    let may_be_missing = ["process_max_fds", OVER_KAFKA];
    assert!(
        missing.iter().all(|missing| may_be_missing.contains(missing)),
        "listed, but not shown: {missing:?}\n{text}"
    );

    let monitoring = Monitoring::read(tests::workspace()).unwrap();
    assert!(monitoring.used.len() > 60, "{}", monitoring.used.len());
    for used in &monitoring.used {
        let is_shown = series.iter().any(|series| used.selects(series)) || used.name == OVER_KAFKA;
        assert!(is_shown, "a crawl does not show {used}\n{text}");
    }
    says_what_each_means(&text);
    says_what_each_means(&of_delivery);
    is_measured(&of_crawl);
    stop(measured.running);
}

/// Checks that each metric has a type and a help text, once.
fn says_what_each_means(text: &str) {
    let described = |what: &str| -> Vec<(String, String)> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(what)?.split_once(' '));
        lines.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
    };
    let (helps, types) = (described("# HELP "), described("# TYPE "));
    let names: BTreeSet<_> = types.iter().map(|(name, _)| name).collect();
    assert_eq!((names.len(), helps.len()), (types.len(), types.len()), "a name twice, or without help:\n{text}");
    for (name, kind) in types {
        let mut metric =
            metrics::all().filter(|metric| metric.name.strip_suffix("_total").unwrap_or(metric.name) == name);
        assert_eq!(metric.next().map(|metric| metric.kind.name()), Some(kind.as_str()), "{name}");
    }
}

/// Checks that the figures agree with what happened.
fn is_measured(series: &[ScrapedSeries]) {
    let of = |name: &str, labels: &[(&str, &str)]| -> f64 {
        let has = |series: &&ScrapedSeries| {
            series.name == name
                && labels.iter().all(|(label, value)| series.labels.get(*label).is_some_and(|v| v == value))
        };
        series.iter().filter(has).map(|series| series.value).sum()
    };
    assert!(of("recrawl_fetcher_fetch_seconds_count", &[]) >= PAGES as f64);
    for stage in STAGES.iter().map(StageEntry::name) {
        let stage = [("stage", stage)];
        let partitions = of("recrawl_stage_partitions", &stage);
        assert!(partitions > 0.0, "{stage:?}");
        assert_eq!(of("recrawl_stage_restore_seconds_count", &stage), partitions, "{stage:?}");
        assert!(of("recrawl_stage_rebalances_total", &stage) >= 1.0, "{stage:?}");
        assert_eq!(of("recrawl_stage_restore_remaining_records", &stage), 0.0, "{stage:?}");
    }
    let scheduler = [("stage", "scheduler")];
    for name in ["batch_records_count", "commit_seconds_count", "poll_to_commit_seconds_count"] {
        assert!(of(&format!("recrawl_stage_{name}"), &scheduler) > 0.0, "{name}");
    }
    assert!(of("recrawl_stage_batch_records_sum", &scheduler) >= of("recrawl_stage_batch_records_count", &scheduler));
    let budget = of("recrawl_scheduler_budget_fetches_per_second", &[]);
    assert!((budget - 2_000.0).abs() < 1.0, "the partitions share the budget of the settings: {budget}");
    let freshness = ["", "_low", "_high"].map(|end| of(&format!("recrawl_scheduler_audited_freshness{end}"), &[]));
    assert!(freshness[1] <= freshness[0] && freshness[0] <= freshness[2] && freshness[2] <= 1.0, "{freshness:?}");
    let violations: Vec<_> =
        series.iter().filter(|series| series.name == "recrawl_invariant_violations_total").collect();
    assert_eq!(violations.len(), STAGES.len() * stream::invariants::AT_RUN_TIME.len());
    assert!(violations.iter().all(|series| series.value == 0.0), "{violations:#?}");
}
