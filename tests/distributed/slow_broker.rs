//! A Kafka that takes fewer bytes in the time of a transaction than a stage has ready.

use crate::services::{Distributed, kafka};
use simweb::SeededConfig;
use tests::{KafkaCluster, SimulatedWeb};

/// All pages at once, packed, are more than fits into a transaction of 15 s.
const BYTES_PER_SECOND: u32 = 30_000;

#[test]
fn under_a_quota_batches_become_small_enough_and_no_page_is_asked_for_again() {
    if kafka().is_none() {
        return;
    }
    let cluster = KafkaCluster::with_nodes(1);
    let seeded = SeededConfig { hosts: 10, pages_per_host: 6, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |config| config.page_bytes = 30_000);
    let sets = [
        ("budget.fetches_per_second", "1000"),
        ("politeness.crawl_delay", "0s"),
        ("politeness.response_time_factor", "0"),
        ("policy.min_interval", "10d"),
        ("policy.lease_timeout", "6h"),
        // Copies would double the bytes that are written.
        ("detector.contents", "none"),
    ];
    let distributed = Distributed::of(&web, cluster.brokers(), &sets);
    cluster.limit_writes(BYTES_PER_SECOND);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
    assert_eq!((web.page_requests(), web.pages_asked_for_again()), (web.urls().len(), 0));
}
