//! The dev overlay on a real control plane and a real Kafka with TLS, and what operators do to it: `make k8s-e2e`.
//!
//! One test, because a cluster with the loop on it takes a minute to come up. It prints its steps.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use kubernetes::control_plane::ControlPlane;
use kubernetes::kafka::Kafka;
use kubernetes::kubelet::Kubelet;
use kubernetes::site::Site;
use kubernetes::{storage, strimzi, wait_for};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NAMESPACE: &str = "recrawl-dev";
/// For what takes a pod or two and a rebalance, on a busy machine.
const SOON: Duration = Duration::from_secs(120);
const HOSTS: usize = 12;
const PAGES_PER_HOST: usize = 8;
/// Two builds of the same programs.
const IMAGES: [&str; 2] = ["recrawl:0.1.0", "recrawl:0.1.1"];
const STAGES: [&str; 6] = [
    "statefulset/recrawl-scheduler",
    "deployment/recrawl-fetcher",
    "statefulset/recrawl-detector",
    "statefulset/recrawl-estimator",
    "statefulset/recrawl-matcher",
    "statefulset/recrawl-ranker",
];

struct Cluster {
    directory: TempDir,
    control_plane: ControlPlane,
    nodes: [Kubelet; 2],
    kafka: Kafka,
    site: Site,
    began: Instant,
}

impl Cluster {
    async fn start() -> Self {
        let began = Instant::now();
        let directory = tempfile::tempdir().unwrap();
        let (kafka, site) = (Kafka::start().await, Site::start().await);
        let control_plane = ControlPlane::start(&directory_of("RECRAWL_CONTROL_PLANE")).await;
        let client = control_plane.client();
        let volumes = directory.path().join("volumes");
        let provisioner = client.clone();
        tokio::spawn(async move { storage::provision(provisioner, volumes).await.unwrap() });

        let images = images(directory.path());
        let node = |number: u8| {
            let pods = directory.path().join(format!("node-{number}"));
            Kubelet::start(client.clone(), number, pods, images.clone())
        };
        let nodes = [node(1).await, node(2).await];
        Self { directory, control_plane, nodes, kafka, site, began }
    }

    fn step(&self, what: &str) {
        println!("{:>5.0} s  {what}", self.began.elapsed().as_secs_f64());
    }

    async fn kubectl(&self, arguments: &str) -> String {
        let words: Vec<&str> = ["-n", NAMESPACE].into_iter().chain(arguments.split_whitespace()).collect();
        self.control_plane.kubectl_ok(&words).await
    }

    /// Applies the dev overlay with these settings and images.
    async fn apply(&self, settings: &str, image: &str, replicas: [usize; 3]) {
        let overlay = self.directory.path().join("overlay");
        std::fs::create_dir_all(&overlay).unwrap();
        let dev = repository().join("k8s/overlays/dev").canonicalize().unwrap();
        // Kustomize takes no absolute path.
        let up = "../".repeat(overlay.canonicalize().unwrap().components().count() - 1);
        let [schedulers, detectors, fetchers] = replicas;
        let kustomization = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
             resources: ['{up}{}']\n\
             configMapGenerator:\n  - {{name: recrawl, namespace: {NAMESPACE}, behavior: replace, files: [recrawl.toml]}}\n\
             images: [{{name: recrawl, newTag: {}}}]\n\
             replicas:\n  - {{name: recrawl-matcher, count: 1}}\n  - {{name: recrawl-ranker, count: 1}}\n\
             \x20 - {{name: recrawl-scheduler, count: {schedulers}}}\n  - {{name: recrawl-detector, count: {detectors}}}\n\
             \x20 - {{name: recrawl-fetcher, count: {fetchers}}}\n",
            dev.strip_prefix("/").unwrap().display(),
            image.split_once(':').unwrap().1,
        );
        std::fs::write(overlay.join("kustomization.yaml"), kustomization).unwrap();
        std::fs::write(overlay.join("recrawl.toml"), settings).unwrap();
        self.kubectl(&format!("apply -k {}", overlay.display())).await;
    }

    /// The settings of the dev overlay, for this Kafka and this web.
    fn settings(&self) -> String {
        let text = std::fs::read_to_string(repository().join("k8s/overlays/dev/recrawl.toml")).unwrap();
        let brokers = self.kafka.brokers();
        let text = text.replace("recrawl-kafka-bootstrap:9093", &brokers);
        assert!(text.contains(&brokers), "the overlay names its Kafka otherwise");
        let text = text.replace("[crawl]\n", "[crawl]\ndiscover = \"same-site\"\n");
        format!(
            "{text}\n[fetch]\nresolve = {{ \"*.test\" = \"{}\" }}\n[policy]\nmin_interval = \"2s\"\n[budget]\nfetches_per_second = 20\n\
             [politeness]\ncrawl_delay = \"100ms\"\n[detector]\nmirrors = true\n",
            self.site.address
        )
    }

    async fn pods(&self) -> Vec<Pod> {
        let pods: Api<Pod> = Api::namespaced(self.control_plane.client(), NAMESPACE);
        pods.list(&ListParams::default().labels("app.kubernetes.io/part-of=recrawl")).await.unwrap().items
    }

    /// Restarts of the stages' containers, by pod.
    async fn restarts(&self) -> BTreeMap<String, i32> {
        let pods = self.pods().await;
        // A check of the topics fails while there is no broker, and is made again.
        let stages = pods.iter().filter(|pod| !pod.name_any().starts_with("recrawl-topics"));
        stages.map(|pod| (pod.name_any(), container(pod).map_or(0, |status| status.restart_count))).collect()
    }

    /// Waits until each stage has the pods that it is to have, of its newest description, and all are ready.
    async fn wait_until_rolled_out(&self) {
        for stage in STAGES {
            let words = format!("rollout status {stage} --timeout={}s", SOON.as_secs());
            self.kubectl(&words).await;
        }
    }

    /// Waits until every page was sent in a version, with what is missing.
    async fn wait_until_sent(&self, version: u32) {
        let what = format!("version {version} of every page is fetched");
        wait_for(&what, SOON, async || {
            let books = self.site.books();
            let sent: BTreeSet<&str> =
                books.iter().filter(|entry| entry.sent == Some(version)).map(|entry| entry.page.as_str()).collect();
            let all = HOSTS * PAGES_PER_HOST;
            if sent.len() == all { Ok(()) } else { Err(format!("{} of {all}", sent.len())) }
        })
        .await;
    }

    /// Changes all pages and waits until they have been fetched: the loop turns, and no page is lost.
    async fn turns(&self, version: u32) {
        self.site.change();
        self.wait_until_sent(version).await;
    }

    /// Runs recrawl where the operator's pod is.
    async fn recrawl(&self, words: &[&str]) -> String {
        let pods = self.pods().await;
        let pod = pods.iter().map(ResourceExt::name_any).find(|name| name.starts_with("recrawl-command")).unwrap();
        let command = [&["recrawl"], words].concat();
        for node in &self.nodes {
            if let Some(output) = node.exec(&pod, &command).await {
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "recrawl {}: {errors}", words.join(" "));
                return String::from_utf8_lossy(&output.stdout).into_owned();
            }
        }
        panic!("{pod} runs on no node");
    }
}

fn container(pod: &Pod) -> Option<&k8s_openapi::api::core::v1::ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn directory_of(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: run `make k8s-e2e`")).into()
}

/// Two images with the same programs, each in a directory of its own.
fn images(directory: &Path) -> HashMap<String, PathBuf> {
    let built = directory_of("RECRAWL_PROGRAMS");
    let make = |image: &str| {
        let programs = directory.join(image.replace(':', "-"));
        std::fs::create_dir_all(&programs).unwrap();
        for stage in STAGES.iter().map(|stage| stage.split_once('/').unwrap().1).chain(["recrawl"]) {
            std::fs::copy(built.join(stage), programs.join(stage)).unwrap();
        }
        (image.to_owned(), programs)
    };
    IMAGES.into_iter().map(make).collect()
}

fn urls() -> Vec<String> {
    let pages = |host: usize| (0..PAGES_PER_HOST).map(move |page| format!("http://h{host}.test/{page}"));
    (0..HOSTS).flat_map(pages).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dev_overlay_runs_and_takes_what_operators_do_to_it() {
    let mut cluster = Cluster::start().await;
    cluster.step("a control plane, two nodes and a Kafka run");
    let client = cluster.control_plane.client();
    strimzi::define_custom_resources(&client, &repository().join(".tools/k8s-check/crds/schemas.json")).await;
    cluster.kubectl("wait --for=condition=established crd --all --timeout=30s").await;
    cluster.apply(&cluster.settings(), IMAGES[0], [1, 1, 1]).await;
    let users = STAGES.map(|stage| stage.split_once('/').unwrap().1);
    let users = [&users[..], &["recrawl-command"]].concat();
    strimzi::make_secrets(&client, NAMESPACE, &cluster.kafka.secrets(), &users).await;
    cluster.kubectl("rollout status deployment/recrawl-command --timeout=60s").await;
    cluster.recrawl(&["topics", "create"]).await;
    cluster.kubectl("create job topics-now --from=cronjob/recrawl-topics").await;
    cluster.kubectl("wait --for=condition=complete job/topics-now --timeout=60s").await;
    cluster.wait_until_rolled_out().await;
    cluster.step("the dev overlay is applied, its topics are checked, all stages are ready");

    let urls = urls();
    let seeds: Vec<&str> = ["seed"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    cluster.recrawl(&seeds).await;
    cluster.wait_until_sent(0).await;
    cluster.step("every page is fetched");

    cluster.kubectl("scale statefulset/recrawl-scheduler statefulset/recrawl-detector --replicas=2").await;
    cluster.kubectl("scale deployment/recrawl-fetcher --replicas=3").await;
    cluster.wait_until_rolled_out().await;
    cluster.step("new pods are ready");
    cluster.turns(1).await;
    cluster.step("scaled: two schedulers, two detectors, three fetchers");

    for stage in STAGES {
        cluster.kubectl(&format!("set image {stage} main={}", IMAGES[1])).await;
    }
    cluster.wait_until_rolled_out().await;
    cluster.turns(2).await;
    cluster.step("rolled over to another build");

    cluster.kubectl("drain node-1 --ignore-daemonsets --delete-emptydir-data --timeout=120s").await;
    cluster.wait_until_rolled_out().await;
    cluster.turns(3).await;
    cluster.kubectl("uncordon node-1").await;
    cluster.step("a node is drained, its pods run on the other");

    let before = cluster.restarts().await;
    let is_killed = |pod: &str| pod.ends_with("-0") || pod.starts_with("recrawl-fetcher");
    let killed: Vec<&String> = before.keys().filter(|pod| is_killed(pod)).collect();
    for pod in &killed {
        assert!(cluster.nodes.iter().any(|node| node.kill(pod)), "{pod} does not run");
    }
    wait_for("killed containers are restarted", SOON, async || {
        let now = cluster.restarts().await;
        let missing: Vec<_> = killed.iter().filter(|pod| now.get(**pod) != Some(&(before[**pod] + 1))).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("{missing:?}")) }
    })
    .await;
    cluster.wait_until_rolled_out().await;
    cluster.turns(4).await;
    cluster.step("the first pod of each stage and all fetchers were killed, and go on");

    let before = cluster.restarts().await;
    cluster.kafka.order("stop").await;
    // Longer than liveness probes bear a silent port: six times ten seconds.
    tokio::time::sleep(Duration::from_secs(75)).await;
    cluster.kafka.order("start").await;
    cluster.turns(5).await;
    cluster.wait_until_rolled_out().await;
    assert_eq!(cluster.restarts().await, before, "an outage of the broker restarts no pod");
    cluster.step("the broker was away for 75 s, and no pod was restarted");

    let wrong = cluster.settings().replace("fetches_per_second = 20", "fetches_per_second = \"many\"");
    cluster.apply(&wrong, IMAGES[1], [2, 2, 3]).await;
    let told = wait_for("a wrong setting is told", SOON, async || {
        let told = cluster.pods().await.iter().find_map(last_message);
        told.ok_or_else(|| "no container has ended with a message".to_owned())
    })
    .await;
    assert!(told.contains("fetches_per_second"), "{told}");
    let ready = |stage: &str| {
        let words = format!("get {stage} -o jsonpath={{.status.readyReplicas}}");
        let cluster = &cluster;
        async move { cluster.kubectl(&words).await }
    };
    assert_eq!(ready("deployment/recrawl-fetcher").await, "3", "fetchers of the right settings stay");
    assert_eq!(ready("statefulset/recrawl-scheduler").await, "1", "a scheduler of the right settings stays");
    cluster.step(&format!("a wrong setting stops the rollout: {}", told.lines().last().unwrap_or_default()));
    cluster.apply(&cluster.settings(), IMAGES[1], [2, 2, 3]).await;
    cluster.wait_until_rolled_out().await;
    cluster.turns(6).await;
    cluster.step("the right settings roll out");

    let pod = "run bare --image=recrawl:0.1.0 --command -- recrawl --help";
    let words: Vec<&str> = ["-n", NAMESPACE].into_iter().chain(pod.split_whitespace()).collect();
    let refused = cluster.control_plane.kubectl(&words).await;
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && errors.contains("violates PodSecurity \"restricted"), "{errors}");
    cluster.step("a pod that breaks restricted security is refused");

    let ended: Vec<_> = cluster.nodes.iter().flat_map(Kubelet::ended).collect();
    let stages = ended.iter().filter(|ended| !ended.pod.starts_with("recrawl-command"));
    for ended in stages.filter(|ended| ended.after_sigterm.is_some()) {
        assert!(ended.exit_code == 0 && ended.after_sigterm < ended.grace_period, "{ended:?}");
    }
    assert_eq!(cluster.site.most_at_once(), 1, "one request at a time to each host");
    let repeated = repeated(&cluster.site);
    println!("sent twice to no avail: {repeated:?}");
}

/// What a container said when it last ended.
fn last_message(pod: &Pod) -> Option<String> {
    let terminated = container(pod)?.last_state.as_ref()?.terminated.as_ref()?;
    terminated.message.clone().filter(|message| !message.is_empty())
}

/// Pages that were sent more than once in the same version.
fn repeated(site: &Site) -> BTreeMap<(String, u32), usize> {
    let mut sent = BTreeMap::new();
    for entry in site.books() {
        if let Some(version) = entry.sent {
            *sent.entry((entry.page, version)).or_default() += 1;
        }
    }
    sent.retain(|_, times| *times > 1);
    sent
}
