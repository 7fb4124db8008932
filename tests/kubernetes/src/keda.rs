//! Prometheus and KEDA beside the cluster, as processes on loopback.

use crate::cluster::{Cluster, NAMESPACE};
use crate::{attended, free_port, logged, wait_for};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tokio::process::Child;
use tokio::task::JoinHandle;

/// Prometheus with the alerts and rules of `k8s/`. It scrapes the pods that run.
pub struct Prometheus {
    /// Its port.
    pub port: u16,
    client: Client<HttpConnector, Empty<Bytes>>,
    targets: JoinHandle<()>,
    _process: Child,
}

impl Prometheus {
    /// Starts it. The namespace must have its PrometheusRule.
    pub async fn start(cluster: &Cluster) -> Self {
        let directory = cluster.directory.path().join("prometheus");
        std::fs::create_dir_all(&directory).unwrap();
        let rules = cluster.kubectl("get prometheusrule recrawl -o jsonpath={.spec}").await;
        std::fs::write(directory.join("rules.yml"), rules).unwrap();
        // Debian's build has no discovery of Kubernetes, so the pods are written to a file.
        let configuration = "global: {scrape_interval: 5s, evaluation_interval: 5s}\nrule_files: [rules.yml]\n\
                             scrape_configs: [{job_name: recrawl, file_sd_configs: [{files: [pods.json], refresh_interval: 5s}]}]\n";
        let pods = directory.join("pods.json");
        let client = cluster.control_plane.client();
        let targets = tokio::spawn(async move {
            loop {
                write_targets(&client, &pods).await;
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
        });
        std::fs::write(directory.join("prometheus.yml"), configuration).unwrap();
        let port = free_port();
        let mut command = attended("prometheus");
        command.current_dir(&directory).arg(format!("--web.listen-address=127.0.0.1:{port}"));
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { port, client, targets, _process: logged(command, &directory, "prometheus") }
    }

    /// The current value of an expression that yields one series. NaN while there is no such series.
    pub async fn value(&self, expression: &str) -> f64 {
        let query: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let uri = format!("http://127.0.0.1:{}/api/v1/query?query={query}", self.port);
        let Ok(response) = self.client.get(uri.parse().unwrap()).await else { return f64::NAN };
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let value = answer["data"]["result"][0]["value"][1].as_str();
        value.and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.targets.abort();
    }
}

/// Writes the pods that run and have a port for Prometheus, as a PodMonitor would find them.
async fn write_targets(client: &kube::Client, file: &Path) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let Ok(pods) = pods.list(&ListParams::default()).await else { return };
    let running = pods.items.iter().filter_map(|pod| {
        let status = pod.status.as_ref().filter(|status| status.phase.as_deref() == Some("Running"))?;
        let port = pod.spec.as_ref()?.containers[0]
            .ports
            .as_ref()?
            .iter()
            .find(|port| port.name.as_deref() == Some("http"))?;
        let target = format!("{}:{}", status.pod_ip.as_ref()?, port.container_port);
        Some(json!({"targets": [target], "labels": {"namespace": NAMESPACE, "pod": pod.name_any()}}))
    });
    let unfinished = file.with_extension("new");
    std::fs::write(&unfinished, serde_json::Value::from_iter(running).to_string()).unwrap();
    std::fs::rename(unfinished, file).unwrap();
}

/// KEDA's operator and its adapter, which serves metrics to the autoscaler.
pub struct Keda {
    _processes: [Child; 2],
}

impl Keda {
    /// Starts both from a directory with the programs and KEDA's custom resources, and waits until the autoscaler could ask
    /// for a metric.
    pub async fn start(cluster: &Cluster, programs: &Path) -> Self {
        let control_plane = &cluster.control_plane;
        let resources = programs.join("crds").display().to_string();
        control_plane.kubectl_ok(&["apply", "--server-side", "-f", &resources]).await;
        control_plane.kubectl_ok(&["create", "namespace", "keda"]).await;
        let directory = control_plane.directory();
        let kubeconfig = directory.join("kubeconfig").display().to_string();
        let [metrics, health, grpc, adapter, adapter_metrics] = std::array::from_fn(|_| free_port());
        let mut command = attended(programs.join("operator"));
        command.envs(ENVIRONMENT);
        command.args([
            format!("--kubeconfig={kubeconfig}"),
            format!("--cert-dir={}", directory.display()),
            format!("--metrics-bind-address=127.0.0.1:{metrics}"),
            format!("--health-probe-bind-address=127.0.0.1:{health}"),
            format!("--metrics-service-bind-address=127.0.0.1:{grpc}"),
            "--enable-webhook-patching=false".to_owned(),
        ]);
        let operator = logged(command, cluster.directory.path(), "keda-operator");
        let mut command = attended(programs.join("adapter"));
        command.envs(ENVIRONMENT);
        for purpose in ["kubeconfig", "lister-kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"] {
            command.arg(format!("--{purpose}={kubeconfig}"));
        }
        command.args([
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={adapter}"),
            format!("--tls-cert-file={}", directory.join("tls.crt").display()),
            format!("--tls-private-key-file={}", directory.join("tls.key").display()),
            format!("--cert-dir={}", directory.display()),
            format!("--metrics-service-address=127.0.0.1:{grpc}"),
            "--metrics-service-grpc-authority=localhost".to_owned(),
            format!("--port={adapter_metrics}"),
        ]);
        let adapter_process = logged(command, cluster.directory.path(), "keda-adapter");
        let service = cluster.directory.path().join("keda.json");
        std::fs::write(&service, external_metrics(adapter)).unwrap();
        control_plane.kubectl_ok(&["apply", "-f", &service.display().to_string()]).await;
        wait_for("KEDA serves metrics", Duration::from_secs(90), async || {
            let output = control_plane.kubectl(&["get", "--raw", "/apis/external.metrics.k8s.io/v1beta1"]).await;
            if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
        })
        .await;
        Self { _processes: [operator, adapter_process] }
    }
}

/// The environment that the pods of both would set: all namespaces are watched.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("WATCH_NAMESPACE", ""),
    ("POD_NAMESPACE", "keda"),
    ("KEDA_CLUSTER_OBJECT_NAMESPACE", "keda"),
    ("KUBERNETES_CLUSTER_DOMAIN", "cluster.local"),
];

/// How the API server reaches the adapter.
fn external_metrics(port: u16) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "adapter", "namespace": "keda"},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
        },
        {
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1beta1.external.metrics.k8s.io"},
            "spec": {
                "group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
                "insecureSkipTLSVerify": true, "service": {"name": "adapter", "namespace": "keda", "port": port},
            },
        },
    ]})
    .to_string()
}

/// The component `keda` over the dev overlay, at this Prometheus, quick enough for a test.
pub fn component(cluster: &Cluster, prometheus: u16, threshold: u32) -> String {
    format!(
        "components: ['{}']\npatches:\n  - target: {{kind: ScaledObject}}\n    patch: |\n      \
         - {{op: replace, path: /spec/triggers/0/metadata/serverAddress, value: 'http://127.0.0.1:{prometheus}'}}\n      \
         - {{op: replace, path: /spec/triggers/0/metadata/query, value: 'recrawl:fetch_requests_short_of_fetchers:sum{{namespace=\"{NAMESPACE}\"}}'}}\n      \
         - {{op: replace, path: /spec/triggers/0/metadata/threshold, value: '{threshold}'}}\n      \
         - {{op: replace, path: /spec/minReplicaCount, value: 1}}\n      \
         - {{op: replace, path: /spec/fallback/replicas, value: 1}}\n      \
         - {{op: replace, path: /spec/pollingInterval, value: 5}}\n      \
         - {{op: replace, path: /spec/advanced/horizontalPodAutoscalerConfig/behavior/scaleUp/stabilizationWindowSeconds, value: 10}}\n      \
         - {{op: replace, path: /spec/advanced/horizontalPodAutoscalerConfig/behavior/scaleUp/policies/0/periodSeconds, value: 15}}\n      \
         - {{op: replace, path: /spec/advanced/horizontalPodAutoscalerConfig/behavior/scaleDown/stabilizationWindowSeconds, value: 30}}\n      \
         - {{op: replace, path: /spec/advanced/horizontalPodAutoscalerConfig/behavior/scaleDown/policies/0/periodSeconds, value: 15}}\n",
        cluster.kustomize_path("k8s/components/keda"),
    )
}
