//! The record of orders over Kafka: who says to have given them, and what the owners of the partitions made of them.

use crate::services::{Distributed, PARTITIONS, SOON, kafka};
use serde_json::{Value, json};
use simweb::SeededConfig;
use tests::{SimulatedWeb, wait_for};

const HOSTS: usize = 8;

#[test]
fn an_order_over_kafka_is_recorded_with_who_claims_to_have_given_it_and_what_the_owners_of_its_partitions_did() {
    let Some(brokers) = kafka() else { return };
    let config = SeededConfig { hosts: HOSTS, pages_per_host: 1, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    let distributed = Distributed::without_seeds(&web, &brokers, &[("policy.min_interval", "1h")]);
    let ask = |arguments: &[&str]| distributed.ask(arguments).exits_with(0);
    let orders = || ask(&["audit"]).json().as_array().unwrap().clone();
    let urls = web.urls();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();

    ask(&[&["seed"], &urls[..]].concat());
    let order = orders().pop().unwrap();
    let unverified = order["claimed_caller"].as_str().unwrap();
    assert!(order["caller"].is_null() && unverified.contains('@'), "{order:#}");
    assert_eq!((&order["action"], &order["names"], &order["count"]), (&"seed".into(), &json!(urls), &HOSTS.into()));
    assert_eq!((&order["effect"]["awaited"], &order["effect"]["commands"]), (&HOSTS.into(), &0.into()));

    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    /// The last order, once all its commands are taken.
    fn taken(orders: &dyn Fn() -> Vec<Value>, action: &str) -> Value {
        let is_it = |order: &Value| order["action"] == action && order["effect"]["awaited"] == 0;
        wait_for(&format!("{action} is taken"), SOON, || orders().last().is_some_and(is_it));
        orders().pop().unwrap()
    }
    let effect = taken(&orders, "seed")["effect"].clone();
    assert_eq!((&effect["pages"], &effect["commands"]), (&HOSTS.into(), &HOSTS.into()), "of {PARTITIONS} partitions");

    ask(&["block", "host-0001.test"]);
    assert_eq!(taken(&orders, "block")["effect"]["hosts"], 1);
    ask(&["seed", "http://host-0001.test/new", urls[1]]);
    let effect = taken(&orders, "seed")["effect"].clone();
    assert_eq!((&effect["pages"], &effect["unchanged"]), (&0.into(), &1.into()), "{effect:#}");
    assert_eq!(
        (&effect["refused"][0]["commands"], &effect["refused"][0]["first"]),
        (&1.into(), &"http://host-0001.test/new".into())
    );
    assert!(effect["refused"][0]["reason"].as_str().unwrap().starts_with("its host is blocked"), "{effect:#}");
    ask(&["forget", "--site", "host-0002.test"]);
    assert_eq!(taken(&orders, "forget-site")["effect"]["pages"], 1);

    let before = orders();
    assert_eq!(before.len(), 4);
    services.into_iter().for_each(|service| drop(service.stop()));
    assert_eq!(orders(), before, "the record needs no stage");
}
