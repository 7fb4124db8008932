//! The Helm chart on a real control plane and a real Kafka with TLS, installed by Helm with the values of dev.
//!
//! The work of pods, and of operators on them, is tested with the overlay, which has the same objects.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use kube::ResourceExt;
use kubernetes::cluster::{Cluster, NAMESPACE, SOON, STAGES, directory_of, repository, urls};
use kubernetes::wait_for;
use serde_json::json;
use std::collections::BTreeSet;
use tokio::process::Command;

/// Runs Helm, which must succeed.
async fn helm(cluster: &Cluster, arguments: &[&str]) -> String {
    let mut command = Command::new(directory_of("RECRAWL_HELM"));
    command.arg("--kubeconfig").arg(cluster.control_plane.directory().join("kubeconfig"));
    command.args(["--namespace", NAMESPACE]).args(arguments).env("HOME", cluster.directory.path());
    let output = command.output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "helm {}: {errors}", arguments.join(" "));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Installs the chart, or upgrades it, for this Kafka and this web.
async fn apply(cluster: &Cluster, fetches_per_second: u32) -> String {
    let settings = json!({
        "crawl": {"discover": "same-site"},
        "kafka": {"brokers": cluster.kafka.brokers()},
        "detector": {"mirrors": true},
        "fetch": {"resolve": {"*.test": cluster.site.address.to_string()}},
        "policy": {"name": "uniform", "min_interval": "2s"},
        "budget": {"fetches_per_second": fetches_per_second},
        "politeness": {"crawl_delay": "100ms"},
    });
    let stages = json!({"matcher": {"replicas": 1}, "ranker": {"replicas": 1}});
    let values = cluster.directory.path().join("values.yaml");
    std::fs::write(&values, json!({"settings": settings, "stages": stages}).to_string()).unwrap();
    let at = |path: &str| repository().join(path).display().to_string();
    let (chart, dev, ours) = (at("k8s/helm/recrawl"), at("k8s/helm/values/dev.yaml"), values.display().to_string());
    helm(cluster, &["upgrade", "--install", "recrawl", &chart, "--values", &dev, "--values", &ours]).await
}

/// The pods of the stages, each known by an id of its own.
async fn pods(cluster: &Cluster) -> BTreeSet<String> {
    let pods = cluster.pods().await;
    let stages = pods.iter().filter(|pod| !pod.labels().contains_key("batch.kubernetes.io/job-name"));
    stages.map(|pod| pod.uid().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chart_runs_the_loop_is_upgraded_and_leaves_topics_and_volumes_when_it_is_removed() {
    let mut cluster = Cluster::start().await;
    cluster.define_custom_resources().await;
    let namespace = repository().join("k8s/overlays/dev/namespace.yaml");
    cluster.kubectl(&format!("apply -f {}", namespace.display())).await;
    let notes = apply(&cluster, 20).await;
    assert!(notes.contains("recrawl seed https://example.org/"), "{notes}");
    cluster.serve().await;
    let urls = urls("h", 4, 5);
    cluster.seed(&urls).await;
    cluster.wait_until_sent(&urls, 0).await;
    cluster.step("the chart is installed, and every page is fetched");

    let before = pods(&cluster).await;
    apply(&cluster, 20).await;
    cluster.wait_until_rolled_out().await;
    assert_eq!(pods(&cluster).await, before, "the same again replaces no pod");
    apply(&cluster, 30).await;
    cluster.wait_until_rolled_out().await;
    wait_for("all pods have the new settings", SOON, async || {
        let left = pods(&cluster).await.intersection(&before).count();
        if left == 0 { Ok(()) } else { Err(format!("{left} pods of the version before")) }
    })
    .await;
    cluster.site.change();
    cluster.wait_until_sent(&urls, 1).await;
    cluster.step("upgraded to other settings, with which every page is fetched");

    let topics = cluster.kubectl("get kafkatopics -o name").await;
    let claims = cluster.kubectl("get persistentvolumeclaims -o name").await;
    assert!(!topics.is_empty() && claims.lines().count() >= STAGES.len() - 1, "{topics}{claims}");
    helm(&cluster, &["uninstall", "recrawl"]).await;
    wait_for("no pod is left", SOON, async || {
        let left = cluster.pods().await.len();
        if left == 0 { Ok(()) } else { Err(format!("{left} pods")) }
    })
    .await;
    assert_eq!(cluster.kubectl("get kafkatopics -o name").await, topics);
    assert_eq!(cluster.kubectl("get persistentvolumeclaims -o name").await, claims);
    cluster.step("removed; topics and volumes are still there");
}
