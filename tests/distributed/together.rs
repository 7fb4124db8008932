//! Several stages in one process.

use crate::kills::{PATIENT, web};
use crate::services::{Distributed, PARTITIONS, kafka};
use tests::books;

const DECIDES: &str = "scheduler,estimator,matcher,ranker";
const FETCHES: &str = "fetcher,detector";

#[test]
fn stages_in_one_process_crawl_and_come_back_after_a_kill() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &PATIENT);
    let services = [DECIDES, FETCHES].map(|stages| distributed.start(stages, "0"));
    web.let_through(50);
    let shown = services.each_ref().map(|service| service.status()["stages"].clone());
    for (stages, shown) in [DECIDES, FETCHES].iter().zip(&shown) {
        for stage in stages.split(',') {
            let found = shown.as_array().unwrap().iter().find(|shown| shown["name"] == stage);
            assert_eq!(found.map(|stage| stage["partitions"].as_u64()), Some(Some(u64::from(PARTITIONS))), "{shown:#}");
        }
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
