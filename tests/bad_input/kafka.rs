//! A Kafka that does not answer.

use std::time::{Duration, Instant};
use tests::{Crawl, Process, SOON, programs, wait_for};

/// A port that nothing listens on: it was free a moment ago, and low enough not to be given out.
const NO_BROKER: &str = "127.0.0.1:1";

fn service(crawl: &Crawl, stages: &str) -> Process {
    let mut command = programs().command("recrawl");
    command.args(["stage", stages]);
    command.arg("--set").arg(format!("kafka.brokers={NO_BROKER}"));
    command.arg("--set").arg(format!("crawl.data={}", crawl.data().display()));
    command.args(["--set", "http.bind=127.0.0.1:0", "--instance", "0"]);
    Process::start(command, crawl.directory.path())
}

#[test]
fn a_service_without_kafka_waits_backs_off_says_so_and_ends_when_reported() {
    let names = ["scheduler", "fetcher", "detector", "estimator,matcher,ranker"];
    let crawl = Crawl::default();
    let started = Instant::now();
    let services = names.map(|name| service(&crawl, name));
    for (name, process) in names.iter().zip(&services) {
        let said = || process.stderr().matches("waiting for Kafka").count();
        wait_for(&format!("{name} has tried twice"), SOON, || said() >= 2);
    }
    // Long enough that something that spins would show.
    wait_for("three seconds are over", SOON, || started.elapsed() > Duration::from_secs(3));
    for (name, process) in names.iter().zip(services) {
        let (text, seconds) = (process.stderr(), started.elapsed().as_secs_f64());
        assert!((text.lines().count() as f64) < 5.0 + 3.0 * seconds, "{name} says too much in {seconds} s:\n{text}");
        assert!(text.contains(NO_BROKER), "{name} does not say whom it waits for:\n{text}");
        let cpu_time = process.cpu_time().unwrap_or_default();
        assert!(cpu_time < Duration::from_secs(1), "{name} has used {cpu_time:?} of processor time in {seconds} s");
        process.signal(libc::SIGTERM);
        process.finish().exits_with(0);
    }
}

#[test]
fn a_service_without_brokers_says_what_to_set() {
    let crawl = Crawl::default();
    let mut command = programs().command("recrawl");
    command.args(["stage", "estimator"]);
    let output = Process::start(command, crawl.directory.path()).finish();
    output.exits_with(2).says(&["kafka.brokers is not set", "RECRAWL_KAFKA_BROKERS"]);
}

#[test]
fn tools_do_not_wait_for_a_kafka_that_does_not_answer() {
    let crawl = Crawl::default();
    let mut command = programs().command("recrawl");
    command.args(["status", "--set", &format!("kafka.brokers={NO_BROKER}")]);
    Process::start(command, crawl.directory.path()).finish().exits_with(3).says(&["recrawl: ", NO_BROKER]);
}
