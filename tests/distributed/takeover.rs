//! Instances of a stage share its partitions, and take them over from one another.

use crate::kills::{PATIENT, web};
use crate::services::{Distributed, SOON, Service, kafka};
use tests::wait_for;

const DOUBLED: [&str; 5] = ["scheduler", "detector", "estimator", "matcher", "ranker"];

#[test]
fn a_second_instance_takes_over_partitions_with_their_state() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &PATIENT);
    let first = distributed.start_all();
    web.let_through(50);
    let second = DOUBLED.map(|stage| distributed.start(stage, "1"));
    for newcomer in &second {
        let stage = newcomer.stage;
        let old = first.iter().find(|service| service.stage == stage).unwrap();
        wait_for(&format!("both instances of the {stage} have two partitions"), SOON, || {
            (old.partitions(), newcomer.partitions()) == (2, 2)
        });
    }
    // Both work.
    web.let_through(50);
    let (leaving, fetcher): (Vec<_>, Vec<_>) = first.into_iter().partition(|service| service.stage != "fetcher");
    leaving.into_iter().for_each(|service| drop(Service::stop(service)));
    web.open();

    let remaining: Vec<_> = second.into_iter().chain(fetcher).collect();
    distributed.wait_until_idle(&remaining);
    for service in remaining {
        wait_for(&format!("the {} has all partitions", service.stage), SOON, || service.partitions() == 4);
        service.stop();
    }
    for page in distributed.books("1").values() {
        assert_eq!((page.scheduler.fetches, page.scheduler.status), (1, Some(200)), "{page:?}");
    }
}

#[test]
fn instances_frozen_until_others_took_over_write_nothing_when_they_thaw() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    // One that freezes in the middle of a commit leaves a transaction open, which the others have to wait for.
    let sets = [&PATIENT[..], &[("kafka.transaction_timeout", "6s")]].concat();
    let distributed = Distributed::of(&web, &brokers, &sets);
    let first = distributed.start_all();
    web.let_through(50);
    let (frozen, fetcher): (Vec<_>, Vec<_>) = first.into_iter().partition(|service| service.stage != "fetcher");
    frozen.iter().for_each(|service| service.signal(libc::SIGSTOP));
    let second = DOUBLED.map(|stage| distributed.start(stage, "1"));
    for newcomer in &second {
        wait_for(&format!("the {} is taken over", newcomer.stage), SOON, || newcomer.partitions() == 4);
    }
    // The newcomers work, and go on when the frozen ones thaw.
    web.let_through(100);
    frozen.iter().for_each(|service| service.signal(libc::SIGCONT));
    web.let_through(50);
    frozen.into_iter().for_each(|service| drop(Service::stop(service)));
    web.open();

    let remaining: Vec<_> = second.into_iter().chain(fetcher).collect();
    distributed.wait_until_idle(&remaining);
    remaining.into_iter().for_each(|service| drop(Service::stop(service)));
    let worked_with = distributed.books("1");

    // Whatever the frozen ones had written would be in the changelogs and not in the newcomers' stores.
    let third = DOUBLED.map(|stage| distributed.start(stage, "2"));
    for service in &third {
        wait_for(&format!("the {} is restored", service.stage), SOON, || service.partitions() == 4);
    }
    third.into_iter().for_each(|service| drop(Service::stop(service)));
    let restored = distributed.books("2");
    for (id, page) in &worked_with {
        assert_eq!(format!("{page:?}"), format!("{:?}", restored[id]));
    }
}
