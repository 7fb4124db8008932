//! Prometheus itself scrapes a crawl: it has every series that alerts and dashboards use, and evaluates them all.

use crate::monitoring::{MeasuredCrawl, OVER_KAFKA};
use crate::operating::stop;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use tests::monitoring::{Monitoring, prometheus_is_installed};
use tests::{HttpAnswer, Process, SOON, wait_for};

/// A Prometheus that scrapes a crawl every second.
struct Prometheus {
    address: SocketAddr,
    _process: Process,
}

impl Prometheus {
    fn start(measured: &MeasuredCrawl) -> Self {
        let crawl = &measured.crawl;
        let directory = crawl.directory.path();
        let target = operate::Access::noted(&crawl.data()).unwrap().address;
        let delivery = measured.delivery_address().unwrap().to_string();
        let of_pod =
            |target: &str, pod: &str| json!({"targets": [target], "labels": {"namespace": "test", "pod": pod}});
        // JSON is YAML.
        let config = json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [tests::workspace().join("compose/rules.yaml")],
            "scrape_configs": [{
                "job_name": "recrawl",
                "static_configs": [of_pod(&target, "recrawl-0"), of_pod(&delivery, "recrawl-delivery-0")],
            }],
        });
        let file = directory.join("prometheus.yaml");
        std::fs::write(&file, config.to_string()).unwrap();
        // Free a moment ago. If another takes it, the test fails and says so.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", directory.join("prometheus").display()));
        command.arg(format!("--web.listen-address={address}"));
        Self { address, _process: Process::start(command, directory) }
    }

    /// The `data` of an answer of its API; `None` while it does not listen.
    fn ask(&self, path: &str, query: &str) -> Option<Value> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = HttpAnswer::to(self.address, &format!("/api/v1/{path}?query={encoded}"))?;
        let answer: Value = serde_json::from_str(&answer.body).ok()?;
        assert_eq!(answer["status"], "success", "{query}: {answer:#}");
        Some(answer["data"].clone())
    }

    fn has(&self, query: &str) -> bool {
        self.ask("query", query).is_some_and(|data| !data["result"].as_array().unwrap().is_empty())
    }
}

#[test]
fn prometheus_scrapes_a_crawl_and_evaluates_every_alert_and_dashboard() {
    if !prometheus_is_installed() {
        return;
    }
    let measured = MeasuredCrawl::start();
    let monitoring = Monitoring::read(tests::workspace()).unwrap();
    let prometheus = Prometheus::start(&measured);
    wait_for("the crawl and its delivery are scraped", SOON, || prometheus.has("sum(up{job=\"recrawl\"}) == 2"));
    let used = monitoring.used.iter().filter(|used| used.name != OVER_KAFKA);
    let missing: Vec<_> = used.filter(|used| !prometheus.has(&used.selector())).collect();
    assert!(missing.is_empty(), "Prometheus has no {missing:#?}");
    for (place, expression) in &monitoring.expressions {
        assert!(prometheus.ask("query", expression).is_some(), "{place}: {expression}");
    }
    wait_for("every rule is evaluated", SOON, || {
        let data = prometheus.ask("rules", "").unwrap();
        let groups = data["groups"].as_array().unwrap().iter();
        let rules: Vec<_> = groups.flat_map(|group| group["rules"].as_array().unwrap()).collect();
        assert!(rules.len() >= 20, "{data:#}");
        assert!(rules.iter().all(|rule| rule["health"] != "err"), "{data:#}");
        rules.iter().all(|rule| rule["health"] == "ok")
    });
    wait_for("the use of the budget is recorded", SOON, || prometheus.has("recrawl:budget_use:ratio > 0"));
    stop(measured.running);
}
