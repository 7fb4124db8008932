//! A Kafka that belongs to one test, which may do to the nodes what it likes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A running cluster. It ends with its test, however that ends: the script that minds it reads from the test.
pub struct KafkaCluster {
    brokers: String,
    nodes: usize,
    directory: PathBuf,
    script: Child,
    /// The way to the script and back; `None` once it is to end.
    talk: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
}

impl KafkaCluster {
    /// Nodes of [`KafkaCluster::start`]. One may be missing without anything standing still.
    pub const NODES: usize = 3;

    /// Starts a cluster and waits until it answers. After a failure the nodes' logs are in `target/kafka`.
    pub fn start() -> Self {
        Self::with_nodes(Self::NODES)
    }

    /// Starts a cluster of this many nodes.
    pub fn with_nodes(nodes: usize) -> Self {
        Self::with_properties(nodes, &[])
    }

    /// Starts a cluster of this many nodes with further settings, `name=value` each.
    pub fn with_properties(nodes: usize, properties: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kafka/cluster");
        let mut script = Command::new(script)
            .args(["attend", "--nodes", &nodes.to_string()])
            .args(properties.iter().flat_map(|property| ["--property", property]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the script that starts Kafka can be run");
        let (input, output) = (script.stdin.take().expect("it is piped"), script.stdout.take().expect("it is piped"));
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).expect("a pipe can be read");
        let parts = line.trim().strip_prefix("RECRAWL_KAFKA=").and_then(|line| line.split_once(" in "));
        let (brokers, directory) = parts.expect("Kafka starts; see above");
        Self {
            brokers: brokers.to_owned(),
            nodes,
            directory: directory.into(),
            script,
            talk: Mutex::new(Some((input, output))),
        }
    }

    /// Where to find it.
    pub fn brokers(&self) -> &str {
        &self.brokers
    }

    /// Where to find it with a client certificate alone.
    pub fn brokers_with_certificate(&self) -> String {
        let text = std::fs::read_to_string(self.secrets().join("mutual")).expect("the script has written it");
        text.trim().to_owned()
    }

    /// The directory with the authority of its certificates: `ca.pem` and `ca-key.pem`.
    pub fn secrets(&self) -> PathBuf {
        self.directory.join("secure")
    }

    /// The directory with the logs of a node's partitions.
    pub fn data(&self, node: usize) -> PathBuf {
        self.directory.join(format!("node-{node}/data"))
    }

    /// Gives users their rights: a list of Strimzi's KafkaUsers in JSON.
    pub fn allow(&self, users: &str) {
        let file = self.directory.join("users.json");
        std::fs::write(&file, users).expect("the cluster's directory takes files");
        self.order(&format!("allow {}", file.display()));
    }

    /// Limits what each client may write from now on, in bytes per second.
    pub fn limit_writes(&self, bytes_per_second: u32) {
        self.order(&format!("limit-writes {bytes_per_second}"));
    }

    /// Raises the number of a topic's partitions.
    pub fn add_partitions(&self, topic: &str, partitions: u32) {
        self.order(&format!("add-partitions {topic} {partitions}"));
    }

    /// Sets the largest record that a topic takes, in bytes.
    pub fn limit_records(&self, topic: &str, bytes: u32) {
        self.order(&format!("set-limit {topic} {bytes}"));
    }

    /// Deletes a topic with its records.
    pub fn delete_topic(&self, topic: &str) {
        self.order(&format!("delete-topic {topic}"));
    }

    /// Kills a node as a power cut would. Nodes count from 1.
    pub fn kill(&self, node: usize) {
        self.order(&format!("kill {node}"));
    }

    /// Stops a node in order: it hands over what it leads, and ends.
    pub fn stop(&self, node: usize) {
        self.order(&format!("stop {node}"));
    }

    /// Starts a node on the data that it has.
    pub fn restart(&self, node: usize) {
        self.order(&format!("start {node}"));
    }

    /// Gives a node that does not run another address.
    pub fn relocate(&self, node: usize) {
        self.order(&format!("move {node}"));
    }

    /// Gives a node that does not run a new disk.
    pub fn empty(&self, node: usize) {
        self.order(&format!("empty {node}"));
    }

    /// Stops a node's time, as a virtual machine that is moved does.
    pub fn pause(&self, node: usize) {
        self.order(&format!("pause {node}"));
    }

    /// Lets its time go on.
    pub fn resume(&self, node: usize) {
        self.order(&format!("resume {node}"));
    }

    /// Lets the time of all nodes go on, and starts those that do not run.
    pub fn start_missing(&self) {
        self.order("start-missing");
    }

    /// Keeps the nodes' logs in `target/kafka` at the end.
    pub fn keep_logs(&self) {
        self.order("failed");
    }

    /// Whether all nodes answer and every replica is in sync, so that one node may go.
    pub fn is_settled(&self) -> bool {
        self.order("settled") == "ok yes"
    }

    /// How often a group was formed anew, as the brokers have logged it, with the reasons.
    pub fn rebalances(&self) -> Vec<String> {
        let logs = (1..=self.nodes).map(|node| self.directory.join(format!("node-{node}/log.txt")));
        let texts = logs.filter_map(|log| std::fs::read(log).ok());
        let lines = texts.flat_map(|text| {
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        lines.filter(|line| line.contains("Preparing to rebalance group")).collect()
    }

    fn order(&self, line: &str) -> String {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = talk.as_mut().expect("only drop takes it");
        writeln!(input, "{line}").expect("the script listens");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("the script answers");
        assert!(answer.starts_with("ok"), "{line}: {answer}");
        answer.trim().to_owned()
    }
}

impl Drop for KafkaCluster {
    fn drop(&mut self) {
        let talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((mut input, _)) = talk
            && std::thread::panicking()
        {
            // So that the nodes' logs are kept.
            let _ = writeln!(input, "failed");
        }
        // The end of its input is what the script waits for.
        let _ = self.script.wait();
    }
}
