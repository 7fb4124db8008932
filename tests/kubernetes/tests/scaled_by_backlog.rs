//! KEDA scales the fetcher by its backlog: not while hosts are slow, but while fetchers are short, and back.
//!
//! Prometheus and KEDA are real. Their periods are shorter than in `k8s/components/keda`, and a fetcher has 64 connections.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use kubernetes::cluster::{Cluster, IMAGES, Overlay, SOON, directory_of, urls};
use kubernetes::keda::{Keda, Prometheus, component};
use kubernetes::wait_for;
use std::fmt::Write;
use std::time::{Duration, Instant};

const CONNECTIONS: u32 = 64;
/// Three quarters of a fetcher's connections, as in `k8s/components/keda`. More than what is on its way between the stages
/// at this rate while answers are quick.
const THRESHOLD: u32 = 48;
const SLOW_HOSTS: usize = 40;

/// The number of fetchers, and what it goes by, over time.
struct Series {
    began: Instant,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    at: Duration,
    backlog: f64,
    short: f64,
    replicas: u32,
}

impl Series {
    async fn sample(&mut self, cluster: &Cluster, prometheus: &Prometheus) -> Row {
        let backlog = "sum(max by (partition) (recrawl_backlog_records{stage=\"fetcher\"}))";
        let row = Row {
            at: self.began.elapsed(),
            backlog: prometheus.value(backlog).await,
            short: prometheus.value("recrawl:fetch_requests_short_of_fetchers:sum").await,
            replicas: cluster
                .kubectl("get deployment recrawl-fetcher -o jsonpath={.spec.replicas}")
                .await
                .parse()
                .unwrap(),
        };
        self.rows.push(row);
        row
    }

    /// The series as CSV, for `cargo run --example plot_scaling`.
    fn to_csv(&self) -> String {
        let mut text = "seconds,backlog,short_of_fetchers,replicas\n".to_owned();
        for row in &self.rows {
            writeln!(text, "{:.0},{},{},{}", row.at.as_secs_f64(), row.backlog, row.short, row.replicas).unwrap();
        }
        text
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fetchers_are_added_while_they_are_short_and_not_while_hosts_are_slow() {
    let mut cluster = Cluster::start().await;
    let slow: Vec<String> = (0..SLOW_HOSTS).map(|host| format!("slow{host}.test")).collect();
    let settings = cluster.settings(&format!(
        "[fetch]\nresolve = {{ \"*.test\" = \"{}\" }}\nconnections = {CONNECTIONS}\n[policy]\nname = \"uniform\"\nmin_interval = \"1s\"\n\
         [budget]\nfetches_per_second = 20\n[politeness]\ncrawl_delay = \"50ms\"\n\
         [[rules]]\npages = {slow:?}\ncrawl_delay = \"5s\"\n",
        cluster.site.address
    ));
    let mut overlay = Overlay { settings, image: IMAGES[0], replicas: Vec::new(), further: String::new() };
    cluster.bring_up(&overlay).await;
    let prometheus = Prometheus::start(&cluster).await;
    let _keda = Keda::start(&cluster, &directory_of("RECRAWL_KEDA")).await;
    overlay.further = component(&cluster, prometheus.port, THRESHOLD);
    cluster.apply(&overlay).await;
    cluster.kubectl("wait --for=condition=Ready scaledobject/recrawl-fetcher --timeout=60s").await;
    cluster.step("KEDA scales the fetcher");

    let mut series = Series { began: Instant::now(), rows: Vec::new() };
    cluster.seed(&urls("slow", SLOW_HOSTS, 10)).await;
    let (mut until, mut most) = (None, 0);
    let a_minute = Duration::from_secs(60);
    wait_for("hosts are slow for a minute", SOON * 2, async || {
        // From when requests wait for them.
        let row = series.sample(&cluster, &prometheus).await;
        most = most.max(row.replicas);
        if row.backlog > f64::from(THRESHOLD) {
            until.get_or_insert(Instant::now() + a_minute);
        }
        if until.is_some_and(|until| Instant::now() > until) { Ok(()) } else { Err(format!("{row:?}")) }
    })
    .await;
    assert_eq!(most, 1, "more fetchers do not make hosts faster: {}", series.to_csv());
    cluster.step("hosts were slow, and there is one fetcher");

    cluster.site.set_latency(Duration::from_secs(10));
    cluster.seed(&urls("quick", 250, 4)).await;
    wait_for("fetchers are added", SOON * 2, async || {
        let row = series.sample(&cluster, &prometheus).await;
        if row.replicas >= 3 { Ok(()) } else { Err(format!("{row:?}")) }
    })
    .await;
    cluster.step("fetchers were short, and there are three and more");

    cluster.site.set_latency(Duration::from_millis(10));
    wait_for("fetchers are taken away", SOON * 4, async || {
        let row = series.sample(&cluster, &prometheus).await;
        if row.replicas == 1 { Ok(()) } else { Err(format!("{row:?}")) }
    })
    .await;
    cluster.step("answers are quick, and there is one fetcher again");
    if let Some(file) = std::env::var_os("RECRAWL_SCALING_CSV") {
        std::fs::write(file, series.to_csv()).unwrap();
    }
}
