//! Stages that are restarted under their names: nobody else notices, and nothing is restored elsewhere.

use crate::kills::{SLOW, web};
use crate::services::{Distributed, SOON, Service, kafka};
use std::time::{Duration, Instant};
use tests::wait_for;

/// Longer than a restart takes, and than this test has patience for.
const SESSION: &str = "45s";
const PATIENCE: Duration = Duration::from_secs(25);
const STAGE: &str = "detector";

fn rebalances(service: &Service) -> Option<f64> {
    service.metric(&format!("recrawl_stage_rebalances_total{{stage=\"{STAGE}\"}}"))
}

#[test]
fn a_stage_that_is_stopped_or_killed_and_comes_back_moves_no_partition_of_the_others() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let sets = [&SLOW[..], &[("kafka.session_timeout", SESSION), ("kafka.static_membership", "true")]].concat();
    let distributed = Distributed::of(&web, &brokers, &sets);
    let all = distributed.start_all();
    let (mut first, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|service| service.stage == STAGE);
    let mut first = first.remove(0);
    let second = distributed.start(STAGE, "1");
    let shares = |first: &Service| (first.partitions(), second.partitions());
    wait_for("both have two partitions", SOON, || shares(&first) == (2, 2));
    let before = rebalances(&second).unwrap();

    for is_killed in [false, true] {
        let fetched = web.page_requests();
        if is_killed {
            first.kill()
        } else {
            drop(first.stop())
        }
        let gone_at = Instant::now();
        first = distributed.start(STAGE, "0");
        wait_for("it has its partitions again", SOON, || shares(&first) == (2, 2));
        println!("restarts: two partitions are back {:?} after the end (killed: {is_killed})", gone_at.elapsed());
        assert!(gone_at.elapsed() < PATIENCE, "it waited for a session");
        wait_for("the crawl goes on", SOON, || web.page_requests() > fetched + 20);
    }
    assert_eq!(rebalances(&second), Some(before), "the other one noticed");
    assert!(web.page_requests() < web.urls().len(), "the crawl was over too soon");

    let services: Vec<_> = others.into_iter().chain([first, second]).collect();
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
}
