//! Changes in the form that the operator asks for.

use crate::changes::page_change_records;
use serde_json::Value;
use simweb::{ChangeRates, SeededConfig};
use std::collections::BTreeMap;
use tests::{Crawl, SimulatedWeb};

const PAGES: usize = 12;

fn by_id(changes: impl Iterator<Item = Value>) -> BTreeMap<String, Value> {
    changes.map(|change| (change["change_id"].as_str().unwrap().to_owned(), change)).collect()
}

#[test]
fn json_on_the_topic_is_the_line_that_is_reported_and_a_topic_may_change_its_form() {
    let rates = ChangeRates::Same(0.0);
    let seeded = SeededConfig { hosts: 2, pages_per_host: PAGES / 2, rates, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let crawl = Crawl::of(&web).with("output.format", "json");
    let urls = web.urls();
    std::fs::write(crawl.seeds_file(), urls[..PAGES / 2].join("\n")).unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let reported = |crawl: &Crawl| {
        let output = crawl.ask("changes", &[]).exits_with(0);
        by_id(output.stdout.lines().map(|line| {
            let mut change: Value = serde_json::from_str(line).unwrap();
            change.as_object_mut().unwrap().remove("cursor").expect("a line has its cursor");
            change
        }))
    };
    let records = page_change_records(&crawl);
    let json = by_id(records.iter().map(|record| serde_json::from_slice(record).unwrap()));
    assert_eq!((json.len(), &json), (PAGES / 2, &reported(&crawl)));

    // Another form from now on; changes of new pages are published in it.
    let crawl = crawl.with("output.format", "avro");
    std::fs::write(crawl.seeds_file(), urls.join("\n")).unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let avro = page_change_records(&crawl).iter().filter(|record| record.starts_with(&[0xC3, 0x01])).count();
    assert_eq!(avro, PAGES / 2);
    let both = reported(&crawl);
    assert_eq!(both.len(), PAGES);
    assert!(json.iter().all(|(id, change)| both.get(id) == Some(change)));
    let feed = crawl.ask("feed", &["--items", "1000"]).exits_with(0).stdout;
    assert_eq!(feed.matches("<entry>").count(), PAGES);
}

#[test]
fn an_embedded_crawl_refuses_the_form_of_a_schema_registry() {
    let seeded = SeededConfig { hosts: 1, pages_per_host: 1, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let crawl = Crawl::of(&web).with("output.format", "confluent").with("output.registry", "http://registry.test");
    crawl.run(&[]).finish().exits_with(2).says(&["output.format = \"confluent\" is for consumers of Kafka"]);
}
