//! Startup, liveness and readiness probes over HTTP.

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use k8s_openapi::api::core::v1::{Container, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::time::Duration;
use tokio::sync::watch;

/// The results of a container's probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Health {
    pub(super) is_started: bool,
    pub(super) is_ready: bool,
}

/// Probes a container and sends its health, until it must be restarted. Returns which probe failed, and how.
pub(super) async fn watch(container: &Container, address: &str, health: &watch::Sender<Health>) -> String {
    if let Some(probe) = &container.startup_probe {
        let prober = Prober::new(container, probe, address);
        let mut failures = 0;
        loop {
            match prober.probe().await {
                Ok(()) => break,
                Err(error) if failures + 1 >= prober.failure_threshold => {
                    return format!("Startup probe failed: {error}");
                }
                Err(_) => failures += 1,
            }
        }
    }
    health.send_modify(|health| health.is_started = true);
    tokio::select! {
        failure = live(container, address) => failure,
        never = ready(container, address, health) => never,
    }
}

async fn live(container: &Container, address: &str) -> String {
    let Some(probe) = &container.liveness_probe else { return futures::future::pending().await };
    let prober = Prober::new(container, probe, address);
    let mut failures = 0;
    loop {
        match prober.probe().await {
            Ok(()) => failures = 0,
            Err(error) if failures + 1 >= prober.failure_threshold => return format!("Liveness probe failed: {error}"),
            Err(_) => failures += 1,
        }
    }
}

async fn ready(container: &Container, address: &str, health: &watch::Sender<Health>) -> ! {
    let Some(probe) = &container.readiness_probe else {
        health.send_modify(|health| health.is_ready = true);
        loop {
            futures::future::pending::<()>().await;
        }
    };
    let prober = Prober::new(container, probe, address);
    let mut failures = 0;
    loop {
        failures = if prober.probe().await.is_ok() { 0 } else { failures + 1 };
        if failures == 0 || failures >= prober.failure_threshold {
            health.send_modify(|health| health.is_ready = failures == 0);
        }
    }
}

struct Prober {
    client: Client<HttpConnector, Empty<Bytes>>,
    uri: hyper::Uri,
    period: Duration,
    timeout: Duration,
    failure_threshold: i32,
}

impl Prober {
    fn new(container: &Container, probe: &Probe, address: &str) -> Self {
        let get = probe.http_get.as_ref().expect("all probes of k8s/ are HTTP");
        let port = match &get.port {
            IntOrString::Int(port) => *port,
            IntOrString::String(name) => {
                let mut ports = container.ports.iter().flatten();
                ports.find(|port| port.name.as_ref() == Some(name)).expect("k8s-check has seen the port").container_port
            }
        };
        let path = get.path.as_deref().unwrap_or("/");
        let seconds =
            |value: Option<i32>, default| Duration::from_secs(value.unwrap_or(default).try_into().unwrap_or(1));
        Self {
            client: Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http(),
            uri: format!("http://{address}:{port}{path}").parse().unwrap(),
            period: seconds(probe.period_seconds, 10),
            timeout: seconds(probe.timeout_seconds, 1),
            failure_threshold: probe.failure_threshold.unwrap_or(3),
        }
    }

    /// Waits for its time and probes once.
    async fn probe(&self) -> Result<(), String> {
        tokio::time::sleep(self.period).await;
        match tokio::time::timeout(self.timeout, self.client.get(self.uri.clone())).await {
            Err(_) => Err(format!("{} did not answer within {:?}", self.uri, self.timeout)),
            Ok(Err(error)) => Err(format!("{}: {error}", self.uri)),
            Ok(Ok(response)) if response.status().as_u16() < 400 => Ok(()),
            Ok(Ok(response)) => Err(format!("{}: {}", self.uri, response.status())),
        }
    }
}
