//! Stages that are restarted under their names: no other member of the group rebalances, and nothing is restored elsewhere.

use crate::kills::{PATIENT, web};
use crate::services::{Distributed, SOON, Service, kafka};
use tests::wait_for;

/// Far longer than this test waits for anything: nothing in it can come of the end of a session.
const SESSION: &str = "20m";
const STAGE: &str = "detector";

fn rebalances(service: &Service) -> Option<f64> {
    service.metric(&format!("recrawl_stage_rebalances_total{{stage=\"{STAGE}\"}}"))
}

#[test]
fn a_stage_that_is_stopped_or_killed_and_comes_back_moves_no_partition_of_the_others() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let sets = [&PATIENT[..], &[("kafka.session_timeout", SESSION), ("kafka.static_membership", "true")]].concat();
    let distributed = Distributed::of(&web, &brokers, &sets);
    let all = distributed.start_all();
    let (mut first, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|service| service.stage == STAGE);
    let mut first = first.remove(0);
    let second = distributed.start(STAGE, "1");
    let shares = |first: &Service| (first.partitions(), second.partitions());
    wait_for("both have two partitions", SOON, || shares(&first) == (2, 2));
    let before = rebalances(&second).unwrap();

    for is_killed in [false, true] {
        web.let_through(20);
        if is_killed {
            first.kill()
        } else {
            drop(first.stop())
        }
        first = distributed.start(STAGE, "0");
        wait_for("it has its partitions again", SOON, || shares(&first) == (2, 2));
        // The crawl goes on.
        web.let_through(20);
    }
    assert_eq!(rebalances(&second), Some(before), "the other one noticed");
    web.open();

    let services: Vec<_> = others.into_iter().chain([first, second]).collect();
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
}
