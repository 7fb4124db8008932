//! A Kafka of one node with TLS, whose broker may be stopped for a while.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A running Kafka. The script that minds it ends it when this value goes.
pub struct Kafka {
    directory: PathBuf,
    without_login: String,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _script: Child,
}

impl Kafka {
    /// Starts it and waits until it answers.
    pub async fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kafka/cluster");
        let mut script = Command::new(script)
            .args(["attend", "--nodes", "1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the script that starts Kafka can be run");
        let input = script.stdin.take().unwrap();
        let mut output = BufReader::new(script.stdout.take().unwrap()).lines();
        let line = output.next_line().await.unwrap().expect("Kafka starts; see above");
        let (address, directory) = line.split_once(" in ").expect("it says where");
        let without_login = address.trim_start_matches("RECRAWL_KAFKA=").to_owned();
        Self { directory: directory.into(), without_login, input, output, _script: script }
    }

    /// The listener that takes client certificates alone.
    pub fn brokers(&self) -> String {
        std::fs::read_to_string(self.secrets().join("mutual")).unwrap().trim().to_owned()
    }

    /// The listener at which everything is allowed, as to Strimzi's operators.
    pub fn brokers_without_login(&self) -> &str {
        &self.without_login
    }

    /// How often each group was formed anew, as the broker has logged it.
    pub fn rebalances(&self) -> BTreeMap<String, usize> {
        let log = std::fs::read(self.directory.join("node-1/log.txt")).unwrap();
        let mut rebalances = BTreeMap::new();
        for line in String::from_utf8_lossy(&log).lines() {
            if let Some((_, rest)) = line.split_once("Preparing to rebalance group ") {
                let group = rest.split_once(' ').unwrap().0.to_owned();
                *rebalances.entry(group).or_default() += 1;
            }
        }
        rebalances
    }

    /// Gives users their rights: a list of Strimzi's KafkaUsers.
    pub async fn allow(&mut self, users: &Value) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), users.to_string()).unwrap();
        self.say(&format!("allow {}", file.path().display())).await;
    }

    /// The directory with certificates and keys.
    pub fn secrets(&self) -> PathBuf {
        self.directory.join("secure")
    }

    /// Stops or starts the node, with its data: `stop` or `start`.
    pub async fn order(&mut self, what: &str) {
        self.say(&format!("{what} 1")).await;
    }

    async fn say(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let answer = self.output.next_line().await.unwrap().unwrap_or_default();
        assert!(answer.starts_with("ok"), "{line}: {answer}");
    }
}
