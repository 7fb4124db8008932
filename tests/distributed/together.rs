//! Several stages in one process.

use crate::kills::{PATIENT, web};
use crate::services::{Distributed, PARTITIONS, kafka};
use serde_json::Value;
use tests::{SOON, books, wait_for};

const DECIDES: &str = "scheduler,estimator,matcher,ranker";
const FETCHES: &str = "fetcher,detector";

#[test]
fn stages_in_one_process_crawl_and_come_back_after_a_kill() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &PATIENT);
    let services = [DECIDES, FETCHES].map(|stages| distributed.start(stages, "0"));
    web.let_through(50);
    for (names, service) in [DECIDES, FETCHES].iter().zip(&services) {
        wait_for("the stages of the process have all partitions", SOON, || {
            let status = service.status();
            let shown = status["stages"].as_array().unwrap();
            let has_all = |stage: &Value| stage["partitions"].as_u64() == Some(u64::from(PARTITIONS));
            names.split(',').all(|name| shown.iter().any(|stage| stage["name"] == name && has_all(stage)))
        });
    }
    services.into_iter().for_each(|service| service.kill());
    web.open();
    let services = [DECIDES, FETCHES].map(|stages| distributed.start(stages, "0"));
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
    let data = |stage: &str| distributed.data(if DECIDES.contains(stage) { DECIDES } else { FETCHES }, "0");
    let pages = books::read_stages(PARTITIONS, data);
    assert_eq!(pages.len(), web.urls().len());
    for page in pages.values() {
        let fetches = page.scheduler.fetches;
        assert!(fetches > 0 && fetches == page.detector_fetches && fetches == page.estimator_fetches, "{page:?}");
    }
}
