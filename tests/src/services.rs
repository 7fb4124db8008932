//! The services over a Kafka, on topics and in groups of their own.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use crate::{Crawl, HttpAnswer, Output, Process, SimulatedWeb, books, programs, wait_for};
use recrawl::stages::{STAGES, topologies};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use topology::LogNames;

pub use crate::SOON;
/// Partitions of each topic of the loop.
pub const PARTITIONS: u32 = 4;

/// The Kafka to test on. `None`, and a line that says so, when there is none and none is required.
pub fn kafka() -> Option<String> {
    let brokers = std::env::var("RECRAWL_KAFKA").ok().filter(|brokers| !brokers.is_empty());
    if brokers.is_none() {
        let required = std::env::var("RECRAWL_KAFKA_REQUIRED").is_ok_and(|value| value == "1");
        assert!(!required, "RECRAWL_KAFKA_REQUIRED is 1 and RECRAWL_KAFKA names no Kafka");
        println!("LEFT OUT: RECRAWL_KAFKA names no Kafka (`make test` starts one)");
    }
    brokers
}

/// A crawl over Kafka.
pub struct Distributed {
    /// Its settings and directory.
    pub crawl: Crawl,
    pages: usize,
}

/// Runs a command again as long as Kafka is too busy to answer it, or has a topic that was just made without a leader. It has
/// sent nothing then.
pub fn given_again(run: impl Fn() -> Output) -> Output {
    let mut output = None;
    wait_for("Kafka answers commands", SOON, || {
        let given = output.insert(run());
        !["cannot reach Kafka", "NotLeaderForPartition"].iter().any(|busy| given.stderr.contains(busy))
    });
    output.expect("the condition is asked for once at least")
}

impl Distributed {
    /// A crawl whose topics are made and whose seeds are the pages of a web; nothing runs yet.
    pub fn of(web: &SimulatedWeb, brokers: &str, sets: &[(&str, &str)]) -> Self {
        let distributed = Self::without_seeds(web, brokers, sets);
        let seeds = distributed.crawl.seeds_file().display().to_string();
        distributed.ask(&["seed", "--file", &seeds]).exits_with(0);
        distributed
    }

    /// The same before its pages are known. All of them are to be seeded sooner or later.
    pub fn without_seeds(web: &SimulatedWeb, brokers: &str, sets: &[(&str, &str)]) -> Self {
        let crawl = Crawl::of(web);
        let unique = crawl.directory.path().file_name().and_then(|name| name.to_str()).expect("it is text").to_owned();
        let mut crawl = crawl
            .with("kafka.brokers", brokers)
            .with("kafka.topic_prefix", &format!("{unique}."))
            .with("kafka.group_prefix", &format!("{unique}-"))
            .with("kafka.partitions", &PARTITIONS.to_string())
            .with("kafka.session_timeout", "6s")
            // So that every stage has work.
            .with("detector.mirrors", "true")
            .with("crawl.discover", "same-site")
            .with("policy.scan_interval", "100ms")
            .with("log.batch_interval", "100ms");
        for (key, value) in sets {
            crawl = crawl.with(key, value);
        }
        let distributed = Self { crawl, pages: web.urls().len() };
        distributed.ask(&["topics", "create"]).exits_with(0);
        distributed
    }

    /// Sets something for the programs that are started from now on.
    pub fn set(&mut self, key: &str, value: &str) {
        let crawl = std::mem::take(&mut self.crawl);
        self.crawl = crawl.with(key, value);
    }

    /// Runs a recrawl command to its end.
    pub fn ask(&self, arguments: &[&str]) -> Output {
        self.ask_program("recrawl", arguments)
    }

    /// The same of a program that may be of another build. A command sends nothing if a busy Kafka does not answer within ten
    /// seconds. It is given again then ([`given_again`]). Questions wait for stages that have joined their groups anew.
    pub fn ask_program(&self, program: &str, arguments: &[&str]) -> Output {
        given_again(|| {
            let mut command = programs().command(program);
            command.args(["--format", "json"]).args(arguments).args(self.crawl.flags());
            if matches!(arguments, ["status" | "page" | "pages" | "history" | "explain" | "hosts" | "rules", ..])
                && !arguments.contains(&"--wait")
            {
                command.args(["--wait", "2m"]);
            }
            Process::start(command, self.crawl.directory.path()).finish()
        })
    }

    /// Where an instance of a stage keeps its state.
    pub fn data(&self, stage: &str, instance: &str) -> PathBuf {
        self.crawl.directory.path().join(format!("{stage}-{instance}"))
    }

    /// Starts an instance of a stage.
    pub fn start(&self, stage: &'static str, instance: &str) -> Service {
        self.start_program("recrawl", stage, instance)
    }

    /// The same with a program that may be of another build.
    pub fn start_program(&self, program: &str, stage: &'static str, instance: &str) -> Service {
        Service::start(stage, self.command(program, stage, instance), self.crawl.directory.path())
    }

    /// The command that starts an instance of a stage.
    pub fn command(&self, program: &str, stage: &'static str, instance: &str) -> Command {
        let mut command = programs().command(program);
        command.args(["stage", stage]).args(self.crawl.flags()).args(["--instance", instance]);
        command.arg("--set").arg(format!("crawl.data={}", self.data(stage, instance).display()));
        command
    }

    /// Starts an instance of a stage in a working directory of its own, without saying where its state is.
    pub fn start_without_data(&self, stage: &'static str, instance: &str) -> Service {
        let directory = self.data(stage, instance);
        std::fs::create_dir_all(&directory).expect("the test's directory takes others");
        let mut command = programs().command("recrawl");
        command.args(["stage", stage]).args(self.crawl.flags()).args(["--instance", instance]).current_dir(directory);
        Service::start(stage, command, self.crawl.directory.path())
    }

    /// Starts one instance of each stage.
    pub fn start_all(&self) -> Vec<Service> {
        STAGES.iter().map(|stage| self.start(stage.name(), "0")).collect()
    }

    /// Waits until every page is answered, nothing is in flight, and no group has a record to read.
    pub fn wait_until_idle(&self, services: &[Service]) {
        wait_for("every page is answered and nothing is in flight", SOON, || {
            let status: Vec<_> =
                services.iter().filter(|service| service.stage.starts_with("scheduler")).map(Service::status).collect();
            let sum = |figure: &dyn Fn(&Value) -> &Value| status.iter().filter_map(|s| figure(s).as_f64()).sum::<f64>();
            let pages = sum(&|status| &status["pages"]);
            let unanswered = sum(&|status| &status["stages"][0]["figures"]["unanswered"]);
            let in_flight = sum(&|status| &status["in_flight"]);
            (pages, unanswered, in_flight) == (self.pages as f64, 0.0, 0.0)
        });
        self.wait_until_read();
    }

    /// Brings a crawl to rest whose pages are due again and again: pauses its hosts, and waits until what was under way is
    /// answered. Without that a second look may come due between the last check and the stop.
    pub fn rest(&self, services: &[Service], hosts: &[String]) {
        let pause: Vec<_> = ["pause"].into_iter().chain(hosts.iter().map(String::as_str)).collect();
        self.ask(&pause).exits_with(0);
        // The schedulers have read the commands. From now on they hand nothing out, and their next figures count all that they
        // have.
        self.wait_until_read();
        let refreshes = || services.iter().map(|service| service.status()["stages"][0]["refreshes_total"].as_u64());
        let before: Vec<_> = refreshes().collect();
        wait_for("every stage has new figures", SOON, || {
            refreshes().zip(&before).all(|(now, before)| now > *before && before.is_some())
        });
        self.wait_until_idle(services);
    }

    fn wait_until_read(&self) {
        let settings = self.crawl.settings();
        let log = daemon::connect(&settings, "recrawl-test").expect("Kafka answers");
        let names = LogNames::new(&settings);
        wait_for("the lag of every group is exactly 0", SOON, || {
            let Ok(backlogs) = daemon::backlog::ask(&log, &names, &topologies()) else { return false };
            assert_eq!(backlogs.len(), STAGES.len());
            backlogs.iter().flat_map(|(_, partitions)| partitions).all(|partition| partition.records == 0)
        });
    }

    /// Records that each group has yet to read.
    pub fn lags(&self) -> Vec<u64> {
        let status = self.ask(&["status", "--wait", "0s"]).exits_with(0).json();
        let stages = status["stages"].as_array().expect("a status has stages").iter();
        stages.map(|stage| stage["lag_records"].as_u64().expect("a lag is a number")).collect()
    }

    /// The books of services that have ended, each page once and counted alike by all stages.
    pub fn books(&self, instance: &str) -> std::collections::BTreeMap<page::PageId, books::Entry> {
        let pages = books::read_stages(PARTITIONS, |stage| self.data(stage, instance));
        for page in pages.values() {
            let counts = (page.scheduler.fetches, page.detector_fetches, page.estimator_fetches);
            assert!(counts.0 > 0 && counts.0 == counts.1 && counts.1 == counts.2, "{counts:?}: {page:?}");
            assert_eq!(page.scheduler.request.lease_until(), None, "still in flight: {page:?}");
        }
        assert_eq!(pages.len(), self.pages);
        pages
    }
}

/// A running service. What it said is shown when its test fails.
pub struct Service {
    /// Name of the stage that it runs.
    pub stage: &'static str,
    process: Option<Process>,
}

impl Service {
    /// Starts a stage by a command that has all it needs.
    pub fn start(stage: &'static str, command: Command, directory: &Path) -> Self {
        Self { stage, process: Some(Process::start(command, directory)) }
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("it is taken only when the service ends")
    }

    /// Its log so far: standard error.
    pub fn said(&self) -> String {
        self.process().stderr()
    }

    /// Where it listens, once it does.
    pub fn address(&self) -> Option<SocketAddr> {
        let said = self.said();
        let (_, rest) = said.split_once("address=")?;
        rest.split_whitespace().next()?.parse().ok()
    }

    /// Asks it something; `None` while it does not answer.
    pub fn get(&self, path: &str) -> Option<(u16, String)> {
        let answer = HttpAnswer::to(self.address()?, path)?;
        Some((answer.status, answer.body))
    }

    /// Its status; null while it does not answer.
    pub fn status(&self) -> Value {
        self.get("/status").and_then(|(_, body)| serde_json::from_str(&body).ok()).unwrap_or(Value::Null)
    }

    /// Partitions it is at work on.
    pub fn partitions(&self) -> u64 {
        self.status()["stages"][0]["partitions"].as_u64().unwrap_or(0)
    }

    /// One of its figures on `/metrics`, by the whole name; none while it does not answer or has no such figure.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let (_, text) = self.get("/metrics")?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse().ok())
    }

    /// How often it gave up its membership to join its group anew.
    pub fn rejoins(&self) -> u64 {
        let name = format!("recrawl_stage_rejoins_total{{stage=\"{}\"}}", self.stage);
        self.metric(&name).expect("it answers and counts this") as u64
    }

    /// Stops its time (`libc::SIGSTOP`), as a virtual machine that is moved does, or lets it go on (`libc::SIGCONT`).
    pub fn signal(&self, signal: i32) {
        self.process().signal(signal);
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().expect("it is taken only when the service ends").is_running()
    }

    /// Kills it as a power cut would.
    pub fn kill(mut self) {
        self.process.take().expect("it runs").kill();
    }

    /// Stops it as an init system does, and checks that it drained. Returns what it said.
    pub fn stop(self) -> String {
        self.signal(libc::SIGTERM);
        self.drained()
    }

    /// Waits until it has ended after a signal to stop, and checks that it drained. Returns its log.
    pub fn drained(mut self) -> String {
        let process = self.process.take().expect("it runs");
        let output = process.finish().exits_with(0).says(&["drained"]);
        assert!(!output.stderr.contains("ERROR"), "{}", output.stderr);
        output.stderr
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(process) = &self.process
        {
            eprintln!("--- {} said:\n{}", self.stage, process.stderr());
        }
    }
}
