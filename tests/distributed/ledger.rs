//! A crawl of 200 hosts, with TLS and without, with everything that can happen to it, judged by what the hosts have seen.

use crate::services::{Distributed, SOON, Service, kafka};
use std::net::TcpListener;
use tests::mixed_web::{impoliteness, mixed_web, settings_for_mixed_web};
use tests::wait_for;

const HOSTS: usize = 200;
const PAGES_PER_HOST: usize = 40;

/// A server that must never be reached, because no setting allows its address; and ways to write that address.
fn forbidden() -> (TcpListener, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.2:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let forms = ["127.0.0.2", "2130706434", "0x7f.0.0.2", "[::ffff:127.0.0.2]"];
    (listener, forms.map(|form| format!("http://{form}:{port}/")).into())
}

#[test]
fn hosts_have_seen_nothing_but_politeness_through_kills_and_rebalances() {
    let Some(brokers) = kafka() else { return };
    let web = mixed_web(HOSTS, PAGES_PER_HOST);
    let (trap, addresses) = forbidden();
    let mut sets = settings_for_mixed_web().to_vec();
    sets.extend([("budget.in_flight", "400".to_owned()), ("policy.min_interval", "1h".to_owned())]);
    let sets: Vec<_> = sets.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let distributed = Distributed::of(&web, &brokers, &sets);
    for address in &addresses {
        distributed.ask(&["seed", address]).exits_with(0);
    }
    let mut services = distributed.start_all();
    let total = HOSTS * PAGES_PER_HOST * 9 / 10;
    let reaches = |share: usize| {
        let wanted = total * share / 10;
        wait_for(&format!("{wanted} requests"), 3 * SOON, || web.page_requests() >= wanted);
    };
    let kill = |services: &mut Vec<Service>, stage: &'static str| {
        let place = services.iter().position(|service| service.stage == stage).unwrap();
        services.remove(place).kill();
        services.push(distributed.start(stage, "0"));
    };
    reaches(1);
    let second = distributed.start_without_data("fetcher", "1");
    wait_for("the second fetcher has its share", SOON, || second.partitions() == 2);
    // Also where nothing says where its state is, a page that ends the process again and again is found.
    let under_way = distributed.data("fetcher", "1").join("recrawl-data/fetcher-under-way-0");
    wait_for("it has noted what is under way", SOON, || under_way.metadata().is_ok_and(|file| file.len() > 0));
    reaches(3);
    kill(&mut services, "scheduler");
    reaches(5);
    kill(&mut services, "fetcher");
    reaches(7);
    second.stop();
    reaches(9);
    wait_for("every page is answered", 3 * SOON, || {
        let status = services.iter().find(|service| service.stage == "scheduler").unwrap().status();
        let figures = &status["stages"][0]["figures"];
        figures["unanswered"].as_f64() == Some(0.0) && figures["in_flight"].as_f64() == Some(0.0)
    });
    services.into_iter().for_each(|service| drop(service.stop()));

    let complaints = impoliteness(&web.ledger(), HOSTS);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(trap.accept().is_err(), "a forbidden address was reached");
}
