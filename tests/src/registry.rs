//! A schema registry that belongs to one test.

use crate::workspace;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running Apicurio Registry. It ends with its test, however that ends: the script that minds it reads from the test.
pub struct SchemaRegistry {
    url: String,
    script: Child,
}

impl SchemaRegistry {
    /// Starts a registry on a port of loopback and waits until it answers.
    pub fn start(port: u16) -> Self {
        let script = workspace().join("tests/kafka/registry");
        let mut script = Command::new(script)
            .args(["attend", "--port", &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the script that starts the registry can be run");
        let mut line = String::new();
        let mut output = BufReader::new(script.stdout.take().expect("it is piped"));
        output.read_line(&mut line).expect("a pipe can be read");
        let url = line.trim().strip_prefix("RECRAWL_REGISTRY=").expect("the registry starts; see above");
        Self { url: url.to_owned(), script }
    }

    /// Address of its Confluent-compatible API.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for SchemaRegistry {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}
