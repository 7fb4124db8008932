//! Records that no stage can read, in the topics of the loop.

use crate::small_web;
use messages::topics;
use page::Timestamp;
use recrawl::stages::{STAGES, topologies};
use stream::{Log, OutputRecord, StageTopology, TopicPartition};
use tests::{Crawl, books};
use topology::LogNames;

#[test]
fn records_that_no_stage_can_read_are_set_aside_with_the_reason_and_the_rest_goes_on() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    let urls = web.urls();
    std::fs::write(crawl.seeds_file(), urls[..15].join("\n")).unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    append_garbage(&crawl);

    std::fs::write(crawl.seeds_file(), urls.join("\n")).unwrap();
    let summary = crawl.run(&["--until-idle"]).finish().exits_with(0).says(&["record set aside"]).json();
    assert_eq!((summary["pages"].as_u64(), summary["never_fetched"].as_u64()), (Some(30), Some(0)), "{summary:#}");
    let dead_letters = crawl.ask("dead-letters", &[]).exits_with(0).json();
    let dead_letters = dead_letters.as_array().unwrap();
    for StageTopology { name: stage, input, .. } in topologies() {
        let of_stage: Vec<_> = dead_letters.iter().filter(|dead_letter| dead_letter["stage"] == stage).collect();
        assert_eq!(of_stage.len(), GARBAGE.len(), "{stage}: {of_stage:#?}");
        for dead_letter in of_stage {
            assert!(dead_letter["topic"].as_str().unwrap().ends_with(&input.name.to_string()), "{dead_letter:#}");
            assert!(!dead_letter["reason"].as_str().unwrap().is_empty(), "{dead_letter:#}");
            assert_eq!(dead_letter["key"], "host-0001.test");
        }
    }
    assert_eq!(dead_letters.len(), STAGES.len() * GARBAGE.len());
    for page in books::read(&crawl).values() {
        assert_eq!((page.scheduler.fetches, page.detector_fetches, page.estimator_fetches), (1, 1, 1), "{page:?}");
    }
    // Once set aside, they are not tried again.
    let again = crawl.run(&["--until-idle"]).finish().exits_with(0);
    assert!(!again.stderr.contains("record set aside"), "{}", again.stderr);
    assert_eq!(crawl.ask("dead-letters", &[]).exits_with(0).json().as_array().unwrap().len(), dead_letters.len());
    // Unless they are given back, which happens once. None of them is a command.
    let replayed = || crawl.ask("dead-letters", &["--replay"]).exits_with(0).json()["replayed"].as_u64();
    assert_eq!((replayed(), replayed()), (Some(dead_letters.len() as u64), Some(0)));
    crawl.run(&["--until-idle"]).finish().exits_with(0).says(&["record set aside"]);
    assert_eq!(crawl.ask("dead-letters", &[]).exits_with(0).json().as_array().unwrap().len(), 2 * dead_letters.len());
}

/// Nothing, text, bytes, and a tombstone. A record of a schema that is not published yet is not garbage: it waits.
const GARBAGE: [Option<&[u8]>; 4] = [Some(b""), Some(b"not avro"), Some(&[0xff; 4_000]), None];

fn append_garbage(crawl: &Crawl) {
    let log = stream_rocksdb::open_log(&crawl.data()).unwrap();
    let names = LogNames::new(&crawl.settings());
    for StageTopology { input, .. } in topologies() {
        let records = GARBAGE.iter().map(|value| OutputRecord {
            to: TopicPartition::new(names.topic(input), 0),
            timestamp: Timestamp::from_secs(1_700_000_000),
            key: b"host-0001.test".to_vec(),
            value: value.map(|value| value.to_vec().into()),
            trace: None,
        });
        log.append(&records.collect::<Vec<_>>()).unwrap();
    }
    assert!(log.topic(&names.topic(topics::DEAD_LETTERS)).unwrap().is_some());
}
