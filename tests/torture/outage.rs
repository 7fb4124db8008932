//! All nodes are away for a while.

use crate::cluster;
use simweb::SeededConfig;
use std::time::{Duration, Instant};
use tests::services::{Distributed, PARTITIONS, SOON, Service};
use tests::{KafkaCluster, SimulatedWeb, wait_for};

/// The default. Who has to wait for the end of a session waits longer than `RECOVERY`.
const SESSION: &str = "45s";
/// Long enough that every stage gives up its transaction and its membership meanwhile.
const OUTAGE: Duration = Duration::from_secs(20);
/// From the moment that the nodes work again.
const RECOVERY: Duration = Duration::from_secs(30);

#[test]
fn after_an_outage_of_all_nodes_no_static_member_waits_for_the_end_of_a_session() {
    let Some(cluster) = cluster() else { return };
    let seeded = SeededConfig { hosts: 16, pages_per_host: 60, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| ());
    let sets = [
        ("kafka.session_timeout", SESSION),
        ("kafka.static_membership", "true"),
        ("kafka.transaction_timeout", "2s"),
        ("kafka.replication_factor", "3"),
        ("budget.fetches_per_second", "10"),
        ("budget.burst", "1s"),
    ];
    let distributed = Distributed::of(&web, cluster.brokers(), &sets);
    let services = distributed.start_all();
    wait_for("the crawl is under way", SOON, || web.page_requests() >= 50);

    let began = Instant::now();
    (1..=KafkaCluster::NODES).for_each(|node| cluster.kill(node));
    wait_for("the outage lasts", 2 * OUTAGE, || began.elapsed() > OUTAGE);
    let fetched = web.page_requests();
    (1..=KafkaCluster::NODES).for_each(|node| cluster.restart(node));
    wait_for("the cluster is whole again", SOON, || cluster.is_settled());
    let whole_at = Instant::now();
    wait_for("the loop turns, with all partitions", 2 * SOON, || {
        let is_whole = |service: &Service| service.partitions() == u64::from(PARTITIONS);
        web.page_requests() >= fetched + 50 && services.iter().all(is_whole)
    });
    let took = whole_at.elapsed();
    let rejoins: Vec<_> = services.iter().map(|service| (service.stage, service.rejoins())).collect();
    println!("outage: the loop turns {:.1} s after the nodes do; rejoins {rejoins:?}", took.as_secs_f64());
    assert!(took < RECOVERY, "it took {took:?}");
    assert!(web.page_requests() < web.urls().len(), "the crawl was over too soon");
    services.into_iter().for_each(|service| drop(service.stop()));
}
