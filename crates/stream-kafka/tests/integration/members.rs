//! Members of a group: who owns what, and what each is given.

use crate::common::*;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{BaseProducer, Producer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use stream::{ErrorKind, Event, Log, PollLimits};
use stream_kafka::KafkaLog;

#[test]
fn a_second_member_of_one_name_fences_the_first() {
    let Some(log) = log() else { return };
    let (input, output) = (topic(&log, "fencing-in", 1), topic(&log, "fencing-out", 1));
    let group = unique("group");
    let mut first = log.join(&spec(&group, &input, &group)).unwrap();
    send(&mut *first, vec![record(&output, 0, "before", b"")]).unwrap();
    let mut second = log.join(&spec(&group, &input, &group)).unwrap();
    let error = send(&mut *first, vec![record(&output, 0, "fenced", b"")]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Fenced, "{error}");
    let error = send(&mut *first, vec![record(&output, 0, "still fenced", b"")]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Fenced, "{error}");
    send(&mut *second, vec![record(&output, 0, "second", b"")]).unwrap();
    let keys: Vec<_> = contents(&log, &output, 0).into_iter().map(|record| record.key).collect();
    assert_eq!(keys, [b"before".to_vec(), b"second".to_vec()]);
}

#[test]
fn every_record_goes_through_exactly_once_though_members_come_and_go() {
    let Some(log) = log() else { return };
    const RECORDS: u32 = 100_000;
    const PARTITIONS: u32 = 4;
    let (input, output) = (topic(&log, "once-in", PARTITIONS), topic(&log, "once-out", PARTITIONS));
    for chunk in 0..RECORDS / 10_000 {
        let batch: Vec<_> = (chunk * 10_000..(chunk + 1) * 10_000)
            .map(|number| record(&input, number % PARTITIONS, &number.to_string(), b"value"))
            .collect();
        log.append(&batch).unwrap();
    }
    let group = unique("group");
    let total = |log: &KafkaLog| log.backlog(&group, &input).unwrap().iter().map(|of| of.records).sum::<u64>();
    let mut round = 0;
    while total(&log) > 0 {
        round += 1;
        assert!(round < 100, "it does not come to an end");
        let mut member = log.join(&spec(&group, &input, &group)).unwrap();
        let mut taken = 0;
        let deadline = Instant::now() + PATIENCE;
        // Lets every member do a part, takes one batch more and vanishes before, or in the last round after, its end.
        while taken < 15_000 && Instant::now() < deadline {
            let events = member.poll(PollLimits::records(1_000), Duration::from_millis(50)).unwrap();
            let (mut copies, mut next) = (Vec::new(), BTreeMap::new());
            for event in &events {
                match event {
                    Event::Assigned(partitions) => {
                        for &partition in partitions {
                            let from = committed(&mut *member, partition).unwrap_or(0);
                            member.start(partition, from).unwrap();
                        }
                    }
                    Event::Revoked(_) => {}
                    Event::Record(input) => {
                        let key = std::str::from_utf8(&input.key).unwrap();
                        copies.push(record(&output, input.partition, key, b"copy"));
                        next.insert(input.partition, input.offset + 1);
                    }
                }
            }
            taken += copies.len();
            let idle = events.is_empty();
            if taken < 15_000 {
                commit(&mut *member, next, copies).unwrap();
            }
            if idle && total(&log) == 0 {
                break;
            }
        }
    }
    assert!(round >= 6, "{round} members");
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for partition in 0..PARTITIONS {
        let mut last = None;
        for record in contents(&log, &output, partition) {
            count += 1;
            let number: u32 = std::str::from_utf8(&record.key).unwrap().parse().unwrap();
            assert!(last < Some(number), "order within the partition");
            last = Some(number);
            seen.insert(number);
        }
    }
    assert_eq!((count, seen.len()), (RECORDS, RECORDS as usize));
}

#[test]
fn two_members_share_partitions_and_none_belongs_to_both() {
    let Some(brokers) = brokers() else { return };
    // Longer than the test waits for anything: nothing in it follows from a session's end.
    let mut settings = settings(&brokers);
    settings.kafka.session_timeout = Duration::from_secs(1_200);
    let log = KafkaLog::connect(settings).unwrap();
    let input = topic(&log, "sharing", 4);
    let group = unique("group");
    let mut first = log.join(&spec(&group, &input, &unique("first"))).unwrap();
    let mut owned = [BTreeSet::new(), BTreeSet::new()];
    let follow = |owned: &mut BTreeSet<u32>, events: &[Event]| {
        for event in events {
            match event {
                Event::Assigned(partitions) => owned.extend(partitions),
                Event::Revoked(partitions) => owned.retain(|partition| !partitions.contains(partition)),
                Event::Record(_) => {}
            }
        }
    };
    let events = poll_until(&mut *first, |_, events| !events.is_empty()).unwrap();
    follow(&mut owned[0], &events);
    assert_eq!(owned[0].len(), 4);
    let mut second = log.join(&spec(&group, &input, &unique("second"))).unwrap();
    let mut later = 0;
    wait_until(|| {
        for (member, owned) in [&mut first, &mut second].into_iter().zip(&mut owned) {
            let events = member.poll(PollLimits::records(10), Duration::from_millis(10)).unwrap();
            for event in &events {
                if let Event::Assigned(partitions) = event {
                    partitions.iter().for_each(|&partition| member.start(partition, 0).unwrap());
                }
            }
            follow(owned, &events);
        }
        assert!(owned[0].is_disjoint(&owned[1]), "{owned:?}");
        later += usize::from(owned[1].len() == 2);
        later >= 20
    });
    assert_eq!(owned[0].len(), 2);
    // Both take what is theirs.
    let written: Vec<_> = (0..4).map(|partition| record(&input, partition, "key", b"")).collect();
    log.append(&written).unwrap();
    for (member, owned) in [&mut first, &mut second].into_iter().zip(&owned) {
        let events = poll_until(&mut **member, |_, events| records(events).len() == 2).unwrap();
        assert_eq!(&records(&events).iter().map(|record| record.partition).collect::<BTreeSet<_>>(), owned);
    }
    // A member that leaves gives up its partitions at once.
    drop(first);
    let events = poll_until(&mut *second, |_, events| events.iter().any(|event| matches!(event, Event::Assigned(_))));
    follow(&mut owned[1], &events.unwrap());
    assert_eq!(owned[1].len(), 4);
}

#[test]
fn an_idle_group_has_no_lag_at_all() {
    let Some(log) = log() else { return };
    let input = topic(&log, "idle", 3);
    for _ in 0..3 {
        log.append(&[record(&input, 0, "a", b""), record(&input, 1, "b", b"")]).unwrap();
    }
    let group = unique("group");
    let lag = |log: &KafkaLog| -> Vec<u64> {
        // A busy broker may answer late.
        let backlogs = log.backlog(&group, &input).inspect_err(|error| assert_eq!(error.kind, ErrorKind::Retry));
        backlogs.into_iter().flatten().map(|of| of.records).collect()
    };
    // Nothing is committed yet; markers count, too.
    wait_until(|| lag(&log) == [6, 6, 0]);
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    let events = poll_until(&mut *member, |_, events| records(events).len() == 6).unwrap();
    // Taken, but not committed: idling must not commit it.
    let since = Instant::now();
    poll_until(&mut *member, |_, _| since.elapsed() > Duration::from_secs(3)).unwrap();
    assert_eq!(committed(&mut *member, 0), None);
    let next: BTreeMap<u32, u64> =
        records(&events).iter().map(|record| (record.partition, record.offset + 1)).collect();
    commit(&mut *member, next, Vec::new()).unwrap();
    // Kafka moves the positions a moment after the commit. The last marker is no record.
    wait_until(|| lag(&log) == [0, 0, 0]);
    // Others see offsets only: idle members move past the marker, so that their figures are 0 too.
    poll_until(&mut *member, |member, _| committed(member, 0) == Some(6)).unwrap();
    // The next record is still delivered.
    log.append(&[record(&input, 0, "c", b"")]).unwrap();
    let events = poll_until(&mut *member, |_, events| !records(events).is_empty()).unwrap();
    assert_eq!(records(&events)[0].key, b"c");
}

#[test]
fn an_idle_member_that_reads_on_behind_what_has_no_answer_does_not_commit_that() {
    let Some(log) = log() else { return };
    let (input, group) = (topic(&log, "read-on", 2), unique("group"));
    let both = [record(&input, 0, "a", b""), record(&input, 0, "b", b""), record(&input, 1, "c", b"")];
    log.append(&both).unwrap();
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    poll_until(&mut *member, |_, events| records(events).len() == 3).unwrap();
    commit(&mut *member, [(0, 1), (1, 1)], Vec::new()).unwrap();
    // As after a commit that failed: the second request is under way, and all have been read.
    member.start(0, 2).unwrap();
    poll_until(&mut *member, |member, _| committed(member, 1) == Some(2)).unwrap();
    log.append(&[record(&input, 1, "d", b"")]).unwrap();
    poll_until(&mut *member, |_, events| !records(events).is_empty()).unwrap();
    commit(&mut *member, [(1, 3)], Vec::new()).unwrap();
    poll_until(&mut *member, |member, _| committed(member, 1) == Some(4)).unwrap();
    assert_eq!(committed(&mut *member, 0), Some(1));
}

#[test]
fn an_open_transaction_of_a_dead_member_hides_no_backlog_and_is_named_to_its_heir() {
    let Some(brokers) = brokers() else { return };
    let log = KafkaLog::connect(settings(&brokers)).unwrap();
    let (input, group) = (topic(&log, "open-transaction", 1), unique("group"));
    log.append(&[record(&input, 0, "a", b""), record(&input, 0, "b", b"")]).unwrap();
    // What is left of a pod that is killed between its positions and the end of its transaction.
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &*brokers);
    let member: BaseConsumer = config.clone().set("group.id", &group).create().unwrap();
    let dead: BaseProducer =
        config.set("transactional.id", &group).set("transaction.timeout.ms", "60000").create().unwrap();
    let mut positions = TopicPartitionList::new();
    positions.add_partition_offset(&input, 0, Offset::Offset(1)).unwrap();
    dead.init_transactions(PATIENCE).unwrap();
    dead.begin_transaction().unwrap();
    dead.send_offsets_to_transaction(&positions, &member.group_metadata().unwrap(), PATIENCE).unwrap();
    let lag = || log.backlog(&group, &input).unwrap()[0].records;
    assert_eq!(lag(), 3, "two records and the marker of their transaction");
    let mut heir = log.join(&spec(&group, &input, &unique("heir"))).unwrap();
    let refused = poll_until(&mut *heir, |_, _| false).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Retry);
    assert!(refused.message.contains("kafka.transaction_timeout"), "{refused}");
    dead.commit_transaction(PATIENCE).unwrap();
    wait_until(|| lag() == 2);
}

#[test]
fn starting_again_delivers_again_from_there() {
    let Some(log) = log() else { return };
    let input = topic(&log, "rewind", 1);
    let written: Vec<_> = (0..500).map(|number| record(&input, 0, &number.to_string(), b"")).collect();
    log.append(&written).unwrap();
    let group = unique("group");
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    poll_until(&mut *member, |_, events| records(events).len() >= 300).unwrap();
    for from in [120, 499, 0] {
        member.start(0, from).unwrap();
        // Long work in between changes nothing.
        for _ in 0..50 {
            member.poll(PollLimits::NONE, Duration::ZERO).unwrap();
        }
        let events = poll_until(&mut *member, |_, events| records(events).len() >= 500 - from as usize).unwrap();
        let offsets: Vec<u64> = records(&events).iter().map(|record| record.offset).collect();
        assert_eq!(offsets, (from..500).collect::<Vec<_>>());
    }
}

#[test]
fn nothing_is_delivered_before_a_partition_is_started() {
    let Some(log) = log() else { return };
    let input = topic(&log, "start", 1);
    log.append(&[record(&input, 0, "a", b"")]).unwrap();
    let group = unique("group");
    let mut member = log.join(&spec(&group, &input, &group)).unwrap();
    let mut events = Vec::new();
    wait_until(|| {
        events.extend(member.poll(PollLimits::NONE, Duration::ZERO).unwrap());
        events.extend(member.poll(PollLimits::records(10), Duration::from_millis(10)).unwrap());
        !events.is_empty()
    });
    for _ in 0..50 {
        events.extend(member.poll(PollLimits::records(10), Duration::from_millis(10)).unwrap());
    }
    assert_eq!(events, [Event::Assigned(vec![0])]);
    member.start(0, 0).unwrap();
    poll_until(&mut *member, |_, events| records(events).len() == 1).unwrap();
}
