//! The pod of `k8s/components/delivery` without Kubernetes: its command runs as a process, with the settings, files, environment
//! and probes that stand in the manifests, as a Kafka user with the rights that stand there.
//!
//! Differences from a container: paths of volumes are in the test's directory, and Kafka and the receiver are on loopback.

use crate::delivering::by_page;
use crate::services::{Distributed, SOON, kafka};
use serde_json::{Value, json};
use simweb::{ChangeRates, SeededConfig};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tests::monitoring::{scraped, unlisted};
use tests::{HttpAnswer, KafkaCluster, Process, Reply, SimulatedWeb, Webhook, WebhookReceiver, programs, wait_for};

const PAGES: usize = 40;
const SECRET: &str = "a secret of our own making";

fn text(file: &str) -> String {
    let repository = tests::workspace();
    fs::read_to_string(repository.join(file)).unwrap()
}

/// The document of a kind in a file of manifests.
pub(crate) fn manifest(file: &str, kind: &str) -> Value {
    let text = text(file);
    let mut documents = text.split("\n---\n").map(|document| serde_saphyr::from_str::<Value>(document).unwrap());
    documents.find(|document| document["kind"] == kind).unwrap()
}

/// The pod, with its volumes as directories.
struct Pod {
    spec: Value,
    directory: TempDir,
}

impl Pod {
    fn new(cluster: &KafkaCluster, receiver: &WebhookReceiver) -> Self {
        let mut stateful = manifest("k8s/components/delivery/delivery.yaml", "StatefulSet");
        let pod = Self { spec: stateful["spec"]["template"]["spec"].take(), directory: tempfile::tempdir().unwrap() };
        for mount in pod.container()["volumeMounts"].as_array().unwrap() {
            fs::create_dir(pod.volume(mount["name"].as_str().unwrap())).unwrap();
        }
        let settings = text("k8s/overlays/dev/recrawl.toml");
        let settings = settings.replace("recrawl-kafka-bootstrap:9093", &cluster.brokers_with_certificate());
        fs::write(pod.volume("settings").join("recrawl.toml"), pod.here(&settings)).unwrap();
        fs::write(pod.volume("webhook").join("address"), receiver.url()).unwrap();
        fs::write(pod.volume("webhook").join("secret"), SECRET).unwrap();
        make_certificate(&cluster.secrets(), &pod.volume("kafka"));
        pod
    }

    fn container(&self) -> &Value {
        &self.spec["containers"][0]
    }

    fn volume(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A text with the paths of volumes replaced by those of this machine.
    fn here(&self, text: &str) -> String {
        let mounts = self.container()["volumeMounts"].as_array().unwrap();
        mounts.iter().fold(text.to_owned(), |text, mount| {
            let volume = self.volume(mount["name"].as_str().unwrap());
            text.replace(mount["mountPath"].as_str().unwrap(), &volume.display().to_string())
        })
    }

    fn start(&self) -> RunningPod<'_> {
        let words = |key: &str| self.container()[key].as_array().unwrap().clone();
        let words: Vec<_> = [words("command"), words("args")].concat();
        let words: Vec<_> = words.iter().map(|word| self.here(word.as_str().unwrap())).collect();
        let mut command = programs().command(&words[0]);
        command.args(&words[1..]).env("RECRAWL_HTTP_BIND", "127.0.0.1:0");
        for variable in self.container()["env"].as_array().unwrap() {
            command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
        }
        RunningPod { pod: self, process: Some(Process::start(command, self.directory.path())) }
    }
}

/// Makes a user's certificate and key and the authority's certificate, as Strimzi's user operator does.
fn make_certificate(authority: &Path, to: &Path) {
    fs::copy(authority.join("ca.pem"), to.join("ca.crt")).unwrap();
    let file = |directory: &Path, name: &str| directory.join(name).display().to_string();
    let (ca, ca_key) = (file(authority, "ca.pem"), file(authority, "ca-key.pem"));
    let (key, certificate) = (file(to, "user.key"), file(to, "user.crt"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2"])
        .args(["-CA", &ca, "-CAkey", &ca_key, "-subj", "/CN=recrawl-delivery"])
        .args(["-addext", "basicConstraints=CA:false", "-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// A pod whose command runs as a process. Its log is printed when the test fails.
struct RunningPod<'a> {
    pod: &'a Pod,
    process: Option<Process>,
}

impl Drop for RunningPod<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && self.process.is_some() {
            eprintln!("--- the pod said:\n{}", self.said());
        }
    }
}

impl RunningPod<'_> {
    fn said(&self) -> String {
        self.process.as_ref().expect("it runs").stderr()
    }

    fn kill(mut self) {
        self.process.take().expect("it runs").kill();
    }

    fn address(&self) -> Option<SocketAddr> {
        let said = self.said();
        let (_, rest) = said.split_once("health and metrics are at http://")?;
        rest.split_once('/')?.0.parse().ok()
    }

    fn get(&self, path: &str) -> Option<HttpAnswer> {
        HttpAnswer::to(self.address()?, path)
    }

    /// Whether a probe of the manifest succeeds.
    fn passes(&self, probe: &str) -> bool {
        let probe = &self.pod.container()[probe]["httpGet"];
        assert_eq!(probe["port"], self.pod.container()["ports"][0]["name"]);
        self.get(probe["path"].as_str().unwrap()).is_some_and(|answer| answer.status == 200)
    }

    fn wait_until_ready(&self) {
        wait_for("the pod is started, alive and ready", SOON, || {
            ["startupProbe", "livenessProbe", "readinessProbe"].iter().all(|probe| self.passes(probe))
        });
    }

    /// A metric, summed over partitions.
    fn metric(&self, name: &str) -> f64 {
        let Some(answer) = self.get("/metrics") else { return f64::NAN };
        scraped(&answer.body).iter().filter(|series| series.name == name).map(|series| series.value).sum()
    }

    /// Ends it as a kubelet does. It must end by itself, in order and in time. Returns how long it took.
    fn stop(mut self) -> Duration {
        let grace = Duration::from_secs(self.pod.spec["terminationGracePeriodSeconds"].as_u64().unwrap());
        let asked = Instant::now();
        let process = self.process.take().expect("it runs");
        process.signal(libc::SIGTERM);
        process.finish_within(grace).exits_with(0).says(&[]);
        asked.elapsed()
    }
}

#[test]
fn the_pod_of_the_delivery_reports_every_change_whatever_happens_to_it_to_kafka_and_to_the_receiver() {
    if kafka().is_none() {
        return;
    }
    let cluster = KafkaCluster::start();
    cluster.allow(&json!([manifest("k8s/components/delivery/strimzi/user.yaml", "KafkaUser")]).to_string());
    let rates = ChangeRates::Same(0.0);
    let seeded = SeededConfig { hosts: 4, pages_per_host: PAGES / 4, rates, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let distributed = Distributed::without_seeds(&web, cluster.brokers(), &[("kafka.topic_prefix", "recrawl.")]);
    let urls = web.urls();
    let seed = |some: &[String]| {
        let words: Vec<&str> = ["seed"].into_iter().chain(some.iter().map(String::as_str)).collect();
        distributed.ask(&words).exits_with(0);
    };
    let is_silent = Arc::new(AtomicBool::new(false));
    let silent = is_silent.clone();
    let receiver = WebhookReceiver::start(move |webhook| match webhook.came_before {
        _ if silent.load(Ordering::SeqCst) => Reply::Silence,
        0 if webhook.body.len() % 3 == 0 => Reply::status(503),
        _ => Reply::status(200),
    });
    let pod = Pod::new(&cluster, &receiver);
    let services = distributed.start_all();

    // Killed again and again.
    seed(&urls[..PAGES - 10]);
    let mut running = pod.start();
    for part in 1..4 {
        wait_for("some changes are taken", SOON, || receiver.taken().len() >= part * 7);
        running.kill();
        running = pod.start();
    }
    running.wait_until_ready();
    wait_for("the first part is taken", SOON, || {
        by_page(receiver.taken().iter().map(Webhook::json)).len() == PAGES - 10
    });
    wait_for("nothing is left", SOON, || running.metric("recrawl_backlog_records") == 0.0);

    // Stopped while the receiver is silent.
    is_silent.store(true, Ordering::SeqCst);
    seed(&urls[PAGES - 10..]);
    wait_for("the others wait", SOON, || running.metric("recrawl_backlog_records") >= 10.0);
    wait_for("their age is told", SOON, || running.metric("recrawl_backlog_seconds") > 1.0);
    let shown = running.get("/metrics").unwrap().body;
    assert_eq!(unlisted(&scraped(&shown)), [""; 0], "docs/METRICS.md has the others");
    let status = running.get("/status").unwrap().body;
    let said = running.said();
    for secret in ["/hook", SECRET] {
        assert!(![&shown, &status, &said].iter().any(|text| text.contains(secret)), "{shown}\n{status}\n{said}");
    }
    println!("with a silent receiver it ends in {:?}", running.stop());
    is_silent.store(false, Ordering::SeqCst);

    // Started while Kafka is away.
    let nodes = 1..=KafkaCluster::NODES;
    nodes.clone().for_each(|node| cluster.pause(node));
    let running = pod.start();
    wait_for("it says that it waits for Kafka", SOON, || running.metric("recrawl_stage_failing") == 1.0);
    assert!(running.passes("startupProbe") && running.passes("livenessProbe") && !running.passes("readinessProbe"));
    nodes.clone().for_each(|node| cluster.resume(node));
    running.wait_until_ready();
    distributed.wait_until_idle(&services);
    let output = distributed.ask(&["changes"]).exits_with(0);
    let reported = by_page(output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()));
    assert_eq!(reported.len(), PAGES);
    wait_for("every change is taken, in order", SOON, || {
        by_page(receiver.taken().iter().map(Webhook::json)) == reported
    });
    assert!(receiver.seen().iter().all(|webhook| webhook.headers.contains_key("webhook-signature")));
    let repeated = receiver.taken().len() - reported.values().map(Vec::len).sum::<usize>();
    assert!(repeated <= 3, "a kill repeats the change that was on its way, and no other: {repeated}");

    // Stopped while Kafka is away.
    nodes.clone().for_each(|node| cluster.pause(node));
    wait_for("it says that Kafka does not answer", SOON, || running.metric("recrawl_stage_failing") == 1.0);
    assert!(running.passes("livenessProbe"), "an outage of Kafka restarts no pod");
    println!("without Kafka it ends in {:?}", running.stop());
    nodes.for_each(|node| cluster.resume(node));
    services.into_iter().for_each(|service| drop(service.stop()));
}
