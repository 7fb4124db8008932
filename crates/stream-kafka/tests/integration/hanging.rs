//! Transactions that are open in a group though their coordinator knows of none.

use crate::common::*;
use rdkafka::config::FromClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stream::{ErrorKind, Event, Log, LogError, PollLimits, Position};
use stream_kafka::KafkaLog;
use stream_testing::KafkaCluster;

const TIMEOUT: Duration = Duration::from_secs(60);

fn client<C: FromClientConfig>(cluster: &KafkaCluster, properties: &[(&str, &str)]) -> C {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", cluster.brokers());
    properties.iter().for_each(|(name, value)| _ = config.set(*name, *value));
    config.create().expect("the properties are right")
}

/// The logs of the coordinator's own topic, with their lengths.
fn transaction_logs(data: &Path) -> Vec<(PathBuf, u64)> {
    let partitions = fs::read_dir(data).expect("the node has data").map(|entry| entry.expect("it can be read").path());
    let of_coordinator = partitions.filter(|path| path.to_string_lossy().contains("__transaction_state-"));
    let segments = of_coordinator.map(|path| path.join("00000000000000000000.log"));
    segments.map(|log| (log.clone(), fs::metadata(&log).expect("it is there").len())).collect()
}

/// Leaves a transaction open in the group: its coordinator loses what it wrote of it.
fn leave_hanging_transaction(
    cluster: &KafkaCluster,
    group: &str,
    input: &str,
    transactional_id: &str,
) -> KafkaResult<()> {
    let consumer: BaseConsumer = client(cluster, &[("group.id", group), ("session.timeout.ms", "6000")]);
    consumer.subscribe(&[input])?;
    wait_until(|| {
        let _ = consumer.poll(Duration::from_millis(100));
        consumer.assignment().is_ok_and(|assigned| assigned.count() > 0)
    });
    let producer: BaseProducer = client(cluster, &[("transactional.id", transactional_id)]);
    producer.init_transactions(TIMEOUT)?;
    let before = transaction_logs(&cluster.data(1));
    producer.begin_transaction()?;
    let mut positions = TopicPartitionList::new();
    positions.add_partition_offset(input, 0, Offset::Offset(2))?;
    let metadata = consumer.group_metadata().expect("it is in a group");
    producer.send_offsets_to_transaction(&positions, &metadata, TIMEOUT)?;
    cluster.kill(1);
    for (log, length) in before {
        let file = fs::OpenOptions::new().write(true).open(log).expect("nobody else has it open");
        file.set_len(length).expect("it can be cut");
    }
    cluster.restart(1);
    Ok(())
}

#[test]
fn a_transaction_that_its_coordinator_has_forgotten_is_ended_by_its_successor() {
    if brokers().is_none() {
        return;
    }
    let cluster = KafkaCluster::with_nodes(1);
    let log = KafkaLog::connect(settings(cluster.brokers())).expect("Kafka can be reached");
    let (input, group, id) = (topic(&log, "hanging", 1), unique("group"), unique("member"));
    leave_hanging_transaction(&cluster, &group, &input, &id).expect("Kafka takes the positions");

    let mut member = None;
    let mut is_assigned = false;
    let mut refusals = Vec::new();
    let mut ask = || -> Result<Option<BTreeMap<u32, Position>>, LogError> {
        if member.is_none() {
            (member, is_assigned) = (Some(log.join(&spec(&group, &input, &id))?), false);
        }
        let joined = member.as_mut().expect("it has joined");
        let asked = joined.poll(PollLimits::records(1), Duration::from_millis(100)).and_then(|events| {
            is_assigned |= events.iter().any(|event| matches!(event, Event::Assigned(_)));
            if is_assigned { joined.committed(&[0]).map(Some) } else { Ok(None) }
        });
        if asked.as_ref().is_err_and(|error| error.kind == ErrorKind::Rejoin) {
            member = None;
        }
        asked
    };
    let mut committed = None;
    wait_until(|| {
        committed = ask().unwrap_or_else(|error| {
            refusals.push(error.message);
            None
        });
        committed.is_some()
    });
    assert!(refusals.iter().any(|message| message.contains("withholds")), "nothing hung: {refusals:?}");
    assert_eq!(committed, Some(BTreeMap::new()), "nothing was ever committed");
}

#[test]
fn a_member_says_that_its_records_are_withheld_and_goes_on_when_they_are_not() {
    if brokers().is_none() {
        return;
    }
    let cluster = KafkaCluster::with_nodes(1);
    let mut settings = settings(cluster.brokers());
    settings.kafka.transaction_timeout = Duration::from_secs(1);
    let log = KafkaLog::connect(settings).expect("Kafka can be reached");
    let (input, group) = (topic(&log, "withheld", 1), unique("group"));
    // Somebody else's transaction, which may last for minutes.
    let long = [("transactional.id", &*unique("long")), ("transaction.timeout.ms", "600000")];
    let producer: BaseProducer = client(&cluster, &long);
    producer.init_transactions(TIMEOUT).expect("Kafka answers");
    producer.begin_transaction().expect("none is open");
    producer.send(BaseRecord::to(&input).key("key").payload("open")).map_err(|(error, _)| error).expect("it is queued");
    producer.flush(TIMEOUT).expect("Kafka takes the record");
    log.append(&[record(&input, 0, "key", b"behind it")]).expect("Kafka takes a record");

    let mut member = log.join(&spec(&group, &input, &unique("member"))).expect("the group can be joined");
    let (mut complaint, mut read) = (None, Vec::new());
    let mut poll = |complaint: &mut Option<String>| {
        match member.poll(PollLimits::records(10), Duration::from_millis(100)) {
            Ok(events) => {
                for event in events {
                    match event {
                        Event::Assigned(partitions) => partitions.iter().for_each(|partition| {
                            member.start(*partition, 0).expect("it is ours");
                        }),
                        Event::Record(record) => read.push(record.value.map(|value| value.to_vec())),
                        Event::Revoked(_) => {}
                    }
                }
            }
            Err(error) => *complaint = Some(error.message),
        }
        read.len()
    };
    wait_until(|| {
        assert_eq!(poll(&mut complaint), 0, "records were given out before their transaction ended");
        complaint.as_ref().is_some_and(|complaint| complaint.contains("withholds the records of"))
    });
    producer.abort_transaction(TIMEOUT).expect("Kafka answers");
    wait_until(|| poll(&mut complaint) > 0);
    assert_eq!(read, [Some(b"behind it".to_vec())]);
}
