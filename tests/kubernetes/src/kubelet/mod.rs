//! A node whose pods are processes of this machine.
//!
//! It does what the manifests rely on: waits for volumes, starts containers in a sandbox, obeys startup, liveness and
//! readiness probes, restarts with a growing pause, reports status and events, sends SIGTERM and waits out the grace
//! period when a pod is deleted. What it does not know in a pod it refuses, instead of passing it over.

mod pod;
mod probes;
mod sandbox;
mod status;
mod volumes;

pub use pod::Ended;

use futures::TryStreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A node of the cluster. It leaves with this value, and its processes with it.
pub struct Kubelet {
    node: Arc<NodeOfProcesses>,
    tasks: [JoinHandle<()>; 2],
}

/// State that the pods of a node share.
struct NodeOfProcesses {
    name: String,
    /// Distinguishes the addresses of this node's pods from those of other nodes.
    number: u8,
    client: Client,
    /// Logs and volumes of pods.
    directory: PathBuf,
    /// The programs of each image.
    images: HashMap<String, PathBuf>,
    pods_so_far: AtomicU16,
    pods: Mutex<HashMap<String, PodHandle>>,
    ended: Mutex<Vec<Ended>>,
}

/// A pod that runs here.
struct PodHandle {
    name: String,
    /// The grace period, once it is to end.
    deletion: watch::Sender<Option<Duration>>,
    /// The command that runs another program in the same sandbox, and the process of the container.
    container: Arc<Mutex<Option<pod::RunningContainer>>>,
    task: JoinHandle<()>,
}

impl Drop for PodHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Kubelet {
    /// Registers a node and runs the pods that are bound to it. `images` names the directory of each image's programs.
    pub async fn start(client: Client, number: u8, directory: PathBuf, images: HashMap<String, PathBuf>) -> Self {
        let node = Arc::new(NodeOfProcesses {
            name: format!("node-{number}"),
            number,
            client,
            directory,
            images,
            pods_so_far: AtomicU16::new(0),
            pods: Mutex::default(),
            ended: Mutex::default(),
        });
        node.register().await.unwrap();
        let tasks = [tokio::spawn(Arc::clone(&node).keep_alive()), tokio::spawn(Arc::clone(&node).follow_pods())];
        Self { node, tasks }
    }

    /// The containers that have ended so far.
    pub fn ended(&self) -> Vec<Ended> {
        self.node.ended.lock().unwrap().clone()
    }

    /// Kills a container's process without warning, as the kernel does when memory runs out. False if it does not run here.
    pub fn kill(&self, pod: &str) -> bool {
        self.node.container_of(pod).is_some_and(|container| container.signal("KILL"))
    }

    /// Runs a program in the sandbox of a pod, as `kubectl exec` does, with what it prints. `None` if it does not run here.
    pub async fn exec(&self, pod: &str, command: &[&str]) -> Option<std::process::Output> {
        let mut command = self.node.container_of(pod)?.another(command);
        Some(command.output().await.unwrap())
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.node.pods.lock().unwrap().clear();
    }
}

impl NodeOfProcesses {
    fn container_of(&self, pod: &str) -> Option<pod::RunningContainer> {
        let pods = self.pods.lock().unwrap();
        let handle = pods.values().find(|handle| handle.name == pod)?;
        handle.container.lock().unwrap().clone()
    }

    async fn register(&self) -> kube::Result<()> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let zone = format!("zone-{}", self.number);
        let labels = json!({"kubernetes.io/hostname": self.name, "topology.kubernetes.io/zone": zone, "kubernetes.io/os": "linux"});
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.name, "labels": labels}});
        nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await?;
        let room = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"});
        let status = json!({"status": {
            "capacity": room, "allocatable": room,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": self.name}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": Timestamp::now()}],
        }});
        nodes.patch_status(&self.name, &PatchParams::default(), &Patch::Merge(status)).await?;
        Ok(())
    }

    /// Renews the lease by which the control plane knows that the node lives.
    async fn keep_alive(self: Arc<Self>) {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), "kube-node-lease");
        loop {
            let spec = json!({"holderIdentity": self.name, "leaseDurationSeconds": 40, "renewTime": MicroTime(Timestamp::now())});
            let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": self.name}, "spec": spec});
            if let Err(error) =
                leases.patch(&self.name, &PatchParams::apply("kubelet").force(), &Patch::Apply(lease)).await
            {
                eprintln!("{}: the lease cannot be renewed: {error}", self.name);
            }
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }

    async fn follow_pods(self: Arc<Self>) {
        let pods: Api<Pod> = Api::all(self.client.clone());
        let mine = watcher::Config::default().fields(&format!("spec.nodeName={}", self.name));
        let followed = watcher(pods, mine)
            .default_backoff()
            .try_for_each(|event| {
                match event {
                    watcher::Event::Apply(pod) | watcher::Event::InitApply(pod) => Arc::clone(&self).take(pod),
                    watcher::Event::Delete(pod) => self.forget(&pod),
                    watcher::Event::Init | watcher::Event::InitDone => {}
                }
                futures::future::ready(Ok(()))
            })
            .await;
        panic!("{}: pods are followed no more: {followed:?}", self.name);
    }

    /// Starts a pod that is new here. Passes the grace period to a pod that is being deleted.
    fn take(self: Arc<Self>, pod: Pod) {
        let uid = pod.uid().unwrap_or_default();
        let mut pods = self.pods.lock().unwrap();
        if !pods.contains_key(&uid) {
            if status::is_over(&pod) {
                return;
            }
            let (deletion, deleted) = watch::channel(None);
            let container = Arc::default();
            let task = tokio::spawn(pod::run(Arc::clone(&self), pod.clone(), deleted, Arc::clone(&container)));
            pods.insert(uid.clone(), PodHandle { name: pod.name_any(), deletion, container, task });
        }
        if pod.metadata.deletion_timestamp.is_some() {
            let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(30);
            pods[&uid].deletion.send_replace(Some(Duration::from_secs(grace.try_into().unwrap_or(0))));
        }
    }

    /// The pod is gone from the control plane: what still runs of it ends at once.
    fn forget(&self, pod: &Pod) {
        self.pods.lock().unwrap().remove(&pod.uid().unwrap_or_default());
    }

    /// An address for a pod, of this node alone.
    fn next_address(&self) -> String {
        let [high, low] = self.pods_so_far.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        format!("127.{}.{high}.{low}", 100 + self.number)
    }

    /// Publishes an event of a pod, as `kubectl describe` shows it.
    async fn publish_event(&self, pod: &Pod, type_: EventType, reason: &str, note: String) {
        let recorder = Recorder::new(self.client.clone(), "kubelet".into());
        let event =
            Event { type_, reason: reason.to_owned(), note: Some(note), action: reason.to_owned(), secondary: None };
        if let Err(error) = recorder.publish(&event, &pod.object_ref(&())).await {
            eprintln!("{}: the event {reason} cannot be told: {error}", self.name);
        }
    }
}
