//! The promises of a Kafka log, on a real Kafka.

use crate::common::*;
use page::Timestamp;
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use stream::{
    Cleanup, Commit, ErrorKind, Event, Log, Member, OffsetBounds, OutputRecord, PollLimits, TopicConfig, TopicPartition,
};
use stream_kafka::{KafkaLog, KafkaSettings};

#[test]
fn records_come_back_as_they_were_written() {
    let Some(log) = log() else { return };
    let topic = topic(&log, "round-trip", 2);
    let to = TopicPartition::new(topic.as_str(), 1);
    let timestamp = Timestamp::from_millis(1_600_000_000_001);
    let values = [Some(b"value".to_vec()), Some(Vec::new()), None];
    let written: Vec<_> = values
        .iter()
        .map(|value| OutputRecord {
            to: to.clone(),
            timestamp,
            key: b"key".to_vec(),
            value: value.clone().map(Into::into),
            trace: None,
        })
        .collect();
    let receipt = log.append(&written).unwrap();
    assert_eq!(receipt.next_offsets, BTreeMap::from([(to.clone(), 3)]));
    let read = contents(&log, &topic, 1);
    assert_eq!(read.iter().map(|record| record.value.clone().map(Vec::from)).collect::<Vec<_>>(), values);
    assert!(read.iter().all(|record| record.timestamp == timestamp && record.key == b"key" && record.partition == 1));
    assert_eq!(read.iter().map(|record| record.offset).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(contents(&log, &topic, 0), []);
}

#[test]
fn a_receipt_names_the_offset_after_the_last_record_though_markers_lie_between() {
    let Some(log) = log() else { return };
    let topic = topic(&log, "receipts", 1);
    let to = TopicPartition::new(topic.as_str(), 0);
    let mut reader = log.reader().unwrap();
    for round in 0..5 {
        let receipt = log.append(&[record(&topic, 0, "a", b"1"), record(&topic, 0, "b", b"2")]).unwrap();
        // Two records and a marker each time.
        assert_eq!(receipt.next_offsets[&to], 3 * round + 2);
        let bounds = reader.bounds(std::slice::from_ref(&to)).unwrap();
        assert_eq!(bounds, [OffsetBounds { start: 0, end: 3 * round + 3 }]);
    }
    let (records, next) = reader.read(&to, 0, 100).unwrap();
    assert_eq!((records.len(), next), (10, 15));
    assert_eq!(reader.read(&to, 15, 100).unwrap(), (Vec::new(), 15));
    // From the middle of a read on, and from a marker.
    let (records, next) = reader.read(&to, 0, 3).unwrap();
    assert_eq!((records.len(), next), (3, 4));
    assert_eq!(reader.read(&to, next, 2).unwrap().0.iter().map(|r| r.offset).collect::<Vec<_>>(), [4, 6]);
    assert_eq!(reader.read(&to, 14, 2).unwrap(), (Vec::new(), 15));
}

#[test]
fn a_partition_that_comes_late_does_not_wait_behind_the_whole_backlog_of_another() {
    const BACKLOG: usize = 60_000;
    let Some(log) = log() else { return };
    let topic = topic(&log, "late", 2);
    let group = unique("group");
    let backlog: Vec<_> = (0..BACKLOG).map(|_| record(&topic, 0, "key", &[b'x'; 100])).collect();
    backlog.chunks(10_000).for_each(|records| drop(log.append(records).unwrap()));
    log.append(&[record(&topic, 1, "key", b"late")]).unwrap();
    let mut member = log.join(&spec(&group, &topic, &group)).unwrap();
    let few = PollLimits::records(500);
    let mut before = 0;
    let mut poll = |member: &mut dyn Member| {
        let events = member.poll(few, Duration::from_millis(50)).unwrap();
        before += records(&events).len();
        (events, before)
    };
    wait_until(|| poll(&mut *member).0.iter().any(|event| matches!(event, Event::Assigned(_))));
    member.start(0, 0).unwrap();
    wait_until(|| poll(&mut *member).1 > 0);
    // It fetches ahead, as for a stage that is hard at work.
    let work = |duration| {
        let until = Instant::now() + duration;
        wait_until(|| Instant::now() >= until);
    };
    work(Duration::from_secs(1));
    member.start(1, 0).unwrap();
    let mut seen = 0;
    wait_until(|| {
        work(Duration::from_millis(20));
        let (events, before) = poll(&mut *member);
        seen = before;
        records(&events).iter().any(|record| record.partition == 1)
    });
    // What is fetched ahead, and what comes with a fetch or two: a mebibyte each.
    assert!(seen < BACKLOG * 4 / 5, "{seen} of {BACKLOG} records came first");
}

#[test]
fn a_topic_that_is_missing_is_distinguished_from_a_leader_that_is() {
    let Some(log) = log() else { return };
    let missing = TopicPartition::new(unique("missing"), 0);
    let error = log.reader().unwrap().bounds(&[missing]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stop, "{error}");
}

#[test]
fn what_is_aborted_is_never_seen() {
    let Some(log) = log() else { return };
    let (input, output) = (topic(&log, "abort-in", 1), topic(&log, "abort-out", 1));
    let group = unique("group");
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    poll_until(&mut *member, |_, events| !events.is_empty()).unwrap();
    let aborted = vec![record(&output, 0, "aborted", b"")];
    let of_another = Commit { tasks: [7].into(), outputs: aborted, ..Commit::default() };
    assert_eq!(member.commit(&of_another).unwrap_err().kind, ErrorKind::Abort);
    send(&mut *member, vec![record(&output, 0, "committed", b"")]).unwrap();
    // Refused after a part of it has reached the broker.
    let too_much = vec![record(&output, 0, "refused", b""), record(&output, 0, "large", &vec![1; 9 << 20])];
    let error = send(&mut *member, too_much).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains(&output) && error.message.contains("9437189 bytes"), "{error}");
    let error = send(&mut *member, vec![record(&output, 0, "refused too", b"")]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rejoin);
    drop(member);
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    send(&mut *member, vec![record(&output, 0, "after", b"")]).unwrap();
    let keys: Vec<_> = contents(&log, &output, 0).into_iter().map(|record| record.key).collect();
    assert_eq!(keys, [b"committed".to_vec(), b"after".to_vec()]);
}

#[test]
fn a_commit_of_nothing_does_nothing_and_of_positions_alone_moves_them() {
    let Some(log) = log() else { return };
    let input = topic(&log, "positions", 1);
    log.append(&[record(&input, 0, "a", b""), record(&input, 0, "b", b"")]).unwrap();
    let group = unique("group");
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    poll_until(&mut *member, |_, events| records(events).len() == 2).unwrap();
    assert_eq!(send(&mut *member, Vec::new()).unwrap().next_offsets, BTreeMap::new());
    assert_eq!(committed(&mut *member, 0), None);
    commit(&mut *member, [(0, 1)], Vec::new()).unwrap();
    assert_eq!(committed(&mut *member, 0), Some(1));
    assert_eq!(commit(&mut *member, [(7, 1)], Vec::new()).unwrap_err().kind, ErrorKind::Abort, "not ours");
}

#[test]
fn a_record_of_one_mebibyte_passes() {
    let Some(log) = log() else { return };
    let topic = topic(&log, "large", 1);
    let value: Vec<u8> = (0..1 << 20).map(|index| (chance::spread_32(index) >> 24) as u8).collect();
    let many: Vec<_> = (0..8).map(|_| record(&topic, 0, "large", &value)).collect();
    log.append(&many).unwrap();
    let read = contents(&log, &topic, 0);
    assert_eq!(read.len(), 8);
    assert!(read.iter().all(|record| record.value.as_deref() == Some(&value[..])));
}

#[test]
fn a_poll_gathers_a_batch_and_keeps_to_its_limit() {
    let Some(log) = log() else { return };
    let input = topic(&log, "batches", 1);
    let written: Vec<_> = (0..2_500).map(|number| record(&input, 0, &number.to_string(), b"")).collect();
    log.append(&written).unwrap();
    let group = unique("group");
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    poll_until(&mut *member, |_, events| !events.is_empty()).unwrap();
    let mut sizes = Vec::new();
    wait_until(|| {
        let events = member.poll(PollLimits::records(1_000), Duration::from_millis(500)).unwrap();
        sizes.extend((!events.is_empty()).then_some(events.len()));
        sizes.iter().sum::<usize>() >= 1_500
    });
    assert!(sizes.iter().all(|&size| size <= 1_000), "{sizes:?}");
    assert!(sizes.contains(&1_000), "{sizes:?}");
}

#[test]
fn topics_are_made_once_and_checked() {
    let Some(log) = log() else { return };
    let delete = topic_config("delete", 3);
    let compact = TopicConfig { cleanup: Cleanup::Compact, ..topic_config("compact", 2) };
    let absent = topic_config("absent", 1);
    log.create_topics(&[delete.clone(), compact.clone()]).unwrap();
    log.create_topics(&[delete.clone(), compact.clone()]).unwrap();
    assert_eq!(log.topic(&delete.name).unwrap().map(|topic| topic.partitions), Some(3));
    assert_eq!(log.topic(&absent.name).unwrap(), None);
    let problems = |topics: &[TopicConfig]| -> Vec<Option<String>> {
        log.check_topics(topics).unwrap().into_iter().map(|check| check.problem).collect()
    };
    assert_eq!(problems(&[delete.clone(), compact.clone()]), [None, None]);
    let check = |topic: TopicConfig, expected: &str| {
        let problem = problems(&[topic])[0].clone().expect("a problem");
        assert!(problem.contains(expected), "{problem}");
    };
    check(absent, "is missing");
    check(TopicConfig { partitions: 4, ..delete.clone() }, "3 partitions instead of 4");
    check(TopicConfig { cleanup: Cleanup::Compact, ..delete.clone() }, "cleanup.policy=delete");
    check(TopicConfig { max_message_bytes: 4 << 20, ..delete }, "max.message.bytes");
    // Made by other means, without a bound for what was deleted.
    let unbounded = topic_config("unbounded", 1);
    let settings =
        [("cleanup.policy", "compact"), ("delete.retention.ms", "604800000"), ("max.message.bytes", "9999999")];
    let new = settings
        .iter()
        .fold(NewTopic::new(&unbounded.name, 1, TopicReplication::Fixed(1)), |new, (name, value)| new.set(name, value));
    let client: AdminClient<_> =
        ClientConfig::new().set("bootstrap.servers", brokers().expect("there is a Kafka")).create().unwrap();
    let made = futures_executor::block_on(client.create_topics([&new], &AdminOptions::new())).unwrap();
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    wait_until(|| log.topic(&unbounded.name).unwrap().is_some());
    check(TopicConfig { cleanup: Cleanup::Compact, ..unbounded }, "max.compaction.lag.ms=9223372036854775807");
    let error = log.join(&spec("group", "there-is-no-such-topic", "id")).err().expect("no such topic");
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains("there-is-no-such-topic"), "{error}");
}

#[test]
fn brokers_that_cannot_be_reached_are_named() {
    // No process listens on port 1.
    let error = KafkaLog::connect(settings("127.0.0.1:1")).err().expect("nobody is there");
    assert_eq!(error.kind, ErrorKind::Retry);
    assert!(error.message.starts_with("cannot reach Kafka at 127.0.0.1:1: "), "{error}");
    assert!(error.message.ends_with("; check [kafka] brokers"), "{error}");
    assert!(error.message.contains("refused"), "{error}");
}

#[test]
fn a_property_librdkafka_does_not_know_is_named() {
    let mut settings = settings("127.0.0.1:1");
    settings.kafka.properties.0.insert("no.such.property".to_owned(), "1".to_owned());
    let error = KafkaLog::connect(settings).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains("no.such.property"), "{error}");
}

#[test]
fn the_brokers_clock_is_read_where_they_stamp_records_with_it() {
    let Some(brokers) = brokers() else { return };
    let config = topic_config("clock-checks", 1);
    let mut settings = settings(&brokers);
    settings.clock_checks = Some(config.name.to_string());
    let log = KafkaLog::connect(settings.clone()).unwrap();
    log.create_topics(&[config]).unwrap();
    let started = Instant::now();
    let early = Timestamp::from_secs(1_000_000);
    let reading = log.read_clock(|| early + started.elapsed()).unwrap().expect("brokers stamp records of this topic");
    let real =
        Duration::from_secs(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs());
    let expected_s = 1_000_000.0 - real.as_secs_f64();
    assert!((reading.ahead_s - expected_s).abs() < 60.0, "{reading:?}, and {expected_s} was expected");
    assert!(reading.within_s > 0.0, "{reading:?}");
    // A topic that leaves times to producers, settings that name none, and a topic that does not exist.
    settings.clock_checks = None;
    let plain = KafkaLog::connect(settings.clone()).unwrap();
    let other = topic(&plain, "plain", 1);
    assert_eq!(plain.read_clock(|| early).unwrap(), None);
    settings.clock_checks = Some(other);
    let misled = KafkaLog::connect(settings.clone()).unwrap();
    assert_eq!(misled.read_clock(|| early).unwrap(), None);
    let missing = unique("missing");
    let lost = KafkaLog::connect(KafkaSettings { clock_checks: Some(missing.clone()), ..settings }).unwrap();
    let refused = lost.read_clock(|| early).unwrap_err();
    assert!(refused.message.contains(&missing), "{refused:?}");
    assert_eq!(lost.topic(&missing).unwrap(), None, "no broker makes it by itself");
}
