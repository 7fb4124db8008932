//! The component `delivery` over the dev overlay: a pod that posts changes to a web server, as a Kafka user with the rights
//! that stand there. Failures of Kafka and of the receiver are tested without a control plane, by tests/distributed.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use kubernetes::cluster::{Cluster, IMAGES, NAMESPACE, Overlay, SOON, urls};
use kubernetes::kubelet::Kubelet;
use kubernetes::wait_for;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

const SETTINGS: &str = "[policy]\nname = \"uniform\"\nmin_interval = \"2s\"\n[budget]\nfetches_per_second = 20\n\
                        [politeness]\ncrawl_delay = \"100ms\"\n";
const POD: &str = "recrawl-delivery-0";

/// A web server that takes every change, and keeps the ids of those that are signed.
#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self { address: listener.local_addr().unwrap(), taken: Arc::default() };
        let shared = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = shared.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let answer = receiver.take(&request);
                        async move { Ok::<_, Infallible>(answer) }
                    });
                    // A sender that is killed is no failure of the server.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        receiver
    }

    fn take(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if let (Some(id), Some(_)) = (header("webhook-id"), header("webhook-signature")) {
            self.taken.lock().unwrap().push(id);
        }
        Response::new(Full::default())
    }

    fn taken(&self) -> Vec<String> {
        self.taken.lock().unwrap().clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_component_delivery_reports_every_change_through_a_kill_and_a_rollout() {
    let mut cluster = Cluster::start().await;
    let receiver = Receiver::start().await;
    let settings =
        cluster.settings(&format!("[fetch]\nresolve = {{ \"*.test\" = \"{}\" }}\n{SETTINGS}", cluster.site.address));
    let component = |path: &str| format!("  - '{}'\n", cluster.kustomize_path(&format!("k8s/components/{path}")));
    let components = component("delivery") + &component("delivery/strimzi");
    let further = format!("namespace: {NAMESPACE}\ncomponents:\n{components}");
    cluster.bring_up(&Overlay { settings, image: IMAGES[0], replicas: Vec::new(), further }).await;
    let phase = format!("get pod {POD} -o jsonpath={{.status.phase}}");
    assert_eq!(cluster.kubectl(&phase).await, "Pending", "nothing starts without the address");
    let secret =
        format!("--from-literal=address=http://{}/hook --from-literal=secret=of-our-own-making", receiver.address);
    cluster.kubectl(&format!("create secret generic recrawl-webhook {secret}")).await;
    let rolled_out = format!("rollout status statefulset/recrawl-delivery --timeout={}s", SOON.as_secs());
    cluster.kubectl(&rolled_out).await;
    cluster.step("the delivery is ready");

    let urls = urls("c", 4, 5);
    cluster.seed(&urls).await;
    for version in 0..4 {
        cluster.wait_until_sent(&urls, version).await;
        match version {
            0 => assert!(cluster.nodes.iter().any(|node| node.kill(POD)), "{POD} does not run"),
            1 => drop(cluster.kubectl("rollout restart statefulset/recrawl-delivery").await),
            _ => {}
        }
        cluster.site.change();
    }
    cluster.kubectl(&rolled_out).await;
    cluster.wait_until_sent(&urls, 4).await;
    wait_for("every change is told", SOON, async || {
        let lines = cluster.recrawl(&["--format", "json", "changes"]).await;
        let change = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        let ids: BTreeSet<_> =
            lines.lines().map(|line| change(line)["change_id"].as_str().unwrap().to_owned()).collect();
        let reported: BTreeSet<_> = receiver.taken().into_iter().collect();
        let is_all = ids.len() >= urls.len() * 5 && reported == ids;
        if is_all { Ok(()) } else { Err(format!("{} of {}", reported.len(), ids.len())) }
    })
    .await;
    let repeated = receiver.taken().len() - receiver.taken().into_iter().collect::<BTreeSet<_>>().len();
    assert!(repeated <= 1, "the kill repeats the change that was on its way, and no other: {repeated}");
    let ended: Vec<_> = cluster.nodes.iter().flat_map(Kubelet::ended).filter(|ended| ended.pod == POD).collect();
    let stopped: Vec<_> = ended.iter().filter(|ended| ended.after_sigterm.is_some()).collect();
    assert!(stopped.len() == 1 && stopped[0].exit_code == 0, "{ended:?}");
    assert!(stopped[0].after_sigterm < stopped[0].grace_period, "{ended:?}");
    cluster.step(&format!("{} changes are told, {repeated} of them twice", receiver.taken().len() - repeated));
}
