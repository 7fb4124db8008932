//! Nodes whose clocks are wrong: all processes go by the brokers' time, the wrong ones are named, and nothing stands still.

use crate::services::{Distributed, SOON, Service, kafka};
use recrawl::stages::STAGES;
use serde_json::Value;
use simweb::SeededConfig;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use tests::{Process, SimulatedWeb, programs, wait_for};

const HOSTS: usize = 10;
const PAGES_PER_HOST: usize = 10;
/// By more than a lease lasts (`policy.lease_timeout`).
const WRONG_BY_S: i64 = 660;

/// Shows programs a wrong time.
struct WrongClock(TempDir);

impl WrongClock {
    fn library(&self) -> PathBuf {
        self.0.path().join("wrong_clock.so")
    }

    fn new() -> Self {
        let wrong = Self(TempDir::new().unwrap());
        let source = tests::workspace().join("tests/distributed/wrong_clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(wrong.library()).arg(source).arg("-ldl");
        Process::start(compiler, wrong.0.path()).finish().exits_with(0);
        wrong
    }

    /// Shows a program a time that is this many seconds ahead; below zero, behind.
    fn show(&self, command: &mut Command, ahead_s: i64) {
        command.env("LD_PRELOAD", self.library()).env("WRONG_CLOCK_S", ahead_s.to_string());
    }
}

/// Starts a stage as on a machine with a wrong clock.
fn start(distributed: &Distributed, stage: &'static str, wrong: &WrongClock) -> Service {
    let mut command = distributed.command("recrawl", stage, "0");
    wrong.show(&mut command, ahead_s(stage));
    Service::start(stage, command, distributed.crawl.directory.path())
}

/// By how much the clock of a stage's machine is ahead in this test.
fn ahead_s(stage: &str) -> i64 {
    match stage {
        "fetcher" => WRONG_BY_S,
        "scheduler" | "detector" => -WRONG_BY_S,
        _ => 0,
    }
}

#[test]
fn nodes_with_wrong_clocks_go_by_that_of_kafka_and_are_named() {
    let Some(brokers) = kafka() else { return };
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: PAGES_PER_HOST, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let once =
        [("budget.fetches_per_second", "1000"), ("politeness.crawl_delay", "0s"), ("policy.min_interval", "10d")];
    let distributed = Distributed::of(&web, &brokers, &once);
    let wrong = WrongClock::new();
    let services: Vec<_> = STAGES.iter().map(|stage| start(&distributed, stage.name(), &wrong)).collect();
    distributed.wait_until_idle(&services);
    for service in &services {
        let wrong_by_s = ahead_s(service.stage);
        let shown = service.metric("recrawl_clock_ahead_seconds").expect("brokers stamp the clock checks");
        assert!((shown - wrong_by_s as f64).abs() < 30.0, "{}: {shown}", service.stage);
        let readiness = service.get("/readyz");
        let (status, body) = readiness.expect("it answers");
        let is_wrong = wrong_by_s != 0;
        assert_eq!(status == 503 && body.contains("the clock of this machine is 6"), is_wrong, "{status} {body}");
        assert_eq!(service.said().contains("Kafka's; set the wrong one right"), is_wrong, "{}", service.said());
    }
    // Neither a lease nor a question was over before its time.
    assert_eq!(distributed.ask(&["status"]).exits_with(0).json()["unanswered"], Value::Null);
    let outcomes = services.iter().find(|service| service.stage == "fetcher").map(Service::status).unwrap();
    assert!(!outcomes["outcomes"].to_string().contains("lease_over"), "{outcomes}");
    services.into_iter().for_each(|service| drop(service.stop()));
    let real = page::Timestamp::from_secs(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64,
    );
    for page in distributed.books("0").values() {
        let looked = page.scheduler.last_look_at.expect("every page was looked at");
        let off = looked.max(real).saturating_since(looked.min(real));
        assert!(off < SOON * 2, "{} was looked at {looked}, and it is {real}", page.scheduler.url);
    }
    assert_eq!(web.page_requests(), web.urls().len());
}

#[test]
fn a_command_on_a_machine_whose_clock_is_an_hour_behind_is_answered() {
    let Some(brokers) = kafka() else { return };
    let web = SimulatedWeb::start(SeededConfig { hosts: 2, pages_per_host: 2, ..SeededConfig::default() }, 1.0, |_| {});
    let distributed = Distributed::of(&web, &brokers, &[("politeness.crawl_delay", "0s")]);
    let services = distributed.start_all();
    wait_for("all have joined", SOON, || services.iter().all(|service| service.partitions() > 0));
    let mut command = programs().command("recrawl");
    command.args(["--format", "json", "status", "--wait", "1m"]).args(distributed.crawl.flags());
    WrongClock::new().show(&mut command, -3_600);
    let status = Process::start(command, distributed.crawl.directory.path()).finish().exits_with(0).json();
    assert_eq!((&status["pages"], &status["unanswered"]), (&Value::from(web.urls().len()), &Value::Null));
    services.into_iter().for_each(|service| drop(service.stop()));
}
