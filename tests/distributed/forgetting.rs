//! A page that an operator forgets leaves no trace on a topic that is kept, and in no store.

use crate::services::{Distributed, PARTITIONS, SOON, kafka};
use crate::site::serve;
use simweb::SeededConfig;
use std::collections::{BTreeMap, BTreeSet};
use stream::{Cleanup, Log, TopicPartition};
use tests::forgotten::{PAGE, PAGES, has_mark, is_trace, site};
use tests::{SimulatedWeb, books, wait_for};
use topology::LogNames;

/// Names of the topics, without prefix, that still have records about the page. In compacted topics only the last record of
/// each key counts, since compaction leaves that one.
fn traces(distributed: &Distributed) -> BTreeSet<String> {
    let settings = distributed.crawl.settings();
    let (names, log) = (LogNames::new(&settings), daemon::connect(&settings, "test").unwrap());
    let mut reader = log.reader().unwrap();
    let stages = recrawl::stages::topologies();
    let tables: BTreeMap<_, _> = stages
        .iter()
        .flat_map(|stage| stage.tables.iter().map(move |table| (stage.name, table)))
        .map(|(stage, table)| (names.topic(table.changelog(stage)), (stage, table.name)))
        .collect();
    let mut traces = BTreeSet::new();
    for topic in topology::topic_configs(&settings, &stages, PARTITIONS) {
        let (stage, table) = tables.get(&*topic.name).copied().unwrap_or(("", ""));
        for partition in 0..topic.partitions {
            let place = TopicPartition::new(&*topic.name, partition);
            let mut next = reader.bounds(std::slice::from_ref(&place)).unwrap()[0].start;
            let mut kept = BTreeMap::new();
            loop {
                let (records, after) = reader.read(&place, next, 1_000).unwrap();
                if records.is_empty() {
                    break;
                }
                next = after;
                for record in records {
                    let key = match topic.cleanup {
                        Cleanup::Compact => (record.key.clone(), 0),
                        _ => (record.key.clone(), record.offset),
                    };
                    kept.insert(key, record.value);
                }
            }
            let is_compacted = topic.cleanup == Cleanup::Compact;
            let is_left = |key: &[u8], value: &[u8]| match is_compacted {
                true => is_trace(stage, table, key, value),
                false => has_mark(value),
            };
            let mut values = kept.iter().filter_map(|((key, _), value)| Some((key, value.as_deref()?)));
            if values.any(|(key, value)| is_left(key, value)) {
                traces.insert(topic.name.strip_prefix(&settings.kafka.topic_prefix).unwrap().to_owned());
            }
        }
    }
    traces
}

#[test]
fn a_forgotten_page_leaves_no_trace_over_kafka() {
    let Some(brokers) = kafka() else { return };
    // Only its number of pages counts: the pages are those of another site.
    let config = SeededConfig { hosts: 1, pages_per_host: PAGES, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    let resolve = format!("*.test={}", serve(site));
    let sets = [("fetch.resolve", resolve.as_str()), ("detector.contents", "text"), ("policy.min_interval", "1h")];
    let distributed = Distributed::without_seeds(&web, &brokers, &sets);
    distributed.ask(&["seed", "http://www.leaf.test/"]).exits_with(0);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    let before = traces(&distributed);
    let expected = ["scheduler-pages-changelog", "detector-pages-changelog", "estimator-pages-changelog"];
    assert!(expected.iter().all(|topic| before.contains(*topic)), "{before:?}");
    assert!(["page-contents", "fetch-results"].iter().all(|topic| before.contains(*topic)), "{before:?}");

    distributed.ask(&["forget", "--wait", PAGE]).exits_with(0);
    distributed.ask(&["page", PAGE]).exits_with(1).says(&["and gone at"]);
    // The front page is looked at again, and its links are followed.
    distributed.ask(&["refetch", "http://www.leaf.test/"]).exits_with(0);
    wait_for("matcher and ranker have read of it, too", SOON, || distributed.lags().iter().all(|lag| *lag == 0));
    // What the front page has named goes, too, in whichever partition, and the front page itself is a seed.
    let found = |source: &str| {
        let counted = distributed.ask(&["forget", "--discovered-from", "--dry-run", source]).exits_with(0).json();
        counted["pages"].as_u64().unwrap()
    };
    assert_eq!((found("http://www.leaf.test/"), found("leaf.test")), (PAGES as u64 - 2, PAGES as u64 - 2));
    distributed.ask(&["forget", "--discovered-from", "http://www.leaf.test/"]).exits_with(0);
    wait_for("nothing that was found there is left", SOON, || found("leaf.test") == 0);
    distributed.ask(&["page", "http://www.leaf.test/"]).exits_with(0);
    wait_for("all stages have read of it", SOON, || distributed.lags().iter().all(|lag| *lag == 0));
    services.into_iter().for_each(|service| drop(service.stop()));

    // Bodies of answers are deleted by age.
    assert_eq!(traces(&distributed), BTreeSet::from(["fetch-results".to_owned()]));
    let mut left = BTreeSet::new();
    let data = |stage: &str| distributed.data(stage, "0");
    let mut entries = 0;
    books::each_entry_of_stages(PARTITIONS, data, |stage, table, key, value| {
        entries += 1;
        if is_trace(stage, table, key, value) {
            left.insert(format!("{stage}/{table}"));
        }
    });
    assert!(entries > PAGES, "the stores were read");
    assert_eq!(left, BTreeSet::new());
}
