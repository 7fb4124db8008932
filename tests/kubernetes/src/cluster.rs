//! The loop on a cluster: the dev overlay, a Kafka with TLS, and a web that is crawled.

use crate::control_plane::ControlPlane;
use crate::kafka::Kafka;
use crate::kubelet::Kubelet;
use crate::site::Site;
use crate::{storage, strimzi, wait_for};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The namespace of the dev overlay.
pub const NAMESPACE: &str = "recrawl-dev";
/// For what takes a pod or two and a rebalance, on a busy machine.
pub const SOON: Duration = Duration::from_secs(120);
/// Two versions. The records of the second have a field more.
pub const IMAGES: [&str; 2] = ["recrawl:0.1.0", "recrawl:0.1.1"];
/// The workloads that run the stages.
pub const STAGES: [&str; 6] = [
    "statefulset/recrawl-scheduler",
    "deployment/recrawl-fetcher",
    "statefulset/recrawl-detector",
    "statefulset/recrawl-estimator",
    "statefulset/recrawl-matcher",
    "statefulset/recrawl-ranker",
];

/// A cluster, a Kafka and a web. All of it ends with this value.
pub struct Cluster {
    /// etcd, API server, controllers and scheduler.
    pub control_plane: ControlPlane,
    /// Where pods run.
    pub nodes: [Kubelet; 2],
    /// The Kafka of the loop.
    pub kafka: Kafka,
    /// The web.
    pub site: Site,
    /// For what a test writes.
    pub directory: TempDir,
    began: Instant,
}

/// An overlay over the dev overlay.
pub struct Overlay {
    /// The file `recrawl.toml`.
    pub settings: String,
    /// The image of all pods.
    pub image: &'static str,
    /// Replicas of stages, where they differ from the dev overlay.
    pub replicas: Vec<(&'static str, usize)>,
    /// Further lines of the kustomization.
    pub further: String,
}

impl Cluster {
    /// Starts a control plane, two nodes, a Kafka and a web.
    pub async fn start() -> Self {
        let began = Instant::now();
        let directory = tempfile::tempdir().unwrap();
        let (kafka, site) = (Kafka::start().await, Site::start().await);
        let control_plane = ControlPlane::start(&directory_of("RECRAWL_CONTROL_PLANE")).await;
        let client = control_plane.client();
        let volumes = directory.path().join("volumes");
        let provisioner = client.clone();
        tokio::spawn(async move {
            // At the end of the test it loses the API server.
            if let Err(error) = storage::provision(provisioner, volumes).await {
                eprintln!("volumes are provided no more: {error}");
            }
        });

        let images = images(directory.path());
        let node = |number: u8| {
            let pods = directory.path().join(format!("node-{number}"));
            Kubelet::start(client.clone(), number, pods, images.clone())
        };
        let nodes = [node(1).await, node(2).await];
        let cluster = Self { directory, control_plane, nodes, kafka, site, began };
        cluster.step("a control plane, two nodes and a Kafka run");
        cluster
    }

    /// Applies an overlay to the empty cluster and waits until all stages are ready.
    pub async fn bring_up(&mut self, overlay: &Overlay) {
        self.define_custom_resources().await;
        self.apply(overlay).await;
        self.serve().await;
        self.step("the overlay is applied, its topics are checked, all stages are ready");
    }

    /// Makes the custom resources known that the manifests use.
    pub async fn define_custom_resources(&self) {
        let schemas = repository().join(".tools/k8s-check/crds/schemas.json");
        strimzi::define_custom_resources(&self.control_plane.client(), &schemas).await;
        self.kubectl("wait --for=condition=established crd --all --timeout=30s").await;
    }

    /// Gives what is applied its users and topics, and waits until all stages are ready. The Secrets come after the pods, as
    /// Strimzi makes them.
    pub async fn serve(&mut self) {
        let client = self.control_plane.client();
        let users = self.kubectl("get kafkausers -o json").await;
        let users = serde_json::from_str(&users).expect("kubectl prints JSON");
        strimzi::serve_users(&client, NAMESPACE, &mut self.kafka, &users).await;
        self.kubectl("rollout status deployment/recrawl-command --timeout=60s").await;
        strimzi::make_topics(&directory_of("RECRAWL_PROGRAMS").join("recrawl"), &self.kafka).await;
        self.kubectl("create job topics-now --from=cronjob/recrawl-topics").await;
        self.kubectl("wait --for=condition=complete job/topics-now --timeout=60s").await;
        self.wait_until_rolled_out().await;
    }

    /// Prints what has happened, and when.
    pub fn step(&self, what: &str) {
        println!("{:>5.0} s  {what}", self.began.elapsed().as_secs_f64());
    }

    /// Runs kubectl in the namespace of the loop. It must succeed.
    pub async fn kubectl(&self, arguments: &str) -> String {
        let words: Vec<&str> = ["-n", NAMESPACE].into_iter().chain(arguments.split_whitespace()).collect();
        self.control_plane.kubectl_ok(&words).await
    }

    /// Applies an overlay.
    pub async fn apply(&self, overlay: &Overlay) {
        let directory = self.directory.path().join("overlay");
        std::fs::create_dir_all(&directory).unwrap();
        let names = overlay.replicas.iter().map(|(name, count)| format!("  - {{name: {name}, count: {count}}}\n"));
        let kustomization = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
             resources: ['{}']\n\
             configMapGenerator:\n  - {{name: recrawl, namespace: {NAMESPACE}, behavior: replace, files: [recrawl.toml]}}\n\
             images: [{{name: recrawl, newTag: {}}}]\n\
             replicas:\n  - {{name: recrawl-matcher, count: 1}}\n  - {{name: recrawl-ranker, count: 1}}\n{}{}",
            self.kustomize_path("k8s/overlays/dev"),
            overlay.image.split_once(':').unwrap().1,
            names.collect::<String>(),
            overlay.further,
        );
        std::fs::write(directory.join("kustomization.yaml"), kustomization).unwrap();
        std::fs::write(directory.join("recrawl.toml"), &overlay.settings).unwrap();
        self.kubectl(&format!("apply -k {}", directory.display())).await;
    }

    /// A directory of the repository as seen from the overlay: Kustomize takes no absolute path.
    pub fn kustomize_path(&self, directory: &str) -> String {
        let up = "../".repeat(self.directory.path().canonicalize().unwrap().components().count());
        let directory = repository().join(directory).canonicalize().unwrap();
        format!("{up}{}", directory.strip_prefix("/").unwrap().display())
    }

    /// The settings of the dev overlay, for this Kafka and this web, with further lines.
    pub fn settings(&self, further: &str) -> String {
        let text = std::fs::read_to_string(repository().join("k8s/overlays/dev/recrawl.toml")).unwrap();
        let brokers = self.kafka.brokers();
        let text = text.replace("recrawl-kafka-bootstrap:9093", &brokers);
        assert!(text.contains(&brokers), "the overlay names its Kafka otherwise");
        let text = text.replace("[crawl]\n", "[crawl]\ndiscover = \"same-site\"\n");
        format!("{text}\n[detector]\nmirrors = true\n{further}")
    }

    /// The pods of the loop.
    pub async fn pods(&self) -> Vec<Pod> {
        let pods: Api<Pod> = Api::namespaced(self.control_plane.client(), NAMESPACE);
        pods.list(&ListParams::default().labels("app.kubernetes.io/part-of=recrawl")).await.unwrap().items
    }

    /// Restarts of the stages' containers, by pod.
    pub async fn restarts(&self) -> BTreeMap<String, i32> {
        let pods = self.pods().await;
        // A check of the topics fails while there is no broker, and is made again; those of the past are swept away.
        let stages = pods.iter().filter(|pod| !pod.labels().contains_key("batch.kubernetes.io/job-name"));
        stages.map(|pod| (pod.name_any(), container(pod).map_or(0, |status| status.restart_count))).collect()
    }

    /// Waits until the rollout of each stage is complete.
    pub async fn wait_until_rolled_out(&self) {
        for stage in STAGES {
            let words = format!("rollout status {stage} --timeout={}s", SOON.as_secs());
            self.kubectl(&words).await;
        }
    }

    /// Waits until every one of these pages was sent in a version.
    pub async fn wait_until_sent(&self, urls: &[String], version: u32) {
        let what = format!("version {version} of every page is fetched");
        wait_for(&what, SOON, async || {
            let books = self.site.books();
            let sent: BTreeSet<&str> =
                books.iter().filter(|entry| entry.sent == Some(version)).map(|entry| entry.page.as_str()).collect();
            if sent.len() == urls.len() { Ok(()) } else { Err(format!("{} of {}", sent.len(), urls.len())) }
        })
        .await;
    }

    /// Seeds pages.
    pub async fn seed(&self, urls: &[String]) {
        // As many as a command line takes.
        for some in urls.chunks(200) {
            let words: Vec<&str> = ["seed"].into_iter().chain(some.iter().map(String::as_str)).collect();
            self.recrawl(&words).await;
        }
    }

    /// Runs recrawl in the pod for commands.
    pub async fn recrawl(&self, words: &[&str]) -> String {
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

/// The status of the container of a pod.
pub fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory that the Makefile names.
pub fn directory_of(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: run `make k8s-e2e`")).into()
}

/// The images of two versions, each with its program in a directory of its own.
fn images(directory: &Path) -> HashMap<String, PathBuf> {
    let built = directory_of("RECRAWL_PROGRAMS");
    let make = |(image, suffix): (&str, &str)| {
        let programs = directory.join(image.replace(':', "-"));
        std::fs::create_dir_all(&programs).unwrap();
        std::fs::copy(built.join(format!("recrawl{suffix}")), programs.join("recrawl")).unwrap();
        (image.to_owned(), programs)
    };
    // The suffix is that of `tests/src/next_build`.
    IMAGES.into_iter().zip(["", "-next"]).map(make).collect()
}

/// Addresses of the first pages of the hosts `NAME0.test`, `NAME1.test`, …
pub fn urls(name: &str, hosts: usize, pages_per_host: usize) -> Vec<String> {
    let pages = |host: usize| (0..pages_per_host).map(move |page| format!("http://{name}{host}.test/{page}"));
    (0..hosts).flat_map(pages).collect()
}
