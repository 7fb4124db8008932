//! Parts of the crawls that are measured: a simulated web, the services over Kafka, and requests to a running program.

use crate::measure::{Finished, Measured, on_core};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tests::{programs, wait_for};

pub(crate) const HOSTS: usize = 16;
/// The core of the webs.
const SERVER: usize = 1;
pub(crate) const STAGES: [&str; 4] = ["scheduler", "fetcher", "detector", "estimator"];
const PATIENCE: Duration = Duration::from_secs(120);

/// A simulated web in a process of its own.
pub(crate) struct Web {
    process: Measured,
    pub(crate) directory: TempDir,
}

impl Web {
    pub(crate) fn start(pages_per_host: usize, further: &[&str]) -> Self {
        let directory = TempDir::new().expect("there is room for a benchmark");
        let mut command = programs().command("recrawl-lab");
        command.arg("simweb");
        command.args(["seeded", "--loopback", "--hosts", &HOSTS.to_string()]);
        command.args(["--pages-per-host", &pages_per_host.to_string(), "--page-bytes", "14000", "--write-seeds"]);
        command.arg(directory.path().join("seeds.txt")).args(further);
        let process = Measured::start(on_core(command, SERVER), directory.path());
        wait_for("the simulated web says where it is", PATIENCE, || process.stdout().ends_with('\n'));
        Self { process, directory }
    }

    pub(crate) fn seeds_file(&self) -> String {
        self.directory.path().join("seeds.txt").display().to_string()
    }

    /// The first page of every host.
    pub(crate) fn roots(&self) -> Vec<String> {
        let seeds = std::fs::read_to_string(self.seeds_file()).expect("the web wrote its addresses");
        seeds.lines().filter(|url| url.ends_with('/')).map(str::to_owned).collect()
    }

    /// Stops it and says how many requests it served.
    pub(crate) fn requests(self) -> usize {
        self.process.terminate();
        let said = self.process.finish().stderr;
        let count = said.split_once("served ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        count.unwrap_or_else(|| panic!("simweb did not say how many requests it served: {said}"))
    }
}

/// The services of one crawl over Kafka, a process each, under names that no other crawl on this Kafka has.
pub(crate) struct Services {
    services: Vec<(Measured, u16)>,
    sets: Vec<String>,
    directory: PathBuf,
    core: usize,
    /// Prefix of the names of its topics.
    pub(crate) topic_prefix: String,
}

impl Services {
    /// Makes the topics. No other crawl may use `directory`; the services will be on one core.
    pub(crate) fn prepare(brokers: &str, directory: &Path, settings: &[&str], core: usize) -> Self {
        let name = directory.file_name().expect("a temporary directory has a name").to_string_lossy().replace('.', "");
        let topic_prefix = format!("bench-{name}.");
        let own = [
            format!("kafka.brokers={brokers}"),
            format!("kafka.topic_prefix={topic_prefix}"),
            format!("kafka.group_prefix=bench-{name}-"),
            "kafka.partitions=4".to_owned(),
        ];
        let sets = settings.iter().map(|&set| set.to_owned()).chain(own).collect();
        let prepared = Self { services: Vec::new(), sets, directory: directory.to_owned(), core, topic_prefix };
        prepared.tool(&["topics", "create"]);
        prepared
    }

    /// Starts one of them, with further settings; the port is that of its `/status`.
    pub(crate) fn start_stage(&self, stage: &str, further: &[String]) -> (Measured, u16) {
        let mut command = programs().command("recrawl");
        command.args(["stage", stage]);
        set(&mut command, &self.sets);
        let port = free_port();
        // Not for the tools: a data directory there is a crawl without Kafka.
        let data = format!("crawl.data={}", self.data().display());
        set(&mut command, &[format!("http.bind=127.0.0.1:{port}"), data]);
        set(&mut command, further);
        (Measured::start(on_core(command, self.core), &self.directory), port)
    }

    /// Where they keep their state.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Starts all of them and waits until they are ready.
    pub(crate) fn start(brokers: &str, directory: &Path, settings: &[&str], core: usize) -> Self {
        let mut all = Self::prepare(brokers, directory, settings, core);
        all.services = STAGES.map(|stage| all.start_stage(stage, &[])).into();
        for (_, port) in &all.services {
            wait_for("a service is ready", PATIENCE, || ask(*port, "/readyz").is_some());
        }
        all
    }

    /// Sends the addresses in a file to the scheduler, by `recrawl seed`.
    pub(crate) fn seed(&self, file: &str) {
        self.tool(&["seed", "--file", file]);
    }

    fn tool(&self, arguments: &[&str]) {
        let mut command = programs().command("recrawl");
        command.args(arguments);
        set(&mut command, &self.sets);
        Measured::start(command, &self.directory).finish();
    }

    /// Notes the CPU time of their threads.
    pub(crate) fn look(&mut self) {
        self.services.iter_mut().for_each(|(service, _)| service.look());
    }

    /// Answers that have been all the way round, if the scheduler says.
    pub(crate) fn fetches(&self) -> Option<u64> {
        fetches(self.services[0].1)
    }

    /// A figure of a stage, all its partitions together.
    pub(crate) fn figure(&self, stage: &str, name: &str) -> f64 {
        let place = STAGES.iter().position(|it| *it == stage).expect("it is one of the stages");
        figure(self.services[place].1, stage, name)
    }

    /// CPU time of each, in the order of [`STAGES`].
    pub(crate) fn cpu(&mut self) -> BTreeMap<String, Duration> {
        let cpu = |(service, _): &mut (Measured, u16)| service.cpu_by_thread().into_values().sum();
        STAGES.iter().zip(&mut self.services).map(|(stage, service)| ((*stage).to_owned(), cpu(service))).collect()
    }

    /// Memory that each holds now, in the order of [`STAGES`].
    pub(crate) fn memory_bytes(&self) -> Vec<u64> {
        self.services.iter().map(|(service, _)| service.memory_bytes()).collect()
    }

    /// Bytes that all of them have written.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.services.iter().map(|(service, _)| service.written_bytes()).sum()
    }

    /// Stops them, in the order of [`STAGES`].
    pub(crate) fn finish(self) -> Vec<Finished> {
        let stopped = self.services.into_iter().map(|(service, _)| {
            service.terminate();
            service.finish()
        });
        stopped.collect()
    }
}

/// A crawl in one process.
pub(crate) struct Embedded {
    pub(crate) process: Measured,
    port: u16,
    directory: PathBuf,
    data: PathBuf,
}

impl Embedded {
    /// Starts it on one core and waits until it is ready. What it says goes to files in `directory`. `seed` is a page, for
    /// it does not begin with none.
    pub(crate) fn start(directory: &Path, data: &Path, seed: &str, settings: &[impl AsRef<str>], core: usize) -> Self {
        let seeds = directory.join("first-seed.txt");
        std::fs::write(&seeds, seed).expect("the directory takes files");
        let mut command = programs().command("recrawl");
        command.args(["run", "--data"]).arg(data).arg("--seeds").arg(seeds);
        set(&mut command, settings);
        let port = free_port();
        set(&mut command, &[format!("http.bind=127.0.0.1:{port}")]);
        let process = Measured::start(on_core(command, core), directory);
        wait_for("the crawl is ready", PATIENCE, || ask(port, "/readyz").is_some());
        Self { process, port, directory: directory.to_owned(), data: data.to_owned() }
    }

    /// Sends the addresses in a file to the crawl, by `recrawl seed`.
    pub(crate) fn seed(&self, file: &Path) {
        let mut command = programs().command("recrawl");
        command.args(["seed", "--file"]).arg(file).arg("--data").arg(&self.data);
        Measured::start(command, &self.directory).finish();
    }

    pub(crate) fn status(&self) -> Option<Value> {
        status(self.port)
    }

    /// A figure of a stage, all its partitions together.
    pub(crate) fn figure(&self, stage: &str, name: &str) -> f64 {
        figure(self.port, stage, name)
    }

    pub(crate) fn cpu(&mut self) -> Duration {
        self.process.cpu_by_thread().into_values().sum()
    }

    pub(crate) fn stop(self) {
        self.process.terminate();
        self.process.finish();
    }
}

/// A figure of a stage in the `/status` of a port; 0 if it is not there.
fn figure(port: u16, stage: &str, name: &str) -> f64 {
    let status = status(port).unwrap_or_default();
    let stages = status["stages"].as_array().cloned().unwrap_or_default();
    let of_stage = stages.iter().find(|it| it["name"] == stage);
    of_stage.and_then(|it| it["figures"][name].as_f64()).unwrap_or(0.0)
}

/// Gives settings to a program.
pub(crate) fn set(command: &mut Command, settings: &[impl AsRef<str>]) {
    for setting in settings {
        command.arg("--set").arg(setting.as_ref());
    }
}

/// How a program behind a port is doing, if it says.
pub(crate) fn status(port: u16) -> Option<Value> {
    serde_json::from_str(&ask(port, "/status")?).ok()
}

/// Answers that the scheduler behind a port has taken in, if it says.
pub(crate) fn fetches(port: u16) -> Option<u64> {
    status(port)?["fetches_total"].as_u64()
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("it listens").port()
}

/// The body of a service's answer, if it is a good one.
pub(crate) fn ask(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.lines().next()?.contains(" 200").then(|| body.to_owned())
}
