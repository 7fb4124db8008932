//! A record that ends a service three times is set aside, and the partition goes on behind it.

use crate::deadly_site::{LITTLE_MEMORY, OTHERS, WHY, serve};
use crate::services::{Distributed, Service, kafka};
use serde_json::Value;
use simweb::SeededConfig;
use tests::{SOON, SimulatedWeb, programs, wait_for};

/// A detector that may take little memory.
fn detector(distributed: &Distributed) -> Service {
    let mut command = programs().command("recrawl");
    command.args(["stage", "detector", "--instance", "0"]).args(distributed.crawl.flags()).envs(LITTLE_MEMORY);
    command.arg("--set").arg(format!("crawl.data={}", distributed.data("detector", "0").display()));
    Service::start("detector", command, distributed.crawl.directory.path())
}

#[test]
fn a_record_that_ends_the_service_is_set_aside_and_the_rest_goes_on() {
    let Some(brokers) = kafka() else { return };
    let unused =
        SimulatedWeb::start(SeededConfig { hosts: 1, pages_per_host: 1, ..SeededConfig::default() }, 1.0, |_| ());
    let mut distributed = Distributed::without_seeds(&unused, &brokers, &[]);
    let seeds = distributed.crawl.seeds_file();
    for (key, value) in serve(&seeds) {
        distributed.set(key, &value);
    }
    distributed.ask(&["seed", "--file", &seeds.display().to_string()]).exits_with(0);
    let others: Vec<_> =
        ["scheduler", "fetcher", "estimator"].into_iter().map(|stage| distributed.start(stage, "0")).collect();
    // After the first crash the processes note what they are at.
    for crash in 1..=3 {
        let mut detector = detector(&distributed);
        wait_for("the page ends the detector", SOON, || !detector.is_running());
        assert!(detector.said().contains("memory allocation of"), "crash {crash}: {}", detector.said());
    }
    let detector = detector(&distributed);
    let set_aside = "recrawl_stage_set_aside_total{stage=\"detector\"}";
    wait_for("the page is set aside, and the others are answered", SOON, || {
        let status = others[0].status();
        detector.metric(set_aside) >= Some(1.0) && status["pages"] == 1 + OTHERS && status["never_fetched"] == 1
    });
    // A page whose lease ended while the detector was down has been asked for again, so it may be set aside more than once.
    let dead_letters = distributed.ask(&["dead-letters"]).exits_with(0).json();
    let reasons: Vec<_> =
        dead_letters.as_array().unwrap().iter().map(|record| record["reason"].as_str().unwrap()).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason.starts_with(WHY)), "{reasons:?}");
    wait_for("the page counts as failed, and does not wait for the end of its lease", SOON, || {
        let page = distributed.ask(&["page", "http://deadly.test/"]).exits_with(0).stdout;
        serde_json::from_str::<Value>(&page).unwrap()["last_failure"] == "set_aside"
    });
    detector.stop();
    others.into_iter().for_each(|service| _ = service.stop());
}
