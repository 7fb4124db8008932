//! A node that does not answer while a transaction is under way.

use crate::cluster;
use page::Timestamp;
use settings::Settings;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use stream::{
    Cleanup, Commit, ErrorKind, Event, Log, Member, MemberSpec, OutputRecord, PollLimits, Position, TopicConfig,
    TopicPartition,
};
use tests::{KafkaCluster, wait_for};

/// One for each node, which leads it.
const PARTITIONS: u32 = KafkaCluster::NODES as u32;
/// Shorter than the time after which the other nodes take over from the paused one.
const TIMEOUT: Duration = Duration::from_secs(3);
const NAME: &str = "recrawl-stuck";

#[test]
fn a_transaction_that_a_node_does_not_answer_is_repeated_without_joining_anew() {
    let Some(cluster) = cluster() else { return };
    let mut settings = Settings::default();
    settings.kafka.brokers = Some(cluster.brokers().to_owned());
    settings.kafka.transaction_timeout = TIMEOUT;
    settings.kafka.replication_factor = 3;
    let log = daemon::connect(&settings, NAME).unwrap();
    let (input, output) = (format!("{NAME}-in"), format!("{NAME}-out"));
    let topic = |name: &str| TopicConfig {
        name: name.into(),
        partitions: PARTITIONS,
        cleanup: Cleanup::Compact,
        max_message_bytes: 1 << 20,
    };
    log.create_topics(&[topic(&input), topic(&output)]).unwrap();
    let spec = MemberSpec { group: NAME.to_owned(), input, transactional_id: NAME.to_owned() };
    let mut member = log.join(&spec).unwrap();
    let mut owned = BTreeSet::new();
    wait_for("the member owns its partitions", Duration::from_secs(60), || {
        owned.extend(assigned(&mut *member));
        owned.len() == PARTITIONS as usize
    });
    owned.iter().for_each(|&partition| member.start(partition, 0).unwrap());
    let commit = |key: &str| Commit {
        tasks: owned.clone(),
        positions: owned.iter().map(|&partition| (partition, Position::at(0))).collect(),
        outputs: (0..PARTITIONS).map(|partition| record(&output, partition, key)).collect(),
        ..Commit::default()
    };
    member.commit(&commit("before")).unwrap();
    cluster.pause(2);
    let (began_at, lost) = (Instant::now(), commit("lost"));
    let error = std::thread::scope(|scope| {
        let committing = scope.spawn(|| member.commit(&lost));
        wait_for("the transaction is given up", 10 * TIMEOUT, || began_at.elapsed() > 2 * TIMEOUT);
        cluster.resume(2);
        committing.join().unwrap().unwrap_err()
    });
    assert_eq!(error.kind, ErrorKind::Abort, "{error}");
    member.commit(&commit("after")).unwrap();
    assert_eq!(assigned(&mut *member), [0; 0], "nothing is assigned anew");
    let mut reader = log.reader().unwrap();
    for partition in 0..PARTITIONS {
        let (records, _) = reader.read(&TopicPartition::new(output.as_str(), partition), 0, 100).unwrap();
        let keys: Vec<_> = records.iter().map(|record| String::from_utf8_lossy(&record.key)).collect();
        assert_eq!(keys, ["before", "after"], "partition {partition}");
    }
}

/// The partitions that a poll assigns. None may be revoked.
fn assigned(member: &mut dyn Member) -> Vec<u32> {
    let events = member.poll(PollLimits::records(1), Duration::from_millis(100)).unwrap();
    let partitions = events.into_iter().flat_map(|event| match event {
        Event::Assigned(partitions) => partitions.into_iter().collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    });
    partitions.collect()
}

fn record(topic: &str, partition: u32, key: &str) -> OutputRecord {
    OutputRecord {
        to: TopicPartition::new(topic, partition),
        timestamp: Timestamp::from_secs(1_700_000_000),
        key: key.as_bytes().to_vec(),
        value: Some("value".into()),
        trace: None,
    }
}
