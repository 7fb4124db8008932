//! A Kafka of one node with TLS, whose broker may be stopped for a while.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A running Kafka. The script that minds it ends it when this value goes.
pub struct Kafka {
    directory: PathBuf,
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
        let directory = line.split_once(" in ").expect("it says where").1.into();
        Self { directory, input, output, _script: script }
    }

    /// The listener that takes client certificates alone.
    pub fn brokers(&self) -> String {
        std::fs::read_to_string(self.secrets().join("mutual")).unwrap().trim().to_owned()
    }

    /// The directory with certificates and keys.
    pub fn secrets(&self) -> PathBuf {
        self.directory.join("secure")
    }

    /// Stops or starts the node, with its data: `stop` or `start`.
    pub async fn order(&mut self, what: &str) {
        self.input.write_all(format!("{what} 1\n").as_bytes()).await.unwrap();
        let answer = self.output.next_line().await.unwrap().unwrap_or_default();
        assert!(answer.starts_with("ok"), "{what}: {answer}");
    }
}
