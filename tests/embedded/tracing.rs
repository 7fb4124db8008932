//! Traces of an embedded crawl, and collectors that are slow, away, or take secrets.

use crate::operating::{fetches, stop};
use simweb::SeededConfig;
use std::collections::BTreeSet;
use tests::monitoring::scraped;
use tests::traces::{TraceCollector, reported_loops};
use tests::{Crawl, Reply, SOON, SimulatedWeb, WebhookReceiver, deserted, wait_for};

const PAGES: u64 = 20;

fn web() -> SimulatedWeb {
    SimulatedWeb::start(SeededConfig { hosts: 4, pages_per_host: 5, ..SeededConfig::default() }, 1.0, |_| ())
}

fn traced(web: &SimulatedWeb, endpoint: &str) -> Crawl {
    Crawl::of(web).with("trace.sample_ratio", "1").with("trace.otlp_endpoint", endpoint)
}

fn metric(crawl: &Crawl, name: &str) -> f64 {
    let (_, text) = crate::hints::request(crawl, "GET", "/metrics", "", "");
    let found = scraped(&text).into_iter().find(|series| series.name == name);
    found.unwrap_or_else(|| panic!("no {name} in\n{text}")).value
}

#[test]
fn the_loop_of_a_page_in_one_process_is_one_trace() {
    let (web, collector) = (web(), TraceCollector::start());
    let crawl = traced(&web, &collector.endpoint());
    let running = crawl.run(&[]);
    wait_for("the first loop of every page is told", SOON, || {
        let pages = reported_loops(&collector.spans());
        web.urls().iter().all(|url| pages.contains(url))
    });
    stop(running);
    let systems: BTreeSet<_> =
        collector.spans().iter().filter_map(|span| span.attributes.get("messaging.system").cloned()).collect();
    assert_eq!(systems, BTreeSet::from(["recrawl".to_owned()]));
}

#[test]
fn what_is_not_sampled_is_not_reported_and_addresses_only_where_they_may_be() {
    let web = web();
    let collector = TraceCollector::start();
    let headers = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(headers.path(), "x-tenant: a secret\n").unwrap();
    let crawl = traced(&web, &collector.endpoint())
        .with("trace.sample_ratio", "0.5")
        .with("trace.urls", "false")
        .with("trace.otlp_headers_file", headers.path().to_str().unwrap());
    let running = crawl.run(&[]);
    wait_for("every page is fetched", SOON, || fetches(&crawl) >= PAGES);
    wait_for("some spans are told", SOON, || !collector.spans().is_empty());
    stop(running);
    let spans = collector.spans();
    let of_scheduler = spans.iter().filter(|span| span.parent.is_empty()).count() as f64;
    let requests = fetches(&crawl) as f64;
    assert!(of_scheduler < 0.9 * requests, "{of_scheduler} of {requests} fetches are traced");
    for span in &spans {
        assert!(!format!("{span:?}").contains(".test"), "{span:?}");
    }
    assert!(spans.iter().any(|span| !span.says("recrawl.page.id").is_empty()));
    if std::env::var_os("RECRAWL_OTEL_COLLECTOR").is_none() {
        assert!(collector.requests().iter().all(|request| request.headers["x-tenant"] == "a secret"));
    }
}

#[test]
fn a_collector_that_is_away_or_silent_costs_spans_and_nothing_else() {
    let silent = WebhookReceiver::start(|_| Reply::Silence);
    for endpoint in [format!("http://{}", deserted()), silent.url().replace("/hook", "")] {
        let web = web();
        let crawl = traced(&web, &endpoint);
        let running = crawl.run(&[]);
        wait_for("every page is fetched", SOON, || fetches(&crawl) >= PAGES);
        wait_for("lost spans are counted", SOON, || metric(&crawl, "recrawl_trace_spans_dropped_total") > 0.0);
        assert_eq!(metric(&crawl, "recrawl_trace_spans_sent_total"), 0.0);
        running.signal(libc::SIGTERM);
        let output = running.finish().exits_with(0);
        assert!(output.stderr.contains("the collector takes no spans"), "{}", output.stderr);
    }
}

#[test]
fn the_standards_variable_names_a_collector_too_and_a_wrong_address_is_refused() {
    let (web, collector) = (web(), TraceCollector::start());
    let endpoint: &'static str = collector.endpoint().leak();
    let crawl = Crawl::of(&web).with("trace.sample_ratio", "1").with_variable("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    let running = crawl.run(&[]);
    wait_for("spans are told", SOON, || !collector.spans().is_empty());
    stop(running);
    let crawl = Crawl::of(&web).with("trace.otlp_endpoint", "collector:4318");
    crawl.run(&[]).finish().exits_with(2).says(&["trace.otlp_endpoint", "http://otel-collector:4318"]);
    let crawl = Crawl::of(&web).with_variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1");
    crawl.run(&[]).finish().exits_with(2).says(&["traces cannot be sent"]);
}
